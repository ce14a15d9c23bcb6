package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/link"
	"github.com/goblosc/blosc2/ndarray"
)

// makeDir copies a stored array to a directory, as a sparse frame, and returns its files.
func makeDir(t testing.TB, stored []byte, checksums bool) (dir string, files map[string][]byte) {
	t.Helper()
	a, err := ndarray.OpenBytes(stored, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	dir = filepath.Join(t.TempDir(), "a.b2nd")
	s, err := ndarray.Copy(t.Context(), dir, a, &ndarray.CreateOptions{Sparse: true, Checksums: checksums, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir, files
}

// dirLink returns a link of 50 ms and 100 MB/s to files below /d/, and the number of their bytes.
func dirLink(files map[string][]byte) (*link.Link, int64) {
	l := &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{}}
	size := 0
	for name, b := range files {
		l.Objects["/d/"+name] = link.Object{Data: b, ETag: fmt.Sprintf("%q", name)}
		size += len(b)
	}
	return l, int64(size)
}

// inDir calls do with an array in a directory on a link, in a bubble with virtual time.
func inDir(t *testing.T, stored []byte, files map[string][]byte, o remote.Options, open ndarray.OpenOptions, do func(t *testing.T, a farArray)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, _ := dirLink(files)
		o.Client = l.Client()
		dir, err := remote.OpenDir(context.Background(), "http://host/d/", &o)
		if err != nil {
			t.Fatal(err)
		}
		a := openFar(t, dir, l, stored, open)
		atMost(t, "open", l.Stats(), 2, 1, 2<<16)
		do(t, a)
	})
}

// TestDir counts what reads of an array in a directory take.
func TestDir(t *testing.T) {
	for _, c := range table {
		if c.long {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			stored := makeArray(t, c.Shape, c.Chunks, c.Blocks, c.Codec, false)
			_, files := makeDir(t, stored, false)
			chunks := len(files) - 1
			_, size := dirLink(files)
			inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{Cache: 1 << 20}, func(t *testing.T, a farArray) {
				item := func(what string, requests, rounds int, bytes int64, at ...int64) {
					s, _ := a.read(t, ndarray.At(at[0]), ndarray.At(at[1]), ndarray.At(at[2]))
					atMost(t, what, s, requests, rounds, bytes)
				}
				item("cold item", 2, 2, 2<<20, 50, 50, 50)
				item("other item of the chunk", 1, 1, 64<<10, 50, 150, 50)
				item("same item", 0, 0, 0, 50, 50, 50)
			})
			inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				s, _ := a.read(t, c.Sel()...)
				atMost(t, "selection", s, 2*chunks, 4, size)
			})
			inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				s, took := a.read(t)
				// An array of more than 64 MiB is read only after some of its stored bytes.
				atMost(t, "whole array", s, chunks+1, 4, size*101/100)
				checkTime(t, "whole array", a, took, size, 3)
			})
			inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				var once link.Stats
				once, _ = a.read(t, ndarray.At(3))
				again, err := ndarray.OpenSource(context.Background(), a.src, &ndarray.OpenOptions{Concurrency: 1})
				if err != nil {
					t.Fatal(err)
				}
				defer again.Close()
				a.link.Stats()
				var all sync.WaitGroup
				for range 64 {
					all.Go(func() {
						if _, err := ndarray.Read[float32](context.Background(), again, ndarray.At(3)); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				atMost(t, "64 goroutines", a.link.Stats(), once.Requests, 2, once.Bytes)
			})
		})
	}
}

