package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/blocktable"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// tabled returns options for a frame with small blocks and a block table.
func tabled() *CreateOptions {
	return &CreateOptions{Params: chunk.Params{TypeSize: 4, BlockSize: 4096, Codec: codec.LZ4}, ChunkSize: 64 << 10, BlockTable: true}
}

// checkTable compares the block table of a frame with the chunks.
func checkTable(t *testing.T, f *Frame) {
	t.Helper()
	s := f.snap.Load()
	if !f.Info().BlockTable {
		t.Fatal("no block table")
	}
	located := 0
	for i := range s.index.n {
		table := f.tableOf(s, i)
		e := s.index.at(i)
		if e < 0 {
			if table != nil {
				t.Errorf("a table for special chunk %d", i)
			}
			continue
		}
		raw, err := f.rawChunk(s.src, nil, s, i)
		must(t, err)
		var r coder.Reader
		_, err = r.Locate(raw, int64(len(raw)))
		must(t, err)
		if !r.Located() || table == nil || table.NumBlocks() != r.NumBlocks || table.End() != int64(len(raw)) {
			t.Fatalf("chunk %d: %v", i, table)
		}
		for k, x := range table.Ranges() {
			if from, to := r.BlockRange(k); x.Off != int64(from) || x.End() != int64(to) {
				t.Errorf("block %d of chunk %d: %v, want %d to %d", k, i, x, from, to)
			}
		}
		located++
	}
	if located == 0 {
		t.Error("no chunk is located")
	}
}

// TestBlockTable makes block tables, and changes, copies and compacts their frames.
func TestBlockTable(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(1, 9))
	for _, checksums := range []bool{false, true} {
		for _, kind := range []string{"memory", "file", "sparse"} {
			o, name := tabled(), ""
			if o.Checksums = checksums; kind != "memory" {
				name = filepath.Join(t.TempDir(), "a.b2frame")
				o.Sparse = kind == "sparse"
			}
			chunks := randomWalks(rng, 5, 64<<10)
			clear(chunks[2])
			f := createOf(t, name, o, chunks)
			checkTable(t, f)
			if slices.Contains(f.VLMetaNames(), blockLayer) {
				t.Error(f.VLMetaNames())
			}
			if err := one(f).SetVLMeta(blockLayer, []byte("x")); !errors.Is(err, ErrParam) {
				t.Error(err)
			}
			must(t, one(f).SetVLMeta("other", []byte("x"))) // keeps the table
			checkTable(t, f)
			if kind == "file" {
				must(t, f.Compact(ctx))
				checkTable(t, f)
			}
			var b bytes.Buffer
			_, err := f.Save(ctx, &b)
			must(t, err)
			saved, err := OpenBytes(b.Bytes(), &OpenOptions{Verify: checksums})
			must(t, err)
			checkTable(t, saved)
			copied, err := Copy(ctx, "", saved, nil)
			must(t, err)
			checkTable(t, copied)
			verify(t, copied)

			must(t, f.Append(ctx, randomWalk(rng, 64<<10)))
			if f.Info().BlockTable {
				t.Error("the table is that of other chunks")
			}
			verify(t, f)
			must(t, f.Close())
		}
	}
}

// unreadable is a Storage whose bytes cannot be read, as those of an object that is being uploaded.
type unreadable struct{ Memory }

func (*unreadable) ReadAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }

// TestBlockTableUnreadable creates a frame with a block table in a Storage that cannot be read.
func TestBlockTableUnreadable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	st := &unreadable{}
	o := tabled()
	o.Storage = st
	f := createOf(t, "", o, randomWalks(rng, 3, 64<<10))
	must(t, f.Close())
	f, err := OpenBytes(st.Bytes(), nil)
	must(t, err)
	checkTable(t, f)
	verify(t, f)
}

// TestBlockTableDamage copies a frame with a block table and damaged positions of blocks, as without the table.
func TestBlockTableDamage(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(4, 9))
	o := tabled()
	raw, err := chunk.Encode(nil, randomWalk(rng, 64<<10), o.Params)
	must(t, err)
	bad := bytes.Clone(raw)
	binary.LittleEndian.PutUint32(bad[coder.HeaderSize:], 1) // a position in the header
	f, err := CreateFunc(ctx, "", func(b *Batch) error {
		return errors.Join(b.AppendRaw(ctx, raw), b.AppendRaw(ctx, bad))
	}, o)
	must(t, err)
	f, err = Copy(ctx, "", f, nil)
	must(t, err)
	if s := f.snap.Load(); f.tableOf(s, 0) == nil || f.tableOf(s, 1) != nil {
		t.Error("want a table of the first chunk only")
	}
}

// randomWalks returns n chunks of size bytes. See randomWalk.
func randomWalks(rng *rand.Rand, n, size int) [][]byte {
	var list [][]byte
	for range n {
		list = append(list, randomWalk(rng, size))
	}
	return list
}

