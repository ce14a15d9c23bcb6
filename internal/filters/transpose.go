package filters

// The kernels of this package are transpositions of small matrices held in uint64 words. Word j of eight holds row j;
// byte i of a word (counted from the lowest) is column i. A transposition of 8x8 exchanges index bits in three steps.
// The step for distance d swaps the upper half of word j with the lower half of word j+d, in fields of d columns. See
// Warren, "Hacker's Delight", second edition, section 7-3.

// Masks of the lower half of each field, for columns of one byte.
const (
	bytes1 = 0x00ff00ff00ff00ff
	bytes2 = 0x0000ffff0000ffff
	bytes4 = 0x00000000ffffffff
)

// Masks of the lower half of each field, for columns of one bit.
const (
	bits1 = 0x5555555555555555
	bits2 = 0x3333333333333333
	bits4 = 0x0f0f0f0f0f0f0f0f
)

// swap exchanges the bits of a at mask<<shift with the bits of b at mask.
func swap(a, b uint64, shift uint, mask uint64) (uint64, uint64) {
	t := (a>>shift ^ b) & mask
	return a ^ t<<shift, b ^ t
}

// transposeBytes transposes the 8x8 matrix of bytes whose rows are the eight words.
func transposeBytes(a, b, c, d, e, f, g, h uint64) (_, _, _, _, _, _, _, _ uint64) {
	a, e = swap(a, e, 32, bytes4)
	b, f = swap(b, f, 32, bytes4)
	c, g = swap(c, g, 32, bytes4)
	d, h = swap(d, h, 32, bytes4)

	a, c = swap(a, c, 16, bytes2)
	b, d = swap(b, d, 16, bytes2)
	e, g = swap(e, g, 16, bytes2)
	f, h = swap(f, h, 16, bytes2)

	a, b = swap(a, b, 8, bytes1)
	c, d = swap(c, d, 8, bytes1)
	e, f = swap(e, f, 8, bytes1)
	g, h = swap(g, h, 8, bytes1)
	return a, b, c, d, e, f, g, h
}

// transposeBits transposes eight 8x8 matrices of bits at once: the rows of matrix i are byte i of each of the eight
// words. Afterwards word k holds bit k of all 64 bytes; bit j of its byte i comes from byte i of word j.
func transposeBits(a, b, c, d, e, f, g, h uint64) (_, _, _, _, _, _, _, _ uint64) {
	a, e = swap(a, e, 4, bits4)
	b, f = swap(b, f, 4, bits4)
	c, g = swap(c, g, 4, bits4)
	d, h = swap(d, h, 4, bits4)

	a, c = swap(a, c, 2, bits2)
	b, d = swap(b, d, 2, bits2)
	e, g = swap(e, g, 2, bits2)
	f, h = swap(f, h, 2, bits2)

	a, b = swap(a, b, 1, bits1)
	c, d = swap(c, d, 1, bits1)
	e, f = swap(e, f, 1, bits1)
	g, h = swap(g, h, 1, bits1)
	return a, b, c, d, e, f, g, h
}

// transposeWordBits transposes the 8x8 matrix of bits whose rows are the bytes of x.
func transposeWordBits(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}
