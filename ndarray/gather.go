package ndarray

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// bounds say how much memory items take that come in one after the other.
type bounds struct {
	slab int64 // bytes to gather before chunks are made of them, if chunks are not larger
	most int64 // bytes to gather at most; where chunks need more at a time, the items are set aside
}

var defaultBounds = bounds{slab: 16 << 20, most: 256 << 20}

// FromReader makes an array of the items that src gives, in C order, as they are stored. It reads the bytes of the
// array and no more; fewer are an ErrShape. The next bytes are read while chunks are compressed, and no more than the
// chunks that take part of the same run of items are in memory, 16 MiB or a few chunks with those of the default shape.
// Where these are more than 256 MiB, as with chunks that are short along the last axes of a large array, the items are
// set aside in a compressed file beside the array first, or in memory for one in memory. See Create.
func FromReader(ctx context.Context, name string, shape []int64, dtype string, src io.Reader, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	l, err := newLayout(shape, dtype, o)
	if err != nil {
		return nil, err
	}
	return l.gather(ctx, name, false, defaultBounds, readFrom(src))
}

// readFrom returns what fills a feed from a reader.
func readFrom(src io.Reader) func(f *feed) error {
	return func(f *feed) error {
		for f.more() {
			n, err := io.ReadFull(src, f.buf)
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return f.short(int64(n))
			} else if err != nil {
				return err
			}
			f.put()
		}
		return nil
	}
}

// FromSeq makes an array of the items that seq gives, in C order. It takes as many as the array has and no more; fewer
// are an ErrShape. Memory is bounded as in FromReader. See Create.
func FromSeq[T Scalar](ctx context.Context, name string, shape []int64, seq iter.Seq[T], o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	dt := DTypeOf[T]()
	l, err := newLayout(shape, dt.String(), o)
	if err != nil {
		return nil, err
	}
	return l.gather(ctx, name, false, defaultBounds, func(f *feed) error {
		n, size := 0, l.itemSize
		if !f.more() {
			return nil
		}
		for x := range seq {
			copy(f.buf[n:n+size], convert.Bytes([]T{x}))
			if n += size; n < len(f.buf) {
				continue
			}
			convert.ToNative(dt, f.buf)
			f.put()
			if n = 0; !f.more() {
				return nil
			}
		}
		return f.short(int64(n))
	})
}

// gather makes an array of items that fill gives one after the other, in C order or in Fortran order.
func (l *layout) gather(ctx context.Context, name string, fortran bool, m bounds, fill func(f *feed) error) (*Array, error) {
	return l.create(ctx, name, func(b *frame.Batch) error {
		if l.geo.Items == 0 {
			return ctx.Err()
		}
		f := &feed{ctx: ctx, b: b, l: l}
		if f.cut(m.slab) <= m.most && !fortran {
			return f.run(fill)
		}
		return l.setAside(name, fortran, func(side *layout, name string) error {
			t, err := side.gather(ctx, name, false, bounds{m.slab, math.MaxInt64}, fill)
			if err != nil {
				return err
			}
			defer t.Close()
			r := Reader(t)
			if fortran {
				if r, err = Transpose(t); err != nil {
					return err
				}
			}
			h, err := hold(ctx, r)
			if err != nil {
				return err
			}
			defer h.release()
			s := h.stream(l)
			return s.run(ctx, b)
		})
	})
}

