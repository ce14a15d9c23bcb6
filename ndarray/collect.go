package ndarray

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// memoryLimits limits the memory for items that arrive one after the other.
type memoryLimits struct {
	slab int64 // bytes to collect before writing chunks, if chunks are not larger
	most int64 // maximum of bytes to collect; if chunks need more at a time, the items go through a temporary array
}

var defaultLimits = memoryLimits{slab: 16 << 20, most: 256 << 20}

// FromReader creates an array from the items in src, in C order, as they are stored. It reads exactly the bytes of the
// array. It returns ErrShape if src ends early.
//
// FromReader collects the items of runs of chunks that are contiguous in C order. It reads the next run while it
// compresses the previous one, and keeps both in memory. A run has at most 16 MiB, or one row of chunks if that is
// larger. If it has more than 256 MiB, which happens if chunks are short along the last axes of a large array,
// FromReader first writes the items to a temporary compressed file beside the array, or to memory if the array is in
// memory. See Create.
//
// FromReader returns the error of ctx before the next Read of src, but cannot interrupt a Read that waits.
func FromReader(ctx context.Context, name string, shape []int64, dtype string, src io.Reader, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	l, err := newGivenLayout(ctx, name, shape, dtype, o)
	if err != nil {
		return nil, err
	}
	return l.collect(ctx, name, defaultLimits, readFrom(src, 64<<20))
}

// readFrom returns a function that fills a collector from a reader. It allocates piece bytes before any have arrived,
// and then at most as many as have arrived, because src may be much shorter than its header states.
func readFrom(src io.Reader, piece int) func(f *collector) error {
	return func(f *collector) error {
		src := task.Reader(f.ctx, src)
		for f.more() {
			for n := 0; n < f.size; {
				f.grow(n + min(f.size-n, max(piece, n, cap(f.buf)-n)))
				k, err := io.ReadFull(src, f.buf[n:])
				if n += k; err == io.EOF || err == io.ErrUnexpectedEOF {
					return f.short(int64(n))
				} else if err != nil {
					return err
				}
			}
			f.put()
		}
		return nil
	}
}

// FromSeq creates an array from the items of seq, in C order. It takes exactly as many items as the array has. It
// returns ErrShape if seq ends early, and ErrType for strings without a length: set CreateOptions.DType, such as <U20.
// It uses memory like FromReader. It checks ctx every few hundred items. See Create.
func FromSeq[T any](ctx context.Context, name string, shape []int64, seq iter.Seq[T], o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	l, e, err := newTypedLayout[T](ctx, name, shape, o)
	if err != nil {
		return nil, err
	}
	return l.collect(ctx, name, defaultLimits, func(f *collector) error {
		values := make([]T, 0, itemsAtOnce) // that are not in f.buf yet
		n, size, taken := 0, l.dtype.Size, 0
		if !f.more() {
			return nil
		}
		f.grow(f.size)
		for x := range seq {
			values = append(values, x)
			taken++
			if len(values) < itemsAtOnce && n+len(values)*size < len(f.buf) {
				continue
			}
			if err := e.encode(f.buf[n:n+len(values)*size], values, taken-len(values)); err != nil {
				return err
			}
			if err := f.ctx.Err(); err != nil {
				return err
			}
			n += len(values) * size
			values = values[:0]
			if n < len(f.buf) {
				continue
			}
			f.put()
			if n = 0; !f.more() {
				return nil
			}
			f.grow(f.size)
		}
		return fmt.Errorf("ndarray: %w: input ends after %d items, too few for shape %v: %w", ErrShape, taken, l.rec.Shape, io.ErrUnexpectedEOF)
	})
}

// collect creates an array from items that fill supplies one after the other, in C order.
func (l *layout) collect(ctx context.Context, name string, m memoryLimits, fill func(f *collector) error) (*Array, error) {
	return l.create(ctx, name, func(b *frame.Batch) error {
		if l.geo.Items == 0 {
			return ctx.Err()
		}
		f := &collector{ctx: ctx, b: b, l: l}
		if f.divide(m.slab) <= m.most {
			return f.run(fill)
		}
		return l.viaTemporary(ctx, name, func(temp *layout, name string) error {
			t, err := temp.collect(ctx, name, memoryLimits{m.slab, math.MaxInt64}, fill)
			if err != nil {
				return err
			}
			defer t.Close()
			h, err := snapshotOf(ctx, t)
			if err != nil {
				return err
			}
			defer h.release()
			return h.boxWriter(l).run(ctx, b)
		})
	})
}

