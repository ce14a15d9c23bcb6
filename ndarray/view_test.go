package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// viewModel is a view in plain memory: the offset of each of its items in the bytes of the array.
type viewModel struct {
	shape []int64
	at    []int64
	dtype meta.DType
}

// index returns a view with another shape. at returns the coordinates in m of the item with coordinates c.
func (m *viewModel) index(shape []int64, at func(c []int64) []int64) *viewModel {
	n, _ := grid.Product(shape)
	next := &viewModel{shape: slices.Clone(shape), at: make([]int64, n), dtype: m.dtype}
	for i := range next.at {
		c := make([]int64, len(shape))
		for k, rest := len(shape)-1, int64(i); k >= 0; k-- {
			c[k] = rest % shape[k]
			rest /= shape[k]
		}
		from := int64(0)
		for k, x := range at(c) {
			from = from*m.shape[k] + x
		}
		next.at[i] = m.at[from]
	}
	return next
}

// step applies a random step to a view and its model. It returns false if the step was not possible.
func (d *draws) step(t testing.TB, r Reader, m *viewModel) (Reader, *viewModel, bool) {
	ndim := len(m.shape)
	order := rand.New(rand.NewPCG(uint64(d.n(256)), 1)).Perm(ndim)
	var v *View
	var err error
	next, valid := m, true
	switch d.n(8) {
	case 0, 1:
		sel := d.selection(m.shape)
		shape, positions, wrong := naiveSelect(m.shape, sel)
		valid = wrong == nil && len(shape) <= grid.MaxDims
		for _, x := range sel {
			if _, ok := x.(*selection.IndexArray); ok {
				valid = false
			}
		}
		if v, err = Slice(r, sel...); valid && err == nil {
			next = &viewModel{shape: shape, dtype: m.dtype, at: []int64{}}
			for _, p := range positions {
				next.at = append(next.at, m.at[p])
			}
		}
	case 2:
		v, err = Transpose(r, order...)
		shape := make([]int64, ndim)
		if ndim == 0 {
			break
		}
		for i, axis := range order {
			shape[i] = m.shape[axis]
		}
		next = m.index(shape, func(c []int64) []int64 {
			from := make([]int64, ndim)
			for i, axis := range order {
				from[axis] = c[i]
			}
			return from
		})
	case 3:
		axes := order[:d.n(ndim+1)]
		v, err = Flip(r, axes...)
		next = m.index(m.shape, func(c []int64) []int64 {
			for i := range c {
				if len(axes) == 0 || slices.Contains(axes, i) {
					c[i] = m.shape[i] - 1 - c[i]
				}
			}
			return c
		})
	case 4:
		at := d.n(ndim + 1)
		valid = ndim < grid.MaxDims
		if v, err = ExpandDims(r, at-ndim-1); valid {
			next = m.index(slices.Insert(slices.Clone(m.shape), at, 1), func(c []int64) []int64 { return slices.Delete(c, at, at+1) })
		}
	case 5:
		v, err = Squeeze(r)
		var shape []int64
		for _, n := range m.shape {
			if n != 1 {
				shape = append(shape, n)
			}
		}
		next = m.index(shape, func(c []int64) []int64 {
			from := make([]int64, 0, ndim)
			for _, n := range m.shape {
				if n == 1 {
					from = append(from, 0)
				} else {
					from, c = append(from, c[0]), c[1:]
				}
			}
			return from
		})
	case 6:
		shape := slices.Clone(m.shape)
		for i, n := range shape {
			if n == 1 && d.n(2) == 0 {
				shape[i] = int64(d.n(4))
			}
		}
		for range d.n(2) {
			shape = slices.Insert(shape, 0, int64(1+d.n(3)))
		}
		valid = len(shape) <= grid.MaxDims
		if v, err = BroadcastTo(r, shape...); valid {
			next = m.index(shape, func(c []int64) []int64 {
				c = c[len(c)-ndim:]
				for i, n := range m.shape {
					if n == 1 {
						c[i] = 0
					}
				}
				return c
			})
		}
	case 7:
		if m.dtype.Fields == nil {
			v, err = Field(r, "a")
			valid = false
			break
		}
		f := m.dtype.Fields[d.n(len(m.dtype.Fields))]
		name := f.Name
		if f.Title != "" && d.n(2) == 0 {
			name = f.Title
		}
		v, err = Field(r, name)
		next = m.field(f)
		if valid = len(next.shape) <= grid.MaxDims; !valid {
			next = m
		}
	}
	if (err == nil) != valid {
		t.Fatalf("a step on a view of shape %v: error %v", m.shape, err)
	}
	if err != nil {
		return r, m, false
	}
	return v, next, true
}

