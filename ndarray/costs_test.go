package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// sparseArray creates an array of 10 GB: 50,000 x 50,000 items of 4 bytes in chunks of 1000 x 1000, all zeros except in
// a few chunks.
func sparseArray(t testing.TB) *Array {
	const n = 50_000
	o := &CreateOptions{Chunks: []int64{1000, 1000}, Blocks: []int64{100, 1000}}
	o.Level = 1
	a, err := Zeros(ctx, "", []int64{n, n}, "<i4", o)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]int32, 1000*1000)
	for i := range data {
		data[i] = int32(i / 7)
	}
	for k := range int64(20) {
		at := k * 2000
		if err := Write(context.Background(), a, data, Span(at, at+1000), Span(at, at+1000)); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// randomPoints returns n random positions in C order and their coordinates. One in ten is in a chunk that is not zeros.
func randomPoints(n int) (flat, rows, columns []int64) {
	r := rand.New(rand.NewPCG(1, 10))
	for i := range n {
		row, column := r.Int64N(50_000), r.Int64N(50_000)
		if i%10 == 0 {
			chunk := r.Int64N(20) * 2000
			row, column = chunk+r.Int64N(1000), chunk+r.Int64N(1000)
		}
		flat, rows, columns = append(flat, row*50_000+column), append(rows, row), append(columns, column)
	}
	return flat, rows, columns
}

// BenchmarkPoints reads and writes random points of an array of 10 GB.
func BenchmarkPoints(b *testing.B) {
	a := sparseArray(b)
	defer a.Close()
	ctx := context.Background()
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		flat, rows, columns := randomPoints(n)
		sorted := slices.Sorted(slices.Values(flat))
		dst := make([]int32, n)
		for name, sel := range map[string][]Index{
			"flat": {Flat(flat...)}, "sorted": {Flat(sorted...)}, "coords": {Coords(rows), Coords(columns)},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(4 * n))
				for b.Loop() {
					if err := ReadInto(ctx, a, dst, sel...); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/point")
			})
		}
	}
	// Write only to the first chunks, because written chunks are compressed again.
	r := rand.New(rand.NewPCG(2, 10))
	rows, columns, data := make([]int64, 100_000), make([]int64, 100_000), make([]int32, 100_000)
	for i := range rows {
		rows[i], columns[i], data[i] = r.Int64N(2000), r.Int64N(2000), int32(i)
	}
	b.Run("write/100000", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(4 * len(data)))
		for b.Loop() {
			if err := Write(ctx, a, data, Coords(rows), Coords(columns)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLists reads lists along one axis, and a mask, from an array of 64 MB.
func BenchmarkLists(b *testing.B) {
	const n = 4000
	o := &CreateOptions{Chunks: []int64{500, 500}, Blocks: []int64{50, 500}}
	data := make([]int32, n*n)
	for i := range data {
		data[i] = int32(i / 5)
	}
	ctx := context.Background()
	a, err := Create(ctx, "", []int64{n, n}, data, o)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	r := rand.New(rand.NewPCG(3, 10))
	list := make([]int64, n/2)
	for i := range list {
		list[i] = r.Int64N(n)
	}
	keep := make([]bool, n*n)
	for i := range keep {
		keep[i] = data[i]%7 == 0
	}
	for name, sel := range map[string][]Index{
		"rows": {Pick(list...)}, "columns": {All, Pick(list...)}, "both": {Pick(list...), Pick(list...)},
		"mask": {Mask(keep, []int64{n, n}...)}, "reversed rows": {Step(None, None, -2)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			shape, err := a.SelectionShape(sel...)
			if err != nil {
				b.Fatal(err)
			}
			items, _ := grid.Product(shape)
			dst := make([]int32, items)
			b.SetBytes(4 * items)
			for b.Loop() {
				if err := ReadInto(ctx, a, dst, sel...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestPointsScratch checks the memory that a list takes: 16 bytes for each item, and little for the chunks.
func TestPointsScratch(t *testing.T) {
	if race.Enabled || testing.Short() {
		t.Log("only the long tests without the race detector count allocations")
		return
	}
	a := sparseArray(t)
	defer a.Close()
	const n = 1_000_000
	flat, _, _ := randomPoints(n)
	dst, sel := make([]int32, n), Flat(flat...)
	var before, after runtime.MemStats
	for range 2 { // the first round fills pools
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := ReadInto(context.Background(), a, dst, sel); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 20*n {
		t.Errorf("%d bytes allocated for %d points", got, n)
	}
	for i, p := range flat {
		row, column := p/50_000, p%50_000
		want := int32(0)
		if row/1000 == column/1000 && row/1000%2 == 0 && row < 40_000 {
			want = int32((row%1000*1000 + column%1000) / 7)
		}
		if dst[i] != want {
			t.Fatalf("item %d, %d of the array: %d, want %d", i, p, dst[i], want)
		}
	}
}

// countedReads counts the reads and the bytes that they request.
type countedReads struct {
	io.ReaderAt
	reads, bytes atomic.Int64
}

func (c *countedReads) ReadAt(p []byte, off int64) (int, error) {
	c.reads.Add(1)
	c.bytes.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, off)
}

// flatArray returns an array of float32 with rows of 10 MB, in chunks of one row. All rows are zeros, so that the index
// is one special value, or if list is set one row is stored, so that the index is a list.
func flatArray(t testing.TB, rows int64, list bool) (*Array, *countedReads) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.b2nd")
	o := &CreateOptions{Chunks: []int64{1, 2_500_000}, Blocks: []int64{1, 25_000}}
	o.NoSync = true
	made, err := Zeros(ctx, name, []int64{rows, 2_500_000}, "<f4", o)
	if err != nil {
		t.Fatal(err)
	}
	made.Close()
	if list {
		if made, err = Edit(ctx, name, &OpenOptions{NoSync: true}); err != nil {
			t.Fatal(err)
		}
		row := make([]float32, 2_500_000)
		for i := range row {
			row[i] = float32(i % 1000)
		}
		if err := Write(context.Background(), made, row, At(rows/2), All); err != nil {
			t.Fatal(err)
		}
		made.Close()
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := &countedReads{ReaderAt: bytes.NewReader(b)}
	a, err := OpenReaderAt(ctx, c, int64(len(b)), &OpenOptions{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

// TestFlatCost reads the same slices from arrays of 10 MB, 1 GB and 100 GB. Neither the memory nor the number of reads
// may grow with the array.
func TestFlatCost(t *testing.T) {
	if race.Enabled {
		t.Log("the race detector makes pools drop memory at random, so allocations cannot be counted")
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools keep their contents,
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // and have one list for all goroutines
	ctx := context.Background()
	dst := make([]float32, 1000)
	for _, list := range []bool{false, true} {
		var first [2][2]int64
		for _, rows := range []int64{1, 100, 10_000} {
			a, c := flatArray(t, rows, list)
			for k, cut := range []Index{Span(40_000, 41_000), Step(0, 2_500_000, 2_500)} {
				read := func() {
					if err := ReadInto(ctx, a, dst, At(rows/2), cut); err != nil {
						t.Fatal(err)
					}
				}
				for range 3 {
					read()
				}
				c.reads.Store(0)
				c.bytes.Store(0)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range 5 {
					read()
				}
				runtime.ReadMemStats(&after)
				if n := after.TotalAlloc - before.TotalAlloc; n > 4096 { // the runtime may allocate some
					t.Errorf("list %v, %d rows, %v: %d bytes of memory", list, rows, cut, n)
				}
				cost := [2]int64{c.reads.Load(), c.bytes.Load()}
				if rows == 1 {
					first[k] = cost
				}
				if cost != first[k] || (cost[0] > 0) != list {
					t.Errorf("list %v, %d rows, %v: reads and bytes %v, of one row %v", list, rows, cut, cost, first[k])
				}
				want := [2]float32{}
				if list {
					want = [2]float32{999, 999 * 2500 % 1000}
				}
				if dst[999] != want[k] {
					t.Errorf("list %v, %d rows, %v: item %v", list, rows, cut, dst[999])
				}
			}
			a.Close()
		}
	}
}

// BenchmarkFlat reads a slice of a stored chunk and one of a special chunk, from arrays of 10 MB to 100 GB.
func BenchmarkFlat(b *testing.B) {
	ctx := context.Background()
	dst := make([]float32, 1000)
	for _, list := range []bool{false, true} {
		for _, rows := range []int64{1, 100, 10_000} {
			a, _ := flatArray(b, rows, list)
			b.Run(fmt.Sprintf("list=%v/MB=%d", list, 10*rows), func(b *testing.B) {
				b.SetBytes(4000)
				b.ReportAllocs()
				for b.Loop() {
					if err := ReadInto(ctx, a, dst, At(rows/2), Span(40_000, 41_000)); err != nil {
						b.Fatal(err)
					}
				}
			})
			a.Close()
		}
	}
}

// sleeping is a codec that takes a fixed time for each block, and no CPU. So the time of a call on n goroutines is that
// on n CPUs, as far as the goroutines do not wait for each other.
type sleeping struct{ time.Duration }

func (sleeping) ID() codec.ID                                     { return codec.FromCode(200) }
func (s sleeping) NewEncoder(codec.Params) (codec.Encoder, error) { return s, nil }
func (s sleeping) NewDecoder(codec.Params) (codec.Decoder, error) { return s, nil }
func (s sleeping) Decode(dst, src []byte) error {
	time.Sleep(s.Duration)
	for i := range dst {
		dst[i] = src[0] + byte(7*i)
	}
	return nil
}
func (s sleeping) Encode(dst, src []byte) (int, error) {
	time.Sleep(s.Duration)
	return copy(dst, src[:1]), nil
}

// TestScales reads and writes 512 blocks on 1 to 16 simulated CPUs: in one call on all of them, and in a call on each.
func TestScales(t *testing.T) {
	if testing.Short() {
		t.Skip("depends on the speed of the machine")
	}
	const blocks, each = 512, 3 * time.Millisecond
	ctx := t.Context()
	data := make([]byte, blocks<<12)
	for i := range data {
		data[i] = byte(i>>12) + byte(7*i) // as Decode makes it: a repeated byte would need no codec
	}
	options := func(cpus int) *CreateOptions {
		return &CreateOptions{
			Chunks: []int64{16 << 12}, Blocks: []int64{1 << 12}, Codec: codec.FromCode(200), Filters: []chunk.Filter{},
			Codecs: []codec.Codec{sleeping{each}}, Concurrency: cpus,
		}
	}
	for _, cpus := range []int{1, 2, 4, 8, 16} {
		got := make([]byte, len(data))
		var a *Array
		var err error
		ideal := float64(blocks) / float64(cpus) * each.Seconds()
		// ratio times a call. A busy machine delays calls, so the fastest of five counts.
		ratio := func(what string, call func()) {
			x := math.Inf(1)
			for n := 0; n < 5 && x > 2; n++ {
				start := time.Now()
				call()
				x = min(x, time.Since(start).Seconds()/ideal)
			}
			t.Logf("%2d CPUs, %s: %.2f times the time without waiting", cpus, what, x)
			if x > 2 {
				t.Errorf("%d CPUs, %s: the goroutines wait for each other", cpus, what)
			}
		}
		ratio("one write", func() {
			if a != nil {
				a.Close()
			}
			a, err = Create(ctx, "", []int64{int64(len(data))}, data, options(cpus))
		})
		if err != nil {
			t.Fatal(err)
		}
		ratio("one read", func() { err = ReadInto(ctx, a, got) })
		if err != nil || !slices.Equal(got, data) {
			t.Fatal("wrong data", err)
		}
		ratio("many reads", func() {
			var all sync.WaitGroup
			part := len(data) / cpus
			for k := range cpus {
				all.Go(func() {
					for off := k * part; off < (k+1)*part; off += 1 << 12 { // calls of one block use one goroutine
						if err := ReadInto(ctx, a, got[off:][:1<<12], Span(int64(off), int64(off+1<<12))); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
		})
		if !slices.Equal(got, data) {
			t.Fatal("wrong data")
		}
		a.Close()
	}
}

// TestUnjustifiedMemory makes calls for which a small file, or a header before missing items, asks for much memory.
func TestUnjustifiedMemory(t *testing.T) {
	const n = 256 << 20
	untrusted := func(items int64, dtype string) *Array {
		made, err := Zeros(ctx, "", []int64{items}, dtype, &CreateOptions{Chunks: []int64{items}, Blocks: []int64{items}})
		must(t, err)
		b, err := saved(made.Frame())
		must(t, err)
		a, err := OpenBytes(b, &OpenOptions{MaxBytes: 1 << 20})
		must(t, err)
		return a
	}
	a, inner := untrusted(n, "|u1"), untrusted(n/4, "[('a', '|u1', (4,))]")
	v, err := Field(inner, "a")
	must(t, err)
	for _, c := range []struct {
		what string
		call func() error
		want error
	}{
		{"Map", func() error {
			_, err := Map(ctx, "", a, func([]uint8, Tile[uint8]) error { return nil }, nil)
			return err
		}, ErrTooLarge},
		{"an index array along the bytes of items", func() error {
			return v.ReadBytes(ctx, make([]byte, 2), At(5), Coords([]int64{1, 3}))
		}, ErrTooLarge},
		{"FromReader", func() error {
			_, err := FromReader(ctx, "", []int64{2}, fmt.Sprintf("|V%d", n), bytes.NewReader(make([]byte, 100)), nil)
			return err
		}, io.ErrUnexpectedEOF},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.call()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 70<<20 || !errors.Is(err, c.want) {
			t.Errorf("%s: %d bytes allocated, error %v, want %v", c.what, got, err, c.want)
		}
	}
}

// TestConcatHuge joins arrays of few bytes with very many rows of chunks. Without items or without other items than
// zeros that takes no memory; otherwise the limits for the files hold.
func TestConcatHuge(t *testing.T) {
	ctx := t.Context()
	for _, rows := range []int64{1 << 50, 1 << 61} {
		a, err := Zeros(ctx, "", []int64{rows, 0}, "<f8", nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Concat(ctx, "", 0, []Reader{a, a}, nil)
		if err != nil || !slices.Equal(c.Shape(), []int64{2 * rows, 0}) {
			t.Errorf("%d rows without items: %v, %v", rows, c, err)
		}
	}
	const n = 1 << 18
	for value, want := range map[uint8]error{0: nil, 1: ErrTooLarge} {
		made, err := Full(ctx, "", []int64{n}, value, &CreateOptions{Chunks: []int64{1}, Blocks: []int64{1}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := saved(made.Frame())
		if err != nil {
			t.Fatal(err)
		}
		a, err := OpenBytes(b, &OpenOptions{MaxBytes: 3 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Concat(ctx, "", 0, []Reader{a, a}, nil)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 || !errors.Is(err, want) {
			t.Errorf("%d chunks of %d: %d bytes allocated, %v, want %v", n, value, got, err, want)
		}
	}
}

// TestConcatMany checks that Concat takes a time for each array that does not depend on their number.
func TestConcatMany(t *testing.T) {
	a, err := Create(ctx, "", []int64{3, 4}, make([]int32, 12), &CreateOptions{Chunks: []int64{2, 4}, Blocks: []int64{2, 4}})
	must(t, err)
	const few, all = 500, 16000
	rs := slices.Repeat([]Reader{a}, all)
	best, ratio := math.Inf(1), math.Inf(1) // a busy machine delays calls, so the fastest of five counts
	for n := 0; n < 5 && ratio > 3; n++ {
		start := time.Now()
		for range all / few {
			_, err := Concat(ctx, "", 0, rs[:few], nil)
			must(t, err)
		}
		best = min(best, time.Since(start).Seconds())
		start = time.Now()
		_, err := Concat(ctx, "", 0, rs, nil)
		must(t, err)
		ratio = min(ratio, time.Since(start).Seconds()/best)
	}
	if ratio > 3 {
		t.Errorf("%d arrays take %.1f times as long as %d calls with %d", all, ratio, all/few, few)
	}
}

// TestConcatAllocations checks that arrays in memory are not prepared for reading ahead.
func TestConcatAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	const parts = 200
	var rs []Reader
	for range parts {
		a, err := Create(ctx, "", []int64{4, 16}, make([]float32, 64), &CreateOptions{Chunks: []int64{4, 16}, Concurrency: 1})
		must(t, err)
		must(t, Write(ctx, a, []float32{1}, Span(0, 1), Span(0, 1)))
		rs = append(rs, a)
	}
	for _, x := range []struct{ rows, most int64 }{{4, 37}, {64, 21}} { // copied as stored, and compressed again
		n := testing.AllocsPerRun(5, func() {
			_, err := Concat(ctx, "", 0, rs, &CreateOptions{Chunks: []int64{x.rows, 16}, Concurrency: 1})
			must(t, err)
		})
		if n/parts > float64(x.most) {
			t.Errorf("%d rows: %v allocations for each array, want at most %d", x.rows, n/parts, x.most)
		}
	}
}
