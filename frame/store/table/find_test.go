package table

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// checkFind compares Find with all comparisons of some values with a loop over the rows.
func checkFind[T cmp.Ordered](t *testing.T, c *Column, more ...T) {
	t.Helper()
	ctx := context.Background()
	n := c.rows.Live
	values, err := ReadNullable[T](ctx, c, 0, n)
	if err != nil {
		t.Fatal(err)
	}
	probes := more
	for i := 0; i < len(values); i += 41 {
		if values[i] != nil {
			probes = append(probes, *values[i])
		}
	}
	for _, v := range probes {
		for op := Equal; op <= GreaterOrEqual; op++ {
			want := []int64{}
			for i, x := range values {
				if x != nil && matches(*x, op, v) {
					want = append(want, int64(i))
				}
			}
			if got, err := Find(ctx, c, op, v); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: Find(%d, %v): %d rows, %v, want %d", c.info.Name, op, v, len(got), err, len(want))
			}
		}
	}
}

// mustColumn opens a column of a table of testdata.
func mustColumn(t *testing.T, file, name string) *Column {
	t.Helper()
	c, err := mustTable(t, file).Column(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFind(t *testing.T) {
	checkFind[int16](t, mustColumn(t, "wide2.b2d", "c0_int16"), math.MinInt16, 0, math.MaxInt16)
	checkFind[uint8](t, mustColumn(t, "wide2.b2d", "c1_uint8"), 0, 255)
	checkFind[uint64](t, mustColumn(t, "wide2.b2d", "c4_uint64"), 0, math.MaxUint64)
	checkFind(t, mustColumn(t, "wide2.b2d", "c5_float64"), math.NaN(), math.Inf(1), math.Inf(-1), 0)
	checkFind[float32](t, mustColumn(t, "wide0.b2z", "c4_float32"), 0)
	checkFind[uint64](t, mustColumn(t, "wide5.b2d", "c0_uint64"), 0)
	checkFind(t, mustColumn(t, "wide5.b2d", "c1_utf8"), "", "x")
	checkFind[int64](t, mustColumn(t, "wide5.b2d", "c3_timestamp"), 0)
	checkFind(t, mustColumn(t, "wide0.b2z", "c3_dictionary"), "red")
	checkFind(t, mustColumn(t, "wide0.b2z", "c1_vlstring"), "x")
	if _, err := Find[float32](context.Background(), mustColumn(t, "t43_ndarray.b2z", "c0_ndarray"), Less, 0); !errors.Is(err, ErrType) {
		t.Errorf("arrays: %v", err)
	}
	floats := mustColumn(t, "wide2.b2d", "c5_float64")
	if _, err := Find(context.Background(), floats, Greater, 100); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), "with int; pass a value of type float64") {
		t.Errorf("an int for a float64: %v", err)
	}
	if _, err := Find(context.Background(), floats, GreaterOrEqual+1, 1.0); !errors.Is(err, errs.ErrParam) {
		t.Errorf("no comparison: %v", err)
	}
}

// countBytes counts the bytes that are read.
type countBytes struct {
	io.ReaderAt
	n atomic.Int64
}

func (c *countBytes) ReadAt(p []byte, off int64) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, off)
}

// TestNilContext reads texts that can no longer be read without a context.
func TestNilContext(t *testing.T) {
	const n = 1 << 14
	b := build(t, `{"name": "u", "kind": "utf8"}`, tabletest.AllLive(n))
	ends, text, rng := make([]int64, n+1), make([]byte, 64*n), rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = byte('A' + rng.IntN(64))
	}
	for i := range ends {
		ends[i] = 64 * int64(i)
	}
	array(b, "_cols/u", []int64{n + 1}, ends)
	array(b, "_cols/u.utf8", []int64{64 * n}, text)
	tab, src := openCounted(b)
	var none context.Context
	c, err := tab.Column(none, "u")
	if err != nil {
		t.Fatal(err)
	}
	src.ReaderAt = io.NewSectionReader(src.ReaderAt, 0, 1000)
	if _, err := Find(none, c, Less, "B"); err == nil {
		t.Error("Find: no error")
	}
	for _, err = range All[string](none, c) {
		if err != nil {
			return
		}
	}
	t.Error("All: no error")
}