// field is the model of a field.
func (m *viewModel) field(f meta.Field) *viewModel {
	next := &viewModel{shape: slices.Clone(m.shape), dtype: f.Type}
	n := 1
	if f.Type.Elem != nil {
		for _, x := range f.Type.Shape {
			next.shape = append(next.shape, int64(x))
			n *= x
		}
		next.dtype = *f.Type.Elem
	}
	for _, at := range m.at {
		for i := range n {
			next.at = append(next.at, at+int64(f.Offset+i*next.dtype.Size))
		}
	}
	return next
}

const viewDType = "[('a', '<i2'), ('pos', [(('abscissa', 'x'), '<f4'), ('y', '>i4', (2, 3)), ('n', '|u1', (3,))], (2,)), ('t', '|S3')]"

// tryViews creates an array and a chain of views of it, and compares reads and writes with models.
func tryViews(t testing.TB, data []byte) {
	ctx := context.Background()
	d := &draws{data}
	base := d.array(t)
	defer base.a.Close()
	dt := base.a.DType()
	if d.n(3) > 0 {
		dt, _ = meta.ParseDType(viewDType)
		o := base.a.CreateOptions()
		o.Filters = nil
		items := bytes.Repeat([]byte{0}, int(base.a.Size())*dt.Size)
		if d.n(4) > 0 {
			items = randomBytes(rand.New(rand.NewPCG(uint64(d.n(256)), 1)), len(items))
		}
		a, err := CreateBytes(ctx, "", base.shape, viewDType, items, o)
		if err != nil {
			t.Fatal(err)
		}
		base = &arrayModel{a: a, shape: base.shape, size: dt.Size, items: items}
		defer a.Close()
	}
	m := &viewModel{shape: base.shape, dtype: dt}
	for i := range base.a.Size() {
		m.at = append(m.at, i*int64(base.size))
	}
	var r Reader = base.a
	for range 1 + d.n(6) {
		if next, model, ok := d.step(t, r, m); ok && len(model.at) < 5000 {
			r, m = next, model
		}
		m.check(t, d, r, base)
	}
	if w, ok := r.(*View); ok {
		for range 2 {
			m.write(t, d, w, base)
		}
		c, err := Copy(ctx, "", r, nil)
		if err != nil {
			t.Fatalf("copy of a view of shape %v: %v", m.shape, err)
		}
		got := make([]byte, int(c.Size())*c.DType().Size)
		if err := c.ReadBytes(ctx, got); err != nil || !slices.Equal(c.Shape(), r.Shape()) || !bytes.Equal(got, m.read(base, count(int64(len(m.at))))) {
			t.Fatalf("copy of a view of shape %v: the items differ, error %v", m.shape, err)
		}
		c.Close()
	}
}

// read returns the items of the view with the given numbers.
func (m *viewModel) read(base *arrayModel, positions []int64) []byte {
	var b []byte
	for _, p := range positions {
		b = append(b, base.items[m.at[p]:][:m.dtype.Size]...)
	}
	return b
}

