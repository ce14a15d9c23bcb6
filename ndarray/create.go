package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Zeros creates an array of zeros. It writes no chunks, only an index. name is a new file, a new directory if o.Sparse
// is set, or "" for an array in memory. shape is the number of items along each axis. dtype is a NumPy dtype such as
// "<f4" or "[('a', '<i4'), ('b', '<f8')]", but without Python objects. The array is open for writing. The error wraps
// ErrShape, ErrType, ErrParam, ErrTooLarge or fs.ErrExist, or is an error of the frame or of ctx.
//
// In place of numpy.zeros_like(r), call Zeros(ctx, name, r.Shape(), r.DType().String(), r.CreateOptions()). numpy.empty
// is Zeros, and numpy.ones is Full.
func Zeros(ctx context.Context, name string, shape []int64, dtype string, o *CreateOptions) (*Array, error) {
	return createSpecial(ctx, name, shape, dtype, chunk.Zeros, o)
}

// createSpecial creates an array of special chunks.
func createSpecial(ctx context.Context, name string, shape []int64, dtype string, s chunk.Special, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	l, err := newGivenLayout(ctx, name, shape, dtype, o)
	if err != nil {
		return nil, err
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		return b.Engine().FillSpecial(l.geo.Chunks*l.geo.ChunkBytes, s)
	})
}

// Full creates an array in which all items are value, of the dtype o.DType, or if that is empty DTypeOf[T]. Each chunk
// takes 32 bytes plus the size of the item; zeros and NaNs take no chunks. value may be a number of any type if the
// dtype can represent it exactly. So convert 0.1 for the dtype "<f4" first, as in float32(0.1). The error wraps
// ErrType, or ErrValue if the dtype cannot hold value, or is an error of Zeros.
//
//	numpy.ones(shape, 'f4')         Full[float32](ctx, name, shape, 1, nil)
//	numpy.full(shape, numpy.nan)    Full(ctx, name, shape, math.NaN(), nil)
//	numpy.full_like(r, 7)           Full(ctx, name, r.Shape(), 7.0, o), after o := r.CreateOptions() and
//	                                o.DType = r.DType().String(); see Zeros for zeros_like
func Full[T any](ctx context.Context, name string, shape []int64, value T, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	dt, item, err := oneItem(ctx, value, o)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(ctx, name, shape, dt, o)
	if err != nil {
		return nil, err
	}
	return l.full(ctx, name, item)
}

// FullBytes creates an array in which all items are item, which has the bytes of one item of dtype as it is stored. It
// does not retain item. Use it where the dtype is known only at run time; otherwise Full is shorter. The error wraps
// ErrShape if item has another size, or is an error of Zeros.
func FullBytes(ctx context.Context, name string, shape []int64, dtype string, item []byte, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	l, err := newGivenLayout(ctx, name, shape, dtype, o)
	if err != nil {
		return nil, err
	}
	if len(item) != l.dtype.Size {
		return nil, fmt.Errorf("ndarray: %w: item has %d bytes, want %d for dtype %s", ErrShape, len(item), l.dtype.Size, dtype)
	}
	return l.full(ctx, name, item)
}

// oneItem returns the dtype of a new array and value as an item of it.
func oneItem[T any](ctx context.Context, value T, o *CreateOptions) (DType, []byte, error) {
	dt, err := dtypeFor(o, []T{value})
	if err != nil {
		return dt, nil, err
	}
	item, err := encodeValue(ctx, dt, value)
	return dt, item, err
}

// full creates an array in which all items are item.
func (l *layout) full(ctx context.Context, name string, item []byte) (*Array, error) {
	return l.create(ctx, name, func(b *frame.Batch) error {
		if l.geo.Chunks == 0 {
			return nil
		}
		if s, ok := specialOf(item); ok {
			return b.Engine().FillSpecial(l.geo.Chunks*l.geo.ChunkBytes, s)
		}
		c, err := chunk.EncodeSpecial(nil, chunk.Value, int(l.geo.ChunkBytes), item, chunk.Params{TypeSize: l.opts.Params.TypeSize, BlockSize: l.opts.Params.BlockSize})
		for i := int64(0); err == nil && i < l.geo.Chunks; i++ {
			if err = ctx.Err(); err == nil {
				err = b.AppendRaw(ctx, c)
			}
		}
		return err
	})
}

// specialOf returns the special value that represents an item without a chunk, if there is one.
func specialOf(item []byte) (chunk.Special, bool) {
	if coder.IsZero(item) {
		return chunk.Zeros, true
	}
	if len(item) != 4 && len(item) != 8 {
		return 0, false
	}
	nan := make([]byte, len(item))
	coder.FillSpecial(nan, chunk.NaNs, nil, len(nan), 0)
	return chunk.NaNs, bytes.Equal(nan, item)
}

