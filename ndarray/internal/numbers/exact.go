package numbers

import (
	"math"
	"math/big"

	"github.com/goblosc/blosc2/meta"
)

// Parts returns the real and the imaginary part of a number, without rounding. A NaN is nil.
func Parts(d meta.DType, item []byte) [2]*big.Float {
	zero := new(big.Float)
	of := func(x float64) *big.Float {
		if x != x {
			return nil
		}
		return new(big.Float).SetFloat64(x)
	}
	n := Type{d.Kind, d.Size, d.Order == '>', d.Size}
	var w [1]uint64
	switch d.Kind {
	case 'c':
		n.size /= 2
		n.load(w[:], item)
		re := math.Float64frombits(w[0])
		n.load(w[:], item[n.size:])
		return [2]*big.Float{of(re), of(math.Float64frombits(w[0]))}
	case 'f':
		n.load(w[:], item)
		return [2]*big.Float{of(math.Float64frombits(w[0])), zero}
	case 'i':
		n.load(w[:], item)
		return [2]*big.Float{new(big.Float).SetInt64(int64(w[0])), zero}
	}
	n.load(w[:], item)
	return [2]*big.Float{new(big.Float).SetUint64(w[0]), zero}
}
