package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
)

// noise returns n bytes that do not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// lean runs f and fails if it allocates more than the memory that needs no evidence.
func lean(t *testing.T, what string, f func()) {
	t.Helper()
	if n := allocated(f); n > coder.FreeBytes+16<<20 {
		t.Errorf("%s: %d bytes allocated", what, n)
	}
}

// TestHoleBehindChunk reads a chunk whose file has a hole of 2 GiB at its end.
func TestHoleBehindChunk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.b2frame")
	f, err := CreateFunc(t.Context(), name, func(b *Batch) error { return b.Append(t.Context(), small(1)) }, &CreateOptions{Sparse: true, NoSync: true})
	must(t, err)
	must(t, f.Close())
	must(t, os.Truncate(filepath.Join(name, chunkFileName(0)), 1<<31-100))
	f, err = Open(t.Context(), name, nil)
	must(t, err)
	defer f.Close()
	lean(t, "ReadAt", func() {
		p := make([]byte, len(small(1)))
		if _, err := f.Content(t.Context()).ReadAt(p, 0); err != nil || !bytes.Equal(p, small(1)) {
			t.Error(err)
		}
	})
	lean(t, "Verify", func() { must(t, f.Verify(context.Background(), func(err error) error { return err })) })
	if limit := f.Engine().AllocLimit(t.Context()); limit != coder.FreeBytes {
		t.Errorf("limit %d", limit)
	}
}

// TestHoleInChunk reads a chunk of 1 GiB of which all but the header is a hole, with the file read and mapped.
func TestHoleInChunk(t *testing.T) {
	const size = 1 << 30
	head := make([]byte, coder.HeaderSize)
	stored, err := chunk.Encode(nil, make([]byte, 64), chunk.Params{Level: codec.NoCompression})
	must(t, err)
	copy(head, stored)
	binary.LittleEndian.PutUint32(head[4:], size)
	binary.LittleEndian.PutUint32(head[8:], 1<<16)
	binary.LittleEndian.PutUint32(head[12:], size+coder.HeaderSize)
	for _, sparse := range []bool{true, false} {
		name := filepath.Join(t.TempDir(), "x.b2frame")
		f, err := CreateFunc(t.Context(), name, func(b *Batch) error {
			if err := b.Engine().FillSpecial(size, chunk.Zeros); err != nil {
				return err
			}
			b.next.index = newIndex([]entry{0}, nil)
			b.next.area += size + coder.HeaderSize
			return nil
		}, &CreateOptions{Sparse: sparse, NoSync: true, ChunkSize: size})
		must(t, err)
		at := int64(f.snap.Load().headerLen)
		must(t, f.Close())
		file := name
		if sparse {
			at, file = 0, filepath.Join(name, chunkFileName(0))
		}
		w, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o666)
		must(t, err)
		_, err = w.WriteAt(head, at)
		must(t, err)
		if sparse {
			must(t, w.Truncate(size+coder.HeaderSize))
		}
		must(t, w.Close())
		for _, o := range []*options{{}, {Mmap: true}, {MaxBytes: 1 << 20}} {
			if testing.Short() && o.Mmap == sparse {
				continue // each once
			}
			f, err := Open(t.Context(), name, o.open())
			must(t, err)
			lean(t, "ReadAt", func() {
				if _, err := f.Content(t.Context()).ReadAt(make([]byte, 10), 5); err != nil {
					t.Error(err)
				}
			})
			for what, read := range map[string]func() error{
				"ReadChunk": func() error { _, err := f.ReadChunk(t.Context(), nil, 0); return err },
				"ReadRaw":   func() error { _, err := f.ReadRaw(t.Context(), nil, 0); return err },
				"AppendTo":  func() error { _, err := appendTo(f, nil); return err },
			} {
				if testing.Short() && what != "ReadChunk" {
					continue // each looks at 64 MiB
				}
				lean(t, what, func() {
					if err := read(); !errors.Is(err, ErrTooLarge) {
						t.Errorf("%s, sparse %v, %+v: %v", what, sparse, o.Mmap, err)
					}
				})
			}
			if err := f.CheckAlloc(2 * coder.FreeBytes); err == nil || strings.Contains(err.Error(), "default limit") != (o.MaxBytes == 0) {
				t.Errorf("the hole counts, or the error names another limit: %v", err)
			}
			must(t, f.Close())
		}
	}
}

