package zstdenc

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// histogram counts the bytes of b.
func histogram(count *[256]uint32, b []byte, parts *[3][256]uint32) {
	*count = [256]uint32{}
	addHistogram(count, b, parts, 16)
}

// addHistogram adds the number of times that each byte occurs to count. It counts 16 bytes of each stride bytes of b:
// all, or with a stride of 32 a half of them. Then len(b) must be a multiple of 16, and at least 1024.
func addHistogram(count *[256]uint32, b []byte, parts *[3][256]uint32, stride int) {
	if len(b) >= 1024 {
		*parts = [3][256]uint32{} // separate, because increments for equal adjacent bytes wait for each other
		n := len(b) &^ 15
		countParts(count, parts, b[:n], stride)
		b = b[n:]
	}
	for _, c := range b {
		count[c]++
	}
}

// countPartsGeneric counts 16 bytes of each stride bytes of b with the help of parts, which must be zeros. len(b) must
// be a multiple of 16.
func countPartsGeneric(count *[256]uint32, parts *[3][256]uint32, b []byte, stride int) {
	for len(b) > 0 {
		for i := 0; i < 16; i += 8 {
			v := binary.LittleEndian.Uint64(b[i:])
			count[uint8(v)]++
			parts[0][uint8(v>>8)]++
			parts[1][uint8(v>>16)]++
			parts[2][uint8(v>>24)]++
			count[uint8(v>>32)]++
			parts[0][uint8(v>>40)]++
			parts[1][uint8(v>>48)]++
			parts[2][uint8(v>>56)]++
		}
		b = b[min(stride, len(b)):]
	}
	for i := range count {
		count[i] += parts[0][i] + parts[1][i] + parts[2][i]
	}
}

// Costs are in fractions of a bit: 1<<costLog is one bit.
const (
	costLog = 8
	oneBit  = 1 << costLog
)

// fractions holds the logarithms of 1 to 2, in costs.
var fractions = makeFractions()

func makeFractions() *[256]uint16 {
	t := new([256]uint16)
	for i := range t {
		t[i] = uint16(math.Round(math.Log2(1+(float64(i)+0.5)/256) * oneBit))
	}
	return t
}

// log2 returns the logarithm of x, which must not be 0.
func log2(x uint32) uint32 {
	n := uint(bits.LeadingZeros32(x))
	return uint32(31-n)<<costLog + uint32(fractions[x<<(n&31)>>23&255])
}

// entropy returns the cost of symbols with these counts in an ideal code.
func entropy(count []uint32, total uint32) uint64 {
	all := log2(total)
	sum := uint64(0)
	for _, c := range count {
		if c > 0 {
			sum += uint64(c) * uint64(all-min(all, log2(c)))
		}
	}
	return sum
}
