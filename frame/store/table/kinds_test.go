package table

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// checkAny compares the values of a column, of which nil is null.
func checkAny(t *testing.T, b *builder, name string, want ...any) {
	t.Helper()
	ctx := context.Background()
	c, err := b.column(name)
	if err != nil {
		t.Error(err)
		return
	}
	got, err := Read[any](ctx, c, 0, int64(len(want)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %#v, %v, want %#v", name, got, err, want)
	}
	nulls, err := c.Nulls(ctx, 0, int64(len(want)))
	for i := range want {
		if (want[i] == nil) != (nulls != nil && nulls[i]) || err != nil {
			t.Errorf("%s: nulls %v, %v", name, nulls, err)
			return
		}
	}
}

// Values that are null by the schema: the storage of tables that do not have masks.
func TestNullValues(t *testing.T) {
	live := []bool{true, true, false, true}
	b := build(t, `
		{"name": "i", "kind": "int16", "null_value": -1}, {"name": "u", "kind": "uint64", "null_value": 18446744073709551615},
		{"name": "nan", "kind": "float32", "nullable": true, "null_value": NaN}, {"name": "f", "kind": "float64", "null_value": -9.5},
		{"name": "inf", "kind": "float64", "null_value": -Infinity}, {"name": "b", "kind": "bool", "nullable": true, "null_value": 255},
		{"name": "s", "kind": "string", "max_length": 3, "null_value": "N/A"}, {"name": "t", "kind": "utf8", "null_value": "-"},
		{"name": "raw", "kind": "bytes", "null_value": {"__bytes__": true, "base64": "AQI="}},
		{"name": "when", "kind": "timestamp", "unit": "ms", "null_value": -9223372036854775808},
		{"name": "m", "kind": "ndarray", "item_shape": [2], "dtype_str": "<i4", "null_value": 7}`, live)
	four := []int64{4}
	array(b, "_cols/i", four, []int16{5, -1, 3, 4})
	array(b, "_cols/u", four, []uint64{1, 2, 3, math.MaxUint64})
	array(b, "_cols/nan", four, []float32{1, float32(math.NaN()), 3, 4})
	array(b, "_cols/f", four, []float64{-9.5, 2, 3, 4})
	array(b, "_cols/inf", four, []float64{1, 2, 3, math.Inf(-1)})
	array(b, "_cols/b", four, []uint8{0, 255, 1, 1})
	b.fixed("_cols/s", "<U3", []byte("a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00N\x00\x00\x00/\x00\x00\x00A\x00\x00\x00x\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00b\x00\x00\x00c\x00\x00\x00d\x00\x00\x00"))
	array(b, "_cols/t", []int64{5}, []int64{0, 2, 3, 3, 5})
	array(b, "_cols/t.utf8", []int64{5}, []uint8("hi-éx")[:5])
	b.fixed("_cols/raw", "|S2", []byte("ab\x01\x02xxc\x00"))
	array(b, "_cols/when", four, []int64{1500, math.MinInt64, 0, -1})
	array(b, "_cols/m", []int64{4, 2}, []int32{7, 7, 7, 1, 0, 0, 5, 6})
	checkAny(t, b, "i", int16(5), nil, int16(4))
	checkAny(t, b, "u", uint64(1), uint64(2), nil)
	checkAny(t, b, "nan", float32(1), nil, float32(4))
	checkAny(t, b, "f", nil, float64(2), float64(4))
	checkAny(t, b, "inf", float64(1), float64(2), nil)
	checkAny(t, b, "b", false, nil, true)
	checkAny(t, b, "s", "a", nil, "bcd")
	checkAny(t, b, "t", "hi", nil, "é")
	checkAny(t, b, "raw", []byte("ab"), nil, []byte("c"))
	checkAny(t, b, "when", time.UnixMilli(1500).UTC(), nil, time.UnixMilli(-1).UTC())
	checkAny(t, b, "m", nil, []int32{7, 1}, []int32{5, 6})
}

// Nested columns, structs, and names with characters that have a meaning in paths.
func TestNested(t *testing.T) {
	b := build(t, `
		{"name": "trip.start", "kind": "int32"}, {"name": "trip.end.x", "kind": "int8"}, {"name": "a\\.b", "kind": "int8"},
		{"name": "50%", "kind": "int8"},
		{"name": "who", "kind": "struct", "nullable": true, "fields": [{"name": "name", "kind": "vlstring"}, {"name": "age", "kind": "int64"}]},
		{"name": "tags", "kind": "list", "nullable": true, "item": {"kind": "vlstring"}}`, []bool{true, true, true})
	three := []int64{3}
	array(b, "_cols/trip/start", three, []int32{1, 2, 3})
	array(b, "_cols/trip/end/x", three, []int8{4, 5, 6})
	array(b, "_cols/a%2Eb", three, []int8{7, 8, 9})
	array(b, "_cols/50%25", three, []int8{-1, -2, -3})
	b.Items("_cols/who", []any{map[string]any{"name": "Ada", "age": 36}, nil}, []any{map[string]any{"name": "Bo", "age": 1}})
	b.Items("_cols/tags", []any{[]any{"x"}}, []any{nil, []any{}})
	checkAny(t, b, "trip.start", int32(1), int32(2), int32(3))
	checkAny(t, b, "trip.end.x", int8(4), int8(5), int8(6))
	checkAny(t, b, `a\.b`, int8(7), int8(8), int8(9))
	checkAny(t, b, "50%", int8(-1), int8(-2), int8(-3))
	checkAny(t, b, "tags", []any{"x"}, nil, []any{})
	c, err := b.column("who")
	if err != nil {
		t.Fatal(err)
	}
	type person struct {
		Name string `msgpack:"name"`
		Age  int    `msgpack:"age"`
	}
	people, err := Read[person](context.Background(), c, 0, 3)
	if want := []person{{"Ada", 36}, {}, {"Bo", 1}}; err != nil || !slices.Equal(people, want) {
		t.Errorf("%v, %v, want %v", people, err, want)
	}
	if fields := c.Info().Fields; len(fields) != 2 || fields[1].Kind != "int64" {
		t.Errorf("%+v", c.Info())
	}
}

// Tables whose parts disagree are corrupt.
func TestHostileTables(t *testing.T) {
	ctx := context.Background()
	three, live := []int64{3}, []bool{true, true, true}
	for name, c := range map[string]struct {
		column string
		write  func(b *builder)
		want   error
	}{
		"too short":         {`"kind": "int8"`, func(b *builder) { array(b, "_cols/c", []int64{2}, []int8{1, 2}) }, ErrCorrupt},
		"other type":        {`"kind": "int8"`, func(b *builder) { array(b, "_cols/c", three, []int16{1, 2, 3}) }, ErrCorrupt},
		"two dimensions":    {`"kind": "int8"`, func(b *builder) { array(b, "_cols/c", []int64{3, 1}, []int8{1, 2, 3}) }, ErrCorrupt},
		"other item shape":  {`"kind": "ndarray", "item_shape": [2], "dtype_str": "|i1"`, func(b *builder) { array(b, "_cols/c", []int64{3, 1}, []int8{1, 2, 3}) }, ErrCorrupt},
		"few objects":       {`"kind": "object"`, func(b *builder) { b.Items("_cols/c", []any{1, 2}) }, ErrCorrupt},
		"array for objects": {`"kind": "object"`, func(b *builder) { array(b, "_cols/c", three, []int8{1, 2, 3}) }, ErrFormat},
		"short mask": {`"kind": "int8", "null_storage": "mask"`, func(b *builder) {
			array(b, "_cols/c", three, []int8{1, 2, 3})
			array(b, "_cols/c.notnull", []int64{2}, []bool{true, true})
		}, ErrCorrupt},
		"mask of numbers": {`"kind": "int8", "null_storage": "mask"`, func(b *builder) {
			array(b, "_cols/c", three, []int8{1, 2, 3})
			array(b, "_cols/c.notnull", three, []int8{1, 1, 1})
		}, ErrCorrupt},
		"too few ends": {`"kind": "utf8"`, func(b *builder) {
			array(b, "_cols/c", three, []int64{0, 1, 2})
			array(b, "_cols/c.utf8", three, []uint8("abc"))
		}, ErrCorrupt},
		"ends go back": {`"kind": "utf8"`, func(b *builder) {
			array(b, "_cols/c", []int64{4}, []int64{0, 2, 1, 3})
			array(b, "_cols/c.utf8", three, []uint8("abc"))
		}, ErrCorrupt},
		"end outside": {`"kind": "utf8"`, func(b *builder) {
			array(b, "_cols/c", []int64{4}, []int64{0, 1, 2, 4})
			array(b, "_cols/c.utf8", three, []uint8("abc"))
		}, ErrCorrupt},
		"negative end": {`"kind": "utf8"`, func(b *builder) {
			array(b, "_cols/c", []int64{4}, []int64{-1, 1, 2, 3})
			array(b, "_cols/c.utf8", three, []uint8("abc"))
		}, ErrCorrupt},
		"code too large": {`"kind": "dictionary"`, func(b *builder) {
			array(b, "_cols/c", three, []int32{0, 1, 2})
			b.Items("_cols/c_dict", []any{"x", "y"})
		}, ErrCorrupt},
		"code negative": {`"kind": "dictionary"`, func(b *builder) {
			array(b, "_cols/c", three, []int32{0, -1, -2})
			b.Items("_cols/c_dict", []any{"x", "y"})
		}, ErrCorrupt},
		"numbers as categories": {`"kind": "dictionary"`, func(b *builder) {
			array(b, "_cols/c", three, []int32{0, 0, 0})
			b.Items("_cols/c_dict", []any{1})
		}, ErrCorrupt},
		"null value of other type": {`"kind": "int8", "null_value": "x"`, func(b *builder) { array(b, "_cols/c", three, []int8{1, 2, 3}) }, ErrCorrupt},
	} {
		b := build(t, `{"name": "c", `+c.column+`}`, live)
		c.write(b)
		column, err := b.column("c")
		if err == nil {
			_, err = Read[any](ctx, column, 0, 3)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestSchemaFaults(t *testing.T) {
	for text, want := range map[string]error{
		`{`: ErrCorrupt, `[]`: ErrCorrupt, `{"version": 1, "columns": []} x`: ErrCorrupt, `{"version": 9, "columns": []}`: errors.ErrUnsupported,
		`{"version": 1, "columns": [{"name": "a", "kind": "int8"}, {"name": "a", "kind": "int8"}]}`: ErrCorrupt,
		`{"version": 1, "columns": [{"kind": "int8"}]}`:                                             ErrCorrupt, `{"version": 1, "columns": [{"name": "a", "kind": "new"}]}`: errors.ErrUnsupported,
		`{"version": 1, "columns": [{"name": "a", "kind": "timestamp", "unit": "h"}]}`:                                       ErrCorrupt,
		`{"version": 1, "columns": [{"name": "a", "kind": "list"}]}`:                                                         ErrCorrupt,
		`{"version": 1, "columns": [{"name": "a", "kind": "ndarray", "item_shape": [65536, 65536], "dtype_str": "<i4"}]}`:    ErrCorrupt,
		`{"version": 1, "columns": [{"name": "a", "kind": "int8", "null_value": [1]}]}`:                                      ErrCorrupt,
		`{"version": 1, "columns": [{"name": "a", "kind": "bytes", "null_value": {"__bytes__": true, "base64": "not it"}}]}`: ErrCorrupt,
		`{"version": 1, "columns": [], "materialized_columns": {}}`:                                                          ErrCorrupt,
		`{"version": 1, "columns": [], "materialized_columns": ["a"]}`:                                                       ErrCorrupt,
		`{"version": 1, "columns": [], "materialized_columns": [{"name": "a", "stale": 1}]}`:                                 ErrCorrupt,
		`{"version": 1, "columns": [], "computed_columns": 1}`:                                                               ErrCorrupt,
		`{"version": 1, "columns": [], "computed_columns": [{"expression": "o0"}]}`:                                          ErrCorrupt,
		`{"version": 1, "columns": [], "computed_columns": [{"name": "a", "col_deps": [1]}]}`:                                ErrCorrupt,
		`{"version": 1, "columns": [], "computed_columns": [{"name": "a"}, {"name": "a"}]}`:                                  ErrCorrupt,
		`{"version": 1, "columns": [{"name": "a", "kind": "int8"}], "computed_columns": [{"name": "a"}]}`:                    ErrCorrupt,
	} {
		if _, _, err := parseSchema([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
	}
}

// TestGenerated opens columns that python-blosc2 computes from others.
func TestGenerated(t *testing.T) {
	ctx := t.Context()
	b := build(t, "", []bool{true, true, true})
	b.Schema(`{"version": 1, "columns": [{"name": "price", "kind": "float64"}, {"name": "total", "kind": "float64"}, {"name": "half", "kind": "float64"}],
		"computed_columns": [
			{"name": "tax", "kind": "expression", "expression": "o0 * 0.25", "col_deps": ["price"], "dtype": "float64"},
			{"name": "net", "kind": "dsl", "dsl_source": "def net(x): return x", "col_deps": ["total", "price"], "dtype": "float64"}],
		"materialized_columns": [
			{"name": "total", "computed_column": null, "expression": "o0 * 2", "col_deps": ["price"], "dtype": "float64", "stale": true},
			{"name": "half", "expression": null, "transformer": {}, "col_deps": ["price"], "dtype": "float64", "stale": false},
			{"name": "gone", "col_deps": ["price"], "stale": true}]}`)
	for name, data := range map[string][]float64{"price": {10, 20, 30}, "total": {2, 4, 6}, "half": {5, 10, 15}} {
		array(b, "_cols/"+name, []int64{3}, data)
	}
	tab, err := b.open()
	if err != nil || len(tab.Columns()) != 3 {
		t.Fatal(tab, err)
	}
	for name, want := range map[string]string{
		"total": `column "total": its values are stale, because one of the columns ["price"] `, "tax": `column "tax": computed columns are not evaluated: "o0 * 0.25" of the columns ["price"]`,
		"net": `"def net(x): return x" of the columns ["total" "price"]`,
	} {
		if _, err := tab.Column(ctx, name); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := tab.Column(ctx, "gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}
	for _, err := range Rows[struct {
		Total float64 `b2:"total"`
	}](ctx, tab, 0, 3) {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("rows with a stale column: %v", err)
		}
	}
	for name, want := range map[string]float64{"price": 20, "half": 10} {
		c, err := tab.Column(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Read[float64](ctx, c, 1, 2); err != nil || got[0] != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"version": 3, "columns": [{"name": "a.b", "kind": "float64", "null_value": NaN}], "n_rows": 1}`))
	f.Add([]byte(`{"version": 1, "columns": [{"name": "m", "kind": "ndarray", "item_shape": [2, 3], "dtype_str": "<f4"}]}`))
	f.Add([]byte(`{"version": 2, "columns": [{"name": "l", "kind": "list", "item": {"kind": "struct", "fields": [{"name": "x", "kind": "int8"}]}}]}`))
	f.Add([]byte(`{"version": 1, "columns": [{"name": "a", "kind": "int8"}], "materialized_columns": [{"name": "a", "col_deps": ["b"], "stale": true}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		columns, _, err := parseSchema(text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, c := range columns {
			if seen[c.Name] || c.Name == "" {
				t.Fatalf("two columns %q", c.Name)
			}
			seen[c.Name] = true
			columnPath(c.Name)
		}
	})
}

// TestElements reads columns of arrays whose elements are text or times.
func TestElements(t *testing.T) {
	ctx := t.Context()
	column := func(dtype string, data []byte) *Column {
		t.Helper()
		b := build(t, fmt.Sprintf(`{"name": "c", "kind": "ndarray", "item_shape": [2], "dtype_str": %q}`, dtype), []bool{true, false, true})
		b.Fixed("_cols/c", dtype, []int64{3, 2}, data)
		c, err := b.column("c")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	utf32 := []byte("a\x00\x00\x00b\x00\x00\x00c\x00\x00\x00d\x00\x00\x00\xe9\x00\x00\x00f\x00\x00\x00")
	for dtype, data := range map[string][]byte{"|S2": []byte("a\x00b\x00c\x00d\x00\xc3\xa9f\x00"), "<U1": utf32} {
		c := column(dtype, data)
		if got, err := Read[string](ctx, c, 0, 2); err != nil || !slices.Equal(got, []string{"a", "b", "é", "f"}) {
			t.Errorf("%s: %q, %v", dtype, got, err)
		}
		if got, err := Read[any](ctx, c, 0, 2); err != nil || !reflect.DeepEqual(got, []any{[]string{"a", "b"}, []string{"é", "f"}}) {
			t.Errorf("%s: %q, %v", dtype, got, err)
		}
	}
	seconds := make([]byte, 6*8)
	seconds[0], seconds[8], seconds[32], seconds[40] = 1, 2, 3, 4
	at := func(n int64) time.Time { return time.Unix(n, 0).UTC() }
	times := column("<M8[s]", seconds)
	if got, err := Read[time.Time](ctx, times, 0, 2); err != nil || !slices.Equal(got, []time.Time{at(1), at(2), at(3), at(4)}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Read[any](ctx, times, 0, 2); err != nil || !reflect.DeepEqual(got, []any{[]time.Time{at(1), at(2)}, []time.Time{at(3), at(4)}}) {
		t.Errorf("%v, %v", got, err)
	}
	lengths := []any{[]time.Duration{time.Second, 2 * time.Second}, []time.Duration{3 * time.Second, 4 * time.Second}}
	if got, err := Read[any](ctx, column("<m8[s]", seconds), 0, 2); err != nil || !reflect.DeepEqual(got, lengths) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Read[string](ctx, times, 0, 2); !errors.Is(err, ErrType) {
		t.Errorf("times as text: %v", err)
	}
}
