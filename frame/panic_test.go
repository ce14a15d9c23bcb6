package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/trap"
)

// trapCodec is a codec for bytes that repeat every 256 bytes.
type trapCodec struct{ *trap.Trap }

func (trapCodec) ID() codec.ID                                     { return codec.FromCode(200) }
func (trapCodec) Format() codec.Format                             { return codec.FormatUser }
func (c trapCodec) NewEncoder(codec.Params) (codec.Encoder, error) { return c, nil }
func (c trapCodec) NewDecoder(codec.Params) (codec.Decoder, error) { return c, nil }
func (c trapCodec) Encode(dst, src []byte) (int, error) {
	c.Tick()
	if len(src) <= 256 || len(dst) < 256 {
		return 0, codec.ErrIncompressible
	}
	return copy(dst, src[:256]), nil
}

func (c trapCodec) Decode(dst, src []byte) error {
	c.Tick()
	for i := range dst {
		dst[i] = src[i%len(src)]
	}
	return nil
}

// trapFilter is a filter that copies, and ticks.
type trapFilter struct{ *trap.Trap }

func (trapFilter) Code() uint8 { return 200 }
func (f trapFilter) Forward(dst, src []byte, _ chunk.BlockInfo) error {
	f.Tick()
	copy(dst, src)
	return nil
}
func (f trapFilter) Backward(dst, src []byte, _ chunk.BlockInfo) error {
	f.Tick()
	copy(dst, src)
	return nil
}

// trapStorage is a Storage that ticks.
type trapStorage struct {
	*Memory
	read, write, truncate *trap.Trap
}

func (s *trapStorage) ReadAt(p []byte, off int64) (int, error) {
	s.read.Tick()
	return s.Memory.ReadAt(p, off)
}

func (s *trapStorage) WriteAt(p []byte, off int64) (int, error) {
	s.write.Tick()
	return s.Memory.WriteAt(p, off)
}

func (s *trapStorage) Truncate(n int64) error {
	s.truncate.Tick()
	return s.Memory.Truncate(n)
}

// trapSource is an engine.WritePlan of chunks of the same blocks that ticks.
type trapSource struct {
	next, block, move *trap.Trap
	n, to             int
}

func (s *trapSource) Next(v *engine.Visit) bool {
	if s.n == s.to {
		s.next.Tick()
		return false
	}
	v.Chunk = s.n
	s.n++
	return true
}

func (s *trapSource) Block(b *engine.Block, _ *engine.Visit, k, _, _ int) {
	if k == 3 {
		s.block.Tick()
	}
	*b = engine.Block{Mover: trapMover{s.move, k == 3}}
}

// trapMover is the Mover of a block that ticks.
type trapMover struct {
	*trap.Trap
	ticks bool
}

func (m trapMover) Move(block []byte, _ bool) error {
	if m.ticks {
		m.Tick()
	}
	for i := range block {
		block[i] = byte(i)
	}
	return nil
}

func (m trapMover) Unshuffle(coder.Shuffled) bool { return false }

// trapPlan reads a range and ticks.
type trapPlan struct {
	rangePlan
	next, block, move *trap.Trap
}

func (p *trapPlan) Next(v *engine.Visit) bool {
	ok := p.rangePlan.Next(v)
	if !ok {
		p.next.Tick()
	}
	return ok
}

func (p *trapPlan) Block(b *engine.Block, _ *engine.Visit, _, _, n int) {
	p.block.Tick()
	*b = engine.Block{Need: n, Mover: trapMover{p.move, true}}
}

const (
	trapChunks = 6
	trapSize   = 16 << 10
)

// trapOptions returns options whose functions tick.
func trapOptions(codecs, filters, pre, post *trap.Trap, workers int) *options {
	o := &options{NoSync: true, Concurrency: workers, ChunkSize: trapSize, Overwrite: true}
	o.Codecs = []codec.Codec{trapCodec{codecs}}
	o.UserFilters = []chunk.UserFilter{trapFilter{filters}}
	o.Params = chunk.Params{TypeSize: 1, BlockSize: 1 << 10, Codec: codec.FromCode(200), Filters: []chunk.Filter{200}}
	o.Prefilter = func(dst, src []byte, _ chunk.BlockInfo) error { pre.Tick(); copy(dst, src); return nil }
	o.Postfilter = func(dst, src []byte, _ chunk.BlockInfo) error { post.Tick(); copy(dst, src); return nil }
	return o
}

