package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/engine"
)

// fileSize returns the size of a file.
func fileSize(t testing.TB, name string) int64 {
	t.Helper()
	fi, err := os.Stat(name)
	must(t, err)
	return fi.Size()
}

// TestCompact edits frames at random and compacts them between the edits, while a view keeps an old state in use.
func TestCompact(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4 // each kind, with each size of chunks
	}
	for seed := range seeds {
		kind := []string{"file", "sparse"}[seed%2]
		common := []int{0, 64}[seed/2%2]
		t.Run(fmt.Sprintf("%s/%d", kind, seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 21))
			f, reopen := modelFrame(t, kind, common)
			m := &model{chunkSize: common}
			if common == 0 {
				m.chunkSize = -1
			}
			var view engine.View
			var held *model
			for range 40 {
				for range 1 + rng.IntN(4) {
					next, err := edit(t, rng, f, m, common)
					must(t, err)
					m = next
				}
				switch {
				case held == nil:
					var err error
					view, err = f.Engine().View(t.Context())
					must(t, err)
					held = m.clone()
				case rng.IntN(3) == 0:
					checkView(t, view, held)
					view.Release()
					held = nil
				}
				before, err := f.DeadBytes(t.Context())
				must(t, err)
				must(t, f.Compact(context.Background()))
				m.check(t, f, rng)
				if held != nil {
					checkView(t, view, held)
				}
				dead, err := f.DeadBytes(t.Context())
				must(t, err)
				if s, ok := f.store.(*contiguous); ok {
					if size := fileSize(t, f.path); dead != 0 || size != f.Info().FrameLen || size != live(t, f) {
						t.Fatalf("%d dead bytes of %d before, %d after, in a file of %d with %d live", before, size, dead, size, live(t, f))
					}
					if s.space.Len() != 0 {
						t.Fatalf("free space %v", s.space)
					}
				} else if held == nil && dead != 0 {
					t.Fatalf("%d dead bytes", dead)
				}
				if held == nil && rng.IntN(4) == 0 {
					f = reopen(f)
					m.check(t, f, rng)
				}
				verify(t, f)
			}
			if held != nil {
				view.Release()
			}
			must(t, f.Close())
		})
	}
}