// TestCheckAllocInt expects that memory without an address is refused where addresses have 32 bits, also for a new
// frame. An int of WebAssembly has 64 bits.
func TestCheckAllocInt(t *testing.T) {
	f, err := Create(t.Context(), "", nil)
	must(t, err)
	defer f.Close()
	refused := math.MaxInt < math.MaxInt64 || runtime.GOARCH == "wasm"
	if err := f.CheckAlloc(math.MaxInt + int64(min(math.MaxInt64-math.MaxInt, 1))); errors.Is(err, ErrTooLarge) != refused {
		t.Error(err)
	}
	if err := f.CheckAlloc(1 << 30); err != nil {
		t.Error(err)
	}
}

// TestCapacity grows frames in memory, whose bytes are copied each time.
func TestCapacity(t *testing.T) {
	const large = 1 << 29
	for _, test := range []struct {
		length, n int
		estimate  int64
		want      int
	}{
		{100, 101, 0, 200}, {100, 300, 0, 300}, {100, 300, 1000, 1000}, {large - 1, large, 0, 2*large - 2}, {100, 300, 2 * large, 300},
		{large, large + 1, 0, large / 8 * 9}, {large, large + 1, 2 * large, large / 8 * 9}, {large, 2*large - 1, 0, 2*large - 1},
		{math.MaxInt - 1, math.MaxInt, 0, math.MaxInt},
	} {
		if got := capacity(test.length, test.n, test.estimate); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

// TestHoleInTail opens a frame whose trailer comes after a hole of 1 GiB.
func TestHoleInTail(t *testing.T) {
	const size = 1 << 30
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.Append(t.Context(), small(1)) }, nil)
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	n := int(binary.BigEndian.Uint32(b[len(b)-22:]))
	binary.BigEndian.PutUint64(b[offFrameLen:], size)
	name := filepath.Join(t.TempDir(), "x.b2frame")
	w, err := os.Create(name)
	must(t, err)
	_, err = w.Write(b[:len(b)-n])
	must(t, err)
	_, err = w.WriteAt(b[len(b)-n:], int64(size-n))
	must(t, err)
	must(t, w.Close())
	lean(t, "Open", func() {
		if _, err := Open(t.Context(), name, nil); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
}

// sharing returns a frame whose index references one chunk n times.
func sharing(t *testing.T, content []byte, n int, o *options) []byte {
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
		if err := b.Append(t.Context(), content); err != nil {
			return err
		}
		list, sums := make([]entry, n), []uint32(nil)
		for i := range list {
			list[i] = b.list()[0]
			if had := b.next.index.checksums; had != nil {
				sums = append(sums, had[0])
			}
		}
		b.next.index, b.next.nbytes = newIndex(list, sums), int64(n*len(content))
		return nil
	}, o.create())
	must(t, err)
	return bytes.Clone(f.store.(*contiguous).Bytes.(*Memory).Bytes())
}

// TestSharedChunkOnce copies, verifies and salvages a frame that references one chunk many times, and counts the blocks
// that are decoded and the bytes that are written.
func TestSharedChunkOnce(t *testing.T) {
	const n = 500
	content := noise(1 << 16)
	ctx := context.Background()
	for _, checksums := range []bool{false, true} {
		var decoded atomic.Int64
		o := &options{Checksums: checksums, Postfilter: func(dst, src []byte, _ chunk.BlockInfo) error {
			decoded.Add(1)
			copy(dst, src)
			return nil
		}}
		b := sharing(t, content, n, &options{Checksums: checksums})
		f, err := OpenBytes(b, o.bytes())
		must(t, err)
		must(t, f.Verify(ctx, func(err error) error { return err }))
		if k := decoded.Load(); k == 0 || k > 10 {
			t.Errorf("%d blocks decoded", k)
		}
		out, err := appendTo(f, nil)
		must(t, err)
		if len(out) > len(b)+4096 {
			t.Errorf("%d bytes became %d", len(b), len(out))
		}
		dir := t.TempDir()
		name := filepath.Join(dir, "x.b2frame")
		must(t, os.WriteFile(name, b, 0o666))
		for _, sparse := range []bool{false, true} {
			to := filepath.Join(dir, "copy")
			c, err := Copy(ctx, to, f, &CreateOptions{Sparse: sparse, NoSync: true, Overwrite: true})
			must(t, err)
			checkShared(t, c, content, n)
			decoded.Store(0)
			c, found, err := Salvage(ctx, to, name, nil, &CreateOptions{Sparse: sparse, NoSync: true, Overwrite: true, Postfilter: o.Postfilter})
			must(t, err)
			if k := decoded.Load(); found.Chunks != n || k == 0 || k > 20 {
				t.Errorf("%d chunks salvaged, %d blocks decoded", found.Chunks, k)
			}
			checkShared(t, c, content, n)
		}
		must(t, os.WriteFile(name, b, 0o666))
		c, err := Edit(ctx, name, &OpenOptions{NoSync: true})
		must(t, err)
		must(t, c.Compact(ctx))
		checkShared(t, c, content, n)
	}
}

