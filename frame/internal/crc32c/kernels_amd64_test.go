//go:build amd64 && !purego

package crc32c

import (
	"testing"

	"golang.org/x/sys/cpu"
)

// withVector runs f with the kernel, and returns false where the machine has none.
func withVector(f func()) bool {
	if !cpu.X86.HasAVX512F || !cpu.X86.HasAVX512VPCLMULQDQ || !cpu.X86.HasSSE42 {
		return false
	}
	defer func(was bool) { useAVX512 = was }(useAVX512)
	useAVX512 = true
	f()
	return true
}

// TestVectorInUse fails if the kernel is not used where it can be.
func TestVectorInUse(t *testing.T) {
	if !cpu.X86.HasAVX512F || !cpu.X86.HasAVX512VPCLMULQDQ || !cpu.X86.HasSSE42 {
		t.Skip("the processor has no AVX-512 with VPCLMULQDQ")
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
