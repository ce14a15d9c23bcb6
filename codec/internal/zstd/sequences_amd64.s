//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// NEXT replaces an entry by that of the next state, for which bits has the lowest bits, takes these from bits and
// stores the state. It changes R15 and BP.
#define NEXT(entry, table, state, bits) \
	RORXQ $8, entry, R15       \
	BZHIQ R15, bits, BP        \
	SHRXQ R15, bits, bits      \
	ENTER(entry, table, state)

// ENTER does for a state whose bits are in BP, which it changes.
#define ENTER(entry, table, state) \
	SHRL  $16, entry           \
	ADDQ  BP, entry            \
	MOVQ  table, BP            \
	MOVQ  entry, state         \
	MOVQ  (BP)(entry*8), entry

// orders are how the last three offsets, in lanes 0 to 2, change by a sequence that takes the first, second or third
// of them, or what lane 3 has.
DATA orders<>+0(SB)/8, $0x0706050403020100
DATA orders<>+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA orders<>+16(SB)/8, $0x0302010007060504
DATA orders<>+24(SB)/8, $0x0f0e0d0c0b0a0908
DATA orders<>+32(SB)/8, $0x030201000b0a0908
DATA orders<>+40(SB)/8, $0x0f0e0d0c07060504
DATA orders<>+48(SB)/8, $0x030201000f0e0d0c
DATA orders<>+56(SB)/8, $0x0f0e0d0c07060504
GLOBL orders<>(SB), RODATA|NOPTR, $64

// Local variables.
#define bitsStart   0(SP)  // of the stream of bits
#define literalSafe 8(SP)  // literals may end here
#define outSafe     16(SP) // and a sequence here, as there are 32 bytes behind
#define startOut    24(SP) // of the frame
#define tableL      32(SP) // entries of literal lengths
#define tableO      40(SP) // of offsets
#define tableM      48(SP) // and of match lengths
#define windowMax   56(SP)
#define stateL      64(SP) // of literal lengths
#define stateO      72(SP) // of offsets
#define stateM      80(SP) // and of match lengths

// The greatest match of the kernel. Go's copy is as good for more, or better.
#define longMatch 2048

// func sequencesKernel(r *run, spans *[16]span) (stop int)
//
// What takes the time is a chain from the entries of one sequence to those of the next, so it is kept short: the sum
// of the three entries has in its two lowest bytes how many bits all values and all states take. Shifts of the word by
// what follows from the sum bring the bits of the values and those of the states to its lowest end, and the place of
// the next word follows from the sum as well. Entries are their own counts for the instructions that shift and mask:
// these look at the lowest six and eight bits only.
//
// Registers:
//
//	DI              where the next byte of the output goes
//	SI              the source, less 7
//	R9, R8          the bits of the source up to where the stream is read, and the word there: it has 56 and R9%8 bits
//	                that are not read
//	R10, R11, R12   the entries of literal lengths, offsets and match lengths
//	R13             the next literal
//	R14             the sequences left, less 1
//	X7              the last three offsets
//	DX, R15, CX     literal length, offset and match length
//	AX, BX, BP      at hand
TEXT ·sequencesKernel(SB), NOSPLIT, $88-24
	MOVQ r+0(FP), R14

	MOVQ run_bits+bitReader_src(R14), SI
	SUBQ $7, SI
	MOVQ run_bits+bitReader_pos(R14), R9
	SHLQ $3, R9
	ADDQ run_bits+bitReader_left(R14), R9
	MOVQ run_bits+bitReader_start(R14), AX
	SHLQ $3, AX
	MOVQ AX, bitsStart
	MOVQ R9, AX
	SHRQ $3, AX
	MOVQ (SI)(AX*1), R8

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

	MOVQ run_tables+0(R14), AX
	MOVQ run_tables+8(R14), BX
	MOVQ run_tables+16(R14), CX
	ADDQ $table_entries, AX
	ADDQ $table_entries, BX
	ADDQ $table_entries, CX
	MOVQ AX, tableL
	MOVQ BX, tableO
	MOVQ CX, tableM
	MOVQ run_states+0(R14), R10
	MOVQ run_states+8(R14), R11
	MOVQ run_states+16(R14), R12
	MOVQ R10, stateL
	MOVQ R11, stateO
	MOVQ R12, stateM
	MOVQ (AX)(R10*8), R10
	MOVQ (BX)(R11*8), R11
	MOVQ (CX)(R12*8), R12

	MOVL run_window(R14), AX
	MOVQ AX, windowMax
	VMOVDQU run_repeats(R14), X7
	MOVQ run_count(R14), R14
	DECQ R14