// checkShared checks that a frame references one chunk n times, and that edits of one leave the others as they are.
func checkShared(t *testing.T, f *Frame, content []byte, n int) {
	t.Helper()
	if size, err := f.store.size(f.snap.Load()); err != nil || size > int64(2*len(content)) || f.NumChunks() != n {
		t.Errorf("%d chunks in %d bytes: %v", f.NumChunks(), size, err)
	}
	for i := range 5 {
		must(t, one(f).Update(i, noise(len(content) - 1 - i)[:len(content)-1-i]))
	}
	if got, err := f.ReadChunk(t.Context(), nil, n/2); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the chunk that others shared: %v", err)
	}
	must(t, f.Close())
}

// firstItems is a plan that reads or writes the first eight bytes of each chunk.
type firstItems struct {
	next int
	data []byte
}

func (p *firstItems) Next(v *engine.Visit) bool {
	v.Chunk, v.Blocks, v.Keep = p.next, append(v.Blocks[:0], 0), true
	p.next++
	return 8*v.Chunk < len(p.data)
}

func (p *firstItems) Block(b *engine.Block, v *engine.Visit, _, _, _ int) {
	b.Data, b.ItemSize, b.Need, b.Keep, b.Mover = p.data[8*v.Chunk:][:8], 8, 8, engine.KeepSome, nil
	b.Copy.Begin(0, 0, 8)
}

func (p *firstItems) Special(*engine.Visit, chunk.Special, []byte, int, int) error { return nil }

// TestLargeBlocks reads and writes items of a few bytes that decode to many blocks of 12 MiB. The memory must not grow
// with the number of goroutines.
func TestLargeBlocks(t *testing.T) {
	const size, n = 12 << 20, 12
	content := make([]byte, size)
	content[0], content[size-1] = 7, 1
	stored, err := chunk.Encode(nil, content, chunk.Params{
		TypeSize: 8, Filters: []chunk.Filter{chunk.Delta, chunk.BitShuffle}, BlockSize: size, Codec: codec.Zstd,
	})
	must(t, err)
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
		for range n {
			if err := b.AppendRaw(t.Context(), stored); err != nil {
				return err
			}
		}
		return nil
	}, &CreateOptions{Params: chunk.Params{TypeSize: 8, BlockSize: size, Codec: codec.LZ4}})
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	open := func(maxBytes int64) *Frame {
		f, err := EditStorage(t.Context(), NewMemory(bytes.Clone(b)), &OpenOptions{Concurrency: 12, MaxBytes: maxBytes})
		must(t, err)
		return f
	}
	p := &firstItems{data: make([]byte, 8*n)}
	f = open(16 << 20)
	lean(t, "Decode", func() { must(t, decodeAll(f, p)) })
	if want := bytes.Repeat(content[:8], n); !bytes.Equal(p.data, want) {
		t.Errorf("%x, want %x", p.data, want)
	}
	clear(p.data)
	p.next = 0
	f = open(16 << 20)
	w, err := f.Begin(t.Context())
	must(t, err)
	defer w.Rollback()
	if n := allocated(func() { must(t, w.Engine().Encode(t.Context(), size, p, 0)) }); n > 160<<20 {
		t.Errorf("Encode: %d bytes allocated", n)
	}
	for _, x := range []struct {
		maxBytes, size int64
		want           int
	}{{0, 8 << 20, 12}, {1 << 20, 8 << 20, 12}, {16 << 20, size, 1}, {100 << 20, size, 2}, {-1, size, 12}, {0, size, 1}} {
		if got := open(x.maxBytes).workersFor(t.Context(), 100, x.size); got != x.want {
			t.Errorf("MaxBytes %d, blocks of %d bytes: %d workers, want %d", x.maxBytes, x.size, got, x.want)
		}
	}
}

