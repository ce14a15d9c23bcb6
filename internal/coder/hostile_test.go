package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

// smallChunks returns valid chunks of all kinds, of a few hundred bytes each.
func smallChunks(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	add := func(name string, n int, p Params) {
		b, err := Encode(nil, contents["floats"](n), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	for _, id := range allCodecs {
		add(id.String(), 400, Params{Codec: id, TypeSize: 4, BlockSize: 160})
		add(id.String()+" not split", 400, Params{Codec: id, TypeSize: 4, Split: SplitNever})
	}
	for name, filters := range pipelines {
		add(name, 300, Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 128, Filters: filters})
	}
	add("stored", 100, Params{Level: codec.NoCompression})
	add("empty", 0, Params{})
	out["zeros"], _ = Encode(nil, make([]byte, 500), Params{}, nil)
	out["run"], _ = Encode(nil, bytes.Repeat([]byte{5}, 500), Params{TypeSize: 2, BlockSize: 100}, nil)
	out["value"], _ = EncodeSpecial(nil, Value, 400, []byte("abcd"), Params{TypeSize: 4})
	out["nans"], _ = EncodeSpecial(nil, NaNs, 400, nil, Params{TypeSize: 4})
	out["permuted"] = permute(t, out["lz4"], 3)
	var err error
	for _, f := range []Filter{NDCell.With(3), NDMean.With(2), ByteDelta.With(4), IntTrunc.With(20), TruncPrec.With(9)} {
		p := Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 160, Filters: []Filter{f, Shuffle}}
		if out[f.kind().String()], err = Encode(nil, floats(480), p, hostileOptions); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range allCodecs {
		p := Params{Codec: id, TypeSize: 4, Filters: pipelines["delta shuffle"]}
		if out["variable "+id.String()], err = NewPool(nil).EncodeVL(t.Context(), nil, cut(floats(400), 1, 150), p, -1); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range fixtures(t, "blosc1") {
		if len(c.data) < 400 {
			out[c.File] = c.data
		}
	}
	return out
}

var hostileOptions = &Options{Concurrency: 1, MaxBytes: 1 << 20, ItemSize: 4, BlockShape: []int32{10, 4}}

// attack decodes an untrusted chunk in all ways. Each must return nbytes of data or a clear error, and allocate no more
// memory than allowed.
func attack(t *testing.T, pool *Pool, name string, b []byte) {
	before := allocated()
	data, err := pool.Decode(nil, b)
	if n := allocated() - before; n > 8<<20 {
		t.Errorf("%s: decoding %d bytes took %d bytes of memory", name, len(b), n)
	}
	clearError(t, name, err)
	if err == nil {
		if h, e := ParseHeader(b, int64(len(b))); e != nil || len(data) != h.NBytes {
			t.Errorf("%s: %d bytes, want %d; %v", name, len(data), h.NBytes, e)
		}
	} else if len(data) != 0 {
		t.Errorf("%s: %d bytes with an error", name, len(data))
	}
	w := pool.Get()
	defer pool.Put(w)
	var r Reader
	if e := w.OpenAt(&r, bytes.NewReader(b), 0, int64(len(b)), 0, 0.1); e != nil {
		clearError(t, name, e)
		if err == nil {
			t.Errorf("%s: cannot be opened by blocks: %v", name, e)
		}
		return
	}
	if r.NBytes > 1<<20 {
		return
	}
	for k := range r.NumBlocks {
		block := make([]byte, r.BlockLen(k))
		e := w.DecodeBlock(block, &r, k)
		clearError(t, name, e)
		at := r.BlockOffset(k)
		if err == nil && (e != nil || !bytes.Equal(block, data[at:at+len(block)])) {
			t.Errorf("%s: block %d alone: %v, or other data than in the whole chunk", name, k, e)
		}
		n := len(block) / 3
		begin := make([]byte, len(block))
		ePart := w.DecodePrefix(begin, &r, k, n)
		clearError(t, name, ePart)
		if e == nil && (ePart != nil || !bytes.Equal(begin[:n], block[:n])) {
			t.Errorf("%s: the first %d bytes of block %d: %v, or other data than in the whole chunk", name, n, k, ePart)
		}
	}
}

// clearError checks that err has a kind and a location.
func clearError(t *testing.T, name string, err error) {
	var e *Error
	switch {
	case err == nil:
	case !errors.As(err, &e):
		t.Errorf("%s: error of type %T: %v", name, err, err)
	case !errors.Is(err, errs.ErrCorrupt) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, errs.ErrTooLarge):
		t.Errorf("%s: error without a kind: %v", name, err)
	case e.Block < -1 || e.Off < 0:
		t.Errorf("%s: error without a location: %v", name, err)
	}
}

// allocated returns the bytes allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestHostile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	pool := NewPool(hostileOptions)
	for name, b := range smallChunks(t) {
		if _, err := pool.Decode(nil, b); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("%s: %v", name, err)
		}
		for n := range b {
			attack(t, pool, name+", cut off", b[:n:n])
			if _, err := pool.Decode(nil, b[:n:n]); !errors.Is(err, errs.ErrCorrupt) {
				t.Errorf("%s: truncated at %d: %v", name, n, err)
			}
		}
		bad := bytes.Clone(b)
		for i := range b {
			for k, v := range []byte{b[i] ^ 0xff, b[i] ^ 1, b[i] + 1, b[i] ^ 0x80, 0, byte(rnd.Uint64())} {
				if brief() && k%3 != i%3 {
					continue
				}
				bad[i] = v
				attack(t, pool, name+", one byte changed", bad)
			}
			bad[i] = b[i]
		}
		for range 100 {
			for range 1 + rnd.IntN(4) {
				bad[rnd.IntN(len(bad))] = byte(rnd.Uint64())
			}
			attack(t, pool, name+", some bytes changed", bad)
			copy(bad, b)
		}
		for at := 4; at+4 <= len(b); at += 4 { // sizes, positions
			for _, v := range []uint32{0, 1, 31, 32, 33, 1 << 20, 1 << 30, 1<<31 - 1, 1 << 31, 1<<32 - 1, uint32(len(b) - 1), uint32(len(b) + 1)} {
				binary.LittleEndian.PutUint32(bad[at:], v)
				attack(t, pool, name+", other number", bad)
			}
			copy(bad, b)
		}
	}
}

