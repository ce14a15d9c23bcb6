//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// A kernel for eight streams of Huffman codes, four with one table and four with another. See streams4 for the form of
// a word: its unread bits at the high end, then a 1, then a 0 for each bit that is used up.
//
// A look-up takes about 7 steps, each of which waits for the one before, and a new word about 10, so that
// four streams leave a CPU idle half of the time. The look-ups are in an order in which the CPU can do
// them: all look-ups of one stream in a row would fill its queue with instructions that wait.
//
// A word has at least 56 unread bits after a load, and 55 after streams4.init: enough for five look-ups of at most 11
// bits.

// LOOK takes the code at the high end of a word and stores its symbol. Entries of the table have the length of the code
// in the low byte and the symbol in the high one. SHLXQ looks at the low six bits of a count only, so it can take the
// entry for the length. The index is the high 11 bits of the word, and the table has an entry for each. LOOK changes AX
// and CX.
#define LOOK(word, table, to) \
	MOVQ    word, AX           \
	SHRQ    $53, AX            \
	MOVWLZX (table)(AX*2), CX  \
	SHLXQ   CX, word, word     \
	MOVB    CH, to

// THREE takes the first three codes of an iteration from a stream.
#define THREE(word, table, out) \
	MOVQ out, DX                    \
	LOOK(word, table, 0(DX)(DI*1))  \
	LOOK(word, table, 1(DX)(DI*1))  \
	LOOK(word, table, 2(DX)(DI*1))

// TWO takes the other two codes of an iteration.
#define TWO(word, table, out) \
	MOVQ out, DX                    \
	LOOK(word, table, 3(DX)(DI*1))  \
	LOOK(word, table, 4(DX)(DI*1))

// LOAD brings the used bits of a word back below 8, as reload does in Go: place moves down by the whole bytes that are
// used up, whose number is an eighth of the number of low zeros in the word, and the rest of the used bits is shifted
// out of the new word. It changes AX, CX and DX.
#define LOAD(word, place) \
	TZCNTQ word, CX        \
	MOVQ   place, DX       \
	MOVQ   CX, AX          \
	SHRQ   $3, AX          \
	SUBQ   AX, DX          \
	MOVQ   DX, place       \
	ANDL   $7, CX          \
	MOVQ   (DX), word      \
	ORQ    $1, word        \
	SHLXQ  CX, word, word

// OPEN loads stream i of s: word is its word, place the address of that, and out the address where the symbols of all
// turns end. It also moves the stream's position in the output there, as DI is less than 0. It changes DX.
#define OPEN(s, i, word, place, out) \
	MOVQ streams4_words+8*i(s), word  \
	MOVQ streams4_src(s), DX          \
	ADDQ streams4_places+8*i(s), DX   \
	MOVQ DX, place                    \
	SUBQ DI, streams4_outs+8*i(s)     \
	MOVQ streams4_dst(s), DX          \
	ADDQ streams4_outs+8*i(s), DX     \
	MOVQ DX, out

// CLOSE stores the word and its place, as an offset. It changes DX.
#define CLOSE(s, i, word, place) \
	MOVQ word, streams4_words+8*i(s)  \
	MOVQ place, DX                    \
	SUBQ streams4_src(s), DX          \
	MOVQ DX, streams4_places+8*i(s)

// func bothKernel(s, o *streams4, n int)
//
// bothKernel takes n turns, not 0, of five codes a stream. It does what streams4.runGeneric does in n turns for s, and
// then for o.
//
// runBoth limits n by streams4.turns of both: the words of the n turns begin at most 8 bytes before their streams, and
// as many bytes, ahead, precede each stream in the source. The 5*n symbols of each stream fit into its part of the
// output.
//
// Registers:
//
//	R8 to R11    the words of s
//	R12 to R15   the words of o
//	BX, BP       s and o, then their tables
//	DI           minus the number of symbols that each stream still has to store: an index from out
//	AX, CX, DX   scratch
//
// The places and outs of the streams are on the stack.
TEXT ·bothKernel(SB), NOSPLIT, $128-24
	MOVQ s+0(FP), BX
	MOVQ o+8(FP), BP
	MOVQ n+16(FP), DI
	LEAQ (DI)(DI*4), DI
	NEGQ DI // 5 symbols per iteration
	OPEN(BX, 0, R8, place0-8(SP), out0-72(SP))
	OPEN(BX, 1, R9, place1-16(SP), out1-80(SP))
	OPEN(BX, 2, R10, place2-24(SP), out2-88(SP))
	OPEN(BX, 3, R11, place3-32(SP), out3-96(SP))
	OPEN(BP, 0, R12, place4-40(SP), out4-104(SP))
	OPEN(BP, 1, R13, place5-48(SP), out5-112(SP))
	OPEN(BP, 2, R14, place6-56(SP), out6-120(SP))
	OPEN(BP, 3, R15, place7-64(SP), out7-128(SP))
	MOVQ streams4_table(BX), BX
	MOVQ streams4_table(BP), BP

	// Three codes of each stream, two more, and new words. The streams of s and o take turns.
turn:
	THREE(R8, BX, out0-72(SP))
	THREE(R12, BP, out4-104(SP))
	THREE(R9, BX, out1-80(SP))
	THREE(R13, BP, out5-112(SP))
	THREE(R10, BX, out2-88(SP))
	THREE(R14, BP, out6-120(SP))
	THREE(R11, BX, out3-96(SP))
	THREE(R15, BP, out7-128(SP))
	TWO(R8, BX, out0-72(SP))
	TWO(R12, BP, out4-104(SP))
	TWO(R9, BX, out1-80(SP))
	TWO(R13, BP, out5-112(SP))
	TWO(R10, BX, out2-88(SP))
	TWO(R14, BP, out6-120(SP))
	TWO(R11, BX, out3-96(SP))
	TWO(R15, BP, out7-128(SP))
	LOAD(R8, place0-8(SP))
	LOAD(R12, place4-40(SP))
	LOAD(R9, place1-16(SP))
	LOAD(R13, place5-48(SP))
	LOAD(R10, place2-24(SP))
	LOAD(R14, place6-56(SP))
	LOAD(R11, place3-32(SP))
	LOAD(R15, place7-64(SP))
	ADDQ $5, DI
	JNE  turn

	// Store the words and places. OPEN has set the outputs.
	MOVQ s+0(FP), BX
	MOVQ o+8(FP), BP
	CLOSE(BX, 0, R8, place0-8(SP))
	CLOSE(BX, 1, R9, place1-16(SP))
	CLOSE(BX, 2, R10, place2-24(SP))
	CLOSE(BX, 3, R11, place3-32(SP))
	CLOSE(BP, 0, R12, place4-40(SP))
	CLOSE(BP, 1, R13, place5-48(SP))
	CLOSE(BP, 2, R14, place6-56(SP))
	CLOSE(BP, 3, R15, place7-64(SP))
	RET
