//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// REFILL brings the bits left in the word, R9, to 57 or more. It changes R15.
#define REFILL \
	MOVL $64, R15         \
	SUBQ R9, R15          \
	SHRQ $3, R15          \
	SUBQ R15, SI          \
	LEAQ (R9)(R15*8), R9  \
	MOVQ (SI), R8

// BITS takes the next n bits of the word to dst; n and dst are different registers.
#define BITS(n, dst) \
	SUBQ  n, R9         \
	SHRXQ R9, R8, dst   \
	BZHIQ n, dst, dst

// VALUE takes the value of a code to dst: its base, and n bits. It changes R15.
#define VALUE(entry, n, dst) \
	BITS(n, R15)           \
	MOVL 4(entry), dst     \
	ADDQ R15, dst

// STATE replaces the address of an entry by that of the entry of the next state. It changes BX and R15.
#define STATE(entry, table) \
	MOVBLZX 1(entry), BX     \
	BITS(BX, R15)            \
	MOVWLZX 2(entry), BX     \
	ADDQ    BX, R15          \
	MOVQ    table, entry     \
	LEAQ    (entry)(R15*8), entry

// Local variables.
#define bitsStart   0(SP)  // of the stream of bits
#define literalSafe 8(SP)  // literals may end here
#define outSafe     16(SP) // and a sequence here, as there are 32 bytes behind
#define startOut    24(SP) // of the frame
#define tableL      32(SP) // entries of literal lengths
#define tableO      40(SP) // of offsets
#define tableM      48(SP) // and of match lengths
#define windowMax   56(SP)
#define countLeft   64(SP)

// The greatest match of the kernel. Go's copy is as good for more, or better.
#define longMatch 2048

// func sequencesKernel(r *run, spans *[16]span) (stop int)
//
// Registers:
//
//	DI              where the next byte of the output goes
//	SI, R8, R9      the place of the word in the stream of bits, the word, and the bits left in it
//	R10, R11, R12   the entries of the states of literal lengths, offsets and match lengths
//	R13             the next literal
//	R14             r
//	DX, AX, CX      literal length, offset and match length
//	BX, R15         at hand
TEXT ·sequencesKernel(SB), NOSPLIT, $72-24
	MOVQ r+0(FP), R14

	MOVQ run_bits+bitReader_src(R14), AX
	MOVQ run_bits+bitReader_pos(R14), SI
	ADDQ AX, SI
	ADDQ run_bits+bitReader_start(R14), AX
	MOVQ AX, bitsStart
	MOVQ run_bits+bitReader_word(R14), R8
	MOVQ run_bits+bitReader_left(R14), R9

	MOVQ    run_literals(R14), R13
	MOVQ    run_literals+8(R14), AX
	SUBQ    $const_margin, AX
	MOVQ    run_literalsEnd(R14), CX
	CMPQ    CX, AX
	CMOVQLT CX, AX
	ADDQ    R13, AX
	MOVQ    AX, literalSafe
	ADDQ    run_literal(R14), R13

	MOVQ    run_dst(R14), DI
	MOVQ    run_dst+8(R14), AX
	SUBQ    $const_margin, AX
	MOVQ    run_end(R14), CX
	CMPQ    CX, AX
	CMOVQLT CX, AX
	ADDQ    DI, AX
	MOVQ    AX, outSafe
	MOVQ    run_start(R14), AX
	ADDQ    DI, AX
	MOVQ    AX, startOut
	ADDQ    run_out(R14), DI

	MOVQ run_tables+0(R14), R10
	MOVQ run_tables+8(R14), R11
	MOVQ run_tables+16(R14), R12
	ADDQ $table_entries, R10
	ADDQ $table_entries, R11
	ADDQ $table_entries, R12
	MOVQ R10, tableL
	MOVQ R11, tableO
	MOVQ R12, tableM
	MOVQ run_states+0(R14), AX
	MOVQ run_states+8(R14), BX
	MOVQ run_states+16(R14), CX
	LEAQ (R10)(AX*8), R10
	LEAQ (R11)(BX*8), R11
	LEAQ (R12)(CX*8), R12

	MOVL run_window(R14), AX
	MOVQ AX, windowMax
	MOVQ run_count(R14), AX
	MOVQ AX, countLeft

sequence:
	CMPQ countLeft, $1
	JLE  decode
	CMPQ SI, bitsStart
	JB   decode
	REFILL
	MOVBLZX (R11), BX
	MOVBLZX (R12), CX
	MOVBLZX (R10), DX
	LEAQ    (BX)(CX*1), AX
	ADDQ    DX, AX
	CMPQ    AX, $(57-26) // with at most 26 bits for the states
	JHI     large
	VALUE(R11, BX, AX)
	BITS(CX, R15)
	MOVL    4(R12), CX
	ADDQ    R15, CX
	BITS(DX, R15)
	MOVL    4(R10), DX
	ADDQ    R15, DX

