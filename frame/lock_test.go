package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
)

// lockable makes a frame of each kind with Locking and calls the test with its name. Two handles of one process act as
// two processes, because locks belong to opened files.
func lockable(t *testing.T, test func(t *testing.T, name string, o *options)) {
	for _, kind := range []string{"contiguous", "sparse"} {
		t.Run(kind, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x.b2frame")
			o := &options{Params: chunk.Params{TypeSize: 4}, ChunkSize: 40, Locking: true, NoSync: true, Sparse: kind == "sparse"}
			f, err := Create(t.Context(), name, o.create())
			if !storage.CanLock {
				if !errors.Is(err, errors.ErrUnsupported) {
					t.Fatal(err)
				}
				return
			}
			must(t, err)
			must(t, f.Close())
			test(t, name, o)
		})
	}
}

func reopen(t testing.TB, name string, o *options) *Frame {
	t.Helper()
	f, err := Edit(t.Context(), name, o.edit())
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestLockFile checks the bytes of the lock file.
func TestLockFile(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *options) {
		f := reopen(t, name, o)
		must(t, f.Append(t.Context(), stamped(1, 10)))
		b, err := os.ReadFile(storage.LockName(name, o.Sparse))
		must(t, err)
		first := binary.NativeEndian.Uint64(b[8:])
		for range 3 {
			must(t, f.Append(t.Context(), stamped(1, 10)))
		}
		bt, err := f.Begin(context.Background())
		must(t, err)
		bt.Rollback()
		b, err = os.ReadFile(storage.LockName(name, o.Sparse))
		must(t, err)
		if n := binary.NativeEndian.Uint64(b[8:]); len(b) != 16 || n != first+4 {
			t.Errorf("%d bytes, counter %d, was %d", len(b), n, first)
		}
		g, err := Open(t.Context(), name, o.open())
		must(t, err)
		if _, err := g.Content(t.Context()).ReadAt(make([]byte, 40), 0); err != nil {
			t.Error(err)
		}
		must(t, g.Close())
		if now, err := os.ReadFile(storage.LockName(name, o.Sparse)); err != nil || !bytes.Equal(now, b) {
			t.Errorf("reading changed the lock file: %v %x", err, now)
		}
	})
}

