package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/cloud/s3"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

// makeArray returns an array in memory of smooth values with some noise, and its stored bytes.
func makeArray(t *testing.T, seed uint32, shape, chunks, blocks []int64) (*ndarray.Array, []byte) {
	t.Helper()
	data := make([]float32, shape[0]*shape[1]*shape[2])
	for i := range data {
		seed = seed*1664525 + 1013904223
		data[i] = float32(math.Floor(float64(i%int(shape[2]))*0.3)) + float32(seed>>29)/8
	}
	a, err := ndarray.Create(t.Context(), "", shape, data, &ndarray.CreateOptions{Chunks: chunks, Blocks: blocks, Level: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	var b bytes.Buffer
	if _, err := a.Save(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return a, b.Bytes()
}

// put stores an object, replacing another one.
func (s *server) put(t *testing.T, key string, data []byte) {
	t.Helper()
	b := s.bucket(t)
	if err := b.WriteAll(t.Context(), key, data, nil); err != nil {
		t.Fatal(err)
	}
	s.take()
}

// same compares a selection of two arrays.
func same(t *testing.T, a, b *ndarray.Array, sel ...ndarray.Index) {
	t.Helper()
	got, err := ndarray.Read[float32](t.Context(), a, sel...)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ndarray.Read[float32](t.Context(), b, sel...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Error("wrong items")
	}
}

// TestRequests counts what opening and reading takes.
func TestRequests(t *testing.T) {
	s := start(t)
	local, stored := makeArray(t, 1, []int64{64, 512, 128}, []int64{16, 256, 64}, []int64{2, 64, 32})
	s.put(t, "dir/a b+c.b2nd", stored)
	_, tiny := makeArray(t, 1, []int64{8, 8, 8}, nil, nil)
	s.put(t, "tiny", tiny)

	count := func(what string, requests int, most int64, do func()) {
		t.Helper()
		s.take()
		do()
		r, n := s.take()
		t.Logf("%s: %d requests, %d bytes of %d", what, len(r), n, len(stored))
		if len(r) > requests || n > most {
			t.Errorf("%s: %d requests and %d bytes, want at most %d and %d: %q", what, len(r), n, requests, most, r)
		}
	}
	openFor := func(t *testing.T, key string, o *remote.Options) *ndarray.Array {
		if o == nil {
			o = &remote.Options{}
		}
		if o.Dir == "" { // else nothing is learned
			o.Latency, o.Bandwidth = 50*time.Millisecond, 100e6
		}
		src, err := s3.Open(t.Context(), s.object(key), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		a, err := ndarray.OpenSource(t.Context(), src, &ndarray.OpenOptions{Cache: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	open := func(key string, o *remote.Options) *ndarray.Array { return openFor(t, key, o) }
	const key = "dir/a%20b+c.b2nd"
	size := int64(len(stored))
	var a *ndarray.Array
	count("open", 2, 128<<10, func() { a = open(key, nil) })
	count("cold item", 2, 1<<20, func() { same(t, a, local, ndarray.At(30), ndarray.At(300), ndarray.At(60)) })
	count("other item of the chunk", 1, 128<<10, func() { same(t, a, local, ndarray.At(30), ndarray.At(400), ndarray.At(60)) })
	count("same item", 0, 0, func() { same(t, a, local, ndarray.At(30), ndarray.At(300), ndarray.At(60)) })
	count("series", 10, size+64<<10, func() { same(t, open(key, nil), local, ndarray.All, ndarray.At(45), ndarray.At(90)) })
	count("plane", 12, size+64<<10, func() { same(t, open(key, nil), local, ndarray.All, ndarray.All, ndarray.At(100)) })
	count("box", 12, size*101/100+64<<10, func() {
		same(t, open(key, nil), local, ndarray.Span(10, 50), ndarray.Span(100, 300), ndarray.Span(20, 100))
	})
	count("all", 2+4, size*101/100+64<<10, func() { same(t, open(key, nil), local) })
	count("tiny", 2, 2*int64(len(tiny)), func() { open("tiny", nil) })
	count("tiny, expected", 1, int64(len(tiny)), func() { open("tiny", &remote.Options{Small: true}) })

	plane := []ndarray.Index{ndarray.All, ndarray.All, ndarray.At(100)}
	a = open(key, nil)
	s.take()
	same(t, a, local, plane...)
	_, once := s.take()
	a = open(key, nil)
	count("64 goroutines", 12, once, func() {
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				if _, err := ndarray.Read[float32](context.Background(), a, plane...); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})

	// A sparse frame has an object for each chunk.
	name := filepath.Join(t.TempDir(), "a")
	sparse, err := ndarray.Copy(t.Context(), name, local, &ndarray.CreateOptions{Sparse: true})
	if err != nil {
		t.Fatal(err)
	}
	sparse.Close()
	files, err := os.ReadDir(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(name, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		s.put(t, "sparse.b2nd/"+f.Name(), data)
	}
	count("sparse frame", 2+len(files)-1, size*101/100+64<<10, func() {
		src, err := s3.OpenDir(t.Context(), s.object("sparse.b2nd/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		a, err := ndarray.OpenSource(t.Context(), src, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		same(t, a, local)
	})

	// The second time, the array comes from the disk, but one request asks whether it has changed.
	o := &remote.Options{Dir: t.TempDir()}
	t.Run("cold start", func(t *testing.T) { // its end closes the array: then all is on the disk
		same(t, openFor(t, key, o), local, plane...)
	})
	count("warm start", 1, 1, func() { same(t, open(key, o), local, plane...) })
}

// TestChanged replaces, truncates and deletes an object between reads.
func TestChanged(t *testing.T) {
	s := start(t)
	_, one := makeArray(t, 1, []int64{16, 256, 256}, []int64{4, 128, 128}, nil)
	_, two := makeArray(t, 2, []int64{16, 256, 256}, []int64{4, 128, 128}, nil)
	two = append(two, make([]byte, max(len(one)-len(two), 0))...)[:len(one)] // the size alone tells nothing
	for _, c := range []struct {
		name   string
		change func(t *testing.T)
	}{
		{"replaced", func(t *testing.T) { s.put(t, "a", two) }},
		{"replaced, no conditions", func(t *testing.T) {
			s.faults(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("If-Match") == "" {
					t.Error("no If-Match")
				}
				r.Header.Del("If-Match")
				w.Header().Set("ETag", `"other"`)
				http.ServeContent(w, r, "", time.Now(), bytes.NewReader(two))
				return true
			})
		}},
		{"truncated", func(t *testing.T) { s.put(t, "a", one[:len(one)/2]) }},
		{"empty", func(t *testing.T) { s.put(t, "a", nil) }},
		{"deleted", func(t *testing.T) {
			if err := s.bucket(t).Delete(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer s.faults(nil)
			s.put(t, "a", one)
			src, err := s3.Open(t.Context(), s.object("a"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			a, err := ndarray.OpenSource(t.Context(), src, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if _, err := ndarray.Read[float32](t.Context(), a, ndarray.At(7)); err != nil {
				t.Fatal(err)
			}
			c.change(t)
			for range 2 {
				_, err = ndarray.Read[float32](t.Context(), a, ndarray.At(3))
				var e *remote.Error
				if !errors.Is(err, frame.ErrChanged) || !errors.As(err, &e) || e.URL != "s3://bucket/a" {
					t.Errorf("%v, want ErrChanged", err)
				}
			}
		})
	}
}

// TestNoSuffix opens an object of stores without ranges at the end of an object.
func TestNoSuffix(t *testing.T) {
	s := start(t)
	data := noiseBytes(300_000)
	s.put(t, "a", data)
	s.put(t, "empty", nil)
	for _, status := range []int{http.StatusOK, http.StatusPartialContent, 400, 416, 501} {
		s.faults(func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case !strings.HasPrefix(r.Header.Get("Range"), "bytes=-"):
				return false
			case status == http.StatusOK:
				r.Header.Del("Range")
			case status == http.StatusPartialContent:
				r.Header.Set("Range", "bytes=0-65535")
			default:
				w.WriteHeader(status)
				return true
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
			return true
		})
		src, err := s3.Open(t.Context(), s.object("a"), nil)
		if err != nil {
			t.Errorf("status %d: %v", status, err)
			continue
		}
		p := make([]byte, 1000)
		if _, err := src.ReadAt(p, 299_000); err != nil || !bytes.Equal(p, data[299_000:]) {
			t.Errorf("status %d: other bytes, or %v", status, err)
		}
		src.Close()
	}
	if src, err := s3.Open(t.Context(), s.object("empty"), nil); err != nil || src.Size() != 0 {
		t.Errorf("an empty object: %v", err)
	}
}

// TestOpenFaults opens what cannot be opened.
func TestOpenFaults(t *testing.T) {
	s := start(t)
	s.put(t, "a", []byte("data"))
	s.put(t, "empty", nil)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		url  string
		want error
	}{
		{"no key", t.Context(), "s3://bucket", frame.ErrParam},
		{"no bucket", t.Context(), "s3:///a", frame.ErrParam},
		{"no URL", t.Context(), "s3://bucket/%zz?secret", frame.ErrParam},
		{"other scheme", t.Context(), "x3://bucket/a", frame.ErrParam},
		{"not found", t.Context(), s.object("b"), fs.ErrNotExist},
		{"no such bucket", t.Context(), strings.Replace(s.object("a"), "bucket", "other", 1), fs.ErrNotExist},
		{"canceled", done, s.object("a"), context.Canceled},
	} {
		_, err := s3.Open(c.ctx, c.url, nil)
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	src, err := s3.Open(t.Context(), s.object("empty"), nil)
	if err != nil || src.Size() != 0 {
		t.Fatal(err)
	}
	if _, err := ndarray.OpenSource(t.Context(), src, nil); !errors.Is(err, frame.ErrFormat) {
		t.Errorf("an empty object: %v", err)
	}
	src.Close()

	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	if _, err := s3.Open(t.Context(), s.object("a"), nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("access denied: %v", err)
	}
}

// TestDirPastEnd begins to read a chunk of a directory after its end, and then reads the chunk.
func TestDirPastEnd(t *testing.T) {
	s := start(t)
	data := noiseBytes(5000)
	s.put(t, "d/chunks.b2frame", make([]byte, 1000))
	s.put(t, "d/00000000.chunk", data)
	d, err := s.bucket(t).OpenDir(t.Context(), "d", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p := make([]byte, 10)
	if n, err := d.ReadAtContext(t.Context(), p, d.ChunkOffset(0)+6000); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d bytes, %v, want EOF", n, err)
	}
	if _, err := d.ReadAtContext(t.Context(), p, d.ChunkOffset(0)); err != nil || !bytes.Equal(p, data[:10]) {
		t.Errorf("at the start: %v", err)
	}
}

// TestReadFaults breaks requests of an open object.
func TestReadFaults(t *testing.T) {
	s := start(t)
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i ^ i>>8 ^ i>>16)
	}
	s.put(t, "a", data)
	var n atomic.Int64
	var version string
	hang := make(chan struct{})
	for _, c := range []struct {
		name  string
		fault func(w http.ResponseWriter, r *http.Request) bool
		want  error
	}{
		{"503", func(w http.ResponseWriter, r *http.Request) bool {
			if n.Add(1) > 1 {
				return false
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}, nil},
		{"denied", func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(http.StatusForbidden); return true }, fs.ErrPermission},
		{"broken off", func(w http.ResponseWriter, r *http.Request) bool {
			if n.Add(1) > 1 {
				return false
			}
			w.Header().Set("Content-Length", "100000")
			w.Header().Set("Content-Range", "bytes 500000-599999/1048576")
			w.Header().Set("ETag", version)
			w.WriteHeader(http.StatusPartialContent)
			w.Write(data[500_000:550_000])
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, nil},
		{"hangs", func(w http.ResponseWriter, r *http.Request) bool {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
			return true
		}, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := s3.Open(t.Context(), s.object("a"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			version = src.Version()
			n.Store(0)
			s.faults(c.fault)
			defer s.faults(nil)
			ctx := t.Context()
			if c.want == context.DeadlineExceeded {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			p := make([]byte, 100_000)
			_, err = src.ReadAtContext(ctx, p, 500_000)
			if !errors.Is(err, c.want) || err == nil && !bytes.Equal(p, data[500_000:600_000]) {
				t.Errorf("%v, want %v", err, c.want)
			}
			s.faults(nil)
			if _, err := src.ReadAtContext(t.Context(), p, 300_000); err != nil || !bytes.Equal(p, data[300_000:400_000]) {
				t.Errorf("the next read: %v", err)
			}
		})
	}
	close(hang)
}
