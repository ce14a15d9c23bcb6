package lazy

import (
	"fmt"
	"math"
	"math/big"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// literal returns the term of a number of Python.
func literal(v vec) *term { return &term{d: v.d, constant: true, literal: true, value: v} }

// integer returns the literal of an integer of Python. Its dtype is int64, or uint64 if only that holds the integer.
func integer(x *big.Int) *term {
	t := literal(vec{d: int64Type, i: []int64{int64(x.Uint64())}})
	if x.IsInt64() {
		t.value.i[0] = x.Int64()
	} else if x.IsUint64() {
		t.d = meta.Of('u', 8)
		t.value.d = t.d
	}
	t.whole = x
	return t
}

// boolean returns the literal True or False.
func boolean(x int64) *term {
	t := literal(vec{d: boolType, i: []int64{x}})
	t.whole = big.NewInt(x)
	return t
}

// float returns the literal of a float.
func float(x float64) *term { return literal(vec{d: floatType, f: []float64{x}}) }

// huge returns the sign of an integer that no dtype holds, or 0.
func (t *term) huge() int {
	if t.whole == nil || t.whole.IsInt64() || t.whole.IsUint64() {
		return 0
	}
	return t.whole.Sign()
}

// float64 returns the nearest float of a literal.
func (t *term) float64() (float64, error) {
	if t.whole == nil {
		return t.value.f[0], nil
	}
	x, _ := new(big.Float).SetInt(t.whole).Float64()
	if math.IsInf(x, 0) {
		return 0, fmt.Errorf("lazy: an integer of %d bits as a float: %w", t.whole.BitLen(), ndarray.ErrValue)
	}
	return x, nil
}
