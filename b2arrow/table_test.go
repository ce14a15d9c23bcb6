package b2arrow

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/manifest"
	"github.com/goblosc/blosc2/meta"
)

// openTable opens the table of a store.
func openTable(t testing.TB, path string) *table.Table {
	t.Helper()
	s, err := store.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	tab, err := table.Open(context.Background(), s, "/")
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// checked returns an allocator that must have no memory at the end of the test.
func checked(t testing.TB) memory.Allocator {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// valueAt returns value i of an array as a Go value, and nil for null.
func valueAt(t testing.TB, a arrow.Array, i int) any {
	t.Helper()
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.List:
		from, to := a.ValueOffsets(i)
		return valuesAt(t, a.ListValues(), int(from), int(to))
	case *array.FixedSizeList:
		from, to := a.ValueOffsets(i)
		return valuesAt(t, a.ListValues(), int(from), int(to))
	case *array.Struct:
		m := map[string]any{}
		for k, f := range a.DataType().(*arrow.StructType).Fields() {
			m[f.Name] = valueAt(t, a.Field(k), i)
		}
		return m
	case *array.Dictionary:
		return valueAt(t, a.Dictionary(), a.GetValueIndex(i))
	case *array.LargeBinary:
		return bytes.Clone(a.Value(i))
	case *array.FixedSizeBinary:
		return bytes.Clone(a.Value(i))
	case *array.Timestamp:
		dt := a.DataType().(*arrow.TimestampType)
		return a.Value(i).ToTime(dt.Unit).UTC()
	case *array.Float16:
		return a.Value(i).Float32()
	}
	if v := reflect.ValueOf(a).MethodByName("Value"); v.IsValid() {
		return v.Call([]reflect.Value{reflect.ValueOf(i)})[0].Interface()
	}
	t.Fatalf("an array of type %T", a)
	return nil
}

func valuesAt(t testing.TB, a arrow.Array, from, to int) []any {
	list := []any{}
	for i := from; i < to; i++ {
		list = append(list, valueAt(t, a, i))
	}
	return list
}

// flat returns the elements of nested lists.
func flat(v any) []any {
	list, ok := v.([]any)
	if !ok {
		return []any{v}
	}
	out := []any{}
	for _, e := range list {
		out = append(out, flat(e)...)
	}
	return out
}

// inJSON returns a value of an array in the notation of the manifest.
func inJSON(t testing.TB, kind string, v any) any {
	t.Helper()
	switch x := v.(type) {
	case []byte:
		if kind != "object" {
			return map[string]any{"bytes": hex.EncodeToString(x)}
		}
		var o any
		if err := meta.Unmarshal(x, &o); err != nil {
			t.Fatal(err)
		}
		return inJSON(t, "", o)
	case []any:
		out := []any{}
		for _, e := range x {
			out = append(out, inJSON(t, "", e))
		}
		if kind == "complex64" || kind == "complex128" {
			return map[string]any{"complex": out}
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			out[k] = inJSON(t, "", e)
		}
		return out
	case interface{ Format(string) string }:
		return x.Format("2006-01-02 15:04:05.000000")
	case float32:
		return json.Number(strconv.FormatFloat(float64(x), 'g', -1, 64))
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64, float64:
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return json.Number(b)
	}
	return v
}

// same compares values in the notation of the manifest, in which a number may be written in several ways.
func same(got, want any) bool {
	switch w := want.(type) {
	case json.Number:
		g, ok := got.(json.Number)
		if !ok || g == w {
			return ok
		}
		x, err1 := g.Float64()
		y, err2 := w.Float64()
		_, isInt := strconv.ParseInt(string(w), 10, 64)
		return err1 == nil && err2 == nil && isInt != nil && x == y
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(g, w, same)
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for k := range w {
			if !same(g[k], w[k]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(got, want)
}

// TestTables compares every value of the tables with the manifest, in batches of several sizes.
func TestTables(t *testing.T) {
	ctx := context.Background()
	values := 0
	for _, c := range manifest.Tables(t) {
		for _, rows := range []int64{0, 7, 1} {
			t.Run(c.File+"/"+strconv.Itoa(int(rows)), func(t *testing.T) {
				tab := openTable(t, c.Path)
				o := &Options{Rows: rows, Allocator: checked(t)}
				schema, err := Schema(ctx, tab, o)
				if err != nil {
					t.Fatal(err)
				}
				if schema.NumFields() != len(c.Columns) {
					t.Errorf("%d fields, want %d", schema.NumFields(), len(c.Columns))
				}
				row := 0
				for batch, err := range Batches(ctx, tab, o) {
					if err != nil {
						t.Fatal(err)
					}
					if !batch.Schema().Equal(schema) {
						t.Fatalf("schema %v, want %v", batch.Schema(), schema)
					}
					if want := min(max(rows, 0), c.Rows-int64(row)); rows > 0 && batch.NumRows() != want {
						t.Errorf("%d rows, want %d", batch.NumRows(), want)
					}
					for k, f := range schema.Fields() {
						want := c.Columns[f.Name]
						for i := range int(batch.NumRows()) {
							w := want.Values[row+i]
							if want.Kind == "ndarray" && w != nil {
								w = flat(w)
							}
							if got := inJSON(t, want.Kind, valueAt(t, batch.Column(k), i)); !same(got, w) {
								t.Fatalf("%s: row %d is %v, want %v", f.Name, row+i, got, w)
							}
							if null := slices.Contains(want.Null, row+i); batch.Column(k).IsNull(i) != null {
								t.Errorf("%s: row %d: null is %v", f.Name, row+i, !null)
							}
							values++
						}
					}
					row += int(batch.NumRows())
				}
				if int64(row) != c.Rows {
					t.Errorf("%d rows, want %d", row, c.Rows)
				}
			})
		}
	}
	if values != 3*8925 {
		t.Errorf("%d values were compared, want %d", values, 3*8925)
	}
}
