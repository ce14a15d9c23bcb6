package ndarray

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// draws makes choices from the bytes of a fuzzer, and zeros when they are used up.
type draws struct{ data []byte }

// n returns a number below n.
func (d *draws) n(n int) int {
	if len(d.data) == 0 || n <= 1 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

// near returns a number in or around an axis of length n, negative ones for those counted from the end.
func (d *draws) near(n int64) int64 { return int64(d.n(int(2*n)+3)) - n - 1 }

// inside returns a valid item number of an axis, and now and then one that is not.
func (d *draws) inside(n int64) int64 {
	if n == 0 || d.n(64) == 63 {
		return d.near(n)
	}
	return int64(d.n(int(2*n))) - n
}

// arrayModel is an array in memory and its items in C order.
type arrayModel struct {
	a     *Array
	shape []int64
	size  int
	items []byte
}

// array makes an array of any shape, partition and item size.
func (d *draws) array(t testing.TB) *arrayModel {
	m := &arrayModel{size: []int{1, 2, 4, 8, 12, 300}[d.n(6)]}
	o := &Options{}
	total := int64(1)
	for range d.n(7) {
		n := int64([]int{2, 3, 1, 4, 5, 7, 0, 9}[d.n(8)])
		if total*n > 600 {
			n = 1
		}
		total *= n
		m.shape = append(m.shape, n)
		chunk := 1 + d.n(int(n)+1)
		o.Chunks, o.Blocks = append(o.Chunks, int32(chunk)), append(o.Blocks, int32(1+d.n(chunk)))
	}
	if len(m.shape) == 0 {
		o.Chunks, o.Blocks = []int32{}, []int32{}
	}
	o.CParams.Level = 1
	m.items = make([]byte, int(total)*m.size)
	seed := rand.New(rand.NewPCG(uint64(total), uint64(m.size)))
	if special := d.n(4); special == 3 {
		copy(m.items, bytes.Repeat([]byte{0}, len(m.items)))
	} else {
		for i := range m.items {
			m.items[i] = byte(seed.Uint32())
		}
		if special == 2 && len(m.items) > 0 {
			clear(m.items[:len(m.items)/2])
		}
	}
	var err error
	m.a, err = CreateBytes(context.Background(), "", m.shape, fmt.Sprintf("|V%d", m.size), m.items, o)
	if err != nil {
		t.Fatal(err)
	}
	m.items = slices.Clone(m.items)
	return m
}

// selection makes a selection of every kind, most of them valid.
func (d *draws) selection(shape []int64) (sel []Index) {
	joint := d.n(3) > 0
	if d.n(16) == 15 {
		total, _ := product(shape)
		var at []int64
		for range d.n(20) {
			at = append(at, d.inside(min(total, 60)))
		}
		return []Index{Flat(at...)}
	}
	length := d.n(4)
	for axis := 0; axis < len(shape); {
		n := shape[axis]
		axis++
		switch d.n(12) {
		case 0, 1:
			sel = append(sel, All)
		case 2:
			sel = append(sel, Step(d.near(n), d.near(n), []int64{1, -1, 2, -2, 3}[d.n(5)]))
		case 3:
			sel = append(sel, Step(None, None, []int64{1, -1, 2, -2, 3}[d.n(5)]))
		case 4, 5:
			sel = append(sel, At(d.inside(n)))
		case 6:
			axis--
			sel = append(sel, NewAxis)
		case 7:
			if slices.Contains(sel, Index(Ellipsis)) {
				sel = append(sel, All)
			} else {
				axis += d.n(3) - 1
				sel = append(sel, Ellipsis)
			}
		case 8:
			if !joint {
				if d.n(8) == 7 {
					n = 0
				}
				sel = append(sel, Mask(d.truths(n)...))
			} else {
				k := d.n(4)
				if axis+k-1 > len(shape) {
					k = 1
				}
				lengths := slices.Clone(shape[axis-1 : axis-1+k])
				if k > 0 && d.n(4) == 3 {
					lengths[d.n(k)] = 0
				}
				total, _ := product(lengths)
				sel = append(sel, MaskND(lengths, d.truths(total)))
				axis += k - 1
			}
		default:
			if !joint {
				sel = append(sel, Pick(d.numbers(n, d.n(7))...))
			} else if lengths := [][]int64{{int64(length)}, {1}, {2, int64(length)}, {2, 1}, {}}[d.n(5)]; len(lengths) == 1 {
				sel = append(sel, Coords(d.numbers(n, int(lengths[0]))...))
			} else {
				total, _ := product(lengths)
				sel = append(sel, CoordsND(lengths, d.numbers(n, int(total))))
			}
		}
	}
	return sel
}

func (d *draws) numbers(n int64, count int) []int64 {
	list := []int64{}
	for range count {
		list = append(list, d.inside(n))
	}
	return list
}

func (d *draws) truths(n int64) []bool {
	list := make([]bool, n)
	for i := range list {
		list[i] = d.n(3) == 0
	}
	return list
}

// check reads, writes and fills a selection and compares with the model.
func (m *arrayModel) check(t testing.TB, sel []Index, fill byte) (valid bool) {
	ctx := context.Background()
	shape, positions, err := naiveSelect(m.shape, sel)
	got, gotErr := m.a.SelectionShape(sel...)
	if (err == nil) != (gotErr == nil) {
		t.Fatalf("%v of %v: error %v, want %v", sel, m.shape, gotErr, err)
	}
	if err != nil {
		return false
	}
	if !slices.Equal(got, shape) {
		t.Fatalf("%v of %v: shape %v, want %v", sel, m.shape, got, shape)
	}
	want, have := make([]byte, 0, len(positions)*m.size), make([]byte, len(positions)*m.size)
	for _, p := range positions {
		want = append(want, m.items[int(p)*m.size:][:m.size]...)
	}
	if err := m.a.ReadBytes(ctx, have, sel...); err != nil || !bytes.Equal(have, want) {
		t.Fatalf("%v of %v, chunks %v, blocks %v: other items (%v)", sel, m.shape, m.a.Chunks(), m.a.Blocks(), err)
	}
	for i := range have {
		have[i] = byte(i*7) + fill
	}
	if fill%3 == 0 {
		item := bytes.Repeat([]byte{fill}, m.size)
		copy(have, bytes.Repeat(item, len(positions)))
		err = m.a.FillBytes(ctx, item, sel...)
	} else {
		err = m.a.WriteBytes(ctx, have, sel...)
	}
	for k, p := range positions {
		copy(m.items[int(p)*m.size:][:m.size], have[k*m.size:])
	}
	all := make([]byte, len(m.items))
	if err == nil {
		err = m.a.ReadBytes(ctx, all)
	}
	if err != nil || !bytes.Equal(all, m.items) {
		t.Fatalf("%v of %v, chunks %v, blocks %v: other items after writing (%v)", sel, m.shape, m.a.Chunks(), m.a.Blocks(), err)
	}
	return true
}

// TestLists reads and writes random selections of every kind and compares with a loop over the items.
func TestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 11))
	valid, rounds := 0, 4000
	if testing.Short() {
		rounds = 250
	}
	for range rounds {
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		d := &draws{data}
		m := d.array(t)
		for range 4 {
			if m.check(t, d.selection(m.shape), byte(d.n(256))) {
				valid++
			}
		}
		m.a.Close()
	}
	if valid < rounds*2 {
		t.Errorf("%d selections were valid", valid)
	}
}

// FuzzLists compares every kind of selection with a loop over the items.
func FuzzLists(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 2, 0, 3, 1, 5, 2, 2, 0, 1, 0, 3, 9, 1, 2, 9, 2, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &draws{data}
		m := d.array(t)
		defer m.a.Close()
		for range 3 {
			m.check(t, d.selection(m.shape), byte(d.n(256)))
		}
	})
}
