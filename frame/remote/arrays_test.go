package remote_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/link"
	"github.com/goblosc/blosc2/internal/link/arrays"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray"
)

// made holds the stored arrays that tests made, which take long. Nothing changes them.
var made sync.Map

// makeArray returns a stored array of smooth values with some noise.
func makeArray(t testing.TB, shape, chunks, blocks []int64, id codec.ID, table bool) []byte {
	t.Helper()
	key := fmt.Sprint(shape, chunks, blocks, id, table)
	if b, ok := made.Load(key); ok {
		return b.([]byte)
	}
	b, err := arrays.Array{Codec: id, Shape: shape, Chunks: chunks, Blocks: blocks}.Frame(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	made.Store(key, b)
	return b
}

// closingSource is an Object or a Dir.
type closingSource interface {
	frame.Source
	io.Closer
}

// farArray is an array on a link of 50 ms and 100 MB/s, and the same array in memory.
type farArray struct {
	*ndarray.Array
	src   frame.Source
	link  *link.Link
	local *ndarray.Array
}

// far calls do with an array on a link, in a bubble with virtual time.
func far(t *testing.T, stored []byte, o remote.Options, open ndarray.OpenOptions, do func(t *testing.T, a farArray)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{"/a": {Data: stored, ETag: `"1"`}}}
		o.Client = l.Client()
		src, err := remote.Open(context.Background(), "http://host/a", &o)
		if err != nil {
			t.Fatal(err)
		}
		a := openFar(t, src, l, stored, open)
		l.Stats()
		do(t, a)
	})
}

// openFar opens an array of a source on a link, and the same array in memory. The end of the test closes them and the
// source.
func openFar(t *testing.T, src closingSource, l *link.Link, stored []byte, open ndarray.OpenOptions) farArray {
	t.Helper()
	t.Cleanup(func() { src.Close() })
	open.Concurrency = 1 // a helper that waits for work would stop the virtual time
	a, err := ndarray.OpenSource(context.Background(), src, &open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	local, err := ndarray.OpenBytes(stored, &ndarray.OpenOptions{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	return farArray{a, src, l, local}
}

// read reads a selection, compares it with the local array, and returns what that took.
func (a farArray) read(t *testing.T, sel ...ndarray.Index) (link.Stats, time.Duration) {
	t.Helper()
	ctx := context.Background()
	start := time.Now()
	got, err := ndarray.Read[float32](ctx, a, sel...)
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	s := a.link.Stats()
	want, err := ndarray.Read[float32](ctx, a.local, sel...)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d items, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("item %d is %v, want %v", i, got[i], want[i])
		}
	}
	return s, took
}

// table has the arrays of the table of costs, with bounds for their boxes.
var table = []struct {
	name string
	arrays.Array
	requests int // if requests may have several ranges
	merged   int // and otherwise
	long     bool
}{
	{"series", arrays.Series(), 17, 25, false},
	{"plane", arrays.Plane(), 8, 15, false},
	{"box", arrays.Box(), 17, 37, true},
}

// atMost compares counts.
func atMost(t *testing.T, what string, s link.Stats, requests, rounds int, bytes int64) {
	t.Helper()
	t.Logf("%s: %d requests, %d rounds, %d bytes", what, s.Requests, s.Rounds, s.Bytes)
	if s.Requests > requests || s.Rounds > rounds || s.Bytes > bytes {
		t.Errorf("%s: %d requests, %d rounds, %d bytes, want at most %d, %d, %d", what, s.Requests, s.Rounds, s.Bytes, requests, rounds, bytes)
	}
}

// TestSlowItem reads an item of a cold chunk: in one round trip if the bandwidth is high, and otherwise in two, which
// take less time than the whole chunk.
func TestSlowItem(t *testing.T) {
	stored := makeArray(t, []int64{4, 512, 512}, []int64{4, 256, 256}, []int64{1, 64, 64}, codec.LZ4, false)
	for _, c := range []struct {
		bandwidth int64
		requests  int
		bytes     int64
	}{{100e6, 1, 1 << 20}, {1e6, 2, 40 << 10}} {
		o := remote.Options{Latency: 50 * time.Millisecond, Bandwidth: c.bandwidth}
		far(t, stored, o, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
			s, _ := a.read(t, ndarray.At(1), ndarray.At(300), ndarray.At(200))
			atMost(t, fmt.Sprintf("%d kB/s", c.bandwidth/1000), s, c.requests, c.requests, c.bytes)
		})
	}
}

