package fartest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/fartest"
)

var ctx = context.Background()

// readFar reads a selection with at most a number of calls of ReadRanges, and none of ReadAtContext.
func readFar(t *testing.T, local, a *ndarray.Array, src *fartest.Source, most int, sel ...ndarray.Index) {
	t.Helper()
	want, err := ndarray.Read[uint16](ctx, local, sel...)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]uint16, len(want))
	if err := ndarray.ReadInto(ctx, a, got, sel...); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v: the items differ", sel)
	}
	if src.Ranges > most || src.Reads > 0 {
		t.Errorf("%v: %d reads of ranges and %d others, want at most %d and 0", sel, src.Ranges, src.Reads, most)
	}
	src.Ranges, src.Reads = 0, 0
}

// TestFarRounds counts the calls of the source.
func TestFarRounds(t *testing.T) {
	// Small chunks are read whole, at once. Then their blocks are known.
	for _, o := range []*ndarray.OpenOptions{{}, {Verify: true}} {
		local, a, src := farArray(t, []int64{200, 30, 30}, []int64{40, 30, 30}, []int64{1, 10, 30}, o, nil)
		readFar(t, local, a, src, 1, ndarray.All, ndarray.At(5), ndarray.At(6))
		readFar(t, local, a, src, 1, ndarray.All, ndarray.At(15), ndarray.At(6))
		readFar(t, local, a, src, 1)
	}
	// Larger chunks are not.
	local, a, src := farArray(t, []int64{4, 1 << 19}, []int64{1, 1 << 19}, []int64{1, 1 << 12}, &ndarray.OpenOptions{Cache: 1 << 20}, nil)
	readFar(t, local, a, src, 2, ndarray.All, ndarray.At(5))
	readFar(t, local, a, src, 0, ndarray.All, ndarray.At(6))
	readFar(t, local, a, src, 1, ndarray.All, ndarray.At(1<<18))
	// Chunks out of order are located before they are read whole.
	local, a, src = farArray(t, []int64{4, 1 << 14}, []int64{1, 1 << 14}, []int64{1, 1 << 12}, nil, func(a *ndarray.Array) {
		for _, i := range []int64{3, 2, 0, 1} {
			if err := a.FillBytes(ctx, []byte{byte(i), 1}, ndarray.At(i), ndarray.Span(0, 1<<14-1)); err != nil {
				t.Fatal(err)
			}
		}
	})
	readFar(t, local, a, src, 2)
}

// TestFarCached reads chunks again whose blocks are in the cache: in one call, and in one call for each chunk.
func TestFarCached(t *testing.T) {
	for _, block := range []int64{1 << 12, 1 << 14} { // a part of a chunk, and all of it
		local, a, src := farArray(t, []int64{20, 1 << 14}, []int64{1, 1 << 14}, []int64{1, block}, &ndarray.OpenOptions{Cache: 4 << 20}, nil)
		readFar(t, local, a, src, 1, ndarray.At(7), ndarray.At(5))
		readFar(t, local, a, src, 0, ndarray.At(7), ndarray.At(5))
		for i := range int64(20) {
			readFar(t, local, a, src, 1, ndarray.At(i))
		}
		for i := range int64(20) {
			readFar(t, local, a, src, 0, ndarray.At(i))
		}
		readFar(t, local, a, src, 0)
	}
}

// TestFarWindows reads more bytes than are read ahead at a time: of many chunks, and of one chunk.
func TestFarWindows(t *testing.T) {
	const most = 1 << 20 // a quarter at a time
	local, a, src := farArray(t, []int64{64, 1 << 15}, []int64{1, 1 << 15}, []int64{1, 1 << 12}, &ndarray.OpenOptions{MaxBytes: most, Concurrency: 1}, nil)
	readFar(t, local, a, src, 64/3+1)
	local, a, src = farArray(t, []int64{1 << 21}, []int64{1 << 21}, []int64{1 << 12}, &ndarray.OpenOptions{MaxBytes: most, Concurrency: 1}, nil)
	readFar(t, local, a, src, 8, ndarray.Step(0, ndarray.None, 3<<12))
}

