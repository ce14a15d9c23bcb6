package objects

import (
	"cmp"
	"fmt"

	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/meta"
)

// listMeta is the metalayer "listarray".
type listMeta struct {
	Item struct {
		Kind string `msgpack:"kind"`
	} `msgpack:"item"`
	Nullable  bool  `msgpack:"nullable"`
	BatchRows int64 `msgpack:"batch_rows"`
}

// listMeta returns the metalayer of a list array.
func (o *Array) listMeta() (*listMeta, error) {
	content, _ := frames.MetaLayer(o.f, "listarray")
	m := &listMeta{}
	if err := frames.UnmarshalMeta(o.f, content, m); err != nil {
		return nil, cmp.Or(frames.Closed(o.f), fmt.Errorf("metalayer listarray: %w", err))
	}
	return m, nil
}

// check returns an error unless an item in MessagePack is a list whose elements have the kind of the array, or nil if
// the array accepts it. It does not look at the fields of structures.
func (m *listMeta) check(item []byte) error {
	var v any
	if err := meta.Unmarshal(item, &v); err != nil {
		return err
	}
	if v == nil {
		if m.Nullable {
			return nil
		}
		return fmt.Errorf("nil in a list array without nulls: %w", ErrType)
	}
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%T in a list array: %w", v, ErrType)
	}
	for i, e := range list {
		if e == nil || !m.fits(e) {
			return fmt.Errorf("element %d is %T, want %s: %w", i, e, m.Item.Kind, ErrType)
		}
	}
	return nil
}

// fits reports whether an element has the kind of the elements of the array.
func (m *listMeta) fits(e any) bool {
	switch k := m.Item.Kind; k {
	case "bool":
		_, ok := e.(bool)
		return ok
	case "string", "vlstring", "utf8", "dictionary":
		_, ok := e.(string)
		return ok
	case "bytes", "vlbytes":
		_, ok := e.([]byte)
		return ok
	case "float32", "float64":
		_, ok := e.(float64)
		return ok
	case "struct":
		_, ok := e.(map[string]any)
		return ok
	case "uint64":
		i, ok := e.(int64)
		_, large := e.(uint64)
		return ok && i >= 0 || large
	case "int64", "timestamp":
		_, ok := e.(int64)
		return ok
	default:
		r, ok := integerRanges()[k]
		i, isInt := e.(int64)
		return !ok || isInt && i >= r[0] && i <= r[1]
	}
}

// integerRanges returns the smallest and the largest value of the kinds of integers below 64 bits.
func integerRanges() map[string][2]int64 {
	return map[string][2]int64{
		"int8": {-1 << 7, 1<<7 - 1}, "int16": {-1 << 15, 1<<15 - 1}, "int32": {-1 << 31, 1<<31 - 1},
		"uint8": {0, 1<<8 - 1}, "uint16": {0, 1<<16 - 1}, "uint32": {0, 1<<32 - 1},
	}
}