// TestCompactSize compares the size of a frame after Compact with the size of a copy.
func TestCompactSize(t *testing.T) {
	dir := t.TempDir()
	name, real := filepath.Join(dir, "link"), filepath.Join(dir, "real")
	f, err := Create(t.Context(), real, &CreateOptions{NoSync: true, Params: chunk.Params{TypeSize: 4}})
	must(t, err)
	for i := range 200 {
		must(t, f.Append(t.Context(), small(i)))
	}
	must(t, f.Close())
	must(t, os.Chmod(real, 0o640))
	before, err := os.Stat(real) // not every system knows permissions
	must(t, err)
	must(t, os.Symlink("real", name))
	f, err = Edit(t.Context(), name, nil)
	must(t, err)
	defer f.Close()
	b, err := f.Begin(context.Background())
	must(t, err)
	for range 100 {
		must(t, b.Delete(50))
	}
	must(t, b.Commit())
	all := content(t, f)
	had := fileSize(t, name)
	dead, err := f.DeadBytes(t.Context())
	must(t, err)
	must(t, f.Compact(context.Background()))
	size := fileSize(t, real)
	plain, err := appendTo(f, nil)
	must(t, err)
	now, err := os.ReadFile(name)
	must(t, err)
	if dead < had/3 || size > had-dead || !bytes.Equal(plain, now) {
		t.Errorf("%d bytes, %d of them dead; %d after, a copy has %d", had, dead, size, len(plain))
	}
	if fi, err := os.Lstat(name); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
	if fi, err := os.Stat(real); err != nil || fi.Mode() != before.Mode() {
		t.Errorf("permissions %v: %v", fi.Mode(), err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 2 {
		t.Errorf("files left: %v", files)
	}
	if got := content(t, f); !bytes.Equal(got, all) {
		t.Error("other content")
	}
}

// TestCompactSparse removes the files that edits which were cut short have left, and no others.
func TestCompactSparse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	f, err := CreateFunc(t.Context(), dir, func(b *Batch) error {
		return errors.Join(b.Append(t.Context(), small(1)), b.Append(t.Context(), small(2)))
	}, &CreateOptions{Sparse: true, NoSync: true})
	must(t, err)
	defer f.Close()
	for _, x := range []string{"000000FF.chunk", indexFile + ".tmp", "notes.txt", "1.chunk", "0000000a.chunk", chunkFileName(-1)} {
		must(t, os.WriteFile(filepath.Join(dir, x), make([]byte, 100), 0o666))
	}
	view, err := f.Engine().View(t.Context())
	must(t, err)
	must(t, one(f).Update(0, small(3)))
	if dead, err := f.DeadBytes(t.Context()); err != nil || dead <= 500 {
		t.Errorf("%d dead bytes: %v", dead, err)
	}
	must(t, f.Compact(context.Background()))
	want := []string{chunkFileName(-1), "00000000.chunk", "00000001.chunk", "00000002.chunk", "0000000a.chunk", "1.chunk", indexFile, "notes.txt"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	view.Release()
	must(t, f.Compact(context.Background()))
	want = slices.Delete(want, 1, 2)
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	verify(t, f)
}

// names lists a directory.
func names(t testing.TB, dir string) []string {
	files, err := os.ReadDir(dir)
	must(t, err)
	var out []string
	for _, x := range files {
		out = append(out, x.Name())
	}
	return out
}

// TestCompactRefused tries what cannot be compacted: nothing may change.
func TestCompactRefused(t *testing.T) {
	ctx := context.Background()
	mem, err := Create(ctx, "", nil)
	must(t, err)
	must(t, mem.Append(ctx, small(1)))
	if err := mem.Compact(ctx); !errors.Is(err, ErrParam) {
		t.Errorf("a frame in memory: %v", err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	b, err := appendTo(mem, make([]byte, 100))
	must(t, err)
	at, err := EditStorage(ctx, window{NewMemory(b), 100}, nil)
	must(t, err)
	if err := at.Compact(ctx); !errors.Is(err, ErrParam) {
		t.Errorf("a frame at an offset: %v", err)
	}
	must(t, at.Close())
	must(t, os.WriteFile(name, b[100:], 0o666))
	f, err := Open(ctx, name, nil)
	must(t, err)
	if err := f.Compact(ctx); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a frame opened for reading: %v", err)
	}
	must(t, f.Close())
	if err := f.Compact(ctx); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed frame: %v", err)
	}
	f, err = Edit(ctx, name, nil)
	must(t, err)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.Compact(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	must(t, f.Append(ctx, small(2)))
	must(t, f.Close())
	b = bytes.Clone(b[100:])
	b[firstChunk(t, b)+12] ^= 0x80 // the stored size of the chunk
	must(t, os.WriteFile(name, b, 0o666))
	f, err = Edit(ctx, name, nil)
	must(t, err)
	defer f.Close()
	if err := f.Compact(ctx); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a corrupt chunk: %v", err)
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, b) || len(names(t, dir)) != 1 {
		t.Errorf("something has changed: %v, %v", err, names(t, dir))
	}
}

// firstChunk returns where the first chunk of a frame is.
func firstChunk(t testing.TB, b []byte) int {
	h, err := parseHeader(b, int64(len(b)))
	must(t, err)
	return h.headerLen
}

// TestCompactReaders reads from many goroutines while the frame is edited and compacted.
func TestCompactReaders(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	f, err := Create(t.Context(), name, &CreateOptions{NoSync: true, ChunkSize: 160, Concurrency: 1, Params: chunk.Params{TypeSize: 4, Codec: codec.FromCode(1)}})
	must(t, err)
	for i := range 50 {
		must(t, f.Append(t.Context(), small(i)))
	}
	stop := make(chan bool)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rng := newRand(uint64(g))
			for {
				select {
				case <-stop:
					return
				default:
				}
				i := rng.IntN(50)
				if got, err := f.ReadChunk(t.Context(), nil, i); err != nil || !bytes.Equal(got[4:], small(i)[4:]) {
					t.Errorf("chunk %d: %v", i, err)
					return
				}
				p := make([]byte, 160)
				if _, err := f.Content(t.Context()).ReadAt(p, int64(160*i)); err != nil || !bytes.Equal(p[4:], small(i)[4:]) {
					t.Errorf("bytes of chunk %d: %v", i, err)
					return
				}
			}
		})
	}
	updates := 150
	if testing.Short() {
		updates = 45
	}
	for i := range updates {
		p := small(i % 50)
		p[0] = byte(i)
		must(t, one(f).Update(i%50, p))
		if i%3 == 0 {
			must(t, f.Compact(context.Background()))
		}
	}
	close(stop)
	wg.Wait()
	must(t, f.Append(t.Context(), small(1)))
	c := f.store.(*contiguous)
	if c.pending.Len() != 0 {
		t.Errorf("%d old states are kept", c.pending.Len())
	}
	must(t, f.Close())
}