// TestLockedAppends lets handles append in turn and at the same time; each chunk must be there once, and each handle
// must see all of them.
func TestLockedAppends(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *options) {
		const handles, each = 4, 25
		var frames []*Frame
		var wg sync.WaitGroup
		for h := range handles {
			f := reopen(t, name, o)
			frames = append(frames, f)
			wg.Go(func() {
				for i := range each {
					if err := f.Append(t.Context(), stamped(100*h+i, 10)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for _, f := range frames {
			_, err := f.Refresh(t.Context())
			must(t, err)
			seen := map[uint32]int{}
			for i := range f.NumChunks() {
				b, err := f.ReadChunk(t.Context(), nil, i)
				must(t, err)
				seen[binary.LittleEndian.Uint32(b[4:])]++
			}
			for h := range handles {
				for i := range each {
					if seen[uint32(100*h+i)] != 1 {
						t.Fatalf("chunk %d of handle %d is there %d times", i, h, seen[uint32(100*h+i)])
					}
				}
			}
			verify(t, f)
			checkSpace(t, f)
		}
	})
}

// TestLockedReaders reads whole states through several handles, while two others edit, update and delete. A read may
// fail only with ErrChanged, and only through a handle that edits.
func TestLockedReaders(t *testing.T) {
	const items = 10
	states := 150
	if testing.Short() {
		states = 40
	}
	lockable(t, func(t *testing.T, name string, o *options) {
		stop := make(chan struct{})
		var wg, writers sync.WaitGroup
		var mu sync.Mutex
		reads, changed := 0, 0
		reader := func(f *Frame, edits bool) {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := wholeState(f, items)
				mu.Lock()
				reads++
				if errors.Is(err, ErrChanged) && edits {
					changed, err = changed+1, nil
				}
				mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(100 * time.Microsecond) // locks are not fair
			}
		}
		for range 2 {
			f, err := Open(t.Context(), name, o.open())
			must(t, err)
			defer f.Close()
			wg.Go(func() { reader(f, false) })
		}
		for w := range 2 {
			f := reopen(t, name, o)
			wg.Go(func() { reader(f, true) })
			writers.Go(func() {
				for state := range states {
					if err := replaceAll(f, 100*w+state, (state+3*w)%7, items); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		writers.Wait()
		close(stop)
		wg.Wait()
		t.Logf("%d reads, %d of them disturbed", reads, changed)
		f := reopen(t, name, o)
		verify(t, f)
	})
}

// replaceAll makes a state of n chunks.
func replaceAll(f *Frame, state, n, items int) error {
	b, err := f.Begin(context.Background())
	if err != nil {
		return err
	}
	defer b.Rollback()
	for b.NumChunks() > n {
		if err := b.Delete(b.NumChunks() / 2); err != nil {
			return err
		}
	}
	for i := range b.NumChunks() {
		if err := b.Update(context.Background(), i, stamped(state, items)); err != nil {
			return err
		}
	}
	for b.NumChunks() < n {
		if err := b.Append(context.Background(), stamped(state, items)); err != nil {
			return err
		}
	}
	return b.Commit()
}

// wholeState reads all chunks of a view and checks that they are of one state.
func wholeState(f *Frame, items int) error {
	v, err := f.Engine().View(context.Background())
	if err != nil {
		return err
	}
	defer v.Release()
	all := make([]byte, v.Info().NBytes)
	if err := v.Decode(context.Background(), &rangePlan{s: viewed(v), dst: all}, 1000, 0); err != nil {
		return err
	}
	for i := 4; i < len(all); i += 4 {
		if i%(4*items) != 0 && !bytes.Equal(all[i:i+4], all[4:8]) {
			return fmt.Errorf("states %v and %v in one read", all[4:8], all[i:i+4])
		}
	}
	return nil
}

// TestLockWaits checks who waits for whom.
func TestLockWaits(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *options) {
		f, g := reopen(t, name, o), reopen(t, name, o)
		must(t, f.Append(t.Context(), stamped(1, 10)))
		waits := func(what string, do func() error, release func()) {
			t.Helper()
			done := make(chan error, 1)
			go func() { done <- do() }()
			select {
			case err := <-done:
				t.Fatalf("%s did not wait: %v", what, err)
			case <-time.After(30 * time.Millisecond):
			}
			release()
			if err := <-done; err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		read := func() error { _, err := g.ReadChunk(t.Context(), nil, 0); return err }
		b, err := f.Begin(context.Background())
		must(t, err)
		must(t, b.Append(t.Context(), stamped(2, 10)))
		must(t, wholeState(f, 10)) // readers of the same handle do not wait
		waits("a read", read, func() { must(t, b.Commit()) })
		if g.NumChunks() != 2 {
			t.Error(g.NumChunks())
		}
		v, err := f.Engine().View(t.Context())
		must(t, err)
		must(t, read())
		waits("an edit", func() error { return g.Append(t.Context(), stamped(3, 10)) }, v.Release)
		v, err = f.Engine().View(t.Context())
		must(t, err)
		must(t, f.Append(t.Context(), stamped(4, 10))) // that the handle reads does not matter
		if v.Info().NumChunks != 3 {
			t.Error(v.Info())
		}
		waits("an edit beside", func() error { return g.Append(t.Context(), stamped(5, 10)) }, v.Release)
		must(t, one(f).SetVLMeta("a", []byte("b")))
		if c, err := g.Refresh(t.Context()); err != nil || !c {
			t.Error(c, err)
		}
		if got, err := g.VLMeta("a"); err != nil || string(got) != "b" {
			t.Error(got, err)
		}
	})
}

// TestLockGap takes the lock while a handle releases it for a moment, and edits bytes that the handle is reading.
func TestLockGap(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *options) {
		f, g := reopen(t, name, o), reopen(t, name, o)
		must(t, f.Append(t.Context(), stamped(1, 10)))
		v, err := f.Engine().View(t.Context())
		must(t, err)
		f.lock.File.Unlock() // as lockEdit and unlockEdit do
		must(t, one(g).Update(0, stamped(2, 10)))
		if ok, err := f.lock.File.TryLock(false); !ok {
			t.Fatal(err)
		}
		dst := make([]byte, 40)
		if err := v.Decode(context.Background(), &rangePlan{s: viewed(v), dst: dst}, 1000, 0); !errors.Is(err, ErrChanged) {
			t.Error(err)
		}
		if _, err := f.Content(t.Context()).ReadAt(dst, 0); !errors.Is(err, ErrChanged) { // it joins the view
			t.Error(err)
		}
		must(t, f.Append(t.Context(), stamped(3, 10)))
		if err := v.Decode(context.Background(), &rangePlan{s: viewed(v), dst: dst}, 1000, 0); !errors.Is(err, ErrChanged) {
			t.Error("after a commit:", err)
		}
		v.Release()
		if _, err := f.Content(t.Context()).ReadAt(dst, 0); err != nil || dst[4] != 2 || f.NumChunks() != 2 {
			t.Error(err, dst)
		}
	})
}

// TestLockSameIndex lets another handle make a chunk longer, without a change of header, index and trailer. An edit
// must not overwrite the end of that chunk.
func TestLockSameIndex(t *testing.T) {
	if !storage.CanLock {
		t.Skip("no file locks here")
	}
	name := filepath.Join(t.TempDir(), "x.b2frame")
	rng := rand.New(rand.NewSource(1))
	noise := func(n int) []byte { // n bytes remain when it is compressed
		p := make([]byte, 8000)
		rng.Read(p[:n])
		return p
	}
	o := &options{
		Params: chunk.Params{Codec: codec.LZ4, TypeSize: 1, BlockSize: 8000}, ChunkSize: 8000, Locking: true, NoSync: true,
	}
	first, second := noise(1000), noise(1000)
	f, err := CreateFunc(t.Context(), name, func(b *Batch) error {
		return errors.Join(b.Append(t.Context(), first), b.Append(t.Context(), noise(2000)), b.Append(t.Context(), second))
	}, o.create())
	must(t, err)
	must(t, one(f).Delete(1))
	must(t, one(f).SetVLMeta("x", []byte{1})) // moves the tail next to the chunks
	must(t, f.Close())
	f = reopen(t, name, o)
	must(t, one(f).SetVLMeta("x", []byte{1}))
	oc := o.open()
	oc.Cache = 1 << 20
	r, err := Open(t.Context(), name, oc)
	must(t, err)
	b := make([]byte, 8)
	_, err = r.Content(t.Context()).ReadAt(b, 0) // now the cache has the chunk
	must(t, err)

	before, err := os.ReadFile(name)
	must(t, err)
	edit := func(edit func(b singleEdit) error) {
		g := reopen(t, name, o)
		must(t, edit(one(g)))
		must(t, g.Close())
	}
	first = noise(1500)
	edit(func(e singleEdit) error { return e.Update(0, noise(6000)) })
	edit(func(e singleEdit) error { return e.Update(0, first) })
	edit(func(e singleEdit) error { return e.SetVLMeta("x", []byte{1}) })
	after, err := os.ReadFile(name)
	must(t, err)
	tail := f.snap.Load().tail()
	if !bytes.Equal(before[:f.snap.Load().headerLen], after[:f.snap.Load().headerLen]) ||
		!bytes.Equal(before[tail.Off:], after[tail.Off:]) || bytes.Equal(before, after) {
		t.Fatal("want other chunks with the same header, index and trailer")
	}

	if changed, err := r.Refresh(t.Context()); !changed || err != nil {
		t.Error("Refresh:", changed, err)
	}
	if _, err := r.Content(t.Context()).ReadAt(b, 0); err != nil || !bytes.Equal(b, first[:8]) {
		t.Errorf("the reader has %x, want %x: %v", b, first[:8], err)
	}
	must(t, r.Close())
	third := noise(700)
	must(t, f.Append(t.Context(), third))
	if got, want := content(t, f), slices.Concat(first, second, third); !bytes.Equal(got, want) {
		t.Fatal("Append has overwritten a chunk")
	}
	checkSpace(t, f)
}

// TestLockReplaced edits a frame that a program without the lock has replaced. The edits must not be lost with the old
// frame.
func TestLockReplaced(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *options) {
		f := reopen(t, name, o)
		must(t, f.Append(t.Context(), stamped(1, 10)))
		other := *o
		other.Locking, other.Overwrite = false, true
		replaced, err := CreateFunc(t.Context(), name, func(b *Batch) error { return b.Append(t.Context(), stamped(2, 10)) }, other.create())
		must(t, err)
		must(t, replaced.Close())
		for _, err := range []error{f.Append(t.Context(), stamped(3, 10)), one(f).SetVLMeta("a", nil), f.Compact(t.Context())} {
			if !errors.Is(err, ErrChanged) {
				t.Errorf("%v, want ErrChanged", err)
			}
		}
		changed, err := f.Refresh(t.Context())
		if o.Sparse { // the lock file is in the old directory
			if !errors.Is(err, ErrChanged) {
				t.Errorf("Refresh: %v, want ErrChanged", err)
			}
			must(t, f.Close())
			f = reopen(t, name, o)
		} else if !changed || err != nil {
			t.Errorf("Refresh: %v, %v", changed, err)
		}
		must(t, f.Append(t.Context(), stamped(3, 10)))
		g := reopen(t, name, o)
		if got := content(t, g); !bytes.Equal(got, append(stamped(2, 10), stamped(3, 10)...)) {
			t.Errorf("content %x", got)
		}
		if !o.Sparse {
			h, err := Edit(t.Context(), name, other.edit())
			must(t, err)
			replaced, err = Create(t.Context(), name, other.create())
			must(t, err)
			if err := h.Compact(t.Context()); !errors.Is(err, ErrChanged) {
				t.Errorf("Compact without a lock: %v, want ErrChanged", err)
			}
			must(t, errors.Join(replaced.Close(), h.Close()))
		}
		must(t, os.Rename(name, name+".old"))
		if err := g.Append(t.Context(), stamped(4, 10)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, want fs.ErrNotExist", err)
		}
	})
}

// TestLockClosed checks that a closed frame holds no lock.
func TestLockClosed(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *options) {
		f, g := reopen(t, name, o), reopen(t, name, o)
		b, err := f.Begin(context.Background())
		must(t, err)
		must(t, f.Close())
		b.Rollback()
		must(t, g.Append(t.Context(), stamped(1, 10)))
		v, err := g.Engine().View(t.Context())
		must(t, err)
		must(t, g.Close())
		if err := v.Decode(context.Background(), &rangePlan{s: viewed(v), dst: make([]byte, 4)}, 1000, 0); err == nil {
			t.Error("a read after Close")
		}
		v.Release()
		if _, err := g.ReadChunk(t.Context(), nil, 0); !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
		if _, err := g.Refresh(t.Context()); !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
		must(t, reopen(t, name, o).Append(t.Context(), stamped(2, 10)))
	})
}

