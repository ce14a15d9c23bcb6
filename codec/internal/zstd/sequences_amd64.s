//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// NEXT moves a machine to its next state: it takes the lowest bits of bits, as many as byte 1 of the entry says, and
// goes on as ENTER does. It changes R15 and BP. Byte 1 of the entry comes to the low end of R15: the bits above it do
// no harm, as BZHIQ looks at the low 8 bits of a count only, and SHRXQ at the low 6.
#define NEXT(entry, table, bits) \
	RORXQ $8, entry, R15       \
	BZHIQ R15, bits, BP        \
	SHRXQ R15, bits, bits      \
	ENTER(entry, table)

// ENTER moves a machine to its next state, which is the base in bytes 2 and 3 of the entry plus the bits in BP: it
// loads the entry of that state. The shift leaves eight times the base, as the upper three bits of byte 1 are 0. The
// load stays inside the table: table.build makes bases whose sum with any such bits is less than the number of states,
// and table.buildSame makes a machine that stays at state 0.
#define ENTER(entry, table) \
	SHRL  $13, entry           \
	ADDQ  table, entry         \
	MOVQ  (entry)(BP*8), entry

// orders are shuffles of the last three offsets, in lanes 0 to 2, one for each place that a sequence takes its offset
// from: the first, second or third of them, or lane 3. That lane comes to the front, and those before it move back.
// Lane 3 keeps its place.
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
#define literalSafe 0(SP)   // the literals of a sequence must end here at the latest: 64 bytes after it can be read
#define outSafe     8(SP)   // a sequence must end here at the latest: 64 bytes after it can be written
#define lowest      16(SP)  // a match from here on is within the frame and the window, wherever it goes
#define startOut    24(SP)  // the start of the frame in the output
#define tableL      32(SP)  // the entries for literal lengths
#define tableO      40(SP)  // the entries for offsets
#define tableM      48(SP)  // the entries for match lengths
#define windowMax   56(SP)  // the largest offset
#define fewLiterals 64(SP)  // with more literals, more than 16 are copied: 16, or -1 if run.longRuns is set
#define order       72(SP)  // a copy of orders

// The longest match that the kernel copies. Go's copy is as fast for longer ones, or faster.
#define longMatch 2048