states:
	STATE(R10, tableL)
	STATE(R12, tableM)
	STATE(R11, tableO)
	DECQ countLeft

	// AX is the offset plus 3, or 1 to 3 for a place in the list of the last offsets; without literals it is the place
	// behind. What the offset is cannot be foretold, so there are no branches: BX is the place, 4 for a new offset.
	LEAQ    -3(AX), R8
	MOVQ    AX, BX
	CMPQ    DX, $1
	ADCQ    $0, BX
	MOVL    $4, R15
	CMPQ    BX, $4
	CMOVQHI R15, BX
	MOVL    (run_repeats-4)(R14)(BX*4), R15
	CMPQ    AX, $3
	CMOVQHI R8, R15
	MOVL    run_repeats+4(R14), R8
	MOVL    run_repeats+8(R14), AX
	CMPQ    BX, $3
	CMOVLCC R8, AX
	MOVL    AX, run_repeats+8(R14)
	CMPQ    BX, $1
	CMOVLNE run_repeats+0(R14), R8
	MOVL    R8, run_repeats+4(R14)
	MOVL    R15, run_repeats+0(R14)
	LEAQ    -1(R15), R8
	MOVL    R8, run_repeats+12(R14)
	MOVQ    R15, AX

	// All must be sound, with room for more than the bytes that are due.
	LEAQ (R13)(DX*1), BX
	CMPQ BX, literalSafe
	JHI  execute
	LEAQ (DI)(DX*1), R15
	LEAQ (R15)(CX*1), BX
	CMPQ BX, outSafe
	JHI  execute
	MOVQ R15, BX
	SUBQ startOut, BX
	CMPQ R8, BX // the offset less 1: 0 is wrong, too
	JCC  execute
	CMPQ AX, windowMax
	JHI  execute
	CMPQ CX, $longMatch
	JHI  execute

	VMOVDQU (R13), X0
	VMOVDQU X0, (DI)
	CMPQ  DX, $16
	JHI   moreLiterals

match:
	// R15 is where the match goes, BX where it comes from.
	ADDQ  DX, R13
	LEAQ  (R15)(CX*1), DI
	MOVQ  R15, BX
	SUBQ  AX, BX
	CMPQ  AX, $16
	JB    near
	VMOVDQU (BX), X0
	VMOVDQU X0, (R15)
	VMOVDQU 16(BX), X1
	VMOVDQU X1, 16(R15)
	CMPQ  CX, $32
	JBE   sequence

far:
	ADDQ  $32, BX
	ADDQ  $32, R15
	VMOVDQU (BX), X0
	VMOVDQU X0, (R15)
	VMOVDQU 16(BX), X1
	VMOVDQU X1, 16(R15)
	SUBQ  $32, CX
	CMPQ  CX, $32
	JHI   far
	JMP   sequence

near:
	// The match repeats its first bytes. A register of them is made once, as many as repeat without a rest count, and
	// no store waits for the one before.
	SHLQ    $6, AX
	MOVQ    spans+8(FP), DX
	ADDQ    AX, DX
	VBROADCASTI128 (BX), Y0
	VPSHUFB (DX), Y0, Y0
	VMOVDQU Y0, (R15)
	MOVQ    span_step(DX), AX
	SUBQ    AX, CX
	JLE     sequence

again:
	ADDQ    AX, R15
	VMOVDQU Y0, (R15)
	SUBQ    AX, CX
	JGT     again
	JMP     sequence

moreLiterals:
	MOVQ DX, BX
	MOVQ R13, R8
	SUBQ DI, R8 // from the output to the literals

literals:
	ADDQ    $16, DI
	VMOVDQU (DI)(R8*1), Y0
	VMOVDQU Y0, (DI)
	ADDQ    $16, DI
	SUBQ    $32, BX
	CMPQ    BX, $16
	JGT     literals
	JMP     match

large:
	MOVQ bitsStart, R15
	ADDQ $8, R15
	CMPQ SI, R15
	JB   decode
	VALUE(R11, BX, AX)
	REFILL
	BITS(CX, R15)
	MOVL 4(R12), CX
	ADDQ R15, CX
	BITS(DX, R15)
	MOVL 4(R10), DX
	ADDQ R15, DX
	REFILL
	JMP  states

decode:
	MOVQ $const_stopDecode, stop+16(FP)
	JMP  save

execute:
	MOVL DX, run_literalLength(R14)
	MOVL AX, run_offset(R14)
	MOVL CX, run_matchLength(R14)
	MOVQ $const_stopExecute, stop+16(FP)

save:
	VZEROUPPER
	MOVQ (SI), R8
	MOVQ R8, run_bits+bitReader_word(R14)
	SUBQ run_bits+bitReader_src(R14), SI
	MOVQ SI, run_bits+bitReader_pos(R14)
	MOVQ R9, run_bits+bitReader_left(R14)
	SUBQ run_literals(R14), R13
	MOVQ R13, run_literal(R14)
	SUBQ run_dst(R14), DI
	MOVQ DI, run_out(R14)
	SUBQ tableL, R10
	SUBQ tableO, R11
	SUBQ tableM, R12
	SHRQ $3, R10
	SHRQ $3, R11
	SHRQ $3, R12
	MOVQ R10, run_states+0(R14)
	MOVQ R11, run_states+8(R14)
	MOVQ R12, run_states+16(R14)
	MOVQ countLeft, AX
	MOVQ AX, run_count(R14)
	RET
