package b2arrow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/tabletest"
)

// TestMemoryOfObjects reads objects that are within MaxBytes one by one, but not as one record batch.
func TestMemoryOfObjects(t *testing.T) {
	const n, most = 12, 1 << 20
	b := build(t, `{"name": "s", "kind": "vlstring"}`, tabletest.AllLive(n))
	batches := make([][]any, n)
	for i := range batches {
		batches[i] = []any{strings.Repeat("a", most/4)}
	}
	b.Items("_cols/s", batches...)
	checkMemory(t, b, n, []memoryCase{{0, 0, nil}, {most, 0, frame.ErrTooLarge}, {most, 2, nil}})
}

// TestMemoryOfValues reads objects whose MessagePack is within MaxBytes, all together, while their values are not.
func TestMemoryOfValues(t *testing.T) {
	const n, most = 16, 1 << 20
	b := build(t, `{"name": "s", "kind": "list", "item": {"kind": "int64"}}`, tabletest.AllLive(n))
	list := make([]any, 12_000)
	for i := range list {
		list[i] = int64(i % 100)
	}
	batches := make([][]any, n)
	for i := range batches {
		batches[i] = []any{list}
	}
	b.Items("_cols/s", batches...)
	checkMemory(t, b, n, []memoryCase{
		{0, 0, nil}, {most, 0, frame.ErrTooLarge}, {most, 4, nil},
		{1 << 19, 1, frame.ErrTooLarge}, // a list takes 768 kB as []any
	})
}

// TestMemoryOfStreams reads Arrow streams that are within MaxBytes one by one, but not as one record batch.
func TestMemoryOfStreams(t *testing.T) {
	const n, most = 12, 1 << 20
	b := build(t, `{"name": "s", "kind": "list", "serializer": "arrow", "item": {"kind": "int64"}}`, tabletest.AllLive(n))
	list := "[[" + strings.Repeat("0, ", most/4/8) + "0]]"
	content, schema := stream(t, arrow.ListOf(arrow.PrimitiveTypes.Int64), list)
	b.Batches("_cols/s", arrowLayer(schema), slices.Repeat([]int{1}, n), slices.Repeat([][][]byte{{content}}, n))
	checkMemory(t, b, n, []memoryCase{{0, 0, nil}, {most, 0, frame.ErrTooLarge}, {most, 2, nil}})
}

// TestMemoryOfNulls reads a null in place of a structure with two large arrays, which together have more than 2^31
// elements.
func TestMemoryOfNulls(t *testing.T) {
	field := `{"name": "%s", "kind": "ndarray", "item_shape": [1073741824], "dtype_str": "|u1"}`
	b := build(t, `{"name": "s", "kind": "struct", "fields": [`+fmt.Sprintf(field, "a")+", "+fmt.Sprintf(field, "b")+`]}`, tabletest.AllLive(1))
	b.Items("_cols/s", []any{nil})
	checkMemory(t, b, 1, []memoryCase{{0, 0, frame.ErrTooLarge}})
}

// TestMemoryOfColumns reads columns that are within MaxBytes one by one, but not all of them in one record batch.
func TestMemoryOfColumns(t *testing.T) {
	const n, most, count = 12, 1 << 20, 3
	for kind, c := range map[string]struct {
		columns string
		write   func(b *builder, key string)
	}{
		"texts": {`"kind": "vlstring"`, func(b *builder, key string) {
			b.Items(key, slices.Repeat([][]any{{strings.Repeat("a", most/32)}}, n)...)
		}},
		"arrays": {`"kind": "ndarray", "item_shape": [4096], "dtype_str": "<i8"`, func(b *builder, key string) {
			write(b, key, []int64{n, 4096}, make([]int64, n*4096))
		}},
		"streams": {`"kind": "list", "serializer": "arrow", "item": {"kind": "int64"}`, func(b *builder, key string) {
			content, schema := stream(t, arrow.ListOf(arrow.PrimitiveTypes.Int64), "[["+strings.Repeat("0, ", most/32/8)+"0]]")
			b.Batches(key, arrowLayer(schema), slices.Repeat([]int{1}, n), slices.Repeat([][][]byte{{content}}, n))
		}},
	} {
		t.Run(kind, func(t *testing.T) {
			b := build(t, severalColumns(count, c.columns), tabletest.AllLive(n))
			for i := range count {
				c.write(b, fmt.Sprint("_cols/c", i))
			}
			checkMemory(t, b, n, []memoryCase{{0, 0, nil}, {most, n, frame.ErrTooLarge}, {most, 2, nil}, {most, 0, nil}})
		})
	}
}

