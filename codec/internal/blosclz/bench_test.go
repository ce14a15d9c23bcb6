package blosclz

import "testing"

// BenchmarkEncodeRun compresses one long run, where all time goes into finding the end of a match.
func BenchmarkEncodeRun(b *testing.B) {
	src := make([]byte, 256<<10)
	dst := make([]byte, len(src))
	var e Encoder
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		e.Encode(dst, src, 5)
	}
}
