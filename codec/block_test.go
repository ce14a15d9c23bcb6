package codec_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// blockCodec is a codec that works on the shape of blocks, with parameters and blocks for it.
type blockCodec struct {
	id     codec.ID
	params codec.Params
	kinds  []string
}

func (c *blockCodec) String() string {
	return fmt.Sprintf("%v-%d-%d-%v", c.id, c.params.Meta, c.params.TypeSize, c.params.BlockShape)
}

// size returns the size of a block in bytes.
func (c *blockCodec) size() int {
	n := c.params.TypeSize
	for _, extent := range c.params.BlockShape {
		n *= int(extent)
	}
	return n
}

func (c *blockCodec) encoder(t testing.TB) codec.Encoder {
	t.Helper()
	e, err := lookup(t, c.id).NewEncoder(c.params)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (c *blockCodec) decoder(t testing.TB) codec.Decoder {
	t.Helper()
	d, err := lookup(t, c.id).NewDecoder(c.params)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// block returns a block of a kind: "tiles" are bytes with repeated cells and rows, "floats" a slow wave, and all others
// those of input.
func (c *blockCodec) block(kind string, seed int) []byte {
	n := c.size()
	switch kind {
	case "tiles":
		return tiles(n, int(c.params.BlockShape[1]), seed)
	case "floats":
		r, b := newRandom(seed), make([]byte, n)
		v := int64(r.below(1000))
		for i := 0; i < n; i += c.params.TypeSize {
			v += int64(r.below(201)) - 100
			if c.params.TypeSize == 4 {
				binary.LittleEndian.PutUint32(b[i:], math.Float32bits(float32(v)/256))
			} else {
				binary.LittleEndian.PutUint64(b[i:], math.Float64bits(float64(v)/256))
			}
		}
		return b
	}
	return input(kind, n, seed)
}

// tiles returns n bytes, cols per row, of repeated cells of edge 8 and of their rows, with some noise.
func tiles(n, cols, seed int) []byte {
	r := newRandom(seed)
	var all [6][64]byte
	for i := range all {
		for j := range all[i] {
			all[i][j] = byte(r.below(3))
		}
	}
	b := make([]byte, n)
	for i := range b {
		y, x := i/cols, i%cols
		tile := &all[(x/8*5+y/8*y/3)%len(all)]
		b[i] = tile[y%8*8+x%8]
		if r.below(80) == 0 {
			b[i] = byte(r.next() >> 32)
		}
	}
	return b
}

// blockCodecs returns the codecs with blocks of several shapes.
func blockCodecs() (out []*blockCodec) {
	for _, edge := range []uint8{4, 8} {
		for _, shape := range [][]int32{{1, 1}, {1, 100}, {4, 4}, {8, 8}, {7, 9}, {9, 7}, {16, 24}, {33, 70}, {128, 100}, {300, 400}} {
			p := codec.Params{Level: 5, Meta: edge, TypeSize: 1, BlockShape: shape}
			out = append(out, &blockCodec{codec.NDLZ, p, append([]string{"tiles"}, inputKinds...)})
		}
	}
	for i, metas := range [][]uint8{{0, 254}, {4, 20}, {5, 50}} {
		id := []codec.ID{codec.ZFPAcc, codec.ZFPPrec, codec.ZFPRate}[i]
		for _, meta := range metas {
			for _, shape := range [][]int32{{4}, {1000}, {5, 6}, {40, 50}, {4, 5, 6}, {16, 17, 18}, {4, 4, 4, 5}, {8, 9, 10, 7}} {
				p := codec.Params{Level: 5, Meta: meta, TypeSize: 4 + int(meta%4)/2*4, BlockShape: shape}
				out = append(out, &blockCodec{id, p, []string{"floats", "zeros", "noise", "ramp"}})
			}
		}
	}
	return out
}

// TestBlockCodecs encodes blocks with space of several sizes.
func TestBlockCodecs(t *testing.T) {
	streams := map[codec.ID]int{}
	for i, c := range blockCodecs() {
		if brief() && i%3 == 0 {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			e, d := c.encoder(t), c.decoder(t)
			for i, kind := range c.kinds {
				src := c.block(kind, i)
				want := encode(t, e, src, len(src))
				if again := encode(t, c.encoder(t), src, len(src)+100); !bytes.Equal(again, want) && want != nil {
					t.Errorf("%s: a different stream from another encoder", kind)
				}
				n := len(want)
				for _, room := range []int{0, 1, 8, 9, 16, 17, 18, n / 2, n - 9, n - 8, n - 1, n, n + 1, n + 16, n + 64, 2 * len(src)} {
					if room < 0 {
						continue
					}
					got := encode(t, e, src, room)
					// NDLZ needs more space than its block has if the gain is small.
					if got != nil && want != nil && !bytes.Equal(got, want) || want != nil && got == nil && room >= n+65 && room >= len(src) {
						t.Errorf("%s: stream of %d bytes in %d bytes of space, want %d", kind, len(got), room, n)
					}
				}
				if want == nil {
					continue
				}
				streams[c.id]++
				got, err := decode(t, d, want, len(src))
				if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				if c.id == codec.NDLZ && !bytes.Equal(got, src) {
					t.Errorf("%s: other content", kind)
				}
				for _, k := range []int{0, 1, len(src) - 1, len(src) + 1, 2 * len(src)} {
					if _, err := decode(t, d, want, k); err == nil {
						t.Errorf("%s: decodes to %d of %d bytes", kind, k, len(src))
					}
				}
			}
		})
	}
	for _, id := range []codec.ID{codec.NDLZ, codec.ZFPAcc, codec.ZFPPrec, codec.ZFPRate} {
		if streams[id] < 10 {
			t.Errorf("%v: only %d streams", id, streams[id])
		}
	}
}

// TestZFPError checks that the parameter bounds the error of ZFPAcc and the size of ZFPRate.
func TestZFPError(t *testing.T) {
	for _, size := range []int{4, 8} {
		for _, shape := range [][]int32{{1000}, {33, 50}, {9, 10, 11}, {5, 6, 7, 8}} {
			for _, exponent := range []int8{-3, -1, 0, 1} {
				c := &blockCodec{codec.ZFPAcc, codec.Params{Level: 1, Meta: uint8(exponent), TypeSize: size, BlockShape: shape}, nil}
				src := c.block("floats", 3)
				stream := encode(t, c.encoder(t), src, len(src))
				if stream == nil {
					if exponent >= 0 {
						t.Errorf("%v: no stream", c)
					}
					continue
				}
				got, err := decode(t, c.decoder(t), stream, len(src))
				if err != nil {
					t.Fatal(err)
				}
				bound, most := math.Pow10(int(exponent)), 0.0
				for i := 0; i < len(src); i += size {
					most = max(most, math.Abs(float(src[i:], size)-float(got[i:], size)))
				}
				if most > bound || most == 0 && exponent > -1 {
					t.Errorf("%v: error of %g, want some error up to %g", c, most, bound)
				}
			}
			c := &blockCodec{codec.ZFPRate, codec.Params{Level: 1, Meta: 25, TypeSize: size, BlockShape: shape}, nil}
			src := c.block("floats", 3)
			stream := encode(t, c.encoder(t), src, len(src))
			cells := 1
			for _, n := range shape {
				cells *= int(n+3) / 4 * 4
			}
			if want := (cells*size/4 + 7) / 8 * 8; len(stream) != want {
				t.Errorf("%v: %d bytes, want %d", c, len(stream), want)
			}
		}
	}
}

func float(b []byte, size int) float64 {
	if size == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// TestBlockCodecParams requests encoders and decoders with invalid parameters.
func TestBlockCodecParams(t *testing.T) {
	zfp := []codec.ID{codec.ZFPAcc, codec.ZFPPrec, codec.ZFPRate}
	ndlz := []codec.ID{codec.NDLZ}
	huge := []int32{1 << 30, 1 << 30, 1 << 30, 1 << 30}
	tests := []struct {
		ids      []codec.ID
		params   codec.Params
		enc, dec string // in the error; "" = none
	}{
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 4}, "shape of blocks is unknown", "shape of blocks is unknown"},
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 4, BlockShape: []int32{}}, "0 dimensions", "0 dimensions"},
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 4, BlockShape: []int32{4, 4, 4, 4, 4}}, "5 dimensions", "5 dimensions"},
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 4, BlockShape: []int32{8, 3}}, "at least 4 items", ""},
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 4, BlockShape: []int32{8, 0}}, "at least 4 items", "at least 1 items"},
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 4, BlockShape: []int32{8, -4}}, "at least 4 items", "at least 1 items"},
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 4, BlockShape: huge}, "too large", "too large"},
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 2, BlockShape: []int32{8, 8}}, "items of 2 bytes", "items of 2 bytes"},
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 16, BlockShape: []int32{8, 8}}, "items of 16 bytes", "items of 16 bytes"},
		{zfp, codec.Params{Level: 0, Meta: 37, TypeSize: 4, BlockShape: []int32{8, 8}}, "level 0", ""},
		{zfp, codec.Params{Level: 5, Meta: 37, TypeSize: 4, BlockShape: []int32{8, 8}, Dict: make([]byte, 500)}, "dictionary", ""},
		{zfp[1:2], codec.Params{Level: 5, TypeSize: 4, BlockShape: []int32{8, 8}}, "Meta in codec.Params) is 0; set it to the bits of an item, 1 to 64", ""},
		{zfp[1:2], codec.Params{Level: 5, Meta: 65, TypeSize: 4, BlockShape: []int32{8, 8}}, "Meta in codec.Params) is 65; set it to the bits", ""},
		{zfp[1:2], codec.Params{Level: 5, Meta: 64, TypeSize: 4, BlockShape: []int32{8, 8}}, "", ""},
		{zfp[2:], codec.Params{Level: 5, TypeSize: 4, BlockShape: []int32{8, 8}}, "Meta in codec.Params) is 0; set it to the size in percent", ""},
		{ndlz, codec.Params{Level: 5, Meta: 4, TypeSize: 1}, "shape of blocks is unknown", ""},
		{ndlz, codec.Params{Level: 5, Meta: 4, TypeSize: 1, BlockShape: []int32{8}}, "", ""},
		{ndlz, codec.Params{Level: 5, Meta: 4, TypeSize: 1, BlockShape: []int32{8, 8, 8}}, "", ""},
		{ndlz, codec.Params{Level: 5, Meta: 4, TypeSize: 1, BlockShape: []int32{8, 0}}, "at least 1 items", ""},
		{ndlz, codec.Params{Level: 5, Meta: 4, TypeSize: 1, BlockShape: huge[:2]}, "too large", ""},
		{ndlz, codec.Params{Level: 5, Meta: 5, TypeSize: 1, BlockShape: []int32{8, 8}}, "Meta in codec.Params) is 5; set it to 4 or 8", "edge 5"},
		{ndlz, codec.Params{Level: 5, Meta: 4, TypeSize: 1, BlockShape: []int32{8, 8}, Dict: make([]byte, 500)}, "dictionary", ""},
	}
	for _, test := range tests {
		for _, id := range test.ids {
			_, encErr := lookup(t, id).NewEncoder(test.params)
			_, decErr := lookup(t, id).NewDecoder(test.params)
			for _, r := range []struct {
				what string
				err  error
				want string
			}{{"encoder", encErr, test.enc}, {"decoder", decErr, test.dec}} {
				if r.want == "" && r.err != nil || r.want != "" && (!errors.Is(r.err, errors.ErrUnsupported) || !strings.Contains(r.err.Error(), r.want)) {
					t.Errorf("%v, %+v: %s: %v, want %q", id, test.params, r.what, r.err, r.want)
				}
			}
		}
	}
	// ZFP stores the streams of split blocks. NDLZ rejects them.
	z := &blockCodec{codec.ZFPRate, codec.Params{Level: 5, Meta: 50, TypeSize: 4, BlockShape: []int32{16, 16}}, nil}
	n := &blockCodec{codec.NDLZ, codec.Params{Level: 5, Meta: 4, TypeSize: 1, BlockShape: []int32{16, 16}}, nil}
	for _, k := range []int{0, 255, 257, 512} {
		if _, err := z.encoder(t).Encode(make([]byte, 1000), make([]byte, k)); !errors.Is(err, codec.ErrIncompressible) {
			t.Errorf("zfp: %d bytes: %v", k, err)
		}
		if _, err := n.encoder(t).Encode(make([]byte, 1000), make([]byte, k)); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("ndlz: %d bytes: %v", k, err)
		}
	}
}

