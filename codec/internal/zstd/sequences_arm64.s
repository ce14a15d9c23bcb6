//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"

// REFILL moves the word down by the whole bytes that are read, at most 8, and loads it: then at least 57 bits, R4, are
// left in it. It changes R22. Its uses make sure that the word does not begin before the stream, R10, so it begins at
// most 8 bytes before it after the move. As many bytes, ahead, precede the stream in the source.
#define REFILL \
	MOVD $64, R22           \
	SUB  R4, R22            \
	LSR  $3, R22            \
	SUB  R22, R2            \
	ADD  R22<<3, R4         \
	MOVD (R2), R3

// BITS moves the next n bits of the word to dst; n and dst are different registers. R26 is -1. It changes R22. The mask
// clears all bits from n up, so that n may be 0.
#define BITS(n, dst) \
	SUB n, R4             \
	LSR R4, R3, dst       \
	LSL n, R26, R22       \
	BIC R22, dst

// VALUE replaces n, the bits of a value, by the value: the base in bytes 4 to 7 of the entry, and the next n bits. It
// changes R22 and R23.
#define VALUE(entry, n) \
	BITS(n, R23)          \
	MOVWU 4(entry), n     \
	ADD   R23, n

// STATE replaces the address of an entry by the address of the entry of the next state: the base in bytes 2 and 3 plus
// the next bits, as many as byte 1 says. It changes R22 to R24. The address stays inside the table: table.build makes
// bases whose sum with any such bits is less than the number of states, and table.buildSame makes a machine that stays
// at state 0.
#define STATE(entry, table) \
	MOVBU 1(entry), R24     \
	BITS(R24, R23)          \
	MOVHU 2(entry), R24     \
	ADD   R24, R23          \
	ADD   R23<<3, table, entry

// The longest match that the kernel copies. Go's copy is as fast for longer ones, or faster.
#define longMatch 2048

// func sequencesKernel(r *run, spans *[16]span) (stop int)
//
// sequencesKernel decodes and executes sequences until one needs care. Its Go version is run.fastGeneric; type entry
// describes the entries of the tables. The kernel also stops after decoding a match longer than longMatch.
//
// Registers:
//
//	R0                  r
//	R1                  where the next byte of the output goes
//	R2, R3, R4          the address of the word in the stream of bits, the word, and the bits left in it
//	R5, R6, R7          the addresses of the entries of literal lengths, offsets and match lengths
//	R8                  the next literal
//	R9                  sequences left
//	R10                 where the stream of bits starts
//	R11                 where the literals of a sequence must end at the latest: 64 bytes after it can be read
//	R12                 where a sequence must end at the latest: 64 bytes after it can be written
//	R13                 where the frame starts in the output
//	R14, R15, R16       the tables of literal lengths, offsets and match lengths
//	R17                 the window
//	R19, R20, R21       offset, match length and literal length
//	R22 to R25          scratch
//	R26                 -1
//
// run.fast has checked that literals and dst have at least margin (64) bytes each.
TEXT ·sequencesKernel(SB), NOSPLIT, $0-24
	MOVD r+0(FP), R0
	MOVD $-1, R26

	// The stream of bits.
	MOVD (run_bits+bitReader_src)(R0), R10
	MOVD (run_bits+bitReader_pos)(R0), R2
	MOVD (run_bits+bitReader_start)(R0), R19
	ADD  R10, R2
	ADD  R19, R10
	MOVD (run_bits+bitReader_word)(R0), R3
	MOVD (run_bits+bitReader_left)(R0), R4

	// R11: the end of the literals, or margin bytes before the end of their buffer if that is earlier.
	MOVD run_literals(R0), R8
	MOVD (run_literals+8)(R0), R11
	SUB  $const_margin, R11
	MOVD run_literalsEnd(R0), R19
	CMP  R11, R19
	CSEL LT, R19, R11, R11
	ADD  R8, R11
	MOVD run_literal(R0), R19
	ADD  R19, R8

	// R12: run.end, or margin bytes before the end of dst if that is earlier.
	MOVD run_dst(R0), R1
	MOVD (run_dst+8)(R0), R12
	SUB  $const_margin, R12
	MOVD run_end(R0), R19
	CMP  R12, R19
	CSEL LT, R19, R12, R12
	ADD  R1, R12
	MOVD run_start(R0), R13
	ADD  R1, R13
	MOVD run_out(R0), R19
	ADD  R19, R1

	// The three machines, and the addresses of the entries of their states: at first in the run.
	MOVD (run_tables+0)(R0), R14
	MOVD (run_tables+8)(R0), R15
	MOVD (run_tables+16)(R0), R16
	ADD  $table_entries, R14
	ADD  $table_entries, R15
	ADD  $table_entries, R16
	ADD  $(run_entries+0), R0, R5
	ADD  $(run_entries+8), R0, R6
	ADD  $(run_entries+16), R0, R7
	MOVWU run_window(R0), R17
	MOVD run_count(R0), R9

	// The last sequence is left to run.decode, as no states follow it, and so is one whose word begins before the
	// stream: then REFILL could load from before the source, and the stream may be at its end.