// TestErrors checks the text of the error for each invalid chunk, with its location.
func TestErrors(t *testing.T) {
	src := floats(4000)
	b, err := Encode(nil, src, Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 1000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	put32 := func(at int, v uint32) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[at:], v) }
	}
	put := func(at int, v byte) func([]byte) { return func(b []byte) { b[at] = v } }
	third := int(binary.LittleEndian.Uint32(b[32+8:]))
	for _, c := range []struct {
		change func([]byte)
		kind   error
		want   string
	}{
		{put(0, 0), errs.ErrCorrupt, "chunk header at byte 0: chunk version 0: corrupt data"},
		{put(0, 9), errors.ErrUnsupported, "chunk header at byte 0: chunk version 9: unsupported"},
		{put(3, 0), errs.ErrCorrupt, "chunk header at byte 3: typesize 0: corrupt data"},
		{put32(4, 1<<31), errs.ErrCorrupt, "chunk header at byte 4: decoded size -2147483648: corrupt data"},
		{put32(8, 0), errs.ErrCorrupt, "chunk header at byte 8: block size 0: corrupt data"},
		{put32(8, MaxBlockSize+1), errs.ErrCorrupt, "chunk header at byte 8: block size 536866817: corrupt data"},
		{put32(8, 1), errs.ErrCorrupt, ""},
		{put32(12, 9999), errs.ErrCorrupt, ""},
		{put(16, 99), errors.ErrUnsupported, "chunk header at byte 16: filter with number 99: unsupported; add it to UserFilters"},
		{put(30, 2), errors.ErrUnsupported, "chunk header at byte 30: flags2 0x2: unsupported"},
		{put(31, 8), errors.ErrUnsupported, "chunk header at byte 31: lazy chunk: unsupported"},
		{put(31, 0x80), errors.ErrUnsupported, "chunk header at byte 31: instrumented chunk: unsupported"},
		{put(31, 0x50), errors.ErrUnsupported, "chunk header at byte 31: special value 5: unsupported"},
		{put32(32+4, 10), errs.ErrCorrupt, "block 1 at byte 36: block position 10: corrupt data"},
		{put32(third, 100_000), errs.ErrCorrupt, ""},
	} {
		bad := bytes.Clone(b)
		c.change(bad)
		_, err := Decode(nil, bad, nil)
		if !errors.Is(err, c.kind) || c.want != "" && err.Error() != c.want {
			t.Errorf("error %q, want %q", err, c.want)
		}
	}
	bad := bytes.Clone(b)
	put32(third, 100_000)(bad)
	_, err = Decode(nil, bad, nil)
	var e *Error
	if !errors.As(err, &e) || e.Block != 2 || e.Off < int64(third) || e.Off > int64(third)+4 {
		t.Errorf("a bad stream in block 2 at byte %d: %v", third, err)
	}
	// The error is for the first of several bad blocks, for any number of workers.
	for k := 1; k < 4; k++ {
		put32(int(binary.LittleEndian.Uint32(b[32+4*k:])), 100_000)(bad)
	}
	for range 20 {
		if _, err := Decode(nil, bad, &Options{Concurrency: 4}); !errors.As(err, &e) || e.Block != 1 {
			t.Errorf("bad blocks 1, 2 and 3: %v", err)
		}
	}
}