// openCounted opens the table in a zip store, with the counter of what is read of it.
func openCounted(b *builder) (*Table, *countBytes) {
	ctx := b.T.Context()
	tab, err := b.open()
	if err != nil {
		b.T.Fatal(err)
	}
	packed := filepath.Join(b.T.TempDir(), "t.b2z")
	if err := tab.s.Pack(ctx, packed, nil); err != nil {
		b.T.Fatal(err)
	}
	data, err := os.ReadFile(packed)
	if err != nil {
		b.T.Fatal(err)
	}
	src := &countBytes{ReaderAt: bytes.NewReader(data)}
	s, err := store.OpenReaderAt(ctx, src, int64(len(data)), nil)
	if err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(func() { s.Close() })
	if tab, err = Open(ctx, s, "/"); err != nil {
		b.T.Fatal(err)
	}
	return tab, src
}

// TestTextsOnce reads texts, one of which is null, for all calls that look for it. They read the texts once.
func TestTextsOnce(t *testing.T) {
	ctx := t.Context()
	const n, size = 3000, 300
	b := build(t, `{"name": "u", "kind": "utf8", "null_value": "-"}`, tabletest.AllLive(n))
	rng := rand.New(rand.NewPCG(1, 2))
	ends, text := []int64{0}, []byte{}
	for i := range n {
		if i%3 == 1 {
			text = append(text, '-')
		} else {
			for range size {
				text = append(text, byte('A'+rng.IntN(64)))
			}
		}
		ends = append(ends, int64(len(text)))
	}
	array(b, "_cols/u", []int64{n + 1}, ends)
	array(b, "_cols/u.utf8", []int64{int64(len(text))}, text)
	tab, src := openCounted(b)
	c, err := tab.Column(ctx, "u")
	if err != nil {
		t.Fatal(err)
	}
	bytesOf := func(read func() (nulls int, err error)) int64 {
		before := src.n.Load()
		if nulls, err := read(); nulls != n/3 || err != nil {
			t.Errorf("%d nulls, %v, want %d", nulls, err, n/3)
		}
		return src.n.Load() - before
	}
	once := bytesOf(func() (int, error) {
		values, err := Read[string](ctx, c, 0, n)
		return len(slices.DeleteFunc(values, func(s string) bool { return s != "-" })), err
	})
	for name, read := range map[string]func() (int, error){
		"Find": func() (int, error) {
			found, err := Find(ctx, c, GreaterOrEqual, "")
			return n - len(found), err
		},
		"Read": func() (int, error) {
			values, err := Read[any](ctx, c, 0, n)
			return len(slices.DeleteFunc(values, func(v any) bool { return v != nil })), err
		},
		"ReadNullable": func() (int, error) {
			values, err := ReadNullable[string](ctx, c, 0, n)
			return len(slices.DeleteFunc(values, func(v *string) bool { return v != nil })), err
		},
		"ReadNullable of any": func() (int, error) {
			values, err := ReadNullable[any](ctx, c, 0, n)
			return len(slices.DeleteFunc(values, func(v *any) bool { return v != nil })), err
		},
	} {
		if got := bytesOf(read); once < int64(len(text))/2 || got > once*3/2 {
			t.Errorf("%s reads %d bytes, the texts have %d", name, got, once)
		}
	}
}

