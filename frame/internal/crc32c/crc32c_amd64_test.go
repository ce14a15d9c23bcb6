//go:build amd64 && !purego

package crc32c

import (
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
)

// TestVectorInUse fails if the kernel is not used where it can be.
func TestVectorInUse(t *testing.T) {
	if !cpu.Has(cpu.AVX512) {
		t.Skip("this machine has no AVX-512")
	}
	for n := range 3 * minVector {
		_, rest := updateVector(0, make([]byte, n))
		if n >= minVector && len(rest) > 63 || n < minVector && len(rest) < n {
			t.Errorf("%d of %d bytes left", len(rest), n)
		}
	}
}

// power returns x^n modulo the polynomial as factors has it.
func power(n int) uint64 {
	const polynomial = 0x82f63b78
	r := uint32(1 << 31) // 1
	for range n {
		carry := r & 1
		r = r>>1 ^ carry*polynomial
	}
	return uint64(r) << 32
}

func TestFactors(t *testing.T) {
	for i, bits := range [3][4]int{{2048, 2048, 2048, 2048}, {512, 512, 512, 512}, {384, 256, 128, 0}} {
		for lane, d := range bits {
			l, h := uint64(0), uint64(0)
			if d > 0 {
				l, h = power(d+63), power(d-1)
			}
			if got := [2]uint64(factors[i][2*lane:]); got != [2]uint64{l, h} {
				t.Errorf("register %d, lane %d: %#x, want %#x and %#x", i, lane, got, l, h)
			}
		}
	}
}
