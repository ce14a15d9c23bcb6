//go:build amd64 && !purego

#include "textflag.h"

// COUNT counts the low two bytes of a word, each in a table of its own, and shifts them out.
#define COUNT(word, low, high, first, second) \
	MOVBLZX low, CX   \
	MOVBLZX high, BX  \
	SHRQ    $16, word \
	INCL    first     \
	INCL    second

// func countKernel(count *[256]uint32, parts *[3][256]uint32, b []byte)
//
// Registers:
//
//	R8, R9     the first table and the other three
//	R10, R11   where the bytes are, and where they end
//	AX, DX     16 of them
//	BX, CX     two of these
TEXT ·countKernel(SB), NOSPLIT, $0-40
	MOVQ count+0(FP), R8
	MOVQ parts+8(FP), R9
	MOVQ b_base+16(FP), R10
	MOVQ b_len+24(FP), R11
	ADDQ R10, R11

	// 16 bytes a turn, in turns from two words and into four tables: a counter is seldom incremented twice in a row, which
	// would have to wait for its store.
next:
	MOVQ (R10), AX
	MOVQ 8(R10), DX
	COUNT(AX, AL, AH, (R8)(CX*4), (R9)(BX*4))
	COUNT(DX, DL, DH, 1024(R9)(CX*4), 2048(R9)(BX*4))
	COUNT(AX, AL, AH, (R8)(CX*4), (R9)(BX*4))
	COUNT(DX, DL, DH, 1024(R9)(CX*4), 2048(R9)(BX*4))
	COUNT(AX, AL, AH, (R8)(CX*4), (R9)(BX*4))
	COUNT(DX, DL, DH, 1024(R9)(CX*4), 2048(R9)(BX*4))
	COUNT(AX, AL, AH, (R8)(CX*4), (R9)(BX*4))
	COUNT(DX, DL, DH, 1024(R9)(CX*4), 2048(R9)(BX*4))
	ADDQ $16, R10
	CMPQ R10, R11
	JCS  next

	// Add the three tables to the first, eight counters a turn.
	XORL CX, CX

sum:
	VMOVDQU (R8)(CX*4), Y0
	VPADDD (R9)(CX*4), Y0, Y0
	VPADDD 1024(R9)(CX*4), Y0, Y0
	VPADDD 2048(R9)(CX*4), Y0, Y0
	VMOVDQU Y0, (R8)(CX*4)
	ADDQ $8, CX
	CMPQ CX, $256
	JCS  sum
	VZEROUPPER
	RET
