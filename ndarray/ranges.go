package ndarray

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/goblosc/blosc2/internal/task"
)

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
