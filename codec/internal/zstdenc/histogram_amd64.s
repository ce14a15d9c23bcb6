//go:build amd64 && !purego

#include "textflag.h"

// COUNT counts the low two bytes of a word and shifts them out. low and high are the names of these bytes; first and
// second are their counters, addressed by CX and BX. Tables have a counter for each value of a byte.
#define COUNT(word, low, high, first, second) \
	MOVBLZX low, CX   \
	MOVBLZX high, BX  \
	SHRQ    $16, word \
	INCL    first     \
	INCL    second

// func countKernel(count *[256]uint32, parts *[3][256]uint32, b []byte, stride int)
//
// countKernel adds the number of times that each byte occurs to count. It counts 16 of each stride bytes of b. parts
// are three more tables, zeros at first, and of no use after it. Its Go version is countPartsGeneric, which shares the
// bytes out among the tables in another way. The sums are the same.
//
// Registers:
//
//	R8, R9     count and parts
//	R10, R11   where the next bytes are, and where b ends
//	R12        stride
//	AX, DX     16 bytes
//	BX, CX     two of them
TEXT ·countKernel(SB), NOSPLIT, $0-48
	MOVQ count+0(FP), R8
	MOVQ parts+8(FP), R9
	MOVQ b_base+16(FP), R10
	MOVQ b_len+24(FP), R11
	ADDQ R10, R11
	MOVQ stride+40(FP), R12

	// 16 bytes per iteration, alternating between two words, and into four tables: so a counter is seldom incremented
	// twice in a row, where the second time would wait for the store of the first. The length of b and the
	// stride are multiples of 16 and not 0, as addHistogram sees to, so the loads end where b ends at the latest.
next:
	MOVQ (R10), AX
	MOVQ 8(R10), DX
	CMPQ AX, DX
	JEQ  alike

count:
	COUNT(AX, AL, AH, (R8)(CX*4), (R9)(BX*4))
	COUNT(DX, DL, DH, 1024(R9)(CX*4), 2048(R9)(BX*4))
	COUNT(AX, AL, AH, (R8)(CX*4), (R9)(BX*4))
	COUNT(DX, DL, DH, 1024(R9)(CX*4), 2048(R9)(BX*4))
	COUNT(AX, AL, AH, (R8)(CX*4), (R9)(BX*4))
	COUNT(DX, DL, DH, 1024(R9)(CX*4), 2048(R9)(BX*4))
	COUNT(AX, AL, AH, (R8)(CX*4), (R9)(BX*4))
	COUNT(DX, DL, DH, 1024(R9)(CX*4), 2048(R9)(BX*4))

more:
	ADDQ R12, R10
	CMPQ R10, R11
	JCS  next

	// Add the three tables to the first, eight counters per iteration.
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

	// Equal words: in a run of one byte, add all 16 at once. The increments would wait for each other.
alike:
	RORXQ $8, AX, CX
	CMPQ  CX, AX
	JNE   count
	MOVBLZX AL, CX
	ADDL  $16, (R8)(CX*4)
	JMP   more
