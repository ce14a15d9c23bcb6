package interop

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// kinds are the contents that the tests compress, from incompressible to constant, and between.
var kinds = []string{"zeros", "constant", "ramp", "sine", "sparse", "text", "random", "mixed"}

// content returns n bytes of a kind, in items of size bytes.
func content(rng *rand.Rand, kind string, n, size int) []byte {
	b := make([]byte, n)
	switch kind {
	case "constant":
		item := make([]byte, 1+rng.IntN(2)*(size-1)) // one byte, or one item
		random(rng, item)
		for i := range b {
			b[i] = item[i%len(item)]
		}
	case "ramp":
		step := rng.Uint64N(1000)
		items(b, size, func(i int) uint64 { return uint64(i) * step })
	case "sine":
		items(b, size, func(i int) uint64 {
			v := 1000 * math.Sin(float64(i)/50)
			switch size {
			case 4:
				return uint64(math.Float32bits(float32(v)))
			case 8:
				return math.Float64bits(v)
			}
			return uint64(int64(v))
		})
	case "sparse":
		for range n / 50 {
			b[rng.IntN(n)] = byte(rng.Uint32())
		}
	case "text":
		words := []string{"block ", "chunk ", "frame ", "super", "-", "array\n", "the ", "of ", "0123456789"}
		for i := 0; i < n; {
			i += copy(b[i:], words[rng.IntN(len(words))])
		}
	case "random":
		random(rng, b)
	case "mixed": // random except for one run, so that it compresses only a little
		random(rng, b)
		if n > 0 {
			at := rng.IntN(n)
			clear(b[at:min(n, at+rng.IntN(n/8+100))])
		}
	}
	return b
}

func random(rng *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
}

// items fills b with little-endian items, cut or extended to size bytes.
func items(b []byte, size int, item func(i int) uint64) {
	word := make([]byte, max(8, size))
	for i := 0; i*size < len(b); i++ {
		binary.LittleEndian.PutUint64(word, item(i))
		copy(b[i*size:], word[:size])
	}
}