// TestDirBlocks reads chunks with blocks of variable size, which are larger as stored than their content.
func TestDirBlocks(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "f")
	blocks := make([][]byte, 300)
	for i := range blocks {
		blocks[i] = []byte{byte(i)}
	}
	f, err := frame.CreateFunc(ctx, name, func(b *frame.Batch) error {
		for range 3 {
			if err := b.AppendBlocks(ctx, blocks); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{Sparse: true})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	server := httptest.NewServer(http.FileServer(http.Dir(name)))
	defer server.Close()
	dir, err := remote.OpenDir(ctx, server.URL+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	f, err = frame.OpenSource(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 3 {
		if b, err := f.ReadChunk(ctx, nil, i); err != nil || len(b) != len(blocks) {
			t.Errorf("chunk %d: %d bytes, %v", i, len(b), err)
		}
		if b, err := f.ReadBlock(ctx, nil, i, 299); err != nil || string(b) != string(blocks[299]) {
			t.Errorf("chunk %d: block %v, %v", i, b, err)
		}
	}
}

// TestDirPasses counts what passes over all chunks of a directory take.
func TestDirPasses(t *testing.T) {
	c := table[0]
	stored := makeArray(t, c.Shape, c.Chunks, c.Blocks, c.Codec, false)
	_, files := makeDir(t, stored, true)
	_, size := dirLink(files)
	for name, do := range passes {
		inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
			checkPass(t, name, a, size, len(files), 2, do) // with a request for evidence of much data
		})
	}
}

// TestDirDisk opens a directory with a disk cache for the second time.
func TestDirDisk(t *testing.T) {
	stored := makeArray(t, []int64{8, 100, 100}, []int64{1, 100, 100}, []int64{1, 20, 100}, 0, false)
	_, files := makeDir(t, stored, false)
	synctest.Test(t, func(t *testing.T) {
		l, _ := dirLink(files)
		o := &remote.Options{Client: l.Client(), Dir: t.TempDir()}
		var want []float32
		for warm := range 3 {
			if warm == 2 { // a replaced chunk
				l.Objects["/d/00000001.chunk"] = link.Object{Data: files["00000002.chunk"], ETag: `"other"`}
			}
			dir, err := remote.OpenDir(context.Background(), "http://host/d", o)
			if err != nil {
				t.Fatal(err)
			}
			a, err := ndarray.OpenSource(context.Background(), dir, &ndarray.OpenOptions{Concurrency: 1})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ndarray.Read[float32](context.Background(), a)
			synctest.Wait()
			s := l.Stats()
			switch warm {
			case 0:
				want = got
			case 1:
				if s.Bytes > int64(len(files)) {
					t.Errorf("%d bytes, want one for each of %d files", s.Bytes, len(files))
				}
				time.Sleep(time.Second) // for the answers; without them, the next start would ask first
			case 2:
				time.Sleep(time.Second) // for the answer
				_, err = ndarray.Read[float32](context.Background(), a)
				if !errors.Is(err, remote.ErrChanged) {
					t.Errorf("%v, want ErrChanged", err)
				}
				err = nil
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("start %d: wrong items: %v", warm, err)
			}
			a.Close()
			dir.Close()
		}
	})
}

// TestDirChanged replaces and removes files between reads.
func TestDirChanged(t *testing.T) {
	stored := makeArray(t, []int64{8, 100, 100}, []int64{1, 100, 100}, []int64{1, 20, 100}, 0, false)
	_, files := makeDir(t, stored, true)
	for _, c := range []struct {
		name   string
		change func(l *link.Link)
		at     int64 // the item that is read then
		want   error
	}{
		{"known chunk replaced", func(l *link.Link) {
			l.Objects["/d/00000000.chunk"] = link.Object{Data: files["00000001.chunk"], ETag: `"other"`}
		}, 0, remote.ErrChanged},
		{"known chunk removed", func(l *link.Link) { delete(l.Objects, "/d/00000000.chunk") }, 0, remote.ErrChanged},
		{"new chunk replaced", func(l *link.Link) {
			l.Objects["/d/00000001.chunk"] = link.Object{Data: files["00000002.chunk"], ETag: `"other"`}
		}, 1, frame.ErrChecksum},
		{"new chunk truncated", func(l *link.Link) {
			l.Objects["/d/00000001.chunk"] = link.Object{Data: files["00000001.chunk"][:200], ETag: `"other"`}
		}, 1, frame.ErrCorrupt},
		{"new chunk empty", func(l *link.Link) { l.Objects["/d/00000001.chunk"] = link.Object{ETag: `"other"`} }, 1, frame.ErrCorrupt},
		{"new chunk missing", func(l *link.Link) { delete(l.Objects, "/d/00000001.chunk") }, 1, frame.ErrCorrupt},
		{"index replaced, new chunk missing", func(l *link.Link) {
			delete(l.Objects, "/d/00000001.chunk")
			l.Objects["/d/chunks.b2frame"] = link.Object{Data: files["chunks.b2frame"], ETag: `"other"`}
		}, 1, remote.ErrChanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, small := range []bool{false, true} { // small items read a block, and others the chunk
				inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{Verify: true}, func(t *testing.T, a farArray) {
					sel := func(i int64) []ndarray.Index {
						if small {
							return []ndarray.Index{ndarray.At(i), ndarray.At(50), ndarray.At(50)}
						}
						return []ndarray.Index{ndarray.At(i)}
					}
					a.read(t, sel(0)...)
					c.change(a.link)
					_, err := ndarray.Read[float32](context.Background(), a, sel(c.at)...)
					var e *frame.Error
					if !errors.Is(err, c.want) || !errors.As(err, &e) || e.Part != "chunk" || e.Chunk != int(c.at) {
						t.Errorf("small %v: %v, want %v", small, err, c.want)
					}
					_, err = ndarray.Read[float32](context.Background(), a, sel(3)...)
					if changed := errors.Is(err, remote.ErrChanged); changed != (c.want == remote.ErrChanged) || !changed && err != nil {
						t.Errorf("small %v: another chunk: %v", small, err)
					}
				})
			}
		})
	}
}

