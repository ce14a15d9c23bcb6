package interop

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// The tests of this file check defects of the reference and differences that docs/INTEROP.md lists. If one of them
// fails because the reference has changed, correct that page.

// counting returns n bytes of different items of four bytes.
func counting(n int) []byte {
	b := make([]byte, n)
	items(b, 4, func(i int) uint64 { return uint64(i) * 1000 })
	return b
}

// newFrame creates a frame file with chunks of at most size bytes.
func newFrame(t *testing.T, size int, p chunk.Params, chunks ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "frame.b2frame")
	f, err := frame.CreateFunc(ctx, path, func(b *frame.Batch) error {
		for _, c := range chunks {
			if err := b.Append(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{Params: p, ChunkSize: size, NoSync: true})
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// refOpen opens a frame file with the reference.
func refOpen(t *testing.T, path string) *ref.SChunk {
	t.Helper()
	s, err := ref.OpenSChunk(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestSlicesOfBlockSize reads slices across a border of blocks with the reference. If the length is the size of the
// last of these blocks, it returns that block instead, except for arrays.
func TestSlicesOfBlockSize(t *testing.T) {
	const size, block, last = 4, 128, 16 // in bytes; 400 bytes have three blocks and a short one
	src := counting(400)
	p := chunk.Params{TypeSize: size, BlockSize: block}
	s := refOpen(t, newFrame(t, 0, p, src))
	z, err := s.Chunk(0)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ndarray.CreateBytes(ctx, "", []int64{100}, "<i4", src, &ndarray.CreateOptions{Chunks: []int64{100}, Blocks: []int64{block / size}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	array, err := open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer array.Close()
	for _, c := range []struct {
		first, n int
		wrong    int // start of the block that the reference returns; 0 if it is correct
	}{
		{5, 31, 0}, {5, 32, block}, {5, 33, 0}, {32, 32, 0}, {40, 32, 2 * block},
		{94, 3, 0}, {94, last / size, 3 * block}, {94, 5, 0},
	} {
		want := src[c.first*size:][:c.n*size]
		if got, err := array.Slice([]int64{int64(c.first)}, []int64{int64(c.first + c.n)}); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d items from %d of an array: %v", c.n, c.first, cmpErr(err, got, want))
		}
		if c.wrong > 0 {
			want = src[c.wrong:][:c.n*size]
		}
		if got, err := ref.Items(z, c.first, c.n); err != nil || !bytes.Equal(got, want) {
			t.Errorf("getitem of %d items from %d: %v", c.n, c.first, cmpErr(err, got, want))
		}
		if got, err := s.GetSlice(int64(c.first), int64(c.first+c.n)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("slice of %d items from %d: %v", c.n, c.first, cmpErr(err, got, want))
		}
	}
}

// TestRaggedTail encodes chunks that end inside a word with Delta, TruncPrec and IntTrunc. The reference does not write
// the bytes after the last whole word. It reads the chunks of this library correctly.
func TestRaggedTail(t *testing.T) {
	for _, c := range []struct {
		filter     chunk.Filter
		size, word int
	}{
		{chunk.Delta, 2, 2}, {chunk.Delta, 4, 4}, {chunk.Delta, 8, 8}, {chunk.Delta, 16, 8},
		{chunk.TruncPrec.With(-1), 4, 4}, {chunk.TruncPrec.With(-1), 8, 8},
		{chunk.IntTrunc.With(-1), 2, 2}, {chunk.IntTrunc.With(-1), 4, 4}, {chunk.IntTrunc.With(-1), 8, 8},
	} {
		for tail := range c.word {
			src := make([]byte, 4000+tail)
			for i := range src {
				src[i] = byte(2 + i/50*2%250) // even, so that clearing the lowest bit does not change it
			}
			p := chunk.Params{TypeSize: c.size, Codec: codec.LZ4, Level: 5, Filters: []chunk.Filter{c.filter}}
			what := fmt.Sprintf("%v, items of %d bytes, %d bytes at the end", c.filter, c.size, tail)
			ours, err := chunk.Encode(nil, src, p)
			if err != nil {
				t.Fatal(what, err)
			}
			if got, err := ref.Decompress(ours, 1); err != nil || !bytes.Equal(got, src) || ours[2]&stored != 0 {
				t.Errorf("%s: the reference reads a chunk of this library: %v", what, cmpErr(err, got, src))
			}
			refs := refParams(p)
			theirs, err := ref.Compress(src, &refs)
			if err != nil || theirs[2]&stored != 0 {
				t.Fatal(what, "not compressed", err)
			}
			got, err := ref.Decompress(theirs, 1)
			if err != nil || !bytes.Equal(got[:4000], src[:4000]) {
				t.Fatalf("%s: the reference reads its chunk: %v", what, cmpErr(err, got, src))
			}
			if tail > 0 && bytes.Equal(got, src) {
				t.Errorf("%s: the reference keeps them", what)
			}
			mine, err := chunk.Decode(nil, theirs)
			if err != nil || !bytes.Equal(mine, got) {
				t.Errorf("%s: this library reads a chunk of the reference: %v", what, cmpErr(err, mine, got))
			}
		}
	}
}

// TestAppendAfterShort appends to frames with fewer bytes than their chunk size. The reference appends no chunks that
// are shorter than that size.
func TestAppendAfterShort(t *testing.T) {
	src, p := counting(500), chunk.Params{TypeSize: 4}
	created := func(t *testing.T) string { return newFrame(t, 400, p, src[:100]) }
	deleted := func(t *testing.T) string {
		path := newFrame(t, 0, p, src[:400], src[:100])
		f, err := frame.Edit(ctx, path, &frame.OpenOptions{NoSync: true})
		if err == nil {
			err = inBatch(f, func(b *frame.Batch) error { return b.Delete(0) })
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	for i, create := range []func(t *testing.T) string{created, deleted} {
		for _, n := range []int{40, 396, 400, 500} {
			path := create(t)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			err = refOpen(t, path).Append(src[:n])
			after, _ := os.ReadFile(path)
			if (err == nil) != (n >= 400) || err != nil && !bytes.Equal(after, before) {
				t.Errorf("way %d, %d bytes: %v, changed: %v", i, n, err, !bytes.Equal(after, before))
			}
			f, err := frame.Edit(ctx, path, &frame.OpenOptions{NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := inBatch(f, func(b *frame.Batch) error { return b.Append(ctx, src[:n]) }); err != nil {
				t.Errorf("way %d, %d bytes, this library: %v", i, n, err)
			}
			f.Close()
		}
	}
}

// readFrame returns the content of all chunks of a frame file.
func readFrame(path string) (all []byte, err error) {
	f, err := frame.Open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for i := range f.NumChunks() {
		if all, err = f.ReadChunk(ctx, all, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// TestSetSlice sets a slice that ends inside a full chunk, where the last chunk ends, too. The reference shortens the
// full chunk if the slice covers its beginning.
func TestSetSlice(t *testing.T) {
	src, p := counting(1000), chunk.Params{TypeSize: 4}
	for _, c := range []struct {
		first, stop int64 // items; chunks have 100, the last one 50
		short       int   // number of the shortened chunk; -1: none
	}{
		{2, 149, -1}, {2, 150, 1}, {2, 151, -1}, {0, 50, 0}, {1, 50, -1}, {100, 150, 1}, {120, 150, -1}, {200, 250, -1},
	} {
		path := newFrame(t, 400, p, src[:400], src[400:800], src[800:])
		s := refOpen(t, path)
		items := bytes.Repeat([]byte{9}, int(c.stop-c.first)*4)
		if err := s.SetSlice(c.first, c.stop, items); err != nil {
			t.Fatal(c, err)
		}
		want := slices.Concat(src[:4*c.first], items, src[4*c.stop:])
		if c.short >= 0 {
			want = slices.Delete(want, 400*c.short+200, 400*c.short+400)
		}
		if got, err := readFrame(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%+v: %v", c, cmpErr(err, got, want))
		}
	}
}

// TestStricter changes bytes of frames that only this library checks.
func TestStricter(t *testing.T) {
	be := binary.BigEndian
	word := func(at int, n int32) func(b []byte) { return func(b []byte) { be.PutUint32(b[at:], uint32(n)) } }
	long := func(at int, n int64) func(b []byte) { return func(b []byte) { be.PutUint64(b[at:], uint64(n)) } }
	src := counting(1000)
	chunks := [][]byte{src[:400], src[400:800], src[800:]}
	for _, c := range []struct {
		name   string
		chunks [][]byte
		change func(b []byte)
	}{
		{"item size", nil, word(48, chunk.MaxBlockSize+1)},
		{"item size, with chunks", chunks, word(48, chunk.MaxBlockSize+1)},
		{"nbytes", nil, long(30, -1)},
		{"cbytes", nil, long(39, -1)},
		{"chunk size", nil, word(58, -2)},
		{"large chunk size", nil, word(58, chunk.MaxBytes+1)},
		{"trailer of 34 bytes", nil, func(b []byte) { be.PutUint32(b[len(b)-22:], 34) }},
		{"trailer of 25 bytes", nil, func(b []byte) { be.PutUint32(b[len(b)-22:], 25) }},
		{"chunk version 0", chunks, func(b []byte) { b[be.Uint32(b[11:])] = 0 }},
		{"version 0 of the index", chunks, func(b []byte) { b[indexOf(b)] = 0 }},
	} {
		path := mutant(t, c.change, c.chunks...)
		if s, err := ref.OpenSChunk(path); err != nil {
			t.Errorf("%s: the reference: %v", c.name, err)
		} else {
			if got, err := s.Dump(); err != nil || !bytes.Equal(got, slices.Concat(c.chunks...)) {
				t.Errorf("%s: the reference reads: %v", c.name, cmpErr(err, got, src))
			}
			s.Close()
		}
		if _, err := readFrame(path); !errors.Is(err, chunk.ErrCorrupt) {
			t.Errorf("%s: this library: %v, want ErrCorrupt", c.name, err)
		}
	}
}

// TestMoreTolerant changes bytes of frames that only the reference checks or needs.
func TestMoreTolerant(t *testing.T) {
	src := counting(1000)
	for at := 71; at <= 76; at++ {
		for _, filter := range []byte{5, 31, 37, 159} {
			path := mutant(t, func(b []byte) { b[at] = filter }, src)
			if s, err := ref.OpenSChunk(path); err == nil {
				t.Errorf("filter %d at byte %d: the reference opens it", filter, at)
				s.Close()
			}
			if got, err := readFrame(path); err != nil || !bytes.Equal(got, src) {
				t.Errorf("filter %d at byte %d: this library: %v", filter, at, cmpErr(err, got, src))
			}
		}
	}
	for size := range byte(17) {
		if size == 0 || size == 8 {
			continue
		}
		path := mutant(t, func(b []byte) { b[indexOf(b)+3] = size }, src[:200], src[200:400], src[400:600], src[600:800], src[800:])
		if s, err := ref.OpenSChunk(path); err == nil {
			if got, err := s.Dump(); err == nil && bytes.Equal(got, src) {
				t.Errorf("index with items of %d bytes: the reference reads it", size)
			}
			s.Close()
		}
		if got, err := readFrame(path); err != nil || !bytes.Equal(got, src) {
			t.Errorf("index with items of %d bytes: this library: %v", size, cmpErr(err, got, src))
		}
	}
}

// indexOf returns the position of the index in a frame.
func indexOf(b []byte) int {
	return int(binary.BigEndian.Uint32(b[11:])) + int(binary.BigEndian.Uint64(b[39:]))
}

// mutant creates a frame file and changes its bytes.
func mutant(t *testing.T, change func(b []byte), chunks ...[]byte) string {
	t.Helper()
	path := newFrame(t, 0, chunk.Params{TypeSize: 4}, chunks...)
	b, err := os.ReadFile(path)
	if err == nil {
		change(b)
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSplitOverflow compares block sizes for streams of items that are so large that the reference overflows.
func TestSplitOverflow(t *testing.T) {
	for _, c := range []struct{ size, level, theirs int }{
		{65_535, 1, 655_350}, {65_536, 1, 32_768}, {70_000, 1, 32_768}, {4095, 9, 40_950}, {4096, 9, 32_768},
	} {
		src := counting(10 * c.size)
		p := chunk.Params{TypeSize: c.size, Codec: codec.BloscLZ, Level: c.level, Split: chunk.SplitAlways}
		ours, err := p.BlockSizeFor(len(src))
		if err != nil || ours != 10*c.size {
			t.Errorf("items of %d bytes: blocks of %d bytes, %v", c.size, ours, err)
		}
		refs := refParams(p)
		theirs, err := ref.Compress(src, &refs)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, n, err := ref.Sizes(theirs); err != nil || n != c.theirs {
			t.Errorf("items of %d bytes: the reference has blocks of %d bytes, %v", c.size, n, err)
		}
		mine, err := chunk.Encode(nil, src, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range [][]byte{mine, theirs} {
			if got, err := ref.Decompress(z, 1); err != nil || !bytes.Equal(got, src) {
				t.Errorf("items of %d bytes: the reference reads: %v", c.size, cmpErr(err, got, src))
			}
			if got, err := chunk.Decode(nil, z); err != nil || !bytes.Equal(got, src) {
				t.Errorf("items of %d bytes: this library reads: %v", c.size, cmpErr(err, got, src))
			}
		}
	}
}
