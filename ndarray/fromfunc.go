package ndarray

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// FromFunc creates an array whose items are set by f. It calls f for each block, clipped to the array, with a tile of
// zero values. t.Start and t.Shape, t.All and t.Rows provide the coordinates of the items. Up to
// CreateOptions.Concurrency goroutines call f at the same time, in no particular order. f may be called again for the
// same block and must then set the same items. t is valid until f returns. The first error of f ends the call. FromFunc
// uses the memory of a few chunks. It returns ErrType for strings without a length: set CreateOptions.DType, such as
// <U20. See Create.
func FromFunc[T any](ctx context.Context, name string, shape []int64, f func(t Tile[T]) error, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	l, e, err := newTypedLayout[T](ctx, name, shape, o)
	if err != nil {
		return nil, err
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		return writeFunc(ctx, b, l, e, func(context.Context, Box) func(t Tile[T]) error { return f })
	})
}

// FromReaders is FromFunc for items that are computed from those of rs, which have the same shape as the new array.
// begin returns the function for the blocks of a chunk. FromReaders calls it for each chunk, in order, with a context
// for reading that ends with the first error or panic, and with a reader for each of rs: nil, or one of a frame.Source
// that reads many ranges at once. FromReaders reads ahead from these, a chunk of the new array at a time. The function
// must then read all items of the chunk with one call, as values of up to size bytes. FromReaders reads ahead only
// readers that Hold has returned, or views of them.
//
// It is for packages such as package lazy. It has a parameter with an internal type, as Hold has.
func FromReaders[T any](ctx context.Context, name string, shape []int64, rs []Reader, size int, begin func(ctx context.Context, chunk Box, ahead []Reader) func(t Tile[T]) error, _ engine.Internal, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	l, e, err := newTypedLayout[T](ctx, name, shape, o)
	if err != nil {
		return nil, err
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		ahead, far := make([]Reader, len(rs)), 0
		for _, r := range rs {
			if a, _ := r.source(); a.held != nil && a.held.Far() {
				far++
			}
		}
		for i, r := range rs {
			if a, _ := r.source(); a.held == nil || !a.held.Far() {
				continue // in memory, or with a lock file
			}
			h, err := snapshotOf(ctx, r)
			if err != nil {
				return err
			}
			byChunk, done := h.readChunksAhead(ctx, l.geo, max(size, h.m.Dtype.Size), far)
			defer done()
			if byChunk {
				ahead[i] = &View{a: h.a.holding(h.v, h.st), m: h.m}
			}
		}
		return writeFunc(ctx, b, l, e, func(ctx context.Context, chunk Box) func(t Tile[T]) error {
			return begin(ctx, chunk, ahead)
		})
	})
}

// writeFunc writes the chunks of FromFunc to an empty frame. begin returns the function for the blocks of a chunk.
func writeFunc[T any](ctx context.Context, b *frame.Batch, l *layout, e *encoder[T], begin func(ctx context.Context, chunk Box) func(t Tile[T]) error) error {
	if l.geo.Items == 0 {
		return ctx.Err()
	}
	s := selection.WholeAxes(l.rec.Shape)
	p := &funcPlan[T]{begin: begin, e: e}
	p.plan = selection.NewPlan(l.geo, &s)
	return b.Engine().Encode(ctx, int(l.geo.ChunkBytes), p, p.size())
}

// funcPlan is the engine.Waiter of FromFunc.
type funcPlan[T any] struct {
	writing
	ctx   context.Context // of begin
	begin func(ctx context.Context, chunk Box) func(t Tile[T]) error
	e     *encoder[T]
}

// SetContext implements engine.Waiter.
func (p *funcPlan[T]) SetContext(ctx context.Context) { p.ctx = ctx }

// funcVisit is the state of a funcPlan for a chunk.
type funcVisit[T any] struct {
	part selection.ChunkPart
	f    func(t Tile[T]) error
}

