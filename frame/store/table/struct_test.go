package table

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/link"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
)

func TestRows(t *testing.T) {
	ctx := context.Background()
	type row struct {
		Number  int64    `b2:"c4_int64"`
		Color   *string  `b2:"c2_dictionary"`
		List    []int64  `b2:"c5_list"`
		Raw     []byte   `b2:"c3_vlbytes"`
		Any     any      `b2:"c0_uint16"`
		Omitted chan int `b2:"-"`
		hidden  int
	}
	n := 0
	for r, err := range Rows[row](ctx, mustTable(t, "wide1.b2z"), 1, 4) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 && (r.Number != 3151337826458959775 || r.Color == nil || *r.Color != "green" || len(r.List) != 2 || r.List[1] != 92 ||
			len(r.Raw) != 11 || r.Any != uint16(16702) || r.hidden != 0) {
			t.Errorf("%+v", r)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
	type nullable struct {
		Value *int16  `b2:"c0_int16"`
		Plain int16   `b2:"c0_int16"`
		Bytes *[]byte `b2:"c2_vlbytes"`
	}
	n = 0
	for r, err := range Rows[nullable](ctx, mustTable(t, "wide2.b2d"), 0, 400) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 && (r.Value == nil || *r.Value != -14666 || r.Plain != -14666 || r.Bytes == nil || len(*r.Bytes) != 2) ||
			n == 1 && (r.Value != nil || r.Plain != 0) || n == 2 && r.Bytes != nil {
			t.Errorf("row %d: %+v", n, r)
		}
		n++
	}
	if n != 400 {
		t.Errorf("%d rows, want 400", n)
	}
}

// TestRowsAllocations counts the allocations of a loop over rows: there is none for each row.
func TestRowsAllocations(t *testing.T) {
	const n = 3 * structWindow
	b := build(t, `{"name": "X", "kind": "int64"}, {"name": "Y", "kind": "float32", "nullable": true, "null_value": 5}`, tabletest.AllLive(n))
	x, y := make([]int64, n), make([]float32, n)
	for i := range n {
		x[i], y[i] = int64(1000+i), float32(i)
	}
	array(b, "_cols/X", []int64{n}, x)
	array(b, "_cols/Y", []int64{n}, y)
	tab, err := b.open()
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		X int64
		Y float32
	}
	got := testing.AllocsPerRun(1, func() {
		var kept []row
		for r, err := range Rows[row](t.Context(), tab, 0, n) {
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, r)
		}
		for i, r := range kept {
			if want := (row{x[i], y[i]}); i == 5 && r.Y != 0 || i != 5 && r != want {
				t.Fatalf("row %d: %v", i, r)
			}
		}
	})
	if got > n/4 {
		t.Errorf("%v allocations for %d rows", got, n)
	}
}