// check compares a view and a selection of it with the model.
func (m *viewModel) check(t testing.TB, d *draws, r Reader, base *arrayModel) {
	t.Helper()
	ctx := context.Background()
	if shape := r.Shape(); !slices.Equal(shape, m.shape) || len(r.Shape()) != len(m.shape) || r.Size() != int64(len(m.at)) {
		t.Fatalf("shape %v, want %v", shape, m.shape)
	}
	if r.DType().String() != m.dtype.String() || r.DType().Size != m.dtype.Size {
		t.Fatalf("dtype %v, want %v", r.DType(), m.dtype)
	}
	for i := range 3 {
		var sel []Index
		if i > 0 {
			sel = d.selection(m.shape)
		}
		shape, positions, wrong := naiveSelect(m.shape, sel)
		if len(positions) > 20000 {
			continue
		}
		want := m.read(base, positions)
		got := bytes.Repeat([]byte{0xaa}, len(want))
		err := r.ReadBytes(ctx, got, sel...)
		have, _ := r.SelectionShape(sel...)
		if (err == nil) != (wrong == nil) || err == nil && (!bytes.Equal(got, want) || !slices.Equal(shape, have)) {
			t.Fatalf("%v of a view of shape %v, dtype %v: shape %v, want %v, error %v, want %v, same bytes: %v", sel, m.shape, m.dtype, have, shape, err, wrong, bytes.Equal(got, want))
		}
	}
	if len(m.at) > 0 {
		at, p := make([]int64, len(m.shape)), int64(d.n(len(m.at)))
		for i, rest := len(at)-1, p; i >= 0; i-- {
			at[i] = rest % m.shape[i]
			rest /= m.shape[i]
		}
		a, how := r.source()
		item := make([]byte, m.dtype.Size)
		if err := a.readItem(ctx, how, nil, item, at); err != nil || !bytes.Equal(item, m.read(base, []int64{p})) {
			t.Fatalf("item %v of a view of shape %v: %v, %v", at, m.shape, item, err)
		}
	}
}

// write writes through a view.
func (m *viewModel) write(t testing.TB, d *draws, w *View, base *arrayModel) {
	ctx := context.Background()
	sel := d.selection(m.shape)
	_, positions, wrong := naiveSelect(m.shape, sel)
	if len(positions) > 20000 {
		return
	}
	src := make([]byte, len(positions)*m.dtype.Size)
	for i := range src {
		src[i] = byte(i + 7)
	}
	fill := d.n(2) == 0
	var err error
	if fill {
		src = src[:min(len(src), m.dtype.Size)]
		if len(src) == 0 {
			return
		}
		err = w.FillBytes(ctx, src, sel...)
	} else {
		err = w.WriteBytes(ctx, src, sel...)
	}
	if w.m.Repeats() {
		if !errors.Is(err, ErrReadOnly) {
			t.Fatalf("writing to a view that repeats items: %v", err)
		}
		return
	}
	if (err == nil) != (wrong == nil) {
		t.Fatalf("writing %v to a view of shape %v: %v, want %v", sel, m.shape, err, wrong)
	}
	if err != nil {
		return
	}
	for i, p := range positions {
		from := i * m.dtype.Size
		if fill {
			from = 0
		}
		copy(base.items[m.at[p]:][:m.dtype.Size], src[from:])
	}
	got := make([]byte, len(base.items))
	if err := base.a.ReadBytes(ctx, got); err != nil || !bytes.Equal(got, base.items) {
		t.Fatalf("after writing %v to a view of shape %v: the items differ, %v", sel, m.shape, err)
	}
}

// TestViewChains compares random chains of views with models.
func TestViewChains(t *testing.T) {
	n := 3000
	if testing.Short() || race.Enabled {
		n = 300
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 12))
		data := make([]byte, 600)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { tryViews(t, data) })
	}
}

// FuzzViews compares chains of views with models.
func FuzzViews(f *testing.F) {
	for seed := range 8 {
		data := make([]byte, 300)
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 1000 {
			tryViews(t, data)
		}
	})
}

