package meta

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Unmarshal decodes b, which must be exactly one MessagePack value, into the value that v points to. An any receives
//
//	nil, bool, string, []byte      themselves
//	integers                       int64, or uint64 above its range
//	floats                         float64
//	arrays                         []any, or Tuple
//	maps                           map[string]any, or Map if a key is not a string
//	extensions                     Ext
//
// Other types are set as follows:
//
//   - Numbers are set if the value fits. Floats that are too large for a float32 do not; other floats and integers are
//     rounded.
//   - Arrays and tuples set slices, and Go arrays of the same length.
//   - Maps set Map (which keeps order at all levels), Go maps, and structs. The fields have the names that Marshal
//     gives them. Unknown keys are ignored.
//   - nil sets any type to its zero value.
//
// b is untrusted and not retained. Nesting is bounded by MaxValueDepth. Short values take many times len(b) of memory,
// up to 300 times: see UnmarshalWithin. The error wraps ErrCorrupt if b is not one MessagePack value, ErrTooLarge if it
// is nested too deep, and ErrType if the value does not fit or v is not a pointer. After ErrType, v may be partly set.
func Unmarshal(b []byte, v any) error {
	return UnmarshalWithin(b, v, func(int64) error { return nil })
}

// UnmarshalWithin is like Unmarshal. Before it decodes b, it calls check with the number of bytes of memory that the
// value takes at most, and returns the error of check if there is one. check may be the method CheckAlloc of the frame
// that holds b.
func UnmarshalWithin(b []byte, v any, check func(n int64) error) error {
	dst := reflect.ValueOf(v)
	if dst.Kind() != reflect.Pointer || dst.IsNil() {
		return fmt.Errorf("meta: unmarshal into %T, want a pointer: %w", v, ErrType)
	}
	memory, err := scanValue(b)
	if err == nil {
		err = check(memory)
	}
	if err != nil {
		return fmt.Errorf("meta: unmarshal: %w", err)
	}
	x, err := decodeAny(msgpack.NewDecoder(bytes.NewReader(b)))
	if err != nil {
		return fmt.Errorf("meta: unmarshal: %w: %w", err, ErrCorrupt)
	}
	if err := assign(dst.Elem(), x); err != nil {
		return fmt.Errorf("meta: unmarshal: %w", err)
	}
	return nil
}

// decodeAny reads one value of input that scanValue has checked. Maps become Map.
func decodeAny(d *msgpack.Decoder) (any, error) {
	code, err := d.PeekCode()
	if err != nil {
		return nil, err
	}
	switch {
	case code == msgpcode.Nil:
		return nil, d.DecodeNil()
	case code == msgpcode.True || code == msgpcode.False:
		return d.DecodeBool()
	case code == msgpcode.Float || code == msgpcode.Double:
		return d.DecodeFloat64()
	case code == msgpcode.Uint64:
		n, err := d.DecodeUint64()
		if n <= math.MaxInt64 {
			return int64(n), err
		}
		return n, err
	case msgpcode.IsFixedNum(code) || code >= msgpcode.Uint8 && code <= msgpcode.Int64:
		return d.DecodeInt64()
	case msgpcode.IsString(code):
		return d.DecodeString()
	case msgpcode.IsBin(code):
		return d.DecodeBytes()
	case msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32:
		return decodeArray(d)
	case msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32:
		return decodeMap(d)
	case msgpcode.IsExt(code):
		id, n, err := d.DecodeExtHeader()
		if err != nil {
			return nil, err
		}
		x := Ext{Type: id, Data: make([]byte, n)}
		return x, d.ReadFull(x.Data)
	}
	return nil, errors.New("unknown marker")
}

func decodeArray(d *msgpack.Decoder) (any, error) {
	n, err := d.DecodeArrayLen()
	if err != nil {
		return nil, err
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = decodeAny(d); err != nil {
			return nil, err
		}
	}
	if n > 0 && list[0] == tupleMark {
		return Tuple(list[1:]), nil
	}
	return list, nil
}