// TestFindIntegers compares booleans and the codes of a dictionary with integers, and times with counts.
func TestFindIntegers(t *testing.T) {
	ctx := t.Context()
	b := build(t, `{"name": "b", "kind": "bool"}, {"name": "d", "kind": "dictionary"}, {"name": "t", "kind": "timestamp", "unit": "us"}`, []bool{true, true, true})
	array(b, "_cols/b", []int64{3}, []bool{true, false, true})
	array(b, "_cols/d", []int64{3}, []int32{1, 0, -1})
	b.Items("_cols/d_dict", []any{"x", "y"})
	at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	array(b, "_cols/t", []int64{3}, []int64{at.UnixMicro() - 1, at.UnixMicro(), at.UnixMicro() + 1})
	tab, err := b.open()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		op   Op
		v    int64
		want []int64
	}{
		{"b", Equal, 1, []int64{0, 2}},
		{"b", NotEqual, 1, []int64{1}},
		{"d", Equal, 1, []int64{0}},
		{"d", Less, 1, []int64{1}},
		{"t", GreaterOrEqual, at.UnixMicro(), []int64{1, 2}},
	} {
		column, err := tab.Column(ctx, c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Find(ctx, column, c.op, c.v); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

// The tables of python-blosc2 have summaries, and they are used.
func TestSummary(t *testing.T) {
	s, err := readSummary[int16](context.Background(), mustColumn(t, "wide2.b2d", "c0_int16"))
	if err != nil || s.segments() != 7 || s.length != 64 {
		t.Fatalf("%+v, %v", s, err)
	}
	for i := range s.segments() {
		if s.mayMatch(i, Greater, s.high[i]) || !s.mayMatch(i, GreaterOrEqual, s.high[i]) || s.mayMatch(i, Less, s.low[i]) || !s.mayMatch(i, Equal, s.low[i]) {
			t.Errorf("segment %d: %d to %d", i, s.low[i], s.high[i])
		}
	}
}

// segment is an item of a summary.
type segment struct {
	Min   int32 `b2:"min"`
	Max   int32 `b2:"max"`
	Flags uint8 `b2:"flags"`
}

// summarize writes the summary of column c of n rows of int32. The columns of the table are in JSON.
func (b *builder) summarize(columns string, n, length, epoch int, stale bool, list []segment) {
	b.T.Helper()
	array(b, "_indexes/c/summary.block", []int64{int64(len(list))}, list)
	catalog := map[string]any{"c": map[string]any{"stale": stale, "built_value_epoch": 1, "dtype": "<i4", "shape": []int{n},
		"target": map[string]any{"source": "field", "field": nil},
		"levels": map[string]any{"block": map[string]any{"segment_len": length, "nsegments": len(list), "path": "_indexes/c/summary.block.b2nd"}}}}
	b.Frame("_meta.b2f", nil, []meta.Layer{b.Layer("kind", "ctable"), b.Layer("value_epoch", epoch), b.Layer("index_catalog", catalog),
		b.Layer("schema", `{"version": 1, "columns": [`+columns+`]}`)}, nil)
}

// blocks writes an array of one dimension in blocks of some rows.
func (b *builder) blocks(key, dtype string, rows int64, data []byte) {
	b.T.Helper()
	d, err := meta.ParseDType(dtype)
	if err != nil {
		b.T.Fatal(err)
	}
	n := int64(len(data) / d.Size)
	a, err := ndarray.CreateBytes(b.T.Context(), b.File(key+".b2nd"), []int64{n}, dtype, data, &ndarray.CreateOptions{Chunks: []int64{n}, Blocks: []int64{rows}})
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		b.T.Fatal(err)
	}
}

// Segments without matching values are not read, and stale summaries are ignored.
func TestSummaryUse(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		epoch int
		stale bool
		nrows int
		used  bool
	}{"fresh": {1, false, 6, true}, "old": {2, false, 6, false}, "marked stale": {1, true, 6, false}, "other length": {1, false, 7, false}} {
		b := build(t, `{"name": "c", "kind": "int32"}`, []bool{true, false, true, true, true, true})
		b.blocks("_cols/c", "<i4", 2, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0})
		// The summary lies about the second segment, to show whether it is used.
		b.summarize(`{"name": "c", "kind": "int32"}`, c.nrows, 2, c.epoch, c.stale, []segment{{1, 2, 0}, {100, 200, 0}, {5, 6, 0}})
		column, err := b.column("c")
		if err != nil {
			t.Fatal(err)
		}
		want := []int64{0, 1, 2, 3}
		if c.used {
			want = []int64{0, 3}
		}
		if got, err := Find[int32](ctx, column, LessOrEqual, 5); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: rows %v, %v, want %v", name, got, err, want)
		}
	}
}

