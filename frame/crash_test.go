package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/meta"
)

var errDisk = simulated.ErrDisk

// op is one thing that was done to a disk.
type op struct {
	off  int64
	data []byte // nil: truncate to off
	sync bool
}

// disk is a Storage that records its calls and fails on request.
type disk struct {
	Memory
	log     []op
	failAt  int  // the number of the call that fails, counted from 1; 0 = none
	short   bool // a failing write writes half of its bytes
	forever bool // all calls after it fail, too
	calls   int
	failed  string
}

// fails counts a call and reports whether it fails.
func (d *disk) fails(what string) bool {
	d.calls++
	if d.calls == d.failAt || d.forever && d.failAt > 0 && d.calls > d.failAt {
		if d.failed == "" {
			d.failed = what
		}
		return true
	}
	return false
}

func (d *disk) WriteAt(p []byte, off int64) (int, error) {
	if d.fails("write") {
		n := 0
		if d.short {
			n = len(p) / 2
			d.Memory.WriteAt(p[:n], off)
		}
		return n, errDisk
	}
	d.log = append(d.log, op{off: off, data: slices.Clone(p)})
	return d.Memory.WriteAt(p, off)
}

func (d *disk) Truncate(size int64) error {
	if d.fails("truncate") {
		return errDisk
	}
	d.log = append(d.log, op{off: size})
	return d.Memory.Truncate(size)
}

func (d *disk) Sync() error {
	if d.fails("sync") {
		return errDisk
	}
	d.log = append(d.log, op{sync: true})
	return nil
}

// diskFrame makes a disk with an empty frame, and the frame opened for editing.
func diskFrame(t testing.TB, common int) (*disk, *Frame, *model) {
	t.Helper()
	f, err := Create(t.Context(), "", &CreateOptions{Params: chunk.Params{TypeSize: 4, Codec: codec.FromCode(1)}, ChunkSize: common})
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	d := &disk{}
	_, err = d.Memory.WriteAt(b, 0)
	must(t, err)
	f, err = EditStorage(t.Context(), d, &OpenOptions{Concurrency: 1})
	must(t, err)
	m := &model{chunkSize: common}
	if common == 0 {
		m.chunkSize = -1
	}
	return d, f, m
}

// edit makes a random batch and commits it. It returns the model of the new state.
func edit(t testing.TB, rng *rand.Rand, f *Frame, m *model, common int) (*model, error) {
	t.Helper()
	b, err := f.Begin(context.Background())
	if err != nil {
		return m, err
	}
	defer b.Rollback()
	next := m.clone()
	for range 1 + rng.IntN(3) {
		step(t, rng, b, next, common)
	}
	return next, b.Commit()
}

// holds returns an error if the frame in b equals none of the models.
func holds(b []byte, models ...*model) error {
	f, err := OpenBytes(b, nil)
	if err != nil {
		return err
	}
	return heldBy(f, models...)
}

// heldBy returns an error if a frame equals none of the models.
func heldBy(f *Frame, models ...*model) error {
	var all bytes.Buffer
	if _, err := io.Copy(&all, f.Content(context.Background())); err != nil {
		return err
	}
	for _, m := range models {
		ok := f.NumChunks() == len(m.chunks) && bytes.Equal(all.Bytes(), m.content()) &&
			fmt.Sprint(f.Meta()) == fmt.Sprint(m.meta) && len(f.VLMetaNames()) == len(m.vlmeta)
		for _, l := range m.vlmeta {
			v, err := f.VLMeta(l.Name)
			ok = ok && err == nil && bytes.Equal(v, l.Content)
		}
		if ok {
			return nil
		}
	}
	return fmt.Errorf("another state: %+v", f.Info())
}

