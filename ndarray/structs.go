package ndarray

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/goblosc/blosc2/meta"
)

// structField is a field of a Go struct that stands for one of a structured dtype.
type structField struct {
	name   string // by which it is looked for
	tagged bool   // the name stands in a tag
	dtype  string // for new arrays, if the tag has one
	goName string
	t      reflect.Type
	offset uintptr
}

// structFields returns the exported fields of a struct, those of embedded structs among them, with what their tags
// `b2:"name,dtype"` say. The tag "-" leaves one out.
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
				return nil, fmt.Errorf("ndarray: %w: field %s of %v has a tag but is not exported", ErrType, f.Name, t)
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

// DTypeOf returns the NumPy dtype of a Go type that Create uses, little-endian:
//
//	bool, int8 to int64, uint8 to uint64      |b1, |i1 to <i8, |u1 to <u8
//	Float16, float32, float64, complex64/128  <f2, <f4, <f8, <c8, <c16
//	string                                    <U0: Create makes it as long as the longest
//	time.Time, time.Duration                  <M8[ns], <m8[ns]
//	[2][3]T                                   a sub-array of shape (2, 3)
//	struct                                    a structure of the exported fields, packed
//
// A tag `b2:"name,dtype"` of a struct field gives its name in the dtype and its own dtype, for instance
// `b2:"city,S20"` or `b2:",M8[s]"`; both may be left out. A type without a dtype has the zero DType.
func DTypeOf[T any]() meta.DType {
	d, err := dtypeOf("", reflect.TypeFor[T](), nil)
	if err != nil {
		return meta.DType{}
	}
	return d
}

// dtypeOf returns the dtype of a type. lengths are those of the strings without one of their own, in characters, by
// their path.
func dtypeOf(path string, t reflect.Type, lengths map[string]int) (meta.DType, error) {
	if d := scalarOf(t); d.Kind != 0 {
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
		elem, err := dtypeOf(path, t.Elem(), lengths)
		if err != nil {
			return meta.DType{}, err
		}
		return arrayDType(elem, t.Len())
	case t.Kind() != reflect.Struct:
		return meta.DType{}, fmt.Errorf("ndarray: %w: %v has no dtype", ErrType, t)
	}
	fields, err := structFields(t)
	if err != nil {
		return meta.DType{}, err
	}
	if len(fields) == 0 {
		return meta.DType{}, fmt.Errorf("ndarray: %w: %v has no dtype: it has no exported fields", ErrType, t)
	}
	d := meta.DType{Kind: 'V', Order: '|', Fields: make([]meta.Field, len(fields))}
	for i, f := range fields {
		ft, err := fieldDType(join(path, f.name), f, lengths)
		if err != nil {
			return meta.DType{}, err
		}
		for _, other := range d.Fields[:i] {
			if other.Name == f.name {
				return meta.DType{}, fmt.Errorf("ndarray: %w: two fields of %v are called %q", ErrType, t, f.name)
			}
		}
		if ft.Size > math.MaxInt32-d.Size {
			return meta.DType{}, fmt.Errorf("ndarray: %w: items of %v would have more than 2^31-1 bytes", ErrTooLarge, t)
		}
		d.Fields[i] = meta.Field{Name: f.name, Offset: d.Size, Type: ft}
		d.Size += ft.Size
	}
	return d, nil
}

// arrayDType returns the sub-array of n elements, which may be sub-arrays.
func arrayDType(elem meta.DType, n int) (meta.DType, error) {
	size := int64(elem.Size) * int64(n)
	if int64(n) > math.MaxInt32 || size > math.MaxInt32 {
		return meta.DType{}, fmt.Errorf("ndarray: %w: %d elements of %d bytes in an item", ErrTooLarge, n, elem.Size)
	}
	shape := append([]int{n}, elem.Shape...)
	if elem.Elem != nil {
		elem = *elem.Elem
	}
	return meta.DType{Kind: 'V', Order: '|', Size: int(size), Elem: &elem, Shape: shape}, nil
}

// fieldDType returns the dtype of a field: that of its tag, which an array may have for its elements, or that of its
// type.
func fieldDType(path string, f structField, lengths map[string]int) (meta.DType, error) {
	if f.dtype == "" {
		return dtypeOf(path, f.t, lengths)
	}
	d, err := meta.ParseDType(f.dtype)
	if err != nil {
		return meta.DType{}, fmt.Errorf("ndarray: %w: tag of field %s: %v", ErrType, f.goName, err)
	}
	d = withLength(d, lengths[path])
	var m matcher
	if _, err = m.match(path, d, f.t, 0, 0); err == nil || f.t.Kind() != reflect.Array {
		return d, err
	}
	inner := f
	inner.t = f.t.Elem()
	if d, err = fieldDType(path, inner, lengths); err != nil {
		return d, err
	}
	return arrayDType(d, f.t.Len())
}

// withLength gives a type of text without a length that of n bytes or characters.
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