// createOf creates a frame of chunks.
func createOf(t *testing.T, name string, o *CreateOptions, chunks [][]byte) *Frame {
	t.Helper()
	f, err := CreateFunc(t.Context(), name, func(b *Batch) error {
		for _, c := range chunks {
			if err := b.Append(t.Context(), c); err != nil {
				return err
			}
		}
		return nil
	}, o)
	must(t, err)
	return f
}

// randomWalk returns n bytes of items of 4 bytes that compress to about a half.
func randomWalk(rng *rand.Rand, n int) []byte {
	b := make([]byte, 0, n)
	v := rng.Uint32()
	for len(b) < n {
		v += rng.Uint32N(1 << 14)
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// rangesOf is a Source that reads many ranges at once.
type rangesOf []byte

func (s rangesOf) Size() int64 { return int64(len(s)) }

func (s rangesOf) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	return bytes.NewReader(s).ReadAt(p, off)
}

func (s rangesOf) ReadRanges(_ context.Context, want []Range, got func(i int, at int64, b []byte) error) error {
	for i, w := range want {
		if w.Off < 0 || w.Len < 0 || w.End() > int64(len(s)) {
			return io.ErrUnexpectedEOF
		}
		if err := got(i, 0, s[w.Off:w.End()]); err != nil {
			return err
		}
	}
	return nil
}

// TestBlockTableTooLong creates a frame with more blocks than a table may have.
func TestBlockTableTooLong(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(7, 9))
	f, err := CreateFunc(ctx, "", func(b *Batch) error {
		err := b.Append(ctx, randomWalk(rng, 64<<10))
		b.notes[b.next.index.at(0)] = make([]byte, 4*blocktable.MaxLen+4)
		return err
	}, tabled())
	must(t, err)
	if f.Info().BlockTable {
		t.Error("the table is too long")
	}
	verify(t, f)
}

// TestBlockTableSalvage salvages frames with block tables and as many other metalayers as can be written.
func TestBlockTableSalvage(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(8, 9))
	for _, had := range []bool{false, true} {
		n := meta.MaxVLLayersWrite
		if had {
			n--
		}
		name, o := filepath.Join(t.TempDir(), "a.b2frame"), tabled()
		o.BlockTable = had
		f, err := CreateFunc(ctx, name, func(b *Batch) error {
			for i := range n {
				if err := b.SetVLMeta(fmt.Sprint("layer", i), []byte("x")); err != nil {
					return err
				}
			}
			return b.Append(ctx, randomWalk(rng, 64<<10))
		}, o)
		must(t, err)
		must(t, f.Close())
		f, _, err = Salvage(ctx, "", name, nil, &CreateOptions{BlockTable: !had})
		must(t, err)
		checkTable(t, f)
		verify(t, f)
		if k := len(f.VLMetaNames()); k != meta.MaxVLLayersWrite-1 {
			t.Errorf("%d metalayers", k)
		}
	}
}

// countedRanges counts the calls of ReadRanges and the bytes that it reads.
type countedRanges struct {
	rangesOf
	calls int
	bytes int64
}

func (s *countedRanges) ReadRanges(ctx context.Context, want []Range, got func(i int, at int64, b []byte) error) error {
	s.calls++
	for _, w := range want {
		s.bytes += w.Len
	}
	return s.rangesOf.ReadRanges(ctx, want, got)
}

// TestBlockTableAutomatic reads a few items of a frame whose header has no block size. The table must not make it read
// the whole chunk.
func TestBlockTableAutomatic(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(5, 9))
	o := tabled()
	o.ChunkSize, o.Params.BlockSize = 8<<20, 0
	chunks := randomWalks(rng, 2, o.ChunkSize)
	plain := slices.Concat(chunks...)
	f := createOf(t, "", o, chunks)
	checkTable(t, f)
	var saved bytes.Buffer
	_, err := f.Save(ctx, &saved)
	must(t, err)
	src := &countedRanges{rangesOf: saved.Bytes()}
	far, err := OpenSource(ctx, src, nil)
	must(t, err)
	defer far.Close()
	got, at := make([]byte, 100), int64(11<<20)
	_, err = far.Content(ctx).ReadAt(got, at)
	must(t, err)
	if !bytes.Equal(got, plain[at:][:len(got)]) {
		t.Error("wrong content")
	}
	if size := far.snap.Load().likelyBlock(1); src.calls != 1 || src.bytes > int64(size)+headBytes {
		t.Errorf("%d calls, %d bytes, for blocks of %d", src.calls, src.bytes, size)
	}
}