// TestBlockTable counts what items take with a block table.
func TestBlockTable(t *testing.T) {
	c := table[0]
	plain := makeArray(t, c.Shape, c.Chunks, c.Blocks, c.Codec, false)
	stored := makeArray(t, c.Shape, c.Chunks, c.Blocks, c.Codec, true)
	blocks := int64(23 * 16 * 4)
	t.Logf("%.2f bytes for a block", float64(len(stored)-len(plain))/float64(blocks))
	if extra := int64(len(stored) - len(plain)); extra > 3*blocks {
		t.Errorf("a table of %d bytes for %d blocks", extra, blocks)
	}
	far(t, stored, remote.Options{}, ndarray.OpenOptions{Cache: 1 << 20}, func(t *testing.T, a farArray) {
		item := func(what string, requests, rounds int, at ...int64) {
			s, _ := a.read(t, ndarray.At(at[0]), ndarray.At(at[1]), ndarray.At(at[2]))
			atMost(t, what, s, requests, rounds, 2<<20)
		}
		item("cold item", 2, 1, 50, 50, 50)
		item("other item of the chunk", 1, 1, 50, 150, 50)
		item("same item", 0, 0, 50, 50, 50)
		item("cold item at the beginning of a chunk", 1, 1, 80, 0, 0)
	})
	far(t, stored, remote.Options{Multipart: true}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
		s, _ := a.read(t, c.Sel()...)
		atMost(t, "selection, several ranges", s, c.requests, 1, 10<<20)
	})
	far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
		s, _ := a.read(t, c.Sel()...)
		atMost(t, "selection", s, c.merged, 2, int64(len(stored)))
	})
}

// TestArrays counts what reads of arrays take.
func TestArrays(t *testing.T) {
	for _, c := range table {
		if c.long && testing.Short() || race.Enabled && c.name != "series" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			stored := makeArray(t, c.Shape, c.Chunks, c.Blocks, c.Codec, false)
			size := int64(len(stored))
			far(t, stored, remote.Options{}, ndarray.OpenOptions{Cache: 1 << 20}, func(t *testing.T, a farArray) {
				item := func(i, j, k int64) link.Stats {
					s, _ := a.read(t, ndarray.At(i), ndarray.At(j), ndarray.At(k))
					return s
				}
				atMost(t, "cold item", item(50, 50, 50), 2, 2, 2<<20)
				atMost(t, "other item of the chunk", item(50, 150, 50), 1, 1, 64<<10)
				atMost(t, "same item", item(50, 50, 50), 0, 0, 0)
			})

			// The bytes of the wanted blocks: what a read takes that knows the beginnings of chunks and reads no gaps.
			wanted := int64(0)
			far(t, stored, remote.Options{Multipart: true, Gap: -1}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				a.read(t, c.Sel()...)
				s, _ := a.read(t, c.Sel()...)
				wanted = s.Bytes
			})
			far(t, stored, remote.Options{Multipart: true}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				s, took := a.read(t, c.Sel()...)
				atMost(t, "selection, several ranges", s, c.requests, 2, wanted*3/2)
				if ideal := 2*a.link.Latency + time.Duration(float64(s.Bytes)/a.link.Bandwidth*1e9); took > ideal*105/100 {
					t.Errorf("%v, want at most 1.05 times %v", took, ideal)
				}
			})
			far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				s, _ := a.read(t, c.Sel()...)
				atMost(t, "selection", s, c.merged, 3, size)
			})
			far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				s, took := a.read(t)
				atMost(t, "whole array", s, 8, 2, size*101/100)
				if ideal := a.link.Latency + time.Duration(float64(size)/a.link.Bandwidth*1e9); took > ideal*105/100 {
					t.Errorf("%v, want at most 1.05 times %v", took, ideal)
				}
			})
			far(t, stored, remote.Options{Multipart: true}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				var all sync.WaitGroup
				for range 64 {
					all.Go(func() {
						if _, err := ndarray.Read[float32](context.Background(), a, c.Sel()...); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				atMost(t, "64 goroutines", a.link.Stats(), c.requests, 2, wanted*3/2)
			})
			// A source without ReadRanges is read block by block.
			far(t, stored, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				plain, err := ndarray.OpenSource(context.Background(), struct{ frame.Source }{a.src}, &ndarray.OpenOptions{Concurrency: 1})
				if err != nil {
					t.Fatal(err)
				}
				defer plain.Close()
				a.Array = plain
				s, _ := a.read(t, c.Sel()...)
				if s.Requests < 5*c.merged {
					t.Errorf("%d requests: compare another read", s.Requests)
				}
				t.Logf("selection, block by block: %d requests, %d rounds, %d bytes", s.Requests, s.Rounds, s.Bytes)
			})
		})
	}
}
