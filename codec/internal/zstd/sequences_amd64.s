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

// ENTER moves a machine to its next state, whose bits are in BP: it adds them to the base in bytes 2 and 3 of the
// entry, and loads the entry of that state. It changes BP. The load stays inside the table: table.build makes bases
// whose sum with any such bits is less than the number of states, and table.buildSame makes a machine that stays at
// state 0.
#define ENTER(entry, table) \
	SHRL  $16, entry           \
	ADDQ  BP, entry            \
	MOVQ  table, BP            \
	MOVQ  (BP)(entry*8), entry

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
#define bitsStart   0(SP)  // where the stream of bits starts, in bits from the start of the source
#define literalSafe 8(SP)  // the literals of a sequence must end here at the latest: 64 bytes after it can be read
#define outSafe     16(SP) // a sequence must end here at the latest: 64 bytes after it can be written
#define startOut    24(SP) // the start of the frame in the output
#define tableL      32(SP) // the entries for literal lengths
#define tableO      40(SP) // the entries for offsets
#define tableM      48(SP) // the entries for match lengths
#define windowMax   56(SP) // the largest offset
#define longRuns    64(SP) // whether run.longRuns is set

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
//	SI              the source, less 7
//	R9              the number of bits from the start of the source that are not read yet: the stream is read from
//	                its end to its start, so that bit R9-1 is next
//	R8              the 8 bytes of the source that end with the byte of bit R9: 56 + R9%8 bits of them are unread
//	R10, R11, R12   the entries of literal lengths, offsets and match lengths
//	R13             the next literal
//	R14             the sequences left, less 1
//	X7              the last three offsets, in lanes 0 to 2
//	DX, R15, CX     literal length, offset and match length, once they are known
//	AX, BX, BP      scratch
//
// run.fast has checked that literals and dst have at least margin (64) bytes each, and count is at least 2.
TEXT ·sequencesKernel(SB), NOSPLIT, $72-24
	MOVQ r+0(FP), R14

	// The stream of bits. R9 is not less than bitsStart, as bitReader.read takes no more bits than the stream has, and
	// the stream starts at least ahead (8) bytes after the start of the source. So the word, which begins 7 bytes
	// before the byte of bit R9, lies inside the source.
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
	MOVQ    run_start(R14), AX
	ADDQ    DI, AX
	MOVQ    AX, startOut
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

	// The window, the last offsets and the number of sequences.
	MOVBLZX run_longRuns(R14), AX
	MOVQ AX, longRuns
	MOVL run_window(R14), AX
	MOVQ AX, windowMax
	VMOVDQU run_repeats(R14), X7
	MOVQ run_count(R14), R14
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

	// Take all bits of the sequence at once. This check keeps the load of the next word inside the source.
	SUBQ BX, R9
	SUBQ DX, R9
	CMPQ R9, bitsStart
	JLT  short

	// The bits of the values go to BX, from its low end: literal length, match length, offset.
	SHRXQ CX, R8, BX

	// The bits of the next state of literal lengths, which follow the values, go to BP.
	RORXQ $8, R10, R15
	MOVQ  CX, BP
	SUBQ  R15, BP
	SHRXQ BP, R8, BP
	BZHIQ R15, BP, BP

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
	ENTER(R10, tableL)
	NEXT(R11, tableO, AX)
	NEXT(R12, tableM, AX)

	// BX is the offset plus 3, or 1 to 3 for a place in the list of the last offsets. Without literals it is the next
	// place. This is run.setOffset, but without branches, as the kind of an offset cannot be predicted. Only 3
	// may need another value for lane 3.
	LEAQ -3(BX), BP
	CMPQ BX, $3
	JEQ  third

	// AX is the place: BX, and 1 more if there are no literals, but at most 4, which is a new offset in lane 3.
offset:
	MOVL    $4, R15
	MOVQ    BX, AX
	CMPQ    DX, $1 // carry if DX is 0
	ADCQ    $0, AX
	CMPQ    AX, R15
	CMOVQCC R15, AX

	// Shuffle the list with entry AX-1 of orders, which has 16 bytes: the offset comes to lane 0.
	LEAQ    -2(AX)(AX*1), AX
	VPINSRD $3, BP, X7, X7
	LEAQ    orders<>(SB), BP
	VPSHUFB (BP)(AX*8), X7, X7
	VMOVD   X7, R15
	LEAQ    -1(R15), BX

	// All copies below rely on these checks, and read or write at most 64 bytes after the end of what they copy.
	// Otherwise run.execute does the sequence, or finds what is wrong with it.
	LEAQ (R13)(DX*1), BP // the end of the literals
	CMPQ BP, literalSafe
	JHI  execute
	LEAQ (DI)(DX*1), AX  // the start of the match
	LEAQ (AX)(CX*1), BP  // the end of the sequence
	CMPQ BP, outSafe
	JHI  execute
	MOVQ AX, BP
	SUBQ startOut, BP    // the match must not come from before the frame
	CMPQ BX, BP          // BX is the offset less 1, so that an offset of 0 fails, too
	JCC  execute
	CMPQ R15, windowMax
	JHI  execute
	CMPQ CX, $longMatch
	JHI  execute

	// Copy 16 literals, which are often all of them, or 64 where sequences have many.
	CMPQ  longRuns, $0
	JNE   manyLiterals
	VMOVDQU (R13), X0
	VMOVDQU X0, (DI)
	CMPQ  DX, $16
	JHI   moreLiterals

	// AX is where the match goes, BX where it comes from. A match of at most 16 bytes loads no second vector: that
	// would have to wait if its bytes were just stored.
match:
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

	// Copy 64 literals: if sequences have many, the CPU cannot predict which of them have more than 16.
manyLiterals:
	VMOVDQU (R13), Y0
	VMOVDQU Y0, (DI)
	VMOVDQU 32(R13), Y0
	VMOVDQU Y0, 32(DI)
	CMPQ DX, $64
	JBE  match

	// More than 16 literals, the first 16 of which are copied.
moreLiterals:
	MOVQ DX, BX
	MOVQ R13, BP
	SUBQ DI, BP // from the output to the literals

	// 32 per iteration: the last turn begins before the end of the literals, and reads and writes at most 31 bytes
	// after it. DI is set again at match.
literals:
	ADDQ    $16, DI
	VMOVDQU (DI)(BP*1), Y0
	VMOVDQU Y0, (DI)
	ADDQ    $16, DI
	SUBQ    $32, BX
	CMPQ    BX, $16
	JGT     literals
	JMP     match

	// Without literals, 3 is the first of the last offsets, less 1: it goes to lane 3.
third:
	TESTQ DX, DX
	JNE   offset
	VMOVD X7, BP
	DECL  BP
	JMP   offset

	// The stream has not enough bits: return those taken. The word has not been replaced yet.
short:
	ADDQ BX, R9
	ADDQ DX, R9

	// Stop before a sequence: it counts as left.
decode:
	INCQ R14
	MOVQ $const_stopDecode, stop+16(FP)
	JMP  save

	// Stop after decoding a sequence: hand it over to run.execute.
execute:
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
	INCQ R14
	MOVQ R14, run_count(AX)
	MOVQ R10, run_entries+0(AX)
	MOVQ R11, run_entries+8(AX)
	MOVQ R12, run_entries+16(AX)
	RET
