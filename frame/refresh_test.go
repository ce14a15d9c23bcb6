package frame

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
)

// TestRefresh follows random edits through another handle, with and without locking.
func TestRefresh(t *testing.T) {
	for _, kind := range []string{"file", "sparse", "offset"} {
		for seed := range uint64(4) {
			common := []int{0, 64}[seed%2]
			f, _ := modelFrame(t, kind, common)
			o := f.Options()
			o.Mmap = seed >= 2
			g, err := Open(f.Path(), &o)
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
				if _, err := g.Refresh(); err != nil {
					t.Fatal(kind, err)
				}
				m.check(t, g, rng)
				if c, err := g.Refresh(); err != nil || c {
					t.Fatal("nothing has changed", kind, c, err)
				}
				if c, err := f.Refresh(); err != nil || c {
					t.Fatal("nothing but its own commit", kind, c, err)
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
		o := f.Options()
		g, err := Edit(f.Path(), &o)
		must(t, err)
		rng := rand.New(rand.NewPCG(1, 34))
		m := &model{chunkSize: 64}
		for i := range 60 {
			h := []*Frame{f, g}[i%2]
			_, err := h.Refresh()
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

// TestRefreshReplaced puts other files in the place of a frame.
func TestRefreshReplaced(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	create := func(o Options, n int) *Frame {
		o.NoSync, o.Overwrite, o.CParams.TypeSize = true, true, max(o.CParams.TypeSize, 4)
		f, err := Create(name, &o, func(b *Batch) error { return b.Append(stamped(n, n)) })
		must(t, err)
		must(t, f.Close())
		return f
	}
	create(Options{}, 10)
	f, err := Open(name, nil)
	must(t, err)
	defer f.Close()
	v, err := f.View()
	must(t, err)
	create(Options{}, 20)
	if c, err := f.Refresh(); err != nil || !c || f.NBytes() != 80 {
		t.Fatal(c, err, f.Info())
	}
	verify(t, f)
	old := make([]byte, 40)
	must(t, f.readRange(t.Context(), v.s, old, 0))
	if !slices.Equal(old, stamped(10, 10)) {
		t.Error("the state that is held has changed")
	}
	v.Release()
	e, err := Edit(name, nil)
	must(t, err)
	must(t, e.Append(stamped(21, 20)))
	must(t, e.Compact(t.Context()))
	must(t, e.Close())
	if c, err := f.Refresh(); err != nil || !c || f.NumChunks() != 2 {
		t.Fatal("after Compact:", c, err, f.Info())
	}
	if c, err := f.Refresh(); err != nil || c {
		t.Fatal(c, err)
	}
	create(Options{CParams: chunk.CParams{TypeSize: 8}}, 10)
	if _, err := f.Refresh(); !errors.Is(err, ErrChanged) || f.NumChunks() != 2 {
		t.Error(err)
	}
	verify(t, f)
	must(t, os.WriteFile(name, []byte("something else"), 0o666))
	if _, err := f.Refresh(); err == nil {
		t.Error("no frame, no error")
	}
	must(t, os.Remove(name))
	if _, err := f.Refresh(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	verify(t, f) // the state before is still there
}

// TestRefreshTorn refreshes while the file is cut or half written: an error, and the state before.
func TestRefreshTorn(t *testing.T) {
	f, _ := modelFrame(t, "file", 64)
	must(t, f.Append(stamped(1, 16)))
	must(t, f.Append(stamped(2, 16)))
	good, err := os.ReadFile(f.Path())
	must(t, err)
	g, err := Open(f.Path(), nil)
	must(t, err)
	defer g.Close()
	must(t, f.Append(stamped(3, 16)))
	must(t, f.Close())
	next, err := os.ReadFile(f.Path())
	must(t, err)
	for _, cut := range []int{0, 50, 87, 100, len(good) - 1} {
		must(t, os.WriteFile(g.Path(), good[:cut], 0o666))
		if _, err := g.Refresh(); err == nil || g.NumChunks() != 2 {
			t.Errorf("%d bytes: %v", cut, err)
		}
	}
	must(t, os.WriteFile(g.Path(), next, 0o666))
	if c, err := g.Refresh(); err != nil || !c || g.NumChunks() != 3 {
		t.Error(c, err, g.Info())
	}
	verify(t, g)
}

func BenchmarkRefresh(b *testing.B) {
	for _, chunks := range []int{10, 10000} {
		for _, locking := range []bool{false, true} {
			name := "plain"
			if locking {
				name = "locking"
			}
			b.Run(name+"/"+map[int]string{10: "10", 10000: "10000"}[chunks], func(b *testing.B) {
				o := &Options{Locking: locking, NoSync: true, CParams: chunk.CParams{TypeSize: 4}}
				f, err := Create(filepath.Join(b.TempDir(), "x"), o, func(bt *Batch) error {
					for i := range chunks {
						if err := bt.Append(stamped(i, 10)); err != nil {
							return err
						}
					}
					return nil
				})
				must(b, err)
				defer f.Close()
				b.ReportAllocs()
				b.SetBytes(f.snap.Load().tail().Len())
				for b.Loop() {
					if _, err := f.Refresh(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
