package ndarray

import (
	"context"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Op is a reduction: what Reduce makes of many items.
type Op uint8

// The reductions, with the dtype of their results. They take bools and numbers, float16 included; OpMin, OpMax, their
// positions, OpAny, OpAll and OpCountNonzero take dates and time differences as well.
const (
	OpSum          Op = iota // int64 of bools and signed numbers, uint64 of unsigned ones, which wrap; else that of the items
	OpMin                    // that of the items; NaN or NaT if there is one
	OpMax                    // the same
	OpMean                   // float64 of bools and whole numbers, else that of the items
	OpStd                    // the standard deviation: as OpMean, but the real dtype of complex numbers
	OpAny                    // bool: an item is not zero; NaN is not
	OpAll                    // bool: no item is zero
	OpCountNonzero           // int64: the items that are not zero
	OpArgMin                 // int64: where the minimum is first, in C order of the axes that are reduced
	OpArgMax                 // int64: the same of the maximum
)

// String returns the name of the function of NumPy.
func (op Op) String() string {
	names := [...]string{"sum", "min", "max", "mean", "std", "any", "all", "count_nonzero", "argmin", "argmax"}
	if int(op) < len(names) {
		return names[op]
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

// ReduceOptions say how to reduce. A nil *ReduceOptions reduces all axes.
type ReduceOptions struct {
	Axes     []int // axes to reduce; negative ones count from the last. nil: all; empty: none
	KeepDims bool  // leave reduced axes in the shape of the result, with a length of 1
	DDof     int   // of OpStd: what is subtracted from the number of items in the divisor
}

// Reduce reduces r along axes and returns the result, an array in memory, with NumPy's dtypes and rules. Chunks are
// decoded in parallel, those of one value, as zeros are, not at all: the items of a chunk are reduced together, and then
// the chunks in their order, so that results are the same whatever Options.Concurrency. Sums of floats, means and
// deviations are computed as float64, sums pairwise and deviations from the mean of each chunk, and are rounded at the
// end: they are no less accurate than NumPy's, but may differ from these in the last digits.
//
// Memory is bounded by the result, with up to 32 bytes for an item, and a few chunks. The minimum or maximum of nothing
// is an ErrShape, as in NumPy; its sum is 0, its mean NaN. Errors are ErrType, ErrBounds and those of reading.
func Reduce(ctx context.Context, r Reader, op Op, o *ReduceOptions) (*Array, error) {
	ctx = task.Context(ctx)
	if o == nil {
		o = &ReduceOptions{}
	}
	h, err := hold(ctx, r)
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

// ReduceAll reduces all items of r to one of type T, which must be that of the result. See Reduce.
func ReduceAll[T Scalar](ctx context.Context, r Reader, op Op) (T, error) {
	ctx = task.Context(ctx)
	a, err := Reduce(ctx, r, op, nil)
	if err != nil {
		return *new(T), err
	}
	defer a.Close()
	return ReadAt[T](ctx, a)
}

// reduction is one call of Reduce.
type reduction struct {
	ctx  context.Context
	r    Reader
	h    *held
	op   Op
	ddof int

	shape   []int64 // of r
	reduced [maxDims]bool
	result  []int64 // shape of the result
	cells   int64   // items of the result
	count   int64   // items that each of them is made of
	cellAt  dims    // of each axis that stays: what one step along it adds to the number of the cell
	itemAt  dims    // of each axis that is reduced: what one step adds to the position in C order of those

	dtype meta.DType // of the result
	bytes []byte     // the result
}

// setAxes finds the shapes.
func (j *reduction) setAxes(axes []int, keep bool) error {
	var buf dims
	j.shape = append([]int64{}, j.h.m.shape(&buf)...)
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
			return fmt.Errorf("ndarray: %w: axis %d twice", ErrBounds, axis)
		}
		j.reduced[i] = true
	}
	j.cells, j.count = 1, 1
	fits := true
	for i := n - 1; i >= 0; i-- {
		which := &j.cells
		if j.reduced[i] {
			j.itemAt[i] = j.count
			which = &j.count
		} else {
			j.cellAt[i] = j.cells
		}
		var ok bool
		if *which, ok = multiply(*which, j.shape[i]); !ok {
			*which, fits = 0, false // the items of an array with a dimension of zero need not fit
		}
	}
	for i, length := range j.shape {
		if !j.reduced[i] {
			j.result = append(j.result, length)
		} else if keep {
			j.result = append(j.result, 1)
		}
	}
	if !fits || j.cells > math.MaxInt32 || j.h.a.f.CheckAlloc(32*j.cells) != nil {
		return fmt.Errorf("ndarray: %w: a reduction to %v, with 32 bytes for each item", ErrTooLarge, j.result)
	}
	extreme := j.cells > 0 && (j.op == OpMin || j.op == OpMax)
	if j.count == 0 && (extreme || j.op == OpArgMin || j.op == OpArgMax) {
		return fmt.Errorf("ndarray: %w: %v of nothing, in a shape of %v", ErrShape, j.op, j.shape)
	}
	return nil
}

func (j *reduction) errType(d meta.DType) error {
	return fmt.Errorf("ndarray: %w: no %v of items of dtype %v", ErrType, j.op, d)
}

// runType runs the reduction for items of a dtype.
func (j *reduction) runType(d meta.DType) error {
	if d.Fields != nil || d.Elem != nil {
		return j.errType(d)
	}
	switch d.Kind {
	case 'b':
		return reduceReal(j, nil, asIs[uint8], asIs[float64])
	case 'i':
		switch d.Size {
		case 1:
			return reduceReal(j, nil, asIs[int8], asIs[float64])
		case 2:
			return reduceReal(j, nil, asIs[int16], asIs[float64])
		case 4:
			return reduceReal(j, nil, asIs[int32], asIs[float64])
		}
		return reduceReal(j, nil, asIs[int64], asIs[float64])
	case 'u':
		switch d.Size {
		case 1:
			return reduceReal(j, nil, asIs[uint8], asIs[float64])
		case 2:
			return reduceReal(j, nil, asIs[uint16], asIs[float64])
		case 4:
			return reduceReal(j, nil, asIs[uint32], asIs[float64])
		}
		return reduceReal(j, nil, asIs[uint64], asIs[float64])
	case 'f':
		switch d.Size {
		case 2:
			return reduceReal(j, Float16.Float32, Float16Of[float32], Float16Of[float64])
		case 4:
			return reduceReal(j, nil, asIs[float32], func(x float64) float32 { return float32(x) })
		case 8:
			return reduceReal(j, nil, asIs[float64], asIs[float64])
		}
	case 'c':
		switch d.Size {
		case 8:
			return reduceComplex(j, func(x complex128) complex64 { return complex64(x) }, func(x float64) float32 { return float32(x) })
		case 16:
			return reduceComplex(j, asIs[complex128], asIs[float64])
		}
	case 'M', 'm':
		return reduceTime(j, d)
	}
	return j.errType(d)
}

func asIs[T any](x T) T { return x }

// reduceReal reduces real numbers: stored as S and computed with as T, which convert makes of them; nil when they are
// the same. back returns the item of a number, and round the result of one computed with as float64.
func reduceReal[S Scalar, T Real, F Scalar](j *reduction, convert func(S) T, back func(T) S, round func(float64) F) error {
	d := j.r.DType()
	switch {
	case j.op == OpSum && d.Kind == 'f':
		return finish(j, convert, sumFloat[T](j.count), round)
	case j.op == OpSum && d.Kind == 'u':
		return finish(j, convert, sumInt[T](), func(x int64) uint64 { return uint64(x) })
	case j.op == OpSum:
		return finish(j, convert, sumInt[T](), asIs[int64])
	case j.op == OpMean:
		n := float64(j.count)
		return finish(j, convert, sumFloat[T](j.count), func(x float64) F { return round(x / n) })
	case j.op == OpStd:
		return finish(j, convert, spread[T](), func(x moments) F { return round(x.std(j.count, j.ddof)) })
	case j.op == OpMin || j.op == OpMax:
		if d.Kind == 'b' {
			return finish(j, convert, extremeReal[T](j.op == OpMax), func(x extreme[T]) bool { return x.value != 0 })
		}
		return finish(j, convert, extremeReal[T](j.op == OpMax), func(x extreme[T]) S { return back(x.value) })
	case j.op == OpArgMin || j.op == OpArgMax:
		return finish(j, convert, extremeReal[T](j.op == OpArgMax), position[T])
	}
	return reduceCount(j, convert, func(x T) bool { return x != 0 })
}

// reduceComplex reduces complex numbers. They are ordered by their real parts and then by the others.
func reduceComplex[T complex64 | complex128, F Scalar](j *reduction, round func(complex128) T, roundReal func(float64) F) error {
	var convert func(T) T
	order := func(most bool) kernel[T, extreme[T]] {
		return extremeOf(func(x, y T) bool {
			a, b := complex128(x), complex128(y)
			if most {
				a, b = b, a
			}
			return real(a) < real(b) || real(a) == real(b) && imag(a) < imag(b)
		}, func(x T) bool {
			return math.IsNaN(real(complex128(x))) || math.IsNaN(imag(complex128(x)))
		})
	}
	switch j.op {
	case OpSum:
		return finish(j, convert, sumComplex[T](j.count), round)
	case OpMean:
		n := float64(j.count)
		return finish(j, convert, sumComplex[T](j.count), func(x complex128) T {
			re, im := real(x), imag(x) // divided as NumPy does it: a NaN in one part makes both NaN
			return round(complex((re+im*0)/n, (im-re*0)/n))
		})
	case OpStd:
		return finish(j, convert, spreadComplex[T](), func(x [2]moments) F {
			x[0].m2 += x[1].m2
			return roundReal(x[0].std(j.count, j.ddof))
		})
	case OpMin, OpMax:
		return finish(j, convert, order(j.op == OpMax), func(x extreme[T]) T { return x.value })
	case OpArgMin, OpArgMax:
		return finish(j, convert, order(j.op == OpArgMax), position[T])
	}
	return reduceCount(j, convert, func(x T) bool { return x != 0 })
}

// reduceTime reduces dates or time differences.
func reduceTime(j *reduction, d meta.DType) error {
	var convert func(int64) int64
	most := j.op == OpMax || j.op == OpArgMax
	order := extremeOf(func(x, y int64) bool { return x < y != most && x != y }, func(x int64) bool { return x == math.MinInt64 })
	switch j.op {
	case OpMin, OpMax:
		err := finish(j, convert, order, func(x extreme[int64]) int64 { return x.value })
		d.Order = '<'
		j.dtype = d
		return err
	case OpArgMin, OpArgMax:
		return finish(j, convert, order, position[int64])
	case OpAny, OpAll, OpCountNonzero:
		return reduceCount(j, convert, func(x int64) bool { return x != 0 })
	}
	return j.errType(d)
}

// reduceCount reduces by the number of items that are not zero.
func reduceCount[S, T Scalar](j *reduction, convert func(S) T, nonzero func(T) bool) error {
	k := countItems(nonzero)
	switch j.op {
	case OpAny:
		return finish(j, convert, k, func(n int64) bool { return n > 0 })
	case OpAll:
		return finish(j, convert, k, func(n int64) bool { return n == j.count })
	case OpCountNonzero:
		return finish(j, convert, k, asIs[int64])
	}
	return fmt.Errorf("ndarray: %w: %v", ErrType, j.op)
}

// finish runs a kernel and sets the result to what result makes of each cell.
func finish[S, T Scalar, A any, R Scalar](j *reduction, convert func(S) T, k kernel[T, A], result func(A) R) error {
	cells, err := runKernel(j, convert, k)
	if err != nil {
		return err
	}
	out := make([]R, len(cells))
	for i, x := range cells {
		out[i] = result(x)
	}
	j.dtype = DTypeOf[R]()
	j.bytes = stored(j.dtype, out)
	return nil
}
