//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// Kernels for four streams of Huffman codes, with six look-ups a stream in each turn. See streams4 for the form of a
// word: its unread bits at the high end, then a 1, then a 0 for each bit that is used up.
//
// A turn takes three look-ups from each word, twice. A look-up takes at most 11 bits, and a word has at least 34 unread
// bits before three of them. Its successor is loaded early, after the first look-up, and not after the third, where the
// next look-ups would have to wait for it: AHEAD brings the successor to BP, without the bits used so far, and the bits
// of the other two look-ups are taken from both words. The successor has at least 56 unread bits then, less the 22 of
// two look-ups. The four streams do not depend on each other, so the CPU executes four chains of look-ups at the same
// time.
//
// What keeps the kernels inside their buffers is streams4.turns, which limits n: the words of the n turns begin at most
// 8 bytes before their streams, and as many bytes, ahead, precede each stream in the source. The symbols of the n turns
// fit into the parts of the output, even if each look-up stores as many as it can. An index of a table is the high 11
// bits of a word, and the tables have an entry for each.

// AHEAD loads the successor of a word to BP: place moves down by the whole bytes that are used up, whose number is an
// eighth of the number of low zeros in the word, and the rest of the used bits is shifted out of BP. It changes AX and
// CX.
#define AHEAD(word, place) \
	TZCNTQ word, CX      \
	MOVQ   CX, AX        \
	SHRQ   $3, AX        \
	SUBQ   AX, place     \
	MOVQ   (place), BP   \
	ANDL   $7, CX        \
	ORQ    $1, BP        \
	SHLXQ  CX, BP, BP

// AHEADM is AHEAD for a place on the stack.
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

// CODE looks up the code at the high end of a word; CX becomes its entry of the table, with the length of the code in
// the low byte and the symbol, CH, in the high one. SHLXQ looks at the low six bits of a count only, so it can take the
// entry for the length.
#define CODE(word) \
	MOVQ    word, AX            \
	SHRQ    $53, AX             \
	MOVWLZX (BX)(AX*2), CX

// CODES takes three codes from a word, replaces it by its successor, and stores their symbols. The second code is
// shifted out of both words, the third out of the successor only.
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

// PAIR looks up the one or two codes at the high end of a word. AX becomes the index of their entry of pairTable, which
// has the symbols in bytes 0 and 1, the length of their codes together in byte 2 and their number in byte 3. CX becomes
// the length.
#define PAIR(word) \
	MOVQ    word, AX           \
	SHRQ    $53, AX            \
	MOVBLZX 2(BX)(AX*4), CX

// STORE stores the symbols that PAIR found: always two bytes, but out moves by the number of symbols.
#define STORE(out) \
	MOVL    (BX)(AX*4), CX     \
	MOVW    CX, (out)          \
	SHRL    $24, CX            \
	ADDQ    CX, out

// PAIRS is CODES with three look-ups of one or two codes. ahead is AHEAD or AHEADM.
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

// CLOSE stores the words, and the places of all but the first stream, as offsets. CX becomes the address of the source.
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
// streamsKernel takes n turns, not 0, of six codes a stream. Its Go version is streams4.runGeneric, whose turns have
// five.
//
// Registers:
//
//	R8 to R11    the words
//	R12 to R15   their addresses
//	BX           the table
//	DI           where the next symbol of the first stream goes; those of the others go SI, 2*SI and DX = 3*SI bytes
//	             further on
//	BP           the successor of a word
//	AX, CX       scratch
TEXT ·streamsKernel(SB), NOSPLIT, $16-16
	MOVQ s+0(FP), AX
	MOVQ n+8(FP), CX
	MOVQ streams4_table(AX), BX
	LEAQ (CX)(CX*2), CX // 6 symbols per iteration
	ADDQ CX, CX

	// All streams store the same number of symbols, so the distance of their outputs stays that of streams4.init. The
	// outputs can be brought up to date before the loop.
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

	// The words and their addresses.
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

	// Three codes of each stream, then three more.
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

	// Store the words and places.
	MOVQ s+0(FP), AX
	CLOSE(AX)
	SUBQ CX, R12
	MOVQ R12, streams4_places+0(AX)
	RET

// func pairsKernel(s *streams4, n int)
//
// pairsKernel takes n turns, not 0, of six look-ups a stream in the table of pairs. Its Go version is
// streams4.runPairs, whose turns have five.
//
// Registers:
//
//	R8 to R11         the words
//	R13 to R15        the addresses of all but the first; that one is on the stack
//	BX                the table of pairs
//	DI, SI, DX, R12   where the next symbols of the streams go
//	BP                the successor of a word
//	AX, CX            scratch
TEXT ·pairsKernel(SB), NOSPLIT, $24-16
	MOVQ s+0(FP), AX
	MOVQ n+8(FP), CX
	MOVQ CX, turns-8(SP)
	MOVQ streams4_pairs(AX), BX

	// The outputs.
	MOVQ streams4_dst(AX), CX
	MOVQ streams4_outs+0(AX), DI
	MOVQ streams4_outs+8(AX), SI
	MOVQ streams4_outs+16(AX), DX
	MOVQ streams4_outs+24(AX), R12
	ADDQ CX, DI
	ADDQ CX, SI
	ADDQ CX, DX
	ADDQ CX, R12

	// The words and their addresses.
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

	// Three look-ups of each stream, then three more.
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

	// Store the words, places and outputs.
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
