package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

// passes are calls that read all chunks of an array.
var passes = map[string]func(ctx context.Context, a *ndarray.Array) error{
	"copy": func(ctx context.Context, a *ndarray.Array) error {
		c, err := ndarray.Copy(ctx, "", a, nil)
		if err != nil {
			return err
		}
		defer c.Close()
		return nil
	},
	"sum": func(ctx context.Context, a *ndarray.Array) error {
		_, err := ndarray.ReduceAll[float32](ctx, a, ndarray.OpSum, nil)
		return err
	},
	"tiles": func(ctx context.Context, a *ndarray.Array) error {
		for _, err := range ndarray.Tiles[float32](ctx, a, ndarray.ByChunk(a)) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"to a writer": func(ctx context.Context, a *ndarray.Array) error { return ndarray.ToWriter(ctx, io.Discard, a) },
	"save":        func(ctx context.Context, a *ndarray.Array) error { _, err := a.Save(ctx, io.Discard); return err },
	"verify":      func(ctx context.Context, a *ndarray.Array) error { return a.Verify(ctx, nil) },
}

// checkTime checks that a call took little more than some latencies and the time of the link for all bytes. Files of
// about the same size end at about the same time, so that a directory of more files than requests in flight takes two.
func checkTime(t *testing.T, name string, a farArray, took time.Duration, size int64, latencies int) {
	t.Helper()
	if ideal := time.Duration(latencies)*a.link.Latency + time.Duration(float64(size)/a.link.Bandwidth*1e9); took > ideal*105/100 {
		t.Errorf("%s: %v, want at most 1.05 times %v", name, took, ideal)
	}
}

// checkPass checks the requests and bytes of a call that reads all bytes.
func checkPass(t *testing.T, name string, a farArray, size int64, requests, latencies int, do func(context.Context, *ndarray.Array) error) {
	t.Helper()
	a.link.Stats()
	start := time.Now()
	if err := do(context.Background(), a.Array); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	atMost(t, name, a.link.Stats(), requests, max(requests/8+2, latencies), size*101/100)
	checkTime(t, name, a, took, size, latencies)
}

// TestPasses counts what calls take that read all chunks.
func TestPasses(t *testing.T) {
	c := table[0]
	stored := makeArray(t, c.Shape, c.Chunks, c.Blocks, c.Codec, false)
	size := int64(len(stored))
	for name, do := range passes {
		far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
			checkPass(t, name, a, size, 12, 1, do)
		})
	}
	far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
		var b bytes.Buffer
		if _, err := a.Save(context.Background(), &b); err != nil || !bytes.Equal(b.Bytes(), stored) {
			t.Errorf("Save writes other bytes: %v", err)
		}
		a.link.Stats()
		for i := range a.Frame().NumChunks() {
			got, err := a.Frame().ReadChunk(context.Background(), nil, i)
			want, _ := a.local.Frame().ReadChunk(context.Background(), nil, i)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("chunk %d: wrong bytes: %v", i, err)
			}
		}
		atMost(t, "loop of ReadChunk", a.link.Stats(), 20, 6, size*101/100)
		if _, err := a.Frame().ReadChunk(context.Background(), nil, 7); err != nil {
			t.Fatal(err)
		}
		atMost(t, "a chunk", a.link.Stats(), 1, 1, size/20)
	})
}

// TestConcatPass copies the stored chunks of an array as a part of another.
func TestConcatPass(t *testing.T) {
	c := table[0]
	stored := makeArray(t, c.Shape, c.Chunks, c.Blocks, c.Codec, false)
	far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
		checkPass(t, "concat", a, int64(len(stored)), 12, 1, func(ctx context.Context, x *ndarray.Array) error {
			first, err := ndarray.Slice(a.local, ndarray.Span(0, 16))
			if err != nil {
				return err
			}
			b, err := ndarray.Concat(ctx, "", 0, []ndarray.Reader{first, x}, &ndarray.CreateOptions{Concurrency: 1})
			if err != nil {
				return err
			}
			defer b.Close()
			got, err := ndarray.Read[float32](ctx, b, ndarray.Span(16, ndarray.None))
			want, _ := ndarray.Read[float32](ctx, a.local)
			if err == nil && !slices.Equal(got, want) {
				err = errors.New("other items")
			}
			return err
		})
	})
}

// TestConcatParts concatenates many small arrays, each an object: several are read at the same time.
func TestConcatParts(t *testing.T) {
	const parts = 32
	stored := makeArray(t, []int64{4, 200, 300}, []int64{4, 200, 300}, []int64{1, 50, 300}, codec.Zstd, false)
	for _, x := range []struct {
		chunk  int64
		rounds int
	}{{4, 3}, {8, 3}} { // copied as stored, and compressed again
		far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
			ctx := context.Background()
			var rs []ndarray.Reader
			for range parts {
				src, err := remote.Open(ctx, "http://host/a", &remote.Options{Client: a.link.Client()})
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				b, err := ndarray.OpenSource(ctx, src, &ndarray.OpenOptions{Concurrency: 1})
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				rs = append(rs, b)
			}
			a.link.Stats()
			b, err := ndarray.Concat(ctx, "", 0, rs, &ndarray.CreateOptions{Chunks: []int64{x.chunk, 200, 300}, Concurrency: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			atMost(t, fmt.Sprint("to chunks of ", x.chunk), a.link.Stats(), parts, x.rounds, parts*int64(len(stored)))
			want, _ := ndarray.Read[float32](ctx, a.local)
			for i := range int64(parts) {
				got, err := ndarray.Read[float32](ctx, b, ndarray.Span(4*i, 4*i+4))
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("other items in part %d: %v", i, err)
				}
			}
		})
	}
}

