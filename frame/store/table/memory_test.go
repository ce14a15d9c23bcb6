package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
)

// drain counts the values of a range up to an error.
func drain[T any](seq func(func(T, error) bool)) (n int, err error) {
	for _, err := range seq {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// TestMemoryOfAllRows reads tables of which each window of rows, and each value, is within MaxBytes, but all of them
// are not. One row is deleted, so that rows are read window by window.
func TestMemoryOfAllRows(t *testing.T) {
	const n, most = 300_000, 1 << 20
	ctx := context.Background()
	live := make([]bool, n)
	for i := range live {
		live[i] = i != 1
	}
	b := build(t, `{"name": "i", "kind": "int64"}, {"name": "null", "kind": "int64", "null_value": 0},
		{"name": "u", "kind": "utf8"}`, live)
	array(b, "_cols/i", []int64{n}, make([]int64, n))
	array(b, "_cols/null", []int64{n}, make([]int64, n))
	array(b, "_cols/u", []int64{n + 1}, make([]int64, n+1))
	array(b, "_cols/u.utf8", []int64{0}, []uint8{})
	for _, limit := range []int64{0, most} {
		tab := openLimited(t, b, limit)
		want := errs.ErrTooLarge
		if limit == 0 {
			want = nil
		}
		last := tab.Rows()
		for name, read := range map[string]func(c *Column) error{
			"i":    func(c *Column) error { return second(Read[int64](ctx, c, 0, last)) },
			"null": func(c *Column) error { return second(Find(ctx, c, Less, int64(3))) },
			"u":    func(c *Column) error { return second(Read[string](ctx, c, 0, last)) },
		} {
			c, err := tab.Column(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			if name == "null" {
				c.null = nullTest{}
			}
			if err := read(c); !errors.Is(err, want) || err != nil && want == nil {
				t.Errorf("MaxBytes %d, column %s: %v, want %v", limit, name, err, want)
			}
			if name == "i" {
				if k, err := drain(All[int64](ctx, c)); int64(k) != last || err != nil {
					t.Errorf("MaxBytes %d: All returns %d rows, then %v", limit, k, err)
				}
			}
		}
	}
}

// openLimited opens a table with a limit of memory.
func openLimited(t *testing.T, b *builder, limit int64) *Table {
	t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, b.Dir, &store.OpenOptions{Frames: &frame.OpenOptions{MaxBytes: limit}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	tab, err := Open(ctx, s, "/")
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// itemColumn returns a column of n values of any size.
func itemColumn(s *store.Store, o *objects.Array, n int64) *Column {
	return &Column{t: &Table{s: s}, rows: &rows.Set{Stored: n, Live: n}, items: o, info: ColumnInfo{Name: "s", Kind: "vlstring"}}
}

// TestMemoryOfAllItems reads values of any size, and categories, that are within MaxBytes one by one.
func TestMemoryOfAllItems(t *testing.T) {
	const n, most = 12, 1 << 20
	ctx := context.Background()
	b := build(t, `{"name": "s", "kind": "string"}`, nil)
	large := string(bytes.Repeat([]byte{'a'}, most/4))
	batches := make([][]any, n)
	for i := range batches {
		batches[i] = []any{large}
	}
	b.Items("_cols/s", batches...)
	b.Items("_cols/d_dict", batches...)
	for _, limit := range []int64{0, most} {
		s, err := store.Open(ctx, b.Dir, &store.OpenOptions{Frames: &frame.OpenOptions{MaxBytes: limit}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		o, err := s.Objects(ctx, "/_cols/s")
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		want := errs.ErrTooLarge
		if limit == 0 {
			want = nil
		}
		c := itemColumn(s, o, n)
		check := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, want) || err != nil && want == nil {
				t.Errorf("MaxBytes %d, %s: %v, want %v", limit, what, err, want)
			}
		}
		check("strings", second(Read[string](ctx, c, 0, n)))
		check("any", second(Read[any](ctx, c, 0, n)))
		d, err := openDictionary(ctx, c.t, "/_cols/d")
		if err != nil {
			t.Fatal(err)
		}
		check("categories", second(d.categories(ctx)))
		if k, err := drain(All[string](ctx, c)); k != n || err != nil {
			t.Errorf("MaxBytes %d: All returns %d values, then %v", limit, k, err)
		}
		for v, err := range All[string](ctx, c) {
			if v != large || err != nil {
				t.Errorf("first value of %d bytes, %v", len(v), err)
			}
			break
		}
	}
}

// TestManyMarks opens a table whose marks take more memory than MaxBytes allows.
func TestManyMarks(t *testing.T) {
	const n = 100_000_000
	ctx := context.Background()
	b := build(t, "", nil)
	a, err := ndarray.Zeros(ctx, b.File("_valid_rows.b2nd"), []int64{n}, "|b1", &ndarray.CreateOptions{Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	s, err := store.Open(ctx, b.Dir, &store.OpenOptions{Frames: &frame.OpenOptions{MaxBytes: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := Open(ctx, s, "/"); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("%d rows: %v, want ErrTooLarge", n, err)
	}
}

// TestMemoryOfValues reads columns whose values take more memory than their items: the rows are within MaxBytes as they
// are stored, but not as Go values.
func TestMemoryOfValues(t *testing.T) {
	const n, most = 100_000, 1 << 20 // values take less on 32 bits
	ctx := context.Background()
	b := build(t, `{"name": "i", "kind": "int8", "null_value": 1}, {"name": "b", "kind": "bytes", "max_length": 1},
		{"name": "t", "kind": "timestamp", "unit": "s"}`, tabletest.AllLive(n))
	array(b, "_cols/i", []int64{n}, make([]int8, n))
	b.fixed("_cols/b", "|S1", bytes.Repeat([]byte("b"), n))
	array(b, "_cols/t", []int64{n}, make([]int64, n))
	type row struct {
		I *int8  `b2:"i"`
		B []byte `b2:"b"`
		T any    `b2:"t"`
	}
	for _, limit := range []int64{0, most} {
		tab := openLimited(t, b, limit)
		for name, read := range map[string]func(c *Column) error{
			"i any":      func(c *Column) error { return second(Read[any](ctx, c, 0, n)) },
			"i pointers": func(c *Column) error { return second(ReadNullable[int8](ctx, c, 0, n)) },
			"b":          func(c *Column) error { return second(Read[[]byte](ctx, c, 0, n)) },
			"t":          func(c *Column) error { return second(Read[time.Time](ctx, c, 0, n)) },
			"t any":      func(c *Column) error { return second(Read[any](ctx, c, 0, n)) },
		} {
			c, err := tab.Column(ctx, name[:1])
			if err != nil {
				t.Fatal(err)
			}
			want := errs.ErrTooLarge
			if limit == 0 || name == "i pointers" { // nine bytes for each row
				want = nil
			}
			if err := read(c); !errors.Is(err, want) || err != nil && want == nil {
				t.Errorf("MaxBytes %d, %s: %v, want %v", limit, name, err, want)
			}
			if k, err := drain(All[any](ctx, c)); k != n || err != nil {
				t.Errorf("MaxBytes %d, %s: All returns %d values, then %v", limit, name, k, err)
			}
		}
		if k, err := drain(Rows[row](ctx, tab, 0, n)); k != n || err != nil {
			t.Errorf("MaxBytes %d: Rows returns %d rows, then %v", limit, k, err)
		}
	}
}

// TestMemoryOfDecodedItems reads items that are within MaxBytes all together as MessagePack, but only one by one as
// values.
func TestMemoryOfDecodedItems(t *testing.T) {
	const n, most = 64, 1 << 20
	ctx := context.Background()
	b := build(t, `{"name": "s", "kind": "list", "item": {"kind": "int64"}}`, tabletest.AllLive(n))
	list := make([]any, 4000) // 4 kB of MessagePack, and 64 kB or more as []any
	for i := range list {
		list[i] = int64(i % 100)
	}
	batches := make([][]any, n)
	for i := range batches {
		batches[i] = []any{list}
	}
	b.Items("_cols/s", batches...)
	type row struct {
		S []any `b2:"s"`
	}
	for _, limit := range []int64{0, most} {
		tab := openLimited(t, b, limit)
		c, err := tab.Column(ctx, "s")
		if err != nil {
			t.Fatal(err)
		}
		want := errs.ErrTooLarge
		if limit == 0 {
			want = nil
		}
		for what, err := range map[string]error{
			"any":      second(Read[any](ctx, c, 0, n)),
			"lists":    second(Read[[]any](ctx, c, 0, n)),
			"pointers": second(ReadNullable[[]any](ctx, c, 0, n)),
		} {
			if !errors.Is(err, want) || err != nil && want == nil {
				t.Errorf("MaxBytes %d, %s: %v, want %v", limit, what, err, want)
			}
		}
		if k, err := drain(All[any](ctx, c)); k != n || err != nil {
			t.Errorf("MaxBytes %d: All returns %d values, then %v", limit, k, err)
		}
		largest, rows := uint64(0), 0
		before := heap()
		for r, err := range Rows[row](ctx, tab, 0, n) {
			if err != nil || len(r.S) != len(list) {
				t.Fatalf("MaxBytes %d: row %d has %d values, %v", limit, rows, len(r.S), err)
			}
			if rows++; rows == 1 { // Rows holds all rows of a window
				largest = heap() - before
			}
		}
		if rows != n {
			t.Errorf("MaxBytes %d: %d rows", limit, rows)
		}
		if limit == most && largest > 2*most && !race.Enabled {
			t.Errorf("Rows holds %d bytes, MaxBytes is %d", largest, most)
		}
	}
}

// TestMemoryOfTextNulls looks for nulls in texts that are within MaxBytes one by one, but not all together.
func TestMemoryOfTextNulls(t *testing.T) {
	const n, size, most = 64, 100_000, 1 << 20
	ctx := t.Context()
	b := build(t, `{"name": "u", "kind": "utf8", "null_value": "-"}`, tabletest.AllLive(n))
	ends, text, want := []int64{0}, []byte{}, make([]bool, n)
	for i := range want {
		if want[i] = i%5 == 3; want[i] {
			text = append(text, '-')
		} else {
			text = append(text, make([]byte, size)...)
		}
		ends = append(ends, int64(len(text)))
	}
	array(b, "_cols/u", []int64{n + 1}, ends)
	array(b, "_cols/u.utf8", []int64{int64(len(text))}, text)
	c, err := openLimited(t, b, most).Column(ctx, "u")
	if err != nil {
		t.Fatal(err)
	}
	for start := range int64(3) {
		got, err := c.Nulls(ctx, start, n-start)
		if err != nil || !slices.Equal(got, want[start:n-start]) {
			t.Errorf("rows %d to %d: %v, %v, want %v", start, n-start, got, err, want[start:n-start])
		}
	}
	if err := second(Read[string](ctx, c, 0, n)); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("all texts: %v, want ErrTooLarge", err)
	}
}

// TestAllOfLongTexts ranges over texts of which 65,536 take far more memory than a window may. All does not read the
// ends of texts again for each window.
func TestAllOfLongTexts(t *testing.T) {
	ctx := t.Context()
	const n, size, long, last = 65000, 1000, 12 << 20, 30000
	for name, deleted := range map[string]func(i int) bool{
		"no row deleted":    func(int) bool { return false },
		"some rows deleted": func(i int) bool { return i%5 == 2 || i/3000%4 == 3 },
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		live, ends, want := make([]bool, n), make([]int64, n+1), []int{}
		for i := range n {
			length := rng.IntN(size)
			if i == last {
				length = long
			}
			ends[i+1] = ends[i] + int64(length)
			if live[i] = !deleted(i); live[i] {
				want = append(want, length)
			}
		}
		b := build(t, `{"name": "u", "kind": "utf8", "null_value": "-"}`, live)
		array(b, "_cols/u", []int64{n + 1}, ends)
		text, err := ndarray.Full(ctx, b.File("_cols/u.utf8.b2nd"), []int64{ends[n]}, byte('x'), nil)
		if err == nil {
			err = text.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		tab, src := openCounted(b)
		c, err := tab.Column(ctx, "u")
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for v, err := range All[string](ctx, c) {
			if len(v) != want[0] || err != nil {
				t.Fatalf("%s: %d bytes, %v, want %d", name, len(v), err, want[0])
			}
			break
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 && !race.Enabled {
			t.Errorf("%s: %d bytes of memory for the first of %d texts", name, used, len(want))
		}
		start := src.n.Load()
		if _, err := ndarray.Read[int64](ctx, c.array); err != nil {
			t.Fatal(err)
		}
		once := src.n.Load() - start
		got := []int{}
		for v, err := range All[any](ctx, c) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, len(v.(string)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d texts, want %d, or others", name, len(got), len(want))
		}
		if read := src.n.Load() - start - once; once == 0 || read > once*3/2 {
			t.Errorf("%s: All reads %d bytes, the ends have %d", name, read, once)
		}
		if found, err := Find(ctx, c, Equal, ""); err != nil || len(found) == 0 || slices.ContainsFunc(found, func(i int64) bool { return want[i] > 0 }) {
			t.Errorf("%s: empty texts in rows %v, %v", name, found, err)
		}
	}
}

// heap returns the number of bytes in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestGaps reads a few rows with large deleted rows between them. The memory is that of the rows.
func TestGaps(t *testing.T) {
	ctx := t.Context()
	const n, wide, long = 20000, 65536, 200 << 20
	live := make([]bool, n)
	live[0], live[1], live[n-1] = true, true, true
	b := build(t, fmt.Sprintf(`{"name": "s", "kind": "bytes", "max_length": %d}, {"name": "u", "kind": "utf8"}`, wide), live)
	ends := make([]int64, n+1)
	for i := range ends[1:] {
		ends[i+1] = 3*min(int64(i)+1, 2) + int64(i)/2*(long/(n/2))
	}
	ends[n] = ends[n-1] + 3
	array(b, "_cols/u", []int64{n + 1}, ends)
	text, err := ndarray.Full(ctx, b.File("_cols/u.utf8.b2nd"), []int64{ends[n]}, byte('x'), nil)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := ndarray.Full(ctx, b.File("_cols/s.b2nd"), []int64{n}, "", &ndarray.CreateOptions{DType: fmt.Sprintf("|S%d", wide)})
	if err := errors.Join(err, text.Close(), fixed.Close()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"s": {"", "", ""}, "u": {"xxx", "xxx", "xxx"}} {
		c, err := b.column(name)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := Read[string](ctx, c, 0, 3)
		runtime.ReadMemStats(&after)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%s: %d bytes of memory", name, used)
		}
	}
}
