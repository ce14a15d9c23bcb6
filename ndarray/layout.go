package ndarray

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// layout holds the shapes and options of a new array.
type layout struct {
	rec      meta.Array
	geo      *grid.Geometry
	itemSize int
	opts     frame.CreateOptions
}

// newGivenLayout is newLayout for a function that takes the dtype as an argument.
func newGivenLayout(ctx context.Context, name string, shape []int64, dtype string, o *CreateOptions) (*layout, error) {
	if o != nil && o.DType != "" {
		return nil, errTwoDTypes()
	}
	return newLayout(ctx, name, shape, dtype, o)
}

// errTwoDTypes returns the error for a dtype that is set twice.
func errTwoDTypes() error {
	return paramError("CreateOptions.DType and a dtype as an argument, want one of them")
}

// newLayout checks the parameters of a new array and chooses those that are not set. It ignores o.DType.
func newLayout(ctx context.Context, name string, shape []int64, dtype string, o *CreateOptions) (*layout, error) {
	if o == nil {
		o = &CreateOptions{}
	}
	dt, err := meta.ParseDType(dtype)
	if err != nil {
		return nil, fmt.Errorf("ndarray: %w: %v", ErrType, err)
	}
	if dt.Size < 1 {
		return nil, fmt.Errorf("ndarray: %w: items of dtype %s have no bytes", ErrType, dtype)
	}
	l := &layout{itemSize: dt.Size}
	if l.opts, err = o.frameOptions(name); err != nil {
		return nil, err
	}
	if l.opts.VLMeta, err = attrLayers(ctx, o.Attrs); err != nil {
		return nil, err
	}
	p := &l.opts.Params
	p.TypeSize = dt.Size
	if dt.Kind == 'U' && p.Filters == nil && p.Codec == 0 && p.Level == 0 {
		// Without parameters, python-blosc2 shuffles the four bytes of characters, not the bytes of items.
		p.Filters = []chunk.Filter{0, 0, 0, 0, 0, chunk.Shuffle.With(4)}
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

// blockHint returns the preferred size of a block in bytes if the codec or a filter depends on the shape of a block, or
// 0.
func blockHint(p chunk.Params) (int64, error) {
	if !p.Shaped() {
		return 0, nil
	}
	p.BlockSize = 0
	n, err := p.BlockSizeFor(8 << 20)
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
	f, err := frame.CreateFunc(ctx, name, fill, &l.opts)
	return fromFrame(f, err, nil)
}