func TestLimits(t *testing.T) {
	// 100 MiB of sevens are 37 bytes.
	b := chunkOf(100<<20, 1, []byte{0xf9, 0xff, 0xff, 0xff, 1})
	const def, set = "the default limit for a block is 8388608; MaxBytes in the options may allow more", "MaxBytes in the options allows 104857599"
	if _, err := Decode(nil, b, nil); !errors.Is(err, errs.ErrTooLarge) || !strings.Contains(err.Error(), def) {
		t.Errorf("100 MiB out of %d bytes: %v", len(b), err)
	}
	if _, err := Decode(nil, b, &Options{MaxBytes: 100<<20 - 1}); !errors.Is(err, errs.ErrTooLarge) || !strings.Contains(err.Error(), set) {
		t.Errorf("with a limit one byte below: %v", err)
	}
	for _, limit := range []int64{-1, 100 << 20} {
		got, err := Decode(nil, b, &Options{MaxBytes: limit})
		if err != nil || len(got) != 100<<20 || got[0] != 7 || got[100<<20-1] != 7 {
			t.Errorf("with limit %d: %v", limit, err)
		}
	}
	// One block of the chunk would need as much.
	if _, err := newReaderAt(bytes.NewReader(b), int64(len(b)), nil); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("a block of 100 MiB out of %d bytes: %v", len(b), err)
	}
	if _, err := newReaderAt(bytes.NewReader(b), int64(len(b)), &Options{MaxBytes: 100 << 20}); err != nil {
		t.Errorf("a block of 100 MiB that is allowed: %v", err)
	}
	// Memory of the caller is not limited. Blocks still are.
	z, err := EncodeSpecial(nil, Zeros, 100<<20, nil, Params{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(make([]byte, 0, 100<<20), z, nil); err != nil {
		t.Errorf("with room for all: %v", err)
	}
	if _, err := Decode(make([]byte, 1, 100<<20), z, nil); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("with room for one byte less: %v", err)
	}
}

