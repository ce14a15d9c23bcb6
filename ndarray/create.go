package ndarray

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Zeros creates an array of zeros. It writes no chunks, only an index. name is a new file, a new directory if o.Sparse
// is set, or "" for an array in memory. dtype is a NumPy dtype such as "<f4" or "[('a', '<i4'), ('b', '<f8')]". The
// array is open for writing. The error wraps ErrShape, ErrType, ErrTooLarge or fs.ErrExist, or is an error of the
// frame.
func Zeros(name string, shape []int64, dtype string, o *Options) (*Array, error) {
	return createSpecial(name, shape, dtype, chunk.Zeros, o)
}

// Uninit creates an array of uninitialized items, which read as zeros. See Zeros.
func Uninit(name string, shape []int64, dtype string, o *Options) (*Array, error) {
	return createSpecial(name, shape, dtype, chunk.Uninit, o)
}

// NaNs creates an array of quiet NaNs. It returns ErrType unless items have 4 or 8 bytes. See Zeros.
func NaNs(name string, shape []int64, dtype string, o *Options) (*Array, error) {
	if dt, err := meta.ParseDType(dtype); err == nil && dt.Size != 4 && dt.Size != 8 {
		return nil, fmt.Errorf("ndarray: %w: NaNs have 4 or 8 bytes, but items of dtype %s have %d", ErrType, dtype, dt.Size)
	}
	return createSpecial(name, shape, dtype, chunk.NaNs, o)
}

// createSpecial creates an array of special chunks.
func createSpecial(name string, shape []int64, dtype string, s chunk.Special, o *Options) (*Array, error) {
	l, err := newLayout(shape, dtype, o)
	if err != nil {
		return nil, err
	}
	return l.create(context.Background(), name, func(b *frame.Batch) error {
		return b.FillSpecial(l.geo.Chunks*l.geo.ChunkBytes, s)
	})
}

// Full creates an array in which all items are item, the bytes of one item as stored. Each chunk takes 32 bytes plus
// the size of the item. See Zeros.
func Full(name string, shape []int64, dtype string, item []byte, o *Options) (*Array, error) {
	l, err := newLayout(shape, dtype, o)
	if err != nil {
		return nil, err
	}
	if len(item) != l.itemSize {
		return nil, fmt.Errorf("ndarray: %w: item has %d bytes, want %d for dtype %s", ErrShape, len(item), l.itemSize, l.rec.DType)
	}
	return l.create(context.Background(), name, func(b *frame.Batch) error {
		if l.geo.Chunks == 0 {
			return nil
		}
		p := l.opts.Params
		c, err := chunk.EncodeSpecial(nil, chunk.Value, int(l.geo.ChunkBytes), item, p)
		for i := int64(0); err == nil && i < l.geo.Chunks; i++ {
			err = b.AppendRaw(c)
		}
		return err
	})
}

// CreateBytes creates an array from data, which holds all items in C order, as they are stored. It does not retain
// data. Chunks of zeros take no space. See Zeros.
func CreateBytes(ctx context.Context, name string, shape []int64, dtype string, data []byte, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	l, err := newLayout(shape, dtype, o)
	if err != nil {
		return nil, err
	}
	if want, err := grid.ByteSize(l.geo.Items, l.geo.ItemSize); err != nil {
		return nil, err
	} else if len(data) != want {
		return nil, fmt.Errorf("ndarray: %w: data has %d bytes, want %d for shape %v with items of %d bytes", ErrShape, len(data), want, shape, l.itemSize)
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		if l.geo.Items == 0 {
			return nil
		}
		s, err := selection.Resolve(shape, nil)
		if err != nil {
			return err
		}
		w := &writing{src: data, plan: selection.NewPlan(l.geo, &s)}
		return b.Encode(ctx, int(l.geo.ChunkBytes), w, w.size())
	})
}

// layout holds the shapes and options of a new array.
type layout struct {
	rec      meta.Array
	geo      *grid.Geometry
	itemSize int
	opts     frame.Options
}