// TestCrash cuts the power after each write of random programs, with any of the writes since the last sync lost or
// torn. The frame must be that before or after the commit that was under way. See TestCrashLongHeader for headers that
// are larger than what a disk writes in one piece.
func TestCrash(t *testing.T) {
	for seed := range uint64(programs(t, 10)) {
		common := []int{64, 0}[seed%2]
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			d, f, m := diskFrame(t, common)
			tried := 0
			before := NewMemory(slices.Clone(d.Memory.Bytes())) // what was synced
			var view engine.View                                // so that space stays in use
			var held *model
			for range 25 {
				if view == nil && rng.IntN(4) == 0 {
					var err error
					view, err = f.Engine().View(t.Context())
					must(t, err)
					held = m
				}
				next, err := edit(t, rng, f, m, common)
				must(t, err)
				tried += crash(t, rng, before.Bytes(), d.log, m, next)
				m = next
				for i := len(d.log) - 1; i >= 0; i-- {
					if d.log[i].sync {
						for _, o := range d.log[:i] {
							o.apply(before, false, rng)
						}
						d.log = slices.Clone(d.log[i+1:])
						break
					}
				}
				if view != nil && rng.IntN(4) == 0 {
					checkView(t, view, held)
					view.Release()
					view = nil
				}
				must(t, holds(d.Memory.Bytes(), m))
			}
			t.Logf("%d crashes", tried)
		})
	}
}