// CreateBytes creates an array from data, which holds all items in C order, as they are stored. It does not retain
// data. Chunks of zeros take no space. See Zeros.
func CreateBytes(ctx context.Context, name string, shape []int64, dtype string, data []byte, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	dt, err := givenDType(dtype, o)
	if err != nil {
		return nil, err
	}
	return createBytes(ctx, name, shape, dt, data, o)
}

// createBytes is CreateBytes, but ignores o.DType.
func createBytes(ctx context.Context, name string, shape []int64, dt DType, data []byte, o *CreateOptions) (*Array, error) {
	l, err := newLayout(ctx, name, shape, dt, o)
	if err != nil {
		return nil, err
	}
	if want, err := grid.ByteSize(l.geo.Items, l.geo.ItemSize); err != nil {
		return nil, err
	} else if len(data) != want {
		return nil, &lengthError{what: "data", have: int64(len(data)), want: int64(want), itemSize: l.dtype.Size, of: fmt.Sprint("shape ", shape)}
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		if l.geo.Items == 0 {
			return nil
		}
		s := selection.WholeAxes(l.rec.Shape)
		return l.put(ctx, b, data, &s)
	})
}

// layout holds the shapes and options of a new array.
type layout struct {
	rec   meta.Array
	geo   *grid.Geometry
	dtype DType
	opts  frame.CreateOptions
}

// newGivenLayout is newLayout for a function that takes the dtype as an argument.
func newGivenLayout(ctx context.Context, name string, shape []int64, dtype string, o *CreateOptions) (*layout, error) {
	dt, err := givenDType(dtype, o)
	if err != nil {
		return nil, err
	}
	return newLayout(ctx, name, shape, dt, o)
}

// givenDType returns the dtype that is an argument, which o must not have, too.
func givenDType(dtype string, o *CreateOptions) (DType, error) {
	if o != nil && o.DType != "" {
		return DType{}, paramError("option DType and a dtype as an argument, want one of them")
	}
	return newDType(dtype)
}

// newDType returns the dtype of a new array from its text. It returns ErrType if the dtype has Python objects: their
// items are addresses in the memory of a process.
func newDType(text string) (DType, error) {
	dt, err := meta.ParseDType(text)
	if err != nil {
		return dt, fmt.Errorf("ndarray: %w: %v", ErrType, err)
	}
	if hasObjects(&dt) {
		return dt, fmt.Errorf("ndarray: %w: dtype %s has Python objects, which cannot be stored; see package frame/store/objects", ErrType, text)
	}
	return dt, nil
}

// hasObjects reports whether items of a dtype have Python objects.
func hasObjects(d *DType) bool {
	return d.Kind == 'O' || d.Elem != nil && hasObjects(d.Elem) ||
		slices.ContainsFunc(d.Fields, func(f meta.Field) bool { return hasObjects(&f.Type) })
}

// newLayout checks the parameters of a new array and chooses those that are not set. It ignores o.DType.
func newLayout(ctx context.Context, name string, shape []int64, dt DType, o *CreateOptions) (*layout, error) {
	if o == nil {
		o = &CreateOptions{}
	}
	if o.MaxMemory != 0 {
		return nil, paramError("option MaxMemory is for Copy")
	}
	if dt.Size < 1 {
		return nil, fmt.Errorf("ndarray: %w: items of dtype %s have no bytes", ErrType, dt)
	}
	l := &layout{dtype: dt}
	var err error
	if l.opts, err = o.frameOptions(name); err != nil {
		return nil, err
	}
	if l.opts.VLMeta, err = attrLayers(ctx, o.Attrs); err != nil {
		return nil, err
	}
	p := &l.opts.Params
	p.TypeSize = dt.Size
	if dt.Kind == 'U' && o.Goal == 0 && p.Filters == nil && p.Codec == 0 && p.Level == 0 {
		// Without parameters, python-blosc2 shuffles the four bytes of characters, not the bytes of items.
		p.Filters = []chunk.Filter{0, 0, 0, 0, 0, chunk.Shuffle.With(4)}
	}
	hint, err := blockHint(&l.opts)
	if err != nil {
		return nil, err
	}
	chunks, blocks, err := grid.Partition(shape, o.Chunks, o.Blocks, int64(dt.Size), hint)
	if err != nil {
		return nil, err
	}
	if l.geo, err = grid.NewGeometry(shape, chunks, blocks, int64(dt.Size)); err != nil {
		return nil, err
	}
	if l.geo.BlockBytes > chunk.MaxBlockSize {
		return nil, fmt.Errorf("ndarray: %w: blocks have %d bytes, want at most %d", ErrTooLarge, l.geo.BlockBytes, chunk.MaxBlockSize)
	}
	l.rec = meta.Array{Shape: append([]int64{}, shape...), ChunkShape: chunks, BlockShape: blocks, DType: dt.String()}
	p.BlockSize = int(l.geo.BlockBytes)
	return l, l.addRecord()
}

