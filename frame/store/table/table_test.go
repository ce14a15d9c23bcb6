package table

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/link"
	"github.com/goblosc/blosc2/internal/manifest"
	"github.com/goblosc/blosc2/internal/tabletest"
)

// mustOpen opens a store of testdata.
func mustOpen(t testing.TB, name string) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), filepath.Join("../../../testdata", name), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// mustTable opens a table of testdata.
func mustTable(t testing.TB, name string) *Table {
	t.Helper()
	tab, err := Open(context.Background(), mustOpen(t, "tables/"+name), "/")
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// sameValue reports whether a value is the one that the manifest describes.
func sameValue(got, want any) bool {
	if m, ok := want.(map[string]any); ok {
		if pair, ok := m["complex"].([]any); ok {
			switch z := got.(type) {
			case complex64:
				return sameValue(real(z), pair[0]) && sameValue(imag(z), pair[1])
			case complex128:
				return sameValue(real(z), pair[0]) && sameValue(imag(z), pair[1])
			}
			return false
		}
		if text, ok := m["bytes"].(string); ok {
			b, isBytes := got.([]byte)
			return isBytes && hex.EncodeToString(b) == text
		}
		g, ok := got.(map[string]any)
		same := ok && len(g) == len(m)
		for k, w := range m {
			same = same && sameValue(g[k], w)
		}
		return same
	}
	switch w := want.(type) {
	case json.Number:
		return sameNumber(reflect.ValueOf(got), w)
	case []any:
		g := reflect.ValueOf(got)
		if g.Kind() != reflect.Slice || g.Len() != len(w) {
			return false
		}
		for i := range w {
			if !sameValue(g.Index(i).Interface(), w[i]) {
				return false
			}
		}
		return true
	}
	if at, ok := got.(time.Time); ok {
		return at.Format("2006-01-02 15:04:05.000000") == want
	}
	return reflect.DeepEqual(got, want)
}

// sameNumber compares integers exactly and floats as float64.
func sameNumber(got reflect.Value, want json.Number) bool {
	switch {
	case got.CanInt():
		i, err := want.Int64()
		return err == nil && i == got.Int()
	case got.CanUint():
		return reflect.ValueOf(got.Uint()).Interface().(uint64) == mustUint(want)
	case got.CanFloat():
		f, err := want.Float64()
		return err == nil && f == got.Float()
	}
	return false
}

func mustUint(n json.Number) uint64 {
	var u uint64
	if json.Unmarshal([]byte(n), &u) != nil {
		return math.MaxUint64
	}
	return u
}

// flat returns the elements of nested lists.
func flat(v any) []any {
	list, ok := v.([]any)
	if !ok {
		return []any{v}
	}
	var out []any
	for _, e := range list {
		out = append(out, flat(e)...)
	}
	return out
}

func TestTables(t *testing.T) {
	ctx := context.Background()
	values := 0
	for _, c := range manifest.Tables(t) {
		t.Run(c.File, func(t *testing.T) {
			tab := mustTable(t, c.File)
			if tab.Rows() != c.Rows || len(tab.Columns()) != len(c.Columns) {
				t.Fatalf("%d rows, %d columns, want %d, %d", tab.Rows(), len(tab.Columns()), c.Rows, len(c.Columns))
			}
			for _, info := range tab.Columns() {
				want, ok := c.Columns[info.Name]
				if !ok || info.Kind != want.Kind {
					t.Errorf("column %s of kind %s, want %s", info.Name, info.Kind, want.Kind)
					continue
				}
				col, err := tab.Column(ctx, info.Name)
				if err != nil {
					t.Error(err)
					continue
				}
				checkColumn(t, col, want.Values, want.Null)
				values += len(want.Values)
			}
		})
	}
	if values != 8925 {
		t.Errorf("%d values were compared, want 8925", values)
	}
}

// checkColumn compares all values and nulls of a column, at once, row by row and in ranges.
func checkColumn(t *testing.T, c *Column, want []any, nulls []int) {
	t.Helper()
	ctx := context.Background()
	n := int64(len(want))
	got, err := Read[any](ctx, c, 0, n)
	if err != nil || int64(len(got)) != n {
		t.Errorf("%s: %d values, %v", c.info.Name, len(got), err)
		return
	}
	for i := range got {
		w := want[i]
		if c.info.Kind == "ndarray" && w != nil {
			w = flat(w)
		}
		if !sameValue(got[i], w) {
			t.Errorf("%s: row %d is %#v, want %v", c.info.Name, i, got[i], w)
			return
		}
	}
	i := 0
	for v, err := range All[any](ctx, c) {
		if err != nil || !reflect.DeepEqual(v, got[i]) {
			t.Errorf("%s: All: row %d is %v, %v, want %v", c.info.Name, i, v, err, got[i])
		}
		i++
	}
	for start := int64(0); start < n; start += 7 {
		part, err := Read[any](ctx, c, start, min(start+5, n))
		if err != nil || !reflect.DeepEqual(part, got[start:min(start+5, n)]) {
			t.Errorf("%s: rows from %d: %v, %v", c.info.Name, start, part, err)
		}
	}
	mask, err := c.Nulls(ctx, 0, n)
	if err != nil {
		t.Errorf("%s: %v", c.info.Name, err)
	}
	var found []int
	for i, null := range mask {
		if null {
			found = append(found, i)
		}
	}
	if !slices.Equal(found, nulls) {
		t.Errorf("%s: nulls %v, want %v", c.info.Name, found, nulls)
	}
	if _, err := Read[any](ctx, c, 0, n+1); !errors.Is(err, ErrBounds) {
		t.Errorf("%s: a row too many: %v", c.info.Name, err)
	}
}

// checkTyped compares the values of a column as values of type T with the same ones as any.
func checkTyped[T any](t *testing.T, file string) {
	t.Helper()
	ctx := context.Background()
	tab := mustTable(t, file)
	c, err := tab.Column(ctx, tab.Columns()[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Read[any](ctx, c, 0, tab.Rows())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read[T](ctx, c, 0, tab.Rows())
	if err != nil || len(got) != len(want) {
		t.Errorf("%s: %d values, %v", file, len(got), err)
		return
	}
	pointers, err := ReadNullable[T](ctx, c, 0, tab.Rows())
	if err != nil {
		t.Error(err)
		return
	}
	for i, w := range want {
		if (w == nil) != (pointers[i] == nil) {
			t.Errorf("%s: row %d: pointer %v for %v", file, i, pointers[i], w)
		}
		if w != nil && !reflect.DeepEqual(any(got[i]), w) {
			t.Errorf("%s: row %d is %v, want %v", file, i, got[i], w)
		}
	}
}

func TestReadTyped(t *testing.T) {
	checkTyped[int8](t, "t02_int8_null.b2d")
	checkTyped[uint64](t, "t15_uint64.b2d")
	checkTyped[float64](t, "t20_float64_null.b2d")
	checkTyped[complex64](t, "t22_complex64_null.b2z")
	checkTyped[bool](t, "t26_bool_null.b2z")
	checkTyped[string](t, "t28_string_null.b2d")
	checkTyped[[]byte](t, "t30_bytes_null.b2z")
	checkTyped[string](t, "t32_utf8_null.b2d")
	checkTyped[string](t, "t33_vlstring.b2z")
	checkTyped[[]byte](t, "t36_vlbytes_null.b2d")
	checkTyped[string](t, "t38_dictionary_null.b2z")
	checkTyped[[]any](t, "t39_list.b2d")
	checkTyped[time.Time](t, "t41_timestamp.b2z")
}

func TestReadConverts(t *testing.T) {
	ctx := context.Background()
	open := func(file string) *Column {
		tab := mustTable(t, file)
		c, err := tab.Column(ctx, tab.Columns()[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	list := open("t39_list.b2d")
	if got, err := Read[[]int64](ctx, list, 0, 3); err != nil || !reflect.DeepEqual(got, [][]int64{{45}, {}, {-30, 31}}) {
		t.Errorf("%v, %v", got, err)
	}
	items := open("t43_ndarray.b2z")
	if got, err := Read[float32](ctx, items, 1, 2); err != nil || len(got) != 6 || got[0] != 0.39487430453300476 {
		t.Errorf("%v, %v", got, err)
	}
	stamps := open("t41_timestamp.b2z")
	if got, err := Read[int64](ctx, stamps, 0, 1); err != nil || time.UnixMicro(got[0]).UTC().Format(time.DateOnly) != "1983-06-23" {
		t.Errorf("%v, %v", got, err)
	}
	codes := open("t37_dictionary.b2z")
	got, err := Read[int32](ctx, codes, 0, 2)
	if err != nil || codes.dict.values.Load() != nil {
		t.Errorf("%v, or reading codes reads the categories", err)
	}
	categories, err := codes.Categories(ctx)
	if err != nil || categories[got[0]] != "green" || categories[got[1]] != "red" {
		t.Errorf("%v of %q, %v", got, categories, err)
	}
	for _, err := range []error{
		second(Read[string](ctx, stamps, 0, 1)), second(Read[[]byte](ctx, codes, 0, 1)), second(Read[time.Time](ctx, codes, 0, 1)),
		second(Read[int64](ctx, list, 0, 1)), second(Read[float64](ctx, open("t31_utf8.b2d"), 0, 1)),
		second(Read[int8](ctx, open("t07_int64.b2z"), 0, 1)), second(ReadNullable[float32](ctx, items, 0, 1)),
	} {
		if !errors.Is(err, ErrType) {
			t.Errorf("got %v, want ErrType", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The arrays of a column, at the rows that Stored returns, hold the values.
func TestStored(t *testing.T) {
	b := build(t, `{"name": "x", "kind": "int8"}, {"name": "t", "kind": "utf8"}, {"name": "v", "kind": "vlstring"}`,
		[]bool{false, true, true, false, true, false})
	array(b, "_cols/x", []int64{6}, []int8{0, 1, 2, 3, 4, 5})
	array(b, "_cols/t", []int64{7}, []int64{0, 1, 2, 3, 4, 5, 6})
	array(b, "_cols/t.utf8", []int64{6}, []uint8("012345"))
	b.Items("_cols/v", []any{"0", "1", "2", "3", "4", "5"})
	for _, name := range []string{"x", "t", "v"} {
		c, err := b.column(name)
		if err != nil {
			t.Fatal(err)
		}
		for rows, want := range map[[2]int64][][2]int64{
			{0, 3}: {{1, 3}, {4, 5}}, {1, 3}: {{2, 3}, {4, 5}}, {0, 1}: {{1, 2}}, {2, 3}: {{4, 5}}, {1, 1}: nil, {0, 4}: nil, {-1, 1}: nil, {2, 1}: nil,
		} {
			var got [][2]int64
			for from, to := range c.Stored(rows[0], rows[1]) {
				got = append(got, [2]int64{from, to})
			}
			if !slices.Equal(got, want) {
				t.Errorf("rows %v are stored in %v, want %v", rows, got, want)
			}
		}
		ends, text := c.Text()
		if (c.Array() != nil) != (name == "x") || (ends != nil && text != nil) != (name == "t") || (c.Objects() != nil) != (name == "v") {
			t.Errorf("%s: %v, %v, %v, %v", name, c.Array(), ends, text, c.Objects())
		}
	}
	n := 0
	c, err := b.column("x")
	if err != nil {
		t.Fatal(err)
	}
	for range c.Stored(0, 3) {
		if n++; n == 1 {
			break
		}
	}
}

func TestTableErrors(t *testing.T) {
	ctx := context.Background()
	if _, err := Open(ctx, mustOpen(t, "stores/tree.b2z"), "/"); !errors.Is(err, ErrFormat) || err.Error() != "table: /: not a table" {
		t.Errorf("a store without a table: %v", err)
	}
	if _, err := Open(ctx, mustOpen(t, "stores/tree.b2z"), "/nothing"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "table: /nothing: not found" {
		t.Errorf("a missing key: %v", err)
	}
	if _, err := Open(ctx, mustOpen(t, "tables/wide0.b2z"), "x/.."); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key with ..: %v", err)
	}
	if _, err := mustTable(t, "wide0.b2z").Column(ctx, "nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing column: %v", err)
	}
	e, err := mustOpen(t, "tables/wide0.b2z").Stat(ctx, "/")
	if err != nil || e.Kind != store.KindTable || !slices.Equal(e.Shape, []int64{400}) {
		t.Errorf("%+v, %v", e, err)
	}
	count := 0
	for e, err := range mustOpen(t, "tables/wide0.b2z").Walk(ctx, "/") {
		if count++; err != nil || e.Key != "/" || e.Kind != store.KindTable {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if count != 1 {
		t.Errorf("%d entries for a table, want 1", count)
	}
}

func TestColumnPath(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "a.b": "a/b", `a\.b.c`: "a%2Eb/c", "50%": "50%25", `x\/y`: "x%2Fy", `\\`: "%5C", "trip/x": "trip%2Fx", `end\`: "end%5C",
	} {
		if got := columnPath(name); got != want {
			t.Errorf("columnPath(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestInfoCopies changes the descriptions of columns. The open table and its columns do not change.
func TestInfoCopies(t *testing.T) {
	ctx := t.Context()
	tab := mustTable(t, "t43_ndarray.b2z")
	c, err := tab.Column(ctx, "c0_ndarray")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Read[any](ctx, c, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	tab.Columns()[0].Shape[0]++
	c.Info().Shape[0]++
	if got, err := Read[any](ctx, c, 0, 2); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := tab.Column(ctx, "c0_ndarray"); err != nil {
		t.Error(err)
	}
	info := ColumnInfo{Item: &ColumnInfo{Name: "item"}, Fields: []ColumnInfo{{Name: "field", Shape: []int64{1}}}}
	other := info.clone()
	other.Item.Name, other.Fields[0].Name, other.Fields[0].Shape[0] = "", "", 0
	if info.Item.Name != "item" || info.Fields[0].Name != "field" || info.Fields[0].Shape[0] != 1 {
		t.Errorf("a change of a copy: %+v, %+v", info.Item, info.Fields)
	}
}

// TestReadFar reads a column of strings of any size on a link of 50 ms and 100 MB/s. Its batches are read ahead.
func TestReadFar(t *testing.T) {
	const batches, per = 200, 100
	d := tabletest.New(t, `{"name": "v", "kind": "vlstring"}`, tabletest.AllLive(batches*per))
	rng := rand.New(rand.NewPCG(7, 7))
	all := make([][]any, batches)
	for i := range all {
		for range per {
			all[i] = append(all[i], fmt.Sprint("text ", rng.Uint64()))
		}
	}
	d.Items("_cols/v", all...)
	z := filepath.Join(t.TempDir(), "t.b2z")
	dir, err := store.Open(t.Context(), d.Dir, nil)
	if err == nil {
		err = errors.Join(dir.Pack(t.Context(), z, nil), dir.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(z)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		l := &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{"/t": {Data: b, ETag: `"1"`}}}
		src, err := remote.Open(ctx, "http://host/t", &remote.Options{Client: l.Client()})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		s, err := store.OpenSource(ctx, src, &store.OpenOptions{Frames: &frame.OpenOptions{Concurrency: 1}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tb, err := Open(ctx, s, "/")
		if err != nil {
			t.Fatal(err)
		}
		c, err := tb.Column(ctx, "v")
		if err != nil {
			t.Fatal(err)
		}
		l.Stats()
		got, err := Read[string](ctx, c, 0, tb.Rows())
		if err != nil || len(got) != batches*per || got[per] != all[1][0] {
			t.Errorf("%d rows, %v", len(got), err)
		}
		if stats := l.Stats(); stats.Requests > 4 || stats.Bytes > int64(len(b)) {
			t.Errorf("%+v for a file of %d bytes", stats, len(b))
		}
	})
}