// TestDirServer reads a directory on Go's file server, and on a server that ignores ranges.
func TestDirServer(t *testing.T) {
	stored := makeArray(t, []int64{8, 100, 100}, []int64{1, 100, 100}, []int64{1, 20, 100}, 0, false)
	dir, _ := makeDir(t, stored, false)
	local, err := ndarray.OpenBytes(stored, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	for _, ignores := range []bool{false, true} {
		files := http.FileServer(http.Dir(filepath.Dir(dir)))
		var mu sync.Mutex
		var queries []string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			queries = append(queries, r.URL.RawQuery)
			mu.Unlock()
			if ignores {
				r.Header.Del("Range")
			}
			files.ServeHTTP(w, r)
		}))
		for _, cache := range []int64{0, 1 << 20} {
			src, err := remote.OpenDir(t.Context(), s.URL+"/a.b2nd/?token=x", &remote.Options{Cache: cache})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(src.String(), "token") || !strings.HasSuffix(src.String(), "/a.b2nd/") {
				t.Errorf("%s", src)
			}
			a, err := ndarray.OpenSource(t.Context(), src, nil)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for range 30 {
				i, j := rng.Int64N(8), rng.Int64N(100)
				for _, sel := range [][]ndarray.Index{{ndarray.At(i), ndarray.At(j)}, {ndarray.Span(i, 8), ndarray.All, ndarray.At(j)}} {
					got, err := ndarray.Read[float32](t.Context(), a, sel...)
					want, _ := ndarray.Read[float32](t.Context(), local, sel...)
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("%v: wrong items: %v", sel, err)
					}
				}
			}
			a.Close()
			if err := src.Close(); err != nil {
				t.Error(err)
			}
			if _, err := src.ReadAtContext(t.Context(), make([]byte, 1), src.ChunkOffset(0)); !errors.Is(err, os.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		}
		s.Close()
		if i := slices.IndexFunc(queries, func(q string) bool { return q != "token=x" }); i >= 0 {
			t.Errorf("a request with the query %q", queries[i])
		}
	}
}

// TestDirErrors opens directories that are not sparse frames.
func TestDirErrors(t *testing.T) {
	stored := makeArray(t, []int64{8, 10, 10}, []int64{1, 10, 10}, []int64{1, 10, 10}, 0, false)
	l, _ := dirLink(map[string][]byte{"chunks.b2frame": stored})
	for _, c := range []struct {
		url  string
		o    remote.Options
		want error
	}{
		{"http://host/x/", remote.Options{}, os.ErrNotExist},
		{"http://host/d/", remote.Options{Multipart: true}, remote.ErrParam},
		{"/d/", remote.Options{}, remote.ErrParam},
	} {
		c.o.Client = l.Client()
		if _, err := remote.OpenDir(t.Context(), c.url, &c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.url, err, c.want)
		}
	}
	dir, err := remote.OpenDir(t.Context(), "http://host/d/", &remote.Options{Client: l.Client()})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := frame.OpenSource(t.Context(), dir, nil); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("a contiguous frame as the index: %v", err)
	}
	for _, n := range []int64{-1, 1 << 32} {
		if off := dir.ChunkOffset(n); off >= 0 {
			t.Errorf("chunk %d at %d", n, off)
		}
	}
	if err := dir.ReadRanges(t.Context(), []remote.Range{{Off: dir.ChunkOffset(1) - 1, Len: 2}}, nil); !errors.Is(err, remote.ErrBounds) {
		t.Errorf("a range in two files: %v", err)
	}
}

