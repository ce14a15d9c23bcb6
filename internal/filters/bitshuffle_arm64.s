//go:build arm64 && !purego

#include "textflag.h"

// NEON kernels that move bits between a plane (the bytes of one position of all elements) and its eight rows, 128 bytes
// of the plane, which are 16 bytes of every row, per iteration. They work like the AVX2 kernels: gathering the plane as
// elements of eight bytes (see shuffle_arm64.s) brings byte j of all of them to register j, and swapping bits between
// registers in three rounds transposes the 8x8 matrices of bits that the registers hold at each byte position.
//
//  R0, R1   next byte of dst, src
//  R2       length of a row
//  R3       bytes of the plane left
//  R5       offset in a row other than the first
//  V29..V31 the lower halves, pairs and bits of the fields that are swapped

// MASKS sets the masks.
#define MASKS \
	VMOVI $0x0f, V29.B16; \
	VMOVI $0x33, V30.B16; \
	VMOVI $0x55, V31.B16

// SWAP exchanges the bits of a at m<<shift with the bits of b at m; t is lost. Shifts are of bytes, as no bit leaves
// its byte.
#define SWAP(a, b, shift, m, t) \
	VUSHR $shift, a.B16, t.B16; \
	VEOR  b.B16, t.B16, t.B16; \
	VAND  m.B16, t.B16, t.B16; \
	VEOR  t.B16, b.B16, b.B16; \
	VSHL  $shift, t.B16, t.B16; \
	VEOR  t.B16, a.B16, a.B16

// BITS transposes the 8x8 matrices of bits in V16 to V23; V24 to V27 are lost.
#define BITS \
	SWAP(V16, V20, 4, V29, V24); \
	SWAP(V17, V21, 4, V29, V25); \
	SWAP(V18, V22, 4, V29, V26); \
	SWAP(V19, V23, 4, V29, V27); \
	SWAP(V16, V18, 2, V30, V24); \
	SWAP(V17, V19, 2, V30, V25); \
	SWAP(V20, V22, 2, V30, V26); \
	SWAP(V21, V23, 2, V30, V27); \
	SWAP(V16, V17, 1, V31, V24); \
	SWAP(V18, V19, 1, V31, V25); \
	SWAP(V20, V21, 1, V31, V26); \
	SWAP(V22, V23, 1, V31, V27)

// func splitPlaneNEON(rows *byte, rowLen int, plane *byte, n int)
//
// It is splitPlane for n bytes of a plane. splitPlaneVector has checked that all eight rows have n/8 bytes, and n is a
// multiple of 128, so no load or store goes past either side.
TEXT ·splitPlaneNEON(SB), NOSPLIT, $0-32
	MOVD rows+0(FP), R0
	MOVD rowLen+8(FP), R2
	MOVD plane+16(FP), R1
	MOVD n+24(FP), R3
	MASKS

	// Byte j of 16 elements of eight bytes goes to V16 plus j: VLD4 yields pairs of columns, VUZP1 and VUZP2 separate
	// them.
split:
	VLD4.P 64(R1), [V0.H8, V1.H8, V2.H8, V3.H8]
	VLD4.P 64(R1), [V4.H8, V5.H8, V6.H8, V7.H8]
	VUZP1 V4.B16, V0.B16, V16.B16
	VUZP2 V4.B16, V0.B16, V17.B16
	VUZP1 V5.B16, V1.B16, V18.B16
	VUZP2 V5.B16, V1.B16, V19.B16
	VUZP1 V6.B16, V2.B16, V20.B16
	VUZP2 V6.B16, V2.B16, V21.B16
	VUZP1 V7.B16, V3.B16, V22.B16
	VUZP2 V7.B16, V3.B16, V23.B16

	// Bit k of all registers goes to V16 plus k, which is row k.
	BITS

	// 16 bytes to each row.
	MOVD R0, R5
	ADD  $16, R0
	VST1 [V16.B16], (R5)
	ADD  R2, R5
	VST1 [V17.B16], (R5)
	ADD  R2, R5
	VST1 [V18.B16], (R5)
	ADD  R2, R5
	VST1 [V19.B16], (R5)
	ADD  R2, R5
	VST1 [V20.B16], (R5)
	ADD  R2, R5
	VST1 [V21.B16], (R5)
	ADD  R2, R5
	VST1 [V22.B16], (R5)
	ADD  R2, R5
	VST1 [V23.B16], (R5)
	SUBS $128, R3, R3
	BNE  split
	RET

// func joinPlaneNEON(plane, rows *byte, rowLen, n int)
//
// It is joinPlane for n bytes of a plane. joinPlaneVector checks the rows as splitPlaneVector does.
TEXT ·joinPlaneNEON(SB), NOSPLIT, $0-32
	MOVD plane+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD rowLen+16(FP), R2
	MOVD n+24(FP), R3
	MASKS

	// 16 bytes of each row.
join:
	MOVD R1, R5
	ADD  $16, R1
	VLD1 (R5), [V16.B16]
	ADD  R2, R5
	VLD1 (R5), [V17.B16]
	ADD  R2, R5
	VLD1 (R5), [V18.B16]
	ADD  R2, R5
	VLD1 (R5), [V19.B16]
	ADD  R2, R5
	VLD1 (R5), [V20.B16]
	ADD  R2, R5
	VLD1 (R5), [V21.B16]
	ADD  R2, R5
	VLD1 (R5), [V22.B16]
	ADD  R2, R5
	VLD1 (R5), [V23.B16]

	// The steps of split in the opposite order.
	BITS
	VZIP1 V17.B16, V16.B16, V0.B16
	VZIP2 V17.B16, V16.B16, V4.B16
	VZIP1 V19.B16, V18.B16, V1.B16
	VZIP2 V19.B16, V18.B16, V5.B16
	VZIP1 V21.B16, V20.B16, V2.B16
	VZIP2 V21.B16, V20.B16, V6.B16
	VZIP1 V23.B16, V22.B16, V3.B16
	VZIP2 V23.B16, V22.B16, V7.B16

	// 128 bytes to the plane.
	VST4.P [V0.H8, V1.H8, V2.H8, V3.H8], 64(R0)
	VST4.P [V4.H8, V5.H8, V6.H8, V7.H8], 64(R0)
	SUBS $128, R3, R3
	BNE  join
	RET