// TestFewerRows reads a table of which 65536 rows take more memory than the stored bytes justify. Without Options.Rows,
// batches have fewer rows.
func TestFewerRows(t *testing.T) {
	const n, items, count = 100_000, 16, 20
	ctx := context.Background()
	b := build(t, severalColumns(count, `"kind": "ndarray", "item_shape": [16], "dtype_str": "<f8"`), tabletest.AllLive(n))
	zeros, values := make([]float64, n*items), make([]float64, n*items)
	marked := []int{0, 16384, 32767, 65536, 99_999}
	for _, row := range marked {
		values[row*items] = float64(row + 1)
	}
	for i := range count - 1 {
		write(b, fmt.Sprint("_cols/c", i), []int64{n, items}, zeros)
	}
	write(b, fmt.Sprint("_cols/c", count-1), []int64{n, items}, values)
	tab := b.open()
	rows, got := []int64{}, []int{}
	at := 0
	for batch, err := range Batches(ctx, tab, &Options{Allocator: checked(t)}) {
		if err != nil {
			t.Fatal(err)
		}
		floats := batch.Column(count - 1).(*array.FixedSizeList)
		for i := range int(batch.NumRows()) {
			from, _ := floats.ValueOffsets(i)
			if v := floats.ListValues().(*array.Float64).Value(int(from)); v == float64(at+i+1) {
				got = append(got, at+i)
			} else if v != 0 {
				t.Fatalf("%v in row %d", v, at+i)
			}
		}
		rows, at = append(rows, batch.NumRows()), at+int(batch.NumRows())
	}
	if !slices.Equal(got, marked) || at != n {
		t.Errorf("%d rows, values in the rows %d, want %d", at, got, marked)
	}
	if want := []int64{16384, 16384, 16384, 16384, 16384, 16384, 1696}; !slices.Equal(rows, want) {
		t.Errorf("batches of %d rows, want %d", rows, want)
	}
	for _, err := range Batches(ctx, tab, &Options{Rows: 65536, Allocator: checked(t)}) {
		if !errors.Is(err, frame.ErrTooLarge) {
			t.Errorf("65536 rows: %v, want %v", err, frame.ErrTooLarge)
		}
	}
}

// severalColumns returns the JSON of columns c0, c1 and so on.
func severalColumns(n int, rest string) string {
	columns := make([]string, n)
	for i := range columns {
		columns[i] = fmt.Sprintf(`{"name": "c%d", %s}`, i, rest)
	}
	return strings.Join(columns, ",")
}

// TestMemoryOfCategories reads dictionaries whose categories are within the limit one by one, but not all of them,
// even for a single row. Their files have a few hundred bytes. Schema does not read them.
func TestMemoryOfCategories(t *testing.T) {
	const n, count, categories = 3, 5, 1 << 20
	ctx := context.Background()
	b := build(t, severalColumns(count, `"kind": "dictionary"`), tabletest.AllLive(n))
	text := []byte{0xa0} // of 0 bytes
	list := append([]byte{0xdd, 0, categories >> 16, 0, 0}, bytes.Repeat(text, categories)...)
	for i := range count {
		key := fmt.Sprint("_cols/c", i)
		write(b, key, []int64{n}, []int32{categories - 1, 0, 1})
		b.Batches(key+"_dict", map[string]any{"version": 1, "serializer": "msgpack", "items_per_block": nil}, []int{categories}, [][][]byte{{list}})
	}
	tab := b.open()
	if s, err := Schema(ctx, tab, nil); err != nil || s.NumFields() != count {
		t.Errorf("Schema: %v, %v", s, err)
	}
	for _, x := range []struct {
		columns []string
		want    error
	}{{[]string{"c0"}, nil}, {[]string{"c3", "c4"}, nil}, {nil, frame.ErrTooLarge}} {
		var err error
		for batch, e := range Batches(ctx, tab, &Options{Columns: x.columns, Allocator: checked(t)}) {
			if err = e; err == nil && batch.Column(0).ValueStr(0) != "" {
				t.Errorf("%v", batch)
			}
		}
		if !errors.Is(err, x.want) {
			t.Errorf("columns %q: %v, want %v", x.columns, err, x.want)
		}
	}
}

// memoryCase is a limit of memory, the number of rows of a batch, and the error that is expected.
type memoryCase struct {
	limit, rows int64
	want        error
}

// checkMemory reads a table of n rows with limits of memory.
func checkMemory(t *testing.T, b *builder, n int64, cases []memoryCase) {
	t.Helper()
	ctx := context.Background()
	for _, x := range cases {
		s, err := store.Open(ctx, b.Dir, &store.OpenOptions{Frames: &frame.OpenOptions{MaxBytes: x.limit}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tab, err := table.Open(ctx, s, "/")
		if err != nil {
			t.Fatal(err)
		}
		rows := int64(0)
		for r, e := range Batches(ctx, tab, &Options{Rows: x.rows}) {
			if err = e; err != nil {
				break
			}
			rows += r.NumRows()
			r.Release()
		}
		if !errors.Is(err, x.want) || x.want == nil && (err != nil || rows != n) {
			t.Errorf("MaxBytes %d, %d rows at a time: %d rows, %v, want %v", x.limit, x.rows, rows, err, x.want)
		}
	}
}
