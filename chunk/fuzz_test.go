package chunk

import (
	"bytes"
	"testing"

	"github.com/goblosc/blosc2/codec"
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
	pool := NewPool(&Options{Concurrency: 1, MaxBytes: 1 << 20, ItemSize: 4, BlockShape: []int32{10, 4}})
	f.Fuzz(func(t *testing.T, b []byte) { attack(t, pool, "input", b) })
}

// fuzzParams makes compression parameters of six bytes of input, mostly sound ones.
func fuzzParams(b [6]byte) CParams {
	p := CParams{
		TypeSize:  int(b[0]) + int(b[1]>>7)*60,
		BlockSize: int(b[1]&0x7f) * 37,
		Codec:     allCodecs[int(b[2]>>4)%len(allCodecs)],
		Level:     int(b[2]&0x0f) % 10,
		Split:     allSplits[b[3]&3],
	}
	filters := []Filter{{}, {ID: Shuffle}, {ID: BitShuffle}, {ID: Delta}, {ID: Shuffle, Meta: b[4]}}
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
		if p.Codec != codec.Zstd && p.Codec != codec.Zlib && !bytes.Equal(got, naiveEncode(t, src, p, l.blockSize)) {
			t.Errorf("%+v: the naive encoder gives other bytes", p)
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
		if h.Special() == Regular && !h.Stored() {
			chunk = permute(t, chunk, int(a&7))
		}
		r, err := NewReaderAt(bytes.NewReader(chunk), int64(len(chunk)), &Options{Concurrency: 2})
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

func abs(n int) int { return max(n, -(n + 1)) }