// crash builds contents that a disk may have after a crash at any time in log, and checks them.
func crash(t testing.TB, rng *rand.Rand, before []byte, log []op, old, next *model) int {
	t.Helper()
	synced := 0 // operations that are on disk for sure
	tried := 0
	check := func(m *Memory, models []*model, what string) {
		tried++
		if err := holds(m.Bytes(), models...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	models := []*model{old, next}
	for n := 0; n <= len(log); n++ {
		// All, none, or a random part of the unsynced writes; the last may be torn.
		for try := range 6 {
			m := NewMemory(slices.Clone(before))
			for i, o := range log[:n] {
				if i >= synced && (try == 1 || try > 2 && rng.IntN(2) == 0) {
					continue // lost
				}
				o.apply(m, i >= synced && (try == 2 && i == n-1 || try > 3 && rng.IntN(2) == 0), rng)
			}
			check(m, models, fmt.Sprintf("after %d of %d operations, %d synced, try %d", n, len(log), synced, try))
		}
		if n < len(log) && log[n].sync {
			synced = n + 1
		}
	}
	return tried
}

// apply does an operation again; torn: only some of the sectors of 512 bytes.
func (o op) apply(m *Memory, torn bool, rng *rand.Rand) {
	switch {
	case o.sync:
	case o.data == nil:
		if n, _ := m.Size(); o.off <= n {
			m.Truncate(o.off)
		}
	case !torn:
		m.WriteAt(o.data, o.off)
	default:
		for at := 0; at < len(o.data); {
			end := min(len(o.data), at+512-int(o.off+int64(at))%512)
			if rng.IntN(2) == 0 {
				m.WriteAt(o.data[at:end], o.off+int64(at))
			}
			at = end
		}
	}
}

// TestDiskErrors lets each single call of random programs fail. The open frame must not change. The stored frame must
// be the state before the commit; if the last sync failed, it may be the state after.
func TestDiskErrors(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(60) {
		common := []int{64, 0}[seed%2]
		for failAt := 1; ; failAt++ {
			rng := rand.New(rand.NewPCG(seed, 9))
			d, f, m := diskFrame(t, common)
			must(t, one(f).SetVLMeta("x", []byte("y"))) // not tested here
			m.vlmeta = set(m.vlmeta, "x", []byte("y"))
			for range seed % 3 {
				next, err := edit(t, rng, f, m, common)
				must(t, err)
				m = next
			}
			d.calls, d.failAt, d.short, d.forever = 0, failAt, failAt%2 == 0, seed%3 == 0
			d.failed = ""
			next, err := oneEdit(rng, f, m)
			if d.failed == "" {
				break // the program has no more calls
			}
			kinds[d.failed]++
			if err == nil {
				m = next // it failed when nothing depended on it any more
			} else if !errors.Is(err, errDisk) {
				t.Fatal(err)
			}
			d.failAt, d.forever = 0, false
			m.check(t, f, rng)
			if e := holds(d.Memory.Bytes(), m, next); e != nil {
				t.Fatalf("seed %d, call %d, a %s, %v: %v", seed, failAt, d.failed, err, e)
			}
			next, err = oneEdit(rng, f, m)
			if err == nil {
				m = next
			} else if !errors.Is(err, errDisk) {
				t.Fatalf("an edit after a failure: %v", err)
			} else {
				kinds["poisoned"]++
			}
			m.check(t, f, rng)
			if e := holds(d.Memory.Bytes(), m, next); err == nil && e != nil {
				t.Fatalf("seed %d, after call %d, a %s: %v", seed, failAt, d.failed, e)
			}
		}
	}
	t.Log(kinds)
	for _, k := range []string{"write", "sync", "truncate", "poisoned"} {
		if kinds[k] == 0 {
			t.Errorf("no %s", k)
		}
	}
}

// oneEdit does one edit that writes something.
func oneEdit(rng *rand.Rand, f *Frame, m *model) (*model, error) {
	next := m.clone()
	p := randomBytes(rng, 64)
	n := len(m.chunks)
	switch k := rng.IntN(6); {
	case k < 2 || n == 0 && k < 4:
		next.insert(n, p)
		return next, f.Append(context.Background(), p)
	case k < 3:
		i := rng.IntN(n)
		next.update(i, p)
		return next, one(f).Update(i, p)
	case k < 4:
		b, err := f.Begin(context.Background())
		if err != nil {
			return next, err
		}
		defer b.Rollback()
		for len(next.chunks) > 0 {
			next.chunks = next.chunks[1:]
			if err := b.Delete(0); err != nil {
				return next, err
			}
		}
		return next, b.Commit()
	}
	next.vlmeta = set(next.vlmeta, "v", p)
	return next, one(f).SetVLMeta("v", p)
}

// TestShorterHeader replaces a metalayer of a frame without chunks by a shorter one, and lets the disk fail at each
// call. The frame must have the old or the new metalayer, whether the process is killed or goes on.
func TestShorterHeader(t *testing.T) {
	long := strings.Repeat("A", 700)
	for _, short := range []string{"", strings.Repeat("B", 100), strings.Repeat("B", 600)} {
		for failAt, more := 1, true; more; failAt++ {
			for _, forever := range []bool{false, true} {
				d := &disk{}
				f, err := Create(t.Context(), "", &CreateOptions{Storage: d, Meta: []meta.Layer{{Name: "m", Content: []byte(long)}}})
				must(t, err)
				d.calls, d.failAt, d.forever, d.short = 0, failAt, forever, true
				failure := one(f).SetMeta("m", []byte(short))
				f.Close()
				more = d.failed != ""
				g, err := OpenBytes(d.Memory.Bytes(), nil)
				must(t, err)
				if c := string(g.Meta()[0].Content); c != short && (c != long || failure == nil) {
					t.Errorf("%d bytes, call %d (%s) fails, forever %v: %v; then %d bytes, %.9q", len(short), failAt, d.failed, forever, failure, len(c), c)
				}
			}
		}
	}
}

// TestMemoryModel writes to a Memory and truncates it at random, and compares it with a slice that is copied each time.
func TestMemoryModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var m Memory
	var want []byte
	for range 5000 {
		if r.IntN(8) == 0 {
			want = want[:r.IntN(len(want)+1)]
			if err := m.Truncate(int64(len(want))); err != nil {
				t.Fatal(err)
			}
			continue
		}
		p, off := make([]byte, r.IntN(100)), r.IntN(len(want)+60)
		for i := range p {
			p[i] = byte(1 + r.IntN(255))
		}
		if _, err := m.WriteAt(p, int64(off)); err != nil {
			t.Fatal(err)
		}
		next := make([]byte, max(len(want), off+len(p)))
		copy(next, want)
		copy(next[off:], p)
		want = next
		if !bytes.Equal(m.Bytes(), want) {
			t.Fatalf("%d bytes at %d: wrong content", len(p), off)
		}
	}
}

// recoverRegions fills and finishes the frame of an image after a crash. It returns an error if a chunk is lost whose
// writing has returned, if a reader takes the unfinished frame for another one, or if anything is left over.
func recoverRegions(t testing.TB, m simulated.Image, laidOut, finished bool, acked []int) error {
	s := simulated.On(m)
	f, err := Open(t.Context(), "x", &OpenOptions{sys: s})
	switch {
	case err == nil:
		defer f.Close()
		if err := checkRegions(f); err != nil {
			return fmt.Errorf("open: %w", err)
		}
	case errors.Is(err, fs.ErrNotExist) && !laidOut: // the layout is under way
	case finished || !errors.Is(err, ErrUnfinished):
		return fmt.Errorf("open: %w", err)
	}
	r, err := CreateRegions(t.Context(), "x", regionBytes, regionOptions(s))
	if errors.Is(err, fs.ErrExist) {
		r, err = OpenRegions(t.Context(), "x", &OpenOptions{sys: s})
	}
	if err != nil {
		return err
	}
	defer r.Close()
	for i, err := range r.Missing(t.Context()) {
		if err != nil || slices.Contains(acked, i) {
			return fmt.Errorf("chunk %d is lost, %v", i, err)
		}
		if err := r.Write(t.Context(), i, regionItems(i)); err != nil {
			return err
		}
	}
	if err := r.Finish(t.Context()); err != nil {
		return err
	}
	g, err := Open(t.Context(), "x", &OpenOptions{sys: s})
	if err != nil {
		return err
	}
	defer g.Close()
	if err := checkRegions(g); err != nil {
		return err
	}
	list := leftovers(s, g)
	if laidOut && len(list) > 0 {
		return fmt.Errorf("left over: %q", list)
	}
	return nil
}

// TestRegionsCrash cuts the power at each change of the disk while a frame is laid out, filled and finished, with any
// of the changes since the last sync lost. The frame must be unfinished or finished, with all chunks whose writing has
// returned, and finishing it must succeed.
func TestRegionsCrash(t *testing.T) {
	tried := 0
	for seed := range programs(t, 4) {
		rng := rand.New(rand.NewPCG(uint64(seed), 77))
		s := simulated.New()
		before := s.Image.Clone()
		var r *Regions
		var acked []int
		laidOut, finished := false, false
		step := func(what string, do func() error) {
			start := len(s.Log)
			must(t, do())
			n, err := simulated.Crashes(rng, before, s.Log, start, func(m simulated.Image) error {
				return recoverRegions(t, m, laidOut, finished, acked)
			})
			if err != nil {
				t.Fatalf("program %d, %s: %v", seed, what, err)
			}
			tried += n
		}
		step("layout", func() (err error) {
			r, err = CreateRegions(t.Context(), "x", regionBytes, regionOptions(s))
			return err
		})
		laidOut = true
		for _, i := range append(rng.Perm(regionChunks), rng.IntN(regionChunks)) {
			step("write", func() error { return r.Write(t.Context(), i, regionItems(i)) })
			acked = append(acked, i)
			s.Log = simulated.Synced(before, s.Log)
		}
		step("finish", func() error { return r.Finish(t.Context()) })
		finished = true
		step("the end", func() error { return r.Finish(t.Context()) })
		must(t, r.Close())
		if s.Opened != 0 {
			t.Fatalf("%d files are open", s.Opened)
		}
	}
	t.Logf("%d crashes", tried)
}

// TestRegionsErrors lets each single call of the operating system fail, or this call and all later ones.
func TestRegionsErrors(t *testing.T) {
	kinds := map[string]int{}
	for _, forever := range []bool{false, true} {
		for failAt := 1; ; failAt++ {
			s := simulated.New()
			s.FailAt, s.Forever, s.Short = failAt, forever, failAt%2 == 0
			var acked []int
			r, err := CreateRegions(t.Context(), "x", regionBytes, regionOptions(s))
			laidOut := err == nil
			finished := false
			if laidOut {
				for i := range regionChunks {
					e := r.Write(t.Context(), i, regionItems(i))
					if e == nil {
						acked = append(acked, i)
					}
					err = errors.Join(err, e)
				}
				e := r.Finish(t.Context())
				finished = e == nil
				if err = errors.Join(err, e); s.Failed == "" && err != nil {
					t.Fatal(err)
				}
				r.Close()
			}
			if s.Failed == "" {
				break // there are no more calls
			}
			kinds[s.Failed]++
			if err != nil && !errors.Is(err, simulated.ErrDisk) {
				t.Errorf("call %d, %s: %v", failAt, s.Failed, err)
			}
			if s.Opened != 0 {
				t.Errorf("call %d, %s: %d files are open", failAt, s.Failed, s.Opened)
			}
			s.FailAt = 0
			if err := recoverRegions(t, s.Image, laidOut, finished, acked); err != nil {
				t.Errorf("call %d, %s, forever %v: %v", failAt, s.Failed, forever, err)
			}
		}
	}
	t.Log(kinds)
	for _, k := range []string{"open", "write", "sync", "rename", "remove", "mkdir", "readdir", "stat", "read"} {
		if kinds[k] == 0 {
			t.Errorf("no %s has failed", k)
		}
	}
}

// TestRegionsKilledFinish kills a process in Finish. Another one finishes the frame, and the power fails. No chunk may
// be lost whose writing has returned, and once Finish has returned, the frame is finished.
func TestRegionsKilledFinish(t *testing.T) {
	for killAt, more := 1, true; more; killAt++ {
		s := simulated.New()
		r, err := CreateRegions(t.Context(), "x", regionBytes, regionOptions(s))
		must(t, err)
		var acked []int
		for i := range regionChunks {
			must(t, r.Write(t.Context(), i, regionItems(i)))
			acked = append(acked, i)
		}
		before := s.Image.Clone()
		s.Log, s.Calls, s.FailAt, s.Forever = nil, 0, killAt, true
		r.Finish(t.Context())
		r.Close()
		failed := s.Failed
		more = failed != ""
		s.FailAt = 0
		other, err := OpenRegions(t.Context(), "x", &OpenOptions{sys: s})
		must(t, err)
		start := len(s.Log)
		must(t, other.Finish(t.Context()))
		must(t, other.Close())
		for n := start; n <= len(s.Log); n++ {
			_, err := simulated.Crashes(rand.New(rand.NewPCG(1, 1)), before, s.Log[:n], n, func(m simulated.Image) error {
				return recoverRegions(t, m, true, n == len(s.Log), acked)
			})
			if err != nil {
				t.Errorf("killed before call %d (%s), then after %d of %d changes: %v", killAt, failed, n-start, len(s.Log)-start, err)
				break
			}
		}
	}
}

// TestKilledThenEdit kills a process in an edit or in Compact. The next process edits the frame, then the power fails.
// Neither the edit may be lost nor the frame be damaged.
func TestKilledThenEdit(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		for _, first := range []string{"update", "compact"} {
			for _, second := range []string{"update", "compact"} {
				for killAt := 1; killThenEdit(t, sparse, first, second, killAt); killAt++ {
				}
			}
		}
	}
}