func TestRowsErrors(t *testing.T) {
	tab := mustTable(t, "wide1.b2z")
	fail := func(name string, want error, rows func(func(struct{}, error) bool)) {
		t.Helper()
		var got error
		for _, err := range rows {
			got = err
		}
		if !errors.Is(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	fail("another type", ErrType, errorsOf[struct {
		N string `b2:"c4_int64"`
	}](tab, 0, 1))
	fail("no such column", fs.ErrNotExist, errorsOf[struct{ Missing int }](tab, 0, 1))
	fail("not a struct", ErrType, errorsOf[int](tab, 0, 1))
	fail("too many rows", ErrBounds, errorsOf[struct{}](tab, 0, 6))
}

// errorsOf returns the errors of Rows.
func errorsOf[T any](tab *Table, start, stop int64) func(func(struct{}, error) bool) {
	return func(yield func(struct{}, error) bool) {
		for _, err := range Rows[T](context.Background(), tab, start, stop) {
			if !yield(struct{}{}, err) {
				return
			}
		}
	}
}

// countCodec is a codec that counts the blocks that it decodes. It removes zeros at the end.
type countCodec struct{ decoded *atomic.Int64 }

func (countCodec) ID() codec.ID                                     { return codec.FromCode(200) }
func (s countCodec) NewEncoder(codec.Params) (codec.Encoder, error) { return s, nil }
func (s countCodec) NewDecoder(codec.Params) (codec.Decoder, error) { return s, nil }

func (s countCodec) Decode(dst, src []byte) error {
	s.decoded.Add(1)
	clear(dst[copy(dst, src):])
	return nil
}

func (countCodec) Encode(dst, src []byte) (int, error) {
	n := len(src)
	for n > 0 && src[n-1] == 0 {
		n--
	}
	if n > len(dst) || n == len(src) {
		return 0, codec.ErrIncompressible
	}
	return copy(dst, src[:n]), nil
}

// loopRow is a row of the tables of loopTable.
type loopRow struct {
	X float64 `b2:"x"`
	B *uint8  `b2:"b"`
	S string  `b2:"s"`
}

// loopTable makes a table of n rows, with blocks that end at other rows in each column. It returns the row of a number.
func loopTable(t *testing.T, n int, live []bool, c codec.Codec) (*builder, func(i int) (x float64, b uint8, s string)) {
	rng := rand.New(rand.NewPCG(7, 7))
	x, u, ends, text := make([]float64, n), make([]uint8, n), make([]int64, n+1), []uint8{}
	for i := range n {
		x[i], u[i] = rng.Float64(), uint8(rng.IntN(256))
		if i%250 > 200 || i > n-5000 { // so that each block ends with zeros
			x[i], u[i] = 0, 0
		}
		text = fmt.Append(text, rng.IntN(1e6))
		ends[i+1] = int64(len(text))
	}
	text = append(text, make([]byte, 1000)...)
	b := build(t, `{"name": "x", "kind": "float64"}, {"name": "b", "kind": "uint8", "null_value": 3}, {"name": "s", "kind": "utf8"}`, live)
	write := func(key string, block int64, create func(name string, o *ndarray.CreateOptions) (*ndarray.Array, error)) {
		o := &ndarray.CreateOptions{Chunks: []int64{8*block + 250}, Blocks: []int64{block}}
		if c != nil {
			o.Codec, o.Codecs, o.Filters = c.ID(), []codec.Codec{c}, []chunk.Filter{}
		}
		a, err := create(b.File(key+".b2nd"), o)
		if err == nil {
			err = a.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("_cols/x", 9000, func(name string, o *ndarray.CreateOptions) (*ndarray.Array, error) {
		return ndarray.Create(t.Context(), name, []int64{int64(n)}, x, o)
	})
	write("_cols/b", 40000, func(name string, o *ndarray.CreateOptions) (*ndarray.Array, error) {
		return ndarray.Create(t.Context(), name, []int64{int64(n)}, u, o)
	})
	array(b, "_cols/s", []int64{int64(n) + 1}, ends)
	array(b, "_cols/s.utf8", []int64{int64(len(text))}, text)
	return b, func(i int) (float64, uint8, string) { return x[i], u[i], string(text[ends[i]:ends[i+1]]) }
}

// loops calls check with the name of each loop over rows of a table of loopTable. run checks all values.
func loops(t *testing.T, tab *Table, live []bool, want func(i int) (float64, uint8, string), check func(name string, run func())) {
	t.Helper()
	ctx := t.Context()
	var rows []int // stored rows that are not deleted
	for i, ok := range live {
		if ok {
			rows = append(rows, i)
		}
	}
	columns := map[string]*Column{}
	for _, name := range []string{"x", "b", "s"} {
		c, err := tab.Column(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		columns[name] = c
	}
	check("All x", func() {
		i := 0
		for v, err := range All[float64](ctx, columns["x"]) {
			if x, _, _ := want(rows[i]); v != x || err != nil {
				t.Fatalf("x of row %d: %v, %v, want %v", i, v, err, x)
			}
			i++
		}
		if i != len(rows) {
			t.Fatalf("%d rows, want %d", i, len(rows))
		}
	})
	check("All b", func() {
		i := 0
		for v, err := range All[any](ctx, columns["b"]) {
			if _, b, _ := want(rows[i]); err != nil || b != 3 && v != b || b == 3 && v != nil {
				t.Fatalf("b of row %d: %v, %v, want %v", i, v, err, b)
			}
			i++
		}
	})
	check("All s", func() {
		i := 0
		for v, err := range All[string](ctx, columns["s"]) {
			if _, _, s := want(rows[i]); v != s || err != nil {
				t.Fatalf("s of row %d: %v, %v, want %v", i, v, err, s)
			}
			i++
		}
	})
	check("Find x", func() {
		if found, err := Find(ctx, columns["x"], Equal, -1.0); len(found) > 0 || err != nil {
			t.Fatal(found, err)
		}
	})
	check("Find b", func() {
		if found, err := Find(ctx, columns["b"], Equal, uint8(3)); len(found) > 0 || err != nil {
			t.Fatal(found, err)
		}
	})
	check("Rows", func() {
		i := 0
		for r, err := range Rows[loopRow](ctx, tab, 0, tab.Rows()) {
			if err != nil {
				t.Fatal(err)
			}
			if x, b, s := want(rows[i]); r.X != x || r.S != s || (r.B == nil) != (b == 3) || b != 3 && *r.B != b {
				t.Fatalf("row %d: %v, want %v %v %v", i, r, x, b, s)
			}
			i++
		}
		if i != len(rows) {
			t.Fatalf("%d rows, want %d", i, len(rows))
		}
	})
}

// TestLoopsDecodeOnce counts the blocks that loops over rows decode: each block once.
func TestLoopsDecodeOnce(t *testing.T) {
	const n = 400_000
	for _, deleted := range []int{n, 10} {
		live := tabletest.AllLive(n)
		for i := range live {
			live[i] = i%deleted != 1
		}
		c := countCodec{&atomic.Int64{}}
		b, want := loopTable(t, n, live, c)
		s, err := store.Open(t.Context(), b.Dir, &store.OpenOptions{Frames: &frame.OpenOptions{Codecs: []codec.Codec{c}}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tab, err := Open(t.Context(), s, "/")
		if err != nil {
			t.Fatal(err)
		}
		blocks := map[string]int64{}
		for _, name := range []string{"x", "b"} {
			column, err := tab.Column(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			c.decoded.Store(0)
			if _, err := ndarray.Read[float64](t.Context(), column.array); err != nil {
				t.Fatal(err)
			}
			blocks[name] = c.decoded.Load()
		}
		blocks["Rows"] = blocks["x"] + blocks["b"]
		loops(t, tab, live, want, func(name string, run func()) {
			c.decoded.Store(0)
			run()
			most := blocks[name[max(0, len(name)-1):]]
			if name == "Rows" {
				most = blocks[name]
			}
			if got := c.decoded.Load(); got > most {
				t.Errorf("%s, 1 of %d rows deleted: %d blocks decoded, want %d", name, deleted, got, most)
			}
		})
	}
}

// TestLoopsFar counts the requests of loops over rows of a table on a server, and the bytes: those of the columns.
func TestLoopsFar(t *testing.T) {
	const n = 400_000
	live := tabletest.AllLive(n)
	b, want := loopTable(t, n, live, nil)
	tab, err := b.open()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "t.b2z")
	if err := tab.s.Pack(t.Context(), file, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	l := &link.Link{Latency: time.Millisecond, Objects: map[string]link.Object{"/s": {Data: data, ETag: `"1"`}}}
	src, err := remote.Open(t.Context(), "http://host/s", &remote.Options{Client: l.Client()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s, err := store.OpenSource(t.Context(), src, &store.OpenOptions{Frames: &frame.OpenOptions{Concurrency: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tab, err = Open(t.Context(), s, "/")
	if err != nil {
		t.Fatal(err)
	}
	loops(t, tab, live, want, func(name string, run func()) {
		l.Stats()
		run()
		stats := l.Stats()
		t.Logf("%s, %d bytes: %+v", name, len(data), stats)
		requests := 4
		if name == "Rows" {
			requests = 12
		}
		if stats.Requests > requests || stats.Bytes > int64(len(data))*4/3 {
			t.Errorf("%s, %d bytes: %+v, want %d requests", name, len(data), stats, requests)
		}
	})
}
