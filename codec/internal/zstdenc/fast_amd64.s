//go:build amd64 && !purego

#include "go_asm.h"
#include "length_amd64.h"
#include "textflag.h"

// PUT puts index i into the table; v has the 8 bytes there. It changes v. The hash has fastLog bits, and the table has
// an entry for each.
#define PUT(v, i) \
	IMULQ R13, v            \
	SHRQ  $(64-const_fastLog), v \
	MOVL  i, (R11)(v*4)

// LONG and SHORT make v, the 8 bytes at an index, the address of their entry in one of the two tables of doubleMatch.
// The hashes have doubleLog bits, and each table has an entry for each.
#define LONG(v) \
	IMULQ R13, v              \
	SHRQ  $(64-const_doubleLog), v \
	LEAQ  (R11)(v*4), v

#define SHORT(v) \
	ANDQ  mask, v             \
	IMULQ R13, v              \
	SHRQ  $(64-const_doubleLog), v \
	LEAQ  doubleTables_short(R11)(v*4), v

// PUT2 puts index i into both tables; v has the 8 bytes there. It changes v and DI.
#define PUT2(v, i) \
	MOVQ v, DI   \
	LONG(v)      \
	SHORT(DI)    \
	MOVL i, (v)  \
	MOVL i, (DI)

// Local variables.
#define blockEnd end-8(SP)      // the index where the block ends
#define anchor   literal-16(SP) // the index where the last match ended, or the start of the block
#define r2       second-24(SP)  // the second of the last offsets
#define wide     safe-32(SP)    // the last index at which 32 bytes of the input can be read
#define mask     bytes-40(SP)   // the bytes that the table short hashes, or 0 if there is one table
#define step     skip-48(SP)    // the step in a search with two tables
#define few      start-56(SP)   // the index from which a match in short must have 5 bytes or be nearby

// func fastKernel(s *fastSearch)
//
// fastKernel finds the matches of a block and appends them to sequences, and the literals before each of them to text.
// Its Go version is fastSearch.runGeneric, with scanFast or, for two tables, the methods of doubleTables.
//
// Positions are indexes here, as in the table: the position in the input plus base. An entry below base is from an
// earlier input, and is taken for position 0. A candidate is always before the index that is searched: that index goes
// into the table only after the candidate is read, the other indexes in the table were searched before or are inside
// the last match, and the search begins at position 1 or later. Offsets that are tried lead to positions in the input,
// too: r1 and r2 are distances of earlier matches, or initially 1 and 4, and a search at position 1 or later tries r1
// one position further on, r2 only after a match.
//
// Registers:
//
//	SI         the address of index 0
//	R8, R10    the index to search next, and the last one to search, 10 bytes before the end of the block
//	R9         SI less r1, the last offset: the source of a match with this offset has the same index from here
//	R11, R13   the table or tables, and the factor of the hashes
//	R12        base
//	R14, R15   where the next literals and the next sequence go
//	DX, DI     the step, or with two tables the candidate in short, and the index where the step grows; for a match
//	           DX is its source at the same index, DI scratch
//	AX         the 8 bytes at the index; then the index where the match ends
//	BX         the index of the candidate, then scratch
//	CX         scratch
//
// Encoder.match has made room for a sequence for each 3 bytes of the block, and a match has at least 4. The capacity of
// text is that of the largest block and slack (64) bytes, and a copy writes at most 32 bytes after the literals.
TEXT ·fastKernel(SB), NOSPLIT, $56-8
	// The input and the limits, as indexes.
	MOVQ s+0(FP), AX
	MOVL fastSearch_base(AX), R12
	MOVQ fastSearch_src(AX), SI
	MOVQ fastSearch_src+8(AX), CX
	SUBQ R12, SI
	LEAQ -32(R12)(CX*1), CX
	MOVQ CX, wide
	MOVQ fastSearch_end(AX), CX
	ADDQ R12, CX
	MOVQ CX, blockEnd
	LEAQ -10(CX), R10

	// The position, the anchor and the last offsets.
	MOVQ fastSearch_at(AX), R8
	ADDQ R12, R8
	MOVQ fastSearch_anchor(AX), CX
	ADDQ R12, CX
	MOVQ CX, anchor
	MOVQ SI, R9
	SUBQ fastSearch_r1(AX), R9
	MOVQ fastSearch_r2(AX), CX
	MOVQ CX, r2

	// The table or the two tables.
	MOVQ    fastSearch_table(AX), R11
	MOVQ    fastSearch_factor(AX), R13
	MOVQ    fastSearch_mask(AX), CX
	MOVQ    CX, mask
	TESTQ   CX, CX
	CMOVQNE fastSearch_double(AX), R11

	// The ends of text and sequences. A sequence has 12 bytes.
	MOVQ fastSearch_text(AX), R14
	ADDQ fastSearch_text+8(AX), R14
	MOVQ fastSearch_sequences+8(AX), CX
	LEAQ (CX)(CX*2), CX
	SHLQ $2, CX
	ADDQ fastSearch_sequences(AX), CX
	MOVQ CX, R15
	CMPQ R8, R10
	JGT  exit

	// Search from R8 up, with steps of 1 at first.
