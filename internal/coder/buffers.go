package coder

import "slices"

// buffers holds a block between two filters. Each filter reads one buffer and writes the other.
type buffers [2][]byte

// first returns n bytes of the first buffer.
func (b *buffers) first(n int) []byte {
	b[0] = sized(b[0], n)
	return b[0]
}

// other returns as many bytes as src of the buffer that does not hold src.
func (b *buffers) other(src []byte) []byte {
	if len(src) > 0 && len(b[0]) > 0 && &src[0] == &b[0][0] {
		b[1] = sized(b[1], len(src))
		return b[1]
	}
	return b.first(len(src))
}

// sized returns n bytes with undefined contents. It reuses the memory of b if that is large enough.
func sized(b []byte, n int) []byte {
	if cap(b) < n {
		b = make([]byte, n)
	}
	return b[:n]
}

// grow returns dst with n more bytes, whose contents are undefined.
func grow(dst []byte, n int) []byte { return slices.Grow(dst, n)[:len(dst)+n] }
