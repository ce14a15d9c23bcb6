package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
)

// permute returns the same chunk with its blocks in another order, as writers with many threads produce it, and with
// gap unused bytes before each block.
func permute(t testing.TB, b []byte, gap int) []byte {
	t.Helper()
	w := NewPool(nil).Get()
	var r Reader
	if err := w.Open(&r, b); err != nil {
		t.Fatal(err)
	}
	first := HeaderSize + 4*r.NumBlocks
	out := bytes.Clone(b[:first])
	for _, k := range rand.New(rand.NewPCG(1, 2)).Perm(r.NumBlocks) {
		out = append(out, make([]byte, gap)...)
		binary.LittleEndian.PutUint32(out[HeaderSize+4*k:], uint32(len(out)))
		out = append(out, b[r.starts[k]:r.ends[k]]...)
	}
	binary.LittleEndian.PutUint32(out[12:], uint32(len(out)))
	return out
}

// countingReader counts reads and the bytes that are read.
type countingReader struct {
	io.ReaderAt
	mu           sync.Mutex
	reads, bytes int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	c.reads++
	c.bytes += len(p)
	c.mu.Unlock()
	return c.ReaderAt.ReadAt(p, off)
}

// chunksForBlocks returns chunks of all kinds with their content.
func chunksForBlocks(t testing.TB) map[string][2][]byte {
	t.Helper()
	out := map[string][2][]byte{}
	add := func(name string, src []byte, p Params) {
		b, err := Encode(nil, src, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = [2][]byte{b, src}
		h, _ := ParseHeader(b, int64(len(b)))
		if h.Special == Regular && !h.Stored {
			out[name+", permuted"] = [2][]byte{permute(t, b, 0), src}
			out[name+", with gaps"] = [2][]byte{permute(t, b, 9), src}
		}
	}
	for name, filters := range pipelines {
		add("lz4 "+name, floats(60_003), Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 4096, Filters: filters})
	}
	for _, id := range allCodecs {
		add(id.String(), contents["ramp"](60_001), Params{Codec: id, TypeSize: 8, BlockSize: 7000})
		add(id.String()+" partly noise", contents["part"](60_001), Params{Codec: id, TypeSize: 8, BlockSize: 7000})
	}
	add("one block", contents["ramp"](3000), Params{TypeSize: 2})
	many := 300_000
	if brief() {
		many = 60_000
	}
	add("many blocks", contents["ramp"](many), Params{TypeSize: 2, Codec: codec.LZ4, BlockSize: 64})
	add("many stored blocks", noise(70_000), Params{TypeSize: 2, Codec: codec.LZ4, BlockSize: 64})
	add("zeros", contents["zeros"](100_000), Params{TypeSize: 2})
	add("sevens", contents["sevens"](100_000), Params{TypeSize: 2})
	add("short", contents["ramp"](20), Params{TypeSize: 2})
	add("one byte", contents["ramp"](1), Params{})
	value := []byte{1, 2, 3, 4, 5, 6, 7}
	b, err := EncodeSpecial(nil, Value, 70_000, value, Params{TypeSize: 7, BlockSize: 5000})
	if err != nil {
		t.Fatal(err)
	}
	out["value"] = [2][]byte{b, bytes.Repeat(value, 10_000)}
	value = noise(20_000)
	if b, err = EncodeSpecial(nil, Value, 100_000, value, Params{TypeSize: 20_000}); err != nil {
		t.Fatal(err)
	}
	out["great value"] = [2][]byte{b, bytes.Repeat(value, 5)}
	return out
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range chunksForBlocks(t) {
		b, src := c[0], c[1]
		pool := NewPool(&Options{Concurrency: 2})
		if got, err := pool.Decode(nil, b); err != nil || !bytes.Equal(got, src) {
			t.Fatalf("%s: whole: %v", name, err)
		}
		w := pool.Get()
		pad := append(bytes.Repeat([]byte{0xa5}, 77), append(bytes.Clone(b), 1, 2, 3)...)
		for i, want := range []float64{0, 0.4, 0.5, 1} {
			for k, guess := range []int64{0, 1, int64(len(b)), 1 << 40} {
				if brief() && i != k {
					continue
				}
				var r Reader
				if err := w.OpenAt(&r, bytes.NewReader(pad), 77, int64(len(pad)-77), guess, want); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				readAll(t, name, w, &r, src)
			}
		}
		var r Reader
		for range 2 { // opening again resets the reader
			if err := w.Open(&r, b); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			readAll(t, name, w, &r, src)
		}
		for k := range r.NumBlocks {
			at := r.BlockOffset(k)
			checkPrefixes(t, name, w, &r, k, src[at:at+r.BlockLen(k)])
		}
	}
}