search:
	MOVL $1, DX
	LEAQ const_stepEvery(R8), DI
	CMPQ mask, $0
	JNE  both

	// Get the candidate from the table and replace it by the index. R8 is at most R10, so 10 bytes can be read there.
position:
	MOVQ (SI)(R8*1), AX
	MOVQ AX, CX
	IMULQ R13, CX
	SHRQ $(64-const_fastLog), CX
	MOVL (R11)(CX*4), BX
	MOVL R8, (R11)(CX*4)
	CMPL BX, R12
	CMOVLCS R12, BX

	// Try r1 one position further on, then the candidate: 4 bytes must be equal.
	RORXQ $8, AX, CX
	CMPL CX, 1(R9)(R8*1)
	JEQ  repeat
	CMPL AX, (SI)(BX*1)
	JEQ  found

	// No match: continue with the next position.
	CMPQ R8, DI
	JCC  grow
	ADDQ DX, R8
	CMPQ R8, R10
	JLE  position
	JMP  exit

	// After each stepEvery bytes without a match the step grows.
grow:
	INCQ DX
	ADDQ $const_stepEvery, DI
	ADDQ DX, R8
	CMPQ R8, R10
	JLE  position
	JMP  exit

	// Search with two tables. Get the candidates from them and replace them by the index.
both:
	MOVQ DX, step
	LEAQ const_fewLiterals(R8), CX
	MOVQ CX, few

position2:
	MOVQ    (SI)(R8*1), AX
	MOVQ    AX, CX
	LONG(CX)
	MOVL    (CX), BX
	MOVL    R8, (CX)
	MOVQ    AX, CX
	SHORT(CX)
	MOVL    (CX), DX
	MOVL    R8, (CX)
	CMPL    BX, R12
	CMOVLCS R12, BX
	CMPL    DX, R12
	CMOVLCS R12, DX

	// Try r1 one position further on, then 8 bytes of the candidate in long, then 4 of the one in short.
	RORXQ $8, AX, CX
	CMPL CX, 1(R9)(R8*1)
	JEQ  repeat
	CMPQ AX, (SI)(BX*1)
	JEQ  found
	CMPL AX, (SI)(DX*1)
	JEQ  near4

	// No match: continue with the next position. The step grows as above.
none2:
	CMPQ R8, DI
	JCC  grow2
	ADDQ step, R8
	CMPQ R8, R10
	JLE  position2
	JMP  exit

grow2:
	INCQ step
	ADDQ $const_stepEvery, DI
	ADDQ step, R8
	CMPQ R8, R10
	JLE  position2
	JMP  exit

	// A match in short. Take it if it has 8 bytes. After many literals it must have 5 or be nearby.
near4:
	MOVQ  DX, BX
	MOVQ  (SI)(DX*1), CX
	XORQ  AX, CX
	JZ    found
	CMPQ  R8, few
	JCS   take
	MOVQ  R8, AX
	SUBQ  DX, AX
	CMPQ  AX, $const_nearby
	JCS   take
	SHRQ  $32, CX
	TESTB CX, CX
	JNZ   none2

	// Look for a match of 8 bytes at the next position, which ends before the block does.
take:
	CMPQ    R8, R10
	JEQ     found
	MOVQ    1(SI)(R8*1), AX
	LEAQ    1(R8), DI
	MOVQ    AX, CX
	LONG(CX)
	MOVL    (CX), DX
	MOVL    DI, (CX)
	CMPL    DX, R12
	CMOVLCS R12, DX
	CMPQ    AX, (SI)(DX*1)
	JNE     found
	MOVQ    DI, R8
	MOVQ    DX, BX
	JMP     found

	// A match with offset r1 at the next position.
repeat:
	INCQ R8
	LEAQ (R9)(R8*1), BX
	SUBQ SI, BX

	// A match at R8, whose source is at BX: 4 bytes are equal. Find its end.
found:
	LEAQ (SI)(BX*1), DX
	SUBQ R8, DX // the source of the match has the same index from here
	LEAQ 4(R8), AX
	LENGTH(DX, more, near, last, differ, back)

	// The match may start earlier, but not before the anchor, and its source not before the input.
	CMPQ R8, anchor
	JLS  offset
	CMPQ BX, R12
	JLS  offset
	MOVB -1(SI)(R8*1), CX
	CMPB CX, -1(SI)(BX*1)
	JNE  offset
	DECQ R8
	DECQ BX
	JMP  back

	// The code of the offset, CX: 1 if it is r1, unless there are no literals, where 1 would be r2. Else the offset
	// plus 3, and r1 becomes r2.
offset:
	MOVQ R8, DI
	SUBQ BX, DI // the distance
	MOVQ anchor, BX
	MOVL $1, CX
	CMPQ DX, R9
	JNE  fresh
	CMPQ R8, BX
	JNE  literals

fresh:
	LEAQ 3(DI), CX
	MOVQ SI, DI
	SUBQ R9, DI
	MOVQ DI, r2
	MOVQ DX, R9

	// Append the sequence: number of literals, length, code of the offset.
