package ndarray

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"unsafe"

	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Tile is a box with its items.
type Tile[T any] struct {
	Box
	Inner Box // the box without its halo, if it has one
	Items []T // in C order
}

// Rows ranges over the rows of the tile along its last axis, in C order. It yields the coordinates in the array of the
// first item of a row, which are valid until the next row, and the items of the row. A tile without axes has one row.
func (t Tile[T]) Rows() iter.Seq2[[]int64, []T] {
	return func(yield func([]int64, []T) bool) {
		n := len(t.Shape)
		row := 1
		if n > 0 {
			row = int(t.Shape[n-1])
		}
		at := slices.Clone(t.Start)
		for rest := t.Items; len(rest) > 0; rest = rest[row:] {
			if !yield(at, rest[:row:row]) {
				return
			}
			for i := n - 2; i >= 0; i-- {
				if at[i]++; at[i] < t.Start[i]+t.Shape[i] {
					break
				}
				at[i] = t.Start[i]
			}
		}
	}
}

// fill sets the items of the tile to those of a larger tile.
func (t Tile[T]) fill(from Tile[T]) {
	for at, row := range t.Rows() {
		k := int64(0)
		for i, x := range at {
			k = k*from.Shape[i] + x - from.Start[i]
		}
		copy(row, from.Items[k:])
	}
}

// All ranges over the items of the tile in C order. It yields the coordinates of an item in the array, which are valid
// until the next item, and its address in Items.
func (t Tile[T]) All() iter.Seq2[[]int64, *T] {
	return func(yield func([]int64, *T) bool) {
		last := len(t.Shape) - 1
		for at, row := range t.Rows() {
			for k := range row {
				if !yield(at, &row[k]) {
					return
				}
				if last >= 0 {
					at[last]++
				}
			}
			if last >= 0 {
				at[last] = t.Start[last]
			}
		}
	}
}

// Tiles ranges over boxes of r with their items, in the order of the boxes:
//
//	for t, err := range ndarray.Tiles[float32](ctx, a, ndarray.ByChunk(a).ReadAhead(2)) {
//
// T can be any type that matches the dtype of the items, as for Read. Tiles reads each tile when the loop needs it, or
// earlier with Boxes.ReadAhead. The items and coordinates of a tile are valid until the next one.
//
// Tiles yields the first error with the box of its tile and then ends the loop. When the loop ends, even by break, all
// of its goroutines have ended. All tiles show the commit that was the newest when the loop began: with Locking, the
// loop holds the lock until it ends, and an edit of another process waits. The error wraps ErrType, or is an error of
// Read or of the boxes.
func Tiles[T any](ctx context.Context, r Reader, boxes Boxes) iter.Seq2[Tile[T], error] {
	ctx = task.Context(ctx)
	c, err := readerOf[T](r.DType())
	if err != nil {
		boxes.err = err
	}
	return tiles(ctx, r, boxes, func(ctx context.Context, h *snapshot, t *loadedTile[T], _ int) error {
		if _, err := checkItems(ctx, r, boxes.what(), t.Box.Size(), c.ValueSize); err != nil {
			return err
		}
		return readTile(ctx, h, r, c.Converter, t)
	})
}

// readTile reads the items of the box of t as values.
func readTile[T any](ctx context.Context, h *snapshot, r Reader, c convert.Converter, t *loadedTile[T]) error {
	n := int(t.Box.Size())
	if cap(t.Items) < n {
		t.Items = make([]T, n)
	}
	t.Items = t.Items[:n]
	values := convert.Bytes(t.Items)
	b := values
	if !c.Direct {
		size := n * h.m.Dtype.Size
		t.raw = slices.Grow(t.raw[:0], size)[:size]
		b = t.raw
	}
	if err := h.readBox(ctx, b, t.Box); err != nil {
		return err
	}
	switch {
	case !c.Cast.None():
		c.Cast.Run(values, b) // in place if the sizes are the same
	case !c.Direct:
		return decodeItems(ctx, c, r, t.Items, engine.Stored{Bytes: b})
	}
	return nil
}

