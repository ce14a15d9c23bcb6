package lazy

import (
	"fmt"
	"math"
	"math/big"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// The dtypes of results.
var (
	boolType  = meta.Of('b', 1)
	int64Type = meta.Of('i', 8)
	floatType = meta.Of('f', 8)
)

// vec is the items of a block: integers and booleans in i, where unsigned ones of 8 bytes have the bits of int64, and
// floats in f. Items are always values of the dtype.
type vec struct {
	d meta.DType
	i []int64
	f []float64
}

// term is a part of an expression with its operands.
type term struct {
	d        meta.DType
	shape    []int64        // nil for constants
	constant bool           // without operands
	literal  bool           // a constant that is a number of Python, and takes the dtype of arrays
	value    vec            // of a constant: one item
	whole    *big.Int       // the value of a literal integer or boolean
	array    ndarray.Reader // of an operand
	input    int            // the number of the operand; see prepare
	f        apply          // of a function with arguments
	args     []*term
}

// isFloat reports whether the items are in f.
func isFloat(d meta.DType) bool { return d.Kind == 'f' }

// isBig reports whether items are unsigned integers of 8 bytes.
func isBig(d meta.DType) bool { return d.Kind == 'u' && d.Size == 8 }

// wrap makes items values of their dtype: it rounds floats, and removes the high bits of integers.
func (v vec) wrap() vec {
	switch v.d.Kind {
	case 'f':
		switch v.d.Size {
		case 2:
			for k, x := range v.f {
				v.f[k] = ndarray.Float16Of(x).Float64()
			}
		case 4:
			for k, x := range v.f {
				v.f[k] = float64(float32(x))
			}
		}
	case 'i':
		switch v.d.Size {
		case 1:
			wrapTo[int8](v.i)
		case 2:
			wrapTo[int16](v.i)
		case 4:
			wrapTo[int32](v.i)
		}
	case 'u':
		switch v.d.Size {
		case 1:
			wrapTo[uint8](v.i)
		case 2:
			wrapTo[uint16](v.i)
		case 4:
			wrapTo[uint32](v.i)
		}
	}
	return v
}

// wrapTo replaces integers by the values of type T that have the same low bits.
func wrapTo[T int8 | int16 | int32 | uint8 | uint16 | uint32](items []int64) {
	for k, x := range items {
		items[k] = int64(T(x))
	}
}

// to converts items to another dtype as NumPy's astype does.
func (v vec) to(s *scratch, d meta.DType) vec {
	if v.d.Kind == d.Kind && v.d.Size == d.Size {
		return v
	}
	out := s.newVec(d, len(v.i)+len(v.f))
	switch {
	case d.Kind == 'b':
		for k, x := range v.i {
			out.i[k] = truthOf(x != 0)
		}
		for k, x := range v.f {
			out.i[k] = truthOf(x != 0)
		}
		return out
	case isFloat(d) && isFloat(v.d):
		copy(out.f, v.f)
	case isFloat(d):
		for k, x := range v.i {
			switch big := isBig(v.d); {
			case d.Size == 4 && big:
				out.f[k] = float64(float32(uint64(x)))
			case d.Size == 4:
				out.f[k] = float64(float32(x))
			case big:
				out.f[k] = float64(uint64(x))
			default:
				out.f[k] = float64(x)
			}
		}
	case isFloat(v.d):
		for k, x := range v.f {
			out.i[k] = truncate(x, v.d.Size, d)
		}
	default:
		copy(out.i, v.i)
	}
	return out.wrap()
}

// truncate returns a float of size bytes without its fraction as an integer of dtype d, whose low bits wrap takes.
// Floats that do not fit become the same integers as in ndarray.AsType: the lowest int64, or for types of up to 32 bits
// the lowest int32. For uint32 and uint64, half of the range is subtracted from larger floats and added to the result.
// Only float16 becomes uint32 through 64 bits.
func truncate(x float64, size int, d meta.DType) int64 {
	const two31, two63 = 1 << 31, 1 << 63
	unsigned := d.Kind == 'u'
	switch {
	case d.Size == 8 && unsigned && x >= two63:
		return truncate(x-two63, size, int64Type) ^ math.MinInt64
	case d.Size == 8 || d.Size == 4 && unsigned && size == 2:
		if x >= -two63 && x < two63 {
			return int64(x)
		}
		return math.MinInt64
	case d.Size == 4 && unsigned && x >= two31:
		return truncate(x-two31, size, meta.Of('i', 4)) ^ two31
	case x > -two31-1 && x < two31:
		return int64(x)
	}
	return math.MinInt32
}

// truthOf returns 1 or 0.
func truthOf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// promote returns the dtype of NumPy for results of two dtypes.
func promote(a, b meta.DType) meta.DType {
	order := func(d meta.DType) int { return map[byte]int{'b': 0, 'u': 1, 'i': 2, 'f': 3}[d.Kind] }
	if order(a) > order(b) {
		a, b = b, a
	}
	switch {
	case a.Kind == b.Kind:
		return meta.Of(a.Kind, max(a.Size, b.Size))
	case a.Kind == 'b':
		return b
	case b.Kind == 'i': // and a is unsigned
		switch {
		case b.Size > a.Size:
			return b
		case a.Size == 8:
			return floatType
		}
		return meta.Of('i', 2*a.Size)
	}
	return meta.Of('f', max(b.Size, min(2*a.Size, 8))) // an integer and a float
}

// floatFor returns the dtype of NumPy's float functions for items of a dtype.
func floatFor(d meta.DType) meta.DType {
	switch d.Kind {
	case 'f':
		return d
	case 'b':
		return meta.Of('f', 2)
	}
	return meta.Of('f', min(2*d.Size, 8))
}

// fits reports whether an integer literal is a value of a dtype of integers.
func fits(t *term, d meta.DType) bool {
	if isBig(t.d) {
		return isBig(d)
	}
	x := t.value.i[0]
	one := vec{d: d, i: []int64{x}}.wrap().i[0]
	return one == x && (x >= 0 || d.Kind == 'i')
}

// commonType returns the dtype in which two terms are combined. A literal takes the dtype of the other term, unless it
// is a float and the other is not, or an integer and the other a boolean.
func commonType(a, b *term) meta.DType {
	d := promote(a.d, b.d)
	if !a.literal && !b.literal {
		return d
	}
	if !b.literal {
		a, b = b, a
	}
	whole := !isFloat(a.d) && !isFloat(b.d)
	switch {
	case isFloat(a.d), whole && !a.literal && a.d.Kind != 'b':
		d = a.d
	case whole && (isBig(a.d) || isBig(b.d)):
		d = int64Type // of integers of Python without an array of integers
	}
	return d
}

// common is commonType for operators, which return an error if a literal is no value of the dtype.
func common(a, b *term) (meta.DType, error) {
	d := commonType(a, b)
	for _, x := range []*term{a, b} {
		if x.literal && !isFloat(d) && x.d.Kind != 'b' && !fits(x, d) {
			return d, fmt.Errorf("lazy: the number %d is no value of dtype %v: %w", x.whole, d, ndarray.ErrValue)
		}
	}
	return d, nil
}
