package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/goblosc/blosc2/internal/errs"
)

// memoryGetter is a Getter of bytes in memory, with faults.
type memoryGetter struct {
	mu       sync.Mutex
	data     []byte
	version  string
	noSuffix bool
	strict   bool                            // returns ErrBounds
	body     func(n int, b []byte) io.Reader // of request n
	err      error
	got      []string // off+n:version
	closed   atomic.Int32
}

func (g *memoryGetter) Get(ctx context.Context, off, n int64, version string) (*Answer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.got = append(g.got, fmt.Sprintf("%d+%d:%s", off, n, version))
	size := int64(len(g.data))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case g.err != nil:
		return nil, g.err
	case off < 0 && g.noSuffix:
		return nil, errors.ErrUnsupported
	case size == 0:
		return &Answer{Version: g.version}, nil
	case off < 0:
		off = max(size-n, 0)
	}
	if off >= size && g.strict {
		return nil, ErrBounds
	}
	b := g.data[min(off, size):min(off+n, size)]
	body := io.Reader(bytes.NewReader(b))
	if g.body != nil {
		body = g.body(len(g.got), b)
	}
	return &Answer{Body: io.NopCloser(body), Size: size, Version: g.version}, nil
}

func (g *memoryGetter) Close() error { g.closed.Add(1); return nil }

// TestGetter reads an object through a Getter.
func TestGetter(t *testing.T) {
	for _, noSuffix := range []bool{false, true} {
		for _, size := range []int{0, 1, keep, keep + 1, 2 * keep, 1 << 20} {
			data := randomBytes(size)
			g := &memoryGetter{data: data, version: `a"b`, noSuffix: noSuffix}
			obj, err := OpenGetter(t.Context(), "store/x", g, nil)
			if err != nil {
				t.Fatal(err)
			}
			opening := len(g.got)
			if size == 1<<20 {
				readAll(t, obj, data, []Range{{Off: keep, Len: 10}, {Off: 1000, Len: 500_000}, {Off: int64(size) - 10, Len: 10}})
				if last := g.got[len(g.got)-1]; len(g.got) == opening || !strings.HasSuffix(last, `:a"b`) {
					t.Errorf("requests %v, want one for the version", g.got)
				}
			}
			p := make([]byte, size+1)
			if n, err := obj.ReadAt(p, 0); n != size || err != io.EOF || !bytes.Equal(p[:n], data) {
				t.Fatalf("size %d: %d, %v", size, n, err)
			}
			if obj.Size() != int64(size) || obj.String() != "store/x" || size > 0 && obj.Version() != `"a\"b"` {
				t.Error(obj.Size(), obj.String(), obj.Version())
			}
			if opening > 2 && !noSuffix || opening > 3 {
				t.Errorf("%d requests to open %d bytes: %v", opening, size, g.got)
			}
			if err := obj.Close(); err != nil || g.closed.Load() != 1 {
				t.Error(err, g.closed.Load())
			}
		}
	}
}

