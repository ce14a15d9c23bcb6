package b2arrow

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// checkDictionary checks n values of a dictionary. Codes of nulls may be any number.
func checkDictionary(d arrow.ArrayData, t *arrow.DictionaryType, n int64) error {
	indices := array.NewData(t.IndexType, int(n)-d.Offset(), d.Buffers(), nil, d.NullN(), d.Offset())
	defer indices.Release()
	if err := check(indices); err != nil {
		return err
	}
	dict := d.Dictionary()
	if dict == nil || dict.DataType() == nil {
		return corrupt("codes without a dictionary")
	}
	if err := check(dict); err != nil {
		return err
	}
	codes := array.MakeFromData(indices)
	defer codes.Release()
	for i := range codes.Len() {
		if codes.IsNull(i) {
			continue
		}
		if at := codeAt(codes, i); at < 0 || at >= int64(dict.Len()) {
			return corrupt("code %d of value %d, but the dictionary has %d values", at, i, dict.Len())
		}
	}
	return nil
}

// codeAt returns a code as a number, or -1 if it is none.
func codeAt(codes arrow.Array, i int) int64 {
	switch a := codes.(type) {
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Uint8:
		return int64(a.Value(i))
	case *array.Uint16:
		return int64(a.Value(i))
	case *array.Uint32:
		return int64(a.Value(i))
	case *array.Uint64:
		return int64(min(a.Value(i), math.MaxInt64))
	}
	return -1
}
