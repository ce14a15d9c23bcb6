package ndlz

import (
	"encoding/binary"
	"math/bits"
)

// The primes of XXH32.
const (
	prime1 uint32 = 2654435761
	prime2 uint32 = 2246822519
	prime3 uint32 = 3266489917
	prime4 uint32 = 668265263
	prime5 uint32 = 374761393
)

// hash returns the slot for b, a multiple of 4 bytes: the high 12 bits of its XXH32 with seed 1 (Y. Collet's xxHash).
func hash(b []byte) uint32 {
	seed := uint32(1)
	n := uint32(len(b))
	h := seed + prime5
	if len(b) >= 16 {
		v := [4]uint32{seed + prime1, seed + prime2, seed, seed - prime1}
		v[0] += prime2
		for ; len(b) >= 16; b = b[16:] {
			for i := range v {
				v[i] = bits.RotateLeft32(v[i]+binary.LittleEndian.Uint32(b[4*i:])*prime2, 13) * prime1
			}
		}
		h = bits.RotateLeft32(v[0], 1) + bits.RotateLeft32(v[1], 7) + bits.RotateLeft32(v[2], 12) + bits.RotateLeft32(v[3], 18)
	}
	h += n
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*prime3, 17) * prime4
	}
	h = (h ^ h>>15) * prime2
	h = (h ^ h>>13) * prime3
	return (h ^ h>>16) >> (32 - tableBits)
}
