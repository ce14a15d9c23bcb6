package shuffle

// Kernel names the instruction set of the kernels in use: "avx2", "neon" or "generic".
func Kernel() string { return "generic" }

// shuffleElements transposes n elements of width bytes; both slices hold n*width bytes.
func shuffleElements(dst, src []byte, width, n int) { shuffleGeneric(dst, src, width, n) }

// unshuffleElements undoes shuffleElements.
func unshuffleElements(dst, src []byte, width, n int) { unshuffleGeneric(dst, src, width, n) }