// wasteful makes a frame with many dead bytes on a simulated disk, and closes it.
func wasteful(t testing.TB, sparse bool) (*simulated.System, *model, *rand.Rand) {
	t.Helper()
	s, f, m := simFrame(t, sparse, 64)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 12 {
		next, err := edit(t, rng, f, m, 64)
		must(t, err)
		m = next
	}
	for i := range 3 {
		p := randomBytes(rng, 64)
		m.insert(i, p)
		must(t, f.edit(context.Background(), func(b *Batch) error { return b.Insert(t.Context(), i, p) }))
	}
	must(t, f.Close())
	if sparse { // files of an interrupted commit
		for _, name := range []string{"x/00000077.chunk", "x/" + indexFile + ".tmp"} {
			g, err := s.Open(name, os.O_CREATE|os.O_RDWR, 0o666)
			must(t, err)
			_, err = g.WriteAt([]byte("half a chunk"), 0)
			must(t, err)
			must(t, g.Close())
		}
	}
	return s, m, rng
}

// leftovers returns the names beside the frame, and in its directory those that no state needs.
func leftovers(s *simulated.System, f *Frame) (list []string) {
	named := []string{indexFile}
	for _, e := range f.snap.Load().index.list {
		if e >= 0 {
			named = append(named, chunkFileName(int64(e)))
		}
	}
	for name := range s.Image[0].Dir {
		if name != "x" {
			list = append(list, name)
		}
	}
	for name := range s.Image[s.Image[0].Dir["x"]].Dir {
		if !slices.Contains(named, name) {
			list = append(list, "x/"+name)
		}
	}
	return list
}

// TestCompactErrors compacts frames and lets one system call fail, or this call and all later ones. The stored frame
// and the open one must keep their content. A later edit must succeed, or report that the frame must be opened again.
// Another Compact must leave no other files, except a new file whose removal failed as well.
func TestCompactErrors(t *testing.T) {
	leaks(t)
	kinds := map[string]int{}
	for _, sparse := range []bool{false, true} {
		for _, forever := range []bool{false, true} {
			for failAt := 1; ; failAt++ {
				s, m, rng := wasteful(t, sparse)
				f, err := Edit(t.Context(), "x", &OpenOptions{sys: s, Concurrency: 1})
				must(t, err)
				s.Calls, s.FailAt, s.Short, s.Forever, s.Failed = 0, failAt, failAt%2 == 0, forever, ""
				err = f.Compact(t.Context())
				failed := s.Failed
				s.FailAt, s.Forever = 0, false
				what := fmt.Sprintf("sparse %v, forever %v, call %d, a %s", sparse, forever, failAt, failed)
				kinds[failed]++
				if err != nil && !errors.Is(err, errDisk) || err != nil && failed == "" {
					t.Fatalf("%s: %v", what, err)
				}
				stored := func(models ...*model) {
					t.Helper()
					g, err := Open(t.Context(), "x", &OpenOptions{sys: s})
					must(t, err)
					if err := heldBy(g, models...); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					must(t, g.Close())
				}
				stored(m)
				m.check(t, f, rng)
				next := m.clone()
				p := randomBytes(rng, 64)
				next.insert(0, p)
				if err := f.edit(context.Background(), func(b *Batch) error { return b.Insert(t.Context(), 0, p) }); err == nil {
					m = next
				} else if !errors.Is(err, errDisk) || f.broken == nil {
					t.Fatalf("%s: an edit: %v", what, err)
				}
				stored(m)
				m.check(t, f, rng)
				must(t, f.Close())
				f, err = Edit(t.Context(), "x", &OpenOptions{sys: s, Concurrency: 1})
				must(t, err)
				must(t, f.Compact(t.Context()))
				m.check(t, f, rng)
				if list := leftovers(s, f); len(list) > 0 && (sparse || !forever || len(list) > 1) {
					t.Fatalf("%s: files left: %v", what, list)
				}
				if dead, err := f.DeadBytes(t.Context()); err != nil || dead != 0 {
					t.Fatalf("%s: %d dead bytes: %v", what, dead, err)
				}
				must(t, f.Close())
				if s.Opened != 0 {
					t.Fatalf("%s: %d files are open", what, s.Opened)
				}
				if failed == "" {
					break
				}
			}
		}
	}
	t.Log(kinds)
	for _, k := range []string{"open", "read", "write", "sync", "rename", "stat", "readdir", "remove"} {
		if kinds[k] == 0 {
			t.Errorf("no failing %s", k)
		}
	}
}