// TestBlockListLimit checks that the list that DecodeVL returns counts as memory, not only the bytes in it.
func TestBlockListLimit(t *testing.T) {
	b, err := EncodeSpecial(nil, Value, 4<<20, []byte{7}, Params{BlockSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{0, 4 << 20, 24*4<<20 - 1} {
		before := allocated()
		if _, err := NewPool(&Options{MaxBytes: limit}).DecodeVL(b); !errors.Is(err, errs.ErrTooLarge) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if n := allocated() - before; n > 1<<20 {
			t.Errorf("limit %d: %d bytes of memory", limit, n)
		}
	}
	if blocks, err := NewPool(&Options{MaxBytes: 24 * 4 << 20}).DecodeVL(b); err != nil || len(blocks) != 4<<20 {
		t.Errorf("%d blocks, %v", len(blocks), err)
	}
}

// TestLargeBlockWorkers counts the workers that decode chunks with large blocks. Their number depends on the limit on
// memory, for which only nonzero bytes of a chunk are evidence.
func TestLargeBlockWorkers(t *testing.T) {
	const large = 9 << 20
	src := make([]byte, 4*large)
	src[0] = 1
	p := Params{BlockSize: large, Codec: codec.LZ4, Split: SplitNever}
	zeros := mustEncode(t, src, p) // 37 kB, as LZ4 takes one byte for 255
	hole := bytes.Clone(zeros)
	clear(hole[4096:])
	p.BlockSize = 8 << 20
	small := mustEncode(t, src, p)
	vl, err := NewPool(nil).EncodeVL(t.Context(), nil, [][]byte{src[:5], src[:large], src[:10], src[:20]}, p, -1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		chunk    []byte
		maxBytes int64
		want     int
	}{
		{"blocks of 8 MiB", small, 9 << 20, 5},
		{"less than a worker", zeros, 10 << 20, 1},
		{"one worker", zeros, 60 << 20, 1},
		{"two workers", zeros, 80 << 20, 2},
		{"no limit", zeros, -1, 4},
		{"evidence", zeros, 0, 4},
		{"less evidence", hole, 0, 1},
		{"variable size", vl, 80 << 20, 2},
		{"variable size, evidence", vl, 0, 4},
	} {
		pool := NewPool(&Options{Concurrency: 8, MaxBytes: c.maxBytes})
		w, r := pool.Get(), new(Reader)
		if err := w.Open(r, c.chunk); err != nil {
			t.Fatal(c.name, err)
		}
		if n := len(pool.getDecoders(t.Context(), r.NumBlocks, r, -1)); n != c.want {
			t.Errorf("%s: %d workers for a chunk of %d bytes, want %d", c.name, n, len(c.chunk), c.want)
		}
	}
}

// TestHeldBlocks counts the blocks in the memory of a worker that has decoded a block of an opened chunk.
func TestHeldBlocks(t *testing.T) {
	const size = 4096
	src := make([]byte, 3*size)
	for i := range src {
		src[i] = byte(i >> 4)
	}
	for _, x := range []struct {
		filters []Filter
		want    int
	}{
		{[]Filter{NoFilter}, 1},
		{[]Filter{BitShuffle}, 2},
		{[]Filter{Shuffle, ByteDelta}, 3},
		{[]Filter{Shuffle, ByteDelta, BitShuffle}, 3},
		{[]Filter{BitShuffle, Delta}, HeldBlocks},
	} {
		w, r, dst := NewPool(nil).Get(), new(Reader), make([]byte, size)
		encoded := mustEncode(t, src, Params{TypeSize: 4, BlockSize: size, Codec: codec.LZ4, Level: 5, Filters: x.filters})
		if err := w.Open(r, encoded); err != nil {
			t.Fatal(err)
		}
		if err := w.DecodePrefix(dst, r, 2, size-1); err != nil || !bytes.Equal(dst[:size-1], src[2*size:3*size-1]) {
			t.Fatalf("%v: wrong bytes, error %v", x.filters, err)
		}
		if got := (len(dst) + cap(w.buf[0]) + cap(w.buf[1]) + cap(r.ref)) / size; got != x.want {
			t.Errorf("%v: %d blocks, want %d", x.filters, got, x.want)
		}
	}
}