// TestOverlappingChunks edits and copies a frame with a chunk inside of another.
func TestOverlappingChunks(t *testing.T) {
	inner, err := chunk.Encode(nil, noise(500), chunk.Params{})
	must(t, err)
	outer, err := chunk.Encode(nil, append(append(noise(100), inner...), noise(3000)...), chunk.Params{Level: codec.NoCompression})
	must(t, err)
	for _, more := range []int{0, 1500} {
		f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
			b.next.chunkSize = 0 // variable
			for range more {
				must(t, b.Append(t.Context(), noise(20)))
			}
			must(t, b.AppendRaw(t.Context(), outer))
			must(t, b.AppendRaw(t.Context(), inner))
			list := b.list()
			list[more+1] = list[more] + coder.HeaderSize + 100
			return nil
		}, nil)
		must(t, err)
		b := bytes.Clone(f.store.(*contiguous).Bytes.(*Memory).Bytes())
		f, err = EditStorage(t.Context(), NewMemory(b), nil)
		must(t, err)
		if more == 0 {
			// The copy of the inner chunk, which no entry references, leaves space enough for both.
			if err := f.Verify(context.Background(), func(err error) error { return err }); err != nil {
				t.Error(err)
			}
		}
		must(t, one(f).Delete(more))
		for i := range 30 {
			must(t, f.Append(t.Context(), noise(800+i)))
		}
		if got, err := f.ReadChunk(t.Context(), nil, more); err != nil || !bytes.Equal(got, noise(500)) {
			t.Errorf("%d chunks before: the inner chunk was overwritten: %v", more, err)
		}
	}
}

// TestNestedChunks copies and verifies a frame of chunks that all lie in each other.
func TestNestedChunks(t *testing.T) {
	const depth = 200
	c := noise(2000)
	var at []entry
	for range depth {
		var err error
		c, err = chunk.Encode(nil, c, chunk.Params{Level: codec.NoCompression})
		must(t, err)
		at = append(at, entry(len(at)*coder.HeaderSize))
	}
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
		b.next.chunkSize = 0 // variable
		must(t, b.AppendRaw(t.Context(), c))
		b.next.index, b.next.nbytes = newIndex(at, nil), 0
		for i := range at {
			b.next.nbytes += int64(len(c) - (i+1)*coder.HeaderSize)
		}
		return nil
	}, nil)
	must(t, err)
	faults := 0
	must(t, f.Verify(context.Background(), func(error) error { faults++; return nil }))
	if faults != 1 {
		t.Errorf("%d faults", faults)
	}
	if _, err := appendTo(f, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("AppendTo: %v", err)
	}
}

