package numbers

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/meta"
)

// Type is the dtype of bools or numbers.
type Type struct {
	kind  byte // 'b', 'i', 'u', 'f' or 'c'
	size  int  // bytes of a number, or of one part of a complex number
	big   bool // the numbers are big-endian
	bytes int  // from one item to the next
}

// Of returns d as a Type. Dates and timedeltas count as integers if the other dtype is one of integers. It returns
// false for other dtypes than bools, float16 and the numbers that Go has.
func Of(d, other meta.DType) (Type, bool) {
	n := Type{d.Kind, d.Size, d.Order == '>', d.Size}
	switch d.Kind {
	case 'b', 'i', 'u':
		return n, scalar(d)
	case 'f':
		return n, scalar(d) && d.Size <= 8
	case 'c':
		n.size /= 2
		return n, scalar(d) && d.Size <= 16
	case 'M', 'm':
		n.kind = 'i'
		return n, other.Kind == 'i' || other.Kind == 'u'
	}
	return n, false
}

// integer reports whether the numbers are integers.
func (d Type) integer() bool { return d.kind == 'i' || d.kind == 'u' }

// foreign reports whether the numbers are stored in the byte order that is not native to the machine.
func (d Type) foreign() bool {
	return d.size > 1 && d.big != BigEndian
}

// BigEndian is set if the machine is big-endian. It never changes.
var BigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// Holds reports whether a number type has every value of another exactly. Both are dtypes of bools or numbers.
func Holds(to, from meta.DType) bool {
	t, okTo := Of(to, meta.DType{})
	s, okFrom := Of(from, meta.DType{})
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

// Is reports whether a dtype is one of bools or numbers that Go has, or float16.
func Is(d meta.DType) bool {
	_, ok := Of(d, meta.DType{})
	return ok
}

// scalar reports whether a dtype is neither a structure nor a sub-array.
func scalar(d meta.DType) bool { return d.Fields == nil && d.Elem == nil }
