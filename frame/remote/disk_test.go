package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// diskOptions are options for a cache in dir with little memory.
func diskOptions(dir string) *Options {
	o := quick()
	o.Dir = dir
	return o
}

// checkReads reads some ranges of an object and compares them.
func checkReads(t *testing.T, obj *Object, data []byte) {
	t.Helper()
	readAll(t, obj, data, []Range{{Off: 0, Len: 10}, {Off: 200_000, Len: 100_000}, {Off: int64(len(data)) - 5, Len: 5}, {Off: 400_000, Len: 1}})
}

// settle waits until the files of an object are written, and closes it.
func settle(t *testing.T, obj *Object) {
	t.Helper()
	if err := obj.Close(); err != nil {
		t.Error(err)
	}
}

func TestDiskWarm(t *testing.T) {
	data := randomBytes(700_000)
	s := newServer(t, data)
	dir := filepath.Join(t.TempDir(), "a", "cache")
	obj := openServer(t, s, diskOptions(dir))
	checkReads(t, obj, data)
	settle(t, obj)

	// The server does not answer: a warm start needs no server for what is cached.
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
	o := diskOptions(dir)
	var hits int64
	var mu sync.Mutex
	o.Trace = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == Disk {
			hits += e.Len
		}
	}
	obj = openServer(t, s, o)
	if obj.Size() != int64(len(data)) || obj.Version() != `"1"` {
		t.Errorf("size %d, version %s", obj.Size(), obj.Version())
	}
	checkReads(t, obj, data)
	mu.Lock()
	if hits < 100_000 {
		t.Errorf("%d bytes from the disk", hits)
	}
	mu.Unlock()
	settle(t, obj)

	// The server answers: an item that is not cached takes one request, besides that for the version. On a slow
	// machine, a request may be repeated, or one of before may arrive late.
	n := int64(3)
	for try := int64(0); try < 5 && n > 2; try++ {
		s.set(nil)
		obj = openServer(t, s, diskOptions(dir))
		readAll(t, obj, data, []Range{{Off: 400_000 + 50_000*try, Len: 1000}})
		settle(t, obj)
		n = s.requests.Load()
	}
	if n > 2 {
		t.Errorf("%d requests, want at most 2", n)
	}
}

// TestDiskBetween reads blocks of which all but the first and the last are cached, with one block between two others
// missing. Only the missing ones are received.
func TestDiskBetween(t *testing.T) {
	data := randomBytes(3 << 20)
	s := newServer(t, data)
	dir := t.TempDir()
	obj := openServer(t, s, diskOptions(dir))
	for _, r := range []Range{{Off: 4 * blockSize, Len: 8 * blockSize}, {Off: 13 * blockSize, Len: 8 * blockSize}} {
		readAll(t, obj, data, []Range{r})
	}
	settle(t, obj)
	o := diskOptions(dir)
	o.Gap = 4096
	var mu sync.Mutex
	received := int64(0)
	var found []int64
	o.Trace = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == Request {
			received += e.Len
		} else {
			found = append(found, e.Off/blockSize, e.Len/blockSize)
		}
	}
	obj = openServer(t, s, o)
	readAll(t, obj, data, []Range{{Off: 3 * blockSize, Len: 19 * blockSize}})
	settle(t, obj)
	mu.Lock()
	defer mu.Unlock()
	if most := int64(3*blockSize + 1); received > most { // and the byte that asks for the version
		t.Errorf("received %d bytes, want at most %d", received, most)
	}
	if want := []int64{4, 8, 13, 8}; !slices.Equal(found, want) {
		t.Errorf("events name blocks and numbers of blocks %v, want %v", found, want)
	}
}

