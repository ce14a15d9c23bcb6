package convert

import (
	"reflect"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// ofType returns the dtype of the values of a Go number type in memory, or the zero DType. int and uint count as 64
// bits, so memory and value differ on a machine of 32 bits.
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
	if !numbers.Is(d) || !numbers.Is(from) {
		return nil, false, false
	}
	item = append(item, memory...)
	if f, err := Cast(d, from); err != nil {
		return nil, false, false
	} else if !f.None() {
		item = make([]byte, d.Size)
		f.Run(item, memory)
	}
	a, b := numbers.Parts(from, memory), numbers.Parts(d, item)
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
