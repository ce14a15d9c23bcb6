package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/meta"
)

// longFrame makes a disk with a frame whose header is 1,000 bytes and more, and the frame opened for editing.
func longFrame(t testing.TB, base int64) (*disk, *Frame, *model) {
	t.Helper()
	m := &model{chunkSize: 64}
	for i, n := range []int{1, 380, 70, 500} {
		m.meta = append(m.meta, meta.Layer{Name: fmt.Sprint("long", i), Content: bytes.Repeat([]byte{byte(i)}, n)})
	}
	f, err := Create(t.Context(), "", &CreateOptions{Params: chunk.Params{TypeSize: 4, Codec: codec.FromCode(1)}, ChunkSize: 64, Meta: m.meta})
	must(t, err)
	b, err := appendTo(f, make([]byte, base))
	must(t, err)
	d := &disk{}
	_, err = d.Memory.WriteAt(b, 0)
	must(t, err)
	f, err = EditStorage(t.Context(), window{d, base}, &OpenOptions{Concurrency: 1})
	must(t, err)
	return d, f, m
}

// editLong changes some of the long metalayers and, perhaps, chunks and variable-length metalayers, in one commit.
func editLong(t testing.TB, rng *rand.Rand, f *Frame, m *model) *model {
	t.Helper()
	b, err := f.Begin(context.Background())
	must(t, err)
	defer b.Rollback()
	next := m.clone()
	for range rng.IntN(3) {
		l := next.meta[rng.IntN(4)]
		p := randomBytes(rng, len(l.Content))
		must(t, b.SetMeta(l.Name, p))
		next.meta = set(next.meta, l.Name, p)
	}
	if rng.IntN(2) == 0 {
		p := randomBytes(rng, 64)
		must(t, b.Append(t.Context(), p))
		next.insert(len(next.chunks), p)
	}
	if rng.IntN(4) == 0 {
		p := randomBytes(rng, 9)
		must(t, b.SetVLMeta("v", p))
		next.vlmeta = set(next.vlmeta, "v", p)
	}
	must(t, b.Commit())
	return next
}

// TestCrashLongHeader is TestCrash for frames whose header is longer than a sector, or crosses one as the frame is
// not at the start of its file: a torn header must be recovered, by opening for reading and for editing.
func TestCrashLongHeader(t *testing.T) {
	for _, base := range []int64{0, 460, 512, 777} {
		t.Run(fmt.Sprint(base), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(base), 6))
			d, f, m := longFrame(t, base)
			var found torn
			before := slices.Clone(d.Memory.Bytes())
			commits := 16
			if testing.Short() {
				commits = 4
			}
			for range commits {
				var view engine.View
				if rng.IntN(4) == 0 {
					var err error
					view, err = f.Engine().View(t.Context())
					must(t, err)
				}
				next := editLong(t, rng, f, m)
				found.crash(t, rng, before, d.log, base, m, next)
				m = next
				if view != nil {
					view.Release()
				}
				if g, err := storage.FindJournal(window{d, base}, int64(len(d.Memory.Bytes()))-base); g != nil || err != nil {
					t.Fatalf("a guard after the commit: %v", err)
				}
				before, d.log = slices.Clone(d.Memory.Bytes()), nil
			}
			t.Logf("%+v", found)
			if found.header == 0 || found.mended == 0 || found.states < 60*commits {
				t.Error("too few torn headers")
			}
		})
	}
}

// torn counts what TestCrashLongHeader has seen.
type torn struct {
	states, header, mended int
}

// crash is like the function of this name, for a frame at base.
func (c *torn) crash(t *testing.T, rng *rand.Rand, before []byte, log []op, base int64, old, next *model) {
	t.Helper()
	synced := 0
	for n := 0; n <= len(log); n++ {
		for try := range 10 {
			m := NewMemory(slices.Clone(before))
			for i, o := range log[:n] {
				if i >= synced && (try == 1 || try > 2 && rng.IntN(2) == 0) {
					continue // lost
				}
				o.apply(m, i >= synced && try > 1, rng)
			}
			c.states++
			c.check(t, m, base, old, next)
		}
		if n < len(log) && log[n].sync {
			synced = n + 1
		}
	}
}

