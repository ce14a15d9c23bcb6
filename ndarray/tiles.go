package ndarray

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/task"
)

// Tiles ranges over boxes of r with their items, in the order of the boxes:
//
//	for t, err := range ndarray.Tiles[float32](ctx, a, ndarray.ByChunk(a), 2) {
//
// Up to depth tiles, and at most 1024, are read before they are asked for, each on a goroutine of its own, which pays where storage is slow
// or the loop has work to do; with 0 a tile is read when it is asked for. Memory is bounded by depth+1 tiles: the items
// and coordinates of a tile are valid until the next one. The first error comes with the tile that it belongs to, and
// ends the range. When the range ends, by a break as well, all its goroutines have ended. All tiles are read as of the
// commit that was the newest when the range began. Errors are those of Read and of the boxes.
func Tiles[T Scalar](ctx context.Context, r Reader, boxes Boxes, depth int) iter.Seq2[Tile[T], error] {
	ctx = task.Context(ctx)
	if err := checkType[T](r); err != nil {
		boxes.err = err
	}
	return tiles(ctx, r, boxes, depth, 1, func(items []T) { toNative(r.DType(), bytesOf(items)) })
}

// TilesBytes is Tiles for items of any dtype, as they are stored.
func TilesBytes(ctx context.Context, r Reader, boxes Boxes, depth int) iter.Seq2[Tile[byte], error] {
	ctx = task.Context(ctx)
	return tiles(ctx, r, boxes, depth, r.ItemSize(), func([]byte) {})
}

// tiles ranges over tiles whose items have width elements, and are changed by native after reading.
func tiles[T Scalar](ctx context.Context, r Reader, boxes Boxes, depth, width int, native func(items []T)) iter.Seq2[Tile[T], error] {
	return func(yield func(Tile[T], error) bool) {
		if boxes.err != nil {
			yield(Tile[T]{}, boxes.err)
			return
		}
		h, err := hold(ctx, r)
		if err != nil {
			yield(Tile[T]{}, err)
			return
		}
		defer h.release()
		jobs := func(yield func([2]Box) bool) {
			for x, in := range boxes.walk() {
				if !yield([2]Box{x, in}) {
					return
				}
			}
		}
		set := func(t *Tile[T], j [2]Box) {
			t.Box.copy(j[0])
			t.Inner.copy(j[1])
			t.width = width
		}
		load := func(ctx context.Context, t *Tile[T]) error {
			n, err := limited(r, t.Box.Size())
			if err != nil {
				return err
			}
			n = n / r.ItemSize() * width
			if cap(t.Items) < n {
				t.Items = make([]T, n)
			}
			t.Items = t.Items[:n]
			if err := h.readBox(ctx, bytesOf(t.Items), t.Box); err != nil {
				return err
			}
			native(t.Items)
			return nil
		}
		for t, err := range sched.Ahead(ctx, depth, jobs, set, load) {
			if err != nil {
				yield(Tile[T]{Box: t.Box, Inner: t.Inner}, err)
				return
			}
			if !yield(*t, nil) {
				return
			}
		}
	}
}

// readBox reads a box into dst, in C order. The boxes of an array that has become smaller are an ErrBounds.
func (h *held) readBox(ctx context.Context, dst []byte, b Box) error {
	var start, count dims
	var buf dims
	shape := h.m.shape(&buf)
	if len(b.Start) != len(shape) {
		return fmt.Errorf("ndarray: %w: a box of %d dimensions, not %d", ErrBounds, len(b.Start), len(shape))
	}
	for i, n := range shape {
		if start[i], count[i] = b.Start[i], b.Shape[i]; start[i] > n || count[i] > n-start[i] {
			return fmt.Errorf("ndarray: %w: items %d to %d along axis %d of length %d", ErrBounds, start[i], start[i]+count[i], i, n)
		}
	}
	return h.read(ctx, dst, &start, &count)
}

// copy makes b the same box as x, in the memory of b.
func (b *Box) copy(x Box) {
	b.Start, b.Shape = append(b.Start[:0], x.Start...), append(b.Shape[:0], x.Shape...)
}

// limited returns the size of items of r in bytes, if so much may be set aside because r says that it has them.
func limited(r Reader, items int64) (int, error) {
	n, err := byteSize(items, int64(r.ItemSize()))
	if err != nil {
		return 0, err
	}
	a, _ := r.source()
	if err := a.f.CheckAlloc(int64(n)); err != nil {
		return 0, fmt.Errorf("ndarray: %w: at a time, %w", ErrTooLarge, err)
	}
	return n, nil
}

// WriteItems writes r, or with indexes a selection of it, to dst: the items in C order, as they are stored. They are read
// in pieces of 16 MiB or of a row of blocks, the next while one is written; selections with lists are read at once.
// Errors are those of ReadBytes, and those of dst.
func WriteItems(ctx context.Context, dst io.Writer, r Reader, sel ...Index) error {
	ctx = task.Context(ctx)
	return writeItems(ctx, dst, r, sel, defaultBounds)
}

func writeItems(ctx context.Context, dst io.Writer, r Reader, sel []Index, m bounds) error {
	s, err := resolve(r.Shape(), sel)
	if err != nil {
		return err
	}
	if s.place.lists > 0 {
		n, err := limited(r, s.items)
		if err != nil {
			return err
		}
		buf := make([]byte, n)
		if err = r.ReadBytes(ctx, buf, sel...); err == nil {
			_, err = dst.Write(buf)
		}
		return err
	}
	if len(sel) > 0 {
		if r, err = Slice(r, sel...); err != nil {
			return err
		}
	}
	a, _ := r.source()
	if a.f.CheckAlloc(m.most) != nil {
		limit := a.f.AllocLimit()
		m = bounds{min(m.slab, limit), min(m.most, limit)}
	}
	for t, err := range TilesBytes(ctx, r, runs(r, m), 1) {
		if err != nil {
			return err
		}
		if _, err := dst.Write(t.Items); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// runs cuts r into boxes of items that stand together in C order, of about m.slab bytes. They are as long as the blocks
// along the axis that is cut if that is possible with at most m.most.
func runs(r Reader, m bounds) Boxes {
	b := ByBlock(r)
	if hasZero(b.shape) {
		return b
	}
	row, cut := int64(r.ItemSize()), false
	for i := len(b.shape) - 1; i >= 0; i-- {
		// Here row is the bytes behind one step along the axis.
		length, block := b.shape[i], b.axes[i].size
		n := max(m.slab/row, 1)
		switch {
		case cut:
			n = 1
		case n < block && block <= m.most/row:
			n = block
		case n > block:
			n -= n % block
		}
		if n = min(n, length); n < length {
			cut = true
		}
		b.axes[i] = pace{size: n, step: n}
		row *= n
	}
	return b
}
