package frame

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wasteful makes a frame on a simulated disk with much that Compact gives back, closed.
func wasteful(t testing.TB, sparse bool) (*simSystem, *model, *rand.Rand) {
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
		must(t, f.edit(func(b *Batch) error { return b.Insert(i, p) }))
	}
	must(t, f.Close())
	if sparse { // what a commit that was cut short leaves
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
func leftovers(s *simSystem, f *Frame) (list []string) {
	named := []string{indexFile}
	for _, e := range f.snap.Load().index.list {
		if e >= 0 {
			named = append(named, chunkFile(int64(e)))
		}
	}
	for name := range s.image[0].dir {
		if name != "x" {
			list = append(list, name)
		}
	}
	for name := range s.image[s.image[0].dir["x"]].dir {
		if !slices.Contains(named, name) {
			list = append(list, "x/"+name)
		}
	}
	return list
}

// TestCompactErrors lets each single call of the system fail while a frame is compacted, or all from one on: the stored
// frame, and the open one, hold what they held. An edit after that works, or says that the frame must be opened again.
// Compacting once more leaves nothing behind but a new file whose removal failed, too.
func TestCompactErrors(t *testing.T) {
	leaks(t)
	kinds := map[string]int{}
	for _, sparse := range []bool{false, true} {
		for _, forever := range []bool{false, true} {
			for failAt := 1; ; failAt++ {
				s, m, rng := wasteful(t, sparse)
				f, err := Edit("x", &Options{sys: s, Concurrency: 1})
				must(t, err)
				s.calls, s.failAt, s.short, s.forever, s.failed = 0, failAt, failAt%2 == 0, forever, ""
				err = f.Compact(t.Context())
				failed := s.failed
				s.failAt, s.forever = 0, false
				what := fmt.Sprintf("sparse %v, forever %v, call %d, a %s", sparse, forever, failAt, failed)
				kinds[failed]++
				if err != nil && !errors.Is(err, errDisk) || err != nil && failed == "" {
					t.Fatalf("%s: %v", what, err)
				}
				stored := func(models ...*model) {
					t.Helper()
					g, err := Open("x", &Options{sys: s})
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
				if err := f.edit(func(b *Batch) error { return b.Insert(0, p) }); err == nil {
					m = next
				} else if !errors.Is(err, errDisk) || f.broken == nil {
					t.Fatalf("%s: an edit: %v", what, err)
				}
				stored(m)
				m.check(t, f, rng)
				must(t, f.Close())
				f, err = Edit("x", &Options{sys: s, Concurrency: 1})
				must(t, err)
				must(t, f.Compact(t.Context()))
				m.check(t, f, rng)
				if list := leftovers(s, f); len(list) > 0 && (sparse || !forever || len(list) > 1) {
					t.Fatalf("%s: left behind: %v", what, list)
				}
				if dead, err := f.DeadBytes(); err != nil || dead != 0 {
					t.Fatalf("%s: %d dead bytes: %v", what, dead, err)
				}
				must(t, f.Close())
				if s.opened != 0 {
					t.Fatalf("%s: %d files are open", what, s.opened)
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

// TestCompactStopped stops the process before each change of the disk that Compact makes, or the power: the frame is
// the old or the new one. Compacting again gives all back, but for the new file under its temporary name, which
// nothing opens.
func TestCompactStopped(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		s, m, rng := wasteful(t, sparse)
		before := s.image.clone()
		s.log = nil
		f, err := Edit("x", &Options{sys: s, Concurrency: 1})
		must(t, err)
		must(t, f.Compact(t.Context()))
		must(t, f.Close())
		tried := crashFiles(t, rng, before, s.log, 0, m, m, "power cut")
		sizes := map[int64]bool{}
		for n := range len(s.log) + 1 {
			image := before.clone()
			for _, o := range s.log[:n] {
				o.apply(image, false, rng)
			}
			after := simOn(image)
			f, err := Edit("x", &Options{sys: after, Concurrency: 1})
			must(t, err)
			if err := heldBy(f, m); err != nil {
				t.Fatalf("sparse %v, stopped after %d changes: %v", sparse, n, err)
			}
			sizes[f.Info().FrameLen] = true
			must(t, f.Compact(t.Context()))
			must(t, f.Append(randomBytes(rng, 64)))
			for _, name := range leftovers(after, f) {
				if sparse || !strings.HasPrefix(name, "x.") {
					t.Errorf("sparse %v, stopped after %d changes: %s is left", sparse, n, name)
				}
			}
			must(t, f.Close())
			if after.opened != 0 {
				t.Fatalf("%d files are open", after.opened)
			}
		}
		if !sparse && len(sizes) != 2 {
			t.Errorf("frames of %v bytes, want the old and the new", sizes)
		}
		t.Logf("sparse %v: %d changes, %d crashes", sparse, len(s.log), tried)
	}
}

// TestCompactLocked compacts a frame that another handle with locking has open: it reads on, and what it edits is
// in the new file.
func TestCompactLocked(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *Options) {
		f, other := reopen(t, name, o), reopen(t, name, o)
		must(t, f.edit(func(b *Batch) error { return errors.Join(b.Append(stamped(1, 10)), b.Append(stamped(2, 10))) }))
		for i := range 3 {
			must(t, f.edit(func(b *Batch) error { return b.DeleteChunk(0) }))
			must(t, f.Append(stamped(10+i, 10)))
			must(t, f.Compact(t.Context()))
			if got, err := other.ReadChunk(nil, 1); err != nil || int(got[4]) != 10+i {
				t.Fatalf("after Compact: %v, %v", got, err)
			}
			must(t, other.Update(1, stamped(20+i, 10)))
			if got, err := f.ReadChunk(nil, 1); err != nil || int(got[4]) != 20+i {
				t.Fatalf("after an edit of the other: %v, %v", got, err)
			}
			must(t, other.Compact(t.Context()))
			verify(t, f)
		}
		files, err := filepath.Glob(name + "*")
		must(t, err)
		if len(files) > 2 { // the frame and perhaps the lock
			t.Errorf("left behind: %v", files)
		}
	})
}
