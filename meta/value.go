package meta

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
)

// MaxValueDepth is the deepest nesting of arrays and maps in a value. Python's packb has about the same limit.
const MaxValueDepth = 512

// Tuple is a Python tuple. MessagePack has only arrays, so python-blosc2 stores a tuple, at every level, as an array
// whose first element is the string "__tuple__". Marshal and Unmarshal do the same.
type Tuple []any

// Map is a map that keeps its order and accepts keys of any type, like Python's dictionaries.
type Map []Entry

// Entry is a key with its value in a Map.
type Entry struct{ Key, Value any }

// Ext is an extension type of MessagePack. python-blosc2 uses ExtFrame and ExtRef.
type Ext struct {
	Type int8
	Data []byte
}

// Types of Ext that python-blosc2 writes.
const (
	ExtFrame = 42 // Data is a whole contiguous frame
	ExtRef   = 43 // Data is the MessagePack map of a reference: "kind", "version", ...
)

const tupleMark = "__tuple__"

// Marshal returns v in MessagePack, as Python's msgpack.packb writes it: integers in their shortest form, floats with
// 64 bits, []byte as bin, strings as str. The same value always gives the same bytes.
//
//   - Maps are written with sorted keys: integers by value, strings by bytes, others by their encoding. A Map keeps its
//     order.
//   - A struct becomes a map of its exported fields, in order. The tag `msgpack:"name,omitempty"` gives a field another
//     name and omits it if it is zero; "-" always omits it. An embedded struct is a field with the name of its type.
//   - Nil pointers, slices and maps, typed or not, become nil.
//   - Tuple and Ext represent types that Python has and Go does not.
//
// The error wraps ErrType for channels, functions, complex numbers, strings that are not UTF-8, and structs without
// exported fields such as time.Time. It also wraps ErrType for a slice or an array, other than a Tuple, whose first
// element is the string "__tuple__", because that would be read as a tuple of the other elements. It wraps ErrTooLarge
// for nesting deeper than MaxValueDepth, such as in values that contain themselves, and for more than 2^32-1 elements
// or bytes.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := &encoder{enc: msgpack.NewEncoder(&buf)}
	if err := e.encode(reflect.ValueOf(v), 0); err != nil {
		return nil, fmt.Errorf("meta: marshal: %w", err)
	}
	return buf.Bytes(), nil
}

// encoder walks over Go values. The msgpack package writes the single values.
type encoder struct{ enc *msgpack.Encoder }

var (
	typeTuple = reflect.TypeFor[Tuple]()
	typeMap   = reflect.TypeFor[Map]()
	typeExt   = reflect.TypeFor[Ext]()
	typeAny   = reflect.TypeFor[any]()
)

func (e *encoder) encode(v reflect.Value, depth int) error {
	if depth > MaxValueDepth {
		return fmt.Errorf("more than %d levels of nesting: %w", MaxValueDepth, ErrTooLarge)
	}
	if !v.IsValid() {
		return e.enc.EncodeNil()
	}
	switch k := v.Kind(); {
	case (k == reflect.Pointer || k == reflect.Interface || k == reflect.Slice || k == reflect.Map) && v.IsNil():
		return e.enc.EncodeNil()
	case k == reflect.Interface:
		return e.encode(v.Elem(), depth)
	case k == reflect.Pointer:
		return e.encode(v.Elem(), depth+1) // counted, because pointers can form a cycle
	case k == reflect.Bool:
		return e.enc.EncodeBool(v.Bool())
	case v.CanInt():
		return e.enc.EncodeInt(v.Int())
	case v.CanUint() && k != reflect.Uintptr:
		return e.enc.EncodeUint(v.Uint())
	case v.CanFloat():
		return e.enc.EncodeFloat64(v.Float())
	case k == reflect.String:
		s := v.String()
		if !utf8.ValidString(s) {
			return fmt.Errorf("string %s is not UTF-8: %w", clip(s), ErrType)
		}
		if err := checkLen(len(s)); err != nil {
			return err
		}
		return e.enc.EncodeString(s)
	case v.Type() == typeExt:
		return e.ext(v.Interface().(Ext))
	case v.Type() == typeMap:
		return e.entries(v.Interface().(Map), depth)
	case k == reflect.Slice || k == reflect.Array:
		return e.list(v, depth)
	case k == reflect.Map:
		return e.goMap(v, depth)
	case k == reflect.Struct:
		return e.structure(v, depth)
	}
	return fmt.Errorf("%v has no encoding: %w", v.Type(), ErrType)
}

func checkLen(n int) error {
	if uint64(n) > math.MaxUint32 {
		return fmt.Errorf("%d elements or bytes: %w", n, ErrTooLarge)
	}
	return nil
}

