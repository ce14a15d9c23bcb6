package ndarray

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Box is a box of items of an array: Shape[i] items along axis i, starting at Start[i].
type Box struct {
	Start, Shape []int64
}

// Selection returns the indexes that select the box. Unlike a Span, it selects these items exactly: a box that is not
// within the array returns ErrBounds, also if Start is negative.
func (b Box) Selection() []Index {
	sel := make([]Index, max(len(b.Start), len(b.Shape)))
	for i := range sel {
		r := selection.Range{Start: 0, Stop: -1} // without a start or a length, the box is invalid
		if i < len(b.Start) && i < len(b.Shape) {
			r = selection.Range{Start: b.Start[i], Stop: b.Start[i] + b.Shape[i]}
		}
		sel[i] = r
	}
	return sel
}

// Size returns the number of items.
func (b Box) Size() int64 {
	n, _ := grid.Product(b.Shape)
	return n
}

// clone returns a copy of the box in new memory.
func (b Box) clone() Box { return Box{slices.Clone(b.Start), slices.Clone(b.Shape)} }

// Boxes are boxes at regular distances in an array, in C order. ByChunk, ByTile, ByBlock, ByRows and ByWindow return
// them, for the shape that the array has at that time. If an argument of these functions is invalid, Len is 0 and Tiles
// returns an error that wraps ErrBounds or ErrShape.
type Boxes struct {
	shape []int64 // of the array
	axes  []spacing
	ahead int // tiles to read ahead
	name  string
	err   error
}

// what returns what the error calls a box that takes too much memory.
func (b Boxes) what() string { return cmp.Or(b.name, "a box") }

// ReadAhead returns the boxes with a setting for Tiles: it reads up to n tiles ahead, at most 1024, each on its own
// goroutine. This is faster if storage is slow or the loop has work to do. Tiles uses the memory of n+1 tiles. If the
// array is in a file or in memory, tiles that are small and quick to read count together as one, up to 64 or 128 KiB.
func (b Boxes) ReadAhead(n int) Boxes {
	b.ahead = max(n, 0)
	return b
}

// perLoad returns the number of boxes that one goroutine may load at a time, for items that take size bytes of memory:
// 1 unless they are small and local, in a file or in memory.
func (b Boxes) perLoad(local bool, size int) int {
	const most, bytes = 64, 128 << 10
	if !local {
		return 1 // each goroutine has a request of its own
	}
	n := float64(size)
	for i, x := range b.axes {
		n *= float64(min(max(x.size, x.first)+2*x.halo, b.shape[i]))
	}
	return int(max(1, min(most, bytes/max(n, 1))))
}

// spacing places boxes along an axis: one every step items, with size items and a halo on both sides. If first is not
// zero, the first box has this size, and the second one begins there.
type spacing struct{ size, step, halo, first int64 }

// from returns the size of the box that begins at an item, and the distance to the next one.
func (w *spacing) from(at int64) (size, step int64) {
	if at == 0 && w.first > 0 {
		return w.first, w.first
	}
	return w.size, w.step
}

// Len returns the number of boxes.
func (b Boxes) Len() int64 {
	if b.err != nil {
		return 0
	}
	count := make([]int64, len(b.axes))
	for i, w := range b.axes {
		count[i] = grid.CeilDiv(b.shape[i], w.step)
		if w.first > 0 {
			count[i] = 1 + grid.CeilDiv(max(b.shape[i]-w.first, 0), w.step)
		}
	}
	n, _ := grid.Product(count)
	return n
}

// All ranges over the boxes. Each box is valid until the next one.
func (b Boxes) All() iter.Seq[Box] {
	return func(yield func(Box) bool) {
		for x := range b.walk() {
			if !yield(x) {
				return
			}
		}
	}
}

// walk ranges over the boxes with their halo and without it.
func (b Boxes) walk() iter.Seq2[Box, Box] {
	return func(yield func(x, inner Box) bool) {
		if b.Len() == 0 {
			return
		}
		n := len(b.axes)
		x, in := Box{make([]int64, n), make([]int64, n)}, Box{make([]int64, n), make([]int64, n)}
		set := func(i int) {
			w, at := &b.axes[i], in.Start[i]
			size, _ := w.from(at)
			in.Shape[i] = min(size, b.shape[i]-at)
			x.Start[i] = max(at-w.halo, 0)
			x.Shape[i] = at + in.Shape[i] + min(w.halo, b.shape[i]-at-in.Shape[i]) - x.Start[i]
		}
		for i := range n {
			set(i)
		}
		for yield(x, in) {
			i := n - 1
			for ; i >= 0; i-- {
				_, step := b.axes[i].from(in.Start[i])
				more := in.Start[i] < b.shape[i]-step
				if in.Start[i] += step; !more {
					in.Start[i] = 0
				}
				if set(i); more {
					break
				}
			}
			if i < 0 {
				return
			}
		}
	}
}

// ByChunk returns the chunks of r, clipped to the array. For a view it returns the chunks that a copy would have.
func ByChunk(r Reader) Boxes {
	b := byParts(r, func(chunks, _ []int64) []int64 { return chunks })
	b.name = "a chunk"
	return b
}