// farArray returns an array of random items on a fartest.Source.
func farArray(t *testing.T, shape, chunks, blocks []int64, o *ndarray.OpenOptions, edit func(a *ndarray.Array)) (local, a *ndarray.Array, src *fartest.Source) {
	t.Helper()
	n := int64(2)
	for _, x := range shape {
		n *= x
	}
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", shape, "<u2", data, &ndarray.CreateOptions{Chunks: chunks, Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(local)
	}
	src = fartest.NewSource(fartest.Stored(t, local.Frame()), 1)
	if a, err = ndarray.OpenSource(ctx, src, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	src.Ranges, src.Reads, src.Bytes, src.Most = 0, 0, 0, 0
	return local, a, src
}

// farChunks returns an array of 64 chunks of 8 KiB with checksums, and its source.
func farChunks(t *testing.T, o *ndarray.OpenOptions) (*ndarray.Array, *fartest.Source) {
	t.Helper()
	data := make([]byte, 64*8192)
	rand.NewChaCha8([32]byte{2}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", []int64{64, 4096}, "<u2", data, &ndarray.CreateOptions{Chunks: []int64{1, 4096}, Checksums: true})
	if err != nil {
		t.Fatal(err)
	}
	src := fartest.NewSource(fartest.Stored(t, local.Frame()), 1)
	a, err := ndarray.OpenSource(ctx, src, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	src.Bytes, src.Most = 0, 0
	return a, src
}

// TestFarHeaders counts the bytes of calls that need only headers. With OpenOptions.Verify these are no more.
func TestFarHeaders(t *testing.T) {
	for _, verify := range []bool{false, true} {
		a, src := farChunks(t, &ndarray.OpenOptions{Verify: verify})
		for _, err := range a.ChunkInfos(ctx) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range 64 {
			if _, err := a.Frame().ChunkInfo(ctx, i); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.Frame().DeadBytes(ctx); err != nil {
			t.Fatal(err)
		}
		if src.Bytes > 3*64*32 {
			t.Errorf("Verify %v: %d bytes for three times 64 headers", verify, src.Bytes)
		}
	}
}

// TestFarHeads reads an item of each of many chunks whose lists of blocks are long. The lists count as bytes that are
// read ahead.
func TestFarHeads(t *testing.T) {
	const most = 100_000 // a quarter of MaxBytes
	local, err := ndarray.Zeros(ctx, "", []int64{16, 1 << 17}, "<u2", &ndarray.CreateOptions{Chunks: []int64{1, 1 << 17}, Blocks: []int64{1, 8}})
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 2*local.Size())
	rand.NewChaCha8([32]byte{3}).Read(data)
	if err := local.WriteBytes(ctx, data); err != nil {
		t.Fatal(err)
	}
	src := fartest.NewSource(fartest.Stored(t, local.Frame()), 1)
	a, err := ndarray.OpenSource(ctx, fartest.Gap{Reader: src}, &ndarray.OpenOptions{MaxBytes: 4 * most, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	src.Most = 0
	want, _ := ndarray.Read[uint16](ctx, local, ndarray.All, ndarray.At(5))
	if got, err := ndarray.Read[uint16](ctx, a, ndarray.All, ndarray.At(5)); err != nil || !slices.Equal(got, want) {
		t.Errorf("other items: %v", err)
	}
	if src.Most > 2*most {
		t.Errorf("%d bytes with one call, at most %d are right", src.Most, 2*most)
	}
}

// TestFarLoops lets goroutines share a loop over all chunks. Few chunks are read twice.
func TestFarLoops(t *testing.T) {
	for name, c := range map[string]struct {
		read func(a *ndarray.Array, i int) error
		most int64
	}{
		"ReadChunk": {func(a *ndarray.Array, i int) error { _, err := a.Frame().ReadChunk(ctx, nil, i); return err }, 64 * 8300},
		"ReadRaw":   {func(a *ndarray.Array, i int) error { _, err := a.Frame().ReadRaw(ctx, nil, i); return err }, 64 * 8300},
		"ChunkInfo": {func(a *ndarray.Array, i int) error { _, err := a.Frame().ChunkInfo(ctx, i); return err }, 64 * 32},
	} {
		for _, workers := range []int{1, 2, 8} {
			a, src := farChunks(t, nil)
			src.Delay = time.Millisecond
			var next atomic.Int64
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					for i := int(next.Add(1)) - 1; i < 64; i = int(next.Add(1)) - 1 {
						if err := c.read(a, i); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			if src.Bytes > c.most*130/100 { // some calls come out of order
				t.Errorf("%s, %d goroutines: %d bytes, at most %d are right", name, workers, src.Bytes, c.most)
			}
		}
	}
}

// TestFarMap counts the bytes and calls of Map. It reads whole chunks ahead, as Copy does, also of a view and for other
// chunks.
func TestFarMap(t *testing.T) {
	for _, x := range []struct {
		chunks, blocks []int64
		start          int64
	}{{nil, nil, 0}, {nil, nil, 5}, {[]int64{70, 50}, []int64{7, 25}, 0}} {
		local, a, src := farArray(t, []int64{200, 300}, []int64{40, 100}, []int64{8, 20}, nil, nil)
		sel := ndarray.Span(x.start, ndarray.None)
		v, err := ndarray.Slice(a, sel, sel)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ndarray.Map(ctx, "", v, func(out []int64, in ndarray.Tile[uint16]) error {
			for k, x := range in.Items {
				out[k] = 3 * int64(x)
			}
			return nil
		}, &ndarray.CreateOptions{Chunks: x.chunks, Blocks: x.blocks})
		if err != nil {
			t.Fatal(err)
		}
		if src.Ranges+src.Reads > 10 || src.Bytes > 4*2*200*300 {
			t.Errorf("%v: %d reads of ranges and %d others, of %d bytes", x, src.Ranges, src.Reads, src.Bytes)
		}
		want, err := ndarray.Read[uint16](ctx, local, sel, sel)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ndarray.Read[int64](ctx, b)
		if err != nil || len(got) != len(want) {
			t.Fatal(len(got), err)
		}
		for k, n := range want {
			if got[k] != 3*int64(n) {
				t.Fatalf("%v: item %d is %d, want %d", x, k, got[k], 3*int64(n))
			}
		}
	}
}

// TestFarSaveKeeps saves a sparse frame whose header claims few stored bytes. Save keeps no more chunks in memory than
// MaxBytes, and reads them again.
func TestFarSaveKeeps(t *testing.T) {
	a, _ := farChunks(t, nil)
	src := fartest.NewSource(nil, 1)
	src.Data, src.Files = fartest.StoredFiles(t, a.Frame())
	binary.BigEndian.PutUint64(src.Data[39:], 1) // the stored bytes of all chunks
	b, err := ndarray.OpenSource(ctx, fartest.Files{Source: src}, &ndarray.OpenOptions{MaxBytes: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	src.Bytes = 0
	var got bytes.Buffer
	if _, err := b.Save(ctx, &got); err != nil {
		t.Fatal(err)
	}
	if src.Bytes < 64*8192*5/4 {
		t.Errorf("%d bytes: all chunks were kept", src.Bytes)
	}
	c, err := ndarray.OpenBytes(got.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
}

// TestFarHalf reads chunks of more than half of a window, each of which waits for its own round trip. Four of them are
// on their way at the same time.
func TestFarHalf(t *testing.T) {
	const n, size = 24, 50_000
	data := make([]byte, n*size*2)
	rand.NewChaCha8([32]byte{5}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", []int64{n * size}, "<u2", data, &ndarray.CreateOptions{Chunks: []int64{size}})
	if err != nil {
		t.Fatal(err)
	}
	stored := fartest.Stored(t, local.Frame())
	synctest.Test(t, func(t *testing.T) {
		src := fartest.NewSource(stored, 1)
		a, err := ndarray.OpenSource(ctx, src, &ndarray.OpenOptions{MaxBytes: 16 * size * 2 / 10 * 4, Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		src.Delay = time.Second
		start, got := time.Now(), make([]byte, len(data))
		if err := a.ReadBytes(ctx, got); err != nil || !bytes.Equal(got, data) {
			t.Errorf("other items, %v", err)
		}
		if took := time.Since(start); took > n/4*time.Second {
			t.Errorf("%d chunks took %v", n, took)
		}
	})
}