// killThenEdit is a case of TestKilledThenEdit. It reports whether the first process has made that many calls.
func killThenEdit(t *testing.T, sparse bool, first, second string, killAt int) bool {
	ctx := t.Context()
	page := func(c byte) []byte { return bytes.Repeat([]byte{c, c + 1}, 100) }
	edit := func(f *Frame, what string, c byte) error {
		if what == "compact" {
			return f.Compact(ctx)
		}
		return one(f).Update(0, page(c))
	}
	s := simulated.New()
	f, err := Create(ctx, "x", (&options{sys: s, Sparse: sparse}).create())
	must(t, err)
	must(t, errors.Join(f.Append(ctx, page('A')), f.Append(ctx, page('K'))))
	before := s.Image.Clone()
	s.Log, s.Calls, s.FailAt, s.Forever = nil, 0, killAt, true
	edit(f, first, 'B')
	f.Close()
	failed := s.Failed
	s.FailAt, s.Forever = 0, false
	f, err = Edit(ctx, "x", (&options{sys: s}).edit())
	must(t, err)
	allowed, start := "AB", len(s.Log)
	must(t, edit(f, second, 'C'))
	if second == "update" {
		allowed, start = "C", len(s.Log)
	}
	_, err = simulated.Crashes(rand.New(rand.NewPCG(1, 1)), before, s.Log, start, func(m simulated.Image) error {
		g, err := Open(ctx, "x", (&options{sys: simulated.On(m)}).open())
		if err != nil {
			return err
		}
		defer g.Close()
		p, err := g.ReadChunk(ctx, nil, 0)
		if err == nil && !bytes.Contains([]byte(allowed), p[:1]) {
			err = fmt.Errorf("chunk 0 is %c, want one of %s", p[0], allowed)
		}
		return err
	})
	if err != nil {
		t.Errorf("sparse %v, %s killed before call %d (%s), then %s: %v", sparse, first, killAt, failed, second, err)
	}
	return failed != ""
}

