//go:build amd64 && !purego

#include "textflag.h"

// The weights of 64 bytes in the second sum. The last 32 are the weights of 32 bytes.
DATA ·weights<>+0(SB)/8, $0x393a3b3c3d3e3f40
DATA ·weights<>+8(SB)/8, $0x3132333435363738
DATA ·weights<>+16(SB)/8, $0x292a2b2c2d2e2f30
DATA ·weights<>+24(SB)/8, $0x2122232425262728
DATA ·weights<>+32(SB)/8, $0x191a1b1c1d1e1f20
DATA ·weights<>+40(SB)/8, $0x1112131415161718
DATA ·weights<>+48(SB)/8, $0x090a0b0c0d0e0f10
DATA ·weights<>+56(SB)/8, $0x0102030405060708
GLOBL ·weights<>(SB), RODATA|NOPTR, $64

DATA ·ones<>+0(SB)/8, $0x0001000100010001
GLOBL ·ones<>(SB), RODATA|NOPTR, $8

// SUM adds up the 64-bit lanes of Y0 and Y1 and the 32-bit lanes of Y2: first both halves, then the rest. AX becomes
// the first sum, and BX the second: its old value in BX, 1<<shift times the total of the old values of the first sum,
// and the weighted bytes. It changes X3, X4 and CX.
#define SUM(shift) \
	VEXTRACTI128 $1, Y0, X3    \
	VPADDQ     X3, X0, X0      \
	VEXTRACTI128 $1, Y1, X3    \
	VPADDQ     X3, X1, X1      \
	VEXTRACTI128 $1, Y2, X3    \
	VPADDD     X3, X2, X2      \
	VPSHUFD    $0xee, X0, X3   \
	VPADDQ     X3, X0, X0      \
	VMOVQ      X0, AX          \
	VPXOR      X4, X4, X4      \
	VPUNPCKLDQ X4, X2, X3      \
	VPUNPCKHDQ X4, X2, X2      \
	VPADDQ     X3, X2, X2      \
	VPSLLQ     $shift, X1, X1  \
	VPADDQ     X1, X2, X2      \
	VPSHUFD    $0xee, X2, X3   \
	VPADDQ     X3, X2, X2      \
	VMOVQ      X2, CX          \
	ADDQ       CX, BX

// func addAVX2(a, b uint32, p []byte) (uint64, uint64)
//
// Each 32 bytes add 32 times the old first sum and the weighted bytes to the second sum. Y0 is
// the first sum, in four lanes. Y1 is the total of its old values. Y2 is the weighted bytes, in eight lanes.
TEXT ·addAVX2(SB), NOSPLIT, $0-48
	MOVL a+0(FP), AX
	MOVQ p_base+8(FP), SI
	MOVQ p_len+16(FP), DX
	ADDQ SI, DX
	VMOVQ AX, X0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VMOVDQU ·weights<>+32(SB), Y4
	VPBROADCASTQ ·ones<>(SB), Y5

	// 32 bytes per iteration. Add the first sum to Y1 before it changes, the bytes to the first sum in groups of eight,
	// and the weighted bytes in pairs: 16 bits hold 2*255*32.
loop:
	VMOVDQU (SI), Y6
	VPADDQ Y0, Y1, Y1
	VPSADBW Y3, Y6, Y7
	VPADDQ Y7, Y0, Y0
	VPMADDUBSW Y4, Y6, Y6
	VPMADDWD Y5, Y6, Y6
	VPADDD Y6, Y2, Y2
	ADDQ $32, SI
	CMPQ SI, DX
	JCS  loop

	// Add up the lanes.
	MOVL b+4(FP), BX
	SUM(5)
	MOVQ AX, ret+32(FP)
	MOVQ BX, ret1+40(FP)
	VZEROUPPER
	RET

// func addAVX512(a, b uint32, p []byte) (uint64, uint64)
//
// It is addAVX2 with lanes of 64 bytes, whose weights are up to 64: 16 bits with a sign hold 2*255*64.
TEXT ·addAVX512(SB), NOSPLIT, $0-48
	MOVL a+0(FP), AX
	MOVQ p_base+8(FP), SI
	MOVQ p_len+16(FP), DX
	ADDQ SI, DX
	VMOVQ AX, X0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VMOVDQU64 ·weights<>(SB), Z4
	VPBROADCASTQ ·ones<>(SB), Z5

	// 64 bytes per iteration.
loop64:
	VMOVDQU64 (SI), Z6
	VPADDQ Z0, Z1, Z1
	VPSADBW Z3, Z6, Z7
	VPADDQ Z7, Z0, Z0
	VPMADDUBSW Z4, Z6, Z6
	VPMADDWD Z5, Z6, Z6
	VPADDD Z6, Z2, Z2
	ADDQ $64, SI
	CMPQ SI, DX
	JCS  loop64

	// Add the upper halves to the lower ones, and add up the lanes.
	VEXTRACTI64X4 $1, Z0, Y3
	VPADDQ Y3, Y0, Y0
	VEXTRACTI64X4 $1, Z1, Y3
	VPADDQ Y3, Y1, Y1
	VEXTRACTI64X4 $1, Z2, Y3
	VPADDD Y3, Y2, Y2
	MOVL b+4(FP), BX
	SUM(6)
	MOVQ AX, ret+32(FP)
	MOVQ BX, ret1+40(FP)
	VZEROUPPER
	RET