// TestHostileBlockTable opens frames whose tables have many empty blocks, which must not take memory or time.
func TestHostileBlockTable(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(6, 9))
	plain := randomWalk(rng, 64<<10)
	f, err := CreateFunc(ctx, "", func(b *Batch) error { return b.Append(ctx, plain) }, tabled())
	must(t, err)
	must(t, f.edit(ctx, func(b *Batch) error {
		const n = blocktable.MaxLen / 2
		blocks := make([]byte, 4*(n+2))
		binary.LittleEndian.PutUint32(blocks, n)
		content, err := meta.Marshal(blocktable.Record{Version: 1, Blocks: blocks})
		if err != nil {
			return err
		}
		stored, err := b.f.plain.Encode(nil, content, blocktable.Params())
		b.next.vlmeta = withLayer(b.next.vlmeta, blockLayer, stored)
		return err
	}))
	var saved bytes.Buffer
	_, err = f.Save(ctx, &saved)
	must(t, err)
	far, err := OpenSource(ctx, rangesOf(saved.Bytes()), nil)
	must(t, err)
	defer far.Close()
	s := far.snap.Load()
	far.tableOf(s, 0) // the table itself is decoded once
	if s.table.Chunk(0) == nil {
		t.Fatal("the table was not decoded")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := make([]byte, 100)
	_, err = far.Content(ctx).ReadAt(got, 30_000)
	must(t, err)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 || !bytes.Equal(got, plain[30_000:][:len(got)]) {
		t.Errorf("reading 100 bytes took %d bytes of memory", n)
	}
}

// TestWrongBlockTable reads frames whose block table is wrong, as after edits by other libraries.
func TestWrongBlockTable(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(2, 9))
	used, frames := 0, 150
	if testing.Short() {
		frames = 30
	}
	for range frames {
		o := tabled()
		if rng.IntN(3) == 0 {
			o.Params.Filters = []chunk.Filter{chunk.Delta, chunk.Shuffle}
		}
		chunks := randomWalks(rng, 1+rng.IntN(4), 64<<10)
		plain := slices.Concat(chunks...)
		f := createOf(t, "", o, chunks)
		must(t, f.edit(ctx, func(b *Batch) error { return b.damageTable(rng) }))
		var saved bytes.Buffer
		_, err := f.Save(ctx, &saved)
		must(t, err)
		far, err := OpenSource(ctx, rangesOf(saved.Bytes()), nil)
		must(t, err)
		if far.tableOf(far.snap.Load(), 0) != nil {
			used++
		}
		content := far.Content(ctx)
		for range 6 {
			got := make([]byte, 1+rng.IntN(20_000))
			at := rng.Int64N(int64(len(plain) - len(got)))
			if _, err := content.ReadAt(got, at); err != nil || !bytes.Equal(got, plain[at:][:len(got)]) {
				t.Fatal("wrong content", err)
			}
		}
		must(t, far.Close())
		must(t, f.Close())
	}
	if used < frames/3 {
		t.Errorf("%d tables were used", used)
	}
}

// damageTable changes the block table at random.
func (b *Batch) damageTable(rng *rand.Rand) error {
	content, err := b.f.vlContent(b.next.vlmeta[findLayer(b.next.vlmeta, blockLayer)])
	if err != nil {
		return err
	}
	var r blocktable.Record
	if err := meta.Unmarshal(content, &r); err != nil {
		return err
	}
	for range rng.IntN(20) {
		k := rng.IntN(len(r.Blocks)/4) * 4
		v := binary.LittleEndian.Uint32(r.Blocks[k:])
		switch rng.IntN(4) {
		case 0:
			v = rng.Uint32N(5000)
		case 1:
			v += rng.Uint32N(9) - 4
		case 2:
			v = rng.Uint32()
		}
		if v > 1<<16 && rng.IntN(4) > 0 || k == 0 && rng.IntN(4) > 0 {
			continue
		}
		binary.LittleEndian.PutUint32(r.Blocks[k:], v)
	}
	if rng.IntN(8) == 0 {
		r.Blocks = r.Blocks[:rng.IntN(len(r.Blocks))]
	}
	if content, err = meta.Marshal(r); err != nil {
		return err
	}
	stored, err := b.f.plain.Encode(nil, content, blocktable.Params())
	if err != nil {
		return err
	}
	b.next.vlmeta = withLayer(b.next.vlmeta, blockLayer, stored)
	b.next.tabled = b.next.index
	return nil
}

// The beginnings of chunks that are kept take no more memory than the limit, also if they are short.
func TestHeadsMemory(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	var h heads
	for i := range int64(200_000) {
		h.put(i, make([]byte, 32))
		h.put(i, make([]byte, 32))
	}
	if n := heap() - before; n > maxHeads*3/2 || len(h.list) < 10_000 {
		t.Errorf("%d bytes for %d beginnings, limit %d", n, len(h.list), maxHeads)
	}
	runtime.KeepAlive(&h)
}
