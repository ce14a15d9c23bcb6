package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/race"
)

// editing is an array and its model, to which the same edits are applied. The choices are drawn from bytes.
type editing struct {
	a      *Array
	m      *model
	d      *draws
	chunks []int64
	counts map[string]int
	log    []string
}

// newEditing creates an array with a random shape, partition, item size and items.
func newEditing(t testing.TB, d *draws, p location) *editing {
	t.Helper()
	x := &editing{d: d, counts: map[string]int{}}
	o := &CreateOptions{Chunks: []int64{}, Blocks: []int64{}}
	shape := []int64{}
	for range d.n(5) {
		shape = append(shape, []int64{2, 3, 1, 4, 5, 7, 0, 9}[d.n(8)])
		chunk := 1 + d.n(5)
		o.Chunks, o.Blocks = append(o.Chunks, int64(chunk)), append(o.Blocks, int64(1+d.n(chunk)))
	}
	o.Sparse, o.NoSync, o.Concurrency = p.sparse, true, 1+d.n(3)
	o.setParams(randomCParams(rand.New(rand.NewPCG(uint64(d.n(256)), 3))))
	x.m, x.chunks = newModel(shape, []int{1, 2, 4, 8, 12, 300}[d.n(6)]), o.Chunks
	dtype := fmt.Sprintf("|V%d", x.m.size)
	var err error
	switch d.n(4) {
	case 0:
		x.a, err = Zeros(ctx, p.name, shape, dtype, o)
	case 1:
		item := x.items(1)
		x.m.data = bytes.Repeat(item, len(x.m.data)/x.m.size)
		x.a, err = fullBytes(p.name, shape, dtype, item, o)
	default:
		x.m.data = x.items(int64(len(x.m.data) / x.m.size))
		x.a, err = CreateBytes(context.Background(), p.name, shape, dtype, x.m.data, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// items draws n items.
func (x *editing) items(n int64) []byte {
	return randomBytes(rand.New(rand.NewPCG(uint64(x.d.n(256)), 5)), int(n)*x.m.size)
}

// length draws a length of an axis: small, and often a multiple of the chunk length.
func (x *editing) length(axis int) int64 {
	if n := int64(x.d.n(14)); x.d.n(2) == 0 {
		return n
	}
	return int64(x.d.n(4)) * int64(x.chunks[axis])
}

// splice returns the model with the items from at up to at+out along an axis replaced by data. It works item by item.
func (m *model) splice(axis int, at, out, in int64, data []byte) *model {
	shape := slices.Clone(m.shape)
	shape[axis] += in - out
	next := newModel(shape, m.size)
	coming := &model{slices.Clone(shape), m.size, data}
	coming.shape[axis] = in
	for i := range int64(len(next.data) / m.size) {
		c := make([]int64, len(shape))
		for k, rest := len(shape)-1, i; k >= 0; k-- {
			c[k] = rest % shape[k]
			rest /= shape[k]
		}
		from := m
		switch {
		case c[axis] >= at+in:
			c[axis] += out - in
		case c[axis] >= at:
			from, c[axis] = coming, c[axis]-at
		}
		if from.data == nil {
			continue
		}
		position := int64(0)
		for k, n := range from.shape {
			position = position*n + c[k]
		}
		copy(next.item(i), from.item(position))
	}
	return next
}

// steps returns the number of items in one step along an axis.
func (m *model) steps(axis int) int64 {
	n := int64(1)
	for i, length := range m.shape {
		if i != axis {
			n *= length
		}
	}
	return n
}

// step applies an edit to the array and to the model. It checks that the edit succeeds or fails as expected.
func (x *editing) step(t testing.TB, e Editor) {
	t.Helper()
	ctx, d, m := context.Background(), x.d, x.m
	ops := []string{"write", "fill", "resize", "resizeAt", "append", "insert", "insert", "delete"}
	if len(m.shape) == 0 {
		ops = ops[:3]
	}
	op := ops[d.n(len(ops))]
	axis, before := 0, m
	if len(m.shape) > 0 {
		axis = d.n(len(m.shape))
	}
	var want, err error
	what := ""
	switch op {
	case "write", "fill":
		sel := d.selection(m.shape)
		what = fmt.Sprint(sel)
		_, at, bad := naiveSelect(m.shape, sel)
		src := x.items(int64(len(at)))
		if op == "fill" {
			src = bytes.Repeat(x.items(1), max(len(at), 1))
			err = e.FillBytes(ctx, src[:m.size], sel...)
		} else {
			err = e.WriteBytes(ctx, src, sel...)
		}
		if bad != nil {
			want = ErrBounds
			break
		}
		x.m = &model{m.shape, m.size, bytes.Clone(m.data)}
		for i, at := range at {
			copy(x.m.item(at), src[i*m.size:][:m.size])
		}
	case "resize":
		shape := slices.Clone(m.shape)
		for i := range shape {
			if d.n(3) > 0 {
				shape[i] = x.length(i)
			}
		}
		what = fmt.Sprint(shape)
		err = e.Resize(ctx, shape...)
		x.m = m.resize(shape)
	case "resizeAt":
		shape, start := slices.Clone(m.shape), make([]int64, len(m.shape))
		next := m
		for i := range shape {
			if d.n(2) > 0 {
				shape[i] = x.length(i)
			}
			if start[i] = x.length(i) % (min(shape[i], m.shape[i]) + 1); start[i] > 0 && d.n(40) == 39 {
				start[i], want = m.shape[i]+1, ErrBounds
			}
			next = next.splice(i, min(start[i], next.shape[i]), max(m.shape[i]-shape[i], 0), max(shape[i]-m.shape[i], 0), nil)
		}
		what = fmt.Sprint(shape, start)
		if err = e.(interface {
			ResizeAt(ctx context.Context, start, shape []int64) error
		}).ResizeAt(ctx, start, shape); want == nil {
			x.m = next
		}
	case "append", "insert":
		n, at := x.length(axis), m.shape[axis]
		for n*m.steps(axis)*int64(m.size) > 60_000 {
			n /= 2
		}
		if op == "insert" {
			at = x.length(axis)
		}
		if m.steps(axis) == 0 {
			n = 0 // data without items changes nothing
		}
		data := x.items(n * m.steps(axis))
		what = fmt.Sprint(axis, at, n)
		if op == "append" {
			err = e.AppendBytes(ctx, axis-len(m.shape)*d.n(2), data)
		} else if back := at - m.shape[axis]; back < 0 && d.n(3) == 0 {
			err = e.InsertBytes(ctx, axis, back, data)
		} else {
			err = e.InsertBytes(ctx, axis, at, data)
		}
		switch {
		case at > m.shape[axis]:
			want = ErrBounds
		default:
			x.m = m.splice(axis, at, 0, n, data)
		}
	case "delete":
		at, n := x.length(axis), x.length(axis)
		what = fmt.Sprint(axis, at, n)
		err = e.Delete(ctx, axis, at, n)
		if want = ErrBounds; at+n <= m.shape[axis] {
			want, x.m = nil, m.splice(axis, at, n, 0, nil)
		}
	}
	x.log = append(x.log, op+" "+what)
	x.counts[op]++
	if want != nil {
		x.counts["error"]++
	}
	if (want == nil) != (err == nil) || want != nil && !errors.Is(err, want) {
		t.Fatalf("%v\n%s %s of %v: error %v, want %v", x.log, op, what, before.shape, err, want)
	}
	if len(x.m.data) > 200_000 {
		shape := slices.Clone(x.m.shape)
		for i := range shape {
			shape[i] = min(shape[i], 6)
		}
		if err := e.Resize(ctx, shape...); err != nil {
			t.Fatal(err)
		}
		x.m = x.m.resize(shape)
		x.log = append(x.log, fmt.Sprint("shrunk to ", shape))
	}
}

// check compares the array with a model.
func (x *editing) check(t testing.TB, m *model) {
	t.Helper()
	got := make([]byte, len(m.data))
	if !slices.Equal(x.a.Shape(), m.shape) {
		t.Fatalf("%v\nshape %v, want %v", x.log, x.a.Shape(), m.shape)
	}
	if err := x.a.ReadBytes(context.Background(), got); err != nil || !bytes.Equal(got, m.data) {
		t.Fatalf("%v\nshape %v, chunks %v, blocks %v: the items differ (%v)", x.log, m.shape, x.a.Chunks(), x.a.Blocks(), err)
	}
	if sel := x.d.selection(m.shape); true {
		_, at, err := naiveSelect(m.shape, sel)
		if err != nil {
			return
		}
		part := make([]byte, len(at)*m.size)
		if err := x.a.ReadBytes(context.Background(), part, sel...); err != nil {
			t.Fatalf("%v\n%v: %v", x.log, sel, err)
		}
		for i, at := range at {
			if !bytes.Equal(part[i*m.size:][:m.size], m.item(at)) {
				t.Fatalf("%v\n%v of %v: the items differ", x.log, sel, m.shape)
			}
		}
	}
}

// round applies one edit, or several in a batch, which it commits or rolls back.
func (x *editing) round(t testing.TB) {
	t.Helper()
	if x.d.n(3) > 0 {
		x.step(t, x.a)
		x.check(t, x.m)
		return
	}
	b, err := x.a.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Rollback()
	before := x.m
	x.log = append(x.log, "begin")
	for range 1 + x.d.n(5) {
		x.step(t, b)
		if !slices.Equal(b.Shape(), x.m.shape) {
			t.Fatalf("%v\nshape %v in a batch, want %v", x.log, b.Shape(), x.m.shape)
		}
	}
	x.check(t, before) // not visible before Commit
	if x.d.n(3) == 0 {
		b.Rollback()
		x.m = before
		x.log = append(x.log, "rollback")
		x.counts["rollback"]++
	} else if err := b.Commit(); err != nil {
		t.Fatalf("%v\n%v", x.log, err)
	} else {
		x.log = append(x.log, "commit")
		x.counts["commit"]++
	}
	x.check(t, x.m)
}

// TestChanges applies random edits of all kinds to arrays and compares them with models.
func TestChanges(t *testing.T) {
	programs, rounds := 40, 30
	if testing.Short() || race.Enabled {
		programs = 8
	}
	for _, kind := range []string{"memory", "contiguous", "sparse"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			counts := map[string]int{}
			dir := t.TempDir()
			for seed := range programs {
				rng := rand.New(rand.NewPCG(21, uint64(seed)))
				data := make([]byte, 200*rounds)
				for i := range data {
					data[i] = byte(rng.Uint32())
				}
				p := location{sparse: kind == "sparse"}
				if kind != "memory" {
					p.name = filepath.Join(dir, fmt.Sprint(seed))
				}
				x := newEditing(t, &draws{data}, p)
				x.log = append(x.log, fmt.Sprintf("seed %d shape %v", seed, x.m.shape))
				for i := range rounds {
					x.round(t)
					if i%10 == 9 {
						x.a = p.reopen(t, x.a, nil)
						x.log = append(x.log, "reopen")
						x.check(t, x.m)
					}
				}
				x.a.Close()
				for op, n := range x.counts {
					counts[op] += n
				}
			}
			t.Log(counts)
			for _, op := range []string{"write", "fill", "resize", "resizeAt", "append", "insert", "delete", "error", "commit", "rollback"} {
				if counts[op] < programs {
					t.Errorf("only %d edits of kind %s", counts[op], op)
				}
			}
		})
	}
}

// FuzzChanges applies edits that the fuzzer chooses.
func FuzzChanges(f *testing.F) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(22, seed))
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2000 {
			return
		}
		x := newEditing(t, &draws{data}, location{})
		defer x.a.Close()
		for len(x.d.data) > 0 {
			x.round(t)
		}
	})
}

