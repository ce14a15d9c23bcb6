package adler

import (
	"bytes"
	"fmt"
	"hash/adler32"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

// TestChecksum compares with the standard library for lengths around the steps of the loops, for the largest bytes, and
// for any alignment in memory.
func TestChecksum(t *testing.T) {
	greatest := bytes.Repeat([]byte{255}, 1<<17)
	noise := trial.Input(1, 1<<17, 1)
	cputest.Each(t, func(t *testing.T) {
		check := func(p []byte) {
			if got, want := Checksum(p), adler32.Checksum(p); got != want {
				t.Fatalf("%d bytes: %#x, want %#x", len(p), got, want)
			}
		}
		for n := range 200 {
			check(noise[n%67:][:n])
			check(greatest[:n])
		}
		for _, n := range []int{1000, longest - 32, longest - 1, longest, longest + 1, 2*longest + 31, 1<<16 - 1, 1 << 16, 1<<16 + 33, 1<<16 + 97, 1<<17 - 67} {
			for i := range 67 {
				check(noise[i:][:n])
			}
			check(greatest[:n])
		}
	}, cpu.AVX2, cpu.AVX512)
}

func BenchmarkChecksum(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 18} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			cputest.EachBenchmark(b, func(b *testing.B) {
				p := trial.Input(1, size, 1)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					Checksum(p)
				}
			}, cpu.AVX2, cpu.AVX512)
		})
	}
}
