package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/internal/link"
	"github.com/goblosc/blosc2/ndarray"
)

// countReads counts the reads of a source.
type countReads struct {
	r     io.ReaderAt
	reads atomic.Int64
}

func (c *countReads) ReadAt(p []byte, off int64) (int, error) {
	c.reads.Add(1)
	return c.r.ReadAt(p, off)
}

// largeZip returns a zip store with n leaves.
func largeZip(t testing.TB, n int) []byte {
	t.Helper()
	leaf := buildFrame(t, nil, nil, []byte("content"))
	return zipWith(t, func(yield func(string, []byte) bool) {
		for i := range n {
			if !yield(fmt.Sprintf("group%02d/leaf%06d.b2f", i/1000, i), leaf) {
				return
			}
		}
	})
}

// A large store is opened and listed with two reads. A small leaf is opened and read with one more.
func TestLargeZip(t *testing.T) {
	ctx := context.Background()
	const n = 10000
	b := largeZip(t, n)
	src := &countReads{r: bytes.NewReader(b)}
	s, err := OpenReaderAt(ctx, src, int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if keys := slices.Collect(s.Keys("/")); len(keys) != n || keys[n-1] != "/group09/leaf009999" {
		t.Errorf("%d keys", len(keys))
	}
	if reads := src.reads.Load(); reads != 2 {
		t.Errorf("%d reads to open and list, want 2", reads)
	}
	f, err := s.Frame(ctx, "/group03/leaf003333")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := f.ReadChunk(context.Background(), nil, 0); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	if reads := src.reads.Load(); reads != 3 {
		t.Errorf("%d reads to open, list and read one leaf, want 3", reads)
	}
}

// TestLargeZipFar counts what the same takes on a link of 50 ms and 100 MB/s.
func TestLargeZipFar(t *testing.T) {
	b := largeZip(t, 10000)
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		l := &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{"/s": {Data: b, ETag: `"1"`}}}
		src, err := remote.Open(ctx, "http://host/s", &remote.Options{Client: l.Client()})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		s, err := OpenSource(ctx, src, &OpenOptions{Frames: &frame.OpenOptions{Concurrency: 1}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if keys := slices.Collect(s.Keys("/")); len(keys) != 10000 {
			t.Errorf("%d keys", len(keys))
		}
		open := l.Stats()
		f, err := s.Frame(ctx, "/group03/leaf003333")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := f.ReadChunk(ctx, nil, 0); err != nil || string(b) != "content" {
			t.Errorf("%q, %v", b, err)
		}
		leaf := l.Stats()
		t.Logf("%d bytes; open and list: %+v; a leaf: %+v", len(b), open, leaf)
		if open.Rounds > 2 || open.Requests > 4 || leaf.Rounds > 1 || leaf.Requests > 1 {
			t.Errorf("open and list: %+v; a leaf: %+v", open, leaf)
		}
	})
}

