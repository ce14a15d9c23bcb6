//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"

// Kernels for four streams of Huffman codes, with five look-ups a stream in each turn. See streams4 for the form of a
// word: its unread bits at the high end, then a 1, then a 0 for each bit that is used up. A word has at least 55 unread
// bits when an iteration begins, and a look-up takes at most 11.
//
// What keeps the kernels inside their buffers is streams4.turns, which limits n: the words of the n turns begin at most
// 8 bytes before their streams, and as many bytes, ahead, precede each stream in the source. The symbols of the n turns
// fit into the parts of the output, even if each look-up stores as many as it can. An index of a table is the high 11
// bits of a word, and the tables have an entry for each.

// CODE takes the code at the high end of a word and stores its symbol. Entries of the table have the length of the code
// in the low byte and the symbol in the high one. LSL looks at the low six bits of a count only, so it can take the
// entry for the length. CODE changes R20 and R21.
#define CODE(word, j, out) \
	LSR   $53, word, R20       \
	MOVHU (R12)(R20<<1), R21   \
	LSL   R21, word, word      \
	LSR   $8, R21, R21         \
	MOVB  R21, j(out)

// ROUND takes code j of an iteration, from 0, from each stream. The four streams do not depend on each other, so the
// CPU executes four chains of look-ups at the same time.
#define ROUND(j) \
	CODE(R0, j, R8)   \
	CODE(R1, j, R9)   \
	CODE(R2, j, R10)  \
	CODE(R3, j, R11)

// RELOAD brings the used bits of a word back below 8, as reload does in Go: place moves down by the whole bytes that
// are used up, whose number is an eighth of the number of low zeros in the word, and the rest of the used bits is
// shifted out of the new word. It changes R20.
#define RELOAD(word, place) \
	RBIT word, R20          \
	CLZ  R20, R20           \
	SUB  R20>>3, place      \
	MOVD (place), word      \
	AND  $7, R20            \
	ORR  $1, word           \
	LSL  R20, word, word

// PAIR takes one or two codes from a word and stores their symbols: always two bytes, but out moves by the number of
// symbols. Entries of pairTable have the symbols in bytes 0 and 1, the length of their codes together in byte 2, of
// which LSL looks at six bits, and their number in byte 3. It changes R20 to R22.
#define PAIR(word, out) \
	LSR   $53, word, R20       \
	MOVWU (R12)(R20<<2), R21   \
	LSR   $16, R21, R22        \
	LSL   R22, word, word      \
	MOVH  R21, (out)           \
	ADD   R21>>24, out

// PAIRS does one look-up of each stream.
#define PAIRS \
	PAIR(R0, R8)   \
	PAIR(R1, R9)   \
	PAIR(R2, R10)  \
	PAIR(R3, R11)

// OPEN loads the outputs, the addresses of the words and the words from the state, R19.
#define OPEN \
	MOVD streams4_dst(R19), R20         \
	MOVD streams4_outs+0(R19), R8       \
	MOVD streams4_outs+8(R19), R9       \
	MOVD streams4_outs+16(R19), R10     \
	MOVD streams4_outs+24(R19), R11     \
	ADD  R20, R8                        \
	ADD  R20, R9                        \
	ADD  R20, R10                       \
	ADD  R20, R11                       \
	MOVD streams4_src(R19), R20         \
	MOVD streams4_places+0(R19), R4     \
	MOVD streams4_places+8(R19), R5     \
	MOVD streams4_places+16(R19), R6    \
	MOVD streams4_places+24(R19), R7    \
	ADD  R20, R4                        \
	ADD  R20, R5                        \
	ADD  R20, R6                        \
	ADD  R20, R7                        \
	MOVD streams4_words+0(R19), R0      \
	MOVD streams4_words+8(R19), R1      \
	MOVD streams4_words+16(R19), R2     \
	MOVD streams4_words+24(R19), R3

// CLOSE stores these in the state, with the outputs and the addresses as offsets.
#define CLOSE \
	MOVD streams4_dst(R19), R20         \
	SUB  R20, R8                        \
	SUB  R20, R9                        \
	SUB  R20, R10                       \
	SUB  R20, R11                       \
	MOVD R8, streams4_outs+0(R19)       \
	MOVD R9, streams4_outs+8(R19)       \
	MOVD R10, streams4_outs+16(R19)     \
	MOVD R11, streams4_outs+24(R19)     \
	MOVD streams4_src(R19), R20         \
	SUB  R20, R4                        \
	SUB  R20, R5                        \
	SUB  R20, R6                        \
	SUB  R20, R7                        \
	MOVD R4, streams4_places+0(R19)     \
	MOVD R5, streams4_places+8(R19)     \
	MOVD R6, streams4_places+16(R19)    \
	MOVD R7, streams4_places+24(R19)    \
	MOVD R0, streams4_words+0(R19)      \
	MOVD R1, streams4_words+8(R19)      \
	MOVD R2, streams4_words+16(R19)     \
	MOVD R3, streams4_words+24(R19)

// func streamsKernel(s *streams4, n int)
//
// streamsKernel takes n turns, not 0, of five codes a stream. Its Go version is streams4.runGeneric.
//
// Registers:
//
//	R0 to R3     the words
//	R4 to R7     their addresses
//	R8 to R11    where the next symbols of the streams go
//	R12          the table
//	R13          turns left
//	R19          s
//	R20, R21     scratch
TEXT ·streamsKernel(SB), NOSPLIT, $0-16
	MOVD s+0(FP), R19
	MOVD n+8(FP), R13
	MOVD streams4_table(R19), R12
	OPEN

	// Five codes of each stream, then new words.
turn:
	ROUND(0)
	ROUND(1)
	ROUND(2)
	ROUND(3)
	ROUND(4)
	RELOAD(R0, R4)
	RELOAD(R1, R5)
	RELOAD(R2, R6)
	RELOAD(R3, R7)
	ADD  $5, R8
	ADD  $5, R9
	ADD  $5, R10
	ADD  $5, R11
	SUBS $1, R13
	BNE  turn

	CLOSE
	RET

// func pairsKernel(s *streams4, n int)
//
// pairsKernel takes n turns, not 0, of five look-ups a stream in the table of pairs. Its Go version is
// streams4.runPairs.
//
// Registers are those of streamsKernel; R12 is the table of pairs, and R22 is scratch, too.
TEXT ·pairsKernel(SB), NOSPLIT, $0-16
	MOVD s+0(FP), R19
	MOVD n+8(FP), R13
	MOVD streams4_pairs(R19), R12
	OPEN

	// Five look-ups of each stream, then new words.
turn:
	PAIRS
	PAIRS
	PAIRS
	PAIRS
	PAIRS
	RELOAD(R0, R4)
	RELOAD(R1, R5)
	RELOAD(R2, R6)
	RELOAD(R3, R7)
	SUBS $1, R13
	BNE  turn

	CLOSE
	RET
