package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// draws makes choices from the bytes of a fuzzer. After the last byte, all choices are zero.
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

// near returns a number inside or near an axis of length n. It may be negative.
func (d *draws) near(n int64) int64 { return int64(d.n(int(2*n)+3)) - n - 1 }

// inside returns a valid item number of an axis, or rarely an invalid one.
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

// array creates an array with a random shape, partition and item size.
func (d *draws) array(t testing.TB) *arrayModel {
	m := &arrayModel{size: []int{1, 2, 4, 8, 12, 300}[d.n(6)]}
	o := &CreateOptions{}
	total := int64(1)
	for range d.n(7) {
		n := int64([]int{2, 3, 1, 4, 5, 7, 0, 9}[d.n(8)])
		if total*n > 600 {
			n = 1
		}
		total *= n
		m.shape = append(m.shape, n)
		chunk := 1 + d.n(int(n)+1)
		o.Chunks, o.Blocks = append(o.Chunks, int64(chunk)), append(o.Blocks, int64(1+d.n(chunk)))
	}
	if len(m.shape) == 0 {
		o.Chunks, o.Blocks = []int64{}, []int64{}
	}
	o.Level = 1
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

// selection returns a random selection, which is usually valid.
func (d *draws) selection(shape []int64) (sel []Index) {
	joint := d.n(3) > 0
	if d.n(16) == 15 {
		total, _ := grid.Product(shape)
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
				sel = append(sel, Pick(trues(d.booleans(n))...))
			} else {
				k := d.n(4)
				if axis+k-1 > len(shape) {
					k = 1
				}
				lengths := slices.Clone(shape[axis-1 : axis-1+k])
				if k > 0 && d.n(4) == 3 {
					lengths[d.n(k)] = 0
				}
				total, _ := grid.Product(lengths)
				sel = append(sel, maskND(lengths, d.booleans(total)))
				axis += k - 1
			}
		default:
			if !joint {
				sel = append(sel, Pick(d.numbers(n, d.n(7))...))
			} else if lengths := [][]int64{{int64(length)}, {1}, {2, int64(length)}, {2, 1}, {}}[d.n(5)]; len(lengths) == 1 {
				sel = append(sel, Coords(d.numbers(n, int(lengths[0]))))
			} else {
				total, _ := grid.Product(lengths)
				sel = append(sel, coordsND(lengths, d.numbers(n, int(total))))
			}
		}
	}
	return sel
}

// numbers returns numbers for a list.
func (d *draws) numbers(n int64, count int) []int64 {
	list := []int64{}
	for range count {
		list = append(list, d.inside(n))
	}
	return list
}