// TestPanics lets every kind of function of the user panic, or call runtime.Goexit. The caller must get it, and the
// frame must then read and edit as before.
func TestPanics(t *testing.T) {
	off := new(trap.Trap)
	content := make([]byte, trapSize)
	for i := range content {
		content[i] = byte(i)
	}
	for _, workers := range []int{1, 4} {
		for _, goexit := range []bool{false, true} {
			if testing.Short() && goexit != (workers == 1) {
				continue // each value once
			}
			for _, kind := range []string{"memory", "file", "sparse", "locked"} {
				t.Run(fmt.Sprintf("%d/goexit=%v/%s", workers, goexit, kind), func(t *testing.T) {
					before := runtime.NumGoroutine()
					newTrap := func() *trap.Trap { return &trap.Trap{Goexit: goexit} }
					cod, fil, pre, post, rd, wr, tr := newTrap(), newTrap(), newTrap(), newTrap(), newTrap(), newTrap(), newTrap()
					b := newTrap()
					o := trapOptions(cod, fil, pre, post, workers)
					o.Sparse, o.Locking = kind == "sparse", kind == "locked" && storage.CanLock
					f := trapFrame(t, kind, o, &trapStorage{NewMemory(nil), rd, wr, tr}, content)
					use := func(what string, x *trap.Trap, call func() error) {
						t.Helper()
						n := f.NumChunks()
						x.Spring(t, what, call)
						if f.NumChunks() != n {
							t.Fatalf("%s: %d chunks, had %d", what, f.NumChunks(), n)
						}
						trapUse(t, what, f, content)
					}
					read := func() error {
						_, err := f.Content(t.Context()).ReadAt(make([]byte, trapChunks*trapSize), 0)
						return err
					}
					edit := func() error { return f.Append(t.Context(), content) }
					encode := func(s *trapSource) func() error {
						return func() error {
							return f.edit(context.Background(), func(b *Batch) error { return b.Engine().Encode(context.Background(), trapSize, s, 0) })
						}
					}
					for _, x := range []*trap.Trap{cod, fil, post} {
						use("ReadAt", x, read)
						use("ReadChunk", x, func() error { _, err := f.ReadChunk(t.Context(), nil, 0); return err })
						use("ReadBlock", x, func() error { _, err := f.ReadBlock(t.Context(), nil, 0, 1); return err })
						use("Verify", x, func() error { return f.Verify(context.Background(), func(err error) error { return err }) })
					}
					for _, x := range []*trap.Trap{cod, fil, pre} {
						use("Append", x, edit)
						use("Encode", x, encode(&trapSource{off, off, off, 0, trapChunks}))
						use("AppendBlocks", x, func() error { return one(f).AppendBlocks([][]byte{content, content}) })
						use("Create", x, func() error {
							_, err := CreateFunc(t.Context(), filepath.Join(t.TempDir(), "y"), func(b *Batch) error { return b.Append(t.Context(), content) }, o.create())
							return err
						})
					}
					use("WritePlan.Next", b, encode(&trapSource{b, off, off, 0, 2}))
					use("WritePlan.Block", b, encode(&trapSource{off, b, off, 0, 2}))
					use("Mover.Move, writing", b, encode(&trapSource{off, off, b, 0, 2}))
					plan := func(next, block, move *trap.Trap) func() error {
						return func() error {
							v, err := f.Engine().View(t.Context())
							must(t, err)
							defer v.Release()
							return v.Decode(context.Background(), &trapPlan{rangePlan{s: viewed(v), dst: make([]byte, 2*trapSize)}, next, block, move}, 1000, 0)
						}
					}
					use("ReadPlan.Next", b, plan(b, off, off))
					use("ReadPlan.Block", b, plan(off, b, off))
					use("Mover.Move, reading", b, plan(off, off, b))
					if kind == "memory" {
						use("Storage.ReadAt", rd, read)
						use("Storage.ReadAt of a chunk", rd, func() error { _, err := f.ReadRaw(t.Context(), nil, 0); return err })
						use("Storage.ReadAt of an edit", rd, func() error { return one(f).Delete(0) })
						use("Storage.WriteAt", wr, edit)
						tr.Spring(t, "Storage.Truncate", func() error { return one(f).Delete(f.NumChunks() - 1) })
						trapUse(t, "Storage.Truncate, after the commit", f, content)
					}
					trapBatch(t, f, pre, content)
					must(t, f.Close())
					for i := 0; runtime.NumGoroutine() > before; i++ {
						if i == 500 {
							t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
						}
						time.Sleep(10 * time.Millisecond)
					}
				})
			}
		}
	}
}

