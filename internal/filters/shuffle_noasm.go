//go:build (!amd64 && !arm64) || purego

package filters

// shuffleElements transposes n elements of width bytes; both slices hold n*width bytes.
func shuffleElements(dst, src []byte, width, n int) { shuffleGeneric(dst, src, width, n, 0) }

// unshuffleElements undoes shuffleElements.
func unshuffleElements(dst, src []byte, width, n int) { unshuffleGeneric(dst, src, width, n, 0) }