// TestViewAllocates checks that reading through a view allocates little.
func TestViewAllocates(t *testing.T) {
	if race.Enabled {
		t.Log("the race detector makes pools drop memory at random, so allocations cannot be counted")
		return
	}
	ctx := context.Background()
	o := &CreateOptions{Chunks: []int64{20, 30}, Blocks: []int64{7, 10}}
	o.Concurrency = 1
	a, err := Create(ctx, "", []int64{50, 70}, count(3500), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	v, err := Transpose(a)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]int64, 3500)
	read := func() {
		if err := ReadInto(ctx, v, dst); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if n := testing.AllocsPerRun(100, read); n > 2 || dst[1] != 70 {
		t.Errorf("%v allocations, item %d", n, dst[1])
	}
}

// TestNarrowShapedView copies views that are narrower than the blocks which a codec or filter needs, and keeps one as
// an attribute.
func TestNarrowShapedView(t *testing.T) {
	ctx := context.Background()
	for _, o := range []CreateOptions{
		{Codec: codec.ZFPRate, CodecMeta: 37, Filters: []chunk.Filter{}},
		{Codec: codec.ZFPAcc, Filters: []chunk.Filter{}},
		{Filters: []chunk.Filter{chunk.NDCell.With(8)}},
		{Filters: []chunk.Filter{chunk.NDMean.With(8)}},
	} {
		o.Chunks, o.Blocks = []int64{24, 32}, []int64{12, 16}
		items := make([]float32, 48*64)
		for i := range items {
			items[i] = float32(i)
		}
		a, err := Create(ctx, "", []int64{48, 64}, items, &o)
		if err != nil {
			t.Fatal(err)
		}
		for _, sel := range [][]Index{
			{All}, {Span(0, 2)}, {All, Span(3, 4)}, {Step(None, None, -20), Span(0, 3)}, {Step(None, None, 20)},
			{Step(None, None, 47), Step(None, None, 2)}, {At(3)}, {Span(0, 20), Step(None, None, 3)},
		} {
			v, err := Slice(a, sel...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Copy(ctx, "", v, nil); err != nil {
				t.Errorf("%v %v, %v: %v", o.Codec, o.Filters, sel, err)
			}
			if err := a.SetAttr(ctx, "view", v); err != nil {
				t.Errorf("%v %v, %v as an attribute: %v", o.Codec, o.Filters, sel, err)
			}
		}
	}
}

// rowFilter subtracts from each byte the one Shape[0] bytes before.
type rowFilter struct{}

func (rowFilter) Code() uint8 { return 171 }

func (rowFilter) Forward(dst, src []byte, b chunk.BlockInfo) error {
	w := min(int(b.Shape[0]), len(src))
	copy(dst[:w], src)
	for i := w; i < len(src); i++ {
		dst[i] = src[i] - src[i-w]
	}
	return nil
}

func (rowFilter) Backward(dst, src []byte, b chunk.BlockInfo) error {
	w := min(int(b.Shape[0]), len(src))
	copy(dst[:w], src)
	for i := w; i < len(src); i++ {
		dst[i] = src[i] + dst[i-w]
	}
	return nil
}

// TestCopyBlockShape copies arrays with a filter that uses the shape of blocks to arrays with another number of axes.
func TestCopyBlockShape(t *testing.T) {
	ctx := context.Background()
	items := make([]uint8, 32*32)
	for i := range items {
		items[i] = uint8(i/32 + i%32*i%32)
	}
	a, err := Create(ctx, "", []int64{32, 32}, items, &CreateOptions{
		Codec: codec.LZ4, Filters: []chunk.Filter{171}, UserFilters: []chunk.UserFilter{rowFilter{}}, Chunks: []int64{32, 32}, Blocks: []int64{16, 32},
	})
	must(t, err)
	stacked, err := Stack(ctx, "", 0, []Reader{a}, nil)
	must(t, err)
	expanded, err := ExpandDims(a, 1)
	must(t, err)
	copied, err := Copy(ctx, "", expanded, nil)
	must(t, err)
	same, err := Copy(ctx, "", a, nil)
	must(t, err)
	for what, r := range map[string]*Array{"stack": stacked, "expanded": copied, "copy": same} {
		if got, err := Read[uint8](ctx, r); err != nil || !slices.Equal(got, items) {
			t.Errorf("%s of shape %d: %v, or other items", what, r.Shape(), err)
		}
	}
}
