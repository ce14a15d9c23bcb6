package ndarray

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/internal/race"
)

// countedReads counts the reads and the bytes that they ask for.
type countedReads struct {
	io.ReaderAt
	reads, bytes atomic.Int64
}

func (c *countedReads) ReadAt(p []byte, off int64) (int, error) {
	c.reads.Add(1)
	c.bytes.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, off)
}

// flatArray returns an array of float32 of so many rows of 10 MB each, in chunks of a row: all zeros, so that its index
// is one value, or with one row stored, so that it is a list.
func flatArray(t testing.TB, rows int64, list bool) (*Array, *countedReads) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.b2nd")
	o := &Options{Chunks: []int32{1, 2_500_000}, Blocks: []int32{1, 25_000}}
	o.NoSync = true
	made, err := Zeros(name, []int64{rows, 2_500_000}, "<f4", o)
	if err != nil {
		t.Fatal(err)
	}
	made.Close()
	if list {
		if made, err = Edit(name, o); err != nil {
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
	o.Concurrency = 1
	a, err := NewReader(c, int64(len(b)), o)
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

// TestFlatCost reads the same slices out of arrays of 10 MB, 1 GB and 100 GB: neither the memory taken nor the reads of
// the storage may grow with the array.
func TestFlatCost(t *testing.T) {
	if race.Enabled {
		t.Log("pools drop memory at random when races are looked for; counting allocations means nothing then")
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools keep their content,
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // and have one for all
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
				if n := after.TotalAlloc - before.TotalAlloc; n > 4096 { // what else goes on may take some
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

// BenchmarkFlat reads a slice that is stored, and one of a special chunk, out of arrays of 10 MB to 100 GB.
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
