// Networks that the AVX-512 kernels share, and stores.

// ROW stores a register to a row and fetches the line of a later store, as in transpose_amd64.h.
#define ROW(z, at, later) \
	VMOVDQU64  z, at; \
	PREFETCHT0 later

// FETCH4 fetches lines of later stores to four rows. Sixteen rows that begin at lines are better left alone: they may
// share a set of the cache, which has no room for more of them than are just written.
#define FETCH4(p) \
	PREFETCHT0 128(p); \
	PREFETCHT0 128(p)(R8*1); \
	PREFETCHT0 128(p)(R8*2); \
	PREFETCHT0 128(p)(R9*1)

// LANES4 transposes the 4x4 matrix of lanes (16 bytes) in a to d to e to h. t0 to t3 are lost; t2 and t3 may be a and
// b.
#define LANES4(a, b, c, d, e, f, g, h, t0, t1, t2, t3) \
	VSHUFI64X2 $0x88, b, a, t0; \
	VSHUFI64X2 $0xdd, b, a, t1; \
	VSHUFI64X2 $0x88, d, c, t2; \
	VSHUFI64X2 $0xdd, d, c, t3; \
	VSHUFI64X2 $0x88, t2, t0, e; \
	VSHUFI64X2 $0x88, t3, t1, f; \
	VSHUFI64X2 $0xdd, t2, t0, g; \
	VSHUFI64X2 $0xdd, t3, t1, h

// QUADS8 transposes the 8x8 matrix of quadwords in Z0 to Z7 to Z16 to Z23. It changes Z8 to Z15 and Z24 to Z27 too.
#define QUADS8 \
	VPUNPCKLQDQ Z1, Z0, Z8; \
	VPUNPCKHQDQ Z1, Z0, Z9; \
	VPUNPCKLQDQ Z3, Z2, Z10; \
	VPUNPCKHQDQ Z3, Z2, Z11; \
	VPUNPCKLQDQ Z5, Z4, Z12; \
	VPUNPCKHQDQ Z5, Z4, Z13; \
	VPUNPCKLQDQ Z7, Z6, Z14; \
	VPUNPCKHQDQ Z7, Z6, Z15; \
	LANES4(Z8, Z10, Z12, Z14, Z16, Z18, Z20, Z22, Z24, Z25, Z26, Z27); \
	LANES4(Z9, Z11, Z13, Z15, Z17, Z19, Z21, Z23, Z24, Z25, Z26, Z27)

// WORDS4 transposes the 4x4 matrix of doublewords in each lane of a to d in place. t0 to t3 are lost.
#define WORDS4(a, b, c, d, t0, t1, t2, t3) \
	VPUNPCKLDQ  b, a, t0; \
	VPUNPCKHDQ  b, a, t1; \
	VPUNPCKLDQ  d, c, t2; \
	VPUNPCKHDQ  d, c, t3; \
	VPUNPCKLQDQ t2, t0, a; \
	VPUNPCKHQDQ t2, t0, b; \
	VPUNPCKLQDQ t3, t1, c; \
	VPUNPCKHQDQ t3, t1, d