// TestGetterFaults checks the errors of a Getter, and the comparison of its answers.
func TestGetterFaults(t *testing.T) {
	data := randomBytes(1 << 20)
	failed := errors.New("failed")
	for _, c := range []struct {
		name  string
		fault func(g *memoryGetter)
		want  error
	}{
		{"version", func(g *memoryGetter) { g.version = "2" }, ErrChanged},
		{"no version", func(g *memoryGetter) { g.version = "" }, ErrChanged},
		{"size", func(g *memoryGetter) { g.data = g.data[:len(data)-1] }, ErrChanged},
		{"empty", func(g *memoryGetter) { g.data = nil }, ErrChanged},
		{"changed", func(g *memoryGetter) { g.err = fmt.Errorf("no: %w", ErrChanged) }, ErrChanged},
		{"error", func(g *memoryGetter) { g.err = failed }, failed},
		{"long", func(g *memoryGetter) {
			g.body = func(_ int, b []byte) io.Reader { return io.MultiReader(bytes.NewReader(b), strings.NewReader("x")) }
		}, errs.ErrUnsupported},
		{"short", func(g *memoryGetter) {
			g.body = func(_ int, b []byte) io.Reader { return bytes.NewReader(nil) }
		}, io.ErrUnexpectedEOF},
		{"broken", func(g *memoryGetter) { // continued
			first := len(g.got) + 1
			g.body = func(n int, b []byte) io.Reader {
				if n > first {
					return bytes.NewReader(b)
				}
				return io.MultiReader(bytes.NewReader(b[:len(b)/2]), iotest.ErrReader(failed))
			}
		}, nil},
		{"broken after the last byte", func(g *memoryGetter) { // read again
			first := len(g.got) + 1
			g.body = func(n int, b []byte) io.Reader {
				if n > first {
					return bytes.NewReader(b)
				}
				return io.MultiReader(bytes.NewReader(make([]byte, len(b))), iotest.ErrReader(failed))
			}
		}, nil},
		{"always broken after the last byte", func(g *memoryGetter) {
			g.body = func(_ int, b []byte) io.Reader { return io.MultiReader(bytes.NewReader(b), iotest.ErrReader(failed)) }
		}, failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &memoryGetter{data: data, version: "1"}
			obj, err := OpenGetter(t.Context(), "store/x", g, &Options{Retries: 1, MaxWait: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer obj.Close()
			c.fault(g)
			p := make([]byte, 1000)
			_, err = obj.ReadAt(p, 500_000)
			if !errors.Is(err, c.want) || c.want == nil && !bytes.Equal(p, data[500_000:501_000]) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			var e *Error
			if err != nil && (!errors.As(err, &e) || e.URL != "store/x" || e.Status != 0) {
				t.Errorf("%#v", err)
			}
			g.data, g.version, g.err, g.body = data, "1", nil, nil
			if _, err = obj.ReadAt(p, 500_000); (c.want == ErrChanged) != errors.Is(err, ErrChanged) {
				t.Errorf("the next read: %v", err)
			}
		})
	}
}

// TestGetterOpenFaults opens objects that cannot be opened, and checks that their Getter is not closed.
func TestGetterOpenFaults(t *testing.T) {
	data := randomBytes(1 << 20)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		g    *memoryGetter
		o    *Options
		want error
	}{
		{"not found", t.Context(), &memoryGetter{err: fs.ErrNotExist}, nil, fs.ErrNotExist},
		{"canceled", done, &memoryGetter{data: data, version: "1"}, nil, context.Canceled},
		{"no version", t.Context(), &memoryGetter{data: data}, nil, errs.ErrUnsupported},
		{"option", t.Context(), &memoryGetter{data: data, version: "1"}, &Options{Multipart: true}, ErrParam},
		{"unversioned", t.Context(), &memoryGetter{data: data}, &Options{Unversioned: true}, nil},
	} {
		obj, err := OpenGetter(c.ctx, "store/x", c.g, c.o)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if c.g.closed.Load() != 0 {
			t.Errorf("%s: the Getter is closed", c.name)
		}
		if err == nil {
			obj.Close()
		}
	}
}

// TestGetterDisk opens an object of a Getter from a disk cache.
func TestGetterDisk(t *testing.T) {
	data := randomBytes(1 << 20)
	o := &Options{Dir: t.TempDir()}
	for i := range 2 {
		g := &memoryGetter{data: data, version: "1"}
		obj, err := OpenGetter(t.Context(), "store/x", g, o)
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, obj, data, []Range{{Off: 500_000, Len: 1000}})
		if i == 1 {
			obj.check.Wait()
		}
		obj.Close()
		if i == 1 && (len(g.got) != 1 || g.got[0] != "0+1:1") {
			t.Errorf("requests %v, want only that for the version", g.got)
		}
	}
}

// TestDirGetterFails closes the Getter of the index if the directory cannot be opened.
func TestDirGetterFails(t *testing.T) {
	g := &memoryGetter{err: errors.New("no index")}
	if _, err := OpenDirGetter(t.Context(), "d", func(string) Getter { return g }, nil); !errors.Is(err, g.err) {
		t.Error(err)
	}
	if n := g.closed.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
}

// TestDirPastEnd begins to read a chunk file after its end.
func TestDirPastEnd(t *testing.T) {
	data := randomBytes(100_000)
	s := newServer(t, data)
	for name, open := range map[string]func() (*Dir, error){
		"server":      func() (*Dir, error) { return OpenDir(t.Context(), s.URL, quick()) },
		"server, Dir": func() (*Dir, error) { return OpenDir(t.Context(), s.URL, diskOptions(t.TempDir())) },
		"no bytes": func() (*Dir, error) {
			return OpenDirGetter(t.Context(), "d", func(string) Getter { return &memoryGetter{data: data, version: "1"} }, nil)
		},
		"ErrBounds": func() (*Dir, error) {
			return OpenDirGetter(t.Context(), "d", func(string) Getter { return &memoryGetter{data: data, version: "1", strict: true} }, nil)
		},
	} {
		d, err := open()
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 1000)
		for _, off := range []int64{100_000, 300_000, 100_000} {
			if n, err := d.ReadAtContext(t.Context(), p, d.ChunkOffset(5)+off); n != 0 || err != io.EOF {
				t.Errorf("%s: read at %d: %d bytes, %v, want EOF", name, off, n, err)
			}
		}
		if _, err := d.ReadAtContext(t.Context(), p, d.ChunkOffset(5)+50_000); err != nil || !bytes.Equal(p, data[50_000:51_000]) {
			t.Errorf("%s: %v", name, err)
		}
		for i := range 2 {
			if err := d.Close(); err != nil {
				t.Errorf("%s: Close %d: %v", name, i, err)
			}
		}
	}
}