// rawTiles ranges over tiles of items as they are stored: each item is as many elements of Tile.Items as it has bytes.
func rawTiles(ctx context.Context, r Reader, boxes Boxes) iter.Seq2[Tile[byte], error] {
	return tiles(ctx, r, boxes, func(ctx context.Context, h *snapshot, t *loadedTile[byte], size int) error {
		t.Items = slices.Grow(t.Items[:0], size)[:size]
		return h.readBox(ctx, t.Items, t.Box)
	})
}

// loadedTile is a tile and the memory for its items as they are stored.
type loadedTile[T any] struct {
	Tile[T]
	raw []byte
}

// tiles ranges over tiles. load reads the items of a tile, which have size bytes as they are stored.
func tiles[T any](ctx context.Context, r Reader, boxes Boxes, load func(ctx context.Context, h *snapshot, t *loadedTile[T], size int) error) iter.Seq2[Tile[T], error] {
	return func(yield func(Tile[T], error) bool) {
		if boxes.err != nil {
			yield(Tile[T]{}, boxes.err)
			return
		}
		h, err := snapshotOf(ctx, r)
		if err != nil {
			yield(Tile[T]{}, err)
			return
		}
		defer h.release()
		if boxes.readsChunks(h) {
			defer h.readAhead(ctx, h.within(boxes))()
		}
		jobs := func(yield func([2]Box) bool) {
			for x, in := range boxes.walk() {
				if !yield([2]Box{x, in}) {
					return
				}
			}
		}
		set := func(t *loadedTile[T], j [2]Box) {
			t.Box.copy(j[0])
			t.Inner.copy(j[1])
		}
		fill := func(ctx context.Context, t *loadedTile[T]) error {
			n, err := checkItems(ctx, r, boxes.what(), t.Box.Size(), r.DType().Size)
			if err != nil {
				return err
			}
			return load(ctx, h, t, n)
		}
		for t, err := range sched.Ahead(ctx, boxes.ahead, boxes.perLoad(h.v.Local(), r.DType().Size+int(unsafe.Sizeof(*new(T)))), jobs, set, fill) {
			if err != nil {
				yield(Tile[T]{Box: t.Box, Inner: t.Inner}, err)
				return
			}
			if !yield(t.Tile, nil) {
				return
			}
		}
	}
}

// readBox reads a box into dst, in C order.
func (h *snapshot) readBox(ctx context.Context, dst []byte, b Box) error {
	x, err := h.checkBox(b)
	if err != nil {
		return err
	}
	return h.read(ctx, dst, &x.start, &x.count)
}

// within returns boxes as readAhead takes them, up to the first one that is outside the array.
func (h *snapshot) within(boxes Boxes) iter.Seq[box] {
	return func(yield func(box) bool) {
		for x := range boxes.walk() {
			if y, err := h.checkBox(x); err != nil || !yield(y) {
				return
			}
		}
	}
}

// checkBox returns the start and the shape of a box. It returns ErrBounds for a box outside an array that has become
// smaller.
func (h *snapshot) checkBox(b Box) (y box, err error) {
	var buf grid.Dims
	shape := h.m.Shape(&buf)
	if len(b.Start) != len(shape) {
		return y, fmt.Errorf("ndarray: %w: box has %d dimensions, want %d", ErrBounds, len(b.Start), len(shape))
	}
	for i, n := range shape {
		if y.start[i], y.count[i] = b.Start[i], b.Shape[i]; y.start[i] > n || y.count[i] > n-y.start[i] {
			return y, fmt.Errorf("ndarray: %w: items %d to %d along axis %d of length %d", ErrBounds, y.start[i], y.start[i]+y.count[i], i, n)
		}
	}
	return y, nil
}