// TestSegmentsOfBlocks finds rows of every other segment, of which blocks have many: of the column, or of its mask of
// nulls. Each block is read once, and no block of the column that is between two segments in a block of the mask.
func TestSegmentsOfBlocks(t *testing.T) {
	const n, length = 1 << 18, 128
	column := `{"name": "c", "kind": "int32", "null_storage": "mask"}`
	values, mask, rng := make([]byte, 4*n), make([]byte, n), rand.New(rand.NewPCG(1, 2))
	list := make([]segment, n/length)
	want := []int64{}
	for i := range mask {
		binary.LittleEndian.PutUint32(values[4*i:], rng.Uint32()>>1)
		mask[i] = byte(rng.IntN(256))
		if k := i / length; i%length == 0 {
			list[k] = segment{-int32(k % 2), math.MaxInt32, 0}
		} else if i%length == 1 && k%2 == 1 {
			binary.LittleEndian.PutUint32(values[4*i:], math.MaxUint32) // -1
			mask[i] = 1
			want = append(want, int64(i))
		}
	}
	for name, rows := range map[string][2]int64{"column": {n, n}, "mask": {length, n}, "mask in blocks": {length, n / 16}} {
		b := build(t, column, tabletest.AllLive(n))
		b.blocks("_cols/c", "<i4", rows[0], values)
		b.blocks("_cols/c.notnull", "|b1", rows[1], mask)
		b.summarize(column, n, length, 1, false, list)
		tab, src := openCounted(b)
		c, err := tab.Column(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		before := src.n.Load()
		if _, err := Read[any](t.Context(), c, 0, n); err != nil {
			t.Fatal(err)
		}
		middle := src.n.Load()
		got, err := Find(t.Context(), c, Less, int32(0))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, %v, want %d", name, len(got), err, len(want))
		}
		once, used, most := middle-before, src.n.Load()-middle, int64(4*n+n)*9/8
		if name != "column" {
			most = (4*n/2 + n) * 9 / 8
		}
		if once < 4*n || used > most {
			t.Errorf("%s: Find reads %d bytes, want up to %d; all rows have %d", name, used, most, once)
		}
	}
}

// TestBlockOfFailedMask compares ranges of rows in the same block of a mask before and after a failure to hold such a
// block, after which Find must not decode it for each range.
func TestBlockOfFailedMask(t *testing.T) {
	const n, length = 1024, 128
	column := `{"name": "c", "kind": "int32", "null_storage": "mask"}`
	b := build(t, column, tabletest.AllLive(n))
	b.blocks("_cols/c", "<i4", length, make([]byte, 4*n))
	b.blocks("_cols/c.notnull", "|b1", n/2, bytes.Repeat([]byte{1}, n))
	c, err := b.column("c")
	if err != nil {
		t.Fatal(err)
	}
	s := &summary[int32]{length: length, low: make([]int32, n/length), high: make([]int32, n/length), flags: make([]uint8, n/length)}
	for _, i := range []int{1, 3, 6} {
		s.high[i] = 1
	}
	for failed, want := range map[bool][][2]int64{
		false: {{0, 0}, {128, 256}, {384, 512}, {768, 896}},
		true:  {{0, 0}, {128, 512}, {768, 896}},
	} {
		c.marks = newWindow(c.mask, 0, mostColumn)
		c.marks.failed = failed
		got := [][2]int64{}
		for start, stop := range s.ranges(c, Equal, 1) {
			got = append(got, [2]int64{start, stop})
			c.marks.next(stop)
		}
		if !slices.Equal(got, want) {
			t.Errorf("failed %v: rows %v, want %v", failed, got, want)
		}
	}
}