// TestKilledWithLocking kills a process in an edit or in Compact. Another one, which has the frame open, perhaps reads
// it, then edits it, and the power fails. Neither the edit may be lost nor the frame be damaged.
func TestKilledWithLocking(t *testing.T) {
	if !storage.CanLock {
		t.Skip("no file locks on this system")
	}
	for _, sparse := range []bool{false, true} {
		for _, first := range []string{"update", "compact"} {
			for _, read := range []bool{false, true} {
				for killAt := 1; killedOther(t, &options{Sparse: sparse, Locking: true}, first, read, killAt); killAt++ {
				}
			}
		}
	}
}

// TestKilledThenRefresh is TestKilledWithLocking without Locking, and with a Refresh in place of the read.
func TestKilledThenRefresh(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		for _, first := range []string{"update", "compact"} {
			for killAt := 1; killedOther(t, &options{Sparse: sparse}, first, true, killAt); killAt++ {
			}
		}
	}
}

// killedOther is a case of TestKilledWithLocking. It reports whether the first process has made that many calls.
func killedOther(t *testing.T, o *options, first string, read bool, killAt int) bool {
	ctx := t.Context()
	page := func(c byte) []byte { return bytes.Repeat([]byte{c, c + 1}, 100) }
	s := simulated.New()
	o.sys = s
	f, err := Create(ctx, "x", o.create())
	must(t, err)
	must(t, errors.Join(f.Append(ctx, page('A')), f.Append(ctx, page('K'))))
	other, err := Edit(ctx, "x", o.edit())
	must(t, err)
	before := s.Image.Clone()
	s.Log, s.Calls, s.FailAt, s.Forever = nil, 0, killAt, true
	if first == "compact" {
		f.Compact(ctx)
	} else {
		one(f).Update(0, page('B'))
	}
	f.Close()
	more := s.Failed != ""
	s.FailAt, s.Forever = 0, false
	if read {
		must(t, readOnce(t, other))
	}
	start := len(s.Log)
	must(t, one(other).Update(0, page('C')))
	for n := start; n <= len(s.Log); n++ { // the power fails after n changes
		_, err = simulated.Crashes(rand.New(rand.NewPCG(1, 1)), before, s.Log[:n], n, func(m simulated.Image) error {
			allowed := "ABC"
			if n == len(s.Log) {
				allowed = "C"
			}
			return beginsWith(t, simulated.On(m), allowed)
		})
		if err != nil {
			t.Errorf("sparse %v, %s killed before call %d (%s), read %v: %v", o.Sparse, first, killAt, s.Failed, read, err)
			break
		}
	}
	must(t, other.Close())
	return more
}

