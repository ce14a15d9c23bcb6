package zstd

import (
	"encoding/binary"
	"math/bits"
)

// The primes of XXH64.
const (
	prime1 = 0x9e3779b185ebca87
	prime2 = 0xc2b2ae3d27d4eb4f
	prime3 = 0x165667b19e3779f9
	prime4 = 0x85ebca77c2b2ae63
	prime5 = 0x27d4eb2f165667c5
)

// xxhash64 is XXH64 with seed 0. Frames store the low half of it.
func xxhash64(p []byte) uint64 {
	n := uint64(len(p))
	h := uint64(prime5)
	if len(p) >= 32 {
		a, b, c, d := uint64(prime1), uint64(prime2), uint64(0), uint64(0)
		a, d = a+prime2, d-prime1
		for ; len(p) >= 32; p = p[32:] {
			q := p[:32]
			a = xxround(a, binary.LittleEndian.Uint64(q))
			b = xxround(b, binary.LittleEndian.Uint64(q[8:]))
			c = xxround(c, binary.LittleEndian.Uint64(q[16:]))
			d = xxround(d, binary.LittleEndian.Uint64(q[24:]))
		}
		h = bits.RotateLeft64(a, 1) + bits.RotateLeft64(b, 7) + bits.RotateLeft64(c, 12) + bits.RotateLeft64(d, 18)
		for _, v := range [4]uint64{a, b, c, d} {
			h = (h^xxround(0, v))*prime1 + prime4
		}
	}
	h += n
	for ; len(p) >= 8; p = p[8:] {
		h ^= xxround(0, binary.LittleEndian.Uint64(p))
		h = bits.RotateLeft64(h, 27)*prime1 + prime4
	}
	if len(p) >= 4 {
		h ^= uint64(binary.LittleEndian.Uint32(p)) * prime1
		h = bits.RotateLeft64(h, 23)*prime2 + prime3
		p = p[4:]
	}
	for _, c := range p {
		h ^= uint64(c) * prime5
		h = bits.RotateLeft64(h, 11) * prime1
	}
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}

func xxround(h, v uint64) uint64 { return bits.RotateLeft64(h+v*prime2, 31) * prime1 }
