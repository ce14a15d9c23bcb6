//go:build arm64 && !purego

package zstd

// features are the instruction sets that the kernels of this package may use. Only tests change them.
type features struct {
	neon bool
}

// Go runs only on arm64 machines that have NEON.
var use = features{neon: true}

const vectorKernel = "neon"

// turnCodes is how many look-ups a kernel for four streams takes in a turn.
const turnCodes = 5

// vectors reports whether there are kernels in assembly to use.
func vectors() bool { return use.neon }
