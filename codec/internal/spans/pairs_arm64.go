//go:build arm64 && !purego

package spans

// Pair specifies how to repeat the first n bytes of 16 over two registers with VTBL. It takes 64 bytes.
type Pair struct {
	Masks [32]byte // to repeat them over 32 bytes
	Step  uint64   // number of the 32 bytes that are complete repetitions
	_     [24]byte
}

// Pairs returns the pairs by n, from 1 to 15. It never changes.
func Pairs() *[16]Pair { return pairs }

var pairs = makePairs()

func makePairs() *[16]Pair {
	var s [16]Pair
	for n := 1; n < len(s); n++ {
		for i := range s[n].Masks {
			s[n].Masks[i] = byte(i % n)
		}
		s[n].Step = uint64(32 / n * n)
	}
	return &s
}
