package convert

import (
	"math"
	"math/big"
	"reflect"

	"github.com/goblosc/blosc2/meta"
)

// Holds reports whether a number type has every value of another exactly. Both are dtypes of bools or numbers.
func Holds(to, from meta.DType) bool {
	if !simple(to) || !simple(from) {
		return false
	}
	t, okTo := numberOf(to, meta.DType{})
	s, okFrom := numberOf(from, meta.DType{})
	if !okTo || !okFrom {
		return false
	}
	fraction := map[int]int{2: 11, 4: 24, 8: 53}[t.size] // bits of the fraction of a float
	switch float := t.kind == 'f' || t.kind == 'c'; s.kind {
	case 'b':
		return true
	case 'u':
		return float && 8*s.size <= fraction || t.kind == 'u' && t.size >= s.size || t.kind == 'i' && t.size > s.size
	case 'i':
		return float && 8*s.size-1 <= fraction || t.kind == 'i' && t.size >= s.size
	case 'f':
		return float && t.size >= s.size
	}
	return t.kind == 'c' && t.size >= s.size
}

// ofType returns the dtype of the values of a Go number type in memory, or the zero DType. int and uint count as 64
// bits, so stored differs from it on a machine of 32 bits.
func (g Types) ofType(t reflect.Type) (memory, value meta.DType) {
	value = g.Scalar(t)
	memory = value
	if k := t.Kind(); k == reflect.Int || k == reflect.Uint {
		memory = meta.Of(value.Kind, int(t.Size()))
	}
	if memory.Order == '<' && Foreign(memory) {
		memory.Order = '>'
	}
	return memory, value
}

// Item returns a number, which is in memory as a value of a Go type, as an item of a dtype. exact reports whether the
// item is the same number; any NaN counts as the same. ok is false if the dtype or the Go type is not a number type.
func (g Types) Item(d meta.DType, t reflect.Type, memory []byte) (item []byte, exact, ok bool) {
	from, _ := g.ofType(t)
	if !isNumber(d) || !isNumber(from) {
		return nil, false, false
	}
	item = append(item, memory...)
	if f, err := Cast(d, from); err != nil {
		return nil, false, false
	} else if f != nil {
		item = make([]byte, d.Size)
		f(item, memory)
	}
	a, b := parts(from, memory), parts(d, item)
	for i, x := range a {
		y := b[i]
		if x == nil || y == nil {
			if x != y {
				return item, false, true
			}
		} else if x.Cmp(y) != 0 {
			return item, false, true
		}
	}
	return item, true, true
}

// parts returns the real and the imaginary part of a number, without rounding. A NaN is nil.
func parts(d meta.DType, item []byte) [2]*big.Float {
	zero := new(big.Float)
	of := func(x float64) *big.Float {
		if x != x {
			return nil
		}
		return new(big.Float).SetFloat64(x)
	}
	n := numberType{d.Kind, d.Size, d.Order == '>', d.Size}
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
