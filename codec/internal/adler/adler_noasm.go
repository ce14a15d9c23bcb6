//go:build !amd64 || purego

package adler

// avx2 is whether there is a kernel to use.
var avx2 = false

// Checksum returns the checksum of p.
func Checksum(p []byte) uint32 {
	a, b := checksumGeneric(1, 0, p)
	return b<<16 | a
}

func addAVX2(a, b uint32, p []byte) (uint32, uint32) { return checksumGeneric(a, b, p) }
