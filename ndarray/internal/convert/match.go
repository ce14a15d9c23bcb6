package convert

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// matcher finds the steps that convert items of a dtype to values of a Go type, or back.
type matcher struct {
	types   Types
	way     Direction
	missing string // path of the first field that the Go type lacks
}

// match returns the steps that convert an item at offset at to a value at offset to, or back. path names the field.
func (m *matcher) match(path string, d meta.DType, t reflect.Type, at int, to uintptr) ([]step, error) {
	s := step{path: path, at: at, to: to, n: d.Size, big: d.Order == '>'}
	switch {
	case m.types.Same(d, t):
		return s.scalar(d), nil
	case simple(d) && d.Kind == 'M' && t == timeType, simple(d) && d.Kind == 'm' && t == durationType:
		unit, ok := timeUnitOf(d)
		if !ok {
			return nil, Mismatch(path, d, t, "it has no unit: use int64")
		}
		if d.Kind == 'm' && unit.months > 0 {
			return nil, Mismatch(path, d, t, "its unit has no fixed length: use int64")
		}
		s.kind, s.unit = timeStep, &unit
		if d.Kind == 'm' {
			s.kind = durationStep
		}
	case numbers.Is(d) && m.types.Scalar(t).Kind != 0:
		if err := m.number(&s, d, t); err != nil {
			return nil, err
		}
	case simple(d) && d.Kind == 'S' && t.Kind() == reflect.String:
		s.kind = stringStep
	case simple(d) && d.Kind == 'U' && t.Kind() == reflect.String:
		s.kind = textStep
	case d.Elem != nil && t.Kind() == reflect.Array && t.Len() == d.Shape[0]:
		return m.array(s, d, t)
	case opaque(d) && t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8 && t.Len() == d.Size:
		s.kind = copyStep
	case d.Fields != nil && t.Kind() == reflect.Struct:
		return m.structure(s, d, t)
	default:
		return nil, Mismatch(path, d, t, "")
	}
	return []step{s}, nil
}

// number sets s to the step that converts between number types. It returns ErrType if the result does not have every
// value of the source.
func (m *matcher) number(s *step, d meta.DType, t reflect.Type) error {
	memory, value := m.types.ofType(t)
	s.kind, s.value = numberStep, memory.Size
	if m.way == Writing {
		if !numbers.Holds(d, value) {
			return Mismatch(s.path, d, t, "the dtype does not have every value of the type; convert the values before writing")
		}
		s.setCast(Cast(d, memory))
		return nil
	}
	if !numbers.Holds(value, d) {
		return Mismatch(s.path, d, t, "the type does not have every value of the dtype; AsType converts with loss")
	}
	if !numbers.Holds(memory, d) {
		s.kind, s.signed = narrowStep, value.Kind == 'i'
	}
	s.setCast(Cast(memory, d))
	return nil
}

// setCast sets the conversion of a numberStep. Without one, the numbers are copied: an int of 32 bits and <i4.
func (s *step) setCast(f numbers.Loop, _ error) { // number types always have a conversion
	if s.cast = f; f.None() {
		s.kind = copyStep
	}
}

// opaque reports whether an array of bytes is the Go type of a dtype.
func opaque(d meta.DType) bool {
	return simple(d) && (d.Kind == 'V' || d.Kind == 'S' || d.Kind == 'f' && d.Size == 16 || d.Kind == 'c' && d.Size == 32)
}

// scalar returns the steps of a scalar that has a Go type of the same kind and size.
func (s step) scalar(d meta.DType) []step {
	s.kind = copyStep
	switch {
	case d.Kind == 'b':
		s.kind = boolStep
	case Foreign(d) && d.Kind == 'c':
		s.kind, s.n = swapStep, d.Size/2
		imaginary := s
		imaginary.at += s.n
		imaginary.to += uintptr(s.n)
		return []step{s, imaginary}
	case Foreign(d):
		s.kind = swapStep
	}
	return []step{s}
}

