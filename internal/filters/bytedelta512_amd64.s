//go:build amd64 && !purego

#include "textflag.h"

// AVX-512 kernel for running sums of bytes. Within a vector of 64 bytes, adding the vector to itself moved up by one
// byte gives sums of two, moved by two bytes sums of four, by four bytes sums of eight, each within its quadword. Then
// the last sum of every other quadword is added to all of the quadword above, that of every other lane to the lane
// above, and that of the lower half to the upper half: VPERMB brings it there, with zeros elsewhere. What came before
// the vector is added last. The chain from iteration to iteration is that one addition.
//
//  DI, SI     next byte of dst, src
//  CX         bytes left
//  Z15        sum of all bytes before, in every byte
//  Z11..Z14   masks of VPERMB: the last byte of the quadword, lane, half below, and of the vector
//  K1..K3     the bytes of the upper quadwords, lanes, half

// SUMS makes running sums of Z0. It changes Z1.
#define SUMS \
	VPSLLQ   $8, Z0, Z1; \
	VPADDB   Z1, Z0, Z0; \
	VPSLLQ   $16, Z0, Z1; \
	VPADDB   Z1, Z0, Z0; \
	VPSLLQ   $32, Z0, Z1; \
	VPADDB   Z1, Z0, Z0; \
	VPERMB.Z Z0, Z11, K1, Z1; \
	VPADDB   Z1, Z0, Z0; \
	VPERMB.Z Z0, Z12, K2, Z1; \
	VPADDB   Z1, Z0, Z0; \
	VPERMB.Z Z0, Z13, K3, Z1; \
	VPADDB   Z1, Z0, Z0; \
	VPERMB   Z0, Z14, Z1; \
	VPADDB   Z15, Z0, Z0; \
	VPADDB   Z1, Z15, Z15

// func byteSumAVX512(dst, src *byte, masks *[4][64]byte, n int)
//
// It is the loop of byteSumAVX2 (see bytedelta_amd64.go). n is a multiple of 32 and not zero, so that after iterations
// of 64 bytes 0 or 32 are left, and no load or store goes past n.
TEXT ·byteSumAVX512(SB), NOSPLIT, $0-32
	MOVQ      dst+0(FP), DI
	MOVQ      src+8(FP), SI
	MOVQ      masks+16(FP), AX
	MOVQ      n+24(FP), CX

	// No bytes before, the masks of VPERMB, and the masks of the bytes that have a sum before them.
	VPXORQ    Z15, Z15, Z15
	VMOVDQU64 (AX), Z11
	VMOVDQU64 64(AX), Z12
	VMOVDQU64 128(AX), Z13
	VMOVDQU64 192(AX), Z14
	MOVQ      $0xff00ff00ff00ff00, BX
	KMOVQ     BX, K1
	MOVQ      $0xffff0000ffff0000, BX
	KMOVQ     BX, K2
	MOVQ      $0xffffffff00000000, BX
	KMOVQ     BX, K3

	// CX is 64 less than the number of bytes left from here.
	SUBQ      $64, CX
	JLT       half

	// 64 bytes: all of the vector is loaded before it is stored, so dst may be src.
sum:
	VMOVDQU64 (SI), Z0
	SUMS
	VMOVDQU64 Z0, (DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	SUBQ      $64, CX
	JGE       sum

	// The last 32 bytes, if there are any, as a vector of zeros above them: only its lower half is stored.
half:
	ADDQ    $64, CX
	JEQ     done
	VMOVDQU (SI), Y0
	SUMS
	VMOVDQU Y0, (DI)

done:
	VZEROUPPER
	RET