// func sequencesKernel(r *run, spans *[16]span) (stop int)
//
// sequencesKernel decodes and executes sequences until one needs care. Its Go version is run.fastGeneric; type entry
// describes the entries of the tables. The kernel also stops before a sequence whose values take more than 30 bits or
// for which the stream has too few bits, and after decoding a match longer than longMatch. run.decode and run.execute
// then do the sequence, or find what is wrong with it.
//
// The critical path goes from the entries of one sequence to the entries of the next, so it is kept short: the sum
// of the three entries has in its two lowest bytes how many bits all values and all states take. Shifts of the word by
// amounts that follow from the sum bring the bits of the values and the bits of the states to its low end. The position
// of the next word follows from the sum as well. Entries are their own counts for the instructions that shift and mask:
// these look at the low six and eight bits only.
//
// Registers:
//
//	DI              where the next byte of the output goes
//	SI              the start of the stream, less 7
//	R9              the number of bits of the stream that are not read yet: it is read from its end to its start, so
//	                that bit R9-1 is next
//	R8              the 8 bytes of the source that end with the byte of bit R9: 56 + R9%8 bits of them are unread
//	R10, R11, R12   the entries of literal lengths, offsets and match lengths
//	R13             the next literal
//	R14             the sequences left, less 1
//	X7              the last three offsets, in lanes 0 to 2
//	DX, R15, CX     literal length, offset and match length, once they are known
//	AX, BX, BP      scratch
//
// run.fast has checked that literals and dst have at least margin (64) bytes each, and count is at least 2.
TEXT ·sequencesKernel(SB), NOSPLIT, $136-24
	MOVQ r+0(FP), R14

	// The stream of bits. R9 is not negative, as bitReader.read takes no more bits than the stream has, and the stream
	// starts at least ahead (8) bytes after the start of the source. So the word, which begins 7 bytes before the byte
	// of bit R9, lies inside the source.
	MOVQ run_bits+bitReader_start(R14), AX
	MOVQ run_bits+bitReader_pos(R14), R9
	SUBQ AX, R9
	SHLQ $3, R9
	ADDQ run_bits+bitReader_left(R14), R9
	MOVQ run_bits+bitReader_src(R14), SI
	LEAQ -7(SI)(AX*1), SI
	MOVQ R9, AX
	SHRQ $3, AX
	MOVQ (SI)(AX*1), R8

	// literalSafe: the end of the literals, or margin bytes before the end of their buffer if that is earlier.
	MOVQ    run_literals(R14), R13
	MOVQ    run_literals+8(R14), AX
	SUBQ    $const_margin, AX
	MOVQ    run_literalsEnd(R14), CX
	CMPQ    CX, AX
	CMOVQLT CX, AX
	ADDQ    R13, AX
	MOVQ    AX, literalSafe
	ADDQ    run_literal(R14), R13

	// outSafe: run.end, or margin bytes before the end of dst if that is earlier.
	MOVQ    run_dst(R14), DI
	MOVQ    run_dst+8(R14), AX
	SUBQ    $const_margin, AX
	MOVQ    run_end(R14), CX
	CMPQ    CX, AX
	CMOVQLT CX, AX
	ADDQ    DI, AX
	MOVQ    AX, outSafe

	// lowest: the start of the frame, or the start of the window at outSafe if that is later. Addresses are positive.
	MOVL    run_window(R14), BX
	MOVQ    BX, windowMax
	SUBQ    BX, AX
	MOVQ    run_start(R14), CX
	ADDQ    DI, CX
	MOVQ    CX, startOut
	CMPQ    CX, AX
	CMOVQGT CX, AX
	MOVQ    AX, lowest
	ADDQ    run_out(R14), DI

	// The three machines: their entries, and those of the current states.
	MOVQ run_tables+0(R14), AX
	MOVQ run_tables+8(R14), BX
	MOVQ run_tables+16(R14), CX
	ADDQ $table_entries, AX
	ADDQ $table_entries, BX
	ADDQ $table_entries, CX
	MOVQ AX, tableL
	MOVQ BX, tableO
	MOVQ CX, tableM
	MOVQ run_entries+0(R14), R10
	MOVQ run_entries+8(R14), R11
	MOVQ run_entries+16(R14), R12

	// The literals, the shuffles, the last offsets and the number of sequences.
	MOVL    $16, AX
	MOVQ    $-1, BX
	CMPB    run_longRuns(R14), $0
	CMOVQNE BX, AX
	MOVQ    AX, fewLiterals
	VMOVDQU orders<>+0(SB), Y0
	VMOVDQU orders<>+32(SB), Y1
	VMOVDQU Y0, order
	VMOVDQU Y1, 32+order
	VMOVDQU run_repeats(R14), X7
	MOVQ    run_count(R14), R14

	// Each sequence begins where 64 bytes of literals can be read and 64 bytes of output can be written.
	CMPQ R13, literalSafe
	JHI  stop
	CMPQ DI, outSafe
	JHI  stop
	DECQ R14

	// The last sequence is left to run.decode, as no states follow it. So are values that do not fit into a word with
	// the bits of the states.
