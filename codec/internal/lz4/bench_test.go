package lz4

import (
	"fmt"
	"testing"
)

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{8 << 10, 128 << 10} {
		for _, name := range []string{"mixed", "noise", "runs"} {
			src, dst := contents(n, 0)[name], make([]byte, n)
			b.Run(fmt.Sprintf("%s-%d", name, n), func(b *testing.B) {
				var e Encoder
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					e.Encode(dst, src, 5)
				}
			})
		}
	}
}