// TestDiskChanged replaces an object that is cached.
func TestDiskChanged(t *testing.T) {
	data := randomBytes(700_000)
	s := newServer(t, data)
	dir := t.TempDir()
	obj := openServer(t, s, diskOptions(dir))
	checkReads(t, obj, data)
	settle(t, obj)

	s.replace(bytes.Repeat([]byte("new"), 200_000), `"2"`)
	obj = openServer(t, s, diskOptions(dir))
	var err error
	for range 500 { // the request that compares versions runs at the same time
		p := make([]byte, 1000)
		var n int
		if n, err = obj.ReadAt(p, 200_000); err != nil {
			break
		}
		if !bytes.Equal(p[:n], data[200_000:201_000]) {
			t.Fatal("bytes of two versions")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !errors.Is(err, ErrChanged) {
		t.Errorf("after a change: %v, want ErrChanged", err)
	}
	settle(t, obj)

	obj = openServer(t, s, diskOptions(dir))
	if obj.Version() != `"2"` {
		t.Errorf("version %s", obj.Version())
	}
	checkReads(t, obj, s.data)
	settle(t, obj)
}

// TestDiskEmpty replaces an empty object that is cached.
func TestDiskEmpty(t *testing.T) {
	s := newServer(t, nil)
	o := diskOptions(t.TempDir())
	settle(t, openServer(t, s, o))
	s.replace([]byte("now there is content"), `"2"`)
	obj := openServer(t, s, o)
	if obj.check != nil {
		obj.check.Wait()
	}
	settle(t, obj)
	obj = openServer(t, s, o)
	if obj.Size() != int64(len(s.data)) {
		t.Errorf("size %d, want %d", obj.Size(), len(s.data))
	}
	settle(t, obj)
}

// TestDiskFolder expects the name of the option in the error of a folder that cannot be created.
func TestDiskFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "x")} {
		_, err := Open(t.Context(), "http://127.0.0.1:1/", diskOptions(dir))
		if !errors.As(err, new(*fs.PathError)) || !strings.HasPrefix(err.Error(), "option Dir: ") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestDiskETag caches an object whose ETag is no UTF-8.
func TestDiskETag(t *testing.T) {
	data := randomBytes(300_000)
	s := newServer(t, data)
	s.etag = "\"caf\xe9\""
	o := diskOptions(t.TempDir())
	settle(t, openServer(t, s, o))
	s.set(nil)
	obj := openServer(t, s, o)
	readAll(t, obj, data, []Range{{Off: 100_000, Len: 100}})
	obj.check.Wait()
	if n := s.requests.Load(); n != 2 || obj.Version() != s.etag {
		t.Errorf("%d requests, want 2; version %q", n, obj.Version())
	}
	readAll(t, obj, data, []Range{{Off: 200_000, Len: 100}})
	settle(t, obj)
}

// TestDiskUnasked closes a cached object, or a file of a cached directory, before the server answers whether it has
// changed. The next Open must ask.
func TestDiskUnasked(t *testing.T) {
	for _, name := range []string{"object", indexName, "00000000.chunk"} {
		t.Run(name, func(t *testing.T) {
			old, replaced := bytes.Repeat([]byte("old"), 100_000), bytes.Repeat([]byte("new"), 100_000)
			s := newServer(t, old)
			o := diskOptions(t.TempDir())
			phase, requests := 0, new(atomic.Int64)
			serve := func(change, answer bool) {
				phase++
				current, n := fmt.Sprint(phase), new(atomic.Int64)
				o.Header, requests = http.Header{"Phase": {current}}, n
				s.set(func(_ int64, w http.ResponseWriter, r *http.Request) bool {
					if r.Header.Get("Phase") != current {
						return false // of a reader that was closed before its request arrived
					}
					n.Add(1)
					data := old
					if change && strings.HasSuffix(r.URL.Path, name) {
						data = replaced
						w.Header().Set("ETag", `"2"`)
					}
					if r.Header.Get("Range") == "bytes=0-0" && !answer {
						<-r.Context().Done()
						return true
					}
					http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
					return true
				})
			}
			read := func() string {
				t.Helper()
				p := make([]byte, 1200)
				if name == "object" {
					obj, err := Open(t.Context(), s.URL+"/object", o)
					if err != nil {
						t.Fatal(err)
					}
					defer settle(t, obj)
					_, err = obj.ReadAt(p, 99_000)
					return fmt.Sprint(err, string(p[:3]))
				}
				d, err := OpenDir(t.Context(), s.URL, o)
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				off := int64(99_000)
				if name != indexName {
					off += d.ChunkOffset(0)
				}
				_, err = d.ReadAtContext(t.Context(), p, off)
				return fmt.Sprint(err, string(p[:3]))
			}
			unasked := func() int {
				files, _ := filepath.Glob(o.Dir + "/*" + askSuffix)
				return len(files)
			}

			serve(false, true)
			read()
			serve(false, false)
			if got := read(); got != "<nil>old" || unasked() == 0 {
				t.Errorf("no answer: %s, %d files are marked", got, unasked())
			}
			serve(false, true)
			if got := read(); got != "<nil>old" || unasked() > 0 || requests.Load() > 2 {
				t.Errorf("not changed: %s, %d files are marked, %d requests", got, unasked(), requests.Load())
			}
			serve(true, false)
			if got := read(); got != "<nil>old" {
				t.Errorf("no answer: %s", got)
			}
			serve(true, true)
			if got := read(); got != "<nil>new" {
				t.Errorf("changed: %s", got)
			}
			if n := unasked(); n > 0 {
				t.Errorf("changed: %d files are marked", n)
			}
		})
	}
}

// TestDiskDamaged changes and removes files of a cache: reads must have the right bytes.
func TestDiskDamaged(t *testing.T) {
	data := randomBytes(700_000)
	s := newServer(t, data)
	dir := t.TempDir()
	obj := openServer(t, s, diskOptions(dir))
	readAll(t, obj, data, []Range{{Off: 0, Len: int64(len(data))}})
	settle(t, obj)
	names, err := filepath.Glob(dir + "/*")
	if err != nil || len(names) != 10 { // nine blocks between the ends of the object, and the ends
		t.Fatalf("%d files: %v", len(names), err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		name := names[r.IntN(len(names))]
		other := names[r.IntN(len(names))]
		b, err := os.ReadFile(name)
		switch r.IntN(6) {
		case 0:
			err = os.Remove(name)
		case 1:
			err = os.WriteFile(name, b[:r.IntN(len(b)+1)], 0o600)
		case 2:
			err = os.WriteFile(name, make([]byte, len(b)), 0o600)
		case 3:
			if len(b) > 0 {
				b[r.IntN(len(b))] ^= 1
				err = os.WriteFile(name, b, 0o600)
			}
		case 4:
			if b, err = os.ReadFile(other); err == nil { // another block
				err = os.WriteFile(name, b, 0o600)
			}
		case 5:
			if os.Remove(name) == nil {
				err = os.Mkdir(name, 0o700)
			}
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "is a directory") {
			t.Fatal(err)
		}
		obj := openServer(t, s, diskOptions(dir))
		readAll(t, obj, data, []Range{{Off: 0, Len: int64(len(data))}})
		settle(t, obj)
	}
}

// TestDiskShared lets several objects use a folder at the same time, while the object on the server changes. Each must
// see one version.
func TestDiskShared(t *testing.T) {
	s := newServer(t, bytes.Repeat([]byte{1}, 500_000))
	dir := t.TempDir()
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		s.mu.Lock()
		if n%25 == 0 {
			s.data, s.etag = bytes.Repeat([]byte{byte(n / 25)}, 500_000), fmt.Sprintf(`"version-%d"`, n/25)
		}
		data, etag := s.data, s.etag
		s.mu.Unlock()
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		return true
	})
	var readers sync.WaitGroup
	var good, changed int
	var mu sync.Mutex
	for range 4 {
		readers.Go(func() {
			for i := range 500 {
				mu.Lock()
				done := i >= 10 && good > 0 && changed > 0
				mu.Unlock()
				if done {
					return
				}
				o := diskOptions(dir)
				o.Cache = 100_000
				obj, err := Open(context.Background(), s.URL, o)
				if err == nil {
					var got []byte
					got, err = io.ReadAll(io.NewSectionReader(obj, 0, obj.Size()))
					if err == nil && len(bytes.Trim(got, string(got[:1]))) > 0 {
						t.Error("bytes of two versions")
					}
					obj.Close()
				}
				mu.Lock()
				if err == nil {
					good++
				} else if changed++; !errors.Is(err, ErrChanged) {
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	readers.Wait()
	if good == 0 || changed == 0 {
		t.Errorf("%d reads of one version, %d of objects that changed", good, changed)
	}
}

// TestDiskUnsettled replaces objects whose version the server does not name, or which were changed in the same second.
// They must not be cached.
func TestDiskUnsettled(t *testing.T) {
	for _, name := range []string{"unversioned", "same second"} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, randomBytes(700_000))
			s.etag = ""
			now := time.Now().UTC()
			o := diskOptions(t.TempDir())
			o.Unversioned = name == "unversioned"
			s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
				if !o.Unversioned {
					w.Header().Set("Last-Modified", now.Format(http.TimeFormat))
					w.Header().Set("Date", now.Format(http.TimeFormat))
				}
				return false
			})
			obj := openServer(t, s, o)
			checkReads(t, obj, s.data)
			settle(t, obj)
			if files, _ := os.ReadDir(o.Dir); len(files) > 0 {
				t.Errorf("%d files are cached", len(files))
			}
			s.replace(bytes.Repeat([]byte("new data"), 700_000/8), "")
			obj = openServer(t, s, o)
			checkReads(t, obj, s.data)
			settle(t, obj)
		})
	}
}

// TestDirUnsettled reads a chunk file that was changed in the same second, twice, with an Object for each read. It must
// not be cached.
func TestDirUnsettled(t *testing.T) {
	s := newServer(t, randomBytes(500_000))
	now := time.Now().UTC().Format(http.TimeFormat)
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, indexName) {
			w.Header().Del("ETag")
			w.Header().Set("Last-Modified", now)
			w.Header().Set("Date", now)
		}
		return false
	})
	o := diskOptions(t.TempDir())
	d, err := OpenDir(t.Context(), s.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 2 {
		p := make([]byte, 100_000)
		if _, err := d.ReadAtContext(t.Context(), p, d.ChunkOffset(0)+100_000); err != nil || !bytes.Equal(p, s.data[100_000:200_000]) {
			t.Fatalf("wrong bytes: %v", err)
		}
		f := d.files[0]
		d.idle.Remove(f.elem) // as after reads of many other files
		settle(t, f.obj)
		f.obj, f.elem = nil, nil
	}
	if files, _ := os.ReadDir(o.Dir); len(files) != 1 {
		t.Errorf("%d files are cached, want that of the index", len(files))
	}
}
