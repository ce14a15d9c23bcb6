//go:build amd64 && !purego

package crc32c

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// minVector is the least number of bytes for which the kernel is used.
const minVector = 512

// updateVector does Update for the first bytes of p, and returns the CRC so far and the rest of p.
func updateVector(crc uint32, p []byte) (uint32, []byte) {
	if !cpu.Has(cpu.AVX512) || len(p) < minVector {
		return crc, p
	}
	n := len(p) &^ 63
	race.Read(p[:n])
	return ^foldAVX512(^crc, &p[0], n, &factors), p[n:]
}

// factors are the constants of foldAVX512: two for each of the four lanes of 16 bytes in a register. A pair, x^(d+63)
// and x^(d-1) modulo the polynomial, moves a lane by d bits; foldAVX512 explains this. The last lane of the last
// register does not move. Each constant has the 32 bits of its remainder in the upper half of a 64-bit word, in the
// order of the checksum: the lowest bit is the coefficient of x^31.
var factors = [3][8]uint64{
	// by 2048 bits, which is four registers
	{0xe9a5d8be00000000, 0x1426a81500000000, 0xe9a5d8be00000000, 0x1426a81500000000, 0xe9a5d8be00000000, 0x1426a81500000000, 0xe9a5d8be00000000, 0x1426a81500000000},
	// by 512 bits, which is one register
	{0x1c19243b00000000, 0x75bba45b00000000, 0x1c19243b00000000, 0x75bba45b00000000, 0x1c19243b00000000, 0x75bba45b00000000, 0x1c19243b00000000, 0x75bba45b00000000},
	// by 384, 256 and 128 bits: each lane to the position of the last
	{0xa46ef4aa00000000, 0x6051243f00000000, 0x33ccbbbc00000000, 0xa2158b3400000000, 0x3743f7bd00000000, 0x3171d43000000000, 0, 0},
}

// foldAVX512 returns the state of the CRC register after n bytes from p, if the state was crc before. The state is the
// complement of the CRC. n must be a multiple of 64 and at least 256. The CPU must have AVX-512 with VPCLMULQDQ.
//
//go:noescape
func foldAVX512(crc uint32, p *byte, n int, factors *[3][8]uint64) uint32
