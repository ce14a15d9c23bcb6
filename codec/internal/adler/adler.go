// Package adler computes the checksum of zlib streams (RFC 1950): two sums modulo 65521, the first of 1 and the bytes,
// the second of all values of the first.
package adler

const prime = 65521

// longest is the number of bytes that can be added before the sums must be reduced: the second sum stays below 1<<32.
const longest = 5552

// Checksum returns the checksum of p.
func Checksum(p []byte) uint32 {
	a, b, rest := add(1, 0, p)
	a, b = addGeneric(a, b, rest)
	return b<<16 | a
}

// addGeneric adds p to the sums, both below prime, and returns them.
func addGeneric(a, b uint32, p []byte) (uint32, uint32) {
	for len(p) > 0 {
		q := p[:min(len(p), longest)]
		p = p[len(q):]
		for ; len(q) >= 16; q = q[16:] {
			c := (*[16]byte)(q)
			a += uint32(c[0])
			b += a
			a += uint32(c[1])
			b += a
			a += uint32(c[2])
			b += a
			a += uint32(c[3])
			b += a
			a += uint32(c[4])
			b += a
			a += uint32(c[5])
			b += a
			a += uint32(c[6])
			b += a
			a += uint32(c[7])
			b += a
			a += uint32(c[8])
			b += a
			a += uint32(c[9])
			b += a
			a += uint32(c[10])
			b += a
			a += uint32(c[11])
			b += a
			a += uint32(c[12])
			b += a
			a += uint32(c[13])
			b += a
			a += uint32(c[14])
			b += a
			a += uint32(c[15])
			b += a
		}
		for _, v := range q {
			a += uint32(v)
			b += a
		}
		a %= prime
		b %= prime
	}
	return a, b
}