sequence:
	DECQ R14
	JLT  decode
	LEAQ (R10)(R11*1), AX
	ADDQ R12, AX
	MOVBLZX AX, BX // bits of the values
	CMPL BX, $(56-26) // with at most 26 bits for the states
	JHI  decode

	// CX becomes the shift that brings the bits of the values to the low end: the unread bits, less those of the
	// values. Only its low six bits count.
	MOVQ R9, CX
	ORQ  $-8, CX    // 56 + R9%8, modulo 64
	SUBQ AX, CX
	SHRQ $8, AX
	MOVBLZX AX, DX // bits of the states

	// Take all bits of the sequence at once. That there are as many keeps the load of the next word inside the source.
	SUBQ BX, R9
	SUBQ DX, R9
	JLT  short

	// The bits of the values go to BX, from its low end: literal length, match length, offset.
	SHRXQ CX, R8, BX

	// The bits of all states go to AX, from its low end: offset, match length, literal length.
	SUBQ  AX, CX
	SHRXQ CX, R8, AX

	// The next word.
	MOVQ  R9, CX
	SHRQ  $3, CX
	MOVQ  (SI)(CX*1), R8

	// The values: the low bits of BX, in turn, and the bases in the high halves of the entries.
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

	// The next states and their entries.
	NEXT(R11, tableO, AX)
	NEXT(R12, tableM, AX)
	RORXQ $8, R10, R15
	BZHIQ R15, AX, BP
	ENTER(R10, tableL)

	// BX is the offset plus 3, or 1 to 3 for a place in the list of the last offsets. Without literals it is the next
	// place. This is run.setOffset, but without branches, as the kind of an offset cannot be predicted. Only 3
	// may need another value for lane 3.
	LEAQ -3(BX), BP
	CMPQ BX, $3
	JEQ  third

	// BX becomes the place: 1 more if there are no literals, but at most 4, which is a new offset in lane 3.
offset:
	MOVL    $4, R15
	CMPQ    DX, $1 // carry if DX is 0
	ADCQ    $0, BX
	CMPQ    BX, R15
	CMOVQCC R15, BX

	// Shuffle the list with entry BX-1 of orders, which has 16 bytes: the offset comes to lane 0.
	ADDQ    BX, BX
	VPINSRD $3, BP, X7, X7
	VPSHUFB -16+order(BX*8), X7, X7
	VMOVD   X7, R15

	// Copy 16 literals, which are often all of them. All copies read or write at most 64 bytes after the end of what
	// they copy.
	VMOVDQU (R13), X0
	VMOVDQU X0, (DI)

	// AX becomes the start of the match, DI the end of the sequence, and BX where the match comes from. If a check
	// fails, run.execute does the sequence, or finds what is wrong with it.
	ADDQ DX, R13
	LEAQ (DI)(DX*1), AX
	CMPQ R13, literalSafe
	JHI  execute
	LEAQ (AX)(CX*1), DI
	CMPQ DI, outSafe
	JHI  execute
	MOVQ AX, BX
	SUBQ R15, BX
	CMPQ BX, lowest
	JLT  low

literals:
	CMPQ DX, fewLiterals
	JGT  moreLiterals

	// A match of at most 16 bytes loads no second vector: that would have to wait if its bytes were just stored.
match:
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
	CMPQ  CX, $longMatch
	JHI   execute

	// The offset is at least 16, so each load of 16 bytes finds bytes that are already there. 32 bytes per iteration:
	// the last turn begins before the end of the match and writes at most 31 bytes after it.
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

	// The offset is less than 16. Short matches go byte by byte.
near:
	CMPQ  CX, $4
	JBE   bytes
	CMPQ  CX, $longMatch
	JHI   execute

	// The match repeats its first bytes. Fill a register with them once, by the entry of spans for the offset, which is
	// not 0. The 16 bytes loaded may end up to 15 bytes after the start of the match, but the shuffle takes only
	// those before it. BX is the number of bytes in whole repetitions, so that no store depends on the one before.
	SHLQ    $6, R15 // an entry has 64 bytes
	MOVQ    spans+8(FP), DX
	ADDQ    R15, DX
	VBROADCASTI128 (BX), Y0
	VPSHUFB (DX), Y0, Y0
	VMOVDQU Y0, (AX)
	MOVQ    span_step(DX), BX
	SUBQ    BX, CX
	JLE     sequence

	// Each store begins before the end of the match and writes at most 31 bytes after it.
