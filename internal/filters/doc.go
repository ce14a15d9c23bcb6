// Package filters implements the filters of Blosc2 and their kernels. Package shuffle exports most of them. Package
// coder uses this package directly.
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
// NDCELL stores the items of an n-dimensional block cell by cell. Join is Unshuffle for byte planes that are separate.
// Copy and Fill are for blocks that have no filter or hold a single value. Package shuffle documents the other filters
// and the rules for buffers.
//
// # Kernels
//
// SHUFFLE, BITSHUFFLE and BYTEDELTA have kernels for AVX2 and AVX-512 (amd64) and NEON (arm64). Copy, Fill, Join and
// the functions on rows have kernels for amd64. Every kernel has a Go version with the same output. With the build tag
// purego, only the Go versions run.
package filters