func TestBlockCodecsNoAllocations(t *testing.T) {
	streams := 0
	for _, c := range blockCodecs() {
		if c.size() < 1000 {
			continue
		}
		e, d, src := c.encoder(t), c.decoder(t), c.block(c.kinds[0], 1)
		dst, out, n := make([]byte, len(src)), make([]byte, len(src)), 0
		if got := testing.AllocsPerRun(2, func() {
			n, _ = e.Encode(dst, src)
			d.Decode(out, dst[:n])
		}); n > 0 && got > 0 {
			t.Errorf("%v: %v allocations, stream of %d bytes", c, got, n)
		} else if n > 0 {
			streams++
		}
	}
	if streams < 20 {
		t.Errorf("%d streams", streams)
	}
}

// TestBlockCodecsAltered decodes streams that were truncated or changed.
func TestBlockCodecsAltered(t *testing.T) {
	streams := 0
	for _, c := range blockCodecs() {
		if n := c.size(); n < 300 || n > 10000 {
			continue
		}
		d, src := c.decoder(t), c.block(c.kinds[0], 1)
		stream := encode(t, c.encoder(t), src, len(src))
		if stream == nil {
			continue
		}
		streams++
		most := 600
		if brief() {
			most = 30
		}
		for k := range min(len(stream), most) {
			if _, err := decode(t, d, stream[:k], len(src)); err == nil && (c.id == codec.NDLZ || k == 0) {
				t.Errorf("%v: %d of %d bytes decode", c, k, len(stream))
			}
			altered := bytes.Clone(stream)
			for _, x := range []byte{1, 8, 0x40, 0x80, 0xff} {
				altered[k] = stream[k] ^ x
				decode(t, d, altered, len(src))
			}
		}
		_, err := decode(t, d, append(stream, 0), len(src))
		if c.id == codec.NDLZ && err == nil || c.id != codec.NDLZ && err != nil {
			t.Errorf("%v: one more byte: %v", c, err)
		}
	}
	if streams < 20 {
		t.Errorf("%d streams", streams)
	}
}