// TestSharedBlocks has blocks with the same content at the same position, which no rule of the format forbids.
func TestSharedBlocks(t *testing.T) {
	half := contents["ramp"](1000)
	b, err := Encode(nil, half, Params{Codec: codec.LZ4, BlockSize: 500, TypeSize: 4, Split: SplitNever}, nil)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	first, second := le.Uint32(b[32:])+8, le.Uint32(b[36:])+8
	for _, order := range [][4]uint32{{first, first, second, second}, {second, first, second, first}} {
		shared := append(bytes.Clone(b[:32]), make([]byte, 16)...)
		le.PutUint32(shared[4:], 2000)
		var want []byte
		for k, at := range order {
			le.PutUint32(shared[32+4*k:], at)
			part := half[:500]
			if at == second {
				part = half[500:]
			}
			want = append(want, part...)
		}
		shared = append(shared, b[40:]...)
		le.PutUint32(shared[12:], uint32(len(shared)))
		if got, err := Decode(nil, shared, nil); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: %v, or other data", order, err)
		}
	}
}

// TestLongStream has a block of one stream that is as long as its content or longer.
func TestLongStream(t *testing.T) {
	le := binary.LittleEndian
	const n = 40
	content := bytes.Repeat([]byte("abcd"), n/4)
	for format, strict := range map[codec.Format]bool{
		codec.FormatBloscLZ: true, codec.FormatLZ4: true, codec.FormatZlib: true, codec.FormatZstd: true,
		codec.FormatSnappy: false, codec.FormatUser: false,
	} {
		for _, length := range []int{n, n + 1, 2*n + 64, 2*n + 65} {
			c := []byte{5, 1, 0x10 | byte(format)<<5 | 5, 1}
			c = le.AppendUint32(le.AppendUint32(c, n), n)
			c = le.AppendUint32(c, uint32(40+length))
			c = append(c, 0, 0, 0, 0, 0, 0, byte(format), 0, 0, 0, 0, 0, 0, 0, 0, 0)
			c = append(le.AppendUint32(le.AppendUint32(c, 36), uint32(length)), content...)
			c = append(c, make([]byte, length-n)...)
			got, err := Decode(nil, c, nil)
			var e *Error
			tooLong := fmt.Sprintf("stream of %d bytes, but only", length) // as many are read as a stream may have
			refused := strict && length > n || length > 2*n+64
			switch {
			case length == n && (err != nil || !bytes.Equal(got, content)):
				t.Errorf("format %d: a stored stream: %v, or other data", format, err)
			case refused != (err != nil && strings.Contains(err.Error(), tooLong)):
				t.Errorf("format %d: a stream of %d bytes: %v", format, length, err)
			case refused && (!errors.Is(err, errs.ErrCorrupt) || !errors.As(err, &e) || e.Block != 0 || e.Off < 36):
				t.Errorf("format %d: a stream of %d bytes: error without location: %v", format, length, err)
			}
		}
	}
}

