package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
)

// lockable makes a frame with Options.Locking of each kind and calls the test with its name. Two handles of one process
// stand for two processes: locks belong to opened files.
func lockable(t *testing.T, test func(t *testing.T, name string, o *Options)) {
	for _, kind := range []string{"contiguous", "sparse"} {
		t.Run(kind, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x.b2frame")
			o := &Options{CParams: chunk.CParams{TypeSize: 4}, ChunkSize: 40, Locking: true, NoSync: true, Sparse: kind == "sparse"}
			f, err := Create(name, o, nil)
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

func reopen(t testing.TB, name string, o *Options) *Frame {
	t.Helper()
	f, err := Edit(name, o)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestLockFile checks the bytes of the lock file.
func TestLockFile(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *Options) {
		f := reopen(t, name, o)
		must(t, f.Append(stamped(1, 10)))
		b, err := os.ReadFile(storage.LockName(name, o.Sparse))
		must(t, err)
		first := binary.NativeEndian.Uint64(b[8:])
		for range 3 {
			must(t, f.Append(stamped(1, 10)))
		}
		bt, err := f.Begin(context.Background())
		must(t, err)
		bt.Rollback()
		b, err = os.ReadFile(storage.LockName(name, o.Sparse))
		must(t, err)
		if n := binary.NativeEndian.Uint64(b[8:]); len(b) != 16 || n != first+4 {
			t.Errorf("%d bytes, counter %d, was %d", len(b), n, first)
		}
		g, err := Open(name, o)
		must(t, err)
		if _, err := g.ReadAt(make([]byte, 40), 0); err != nil {
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
	lockable(t, func(t *testing.T, name string, o *Options) {
		const handles, each = 4, 25
		var frames []*Frame
		var wg sync.WaitGroup
		for h := range handles {
			f := reopen(t, name, o)
			frames = append(frames, f)
			wg.Go(func() {
				for i := range each {
					if err := f.Append(stamped(100*h+i, 10)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for _, f := range frames {
			_, err := f.Refresh()
			must(t, err)
			seen := map[uint32]int{}
			for i := range f.NumChunks() {
				b, err := f.ReadChunk(nil, i)
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
	lockable(t, func(t *testing.T, name string, o *Options) {
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
			f, err := Open(name, o)
			must(t, err)
			defer f.Close()
			wg.Go(func() { reader(f, false) })
		}
		for w := range 2 {
			f := reopen(t, name, o)
			wg.Go(func() { reader(f, true) })
			writers.Go(func() {
				for state := range 150 {
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
		if err := b.DeleteChunk(b.NumChunks() / 2); err != nil {
			return err
		}
	}
	for i := range b.NumChunks() {
		if err := b.Update(i, stamped(state, items)); err != nil {
			return err
		}
	}
	for b.NumChunks() < n {
		if err := b.Append(stamped(state, items)); err != nil {
			return err
		}
	}
	return b.Commit()
}

// wholeState reads all chunks of a view and checks that they are of one state.
func wholeState(f *Frame, items int) error {
	v, err := f.View()
	if err != nil {
		return err
	}
	defer v.Release()
	all := make([]byte, v.Info().NBytes)
	if err := v.Decode(context.Background(), &rangePlan{s: v.s, dst: all}, 1000, 0); err != nil {
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
	lockable(t, func(t *testing.T, name string, o *Options) {
		f, g := reopen(t, name, o), reopen(t, name, o)
		must(t, f.Append(stamped(1, 10)))
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
		read := func() error { _, err := g.ReadChunk(nil, 0); return err }
		b, err := f.Begin(context.Background())
		must(t, err)
		must(t, b.Append(stamped(2, 10)))
		must(t, wholeState(f, 10)) // readers of the same handle do not wait
		waits("a read", read, func() { must(t, b.Commit()) })
		if g.NumChunks() != 2 {
			t.Error(g.NumChunks())
		}
		v, err := f.View()
		must(t, err)
		must(t, read())
		waits("an edit", func() error { return g.Append(stamped(3, 10)) }, v.Release)
		v, err = f.View()
		must(t, err)
		must(t, f.Append(stamped(4, 10))) // that the handle reads does not matter
		if v.Info().NumChunks != 3 {
			t.Error(v.Info())
		}
		waits("an edit beside", func() error { return g.Append(stamped(5, 10)) }, v.Release)
		must(t, f.SetVLMeta("a", []byte("b")))
		if c, err := g.Refresh(); err != nil || !c {
			t.Error(c, err)
		}
		if got, err := g.VLMeta("a"); err != nil || string(got) != "b" {
			t.Error(got, err)
		}
	})
}

// TestLockGap takes the lock while a handle gives it up for a moment, and edits what is being read there.
func TestLockGap(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *Options) {
		f, g := reopen(t, name, o), reopen(t, name, o)
		must(t, f.Append(stamped(1, 10)))
		v, err := f.View()
		must(t, err)
		storage.UnlockFile(f.lock.File) // as lockEdit and unlockEdit do
		must(t, g.Update(0, stamped(2, 10)))
		if ok, err := storage.TryLockFile(f.lock.File, false); !ok {
			t.Fatal(err)
		}
		dst := make([]byte, 40)
		if err := v.Decode(context.Background(), &rangePlan{s: v.s, dst: dst}, 1000, 0); !errors.Is(err, ErrChanged) {
			t.Error(err)
		}
		if _, err := f.ReadAt(dst, 0); !errors.Is(err, ErrChanged) { // it joins the view
			t.Error(err)
		}
		must(t, f.Append(stamped(3, 10)))
		if err := v.Decode(context.Background(), &rangePlan{s: v.s, dst: dst}, 1000, 0); !errors.Is(err, ErrChanged) {
			t.Error("after a commit:", err)
		}
		v.Release()
		if _, err := f.ReadAt(dst, 0); err != nil || dst[4] != 2 || f.NumChunks() != 2 {
			t.Error(err, dst)
		}
	})
}

// TestLockClosed checks that a closed frame holds no lock.
func TestLockClosed(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *Options) {
		f, g := reopen(t, name, o), reopen(t, name, o)
		b, err := f.Begin(context.Background())
		must(t, err)
		must(t, f.Close())
		b.Rollback()
		must(t, g.Append(stamped(1, 10)))
		v, err := g.View()
		must(t, err)
		must(t, g.Close())
		if err := v.Decode(context.Background(), &rangePlan{s: v.s, dst: make([]byte, 4)}, 1000, 0); err == nil {
			t.Error("a read after Close")
		}
		v.Release()
		if _, err := g.ReadChunk(nil, 0); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if _, err := g.Refresh(); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		must(t, reopen(t, name, o).Append(stamped(2, 10)))
	})
}