// TestDirReplaced reads a frame through a cache on disk after all of its files were replaced.
func TestDirReplaced(t *testing.T) {
	stored := makeArray(t, []int64{8, 100, 100}, []int64{1, 100, 100}, []int64{1, 20, 100}, 0, false)
	_, files := makeDir(t, stored, false)
	synctest.Test(t, func(t *testing.T) {
		l, _ := dirLink(files)
		o := &remote.Options{Client: l.Client(), Dir: t.TempDir()}
		read := func(sel ...ndarray.Index) ([]float32, error) {
			dir, err := remote.OpenDir(context.Background(), "http://host/d", o)
			if err != nil {
				return nil, err
			}
			defer dir.Close()
			a, err := ndarray.OpenSource(context.Background(), dir, &ndarray.OpenOptions{Concurrency: 1})
			if err != nil {
				return nil, err
			}
			defer a.Close()
			time.Sleep(time.Second) // for the answer about the index
			return ndarray.Read[float32](context.Background(), a, sel...)
		}
		old, err := read()
		if err != nil {
			t.Fatal(err)
		}
		for name := range files {
			x := l.Objects["/d/"+name]
			x.ETag = `"new"`
			if name == "00000003.chunk" {
				x.Data = files["00000004.chunk"]
			}
			l.Objects["/d/"+name] = x
		}
		if _, err := read(ndarray.At(0)); !errors.Is(err, remote.ErrChanged) {
			t.Errorf("the first start: %v, want ErrChanged", err)
		}
		got, err := read()
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(old)
		copy(want[3*10000:4*10000], old[4*10000:])
		if !slices.Equal(got, want) {
			t.Error("items of before")
		}
	})
}

// TestDirFaults reads from servers without versions, with a small cache and without ranges, and with a missing file.
func TestDirFaults(t *testing.T) {
	stored := makeArray(t, []int64{32, 50, 100}, []int64{1, 50, 100}, []int64{1, 10, 100}, 0, false)
	_, files := makeDir(t, stored, false)
	versions, ranges, missing := true, true, ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		data, ok := files[name]
		if !ok || name == missing {
			http.NotFound(w, r)
			return
		}
		if missing != "" {
			time.Sleep(20 * time.Millisecond) // the error arrives first
		}
		if versions {
			w.Header().Set("ETag", `"1"`)
		}
		if !ranges {
			r.Header.Del("Range")
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer s.Close()
	open := func(o *remote.Options) *ndarray.Array {
		dir, err := remote.OpenDir(t.Context(), s.URL+"/d", o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dir.Close() })
		a, err := ndarray.OpenSource(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}

	versions = false
	if _, err := ndarray.Read[float32](t.Context(), open(nil)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("no versions: %v, want ErrUnsupported", err)
	}
	if _, err := ndarray.Read[float32](t.Context(), open(&remote.Options{Unversioned: true})); err != nil {
		t.Errorf("Unversioned: %v", err)
	}

	versions, ranges = true, false
	a := open(&remote.Options{Cache: 2 * int64(len(files["00000000.chunk"]))})
	var all sync.WaitGroup
	for k := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			for range 60 {
				if _, err := ndarray.Read[float32](t.Context(), a, ndarray.At(rng.Int64N(32))); err != nil {
					t.Errorf("no ranges: %v", err)
					return
				}
			}
		})
	}
	all.Wait()

	ranges, missing = true, "00000006.chunk"
	f := open(nil).Frame()
	for i := range f.NumChunks() {
		if _, err := f.ReadChunk(t.Context(), nil, i); (err != nil) != (i == 6) {
			t.Errorf("a file is missing, chunk %d: %v", i, err)
		}
	}
	var faults []error
	err := f.Verify(t.Context(), func(err error) error {
		faults = append(faults, err)
		return nil
	})
	if err != nil || len(faults) != 1 {
		t.Errorf("Verify: %v, %d faults: %v", err, len(faults), faults)
	}
}