// TestLongSplitStream has a block of two streams, of which the first is longer than its content.
func TestLongSplitStream(t *testing.T) {
	le := binary.LittleEndian
	c := append(le.AppendUint32([]byte{5, 1, 3<<5 | 5, 2, 40, 0, 0, 0, 40, 0, 0, 0}, 65), 0, 0, 0, 0, 0, 0, 3, 0)
	c = le.AppendUint32(append(c, make([]byte, 8)...), 36)
	c = append(le.AppendUint32(c, 21), make([]byte, 25)...)
	_, err := Decode(nil, c, nil)
	const want = "block 0 at byte 61: stream 0: stream of 21 bytes for 20 bytes of content: corrupt data"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestTooManySharedBlocks has blocks that share their bytes. A chunk is refused if they have more than four times its
// bytes, whether all of it is decoded or a part.
func TestTooManySharedBlocks(t *testing.T) {
	const size = 4096
	b := mustEncode(t, noise(size), Params{BlockSize: size, Level: codec.NoCompression})
	le := binary.LittleEndian
	for blocks := 1; blocks < 12; blocks++ {
		c := bytes.Clone(b[:32])
		c[2] &^= flagStored
		c[2] |= flagNotSplit
		le.PutUint32(c[4:], uint32(blocks*size))
		for range blocks {
			c = le.AppendUint32(c, uint32(32+4*blocks))
		}
		c = append(le.AppendUint32(c, size), b[32:]...)
		le.PutUint32(c[12:], uint32(len(c)))
		got, err := Decode(nil, c, nil)
		_, errAt := newReaderAt(bytes.NewReader(c), int64(len(c)), nil)
		if blocks <= 4 {
			if err != nil || errAt != nil || !bytes.Equal(got, bytes.Repeat(b[32:], blocks)) {
				t.Errorf("%d blocks: %v, %v, or other data", blocks, err, errAt)
			}
			continue
		}
		for _, err := range []error{err, errAt} {
			var e *Error
			if !errors.Is(err, errs.ErrCorrupt) || !errors.As(err, &e) || e.Block != 4 || e.Off != 32+4*4 {
				t.Errorf("%d blocks: %v", blocks, err)
			}
		}
	}
}

// TestLongTail has blocks of one byte that share a stream, and then bytes of no block. They are not read for each.
func TestLongTail(t *testing.T) {
	const blocks, tail = 1000, 100_000
	le := binary.LittleEndian
	stream := []byte{'A'}
	c := []byte{5, 1, 0x10 | 4<<5 | 5, 1}
	c = le.AppendUint32(c, blocks)
	c = le.AppendUint32(c, 1)
	c = le.AppendUint32(c, uint32(32+4*blocks+4+len(stream)+tail))
	c = append(c, make([]byte, 16)...)
	for range blocks {
		c = le.AppendUint32(c, 32+4*blocks)
	}
	c = append(le.AppendUint32(c, uint32(len(stream))), stream...)
	c = append(c, bytes.Repeat([]byte{7}, tail)...)
	src := &countingReader{ReaderAt: bytes.NewReader(c)}
	dst := make([]byte, blocks/4)
	n, err := NewPool(&Options{Concurrency: 1}).DecodeAt(dst, src, int64(len(c)), 0)
	if err != nil || string(dst[:n]) != strings.Repeat("A", blocks/4) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if most := 2*blocks/4*5 + 20_000; src.bytes > most {
		t.Errorf("%d bytes were read, want at most %d", src.bytes, most)
	}
}

// shuffledOnly reports whether unshuffling is the last and only step of decoding a block.
func shuffledOnly(r *Reader) bool {
	n, shuffles := 0, false
	for _, f := range r.Filters {
		if f.kind() != NoFilter && f.kind() != TruncPrec && f.kind() != IntTrunc {
			n++
			shuffles = f.kind() == Shuffle && (f.Param() > 1 || f.Param() == 0 && r.TypeSize > 1)
		}
	}
	return n == 1 && shuffles && r.Special == Regular && !r.Stored && !r.VLBlocks
}

// TestDecodeShuffledNot has blocks with other filters, or without filters.
func TestDecodeShuffledNot(t *testing.T) {
	b, err := Encode(nil, floats(6000), Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 1000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	vl, err := NewPool(nil).EncodeVL(t.Context(), nil, [][]byte{floats(1000), floats(500)}, Params{TypeSize: 4}, -1)
	if err != nil {
		t.Fatal(err)
	}
	after := func(dst, src []byte, _ BlockInfo) error { copy(dst, src); return nil }
	for name, c := range map[string]struct {
		chunk []byte
		o     *Options
		k     int
	}{
		"postfilter": {b, &Options{Postfilter: after}, 0}, "no block": {b, nil, 6}, "negative": {b, nil, -1}, "variable": {vl, nil, 0},
	} {
		var r Reader
		w := NewPool(c.o).Get()
		if err := w.Open(&r, c.chunk); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := w.DecodeShuffled(&r, c.k, 0); ok || err != nil {
			t.Errorf("%s: still shuffled: %v, error %v", name, ok, err)
		}
	}
	var r Reader
	w := NewPool(nil).Get()
	if err := w.Open(&r, b); err != nil {
		t.Fatal(err)
	}
	at := r.starts[3]
	binary.LittleEndian.PutUint32(b[at:], 1<<30)
	var e *Error
	if _, ok, err := w.DecodeShuffled(&r, 3, 1000); ok || !errors.Is(err, errs.ErrCorrupt) || !errors.As(err, &e) || e.Block != 3 {
		t.Errorf("a stream that is too long: %v, error %v", ok, err)
	}
}

// readAll reads the blocks of a chunk, the last one first.
func readAll(t *testing.T, name string, w *Worker, r *Reader, src []byte) {
	t.Helper()
	end := len(src)
	for k := r.NumBlocks - 1; k >= 0; k-- {
		at, n := r.BlockOffset(k), r.BlockLen(k)
		got := make([]byte, n)
		if err := w.DecodeBlock(got, r, k); err != nil || at+n != end || !bytes.Equal(got, src[at:end]) {
			t.Fatalf("%s: block %d at %d of %d bytes: %v, or other data", name, k, at, n, err)
		}
		s, ok, err := w.DecodeShuffled(r, k, n)
		if err != nil || ok != shuffledOnly(r) {
			t.Fatalf("%s: block %d: %v, still shuffled: %v", name, k, err, ok)
		}
		if ok {
			clear(got)
			if s.Unshuffle(got); !bytes.Equal(got, src[at:end]) {
				t.Fatalf("%s: block %d: other data when unshuffled", name, k)
			}
			clear(got)
			items := len(s.Bytes) / s.Width
			if filters.UnshuffleRows(got, s.Bytes, s.Width, &filters.Rows{N: 1, Len: items}); !bytes.Equal(got[:items*s.Width], src[at:at+items*s.Width]) {
				t.Fatalf("%s: block %d: other items in a row", name, k)
			}
		}
		end = at
	}
	if end != 0 {
		t.Fatalf("%s: blocks start at %d", name, end)
	}
	for i := range r.NumBlocks {
		k := [2]int{i, (7*i + 1) % r.NumBlocks}
		got := [2][]byte{make([]byte, r.BlockLen(k[0])), make([]byte, r.BlockLen(k[1]))}
		err := w.DecodePair(got, r, k)
		for j, k := range k {
			if at := r.BlockOffset(k); err != nil || !bytes.Equal(got[j], src[at:at+len(got[j])]) {
				t.Fatalf("%s: blocks %d at once: %v, or other data", name, k, err)
			}
		}
	}
	for _, k := range []int{-1, r.NumBlocks} {
		if err := w.DecodeBlock(make([]byte, 10), r, k); !errors.Is(err, errs.ErrParam) {
			t.Errorf("%s: block %d: %v", name, k, err)
		}
	}
	if r.NumBlocks > 0 {
		if err := w.DecodeBlock(make([]byte, r.BlockLen(0)+1), r, 0); !errors.Is(err, errs.ErrParam) {
			t.Errorf("%s: buffer too long: %v", name, err)
		}
	}
}

// newReaderAt opens the chunk at the start of src, which has size bytes.
func newReaderAt(src io.ReaderAt, size int64, o *Options) (*readerAt, error) {
	a := &readerAt{pool: NewPool(o)}
	w := a.pool.Get()
	defer a.pool.Put(w)
	return a, w.OpenAt(&a.r, src, 0, size, 0, 0)
}

func TestReaderAt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for name, c := range chunksForBlocks(t) {
		b, src := c[0], c[1]
		a, err := newReaderAt(bytes.NewReader(b), int64(len(b)), &Options{Concurrency: 2})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if a.Size() != int64(len(src)) || a.r.NBytes != len(src) {
			t.Errorf("%s: size %d", name, a.Size())
		}
		for range 60 {
			off := rnd.IntN(len(src))
			n := rnd.IntN(min(len(src)-off, 1+rnd.IntN(20_000)) + 1)
			got := make([]byte, n)
			if m, err := a.ReadAt(got, int64(off)); m != n || err != nil || !bytes.Equal(got, src[off:off+n]) {
				t.Fatalf("%s: %d bytes at %d: %d, %v, or other data", name, n, off, m, err)
			}
		}
		got := make([]byte, len(src)+5)
		if m, err := a.ReadAt(got, 0); m != len(src) || err != io.EOF || !bytes.Equal(got[:m], src) {
			t.Errorf("%s: more than all: %d, %v", name, m, err)
		}
		if m, err := a.ReadAt(got[:5], a.Size()-1); m != 1 || err != io.EOF || got[0] != src[len(src)-1] {
			t.Errorf("%s: after the end: %d, %v", name, m, err)
		}
		if m, err := a.ReadAt(got[:5], a.Size()); m != 0 || err != io.EOF {
			t.Errorf("%s: at the end: %d, %v", name, m, err)
		}
		if m, err := a.ReadAt(got[:5], -1); m != 0 || !errors.Is(err, errs.ErrParam) {
			t.Errorf("%s: before the start: %d, %v", name, m, err)
		}
		if all, err := io.ReadAll(io.NewSectionReader(a, 0, a.Size())); err != nil || !bytes.Equal(all, src) {
			t.Errorf("%s: as a stream: %v", name, err)
		}
	}
}

// TestReadsLittle reads single bytes from a chunk of many blocks, which must not read or decode the rest.
func TestReadsLittle(t *testing.T) {
	src := floats(1 << 20)
	b, err := Encode(nil, src, Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 8192}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := Encode(nil, src, Params{Level: codec.NoCompression, BlockSize: 8192}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{b, stored} {
		c := &countingReader{ReaderAt: bytes.NewReader(b)}
		a, err := newReaderAt(c, int64(len(b)), nil)
		if err != nil {
			t.Fatal(err)
		}
		var one [1]byte
		for i := 0; i < 10; i++ {
			if _, err := a.ReadAt(one[:], int64(i*100_000)); err != nil || one[0] != src[i*100_000] {
				t.Fatal(err)
			}
		}
		if c.bytes > 4096+10*8300 {
			t.Errorf("%d bytes read for 10 blocks of 8192", c.bytes)
		}
	}
}

// TestGoroutines shares one reader and one pool between goroutines.
func TestGoroutines(t *testing.T) {
	src := floats(200_000)
	p := Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 4096, Filters: pipelines["delta shuffle"]}
	pool := NewPool(&Options{Concurrency: 3})
	b, err := pool.Encode(nil, src, p)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newReaderAt(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 0))
			buf := make([]byte, 10_000)
			for range 30 {
				off := rnd.IntN(len(src) - len(buf))
				if _, err := a.ReadAt(buf, int64(off)); err != nil || !bytes.Equal(buf, src[off:off+len(buf)]) {
					t.Errorf("%d bytes at %d: %v, or other data", len(buf), off, err)
				}
			}
			if c, err := pool.Encode(nil, src, p); err != nil || !bytes.Equal(b, c) {
				t.Errorf("encoding: %v, or other bytes", err)
			}
			if c, err := pool.Decode(nil, b); err != nil || !bytes.Equal(src, c) {
				t.Errorf("decoding: %v, or other data", err)
			}
		})
	}
	wg.Wait()
}

