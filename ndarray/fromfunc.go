package ndarray

import (
	"context"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
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
func fromFunc[T Scalar](ctx context.Context, name string, shape []int64, dtype string, f func(t Tile[T]) error, wanted func(c *chunkPart) bool, o *Options) (*Array, error) {
	l, err := newLayout(shape, dtype, o)
	if err != nil {
		return nil, err
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		if l.geo.items == 0 {
			return ctx.Err()
		}
		s, err := resolve(shape, nil)
		if err != nil {
			return err
		}
		if wanted != nil {
			if err := b.FillSpecial(l.geo.chunks*l.geo.chunkBytes, chunk.Zeros); err != nil {
				return err
			}
		}
		src := &funcSource[T]{f: f, wanted: wanted, width: l.itemSize / len(convert.Bytes(make([]T, 1)))}
		src.itemSize, src.plan = l.itemSize, newPlan(l.geo, &s)
		return b.Encode(ctx, int(l.geo.chunkBytes), src)
	})
}

// funcSource is the frame.Source of an array that a function makes. It walks chunks as writing does.
type funcSource[T Scalar] struct {
	writing
	f       func(t Tile[T]) error
	wanted  func(c *chunkPart) bool
	width   int       // elements to an item
	scratch sync.Pool // of *Tile[T]
}

// Next implements frame.Source.
func (s *funcSource[T]) Next(v *frame.Visit) (keep, ok bool) {
	for {
		if keep, ok = s.writing.Next(v); !ok || s.wanted == nil || s.wanted(v.State.(*chunkPart)) {
			return keep, ok
		}
	}
}

// Shuffle implements frame.RowSource: what f sets is there only when Block has called it.
func (s *funcSource[T]) Shuffle(*frame.Visit, int, int, coder.Shuffled) bool { return false }

// Block implements frame.Source.
func (s *funcSource[T]) Block(v *frame.Visit, k, _ int, dst []byte) ([]byte, error) {
	var b box
	if !s.plan.box(&b, v.State.(*chunkPart), int32(k)) {
		clear(dst)
		return dst, nil
	}
	t, ok := s.scratch.Get().(*Tile[T])
	if !ok {
		t = &Tile[T]{Box: Box{make([]int64, b.ndim), make([]int64, b.ndim)}, width: s.width}
		t.Inner = t.Box
	}
	defer s.scratch.Put(t)
	// The user side is the whole array in C order: the offset there says where the box starts.
	at := b.user.offset
	for i := range b.ndim {
		t.Start[i], t.Shape[i] = at/b.user.stride[i], b.count[i]
		at %= b.user.stride[i]
	}
	n := int(b.items) * s.width
	if cap(t.Items) < n {
		t.Items = make([]T, s.plan.geo.blockItems*int64(s.width))
	}
	t.Items = t.Items[:n]
	clear(t.Items)
	if err := s.f(*t); err != nil {
		return nil, err
	}
	items := convert.Bytes(t.Items)
	convert.ToNative(DTypeOf[T](), items)
	if len(items) == len(dst) {
		copy(dst, items)
		return dst, nil
	}
	clear(dst) // the padding
	b.user = b.packed()
	b.toBlock(dst, items, s.itemSize)
	return dst, nil
}

// packed returns the user side of a box whose items stand alone, in C order.
func (b *box) packed() (s side) {
	strides(&s.stride, b.count[:b.ndim])
	return s
}

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
	var buf dims
	var scratch sync.Pool
	return FromFunc(ctx, name, h.m.shape(&buf), func(t Tile[U]) error {
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