// Next implements engine.WritePlan.
func (p *funcPlan[T]) Next(v *engine.Visit) bool {
	if p.next == p.plan.Chunks {
		return false
	}
	s, g := engine.StateOf[funcVisit[T]](v), p.plan.Geo
	p.plan.Seek(&s.part, p.next)
	p.next++
	v.Chunk, v.Keep = int(s.part.Number), false
	c := Box{slices.Clone(s.part.Origin[:g.Ndim]), make([]int64, g.Ndim)}
	for i := range c.Shape {
		c.Shape[i] = g.ChunkLength(i, c.Start[i])
	}
	s.f = p.begin(p.ctx, c)
	return true
}

// Block implements engine.WritePlan.
func (p *funcPlan[T]) Block(b *engine.Block, v *engine.Visit, k, _, _ int) {
	m, ok := b.Mover.(*funcMover[T])
	if !ok {
		n := p.plan.Geo.Ndim
		m = &funcMover[T]{plan: p, tile: Tile[T]{Box: Box{make([]int64, n), make([]int64, n)}}}
		m.tile.Inner = m.tile.Box
	}
	s := v.State.(*funcVisit[T])
	m.f, m.some = s.f, p.plan.Box(&m.box, &s.part, int32(k))
	b.ItemSize, b.Keep, b.Mover = 0, engine.KeepNone, m
}

// funcMover is the engine.Mover of a block of FromFunc.
type funcMover[T any] struct {
	plan *funcPlan[T]
	f    func(t Tile[T]) error
	box  selection.Box
	some bool // the block has items inside the array
	tile Tile[T]
	raw  []byte // the items as they are stored, unless they have the memory layout of T
}

// Move implements engine.Mover.
func (m *funcMover[T]) Move(block []byte, _ bool) error {
	if !m.some {
		clear(block)
		return nil
	}
	b, t, g := &m.box, &m.tile, m.plan.plan.Geo
	// The user side is the whole array in C order, so its offset is the position of the first item of the box.
	at := b.User.Offset
	for i := range b.Ndim {
		t.Start[i], t.Shape[i] = at/b.User.Stride[i], b.Count[i]
		at %= b.User.Stride[i]
	}
	n := int(b.Items)
	if cap(t.Items) < n {
		t.Items = make([]T, g.BlockItems)
	}
	t.Items = t.Items[:n]
	clear(t.Items)
	if err := m.f(*t); err != nil {
		return err
	}
	items, err := m.encode(t.Items)
	if err != nil {
		return err
	}
	if len(items) == len(block) {
		copy(block, items)
		return nil
	}
	clear(block) // the padding
	packed := b.Packed()
	c := selection.CopyOf(&b.Block, &packed, &b.Count, b.Ndim, int(g.ItemSize))
	c.Run(block, items)
	return nil
}

// encode returns values as they are stored.
func (m *funcMover[T]) encode(values []T) ([]byte, error) {
	e := m.plan.e
	if e.c.Direct && e.c.Cast.None() {
		return convert.Bytes(values), nil
	}
	n := len(values) * e.d.Size
	m.raw = slices.Grow(m.raw[:0], n)[:n]
	return m.raw, e.encode(m.raw, values, 0)
}

// Unshuffle implements engine.Mover.
func (m *funcMover[T]) Unshuffle(coder.Shuffled) bool { return false }