// ByTile returns boxes of whole chunks of r, clipped to the array. A box has as many chunks along the last axes as fit
// in maxBytes bytes of items, and at least one.
func ByTile(r Reader, maxBytes int64) Boxes {
	b := ByChunk(r)
	b.name = "a box of whole chunks"
	if b.err != nil || slices.Contains(b.shape, 0) {
		return b
	}
	size := int64(r.DType().Size) // of a box
	for i, n := range b.shape {
		size *= min(b.axes[i].size, n)
	}
	for i := len(b.shape) - 1; i >= 0; i-- {
		n, w := b.shape[i], &b.axes[i]
		step := size / min(w.size, n) // bytes along the axis
		if maxBytes/step < n {
			w.size *= max(maxBytes/step/w.size, 1)
			w.step = w.size
			break
		}
		size = step * n
		w.size, w.step = n, n
	}
	return b
}

// ByBlock returns boxes of the shape of a block, in C order of the array and not chunk by chunk, clipped to the array.
// If chunks are not multiples of blocks, the boxes are not the stored blocks. See ByChunk.
func ByBlock(r Reader) Boxes { return byParts(r, func(_, blocks []int64) []int64 { return blocks }) }

// byParts returns boxes of one of the shapes of the partition of r.
func byParts(r Reader, part func(chunks, blocks []int64) []int64) Boxes {
	b := Boxes{shape: r.Shape()}
	o := r.CreateOptions()
	if o.Chunks == nil {
		chunks, blocks, err := grid.Partition(b.shape, nil, nil, int64(r.DType().Size), 0)
		if b.err = err; err != nil {
			return b
		}
		o.Chunks, o.Blocks = grid.Widen(chunks), grid.Widen(blocks)
	}
	for _, n := range part(o.Chunks, o.Blocks) {
		b.axes = append(b.axes, spacing{size: n, step: max(n, 1)})
	}
	return b
}

// ByRows returns boxes of n items along an axis and the full length of the other axes. The last box may be shorter. A
// negative axis counts from the last.
func ByRows(r Reader, axis int, n int64) Boxes {
	b := Boxes{shape: r.Shape()}
	if axis, b.err = axisNumber(axis, len(b.shape), ErrBounds); b.err != nil {
		return b
	} else if n < 1 {
		b.err = fmt.Errorf("ndarray: %w: boxes of %d rows", ErrShape, n)
		return b
	}
	for _, length := range b.shape {
		b.axes = append(b.axes, spacing{size: length, step: max(length, 1)})
	}
	b.axes[axis] = spacing{size: n, step: n}
	return b
}

// ByWindow returns windows of a shape that begin stride items apart along each axis. If stride is nil, it is the shape,
// so that the windows cover the array once. With a halo, each box has halo more items on both sides of its window along
// each axis, and Tile.Inner is the window. halo may be nil. Boxes are clipped to the array: there is no padding, and a
// window may be smaller at the end of an axis.
func ByWindow(r Reader, shape, stride, halo []int64) Boxes {
	b := Boxes{shape: r.Shape()}
	n := len(b.shape)
	if stride == nil {
		stride = shape
	}
	if halo == nil {
		halo = make([]int64, n)
	}
	if len(shape) != n || len(stride) != n || len(halo) != n {
		b.err = fmt.Errorf("ndarray: %w: windows of %v with a stride of %v and a halo of %v for a shape of %v", ErrShape, shape, stride, halo, b.shape)
		return b
	}
	for i := range n {
		if shape[i] < 1 || stride[i] < 1 || halo[i] < 0 {
			b.err = fmt.Errorf("ndarray: %w: axis %d: windows of %d with a stride of %d and a halo of %d", ErrShape, i, shape[i], stride[i], halo[i])
			return b
		}
		// Larger lengths than the array select the same items; clipped, they cannot overflow.
		length := max(b.shape[i], 1)
		b.axes = append(b.axes, spacing{size: min(shape[i], length), step: min(stride[i], length), halo: min(halo[i], length)})
	}
	return b
}

// A WorkItem names a box of an array, for another process or machine. Packages gob and json can send it. Open the array
// by its name there, and read the box:
//
//	a, err := ndarray.Open(ctx, item.Name, nil)
//	data, err := ndarray.Read[float32](ctx, a, item.Selection()...)
//
// To write the same box of another array with that partition, pass the selection to Regions.
type WorkItem struct {
	Name   string // of the array
	Box           // in JSON, its fields are those of the item
	NBytes int64  // size of the items of the box in bytes, as they are stored but not compressed
}

// WorkItems ranges over boxes of the array, such as those of ByChunk and ByTile. Name is the name that the array was
// opened with: use one that other processes can open, such as an absolute path. It is empty for an array without one.
// Each item has its own memory.
func (a *Array) WorkItems(boxes Boxes) iter.Seq[WorkItem] {
	return func(yield func(WorkItem) bool) {
		for b := range boxes.All() {
			if !yield(WorkItem{a.f.Path(), b.clone(), b.Size() * int64(a.itemSize)}) {
				return
			}
		}
	}
}
