//go:build (!amd64 && !arm64) || purego

package shuffle

// features are the instruction sets that the kernels of this package may use: none here.
type features struct{}

var use features

// Kernel names the instruction set of the kernels in use: "avx512", "avx2", "neon" or "generic".
func Kernel() string { return "generic" }

// shuffleElements transposes n elements of width bytes; both slices hold n*width bytes.
func shuffleElements(dst, src []byte, width, n int) { shuffleGeneric(dst, src, width, n, 0) }

// unshuffleElements undoes shuffleElements.
func unshuffleElements(dst, src []byte, width, n int) { unshuffleGeneric(dst, src, width, n, 0) }
