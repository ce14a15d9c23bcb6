//go:build amd64 && !purego

#include "go_asm.h"
#include "length_amd64.h"
#include "textflag.h"

// HASH sets h to the hash of the bytes at index i, and row to the number of the first place of its row. It reads 8
// bytes there. The hash has hashLog+4 bits; all but its low 8 bits are the number of the row, so that all places are
// below 1<<hashLog, for which tables.fit has made room.
#define HASH(i, h, row) \
	MOVQ  (SI)(i*1), h \
	IMULQ R13, h       \
	SHRXQ R15, h, h    \
	MOVL  h, row       \
	SHRL  $4, row      \
	ANDL  $-16, row

// FETCH fetches the row of the 8 bytes in CX for later. Any place of the row is enough. It changes CX.
#define FETCH \
	IMULQ R13, CX          \
	SHRXQ R15, CX, CX      \
	SHRL  $4, CX           \
	PREFETCHT0 (R10)(CX*1) \
	PREFETCHT0 (R11)(CX*4)

// PUSH puts index i, which has hash h, into a row as its newest: it moves the head of the row, which its first tag
// holds, down by one place, from place 1 to 15, and stores the tag and the index there. R14 is 15. It changes place.
// Its Go version is rowSearch.insert.
#define PUSH(i, h, row, place) \
	MOVBLZX (R10)(row*1), place \
	DECL    place               \
	ANDL    $15, place          \
	CMOVLEQ R14, place          \
	MOVB    place, (R10)(row*1) \
	ADDL    row, place          \
	MOVB    h, (R10)(place*1)   \
	MOVL    i, (R11)(place*4)

// Local variables.
#define blockEnd end-8(SP)     // the index where the block ends
#define distance far-16(SP)    // of the best match, or 0
#define below    before-24(SP) // the position: candidates must be before it
#define hashOf   hash-32(SP)   // the hash at the position
#define rowOf    row-40(SP)    // the first place of its row

// func longestKernel(s *rowSearch, at, length int) (int, int)
//
// longestKernel returns the length and the distance of the longest match at a position, if it is longer than length,
// which is at least 3, or else length and 0. Before that it puts the positions since the last search into their rows,
// after it the position itself. Its Go version is rowSearch.longestGeneric, with fill, fillFrom and insert.
//
// Positions are indexes here, as in the rows: the position in the input plus base.
//
// Registers:
//
//	SI         the address of index 0
//	R8         the position; from search on its index
//	R9         the length of the best match
//	R10, R11   the tags and the positions of all rows
//	R12        base
//	R13, R15   the factor of the hash, and how many bits of the product are below the hash; while a row is
//	           searched, a bit for each candidate, and how many candidates may still be compared
//	R14        15; while a row is searched, its head: the place of the newest position
//	DI         SI plus the length less 3: the last 4 bytes of a match one byte longer are at index R8 from here
//	BX         the index of the candidate, then the address from where it has index R8
//	AX, CX, DX scratch
//
// matchLazy searches positions up to 12 bytes before the end of the block only, so that 12 bytes can be read at each,
// and sets ahead so that 8 bytes can be read there too.
// The method longest has checked that the block has more than length bytes from the position on.
TEXT ·longestKernel(SB), NOSPLIT, $40-40
	// The input, the rows and the hash.
	MOVQ s+0(FP), DI
	MOVL rowSearch_base(DI), R12
	MOVQ rowSearch_src(DI), SI
	MOVQ rowSearch_src+8(DI), CX
	SUBQ R12, SI
	ADDQ R12, CX
	MOVQ CX, blockEnd
	MOVQ rowSearch_rows(DI), CX
	MOVQ rows_tags(CX), R10
	MOVQ rows_positions(CX), R11
	MOVQ rowSearch_factor(DI), R13
	MOVQ rowSearch_shift(DI), R15
	MOVL $15, R14

	// If there are positions since the last search, put them into their rows.
	MOVQ at+8(FP), R8
	MOVQ rowSearch_next(DI), BX
	CMPQ R8, BX
	JGT  fill

	// All positions before this one are in their rows, or left out.
