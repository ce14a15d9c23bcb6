package b2arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
)

// TestBadTypes reads Arrow streams of types with parameters out of range. Using their values would panic.
func TestBadTypes(t *testing.T) {
	const width, precision, scale = 0x1234, 30, 23
	binaries := array.NewFixedSizeBinaryBuilder(memory.DefaultAllocator, &arrow.FixedSizeBinaryType{ByteWidth: width})
	binaries.Append(make([]byte, width))
	fixed := binaries.NewArray()
	decimal := &arrow.Decimal128Type{Precision: precision, Scale: scale}
	wide := &arrow.Decimal256Type{Precision: precision, Scale: scale}
	for name, c := range map[string]struct {
		values   arrow.Array
		old, bad int32
		want     error
	}{
		"width -1":              {fixed, width, -1, ndarray.ErrCorrupt},
		"width -2^31":           {fixed, width, math.MinInt32, ndarray.ErrCorrupt},
		"width 0":               {fixed, width, 0, nil},
		"precision 38":          {fromJSON(t, decimal, `["1.25"]`), precision, 38, nil},
		"precision 39":          {fromJSON(t, decimal, `["1.25"]`), precision, 39, ndarray.ErrCorrupt},
		"precision 0":           {fromJSON(t, decimal, `["1.25"]`), precision, 0, ndarray.ErrCorrupt},
		"scale -38":             {fromJSON(t, decimal, `["1.25"]`), scale, -38, nil},
		"scale 256":             {fromJSON(t, decimal, `["1.25"]`), scale, 256, errors.ErrUnsupported},
		"scale 76 of 256 bits":  {fromJSON(t, wide, `["1.25"]`), scale, 76, nil},
		"scale -77 of 256 bits": {fromJSON(t, wide, `["1.25"]`), scale, -77, errors.ErrUnsupported},
		"in a list":             {fromJSON(t, arrow.ListOf(decimal), `[["1.25"]]`), scale, 256, errors.ErrUnsupported},
		"in a structure": {fromJSON(t, arrow.StructOf(arrow.Field{Name: "a", Type: decimal}), `[{"a": "1.25"}]`),
			scale, 256, errors.ErrUnsupported},
		"in a dictionary": {fromJSON(t, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: decimal}, `["1.25"]`),
			scale, 256, errors.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			content, schema := streamOf(t, c.values)
			old, bad := binary.LittleEndian.AppendUint32(nil, uint32(c.old)), binary.LittleEndian.AppendUint32(nil, uint32(c.bad))
			if n := bytes.Count(schema, old); n != 1 {
				t.Fatalf("the schema has the parameter %d times", n)
			}
			schema, content = bytes.Replace(schema, old, bad, 1), bytes.Replace(content, old, bad, 1)
			b := build(t, `{"name": "s", "kind": "list", "serializer": "arrow", "item": {"kind": "int64"}}`, tabletest.AllLive(1))
			b.Batches("_cols/s", arrowLayer(schema), []int{1}, [][][]byte{{content}})
			var err error
			for batch, e := range Batches(context.Background(), b.open(), &Options{Allocator: checked(t)}) {
				if err = e; err == nil {
					_ = batch.Column(0).ValueStr(0)
				}
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// TestBadLengths checks data whose length is so large that its number of bytes or offsets overflows, or with numbers of
// nulls that it cannot have.
func TestBadLengths(t *testing.T) {
	few := func() *memory.Buffer { return memory.NewBufferBytes(make([]byte, 64)) }
	for name, d := range map[string]arrow.ArrayData{
		"booleans":       array.NewData(arrow.FixedWidthTypes.Boolean, math.MaxInt, []*memory.Buffer{nil, few()}, nil, 0, 0),
		"bitmap":         array.NewData(arrow.Null, math.MaxInt, []*memory.Buffer{few()}, nil, 0, 0),
		"numbers":        array.NewData(arrow.PrimitiveTypes.Int64, math.MaxInt, []*memory.Buffer{nil, few()}, nil, 0, 0),
		"fixed binaries": array.NewData(&arrow.FixedSizeBinaryType{ByteWidth: 8}, math.MaxInt, []*memory.Buffer{nil, few()}, nil, 0, 0),
		"text":           array.NewData(arrow.BinaryTypes.String, math.MaxInt, []*memory.Buffer{nil, few(), few()}, nil, 0, 0),
		"large text":     array.NewData(arrow.BinaryTypes.LargeString, math.MaxInt, []*memory.Buffer{nil, few(), few()}, nil, 0, 0),
		"no bitmap":      array.NewData(arrow.PrimitiveTypes.Int64, 2, []*memory.Buffer{nil, few()}, nil, -1, 0),
		"empty bitmap":   array.NewData(arrow.PrimitiveTypes.Int64, 2, []*memory.Buffer{memory.NewBufferBytes(nil), few()}, nil, -1, 0),
		"3 nulls of 2":   array.NewData(arrow.PrimitiveTypes.Int64, 2, []*memory.Buffer{few(), few()}, nil, 3, 0),
	} {
		if err := check(d); !errors.Is(err, ndarray.ErrCorrupt) {
			t.Errorf("%s: %v, want %v", name, err, ndarray.ErrCorrupt)
		}
	}
}
