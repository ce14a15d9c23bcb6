package b2arrow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// readColumn returns rows of a column as Go values.
func readColumn(t testing.TB, tab *table.Table, name string, start, stop int64) ([]any, arrow.DataType) {
	t.Helper()
	ctx := context.Background()
	c, err := tab.Column(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Column(ctx, c, start, stop, checked(t))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if int64(a.Len()) != stop-start {
		t.Fatalf("%s: %d values, want %d", name, a.Len(), stop-start)
	}
	return valuesAt(t, a, 0, a.Len()), a.DataType()
}

// checkColumn compares all rows of a column, and ranges of them.
func checkColumn(t testing.TB, tab *table.Table, name, wantType string, want ...any) {
	t.Helper()
	n := int64(len(want))
	for _, r := range [][2]int64{{0, n}, {0, n / 2}, {n / 2, n}, {n, n}} {
		got, typ := readColumn(t, tab, name, r[0], r[1])
		if !reflect.DeepEqual(got, slices.Clone(want[r[0]:r[1]])) && len(got)+int(r[1]-r[0]) > 0 {
			t.Errorf("%s: rows %v are %#v, want %#v", name, r, got, want[r[0]:r[1]])
		}
		if typ.String() != wantType {
			t.Errorf("%s: type %v, want %v", name, typ, wantType)
		}
	}
}

// utf32 returns texts as items of dtype U with n characters.
func utf32(order binary.AppendByteOrder, n int, texts ...string) []byte {
	var b []byte
	for _, s := range texts {
		runes := append([]rune(s), make([]rune, n)...)
		for _, c := range runes[:n] {
			b = order.AppendUint32(b, uint32(c))
		}
	}
	return b
}

// Values that are null by the schema, values in big-endian order, and a deleted row.
func TestNullValues(t *testing.T) {
	b := build(t, `
		{"name": "i", "kind": "int16", "null_value": -1}, {"name": "u", "kind": "uint64", "null_value": 18446744073709551615},
		{"name": "nan", "kind": "float32", "nullable": true, "null_value": NaN},
		{"name": "b", "kind": "bool", "nullable": true, "null_value": 255},
		{"name": "s", "kind": "string", "max_length": 3, "null_value": "N/A"}, {"name": "t", "kind": "utf8", "null_value": "-"},
		{"name": "raw", "kind": "bytes", "null_value": {"__bytes__": true, "base64": "AQI="}},
		{"name": "when", "kind": "timestamp", "unit": "ms", "timezone": "Europe/Paris"},
		{"name": "z", "kind": "complex64"},
		{"name": "m", "kind": "ndarray", "item_shape": [2], "dtype_str": ">i4", "null_value": 7},
		{"name": "flags", "kind": "ndarray", "item_shape": [3], "dtype_str": "|b1"},
		{"name": "days", "kind": "ndarray", "item_shape": [1], "dtype_str": "<M8[s]"}`, []bool{true, true, false, true})
	four := []int64{4}
	b.Fixed("_cols/i", ">i2", four, []byte{0, 5, 255, 255, 0, 3, 1, 4})
	write(b, "_cols/u", four, []uint64{1, 2, 3, math.MaxUint64})
	write(b, "_cols/nan", four, []float32{1, float32(math.NaN()), 3, 4})
	write(b, "_cols/b", four, []uint8{0, 255, 1, 1})
	b.Fixed("_cols/s", ">U3", four, utf32(binary.BigEndian, 3, "é", "N/A", "x", "a🎉c"))
	write(b, "_cols/t", []int64{5}, []int64{0, 2, 3, 3, 5})
	write(b, "_cols/t.utf8", []int64{5}, []uint8("hi-é"))
	b.Fixed("_cols/raw", "|S2", four, []byte("ab\x01\x02xxc\x00"))
	write(b, "_cols/when", four, []int64{1500, math.MinInt64, 0, -1})
	write(b, "_cols/z", four, []complex64{1 + 2i, 3, 4, -5i})
	b.Fixed("_cols/m", ">i4", []int64{4, 2}, []byte{0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 1, 6})
	write(b, "_cols/flags", []int64{4, 3}, []bool{true, false, true, false, false, true, true, true, true, false, true, false})
	b.Fixed("_cols/days", "<M8[s]", []int64{4, 1}, binary.LittleEndian.AppendUint64(make([]byte, 24), 1<<63))
	tab := b.open()
	checkColumn(t, tab, "i", "int16", int16(5), nil, int16(260))
	checkColumn(t, tab, "u", "uint64", uint64(1), uint64(2), nil)
	checkColumn(t, tab, "nan", "float32", float32(1), nil, float32(4))
	checkColumn(t, tab, "b", "bool", false, nil, true)
	checkColumn(t, tab, "s", "utf8", "é", nil, "a🎉c")
	checkColumn(t, tab, "t", "large_utf8", "hi", nil, "é")
	checkColumn(t, tab, "raw", "large_binary", []byte("ab"), nil, []byte("c"))
	checkColumn(t, tab, "when", "timestamp[ms, tz=Europe/Paris]", time.UnixMilli(1500).UTC(), nil, time.UnixMilli(-1).UTC())
	checkColumn(t, tab, "z", "fixed_size_list<item: float32>[2]", []any{float32(1), float32(2)}, []any{float32(3), float32(0)}, []any{float32(0), float32(-5)})
	checkColumn(t, tab, "m", "fixed_size_list<item: int32, nullable>[2]", nil, []any{int32(7), int32(1)}, []any{int32(5), int32(262)})
	checkColumn(t, tab, "flags", "fixed_size_list<item: bool, nullable>[3]", []any{true, false, true}, []any{false, false, true}, []any{false, true, false})
	checkColumn(t, tab, "days", "fixed_size_list<item: timestamp[s], nullable>[1]", []any{time.Unix(0, 0).UTC()}, []any{time.Unix(0, 0).UTC()}, []any{nil})
}

// Nested columns, structures, lists of all kinds, and names with a dot.
func TestNested(t *testing.T) {
	b := build(t, `
		{"name": "trip.start", "kind": "int32"}, {"name": "a\\.b", "kind": "int8"},
		{"name": "who", "kind": "struct", "nullable": true, "fields": [{"name": "name", "kind": "vlstring"}, {"name": "age", "kind": "uint8"},
			{"name": "when", "kind": "list", "item": {"kind": "timestamp", "unit": "s"}}]},
		{"name": "tags", "kind": "list", "nullable": true, "item": {"kind": "dictionary"}},
		{"name": "deep", "kind": "list", "item": {"kind": "list", "item": {"kind": "float32"}}},
		{"name": "any", "kind": "object"}, {"name": "raw", "kind": "vlbytes"}`, []bool{true, false, true, true})
	write(b, "_cols/trip/start", []int64{4}, []int32{1, 2, 3, 4})
	write(b, "_cols/a%2Eb", []int64{4}, []int8{7, 8, 9, 10})
	b.Items("_cols/who", []any{map[string]any{"name": "Ada", "age": 36, "more": 1}, nil, nil}, []any{map[string]any{"age": 1, "when": []any{5, nil, int64(ndarray.NaT)}}})
	b.Items("_cols/tags", []any{[]any{"x"}}, []any{nil, nil, []any{}})
	b.Items("_cols/deep", []any{[]any{[]any{1, 2.5}, nil}}, []any{nil, []any{}, meta.Tuple{[]any{}}})
	b.Items("_cols/any", []any{map[string]any{"k": 1}, 1, nil}, []any{meta.Tuple{"a", 2}})
	b.Items("_cols/raw", []any{[]byte("a"), nil, []byte{}, []byte("bc")})
	tab := b.open()
	checkColumn(t, tab, "trip.start", "int32", int32(1), int32(3), int32(4))
	checkColumn(t, tab, `a\.b`, "int8", int8(7), int8(9), int8(10))
	checkColumn(t, tab, "who", "struct<name: utf8 nullable, age: uint8 nullable, when: list<item: timestamp[s], nullable> nullable>",
		map[string]any{"name": "Ada", "age": uint8(36), "when": nil}, nil,
		map[string]any{"name": nil, "age": uint8(1), "when": []any{time.Unix(5, 0).UTC(), nil, nil}})
	checkColumn(t, tab, "tags", "list<item: utf8, nullable>", []any{"x"}, nil, []any{})
	checkColumn(t, tab, "deep", "list<item: list<item: float32, nullable>, nullable>", []any{[]any{float32(1), float32(2.5)}, nil}, []any{}, []any{[]any{}})
	checkColumn(t, tab, "raw", "large_binary", []byte("a"), []byte{}, []byte("bc"))
	objects, _ := readColumn(t, tab, "any", 0, 3)
	var pair meta.Tuple
	if err := meta.Unmarshal(objects[2].([]byte), &pair); err != nil || objects[1] != nil || !reflect.DeepEqual(pair, meta.Tuple{"a", int64(2)}) {
		t.Errorf("%v, %v", objects, err)
	}
}

// Rows around deleted ones are read in pieces: compare many rows with package table.
func TestDeletedRows(t *testing.T) {
	ctx := context.Background()
	const n = 200_000
	rng := rand.New(rand.NewPCG(1, 2))
	live, numbers, ends, text := make([]bool, n), make([]float64, n), make([]int64, n+1), []uint8{}
	texts := make([]any, n)
	for i := range n {
		live[i] = i/1000%7 == 3 || i > 90_000 && i < 160_000 || rng.IntN(3) == 0
		numbers[i] = rng.Float64()
		s := strings.Repeat(string(rune('a'+i%26)), rng.IntN(9)) + "é"
		texts[i], text = s, append(text, s...)
		ends[i+1] = int64(len(text))
	}
	b := build(t, `{"name": "x", "kind": "float64"}, {"name": "t", "kind": "utf8"}, {"name": "v", "kind": "vlstring"}`, live)
	write(b, "_cols/x", []int64{n}, numbers)
	write(b, "_cols/t", []int64{n + 1}, ends)
	write(b, "_cols/t.utf8", []int64{int64(len(text))}, text)
	b.Items("_cols/v", texts[:1000], texts[1000:200_000], texts[200_000:])
	tab := b.open()
	var wantX, wantT []any
	for i := range n {
		if live[i] {
			wantX, wantT = append(wantX, numbers[i]), append(wantT, texts[i])
		}
	}
	for name, want := range map[string][]any{"x": wantX, "t": wantT, "v": wantT} {
		for _, r := range [][2]int64{{0, tab.Rows()}, {1000, 1001}, {77, 60_000}, {90_000, tab.Rows() - 1}} {
			if got, _ := readColumn(t, tab, name, r[0], r[1]); !slices.Equal(got, want[r[0]:r[1]]) {
				t.Errorf("%s: rows %v differ", name, r)
			}
		}
	}
	c, err := tab.Column(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]int64{{-1, 1}, {2, 1}, {0, tab.Rows() + 1}} {
		if _, err := Column(ctx, c, r[0], r[1], nil); !errors.Is(err, table.ErrBounds) {
			t.Errorf("rows %v: %v", r, err)
		}
	}
}

// Tables whose parts disagree end with errors.
func TestHostile(t *testing.T) {
	ctx := context.Background()
	many := strings.TrimSuffix(strings.Repeat(`{"name": "f", "kind": "int64"},`, 5000), ",")
	for name, c := range map[string]struct {
		column string
		write  func(b *builder)
		want   error
	}{
		"text backwards": {`"kind": "utf8"`, func(b *builder) {
			write(b, "_cols/c", []int64{4}, []int64{0, 3, 2, 4})
			write(b, "_cols/c.utf8", []int64{4}, []uint8("abcd"))
		}, ndarray.ErrCorrupt},
		"text outside": {`"kind": "utf8"`, func(b *builder) {
			write(b, "_cols/c", []int64{4}, []int64{0, 3, 4, 5})
			write(b, "_cols/c.utf8", []int64{4}, []uint8("abcd"))
		}, ndarray.ErrCorrupt},
		"text before": {`"kind": "utf8"`, func(b *builder) {
			write(b, "_cols/c", []int64{4}, []int64{-1, 3, 4, 4})
			write(b, "_cols/c.utf8", []int64{4}, []uint8("abcd"))
		}, ndarray.ErrCorrupt},
		"half a character": {`"kind": "utf8"`, func(b *builder) {
			write(b, "_cols/c", []int64{4}, []int64{0, 1, 2, 2})
			write(b, "_cols/c.utf8", []int64{2}, []uint8("é"))
		}, ndarray.ErrCorrupt},
		"no character": {`"kind": "string"`, func(b *builder) {
			b.Fixed("_cols/c", "<U1", []int64{3}, []byte{1, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0})
		}, ndarray.ErrCorrupt},
		"code": {`"kind": "dictionary"`, func(b *builder) {
			write(b, "_cols/c", []int64{3}, []int32{0, 2, 1})
			b.Items("_cols/c_dict", []any{"a", "b"})
		}, ndarray.ErrCorrupt},
		"negative code": {`"kind": "dictionary"`, func(b *builder) {
			write(b, "_cols/c", []int64{3}, []int32{0, -2, 1})
			b.Items("_cols/c_dict", []any{"a", "b"})
		}, ndarray.ErrCorrupt},
		"other value":     {`"kind": "vlstring"`, func(b *builder) { b.Items("_cols/c", []any{"a", 1, "b"}) }, ndarray.ErrCorrupt},
		"no list":         {`"kind": "list", "item": {"kind": "int8"}`, func(b *builder) { b.Items("_cols/c", []any{nil, 1, nil}) }, ndarray.ErrCorrupt},
		"large item":      {`"kind": "list", "item": {"kind": "int8"}`, func(b *builder) { b.Items("_cols/c", []any{nil, []any{128}, nil}) }, ndarray.ErrCorrupt},
		"negative item":   {`"kind": "list", "item": {"kind": "uint64"}`, func(b *builder) { b.Items("_cols/c", []any{nil, []any{-1}, nil}) }, ndarray.ErrCorrupt},
		"complex item":    {`"kind": "list", "item": {"kind": "complex64"}`, func(b *builder) { b.Items("_cols/c", []any{nil, []any{1}, nil}) }, ndarray.ErrCorrupt},
		"no structure":    {`"kind": "struct", "fields": []`, func(b *builder) { b.Items("_cols/c", []any{nil, []any{}, nil}) }, ndarray.ErrCorrupt},
		"empty items":     {`"kind": "ndarray", "item_shape": [0], "dtype_str": "<i4"`, func(b *builder) { write(b, "_cols/c", []int64{3, 0}, []int32{}) }, errors.ErrUnsupported},
		"unsupported":     {`"kind": "ndarray", "item_shape": [1], "dtype_str": "<M8[D]"`, func(b *builder) { b.Fixed("_cols/c", "<M8[D]", []int64{3, 1}, make([]byte, 24)) }, errors.ErrUnsupported},
		"too many fields": {`"kind": "list", "item": {"kind": "struct", "fields": [` + many + `]}`, func(b *builder) { b.Items("_cols/c", []any{make([]any, 3000), nil, nil}) }, ndarray.ErrTooLarge},
		"too deep": {`"kind": "list", "item": ` + strings.Repeat(`{"kind": "list", "item": `, 100) + `{"kind": "int8"}` + strings.Repeat("}", 100),
			func(b *builder) { b.Items("_cols/c", []any{nil, nil, nil}) }, ndarray.ErrTooLarge},
		"huge items": {`"kind": "ndarray", "item_shape": [400000000], "dtype_str": "<f8"`, func(b *builder) {
			a, err := ndarray.Zeros(ctx, b.File("_cols/c.b2nd"), []int64{3, 400_000_000}, "<f8", nil)
			if err != nil {
				b.T.Fatal(err)
			}
			a.Close()
		}, ndarray.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			b := build(t, `{"name": "c", `+c.column+`}`, tabletest.AllLive(3))
			c.write(b)
			o := &Options{Allocator: checked(t)}
			var err error
			for _, e := range Batches(ctx, b.open(), o) {
				err = e
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// A reader that is not read to its end, or kept beyond it, frees its memory. Batches that are retained stay valid.
func TestRelease(t *testing.T) {
	ctx := context.Background()
	o := &Options{Rows: 10, Allocator: checked(t)}
	tab := openTable(t, "../testdata/tables/wide0.b2z")
	r, err := NewReader(ctx, tab, o)
	if err != nil {
		t.Fatal(err)
	}
	r.Release() // before the first batch
	if r, err = NewReader(ctx, tab, o); err != nil {
		t.Fatal(err)
	}
	r.Retain()
	r.Next()
	batch := r.RecordBatch()
	batch.Retain()
	r.Next()
	r.Release()
	r.Release()
	if batch.NumRows() != 10 || batch.Column(0).Len() != 10 || fmt.Sprint(batch.Column(0)) == "" {
		t.Errorf("%v", batch)
	}
	batch.Release()
	n := 0
	for batch, err := range Batches(ctx, tab, o) {
		if n++; err != nil || batch.NumRows() != 10 {
			t.Error(err)
		}
		if n == 2 {
			break
		}
	}
	//lint:ignore SA1012 nil is allowed, as in the other packages
	for _, err := range Batches(nil, tab, o) {
		if err != nil {
			t.Errorf("without a context: %v", err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	n = 0
	for _, err := range Batches(ended, tab, o) {
		if n++; !errors.Is(err, context.Canceled) {
			t.Errorf("with an ended context: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d iterations, want 1", n)
	}
}

// Options choose columns, in any order, and are checked.
func TestOptions(t *testing.T) {
	ctx := context.Background()
	tab := openTable(t, "../testdata/tables/wide0.b2z")
	schema, err := Schema(ctx, tab, &Options{Columns: []string{"c3_dictionary", "c0_int8"}})
	if err != nil || schema.Field(0).Name != "c3_dictionary" || schema.NumFields() != 2 || !schema.Field(1).Nullable {
		t.Errorf("%v, %v", schema, err)
	}
	if _, err := NewReader(ctx, tab, &Options{Columns: []string{"c0_int8", "nothing"}, Allocator: checked(t)}); err == nil {
		t.Error("a missing column: no error")
	}
	if _, err := Schema(ctx, tab, &Options{Rows: -1}); !errors.Is(err, ndarray.ErrParam) {
		t.Errorf("a negative number of rows: %v", err)
	}
	empty, err := NewReader(ctx, tab, &Options{Columns: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Release()
	if rows := int64(0); !empty.Next() || empty.RecordBatch().NumRows() == rows || empty.RecordBatch().NumCols() != 0 {
		t.Errorf("no columns: %v", empty.RecordBatch())
	}
}

// The dictionary of all batches is the same one.
func TestDictionary(t *testing.T) {
	tab := openTable(t, "../testdata/tables/t38_dictionary_null.b2z")
	var dict arrow.Array
	for batch, err := range Batches(context.Background(), tab, &Options{Rows: 20, Allocator: checked(t)}) {
		if err != nil {
			t.Fatal(err)
		}
		d := batch.Column(0).(*array.Dictionary)
		if dict == nil {
			dict = d.Dictionary()
			dict.Retain()
			defer dict.Release()
		}
		if d.Dictionary().Data().Buffers()[2] != dict.Data().Buffers()[2] {
			t.Error("the dictionary was copied")
		}
	}
}

// Texts of deleted rows and of nulls may hold any bytes. An error names the row.
func TestUnreadText(t *testing.T) {
	ctx := context.Background()
	const bad = 0x4000000
	for name, c := range map[string]struct {
		chars [5]rune // of the stored rows
		want  string  // the error
	}{
		"valid": {[5]rune{'a', bad, bad, 'é', 'x'}, ""},
		"wrong": {[5]rune{'a', bad, bad, bad, 'x'}, "row 2"},
	} {
		var s, m []byte
		for _, r := range c.chars {
			s = binary.BigEndian.AppendUint32(s, uint32(r))
			m = binary.LittleEndian.AppendUint32(m, 'm')
			m = binary.LittleEndian.AppendUint32(m, uint32(r))
		}
		mask := `"nullable": true, "null_storage": "mask"`
		b := build(t, `{"name": "s", "kind": "string", "max_length": 1, `+mask+`},
			{"name": "m", "kind": "ndarray", "item_shape": [2], "dtype_str": "<U1", `+mask+`}`, []bool{true, false, true, true, true})
		b.Fixed("_cols/s", ">U1", []int64{5}, s)
		b.Fixed("_cols/m", "<U1", []int64{5, 2}, m)
		for _, column := range []string{"s", "m"} {
			write(b, "_cols/"+column+".notnull", []int64{5}, []bool{true, true, false, true, false})
		}
		tab := b.open()
		if c.want == "" {
			checkColumn(t, tab, "s", "utf8", "a", nil, "é", nil)
			checkColumn(t, tab, "m", "fixed_size_list<item: utf8, nullable>[2]", []any{"m", "a"}, nil, []any{"m", "é"}, nil)
			continue
		}
		for column, more := range map[string]string{"s": ":", "m": ", element 1:"} {
			col, err := tab.Column(ctx, column)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Column(ctx, col, 1, 4, checked(t))
			if want := c.want + more; !errors.Is(err, ndarray.ErrCorrupt) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v, want %q", name, column, err, want)
			}
		}
	}
}
