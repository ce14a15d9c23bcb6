package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/goblosc/blosc2/b2arrow"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/tabletest"
)

// readTable returns the rows of a table as one Arrow table.
func readTable(t *testing.T, path string, columns []string) arrow.Table {
	t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tab, err := table.Open(ctx, s, "/")
	if err != nil {
		t.Fatal(err)
	}
	r, err := b2arrow.NewReader(ctx, tab, &b2arrow.Options{Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var batches []arrow.RecordBatch
	for r.Next() {
		batch := r.RecordBatch()
		batch.Retain()
		batches = append(batches, batch)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return array.NewTableFromRecords(r.Schema(), batches)
}

// readParquet returns the rows of a Parquet file.
func readParquet(t *testing.T, path string) arrow.Table {
	t.Helper()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 1 << 20}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestConvert writes tables with all kinds of columns and reads them back.
func TestConvert(t *testing.T) {
	files, err := filepath.Glob("../../testdata/tables/*.b2?")
	if err != nil || len(files) != 52 {
		t.Fatalf("%d tables, want 52: %v", len(files), err)
	}
	for _, from := range files {
		t.Run(filepath.Base(from), func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "t.parquet")
			if err := convert(context.Background(), from, to, nil); err != nil {
				t.Fatal(err)
			}
			compare(t, readParquet(t, to), readTable(t, from, nil))
		})
	}
	to := filepath.Join(t.TempDir(), "t.parquet")
	columns := []string{"c3_dictionary", "c0_int8"}
	if err := convert(context.Background(), "../../testdata/tables/wide0.b2z", to, columns); err != nil {
		t.Fatal(err)
	}
	compare(t, readParquet(t, to), readTable(t, "../../testdata/tables/wide0.b2z", columns))
}

// TestManyBatches writes a table of several batches, which share memory, with nulls that differ from batch to batch.
func TestManyBatches(t *testing.T) {
	const n = 200_000
	b := tabletest.New(t, `{"name": "a", "kind": "ndarray", "item_shape": [2], "dtype_str": "<i2", "nullable": true, "null_storage": "mask"},
		{"name": "i", "kind": "int32", "nullable": true, "null_storage": "mask"}`, tabletest.AllLive(n))
	items, numbers, notNull := make([]int16, 2*n), make([]int32, n), make([]bool, n)
	for i := range numbers {
		items[2*i], items[2*i+1], numbers[i], notNull[i] = int16(i), int16(i>>8), int32(i), i%7 != i/65_536
	}
	tabletest.Write(b, "_cols/a", []int64{n, 2}, items)
	tabletest.Write(b, "_cols/a.notnull", []int64{n}, notNull)
	tabletest.Write(b, "_cols/i", []int64{n}, numbers)
	tabletest.Write(b, "_cols/i.notnull", []int64{n}, notNull)
	to := filepath.Join(t.TempDir(), "t.parquet")
	if err := convert(context.Background(), b.Dir, to, nil); err != nil {
		t.Fatal(err)
	}
	got := readParquet(t, to)
	compare(t, got, readTable(t, b.Dir, nil))
	a := joined(t, got.Column(0))
	for k, valid := range notNull {
		if a.IsValid(k) != valid {
			t.Fatalf("row %d is %s", k, a.ValueStr(k))
		}
	}
}

// TestInnerLists writes lists of a fixed size inside lists and structures. Some of them are null.
func TestInnerLists(t *testing.T) {
	pair := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32)
	pairs := arrow.Field{Name: "p", Type: pair, Nullable: true}
	for _, c := range []struct {
		item arrow.DataType
		text string // of one row
	}{
		{pair, `[[%d, 1], null, [3, null]]`},
		{arrow.FixedSizeListOf(2, pair), `[null, [null, [%d, 2]], [[3, 4], [5, null]]]`},
		{arrow.ListOf(pair), `[[[%d, 1], null], [], null]`},
		{arrow.StructOf(arrow.Field{Name: "i", Type: arrow.PrimitiveTypes.Int8, Nullable: true}, pairs), `[{"i": 1, "p": [%d, 2]}, {"i": null, "p": null}, null]`},
	} {
		var text []string
		for i := range 100 {
			row := "null"
			if i%7 != 0 {
				row = fmt.Sprintf(c.text, i)
			}
			text = append(text, row)
		}
		lists, _, err := array.FromJSON(memory.DefaultAllocator, arrow.ListOf(c.item), strings.NewReader("["+strings.Join(text, ",")+"]"))
		if err != nil {
			t.Fatal(err)
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "values", Type: lists.DataType(), Nullable: true}}, nil)
		var content, head bytes.Buffer
		w := ipc.NewWriter(&content, ipc.WithSchema(schema))
		err = errors.Join(w.Write(array.NewRecordBatch(schema, []arrow.Array{lists}, 100)), w.Close(), ipc.NewWriter(&head, ipc.WithSchema(schema)).Close())
		if err != nil {
			t.Fatal(err)
		}
		live := tabletest.AllLive(100)
		for i := range live {
			live[i] = i%5 != 1
		}
		b := tabletest.New(t, `{"name": "l", "kind": "list", "serializer": "arrow", "nullable": true, "item": {"kind": "int32"}}`, live)
		m := map[string]any{"version": 1, "serializer": "arrow", "items_per_block": 100, "arrow_schema": head.Bytes()[:head.Len()-8]}
		b.Batches("_cols/l", m, []int{100}, [][][]byte{{content.Bytes()}})
		to := filepath.Join(t.TempDir(), "t.parquet")
		if err := convert(t.Context(), b.Dir, to, nil); err != nil {
			t.Errorf("%v: %v", c.item, err)
			continue
		}
		compare(t, readParquet(t, to), readTable(t, b.Dir, nil))
	}
}