// readsChunks reports whether reading ahead over several boxes is faster. It is not if they are parts of a chunk, which
// they would read again and again, or if they are so large that reading ahead in each of them is enough.
func (b Boxes) readsChunks(h *snapshot) bool {
	n := int64(h.m.Dtype.Size)
	for i, x := range b.axes {
		if x.halo > 0 || x.step != x.size {
			return false
		}
		n *= min(x.size, b.shape[i])
		if n > defaultLimits.slab {
			return false
		}
	}
	return n >= h.st.geo.ChunkBytes
}

// copy sets b to x, in the memory of b.
func (b *Box) copy(x Box) {
	b.Start, b.Shape = append(b.Start[:0], x.Start...), append(b.Shape[:0], x.Shape...)
}

// checkItems is Array.checkAlloc for items of r.
func checkItems(ctx context.Context, r Reader, what string, items int64, size int) (int, error) {
	a, _ := r.source()
	return a.checkAlloc(ctx, what, items, size)
}

// ToWriter writes r, or a selection of it, to w: the items in C order, as they are stored. It writes the commit that
// was the newest when it began. It reads pieces of about 16 MiB, or of one row of blocks if that is larger but has at
// most 256 MiB, and reads the next piece while it writes one. A selection with index arrays is read in one piece. Even
// a small file may have any number of items: check SelectionShape first if the file is from an unknown source. The
// error is an error of ReadBytes or of w, or io.ErrShortWrite if w writes less without an error. It wraps ErrShape for
// a selection with more than 16 axes.
//
// With Locking, ToWriter holds the lock until it ends, and an edit of another process waits, even for a slow w.
func ToWriter(ctx context.Context, w io.Writer, r Reader, sel ...Index) error {
	ctx = task.Context(ctx)
	return writeItems(ctx, w, r, sel, defaultLimits)
}

// writeItems is ToWriter with pieces of a given size.
func writeItems(ctx context.Context, dst io.Writer, r Reader, sel []Index, m memoryLimits) error {
	held, release, err := Hold(ctx, []Reader{r}, engine.Internal{})
	if err != nil {
		return err
	}
	defer release()
	r = held[0]
	s, err := selection.Resolve(r.Shape(), sel)
	if err != nil {
		return err
	}
	if s.ListAxes.Lists > 0 {
		n, err := checkItems(ctx, r, "the selection", s.Items, r.DType().Size)
		if err != nil {
			return err
		}
		buf := make([]byte, n)
		if err = r.ReadBytes(ctx, buf, sel...); err == nil {
			_, err = errs.Write(dst, buf)
		}
		return err
	}
	if len(sel) > 0 {
		if r, err = Slice(r, sel...); err != nil {
			return err
		}
	}
	a, _ := r.source()
	if a.engine.CheckAlloc(ctx, m.most) != nil {
		limit := a.engine.AllocLimit(ctx)
		m = memoryLimits{min(m.slab, limit), min(m.most, limit)}
	}
	for t, err := range rawTiles(ctx, r, runs(r, m).ReadAhead(1)) {
		if err != nil {
			return err
		}
		if _, err := errs.Write(dst, t.Items); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// runs divides r into boxes of items that are contiguous in C order, of about m.slab bytes. Along the axis that is
// divided, they are multiples of the blocks if that takes at most m.most bytes.
func runs(r Reader, m memoryLimits) Boxes {
	b := ByBlock(r)
	if b.err != nil || slices.Contains(b.shape, 0) {
		return b
	}
	row, divided := int64(r.DType().Size), false
	for i := len(b.shape) - 1; i >= 0; i-- {
		// row is the number of bytes of a step along the axis.
		length, block := b.shape[i], b.axes[i].size
		n := max(m.slab/row, 1)
		switch {
		case divided:
			n = 1
		case n < block && block <= m.most/row:
			n = block
		case n > block:
			n -= n % block
		}
		if n = min(n, length); n < length {
			divided = true
		}
		b.axes[i] = spacing{size: n, step: n}
		row *= n
	}
	return b
}
