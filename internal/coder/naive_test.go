package coder

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// This file holds a second encoder and decoder, written from the description of the format alone: simple loops, no
// scratch memory, no workers. The tests compare the package with them.

// naiveForward and naiveBackward are the filters. ref is the unfiltered block 0 for all other blocks.
func naiveForward(f Filter, in, ref []byte, ts int) []byte {
	out := slices.Clone(in)
	switch f.kind() {
	case Shuffle:
		w := ts
		if f.Param() > 0 {
			w = int(f.Param())
		}
		n := len(in) / w
		for i := range n {
			for j := range w {
				out[j*n+i] = in[i*w+j]
			}
		}
	case BitShuffle:
		n := len(in) / ts / 8 * 8
		clear(out[:n*ts])
		for e := range n {
			for bit := range 8 * ts {
				v := in[e*ts+bit/8] >> (bit % 8) & 1
				out[bit*(n/8)+e/8] |= v << (e % 8)
			}
		}
	case Delta:
		w := naiveWord(ts)
		for i := range len(in) / w * w {
			if ref != nil {
				out[i] = in[i] ^ ref[i]
			} else if i >= w {
				out[i] = in[i] ^ in[i-w]
			}
		}
	case TruncPrec:
		mantissa := map[int]int{4: 23, 8: 52}[ts]
		z := mantissa - int(int8(f.Param()))
		if int8(f.Param()) < 0 {
			z = -int(int8(f.Param()))
		}
		for i := range len(in) / ts {
			for b := range z {
				out[i*ts+b/8] &^= 1 << (b % 8)
			}
		}
	}
	return out
}

func naiveWord(ts int) int {
	switch {
	case ts == 1 || ts == 2 || ts == 4:
		return ts
	case ts%8 == 0:
		return 8
	}
	return 1
}

func naiveBackward(f Filter, in, ref []byte, ts int) []byte {
	out := slices.Clone(in)
	switch f.kind() {
	case Shuffle:
		w := ts
		if f.Param() > 0 {
			w = int(f.Param())
		}
		n := len(in) / w
		for i := range n {
			for j := range w {
				out[i*w+j] = in[j*n+i]
			}
		}
	case BitShuffle:
		n := len(in) / ts / 8 * 8
		clear(out[:n*ts])
		for e := range n {
			for bit := range 8 * ts {
				v := in[bit*(n/8)+e/8] >> (e % 8) & 1
				out[e*ts+bit/8] |= v << (bit % 8)
			}
		}
	case Delta:
		w := naiveWord(ts)
		for i := range len(in) / w * w {
			if ref != nil {
				out[i] = in[i] ^ ref[i]
			} else if i >= w {
				out[i] = in[i] ^ out[i-w]
			}
		}
	}
	return out
}

// naiveParams are compression parameters with their defaults filled in.
type naiveParams struct {
	id        codec.ID
	level, ts int
	filters   [6]Filter
	blockSize int
	split     bool
}

func (p *naiveParams) has(id Filter) bool {
	return slices.ContainsFunc(p.filters[:], func(f Filter) bool { return f.kind() == id })
}

func newNaiveParams(c Params, blockSize int) naiveParams {
	p := naiveParams{id: c.Codec, level: c.Level, ts: max(c.TypeSize, 1), blockSize: blockSize}
	switch c.Level {
	case 0:
		p.level = 5
	case codec.NoCompression:
		p.level = 0
	}
	if p.id == codec.Default {
		p.id = codec.Zstd
	}
	if p.ts > 255 {
		p.ts = 1
	}
	p.filters[5] = Shuffle
	if c.Filters != nil {
		p.filters = [6]Filter{}
		copy(p.filters[:], c.Filters)
	}
	p.split = (p.id == codec.BloscLZ || p.id == codec.LZ4 || p.id == codec.Zstd && p.level <= 5) &&
		p.has(Shuffle) && p.ts <= 16 && blockSize/p.ts >= 32
	if c.Split == SplitAlways {
		p.split = true
	}
	if c.Split == SplitNever {
		p.split = false
	}
	return p
}

