package attack

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// edges are values at which sizes, counts and positions change their meaning.
var edges = []int64{
	0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 127, 128, 255, 256, 4095, 4096, 65535, 65536, 1 << 20, 1<<26 + 1,
	536866816, 1 << 29, 2147483615, math.MaxInt32, 1 << 31, math.MaxUint32, 1 << 32, 1 << 40, math.MaxInt64 / 8, math.MaxInt64,
	-1, -2, -8, -16, -255, -256, math.MinInt32, math.MinInt64,
}

// extreme returns an edge, or a value near the one that there is.
func extreme(rng *rand.Rand, now int64) int64 {
	switch rng.IntN(4) {
	case 0:
		return now + int64(rng.IntN(5)) - 2
	case 1:
		return []int64{now / 2, now * 2, now * 16, -now, now << 16, now ^ 1<<rng.IntN(32)}[rng.IntN(6)]
	}
	return edges[rng.IntN(len(edges))]
}

// pick returns one of some values.
func pick[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// flip changes a few bytes of b.
func flip(rng *rand.Rand, b []byte) {
	if len(b) == 0 {
		return
	}
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(b))
		switch rng.IntN(3) {
		case 0:
			b[at] ^= 1 << rng.IntN(8)
		case 1:
			b[at] = pick[byte](rng, 0, 1, 0x7f, 0x80, 0xff)
		default:
			b[at] = byte(rng.Uint32())
		}
	}
}

func le32(b []byte, at int) int64 { return int64(int32(binary.LittleEndian.Uint32(b[at:]))) }

func putLE32(b []byte, at int, v int64) { binary.LittleEndian.PutUint32(b[at:], uint32(v)) }

// holeSize returns the size of a hole. Large ones are rare, as Salvage reads them.
func holeSize(rng *rand.Rand) int64 {
	if rng.IntN(16) > 0 {
		return pick[int64](rng, 1, 4096, 1<<18)
	}
	return pick[int64](rng, 1<<31-100, 1<<31, 1<<33, 1<<40)
}
