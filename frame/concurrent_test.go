package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/blockcache"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/meta"
)

// stamped returns a chunk of a state: every item is the number of the state.
func stamped(state, n int) []byte {
	p := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(p[4*i:], uint32(state))
	}
	p[0], p[1], p[2], p[3] = byte(n), byte(n>>8), 0, 0 // so that it is no run
	return p
}

// TestConcurrentReaders reads a frame while it is edited, emptied and filled again. Each commit replaces all chunks by
// as many as the number of the commit says; every reader must see chunks of one commit only.
func TestConcurrentReaders(t *testing.T) {
	const items = 50
	for _, kind := range []string{"file", "memory", "sparse"} {
		t.Run(kind, func(t *testing.T) {
			f, _ := modelFrame(t, kind, 4*items)
			f.opts.Concurrency = 2
			var stop atomic.Bool
			var wg sync.WaitGroup
			var reads atomic.Int64
			for r := range 3 {
				wg.Go(func() {
					for !stop.Load() {
						if err := readState(f, r, items); err != nil {
							t.Error(err)
							return
						}
						reads.Add(1)
					}
				})
			}
			commits := 100
			if kind == "sparse" {
				commits = 40
			}
			for state := range commits {
				b, err := f.Begin(context.Background())
				must(t, err)
				for b.NumChunks() > state%7 {
					must(t, b.Delete(b.NumChunks()/2))
				}
				for i := range b.NumChunks() {
					must(t, b.Update(t.Context(), i, stamped(state, items)))
				}
				for b.NumChunks() < state%7 {
					must(t, b.Append(t.Context(), stamped(state, items)))
				}
				must(t, b.SetVLMeta("state", fmt.Append(nil, state)))
				if state%10 == 9 {
					b.Rollback()
					continue
				}
				must(t, b.Commit())
				checkSpace(t, f)
			}
			stop.Store(true)
			wg.Wait()
			verify(t, f)
			must(t, f.Close())
			t.Logf("%d reads", reads.Load())
		})
	}
}

