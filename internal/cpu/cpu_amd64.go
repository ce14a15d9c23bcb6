//go:build amd64 && !purego

package cpu

import "golang.org/x/sys/cpu"

// Kernels reports whether the build has assembly for this architecture.
const Kernels = true

const baseline = "sse2"

func detect() Level {
	x := &cpu.X86
	switch {
	case !x.HasSSSE3:
		return Baseline
	case !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2:
		return SSSE3
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasAVX512VBMI || !x.HasAVX512GFNI ||
		!x.HasAVX512VPCLMULQDQ || !x.HasSSE42:
		return AVX2
	}
	return AVX512
}