// bigLeaves returns a zip store with n leaves of size bytes that do not compress.
func bigLeaves(t testing.TB, n, size int) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s.b2d")
	s, err := Create(t.Context(), dir, &CreateOptions{OpenOptions: OpenOptions{Frames: &frame.OpenOptions{NoSync: true}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range n {
		data := make([]uint64, size/8)
		for k := range data {
			data[k] = rng.Uint64()
		}
		a, err := ndarray.Create(t.Context(), "", []int64{int64(len(data))}, data, nil)
		if err == nil {
			err = s.Put(t.Context(), fmt.Sprintf("/g%d/leaf%03d", i%3, i), a.Frame())
			a.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Pack(t.Context(), dir+".b2z", nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(dir + ".b2z")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWalkZipFar walks over zip files on a link of 50 ms and 100 MB/s. The beginnings and the ends of many leaves are
// read at once. The entries are those of the same file in memory.
func TestWalkZipFar(t *testing.T) {
	fixture := func(name string) []byte {
		b, err := os.ReadFile("../../testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	many := 10_000
	if testing.Short() {
		many = 2000
	}
	for _, c := range []struct {
		name   string
		b      []byte
		leaves int
		rounds int
	}{
		{"many leaves", largeZip(t, many), many, 4}, {"large leaves", bigLeaves(t, 100, 100_000), 100, 4},
		{"tree.b2z", fixture("stores/tree.b2z"), 4, 2}, {"wide1.b2z", fixture("tables/wide1.b2z"), 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			near, err := OpenReaderAt(t.Context(), bytes.NewReader(c.b), int64(len(c.b)), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			want := entries(t, near)
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				l := &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{"/s": {Data: c.b, ETag: `"1"`}}}
				src, err := remote.Open(ctx, "http://host/s", &remote.Options{Client: l.Client()})
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				s, err := OpenSource(ctx, src, &OpenOptions{Frames: &frame.OpenOptions{Concurrency: 1}})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				start := time.Now()
				got := entries(t, s)
				stats := l.Stats()
				t.Logf("%d bytes; %d entries in %v: %+v", len(c.b), len(got), time.Since(start), stats)
				if !reflect.DeepEqual(got, want) || len(got) < c.leaves {
					t.Errorf("%d entries, want %d that are equal", len(got), len(want))
				}
				if stats.Rounds > c.rounds {
					t.Errorf("%+v, want %d rounds at most", stats, c.rounds)
				}
			})
		})
	}
}

// TestLeafFar reads a plane of an array on a server, through many chunks, and refreshes the array after the object was
// replaced. A leaf takes what the file of an array takes.
func TestLeafFar(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	items := make([]int16, 16*512*128)
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range items {
		items[i] = int16(rng.Uint32() & 0xfff)
	}
	a, err := ndarray.Create(ctx, filepath.Join(dir, "a.b2nd"), []int64{16, 512, 128}, items,
		&ndarray.CreateOptions{Chunks: []int64{16, 64, 64}, Blocks: []int64{1, 64, 64}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for name, threshold := range map[string]int64{"own.b2z": 1, "embedded.b2z": 1 << 30} {
		s, err := Create(ctx, filepath.Join(dir, name+".b2d"), &CreateOptions{OpenOptions: OpenOptions{Threshold: threshold}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(ctx, "/x", a.Frame()); err != nil {
			t.Fatal(err)
		}
		if err := s.Pack(ctx, filepath.Join(dir, name), nil); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	var want link.Stats
	for _, name := range []string{"a.b2nd", "own.b2z", "embedded.b2z"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			l := &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{"/s": {Data: b, ETag: `"1"`}}}
			src, err := remote.Open(ctx, "http://host/s", &remote.Options{Client: l.Client()})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			var far *ndarray.Array
			if name == "a.b2nd" {
				far, err = ndarray.OpenSource(ctx, src, &ndarray.OpenOptions{Concurrency: 1})
			} else {
				var s *Store
				if s, err = OpenSource(ctx, src, &OpenOptions{Frames: &frame.OpenOptions{Concurrency: 1}}); err == nil {
					defer s.Close()
					far, err = s.Array(ctx, "/x")
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			l.Stats()
			got, err := ndarray.Read[int16](ctx, far, ndarray.At(5))
			if err != nil || !slices.Equal(got, items[5*512*128:6*512*128]) {
				t.Fatal(name, err)
			}
			stats := l.Stats()
			t.Logf("%s: %+v", name, stats)
			switch name {
			case "a.b2nd":
				want = stats
			case "own.b2z":
				if stats.Requests > want.Requests || stats.Bytes > want.Bytes+1000 {
					t.Errorf("%+v, want %+v", stats, want)
				}
			}
			if changed, err := far.Refresh(ctx); err != nil || changed {
				t.Errorf("%s: Refresh: %v, %v", name, changed, err)
			}
			l.Objects["/s"] = link.Object{Data: b, ETag: `"2"`}
			if _, err := far.Refresh(ctx); !errors.Is(err, frame.ErrChanged) {
				t.Errorf("%s: Refresh after the object was replaced: %v", name, err)
			}
		})
	}
}

// entries returns what Walk returns.
func entries(t testing.TB, s *Store) (list []Entry) {
	t.Helper()
	for e, err := range s.Walk(context.Background(), "/") {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// brokenRanges is a source whose ReadRanges fails, delivers half of the bytes, or all of them.
type brokenRanges struct {
	source.Source
	whole []byte
	how   int
}

func (s brokenRanges) ReadRanges(_ context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	for i, r := range want {
		b := s.whole[r.Off:r.End()]
		switch s.how {
		case 0:
			return io.ErrUnexpectedEOF
		case 1:
			b = b[:len(b)/2]
		}
		if err := got(i, 0, b[:len(b):len(b)]); err != nil {
			return err
		}
	}
	return nil
}

// What a source does not deliver in ReadRanges is read again.
func TestWalkWithoutRanges(t *testing.T) {
	b := largeZip(t, 50)
	near, err := OpenReaderAt(t.Context(), bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	for how := range 3 {
		src := brokenRanges{source.FromReader(bytes.NewReader(b), int64(len(b))), b, how}
		s, err := OpenSource(t.Context(), src, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := entries(t, s), entries(t, near); !reflect.DeepEqual(got, want) {
			t.Errorf("%d: %d entries, want %d", how, len(got), len(want))
		}
		s.Close()
	}
}

// countCalls is a source that counts its calls.
type countCalls struct {
	brokenRanges
	calls *int
}

func (s countCalls) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	*s.calls++
	return s.brokenRanges.ReadAtContext(ctx, p, off)
}

func (s countCalls) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	*s.calls++
	return s.brokenRanges.ReadRanges(ctx, want, got)
}

// Many files whose names do not show whether they are leaves are examined in few calls.
func TestOpenForeignNames(t *testing.T) {
	const n = 5000
	leaf := buildFrame(t, nil, nil, []byte("content"))
	b := zipWith(t, func(yield func(string, []byte) bool) {
		for i := range n {
			content := leaf
			if i%2 == 0 {
				content = make([]byte, 12)
			}
			if !yield(fmt.Sprintf("%d.t", i), content) {
				return
			}
		}
	})
	for how := 1; how < 3; how++ {
		calls := 0
		src := countCalls{brokenRanges{source.FromReader(bytes.NewReader(b), int64(len(b))), b, how}, &calls}
		s, err := OpenSource(t.Context(), src, nil)
		if err != nil {
			t.Fatal(err)
		}
		if keys := len(slices.Collect(s.Keys("/"))); keys != n/2 {
			t.Errorf("%d: %d keys, want %d", how, keys, n/2)
		}
		if calls > 20 && how == 2 {
			t.Errorf("%d calls for %d files", calls, n)
		}
		s.Close()
	}
}

func BenchmarkOpenLargeZip(b *testing.B) {
	data := largeZip(b, 10000)
	b.ReportAllocs()
	for b.Loop() {
		s, err := OpenReaderAt(context.Background(), bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
