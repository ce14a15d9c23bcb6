package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// ctx is the context of calls in tests that end no call early.
var ctx = context.Background()

// replaceOnly replaces the only chunk of a frame by a compressed one.
func replaceOnly(ctx context.Context, f *frame.Frame, c []byte) error {
	b, err := f.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err = b.Delete(0); err == nil {
		err = b.AppendRaw(ctx, c)
	}
	if err == nil {
		err = b.Commit()
	}
	return err
}

// saved returns what Save writes.
func saved(f *frame.Frame) ([]byte, error) {
	var b bytes.Buffer
	_, err := f.Save(context.Background(), &b)
	return b.Bytes(), err
}

// inBatch makes a change of a frame in a batch of its own.
func inBatch(f *frame.Frame, change func(b *frame.Batch) error) error {
	b, err := f.Begin(context.Background())
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := change(b); err != nil {
		return err
	}
	return b.Commit()
}

// wantMessage checks that an error matches is, and that its text has a part.
func wantMessage(t *testing.T, err, is error, part string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Errorf("error %v, want one that matches %v", err, is)
	} else if !strings.Contains(err.Error(), part) {
		t.Errorf("error %q, want one with %q", err, part)
	}
}

// fullBytes creates an array in which all items are item, as it is stored.
func fullBytes(name string, shape []int64, dtype string, item []byte, o *CreateOptions) (*Array, error) {
	return FullBytes(ctx, name, shape, dtype, item, o)
}

// ones creates an array in which all items are 1.
func ones(name string, shape []int64, dtype string, o *CreateOptions) (*Array, error) {
	d, err := meta.ParseDType(dtype)
	if err != nil {
		return nil, err
	}
	item, err := convert.One(d)
	if err != nil {
		return nil, err
	}
	return fullBytes(name, shape, dtype, item, o)
}

// uninit creates an array of uninitialized special chunks, as blosc2.empty does.
func uninit(name string, shape []int64, dtype string, o *CreateOptions) (*Array, error) {
	return createSpecial(ctx, name, shape, dtype, chunk.Uninit, o)
}

// nans creates an array of special chunks of NaNs, as blosc2.nans does.
func nans(name string, shape []int64, dtype string, o *CreateOptions) (*Array, error) {
	return createSpecial(ctx, name, shape, dtype, chunk.NaNs, o)
}

// asTypeCopy returns an array of the items of r, converted.
func asTypeCopy(ctx context.Context, r Reader, dtype string) (*Array, error) {
	v, err := AsType(r, dtype)
	if err != nil {
		return nil, err
	}
	return Copy(ctx, "", v, nil)
}

// coordsND is Coords with an index array of any number of dimensions, also none.
func coordsND(shape, indices []int64) Index {
	return &selection.IndexArray{Kind: selection.CoordsKind, Shape: shape, At: indices}
}

// maskND is Mask with any number of dimensions, also none.
func maskND(shape []int64, keep []bool) Index {
	return &selection.IndexArray{Kind: selection.MaskKind, Shape: shape, Keep: keep}
}

// trues returns the numbers of the booleans that are true.
func trues(keep []bool) []int64 {
	list := []int64{}
	for i, k := range keep {
		if k {
			list = append(list, int64(i))
		}
	}
	return list
}

// storedDType returns the dtype as it is stored and the number of its format.
func storedDType(a *Array) (string, int) {
	rec := a.state.Load().rec
	return rec.DType, int(rec.DTypeFormat)
}

// funcFilter is a user filter that stores blocks as they are and calls a function for each block that it decodes.
type funcFilter func() error

func (funcFilter) Code() uint8 { return 201 }

func (funcFilter) Forward(dst, src []byte, _ chunk.BlockInfo) error {
	copy(dst, src)
	return nil
}

func (f funcFilter) Backward(dst, src []byte, _ chunk.BlockInfo) error {
	copy(dst, src)
	return f()
}

// use makes an array call f for each block that is decoded.
func (f funcFilter) use(o *CreateOptions) {
	o.Filters, o.UserFilters = []chunk.Filter{201}, []chunk.UserFilter{f}
}

// keyFilter is a user filter that inverts the bits of each byte that are set in a key of the block.
type keyFilter func(b chunk.BlockInfo) byte

func (keyFilter) Code() uint8 { return 200 }