// Map creates an array with the shape of r. f computes the items of a box of the new array from the items of the same
// box of r: in holds the items of r, and f sets the items of out, in the same order. The items of out are zero values
// before, and f must retain neither slice. Map calls f as FromFunc does. It takes the partition and compression that o
// leaves out from r, as CreateOptions describes, but no metalayers or attributes. With other blocks, Map decodes a
// block of r several times if it overlaps several blocks of the new array. From a frame.Source that reads many ranges
// at once, it reads ahead, a chunk of the new array at a time.
//
// Like FromFunc, Map returns ErrType for new strings without a length. The error wraps ErrType, or is an error of f, of
// Create or of reading.
func Map[T, U any](ctx context.Context, name string, r Reader, f func(out []U, in Tile[T]) error, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	c, err := readerOf[T](r.DType())
	if err != nil {
		return nil, err
	}
	h, err := snapshotOf(ctx, r)
	if err != nil {
		return nil, err
	}
	defer h.release()
	d, err := fixedDTypeFor[U](o)
	if err != nil {
		return nil, err
	}
	var buf grid.Dims
	l, e, err := newTypedLayout[U](ctx, name, h.m.Shape(&buf), o.from(likeOf(r, d)))
	if err != nil {
		return nil, err
	}
	// The file of r may choose the blocks, and has a limit. The new array has none.
	if _, err := checkItems(ctx, r, "a block", l.geo.BlockItems, max(h.m.Dtype.Size, c.ValueSize, l.dtype.Size, e.c.ValueSize)); err != nil {
		return nil, err
	}
	if _, err := h.a.checkAlloc(ctx, "the blocks of a chunk", l.geo.Blocks, bytesPerBlock); err != nil {
		return nil, err
	}
	in := &mapInput[T]{h: h, r: r, c: c.Converter}
	return l.createFrom(ctx, name, []*snapshot{h}, func(b *frame.Batch) error {
		byChunk, done := in.readAhead(ctx, l.geo)
		defer done()
		return writeFunc(ctx, b, l, e, func(ctx context.Context, chunk Box) func(t Tile[U]) error {
			load := func(x *loadedTile[T]) error { return in.load(ctx, x) }
			if byChunk {
				load = in.loader(ctx, chunk)
			}
			return func(t Tile[U]) error {
				x := in.get(t.Box)
				defer in.scratch.Put(x)
				if err := load(x); err != nil {
					return err
				}
				return f(t.Items, x.Tile)
			}
		})
	})
}

// mapInput is the source of Map.
type mapInput[T any] struct {
	h       *snapshot
	r       Reader
	c       convert.Converter
	scratch sync.Pool // of *loadedTile[T]
}

// readChunksAhead begins to read the items of the chunks of a new array, if the source is far away and the items of a
// chunk, of size bytes, may be held in memory. It reports whether it has: reading each block alone would then be slow.
// done ends it. See engine.View.Ahead for sharing.
func (h *snapshot) readChunksAhead(ctx context.Context, g *grid.Geometry, size, sharing int) (byChunk bool, done func()) {
	chunks, items := Boxes{shape: g.Shape[:g.Ndim]}, int64(1)
	for i, n := range g.ChunkShape[:g.Ndim] {
		chunks.axes = append(chunks.axes, spacing{size: n, step: n})
		items *= min(n, g.Shape[i])
	}
	if _, err := h.a.checkAlloc(ctx, "a box", items, size); err != nil || g.Items == 0 {
		return false, func() {}
	}
	near := h.v
	done = h.readAheadWith(ctx, sharing, h.within(chunks))
	return h.v != near, done
}

// readAhead is snapshot.readChunksAhead for the items.
func (in *mapInput[T]) readAhead(ctx context.Context, g *grid.Geometry) (byChunk bool, done func()) {
	return in.h.readChunksAhead(ctx, g, max(in.h.m.Dtype.Size, in.c.ValueSize), 1)
}

// get returns a tile for the items of a box, to be put into scratch.
func (in *mapInput[T]) get(b Box) *loadedTile[T] {
	x, ok := in.scratch.Get().(*loadedTile[T])
	if !ok {
		x = new(loadedTile[T])
	}
	x.Box, x.Inner = b, b
	return x
}

// load reads the items of a tile.
func (in *mapInput[T]) load(ctx context.Context, x *loadedTile[T]) error {
	return readTile(ctx, in.h, in.r, in.c, x)
}

// loader returns a load for the tiles of a chunk. Its first call reads all of them. If that panics, so do later calls.
func (in *mapInput[T]) loader(ctx context.Context, chunk Box) func(x *loadedTile[T]) error {
	all := loadedTile[T]{Tile: Tile[T]{Box: chunk}}
	var once task.Once
	var err error
	return func(x *loadedTile[T]) error {
		if once.Do(func() { err = in.load(ctx, &all) }); err == nil {
			n := int(x.Box.Size())
			x.Items = slices.Grow(x.Items[:0], n)[:n]
			x.fill(all.Tile)
		}
		return err
	}
}