// readState reads a frame in one of several ways and checks that all it sees is of one state.
func readState(f *Frame, how, items int) error {
	v, err := f.Engine().View(context.Background())
	if err != nil {
		return err
	}
	defer v.Release()
	n := v.Info().NBytes
	all := make([]byte, n)
	switch how {
	case 0:
		err = f.readRange(context.Background(), viewed(v), all, 0)
	case 1:
		var got int
		if got, err = f.Content(context.Background()).ReadAt(all, 0); errors.Is(err, io.EOF) {
			err = nil // a later state may be shorter
		}
		all = all[:got]
	default:
		var b []byte
		if b, err = appendTo(f, nil); err != nil {
			return err
		}
		g, err := OpenBytes(b, nil)
		if err != nil {
			return err
		}
		defer g.Close()
		all = make([]byte, g.Info().NBytes)
		if _, err := g.Content(context.Background()).ReadAt(all, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if err != nil {
		return err
	}
	if len(all)%(4*items) != 0 {
		return fmt.Errorf("%d bytes", len(all))
	}
	for i := 4; i < len(all); i += 4 {
		if i%(4*items) != 0 && !bytes.Equal(all[i:i+4], all[4:8]) {
			return fmt.Errorf("states %v and %v in one read", all[4:8], all[i:i+4])
		}
	}
	return nil
}

// TestConcurrentEdits lets several goroutines append; each edit must be there once.
func TestConcurrentEdits(t *testing.T) {
	f, _ := modelFrame(t, "memory", 0)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 25 {
				if err := f.Append(t.Context(), stamped(100*g+i, 10)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	seen := map[uint32]int{}
	for i := range f.NumChunks() {
		b, err := f.ReadChunk(t.Context(), nil, i)
		must(t, err)
		seen[binary.LittleEndian.Uint32(b[4:])]++
	}
	for g := range 4 {
		for i := range 25 {
			if seen[uint32(100*g+i)] != 1 {
				t.Errorf("chunk %d of goroutine %d is there %d times", i, g, seen[uint32(100*g+i)])
			}
		}
	}
}

// encodePlan is an engine.WritePlan for a test.
type encodePlan struct {
	chunks []int
	keep   bool
	block  func(dst []byte, chunk, at int) error
}

func (e *encodePlan) Next(v *engine.Visit) bool {
	if len(e.chunks) == 0 {
		return false
	}
	v.Chunk, e.chunks, v.Keep = e.chunks[0], e.chunks[1:], e.keep
	return true
}

func (e *encodePlan) Block(b *engine.Block, v *engine.Visit, k, at, n int) {
	*b = engine.Block{Keep: engine.KeepSome, Mover: encodeMover{e, v.Chunk, at}}
}

// encodeMover makes a block for a test.
type encodeMover struct {
	*encodePlan
	chunk, at int
}

func (m encodeMover) Move(block []byte, _ bool) error { return m.block(block, m.chunk, m.at) }
func (m encodeMover) Unshuffle(coder.Shuffled) bool   { return false }

// TestEncode writes chunks block by block on many goroutines, changes them, and compares with one goroutine.
func TestEncode(t *testing.T) {
	ctx := context.Background()
	const size = 10000
	var first []byte
	for _, workers := range []int{1, 2, 7} {
		f, err := Create(ctx, "", &CreateOptions{Params: chunk.Params{TypeSize: 4, BlockSize: 1600}, ChunkSize: size, Concurrency: workers})
		must(t, err)
		b, err := f.Begin(context.Background())
		must(t, err)
		must(t, b.Engine().Encode(ctx, size, &encodePlan{chunks: []int{0, 1, 2, 3, 4, 5, 6, 7}, block: func(dst []byte, chunk, at int) error {
			for i := range dst {
				dst[i] = byte(chunk + (at+i)/11)
			}
			return nil
		}}, 0))
		must(t, b.Engine().Encode(ctx, size, &encodePlan{chunks: []int{3, 1, 8, 5}, keep: true, block: func(dst []byte, chunk, at int) error {
			if chunk == 8 {
				clear(dst)
			}
			for i := range dst {
				if (at+i)%3 == 0 {
					dst[i] ^= 0x55
				}
			}
			return nil
		}}, 0))
		must(t, b.Commit())
		verify(t, f)
		for c := range 9 {
			got, err := f.ReadChunk(ctx, nil, c)
			must(t, err)
			for i := range got {
				want := byte(c + i/11)
				if c == 8 {
					want = 0
				}
				if (c == 8 || c == 3 || c == 1 || c == 5) && i%3 == 0 {
					want ^= 0x55
				}
				if got[i] != want {
					t.Fatalf("%d workers: chunk %d byte %d: %d, want %d", workers, c, i, got[i], want)
				}
			}
		}
		out, err := appendTo(f, nil)
		must(t, err)
		if first == nil {
			first = out
		} else if !bytes.Equal(out, first) {
			t.Errorf("%d workers make other bytes than one", workers)
		}
	}
}

// TestEncodeCost checks that a write in a batch allocates no memory in proportion to the number of chunks. The writes
// keep parts of many chunks, in any order, on many goroutines.
func TestEncodeCost(t *testing.T) {
	ctx := context.Background()
	const size, n, calls, width = 64, 200_000, 20, 50
	for _, sums := range []bool{false, true} {
		f, err := Create(ctx, "", &CreateOptions{Params: chunk.Params{TypeSize: 4}, ChunkSize: size, Checksums: sums, Concurrency: 4})
		must(t, err)
		b, err := f.Begin(ctx)
		must(t, err)
		defer b.Rollback()
		must(t, b.Engine().FillSpecial(n*size, chunk.Zeros))
		write := func(call int) {
			order := rand.New(rand.NewPCG(uint64(call), 0)).Perm(width)
			must(t, b.Engine().Encode(ctx, size, &encodePlan{chunks: order, keep: true, block: func(dst []byte, chunk, _ int) error {
				dst[0]++
				dst[1+call], dst[40] = byte(chunk+call), byte(chunk)
				return nil
			}}, 0))
		}
		write(0) // makes the batch's own index
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for call := range calls {
			write(1 + call)
		}
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) / calls; got > 4*n {
			t.Errorf("checksums %v: a write of %d chunks allocates %d bytes in a frame of %d chunks", sums, width, got, n)
		}
		must(t, b.Commit())
		for c := range width {
			got, err := f.ReadChunk(ctx, nil, c)
			must(t, err)
			want := make([]byte, size)
			want[0], want[40] = 1+calls, byte(c)
			for call := range 1 + calls {
				want[1+call] = byte(c + call)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("checksums %v: chunk %d: %v, want %v", sums, c, got, want)
			}
		}
		verify(t, f)
	}
}

// TestEncodeErrors checks that an error of the source ends the batch, and that nothing of it is left.
func TestEncodeErrors(t *testing.T) {
	ctx := context.Background()
	boom := errors.New("boom")
	for _, workers := range []int{1, 4} {
		f, _ := modelFrame(t, "memory", 400)
		f.opts.Concurrency = workers
		must(t, f.Append(ctx, make([]byte, 400)))
		b, err := f.Begin(context.Background())
		must(t, err)
		fails := func(dst []byte, chunk, _ int) error {
			if chunk == 3 {
				return boom
			}
			return nil
		}
		if err := b.Engine().Encode(ctx, 400, &encodePlan{chunks: []int{1, 2, 3, 4}, block: fails}, 0); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		if err := b.Engine().Encode(ctx, 400, &encodePlan{chunks: []int{1}, block: func([]byte, int, int) error { return nil }}, 0); !errors.Is(err, boom) {
			t.Error("the batch goes on:", err)
		}
		if err := b.Commit(); !errors.Is(err, boom) {
			t.Error("commit:", err)
		}
		if f.NumChunks() != 1 {
			t.Error(f.Info())
		}
		b, err = f.Begin(context.Background())
		must(t, err)
		if err := b.Engine().Encode(ctx, 400, &encodePlan{chunks: []int{7}, keep: true}, 0); !errors.Is(err, ErrBounds) {
			t.Error(err)
		}
		b.Rollback()
		done, cancel := context.WithCancel(ctx)
		cancel()
		b, err = f.Begin(context.Background())
		must(t, err)
		if err := b.Engine().Encode(done, 400, &encodePlan{chunks: []int{0}}, 0); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		b.Rollback()
		checkSpace(t, f)
		verify(t, f)
	}
}

// TestClose closes a frame with an open batch. The batch still takes edits, but its commit, reads and new edits must
// return fs.ErrClosed. The file must keep the last commit.
func TestClose(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	f, err := Create(t.Context(), name, &CreateOptions{NoSync: true})
	must(t, err)
	must(t, f.Append(t.Context(), stamped(1, 10)))
	b, err := f.Begin(context.Background())
	must(t, err)
	must(t, b.Append(t.Context(), stamped(2, 10)))
	must(t, f.Close())
	must(t, f.Close())
	if err := b.Append(t.Context(), stamped(3, 10)); err != nil {
		t.Error("the open batch:", err)
	}
	if err := b.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	b.Rollback()
	if err := b.Append(t.Context(), nil); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if _, err := f.Content(t.Context()).ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if _, err := f.Begin(context.Background()); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := f.Append(t.Context(), stamped(2, 10)); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	f, err = Open(t.Context(), name, nil)
	must(t, err)
	verify(t, f)
	if f.NumChunks() != 1 {
		t.Error(f.Info())
	}
	if err := f.Append(t.Context(), stamped(2, 10)); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	must(t, f.Close())
}

// TestCache reads bytes here and there while commits change them all: every read must see one state, whatever is kept.
func TestCache(t *testing.T) {
	const chunks, size = 4, 4096
	state := func(n int) []byte { return bytes.Repeat([]byte{byte(n), 1, 2, 3}, size/4) }
	o := &options{Cache: 16 << 10, NoSync: true, ChunkSize: size, Params: chunk.Params{TypeSize: 4, BlockSize: 512}, Concurrency: 1}
	name := filepath.Join(t.TempDir(), "f")
	f, err := CreateFunc(t.Context(), name, func(b *Batch) error {
		for range chunks {
			if err := b.Append(t.Context(), state(0)); err != nil {
				return err
			}
		}
		return nil
	}, o.create())
	must(t, err)
	must(t, f.Close())
	f, err = Edit(t.Context(), name, o.edit())
	must(t, err)
	defer f.Close()
	var wg sync.WaitGroup
	done := make(chan bool)
	for g := range uint64(3) {
		wg.Go(func() {
			rng, p := rand.New(rand.NewPCG(g, 1)), make([]byte, 100)
			last := byte(0)
			for {
				select {
				case <-done:
					return
				default:
				}
				off := rng.IntN(chunks*size-len(p)) &^ 3
				if _, err := f.Content(t.Context()).ReadAt(p, int64(off)); err != nil {
					t.Error(err)
					return
				}
				if p[0] < last || !bytes.Equal(p, bytes.Repeat([]byte{p[0], 1, 2, 3}, 25)) {
					t.Errorf("after state %d: % x", last, p)
					return
				}
				last = p[0]
			}
		})
	}
	for n := 1; n <= 30; n++ {
		err := f.edit(context.Background(), func(b *Batch) error {
			for i := range chunks {
				if err := b.Update(t.Context(), i, state(n)); err != nil {
					return err
				}
			}
			return nil
		})
		must(t, err)
		var p [4]byte
		for range 2 {
			if _, err := f.Content(t.Context()).ReadAt(p[:], 3*size); err != nil || p[0] != byte(n) {
				t.Errorf("state %d: % x, error %v", n, p, err)
			}
		}
		if n%10 == 0 {
			_, err := f.Refresh(t.Context())
			must(t, err)
		}
	}
	close(done)
	wg.Wait()
	if n := len(f.cache.Keys()); int64(n)*(512+blockcache.Overhead) > f.cache.Most() {
		t.Errorf("%d blocks of 512 bytes, at most %d bytes", n, f.cache.Most())
	}
}

// TestCacheUsed counts the decoded blocks that the cache saves, and checks that cached blocks are read without
// allocating.
func TestCacheUsed(t *testing.T) {
	data := stamped(7, 16<<10)
	o := &options{Cache: 8 * (1<<10 + blockcache.Overhead), Params: chunk.Params{TypeSize: 4, BlockSize: 1 << 10}, Concurrency: 1}
	name := filepath.Join(t.TempDir(), "f")
	f, err := CreateFunc(t.Context(), name, func(b *Batch) error { return b.Append(t.Context(), data) }, o.create())
	must(t, err)
	must(t, f.Close())
	f, err = Open(t.Context(), name, o.open())
	must(t, err)
	defer f.Close()
	read := func(off, n int) {
		p := make([]byte, n)
		if _, err := f.Content(t.Context()).ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, data[off:off+n]) {
			t.Fatalf("%d bytes at %d: other content, error %v", n, off, err)
		}
	}
	keys := func() string {
		var s []int
		for _, key := range f.cache.Keys() {
			s = append(s, key.Block)
		}
		return fmt.Sprint(s)
	}
	for k := range 10 {
		read(k<<10, 8)
	}
	read(3<<10, 4)
	if got := keys(); got != "[3 9 8 7 6 5 4 2]" {
		t.Error(got)
	}
	read(0, 32<<10) // too much to be kept
	if got := keys(); got != "[3 9 8 7 6 5 4 2]" {
		t.Error(got)
	}
	_, err = f.Refresh(t.Context())
	must(t, err)
	if got := keys(); got != "[]" {
		t.Error(got)
	}
}

// TestCacheQuarter reads items of blocks that take a quarter of the cache, or a little more. Only the former are kept.
func TestCacheQuarter(t *testing.T) {
	for _, size := range []int{256, 4 << 10, 256 << 10} {
		for _, more := range []int{0, 8} {
			o := &options{Cache: int64(4 * size), Params: chunk.Params{TypeSize: 4, BlockSize: size + more}, Concurrency: 1}
			name := filepath.Join(t.TempDir(), "f")
			f, err := CreateFunc(t.Context(), name, func(b *Batch) error { return b.Append(t.Context(), stamped(7, 4*(size+more))) }, o.create())
			must(t, err)
			must(t, f.Close())
			f, err = Open(t.Context(), name, o.open())
			must(t, err)
			var p [4]byte
			_, err = f.Content(t.Context()).ReadAt(p[:], 0)
			must(t, err)
			if got := len(f.cache.Keys()); (got == 1) != (more == 0) {
				t.Errorf("blocks of %d bytes, %d bytes of cache: %d blocks", size+more, 4*size, got)
			}
			must(t, f.Close())
		}
	}
}

// TestLockRace lets two processes with a lock file edit, read and replace a frame at the same time. Both must succeed,
// and each read must find the state of one commit.
func TestLockRace(t *testing.T) {
	if !storage.CanLock {
		t.Skip("no file locks on this system")
	}
	type call func(o *CreateOptions, f *Frame) error
	edit := func(sizes ...int) call { // version k has 2 chunks if k is even, and 3 if it is odd
		return func(_ *CreateOptions, f *Frame) error {
			for _, k := range sizes {
				if err := f.edit(t.Context(), func(b *Batch) error { return version(b, k, 2+k%2) }); err != nil {
					return err
				}
			}
			return f.Compact(t.Context())
		}
	}
	read := func(_ *CreateOptions, f *Frame) error {
		v, err := f.Engine().View(t.Context())
		if err != nil {
			return err
		}
		defer v.Release()
		all := make([]byte, v.Info().NBytes)
		k, _ := v.MetaLayer("k")
		err = v.Decode(t.Context(), &rangePlan{s: viewed(v), dst: all}, 1000, 0)
		if err == nil && !bytes.Equal(all, bytes.Repeat(stamped(int(k[0]), 10), 2+int(k[0])%2)) {
			err = fmt.Errorf("version %d, content %x", k, all)
		}
		return err
	}
	create := func(o *CreateOptions, _ *Frame) error {
		f, err := CreateFunc(t.Context(), "x", func(b *Batch) error { return version(b, 8, 2) }, o)
		if err == nil {
			err = f.Close()
		}
		return err
	}
	pairs := 0
	for _, sparse := range []bool{false, true} {
		o := CreateOptions{Sparse: sparse, Locking: true, Overwrite: true, NoSync: true, ChunkSize: 40, Concurrency: 1,
			Meta: []meta.Layer{{Name: "k", Content: []byte{0}}}}
		made := simulated.New()
		o.sys = made
		must(t, create(&o, nil))
		for i, c := range [][2]call{{edit(1), edit(2)}, {edit(1, 2), read}, {read, edit(1)}, {edit(1), create}, {create, read}} {
			if i > 2 && sparse {
				continue // the lock file is in the directory that is replaced
			}
			pairs += interleave(t, 4, func() simulated.Rivals {
				o := o
				s := simulated.On(made.Image.Clone())
				o.sys = s
				var f [2]*Frame
				var errs [2]error
				for i := range f {
					var err error
					f[i], err = Edit(t.Context(), "x", &OpenOptions{Locking: true, NoSync: true, Concurrency: 1, sys: s})
					must(t, err)
				}
				return simulated.Rivals{System: s, A: func() { errs[0] = c[0](&o, f[0]) }, B: func() { errs[1] = c[1](&o, f[1]) }, Check: func() error {
					defer f[0].Close()
					return errors.Join(errs[0], errs[1], f[1].Close(), read(nil, f[0]), f[0].Verify(t.Context(), nil))
				}}
			})
		}
	}
	t.Log(pairs, "pairs")
}
