package ndarray

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/reduce"
)

// Op is a reduction, which computes one item from many.
type Op uint8

// The reductions, with the dtype of their results. They accept bools and numbers, including float16. All except OpSum,
// OpProd, OpMean, OpStd and OpVar also accept dates and timedeltas.
const (
	OpSum          Op = iota // int64 for bools and signed integers, uint64 for unsigned ones, otherwise the same dtype
	OpMin                    // the dtype of the items; NaN or NaT if any item is NaN or NaT
	OpMax                    // like OpMin
	OpMean                   // float64 for bools and integers, otherwise the dtype of the items
	OpStd                    // standard deviation: like OpMean; for complex numbers the dtype of their parts
	OpAny                    // bool: whether any item is not zero; NaN is not zero
	OpAll                    // bool: whether no item is zero
	OpCountNonzero           // int64: number of items that are not zero
	OpArgMin                 // int64: first position of the minimum, in C order of the reduced axes
	OpArgMax                 // int64: first position of the maximum
	OpProd                   // product: like OpSum
	OpVar                    // variance: like OpStd
	OpCountNaN               // int64: number of items that are NaN or NaT, complex numbers with a NaN included
)

// String returns the name of the NumPy function.
func (op Op) String() string {
	names := [...]string{"sum", "min", "max", "mean", "std", "any", "all", "count_nonzero", "argmin", "argmax", "prod", "var", "count_nan"}
	if int(op) < len(names) {
		return names[op]
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

// ReduceOptions are the options of Reduce, ReduceInto, ReduceAll and Quantiles. A nil *ReduceOptions reduces all axes.
//
// With SkipNaN, reductions ignore items that are NaN or NaT, as NumPy's nansum, nanprod, nanmean, nanvar, nanstd,
// nanmin and nanmax do: the sum of no other items is 0, their product is 1, and the other results are NaN or NaT.
// OpArgMin and OpArgMax return ErrValue if they have no other items for a result. OpAny and OpCountNonzero do not count
// NaNs then.
type ReduceOptions struct {
	Axes     []int // axes to reduce, negative ones counted from the last; nil means all axes, an empty slice none
	KeepDims bool  // leave reduced axes in the shape of the result, with a length of 1
	SkipNaN  bool  // ignore NaN and NaT; not for OpCountNaN
	DDof     int   // for OpStd and OpVar: subtracted from the number of items in the divisor
}

// Reduce reduces r along axes and returns the result, an array in memory, with NumPy's dtypes and rules. It decodes
// chunks in parallel, except special chunks, such as those of zeros, which need no decoding. It reduces the items of
// each chunk and merges the results in the order of the chunks, so the result does not depend on the number of
// goroutines. Sums and products of floats, means, variances and standard deviations are computed as float64 and rounded
// at the end. They are about as accurate as NumPy's, but may differ from them in the last digits. Products of floats do
// not overflow or underflow before all items are multiplied: that of 1e200, 1e200 and 0 is 0, where NumPy returns NaN.
//
// Reduce uses up to 48 bytes of memory for each item of the result, or 96 if the items are complex, plus 64 MiB, plus a
// few chunks for each goroutine. The error wraps ErrType, ErrBounds, ErrParam for an option that does not apply, or
// ErrShape for the minimum or maximum of no items, or is an error of reading. As in NumPy, the sum of no items is 0 and
// their mean NaN.
func Reduce(ctx context.Context, r Reader, op Op, o *ReduceOptions) (*Array, error) {
	ctx = task.Context(ctx)
	j, err := reduceTo(ctx, r, op, o)
	if err != nil {
		return nil, err
	}
	return CreateBytes(ctx, "", j.result, j.dtype.String(), j.bytes, nil)
}

// ReduceInto reduces r along axes and stores the result in dst, in C order. It creates no array. The length of dst must
// be the number of items of the result. Otherwise it returns ErrShape. T must match the dtype of the result as in Read.
// The result is first rounded to its own dtype: for means of float32 items in float64, reduce AsType(r, "<f8"). See
// Reduce.
func ReduceInto[T any](ctx context.Context, r Reader, dst []T, op Op, o *ReduceOptions) error {
	ctx = task.Context(ctx)
	j, err := reduceTo(ctx, r, op, o)
	if err != nil {
		return err
	}
	if int64(len(dst)) != j.cells {
		return fmt.Errorf("ndarray: %w: %d items of memory for a result of shape %v", ErrShape, len(dst), j.result)
	}
	c, err := readerOf[T](j.dtype)
	if err != nil {
		return err
	}
	switch {
	case !c.Cast.None():
		c.Cast.Run(convert.Bytes(dst), j.bytes)
		return nil
	case c.Direct:
		copy(convert.Bytes(dst), j.bytes)
		return nil
	}
	clear(dst)
	return c.Decode(convert.ValuesOf(dst), j.bytes, j.dtype.Size, 0, nil)
}

// ReduceAll reduces all items of r to one value. T must match the dtype of the result as in Read. The options Axes and
// KeepDims do not apply, and return ErrParam. The result is rounded like that of ReduceInto. See Reduce.
func ReduceAll[T any](ctx context.Context, r Reader, op Op, o *ReduceOptions) (T, error) {
	var dst [1]T
	if o != nil && (o.Axes != nil || o.KeepDims) {
		return dst[0], fmt.Errorf("ndarray: %w: ReduceAll reduces all axes, but the options have Axes %v, KeepDims %v", ErrParam, o.Axes, o.KeepDims)
	}
	err := ReduceInto(ctx, r, dst[:], op, o)
	return dst[0], err
}

// reduceTo reduces r and returns the reduction with its result.
func reduceTo(ctx context.Context, r Reader, op Op, o *ReduceOptions) (*reduction, error) {
	if o == nil {
		o = &ReduceOptions{}
	}
	if o.DDof != 0 && op != OpStd && op != OpVar {
		return nil, fmt.Errorf("ndarray: %w: DDof of %d does not apply to %v", ErrParam, o.DDof, op)
	}
	if o.SkipNaN && op == OpCountNaN {
		return nil, fmt.Errorf("ndarray: %w: SkipNaN does not apply to %v", ErrParam, op)
	}
	h, err := snapshotOf(ctx, r)
	if err != nil {
		return nil, err
	}
	defer h.release()
	j := &reduction{ctx: ctx, r: r, h: h, op: op, ddof: o.DDof, skip: o.SkipNaN}
	if err := j.setAxes(o.Axes, o.KeepDims); err != nil {
		return nil, err
	}
	if err := j.runType(r.DType()); err != nil {
		return nil, err
	}
	if j.none && (op == OpArgMin || op == OpArgMax) {
		return nil, fmt.Errorf("ndarray: %w: %v of items that are all NaN", ErrValue, op)
	}
	return j, nil
}

// reduction is the state of a call of Reduce.
type reduction struct {
	ctx  context.Context
	r    Reader
	h    *snapshot
	op   Op
	ddof int
	skip bool // ignore NaNs
	none bool // a result has no item that is not NaN

	tally *tally // counts instead of op

	shape   []int64 // of r
	reduced [grid.MaxDims]bool
	result  []int64   // shape of the result
	cells   int64     // number of items of the result
	count   int64     // number of items that are reduced to one
	cellAt  grid.Dims // stride of each axis of the result, in cells
	itemAt  grid.Dims // stride of each reduced axis, in positions
	order   []int     // the axes in the order of the items of a box, the outermost first

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
		i, err := axisNumber(axis, n, ErrBounds)
		if err != nil {
			return err
		}
		if j.reduced[i] {
			return fmt.Errorf("ndarray: %w: axis %d occurs twice", ErrBounds, axis)
		}
		j.reduced[i] = true
	}
	j.cells, j.count = 1, 1
	fits := true
	for i := n - 1; i >= 0; i-- {
		items := &j.cells
		if j.reduced[i] {
			j.itemAt[i] = j.count
			items = &j.count
		} else {
			j.cellAt[i] = j.cells
		}
		var ok bool
		if *items, ok = grid.Multiply(*items, j.shape[i]); !ok {
			*items, fits = 0, false // the product of the other lengths may overflow although an axis has length zero
		}
	}
	for i, length := range j.shape {
		if !j.reduced[i] {
			j.result = append(j.result, length)
		} else if keep {
			j.result = append(j.result, 1)
		}
	}
	if !fits || j.cells > math.MaxInt32 {
		return fmt.Errorf("ndarray: %w: result of shape %v", ErrTooLarge, j.result)
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
func position[T any](j *reduction) func(x reduce.Extreme[T]) int64 {
	return func(x reduce.Extreme[T]) int64 {
		j.none = j.none || !x.Some()
		return x.At
	}
}

// extreme returns the result of OpMin and OpMax, or none if all items are NaN.
func extreme[T, R any](back func(T) R, none R) func(x reduce.Extreme[T]) R {
	return func(x reduce.Extreme[T]) R {
		if !x.Some() {
			return none
		}
		return back(x.Value)
	}
}

// reduceReal reduces real numbers, which are stored as S and computed as T. widen converts them, and is nil if S is T.
// back converts a T to an item, and round converts a float64 to an item of the result.
func reduceReal[S scalar, T Real, F scalar](j *reduction, widen func(S) T, back func(T) S, round func(float64) F) error {
	d := j.r.DType()
	most := j.op == OpMax || j.op == OpArgMax
	if j.tally != nil {
		return runTally(j, widen)
	}
	if j.skip && d.Kind == 'f' {
		return reduceSkip(j, widen, back, round)
	}
	switch {
	case j.op == OpSum && d.Kind == 'f':
		return finish(j, widen, reduce.SumFloats[T](), round)
	case j.op == OpSum && d.Kind == 'u':
		return finish(j, widen, reduce.SumInts[T](), func(x int64) uint64 { return uint64(x) })
	case j.op == OpSum:
		return finish(j, widen, reduce.SumInts[T](), identity[int64])
	case j.op == OpMean:
		n := float64(j.count)
		return finish(j, widen, reduce.SumFloats[T](), func(x float64) F { return round(x / n) })
	case j.op == OpStd:
		return finish(j, widen, reduce.Variance[T](), func(x reduce.Moments) F { return round(math.Sqrt(x.Var(j.count, j.ddof))) })
	case j.op == OpVar:
		return finish(j, widen, reduce.Variance[T](), func(x reduce.Moments) F { return round(x.Var(j.count, j.ddof)) })
	case j.op == OpProd && d.Kind == 'f':
		return finish(j, widen, reduce.ProdFloats[T](false), func(x reduce.Product) F { return round(x.Float64()) })
	case j.op == OpProd && d.Kind == 'u':
		return finish(j, widen, reduce.ProdInts[T](), func(x int64) uint64 { return uint64(x) })
	case j.op == OpProd:
		return finish(j, widen, reduce.ProdInts[T](), identity[int64])
	case j.op == OpMin || j.op == OpMax:
		k := reduce.ExtremeReal[T](most)
		k.Placed = d.Kind == 'f' // the first of 0 and -0, or of several NaNs
		if d.Kind == 'b' {
			return finish(j, widen, k, func(x reduce.Extreme[T]) bool { return x.Value != 0 })
		}
		return finish(j, widen, k, func(x reduce.Extreme[T]) S { return back(x.Value) })
	case j.op == OpArgMin || j.op == OpArgMax:
		return finish(j, widen, reduce.ExtremeReal[T](most), position[T](j))
	}
	return reduceCount(j, widen, func(x T) bool { return x != 0 }, func(x T) bool { return x != x })
}

// reduceSkip reduces the floats that are not NaN. See reduceReal.
func reduceSkip[S scalar, T Real, F scalar](j *reduction, widen func(S) T, back func(T) S, round func(float64) F) error {
	most := j.op == OpMax || j.op == OpArgMax
	switch j.op {
	case OpSum:
		return finish(j, widen, reduce.SumSkip[T](), func(x reduce.Sum) F { return round(x.Sum) })
	case OpMean:
		return finish(j, widen, reduce.SumSkip[T](), func(x reduce.Sum) F { return round(x.Sum / float64(x.N)) })
	case OpProd:
		return finish(j, widen, reduce.ProdFloats[T](true), func(x reduce.Product) F { return round(x.Float64()) })
	case OpStd:
		return finish(j, widen, reduce.VarianceSkip[T](), func(x reduce.Moments) F { return round(math.Sqrt(x.VarOf(j.ddof))) })
	case OpVar:
		return finish(j, widen, reduce.VarianceSkip[T](), func(x reduce.Moments) F { return round(x.VarOf(j.ddof)) })
	case OpMin, OpMax:
		nan := math.NaN()
		return finish(j, widen, reduce.ExtremeRealSkip[T](most), extreme(back, back(T(nan))))
	case OpArgMin, OpArgMax:
		return finish(j, widen, reduce.ExtremeRealSkip[T](most), position[T](j))
	}
	return reduceCount(j, widen, func(x T) bool { return x != 0 && x == x }, nil)
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
	}, reduce.IsNaN[T])
	if j.skip {
		order = reduce.Skip(order, reduce.IsNaN[T])
	}
	// As NumPy divides: a NaN in one part makes both NaN.
	mean := func(x complex128, n float64) T {
		re, im := real(x), imag(x)
		return round(complex((re+im*0)/n, (im-re*0)/n))
	}
	switch {
	case j.op == OpSum && j.skip:
		return finish(j, widen, reduce.SumComplexSkip[T](), func(x reduce.ComplexSum) T { return round(x.Sum) })
	case j.op == OpSum:
		return finish(j, widen, reduce.SumComplex[T](), round)
	case j.op == OpMean && j.skip:
		return finish(j, widen, reduce.SumComplexSkip[T](), func(x reduce.ComplexSum) T { return T(reduce.MeanOf[T](x)) })
	case j.op == OpMean:
		return finish(j, widen, reduce.SumComplex[T](), func(x complex128) T { return mean(x, float64(j.count)) })
	case j.op == OpProd:
		return finish(j, widen, reduce.ProdComplex[T](j.skip), func(x reduce.ComplexProduct) T { return round(x.Complex128()) })
	case j.op == OpStd || j.op == OpVar:
		k := reduce.VarianceComplex[T]()
		if j.skip {
			k = reduce.Skip(k, reduce.IsNaN[T])
		}
		return finish(j, widen, k, func(x reduce.ComplexMoments) F {
			v := x.Var(j.count, j.ddof)
			if j.skip {
				v = x.VarOf(j.ddof)
			}
			if j.op == OpStd {
				v = math.Sqrt(v)
			}
			return roundReal(v)
		})
	case j.op == OpMin || j.op == OpMax:
		return finish(j, widen, order, extreme(identity[T], T(complex(math.NaN(), 0))))
	case j.op == OpArgMin || j.op == OpArgMax:
		return finish(j, widen, order, position[T](j))
	}
	return reduceCount(j, widen, func(x T) bool { return x != 0 && !(j.skip && reduce.IsNaN(x)) }, reduce.IsNaN[T])
}

// reduceTime reduces dates or timedeltas.
func reduceTime(j *reduction, d meta.DType) error {
	var widen func(int64) int64
	most := j.op == OpMax || j.op == OpArgMax
	order := reduce.ExtremeOf(func(x, y int64) bool { return x < y != most && x != y }, func(x int64) bool { return x == NaT })
	if j.skip {
		order = reduce.Skip(order, func(x int64) bool { return x == NaT })
	}
	switch j.op {
	case OpMin, OpMax:
		err := finish(j, widen, order, extreme(identity[int64], NaT))
		d.Order = '<'
		j.dtype = d
		return err
	case OpArgMin, OpArgMax:
		return finish(j, widen, order, position[int64](j))
	case OpAny, OpAll, OpCountNonzero, OpCountNaN:
		return reduceCount(j, widen, func(x int64) bool { return x != 0 && !(j.skip && x == NaT) }, func(x int64) bool { return x == NaT })
	}
	return j.errType(d)
}

// reduceCount reduces by the number of items that are not zero, or that are NaN. OpAll looks for zeros, because skipped
// NaNs do not count as nonzero.
func reduceCount[S, T scalar](j *reduction, widen func(S) T, nonzero, nan func(T) bool) error {
	switch j.op {
	case OpAny:
		return finish(j, widen, reduce.Count(nonzero), func(n int64) bool { return n > 0 })
	case OpAll:
		return finish(j, widen, reduce.Count(func(x T) bool { return x == *new(T) }), func(n int64) bool { return n == 0 })
	case OpCountNonzero:
		return finish(j, widen, reduce.Count(nonzero), identity[int64])
	case OpCountNaN:
		return finish(j, widen, reduce.Count(nan), identity[int64])
	}
	return fmt.Errorf("ndarray: %w: %v", ErrType, j.op)
}

// checkResult returns ErrTooLarge if the size of the frame does not justify size bytes for each item of the result.
func (j *reduction) checkResult(size int64) error {
	err := j.h.a.engine.CheckAlloc(j.ctx, size*j.cells)
	if errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("ndarray: %w: result of shape %v, with %d bytes of memory for each item", ErrTooLarge, j.result, size)
	}
	return err
}

// finish runs a kernel and sets the result of the reduction. result converts a cell to an item.
func finish[S, T scalar, A any, R scalar](j *reduction, widen func(S) T, k reduce.Kernel[T, A], result func(A) R) error {
	size := int64(unsafe.Sizeof(k.Empty) + unsafe.Sizeof(*new(R)))
	if err := j.checkResult(size); err != nil {
		return err
	}
	out := make([]R, j.cells)
	put := func(at int64, cells []A) {
		for i, x := range cells {
			out[at+int64(i)] = result(x)
		}
	}
	if err := runKernel(j, widen, k, put); err != nil {
		return err
	}
	j.dtype = DTypeOf[R]()
	j.bytes = convert.Stored(j.dtype, out)
	return nil
}
