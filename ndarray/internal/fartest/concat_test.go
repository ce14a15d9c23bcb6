package fartest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/fartest"
)

// inFlight is a source that adds the bytes that are asked for to a sum, if it is set. Its reads then wait for their
// context.
type inFlight struct {
	*fartest.Source
	sum *atomic.Pointer[atomic.Int64]
}

func (f inFlight) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	if sum := f.sum.Load(); sum != nil {
		for _, w := range want {
			sum.Add(w.Len)
		}
		<-ctx.Done()
		return ctx.Err()
	}
	return f.Source.ReadRanges(ctx, want, got)
}

// TestFarConcatMemory joins arrays with large chunks by pieces. Their stored bytes that are read at the same time are
// limited.
func TestFarConcatMemory(t *testing.T) {
	data := make([]byte, 61440*24*4)
	rand.NewChaCha8([32]byte{5}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", []int64{61440, 24}, "<u4", data, &ndarray.CreateOptions{Chunks: []int64{61440, 24}, Blocks: []int64{61440, 24}})
	if err != nil {
		t.Fatal(err)
	}
	stored := fartest.Stored(t, local.Frame())
	for _, verify := range []bool{false, true} {
		var sum atomic.Pointer[atomic.Int64]
		var rs []ndarray.Reader
		for range 40 {
			a, err := ndarray.OpenSource(ctx, inFlight{fartest.NewSource(stored, 1), &sum}, &ndarray.OpenOptions{Concurrency: 1, Verify: verify})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			rs = append(rs, a)
		}
		var n atomic.Int64
		sum.Store(&n)
		ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		if _, err := ndarray.Concat(ctx, "", 1, rs, &ndarray.CreateOptions{Chunks: []int64{64, 960}, Blocks: []int64{64, 24}, Concurrency: 1}); err == nil {
			t.Error("no error")
		}
		if got := n.Load(); got < 32<<20 || got > 64<<20 {
			t.Errorf("Verify %v: %d bytes at the same time, about 64 MiB are right", verify, got)
		}
	}
}

// panicky is a source that panics after some calls of Size or ReadRanges, if the number is positive.
type panicky struct {
	*fartest.Source
	sizes, ranges *atomic.Int64
}

func (p panicky) Size() int64 {
	if p.sizes.Add(-1) == 0 {
		panic("Size")
	}
	return p.Source.Size()
}

func (p panicky) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	if p.ranges.Load() == 1 {
		panic("ReadRanges")
	}
	return p.Source.ReadRanges(ctx, want, got)
}

// TestFarConcatPanic joins arrays whose source panics. Concat panics, and no goroutine is left.
func TestFarConcatPanic(t *testing.T) {
	data := make([]byte, 400*4096*2)
	rand.NewChaCha8([32]byte{5}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", []int64{400, 4096}, "<u2", data, &ndarray.CreateOptions{Chunks: []int64{4, 4096}})
	if err != nil {
		t.Fatal(err)
	}
	stored := fartest.Stored(t, local.Frame())
	for _, rows := range []int64{4, 100, 7} { // copied as stored, and compressed again
		for _, at := range [][2]int64{{0, 1}, {1, 0}, {20, 0}, {150, 0}} {
			var sizes, ranges atomic.Int64
			var rs []ndarray.Reader
			for range 10 {
				a, err := ndarray.OpenSource(ctx, panicky{fartest.NewSource(stored, 1), &sizes, &ranges}, &ndarray.OpenOptions{Concurrency: 1, MaxBytes: 1 << 20})
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				rs = append(rs, a)
			}
			before := runtime.NumGoroutine()
			sizes.Store(at[0])
			ranges.Store(at[1])
			got := func() (x any) {
				defer func() {
					if v := recover(); v != nil {
						x = v
					}
				}()
				_, err := ndarray.Concat(ctx, "", 0, rs, &ndarray.CreateOptions{Chunks: []int64{rows, 4096}, Concurrency: 1})
				return err
			}()
			if s := fmt.Sprint(got); s != "Size" && s != "ReadRanges" {
				t.Errorf("%d rows, %v: recovered %v", rows, at, got)
			}
			for i := 0; runtime.NumGoroutine() > before && i < 100; i++ {
				time.Sleep(time.Millisecond)
			}
			if n := runtime.NumGoroutine(); n > before {
				t.Errorf("%d rows, %v: %d goroutines, %d before", rows, at, n, before)
			}
			sizes.Store(0)
			ranges.Store(0)
		}
	}
}

// TestFarLargeChunks counts the reads of operands whose chunks are larger than the part of the memory of each. They are
// read ahead. Operands in memory do not share it.
func TestFarLargeChunks(t *testing.T) {
	const n, size = 4, 5 << 18 // chunks, and items of each: 5 MiB
	data := make([]byte, n*size*4)
	rand.NewChaCha8([32]byte{5}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", []int64{n * size}, "<i4", data, &ndarray.CreateOptions{Chunks: []int64{size}})
	if err != nil {
		t.Fatal(err)
	}
	stored := fartest.Stored(t, local.Frame())
	for _, x := range []struct{ far, ranges int }{{4, 8}, {1, 2}} {
		operands := []ndarray.Reader{local, local, local, local}
		var sources []*fartest.Source
		for i := range x.far {
			src := fartest.NewSource(stored, 1)
			a, err := ndarray.OpenSource(ctx, src, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			src.Ranges, src.Reads = 0, 0
			sources, operands[i] = append(sources, src), a
		}
		held, release, err := ndarray.Hold(ctx, operands, engine.Internal{})
		if err != nil {
			t.Fatal(err)
		}
		begin := func(ctx context.Context, chunk ndarray.Box, ahead []ndarray.Reader) func(ndarray.Tile[int32]) error {
			read := sync.OnceValue(func() error {
				for _, r := range ahead {
					if r == nil {
						continue
					}
					if err := ndarray.ReadInto(ctx, r, make([]int32, chunk.Size()), chunk.Selection()...); err != nil {
						return err
					}
				}
				return nil
			})
			return func(ndarray.Tile[int32]) error { return read() }
		}
		r, err := ndarray.FromReaders(ctx, "", []int64{n * size}, held, 4, begin, engine.Internal{}, &ndarray.CreateOptions{Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		release()
		for _, src := range sources {
			if src.Ranges > x.ranges || src.Reads > 0 {
				t.Errorf("%d operands far away: %d reads of ranges and %d others, want at most %d and 0", x.far, src.Ranges, src.Reads, x.ranges)
			}
		}
	}
}
