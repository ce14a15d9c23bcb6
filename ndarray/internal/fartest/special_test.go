package fartest_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/fartest"
)

// farZeros returns an array of n chunks of two items, all special except the last one, and its source.
func farZeros(t *testing.T, n int64) (*ndarray.Array, *fartest.Source) {
	t.Helper()
	local, err := ndarray.Zeros(ctx, "", []int64{2 * n}, "<u2", &ndarray.CreateOptions{Chunks: []int64{2}})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if err := ndarray.Write(ctx, local, []uint16{7, 8}, ndarray.Span(-2, ndarray.None)); err != nil {
		t.Fatal(err)
	}
	src := fartest.NewSource(fartest.Stored(t, local.Frame()), 1)
	a, err := ndarray.OpenSource(ctx, src, &ndarray.OpenOptions{MaxBytes: -1, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	src.Ranges, src.Reads = 0, 0
	return a, src
}

// TestFarSearch counts the special chunks that a call passes over in the search for stored ones. The end of the context
// stops the search. The chunks after them are read ahead.
func TestFarSearch(t *testing.T) {
	const n, most = 100_000, 20_000
	a, src := farZeros(t, n)
	v, err := a.Frame().Engine().View(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	listed := 0
	ahead, stop := v.Ahead(ctx, 1, func(v *engine.Visit) bool {
		v.Chunk = listed
		listed++
		return listed <= n
	})
	defer stop()
	for i := range 3 {
		if listed == 0 || listed > most*(i+1) {
			t.Errorf("%d chunks were looked at before call %d", listed, i)
		}
		if _, err := ahead.ChunkInfo(ctx, i); err != nil {
			t.Error(err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	listed = 0
	_, stop = v.AheadChunks(ended, func() (int, bool) { listed++; return listed, listed < n })
	stop()
	if listed > 1 {
		t.Errorf("%d chunks were looked at after the end of the context", listed)
	}
	last := []uint16(nil)
	for tile, err := range ndarray.Tiles[uint16](ctx, a, ndarray.ByChunk(a)) {
		if err != nil {
			t.Fatal(err)
		}
		last = append(last[:0], tile.Items...)
	}
	if len(last) != 2 || last[0] != 7 || src.Ranges != 1 || src.Reads > 0 {
		t.Errorf("items %v, %d reads of ranges and %d others", last, src.Ranges, src.Reads)
	}
}

// TestFarZeros reads the first chunk of a huge array without stored chunks. No call searches for them.
func TestFarZeros(t *testing.T) {
	local, err := ndarray.Zeros(ctx, "", []int64{1 << 36}, "|u1", &ndarray.CreateOptions{Chunks: []int64{1 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	a, err := ndarray.OpenSource(ctx, fartest.NewSource(fartest.Stored(t, local.Frame()), 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, err := range ndarray.Tiles[uint8](ctx, a, ndarray.ByChunk(a)) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	stop := errors.New("stop")
	_, err = ndarray.Map(ctx, "", a, func([]uint8, ndarray.Tile[uint8]) error { return stop }, nil)
	if !errors.Is(err, stop) {
		t.Errorf("Map: %v", err)
	}
}

// TestFarRuns reads groups of small chunks between runs of chunks that are not read ahead: zeros, or chunks above the
// memory of a window. Small chunks are read once and ahead, and long chunks once.
func TestFarRuns(t *testing.T) {
	const groups, small, run, size = 6, 20, 100, 20_000
	for _, long := range []bool{false, true} {
		data := make([]byte, groups*(run+small)*size)
		rng := rand.NewChaCha8([32]byte{5})
		for g := range groups {
			group := data[g*(run+small)*size:][:(run+small)*size]
			if long {
				rng.Read(group[:run*size])
			}
			for i := run; i < run+small; i++ {
				rng.Read(group[i*size:][:3000])
			}
		}
		local, err := ndarray.CreateBytes(ctx, "", []int64{int64(len(data))}, "|u1", data, &ndarray.CreateOptions{Chunks: []int64{size}, Blocks: []int64{size / 2}})
		if err != nil {
			t.Fatal(err)
		}
		src := fartest.NewSource(fartest.Stored(t, local.Frame()), 1)
		a, err := ndarray.OpenSource(ctx, src, &ndarray.OpenOptions{Concurrency: 1, MaxBytes: 60_000})
		if err != nil {
			t.Fatal(err)
		}
		src.Ranges, src.Reads, src.Bytes = 0, 0, 0
		at := 0
		for tile, err := range ndarray.Tiles[uint8](ctx, a, ndarray.ByChunk(a)) {
			if err != nil || !bytes.Equal(tile.Items, data[at:][:size]) {
				t.Fatalf("chunk %d: other items, %v", at/size, err)
			}
			at += size
		}
		reads := 0
		if long {
			reads = groups * run
		}
		if src.Reads != reads || src.Bytes > int64(len(src.Data)) {
			t.Errorf("long chunks %v: %d reads of single ranges, want %d, and %d bytes of %d", long, src.Reads, reads, src.Bytes, len(src.Data))
		}
		a.Close()
		local.Close()
	}
}