func (e *encoder) ext(x Ext) error {
	if err := checkLen(len(x.Data)); err != nil {
		return err
	}
	if err := e.enc.EncodeExtHeader(x.Type, len(x.Data)); err != nil {
		return err
	}
	_, err := e.enc.Writer().Write(x.Data)
	return err
}

// list encodes slices and arrays.
func (e *encoder) list(v reflect.Value, depth int) error {
	n := v.Len()
	if err := checkLen(n); err != nil {
		return err
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		if v.Kind() == reflect.Slice || v.CanAddr() {
			return e.enc.EncodeBytes(v.Bytes())
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(v.Index(i).Uint())
		}
		return e.enc.EncodeBytes(b)
	}
	tuple := v.Type() == typeTuple
	if tuple {
		n++
	} else if n > 0 && isTupleMark(v.Index(0)) {
		return fmt.Errorf("%v that begins with the string %q, which marks tuples; use Tuple for one: %w", v.Type(), tupleMark, ErrType)
	}
	if err := e.enc.EncodeArrayLen(n); err != nil {
		return err
	}
	if tuple {
		if err := e.enc.EncodeString(tupleMark); err != nil {
			return err
		}
	}
	for i := range v.Len() {
		if err := e.encode(v.Index(i), depth+1); err != nil {
			return inside("element", i, err)
		}
	}
	return nil
}

// isTupleMark reports whether an element has the encoding of tupleMark.
func isTupleMark(v reflect.Value) bool {
	for depth := 0; (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && depth < MaxValueDepth; depth++ {
		v = v.Elem() // pointers can form a cycle
	}
	return v.Kind() == reflect.String && v.String() == tupleMark
}

func (e *encoder) entries(m Map, depth int) error {
	if err := checkLen(len(m)); err != nil {
		return err
	}
	if err := e.enc.EncodeMapLen(len(m)); err != nil {
		return err
	}
	for _, entry := range m {
		if err := e.encode(reflect.ValueOf(entry.Key), depth+1); err != nil {
			return inside("key", entry.Key, err)
		}
		if err := e.encode(reflect.ValueOf(entry.Value), depth+1); err != nil {
			return inside("value of key", entry.Key, err)
		}
	}
	return nil
}

// inside adds the part of a value to the error for a value without an encoding. Other errors are not about one part.
func inside(part string, of any, err error) error {
	if !errors.Is(err, ErrType) {
		return err
	}
	return fmt.Errorf("%s %v: %w", part, of, err)
}

// goMap encodes a map with sorted keys.
func (e *encoder) goMap(v reflect.Value, depth int) error {
	type key struct {
		value      reflect.Value
		start, end int // of its encoding in codes
	}
	var codes bytes.Buffer
	sub := &encoder{enc: msgpack.NewEncoder(&codes)}
	keys := make([]key, 0, v.Len())
	for _, k := range v.MapKeys() {
		start := codes.Len()
		if err := sub.encode(k, depth+1); err != nil {
			return inside("key", k, err)
		}
		keys = append(keys, key{k, start, codes.Len()})
	}
	code := func(k key) []byte { return codes.Bytes()[k.start:k.end] }
	slices.SortFunc(keys, func(a, b key) int {
		switch x, y := a.value, b.value; {
		case x.CanInt():
			return cmp.Compare(x.Int(), y.Int())
		case x.CanUint():
			return cmp.Compare(x.Uint(), y.Uint())
		case x.Kind() == reflect.String:
			return strings.Compare(x.String(), y.String())
		}
		return bytes.Compare(code(a), code(b))
	})
	if err := e.enc.EncodeMapLen(len(keys)); err != nil {
		return err
	}
	for _, k := range keys {
		if _, err := e.enc.Writer().Write(code(k)); err != nil {
			return err
		}
		if err := e.encode(v.MapIndex(k.value), depth+1); err != nil {
			return inside("value of key", k.value, err)
		}
	}
	return nil
}

func (e *encoder) structure(v reflect.Value, depth int) error {
	fields := fieldsOf(v.Type())
	if len(fields) == 0 && v.NumField() > 0 {
		return fmt.Errorf("%v has no exported fields: %w", v.Type(), ErrType)
	}
	fields = slices.DeleteFunc(fields, func(f structField) bool { return f.omitEmpty && v.Field(f.index).IsZero() })
	if err := e.enc.EncodeMapLen(len(fields)); err != nil {
		return err
	}
	for _, f := range fields {
		if err := e.enc.EncodeString(f.name); err != nil {
			return err
		}
		if err := e.encode(v.Field(f.index), depth+1); err != nil {
			return inside("field", f.name, err)
		}
	}
	return nil
}

// structField is a field of a Go struct as a map entry.
type structField struct {
	name      string
	index     int
	omitEmpty bool
}

func fieldsOf(t reflect.Type) []structField {
	var fields []structField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("msgpack"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields = append(fields, structField{name, i, options == "omitempty"})
	}
	return fields
}