// check opens the bytes that a crash left: for reading, for editing, and again for reading.
func (c *torn) check(t *testing.T, m *Memory, base int64, old, next *model) {
	t.Helper()
	size, _ := m.Size()
	g, err := storage.FindJournal(window{m, base}, size-base)
	must(t, err)
	if g != nil && g.Torn {
		c.header++
	}
	kept := slices.Clone(m.Bytes())
	if base == 0 {
		must(t, holds(m.Bytes(), old, next))
		if !bytes.Equal(m.Bytes(), kept) {
			t.Fatal("opening for reading has written")
		}
	}
	f, err := EditStorage(t.Context(), window{m, base}, &OpenOptions{Concurrency: 1})
	must(t, err)
	must(t, heldBy(f, old, next))
	if g != nil && g.Torn {
		c.mended++
		if again, err := storage.FindJournal(window{m, base}, int64(len(m.Bytes()))-base); again != nil || err != nil {
			t.Fatalf("the guard is still there: %v", err)
		}
		must(t, heldBy(f, next))
	}
	must(t, f.Append(t.Context(), make([]byte, 64)))
	must(t, f.Close())
	f, err = OpenReaderAt(t.Context(), window{m, base}, int64(len(m.Bytes()))-base, &OpenOptions{Concurrency: 1})
	must(t, err)
	verify(t, f)
}

// TestGuardErrors lets each call of commits with long headers fail. The open frame must not change, and the stored
// bytes must open as the state before or after the commit.
func TestGuardErrors(t *testing.T) {
	failures := 0
	for seed := range uint64(8) {
		for failAt := 1; ; failAt++ {
			rng := rand.New(rand.NewPCG(seed, 10))
			d, f, m := longFrame(t, 0)
			must(t, f.Append(t.Context(), make([]byte, 64)))
			m.insert(0, make([]byte, 64))
			d.calls, d.failAt, d.short, d.forever = 0, failAt, failAt%2 == 0, seed%3 == 0
			next := m.clone()
			for _, i := range []int{1, 3} {
				p := randomBytes(rng, len(m.meta[i].Content))
				p[0], p[len(p)-1] = 99, byte(seed)
				next.meta = set(next.meta, m.meta[i].Name, p)
			}
			b, err := f.Begin(context.Background())
			must(t, err)
			for _, l := range next.meta {
				must(t, b.SetMeta(l.Name, l.Content))
			}
			err = b.Commit()
			b.Rollback()
			if d.failed == "" {
				must(t, err)
				break
			}
			failures++
			if err == nil {
				m = next
			}
			d.failAt, d.forever = 0, false
			must(t, heldBy(f, m))
			must(t, holds(d.Memory.Bytes(), m, next))
			if f.Append(t.Context(), make([]byte, 64)) == nil {
				m.insert(1, make([]byte, 64))
				must(t, holds(d.Memory.Bytes(), m))
			}
		}
	}
	if failures < 8*7 {
		t.Errorf("%d failures", failures)
	}
}

// TestTornNoSync opens a frame when another process, which does not sync, has written half of a long header.
func TestTornNoSync(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.b2frame")
	sys := &tornSystem{System: storage.OS()}
	content := func(n byte) []byte { return bytes.Repeat([]byte{n}, 600) }
	layers := []meta.Layer{{Name: "a", Content: content(1)}, {Name: "b", Content: content(1)}}
	f, err := Create(t.Context(), name, &CreateOptions{ChunkSize: 40, Meta: layers, NoSync: true})
	must(t, err)
	must(t, f.Append(t.Context(), stamped(1, 10)))
	must(t, f.Close())
	f, err = Edit(t.Context(), name, &OpenOptions{NoSync: true, sys: sys})
	must(t, err)
	defer f.Close()
	b, err := f.Begin(t.Context())
	must(t, err)
	must(t, errors.Join(b.SetMeta("a", content(2)), b.SetMeta("b", content(2))))
	opened := 0
	sys.half = func() {
		opened++
		g, err := Open(t.Context(), name, nil)
		must(t, err)
		defer g.Close()
		if m := g.Meta(); m[0].Content[0] != m[1].Content[0] {
			t.Errorf("metalayers of two commits: %d and %d", m[0].Content[0], m[1].Content[0])
		}
	}
	must(t, b.Commit())
	if opened != 1 {
		t.Errorf("%d headers were written", opened)
	}
}

// tornSystem calls half when a half of a header is written.
type tornSystem struct {
	storage.System
	half func()
}