// countingPlan reads whole chunks or some of their blocks, of which some have destinations, and counts the deliveries
// of each block.
type countingPlan struct {
	t      *testing.T
	chunks int
	next   int
	only   []int32          // blocks, or all
	placed func(k int) bool // whether a block has a place
	part   int              // the thirds of the other blocks that are wanted
	size   int              // bytes of a chunk
	got    []byte           // all chunks
	mu     sync.Mutex
	places map[[2]int]int
	blocks map[[2]int]int
}

func (p *countingPlan) Next(v *engine.Visit) bool {
	v.Chunk = p.next
	v.Blocks = append(v.Blocks, p.only...)
	p.next++
	return v.Chunk < p.chunks
}

func (p *countingPlan) Block(b *engine.Block, v *engine.Visit, k, at, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [2]int{v.Chunk, k}
	p.places[key]++
	*b = engine.Block{Need: n * p.part / 3, Mover: countingMover{p, key, at}}
	if p.placed(k) {
		p.blocks[key]++
		b.Data, b.Need, b.Mover = p.got, n, nil
		b.Copy.Begin(v.Chunk*p.size+at, 0, n)
	}
}

// countingMover takes a block without a place.
type countingMover struct {
	*countingPlan
	key [2]int
	at  int
}

func (p countingMover) Move(data []byte, _ bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocks[p.key]++
	copy(p.got[p.key[0]*p.size+p.at:], data[:len(data)*p.part/3])
	return nil
}

