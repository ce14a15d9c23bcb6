package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

// repeated is a frame.Storage in memory that holds one copy of a piece that is written many times.
type repeated struct {
	piece []byte

	mu    sync.Mutex
	parts []writtenPart // in ascending order
	size  int64
}

// writtenPart is bytes at an offset.
type writtenPart struct {
	off  int64
	data []byte
}

// find returns the number of parts that begin at off or before.
func (r *repeated) find(off int64) int {
	n, found := slices.BinarySearchFunc(r.parts, off, func(p writtenPart, off int64) int { return int(min(1, max(-1, p.off-off))) })
	if found {
		n++
	}
	return n
}

// WriteAt implements frame.Storage.
func (r *repeated) WriteAt(p []byte, off int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	data := r.piece
	if !bytes.Equal(p, r.piece) {
		data = bytes.Clone(p)
	}
	n := r.find(off)
	for i := n - 1; i >= 0 && i >= n-2; i-- {
		if old := r.parts[i]; off < old.off+int64(len(old.data)) { // a header is written again
			if off+int64(len(p)) > old.off+int64(len(old.data)) {
				return 0, errors.New("overlapping writes")
			}
			old.data = bytes.Clone(old.data)
			copy(old.data[off-old.off:], p)
			r.parts[i] = old
			return len(p), nil
		}
	}
	r.parts = slices.Insert(r.parts, n, writtenPart{off, data})
	r.size = max(r.size, off+int64(len(p)))
	return len(p), nil
}

// ReadAt implements frame.Storage. What was not written is zero.
func (r *repeated) ReadAt(p []byte, off int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(p)
	for i := max(r.find(off)-1, 0); i < len(r.parts) && r.parts[i].off < off+int64(len(p)); i++ {
		part := r.parts[i]
		if from := off - part.off; from >= 0 && from < int64(len(part.data)) {
			copy(p, part.data[from:])
		} else if from < 0 {
			copy(p[-from:], part.data)
		}
	}
	if n := r.size - off; n < int64(len(p)) {
		return int(max(n, 0)), io.EOF
	}
	return len(p), nil
}

func (r *repeated) Size() (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size, nil
}

func (r *repeated) Truncate(n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts = slices.DeleteFunc(r.parts, func(p writtenPart) bool { return p.off >= n })
	r.size = n
	return nil
}

func (*repeated) Sync() error  { return nil }
func (*repeated) Close() error { return nil }

// bigShape is the shape of a large array of float32: 10.24 GB.
var bigShape = []int64{2560, 1000, 1000}

const bigDepth = 16 // planes of a chunk

// bigPlane returns plane k of a chunk of the large array.
func bigPlane(k int) []float32 {
	plane := make([]float32, bigShape[1]*bigShape[2])
	for y := range 1000 {
		for x := range 1000 {
			dx, dy := float64(x-400-10*k), float64(y-500+8*k)
			v := math.Sin(math.Hypot(dx, dy)/25-float64(k)/2)*math.Exp(-math.Hypot(dx, dy)/300) + math.Sin(float64(x*y)/90000)/3
			plane[y*1000+x] = float32(math.Round(v*4096) / 4096)
		}
	}
	return plane
}

// newBig returns the bytes of an array with bigShape. All of its chunks have the same content, at different places.
func newBig(t *testing.T) *repeated {
	t.Helper()
	ctx := context.Background()
	o := ndarray.CreateOptions{Codec: codec.LZ4, Level: 5, Chunks: []int64{bigDepth, 1000, 1000}, Blocks: []int64{1, 250, 1000}}
	var data []float32
	for k := range bigDepth {
		data = append(data, bigPlane(k)...)
	}
	one, err := ndarray.Create(ctx, "", []int64{bigDepth, 1000, 1000}, data, &o)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := one.Frame().ReadRaw(ctx, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	st := &repeated{piece: raw}
	o.Storage = st
	o.Attrs = map[string]any{"units": "m", "title": "waves"}
	a, err := ndarray.Zeros(ctx, "", bigShape, "<f4", &o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Frame().Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Frame().NumChunks() {
		if err := b.UpdateRaw(ctx, i, raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	n, _ := st.Size()
	t.Logf("%v float32: %d MB in %d MB", bigShape, a.NBytes()/1e6, n/1e6)
	return st
}

// far serves objects with a latency.
type far struct {
	latency time.Duration

	mu       sync.Mutex
	objects  map[string]io.ReaderAt
	sizes    map[string]int64
	versions map[string]string
	requests int
	bytes    int64
}

// put adds an object.
func (f *far) put(name string, r io.ReaderAt, size int64, etag string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.objects == nil {
		f.objects, f.sizes, f.versions = map[string]io.ReaderAt{}, map[string]int64{}, map[string]string{}
	}
	f.objects[name], f.sizes[name], f.versions[name] = r, size, etag
}

// counts returns the number of requests and bytes since the last call.
func (f *far) counts() (int, int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, b := f.requests, f.bytes
	f.requests, f.bytes = 0, 0
	return n, b
}

// ServeHTTP implements http.Handler: a server of another origin.
func (f *far) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "Content-Range, ETag")
	f.mu.Lock()
	o, size, etag := f.objects[r.URL.Path], f.sizes[r.URL.Path], f.versions[r.URL.Path]
	f.requests++
	f.mu.Unlock()
	select {
	case <-time.After(f.latency):
	case <-r.Context().Done():
		return
	}
	if o == nil {
		http.NotFound(w, r)
		return
	}
	h.Set("ETag", etag)
	http.ServeContent(&countingWriter{w, f}, r, "", time.Time{}, io.NewSectionReader(o, 0, size))
}

// countingWriter counts bytes.
type countingWriter struct {
	http.ResponseWriter
	f *far
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.f.mu.Lock()
	w.f.bytes += int64(n)
	w.f.mu.Unlock()
	return n, err
}
