package b2arrow

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// Nested columns become structures, in the order of their first columns.
func TestStructs(t *testing.T) {
	ctx := context.Background()
	three := []int64{3}
	b := build(t, `{"name": "trip.start", "kind": "int32"}, {"name": "n", "kind": "int8"}, {"name": "trip.end.x", "kind": "int8"},
		{"name": "trip.end.who", "kind": "dictionary"}, {"name": "a\\.b\\\\", "kind": "int8"}, {"name": "trip.tags", "kind": "list", "nullable": true, "item": {"kind": "vlstring"}}`,
		[]bool{true, true, true})
	write(b, "_cols/trip/start", three, []int32{1, 2, 3})
	write(b, "_cols/n", three, []int8{10, 20, 30})
	write(b, "_cols/trip/end/x", three, []int8{4, 5, 6})
	write(b, "_cols/trip/end/who", three, []int32{1, -1, 0})
	b.Items("_cols/trip/end/who_dict", []any{"Ada", "Bo"})
	write(b, "_cols/a%2Eb%5C", three, []int8{7, 8, 9})
	b.Items("_cols/trip/tags", []any{[]any{"x"}, nil, []any{}})
	tab := b.open()
	trip := func(start int32, x int8, who any, tags any) any {
		return map[string]any{"start": start, "end": map[string]any{"x": x, "who": who}, "tags": tags}
	}
	want := [][]any{
		{trip(1, 4, "Bo", []any{"x"}), trip(2, 5, nil, nil), trip(3, 6, "Ada", []any{})}, {int8(10), int8(20), int8(30)}, {int8(7), int8(8), int8(9)},
	}
	for _, rows := range []int64{0, 2, 1} {
		o := &Options{Structs: true, Rows: rows, Allocator: checked(t)}
		got := make([][]any, 3)
		for batch, err := range Batches(ctx, tab, o) {
			if err != nil {
				t.Fatal(err)
			}
			schema, err := Schema(ctx, tab, o)
			if err != nil || !batch.Schema().Equal(schema) {
				t.Fatalf("schema %v, want %v: %v", batch.Schema(), schema, err)
			}
			for k := range got {
				got[k] = append(got[k], valuesAt(t, batch.Column(k), 0, int(batch.NumRows()))...)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("batches of %d rows: %v, want %v", rows, got, want)
		}
	}
	schema, err := Schema(ctx, tab, &Options{Structs: true})
	if err != nil || schema.NumFields() != 3 || schema.Field(1).Name != "n" || schema.Field(2).Name != `a.b\` || schema.Field(0).Type.String() !=
		"struct<start: int32 nullable, end: struct<x: int8 nullable, who: dictionary<values=utf8, indices=int32, ordered=false> nullable> nullable, tags: list<item: utf8, nullable> nullable>" {
		t.Errorf("%v, %v", schema, err)
	}
	if flat, err := Schema(ctx, tab, nil); err != nil || flat.NumFields() != 6 || flat.Field(2).Name != "trip.end.x" {
		t.Errorf("%v, %v", flat, err)
	}
	one, err := Schema(ctx, tab, &Options{Structs: true, Columns: []string{"n", "trip.end.x"}})
	if err != nil || one.NumFields() != 2 || one.Field(1).Type.String() != "struct<end: struct<x: int8 nullable> nullable>" {
		t.Errorf("%v, %v", one, err)
	}
}

func TestStructErrors(t *testing.T) {
	deep := "a" + strings.Repeat(".a", maxDepth+1)
	for columns, want := range map[string]error{`a`: nil, `a,a.b`: errors.ErrUnsupported, `a.b,a`: errors.ErrUnsupported, `a.b.c,a.b`: errors.ErrUnsupported, deep: ndarray.ErrTooLarge} {
		names := strings.Split(columns, ",")
		var schema []string
		for _, name := range names {
			schema = append(schema, `{"name": "`+name+`", "kind": "int8"}`)
		}
		b := build(t, strings.Join(schema, ","), []bool{true})
		for _, name := range names {
			write(b, "_cols/"+strings.ReplaceAll(name, ".", "/"), []int64{1}, []int8{1})
		}
		if _, err := Schema(context.Background(), b.open(), &Options{Structs: true}); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%.40s: %v, want %v", columns, err, want)
		}
	}
}

func TestNameParts(t *testing.T) {
	for name, want := range map[string][]string{
		"a": {"a"}, "a.b": {"a", "b"}, `a\.b.c`: {"a.b", "c"}, `a\\.b`: {`a\`, "b"}, `a\`: {`a\`}, "": {""}, ".": {"", ""}, "a..b": {"a", "", "b"},
	} {
		if got := nameParts(name); !slices.Equal(got, want) {
			t.Errorf("nameParts(%q) is %q, want %q", name, got, want)
		}
	}
}
