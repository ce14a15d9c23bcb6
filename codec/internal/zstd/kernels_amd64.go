//go:build amd64 && !purego

package zstd

import "golang.org/x/sys/cpu"

// features are the instruction sets that the kernels of this package may use. Only tests change them.
type features struct {
	avx2 bool // and BMI2
}

var use = features{avx2: cpu.X86.HasAVX2 && cpu.X86.HasBMI2}

const vectorKernel = "avx2"

// turnCodes is how many look-ups a kernel for four streams takes in a turn.
const turnCodes = 6

// vectors reports whether there are kernels in assembly to use.
func vectors() bool { return use.avx2 }