func (s *tornSystem) Open(name string, flag int, mode fs.FileMode) (storage.File, error) {
	f, err := s.System.Open(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return tornFile{f, s}, nil
}

type tornFile struct {
	storage.File
	sys *tornSystem
}

func (f tornFile) WriteAt(p []byte, off int64) (int, error) {
	if off == 0 {
		if _, err := f.File.WriteAt(p[:len(p)/2], 0); err != nil {
			return 0, err
		}
		f.sys.half()
	}
	return f.File.WriteAt(p, off)
}

// TestGuardForeign opens frames with a guard that is broken, of another header, or at another place: it must not count.
func TestGuardForeign(t *testing.T) {
	d, f, m := longFrame(t, 0)
	must(t, f.Append(t.Context(), make([]byte, 64)))
	m.insert(0, make([]byte, 64))
	d.log = nil
	m.meta = set(m.meta, "long3", bytes.Repeat([]byte{7}, 500))
	must(t, one(f).SetMeta("long3", bytes.Repeat([]byte{7}, 500)))
	i := slices.IndexFunc(d.log, func(o op) bool { return bytes.HasSuffix(o.data, []byte(storage.JournalMagic)) })
	if i < 0 {
		t.Fatal("no guard was written")
	}
	plain, g := d.Memory.Bytes(), d.log[i].data // the guard started where the file ends now
	half := (len(g) - storage.JournalSuffix) / 2
	mixed := slices.Concat(g[:900], g[half+900:2*half])
	frame := slices.Concat(mixed, plain[half:])
	torn := func(b []byte) bool {
		g, err := storage.FindJournal(NewMemory(b), int64(len(b)))
		must(t, err)
		return g != nil && g.Torn
	}
	sound := slices.Concat(frame, g)
	if !torn(sound) {
		t.Fatal("a torn header is not seen")
	}
	must(t, holds(sound, m))
	name := filepath.Join(t.TempDir(), "torn")
	must(t, os.WriteFile(name, sound, 0o666))
	f, err := Open(t.Context(), name, nil)
	must(t, err)
	must(t, heldBy(f, m))
	if changed, err := f.Refresh(t.Context()); changed || err != nil {
		t.Error("refreshed:", changed, err)
	}
	must(t, f.Close())
	for i := range g {
		b := slices.Clone(sound)
		b[len(frame)+i] ^= 1 << (i % 8)
		if torn(b) {
			t.Errorf("a guard with another byte %d counts", i)
		}
	}
	for i := range half {
		b := slices.Clone(sound)
		b[i] = g[i] + 1
		if b[i] != g[half+i] && torn(b) {
			t.Errorf("a guard counts for a header with another byte %d", i)
		}
	}
	for what, b := range map[string][]byte{
		"moved": slices.Concat(frame, make([]byte, 8), g), "cut": sound[:len(sound)-1], "followed": append(slices.Clone(sound), 0),
		"not torn": slices.Concat(plain, g), "old": slices.Concat(g[:half], plain[half:], g),
	} {
		if torn(b) {
			t.Errorf("a guard that is %s counts", what)
		}
	}
	for n := range sound { // truncated at any byte: no panic
		torn(sound[:n])
	}
}

// BenchmarkSetMeta commits changes of metalayers.
func BenchmarkSetMeta(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			name := b.TempDir() + "/x"
			p := make([]byte, n)
			f, err := Create(b.Context(), name, &CreateOptions{Meta: []meta.Layer{{Name: "m", Content: p}}})
			must(b, err)
			defer f.Close()
			b.ReportAllocs()
			for b.Loop() {
				p[n-1]++
				must(b, one(f).SetMeta("m", p))
			}
		})
	}
}

// small returns the i-th of many small chunks that do not compress to nothing.
func small(i int) []byte {
	p := make([]byte, 160)
	for k := range 40 {
		binary.LittleEndian.PutUint32(p[4*k:], uint32(i*i+k*k*7919))
	}
	return p
}

// live returns how many bytes of a frame are in use.
func live(t testing.TB, f *Frame) int64 {
	s := f.snap.Load()
	n := s.tail().Len() + int64(s.headerLen)
	for i := range s.index.n {
		info, err := f.ChunkInfo(t.Context(), i)
		must(t, err)
		n += int64(info.CBytes)
	}
	return n
}