// TestBatch checks a batch after an edit that fails, after its end, and together with other edits.
func TestBatch(t *testing.T) {
	ctx := context.Background()
	a, err := Create(ctx, "", []int64{4, 3}, []int16{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, &CreateOptions{Chunks: []int64{2, 2}, Blocks: []int64{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	none, err := Zeros(ctx, "", []int64{3, 0}, "|u1", nil)
	must(t, err)
	for i, c := range []struct{ err, want error }{
		{b.InsertBytes(ctx, 0, 5, make([]byte, 6)), ErrBounds},
		{b.InsertBytes(ctx, 0, -5, make([]byte, 6)), ErrBounds},
		{b.InsertBytes(ctx, 2, 0, nil), ErrBounds},
		{b.InsertBytes(ctx, -3, 0, nil), ErrBounds},
		{b.InsertBytes(ctx, 0, 0, make([]byte, 5)), ErrShape},
		{none.AppendBytes(ctx, 0, make([]byte, 1)), ErrShape},
		{none.AppendBytes(ctx, 0, nil), nil},
		{none.InsertBytes(ctx, 0, 2, nil), nil},
		{none.InsertBytes(ctx, 0, 4, nil), ErrBounds},
		{b.Delete(ctx, 0, 3, 2), ErrBounds},
		{b.Delete(ctx, 0, 1, -1), ErrBounds},
		{b.Delete(ctx, 0, -5, 1), ErrBounds},
		{b.Delete(ctx, 2, 0, 0), ErrBounds},
		{b.ResizeAt(ctx, []int64{0}, []int64{4, 3}), ErrShape},
		{b.ResizeAt(ctx, []int64{0, 0}, []int64{4}), ErrShape},
		{b.ResizeAt(ctx, []int64{0, -1}, []int64{4, 5}), ErrBounds},
		{b.ResizeAt(ctx, []int64{4, 0}, []int64{3, 3}), ErrBounds},
		{b.ResizeAt(ctx, []int64{5, 0}, []int64{6, 3}), ErrBounds},
		{b.ResizeAt(ctx, []int64{0, 0}, []int64{1 << 40, 1 << 40}), ErrTooLarge},
		{b.Resize(ctx, 1), ErrShape},
		{b.Resize(ctx, 1<<40, 1<<20), ErrTooLarge},
		{b.WriteBytes(ctx, make([]byte, 3)), ErrShape},
		{b.FillBytes(ctx, make([]byte, 3)), ErrShape},
		{Insert(ctx, b, 0, 0, []int32{1, 2, 3}), ErrType},
		{Append(ctx, a, 0, []float32{1, 2, 3}), ErrType},
		{Write(ctx, b, []int32{1}), ErrType},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("edit %d: error %v, want %v", i, c.err, c.want)
		}
	}
	// None of these errors ends the batch.
	if err := errors.Join(Insert(ctx, b, -2, -4, []int16{-1, -2, -3}), Append(ctx, b, -1, []int16{0, 13, 14, 15, 16}), b.Delete(ctx, -2, -2, 2), b.Commit()); err != nil {
		t.Fatal(err)
	}
	if got, err := Read[int16](ctx, a); err != nil || !slices.Equal(got, []int16{-1, -2, -3, 0, 1, 2, 3, 13, 4, 5, 6, 14}) {
		t.Error(got, err)
	}
	b.Rollback()
	for i, err := range []error{b.Commit(), b.Resize(ctx, 3, 4), b.ResizeAt(ctx, []int64{0, 0}, []int64{3, 4}), b.Delete(ctx, 0, 0, 0),
		b.AppendBytes(ctx, 0, nil), b.InsertBytes(ctx, 0, 0, nil), b.WriteBytes(ctx, nil, Span(0, 0)), b.FillBytes(ctx, make([]byte, 2))} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("call %d after the end: %v", i, err)
		}
	}
	// Neither does a context that ended before an edit.
	if b, err = a.Begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	for i, err := range []error{b.InsertBytes(canceled, 0, 1, make([]byte, 8)), b.AppendBytes(canceled, 0, make([]byte, 8)), b.Delete(canceled, 0, 0, 1),
		b.Resize(canceled, 1, 1), b.WriteBytes(canceled, make([]byte, 24)), b.FillBytes(canceled, make([]byte, 2)), b.WriteBytes(canceled, nil, Span(0, 0)),
		b.SetAttr(canceled, "x", 1), b.DeleteAttr(canceled, "x")} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("edit %d: %v", i, err)
		}
	}
	if err := errors.Join(b.FillBytes(ctx, make([]byte, 2), At(0)), b.Commit()); err != nil {
		t.Errorf("after canceled edits: %v", err)
	}
	// An edit that fails partway does.
	if b, err = a.Begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	partway := &countdown{Context: ctx}
	partway.left.Store(1)
	if err := b.InsertBytes(partway, 0, 1, make([]byte, 8)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for i, err := range []error{b.Resize(ctx, 1, 1), b.Commit()} {
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "earlier edit") {
			t.Errorf("call %d after a failed edit: %v", i, err)
		}
	}
	if got, err := Read[int16](ctx, a, At(-1)); err != nil || !slices.Equal(got, []int16{4, 5, 6, 14}) {
		t.Error(got, err)
	}
	if err := a.Resize(ctx, 1, 1); err != nil { // the batch has ended
		t.Error(err)
	}
}

