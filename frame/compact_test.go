package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
)

// fileSize returns the size of a file.
func fileSize(t testing.TB, name string) int64 {
	t.Helper()
	fi, err := os.Stat(name)
	must(t, err)
	return fi.Size()
}

// TestCompact edits frames at random, compacts them between, and holds an old state meanwhile.
func TestCompact(t *testing.T) {
	for seed := range uint64(12) {
		kind := []string{"file", "sparse"}[seed%2]
		common := []int{0, 64}[seed/2%2]
		t.Run(fmt.Sprintf("%s/%d", kind, seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 21))
			f, reopen := modelFrame(t, kind, common)
			m := &model{chunkSize: common}
			if common == 0 {
				m.chunkSize = -1
			}
			var view View
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
					view, err = f.View()
					must(t, err)
					held = m.clone()
				case rng.IntN(3) == 0:
					checkView(t, view, held)
					view.Release()
					held = nil
				}
				before, err := f.DeadBytes()
				must(t, err)
				must(t, f.Compact(context.Background()))
				m.check(t, f, rng)
				if held != nil {
					checkView(t, view, held)
				}
				dead, err := f.DeadBytes()
				must(t, err)
				if s, ok := f.store.(*contiguous); ok {
					if size := fileSize(t, f.path); dead != 0 || size != f.Info().FrameLen || size != live(t, f) {
						t.Fatalf("%d dead bytes of %d before, %d after, in a file of %d with %d live", before, size, dead, size, live(t, f))
					}
					if len(s.space) != 0 {
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

// TestCompactSize measures what Compact gives back, against a copy.
func TestCompactSize(t *testing.T) {
	dir := t.TempDir()
	name, real := filepath.Join(dir, "link"), filepath.Join(dir, "real")
	f, err := Create(real, &Options{NoSync: true, CParams: chunk.CParams{TypeSize: 4}}, nil)
	must(t, err)
	for i := range 200 {
		must(t, f.Append(small(i)))
	}
	must(t, f.Close())
	must(t, os.Chmod(real, 0o640))
	before, err := os.Stat(real) // not every system knows permissions
	must(t, err)
	must(t, os.Symlink("real", name))
	f, err = Edit(name, nil)
	must(t, err)
	defer f.Close()
	b, err := f.Begin(context.Background())
	must(t, err)
	for range 100 {
		must(t, b.DeleteChunk(50))
	}
	must(t, b.Commit())
	all := content(t, f)
	had := fileSize(t, name)
	dead, err := f.DeadBytes()
	must(t, err)
	must(t, f.Compact(context.Background()))
	size := fileSize(t, real)
	plain, err := f.AppendTo(nil)
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
		t.Errorf("left behind: %v", files)
	}
	if got := content(t, f); !bytes.Equal(got, all) {
		t.Error("other content")
	}
}

// TestCompactSparse removes the files that edits which were cut short have left, and no others.
func TestCompactSparse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	f, err := Create(dir, &Options{Sparse: true, NoSync: true}, func(b *Batch) error { return errors.Join(b.Append(small(1)), b.Append(small(2))) })
	must(t, err)
	defer f.Close()
	for _, x := range []string{"000000FF.chunk", indexFile + ".tmp", "notes.txt", "1.chunk", "0000000a.chunk"} {
		must(t, os.WriteFile(filepath.Join(dir, x), make([]byte, 100), 0o666))
	}
	view, err := f.View()
	must(t, err)
	must(t, f.Update(0, small(3)))
	if dead, err := f.DeadBytes(); err != nil || dead <= 500 {
		t.Errorf("%d dead bytes: %v", dead, err)
	}
	must(t, f.Compact(context.Background()))
	want := []string{"00000000.chunk", "00000001.chunk", "00000002.chunk", "0000000a.chunk", "1.chunk", indexFile, "notes.txt"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	view.Release()
	must(t, f.Compact(context.Background()))
	if got := names(t, dir); !slices.Equal(got, want[1:]) {
		t.Errorf("%v, want %v", got, want[1:])
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
	mem, err := CreateMemory(nil, nil)
	must(t, err)
	must(t, mem.Append(small(1)))
	if err := mem.Compact(ctx); !errors.Is(err, ErrParam) {
		t.Errorf("a frame in memory: %v", err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	b, err := mem.AppendTo(make([]byte, 100))
	must(t, err)
	must(t, os.WriteFile(name, b, 0o666))
	at, err := Edit(name, &Options{Offset: 100})
	must(t, err)
	if err := at.Compact(ctx); !errors.Is(err, ErrParam) {
		t.Errorf("a frame at an offset: %v", err)
	}
	must(t, at.Close())
	must(t, os.WriteFile(name, b[100:], 0o666))
	f, err := Open(name, nil)
	must(t, err)
	if err := f.Compact(ctx); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a frame opened for reading: %v", err)
	}
	must(t, f.Close())
	if err := f.Compact(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed frame: %v", err)
	}
	f, err = Edit(name, nil)
	must(t, err)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.Compact(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	must(t, f.Append(small(2)))
	must(t, f.Close())
	b = bytes.Clone(b[100:])
	b[firstChunk(t, b)+12] ^= 0x80 // the stored size of the chunk
	must(t, os.WriteFile(name, b, 0o666))
	f, err = Edit(name, nil)
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
	f, err := Create(name, &Options{NoSync: true, ChunkSize: 160, Concurrency: 1, CParams: chunk.CParams{TypeSize: 4, Codec: chunk.CodecFromCode(1)}}, nil)
	must(t, err)
	for i := range 50 {
		must(t, f.Append(small(i)))
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
				if got, err := f.ReadChunk(nil, i); err != nil || !bytes.Equal(got[4:], small(i)[4:]) {
					t.Errorf("chunk %d: %v", i, err)
					return
				}
				p := make([]byte, 160)
				if _, err := f.ReadAt(p, int64(160*i)); err != nil || !bytes.Equal(p[4:], small(i)[4:]) {
					t.Errorf("bytes of chunk %d: %v", i, err)
					return
				}
			}
		})
	}
	for i := range 150 {
		p := small(i % 50)
		p[0] = byte(i)
		must(t, f.Update(i%50, p))
		if i%3 == 0 {
			must(t, f.Compact(context.Background()))
		}
	}
	close(stop)
	wg.Wait()
	must(t, f.Append(small(1)))
	c := f.store.(*contiguous)
	if len(c.pending) != 0 {
		t.Errorf("%d old states are kept", len(c.pending))
	}
	must(t, f.Close())
}
