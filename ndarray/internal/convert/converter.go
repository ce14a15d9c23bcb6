// Package convert converts items of NumPy dtypes to values of Go types and back, and items of one dtype to another.
package convert

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// Converter converts items of a dtype to values of a Go type, or back.
type Converter struct {
	Direct    bool // values have the memory layout of items, except for the byte order of scalars
	ValueSize int  // bytes of a value

	// Cast converts scalars that are stored differently than in Go's memory, such as big-endian numbers and numbers of
	// another type. It converts items to values, or values to items if the Converter is for writing. There is none for
	// other conversions and if values have the memory layout of items.
	Cast numbers.Loop

	steps []step
}

// Direction is what a Converter is for: reading or writing.
type Direction bool

const (
	Reading Direction = false // items become values
	Writing Direction = true  // values become items
)

// Converter returns the converter for a dtype and a Go type. It returns ErrType if they do not match, if the conversion
// loses values of a number type, or if the Go type lacks a field and the direction is Writing.
func (g Types) Converter(d meta.DType, t reflect.Type, way Direction) (Converter, error) {
	c := Converter{ValueSize: int(t.Size())}
	if g.Same(d, t) {
		c.Direct = true
		switch {
		case d.Kind == 'b' && way == Reading:
			c.Cast = numbers.CopyBools() // true may be stored as any byte except 0
		case Foreign(d):
			c.Cast = numbers.Swapper(swapWidth(d))
		}
		return c, nil
	}
	m := matcher{types: g, way: way}
	if numbers.Is(d) && g.Scalar(t).Kind != 0 {
		s := step{n: d.Size, big: d.Order == '>'}
		if err := m.number(&s, d, t); err != nil || s.kind == numberStep {
			c.Cast = s.cast
			return c, err
		}
	}
	steps, err := m.match("", d, t, 0, 0)
	if err != nil {
		return c, err
	}
	if m.missing != "" && way == Writing {
		return c, Mismatch("", d, t, fmt.Sprintf("it has no field %q; writing needs all fields", m.missing))
	}
	c.steps = steps
	if len(steps) == 1 {
		s := &steps[0]
		whole := s.at == 0 && s.to == 0 && s.n == d.Size
		c.Direct = s.kind == copyStep && whole && s.n == c.ValueSize
	}
	return c, nil
}

// swapWidth returns the number of bytes of a number of a dtype.
func swapWidth(d meta.DType) int {
	if d.Kind == 'c' {
		return d.Size / 2
	}
	return d.Size
}

// Values are n Go values in memory, one every step bytes. The pointer keeps them alive.
//
// Safe: only ValuesOf and steps of a Converter set p, both to values of a slice.
type Values struct {
	p    unsafe.Pointer
	step uintptr
	n    int
}

// ValuesOf returns the values of s.
//
// Safe: p is not read if n is 0, and there are n values of the size of T from p otherwise.
func ValuesOf[T any](s []T) Values {
	return Values{unsafe.Pointer(unsafe.SliceData(s)), unsafe.Sizeof(*new(T)), len(s)}
}

// Decode converts items of size bytes to values. It returns ErrValue for an item that a value cannot hold, unless null
// is not nil and reports true for it: then what the value cannot hold becomes zero. The error and null count items from
// first.
func (c Converter) Decode(v Values, b []byte, size, first int, null func(item int) bool) error {
	return decode(c.steps, v, items{b, size, null}, first, 1)
}

// Encode converts values to items of size bytes, which must be zeros. It returns ErrValue for a value that an item
// cannot hold. The error counts values from first.
func (c Converter) Encode(v Values, b []byte, size, first int) error {
	return encode(c.steps, v, items{b: b, step: size}, first, 1)
}

// givenOr returns the dtype given, or if that is empty the dtype of the type. Strings may have no length.
func (g Types) givenOr(t reflect.Type, given string) (meta.DType, error) {
	if given == "" {
		return g.DTypeOf("", t, nil)
	}
	d, err := meta.ParseDType(given)
	if err != nil {
		return d, fmt.Errorf("ndarray: %w: %v", errs.ErrType, err)
	}
	return d, nil
}

// FixedDTypeFor is DTypeFor for values that are not known yet. It returns ErrType if strings have no length.
func (g Types) FixedDTypeFor(t reflect.Type, given string) (meta.DType, error) {
	d, err := g.givenOr(t, given)
	if err != nil {
		return d, err
	}
	if path, ok := lengthless(d, ""); ok {
		what := "the strings of the items have"
		if path != "" {
			what = fmt.Sprintf("the strings of field %q have", path)
		}
		return d, fmt.Errorf("ndarray: %w: %s no length; set CreateOptions.DType, such as <U20, or the tag of a field", errs.ErrType, what)
	}
	return g.DTypeFor(t, given, Values{})
}

// lengthless returns the path of the first text without a length in a dtype, and reports whether there is one.
func lengthless(d meta.DType, path string) (string, bool) {
	if d.Elem != nil {
		return lengthless(*d.Elem, path)
	}
	for _, f := range d.Fields {
		if p, ok := lengthless(f.Type, join(path, f.Name)); ok {
			return p, true
		}
	}
	return path, d.Size == 0 && (d.Kind == 'S' || d.Kind == 'U')
}

// DTypeFor returns the dtype of a new array of values of a Go type: given, or if that is empty the dtype of the type.
// Strings without a length get the length of the longest. It returns ErrType if the type has no dtype.
func (g Types) DTypeFor(t reflect.Type, given string, v Values) (meta.DType, error) {
	d, err := g.givenOr(t, given)
	if err != nil {
		return d, err
	}
	if given != "" && d.Size > 0 || g.Same(d, t) {
		return d, nil
	}
	c, err := g.Converter(d, t, Writing)
	if err != nil {
		return d, err
	}
	lengths := map[string]int{}
	measure(c.steps, v, lengths)
	if given != "" {
		return withLength(d, lengths[""]), nil
	}
	if d, err = g.DTypeOf("", t, lengths); err != nil {
		return d, err
	}
	// Parsing the text checks the limits of dtypes.
	if d, err = meta.ParseDType(d.String()); err != nil {
		return d, fmt.Errorf("ndarray: %w: %v: %v", errs.ErrType, t, err)
	}
	return d, nil
}
