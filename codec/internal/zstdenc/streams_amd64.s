//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// CODE adds the code of one literal to a word, above those before. The low bits of a code are its length, which is what
// SHRXQ looks at and what the low byte of n counts; all else of them falls out of the word, and is not looked at in n.
#define CODE(literal, word, n) \
	MOVBLZX literal, AX     \
	MOVQ    (BX)(AX*8), CX  \
	SHRXQ   CX, word, word  \
	ORQ     CX, word        \
	ADDQ    CX, n

// FLUSH writes the codes of a word, which are its high n bits, but for what is less than a byte.
#define FLUSH(word, n, out) \
	MOVBLZX n, n           \
	MOVL    n, DX          \
	NEGL    DX             \
	SHRXQ   DX, word, DX   \
	MOVQ    DX, (out)      \
	MOVL    n, DX          \
	SHRL    $3, DX         \
	ADDQ    DX, out        \
	ANDL    $7, n

// func pairKernel(p *pair, turns int)
//
// Registers, for both streams:
//
//	SI, R10    where the literals of the turn end
//	DI, R11    where the next byte goes
//	R8, R12    the codes, from the highest bit on down to the oldest
//	R9, R13    how many bits of them are not written
//	BX, R15    the table, and the turns
//	AX, CX, DX at hand
TEXT ·pairKernel(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), BX
	MOVQ turns+8(FP), R15
	MOVQ pair_left+0(BX), SI
	ADDQ pair_left+8(BX), SI
	MOVQ pair_left+24(BX), R10
	ADDQ pair_left+32(BX), R10

	MOVQ (pair_streams+bitWriter_dst)(BX), DI
	ADDQ (pair_streams+bitWriter_at)(BX), DI
	MOVQ (pair_streams+bitWriter_word)(BX), R8
	MOVQ (pair_streams+bitWriter_n)(BX), R9
	MOVL R9, CX
	NEGL CX
	SHLXQ CX, R8, R8
	MOVQ (pair_streams+bitWriter__size+bitWriter_dst)(BX), R11
	ADDQ (pair_streams+bitWriter__size+bitWriter_at)(BX), R11
	MOVQ (pair_streams+bitWriter__size+bitWriter_word)(BX), R12
	MOVQ (pair_streams+bitWriter__size+bitWriter_n)(BX), R13
	MOVL R13, CX
	NEGL CX
	SHLXQ CX, R12, R12

turn:
	CODE(-1(SI), R8, R9)
	CODE(-1(R10), R12, R13)
	CODE(-2(SI), R8, R9)
	CODE(-2(R10), R12, R13)
	CODE(-3(SI), R8, R9)
	CODE(-3(R10), R12, R13)
	CODE(-4(SI), R8, R9)
	CODE(-4(R10), R12, R13)
	FLUSH(R8, R9, DI)
	FLUSH(R12, R13, R11)
	SUBQ $4, SI
	SUBQ $4, R10
	DECQ R15
	JNZ  turn

	// What is left goes to the low end of the words.
	XORL AX, AX
	MOVL R9, CX
	NEGL CX
	SHRXQ CX, R8, R8
	TESTL R9, R9
	CMOVQEQ AX, R8
	MOVL R13, CX
	NEGL CX
	SHRXQ CX, R12, R12
	TESTL R13, R13
	CMOVQEQ AX, R12
	SUBQ (pair_streams+bitWriter_dst)(BX), DI
	MOVQ DI, (pair_streams+bitWriter_at)(BX)
	MOVQ R8, (pair_streams+bitWriter_word)(BX)
	MOVQ R9, (pair_streams+bitWriter_n)(BX)
	SUBQ (pair_streams+bitWriter__size+bitWriter_dst)(BX), R11
	MOVQ R11, (pair_streams+bitWriter__size+bitWriter_at)(BX)
	MOVQ R12, (pair_streams+bitWriter__size+bitWriter_word)(BX)
	MOVQ R13, (pair_streams+bitWriter__size+bitWriter_n)(BX)
	RET
