package ndarray

import (
	"fmt"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// AsType returns a view whose items are the items of r converted to another dtype, as NumPy's astype does with
// casting="unsafe", without checking for loss. A read converts the items of each block on their way to the result. Use
// Copy to make an array of the view.
//
// Fractions are truncated, integers keep their low bits, complex numbers lose the imaginary part, and every number
// except zero becomes true. On all machines, floats that do not fit in an integer type, including NaN, become what
// NumPy computes on x86-64: the lowest int64, or for types of up to 32 bits the lowest int32. Types of 8 and 16 bits
// take its low bits. (For uint32, NumPy itself produces other numbers at the end of an array.)
//
// AsType converts between all types of bools and numbers. It truncates or pads text of the same kind. It converts dates
// and timedeltas to integers, which count their units, and back. It changes the byte order of any dtype. For other
// conversions it returns ErrType. Writes to the view return ErrReadOnly, because a conversion has no exact inverse.
func AsType(r Reader, dtype string) (*View, error) {
	to, err := meta.ParseDType(dtype)
	if err != nil {
		return nil, fmt.Errorf("ndarray: %w: %v", ErrType, err)
	}
	if to.Size < 1 {
		return nil, fmt.Errorf("ndarray: %w: items of dtype %v have no bytes", ErrType, to)
	}
	return view(r, func(m *selection.Mapping) (selection.Mapping, error) {
		next := *m
		f, err := convert.Cast(to, m.Dtype)
		if err != nil {
			return next, err
		}
		cast(&next, to, f)
		return next, nil
	})
}

// storedField returns the dtype of the field of stored that is at the same position as f in the fields of d.
func storedField(stored, d meta.DType, f *meta.Field) meta.DType {
	for i := range d.Fields {
		if &d.Fields[i] == f {
			return stored.Fields[i].Type
		}
	}
	return meta.DType{}
}
