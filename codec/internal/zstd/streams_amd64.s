//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// A word has 34 bits at least when a turn begins, for three look-ups. What would be waited for after them, the next
// word, is loaded after the first: AHEAD brings it to BP, without the bits used so far, and the bits of the other two
// look-ups are taken from both words. A turn does that twice. The four streams do not depend on each other, so the
// processor has four chains of look-ups under way.

// AHEAD brings the word that has 56 bits behind those used, which the lowest bit that is set tells, to BP.
#define AHEAD(word, place) \
	TZCNTQ word, CX      \
	MOVQ   CX, AX        \
	SHRQ   $3, AX        \
	SUBQ   AX, place     \
	MOVQ   (place), BP   \
	ANDL   $7, CX        \
	ORQ    $1, BP        \
	SHLXQ  CX, BP, BP

// AHEADM does for a place on the stack.
#define AHEADM(word, place) \
	TZCNTQ word, CX      \
	MOVQ   CX, AX        \
	MOVQ   place, BP     \
	SHRQ   $3, AX        \
	SUBQ   AX, BP        \
	MOVQ   BP, place     \
	MOVQ   (BP), BP      \
	ANDL   $7, CX        \
	ORQ    $1, BP        \
	SHLXQ  CX, BP, BP

// CODE looks up the code that a word begins with. Entries of the table have the length of the code in the low byte,
// which is all that SHLXQ looks at, and the symbol in the high one.
#define CODE(word) \
	MOVQ    word, AX            \
	SHRQ    $53, AX             \
	MOVWLZX (BX)(AX*2), CX

// CODES takes three codes from a word and stores their symbols.
#define CODES(word, place, o0, o1, o2) \
	CODE(word)              \
	SHLXQ   CX, word, word  \
	MOVB    CH, o0          \
	AHEAD(word, place)      \
	CODE(word)              \
	SHLXQ   CX, word, word  \
	SHLXQ   CX, BP, BP      \
	MOVB    CH, o1          \
	CODE(word)              \
	SHLXQ   CX, BP, word    \
	MOVB    CH, o2

// PAIR looks up the one or two codes that a word begins with. Entries have the symbols in bytes 0 and 1, the bits of
// their codes in byte 2 and their number in byte 3.
#define PAIR(word) \
	MOVQ    word, AX           \
	SHRQ    $53, AX            \
	MOVBLZX 2(BX)(AX*4), CX

// STORE stores what PAIR found: two bytes, of which one or two count.
#define STORE(out) \
	MOVL    (BX)(AX*4), CX     \
	MOVW    CX, (out)          \
	SHRL    $24, CX            \
	ADDQ    CX, out

// PAIRS takes three times one code or two from a word. ahead is AHEAD or AHEADM.
#define PAIRS(word, place, out, ahead) \
	PAIR(word)              \
	SHLXQ   CX, word, word  \
	STORE(out)              \
	ahead(word, place)      \
	PAIR(word)              \
	SHLXQ   CX, word, word  \
	SHLXQ   CX, BP, BP      \
	STORE(out)              \
	PAIR(word)              \
	SHLXQ   CX, BP, word    \
	STORE(out)

// WORDS loads the words.
#define WORDS(s) \
	MOVQ streams4_words+0(s), R8      \
	MOVQ streams4_words+8(s), R9      \
	MOVQ streams4_words+16(s), R10    \
	MOVQ streams4_words+24(s), R11

// CLOSE stores the words, and the places of all but the first stream.
#define CLOSE(s) \
	MOVQ R8, streams4_words+0(s)      \
	MOVQ R9, streams4_words+8(s)      \
	MOVQ R10, streams4_words+16(s)    \
	MOVQ R11, streams4_words+24(s)    \
	MOVQ streams4_src(s), CX          \
	SUBQ CX, R13                      \
	SUBQ CX, R14                      \
	SUBQ CX, R15                      \
	MOVQ R13, streams4_places+8(s)    \
	MOVQ R14, streams4_places+16(s)   \
	MOVQ R15, streams4_places+24(s)