func decodeMap(d *msgpack.Decoder) (any, error) {
	n, err := d.DecodeMapLen()
	if err != nil {
		return nil, err
	}
	m := make(Map, n)
	for i := range m {
		if m[i].Key, err = decodeAny(d); err != nil {
			return nil, err
		}
		if m[i].Value, err = decodeAny(d); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// natural replaces each Map whose keys are strings by a map[string]any, in which the last value of a key counts.
func natural(x any) any {
	switch x := x.(type) {
	case []any:
		for i := range x {
			x[i] = natural(x[i])
		}
	case Tuple:
		for i := range x {
			x[i] = natural(x[i])
		}
	case Map:
		plain := make(map[string]any, len(x))
		for i := range x {
			x[i].Key, x[i].Value = natural(x[i].Key), natural(x[i].Value)
			if s, ok := x[i].Key.(string); ok && plain != nil {
				plain[s] = x[i].Value
			} else {
				plain = nil
			}
		}
		if plain != nil {
			return plain
		}
	}
	return x
}

func mismatch(dst reflect.Value, x any) error {
	kind := fmt.Sprintf("%T", x)
	switch x := x.(type) {
	case int64, uint64:
		kind = fmt.Sprint("integer ", x)
	case Map:
		kind = "map"
	case []any:
		kind = fmt.Sprintf("array of %d", len(x))
	}
	return fmt.Errorf("%s into %v: %w", kind, dst.Type(), ErrType)
}

// assign stores x, a result of decodeAny, in dst.
func assign(dst reflect.Value, x any) error {
	t := dst.Type()
	if x == nil {
		dst.SetZero()
		return nil
	}
	if t == typeAny {
		dst.Set(reflect.ValueOf(natural(x)))
		return nil
	}
	if v := reflect.ValueOf(x); v.Type() == t { // bool, string, []byte, []any, Tuple, Map, Ext, int64, ...
		if t != typeMap {
			natural(x) // changes the elements of x, not x
		}
		dst.Set(v)
		return nil
	}
	switch dst.Kind() {
	case reflect.Pointer:
		p := reflect.New(t.Elem())
		dst.Set(p)
		return assign(p.Elem(), x)
	case reflect.Slice, reflect.Array:
		return assignList(dst, x)
	case reflect.Map:
		if m, ok := x.(Map); ok {
			return assignMap(dst, m)
		}
	case reflect.Struct:
		if m, ok := x.(Map); ok && t != typeExt {
			return assignStruct(dst, m)
		}
	case reflect.Bool, reflect.String:
		if v := reflect.ValueOf(x); v.Kind() == dst.Kind() {
			dst.Set(v.Convert(t))
			return nil
		}
	default:
		if assignNumber(dst, x) {
			return nil
		}
	}
	return mismatch(dst, x)
}

// assignNumber reports whether x is a number that dst can hold.
func assignNumber(dst reflect.Value, x any) bool {
	var i int64
	var u uint64
	var f float64
	isInt, isUint := false, false
	switch x := x.(type) {
	case int64:
		i, u, f, isInt, isUint = x, uint64(x), float64(x), true, x >= 0
	case uint64:
		u, f, isUint = x, float64(x), true
	case float64:
		f = x
	default:
		return false
	}
	switch {
	case dst.CanInt() && isInt && !dst.OverflowInt(i):
		dst.SetInt(i)
	case dst.CanUint() && isUint && !dst.OverflowUint(u):
		dst.SetUint(u)
	case dst.CanFloat() && !dst.OverflowFloat(f):
		dst.SetFloat(f)
	default:
		return false
	}
	return true
}

func assignList(dst reflect.Value, x any) error {
	t := dst.Type()
	var list []any
	switch x := x.(type) {
	case []any:
		list = x
	case Tuple:
		list = x
	case []byte:
		if t.Elem().Kind() != reflect.Uint8 || dst.Kind() == reflect.Array && dst.Len() != len(x) {
			return mismatch(dst, x)
		}
		if dst.Kind() == reflect.Slice {
			dst.Set(reflect.MakeSlice(t, len(x), len(x)))
		}
		for i, b := range x {
			dst.Index(i).SetUint(uint64(b))
		}
		return nil
	default:
		return mismatch(dst, x)
	}
	if t == typeMap || dst.Kind() == reflect.Array && dst.Len() != len(list) {
		return mismatch(dst, x)
	}
	if dst.Kind() == reflect.Slice {
		dst.Set(reflect.MakeSlice(t, len(list), len(list)))
	}
	for i := range list {
		if err := assign(dst.Index(i), list[i]); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func assignMap(dst reflect.Value, m Map) error {
	t := dst.Type()
	out := reflect.MakeMapWithSize(t, len(m))
	for i, entry := range m {
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if err := assign(key, entry.Key); err != nil {
			return fmt.Errorf("key %d: %w", i, err)
		}
		if !key.Comparable() {
			return mismatch(key, entry.Key)
		}
		if err := assign(value, entry.Value); err != nil {
			return fmt.Errorf("value of key %v: %w", entry.Key, err)
		}
		out.SetMapIndex(key, value)
	}
	dst.Set(out)
	return nil
}

func assignStruct(dst reflect.Value, m Map) error {
	fields := fieldsOf(dst.Type())
	for _, entry := range m {
		i := slices.IndexFunc(fields, func(f structField) bool { return f.name == entry.Key })
		if i < 0 {
			continue
		}
		if err := assign(dst.Field(fields[i].index), entry.Value); err != nil {
			return fmt.Errorf("field %s: %w", fields[i].name, err)
		}
	}
	return nil
}
