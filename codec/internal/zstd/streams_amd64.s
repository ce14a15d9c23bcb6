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
	CODE(R8, j(DI))   \
	CODE(R9, j(SI))   \
	CODE(R10, j(DX))  \
	CODE(R11, j(BP))

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

// PAIR takes one code or two from a word and stores two bytes, of which one or two count. Entries have the symbols in
// bytes 0 and 1, the bits of their codes in byte 2 and their number in byte 3.
#define PAIR(word, out) \
	MOVQ    word, AX           \
	SHRQ    $53, AX            \
	MOVBLZX 2(BX)(AX*4), CX    \
	SHLXQ   CX, word, word     \
	MOVL    (BX)(AX*4), CX     \
	MOVW    CX, (out)          \
	SHRL    $24, CX            \
	ADDQ    CX, out

#define PAIRS \
	PAIR(R8, DI)   \
	PAIR(R9, SI)   \
	PAIR(R10, DX)  \
	PAIR(R11, BP)

// OPEN loads words and places.
#define OPEN(s) \
	MOVQ streams4_src(s), CX          \
	MOVQ streams4_places+0(s), R12    \
	MOVQ streams4_places+8(s), R13    \
	MOVQ streams4_places+16(s), R14   \
	MOVQ streams4_places+24(s), R15   \
	ADDQ CX, R12                      \
	ADDQ CX, R13                      \
	ADDQ CX, R14                      \
	ADDQ CX, R15                      \
	MOVQ streams4_words+0(s), R8      \
	MOVQ streams4_words+8(s), R9      \
	MOVQ streams4_words+16(s), R10    \
	MOVQ streams4_words+24(s), R11

// CLOSE stores them.
#define CLOSE(s) \
	MOVQ streams4_src(s), CX          \
	SUBQ CX, R12                      \
	SUBQ CX, R13                      \
	SUBQ CX, R14                      \
	SUBQ CX, R15                      \
	MOVQ R12, streams4_places+0(s)    \
	MOVQ R13, streams4_places+8(s)    \
	MOVQ R14, streams4_places+16(s)   \
	MOVQ R15, streams4_places+24(s)   \
	MOVQ R8, streams4_words+0(s)      \
	MOVQ R9, streams4_words+8(s)      \
	MOVQ R10, streams4_words+16(s)    \
	MOVQ R11, streams4_words+24(s)

// func streamsKernel(s *streams4, n int)
//
// Registers:
//
//	R8 to R11        the words
//	R12 to R15       where they come from in memory
//	BX               the table
//	DI, SI, DX, BP   where their next symbols go
//	AX, CX           at hand
TEXT ·streamsKernel(SB), NOSPLIT, $16-16
	MOVQ s+0(FP), AX
	MOVQ n+8(FP), CX
	MOVQ streams4_table(AX), BX
	LEAQ (CX)(CX*4), CX // 5 symbols a turn
	MOVQ streams4_dst(AX), R8
	MOVQ streams4_outs+0(AX), DI
	MOVQ streams4_outs+8(AX), SI
	MOVQ streams4_outs+16(AX), DX
	MOVQ streams4_outs+24(AX), BP
	LEAQ (DI)(CX*1), R12
	LEAQ (SI)(CX*1), R13
	LEAQ (DX)(CX*1), R14
	LEAQ (BP)(CX*1), R15
	MOVQ R12, streams4_outs+0(AX)
	MOVQ R13, streams4_outs+8(AX)
	MOVQ R14, streams4_outs+16(AX)
	MOVQ R15, streams4_outs+24(AX)
	ADDQ R8, DI
	ADDQ R8, SI
	ADDQ R8, DX
	ADDQ R8, BP
	ADDQ DI, CX
	MOVQ CX, end-8(SP)
	OPEN(AX)

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
	ADDQ $5, SI
	ADDQ $5, DX
	ADDQ $5, BP
	CMPQ DI, end-8(SP)
	JB   turn

	MOVQ s+0(FP), AX
	CLOSE(AX)
	RET

// func pairsKernel(s *streams4, n int)
//
// Registers are those of streamsKernel.
TEXT ·pairsKernel(SB), NOSPLIT, $16-16
	MOVQ s+0(FP), AX
	MOVQ n+8(FP), CX
	MOVQ CX, turns-8(SP)
	MOVQ streams4_pairs(AX), BX
	MOVQ streams4_dst(AX), CX
	MOVQ streams4_outs+0(AX), DI
	MOVQ streams4_outs+8(AX), SI
	MOVQ streams4_outs+16(AX), DX
	MOVQ streams4_outs+24(AX), BP
	ADDQ CX, DI
	ADDQ CX, SI
	ADDQ CX, DX
	ADDQ CX, BP
	OPEN(AX)

turn:
	PAIRS
	PAIRS
	PAIRS
	PAIRS
	PAIRS
	RELOAD(R8, R12)
	RELOAD(R9, R13)
	RELOAD(R10, R14)
	RELOAD(R11, R15)
	DECQ turns-8(SP)
	JNE  turn

	MOVQ s+0(FP), AX
	CLOSE(AX)
	MOVQ streams4_dst(AX), CX
	SUBQ CX, DI
	SUBQ CX, SI
	SUBQ CX, DX
	SUBQ CX, BP
	MOVQ DI, streams4_outs+0(AX)
	MOVQ SI, streams4_outs+8(AX)
	MOVQ DX, streams4_outs+16(AX)
	MOVQ BP, streams4_outs+24(AX)
	RET