// array returns the step of a sub-array whose length is that of the Go array.
func (m *matcher) array(s step, d meta.DType, t reflect.Type) ([]step, error) {
	elem := *d.Elem
	if len(d.Shape) > 1 {
		elem = d
		elem.Shape = d.Shape[1:]
		elem.Size = 0
		if d.Shape[0] > 0 {
			elem.Size = d.Size / d.Shape[0]
		}
	}
	steps, err := m.match(s.path, elem, t.Elem(), 0, 0)
	if err != nil {
		return nil, err
	}
	s.kind, s.count, s.itemStep, s.valueStep, s.elem = eachStep, d.Shape[0], elem.Size, t.Elem().Size(), steps
	if s.count == 0 || len(steps) == 0 {
		return nil, nil
	}
	if e := steps[0]; len(steps) == 1 && e.at == 0 && e.to == 0 && e.span() == s.itemStep && e.valueSpan() == s.valueStep {
		switch e.kind {
		case copyStep: // the elements are contiguous in the item and in the value
			s.kind, s.elem = copyStep, nil
		case eachStep:
			e.path, e.at, e.to, e.count = s.path, s.at, s.to, e.count*s.count
			return []step{e}, nil
		}
	}
	return []step{s}, nil
}

// structure returns the steps of the fields of a struct.
func (m *matcher) structure(s step, d meta.DType, t reflect.Type) ([]step, error) {
	fields, err := structFields(t)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return nil, Mismatch(s.path, d, t, "it has no exported fields")
	}
	var steps []step
	owner := make([]string, len(d.Fields)) // the Go field of each field of the dtype
	for _, f := range fields {
		i, err := fieldFor(d, f)
		if err != nil {
			return nil, Mismatch(s.path, d, t, err.Error())
		}
		if owner[i] != "" {
			return nil, Mismatch(s.path, d, t, fmt.Sprintf("fields %s and %s are both %q", owner[i], f.goName, d.Fields[i].Name))
		}
		owner[i] = f.goName
		more, err := m.match(join(s.path, d.Fields[i].Name), d.Fields[i].Type, f.t, s.at+d.Fields[i].Offset, s.to+f.offset)
		if err != nil {
			return nil, err
		}
		for _, next := range more {
			steps = addStep(steps, next)
		}
	}
	for i, f := range d.Fields {
		if owner[i] == "" && m.missing == "" {
			m.missing = join(s.path, f.Name)
		}
	}
	return steps, nil
}

// addStep appends a step. It merges copies of adjacent bytes into one step.
func addStep(steps []step, s step) []step {
	if n := len(steps); n > 0 && s.kind == copyStep {
		if p := &steps[n-1]; p.kind == copyStep && p.at+p.n == s.at && p.to+uintptr(p.n) == s.to {
			p.n += s.n
			return steps
		}
	}
	return append(steps, s)
}

// fieldFor returns the index of the dtype field that a Go field holds: the field with its name or title. If the Go
// field has no tag and no such field exists, it is the only field whose name or title differs only in case.
func fieldFor(d meta.DType, f structField) (int, error) {
	alike, found := -1, 0
	for i, have := range d.Fields {
		if have.Name == f.name || have.Title == f.name && f.name != "" {
			return i, nil
		}
		if !f.tagged && (strings.EqualFold(have.Name, f.name) || strings.EqualFold(have.Title, f.name)) {
			alike, found = i, found+1
		}
	}
	switch found {
	case 1:
		return alike, nil
	case 0:
		return 0, fmt.Errorf("no field %q for %s", f.name, f.goName)
	}
	return 0, fmt.Errorf("several fields match %q for %s", f.name, f.goName)
}

// join returns the path of a field inside another field.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Mismatch returns ErrType for a dtype and a Go type that do not match. path names the field, and why adds a reason.
// Both may be empty.
func Mismatch(path string, d meta.DType, t reflect.Type, why string) error {
	text := d.String()
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	what := "items are"
	if path != "" {
		what = fmt.Sprintf("field %q is", path)
	}
	if why != "" {
		why = ": " + why
	}
	return fmt.Errorf("ndarray: %w: %s %s, not %v%s", errs.ErrType, what, text, t, why)
}
