package zstdenc

import (
	"math"
	"math/bits"
)

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
