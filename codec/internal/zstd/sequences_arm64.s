//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"

// REFILL brings the bits left in the word, R4, to 57 or more. It changes R22.
#define REFILL \
	MOVD $64, R22           \
	SUB  R4, R22            \
	LSR  $3, R22            \
	SUB  R22, R2            \
	ADD  R22<<3, R4         \
	MOVD (R2), R3

// BITS takes the next n bits of the word to dst; n and dst are different registers. R26 is -1. It changes R22.
#define BITS(n, dst) \
	SUB n, R4             \
	LSR R4, R3, dst       \
	LSL n, R26, R22       \
	BIC R22, dst

// VALUE takes the value of a code to n: its base, and n bits. It changes R22 and R23.
#define VALUE(entry, n) \
	BITS(n, R23)          \
	MOVWU 4(entry), n     \
	ADD   R23, n

// STATE replaces the address of an entry by that of the entry of the next state. It changes R22 to R24.
#define STATE(entry, table) \
	MOVBU 1(entry), R24     \
	BITS(R24, R23)          \
	MOVHU 2(entry), R24     \
	ADD   R24, R23          \
	ADD   R23<<3, table, entry

// The greatest match of the kernel. Go's copy is as good for more, or better.
#define longMatch 2048

// func sequencesKernel(r *run, spans *[16]span) (stop int)
//
// Registers:
//
//	R0                  r
//	R1                  where the next byte of the output goes
//	R2, R3, R4          the place of the word in the stream of bits, the word, and the bits left in it
//	R5, R6, R7          the entries of the states of literal lengths, offsets and match lengths
//	R8                  the next literal
//	R9                  sequences left
//	R10                 where the stream of bits starts
//	R11                 where literals may end
//	R12                 where a sequence may end in the output, as there are 32 bytes behind
//	R13                 where the frame starts in the output
//	R14, R15, R16       the entries of the tables
//	R17                 the window
//	R19, R20, R21       offset, match length and literal length
//	R22 to R25          at hand
TEXT ·sequencesKernel(SB), NOSPLIT, $0-24
	MOVD r+0(FP), R0
	MOVD $-1, R26

	MOVD (run_bits+bitReader_src)(R0), R10
	MOVD (run_bits+bitReader_pos)(R0), R2
	MOVD (run_bits+bitReader_start)(R0), R19
	ADD  R10, R2
	ADD  R19, R10
	MOVD (run_bits+bitReader_word)(R0), R3
	MOVD (run_bits+bitReader_left)(R0), R4

	MOVD run_literals(R0), R8
	MOVD (run_literals+8)(R0), R11
	SUB  $const_margin, R11
	MOVD run_literalsEnd(R0), R19
	CMP  R11, R19
	CSEL LT, R19, R11, R11
	ADD  R8, R11
	MOVD run_literal(R0), R19
	ADD  R19, R8

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

	MOVD (run_tables+0)(R0), R14
	MOVD (run_tables+8)(R0), R15
	MOVD (run_tables+16)(R0), R16
	ADD  $table_entries, R14
	ADD  $table_entries, R15
	ADD  $table_entries, R16
	MOVD (run_states+0)(R0), R5
	MOVD (run_states+8)(R0), R6
	MOVD (run_states+16)(R0), R7
	ADD  R5<<3, R14, R5
	ADD  R6<<3, R15, R6
	ADD  R7<<3, R16, R7
	MOVWU run_window(R0), R17
	MOVD run_count(R0), R9

sequence:
	CMP   $1, R9
	BLE   decode
	CMP   R10, R2
	BLO   decode
	REFILL
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

states:
	STATE(R5, R14)
	STATE(R7, R16)
	STATE(R6, R15)
	SUB $1, R9

	// R19 is the offset plus 3, or 1 to 3 for a place in the list of the last offsets; without literals it is the place
	// behind. What the offset is cannot be foretold, so there are no branches: R22 is the place, 4 for a new offset.
	CMP   $0, R21
	CINC  EQ, R19, R22
	MOVD  $4, R23
	CMP   R23, R22
	CSEL  HI, R23, R22, R22
	SUB   $1, R22, R23
	ADD   $run_repeats, R0, R24
	MOVWU (R24)(R23<<2), R23
	SUB   $3, R19, R24
	CMP   $3, R19
	CSEL  HI, R24, R23, R19
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

	// All must be sound, with room for more than the bytes that are due. R24 is where the match goes.
	ADD R21, R8, R23
	CMP R11, R23
	BHI execute
	ADD R21, R1, R24
	ADD R20, R24, R23
	CMP R12, R23
	BHI execute
	SUB R13, R24, R23
	CMP R23, R22 // the offset less 1: 0 is wrong, too
	BHS execute
	CMP R17, R19
	BHI execute
	CMP $longMatch, R20
	BHI execute

	FMOVQ (R8), F0
	FMOVQ F0, (R1)
	CMP   $16, R21
	BHI   moreLiterals

match:
	ADD   R21, R8
	ADD   R20, R24, R1
	SUB   R19, R24, R22 // where the match comes from
	CMP   $16, R19
	BLO   near
	FMOVQ (R22), F0
	FMOVQ F0, (R24)
	FMOVQ 16(R22), F1
	FMOVQ F1, 16(R24)
	CMP   $32, R20
	BLS   sequence

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

near:
	// The match repeats its first bytes. Two registers of them are made once, as many as repeat without a rest count,
	// and no store waits for the one before.
	MOVD spans+8(FP), R23
	ADD  R19<<6, R23
	MOVD span_step(R23), R25
	VLD1 (R23), [V1.B16, V2.B16]
	VLD1 (R22), [V0.B16]
	VTBL V1.B16, [V0.B16], V3.B16
	VTBL V2.B16, [V0.B16], V4.B16

again:
	VST1 [V3.B16, V4.B16], (R24)
	ADD  R25, R24
	SUBS R25, R20
	BGT  again
	B    sequence

moreLiterals:
	MOVD R8, R22
	MOVD R21, R23

literals:
	ADD   $16, R22
	ADD   $16, R1
	FMOVQ (R22), F0
	FMOVQ F0, (R1)
	SUB   $16, R23
	CMP   $16, R23
	BHI   literals
	B     match

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

decode:
	MOVD $const_stopDecode, R22
	B    save

execute:
	MOVW R21, run_literalLength(R0)
	MOVW R19, run_offset(R0)
	MOVW R20, run_matchLength(R0)
	MOVD $const_stopExecute, R22

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
	SUB  R14, R5
	SUB  R15, R6
	SUB  R16, R7
	LSR  $3, R5
	LSR  $3, R6
	LSR  $3, R7
	MOVD R5, (run_states+0)(R0)
	MOVD R6, (run_states+8)(R0)
	MOVD R7, (run_states+16)(R0)
	MOVD R9, run_count(R0)
	RET