// TestSpaceAppend appends many small chunks, one commit each, in one go, while a reader uses an early state, and with
// opening the frame for each: the dead space that is left must stay within bounds.
func TestSpaceAppend(t *testing.T) {
	for _, c := range []struct {
		chunks  int
		reopen  int     // number of commits after which the frame is opened again
		most    float64 // size, as a multiple of the live bytes
		doesUpd bool    // replace chunks, too
		held    bool    // a reader uses an early state
	}{
		{10000, 0, 1.6, false, false},
		{3000, 0, 1.6, false, true},
		{400, 0, 1.6, true, true},
		{600, 1, 2, false, false},
		{600, 7, 2, false, false},
		{400, 0, 1.6, true, false},
		{400, 1, 2, true, false},
	} {
		t.Run(fmt.Sprintf("%d-reopen-%d-update-%v-held-%v", c.chunks, c.reopen, c.doesUpd, c.held), func(t *testing.T) {
			if testing.Short() || race.Enabled {
				c.chunks /= 5
			}
			name := filepath.Join(t.TempDir(), "x.b2frame")
			o := &options{Params: chunk.Params{TypeSize: 4, Codec: codec.FromCode(1)}, NoSync: true, Concurrency: 1}
			f, err := Create(t.Context(), name, o.create())
			must(t, err)
			peak := 0.0
			var early *snapshot
			m := &model{chunkSize: len(small(0))}
			for i := range c.chunks {
				must(t, f.Append(t.Context(), small(i)))
				if c.held && i == 9 {
					early, err = f.acquire(t.Context())
					must(t, err)
					for k := range f.NumChunks() {
						data, err := f.ReadChunk(t.Context(), nil, k)
						must(t, err)
						m.insert(k, data)
					}
				}
				if c.doesUpd {
					must(t, one(f).Update(i*7919%(i+1), small(i+1)))
					must(t, one(f).Update(i, small(i)))
				}
				if c.reopen > 0 && i%c.reopen == 0 {
					must(t, f.Close())
					f, err = Edit(t.Context(), name, o.edit())
					must(t, err)
				}
				if i%100 == 99 {
					fi, err := os.Stat(name)
					must(t, err)
					peak = max(peak, float64(fi.Size())/float64(live(t, f)))
					if c.held {
						checkView(t, (*view)(early), m)
						checkSpace(t, f)
					}
				}
			}
			checkSpace(t, f)
			verify(t, f)
			if c.held {
				checkView(t, (*view)(early), m)
				if n := f.store.(*contiguous).pending.Len(); n != 1 {
					t.Errorf("%d old states are kept", n)
				}
				f.unuse(early)
			}
			fi, err := os.Stat(name)
			must(t, err)
			ratio := float64(fi.Size()) / float64(live(t, f))
			t.Logf("%d bytes, %.2f times what is live, at most %.2f times", fi.Size(), ratio, peak)
			if ratio > c.most || peak > 2.5 {
				t.Errorf("%.2f times what is live, at most %.2f; want %.2f", ratio, peak, c.most)
			}
			must(t, f.Close())
		})
	}
}

// TestSpaceSharedChunk edits a frame whose index names one chunk twice, as a writer that finds equal chunks might do.
func TestSpaceSharedChunk(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "x.b2frame")
		f, err := CreateFunc(t.Context(), name, func(b *Batch) error {
			for i := range 3 {
				if err := b.Append(t.Context(), small(i)); err != nil {
					return err
				}
			}
			b.list()[2] = b.list()[0]
			return nil
		}, &CreateOptions{Sparse: sparse, NoSync: true})
		must(t, err)
		must(t, f.Close())
		f, err = Edit(t.Context(), name, &OpenOptions{NoSync: true})
		must(t, err)
		for i := range 20 {
			must(t, one(f).Update(0, small(100+i)))
			must(t, f.Append(t.Context(), small(200+i)))
		}
		if got, err := f.ReadChunk(t.Context(), nil, 2); err != nil || !bytes.Equal(got, small(0)) {
			t.Errorf("sparse %v: the chunk that shared its bytes: %v", sparse, err)
		}
		must(t, f.Close())
	}
}