// TestChangesOfLargeArrays edits arrays that are mostly zeros and have very long axes.
func TestChangesOfLargeArrays(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros(ctx, "", []int64{1 << 40}, "<i8", &CreateOptions{Chunks: []int64{1 << 20}, Blocks: []int64{1 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.AppendBytes(ctx, 0, make([]byte, 8)); err != nil {
		t.Errorf("append: %v", err)
	}
	if err := a.ResizeAt(ctx, []int64{1 << 30}, []int64{1<<40 + 1<<20 + 1}); err != nil {
		t.Errorf("resize: %v", err)
	}
	if err := a.InsertBytes(ctx, 0, 1<<20, bytes.Repeat([]byte{1}, 8<<20)); err != nil {
		t.Errorf("insert: %v", err)
	}
	if err := a.Delete(ctx, 0, 0, 1<<20); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := a.ResizeAt(ctx, []int64{1 << 39}, []int64{1<<40 + 1<<20 + 4}); err != nil {
		t.Errorf("resize: %v", err)
	}
	if err := a.Delete(ctx, 0, 1<<39+7, 3); err != nil {
		t.Errorf("delete: %v", err)
	}
	got, err := Read[int64](ctx, a, Span(1<<20-1, 1<<20+1))
	if err != nil || !slices.Equal(got, []int64{0x0101010101010101, 0}) || a.Size() != 1<<40+1<<20+1 {
		t.Error(got, err, a.Shape())
	}
	for _, err := range []error{a.Resize(ctx, -1), a.ResizeAt(ctx, []int64{0}, []int64{-1})} {
		if !errors.Is(err, ErrShape) {
			t.Error(err)
		}
	}
	for _, shape := range [][]int64{{1<<63 - 1}} {
		if err := a.Resize(ctx, shape...); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	}
}
