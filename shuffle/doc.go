// Package shuffle holds the filters of Blosc2: reversible (and a few lossy) rearrangements of the bytes of one
// block that make it easier to compress. It knows nothing of headers and codecs.
//
// A filter works on one whole block and never changes its length. The numbers are those of the chunk header:
//
//	id  name        here                                  parameter
//	 1  SHUFFLE     Shuffle, Unshuffle                    number of byte streams
//	 2  BITSHUFFLE  BitShuffle, BitUnshuffle              type size
//	 3  DELTA       DeltaEncode, DeltaDecode              type size, reference block
//	 4  TRUNC_PREC  TruncPrec                             type size, bits
//	32  NDCELL      CellEncode, CellDecode                item size, cell edge, block shape
//	33  NDMEAN      MeanEncode, MeanDecode                item size, cell edge, block shape
//	34  BYTEDELTA   ByteDeltaDecodeV1 (read only)         number of byte streams
//	35  BYTEDELTA   ByteDeltaEncode, ByteDeltaDecode      number of byte streams
//	36  INT_TRUNC   IntTrunc                              type size, bits
//
// SHUFFLE sees the block as n elements of w bytes and writes byte 0 of all elements, then byte 1 of all, and so
// on; n is len/w rounded down, and the bytes that fill no element stay where they are:
//
//	in    a0 a1 a2 | b0 b1 b2 | c0 c1 c2 | d0 d1 d2 | t
//	out   a0 b0 c0 d0 | a1 b1 c1 d1 | a2 b2 c2 d2 | t
//
// BITSHUFFLE goes on to single bits. It takes the elements in eights, leaving up to seven whole elements and the
// bytes that fill none where they are, and writes 8*w rows of one bit per element: row 8*b+k holds bit k of
// byte b, and in a row element e is bit e%8 (lowest first) of byte e/8.
//
// DELTA and BYTEDELTA store differences from the preceding word or byte, the first by XOR. TRUNC_PREC and
// INT_TRUNC clear low bits. NDCELL lays the items of an n-dimensional block out cell by cell.
//
// Blocks that have no filter, or a single value, are moved and made by [Copy] and [Fill].
//
// # Buffers
//
// All functions take (dst, src) and write exactly len(src) bytes to dst. len(dst) must be at least len(src), and
// type sizes and stream counts must be at least 1; a violation is a mistake in the calling program and panics.
// dst and src must not overlap, unless a function says that dst may be src. Parameters that come from a file
// (bits, cell edges, block shapes) are checked and give an error instead, which wraps [ErrInvalid] or
// [ErrUnsupported]. Nothing is kept after the call, and all functions may be called from any number of
// goroutines on different dst.
//
// The bytes of a block are little-endian data on every machine.
//
// # Kernels
//
// SHUFFLE, BITSHUFFLE and BYTEDELTA have kernels in assembly for AVX2 and AVX-512 (amd64) and NEON (arm64); [Kernel]
// tells which are in use. [Copy] and [Fill] have some for amd64. The build tag purego leaves all out. The results are
// the same bytes.
package shuffle