// readOnce lets a handle find what another process has committed.
func readOnce(t *testing.T, f *Frame) error {
	if f.lock == nil {
		_, err := f.Refresh(t.Context())
		return err
	}
	_, err := f.ReadChunk(t.Context(), nil, f.NumChunks()-1)
	return err
}

// beginsWith checks that chunk 0 of the frame x consists of the page of one of the allowed letters.
func beginsWith(t *testing.T, s *simulated.System, allowed string) error {
	g, err := Open(t.Context(), "x", (&options{sys: s}).open())
	if err != nil {
		return err
	}
	defer g.Close()
	p, err := g.ReadChunk(t.Context(), nil, 0)
	if err == nil && !bytes.Contains([]byte(allowed), p[:1]) {
		err = fmt.Errorf("chunk 0 is %c, want one of %s", p[0], allowed)
	}
	return err
}

// TestSettleCost counts the syncs of edits and reads: only the first edit after a commit of another handle needs more.
func TestSettleCost(t *testing.T) {
	if !storage.CanLock {
		t.Skip("no file locks on this system")
	}
	ctx := t.Context()
	s := simulated.New()
	o := &options{sys: s, Locking: true}
	f, err := Create(ctx, "x", o.create())
	must(t, err)
	must(t, f.Append(ctx, make([]byte, 100)))
	g, err := Edit(ctx, "x", o.edit())
	must(t, err)
	syncs := func(what string, want int, do func() error) {
		t.Helper()
		s.Log = nil
		must(t, do())
		got := 0
		for _, c := range s.Log {
			if c.Kind == "sync" {
				got++
			}
		}
		if got != want {
			t.Errorf("%s makes %d syncs, want %d", what, got, want)
		}
	}
	edit := func() error { return one(f).Update(0, make([]byte, 100)) }
	read := func() error { return readOnce(t, f) }
	syncs("an edit", 2, edit)
	syncs("a read", 0, read)
	syncs("an edit after a read", 2, edit)
	must(t, one(g).Update(0, make([]byte, 100)))
	syncs("a read of another state", 0, read)
	syncs("another read", 0, read)
	syncs("an edit of another state", 3, edit) // the file, and 2 as usual
	must(t, g.Compact(ctx))
	syncs("a read of another file", 0, read)
	syncs("an edit of another file", 4, edit) // its name, too
	syncs("an edit after that", 2, edit)
	must(t, errors.Join(f.Close(), g.Close()))
}