// naiveEncode returns the chunk that C-Blosc2 with one thread writes for src, given the block size.
func naiveEncode(t testing.TB, src []byte, c Params, blockSize int) []byte {
	t.Helper()
	p := newNaiveParams(c, blockSize)
	head := make([]byte, 32)
	head[0], head[1], head[2], head[3] = 5, 1, 0x05, byte(p.ts)
	binary.LittleEndian.PutUint32(head[4:], uint32(len(src)))
	binary.LittleEndian.PutUint32(head[8:], uint32(blockSize))
	binary.LittleEndian.PutUint32(head[12:], uint32(len(src)+32))
	for i, f := range p.filters {
		head[16+i], head[24+i] = f.Code(), f.Param()
	}
	head[22], head[23] = byte(p.id), c.CodecMeta
	nblocks := (len(src) + blockSize - 1) / blockSize
	store := len(src) < 32 || p.level == 0 || 4*nblocks > len(src)
	if !store {
		if p.has(Delta) {
			head[2] |= 0x08
		}
		if !p.split {
			head[2] |= 0x10
		}
		head[2] |= map[codec.ID]byte{codec.BloscLZ: 0, codec.LZ4: 1, codec.LZ4HC: 1, codec.Zlib: 3, codec.Zstd: 4}[p.id] << 5
		if out, ok := p.blocks(t, head, src); ok {
			binary.LittleEndian.PutUint32(out[12:], uint32(len(out)))
			return out
		}
	}
	head[2] |= 0x02
	return append(head, src...)
}

// blocks returns the chunk with compressed blocks, or false if they are too large.
func (p *naiveParams) blocks(t testing.TB, head, src []byte) ([]byte, bool) {
	enc := naiveEncoder(t, p.id, p.level)
	nblocks := (len(src) + p.blockSize - 1) / p.blockSize
	out := append(slices.Clone(head), make([]byte, 4*nblocks)...)
	zeros := true
	for k := range nblocks {
		binary.LittleEndian.PutUint32(out[32+4*k:], uint32(len(out)))
		buf := src[k*p.blockSize : min(len(src), (k+1)*p.blockSize)]
		var ref []byte
		if k > 0 {
			ref = src[:p.blockSize]
		}
		for _, f := range p.filters {
			buf = naiveForward(f, buf, ref, p.ts)
		}
		ns := 1
		if p.split && len(buf) == p.blockSize {
			ns = p.ts
		}
		ne := len(buf) / ns
		for j := range ns {
			s := buf[j*ne : (j+1)*ne]
			var ok bool
			if out, ok = naiveStream(t, out, s, enc, len(src)+32); !ok {
				return nil, false
			}
			zeros = zeros && !slices.ContainsFunc(s, func(b byte) bool { return b != 0 })
		}
	}
	if zeros {
		out = out[:32]
		out[31] |= 0x10
	}
	return out, true
}

var naiveEncoders = map[[2]int]codec.Encoder{}

func naiveEncoder(t testing.TB, id codec.ID, level int) codec.Encoder {
	key := [2]int{int(id), level}
	if enc := naiveEncoders[key]; enc != nil {
		return enc
	}
	c, err := codec.Set{}.ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := c.NewEncoder(codec.Params{Level: level})
	if err != nil {
		t.Fatal(err)
	}
	naiveEncoders[key] = enc
	return enc
}

