//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// CODE adds the code of one literal to a word: it moves the codes before down and puts the code at the high end. An
// entry of the table has the code at the high end and its length in the low byte. SHRXQ looks at the low six bits of a
// count only, so it can take the entry for the length, and of n only the low byte counts. The length also goes to the
// low end of the word, which FLUSH drops. CODE changes AX and CX. The table has an entry for each byte.
#define CODE(literal, word, n) \
	MOVBLZX literal, AX     \
	MOVQ    (BX)(AX*8), CX  \
	SHRXQ   CX, word, word  \
	ORQ     CX, word        \
	ADDQ    CX, n

// FLUSH writes the high n bits of a word, the codes, and moves out by the bytes that are whole. Always 8 bytes are
// written; those after the whole ones are written again by the next FLUSH. n becomes the number of bits that remain,
// less than 8: they are the newest, so they are at the high end of the word already. It changes DX.
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
// pairKernel codes the literals of two streams, four of each stream per iteration, the last one first. It takes not
// less than one turn. Its Go version is huffmanCode.put, for each of the streams.
//
// streams4 has made left of both streams 4*turns literals long, so the loads end where left begins. It gives each
// stream room for 11 bits (maxHuffmanBits) a literal and slack (64) bytes more, so the 8 bytes of each store fit.
//
// Registers, for both streams:
//
//	SI, R10    where the literals of the turn end
//	DI, R11    where the next byte goes
//	R8, R12    the codes, the newest at the high end
//	R9, R13    how many bits of them are not written: at most 7 and the 44 of an iteration
//	BX, R15    p, which begins with the table, and the turns left
//	AX, CX, DX scratch
TEXT ·pairKernel(SB), NOSPLIT, $0-16
	// The ends of the literals.
	MOVQ p+0(FP), BX
	MOVQ turns+8(FP), R15
	MOVQ pair_left+0(BX), SI
	ADDQ pair_left+8(BX), SI
	MOVQ pair_left+24(BX), R10
	ADDQ pair_left+32(BX), R10

	// The bit writers. They keep their bits at the low end of a word: move these to the high end, by 64 less their
	// number. Without bits the word is 0, and a shift by 64 does nothing.
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

	// Four codes for each stream. The streams take turns, as the codes of one stream depend on each other.
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

	// The bits that remain go back to the low end of the words. Without bits the shift, by 64, would do nothing, so the
	// word is set to 0.
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

	// Store the bit writers.
	SUBQ (pair_streams+bitWriter_dst)(BX), DI
	MOVQ DI, (pair_streams+bitWriter_at)(BX)
	MOVQ R8, (pair_streams+bitWriter_word)(BX)
	MOVQ R9, (pair_streams+bitWriter_n)(BX)
	SUBQ (pair_streams+bitWriter__size+bitWriter_dst)(BX), R11
	MOVQ R11, (pair_streams+bitWriter__size+bitWriter_at)(BX)
	MOVQ R12, (pair_streams+bitWriter__size+bitWriter_word)(BX)
	MOVQ R13, (pair_streams+bitWriter__size+bitWriter_n)(BX)
	RET