// TestRechunkPass copies an array with another partition, box by box: the bytes of later boxes are received while
// earlier ones are written.
func TestRechunkPass(t *testing.T) {
	c := table[0]
	stored := makeArray(t, c.Shape, c.Chunks, c.Blocks, c.Codec, false)
	for _, x := range []struct {
		chunks           []int64
		memory           int64
		requests, rounds int
	}{
		{[]int64{8, 180, 360}, 28 << 20, 4, 1},  // boxes of a chunk
		{[]int64{365, 45, 90}, 98 << 20, 30, 3}, // boxes of a quarter of all chunks
	} {
		far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
			o := &ndarray.CreateOptions{Chunks: x.chunks, MaxMemory: x.memory, Level: 1, Concurrency: 1}
			start := time.Now()
			b, err := ndarray.Copy(context.Background(), "", a, o)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			took, size := time.Since(start), int64(len(stored))
			what := fmt.Sprint("to chunks of ", x.chunks)
			atMost(t, what, a.link.Stats(), x.requests, x.rounds, size*101/100)
			checkTime(t, what, a, took, size, x.rounds)
			got, err := ndarray.Read[float32](context.Background(), b)
			want, _ := ndarray.Read[float32](context.Background(), a.local)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("other items: %v", err)
			}
		})
	}
}

// TestSaveLarge saves a frame of small chunks that is too large to be kept in memory: no byte is received twice.
func TestSaveLarge(t *testing.T) {
	data := make([]uint32, 17<<20) // 68 MiB
	seed := uint32(1)
	for i := range data {
		seed = seed*1664525 + 1013904223
		data[i] = seed
	}
	x, err := ndarray.Create(t.Context(), "", []int64{int64(len(data))}, data,
		&ndarray.CreateOptions{Level: codec.NoCompression, Chunks: []int64{16 << 10}, Blocks: []int64{8 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var b bytes.Buffer
	if _, err := x.Save(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	stored := b.Bytes()
	far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
		checkPass(t, "save", a, int64(len(stored)), 40, 2, func(ctx context.Context, x *ndarray.Array) error {
			var b bytes.Buffer
			_, err := x.Save(ctx, &b)
			if err == nil && !bytes.Equal(b.Bytes(), stored) {
				err = errors.New("other bytes")
			}
			return err
		})
	})
}

// TestChunkInfos counts the requests and bytes for the headers of all chunks. The loop may end early.
func TestChunkInfos(t *testing.T) {
	stored := makeArray(t, []int64{256, 128, 128}, []int64{2, 64, 64}, []int64{2, 32, 64}, codec.Zstd, false)
	far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
		ctx := context.Background()
		a.link.Stats()
		next, end := iter.Pull2(a.local.ChunkInfos(ctx))
		defer end()
		n := 0
		for c, err := range a.ChunkInfos(ctx) {
			want, _, _ := next()
			if err != nil || !reflect.DeepEqual(c, want) {
				t.Fatalf("%+v, want %+v: %v", c, want, err)
			}
			n++
		}
		if n != a.Frame().NumChunks() || n < 500 {
			t.Errorf("%d chunks of %d", n, a.Frame().NumChunks())
		}
		atMost(t, "headers", a.link.Stats(), 40, 6, int64(len(stored))*101/100)
		for c, err := range a.ChunkInfos(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Number == 2 {
				break
			}
		}
		atMost(t, "three headers", a.link.Stats(), 40, 6, int64(len(stored)))
		n = 0
		for c, err := range a.ChunkInfos(ctx, ndarray.Span(100, 104), ndarray.At(70)) {
			if want := int64(200 + n/2*4 + 2 + n%2); err != nil || c.Number != want {
				t.Fatalf("chunk %d, want %d: %v", c.Number, want, err)
			}
			n++
		}
		if n != 4 {
			t.Errorf("%d chunks of 4", n)
		}
		atMost(t, "four headers", a.link.Stats(), 40, 6, int64(len(stored))/20)
	})
}