func (key keyFilter) Forward(dst, src []byte, b chunk.BlockInfo) error {
	for i, c := range src {
		dst[i] = c ^ key(b)
	}
	return nil
}

func (key keyFilter) Backward(dst, src []byte, b chunk.BlockInfo) error {
	return key.Forward(dst, src, b)
}

// renumbered is a keyFilter with the number of NDMean.
type renumbered struct{ keyFilter }

func (renumbered) Code() uint8 { return chunk.NDMean.Code() }

// naiveSelect applies a selection to a shape item by item. It returns the shape of the result and, for each of its
// items, the position in the array in C order. It follows NumPy's documentation and is slow.
func naiveSelect(shape []int64, sel []Index) (result, positions []int64, err error) {
	if len(sel) == 1 {
		if x, ok := sel[0].(*selection.IndexArray); ok && x.Kind == selection.FlatKind {
			total := int64(1)
			for _, n := range shape {
				total *= n
			}
			for _, p := range x.At {
				if p < -total || p >= total {
					return nil, nil, fmt.Errorf("position %d", p)
				}
				positions = append(positions, (p+total)%total)
			}
			return []int64{int64(len(x.At))}, positions, nil
		}
	}
	entries, err := naiveEntries(shape, sel)
	if err != nil {
		return nil, nil, err
	}
	dims, err := naiveDims(entries)
	if err != nil {
		return nil, nil, err
	}
	if len(dims) > selection.MaxResultDims {
		return nil, nil, fmt.Errorf("%d dimensions", len(dims))
	}
	for _, d := range dims {
		result = append(result, d.n)
	}
	coord := make([]int64, len(shape))
	var loop func(k int, at []int64)
	loop = func(k int, at []int64) {
		if k < len(dims) {
			for i := range dims[k].n {
				loop(k+1, append(at[:k:k], i))
			}
			return
		}
		var joint []int64
		for i, d := range dims {
			if d.joint {
				joint = append(joint, at[i])
			}
		}
		for i, d := range dims {
			if !d.joint && d.entry.axis >= 0 {
				coord[d.entry.axis] = d.entry.values[at[i]]
			}
		}
		for _, e := range entries {
			if e.joint || e.scalar {
				j := int64(0)
				for i, n := range e.shape {
					j = j * n
					if n > 1 {
						j += joint[len(joint)-len(e.shape)+i]
					}
				}
				if e.axis >= 0 {
					coord[e.axis] = e.values[j]
				}
			}
		}
		p := int64(0)
		for i, n := range shape {
			p = p*n + coord[i]
		}
		positions = append(positions, p)
	}
	loop(0, nil)
	return result, positions, nil
}

// naiveEntry holds the selected items along one axis, or represents a NewAxis or an Ellipsis.
type naiveEntry struct {
	axis   int // -1 for NewAxis, -2 for Ellipsis
	values []int64
	scalar bool    // At
	joint  bool    // an index array that is broadcast, or an At beside one
	shape  []int64 // of values, if joint
	wall   bool    // separates index arrays

	outside bool // has a number outside the axis
}

// naiveDim is a dimension of the result.
type naiveDim struct {
	n     int64
	entry *naiveEntry
	joint bool
}

// naiveEntries returns the selected items along each axis.
func naiveEntries(shape []int64, sel []Index) (entries []*naiveEntry, err error) {
	used, dots := 0, slices.Contains(sel, Index(Ellipsis))
	for _, x := range sel {
		if y, ok := x.(*selection.IndexArray); ok && y.Kind == selection.MaskKind {
			used += len(y.Shape)
		} else if x != Ellipsis && x != NewAxis {
			used++
		}
	}
	if !dots {
		sel = append(slices.Clone(sel), Ellipsis)
	}
	axis := 0
	for k, x := range sel {
		switch x := x.(type) {
		case selection.Marker:
			switch x {
			case NewAxis:
				entries = append(entries, &naiveEntry{axis: -1, values: []int64{0}, wall: true})
			case All:
				entries = append(entries, &naiveEntry{axis: axis, values: count(shape[axis]), wall: true})
				axis++
			default:
				for range len(shape) - used {
					entries = append(entries, &naiveEntry{axis: axis, values: count(shape[axis]), wall: true})
					axis++
				}
				if dots || k < len(sel)-1 {
					entries = append(entries, &naiveEntry{axis: -2, wall: true})
				}
			}
		case selection.Point:
			i := int64(x)
			if i < 0 {
				i += shape[axis]
			}
			if i < 0 || i >= shape[axis] {
				return nil, fmt.Errorf("index %d", x)
			}
			entries = append(entries, &naiveEntry{axis: axis, values: []int64{i}, scalar: true})
			axis++
		case selection.Span:
			all := count(shape[axis])
			s, err := selection.Resolve(shape[axis:axis+1], []Index{x})
			if err != nil {
				return nil, err
			}
			e := &naiveEntry{axis: axis, wall: true, values: []int64{}}
			for i := range s.Axes[0].Count {
				e.values = append(e.values, all[s.Axes[0].Start+i*s.Axes[0].Step])
			}
			entries = append(entries, e)
			axis++
		case *selection.IndexArray:
			list, err := naiveArray(shape, axis, x)
			if err != nil {
				return nil, err
			}
			entries = append(entries, list...)
			axis += x.Axes(len(shape))
		default:
			panic(fmt.Sprintf("the model has no %T", x))
		}
	}
	return entries, nil
}