// booleans returns the booleans of a mask.
func (d *draws) booleans(n int64) []bool {
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
		t.Fatalf("%v of %v, chunks %v, blocks %v: the items differ (%v)", sel, m.shape, m.a.Chunks(), m.a.Blocks(), err)
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
		t.Fatalf("%v of %v, chunks %v, blocks %v: the items differ after writing (%v)", sel, m.shape, m.a.Chunks(), m.a.Blocks(), err)
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

// emptyMask returns a mask of a shape with a length of 0.
func emptyMask(shape ...int64) Index { return Mask(nil, shape...) }

// emptyCases are selections with empty index arrays from an array of shape (6, 5, 4, 3), with the shapes of NumPy 2.
// nil is an IndexError.
var emptyCases = []struct {
	sel  []Index
	want []int64
}{
	{[]Index{emptyMask(6, 0, 4)}, []int64{0, 3}},
	{[]Index{emptyMask(0)}, []int64{0, 5, 4, 3}},
	{[]Index{emptyMask(0, 0)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(0, 5)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(6, 0)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(7, 0)}, nil},
	{[]Index{emptyMask(0, 4)}, nil},
	{[]Index{emptyMask(6, 5, 4, 0)}, []int64{0}},
	{[]Index{emptyMask(0, 0, 0, 0)}, []int64{0}},
	{[]Index{emptyMask(0, 5, 4, 3)}, []int64{0}},
	{[]Index{emptyMask(0, 5, 4, 3, 2)}, nil},
	{[]Index{Ellipsis, emptyMask(0)}, []int64{6, 5, 4, 0}},
	{[]Index{emptyMask(0), At(1)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(0), Coords([]int64{1})}, []int64{0, 4, 3}},
	{[]Index{emptyMask(0), Coords([]int64{1, 2})}, nil},
	{[]Index{emptyMask(0), Coords([]int64{9})}, []int64{0, 4, 3}},
	{[]Index{emptyMask(0), At(9)}, nil},
	{[]Index{At(1), emptyMask(0)}, []int64{0, 4, 3}},
	{[]Index{All, emptyMask(0)}, []int64{6, 0, 4, 3}},
	{[]Index{emptyMask(0), All, emptyMask(0)}, []int64{0, 5, 3}},
	{[]Index{NewAxis, emptyMask(6, 0)}, []int64{1, 0, 4, 3}},
	{[]Index{Coords(nil), Coords(nil)}, []int64{0, 4, 3}},
	{[]Index{Coords(nil), Coords([]int64{9})}, []int64{0, 4, 3}},
	{[]Index{Coords(nil, 2, 0)}, []int64{2, 0, 5, 4, 3}},
	{[]Index{Coords([]int64{1, 2}), Coords(nil)}, nil},
	{[]Index{Mask([]bool{false}, 1)}, nil},
	{[]Index{emptyMask(0), Mask(make([]bool, 6), 6)}, nil},
	{[]Index{maskND(nil, []bool{false}), emptyMask(0)}, []int64{0, 5, 4, 3}},
	{[]Index{Pick(), Pick(), Pick(1), Pick(0, 1)}, []int64{0, 0, 1, 2}}, // numpy.ix_
	{[]Index{Pick(), Pick()}, []int64{0, 0, 4, 3}},
	{[]Index{Mask([]bool{false})}, nil},
	{[]Index{emptyMask(6, 0, 4), At(2)}, []int64{0}},
	{[]Index{At(2), emptyMask(0, 4)}, []int64{0, 3}},
	{[]Index{Flat()}, []int64{0}},
}

// TestMaskScalar selects items of arrays without axes by a mask of their shape.
func TestMaskScalar(t *testing.T) {
	ctx := t.Context()
	made, err := Create(ctx, "", nil, []float64{3}, nil)
	must(t, err)
	b, err := saved(made.Frame())
	must(t, err)
	opened, err := OpenBytes(b, nil)
	must(t, err)
	line, err := Create(ctx, "", []int64{2}, []float64{3, 4}, nil)
	must(t, err)
	view, err := Slice(line, At(0))
	must(t, err)
	for i, r := range []Reader{made, opened, view} {
		for _, keep := range []bool{true, false} {
			x, err := Read[float64](ctx, r, Mask([]bool{keep}, r.Shape()...))
			if err != nil || keep != slices.Equal(x, []float64{3}) || len(x) > 1 {
				t.Errorf("%d, %v: %v, %v", i, keep, x, err)
			}
		}
	}
}

// TestEmptyLists compares the shapes of selections with empty index arrays with NumPy's. It reads, writes and fills
// them, in the array and in a view of it.
func TestEmptyLists(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros(ctx, "", []int64{6, 5, 4, 3}, "<i2", &CreateOptions{Chunks: []int64{4, 3, 4, 2}, Blocks: []int64{2, 3, 2, 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.FillBytes(ctx, []byte{1, 2}); err != nil {
		t.Fatal(err)
	}
	before := contents(t, a)
	view, err := Slice(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range emptyCases {
		shape, err := a.SelectionShape(c.sel...)
		if c.want == nil {
			if !errors.Is(err, ErrBounds) {
				t.Errorf("%v: shape %v (%v), want ErrBounds", c.sel, shape, err)
			}
			continue
		}
		if err != nil || !slices.Equal(shape, c.want) {
			t.Errorf("%v: shape %v (%v), want %v", c.sel, shape, err, c.want)
			continue
		}
		if shape, err := view.SelectionShape(c.sel...); err != nil || !slices.Equal(shape, c.want) {
			t.Errorf("%v of a view: shape %v (%v), want %v", c.sel, shape, err, c.want)
		}
		if err := a.ReadBytes(ctx, nil, c.sel...); err != nil {
			t.Errorf("%v: reading: %v", c.sel, err)
		}
		if err := view.ReadBytes(ctx, nil, c.sel...); err != nil {
			t.Errorf("%v: reading a view: %v", c.sel, err)
		}
		if values, err := Read[int16](ctx, a, c.sel...); err != nil || len(values) != 0 {
			t.Errorf("%v: %d values (%v)", c.sel, len(values), err)
		}
		if err := a.WriteBytes(ctx, nil, c.sel...); err != nil {
			t.Errorf("%v: writing: %v", c.sel, err)
		}
		if err := view.WriteBytes(ctx, nil, c.sel...); err != nil {
			t.Errorf("%v: writing a view: %v", c.sel, err)
		}
		if err := a.FillBytes(ctx, []byte{9, 9}, c.sel...); err != nil {
			t.Errorf("%v: filling: %v", c.sel, err)
		}
		if err := a.ReadBytes(ctx, make([]byte, 2), c.sel...); !errors.Is(err, ErrShape) {
			t.Errorf("%v: reading into 2 bytes: %v", c.sel, err)
		}
	}
	if !bytes.Equal(contents(t, a), before) {
		t.Error("writing to empty selections changed the array")
	}
}

// contents returns the items of an array.
func contents(t *testing.T, a *Array) []byte {
	t.Helper()
	b := make([]byte, a.Size()*int64(a.DType().Size))
	if err := a.ReadBytes(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestParseEmptyLists parses empty lists. NumPy treats them as lists of integers.
func TestParseEmptyLists(t *testing.T) {
	for text, want := range map[string][]int64{
		"[]": {0, 5, 4, 3}, "[], []": {0, 4, 3}, "[[], []]": {2, 0, 5, 4, 3}, "[], 1": {0, 4, 3}, ":, []": {6, 0, 4, 3},
		"[], [True, False, False, False, False]": {0, 4, 3}, "False": {0, 6, 5, 4, 3}, "[], [[9]]": {1, 0, 4, 3},
	} {
		sel, err := ParseSelection(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		s, err := selection.Resolve([]int64{6, 5, 4, 3}, sel)
		if err != nil || !slices.Equal(s.Shape(), want) {
			t.Errorf("%s: shape %v (%v), want %v", text, slices.Clone(s.Shape()), err, want)
		}
	}
}

// TestFillBeyondLimit fills a selection whose index arrays broadcast to more items than the file justifies. The batch
// can go on.
func TestFillBeyondLimit(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.b2nd")
	a, err := Zeros(ctx, name, []int64{200, 200}, "|u1", nil)
	must(t, err)
	must(t, a.Close())
	a, err = Edit(ctx, name, &OpenOptions{MaxBytes: 100 << 10})
	must(t, err)
	defer a.Close()
	b, err := a.Begin(ctx)
	must(t, err)
	defer b.Rollback()
	at := make([]int64, 200)
	if err := Fill(ctx, b, 2, Coords(at, 200, 1), Coords(at, 1, 200)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
	must(t, Fill(ctx, b, 3, At(0)))
	must(t, b.Commit())
	if x, err := Item[uint8](ctx, a, 0, 199); x != 3 || err != nil {
		t.Errorf("item %d, error %v", x, err)
	}
}

// TestFillBeyondArray fills selections of created arrays. Index arrays may broadcast to as many items as an array has.
func TestFillBeyondArray(t *testing.T) {
	for _, c := range []struct {
		length, n int64
		valid     bool
	}{
		{10, 1500, true}, {2200, 2200, true}, {10, 2200, false}, {10, 3e6, false}, {3e6, 3e6, false},
	} {
		a, err := Zeros(ctx, "", []int64{c.length, c.length}, "|u1", nil)
		must(t, err)
		at := make([]int64, c.n)
		for i := range at {
			at[i] = int64(i) % c.length
		}
		err = Fill[uint8](ctx, a, 1, Coords(at, c.n, 1), Coords(at, 1, c.n))
		if (err == nil) != c.valid || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d x %d items of an array of %d x %d: error %v", c.n, c.n, c.length, c.length, err)
		}
		if x, err := Item[uint8](ctx, a, c.length-1, c.length-1); (x == 1) != c.valid || err != nil {
			t.Errorf("%d x %d items of an array of %d x %d: item %d, error %v", c.n, c.n, c.length, c.length, x, err)
		}
	}
}

// TestManyPoints selects more points than the memory of a system of 32 bits can list.
func TestManyPoints(t *testing.T) {
	if math.MaxInt == math.MaxInt64 {
		t.Skip("such a list fits here")
	}
	const n = 16500 // 272 million items
	a, err := Zeros(t.Context(), "", []int64{n, n}, "|u1", nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, columns := Coords(make([]int64, n), n, 1), Coords(make([]int64, n), 1, n)
	if _, err := Read[uint8](t.Context(), a, rows, columns); !errors.Is(err, ErrTooLarge) {
		t.Errorf("reading: %v", err)
	}
	if err := Fill(t.Context(), a, uint8(1), rows, columns); !errors.Is(err, ErrTooLarge) {
		t.Errorf("filling: %v", err)
	}
	large, err := Zeros(t.Context(), "", []int64{600e6, 2}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Reduce(t.Context(), large, OpSum, &ReduceOptions{Axes: []int{1}}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("600 million sums: %v", err)
	}
}

// TestListCancel cancels reads and writes with index arrays while their plan is made.
func TestListCancel(t *testing.T) {
	a, err := Zeros(t.Context(), "", []int64{300, 300}, "|u1", nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	rows, columns := make([]int64, 1000), make([]int64, 100)
	for i := range rows {
		rows[i] = int64(i * 7919 % 300)
	}
	sel := []Index{Coords(rows, 1000, 1), Coords(columns)}
	for what, f := range map[string]func(ctx context.Context) error{
		"read":  func(ctx context.Context) error { return a.ReadBytes(ctx, make([]byte, n), sel...) },
		"write": func(ctx context.Context) error { return a.WriteBytes(ctx, make([]byte, n), sel...) },
	} {
		canceled := int64(0)
		for ; ; canceled++ {
			ctx := &countdown{Context: t.Context()}
			ctx.left.Store(canceled)
			if err := f(ctx); err == nil {
				break
			} else if !errors.Is(err, context.Canceled) {
				t.Fatal(what, err)
			}
		}
		// Each of the four passes over the items, and the sort, checks the context several times.
		if canceled < 25 {
			t.Errorf("%s checked the context only %d times", what, canceled)
		}
	}
}