// viaTemporary calls do with the layout and the name of a temporary array to which items can be written as they arrive.
// It removes the temporary array afterwards.
func (l *layout) viaTemporary(ctx context.Context, name string, do func(temp *layout, name string) error) error {
	o := &CreateOptions{Level: 1, NoSync: name != "", Concurrency: l.opts.Concurrency}
	shape, chunks := slices.Clone(l.rec.Shape), slices.Clone(l.rec.ChunkShape)
	dtype := meta.Of('V', l.dtype.Size)
	temp, err := newLayout(ctx, name, shape, dtype, o)
	if err != nil {
		return err
	}
	// A block that lies in one chunk of the new array is decoded only once. Smaller blocks would cost more than that
	// saves.
	size := int64(l.dtype.Size)
	for i, n := range temp.rec.ChunkShape {
		chunks[i] = min(chunks[i], n)
		size *= int64(chunks[i])
	}
	if size >= 4<<10 {
		o.Chunks, o.Blocks = grid.Widen(temp.rec.ChunkShape), grid.Widen(chunks)
		if temp, err = newLayout(ctx, name, shape, dtype, o); err != nil {
			return err
		}
	}
	if name == "" {
		return do(temp, "")
	}
	dir, err := os.MkdirTemp(paths.Dir(strings.TrimPrefix(name, "file://")), ".b2nd-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return do(temp, paths.Join(dir, "items"))
}

// collector takes items in C order. It collects the next items while the chunks of the previous ones are compressed.
type collector struct {
	ctx  context.Context
	b    *frame.Batch
	l    *layout
	axis int    // boxes have length 1 along the axes before this one and full length along the axes after it
	rows int64  // length of a box along axis
	box  Box    // the box whose items are collected
	size int    // of its items in bytes
	buf  []byte // for its items; fill makes it long enough with grow

	other []byte     // items that are being compressed
	busy  *task.Task // compresses them
	err   error
	ended bool
	got   int64 // bytes taken
}

// divide chooses boxes of whole chunks whose items are contiguous in C order, of about size bytes. It returns the size
// of the largest box in bytes.
func (f *collector) divide(size int64) int64 {
	g := f.l.geo
	if g.Ndim == 0 {
		return g.ItemSize
	}
	// The last axis that can be divided is the first along which a chunk has several items.
	last := 0
	for last < g.Ndim-1 && min(g.ChunkShape[last], g.Shape[last]) == 1 {
		last++
	}
	for f.axis = 0; ; f.axis++ {
		row, _ := grid.Product(g.Shape[f.axis+1 : g.Ndim])
		row *= g.ItemSize
		step := g.ChunkShape[f.axis]
		if least := min(step, g.Shape[f.axis]); f.axis == last || least <= size/row {
			f.rows = min(max(size/row/step, 1)*step, g.Shape[f.axis])
			return f.rows * row
		}
	}
}

// run calls fill, which supplies the items, and writes them.
func (f *collector) run(fill func(f *collector) error) error {
	n := f.l.geo.Ndim
	f.box = Box{make([]int64, n), make([]int64, n)}
	defer func() { // after a panic in fill, because the goroutine uses the batch
		if f.busy != nil {
			f.busy.Wait()
		}
	}()
	f.next()
	err := fill(f)
	f.wait()
	if f.err != nil {
		return f.err
	}
	return err
}

// more reports whether fill should fill f.buf with f.size bytes.
func (f *collector) more() bool { return f.err == nil && !f.ended }

// short returns the error for an input that ends after n bytes of f.buf.
func (f *collector) short(n int64) error {
	return fmt.Errorf("ndarray: %w: input ends after %d bytes, too few for shape %v with items of %d bytes: %w",
		ErrShape, f.got+n, f.l.rec.Shape, f.l.dtype.Size, io.ErrUnexpectedEOF)
}

// wait waits until the items of the last put are written.
func (f *collector) wait() {
	if f.busy != nil {
		if err := f.busy.Result(); f.err == nil {
			f.err = err
		}
		f.busy = nil
	}
	if f.err == nil {
		f.err = f.ctx.Err()
	}
}

// put starts to write the items in f.buf and moves to the next box.
func (f *collector) put() {
	f.wait()
	if f.err == nil {
		sel, data := selection.OfBox(f.box.Start, f.box.Shape), f.buf
		f.busy = task.Go(func() error { return f.l.put(f.ctx, f.b, data, &sel) })
	}
	f.got += int64(len(f.buf))
	f.buf, f.other = f.other, f.buf
	f.ended = !f.advance()
	f.next()
}

// advance moves f.box to the next position, and reports whether one exists.
func (f *collector) advance() bool {
	step := f.rows
	for i := min(f.axis, len(f.box.Start)-1); i >= 0; i-- {
		if f.box.Start[i] += step; f.box.Start[i] < f.l.geo.Shape[i] {
			return true
		}
		f.box.Start[i], step = 0, 1
	}
	return false
}

// next sets the shape and the size of f.box from its position, and empties f.buf.
func (f *collector) next() {
	for i := range f.box.Shape {
		switch {
		case i < f.axis:
			f.box.Shape[i] = 1
		case i == f.axis:
			f.box.Shape[i] = min(f.rows, f.l.geo.Shape[i]-f.box.Start[i])
		default:
			f.box.Shape[i] = f.l.geo.Shape[i]
		}
	}
	f.size, f.buf = int(f.box.Size())*f.l.dtype.Size, f.buf[:0]
}

// grow makes f.buf n bytes long, but not longer than the box needs. It keeps the bytes in f.buf.
func (f *collector) grow(n int) {
	if n = min(n, f.size); n > cap(f.buf) {
		f.buf = append(make([]byte, 0, n), f.buf...)
	}
	f.buf = f.buf[:n]
}