// blockHint returns the preferred size of a block in bytes if the codec or a filter depends on the shape of a block, or
// if the goal has larger blocks, and otherwise 0.
func blockHint(o *frame.CreateOptions) (int64, error) {
	const most = 8 << 20
	p := coder.Params(o.Params)
	if o.Goal == Balanced && p.TypeSize == 1 {
		n, err := o.Goal.BlockSize(p.TypeSize, most)
		return int64(n), err
	}
	if !p.Shaped() {
		return 0, nil
	}
	p.BlockSize = 0
	plugins, err := coder.NewPlugins(o.Codecs, o.UserFilters)
	if err != nil {
		return 0, err
	}
	n, err := plugins.BlockSizeFor(p, most)
	return int64(n), err
}

// addRecord puts the metalayer with the shapes before the metalayers of the caller.
func (l *layout) addRecord() error {
	content, err := l.rec.Append(nil)
	if err != nil {
		return err
	}
	layers := []meta.Layer{{Name: "b2nd", Content: content}}
	for _, m := range l.opts.Meta {
		if m.Name != "b2nd" { // of an earlier call
			layers = append(layers, m)
		}
	}
	l.opts.Meta, l.opts.ChunkSize = layers, int(l.geo.ChunkBytes)
	return nil
}

// create creates the frame, in memory if name is empty, and calls fill to write its chunks.
func (l *layout) create(ctx context.Context, name string, fill func(b *frame.Batch) error) (*Array, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rec := l.rec // not the layout, whose options take memory
	st := &state{rec: &rec, geo: l.geo}
	f, err := frame.CreateFunc(ctx, name, func(b *frame.Batch) error {
		if err := fill(b); err != nil {
			return err
		}
		if n := b.NumChunks(); int64(n) != l.geo.Chunks {
			return fmt.Errorf("ndarray: %d chunks for shape %v in chunks of shape %v, want %d: %w", n, l.rec.Shape, l.rec.ChunkShape, l.geo.Chunks, ErrCorrupt)
		}
		st.content, _ = b.Engine().View().MetaLayer("b2nd")
		return nil
	}, &l.opts)
	if err != nil {
		return nil, err
	}
	a := &Array{f: f, engine: f.Engine(), layer: "b2nd", itemSize: l.dtype.Size, dtype: l.dtype, opts: f.Engine().Options()}
	a.state.Store(st)
	return a, nil
}

// put writes the items of a selection of whole chunks.
func (l *layout) put(ctx context.Context, b *frame.Batch, data []byte, s *selection.Selection) error {
	w := &writing{src: data, plan: selection.NewPlan(l.geo, s)}
	return b.Engine().Encode(ctx, int(l.geo.ChunkBytes), w, w.size())
}

// attrValue is a value that stores itself as an attribute: an *Array or a *View. It is an interface, because they are
// stored as a copy, and Copy depends on the functions for creating arrays.
type attrValue interface {
	stored(ctx context.Context) ([]byte, error)
}

// marshalAttr returns an attribute as it is stored.
func marshalAttr(ctx context.Context, v any) ([]byte, error) {
	if x, ok := v.(attrValue); ok {
		return x.stored(ctx)
	}
	content, err := meta.Marshal(v)
	if errors.Is(err, ErrType) {
		err = fmt.Errorf("%w; an attribute is an array, or made of numbers, text, booleans, bytes, slices, maps and structs; store times as text", err)
	}
	return content, err
}

// attrError returns an error about an attribute.
func attrError(name string, err error) error {
	return fmt.Errorf("ndarray: attribute %q: %w", name, err)
}

// attrLayers returns attributes as they are stored, sorted by name.
func attrLayers(ctx context.Context, attrs map[string]any) ([]meta.Layer, error) {
	var layers []meta.Layer
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		content, err := marshalAttr(ctx, attrs[name])
		if err != nil {
			return nil, attrError(name, err)
		}
		layers = append(layers, meta.Layer{Name: name, Content: content})
	}
	return layers, nil
}