sequence:
	CMP   $1, R9
	BLE   decode
	CMP   R10, R2
	BLO   decode
	REFILL

	// If the bits of values and states fit into a word, take the values: offset, match length, literal length.
	MOVBU (R6), R19
	MOVBU (R7), R20
	MOVBU (R5), R21
	ADD   R19, R20, R22
	ADD   R21, R22
	CMP   $(57-26), R22 // with at most 26 bits for the states
	BHI   large
	VALUE(R6, R19)
	VALUE(R7, R20)
	VALUE(R5, R21)

	// Move to the next states.
states:
	STATE(R5, R14)
	STATE(R7, R16)
	STATE(R6, R15)
	SUB $1, R9

	// R19 is the offset plus 3, or 1 to 3 for a place in the list of the last offsets. Without literals it is the next
	// place. This is run.setOffset, but without branches, as the kind of an offset cannot be predicted: R22 is the
	// place, at most 4.
	CMP   $0, R21
	CINC  EQ, R19, R22
	MOVD  $4, R23
	CMP   R23, R22
	CSEL  HI, R23, R22, R22

	// The offset: R19 less 3 if R19 is above 3, else the entry of the list at that place, from 1. The fourth is the
	// first less 1.
	SUB   $1, R22, R23
	ADD   $run_repeats, R0, R24
	MOVWU (R24)(R23<<2), R23
	SUB   $3, R19, R24
	CMP   $3, R19
	CSEL  HI, R24, R23, R19

	// The offset goes to the front of the list: the second moves back from place 3 up, the first unless it was taken.
	MOVWU (run_repeats+0)(R0), R23
	MOVWU (run_repeats+4)(R0), R24
	MOVWU (run_repeats+8)(R0), R25
	CMP   $3, R22
	CSEL  HS, R24, R25, R25
	CMP   $1, R22
	CSEL  NE, R23, R24, R24
	SUB   $1, R19, R22
	MOVW  R19, (run_repeats+0)(R0)
	MOVW  R24, (run_repeats+4)(R0)
	MOVW  R25, (run_repeats+8)(R0)
	MOVW  R22, (run_repeats+12)(R0)

	// All copies below rely on these checks, and read or write at most 31 bytes after the end of what they copy.
	// Otherwise run.execute does the sequence, or finds what is wrong with it.
	ADD R21, R8, R23  // the end of the literals
	CMP R11, R23
	BHI execute
	ADD R21, R1, R24  // the start of the match
	ADD R20, R24, R23 // the end of the sequence
	CMP R12, R23
	BHI execute
	SUB R13, R24, R23 // the match must not come from before the frame
	CMP R23, R22      // R22 is the offset less 1, so that an offset of 0 fails, too
	BHS execute
	CMP R17, R19
	BHI execute
	CMP $longMatch, R20
	BHI execute

	// Copy 16 literals, which are often all of them.
	FMOVQ (R8), F0
	FMOVQ F0, (R1)
	CMP   $16, R21
	BHI   moreLiterals

	// R24 is where the match goes, R22 where it comes from. If the offset is at least 16, each load of 16 bytes finds
	// bytes that are already there. Copy 32 bytes at once.