// TestTornThenRead lets the disk fail in a commit that changes several sectors of the header. Another handle, which was
// open for editing, reads the frame through the header journal, and ends without a change. The header must be the old
// or the new one after that.
func TestTornThenRead(t *testing.T) {
	for _, locking := range []bool{false, true} {
		if locking && !storage.CanLock {
			continue
		}
		for _, read := range []bool{false, true} {
			for _, then := range []string{"close", "roll back", "roll back twice"} {
				for killAt := 1; tornThenRead(t, locking, read, then, killAt); killAt++ {
				}
			}
		}
	}
}

// tornThenRead is a case of TestTornThenRead. It reports whether the first handle has made that many calls.
func tornThenRead(t *testing.T, locking, read bool, then string, killAt int) bool {
	if !locking && !read && then != "close" {
		return false // without Locking or Refresh, only one handle may edit
	}
	ctx := t.Context()
	s := simulated.New()
	contents := []string{strings.Repeat("A", 1500), strings.Repeat("B", 1500)}
	o := &options{sys: s, Locking: locking, Meta: []meta.Layer{{Name: "m", Content: []byte(contents[0])}}}
	f, err := Create(ctx, "x", o.create())
	must(t, err)
	must(t, f.Append(ctx, make([]byte, 100)))
	other, err := Edit(ctx, "x", o.edit())
	must(t, err)
	s.Calls, s.FailAt, s.Forever, s.Short = 0, killAt, true, true
	one(f).SetMeta("m", []byte(contents[1]))
	f.Close()
	failed := s.Failed
	s.FailAt, s.Forever, s.Short = 0, false, false
	if read {
		must(t, readOnce(t, other))
	}
	for range strings.Count(then, "roll back") + strings.Count(then, "twice") {
		b, err := other.Begin(ctx)
		must(t, err)
		b.Rollback()
	}
	must(t, other.Close())
	g, err := Open(ctx, "x", (&options{sys: s}).open())
	must(t, err)
	defer g.Close()
	if c := string(g.Meta()[0].Content); c != contents[0] && c != contents[1] {
		t.Errorf("locking %v, read %v, %s, killed before call %d (%s): the metalayer is mixed", locking, read, then, killAt, failed)
	}
	return failed != ""
}