// newLayout checks the parameters of a new array and chooses those that are not set.
func newLayout(shape []int64, dtype string, o *Options) (*layout, error) {
	if o == nil {
		o = &Options{}
	}
	dt, err := meta.ParseDType(dtype)
	if err != nil {
		return nil, fmt.Errorf("ndarray: %w: %v", ErrType, err)
	}
	if dt.Size < 1 {
		return nil, fmt.Errorf("ndarray: %w: items of dtype %s have no bytes", ErrType, dtype)
	}
	l := &layout{itemSize: dt.Size, opts: o.Options}
	p := &l.opts.Params
	p.TypeSize = dt.Size
	if dt.Kind == 'U' && p.Filters == nil && p.Codec == 0 && p.Level == 0 {
		// Without parameters, python-blosc2 shuffles the four bytes of characters, not the bytes of items.
		p.Filters = []chunk.Filter{{}, {}, {}, {}, {}, {ID: chunk.Shuffle, Meta: 4}}
	}
	hint, err := blockHint(*p)
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

// addRecord puts the metalayer with the shapes before the metalayers of the caller.
func (l *layout) addRecord() error {
	content, err := l.rec.Append(nil)
	if err != nil {
		return err
	}
	layers := []meta.Layer{{Name: "b2nd", Content: content}}
	for _, m := range l.opts.Meta {
		if m.Name != "b2nd" {
			layers = append(layers, m)
		}
	}
	l.opts.Meta, l.opts.ChunkSize = layers, int(l.geo.ChunkBytes)
	return nil
}

// create creates the frame, in memory if name is empty, and calls fill to write its chunks.
func (l *layout) create(ctx context.Context, name string, fill func(b *frame.Batch) error) (*Array, error) {
	if name == "" {
		f, err := frame.CreateMemory(&l.opts, l.variable(fill))
		return fromFrame(f, err, nil)
	}
	f, err := frame.CreateContext(ctx, name, &l.opts, l.variable(fill))
	return fromFrame(f, err, nil)
}

// variable returns fill. If chunks have no bytes because an axis has length zero, it returns a function that sets the
// chunks of the frame to variable size.
func (l *layout) variable(fill func(b *frame.Batch) error) func(b *frame.Batch) error {
	if l.geo.ChunkBytes > 0 {
		return fill
	}
	return func(b *frame.Batch) error { return b.SetVariable() }
}

// Ones creates an array in which all items are 1. It returns ErrType unless dtype is one of bools or numbers. See Full.
func Ones(name string, shape []int64, dtype string, o *Options) (*Array, error) {
	d, err := meta.ParseDType(dtype)
	if err != nil {
		return nil, fmt.Errorf("ndarray: %w: %v", ErrType, err)
	}
	item, err := convert.One(d)
	if err != nil {
		return nil, err
	}
	return Full(name, shape, dtype, item, o)
}

// FullOf creates an array in which all items are value. See Full.
func FullOf[T Scalar](name string, shape []int64, value T, o *Options) (*Array, error) {
	dt := DTypeOf[T]()
	return Full(name, shape, dt.String(), convert.Stored(dt, []T{value}), o)
}

// ZerosLike creates an array of zeros with the shape and dtype of r. If o is nil, the array also has the partition and
// parameters of r. See Zeros.
func ZerosLike(r Reader, name string, o *Options) (*Array, error) {
	return Zeros(name, r.Shape(), r.DType().String(), like(r, o))
}

// UninitLike creates an array of uninitialized items, like r. See ZerosLike and Uninit.
func UninitLike(r Reader, name string, o *Options) (*Array, error) {
	return Uninit(name, r.Shape(), r.DType().String(), like(r, o))
}

// OnesLike creates an array in which all items are 1, like r. See ZerosLike and Ones.
func OnesLike(r Reader, name string, o *Options) (*Array, error) {
	return Ones(name, r.Shape(), r.DType().String(), like(r, o))
}

// FullLike creates an array in which all items are item, like r. See ZerosLike and Full.
func FullLike(r Reader, name string, item []byte, o *Options) (*Array, error) {
	return Full(name, r.Shape(), r.DType().String(), item, like(r, o))
}

// like returns o, or if that is nil the options that make an array like r.
func like(r Reader, o *Options) *Options {
	if o == nil {
		return r.Options()
	}
	return o
}