func FuzzDecodeNDLZ(f *testing.F) {
	for _, c := range blockCodecs() {
		if src := c.block(c.kinds[0], 1); c.id == codec.NDLZ && len(src) < 3000 {
			if n, err := c.encoder(f).Encode(make([]byte, len(src)), src); err == nil {
				stream := make([]byte, n)
				c.encoder(f).Encode(stream[:n:n], src)
				f.Add(c.params.Meta, len(src), stream)
			}
		}
	}
	f.Fuzz(func(t *testing.T, edge uint8, n int, stream []byte) {
		n = max(0, min(n, 1<<16))
		d, err := lookup(t, codec.NDLZ).NewDecoder(codec.Params{Meta: edge&4 + 4})
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(t, d, stream, n)
		if err != nil {
			return
		}
		// A block that decodes has a shape, and can be encoded.
		rows, cols := int32(binary.LittleEndian.Uint32(stream[1:])), int32(binary.LittleEndian.Uint32(stream[5:]))
		e, err := lookup(t, codec.NDLZ).NewEncoder(codec.Params{Level: 5, Meta: edge&4 + 4, TypeSize: 1, BlockShape: []int32{rows, cols}})
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, e, d, got, n)
	})
}

func FuzzRoundTripNDLZ(f *testing.F) {
	f.Add(uint8(4), uint8(20), tiles(20*30, 20, 1))
	f.Add(uint8(0), uint8(33), tiles(33*30, 33, 2))
	f.Fuzz(func(t *testing.T, edge, cols uint8, src []byte) {
		rows := len(src) / max(1, int(cols))
		if rows == 0 || cols == 0 {
			return
		}
		src = src[:rows*int(cols)]
		c := &blockCodec{codec.NDLZ, codec.Params{Level: 5, Meta: edge&4 + 4, TypeSize: 1, BlockShape: []int32{int32(rows), int32(cols)}}, nil}
		checkRoundTrip(t, c.encoder(t), c.decoder(t), src, len(src))
	})
}

func BenchmarkBlockCodecs(b *testing.B) {
	codecs := []*blockCodec{
		{codec.NDLZ, codec.Params{Level: 5, Meta: 4, TypeSize: 1, BlockShape: []int32{512, 512}}, []string{"tiles"}},
		{codec.NDLZ, codec.Params{Level: 5, Meta: 8, TypeSize: 1, BlockShape: []int32{512, 512}}, []string{"tiles"}},
		{codec.ZFPAcc, codec.Params{Level: 5, Meta: 254, TypeSize: 8, BlockShape: []int32{32, 32, 32}}, []string{"floats"}},
	}
	for _, c := range codecs {
		e, d, src := c.encoder(b), c.decoder(b), c.block(c.kinds[0], 1)
		dst := make([]byte, len(src))
		n := 0
		b.Run("encode-"+c.String(), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				n, _ = e.Encode(dst, src)
			}
			b.ReportMetric(float64(len(src))/float64(n), "ratio")
		})
		b.Run("decode-"+c.String(), func(b *testing.B) {
			n, err := e.Encode(dst, src)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Decode(src, dst[:n]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
