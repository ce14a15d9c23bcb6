// Package shuffle holds the filters of Blosc2: reversible (and a few lossy) rearrangements of the bytes of one block
// that make it easier to compress. It knows nothing of headers and codecs.
//
//	shuffle.Shuffle(dst, src, 4)    // src holds items of 4 bytes
//	shuffle.Unshuffle(src, dst, 4)  // the inverse
//
// A filter works on one whole block and never changes its length. The numbers are those of the chunk header:
//
//	id  name        here                                  parameter
//	 1  SHUFFLE     Shuffle, Unshuffle                    number of byte streams
//	 2  BITSHUFFLE  BitShuffle, BitUnshuffle              type size
//	 3  DELTA       DeltaEncode, DeltaDecode              type size, reference block
//	 4  TRUNC_PREC  TruncPrec                             type size, bits
//	35  BYTEDELTA   ByteDeltaEncode, ByteDeltaDecode      number of byte streams
//	36  INT_TRUNC   IntTrunc                              type size, bits
//
// SHUFFLE treats the block as n elements of w bytes. It writes byte 0 of all elements, then byte 1 of all elements, and
// so on. n is len/w rounded down, and the remaining bytes keep their position:
//
//	in    a0 a1 a2 | b0 b1 b2 | c0 c1 c2 | d0 d1 d2 | t
//	out   a0 b0 c0 d0 | a1 b1 c1 d1 | a2 b2 c2 d2 | t
//
// BITSHUFFLE does the same with single bits. It processes the elements in groups of eight; up to seven elements and the
// remaining bytes keep their position. It writes 8*w rows of one bit per element. Row 8*b+k holds bit k of byte b.
// Within a row, element e is bit e%8 (lowest first) of byte e/8.
//
// DELTA and BYTEDELTA store differences from the preceding word or byte, DELTA by XOR. TRUNC_PREC and INT_TRUNC clear
// low bits.
//
// # Buffers
//
// All functions take (dst, src) and write exactly len(src) bytes to dst. They panic if len(dst) is less than len(src),
// or if a type size or stream count is less than 1. dst and src must not overlap, unless a function allows dst to be
// src. The parameters of TruncPrec and IntTrunc may come from a file: they return an error instead. No function retains
// its arguments, and all may be called concurrently with different dst.
//
// The bytes of a block are little-endian data on every machine.
//
// # Kernels
//
// SHUFFLE, BITSHUFFLE and BYTEDELTA have kernels in assembly for AVX2 and AVX-512 (amd64) and NEON (arm64). The build
// tag purego leaves them out. The output is the same.
package shuffle