// TestOverwriteDirCrash replaces directories, also by a file and by Regions, and a file by a directory. After a power
// failure, the name has the old frame or the new one. If names cannot be exchanged, it may have none, but then the old
// frame has the other name that Create documents.
func TestOverwriteDirCrash(t *testing.T) {
	for _, c := range []struct{ from, to bool }{{true, true}, {true, false}, {false, true}} {
		for _, noExchange := range []bool{false, true} {
			overwriteCrash(t, noExchange, c.from, func(s *simulated.System) error {
				return createWith(t, s, c.to, "new")
			})
		}
	}
	for _, noExchange := range []bool{false, true} {
		overwriteCrash(t, noExchange, true, func(s *simulated.System) error {
			o := regionOptions(s)
			o.Overwrite = true
			r, err := CreateRegions(t.Context(), "x", regionBytes, o)
			if err != nil {
				return err
			}
			return r.Close()
		})
	}
}

// createWith creates a frame with one chunk in place of x.
func createWith(t *testing.T, s *simulated.System, sparse bool, content string) error {
	fill := func(b *Batch) error { return b.Append(t.Context(), []byte(content)) }
	f, err := CreateFunc(t.Context(), "x", fill, (&options{sys: s, Sparse: sparse, Overwrite: true}).create())
	if err != nil {
		return err
	}
	return f.Close()
}

// overwriteCrash is a case of TestOverwriteDirCrash.
func overwriteCrash(t *testing.T, noExchange, sparse bool, replace func(s *simulated.System) error) {
	t.Helper()
	s := simulated.New()
	s.NoExchange = noExchange
	must(t, createWith(t, s, sparse, "old"))
	before := s.Image.Clone()
	s.Log = nil
	must(t, replace(s))
	missing := 0
	for seed := range uint64(20) {
		_, err := simulated.Crashes(rand.New(rand.NewPCG(seed, 1)), before, s.Log, 0, func(m simulated.Image) error {
			name, want := "x", []string{"old", "new"}
			if _, ok := m[0].Dir["x"]; !ok {
				missing++
				for name = range m[0].Dir {
					if strings.HasSuffix(name, ".tmp.old") {
						break
					}
				}
				want = want[:1]
			}
			g, err := Open(t.Context(), name, (&options{sys: simulated.On(m)}).open())
			if errors.Is(err, ErrUnfinished) {
				return nil
			}
			if err != nil {
				return err
			}
			defer g.Close()
			p, err := g.ReadChunk(t.Context(), nil, 0)
			if err == nil && !slices.Contains(want, string(p)) {
				err = fmt.Errorf("%s is %q, want one of %q", name, p, want)
			}
			return err
		})
		must(t, err)
	}
	if noExchange != (missing > 0) {
		t.Errorf("sparse %v, no exchange %v: the name is missing after %d crashes", sparse, noExchange, missing)
	}
	if len(s.Image[0].Dir) != 1 || s.Opened != 0 {
		t.Errorf("files %v, %d are open", s.Image[0].Dir, s.Opened)
	}
}
