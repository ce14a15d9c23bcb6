package ndarray

import (
	"context"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// FromFunc makes an array whose items f sets. f is called for each block, cut to the array, with a tile whose items are
// zero; it knows from t.Start and t.Shape, or by ranging over t.All or t.Rows, where they belong. It is called by up to
// Options.Concurrency goroutines at the same time, in no particular order, and now and then a second time for a block,
// when it must set the same items again. t is valid until f returns; the first error of f ends the work. Memory is
// bounded by a few chunks. See Create.
func FromFunc[T Scalar](ctx context.Context, name string, shape []int64, f func(t Tile[T]) error, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	return fromFunc(ctx, name, shape, DTypeOf[T]().String(), f, nil, o)
}

// FromFuncBytes is FromFunc for items of any dtype, as they are stored.
func FromFuncBytes(ctx context.Context, name string, shape []int64, dtype string, f func(t Tile[byte]) error, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	return fromFunc(ctx, name, shape, dtype, f, nil, o)
}

// fromFunc makes an array of what f sets. When wanted is not nil, chunks that it does not want are zeros without f being
// asked.
func fromFunc[T Scalar](ctx context.Context, name string, shape []int64, dtype string, f func(t Tile[T]) error, wanted func(c *selection.ChunkPart) bool, o *Options) (*Array, error) {
	l, err := newLayout(shape, dtype, o)
	if err != nil {
		return nil, err
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		if l.geo.Items == 0 {
			return ctx.Err()
		}
		s, err := selection.Resolve(shape, nil)
		if err != nil {
			return err
		}
		if wanted != nil {
			if err := b.FillSpecial(l.geo.Chunks*l.geo.ChunkBytes, chunk.Zeros); err != nil {
				return err
			}
		}
		p := &funcPlan[T]{f: f, wanted: wanted, width: l.itemSize / len(convert.Bytes(make([]T, 1)))}
		p.plan = selection.NewPlan(l.geo, &s)
		return b.Encode(ctx, int(l.geo.ChunkBytes), p, p.size())
	})
}

// funcPlan is the engine.WritePlan of an array that a function makes. It walks chunks as writing does.
type funcPlan[T Scalar] struct {
	writing
	f      func(t Tile[T]) error
	wanted func(c *selection.ChunkPart) bool
	width  int // elements of an item
}

// Next implements engine.WritePlan.
func (p *funcPlan[T]) Next(v *engine.Visit) bool {
	for p.writing.Next(v) {
		if p.wanted == nil || p.wanted(v.State.(*selection.ChunkPart)) {
			return true
		}
	}
	return false
}

// Block implements engine.WritePlan.
func (p *funcPlan[T]) Block(b *engine.Block, v *engine.Visit, k, _, _ int) {
	m, ok := b.Mover.(*funcMover[T])
	if !ok {
		n := p.plan.Geo.Ndim
		m = &funcMover[T]{plan: p, tile: Tile[T]{Box: Box{make([]int64, n), make([]int64, n)}, width: p.width}}
		m.tile.Inner = m.tile.Box
	}
	m.some = p.plan.Box(&m.box, v.State.(*selection.ChunkPart), int32(k))
	b.ItemSize, b.Keep, b.Mover = 0, engine.KeepNone, m
}

// funcMover is the engine.Mover of a block that a function makes.
type funcMover[T Scalar] struct {
	plan *funcPlan[T]
	box  selection.Box
	some bool // items of the block are inside of the array
	tile Tile[T]
}

// Move implements engine.Mover.
func (m *funcMover[T]) Move(block []byte, _ bool) error {
	if !m.some {
		clear(block)
		return nil
	}
	b, t, g := &m.box, &m.tile, m.plan.plan.Geo
	// The user side is the whole array in C order: the offset there says where the box starts.
	at := b.User.Offset
	for i := range b.Ndim {
		t.Start[i], t.Shape[i] = at/b.User.Stride[i], b.Count[i]
		at %= b.User.Stride[i]
	}
	n := int(b.Items) * m.plan.width
	if cap(t.Items) < n {
		t.Items = make([]T, g.BlockItems*int64(m.plan.width))
	}
	t.Items = t.Items[:n]
	clear(t.Items)
	if err := m.plan.f(*t); err != nil {
		return err
	}
	items := convert.Bytes(t.Items)
	convert.ToNative(DTypeOf[T](), items)
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

// Unshuffle implements engine.Mover.
func (m *funcMover[T]) Unshuffle(coder.Shuffled) bool { return false }

// Map makes an array of the shape of r, whose items f makes from those of r. f is called as that of FromFunc is, with
// the same box of both arrays: in has the items of r, out takes the results, in the same order. With o nil the new
// array has the partition and parameters of r. Other blocks are possible, but those of r that do not line up with them
// are then decoded several times.
func Map[T, U Scalar](ctx context.Context, r Reader, name string, f func(out []U, in Tile[T]) error, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	if err := checkType[T](r); err != nil {
		return nil, err
	}
	h, err := hold(ctx, r)
	if err != nil {
		return nil, err
	}
	defer h.release()
	var buf grid.Dims
	var scratch sync.Pool
	return FromFunc(ctx, name, h.m.Shape(&buf), func(t Tile[U]) error {
		in, ok := scratch.Get().(*Tile[T])
		if !ok {
			in = new(Tile[T])
		}
		defer scratch.Put(in)
		in.Box, in.Inner = t.Box, t.Box
		if cap(in.Items) < len(t.Items) {
			in.Items = make([]T, len(t.Items))
		}
		in.Items = in.Items[:len(t.Items)]
		if err := h.readBox(ctx, convert.Bytes(in.Items), t.Box); err != nil {
			return err
		}
		convert.ToNative(r.DType(), convert.Bytes(in.Items))
		return f(t.Items, *in)
	}, like(r, o))
}
