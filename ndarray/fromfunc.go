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

// FromFunc creates an array whose items are set by f. It calls f for each block, clipped to the array, with a tile of
// zero items. t.Start and t.Shape, t.All and t.Rows provide the coordinates of the items. Up to Options.Concurrency
// goroutines call f at the same time, in no particular order. f may be called again for the same block and must then
// set the same items. t is valid until f returns. The first error of f ends the call. FromFunc uses the memory of a few
// chunks. See Create.
func FromFunc[T Scalar](ctx context.Context, name string, shape []int64, f func(t Tile[T]) error, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	return fromFunc(ctx, name, shape, DTypeOf[T]().String(), f, nil, o)
}

// FromFuncBytes is like FromFunc, for items of any dtype, as they are stored. Each item is ItemSize elements of
// t.Items.
func FromFuncBytes(ctx context.Context, name string, shape []int64, dtype string, f func(t Tile[byte]) error, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	return fromFunc(ctx, name, shape, dtype, f, nil, o)
}

// fromFunc creates an array whose items are set by f. If needed is not nil, chunks for which it returns false are
// zeros, and f is not called for them.
func fromFunc[T Scalar](ctx context.Context, name string, shape []int64, dtype string, f func(t Tile[T]) error, needed func(c *selection.ChunkPart) bool, o *Options) (*Array, error) {
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
		if needed != nil {
			if err := b.Engine().FillSpecial(l.geo.Chunks*l.geo.ChunkBytes, chunk.Zeros); err != nil {
				return err
			}
		}
		p := &funcPlan[T]{f: f, needed: needed, width: l.itemSize / len(convert.Bytes(make([]T, 1)))}
		p.plan = selection.NewPlan(l.geo, &s)
		return b.Engine().Encode(ctx, int(l.geo.ChunkBytes), p, p.size())
	})
}

// funcPlan is the engine.WritePlan of fromFunc. It visits chunks as writing does.
type funcPlan[T Scalar] struct {
	writing
	f      func(t Tile[T]) error
	needed func(c *selection.ChunkPart) bool
	width  int // elements of Tile.Items in an item
}

// Next implements engine.WritePlan.
func (p *funcPlan[T]) Next(v *engine.Visit) bool {
	for p.writing.Next(v) {
		if p.needed == nil || p.needed(v.State.(*selection.ChunkPart)) {
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

// funcMover is the engine.Mover of a block of fromFunc.
type funcMover[T Scalar] struct {
	plan *funcPlan[T]
	box  selection.Box
	some bool // the block has items inside the array
	tile Tile[T]
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

// Map creates an array with the shape of r. f computes the items of a box of the new array from the items of the same
// box of r: in holds the items of r, and f sets the items of out, in the same order. Map calls f like FromFunc does. If
// o is nil, the new array has the partition and parameters of r. With other blocks, Map decodes a block of r several
// times if it overlaps several blocks of the new array. The error wraps ErrType, or is an error of f, of Create or of
// reading.
func Map[T, U Scalar](ctx context.Context, r Reader, name string, f func(out []U, in Tile[T]) error, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	if err := checkType[T](r); err != nil {
		return nil, err
	}
	h, err := snapshotOf(ctx, r)
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