// naiveStream appends a stream to a chunk that may have dest bytes, or returns false if it is too large.
func naiveStream(t testing.TB, out, s []byte, enc codec.Encoder, dest int) ([]byte, bool) {
	at := len(out)
	out = append(out, 0, 0, 0, 0)
	length := func(n int) { binary.LittleEndian.PutUint32(out[at:], uint32(n)) }
	if !slices.ContainsFunc(s, func(b byte) bool { return b != s[0] }) {
		if s[0] != 0 {
			length(-int(s[0]))
			out = append(out, 1)
		}
		return out, len(out) <= dest
	}
	maxout := min(len(s), dest-len(out))
	if maxout <= 0 {
		return nil, false
	}
	z := make([]byte, maxout)
	n, err := enc.Encode(z, s)
	if err != nil && !errors.Is(err, codec.ErrIncompressible) {
		t.Fatal(err)
	}
	z = z[:n]
	if err != nil || n == len(s) {
		z = s
	}
	length(len(z))
	out = append(out, z...)
	return out, len(out) <= dest
}

// naiveDecode decodes a valid chunk without special value.
func naiveDecode(t testing.TB, b []byte) []byte {
	t.Helper()
	le := binary.LittleEndian
	ts, n, bs := int(b[3]), int(le.Uint32(b[4:])), int(le.Uint32(b[8:]))
	var filters [6]Filter
	for i := range filters {
		filters[i] = FilterOf(b[16+i], b[24+i])
	}
	switch {
	case b[31]>>4&7 == 1:
		return make([]byte, n)
	case b[2]&2 != 0:
		return b[32 : 32+n]
	}
	c, err := codec.Set{}.ByFormat(codec.Format(b[2]>>5), b[22])
	if err != nil {
		t.Fatal(err)
	}
	dec, err := c.NewDecoder(codec.Params{TypeSize: ts})
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for k := 0; len(out) < n; k++ {
		size := min(bs, n-len(out))
		ns := 1
		if b[2]&0x10 == 0 && size == bs {
			ns = ts
		}
		ne := size / ns
		at := int(le.Uint32(b[32+4*k:]))
		var buf []byte
		for range ns {
			csize := int(int32(le.Uint32(b[at:])))
			at += 4
			s := make([]byte, ne)
			switch {
			case csize < 0:
				for i := range s {
					s[i] = byte(-csize)
				}
				at++
			case csize == ne:
				copy(s, b[at:])
			case csize > 0:
				if err := dec.Decode(s, b[at:at+csize]); err != nil {
					t.Fatal(err)
				}
			}
			at += max(csize, 0)
			buf = append(buf, s...)
		}
		var ref []byte
		if k > 0 {
			ref = out[:bs]
		}
		for i := 5; i >= 0; i-- {
			buf = naiveBackward(filters[i], buf, ref, ts)
		}
		out = append(out, buf...)
	}
	return out
}

// contents returns inputs of n bytes of different kinds.
var contents = map[string]func(n int) []byte{
	"zeros": func(n int) []byte { return make([]byte, n) },
	"sevens": func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = 7
		}
		return b
	},
	"ramp": func(n int) []byte {
		b := make([]byte, n+4)
		for i := 0; i < n; i += 4 {
			binary.LittleEndian.PutUint32(b[i:], uint32(i*3))
		}
		return b[:n]
	},
	"noise":    noise,
	"floats":   floats,
	"part":     func(n int) []byte { b := noise(n); clear(b[n/3 : n/2]); return b },
	"tail":     func(n int) []byte { b := noise(n); clear(b[n-n/300:]); return b },
	"head":     func(n int) []byte { b := noise(n); clear(b[:n/200]); return b },
	"nibbles":  func(n int) []byte { b := noise(n); mask(b, 0x0f); return b },
	"sevenths": func(n int) []byte { b := noise(n); mask(b, 0x7f); return b },
}

func noise(n int) []byte {
	r := rand.NewPCG(uint64(n), 5)
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	return b
}

func floats(n int) []byte {
	b := noise(n)
	for i := range b {
		if i%4 >= 2 {
			b[i] = byte(i / 4096)
		}
	}
	return b
}

func mask(b []byte, m byte) {
	for i := range b {
		b[i] &= m
	}
}