func (p countingMover) Unshuffle(coder.Shuffled) bool { return false }

func (p *countingPlan) Special(*engine.Visit, chunk.Special, []byte, int, int) error {
	p.t.Error("a special chunk")
	return nil
}

// decodeAll decodes the blocks of a plan in the newest state.
func decodeAll(f *Frame, p engine.ReadPlan) error {
	v, err := f.Engine().View(context.Background())
	if err != nil {
		return err
	}
	defer v.Release()
	return v.Decode(context.Background(), p, 1000, 0)
}

// TestDecodeTwo reads blocks that are decoded faster in pairs. All, none or some of them have destinations. Each must
// be delivered once, from chunks in a file and in memory.
func TestDecodeTwo(t *testing.T) {
	const chunks = 3
	for _, blockSize := range []int{512, 700 << 10} { // two of the longer ones are too long without a place
		size := blockSize*9 + 100
		if blockSize > 1000 {
			size = blockSize*4 + 100
		}
		src := make([]byte, chunks*size)
		r := rand.New(rand.NewSource(1))
		for i := range src {
			if src[i] = byte(i % 12); i%12 < 3 {
				src[i] = byte(r.Intn(256))
			}
		}
		name := filepath.Join(t.TempDir(), "x.b2frame")
		o := &options{Params: chunk.Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: blockSize, Filters: []chunk.Filter{}}, NoSync: true}
		f, err := Create(t.Context(), name, o.create())
		must(t, err)
		for i := range chunks {
			must(t, f.Append(t.Context(), src[i*size:][:size]))
		}
		must(t, f.Close())
		for workers := 1; workers <= 3; workers++ {
			f, err := Open(t.Context(), name, &OpenOptions{Concurrency: workers})
			must(t, err)
			for what, placed := range map[string]func(k int) bool{
				"all": func(int) bool { return true }, "none": func(int) bool { return false }, "some": func(k int) bool { return k%3 == 0 },
			} {
				for i, only := range [][]int32{nil, {0, 2, 3, 4}, {1}, nil, {0, 2, 3, 4}} {
					part := 3
					if i >= 3 {
						part = i - 2
					}
					what := fmt.Sprintf("blocks of %d, %d workers, %s placed, only %d, %d thirds", blockSize, workers, what, only, part)
					p := &countingPlan{t: t, chunks: chunks, only: only, placed: placed, part: part, size: size, got: make([]byte, len(src)),
						places: map[[2]int]int{}, blocks: map[[2]int]int{}}
					must(t, decodeAll(f, p))
					n := (size + blockSize - 1) / blockSize
					wanted := only
					if wanted == nil {
						for k := range int32(n) {
							wanted = append(wanted, k)
						}
					}
					if len(p.places) != chunks*len(wanted) || len(p.blocks) != chunks*len(wanted) {
						t.Fatalf("%s: %d blocks asked for, %d came, want %d", what, len(p.places), len(p.blocks), chunks*len(wanted))
					}
					for i := range chunks {
						for _, k := range wanted {
							at := i*size + int(k)*blockSize
							end := min(at+blockSize, (i+1)*size)
							if !placed(int(k)) {
								end = at + (end-at)*part/3
							}
							if key := [2]int{i, int(k)}; p.places[key] != 1 || p.blocks[key] != 1 || !bytes.Equal(p.got[at:end], src[at:end]) {
								t.Fatalf("%s: block %d of chunk %d: asked for %d times, came %d times, or other data", what, k, i, p.places[key], p.blocks[key])
							}
						}
					}
				}
			}
			must(t, f.Close())
		}
	}
}

// TestLockFileIsNotDead expects no dead bytes in a sparse frame with a lock file after Compact.
func TestLockFileIsNotDead(t *testing.T) {
	if !storage.CanLock {
		t.Skip("no file locks on this system")
	}
	f, err := Create(t.Context(), filepath.Join(t.TempDir(), "x"), &CreateOptions{Sparse: true, Locking: true, NoSync: true})
	must(t, err)
	defer f.Close()
	must(t, f.Append(t.Context(), []byte("abc")))
	must(t, f.Compact(t.Context()))
	if n, err := f.DeadBytes(t.Context()); err != nil || n != 0 {
		t.Errorf("%d dead bytes, %v", n, err)
	}
}
