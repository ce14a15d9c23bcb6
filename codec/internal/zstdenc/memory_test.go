package zstdenc

import (
	"runtime"
	"testing"
)

// TestSmallMemory checks that an encoder of small data takes little memory. Level 3 always has tables of the same size.
func TestSmallMemory(t *testing.T) {
	src, dst := make([]byte, 1<<10), make([]byte, 2<<10)
	for i := range src {
		src[i] = byte(i * i >> 3)
	}
	for level := 1; level <= 9; level++ {
		most := uint64(512 << 10)
		if level == 3 {
			most = 1200 << 10
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		NewEncoder(level).Encode(dst, src)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("level %d: %d bytes for 1 KiB, want at most %d", level, n, most)
		}
	}
}

// TestGrowingData compresses inputs of different sizes with one encoder. Its streams must be those of new encoders.
func TestGrowingData(t *testing.T) {
	src := make([]byte, 300<<10)
	for i := range src {
		src[i] = byte(i * (i >> 9) >> 3)
	}
	dst, want := make([]byte, len(src)), make([]byte, len(src))
	for level := 1; level <= 9; level++ {
		e := NewEncoder(level)
		for _, n := range []int{100, 1 << 10, 1023, 1<<10 + 1, 5000, 60 << 10, 128 << 10, 64, 128<<10 + 1, 300 << 10, 2000} {
			k, m := e.Encode(dst, src[:n]), NewEncoder(level).Encode(want, src[:n])
			if k != m || string(dst[:k]) != string(want[:m]) {
				t.Errorf("level %d, %d bytes: %d bytes, want the %d of a new encoder", level, n, k, m)
			}
		}
	}
}