// func streamsKernel(s *streams4, n int)
//
// Registers:
//
//	R8 to R11    the words
//	R12 to R15   where they come from in memory
//	BX           the table
//	DI           where the next symbol of the first stream goes; the others are SI, 2*SI and DX behind
//	BP           the next word
//	AX, CX       at hand
TEXT ·streamsKernel(SB), NOSPLIT, $16-16
	MOVQ s+0(FP), AX
	MOVQ n+8(FP), CX
	MOVQ streams4_table(AX), BX
	LEAQ (CX)(CX*2), CX // 6 symbols a turn
	ADDQ CX, CX
	MOVQ streams4_outs+0(AX), DI
	MOVQ streams4_outs+8(AX), SI
	SUBQ DI, SI
	LEAQ (SI)(SI*2), DX
	ADDQ CX, streams4_outs+0(AX)
	ADDQ CX, streams4_outs+8(AX)
	ADDQ CX, streams4_outs+16(AX)
	ADDQ CX, streams4_outs+24(AX)
	ADDQ streams4_dst(AX), DI
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
	WORDS(AX)

turn:
	CODES(R8, R12, 0(DI), 1(DI), 2(DI))
	CODES(R9, R13, 0(DI)(SI*1), 1(DI)(SI*1), 2(DI)(SI*1))
	CODES(R10, R14, 0(DI)(SI*2), 1(DI)(SI*2), 2(DI)(SI*2))
	CODES(R11, R15, 0(DI)(DX*1), 1(DI)(DX*1), 2(DI)(DX*1))
	CODES(R8, R12, 3(DI), 4(DI), 5(DI))
	CODES(R9, R13, 3(DI)(SI*1), 4(DI)(SI*1), 5(DI)(SI*1))
	CODES(R10, R14, 3(DI)(SI*2), 4(DI)(SI*2), 5(DI)(SI*2))
	CODES(R11, R15, 3(DI)(DX*1), 4(DI)(DX*1), 5(DI)(DX*1))
	ADDQ $6, DI
	CMPQ DI, end-8(SP)
	JB   turn

	MOVQ s+0(FP), AX
	CLOSE(AX)
	SUBQ CX, R12
	MOVQ R12, streams4_places+0(AX)
	RET

// func pairsKernel(s *streams4, n int)
//
// Registers are those of streamsKernel, but that the next symbols go to DI, SI, DX and R12, and the first word comes
// from a place on the stack.
TEXT ·pairsKernel(SB), NOSPLIT, $24-16
	MOVQ s+0(FP), AX
	MOVQ n+8(FP), CX
	MOVQ CX, turns-8(SP)
	MOVQ streams4_pairs(AX), BX
	MOVQ streams4_dst(AX), CX
	MOVQ streams4_outs+0(AX), DI
	MOVQ streams4_outs+8(AX), SI
	MOVQ streams4_outs+16(AX), DX
	MOVQ streams4_outs+24(AX), R12
	ADDQ CX, DI
	ADDQ CX, SI
	ADDQ CX, DX
	ADDQ CX, R12
	MOVQ streams4_src(AX), CX
	MOVQ streams4_places+0(AX), R8
	MOVQ streams4_places+8(AX), R13
	MOVQ streams4_places+16(AX), R14
	MOVQ streams4_places+24(AX), R15
	ADDQ CX, R8
	MOVQ R8, place-16(SP)
	ADDQ CX, R13
	ADDQ CX, R14
	ADDQ CX, R15
	WORDS(AX)

turn:
	PAIRS(R8, place-16(SP), DI, AHEADM)
	PAIRS(R9, R13, SI, AHEAD)
	PAIRS(R10, R14, DX, AHEAD)
	PAIRS(R11, R15, R12, AHEAD)
	PAIRS(R8, place-16(SP), DI, AHEADM)
	PAIRS(R9, R13, SI, AHEAD)
	PAIRS(R10, R14, DX, AHEAD)
	PAIRS(R11, R15, R12, AHEAD)
	DECQ turns-8(SP)
	JNE  turn

	MOVQ s+0(FP), AX
	CLOSE(AX)
	MOVQ place-16(SP), R8
	SUBQ CX, R8
	MOVQ R8, streams4_places+0(AX)
	MOVQ streams4_dst(AX), CX
	SUBQ CX, DI
	SUBQ CX, SI
	SUBQ CX, DX
	SUBQ CX, R12
	MOVQ DI, streams4_outs+0(AX)
	MOVQ SI, streams4_outs+8(AX)
	MOVQ DX, streams4_outs+16(AX)
	MOVQ R12, streams4_outs+24(AX)
	RET
