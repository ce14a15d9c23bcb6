//go:build (!amd64 && !arm64) || purego

package filters

// bitShuffleElements transposes the bits of n elements of size bytes; n is a multiple of 8 and not zero, and both
// slices hold n*size bytes.
func bitShuffleElements(dst, src []byte, size, n int) { bitShuffleGeneric(dst, src, size, n) }

// bitUnshuffleElements undoes bitShuffleElements.
func bitUnshuffleElements(dst, src []byte, size, n int) { bitUnshuffleGeneric(dst, src, size, n) }