sequence:
	DECQ R14
	JLT  decode
	LEAQ (R10)(R11*1), AX
	ADDQ R12, AX
	MOVBLZX AX, BX // bits of the values
	CMPL BX, $(56-26) // with at most 26 bits for the states
	JHI  decode
	MOVQ R9, CX
	ORQ  $-8, CX    // 56 and R9%8, as shifts go by 64
	SUBQ AX, CX
	SHRQ $8, AX
	MOVBLZX AX, DX // bits of the states
	SUBQ BX, R9
	SUBQ DX, R9
	CMPQ R9, bitsStart
	JLT  short
	SHRXQ CX, R8, BX
	RORXQ $8, R10, R15
	MOVQ  CX, BP
	SUBQ  R15, BP
	SHRXQ BP, R8, BP
	BZHIQ R15, BP, BP
	SUBQ  AX, CX
	SHRXQ CX, R8, AX
	MOVQ  R9, CX
	SHRQ  $3, CX
	MOVQ  (SI)(CX*1), R8

	BZHIQ R10, BX, DX
	SHRXQ R10, BX, BX
	BZHIQ R12, BX, CX
	SHRXQ R12, BX, BX
	BZHIQ R11, BX, BX
	RORXQ $32, R10, R15
	ADDL  R15, DX
	RORXQ $32, R12, R15
	ADDL  R15, CX
	RORXQ $32, R11, R15
	ADDL  R15, BX

	ENTER(R10, tableL, stateL)
	NEXT(R11, tableO, stateO, AX)
	NEXT(R12, tableM, stateM, AX)

	// BX is the offset plus 3, or 1 to 3 for a place in the list of the last offsets; without literals it is the place
	// behind. What the offset is cannot be foretold, so there are no branches: AX is the place, 4 for a new offset.
	LEAQ -3(BX), BP
	CMPQ BX, $3
	JEQ  third

offset:
	MOVL    $4, R15
	MOVQ    BX, AX
	CMPQ    DX, $1
	ADCQ    $0, AX
	CMPQ    AX, R15
	CMOVQCC R15, AX
	LEAQ    -2(AX)(AX*1), AX
	VPINSRD $3, BP, X7, X7
	LEAQ    orders<>(SB), BP
	VPSHUFB (BP)(AX*8), X7, X7
	VMOVD   X7, R15
	LEAQ    -1(R15), BX

	// All must be sound, with room for more than the bytes that are due.
	LEAQ (R13)(DX*1), BP
	CMPQ BP, literalSafe
	JHI  execute
	LEAQ (DI)(DX*1), AX
	LEAQ (AX)(CX*1), BP
	CMPQ BP, outSafe
	JHI  execute
	MOVQ AX, BP
	SUBQ startOut, BP
	CMPQ BX, BP // the offset less 1: 0 is wrong, too
	JCC  execute
	CMPQ R15, windowMax
	JHI  execute
	CMPQ CX, $longMatch
	JHI  execute

	VMOVDQU (R13), X0
	VMOVDQU X0, (DI)
	CMPQ  DX, $16
	JHI   moreLiterals