// TestRowGroups expects that the rows of a large table become row groups, each of which the writer holds in memory.
func TestRowGroups(t *testing.T) {
	for n, want := range map[int]int{1 << 20: 1, 1<<20 + 1: 2} {
		b := tabletest.New(t, `{"name": "a", "kind": "bool"}`, tabletest.AllLive(n))
		tabletest.Write(b, "_cols/a", []int64{int64(n)}, make([]bool, n))
		to := filepath.Join(t.TempDir(), "t.parquet")
		if err := convert(context.Background(), b.Dir, to, nil); err != nil {
			t.Fatal(err)
		}
		f, err := file.OpenParquetFile(to, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.NumRowGroups(); got != want || f.NumRows() != int64(n) {
			t.Errorf("%d rows: %d row groups of %d rows, want %d", n, got, f.NumRows(), want)
		}
		f.Close()
	}
}

// compare compares the values of tables, which may be divided in other ways.
func compare(t *testing.T, got, want arrow.Table) {
	t.Helper()
	if got.NumCols() != want.NumCols() || got.NumRows() != want.NumRows() || want.NumRows() == 0 {
		t.Fatalf("%d columns, %d rows, want %d, %d", got.NumCols(), got.NumRows(), want.NumCols(), want.NumRows())
	}
	for i := range int(want.NumCols()) {
		name := want.Column(i).Name()
		g, w := joined(t, got.Column(i)), joined(t, want.Column(i))
		typ := withLists(want.Schema()).Field(i).Type
		if got.Column(i).Name() != name || !arrow.TypeEqual(g.DataType(), typ) {
			t.Errorf("column %s of type %v, want %s of type %v", got.Column(i).Name(), g.DataType(), name, typ)
		}
		for k := range w.Len() {
			// A dictionary may have other codes.
			if g.IsNull(k) != w.IsNull(k) || g.ValueStr(k) != w.ValueStr(k) {
				t.Errorf("%s: row %d is %s, want %s", name, k, g.ValueStr(k), w.ValueStr(k))
				break
			}
		}
	}
}

// joined returns the values of a column in one array.
func joined(t *testing.T, c *arrow.Column) arrow.Array {
	t.Helper()
	a, err := array.Concatenate(c.Data().Chunks(), memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// After an error there is no file, and existing files are as before.
func TestConvertErrors(t *testing.T) {
	ctx := context.Background()
	const wide = "../../testdata/tables/wide0.b2z"
	dir := t.TempDir()
	to := filepath.Join(dir, "t.parquet")
	if err := convert(ctx, wide, to, []string{"nothing"}); err == nil {
		t.Error("a missing column: no error")
	}
	if err := convert(ctx, "../../testdata/stores/tree.b2z", to, nil); err == nil {
		t.Error("a store without a table: no error")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("files %v, %v", files, err)
	}
	input, err := os.ReadFile(wide)
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(dir, "wide0.b2z")
	files := map[string]string{from: string(input), to: "an older file", filepath.Join(dir, "new.parquet.tmp"): "of another program"}
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{from, to, filepath.Join(dir, "new.parquet")} {
		for _, columns := range [][]string{nil, {"nothing"}} {
			if err := convert(ctx, from, name, columns); err == nil {
				t.Errorf("%s with the columns %v: no error", name, columns)
			}
		}
	}
	for name, content := range files {
		if got, err := os.ReadFile(name); err != nil || string(got) != content {
			t.Errorf("%s has changed, or is gone: %v", name, err)
		}
	}
}

// A stale column is an error that names it, and the others can be written.
func TestStaleColumn(t *testing.T) {
	ctx := context.Background()
	b := tabletest.New(t, "", tabletest.AllLive(2))
	b.Schema(`{"version": 1, "columns": [{"name": "price", "kind": "int8"}, {"name": "total", "kind": "int8"}],
		"materialized_columns": [{"name": "total", "expression": "o0 * 2", "col_deps": ["price"], "dtype": "int8", "stale": true}]}`)
	tabletest.Write(b, "_cols/price", []int64{2}, []int8{10, 20})
	tabletest.Write(b, "_cols/total", []int64{2}, []int8{2, 4})
	to := filepath.Join(t.TempDir(), "t.parquet")
	if err := convert(ctx, b.Dir, to, nil); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), `"total"`) {
		t.Errorf("a stale column: %v", err)
	}
	columns := []string{"price"}
	if err := convert(ctx, b.Dir, to, columns); err != nil {
		t.Fatal(err)
	}
	compare(t, readParquet(t, to), readTable(t, b.Dir, columns))
}
