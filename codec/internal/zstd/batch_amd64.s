//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// Eight streams, four with one table and four with another. A look-up takes some 7 steps that wait for each other, and
// a new word some 10, so that four streams leave a processor idle half of the time. It gets a round of look-ups in the
// order in which they can be done: those of one stream in a row would fill its queue with what waits.
//
// A word has 56 bits behind a load, or 55 in the beginning: enough for five look-ups.

// LOOK takes a code from a word and stores its symbol. Entries of the table have the length of the code in the low byte,
// which is all that SHLXQ looks at, and the symbol in the high one.
#define LOOK(word, table, to) \
	MOVQ    word, AX           \
	SHRQ    $53, AX            \
	MOVWLZX (table)(AX*2), CX  \
	SHLXQ   CX, word, word     \
	MOVB    CH, to

// THREE takes the first three codes of a turn.
#define THREE(word, table, out) \
	MOVQ out, DX                    \
	LOOK(word, table, 0(DX)(DI*1))  \
	LOOK(word, table, 1(DX)(DI*1))  \
	LOOK(word, table, 2(DX)(DI*1))

// TWO takes the other two.
#define TWO(word, table, out) \
	MOVQ out, DX                    \
	LOOK(word, table, 3(DX)(DI*1))  \
	LOOK(word, table, 4(DX)(DI*1))

// LOAD loads a word without the bits used so far, which the lowest bit that is set tells.
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

// OPEN loads what belongs to stream i of s: the word; place is where it comes from in memory, and out where the symbols
// of all turns end there.
#define OPEN(s, i, word, place, out) \
	MOVQ streams4_words+8*i(s), word  \
	MOVQ streams4_src(s), DX          \
	ADDQ streams4_places+8*i(s), DX   \
	MOVQ DX, place                    \
	SUBQ DI, streams4_outs+8*i(s)     \
	MOVQ streams4_dst(s), DX          \
	ADDQ streams4_outs+8*i(s), DX     \
	MOVQ DX, out

// CLOSE stores it.
#define CLOSE(s, i, word, place) \
	MOVQ word, streams4_words+8*i(s)  \
	MOVQ place, DX                    \
	SUBQ streams4_src(s), DX          \
	MOVQ DX, streams4_places+8*i(s)

// func bothKernel(s, o *streams4, n int)
//
// Registers:
//
//	R8 to R15    the words
//	BX, BP       the tables
//	DI           bytes to the end of the symbols of a stream, less than 0
//	AX, CX, DX   at hand
TEXT ·bothKernel(SB), NOSPLIT, $128-24
	MOVQ s+0(FP), BX
	MOVQ o+8(FP), BP
	MOVQ n+16(FP), DI
	LEAQ (DI)(DI*4), DI
	NEGQ DI
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
