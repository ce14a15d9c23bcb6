package lz4hc

import (
	"fmt"
	"math/rand"
	"testing"
)

// BenchmarkEncode compresses bytes of a skewed distribution, which have many short matches.
func BenchmarkEncode(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	src := make([]byte, 128<<10)
	for i := range src {
		src[i] = byte(r.ExpFloat64() * 12)
	}
	dst := make([]byte, len(src))
	for _, level := range []int{2, 3, 6, 9} {
		b.Run(fmt.Sprint(level), func(b *testing.B) {
			e := NewEncoder(level)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				e.Encode(dst, src)
			}
		})
	}
}
