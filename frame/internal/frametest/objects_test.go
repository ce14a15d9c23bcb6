package frametest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// TestObjects fills a frame on several goroutines and finishes it at the same time, and writes duplicates. The objects
// must be those of a directory.
func TestObjects(t *testing.T) {
	ctx, want, s := t.Context(), filesOfRegions(t), newStore()
	if len(want) != 5 || len(want["00000002.chunk"]) == 0 {
		t.Fatalf("files %q", slices.Sorted(maps.Keys(want)))
	}
	const hole = 4
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			r, err := layOut("", regionOptions(s))
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for _, i := range rand.New(rand.NewPCG(uint64(g), 0)).Perm(regionCount) {
				if i == hole {
					continue
				}
				if err := r.Write(ctx, i, regionItems(i)); err != nil {
					t.Errorf("chunk %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
	if s.puts != 1+regionCount-1 { // a duplicate leaves the object
		t.Errorf("%d objects were put", s.puts)
	}
	s.objects[chunkFile(-1)] = "not a chunk file"
	r, err := reopen(s)
	must(t, err)
	defer r.Close()
	var missing []int
	for i, err := range r.Missing(ctx) {
		must(t, err)
		missing = append(missing, i)
	}
	if !slices.Equal(missing, []int{hole}) {
		t.Errorf("missing %v", missing)
	}
	for range 2 {
		if err := r.Finish(ctx); !errors.Is(err, frame.ErrUnfinished) || !strings.Contains(err.Error(), "6 of 7 chunks") {
			t.Errorf("one chunk is missing: %v", err)
		}
	}
	must(t, r.Write(ctx, hole, regionItems(0))) // replaced by the next
	must(t, r.Write(ctx, hole, regionItems(hole)))
	if changed, err := r.Layout().Refresh(ctx); changed || err != nil {
		t.Errorf("the layout: %v, %v", changed, err)
	}
	for want, change := range map[string]func(o *frame.CreateOptions){
		"another level":                     func(o *frame.CreateOptions) { o.Params.Level = 9 },
		"another codec":                     func(o *frame.CreateOptions) { o.Params.Codec = codec.Zstd },
		"other filters":                     func(o *frame.CreateOptions) { o.Params.Filters = []chunk.Filter{chunk.BitShuffle} },
		"another item size":                 func(o *frame.CreateOptions) { o.Params.TypeSize = 2 },
		"another value of Checksums":        func(o *frame.CreateOptions) { o.Checksums = !o.Checksums },
		"other options":                     func(o *frame.CreateOptions) { o.Params.Split = chunk.SplitNever },
		"other metalayers":                  func(o *frame.CreateOptions) { o.Meta = append(o.Meta, meta.Layer{Name: "m", Content: []byte{1}}) },
		"other attributes":                  func(o *frame.CreateOptions) { o.VLMeta = append(o.VLMeta, meta.Layer{Name: "v", Content: []byte{1}}) },
		"another shape, dtype, chunk shape": func(o *frame.CreateOptions) { o.Meta = append(o.Meta, meta.Layer{Name: "b2nd", Content: []byte{1}}) },
	} {
		other := regionOptions(s)
		change(other)
		if _, err := layOut("", other); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "an unfinished frame with "+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for range 8 {
		all.Go(func() {
			if err := r.Finish(ctx); err != nil {
				t.Error(err)
			}
			r, err := reopen(s)
			if err == nil {
				err = errors.Join(r.Finish(ctx), r.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	delete(s.objects, chunkFile(-1))
	s.same(t, want)

	late, err := reopen(s)
	must(t, err)
	defer late.Close()
	puts := s.puts
	for _, r := range []*frame.Regions{r, late} {
		for i := range regionCount {
			must(t, r.Write(ctx, i, regionItems(i)))
			if err := r.Write(ctx, i, bytes.Repeat([]byte{99}, len(regionItems(i)))); !errors.Is(err, fs.ErrExist) {
				t.Errorf("other items: %v", err)
			}
		}
		for i, err := range r.Missing(ctx) {
			t.Errorf("missing %d, %v", i, err)
		}
		must(t, r.Finish(ctx))
	}
	if s.puts != puts {
		t.Errorf("%d objects were put after Finish", s.puts-puts)
	}
	if _, err := r.Layout().Refresh(ctx); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the layout after Finish: %v", err)
	}
	if _, err := late.Layout().ReadChunk(ctx, nil, 2); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("the layout of a finished frame: %v", err)
	}
	if _, err := layOut("", regionOptions(s)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a finished frame: %v", err)
	}
	s.same(t, want)

	// Overwrite.
	over := regionOptions(s)
	over.Overwrite = true
	n, err := layOut("", over)
	must(t, err)
	defer n.Close()
	if len(s.objects) != 1 {
		t.Errorf("%d objects after Overwrite", len(s.objects))
	}
	must(t, fill(n))
	s.same(t, want)
}

// TestObjectsFaults lets each call of the store fail, or the process end there, before or after the change. No stored
// chunk is lost, and after another run the objects are those of a directory.
func TestObjectsFaults(t *testing.T) {
	ctx, want := t.Context(), filesOfRegions(t)
	failed := errors.New("the store has failed")
	order := rand.New(rand.NewPCG(1, 1)).Perm(regionCount)
	for _, after := range []bool{false, true} {
		for _, forever := range []bool{false, true} {
			for at := 1; ; at++ {
				s := newStore()
				did := false
				s.do = func(n int, _ string, change func()) error {
					fail := n == at || forever && n > at
					if n == at {
						did = true
					}
					if !fail || after && n == at {
						change()
					}
					if fail {
						return failed
					}
					return nil
				}
				var acked []int
				r, err := layOut("", regionOptions(s))
				if err == nil {
					for _, i := range order {
						e := r.Write(ctx, i, regionItems(i))
						if e == nil {
							acked = append(acked, i)
						}
						err = errors.Join(err, e)
					}
					err = errors.Join(err, r.Finish(ctx), r.Close())
				}
				if err != nil && !errors.Is(err, failed) && !errors.Is(err, frame.ErrUnfinished) {
					t.Fatalf("call %d: %v", at, err)
				}
				s.do = nil
				_, finished := s.objects["chunks.b2frame"]
				for _, i := range acked {
					if _, ok := s.objects[fmt.Sprintf("%08X.chunk", i)]; !ok && !finished {
						t.Fatalf("call %d: chunk %d is lost", at, i)
					}
				}
				r, err = layOut("", regionOptions(s))
				if errors.Is(err, fs.ErrExist) {
					r, err = reopen(s)
				}
				must(t, err)
				must(t, fill(r))
				must(t, r.Close())
				s.same(t, want)
				if !did {
					break // there are no more calls
				}
			}
		}
	}
}

// TestObjectsChecksumError lets a read of a whole chunk fail in Finish: the error names the chunk.
func TestObjectsChecksumError(t *testing.T) {
	failed := errors.New("the store has failed")
	s := newStore()
	r, err := layOut("", regionOptions(s))
	must(t, err)
	defer r.Close()
	for i := range regionCount {
		must(t, r.Write(t.Context(), i, regionItems(i)))
	}
	gets := 0
	s.do = func(_ int, what string, change func()) error {
		if what == "get "+chunkFile(2) {
			if gets++; gets == 2 { // after the header
				return failed
			}
		}
		change()
		return nil
	}
	err = r.Finish(t.Context())
	if e, ok := errors.AsType[*frame.Error](err); !ok || !errors.Is(err, failed) || e.Chunk != 2 {
		t.Error(err)
	}
}

// TestObjectsRaces lets other writers act at the worst moment of a call.
func TestObjectsRaces(t *testing.T) {
	ctx, want := t.Context(), filesOfRegions(t)
	other := func(i int) []byte { return bytes.Repeat([]byte{99}, len(regionItems(i))) }
	run := func(name string, do func(t *testing.T, s *store, r *frame.Regions)) {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			r, err := layOut("", regionOptions(s))
			must(t, err)
			defer r.Close()
			do(t, s, r)
		})
	}
	finish := func(t *testing.T, s *store) func() {
		return func() {
			s.mu.Lock()
			s.do = nil
			s.mu.Unlock()
			r, err := reopen(s)
			if err == nil {
				err = errors.Join(fill(r), r.Close())
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	for i := range 3 { // the chunk of zeros, which Finish removes, is put again
		run(fmt.Sprintf("Finish before chunk %d is put", i), func(t *testing.T, s *store, r *frame.Regions) {
			s.on(fmt.Sprintf("put %08X.chunk", i), finish(t, s))
			must(t, r.Write(ctx, i, regionItems(i)))
			s.same(t, want)
		})
		run(fmt.Sprintf("Finish before other items of chunk %d are put", i), func(t *testing.T, s *store, r *frame.Regions) {
			s.on(fmt.Sprintf("put %08X.chunk", i), finish(t, s))
			if err := r.Write(ctx, i, other(i)); !errors.Is(err, fs.ErrExist) {
				t.Errorf("other items: %v", err)
			}
			s.same(t, want)
		})
	}
	for _, what := range []string{"put 00000000.chunk", "get chunks.b2frame", "remove 00000000.chunk"} {
		for _, after := range []bool{false, true} {
			run(fmt.Sprintf("Finish before chunk 0 is put, and %s fails, after the change %v", what, after), func(t *testing.T, s *store, r *frame.Regions) {
				failed, finished, fails := errors.New("the store has failed"), false, 0
				var do func(_ int, is string, change func()) error
				do = func(_ int, is string, change func()) error {
					if !finished {
						finished = true
						finish(t, s)()
						s.do = do
					}
					if is != what || fails > 0 {
						change()
						return nil
					}
					if fails++; after {
						change()
					}
					return failed
				}
				s.do = do
				if err := r.Write(ctx, 0, regionItems(0)); err != nil {
					if !errors.Is(err, failed) {
						t.Error(err)
					}
					must(t, r.Write(ctx, 0, regionItems(0)))
				}
				if fails != 1 {
					t.Error("no call has failed")
				}
				s.same(t, want)
			})
		}
	}
	run("a late duplicate whose reads fail", func(t *testing.T, s *store, r *frame.Regions) {
		failed := errors.New("the store has failed")
		must(t, fill(r))
		s.do = func(int, string, func()) error { return failed }
		if err := r.Write(ctx, 2, regionItems(2)); !errors.Is(err, failed) || errors.Is(err, fs.ErrExist) {
			t.Errorf("%v, want the error of the store", err)
		}
	})
	run("a write that fails while Finish runs", func(t *testing.T, s *store, r *frame.Regions) {
		failed, puts := errors.New("the store has failed"), 0
		s.do = func(_ int, is string, change func()) error {
			if is == "put 00000002.chunk" {
				if puts++; puts == 1 {
					return failed
				}
				finish(t, s)()
			}
			change()
			return nil
		}
		if err := r.Write(ctx, 2, regionItems(2)); !errors.Is(err, failed) || puts != 1 {
			t.Errorf("%d puts, %v", puts, err)
		}
		must(t, r.Write(ctx, 2, regionItems(2)))
		s.same(t, want)
	})
	run("Finish before a replacement", func(t *testing.T, s *store, r *frame.Regions) {
		must(t, r.Write(ctx, 2, regionItems(2)))
		puts := 0
		s.do = func(_ int, what string, change func()) error {
			if what == "put 00000002.chunk" {
				if puts++; puts == 2 {
					finish(t, s)()
				}
			}
			change()
			return nil
		}
		if err := r.Write(ctx, 2, other(2)); !errors.Is(err, fs.ErrExist) {
			t.Errorf("other items: %v", err)
		}
		if puts != 2 {
			t.Errorf("%d puts", puts)
		}
	})
	t.Run("Finish during CreateRegions", func(t *testing.T) {
		s := newStore()
		s.on("put unfinished.layout", func() {
			s.mu.Lock()
			s.do = nil
			s.mu.Unlock()
			r, err := layOut("", regionOptions(s))
			if err == nil {
				err = errors.Join(fill(r), r.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
		if _, err := layOut("", regionOptions(s)); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a finished frame: %v", err)
		}
		s.same(t, want)
	})
	run("Overwrite before Finish", func(t *testing.T, s *store, r *frame.Regions) {
		o := regionOptions(s)
		o.Overwrite, o.Params.TypeSize = true, 8
		n, err := frame.CreateRegions(ctx, "", regionCount*64-32, o)
		must(t, err)
		defer n.Close()
		for i := range regionCount {
			must(t, n.Write(ctx, i, regionItems(i)))
		}
		if err := r.Finish(ctx); !errors.Is(err, frame.ErrChanged) {
			t.Errorf("another layout: %v", err)
		}
		must(t, n.Finish(ctx))
		if err := r.Finish(ctx); err != nil { // of the frame that is there
			t.Error(err)
		}
	})
	run("a layout that exists but is not found yet", func(t *testing.T, s *store, _ *frame.Regions) {
		hidden := 6
		s.do = func(_ int, what string, change func()) error {
			if hidden > 0 && what == "get unfinished.layout" {
				hidden--
				return fs.ErrNotExist
			}
			change()
			return nil
		}
		r, err := layOut("", regionOptions(s))
		must(t, err)
		must(t, r.Close())
		if hidden > 0 {
			t.Errorf("%d more calls were to fail", hidden)
		}
	})
	run("a damaged chunk", func(t *testing.T, s *store, r *frame.Regions) {
		for i := range regionCount {
			must(t, r.Write(ctx, i, regionItems(i)))
		}
		for what, damaged := range map[string]string{"empty": "", "zeros": string(make([]byte, 40)), "longer": s.objects["00000004.chunk"] + "x"} {
			s.objects["00000004.chunk"] = damaged
			var at *frame.Error
			if err := r.Finish(ctx); !errors.Is(err, frame.ErrCorrupt) || !errors.As(err, &at) || at.Chunk != 4 {
				t.Errorf("%s: %v", what, err)
			}
			for i, err := range r.Missing(ctx) {
				if i != 4 || err != nil {
					t.Errorf("%s: missing %d, %v", what, i, err)
				}
			}
			must(t, r.Write(ctx, 4, regionItems(4)))
		}
		must(t, r.Finish(ctx))
		s.same(t, want)
	})
}

// TestObjectsOptions checks options that do not apply.
func TestObjectsOptions(t *testing.T) {
	ctx, s := t.Context(), newStore()
	name := filepath.Join(t.TempDir(), "x")
	_, named := layOut(name, regionOptions(s))
	_, namedOpen := frame.OpenRegions(ctx, name, &frame.OpenOptions{Objects: s})
	_, open := frame.Open(ctx, name, &frame.OpenOptions{Objects: s})
	_, create := frame.Create(ctx, "", &frame.CreateOptions{Objects: s})
	_, sparse := frame.Create(ctx, "", &frame.CreateOptions{Objects: s, Sparse: true})
	for what, err := range map[string]error{"a name": named, "a name, opened": namedOpen, "Open": open, "Create": create, "Sparse": sparse} {
		if !errors.Is(err, frame.ErrParam) || !strings.Contains(err.Error(), "Objects") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := reopen(s); !errors.Is(err, frame.ErrFormat) {
		t.Errorf("no frame: %v", err)
	}
	if s.puts > 0 {
		t.Errorf("%d objects", s.puts)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := frame.CreateRegions(done, "", 64, regionOptions(s)); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	for _, damaged := range []string{"", "x", string(make([]byte, 200))} {
		s.objects["unfinished.layout"] = damaged
		if _, err := reopen(s); !errors.Is(err, frame.ErrFormat) && !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("a damaged layout: %v", err)
		}
		if _, err := layOut("", regionOptions(s)); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a damaged layout: %v", err)
		}
	}
}