match:
	ADD   R21, R8
	ADD   R20, R24, R1
	SUB   R19, R24, R22
	CMP   $16, R19
	BLO   near
	FMOVQ (R22), F0
	FMOVQ F0, (R24)
	FMOVQ 16(R22), F1
	FMOVQ F1, 16(R24)
	CMP   $32, R20
	BLS   sequence

	// The last turn begins before the end of the match and writes at most 31 bytes after it.
far:
	ADD   $32, R22
	ADD   $32, R24
	FMOVQ (R22), F0
	FMOVQ F0, (R24)
	FMOVQ 16(R22), F1
	FMOVQ F1, 16(R24)
	SUB   $32, R20
	CMP   $32, R20
	BHI   far
	B     sequence

	// The match repeats its first bytes. Fill two registers with them once, by the entry of spans for the offset, which
	// is 1 to 15. The 16 bytes loaded may end up to 15 bytes after the start of the match, but the shuffle takes only
	// those before it. R25 is the number of bytes in whole repetitions, so that no store depends on the one before.
near:
	MOVD spans+8(FP), R23
	ADD  R19<<6, R23
	MOVD span_step(R23), R25
	VLD1 (R23), [V1.B16, V2.B16]
	VLD1 (R22), [V0.B16]
	VTBL V1.B16, [V0.B16], V3.B16
	VTBL V2.B16, [V0.B16], V4.B16

	// Each store begins before the end of the match and writes at most 31 bytes after it.
again:
	VST1 [V3.B16, V4.B16], (R24)
	ADD  R25, R24
	SUBS R25, R20
	BGT  again
	B    sequence

	// More than 16 literals, the first 16 of which are copied.
moreLiterals:
	MOVD R8, R22
	MOVD R21, R23

	// 16 per iteration: the last turn begins before the end of the literals, and reads and writes at most 15 bytes
	// after it. R1 is set again at match.
literals:
	ADD   $16, R22
	ADD   $16, R1
	FMOVQ (R22), F0
	FMOVQ F0, (R1)
	SUB   $16, R23
	CMP   $16, R23
	BHI   literals
	B     match

	// Values with many bits need three words. The word must begin at least 8 bytes after the start of the stream, so
	// that it does not begin before the stream after the first REFILL here, and at most 8 bytes before it after the
	// second.
large:
	ADD $8, R10, R22
	CMP R22, R2
	BLO decode
	VALUE(R6, R19)
	REFILL
	VALUE(R7, R20)
	VALUE(R5, R21)
	REFILL
	B   states

	// Stop before a sequence.
decode:
	MOVD $const_stopDecode, R22
	B    save

	// Stop after decoding a sequence: hand it over to run.execute.
execute:
	MOVW R21, run_literalLength(R0)
	MOVW R19, run_offset(R0)
	MOVW R20, run_matchLength(R0)
	MOVD $const_stopExecute, R22

	// Store the state: the bit reader and the positions, as offsets, the states as numbers, and the sequences left. The
	// list of offsets is in memory already.
save:
	MOVD R22, stop+16(FP)
	MOVD R4, (run_bits+bitReader_left)(R0)
	MOVD (R2), R3
	MOVD R3, (run_bits+bitReader_word)(R0)
	MOVD (run_bits+bitReader_src)(R0), R22
	SUB  R22, R2
	MOVD R2, (run_bits+bitReader_pos)(R0)
	MOVD run_literals(R0), R22
	SUB  R22, R8
	MOVD R8, run_literal(R0)
	MOVD run_dst(R0), R22
	SUB  R22, R1
	MOVD R1, run_out(R0)
	MOVD (R5), R5
	MOVD (R6), R6
	MOVD (R7), R7
	MOVD R5, (run_entries+0)(R0)
	MOVD R6, (run_entries+8)(R0)
	MOVD R7, (run_entries+16)(R0)
	MOVD R9, run_count(R0)
	RET