again:
	ADDQ    BX, AX
	VMOVDQU Y0, (AX)
	SUBQ    BX, CX
	JGT     again
	JMP     sequence

	// Four bytes, in order, as each may be the source of a later one. A match has at least 3 bytes.
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

	// More than 16 literals, the first 16 of which are copied, or sequences that have many. BP counts up to 0 at the
	// end of the literals.
moreLiterals:
	MOVQ DX, BP
	NEGQ BP
	CMPQ fewLiterals, $0
	JLT  manyLiterals
	ADDQ $16, BP

	// 32 per iteration: the last turn begins before the end of the literals, and reads and writes at most 31 bytes
	// after it.
vector:
	VMOVDQU (R13)(BP*1), Y0
	VMOVDQU Y0, (AX)(BP*1)
	ADDQ    $32, BP
	JLT     vector
	JMP     match

	// Copy 64 literals: if sequences have many, the CPU cannot predict which of them have more than 16.
manyLiterals:
	VMOVDQU (R13)(BP*1), Y0
	VMOVDQU Y0, (AX)(BP*1)
	VMOVDQU 32(R13)(BP*1), Y0
	VMOVDQU Y0, 32(AX)(BP*1)
	ADDQ    $64, BP
	JLT     vector
	JMP     match

	// Without literals, 3 is the first of the last offsets, less 1: it goes to lane 3. It must not be 0.
third:
	TESTQ DX, DX
	JNE   offset
	VMOVD X7, BP
	DECL  BP
	JNE   offset
	XORL  R15, R15
	JMP   handOver

	// A match from before lowest: from before the frame, or from a place that may be outside the window.
low:
	CMPQ BX, startOut
	JLT  execute
	CMPQ R15, windowMax
	JLS  literals
	JMP  execute

	// The stream has not enough bits: return those taken. The word has not been replaced yet.
short:
	ADDQ BX, R9
	ADDQ DX, R9

	// Stop before a sequence: it counts as left.
decode:
	INCQ R14
	INCQ R14
stop:
	MOVQ $const_stopDecode, stop+16(FP)
	JMP  save

	// Stop after decoding a sequence: go back to where it begins, and hand it over to run.execute.
execute:
	SUBQ DX, R13
	MOVQ AX, DI
	SUBQ DX, DI
handOver:
	INCQ R14
	MOVQ r+0(FP), AX
	MOVL DX, run_literalLength(AX)
	MOVL R15, run_offset(AX)
	MOVL CX, run_matchLength(AX)
	MOVQ $const_stopExecute, stop+16(FP)

	// Store the state: first the last offsets, of which the fourth is the first less 1.
save:
	MOVQ    r+0(FP), AX
	VMOVDQU X7, run_repeats(AX)
	VZEROUPPER
	MOVL run_repeats(AX), BX
	DECL BX
	MOVL BX, run_repeats+12(AX)

	// The bit reader: the position of the word and how many of its bits are not read.
	MOVQ R8, run_bits+bitReader_word(AX)
	MOVQ R9, BX
	SHRQ $3, BX
	ADDQ run_bits+bitReader_start(AX), BX
	SUBQ $7, BX
	MOVQ BX, run_bits+bitReader_pos(AX)
	ANDQ $7, R9
	ADDQ $56, R9
	MOVQ R9, run_bits+bitReader_left(AX)

	// The positions, as offsets, the sequences left and the entries.
	SUBQ run_literals(AX), R13
	MOVQ R13, run_literal(AX)
	SUBQ run_dst(AX), DI
	MOVQ DI, run_out(AX)
	MOVQ R14, run_count(AX)
	MOVQ R10, run_entries+0(AX)
	MOVQ R11, run_entries+8(AX)
	MOVQ R12, run_entries+16(AX)
	RET
