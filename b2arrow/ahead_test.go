package b2arrow

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
)

// longTable returns the builder of a table with columns of fixed size, some of whose rows are deleted and null.
func longTable(t testing.TB, n int) *builder {
	live, numbers, small, valid, codes := make([]bool, n), make([]float64, n), make([]int16, n), make([]bool, n), make([]int32, n)
	for i := range n {
		live[i], numbers[i], small[i], valid[i], codes[i] = i%1000 != 7, float64(i)/3, int16(i), i%5 != 0, int32(i%4-1)
	}
	b := build(t, `{"name": "x", "kind": "float64"}, {"name": "i", "kind": "int16", "null_storage": "mask", "nullable": true}, {"name": "d", "kind": "dictionary"}`, live)
	write(b, "_cols/x", []int64{int64(n)}, numbers)
	write(b, "_cols/i", []int64{int64(n)}, small)
	write(b, "_cols/i.notnull", []int64{int64(n)}, valid)
	write(b, "_cols/d", []int64{int64(n)}, codes)
	b.Items("_cols/d_dict", []any{"a", "b", "c"})
	return b
}

// Batches of all sizes have the values of the columns, although several are decoded at once.
func TestBatchesAhead(t *testing.T) {
	ctx := context.Background()
	const n = 50_000
	tab := longTable(t, n).open()
	for _, size := range []int64{999, 4096, 30_000, n} {
		o := &Options{Rows: size, Allocator: checked(t)}
		want := map[int][]any{}
		for k, name := range []string{"x", "i", "d"} {
			c, err := tab.Column(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Column(ctx, c, 0, tab.Rows(), o.Allocator)
			if err != nil {
				t.Fatal(err)
			}
			want[k] = valuesAt(t, a, 0, a.Len())
			a.Release()
		}
		row := 0
		for batch, err := range Batches(ctx, tab, o) {
			if err != nil {
				t.Fatal(err)
			}
			for k := range 3 {
				if got := valuesAt(t, batch.Column(k), 0, int(batch.NumRows())); !slices.Equal(got, want[k][row:row+len(got)]) {
					t.Fatalf("batches of %d rows: column %d differs after row %d", size, k, row)
				}
			}
			row += int(batch.NumRows())
		}
		if int64(row) != tab.Rows() {
			t.Errorf("batches of %d rows: %d rows, want %d", size, row, tab.Rows())
		}
	}
	r, err := newReader(ctx, tab, &Options{Rows: 999})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for _, c := range r.columns {
		if c.rows < 10*999 || c.rows%999 != 0 {
			t.Errorf("%s: %d rows are decoded at once", c.info.Name, c.rows)
		}
	}
}

// The rows before a damaged block are still returned.
func TestAheadOfFault(t *testing.T) {
	ctx := context.Background()
	const n = 100_000
	b := build(t, `{"name": "x", "kind": "float64"}`, tabletest.AllLive(n))
	data := make([]float64, n)
	for i := range data {
		data[i] = float64(i*i%977) / 7
	}
	file := b.File("_cols/x.b2nd")
	a, err := ndarray.Create(ctx, file, []int64{n}, data, &ndarray.CreateOptions{Chunks: []int64{10_000}, Blocks: []int64{1000}, Checksums: true})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	clear(content[len(content)/2:][:5000])
	if err := os.WriteFile(file, content, 0o666); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for batch, err := range Batches(ctx, b.open(), &Options{Rows: 1000, Allocator: checked(t)}) {
		if err != nil {
			if rows < 30_000 || rows > 60_000 {
				t.Errorf("%d rows before %v", rows, err)
			}
			return
		}
		x := batch.Column(0).(*array.Float64)
		for i := range x.Len() {
			if x.Value(i) != data[rows+i] {
				t.Fatalf("row %d differs", rows+i)
			}
		}
		rows += x.Len()
	}
	t.Error("no error")
}