// failingReader fails from byte off up.
type failingReader struct {
	io.ReaderAt
	off int64
	err error
}

func (f *failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.off {
		n, _ := f.ReaderAt.ReadAt(p[:max(0, f.off-off)], off)
		return n, f.err
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestReadErrors(t *testing.T) {
	errDisk := errors.New("disk on fire")
	src := floats(100_000)
	b, err := Encode(nil, src, Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 4096}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{0, 1} {
		for _, fail := range []int64{0, 10, 20, 100, 5000, int64(len(b)) - 1} {
			for _, cause := range []error{errDisk, io.EOF} {
				f := &failingReader{bytes.NewReader(b), fail, cause}
				w := NewPool(nil).Get()
				var r Reader
				err := w.OpenAt(&r, f, 0, int64(len(b)), 0, want)
				for k := 0; err == nil && k < r.NumBlocks; k++ {
					err = w.DecodeBlock(make([]byte, r.BlockLen(k)), &r, k)
				}
				var e *Error
				if !errors.As(err, &e) || e.Off != fail {
					t.Fatalf("failing at %d: %v", fail, err)
				}
				if cause == errDisk && (!errors.Is(err, errDisk) || errors.Is(err, errs.ErrCorrupt)) {
					t.Errorf("failing at %d: %v", fail, err)
				}
				if cause == io.EOF && !errors.Is(err, errs.ErrCorrupt) {
					t.Errorf("ending at %d: %v", fail, err)
				}
				if e.Block < 0 && r.NumBlocks != 0 {
					t.Errorf("failing at %d: a reader that could not be opened has %d blocks", fail, r.NumBlocks)
				}
			}
		}
	}
}

// TestReadAfterChunk reads small chunks from a source that fails after their end.
func TestReadAfterChunk(t *testing.T) {
	src := noise(2000)
	for _, level := range []int{codec.NoCompression, 5} {
		b := mustEncode(t, src, Params{BlockSize: 1000, Level: level})
		n := int64(len(b))
		b = append(b, make([]byte, 20000)...)
		for _, fail := range []int64{n, n + 1, n + 2000} {
			got, f := make([]byte, 1000), &failingReader{bytes.NewReader(b), fail, io.ErrClosedPipe}
			if _, err := NewPool(nil).DecodeAt(got, f, int64(len(b)), 1000); err != nil || !bytes.Equal(got, src[1000:]) {
				t.Errorf("level %d, failing %d bytes after the chunk: %v, or other data", level, fail-n, err)
			}
		}
	}
}