// TestReducePass reduces an array of many small chunks, and describes them one by one.
func TestReducePass(t *testing.T) {
	stored := makeArray(t, []int64{256, 128, 128}, []int64{2, 64, 64}, []int64{2, 32, 64}, codec.Zstd, false)
	size := int64(len(stored))
	far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
		checkPass(t, "sum", a, size, 2, 2, passes["sum"])
		checkPass(t, "median", a, 2*size, 4, 4, func(ctx context.Context, a *ndarray.Array) error {
			_, err := ndarray.Quantiles(ctx, a, []float64{0.5}, nil)
			return err
		})
		checkPass(t, "loop of ChunkInfo", a, size, 10, 7, func(ctx context.Context, a *ndarray.Array) error {
			for i := range a.Frame().NumChunks() {
				if _, err := a.Frame().ChunkInfo(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// TestSmallChunks reads a selection of small chunks: no byte is received twice.
func TestSmallChunks(t *testing.T) {
	stored := makeArray(t, []int64{64, 512, 128}, []int64{16, 256, 64}, []int64{2, 64, 32}, codec.Zstd, false)
	size := int64(len(stored))
	for _, o := range []ndarray.OpenOptions{{}, {Verify: true}, {MaxBytes: 64 << 20}} {
		far(t, stored, remote.Options{}, o, func(t *testing.T, a farArray) {
			s, _ := a.read(t, ndarray.Span(10, 50), ndarray.Span(100, 300), ndarray.Span(20, 100))
			atMost(t, "box", s, 2, 1, size*101/100)
		})
	}
}

// TestFinalError reads from a server that has failed. The read returns its error once, with the place, and does not try
// again what the look-ahead has tried.
func TestFinalError(t *testing.T) {
	stored := makeArray(t, []int64{8, 300, 300}, []int64{8, 300, 300}, []int64{1, 50, 300}, codec.Zstd, false)
	var requests atomic.Int64
	var fails atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if fails.Load() {
			http.Error(w, "failed", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(stored))
	}))
	defer server.Close()
	src, err := remote.Open(t.Context(), server.URL, &remote.Options{Retries: 2, MaxWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	a, err := ndarray.OpenSource(t.Context(), src, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	fails.Store(true)
	for name, do := range map[string]func() error{
		"item":      func() error { _, err := ndarray.Item[float32](t.Context(), a, 4, 150, 150); return err },
		"all":       func() error { _, err := ndarray.Read[float32](t.Context(), a); return err },
		"copy":      func() error { _, err := ndarray.Copy(t.Context(), "", a, nil); return err },
		"save":      func() error { _, err := a.Save(t.Context(), io.Discard); return err },
		"verify":    func() error { return a.Verify(t.Context(), nil) },
		"ReadChunk": func() error { _, err := a.Frame().ReadChunk(t.Context(), nil, 0); return err },
		"ReadBlock": func() error { _, err := a.Frame().ReadBlock(t.Context(), nil, 0, 20); return err },
	} {
		requests.Store(0)
		err := do()
		var at *frame.Error
		var e *remote.Error
		if !errors.As(err, &at) || at.Part != "chunk" || at.Chunk != 0 || !errors.As(err, &e) || e.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: %v", name, err)
		}
		if n := requests.Load(); n != 3 {
			t.Errorf("%s: %d requests, want 3 attempts of one: %v", name, n, err)
		}
	}
	fails.Store(false)
	if _, err := ndarray.Read[float32](t.Context(), a); err != nil {
		t.Errorf("the server works again: %v", err)
	}
}

// TestRefresh replaces the object of an open array. Reads and Refresh return ErrChanged, also those of an older state.
func TestRefresh(t *testing.T) {
	one := makeArray(t, []int64{64, 100, 100}, []int64{8, 100, 100}, []int64{1, 50, 100}, codec.Zstd, false)
	two := makeArray(t, []int64{64, 100, 100}, []int64{8, 100, 100}, []int64{1, 50, 100}, codec.LZ4, false)
	var data atomic.Pointer[[]byte]
	data.Store(&one)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := data.Load()
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(*b)))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(*b))
	}))
	defer server.Close()
	src, err := remote.Open(t.Context(), server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	a, err := ndarray.OpenSource(t.Context(), src, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if changed, err := a.Refresh(t.Context()); changed || err != nil {
		t.Errorf("Refresh: %v, %v", changed, err)
	}
	local, err := ndarray.OpenBytes(one, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	next, end := iter.Pull2(local.ChunkInfos(t.Context()))
	defer end()
	for c, err := range a.ChunkInfos(t.Context()) { // it keeps one state, whose headers may have been read ahead
		want, _, _ := next()
		if c.Number == 0 {
			data.Store(&two)
			if _, err := a.Refresh(t.Context()); !errors.Is(err, remote.ErrChanged) {
				t.Errorf("Refresh: %v", err)
			}
		}
		if err != nil && !errors.Is(err, remote.ErrChanged) || err == nil && !reflect.DeepEqual(c, want) {
			t.Errorf("%+v, want %+v or ErrChanged: %v", c, want, err)
		}
	}
	if _, err := ndarray.Read[float32](t.Context(), a); !errors.Is(err, remote.ErrChanged) {
		t.Errorf("a read: %v", err)
	}
	src.Close()
	if err := src.Refresh(t.Context()); err == nil {
		t.Error("Refresh of a closed object")
	}
}
