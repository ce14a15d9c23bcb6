package convert

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
)

// Types maps Go types to dtypes. Float16 is the Go type of float16 items.
type Types struct {
	Float16 reflect.Type
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

// Scalar returns the dtype of the same kind and size as a Go type, or the zero DType. int and uint count as 64 bits.
func (g Types) Scalar(t reflect.Type) meta.DType {
	switch t {
	case g.Float16:
		return meta.Of('f', 2)
	case durationType:
		return meta.DType{}
	}
	kinds := [...]byte{
		reflect.Bool: 'b', reflect.Int8: 'i', reflect.Int16: 'i', reflect.Int32: 'i', reflect.Int64: 'i', reflect.Int: 'i',
		reflect.Uint8: 'u', reflect.Uint16: 'u', reflect.Uint32: 'u', reflect.Uint64: 'u', reflect.Uint: 'u',
		reflect.Float32: 'f', reflect.Float64: 'f', reflect.Complex64: 'c', reflect.Complex128: 'c',
	}
	if k := t.Kind(); int(k) < len(kinds) && kinds[k] != 0 {
		size := int(t.Size())
		if k == reflect.Int || k == reflect.Uint {
			size = 8
		}
		return meta.Of(kinds[k], size)
	}
	return meta.DType{}
}

// Same reports whether items of a dtype are values of a Go type, except for the byte order.
func (g Types) Same(d meta.DType, t reflect.Type) bool {
	if !simple(d) {
		return false
	}
	if t == durationType {
		return d.Kind == 'm' && d.Unit == "ns" && d.Count == 1
	}
	want := g.Scalar(t)
	if int(t.Size()) != want.Size { // int and uint on a machine of 32 bits
		return false
	}
	date := (d.Kind == 'M' || d.Kind == 'm') && want.Kind == 'i'
	return d.Size == want.Size && (d.Kind == want.Kind || date)
}

// simple reports whether a dtype is neither a structure nor a sub-array, nor the zero DType.
func simple(d meta.DType) bool { return d.Fields == nil && d.Elem == nil && d.Kind != 0 }

// structField is a field of a Go struct that holds a field of a structured dtype.
type structField struct {
	name   string // of the field of the dtype
	tagged bool   // the name is from a tag
	dtype  string // from the tag, for new arrays
	goName string
	t      reflect.Type
	offset uintptr
}

// structFields returns the exported fields of a struct and of its embedded structs, with the names and dtypes in their
// tags `b2:"name,dtype"`. It omits fields with the tag "-".
func structFields(t reflect.Type) ([]structField, error) {
	var fields []structField
	for i := range t.NumField() {
		f := t.Field(i)
		name, dtype, _ := strings.Cut(f.Tag.Get("b2"), ",")
		if name == "-" && dtype == "" {
			continue
		}
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct && f.Type != timeType {
			inner, err := structFields(f.Type)
			if err != nil {
				return nil, err
			}
			for _, g := range inner {
				g.goName = f.Name + "." + g.goName
				g.offset += f.Offset
				fields = append(fields, g)
			}
			continue
		}
		if !f.IsExported() {
			if name != "" {
				return nil, fmt.Errorf("ndarray: %w: field %s of %v has a tag but is not exported", errs.ErrType, f.Name, t)
			}
			continue
		}
		s := structField{name: name, tagged: name != "", dtype: dtype, goName: f.Name, t: f.Type, offset: f.Offset}
		if !s.tagged {
			s.name = f.Name
		}
		fields = append(fields, s)
	}
	return fields, nil
}

// DTypeOf returns the dtype of a Go type. lengths holds, by their path, the lengths in characters of strings whose tag
// has none.
func (g Types) DTypeOf(path string, t reflect.Type, lengths map[string]int) (meta.DType, error) {
	if d := g.Scalar(t); d.Kind != 0 {
		return d, nil
	}
	switch {
	case t == timeType:
		return meta.DType{Kind: 'M', Order: '<', Size: 8, Unit: "ns", Count: 1}, nil
	case t == durationType:
		return meta.DType{Kind: 'm', Order: '<', Size: 8, Unit: "ns", Count: 1}, nil
	case t.Kind() == reflect.String:
		return withLength(meta.Of('U', 0), lengths[path]), nil
	case t.Kind() == reflect.Array:
		elem, err := g.DTypeOf(path, t.Elem(), lengths)
		if err != nil {
			return meta.DType{}, err
		}
		return arrayDType(elem, t.Len())
	case t.Kind() != reflect.Struct:
		return meta.DType{}, noDType(path, t, "")
	}
	fields, err := structFields(t)
	if err != nil {
		return meta.DType{}, err
	}
	if len(fields) == 0 {
		return meta.DType{}, noDType(path, t, ": it has no exported fields")
	}
	d := meta.DType{Kind: 'V', Order: '|', Fields: make([]meta.Field, len(fields))}
	for i, f := range fields {
		ft, err := g.fieldDType(join(path, f.name), f, lengths)
		if err != nil {
			return meta.DType{}, err
		}
		for _, other := range d.Fields[:i] {
			if other.Name == f.name {
				return meta.DType{}, fmt.Errorf("ndarray: %w: two fields of %v are called %q", errs.ErrType, t, f.name)
			}
		}
		if ft.Size > math.MaxInt32-d.Size {
			return meta.DType{}, fmt.Errorf("ndarray: %w: items of %v would have more than 2^31-1 bytes", chunk.ErrTooLarge, t)
		}
		d.Fields[i] = meta.Field{Name: f.name, Offset: d.Size, Type: ft}
		d.Size += ft.Size
	}
	return d, nil
}

// noDType returns ErrType for a Go type without a dtype. path names the field, and why adds a reason. Both may be
// empty.
func noDType(path string, t reflect.Type, why string) error {
	if path == "" {
		return fmt.Errorf("ndarray: %w: %v has no dtype%s", errs.ErrType, t, why)
	}
	return fmt.Errorf("ndarray: %w: field %q is %v, which has no dtype%s; the tag b2:%q omits it", errs.ErrType, path, t, why, "-")
}

// arrayDType returns the dtype of a sub-array of n elements, which may be sub-arrays themselves.
func arrayDType(elem meta.DType, n int) (meta.DType, error) {
	size := int64(elem.Size) * int64(n)
	if int64(n) > math.MaxInt32 || size > math.MaxInt32 {
		return meta.DType{}, fmt.Errorf("ndarray: %w: %d elements of %d bytes in an item", chunk.ErrTooLarge, n, elem.Size)
	}
	shape := append([]int{n}, elem.Shape...)
	if elem.Elem != nil {
		elem = *elem.Elem
	}
	return meta.DType{Kind: 'V', Order: '|', Size: int(size), Elem: &elem, Shape: shape}, nil
}

// fieldDType returns the dtype of a field: the dtype in its tag, or without one the dtype of its type. The tag of an
// array may also contain the dtype of its elements.
func (g Types) fieldDType(path string, f structField, lengths map[string]int) (meta.DType, error) {
	if f.dtype == "" {
		return g.DTypeOf(path, f.t, lengths)
	}
	d, err := meta.ParseDType(f.dtype)
	if err != nil {
		return meta.DType{}, fmt.Errorf("ndarray: %w: tag of field %s: %v", errs.ErrType, f.goName, err)
	}
	d = withLength(d, lengths[path])
	m := matcher{types: g}
	if _, err = m.match(path, d, f.t, 0, 0); err == nil || f.t.Kind() != reflect.Array {
		return d, err
	}
	inner := f
	inner.t = f.t.Elem()
	if d, err = g.fieldDType(path, inner, lengths); err != nil {
		return d, err
	}
	return arrayDType(d, f.t.Len())
}

// withLength returns d, with a length of n bytes or characters if d is text without a length.
func withLength(d meta.DType, n int) meta.DType {
	if !simple(d) || d.Size > 0 || d.Kind != 'S' && d.Kind != 'U' {
		return d
	}
	long := meta.Of(d.Kind, n)
	if d.Kind == 'U' {
		long = meta.Of('U', 4*n)
		long.Order = d.Order
	}
	return long
}