match:
	// AX is where the match goes, BX where it comes from. No more is loaded than is due: bytes that were stored just now
	// would have to be waited for.
	ADDQ  DX, R13
	LEAQ  (AX)(CX*1), DI
	MOVQ  AX, BX
	SUBQ  R15, BX
	CMPQ  R15, $16
	JB    near
	VMOVDQU (BX), X0
	VMOVDQU X0, (AX)
	CMPQ  CX, $16
	JBE   sequence
	VMOVDQU 16(BX), X1
	VMOVDQU X1, 16(AX)
	CMPQ  CX, $32
	JBE   sequence

far:
	ADDQ  $32, BX
	ADDQ  $32, AX
	VMOVDQU (BX), X0
	VMOVDQU X0, (AX)
	VMOVDQU 16(BX), X1
	VMOVDQU X1, 16(AX)
	SUBQ  $32, CX
	CMPQ  CX, $32
	JHI   far
	JMP   sequence

near:
	CMPQ  CX, $4
	JBE   bytes

	// The match repeats its first bytes. A register of them is made once, as many as repeat without a rest count, and
	// no store waits for the one before.
	SHLQ    $6, R15
	MOVQ    spans+8(FP), DX
	ADDQ    R15, DX
	VBROADCASTI128 (BX), Y0
	VPSHUFB (DX), Y0, Y0
	VMOVDQU Y0, (AX)
	MOVQ    span_step(DX), BX
	SUBQ    BX, CX
	JLE     sequence

again:
	ADDQ    BX, AX
	VMOVDQU Y0, (AX)
	SUBQ    BX, CX
	JGT     again
	JMP     sequence

bytes:
	MOVBLZX (BX), CX
	MOVB    CX, (AX)
	MOVBLZX 1(BX), CX
	MOVB    CX, 1(AX)
	MOVBLZX 2(BX), CX
	MOVB    CX, 2(AX)
	MOVBLZX 3(BX), CX
	MOVB    CX, 3(AX)
	JMP     sequence

moreLiterals:
	MOVQ DX, BX
	MOVQ R13, BP
	SUBQ DI, BP // from the output to the literals

literals:
	ADDQ    $16, DI
	VMOVDQU (DI)(BP*1), Y0
	VMOVDQU Y0, (DI)
	ADDQ    $16, DI
	SUBQ    $32, BX
	CMPQ    BX, $16
	JGT     literals
	JMP     match

third:
	// Without literals it is the first of the last offsets, less 1.
	TESTQ DX, DX
	JNE   offset
	VMOVD X7, BP
	DECL  BP
	JMP   offset

short:
	ADDQ BX, R9
	ADDQ DX, R9

decode:
	INCQ R14
	MOVQ $const_stopDecode, stop+16(FP)
	JMP  save

execute:
	MOVQ r+0(FP), AX
	MOVL DX, run_literalLength(AX)
	MOVL R15, run_offset(AX)
	MOVL CX, run_matchLength(AX)
	MOVQ $const_stopExecute, stop+16(FP)

save:
	MOVQ    r+0(FP), AX
	VMOVDQU X7, run_repeats(AX)
	VZEROUPPER
	MOVL run_repeats(AX), BX
	DECL BX
	MOVL BX, run_repeats+12(AX)
	MOVQ R8, run_bits+bitReader_word(AX)
	MOVQ R9, BX
	SHRQ $3, BX
	SUBQ $7, BX
	MOVQ BX, run_bits+bitReader_pos(AX)
	ANDQ $7, R9
	ADDQ $56, R9
	MOVQ R9, run_bits+bitReader_left(AX)
	SUBQ run_literals(AX), R13
	MOVQ R13, run_literal(AX)
	SUBQ run_dst(AX), DI
	MOVQ DI, run_out(AX)
	INCQ R14
	MOVQ R14, run_count(AX)
	MOVQ stateL, BX
	MOVQ BX, run_states+0(AX)
	MOVQ stateO, BX
	MOVQ BX, run_states+8(AX)
	MOVQ stateM, BX
	MOVQ BX, run_states+16(AX)
	RET
