package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

// FuzzDecode decodes arbitrary bytes: whole, block by block, and through an io.ReaderAt.
func FuzzDecode(f *testing.F) {
	for _, b := range smallChunks(f) {
		f.Add(b)
	}
	for _, folder := range []string{"python-blosc2", "blosc1"} {
		for _, c := range fixtures(f, folder) {
			if len(c.data) < 4000 {
				f.Add(c.data)
			}
		}
	}
	for _, id := range dictCodecs {
		b, err := Encode(nil, records(6000), Params{Codec: id, BlockSize: 1000, Filters: []Filter{}, Dict: true}, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	pool := NewPool(hostileOptions)
	f.Fuzz(func(t *testing.T, b []byte) { attack(t, pool, "input", b) })
}

// fuzzParams makes compression parameters from six bytes of input. Most of them are valid.
func fuzzParams(b [6]byte) Params {
	p := Params{
		TypeSize:  int(b[0]) + int(b[1]>>7)*60,
		BlockSize: int(b[1]&0x7f) * 37,
		Codec:     allCodecs[int(b[2]>>4)%len(allCodecs)],
		Level:     int(b[2]&0x0f) % 10,
		Split:     allSplits[b[3]&3],
	}
	filters := []Filter{NoFilter, Shuffle, BitShuffle, Delta, Shuffle.With(int(b[4]))}
	for v := int(b[3]>>2) | int(b[5])<<6; v > 0 && len(p.Filters) < NumFilters; v /= len(filters) {
		p.Filters = append(p.Filters, filters[v%len(filters)])
	}
	return p
}

// FuzzEncode encodes arbitrary bytes with arbitrary parameters, compares the chunk with that of the naive encoder, and
// decodes it.
func FuzzEncode(f *testing.F) {
	for i, content := range []string{"ramp", "noise", "part", "sevens", "zeros", "tail"} {
		for n := range 6 {
			f.Add(contents[content](n*n*100+n), byte(4*i), byte(n*9), byte(n<<4|5), byte(i*40), byte(n), byte(i))
		}
	}
	one, three := NewPool(&Options{Concurrency: 1}), NewPool(&Options{Concurrency: 3})
	f.Fuzz(func(t *testing.T, src []byte, a, b, c, d, e, g byte) {
		if len(src) > 1<<16 {
			return
		}
		p := fuzzParams([6]byte{a, b, c, d, e, g})
		l, err := p.Layout(len(src))
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		got, err := one.Encode(nil, src, p)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		if same, err := three.Encode(nil, src, p); err != nil || !bytes.Equal(same, got) {
			t.Errorf("%+v: %v, or other bytes with three workers", p, err)
		}
		if p.Codec != codec.Zstd && !bytes.Equal(got, naiveEncode(t, src, p, l.BlockSize)) {
			t.Errorf("%+v: other bytes than the naive encoder", p)
		}
		if back, err := three.Decode(nil, got); err != nil || !bytes.Equal(back, src) {
			t.Errorf("%+v: %v, or other data", p, err)
		}
	})
}

// FuzzBlocks reads parts of a chunk.
func FuzzBlocks(f *testing.F) {
	for i := range 20 {
		f.Add(floats(i*i*50+1), byte(i), byte(i*13), byte(i<<4|3), byte(i*29), byte(i), byte(0), i*30, i*57)
	}
	f.Fuzz(func(t *testing.T, src []byte, a, b, c, d, e, g byte, off, n int) {
		if len(src) > 1<<16 || len(src) == 0 {
			return
		}
		p := fuzzParams([6]byte{a, b, c, d, e, g})
		chunk, err := Encode(nil, src, p, nil)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		h, err := ParseHeader(chunk, int64(len(chunk)))
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		if h.Special == Regular && !h.Stored {
			chunk = permute(t, chunk, int(a&7))
		}
		r, err := newReaderAt(bytes.NewReader(chunk), int64(len(chunk)), &Options{Concurrency: 2})
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		off, n = abs(off)%len(src), abs(n)%(len(src)+10)
		got := make([]byte, n)
		m, err := r.ReadAt(got, int64(off))
		if want := src[off:min(len(src), off+n)]; !bytes.Equal(got[:m], want) || (err == nil) != (m == n) {
			t.Errorf("%+v: %d bytes at %d: %d, %v, or other data", p, n, off, m, err)
		}
	})
}

// FuzzReadAt reads parts of special, stored and ordinary chunks with any block size, with and without a Postfilter, and
// compares them with the decoded chunk.
func FuzzReadAt(f *testing.F) {
	for i := range 40 {
		f.Add(floats(i*i+4), byte(i), byte(i%9), uint32(i*i*i), i%3 == 0, uint32(i*13), uint32(i*29))
	}
	pools := map[bool]*Pool{false: NewPool(&Options{Concurrency: 2}), true: NewPool(&Options{Concurrency: 2, Postfilter: invertBlock})}
	f.Fuzz(func(t *testing.T, src []byte, kind, typeSize byte, blockSize uint32, post bool, off, n uint32) {
		if len(src) > 1<<14 || len(src) == 0 {
			return
		}
		b := chunkOfKind(t, src, kind, int(typeSize), 1+int(blockSize)%(len(src)+1000))
		want, err := pools[post].Decode(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			return
		}
		plain, err := pools[false].Decode(nil, b)
		if post {
			for i := range plain {
				plain[i] ^= 0xff ^ byte(i)
			}
		}
		if err != nil || !bytes.Equal(plain, want) {
			t.Fatalf("chunk %x, Postfilter %v: %v, or other data", b, post, err)
		}
		at, got := int(off)%len(want), make([]byte, int(n)%(len(want)+10))
		m, err := pools[post].DecodeAt(got, bytes.NewReader(b), int64(len(b)), int64(at))
		if want := want[at:min(len(want), at+len(got))]; !bytes.Equal(got[:m], want) || (err == nil) != (m == len(got)) {
			t.Errorf("chunk %x, Postfilter %v: %d bytes at %d: %d, %v, or other data", b, post, len(got), at, m, err)
		}
	})
}

// invertBlock is a Postfilter that uses the position of each byte in its chunk.
func invertBlock(dst, src []byte, b BlockInfo) error {
	for i, c := range src {
		dst[i] = c ^ 0xff ^ byte(b.Offset+i)
	}
	return nil
}

// chunkOfKind encodes src as a stored or an ordinary chunk, or returns a special chunk that may repeat src.
func chunkOfKind(t *testing.T, src []byte, kind byte, typeSize, blockSize int) []byte {
	t.Helper()
	p := Params{TypeSize: typeSize, BlockSize: blockSize, Codec: codec.LZ4}
	special := []Special{Regular, Regular, Zeros, NaNs, Value, Uninit}[kind%6]
	var b []byte
	var err error
	switch special {
	case Regular:
		if kind%6 == 0 {
			p.Level = codec.NoCompression
		}
		b, err = Encode(nil, src, p, nil)
	case NaNs, Uninit:
		p.TypeSize = 4 + 4*(typeSize&1)
		b, err = EncodeSpecial(nil, special, len(src)/p.TypeSize*p.TypeSize, nil, p)
	default:
		b, err = EncodeSpecial(nil, special, 3*len(src), src, p)
	}
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	if h, err := ParseHeader(b, int64(len(b))); err == nil && (h.Special != Regular || h.Stored) {
		binary.LittleEndian.PutUint32(b[8:], uint32(blockSize)) // not rounded to items
	}
	return b
}

// FuzzVL encodes and decodes blocks of variable length.
func FuzzVL(f *testing.F) {
	for i := range 20 {
		f.Add(floats(i*i*20+1), uint64(i), 1+i*i, byte(i), byte(i<<4|3), byte(i*29), byte(i), byte(0))
	}
	f.Fuzz(func(t *testing.T, src []byte, seed uint64, most int, a, c, d, e, g byte) {
		if len(src) > 1<<14 || len(src) == 0 {
			return
		}
		blocks := cut(src, seed, 1+abs(most)%5000)
		p := fuzzParams([6]byte{a, 0, c, d, e, g})
		b, err := NewPool(nil).EncodeVL(t.Context(), nil, blocks, p, -1)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		checkVLLayout(t, "input", b, blocks)
		back, err := NewPool(nil).DecodeVL(b)
		if err != nil || len(back) != len(blocks) {
			t.Fatalf("%+v: %d blocks, want %d; %v", p, len(back), len(blocks), err)
		}
		for k := range back {
			if !bytes.Equal(back[k], blocks[k]) {
				t.Errorf("%+v: block %d has other data", p, k)
			}
		}
	})
}

// FuzzFilters undoes each filter on arbitrary blocks with arbitrary parameters, block shapes and item sizes.
func FuzzFilters(f *testing.F) {
	ids := []Filter{Shuffle, BitShuffle, Delta, TruncPrec, NDCell, NDMean, ByteDeltaOld, ByteDelta, IntTrunc}
	for i := range ids {
		f.Add(floats(160), byte(i), byte(4), byte(4), uint16(0), int32(10), int32(4), int32(1), byte(2))
		f.Add(floats(240), byte(i), byte(3), byte(4), uint16(8), int32(5), int32(3), int32(2), byte(3))
		f.Add(floats(320), byte(i), byte(200), byte(1), uint16(300), int32(-5), int32(0), int32(1<<30), byte(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, which, meta, typeSize byte, itemSize uint16, a, b, c int32, ndim byte) {
		if len(data) == 0 || typeSize == 0 || len(data) > 1<<14 {
			return
		}
		chunk := chunkOf(len(data), 1, append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...))
		chunk[3], chunk[16], chunk[24] = typeSize, byte(ids[int(which)%len(ids)]), meta
		o := &Options{ItemSize: int(itemSize), BlockShape: []int32{a, b, c}[:ndim%4]}
		got, err := Decode(nil, chunk, o)
		clearError(t, "block", err)
		if err != nil {
			return
		}
		if len(got) != len(data) {
			t.Fatalf("%d bytes of %d", len(got), len(data))
		}
		// Lossless filters restore the bytes that they have undone.
		id := ids[int(which)%len(ids)]
		if id == NDMean || id == ByteDeltaOld {
			return
		}
		p := Params{TypeSize: int(typeSize), BlockSize: len(data), Codec: codec.LZ4, Split: SplitNever, Filters: []Filter{id.With(int(meta))}}
		again, err := Encode(nil, got, p, o)
		if err != nil && !errors.Is(err, errs.ErrParam) {
			t.Fatalf("%+v: %v", p, err)
		}
		if err != nil || id == TruncPrec || id == IntTrunc {
			return
		}
		if back, err := Decode(nil, again, o); err != nil || !bytes.Equal(back, got) {
			t.Errorf("%+v: %v, or other data", p, err)
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
