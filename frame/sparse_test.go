package frame

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
)

// copyDir copies the files of a sparse frame.
func copyDir(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// dirHolds fails the test if the sparse frame in dir does not equal the model.
func dirHolds(t testing.TB, dir string, m *model) {
	t.Helper()
	f, err := Open(t.Context(), dir, nil)
	must(t, err)
	m.check(t, f, rand.New(rand.NewPCG(1, 1)))
	verify(t, f)
	must(t, f.Close())
}

// chunkFiles returns the names of the chunk files.
func chunkFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := fs.Glob(os.DirFS(dir), "*.chunk")
	must(t, err)
	return names
}

// TestSparseCrash looks at the directory in the middle of batches: it must hold the state before, whatever is there
// besides. It then goes on with what a crash would have left.
func TestSparseCrash(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	f, _ := modelFrame(t, "sparse", 64)
	m := &model{chunkSize: 64}
	dir := f.Path()
	for i := range 40 {
		b, err := f.Begin(context.Background())
		must(t, err)
		next := m.clone()
		for range 1 + rng.IntN(3) {
			step(t, rng, b, next, 64)
		}
		left := copyDir(t, dir)
		dirHolds(t, left, m)
		must(t, b.Commit())
		m = next
		dirHolds(t, dir, m)
		if i%10 == 9 {
			// The leftovers of a batch without end do not disturb.
			id := int64(0)
			for i := range f.NumChunks() {
				info, err := f.ChunkInfo(t.Context(), i)
				must(t, err)
				id = max(id, info.Off+1)
			}
			must(t, f.Close())
			must(t, os.WriteFile(filepath.Join(dir, chunkFileName(id)), []byte("left"), 0o666))
			must(t, os.WriteFile(filepath.Join(dir, indexFile+".tmp"), []byte("left"), 0o666))
			f, err = Edit(t.Context(), dir, &OpenOptions{NoSync: true})
			must(t, err)
		}
	}
	must(t, f.Close())
}

// TestSparseReaders holds an old state over commits that drop nothing and commits that drop its chunks.
func TestSparseReaders(t *testing.T) {
	f, _ := modelFrame(t, "sparse", 160)
	m := &model{chunkSize: 160}
	for i := range 3 {
		must(t, f.Append(t.Context(), small(i)))
		m.insert(i, small(i))
	}
	v, err := f.Engine().View(t.Context())
	must(t, err)
	must(t, one(f).SetVLMeta("a", []byte("b"))) // drops nothing
	must(t, one(f).Update(1, small(77)))
	must(t, one(f).Delete(0))
	if n := len(chunkFiles(t, f.Path())); n != 4 {
		t.Errorf("%d chunk files while an old state is in use", n)
	}
	checkView(t, v, m)
	v.Release()
	must(t, f.Append(t.Context(), small(5)))
	if names := chunkFiles(t, f.Path()); !slices.Equal(names, []string{"00000002.chunk", "00000003.chunk", "00000004.chunk"}) {
		t.Error(names)
	}
	must(t, f.Close())
}

// TestSparseErrors lets writing of chunks and of the index fail.
func TestSparseErrors(t *testing.T) {
	f, _ := modelFrame(t, "sparse", 160)
	m := &model{chunkSize: 160}
	must(t, f.Append(t.Context(), small(1)))
	m.insert(0, small(1))
	for _, name := range []string{chunkFileName(1), indexFile + ".tmp"} {
		block := filepath.Join(f.Path(), name)
		must(t, os.Mkdir(block, 0o777))
		if err := f.Append(t.Context(), small(2)); err == nil {
			t.Errorf("%s: no error", name)
		}
		dirHolds(t, f.Path(), m)
		os.Remove(block) // perhaps removed with the batch
		must(t, f.Append(t.Context(), small(3)))
		m.insert(len(m.chunks), small(3))
		dirHolds(t, f.Path(), m)
	}
	must(t, f.Close())
	must(t, os.Remove(filepath.Join(f.Path(), chunkFileName(0))))
	f, err := Open(t.Context(), f.Path(), nil)
	must(t, err)
	_, err = f.ReadChunk(t.Context(), nil, 0)
	var at *Error
	if !errors.As(err, &at) || at.Chunk != 0 || !errors.Is(err, ErrCorrupt) || !errors.Is(err, fs.ErrNotExist) ||
		!strings.HasPrefix(err.Error(), "frame "+f.Path()+": chunk 0 in "+chunkFileName(0)+": ") {
		t.Error(err)
	}
}

