//go:build amd64 && !purego

#include "textflag.h"

// The weights of 32 bytes in the second sum.
DATA ·weights<>+0(SB)/8, $0x191a1b1c1d1e1f20
DATA ·weights<>+8(SB)/8, $0x1112131415161718
DATA ·weights<>+16(SB)/8, $0x090a0b0c0d0e0f10
DATA ·weights<>+24(SB)/8, $0x0102030405060708
GLOBL ·weights<>(SB), RODATA|NOPTR, $32

DATA ·ones<>+0(SB)/8, $0x0001000100010001
DATA ·ones<>+8(SB)/8, $0x0001000100010001
DATA ·ones<>+16(SB)/8, $0x0001000100010001
DATA ·ones<>+24(SB)/8, $0x0001000100010001
GLOBL ·ones<>(SB), RODATA|NOPTR, $32

// func addAVX2(a, b uint32, p []byte) (uint32, uint32)
//
// Each 32 bytes add 32 times the old first sum and the weighted bytes to the second sum. Y0 is
// the first sum, in four lanes. Y1 is the total of its old values. Y2 is the weighted bytes, in eight lanes.
TEXT ·addAVX2(SB), NOSPLIT, $0-40
	MOVL a+0(FP), AX
	MOVQ p_base+8(FP), SI
	MOVQ p_len+16(FP), CX
	MOVQ CX, DX
	ADDQ SI, DX
	VMOVQ AX, X0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VMOVDQU ·weights<>(SB), Y4
	VMOVDQU ·ones<>(SB), Y5

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

	// The second sum: 32 times Y1, and the weighted bytes.
	VPSLLQ $5, Y1, Y1
	VPADDD Y1, Y2, Y2 // the lanes of Y1 are below 1<<32

	// Add up the four lanes of the first sum.
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0xee, X0, X1
	VPADDD X1, X0, X0
	VMOVD X0, AX
	MOVL AX, ret+32(FP)

	// Add up the eight lanes of the second sum, and its old value.
	VEXTRACTI128 $1, Y2, X1
	VPADDD X1, X2, X2
	VPSHUFD $0xee, X2, X1
	VPADDD X1, X2, X2
	VPSHUFD $0x55, X2, X1
	VPADDD X1, X2, X2
	VMOVD X2, AX
	ADDL b+4(FP), AX
	MOVL AX, ret1+36(FP)
	VZEROUPPER
	RET