literals:
	MOVL CX, 8(R15)
	MOVQ AX, CX
	SUBQ R8, CX
	MOVL CX, 4(R15)
	MOVQ R8, CX
	SUBQ BX, CX
	MOVL CX, (R15)
	ADDQ $12, R15

	// Append the literals: 32 bytes at once, if the input has as many from the anchor on. That is often enough.
	LEAQ (R14)(CX*1), DX // where they end
	CMPQ BX, wide
	JGT  bytes
	VMOVDQU (SI)(BX*1), Y0
	VMOVDQU Y0, (R14)
	CMPQ CX, $32
	JHI  many

	// The literals are copied. Go on after the match, if that is not too near to the end of the block.
copied:
	MOVQ DX, R14
	MOVQ AX, anchor
	CMPQ AX, R10
	JGT  exit

	// With one table, put two positions of the match into it: the third, and the last but one. AX is at most R10, so
	// the 8 bytes at each of them are in the block.
	MOVQ 2(SI)(R8*1), CX
	ADDQ $2, R8
	MOVQ -2(SI)(AX*1), DX
	LEAQ -2(AX), BX
	CMPQ mask, $0
	JNE  put2
	PUT(CX, R8)
	PUT(DX, BX)
	MOVQ AX, R8

	// A match with offset r2 may follow at once. Here r2 is not more than the position, as there was a match before.
second:
	MOVQ R8, BX
	SUBQ r2, BX
	MOVQ (SI)(R8*1), CX
	CMPL CX, (SI)(BX*1)
	JNE  search
	CMPQ mask, $0
	JNE  putSecond2
	PUT(CX, R8)

	// r1 and r2 change places.
swap:
	LEAQ (SI)(BX*1), DX
	SUBQ R8, DX
	MOVQ SI, CX
	SUBQ R9, CX
	MOVQ CX, r2
	MOVQ DX, R9
	LEAQ 4(R8), AX
	LENGTH(DX, more2, near2, last2, differ2, done2)

	// Append the sequence. Without literals the code of r2 is 1.
	MOVQ AX, CX
	SUBQ R8, CX
	MOVL $0, (R15)
	MOVL CX, 4(R15)
	MOVL $1, 8(R15)
	ADDQ $12, R15
	MOVQ AX, R8
	MOVQ AX, anchor
	CMPQ R8, R10
	JLE  second
	JMP  exit

	// Put positions of the match into both tables, as doubleTables.putMatch does: the third and the second.
put2:
	PUT2(CX, R8)
	DECQ R8
	MOVQ (SI)(R8*1), CX
	PUT2(CX, R8)

	// The fifth and the sixth, if there are 8.
	LEAQ 7(R8), CX
	CMPQ CX, AX
	JHI  end2
	ADDQ $3, R8
	MOVQ (SI)(R8*1), CX
	PUT2(CX, R8)
	INCQ R8
	MOVQ (SI)(R8*1), CX
	PUT2(CX, R8)

	// The last but one, and the last into short.
end2:
	PUT2(DX, BX)
	MOVQ -1(SI)(AX*1), CX
	INCQ BX
	SHORT(CX)
	MOVL BX, (CX)
	MOVQ AX, R8
	JMP  second

	// Put the position of a match with offset r2 into both tables.
putSecond2:
	PUT2(CX, R8)
	JMP  swap

	// More than 32 literals, of which 32 are copied: 32 per iteration, as long as the input has as many from BX on. The
	// last turn writes at most 31 bytes after the literals.
many:
	ADDQ $32, R14
	ADDQ $32, BX

more32:
	CMPQ BX, wide
	JGT  bytes
	VMOVDQU (SI)(BX*1), Y0
	VMOVDQU Y0, (R14)
	ADDQ $32, R14
	ADDQ $32, BX
	CMPQ R14, DX
	JCS  more32
	JMP  copied

	// Near the end of the input: the remaining literals one by one.
bytes:
	CMPQ R14, DX
	JCC  copied
	MOVB (SI)(BX*1), CX
	MOVB CX, (R14)
	INCQ BX
	INCQ R14
	JMP  bytes

	// Store the anchor, the last offsets and the lengths of text and sequences.
exit:
	MOVQ s+0(FP), AX
	MOVQ anchor, CX
	SUBQ R12, CX
	MOVQ CX, fastSearch_anchor(AX)
	SUBQ R9, SI
	MOVQ SI, fastSearch_r1(AX)
	MOVQ r2, CX
	MOVQ CX, fastSearch_r2(AX)
	SUBQ fastSearch_text(AX), R14
	MOVQ R14, fastSearch_text+8(AX)
	SUBQ fastSearch_sequences(AX), R15
	MOVQ $0xaaaaaaaaaaaaaaab, CX // 1/3 modulo 1<<64: the bytes are a multiple of 12
	SHRQ $2, R15
	IMULQ CX, R15
	MOVQ R15, fastSearch_sequences+8(AX)
	VZEROUPPER
	RET
