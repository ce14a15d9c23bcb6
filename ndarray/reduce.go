package ndarray

import (
	"context"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/reduce"
)

// Op is a reduction, which computes one item from many.
type Op uint8

// The reductions, with the dtype of their results. They accept bools and numbers, including float16. All except OpSum,
// OpMean and OpStd also accept dates and timedeltas.
const (
	OpSum          Op = iota // int64 for bools and signed integers, uint64 for unsigned ones; see Op
	OpMin                    // the dtype of the items; NaN or NaT if an item is
	OpMax                    // like OpMin
	OpMean                   // float64 for bools and integers; else the dtype of the items
	OpStd                    // standard deviation: like OpMean, except that complex numbers give the dtype of their parts
	OpAny                    // bool: whether any item is not zero; NaN is not zero
	OpAll                    // bool: whether no item is zero
	OpCountNonzero           // int64: number of items that are not zero
	OpArgMin                 // int64: first position of the minimum, in C order of the reduced axes
	OpArgMax                 // int64: first position of the maximum
)

// String returns the name of the NumPy function.
func (op Op) String() string {
	names := [...]string{"sum", "min", "max", "mean", "std", "any", "all", "count_nonzero", "argmin", "argmax"}
	if int(op) < len(names) {
		return names[op]
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

// ReduceOptions are the options of Reduce. A nil *ReduceOptions reduces all axes.
type ReduceOptions struct {
	Axes     []int // axes to reduce, negative ones counted from the last; nil means all axes, an empty slice none
	KeepDims bool  // leave reduced axes in the shape of the result, with a length of 1
	DDof     int   // for OpStd: subtracted from the number of items in the divisor
}

// Reduce reduces r along axes and returns the result, an array in memory, with NumPy's dtypes and rules. It decodes
// chunks in parallel, except special chunks, such as those of zeros, which need no decoding. It reduces the items of
// each chunk and merges the results in the order of the chunks, so the result does not depend on Options.Concurrency.
// Sums of floats, means and standard deviations are computed as float64 and rounded at the end. They are at least as
// accurate as NumPy's, but may differ from them in the last digits.
//
// Reduce uses up to 32 bytes of memory for each item of the result, and a few chunks. The error wraps ErrType,
// ErrBounds, or ErrShape for the minimum or maximum of no items, or is an error of reading. As in NumPy, the sum of no
// items is 0 and their mean NaN.
func Reduce(ctx context.Context, r Reader, op Op, o *ReduceOptions) (*Array, error) {
	ctx = task.Context(ctx)
	if o == nil {
		o = &ReduceOptions{}
	}
	h, err := snapshotOf(ctx, r)
	if err != nil {
		return nil, err
	}
	defer h.release()
	j := &reduction{ctx: ctx, r: r, h: h, op: op, ddof: o.DDof}
	if err := j.setAxes(o.Axes, o.KeepDims); err != nil {
		return nil, err
	}
	if err := j.runType(r.DType()); err != nil {
		return nil, err
	}
	return CreateBytes(ctx, "", j.result, j.dtype.String(), j.bytes, nil)
}

// ReduceAll reduces all items of r to one item. T must match the dtype of the result. See Reduce.
func ReduceAll[T scalar](ctx context.Context, r Reader, op Op) (T, error) {
	ctx = task.Context(ctx)
	a, err := Reduce(ctx, r, op, nil)
	if err != nil {
		return *new(T), err
	}
	defer a.Close()
	return Item[T](ctx, a)
}

// reduction is the state of a call of Reduce.
type reduction struct {
	ctx  context.Context
	r    Reader
	h    *snapshot
	op   Op
	ddof int

	shape   []int64 // of r
	reduced [grid.MaxDims]bool
	result  []int64   // shape of the result
	cells   int64     // number of items of the result
	count   int64     // number of items that are reduced to one
	cellAt  grid.Dims // stride of each axis of the result, in cells
	itemAt  grid.Dims // stride of each reduced axis, in positions

	dtype meta.DType // of the result
	bytes []byte     // the result
}

// setAxes sets the reduced axes and the shapes.
func (j *reduction) setAxes(axes []int, keep bool) error {
	var buf grid.Dims
	j.shape = append([]int64{}, j.h.m.Shape(&buf)...)
	n := len(j.shape)
	for i := range n {
		j.reduced[i] = axes == nil
	}
	for _, axis := range axes {
		i := axis
		if i < 0 {
			i += n
		}
		switch {
		case i < 0 || i >= n:
			return fmt.Errorf("ndarray: %w: axis %d of an array of %d dimensions", ErrBounds, axis, n)
		case j.reduced[i]:
			return fmt.Errorf("ndarray: %w: axis %d occurs twice", ErrBounds, axis)
		}
		j.reduced[i] = true
	}
	j.cells, j.count = 1, 1
	fits := true
	for i := n - 1; i >= 0; i-- {
		n := &j.cells
		if j.reduced[i] {
			j.itemAt[i] = j.count
			n = &j.count
		} else {
			j.cellAt[i] = j.cells
		}
		var ok bool
		if *n, ok = grid.Multiply(*n, j.shape[i]); !ok {
			*n, fits = 0, false // the product of the other lengths may overflow although an axis has length zero
		}
	}
	for i, length := range j.shape {
		if !j.reduced[i] {
			j.result = append(j.result, length)
		} else if keep {
			j.result = append(j.result, 1)
		}
	}
	if !fits || j.cells > math.MaxInt32 || j.h.a.f.Engine().CheckAlloc(32*j.cells) != nil {
		return fmt.Errorf("ndarray: %w: result of shape %v, with 32 bytes of memory for each item", ErrTooLarge, j.result)
	}
	extreme := j.cells > 0 && (j.op == OpMin || j.op == OpMax)
	if j.count == 0 && (extreme || j.op == OpArgMin || j.op == OpArgMax) {
		return fmt.Errorf("ndarray: %w: %v of no items, in shape %v", ErrShape, j.op, j.shape)
	}
	return nil
}

// errType returns the error for items that cannot be reduced.
func (j *reduction) errType(d meta.DType) error {
	return fmt.Errorf("ndarray: %w: no %v for items of dtype %v", ErrType, j.op, d)
}

// runType runs the reduction for items of a dtype.
func (j *reduction) runType(d meta.DType) error {
	if d.Fields != nil || d.Elem != nil {
		return j.errType(d)
	}
	switch d.Kind {
	case 'b':
		return reduceReal(j, nil, identity[uint8], identity[float64])
	case 'i':
		switch d.Size {
		case 1:
			return reduceReal(j, nil, identity[int8], identity[float64])
		case 2:
			return reduceReal(j, nil, identity[int16], identity[float64])
		case 4:
			return reduceReal(j, nil, identity[int32], identity[float64])
		}
		return reduceReal(j, nil, identity[int64], identity[float64])
	case 'u':
		switch d.Size {
		case 1:
			return reduceReal(j, nil, identity[uint8], identity[float64])
		case 2:
			return reduceReal(j, nil, identity[uint16], identity[float64])
		case 4:
			return reduceReal(j, nil, identity[uint32], identity[float64])
		}
		return reduceReal(j, nil, identity[uint64], identity[float64])
	case 'f':
		switch d.Size {
		case 2:
			return reduceReal(j, Float16.Float32, Float16Of[float32], Float16Of[float64])
		case 4:
			return reduceReal(j, nil, identity[float32], func(x float64) float32 { return float32(x) })
		case 8:
			return reduceReal(j, nil, identity[float64], identity[float64])
		}
	case 'c':
		switch d.Size {
		case 8:
			return reduceComplex(j, func(x complex128) complex64 { return complex64(x) }, func(x float64) float32 { return float32(x) })
		case 16:
			return reduceComplex(j, identity[complex128], identity[float64])
		}
	case 'M', 'm':
		return reduceTime(j, d)
	}
	return j.errType(d)
}

func identity[T any](x T) T { return x }

// position returns the result of OpArgMin and OpArgMax.
func position[T any](x reduce.Extreme[T]) int64 { return x.At }

// reduceReal reduces real numbers, which are stored as S and computed as T. widen converts them, and is nil if S is T.
// back converts a T to an item, and round converts a float64 to an item of the result.
func reduceReal[S scalar, T Real, F scalar](j *reduction, widen func(S) T, back func(T) S, round func(float64) F) error {
	d := j.r.DType()
	most := j.op == OpMax || j.op == OpArgMax
	switch {
	case j.op == OpSum && d.Kind == 'f':
		return finish(j, widen, reduce.SumFloats[T](j.count), round)
	case j.op == OpSum && d.Kind == 'u':
		return finish(j, widen, reduce.SumInts[T](), func(x int64) uint64 { return uint64(x) })
	case j.op == OpSum:
		return finish(j, widen, reduce.SumInts[T](), identity[int64])
	case j.op == OpMean:
		n := float64(j.count)
		return finish(j, widen, reduce.SumFloats[T](j.count), func(x float64) F { return round(x / n) })
	case j.op == OpStd:
		return finish(j, widen, reduce.Variance[T](), func(x reduce.Moments) F { return round(x.Std(j.count, j.ddof)) })
	case j.op == OpMin || j.op == OpMax:
		if d.Kind == 'b' {
			return finish(j, widen, reduce.ExtremeReal[T](most), func(x reduce.Extreme[T]) bool { return x.Value != 0 })
		}
		return finish(j, widen, reduce.ExtremeReal[T](most), func(x reduce.Extreme[T]) S { return back(x.Value) })
	case j.op == OpArgMin || j.op == OpArgMax:
		return finish(j, widen, reduce.ExtremeReal[T](most), position[T])
	}
	return reduceCount(j, widen, func(x T) bool { return x != 0 })
}

// reduceComplex reduces complex numbers. They are ordered by their real parts, then by their imaginary parts.
func reduceComplex[T complex64 | complex128, F scalar](j *reduction, round func(complex128) T, roundReal func(float64) F) error {
	var widen func(T) T
	most := j.op == OpMax || j.op == OpArgMax
	order := reduce.ExtremeOf(func(x, y T) bool {
		a, b := complex128(x), complex128(y)
		if most {
			a, b = b, a
		}
		return real(a) < real(b) || real(a) == real(b) && imag(a) < imag(b)
	}, func(x T) bool { return math.IsNaN(real(complex128(x))) || math.IsNaN(imag(complex128(x))) })
	switch j.op {
	case OpSum:
		return finish(j, widen, reduce.SumComplex[T](j.count), round)
	case OpMean:
		n := float64(j.count)
		return finish(j, widen, reduce.SumComplex[T](j.count), func(x complex128) T {
			re, im := real(x), imag(x) // as NumPy divides: a NaN in one part makes both NaN
			return round(complex((re+im*0)/n, (im-re*0)/n))
		})
	case OpStd:
		return finish(j, widen, reduce.VarianceComplex[T](), func(x reduce.ComplexMoments) F { return roundReal(x.Std(j.count, j.ddof)) })
	case OpMin, OpMax:
		return finish(j, widen, order, func(x reduce.Extreme[T]) T { return x.Value })
	case OpArgMin, OpArgMax:
		return finish(j, widen, order, position[T])
	}
	return reduceCount(j, widen, func(x T) bool { return x != 0 })
}

// reduceTime reduces dates or timedeltas.
func reduceTime(j *reduction, d meta.DType) error {
	var widen func(int64) int64
	most := j.op == OpMax || j.op == OpArgMax
	order := reduce.ExtremeOf(func(x, y int64) bool { return x < y != most && x != y }, func(x int64) bool { return x == math.MinInt64 })
	switch j.op {
	case OpMin, OpMax:
		err := finish(j, widen, order, func(x reduce.Extreme[int64]) int64 { return x.Value })
		d.Order = '<'
		j.dtype = d
		return err
	case OpArgMin, OpArgMax:
		return finish(j, widen, order, position[int64])
	case OpAny, OpAll, OpCountNonzero:
		return reduceCount(j, widen, func(x int64) bool { return x != 0 })
	}
	return j.errType(d)
}

// reduceCount reduces by the number of items that are not zero.
func reduceCount[S, T scalar](j *reduction, widen func(S) T, nonzero func(T) bool) error {
	k := reduce.Count(nonzero)
	switch j.op {
	case OpAny:
		return finish(j, widen, k, func(n int64) bool { return n > 0 })
	case OpAll:
		return finish(j, widen, k, func(n int64) bool { return n == j.count })
	case OpCountNonzero:
		return finish(j, widen, k, identity[int64])
	}
	return fmt.Errorf("ndarray: %w: %v", ErrType, j.op)
}

// finish runs a kernel and sets the result of the reduction. result converts a cell to an item.
func finish[S, T scalar, A any, R scalar](j *reduction, widen func(S) T, k reduce.Kernel[T, A], result func(A) R) error {
	cells, err := runKernel(j, widen, k)
	if err != nil {
		return err
	}
	out := make([]R, len(cells))
	for i, x := range cells {
		out[i] = result(x)
	}
	j.dtype = DTypeOf[R]()
	j.bytes = convert.Stored(j.dtype, out)
	return nil
}