// TestCompactStopped ends the process, or the power supply, before each change that Compact makes on the disk. The
// frame must be the old or the new one. Another Compact must release all dead bytes; only the new file may remain,
// under its temporary name, which no frame uses.
func TestCompactStopped(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		s, m, rng := wasteful(t, sparse)
		before := s.Image.Clone()
		s.Log = nil
		f, err := Edit(t.Context(), "x", &OpenOptions{sys: s, Concurrency: 1})
		must(t, err)
		must(t, f.Compact(t.Context()))
		must(t, f.Close())
		tried := crashFiles(t, rng, before, s.Log, 0, m, m, "power cut")
		sizes := map[int64]bool{}
		for n := range len(s.Log) + 1 {
			image := before.Clone()
			for _, o := range s.Log[:n] {
				o.Apply(image, false, rng)
			}
			after := simulated.On(image)
			f, err := Edit(t.Context(), "x", &OpenOptions{sys: after, Concurrency: 1})
			must(t, err)
			if err := heldBy(f, m); err != nil {
				t.Fatalf("sparse %v, stopped after %d changes: %v", sparse, n, err)
			}
			sizes[f.Info().FrameLen] = true
			must(t, f.Compact(t.Context()))
			must(t, f.Append(t.Context(), randomBytes(rng, 64)))
			for _, name := range leftovers(after, f) {
				if sparse || !strings.HasPrefix(name, "x.") {
					t.Errorf("sparse %v, stopped after %d changes: %s is left", sparse, n, name)
				}
			}
			must(t, f.Close())
			if after.Opened != 0 {
				t.Fatalf("%d files are open", after.Opened)
			}
		}
		if !sparse && len(sizes) != 2 {
			t.Errorf("frames of %v bytes, want the old and the new", sizes)
		}
		t.Logf("sparse %v: %d changes, %d crashes", sparse, len(s.Log), tried)
	}
}

// TestCompactLocked compacts a frame that another handle with locking has open: it reads on, and what it edits is
// in the new file.
func TestCompactLocked(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *options) {
		f, other := reopen(t, name, o), reopen(t, name, o)
		must(t, f.edit(context.Background(), func(b *Batch) error {
			return errors.Join(b.Append(t.Context(), stamped(1, 10)), b.Append(t.Context(), stamped(2, 10)))
		}))
		for i := range 3 {
			must(t, f.edit(context.Background(), func(b *Batch) error { return b.Delete(0) }))
			must(t, f.Append(t.Context(), stamped(10+i, 10)))
			must(t, f.Compact(t.Context()))
			if got, err := other.ReadChunk(t.Context(), nil, 1); err != nil || int(got[4]) != 10+i {
				t.Fatalf("after Compact: %v, %v", got, err)
			}
			must(t, one(other).Update(1, stamped(20+i, 10)))
			if got, err := f.ReadChunk(t.Context(), nil, 1); err != nil || int(got[4]) != 20+i {
				t.Fatalf("after an edit of the other: %v, %v", got, err)
			}
			must(t, other.Compact(t.Context()))
			verify(t, f)
		}
		files, err := filepath.Glob(name + "*")
		must(t, err)
		if len(files) > 2 { // the frame and perhaps the lock
			t.Errorf("files left: %v", files)
		}
		// The lock file is removed between two batches.
		r, err := Open(t.Context(), name, o.open())
		must(t, err)
		defer r.Close()
		if err := os.Remove(storage.LockName(name, o.Sparse)); err != nil {
			t.Skip(err) // the system does not remove an open file
		}
		must(t, one(other).Update(1, stamped(30, 10)))
		must(t, other.Compact(t.Context()))
		if got, err := r.ReadChunk(t.Context(), nil, 1); err != nil || got[4] != 30 {
			t.Errorf("a read with another lock file: %v, %v", got, err)
		}
		if _, err := f.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		must(t, f.Append(t.Context(), stamped(31, 10)))
		if got, err := r.ReadChunk(t.Context(), nil, 2); err != nil || got[4] != 31 {
			t.Errorf("after an edit with that lock file: %v, %v", got, err)
		}
		verify(t, r)
	})
}