// TestUniformEdits edits frames of many chunks in a few bytes.
func TestUniformEdits(t *testing.T) {
	make := func(n int64, special chunk.Special) *Frame {
		f, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.Engine().FillSpecial(80*n, special) }, &CreateOptions{ChunkSize: 80, Params: chunk.Params{TypeSize: 8}})
		must(t, err)
		f, err = EditStorage(t.Context(), NewMemory(bytes.Clone(f.store.(*contiguous).Bytes.(*Memory).Bytes())), nil)
		must(t, err)
		return f
	}
	const many = 1 << 27
	f := make(many, chunk.Zeros)
	lean(t, "Delete", func() { must(t, one(f).Delete(many/2)) })
	lean(t, "Reorder", func() {
		if err := one(f).Reorder([]int{0}); !errors.Is(err, ErrParam) {
			t.Error(err)
		}
	})
	lean(t, "SelectChunks", func() {
		must(t, f.edit(context.Background(), func(b *Batch) error {
			return b.Engine().SelectChunks(t.Context(), many+5, 80, func(i int64) int64 { return i })
		}))
	})
	if i := f.Info(); i.NumChunks != many+5 || i.NBytes != 80*(many+5) {
		t.Errorf("%d chunks, %d bytes", i.NumChunks, i.NBytes)
	}
	f = make(many, chunk.NaNs)
	for what, edit := range map[string]func(b *Batch) error{
		"SelectChunks": func(b *Batch) error {
			return b.Engine().SelectChunks(t.Context(), many+5, 80, func(i int64) int64 { return min(i, many-1) })
		},
		"Append": func(b *Batch) error { return b.Append(t.Context(), noise(80)) },
	} {
		lean(t, what, func() {
			if err := f.edit(t.Context(), edit); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	f = make(3, chunk.NaNs)
	must(t, one(f).Reorder([]int{2, 0, 1}))
	if f.snap.Load().index.list != nil {
		t.Error("the index is a list")
	}
}

// TestUnwritableFilters reads special chunks of the index of frames whose filters cannot be written.
func TestUnwritableFilters(t *testing.T) {
	ctx := context.Background()
	for _, filter := range []chunk.Filter{coder.ByteDeltaOld.With(4), chunk.TruncPrec, chunk.IntTrunc, chunk.NDCell, chunk.NDMean} {
		f, err := CreateFunc(ctx, "", func(b *Batch) error {
			if err := b.Engine().FillSpecial(10000, chunk.Zeros); err != nil {
				return err
			}
			b.next.pipeline[4] = filter
			return nil
		}, &CreateOptions{ChunkSize: 4000, Params: chunk.Params{TypeSize: 4}})
		must(t, err)
		name := filepath.Join(t.TempDir(), "x.b2frame")
		must(t, os.WriteFile(name, f.store.(*contiguous).Bytes.(*Memory).Bytes(), 0o666))
		check := func(f *Frame) {
			t.Helper()
			for i, n := range []int{4000, 4000, 2000} {
				if got, err := f.ReadChunk(ctx, nil, i); err != nil || !bytes.Equal(got, make([]byte, n)) {
					t.Errorf("%v: ReadChunk: %v", filter, err)
				}
				if _, err := f.ReadBlock(ctx, nil, i, 0); err != nil {
					t.Errorf("%v: ReadBlock: %v", filter, err)
				}
				if _, err := f.ReadRaw(ctx, nil, i); err != nil {
					t.Errorf("%v: ReadRaw: %v", filter, err)
				}
				if c, err := f.ChunkInfo(ctx, i); err != nil || c.Special != chunk.Zeros || c.NBytes != n {
					t.Errorf("%v: ChunkInfo: %+v, %v", filter, c, err)
				}
			}
			if err := f.Verify(ctx, func(err error) error { return err }); err != nil {
				t.Errorf("%v: Verify: %v", filter, err)
			}
			if f.snap.Load().pipeline[4] != filter {
				t.Errorf("%v became %v", filter, f.snap.Load().pipeline)
			}
		}
		f, err = Edit(ctx, name, &OpenOptions{NoSync: true})
		must(t, err)
		check(f)
		must(t, one(f).SetChecksums(ctx, true))
		must(t, f.Compact(ctx))
		must(t, one(f).Reorder([]int{1, 0, 2}))
		check(f)
		c, err := Copy(ctx, name+".copy", f, &CreateOptions{NoSync: true})
		must(t, err)
		check(c)
		must(t, c.Close())
		must(t, f.Close())
		c, found, err := Salvage(ctx, name+".salvaged", name, func(err error) { t.Errorf("%v: %v", filter, err) }, &CreateOptions{NoSync: true})
		must(t, err)
		if found.Lost > 0 {
			t.Errorf("%v: %+v", filter, found)
		}
		check(c)
		must(t, c.Close())
	}
}

// TestNegativeChunk checks that the error for a negative chunk number names it.
func TestNegativeChunk(t *testing.T) {
	f, err := Create(context.Background(), "", &CreateOptions{ChunkSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const want = "frame: chunk -1: the number of chunks is 0: "
	if _, err := f.ReadChunk(context.Background(), nil, -1); !errors.Is(err, ErrBounds) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