// likeOf returns the options of r for an array with items of another dtype. Like View.CreateOptions, it leaves out
// filters and codecs that are for the numbers of r.
func likeOf(r Reader, d DType) *CreateOptions {
	like := r.CreateOptions()
	switch was := r.DType(); {
	case d.Size != was.Size:
		chunks, blocks := like.Chunks, like.Blocks
		like.retype()
		like.Chunks, like.Blocks = chunks, blocks
	case d.String() != was.String():
		like.recast(d.Kind == was.Kind)
	}
	return like
}

// Real is the constraint for Go types of real numbers with a NumPy dtype.
type Real interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Arange creates an array of one dimension with the numbers from start up to, but not including, stop, which are step
// apart. They are the numbers of numpy.arange for type T, bit for bit. As in NumPy, their count is the quotient rounded
// up, so with floats the last number may be stop or more. Arange returns ErrShape for a step of zero. See FromFunc.
func Arange[T Real](ctx context.Context, name string, start, stop, step T, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	n, err := arangeLen(start, stop, step)
	if err != nil {
		return nil, err
	}
	delta := start + step - start // rounded twice, as in NumPy
	return FromFunc(ctx, name, []int64{n}, func(t Tile[T]) error {
		for k := range t.Items {
			i := T(t.Start[0] + int64(k))
			t.Items[k] = start + T(i*delta) // the conversion prevents a fused multiply-add
		}
		if t.Start[0] == 0 && len(t.Items) > 0 {
			t.Items[0] = start // the sum is 0 if start is -0
		}
		if t.Start[0] <= 1 && 1 < t.Start[0]+t.Shape[0] {
			t.Items[1-t.Start[0]] = start + step
		}
		return nil
	}, o)
}

// arangeLen returns the number of items of numpy.arange.
func arangeLen[T Real](start, stop, step T) (int64, error) {
	var quotient float64
	empty := false
	if half := T(1) / 2; half == 0 { // integers, which must not overflow
		if step == 0 {
			return 0, fmt.Errorf("ndarray: %w: a step of zero", ErrShape)
		}
		diff := new(big.Int).Sub(bigOf(stop), bigOf(start))
		empty = diff.Sign() == 0
		quotient, _ = new(big.Rat).SetFrac(diff, bigOf(step)).Float64()
	} else {
		diff := stop - start
		empty = diff == 0
		quotient = float64(diff / step)
	}
	switch {
	case math.IsNaN(quotient) || quotient >= math.MaxInt64:
		return 0, fmt.Errorf("ndarray: %w: the range from %v to %v with step %v has %v items", ErrShape, start, stop, step, quotient)
	case quotient == 0 && !empty && !math.Signbit(quotient): // the quotient is positive, but rounds to zero
		return 1, nil
	}
	return int64(max(math.Ceil(quotient), 0)), nil
}

// bigOf returns an integer as a big.Int.
func bigOf[T Real](x T) *big.Int {
	if x > 0 {
		return new(big.Int).SetUint64(uint64(x))
	}
	return big.NewInt(int64(x))
}

// Linspace creates an array of one dimension with n evenly spaced numbers from start to stop, which is the last number.
// They are the numbers of numpy.linspace for type T, bit for bit: computed as float64, and rounded down if T is an
// integer type. Linspace returns ErrShape for a negative n. See FromFunc. For NumPy's endpoint=False, use FromFunc.
// A call names the type: Linspace[float64](ctx, "", 0, 1, 11, nil).
func Linspace[T Real](ctx context.Context, name string, start, stop float64, n int64, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	if n < 0 {
		return nil, fmt.Errorf("ndarray: %w: %d items", ErrShape, n)
	}
	parts := float64(n - 1)
	delta := stop - start
	step := delta / parts
	integer := T(1)/2 == 0
	return FromFunc(ctx, name, []int64{n}, func(t Tile[T]) error {
		for k := range t.Items {
			i := t.Start[0] + int64(k)
			x := float64(i)
			switch {
			case parts <= 0:
				x *= delta
			case step == 0:
				x = x / parts * delta
			default:
				x *= step
			}
			x = float64(x) + start
			if n > 1 && i == n-1 {
				x = stop
			}
			if integer {
				x = math.Floor(x)
			}
			t.Items[k] = T(x)
		}
		return nil
	}, o)
}
