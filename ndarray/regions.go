package ndarray

import (
	"context"
	"fmt"
	"iter"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Regions is an unfinished array that several writers fill: goroutines, processes, or machines that share a file
// system. The shape and the partition are fixed. CreateRegions lays the array out in a directory, each writer opens it
// with OpenRegions and writes whole chunks, and Finish makes it an array:
//
//	r, err := ndarray.OpenRegions(ctx, name, nil)
//	defer r.Close()
//	err = ndarray.Write(ctx, r, items, box.Selection()...)
//
// Until Finish, Open and Edit return ErrUnfinished with the number of chunks that are written, and other libraries find
// no array. A finished array is a sparse one.
//
// A selection that covers a chunk only in part returns ErrShape: two writers of one chunk would need a lock. Let each
// writer have its own chunks. Writing a chunk again does no harm: the same items give the same bytes, and a chunk is
// replaced in one step. So pipelines may repeat work that has failed, or do it twice at the same time. If writers store
// different items in the same chunk, the last one wins. After Finish, writing other items returns fs.ErrExist.
//
// A chunk whose write has returned survives a crash of the program, and a power failure unless NoSync is set. See
// [frame.Regions]. A Regions is safe for concurrent use.
//
// With Objects in the options, the array is in an object store, such as a bucket of package cloud:
//
//	r, err := ndarray.OpenRegions(ctx, "", &ndarray.OpenOptions{Objects: bucket.Objects("dir/a.b2nd")})
type Regions struct {
	a *Array // the layout
	r *frame.Regions
}

// CreateRegions lays out an array in a new directory. It writes no items. If an unfinished array with the same shape,
// dtype and options exists, CreateRegions opens it: any number of writers may call it at the same time. Otherwise it
// returns fs.ErrExist for an existing name. With o.Overwrite, CreateRegions replaces an existing array, even an
// unfinished one with chunks of other writers, so only one writer may set it. o.Sparse is implied. BlockTable, Goal,
// Locking and Storage return ErrParam. For the other parameters and errors see Zeros.
func CreateRegions(ctx context.Context, name string, shape []int64, dtype string, o *CreateOptions) (*Regions, error) {
	ctx = task.Context(ctx)
	l, err := newGivenLayout(ctx, name, shape, dtype, o)
	if err != nil {
		return nil, err
	}
	r, err := frame.CreateRegions(ctx, name, l.geo.Chunks*l.geo.ChunkBytes, &l.opts)
	if err != nil {
		return nil, err
	}
	return fromRegions(ctx, r, nil)
}

// OpenRegions opens an array that CreateRegions has laid out, for writing. The array may be finished already: see
// Regions. The options must have the user codecs and filters of the array. Cache, Mmap, Locking, Verify and
// RequireChecksums return ErrParam. See Open.
func OpenRegions(ctx context.Context, name string, o *OpenOptions) (*Regions, error) {
	r, err := frame.OpenRegions(ctx, name, o.frameOptions())
	if err != nil {
		return nil, err
	}
	return fromRegions(ctx, r, o)
}

// fromRegions returns the array in a frame that was opened with the options o. It closes the frame after an error.
func fromRegions(ctx context.Context, r *frame.Regions, o *OpenOptions) (*Regions, error) {
	a, err := fromFrame(ctx, r.Layout(), o)
	if err != nil {
		return nil, err
	}
	return &Regions{a, r}, nil
}

// Shape returns the shape in items, the first axis first. The caller owns the slice.
func (r *Regions) Shape() []int64 { return r.a.Shape() }

// Chunks returns the shape of a chunk in items. The caller owns the slice.
func (r *Regions) Chunks() []int64 { return r.a.Chunks() }

// DType returns the NumPy dtype of the items.
func (r *Regions) DType() DType { return r.a.DType() }

// Close closes the directory. It does not finish the array. A second Close does nothing.
func (r *Regions) Close() error { return r.r.Close() }

// ChunkBox returns the items of the chunk at a position in the grid: chunk 0 along an axis begins with item 0. It
// returns ErrBounds if there is no such chunk.
func (r *Regions) ChunkBox(coords ...int64) (Box, error) {
	g := r.a.state.Load().geo
	b := Box{make([]int64, g.Ndim), make([]int64, g.Ndim)}
	if len(coords) != g.Ndim {
		return b, fmt.Errorf("ndarray: %w: chunk %v of an array of %d dimensions", ErrBounds, coords, g.Ndim)
	}
	for i, c := range coords {
		if n := g.Grid[i]; c < 0 || c >= n {
			return b, fmt.Errorf("ndarray: %w: chunk %v: axis %d has %d chunks", ErrBounds, coords, i, n)
		}
		b.Start[i] = c * g.ChunkShape[i]
		b.Shape[i] = g.ChunkLength(i, b.Start[i])
	}
	return b, nil
}

// WriteBytes writes src to a selection of whole chunks. src holds the items in C order, as they are stored. It
// compresses on up to Concurrency goroutines, and writes one chunk after the other. To write several chunks at a time,
// call it on several goroutines. After an error, some of the chunks may be written. The error wraps ErrShape if a chunk
// is not covered as a whole or src has another length, ErrBounds, or fs.ErrExist if the array is finished and has other
// items, or is an error of ctx or of the operating system.
func (r *Regions) WriteBytes(ctx context.Context, src []byte, sel ...Index) error {
	return r.write(task.Context(ctx), &writing{src: src}, sel)
}

// FillBytes writes one item of DType().Size bytes to all items of a selection of whole chunks. See WriteBytes.
func (r *Regions) FillBytes(ctx context.Context, item []byte, sel ...Index) error {
	if len(item) != r.a.itemSize {
		return fmt.Errorf("ndarray: %w: item has %d bytes, want %d", ErrShape, len(item), r.a.itemSize)
	}
	return r.write(task.Context(ctx), &writing{src: item, one: true}, sel)
}

func (r *Regions) write(ctx context.Context, w *writing, sel []Index) error {
	g := r.a.state.Load().geo
	s, err := selection.Resolve(g.Shape[:g.Ndim], sel)
	if err != nil {
		return err
	}
	if s.ListAxes.Lists > 0 {
		return fmt.Errorf("ndarray: %w: an index array selects no whole chunks", ErrShape)
	}
	if !w.one {
		if err := checkBuffer(len(w.src), &s, r.a.itemSize, false); err != nil {
			return err
		}
	}
	if s.Items == 0 {
		return ctx.Err()
	}
	w.plan = selection.NewPlan(g, &s)
	var part selection.ChunkPart
	for i := range w.plan.Chunks {
		if w.plan.Seek(&part, i); w.plan.Keep(part.Whole) != engine.KeepNone {
			return fmt.Errorf("ndarray: %w: chunk %v is selected in part; Regions take whole chunks", ErrShape, part.Coord[:g.Ndim])
		}
	}
	return r.r.Engine().Encode(ctx, int(g.ChunkBytes), w, w.size())
}

// Missing ranges over the chunks that are not written, in order. Each box is valid until the next one. The first error
// ends the loop. It wraps fs.ErrClosed, or is an error of ctx or of the operating system. See [frame.Regions.Missing].
func (r *Regions) Missing(ctx context.Context) iter.Seq2[Box, error] {
	return func(yield func(Box, error) bool) {
		g := r.a.state.Load().geo
		b := Box{make([]int64, g.Ndim), make([]int64, g.Ndim)}
		for k, err := range r.r.Missing(ctx) {
			for i := g.Ndim - 1; i >= 0 && err == nil; i-- {
				n := int(g.Grid[i])
				b.Start[i] = int64(k%n) * g.ChunkShape[i]
				b.Shape[i] = g.ChunkLength(i, b.Start[i])
				k /= n
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Finish makes the array readable. If chunks are missing, it returns ErrUnfinished with their number: write them, and
// call it again. It returns nil if the array is finished. After a crash, call it again; two processes may call it at
// the same time. See [frame.Regions.Finish].
func (r *Regions) Finish(ctx context.Context) error { return r.r.Finish(ctx) }

func (r *Regions) source() (*Array, *selection.Mapping) { return r.a, nil }
