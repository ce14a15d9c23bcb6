package lz4

import (
	"bytes"
	"math/rand"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/lz4block"
	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/pierrec/lz4/v4"
)

// oracleDecode decodes a block with another library. On machines without kernels, Decode calls the same function, so
// only decodeGeneric is compared with independent code.
func oracleDecode(src, dict []byte, n int) ([]byte, bool) {
	dst := make([]byte, n)
	if len(src) == 0 {
		return dst, n == 0
	}
	k, err := lz4.UncompressBlockWithDict(clearLast(src), dst, dict)
	return dst, err == nil && k == n
}

// clearLast returns src with a match length of 0 in its last token, if src ends with literals. The oracle refuses other
// lengths there, which liblz4 ignores.
func clearLast(src []byte) []byte {
	for in := 0; in < len(src); {
		token := in
		in++
		n := int(src[token] >> 4)
		if n == 15 {
			n, in = getLength(src, in, n)
		}
		if in += n; n >= 0 && in == len(src) {
			src = bytes.Clone(src)
			src[token] &= 0xf0
			return src
		}
		in += 2
		if m := src[token] & 15; n >= 0 && m == 15 {
			n, in = getLength(src, in, 15)
		}
		if n < 0 {
			return src
		}
	}
	return src
}

// decoders are the ways to decode a block.
var decoders = []func(dst, src, dict []byte) bool{
	Decode,
	decodeGeneric,
	func(dst, src, dict []byte) bool { // twice
		twin := make([]byte, len(dst))
		ok := DecodeAll([][]byte{dst, twin}, [][]byte{src, src}, dict)
		return ok && bytes.Equal(dst, twin)
	},
	func(dst, src, dict []byte) bool { // among valid blocks
		short := []byte{0x30, 1, 2, 3}
		a, b, c := make([]byte, len(soundBytes)), make([]byte, len(soundBytes)), make([]byte, 3)
		ok := DecodeAll([][]byte{a, c, dst, b}, [][]byte{soundBlock, short, src, soundBlock}, dict)
		return ok && bytes.Equal(a, soundBytes) && bytes.Equal(b, soundBytes) && c[2] == 3
	},
}

// soundBlock is a valid block of many short sequences, and soundBytes its decoded bytes.
var (
	soundBlock    = encodeSound()
	soundBytes, _ = oracleDecode(soundBlock, nil, 20_000)
)

func encodeSound() []byte {
	dst := make([]byte, 20_000)
	return dst[:new(Encoder).Encode(dst, contents(20_000, 0)["few"], 1)]
}

// checkDecode compares with the oracle: whether src is valid, and the decoded bytes. It reports whether src is valid.
func checkDecode(t *testing.T, src, dict []byte, n int) bool {
	t.Helper()
	want, valid := oracleDecode(src, dict, n)
	for _, decode := range decoders {
		dst := bytes.Repeat([]byte{0x5a}, n+80)
		ok := decode(dst[:n:n], src, dict)
		if string(dst[n:]) != strings.Repeat("\x5a", 80) {
			t.Fatalf("%d bytes: wrote outside", n)
		}
		if ok != valid || ok && !bytes.Equal(dst[:n], want) {
			t.Fatalf("%x to %d bytes: %v, want %v, or other bytes", src, n, ok, valid)
		}
	}
	if !valid {
		want = nil
	}
	begins := trial.Prefixes(t, n, want, func(dst []byte, n int) bool { return DecodePrefix(dst, src, dict, n) })
	others := trial.Prefixes(t, n, want, func(dst []byte, n int) bool { // without a kernel
		d := decoder{src: src, dst: dst}
		for d.out < n && d.in < len(src) {
			if !d.sequence(dict) {
				return false
			}
		}
		return d.out >= n
	})
	if begins != others && cpu.Has(kernelLevel) {
		t.Fatalf("%x to %d bytes: different beginnings are valid: %v and %v", src, n, begins, others)
	}
	return valid
}

// randomBlock returns a block and its decoded size in bytes. Nearly all of its distances are in range.
func randomBlock(r *rand.Rand, dict int) (block []byte, n int) {
	length := func(n int) int {
		if n < 15 {
			return n
		}
		for n -= 15; n >= 255; n -= 255 {
			block = append(block, 255)
		}
		block = append(block, byte(n))
		return 15
	}
	distances := 1 << (1 + r.Intn(16))
	lengths := 1 + r.Intn(12)
	if r.Intn(100) == 0 {
		lengths = 17 // longer than the kernels accept
	}
	for range r.Intn(1 << r.Intn(9)) {
		literals, match := r.Intn(1<<r.Intn(lengths)), r.Intn(1<<r.Intn(lengths))
		token := len(block)
		block = append(block, 0)
		high := length(literals)
		for range literals {
			block = append(block, byte(r.Intn(256)))
		}
		n += literals
		distance := 1 + r.Intn(max(1, min(distances, n+dict, 65535)))
		if n+dict == 0 || r.Intn(3000) == 0 {
			distance = r.Intn(65536)
		}
		block = append(block, byte(distance), byte(distance>>8))
		block[token] = byte(high<<4 | length(match))
		n += match + lz4block.MinMatch
	}
	token := len(block)
	literals := r.Intn(1 << r.Intn(8))
	block = append(block, 0)
	block[token] = byte(length(literals) << 4)
	if r.Intn(8) == 0 {
		block[token] |= byte(r.Intn(16)) // ignored
	}
	for range literals {
		block = append(block, byte(r.Intn(256)))
	}
	return block, n + literals
}