func count(n int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

// naiveArray returns the selected items along the axes of an index array.
func naiveArray(shape []int64, axis int, x *selection.IndexArray) (entries []*naiveEntry, err error) {
	switch x.Kind {
	case selection.PickKind, selection.CoordsKind:
		e := &naiveEntry{axis: axis, joint: x.Kind == selection.CoordsKind, shape: x.Shape, values: []int64{}}
		for _, i := range x.At {
			if i < -shape[axis] || i >= shape[axis] {
				e.outside, i = true, 0
			}
			e.values = append(e.values, (i+shape[axis])%max(shape[axis], 1))
		}
		return []*naiveEntry{e}, nil
	}
	for i, n := range x.Shape {
		if n != shape[axis+i] && n != 0 {
			return nil, fmt.Errorf("mask of %d for %d", n, shape[axis+i])
		}
		entries = append(entries, &naiveEntry{axis: axis + i, joint: x.Kind == selection.MaskKind, values: []int64{}})
	}
	n := int64(0)
	for p, k := range x.Keep {
		if !k {
			continue
		}
		n++
		for i := len(x.Shape) - 1; i >= 0; i-- {
			entries[i].values = append(entries[i].values, int64(p)%x.Shape[i])
			p /= int(x.Shape[i])
		}
	}
	for _, e := range entries {
		e.shape = []int64{n}
	}
	if len(x.Shape) == 0 {
		entries = []*naiveEntry{{axis: -1, joint: true, shape: []int64{n}, values: make([]int64, n)}}
	}
	return entries, nil
}

// naiveDims returns the dimensions of the result.
func naiveDims(entries []*naiveEntry) ([]naiveDim, error) {
	var dims []naiveDim
	var shape []int64
	parts, where, inside, any := 0, 0, false, false
	for _, e := range entries {
		any = any || e.joint
	}
	for _, e := range entries {
		switch {
		case any && (e.joint || e.scalar):
			if !inside {
				parts++
				where = len(dims)
			}
			inside = true
			var err error
			if shape, err = naiveBroadcast(shape, e.shape); err != nil {
				return nil, err
			}
			continue
		case e.axis != -2 && !e.scalar:
			dims = append(dims, naiveDim{n: int64(len(e.values)), entry: e})
		}
		inside = inside && !e.wall
	}
	if parts > 1 {
		where = 0
	}
	items, _ := grid.Product(shape)
	for _, e := range entries {
		if e.outside && (!e.joint || items > 0) { // NumPy does not check numbers that broadcast to no items
			return nil, fmt.Errorf("index out of range")
		}
	}
	var block []naiveDim
	for _, n := range shape {
		block = append(block, naiveDim{n: n, joint: true})
	}
	return slices.Insert(dims, where, block...), nil
}

func naiveBroadcast(a, b []int64) ([]int64, error) {
	for len(a) < len(b) {
		a = slices.Insert(slices.Clone(a), 0, 1)
	}
	a = slices.Clone(a)
	for i := range b {
		x := &a[len(a)-len(b)+i]
		switch {
		case *x == 1:
			*x = b[i]
		case b[i] != 1 && b[i] != *x:
			return nil, fmt.Errorf("%v and %v", a, b)
		}
	}
	return a, nil
}
