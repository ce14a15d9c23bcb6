//go:build arm64 && !purego

#include "textflag.h"

// NEON kernels for the differences of bytes and their running sums, 16 bytes per iteration.
//
// A difference needs the bytes and the same bytes one position earlier, which is a second load.
//
// A running sum is built by doubling: adding the vector to itself moved up by one byte gives sums of two, then by two
// bytes sums of four, by four bytes sums of eight, and by eight bytes sums of all. What came before the vector is added
// last, so that the chain from iteration to iteration is one addition.
//
//  R0, R1   next byte of dst, src
//  R2       address of the byte before src
//  R3       bytes left
//  V31      zeros
//  V30      sum of all bytes before, in every byte

// func byteDiffNEON(dst, src *byte, n int)
//
// It is the loop of byteDiffGeneric, with the byte before src in memory (see bytedelta_arm64.go). n is a multiple of 16
// and not zero, so no access goes past it.
TEXT ·byteDiffNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R3
	SUB  $1, R1, R2

	// 16 bytes, less the 16 from one position earlier.
diff:
	VLD1.P 16(R1), [V0.B16]
	VLD1.P 16(R2), [V1.B16]
	VSUB   V1.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R0)
	SUBS   $16, R3, R3
	BNE    diff
	RET

// func byteSumNEON(dst, src *byte, n int)
//
// It is the loop of byteSumGeneric. n is a multiple of 16 and not zero, so no access goes past it. dst may be src.
TEXT ·byteSumNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R3

	// Zeros, and no bytes before.
	VEOR V31.B16, V31.B16, V31.B16
	VEOR V30.B16, V30.B16, V30.B16

	// The sums of two, four, eight and 16 bytes: VEXT moves the vector up by 1, 2, 4 and 8 bytes and fills with zeros.
sum:
	VLD1.P 16(R1), [V0.B16]
	VEXT   $15, V0.B16, V31.B16, V1.B16
	VADD   V1.B16, V0.B16, V0.B16
	VEXT   $14, V0.B16, V31.B16, V1.B16
	VADD   V1.B16, V0.B16, V0.B16
	VEXT   $12, V0.B16, V31.B16, V1.B16
	VADD   V1.B16, V0.B16, V0.B16
	VEXT   $8, V0.B16, V31.B16, V1.B16
	VADD   V1.B16, V0.B16, V0.B16

	// The total of the vector, before the sum of all vectors before is added to it and the total to that sum.
	VDUP   V0.B[15], V1.B16
	VADD   V30.B16, V0.B16, V0.B16
	VADD   V1.B16, V30.B16, V30.B16
	VST1.P [V0.B16], 16(R0)
	SUBS   $16, R3, R3
	BNE    sum
	RET