// TestFinalName checks that the errors of a new file have its final name.
func TestFinalName(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	f, err := Create(t.Context(), name, &CreateOptions{NoSync: true})
	must(t, err)
	must(t, f.store.(*contiguous).Bytes.Close())
	err = f.Append(t.Context(), small(1))
	if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Path != name || !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := f.Close(); !strings.Contains(err.Error(), name+":") {
		t.Error(err)
	}
}

// TestCreate checks which existing files and directories Create replaces, and that failures leave no files.
func TestCreate(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		dir := t.TempDir()
		name := filepath.Join(dir, "x")
		boom := errors.New("boom")
		o := &options{Sparse: sparse}
		left := func() int {
			files, err := os.ReadDir(dir)
			must(t, err)
			return len(files)
		}
		if _, err := CreateFunc(t.Context(), name, func(b *Batch) error { b.Append(t.Context(), small(1)); return boom }, o.create()); !errors.Is(err, boom) || left() != 0 {
			t.Error(err, left())
		}
		fill := func(i int) func(b *Batch) error {
			return func(b *Batch) error {
				if _, err := os.Stat(name); i == 1 && err == nil {
					t.Error("there before it is whole")
				}
				return b.Append(t.Context(), small(i))
			}
		}
		f, err := CreateFunc(t.Context(), name, fill(1), o.create())
		must(t, err)
		must(t, f.Append(t.Context(), small(9)))
		must(t, f.Close())
		if _, err := CreateFunc(t.Context(), name, fill(2), o.create()); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
		for _, again := range []bool{sparse, !sparse} {
			f, err = CreateFunc(t.Context(), name, fill(2), &CreateOptions{Sparse: again, Overwrite: true})
			must(t, err)
			must(t, f.Close())
			f, err = Open(t.Context(), name, nil)
			must(t, err)
			if got, err := f.ReadChunk(t.Context(), nil, 0); err != nil || !bytes.Equal(got, small(2)) || f.NumChunks() != 1 || f.Info().Sparse != again {
				t.Error(err, f.Info())
			}
			must(t, f.Close())
			if left() != 1 {
				t.Error(left(), "files")
			}
		}
		must(t, os.Mkdir(filepath.Join(dir, "other"), 0o777))
		if _, err := Create(t.Context(), filepath.Join(dir, "other"), &CreateOptions{Overwrite: true}); !errors.Is(err, fs.ErrExist) {
			t.Error("a folder that is no frame:", err)
		}
		if _, err := Create(t.Context(), filepath.Join(dir, "other"), nil); !errors.Is(err, fs.ErrExist) || strings.Contains(err.Error(), "Overwrite") {
			t.Error("a folder that Overwrite does not replace:", err)
		}
	}
	for _, o := range []*options{{Concurrency: -1}, {ChunkSize: -1}, {ChunkSize: chunk.MaxBytes + 1}, {Params: chunk.Params{TypeSize: -1}}} {
		if _, err := Create(t.Context(), filepath.Join(t.TempDir(), "x"), o.create()); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestRefresh follows random edits through another handle, with and without locking.
func TestRefresh(t *testing.T) {
	for _, kind := range []string{"file", "sparse", "offset"} {
		for seed := range uint64(4) {
			common := []int{0, 64}[seed%2]
			f, _ := modelFrame(t, kind, common)
			var g *Frame
			var err error
			if in, ok := f.store.(*contiguous); ok && kind == "offset" {
				g, err = OpenSource(t.Context(), &liveSource{st: in.Bytes}, nil)
			} else {
				g, err = Open(t.Context(), f.Path(), &OpenOptions{Concurrency: 2, Mmap: seed >= 2})
			}
			must(t, err)
			rng := rand.New(rand.NewPCG(seed, 33))
			m := &model{chunkSize: common}
			if common == 0 {
				m.chunkSize = -1
			}
			for range 40 {
				next, err := edit(t, rng, f, m, common)
				must(t, err)
				m = next
				if _, err := g.Refresh(t.Context()); err != nil {
					t.Fatal(kind, err)
				}
				m.check(t, g, rng)
				if c, err := g.Refresh(t.Context()); err != nil || c {
					t.Fatal("nothing has changed", kind, c, err)
				}
				if c, err := f.Refresh(t.Context()); err != nil || c {
					t.Fatal("Refresh after a commit of the same frame", kind, c, err)
				}
			}
			must(t, g.Close())
			must(t, f.Close())
		}
	}
}

// TestRefreshEdits lets two handles without locks edit in turn, with a Refresh before each edit.
func TestRefreshEdits(t *testing.T) {
	for _, kind := range []string{"file", "sparse"} {
		f, _ := modelFrame(t, kind, 64)
		g, err := Edit(t.Context(), f.Path(), &OpenOptions{NoSync: true, Concurrency: 2})
		must(t, err)
		rng := rand.New(rand.NewPCG(1, 34))
		m := &model{chunkSize: 64}
		for i := range 60 {
			h := []*Frame{f, g}[i%2]
			_, err := h.Refresh(t.Context())
			must(t, err)
			m, err = edit(t, rng, h, m, 64)
			must(t, err)
			m.check(t, h, rng)
			verify(t, h)
		}
		must(t, g.Close())
		must(t, f.Close())
	}
}

// TestIdle edits a frame through a second handle while the first, which has deleted chunks during a read, refreshed or
// done nothing, is idle. What ends the use of the first must not change what the second has committed.
func TestIdle(t *testing.T) {
	used := map[string]func(f, g *Frame) error{
		"opened":    func(_, _ *Frame) error { return nil },
		"deleted 1": func(f, _ *Frame) error { return deleteReading(t, f, 1) },
		"deleted 3": func(f, _ *Frame) error { return deleteReading(t, f, 3) },
		"refreshed": func(f, g *Frame) error {
			must(t, g.Append(t.Context(), small(8)))
			_, err := f.Refresh(t.Context())
			return err
		},
	}
	var open *Batch
	ends := map[string]func(f *Frame) error{
		"Close":                (*Frame).Close,
		"Rollback after Close": func(*Frame) error { open.Rollback(); return nil },
		"Rollback": func(f *Frame) error {
			b, err := f.Begin(t.Context())
			if err == nil {
				b.Rollback()
			}
			return err
		},
		"refused edit": func(f *Frame) error {
			if err := one(f).Delete(99); !errors.Is(err, ErrBounds) {
				return errors.Join(errors.New("want ErrBounds"), err)
			}
			return nil
		},
	}
	for _, kind := range []string{"file", "sparse"} {
		for use, use1 := range used {
			for end, end1 := range ends {
				what := kind + ", " + use + ", " + end
				f, _ := modelFrame(t, kind, 160)
				name := f.Path()
				for i := range 3 {
					must(t, f.Append(t.Context(), small(i)))
				}
				if use == "opened" { // not the handle of the creation
					must(t, f.Close())
					var err error
					f, err = Edit(t.Context(), name, &OpenOptions{NoSync: true})
					must(t, err)
				}
				g, err := Edit(t.Context(), name, &OpenOptions{NoSync: true})
				must(t, err)
				v, err := f.Engine().View(t.Context())
				must(t, err)
				must(t, use1(f, g))
				if open = nil; end == "Rollback after Close" {
					open, err = f.Begin(t.Context())
					must(t, err)
				}
				v.Release()
				if open != nil {
					must(t, f.Close())
				}
				_, err = g.Refresh(t.Context())
				must(t, err)
				for i := range 5 {
					must(t, g.Append(t.Context(), small(20+i)))
				}
				want := content(t, g)
				must(t, g.Close())
				must(t, end1(f))
				if g, err = Open(t.Context(), name, nil); err != nil {
					t.Errorf("%s: %v", what, err)
				} else {
					if err := g.Verify(t.Context(), nil); err != nil {
						t.Errorf("%s: %v", what, err)
					} else if !bytes.Equal(content(t, g), want) {
						t.Errorf("%s: other content", what)
					}
					must(t, g.Close())
				}
				must(t, f.Close())
			}
		}
	}
}

// deleteReading deletes the last n chunks of f during a read of f.
func deleteReading(t *testing.T, f *Frame, n int) error {
	v, err := f.Engine().View(t.Context())
	must(t, err)
	defer v.Release()
	return f.edit(t.Context(), func(b *Batch) error {
		for range n {
			if err := b.Delete(b.NumChunks() - 1); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestRefreshReplaced replaces the files of a frame. A frame with a lock file notices it, too, although the programs
// that do that do not use the lock.
func TestRefreshReplaced(t *testing.T) {
	t.Run("plain", func(t *testing.T) { refreshReplaced(t, nil) })
	t.Run("locking", func(t *testing.T) {
		if !storage.CanLock {
			t.Skip("no file locks on this system")
		}
		refreshReplaced(t, &OpenOptions{Locking: true})
	})
}

func refreshReplaced(t *testing.T, o *OpenOptions) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	create := func(o options, n int) *Frame {
		o.NoSync, o.Overwrite, o.Params.TypeSize = true, true, max(o.Params.TypeSize, 4)
		f, err := CreateFunc(t.Context(), name, func(b *Batch) error { return b.Append(t.Context(), stamped(n, n)) }, (&o).create())
		must(t, err)
		must(t, f.Close())
		return f
	}
	create(options{}, 10)
	f, err := Open(t.Context(), name, o)
	must(t, err)
	defer f.Close()
	v, err := f.Engine().View(t.Context())
	must(t, err)
	create(options{}, 20)
	if c, err := f.Refresh(t.Context()); err != nil || !c || f.Info().NBytes != 80 {
		t.Fatal(c, err, f.Info())
	}
	verify(t, f)
	old := make([]byte, 40)
	must(t, f.readRange(t.Context(), viewed(v), old, 0))
	if !slices.Equal(old, stamped(10, 10)) {
		t.Error("the state that is held has changed")
	}
	v.Release()
	e, err := Edit(t.Context(), name, nil)
	must(t, err)
	must(t, e.Append(t.Context(), stamped(21, 20)))
	must(t, e.Compact(t.Context()))
	must(t, e.Close())
	if c, err := f.Refresh(t.Context()); err != nil || !c || f.NumChunks() != 2 {
		t.Fatal("after Compact:", c, err, f.Info())
	}
	if c, err := f.Refresh(t.Context()); err != nil || c {
		t.Fatal(c, err)
	}
	create(options{Params: chunk.Params{TypeSize: 8}}, 10)
	if _, err := f.Refresh(t.Context()); !errors.Is(err, ErrChanged) || f.NumChunks() != 2 {
		t.Error(err)
	}
	verify(t, f)
	must(t, os.WriteFile(name, []byte("something else"), 0o666))
	if _, err := f.Refresh(t.Context()); err == nil {
		t.Error("no frame, no error")
	}
	must(t, os.Remove(name))
	if _, err := f.Refresh(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	verify(t, f) // the state before is still there
}

// TestRefreshTorn refreshes while the file is cut or half written: an error, and the state before.
func TestRefreshTorn(t *testing.T) {
	f, _ := modelFrame(t, "file", 64)
	must(t, f.Append(t.Context(), stamped(1, 16)))
	must(t, f.Append(t.Context(), stamped(2, 16)))
	good, err := os.ReadFile(f.Path())
	must(t, err)
	g, err := Open(t.Context(), f.Path(), nil)
	must(t, err)
	defer g.Close()
	must(t, f.Append(t.Context(), stamped(3, 16)))
	must(t, f.Close())
	next, err := os.ReadFile(f.Path())
	must(t, err)
	for _, cut := range []int{0, 50, 87, 100, len(good) - 1} {
		must(t, os.WriteFile(g.Path(), good[:cut], 0o666))
		if _, err := g.Refresh(t.Context()); err == nil || g.NumChunks() != 2 {
			t.Errorf("%d bytes: %v", cut, err)
		}
	}
	must(t, os.WriteFile(g.Path(), next, 0o666))
	if c, err := g.Refresh(t.Context()); err != nil || !c || g.NumChunks() != 3 {
		t.Error(c, err, g.Info())
	}
	verify(t, g)
}

// halfWritten is a storage in which another process is writing the header while the next n reads look at it.
type halfWritten struct {
	Memory
	n int
}

func (s *halfWritten) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.Memory.ReadAt(p, off)
	if off == 0 && s.n > 0 {
		s.n--
		clear(p[:min(n, 40)])
	}
	return n, err
}

// TestRefreshRetries refreshes while another process writes the header, which then has no magic.
func TestRefreshRetries(t *testing.T) {
	st := &halfWritten{}
	f, err := Create(t.Context(), "", &CreateOptions{Storage: st, ChunkSize: 40})
	must(t, err)
	defer f.Close()
	must(t, f.Append(t.Context(), stamped(1, 10)))
	st.n = 6
	if _, err := f.Refresh(t.Context()); err != nil || f.NumChunks() != 1 {
		t.Error(err)
	}
	if st.n > 0 {
		t.Errorf("%d reads are missing", st.n)
	}
}

func BenchmarkRefresh(b *testing.B) {
	for _, chunks := range []int{10, 10000} {
		for _, locking := range []bool{false, true} {
			name := "plain"
			if locking {
				name = "locking"
			}
			b.Run(name+"/"+map[int]string{10: "10", 10000: "10000"}[chunks], func(b *testing.B) {
				o := &options{Locking: locking, NoSync: true, Params: chunk.Params{TypeSize: 4}}
				f, err := CreateFunc(b.Context(), filepath.Join(b.TempDir(), "x"), func(bt *Batch) error {
					for i := range chunks {
						if err := bt.Append(b.Context(), stamped(i, 10)); err != nil {
							return err
						}
					}
					return nil
				}, o.create())
				must(b, err)
				defer f.Close()
				b.ReportAllocs()
				b.SetBytes(f.snap.Load().tail().Len())
				for b.Loop() {
					if _, err := f.Refresh(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// failAfter is a writer that fails after n bytes.
type failAfter struct{ n int64 }

var errFull = errors.New("full")

func (w *failAfter) Write(p []byte) (int, error) {
	if int64(len(p)) > w.n {
		n := int(w.n)
		w.n = 0
		return n, errFull
	}
	w.n -= int64(len(p))
	return len(p), nil
}

// TestSave saves frames of each kind of storage, with dead bytes, chunks that are referenced twice, special values and
// checksums. The result is the same for all, has no dead bytes, and holds the same.
func TestSave(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for _, checksums := range []bool{false, true} {
		var first []byte
		for kind, o := range map[string]*CreateOptions{
			"memory": {}, "file": {}, "sparse": {Sparse: true},
		} {
			name := ""
			if kind != "memory" {
				name = filepath.Join(dir, kind)
			}
			o.Checksums, o.Overwrite, o.Params, o.ChunkSize = checksums, true, chunk.Params{TypeSize: 4}, 400
			f, err := CreateFunc(ctx, name, func(b *Batch) error {
				for i := range 10 {
					if err := b.Append(ctx, noise(500 + i)[:400]); err != nil {
						return err
					}
				}
				return errors.Join(b.Append(ctx, make([]byte, 400)), b.Append(ctx, noise(120)), b.SetVLMeta("v", []byte("abc")))
			}, o)
			must(t, err)
			must(t, one(f).Delete(3))
			must(t, one(f).Update(5, noise(400)))
			var b bytes.Buffer
			n, err := f.Save(ctx, &b)
			if err != nil || n != int64(b.Len()) {
				t.Fatalf("%s: %d bytes of %d, %v", kind, n, b.Len(), err)
			}
			if first == nil {
				first = b.Bytes()
			}
			if !bytes.Equal(b.Bytes(), first) {
				t.Errorf("%s: other bytes than of another storage", kind)
			}
			g, err := OpenBytes(b.Bytes(), &OpenOptions{Verify: true})
			must(t, err)
			verify(t, g)
			if dead, err := g.DeadBytes(ctx); dead != 0 || err != nil || g.Info().Checksums != checksums {
				t.Errorf("%s: %d dead bytes, %v, checksums %v", kind, dead, err, g.Info().Checksums)
			}
			if x, y := content(t, f), content(t, g); !bytes.Equal(x, y) {
				t.Errorf("%s: other content", kind)
			}
			for at := int64(0); at < n; at += n / 7 {
				if done, err := f.Save(ctx, &failAfter{at}); !errors.Is(err, errFull) || done != at {
					t.Errorf("%s: a writer that fails after %d bytes: %d, %v", kind, at, done, err)
				}
			}
			must(t, f.Close())
		}
	}
}

// TestSaveMemory checks that saving does not hold the frame.
func TestSaveMemory(t *testing.T) {
	ctx := t.Context()
	const size, chunks = 1 << 16, 400
	f, err := Create(ctx, filepath.Join(t.TempDir(), "x"), &CreateOptions{NoSync: true, Params: chunk.Params{Level: codec.NoCompression}})
	must(t, err)
	defer f.Close()
	must(t, f.edit(ctx, func(b *Batch) error {
		for range chunks {
			if err := b.Append(ctx, noise(size)); err != nil {
				return err
			}
		}
		return nil
	}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := f.Save(ctx, io.Discard)
	runtime.ReadMemStats(&after)
	must(t, err)
	// One read buffer is allocated for each chunk, one after the other, and freed.
	if n < size*chunks || after.HeapSys > before.HeapSys+size*chunks/2 {
		t.Errorf("%d bytes saved with a heap of %d bytes, %d before", n, after.HeapSys, before.HeapSys)
	}
}