// setAside calls do with what an array is made from that the items can be written to as they come, and with its name.
// The items of one in Fortran order are those of the array with its axes the other way round.
func (l *layout) setAside(name string, fortran bool, do func(side *layout, name string) error) error {
	o := &Options{}
	o.NoSync, o.Concurrency, o.Codecs = true, l.opts.Concurrency, l.opts.Codecs
	o.CParams.Level = 1
	shape, chunks := slices.Clone(l.rec.Shape), slices.Clone(l.rec.ChunkShape)
	if fortran {
		slices.Reverse(shape)
		slices.Reverse(chunks)
	}
	dtype := meta.Of('V', l.itemSize).String()
	side, err := newLayout(shape, dtype, o)
	if err != nil {
		return err
	}
	// Blocks that lie in one chunk of the array are decoded once, if they are not too small for that to pay.
	size := int64(l.itemSize)
	for i, n := range side.rec.ChunkShape {
		chunks[i] = min(chunks[i], n)
		size *= int64(chunks[i])
	}
	if size >= 4<<10 {
		o.Chunks, o.Blocks = side.rec.ChunkShape, chunks
		if side, err = newLayout(shape, dtype, o); err != nil {
			return err
		}
	}
	if name == "" {
		return do(side, "")
	}
	dir, err := os.MkdirTemp(filepath.Dir(strings.TrimPrefix(name, "file://")), ".b2nd-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return do(side, filepath.Join(dir, "items"))
}

// put writes the items of a box of whole chunks.
func (l *layout) put(ctx context.Context, b *frame.Batch, p Box, data []byte) error {
	s, err := selection.Resolve(l.rec.Shape, p.Selection())
	if err != nil {
		return err
	}
	w := &writing{src: data, plan: selection.NewPlan(l.geo, &s)}
	return b.Encode(ctx, int(l.geo.ChunkBytes), w, w.size())
}

// feed takes items in C order. It gathers the next ones while the chunks of those before are compressed.
type feed struct {
	ctx  context.Context
	b    *frame.Batch
	l    *layout
	axis int    // items are gathered for boxes that are whole along the axes behind this one, and one long along
	rows int64  // those before it; this long along it
	box  Box    // the one that is gathered
	buf  []byte // to be filled: its items

	other []byte     // those that are being compressed
	busy  *task.Task // that compresses them
	err   error
	ended bool
	got   int64 // items taken
}

// cut finds boxes of whole chunks whose items stand together in C order, with about so many bytes, and returns how
// many bytes the largest has.
func (f *feed) cut(size int64) int64 {
	g := f.l.geo
	if g.Ndim == 0 {
		return g.ItemSize
	}
	// The first axis along which a chunk has several items is the last that can be cut: the others behind it come whole.
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

// run lets fill give the items and writes them.
func (f *feed) run(fill func(f *feed) error) error {
	n := f.l.geo.Ndim
	f.box = Box{make([]int64, n), make([]int64, n)}
	defer func() { // after a panic of fill: the goroutine uses the batch
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

// more tells whether f.buf is to be filled.
func (f *feed) more() bool { return f.err == nil && !f.ended }

// short is the error of an input that ends when f.buf holds n bytes.
func (f *feed) short(n int64) error {
	return fmt.Errorf("ndarray: %w: the input ends after %d bytes, a shape of %v with items of %d bytes needs more: %w",
		ErrShape, f.got+n, f.l.rec.Shape, f.l.itemSize, io.ErrUnexpectedEOF)
}

// wait waits until the items that were put are written.
func (f *feed) wait() {
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

// put takes the items in f.buf, and moves on to the next box.
func (f *feed) put() {
	f.wait()
	if f.err == nil {
		box, data := f.box.clone(), f.buf
		f.busy = task.Go(func() error { return f.l.put(f.ctx, f.b, box, data) })
	}
	f.got += int64(len(f.buf))
	f.buf, f.other = f.other, f.buf
	f.ended = !f.advance()
	f.next()
}

// advance moves f.box to the next place, and returns whether there is one.
func (f *feed) advance() bool {
	step := f.rows
	for i := min(f.axis, len(f.box.Start)-1); i >= 0; i-- {
		if f.box.Start[i] += step; f.box.Start[i] < f.l.geo.Shape[i] {
			return true
		}
		f.box.Start[i], step = 0, 1
	}
	return false
}

// next sets the shape of f.box from its place, and makes f.buf as long.
func (f *feed) next() {
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
	n := int(f.box.Size()) * f.l.itemSize
	if f.buf = f.buf[:min(n, cap(f.buf))]; len(f.buf) < n {
		f.buf = make([]byte, n)
	}
}