// TestSpaceSurvey opens a frame with many dead bytes and expects new chunks to go there.
func TestSpaceSurvey(t *testing.T) {
	for _, n := range []int{500, 3000} {
		m := new(Memory)
		f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
			for i := range n {
				if err := b.Append(t.Context(), small(i)); err != nil {
					return err
				}
			}
			return nil
		}, &CreateOptions{Concurrency: 1, Params: chunk.Params{Codec: codec.FromCode(1)}})
		must(t, err)
		b, err := f.Begin(context.Background())
		must(t, err)
		for i := range n / 2 {
			must(t, b.Delete(i))
		}
		must(t, b.Commit())
		_, err = m.WriteAt(f.store.(*contiguous).Bytes.(*Memory).Bytes(), 0)
		must(t, err)
		before, _ := m.Size()
		f, err = EditStorage(t.Context(), m, &OpenOptions{Concurrency: 1})
		must(t, err)
		b, err = f.Begin(context.Background())
		must(t, err)
		for i := range n / 3 {
			must(t, b.Append(t.Context(), small(i)))
		}
		must(t, b.Commit())
		checkSpace(t, f)
		verify(t, f)
		after, _ := m.Size()
		if after > before+before/10 {
			t.Errorf("%d chunks: from %d to %d bytes", n, before, after)
		}
	}
}

// TestSpaceAfterTheFrame rolls back a batch, which leaves free space after the end of the frame, while an old state is
// in use. The next batch fills this space and continues after it. No two chunks of this batch may overlap.
func TestSpaceAfterTheFrame(t *testing.T) {
	f, _ := modelFrame(t, "memory", 200)
	defer f.Close()
	must(t, f.Append(t.Context(), stamped(1, 50)))
	v, err := f.Engine().View(t.Context())
	must(t, err)
	defer v.Release()
	must(t, one(f).Update(0, stamped(2, 50)))
	for _, keep := range []bool{false, true} {
		b, err := f.Begin(context.Background())
		must(t, err)
		for i := range 6 {
			if i < 5 || keep {
				must(t, b.Append(t.Context(), stamped(10+i, 50)))
			}
		}
		if keep {
			must(t, b.Commit())
		} else {
			b.Rollback()
		}
	}
	for i := range 6 {
		got, err := f.ReadChunk(t.Context(), nil, i+1)
		must(t, err)
		if !bytes.Equal(got, stamped(10+i, 50)) {
			t.Errorf("chunk %d has other content", i+1)
		}
	}
	verify(t, f)
}

// TestRefreshLongHeader refreshes a frame with a header of 2 MB.
func TestRefreshLongHeader(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	o := &CreateOptions{ChunkSize: 40, Meta: []meta.Layer{{Name: "long", Content: make([]byte, 2e6)}}}
	f, err := Create(t.Context(), name, o)
	must(t, err)
	defer f.Close()
	g, err := Open(t.Context(), name, nil)
	must(t, err)
	defer g.Close()
	for _, want := range []bool{true, false} {
		if want {
			must(t, f.Append(t.Context(), stamped(1, 10)))
		}
		if changed, err := g.Refresh(t.Context()); changed != want || err != nil {
			t.Errorf("changed %v, %v, want %v", changed, err, want)
		}
	}
}

// TestEmptiedWhileShared empties a frame whose index references a chunk twice, and edits it while the old state is in
// use.
func TestEmptiedWhileShared(t *testing.T) {
	f, err := Create(t.Context(), "", &CreateOptions{Params: chunk.Params{TypeSize: 4}, ChunkSize: 160, Concurrency: 1})
	must(t, err)
	for i := range 3 {
		must(t, f.Append(t.Context(), small(i)))
	}
	must(t, f.edit(t.Context(), func(b *Batch) error {
		b.list()[2] = b.list()[0]
		b.f.store.share()
		return nil
	}))
	s, err := f.acquire(t.Context())
	must(t, err)
	defer f.unuse(s)
	for range 3 {
		must(t, one(f).Delete(0))
	}
	for i := range 5 {
		must(t, one(f).SetVLMeta("x", small(i)))
	}
	must(t, f.Append(t.Context(), small(9)))
	got := make([]byte, 480)
	if err := f.readRange(t.Context(), s, got, 0); err != nil || !bytes.Equal(got, slices.Concat(small(0), small(1), small(0))) {
		t.Errorf("the state in use has changed: %v", err)
	}
	must(t, f.Verify(t.Context(), nil))
}
