package ndarray

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goblosc/blosc2/meta"
)

var (
	float16Type  = reflect.TypeFor[Float16]()
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

// scalarOf returns the dtype of the same kind and size as a Go type, or the zero DType.
func scalarOf(t reflect.Type) meta.DType {
	switch t {
	case float16Type:
		return meta.Of('f', 2)
	case durationType:
		return meta.DType{}
	}
	kinds := [...]byte{
		reflect.Bool: 'b', reflect.Int8: 'i', reflect.Int16: 'i', reflect.Int32: 'i', reflect.Int64: 'i',
		reflect.Uint8: 'u', reflect.Uint16: 'u', reflect.Uint32: 'u', reflect.Uint64: 'u',
		reflect.Float32: 'f', reflect.Float64: 'f', reflect.Complex64: 'c', reflect.Complex128: 'c',
	}
	if k := t.Kind(); int(k) < len(kinds) && kinds[k] != 0 {
		return meta.Of(kinds[k], int(t.Size()))
	}
	return meta.DType{}
}

// sameScalar tells whether items of a dtype are values of a Go type but for the byte order.
func sameScalar(d meta.DType, t reflect.Type) bool {
	if !simple(d) {
		return false
	}
	if t == durationType {
		return d.Kind == 'm' && d.Unit == "ns" && d.Count == 1
	}
	want := scalarOf(t)
	date := (d.Kind == 'M' || d.Kind == 'm') && want.Kind == 'i'
	return d.Size == want.Size && (d.Kind == want.Kind || date)
}

// simple tells whether a dtype is no structure and no sub-array.
func simple(d meta.DType) bool { return d.Fields == nil && d.Elem == nil && d.Kind != 0 }

// matcher finds out how items of a dtype become values of a Go type and back.
type matcher struct {
	missing string // a field that the Go type does not have
}

// match returns the steps that move an item at an offset to a value at another, and back.
func (m *matcher) match(path string, d meta.DType, t reflect.Type, at int, to uintptr) ([]step, error) {
	s := step{path: path, at: at, to: to, n: d.Size, big: d.Order == '>'}
	switch {
	case sameScalar(d, t):
		return s.scalar(d), nil
	case simple(d) && d.Kind == 'M' && t == timeType, simple(d) && d.Kind == 'm' && t == durationType:
		unit, ok := timeUnitOf(d)
		if !ok || d.Kind == 'm' && unit.months > 0 {
			return nil, mismatch(path, d, t, "its unit has no fixed length: use int64")
		}
		s.kind, s.unit = timeStep, &unit
		if d.Kind == 'm' {
			s.kind = durationStep
		}
	case simple(d) && d.Kind == 'f' && d.Size == 2 && t.Kind() == reflect.Float32:
		s.kind = halfStep
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
		return nil, mismatch(path, d, t, "")
	}
	return []step{s}, nil
}

// opaque tells whether Go has no type for a dtype but an array of bytes.
func opaque(d meta.DType) bool {
	return simple(d) && (d.Kind == 'V' || d.Kind == 'S' || d.Kind == 'f' && d.Size == 16 || d.Kind == 'c' && d.Size == 32)
}

// scalar returns the steps of a type that Go has.
func (s step) scalar(d meta.DType) []step {
	s.kind = copyStep
	switch {
	case d.Kind == 'b':
		s.kind = boolStep
	case foreign(d) && d.Kind == 'c':
		s.kind, s.n = swapStep, d.Size/2
		imaginary := s
		imaginary.at += s.n
		imaginary.to += uintptr(s.n)
		return []step{s, imaginary}
	case foreign(d):
		s.kind = swapStep
	}
	return []step{s}
}

// array returns the step of a sub-array, which is as long as the Go array.
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
		case copyStep: // side by side on both sides
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
		return nil, mismatch(s.path, d, t, "which has no exported fields")
	}
	var steps []step
	owner := make([]string, len(d.Fields)) // the Go field of each
	for _, f := range fields {
		i, err := fieldFor(d, f)
		if err != nil {
			return nil, mismatch(s.path, d, t, err.Error())
		}
		if owner[i] != "" {
			return nil, mismatch(s.path, d, t, fmt.Sprintf("fields %s and %s are both %q", owner[i], f.goName, d.Fields[i].Name))
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

// addStep appends a step, to the last one if both copy and go side by side.
func addStep(steps []step, s step) []step {
	if n := len(steps); n > 0 && s.kind == copyStep {
		if p := &steps[n-1]; p.kind == copyStep && p.at+p.n == s.at && p.to+uintptr(p.n) == s.to {
			p.n += s.n
			return steps
		}
	}
	return append(steps, s)
}

// fieldFor returns the number of the field that a Go field stands for: that of the same name or title, or if the Go
// field has no tag, the only one that differs in case alone.
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
		return 0, fmt.Errorf("there is no field %q for %s", f.name, f.goName)
	}
	return 0, fmt.Errorf("more than one field is like %q for %s", f.name, f.goName)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// mismatch is the error for a dtype and a Go type that do not go together.
func mismatch(path string, d meta.DType, t reflect.Type, why string) error {
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
	return fmt.Errorf("ndarray: %w: %s %s, not %v%s", ErrType, what, text, t, why)
}