// trapFrame makes the frame of a test.
func trapFrame(t testing.TB, kind string, o *options, st *trapStorage, content []byte) *Frame {
	fill := func(b *Batch) error {
		for range trapChunks {
			if err := b.Append(t.Context(), content); err != nil {
				return err
			}
		}
		return nil
	}
	if kind != "memory" {
		f, err := CreateFunc(t.Context(), filepath.Join(t.TempDir(), "x"), fill, o.create())
		must(t, err)
		return f
	}
	m, err := CreateFunc(t.Context(), "", fill, o.memory())
	must(t, err)
	st.Memory = m.store.(*contiguous).Bytes.(*Memory)
	f, err := EditStorage(t.Context(), st, o.storage())
	must(t, err)
	return f
}

// trapUse reads and edits a frame, which must work.
func trapUse(t testing.TB, what string, f *Frame, content []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	got := make([]byte, f.Info().NBytes)
	if _, err := f.Content(ctx).ReadAt(got, 0); err != nil && err != io.EOF || !bytes.Equal(got, bytes.Repeat(content, f.NumChunks())) {
		t.Fatalf("%s: reading: %v", what, err)
	}
	b, err := f.Begin(ctx)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer b.Rollback()
	must(t, b.Append(ctx, content))
	must(t, b.Delete(0))
	must(t, b.Commit())
	if s := f.snap.Load(); s.readers.Load() != 0 || f.lock != nil && f.lock.InUse() {
		t.Fatalf("%s: %d readers, lock %+v", what, s.readers.Load(), f.lock)
	}
	verify(t, f)
	checkSpace(t, f)
}

// trapBatch wants a batch that a panic has left half done to fail when it is committed all the same.
func trapBatch(t *testing.T, f *Frame, x *trap.Trap, content []byte) {
	if x.Goexit {
		return // no goroutine is left to commit it
	}
	b, err := f.Begin(context.Background())
	must(t, err)
	src := &trapSource{new(trap.Trap), new(trap.Trap), new(trap.Trap), 0, 2}
	x.Spring(t, "Batch.Encode", func() error { return b.Engine().Encode(context.Background(), trapSize, src, 0) })
	if err := b.Commit(); !errors.Is(err, sched.ErrPanic) {
		t.Error(err)
	}
	trapUse(t, "Batch", f, content)
}

