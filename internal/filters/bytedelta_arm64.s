//go:build arm64 && !purego

#include "textflag.h"

// NEON kernels for the differences of bytes and their running sums, 16 bytes a turn.
//
// A difference needs the bytes and the same bytes one place earlier, which is a second load.
//
// A running sum is built by doubling: adding the vector to itself moved up by one byte gives sums of two, then by two
// bytes sums of four, by four bytes sums of eight, and by eight bytes sums of all. What came before the vector is added
// last, so that the chain from turn to turn is one addition.
//
//  R0, R1   next byte of dst, src
//  R2       address of the byte before src
//  R3       bytes left
//  V31      zeros
//  V30      sum of all bytes before, in every byte

// func byteDiffNEON(dst, src *byte, n int)
TEXT ·byteDiffNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R3
	SUB  $1, R1, R2

diff:
	VLD1.P 16(R1), [V0.B16]
	VLD1.P 16(R2), [V1.B16]
	VSUB   V1.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(R0)
	SUBS   $16, R3, R3
	BNE    diff
	RET

// func byteSumNEON(dst, src *byte, n int)
TEXT ·byteSumNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R3
	VEOR V31.B16, V31.B16, V31.B16
	VEOR V30.B16, V30.B16, V30.B16

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
	VDUP   V0.B[15], V1.B16
	VADD   V30.B16, V0.B16, V0.B16
	VADD   V1.B16, V30.B16, V30.B16
	VST1.P [V0.B16], 16(R0)
	SUBS   $16, R3, R3
	BNE    sum
	RET
