//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// CODE takes one code from a word, whose highest bits it is, and stores its symbol. Entries of the table have the
// length of the code in the low byte, which is all that SHLXQ looks at, and the symbol in the high one.
#define CODE(word, store) \
	MOVQ    word, AX            \
	SHRQ    $53, AX             \
	MOVWLZX (BX)(AX*2), CX      \
	SHLXQ   CX, word, word      \
	MOVB    CH, store

// ROUND takes the j-th code of a turn from each stream. The four do not depend on each other, so that the processor
// has four chains of look-ups under way.
#define ROUND(j) \
	CODE(R8, j(DI))            \
	CODE(R9, j(DI)(SI*1))      \
	CODE(R10, j(DI)(SI*2))     \
	CODE(R11, j(DI)(DX*1))

// RELOAD brings the used bits of a word, which the lowest bit that is set tells, back below 8.
#define RELOAD(word, place) \
	TZCNTQ word, CX     \
	MOVQ   CX, AX       \
	SHRQ   $3, AX       \
	SUBQ   AX, place    \
	MOVQ   (place), word \
	ANDL   $7, CX       \
	ORQ    $1, word     \
	SHLXQ  CX, word, word

// func streamsKernel(s *streams4, n int)
//
// Registers:
//
//	R8 to R11    the words
//	R12 to R15   where they come from in memory
//	BX           the table
//	DI           where the next symbol of the first stream goes; the others are SI, 2*SI and DX behind
//	AX, CX       at hand
TEXT ·streamsKernel(SB), NOSPLIT, $16-16
	MOVQ s+0(FP), AX
	MOVQ n+8(FP), CX
	MOVQ streams4_table(AX), BX
	MOVQ streams4_part(AX), SI
	LEAQ (SI)(SI*2), DX

	MOVQ streams4_out(AX), R8
	MOVQ streams4_dst(AX), DI
	ADDQ R8, DI
	LEAQ (CX)(CX*4), CX // 5 symbols a turn
	ADDQ CX, R8
	MOVQ R8, streams4_out(AX)
	ADDQ DI, CX
	MOVQ CX, end-8(SP)

	MOVQ streams4_src(AX), CX
	MOVQ streams4_places+0(AX), R12
	MOVQ streams4_places+8(AX), R13
	MOVQ streams4_places+16(AX), R14
	MOVQ streams4_places+24(AX), R15
	ADDQ CX, R12
	ADDQ CX, R13
	ADDQ CX, R14
	ADDQ CX, R15
	MOVQ streams4_words+0(AX), R8
	MOVQ streams4_words+8(AX), R9
	MOVQ streams4_words+16(AX), R10
	MOVQ streams4_words+24(AX), R11

turn:
	ROUND(0)
	ROUND(1)
	ROUND(2)
	ROUND(3)
	ROUND(4)
	RELOAD(R8, R12)
	RELOAD(R9, R13)
	RELOAD(R10, R14)
	RELOAD(R11, R15)
	ADDQ $5, DI
	CMPQ DI, end-8(SP)
	JB   turn

	MOVQ s+0(FP), AX
	MOVQ streams4_src(AX), CX
	SUBQ CX, R12
	SUBQ CX, R13
	SUBQ CX, R14
	SUBQ CX, R15
	MOVQ R12, streams4_places+0(AX)
	MOVQ R13, streams4_places+8(AX)
	MOVQ R14, streams4_places+16(AX)
	MOVQ R15, streams4_places+24(AX)
	MOVQ R8, streams4_words+0(AX)
	MOVQ R9, streams4_words+8(AX)
	MOVQ R10, streams4_words+16(AX)
	MOVQ R11, streams4_words+24(AX)
	RET