search:
	MOVQ s+0(FP), DI
	LEAQ 1(R8), CX
	MOVQ CX, rowSearch_next(DI)
	MOVQ rowSearch_attempts(DI), BX
	MOVQ R8, below
	ADDQ R12, R8
	MOVQ length+16(FP), R9
	MOVQ $0, distance

	// The hash and the row of the position. The row of a position further on is fetched.
	HASH(R8, AX, DX)
	MOVQ rowSearch_ahead(DI), CX
	ADDQ R8, CX
	MOVQ (SI)(CX*1), CX
	FETCH

	// A bit for each place whose tag is the low byte of the hash. The first tag is the head of the row.
	VMOVD AX, X0
	VPBROADCASTB X0, X0
	VPCMPEQB (R10)(DX*1), X0, X0
	VPMOVMSKB X0, R13
	ANDL $0xfffe, R13
	MOVBLZX (R10)(DX*1), DI
	MOVL AX, hashOf
	MOVL DX, rowOf
	JZ   push // no tag is equal; the flags are those of ANDL

	// Rotate the 16 bits so that bit 0 is the bit of the head, the newest. Higher bits are older positions.
	MOVL DI, R14
	MOVL R13, CX
	SHLL $16, CX
	ORL  CX, R13
	SHRXL R14, R13, R13
	MOVWLZX R13, R13
	MOVQ BX, R15
	LEAQ (R11)(DX*4), DX // the positions of the row
	LEAQ -3(SI)(R9*1), DI

	// The next candidate: take the lowest bit and get the index from its place, which is modulo 16.
candidate:
	TZCNTL R13, CX
	BLSRL R13, R13
	ADDL R14, CX
	ANDL $15, CX
	MOVL (DX)(CX*4), BX

	// Skip an index that is from an earlier input, below base, or not before the position. It does not count.
	MOVL BX, CX
	SUBL R12, CX
	CMPL CX, below
	JCC  next
	DECQ R15

	// A better match is longer by one byte at least, so compare the last 4 bytes of that length. They are inside the
	// block: more than R9 bytes remain in it after R8.
	MOVL (DI)(R8*1), CX
	CMPL CX, (DI)(BX*1)
	JNE  tried

	// Find the length of the match.
	ADDQ SI, BX
	SUBQ R8, BX
	MOVQ R8, AX
	LENGTH(BX, more, near, last, differ, compared)
	MOVQ AX, CX
	SUBQ R8, CX
	CMPQ CX, R9
	JLE  tried

	// It is the best so far. Stop if at most 8 bytes remain in the block after it: no other can be much better. Else
	// the block has more than R9 bytes after R8, as the comparison above needs.
	MOVQ CX, R9
	MOVQ SI, CX
	SUBQ BX, CX
	MOVQ CX, distance
	LEAQ -3(SI)(R9*1), DI
	ADDQ $8, AX
	CMPQ AX, blockEnd
	JGE  found

	// A candidate that was compared: are more allowed, and are there more?
tried:
	TESTQ R15, R15
	JZ   found

next:
	TESTL R13, R13
	JNZ  candidate

	// The end of the search.
found:
	MOVL $15, R14
	MOVL hashOf, AX
	MOVL rowOf, DX

	// Put the position into its row.
push:
	PUSH(R8, AX, DX, CX)
	MOVQ R9, ret+24(FP)
	MOVQ distance, CX
	MOVQ CX, ret1+32(FP)
	VZEROUPPER
	RET

	// The positions from BX, before R8, go into their rows. Here BX and R9 are the indexes of the next and of the end,
	// and DI is the hash of the position before, which is -1 at first, as no hash is. Of neighbors with the same hash
	// only the first goes in.
fill:
	MOVQ $-1, DI
	MOVQ R8, DX
	SUBQ BX, DX
	ADDQ R12, BX
	LEAQ (R8)(R12*1), R9
	CMPQ DX, $const_manyPositions
	JLE  rest

	// Of many positions only the first and the last go in. They are all before R8, so 8 bytes can be read at each.
	LEAQ const_firstPositions(BX), R9

first:
	HASH(BX, AX, DX)
	CMPQ AX, DI
	JEQ  sameFirst
	MOVQ AX, DI
	PUSH(BX, AX, DX, CX)

sameFirst:
	INCQ BX
	CMPQ BX, R9
	JCS  first
	LEAQ (R8)(R12*1), R9
	LEAQ -const_lastPositions(R9), BX

	// All positions up to R8, or the last of many. The row of a position further on is fetched: it is less than
	// nearAhead (4) after R8, so 8 bytes can be read there.
rest:
	MOVQ const_nearAhead(SI)(BX*1), CX
	FETCH
	HASH(BX, AX, DX)
	CMPQ AX, DI
	JEQ  sameRest
	MOVQ AX, DI
	PUSH(BX, AX, DX, CX)

sameRest:
	INCQ BX
	CMPQ BX, R9
	JCS  rest
	JMP  search