// TestDecodeLastToken decodes blocks with each match length in the last token, which has no match. It must be ignored,
// as in liblz4.
func TestDecodeLastToken(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		for _, before := range []int{0, 1, 200} {
			for _, literals := range []int{0, 5, 14, 15, 46, 47, 300} {
				if before+literals == 0 {
					continue // liblz4 refuses an empty block with another token than 0
				}
				var block []byte
				for range before {
					block = append(block, 0x51, 'a', 'b', 'c', 'd', 'e', 5, 0)
				}
				token := len(block)
				block = append(block, byte(min(literals, 15)<<4))
				if literals >= 15 {
					block = append(block, bytes.Repeat([]byte{255}, (literals-15)/255)...)
					block = append(block, byte((literals-15)%255))
				}
				block = append(block, make([]byte, literals)...)
				for low := range byte(16) {
					block[token] = block[token]&0xf0 | low
					if !checkDecode(t, block, nil, 10*before+literals) {
						t.Errorf("%d sequences and %d literals, last match length %d: refused", before, literals, low)
					}
				}
			}
		}
	})
}

func TestDecode(t *testing.T) {
	rounds, valid := int64(6000), 0
	if testing.Short() {
		rounds = 400
	}
	for seed := range rounds {
		r := rand.New(rand.NewSource(seed))
		dict := make([]byte, r.Intn(2)*r.Intn(1<<r.Intn(17)))
		r.Read(dict)
		block, n := randomBlock(r, len(dict))
		if checkDecode(t, block, dict, n) {
			valid++
		}
		checkDecode(t, block, dict, max(0, n+r.Intn(41)-20))
		for range 8 {
			m := bytes.Clone(block)
			for range 1 + r.Intn(3) {
				m[r.Intn(len(m))] = byte(r.Intn(256))
			}
			if r.Intn(3) == 0 {
				m = m[:r.Intn(len(m)+1)]
			}
			checkDecode(t, m, dict, n)
		}
	}
	if valid < int(rounds)*2/3 {
		t.Errorf("%d of %d blocks are valid", valid, rounds)
	}
}

// TestRoundTrip decodes the blocks of the encoder.
func TestRoundTrip(t *testing.T) {
	var e Encoder
	for _, n := range lengths {
		for name, src := range contents(n, 1) {
			dst := make([]byte, n+n/255+16)
			block := dst[:e.Encode(dst, src, 1)]
			back := make([]byte, n)
			if !Decode(back, block, nil) || !bytes.Equal(back, src) {
				t.Fatalf("%s: %d bytes: does not round-trip", name, n)
			}
			checkDecode(t, block, nil, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for seed := range int64(20) {
		block, n := randomBlock(rand.New(rand.NewSource(seed)), 0)
		f.Add(block, []byte("dictionary"), n)
	}
	f.Fuzz(func(t *testing.T, src, dict []byte, n int) {
		checkDecode(t, src, dict, max(0, min(n, 1<<18)))
	})
}

// TestDecodeAll decodes several blocks in one call, some of them invalid.
func TestDecodeAll(t *testing.T) {
	rounds, valid := int64(1000), 0
	if testing.Short() {
		rounds = 200
	}
	if !DecodeAll(nil, nil, nil) {
		t.Error("DecodeAll fails without blocks")
	}
	for seed := range rounds {
		r := rand.New(rand.NewSource(seed))
		dict := make([]byte, r.Intn(2)*r.Intn(1<<r.Intn(17)))
		r.Read(dict)
		var dst, src, want [][]byte
		all := true
		for range 1 + r.Intn(6) {
			block, n := randomBlock(r, len(dict))
			if r.Intn(20) == 0 {
				block[r.Intn(len(block))] = byte(r.Intn(256))
			}
			out, ok := oracleDecode(block, dict, n)
			want, src, dst = append(want, out), append(src, block), append(dst, make([]byte, n, n+80))
			all = all && ok
		}
		ok := DecodeAll(dst, src, dict)
		for i := range dst {
			if strings.Trim(string(dst[i][len(dst[i]):len(dst[i])+80]), "\x00") != "" {
				t.Fatalf("seed %d, block %d of %d: wrote outside", seed, i, len(dst))
			}
			if all && !bytes.Equal(dst[i], want[i]) {
				t.Fatalf("seed %d, block %d of %d: other bytes", seed, i, len(dst))
			}
		}
		if ok != all {
			t.Fatalf("seed %d: %v, want %v", seed, ok, all)
		}
		if ok {
			valid++
		}
	}
	if valid < int(rounds)/3 || valid > int(rounds)*9/10 {
		t.Errorf("%d of %d are valid", valid, rounds)
	}
}

func BenchmarkDecode(b *testing.B) {
	const n = 128 << 10
	for _, name := range []string{"few", "mixed", "runs"} {
		src, block := contents(n, 0)[name], make([]byte, n)
		block = block[:new(Encoder).Encode(block, src, 1)]
		dst := make([]byte, n)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				if !Decode(dst, block, nil) {
					b.Fatal("invalid block")
				}
			}
		})
		b.Run(name+"/two", func(b *testing.B) {
			dsts, srcs := [][]byte{dst, make([]byte, n)}, [][]byte{block, block}
			b.SetBytes(2 * n)
			b.ReportAllocs()
			for b.Loop() {
				if !DecodeAll(dsts, srcs, nil) {
					b.Fatal("invalid block")
				}
			}
		})
	}
}