// TestPanicReports lets what Create, Verify and Salvage call, and the source of OpenReaderAt, panic.
func TestPanicReports(t *testing.T) {
	for _, goexit := range []bool{false, true} {
		b := &trap.Trap{Goexit: goexit}
		dir := t.TempDir()
		for _, sparse := range []bool{false, true} {
			name := filepath.Join(dir, fmt.Sprint("x", sparse))
			o := &options{NoSync: true, Locking: storage.CanLock, Sparse: sparse}
			b.Spring(t, "Create", func() error {
				_, err := CreateFunc(t.Context(), name, func(*Batch) error { b.Tick(); return nil }, o.create())
				return err
			})
			if _, err := os.Lstat(name); err == nil {
				t.Error("a frame was made")
			}
			left, err := filepath.Glob(name + "*tmp*")
			if err != nil || len(left) > 0 {
				t.Error("left:", left, err)
			}
			f, err := Create(t.Context(), name, o.create()) // the lock file is free
			must(t, err)
			must(t, f.Append(t.Context(), stamped(1, 1000)))
			must(t, f.Append(t.Context(), stamped(2, 1000)))
			must(t, f.Close())
		}
		name := filepath.Join(dir, "xfalse")
		raw, err := os.ReadFile(name)
		must(t, err)
		raw[len(raw)/3] ^= 1
		broken := filepath.Join(dir, "broken")
		must(t, os.WriteFile(broken, raw, 0o666))
		f, err := Open(t.Context(), broken, nil)
		must(t, err)
		b.Spring(t, "Verify", func() error { return f.Verify(context.Background(), func(error) error { b.Tick(); return nil }) })
		if n := f.snap.Load().readers.Load(); n != 0 {
			t.Error(n, "readers")
		}
		must(t, f.Close())
		fds := openFiles(t)
		b.Spring(t, "Salvage", func() error {
			_, _, err := Salvage(context.Background(), filepath.Join(dir, "new"), broken, func(error) { b.Tick() }, nil)
			return err
		})
		if n := openFiles(t); n != fds {
			t.Errorf("%d open files, %d before", n, fds)
		}
		raw, err = os.ReadFile(name)
		must(t, err)
		src := &trapStorage{NewMemory(raw), b, new(trap.Trap), new(trap.Trap)}
		f, err = OpenReaderAt(t.Context(), src, int64(len(raw)), &OpenOptions{Concurrency: 4})
		must(t, err)
		b.Spring(t, "ReadAt", func() error { _, err := f.Content(t.Context()).ReadAt(make([]byte, 8000), 0); return err })
		if _, err := f.Content(t.Context()).ReadAt(make([]byte, 8000), 0); err != nil {
			t.Error(err)
		}
		must(t, f.Close())
	}
}

// openFiles returns how many files this process has open, or 0 where that cannot be told.
func openFiles(t testing.TB) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// TestPanicCommit lets storage panic at each of the calls of a commit. The frame must then be readable, and, opened
// again, the state before or after.
func TestPanicCommit(t *testing.T) {
	for at := 1; ; at++ {
		m := NewMemory(nil)
		f, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.Append(t.Context(), stamped(1, 1000)) }, &CreateOptions{ChunkSize: 4000})
		must(t, err)
		raw, err := appendTo(f, nil)
		must(t, err)
		m.WriteAt(raw, 0)
		st := &countdown{Memory: m}
		f, err = EditStorage(t.Context(), st, nil)
		must(t, err)
		st.left = at
		panicked := true
		func() {
			defer func() { recover() }()
			must(t, f.Append(t.Context(), stamped(2, 1000)))
			panicked = false
		}()
		st.left = 0
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		b, err := f.Begin(ctx)
		if err == nil && st.torn {
			t.Fatalf("call %d: an edit of a frame whose header may be torn", at)
		}
		if err == nil {
			must(t, b.Append(ctx, stamped(3, 1000)))
			must(t, b.Commit())
		} else if !errors.Is(err, sched.ErrPanic) {
			t.Fatalf("call %d: %v", at, err)
		}
		cancel()
		verify(t, f)
		must(t, f.Close())
		g, err := OpenBytes(m.Bytes(), nil)
		must(t, err)
		verify(t, g)
		if !panicked {
			if at < 3 {
				t.Errorf("%d calls", at)
			}
			return
		}
	}
}

// countdown is a Storage that panics at one of its writing calls.
type countdown struct {
	*Memory
	left int  // writing calls up to the panic; 0 = none
	torn bool // the call that panics writes the header
}

func (c *countdown) tick() {
	if c.left > 0 {
		if c.left--; c.left == 0 {
			panic("countdown")
		}
	}
}

func (c *countdown) WriteAt(p []byte, off int64) (int, error) {
	if c.left == 1 {
		c.torn = off == 0
	}
	c.tick()
	return c.Memory.WriteAt(p, off)
}

func (c *countdown) Sync() error { c.tick(); return nil }
