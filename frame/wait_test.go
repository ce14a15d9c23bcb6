package frame

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/trap"
)

var noContext context.Context // nil, which callers may pass by mistake

// soonCanceled wants call to return the error of a context with a short deadline, not long after it. The error must
// have the text waiting.
func soonCanceled(t *testing.T, what, waiting string, call func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call(ctx) }()
	select {
	case err := <-done:
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), waiting) {
			t.Errorf("%s: %v, want %q", what, err, waiting)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("%s waits", what)
	}
}

// waitCalls are calls that edit with a context.
var waitCalls = map[string]func(ctx context.Context, f *Frame) error{
	"Begin": func(ctx context.Context, f *Frame) error {
		b, err := f.Begin(ctx)
		if err == nil {
			b.Rollback()
		}
		return err
	},
	"Compact":      func(ctx context.Context, f *Frame) error { return f.Compact(ctx) },
	"SetChecksums": func(ctx context.Context, f *Frame) error { return one(f).SetChecksums(ctx, true) },
}

// TestWaitForBatch wants edits to give up waiting for an open batch when their context is done.
func TestWaitForBatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f, err := Create(t.Context(), path, &CreateOptions{NoSync: true})
	must(t, err)
	defer f.Close()
	b, err := f.Begin(noContext)
	must(t, err)
	for name, call := range waitCalls {
		soonCanceled(t, name, path+": waiting for another batch: ", func(ctx context.Context) error { return call(ctx, f) })
	}
	must(t, b.Append(t.Context(), stamped(1, 10)))
	must(t, b.Commit())
	for name, call := range waitCalls {
		if err := call(context.Background(), f); err != nil {
			t.Error(name, err)
		}
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Begin(canceled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestHoldLock is not a test: it is the other process of TestWaitForLock, which holds a lock until its input ends.
func TestHoldLock(t *testing.T) {
	name := os.Getenv("FRAME_TEST_HOLD")
	if name == "" {
		t.Skip("only as another process")
	}
	edit, open := os.Getenv("FRAME_TEST_HOW") == "edit", Open
	if edit {
		open = Edit
	}
	f, err := open(t.Context(), name, &OpenOptions{Locking: true})
	must(t, err)
	defer f.Close()
	if edit {
		b, err := f.Begin(context.Background())
		must(t, err)
		defer b.Rollback()
	} else {
		v, err := f.Engine().View(t.Context())
		must(t, err)
		defer v.Release()
	}
	fmt.Println("HELD")
	io.Copy(io.Discard, os.Stdin)
}

// holdLock has another process hold the lock of a frame until release is called.
func holdLock(t *testing.T, name, how string) (release func()) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	c := exec.Command(self, "-test.run=^TestHoldLock$", "-test.v")
	c.Env = append(os.Environ(), "FRAME_TEST_HOLD="+name, "FRAME_TEST_HOW="+how)
	in, err := c.StdinPipe()
	must(t, err)
	out, err := c.StdoutPipe()
	must(t, err)
	if err := c.Start(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("an emulated program cannot start another one")
	} else {
		must(t, err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "HELD") {
	}
	var once sync.Once
	release = func() {
		once.Do(func() {
			in.Close()
			io.Copy(io.Discard, out)
			c.Wait()
		})
	}
	t.Cleanup(release)
	return release
}

// TestWaitForLock wants calls to give up waiting for the lock file, which another process holds, when their context is
// done, and the handle to be as before.
func TestWaitForLock(t *testing.T) {
	switch runtime.GOOS {
	case "js", "wasip1":
		t.Skip("there are no other processes")
	}
	lockable(t, func(t *testing.T, name string, o *options) {
		f := reopen(t, name, o)
		must(t, f.Append(t.Context(), stamped(1, 10)))
		waiting := "waiting for " + storage.LockName(name, o.Sparse) + ": "
		for _, how := range []string{"read", "edit"} {
			release := holdLock(t, name, how)
			for what, call := range waitCalls {
				soonCanceled(t, what, waiting, func(ctx context.Context) error { return call(ctx, f) })
			}
			decode := func(ctx context.Context) error {
				v, err := f.Engine().View(ctx)
				if err != nil {
					return err
				}
				defer v.Release()
				return v.Decode(ctx, &rangePlan{s: viewed(v), dst: make([]byte, 40)}, 1000, 0)
			}
			if how == "edit" {
				soonCanceled(t, "ViewContext", waiting, decode)
				soonCanceled(t, "Verify", waiting, func(ctx context.Context) error { return f.Verify(ctx, func(err error) error { return err }) })
				soonCanceled(t, "Copy", waiting, func(ctx context.Context) error { _, err := Copy(ctx, name+".copy", f, o.copying()); return err })
				if !o.Sparse {
					again := *o
					again.Overwrite = true
					soonCanceled(t, "CreateContext", waiting, func(ctx context.Context) error {
						_, err := Create(ctx, name, (&again).create())
						return err
					})
				}
			} else if err := decode(context.Background()); err != nil {
				t.Error(err)
			}
			release()
			if err := decode(context.Background()); err != nil {
				t.Error(err)
			}
			must(t, f.Append(t.Context(), stamped(1, 10)))
			if f.lock.InUse() {
				t.Errorf("the lock is held: %+v", f.lock)
			}
		}
		// A reader keeps its state if an edit of the same handle gives up waiting.
		v, err := f.Engine().View(t.Context())
		must(t, err)
		release := holdLock(t, name, "read")
		soonCanceled(t, "Begin", waiting, func(ctx context.Context) error { return waitCalls["Begin"](ctx, f) })
		release()
		if err := v.Decode(noContext, &rangePlan{s: viewed(v), dst: make([]byte, 40)}, 1000, 0); err != nil || !f.lock.Held() {
			t.Error(err)
		}
		v.Release()
		// Close ends the waiting.
		holdLock(t, name, "read")
		done := make(chan error)
		go func() { done <- waitCalls["Begin"](context.Background(), f) }()
		time.Sleep(20 * time.Millisecond)
		must(t, f.Close())
		if err := <-done; !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	})
}

// TestCloseRaces closes frames while they are read in all ways. A read gives the right bytes or fs.ErrClosed.
func TestCloseRaces(t *testing.T) {
	if runtime.GOARCH == "wasm" {
		t.Skip("there is one thread: reads without a pause keep Close from running")
	}
	dir := t.TempDir()
	fill := func(b *Batch) error {
		for i := range 20 {
			if err := b.Append(t.Context(), stamped(i, 5000)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, kind := range []string{"file", "sparse", "mmap", "locked", "lockedsparse", "reader"} {
		t.Run(kind, func(t *testing.T) {
			name := filepath.Join(dir, kind)
			o := &options{NoSync: true, Sparse: strings.HasSuffix(kind, "sparse"), Params: chunk.Params{TypeSize: 4}, Checksums: true, Concurrency: 2}
			f, err := CreateFunc(t.Context(), name, fill, o.create())
			must(t, err)
			must(t, f.Close())
			o.Mmap, o.Verify, o.Locking = kind == "mmap", kind != "mmap", strings.HasPrefix(kind, "locked") && storage.CanLock
			rounds := 60
			if testing.Short() {
				rounds = 15
			}
			var failed atomic.Int64
			for range rounds {
				close := func(f *Frame) { must(t, f.Close()) }
				if kind == "reader" {
					file, err := os.Open(name)
					must(t, err)
					fi, err := file.Stat()
					must(t, err)
					f, err = OpenReaderAt(t.Context(), file, fi.Size(), o.bytes())
					must(t, err)
					close = func(f *Frame) { must(t, f.Close()); must(t, file.Close()) }
				} else {
					f, err = Open(t.Context(), name, o.open())
					must(t, err)
				}
				var wg sync.WaitGroup
				for what, read := range closeReads {
					wg.Go(func() {
						for {
							err := read(f)
							if err == nil {
								continue
							}
							failed.Add(1)
							if !errors.Is(err, fs.ErrClosed) || strings.Contains(err.Error(), "frame :") {
								t.Errorf("%s: %v", what, err)
							}
							return
						}
					})
				}
				time.Sleep(time.Duration(200+int(failed.Load())*37%2000) * time.Microsecond)
				close(f)
				wg.Wait()
			}
		})
	}
}

// closeReads are ways to read a frame.
var closeReads = map[string]func(f *Frame) error{
	"ReadAt": func(f *Frame) error {
		p := make([]byte, 30000)
		_, err := f.Content(context.Background()).ReadAt(p, 25000)
		if err == nil && p[4] != 1 {
			err = errors.New("other bytes")
		}
		return err
	},
	"ReadChunk": func(f *Frame) error { _, err := f.ReadChunk(context.Background(), nil, 3); return err },
	"ReadBlock": func(f *Frame) error { _, err := f.ReadBlock(context.Background(), nil, 3, 0); return err },
	"ReadRaw":   func(f *Frame) error { _, err := f.ReadRaw(context.Background(), nil, 3); return err },
	"ChunkInfo": func(f *Frame) error { _, err := f.ChunkInfo(context.Background(), 3); return err },
	"WriteTo":   func(f *Frame) error { _, err := io.Copy(io.Discard, f.Content(context.Background())); return err },
	"DeadBytes": func(f *Frame) error { _, err := f.DeadBytes(context.Background()); return err },
	"AppendTo":  func(f *Frame) error { _, err := appendTo(f, nil); return err },
	"Refresh":   func(f *Frame) error { _, err := f.Refresh(context.Background()); return err },
	"Verify": func(f *Frame) error {
		var reported error
		err := f.Verify(context.Background(), func(err error) error { reported = err; return nil })
		if reported != nil {
			return fmt.Errorf("reported: %v", reported)
		}
		return err
	},
	"View": func(f *Frame) error {
		v, err := f.Engine().View(context.Background())
		if err != nil {
			return err
		}
		defer v.Release()
		if _, err := v.ChunkInfo(context.Background(), 2); err != nil {
			return err
		}
		return v.Decode(context.Background(), &rangePlan{s: viewed(v), dst: make([]byte, 30000)}, 1000, 0)
	},
	"Begin": func(f *Frame) error {
		_, err := f.Begin(context.Background())
		if errors.Is(err, ErrReadOnly) {
			return nil
		}
		return err
	},
}

// TestErrorsWithoutName wants no empty name in errors of frames that have none.
func TestErrorsWithoutName(t *testing.T) {
	f, err := Create(t.Context(), "", nil)
	must(t, err)
	b, err := f.Begin(context.Background())
	must(t, err)
	b.Rollback()
	list := []error{b.Commit()}
	must(t, f.Close())
	list = append(list, f.Append(t.Context(), []byte{1}))
	_, err = f.ReadChunk(t.Context(), nil, 0)
	list = append(list, err)
	for _, err := range list {
		if !errors.Is(err, fs.ErrClosed) || strings.Contains(err.Error(), "frame :") {
			t.Error(err)
		}
	}
}

// TestManyGoroutines wants no more goroutines than there are blocks, and never more than a bound.
func TestManyGoroutines(t *testing.T) {
	var running, most atomic.Int64
	count := func(dst, src []byte, _ chunk.BlockInfo) error {
		n := running.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		runtime.Gosched()
		if n := int64(runtime.NumGoroutine()); n > most.Load() {
			most.Store(n)
		}
		running.Add(-1)
		copy(dst, src)
		return nil
	}
	for _, blocks := range []int{40, 4000} {
		o := &options{Concurrency: 1_000_000, Params: chunk.Params{TypeSize: 1, BlockSize: 64}, ChunkSize: 64 * blocks / 4, Prefilter: count, Postfilter: count}
		p := make([]byte, 64*blocks)
		for i := range p {
			p[i] = byte(i * i >> 3)
		}
		f, err := Create(t.Context(), "", o.memory())
		must(t, err)
		limit := int64(min(blocks, 1024) + 50)
		check := func(what string, err error) {
			t.Helper()
			must(t, err)
			if n := most.Swap(0); n > limit {
				t.Errorf("%s: %d goroutines for %d blocks", what, n, blocks)
			}
			for i := 0; runtime.NumGoroutine() > 40 && i < 500; i++ {
				time.Sleep(time.Millisecond)
			}
		}
		for i := range 4 {
			check("Append", f.Append(t.Context(), p[i*len(p)/4:(i+1)*len(p)/4]))
		}
		check("Encode", f.edit(context.Background(), func(b *Batch) error {
			return b.Engine().Encode(context.Background(), 64*blocks/4, &trapSource{new(trap.Trap), new(trap.Trap), new(trap.Trap), 0, 4}, int64(len(p)))
		}))
		_, err = f.Content(t.Context()).ReadAt(p, 0)
		check("ReadAt", err)
		_, err = f.ReadChunk(t.Context(), nil, 0)
		check("ReadChunk", err)
	}
}

// TestCreateRace creates a frame twice at the same time. Without Overwrite one call succeeds, and the other returns
// fs.ErrExist. With Overwrite one of the frames remains, and the other call succeeds, too, or returns ErrChanged.
func TestCreateRace(t *testing.T) {
	for _, sparse := range [][2]bool{{false, false}, {true, true}, {false, true}, {true, false}} {
		for _, overwrite := range []bool{false, true} {
			t.Run(fmt.Sprintf("sparse %v overwrite %v", sparse, overwrite), func(t *testing.T) {
				interleave(t, 1, func() simulated.Rivals { return creators(t, sparse, overwrite, false) })
				if overwrite {
					interleave(t, 1, func() simulated.Rivals { return creators(t, sparse, true, true) })
				}
			})
		}
	}
}

// creators are two calls of Create for the same name.
func creators(t *testing.T, sparse [2]bool, overwrite, noExchange bool) simulated.Rivals {
	s := simulated.New()
	s.NoExchange = noExchange
	if overwrite {
		f, err := Create(t.Context(), "x", &CreateOptions{sys: s, Sparse: true})
		must(t, err)
		must(t, f.Close())
	}
	var errs [2]error
	create := func(i int) func() {
		return func() {
			var f *Frame
			f, errs[i] = CreateFunc(t.Context(), "x", func(b *Batch) error { return b.Append(t.Context(), stamped(i, 10)) },
				&CreateOptions{sys: s, Sparse: sparse[i], Overwrite: overwrite, Concurrency: 1})
			if errs[i] == nil {
				must(t, f.Close())
			}
		}
	}
	return simulated.Rivals{System: s, A: create(0), B: create(1), Check: func() error {
		t.Helper()
		f, err := Open(t.Context(), "x", &OpenOptions{sys: s})
		if err != nil {
			return fmt.Errorf("%w; creating: %v", err, errs)
		}
		defer f.Close()
		got, err := io.ReadAll(f.Content(t.Context()))
		won := slices.IndexFunc([][]byte{stamped(0, 10), stamped(1, 10)}, func(p []byte) bool { return bytes.Equal(p, got) })
		ok := won >= 0 && errs[won] == nil
		if lost := errs[1-max(0, won)]; overwrite {
			ok = ok && (lost == nil || errors.Is(lost, ErrChanged))
		} else {
			ok = ok && errors.Is(lost, fs.ErrExist)
		}
		if names := s.Image[0].Dir; err != nil || !ok || len(names) != 1 {
			return fmt.Errorf("frame %d remains, %v; creating: %v; files %v", won, err, errs, names)
		}
		return nil
	}}
}

// TestCreateLate creates a frame over a directory with other files, which appeared while the frame was filled.
func TestCreateLate(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		s := simulated.New()
		_, err := CreateFunc(t.Context(), "x", func(*Batch) error {
			must(t, s.Mkdir("x", 0o777))
			f, err := s.Open("x/notes", os.O_CREATE, 0o666)
			must(t, err)
			return f.Close()
		}, &CreateOptions{sys: s, Sparse: sparse, Overwrite: true})
		if _, lost := s.Stat("x/notes"); !errors.Is(err, fs.ErrExist) || lost != nil || len(s.Image[0].Dir) != 1 {
			t.Errorf("sparse %v: %v, %v, files %v", sparse, err, lost, s.Image[0].Dir)
		}
	}
}

// gapStorage calls gap before its first write.
type gapStorage struct {
	Memory
	gap func()
}

func (s *gapStorage) WriteAt(p []byte, off int64) (int, error) {
	if gap := s.gap; gap != nil {
		s.gap = nil
		gap()
	}
	return s.Memory.WriteAt(p, off)
}

// TestCopyGap lets another process edit a frame while Copy reads it, after an edit through the same Frame has released
// the lock for a moment.
func TestCopyGap(t *testing.T) {
	lockable(t, func(t *testing.T, name string, o *options) {
		for _, what := range []string{"Copy", "CopyChunks", "PutChunks"} {
			f, g := reopen(t, name, o), reopen(t, name, o)
			must(t, replaceAll(f, 1, 2, 10))
			st := &gapStorage{gap: func() {
				f.lock.File.Unlock() // as Edit and EndEdit of the lock do
				for state := range 3 {
					must(t, replaceAll(g, 2+state, 2, 10))
				}
				if ok, err := f.lock.File.TryLock(false); !ok {
					t.Fatal(err)
				}
			}}
			to := &CreateOptions{Storage: st, ChunkSize: 40}
			v, err := f.Engine().View(t.Context())
			must(t, err)
			if what == "Copy" {
				to.ChunkSize = 0
				_, err = Copy(t.Context(), "", f, to)
			} else {
				_, err = CreateFunc(t.Context(), "", func(b *Batch) error {
					if what == "CopyChunks" {
						return b.Engine().CopyChunks(t.Context(), v)
					}
					return errors.Join(b.Engine().FillSpecial(80, chunk.Zeros), b.Engine().PutChunks(t.Context(), v, slices.All([]int{0, 1})))
				}, to)
			}
			if !errors.Is(err, ErrChanged) {
				t.Errorf("%s: %v, want ErrChanged", what, err)
			}
			v.Release()
		}
	})
}

// TestContextBetweenBlocks ends the context of a call in block 3 of a chunk. The call codes no more blocks.
func TestContextBetweenBlocks(t *testing.T) {
	const blocks, size = 64, 4096
	src := make([]byte, blocks*size)
	for i := range src {
		src[i] = byte(i / 7)
	}
	var count atomic.Int64
	var cancel context.CancelFunc
	filter := func(dst, src []byte, _ chunk.BlockInfo) error {
		if count.Add(1) == 3 {
			cancel()
		}
		copy(dst, src)
		return nil
	}
	o := &CreateOptions{
		Storage: NewMemory(nil), Concurrency: 1, ChunkSize: blocks * size, Prefilter: filter, Postfilter: filter,
		Params: chunk.Params{TypeSize: 4, Codec: codec.LZ4, BlockSize: size},
	}
	cancel = func() {}
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.Append(t.Context(), src) }, o)
	must(t, err)
	variable := *o
	variable.Storage, variable.ChunkSize = NewMemory(nil), 0
	vl, err := Create(t.Context(), "", &variable)
	must(t, err)
	list := make([][]byte, blocks)
	for k := range list {
		list[k] = src[k*size:][:size]
	}
	for name, call := range map[string]func(ctx context.Context) error{
		"ReadChunk": func(ctx context.Context) error {
			b, err := f.ReadChunk(ctx, []byte("head"), 0)
			if string(b) != "head" {
				t.Errorf("ReadChunk: %d bytes with an error", len(b))
			}
			return err
		},
		"Append": func(ctx context.Context) error { return f.Append(ctx, src) },
		"Update": func(ctx context.Context) error {
			return f.edit(ctx, func(b *Batch) error { return b.Update(ctx, 0, src) })
		},
		"AppendBlocks": func(ctx context.Context) error {
			return vl.edit(ctx, func(b *Batch) error { return b.AppendBlocks(ctx, list) })
		},
	} {
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		count.Store(0)
		if err := call(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if n := count.Load(); n != 3 {
			t.Errorf("%s: %d blocks, want 3", name, n)
		}
		cancel()
	}
	count.Store(10)
	if !bytes.Equal(content(t, f), src) || f.NumChunks() != 1 || vl.NumChunks() != 0 {
		t.Error("the frame has changed")
	}
}

// cancelingReader ends a context when a read reaches a byte.
type cancelingReader struct {
	io.ReaderAt
	at     int64
	cancel context.CancelFunc
}

func (r cancelingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.at {
		r.cancel()
	}
	return r.ReaderAt.ReadAt(p, off)
}

// TestContextOfIndex ends the context of Open while it reads the index, before it decodes it.
func TestContextOfIndex(t *testing.T) {
	m := NewMemory(nil)
	_, err := CreateFunc(t.Context(), "", func(b *Batch) error {
		for range 2000 {
			if err := b.Append(t.Context(), noise(64)); err != nil {
				return err
			}
		}
		return nil
	}, &CreateOptions{Storage: m, Params: chunk.Params{TypeSize: 8}, Checksums: true})
	must(t, err)
	b := m.Bytes()
	ctx, cancel := context.WithCancel(t.Context())
	r := cancelingReader{bytes.NewReader(b), int64(len(b)) - 1, cancel}
	if _, err := OpenReaderAt(ctx, r, int64(len(b)), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
