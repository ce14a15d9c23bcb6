//go:build amd64 && !purego

#include "go_asm.h"
#include "length_amd64.h"
#include "textflag.h"

// HASH sets h to the hash of the bytes at index i, and row to where its row is.
#define HASH(i, h, row) \
	MOVQ  (SI)(i*1), h \
	IMULQ R13, h       \
	SHRQ  $32, h       \
	SHRXL R15, h, row  \
	SHLL  $4, row

// PUSH puts index i into a row before the others; it changes row and place.
#define PUSH(i, h, row, place) \
	MOVBLZX (R10)(row*1), place \
	DECL    place               \
	ANDL    $15, place          \
	CMOVLEQ R14, place          \
	MOVB    place, (R10)(row*1) \
	ADDL    row, place          \
	MOVB    h, (R10)(place*1)   \
	MOVL    i, (R11)(place*4)

#define blockEnd end-8(SP)
#define distance far-16(SP)
#define below    before-24(SP)
#define hashOf   hash-32(SP)
#define rowOf    row-40(SP)

// func longestKernel(s *rowSearch, at, length int) (int, int)
//
// Positions are indexes as rows hold them, the position in the input plus base.
//
// Registers:
//
//	SI         the address of index 0
//	R8         the index of the position
//	R9         the length of the best match
//	R10, R11   the tags and the positions of all rows
//	R12        base
//	R13, R15   the factor of the hash, and how much of it is below that of a row; while a row is searched the places
//	           that are left, and how many may be looked at
//	R14        15; then the place of the newest
//	DI         SI and the length less 3: the last 4 bytes of a better match are there
//	BX         the candidate, then where it is with index R8
//	AX, CX, DX at hand
TEXT ·longestKernel(SB), NOSPLIT, $40-40
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
	MOVQ at+8(FP), R8
	MOVQ rowSearch_next(DI), BX
	CMPQ R8, BX
	JGT  fill

search:
	MOVQ s+0(FP), DI
	LEAQ 1(R8), CX
	MOVQ CX, rowSearch_next(DI)
	MOVQ rowSearch_attempts(DI), BX
	MOVQ R8, below
	ADDQ R12, R8
	MOVQ length+16(FP), R9
	MOVQ $0, distance

	// Searches that follow will want the rows of the positions behind.
	HASH(R8, AX, DX)
	MOVQ 4(SI)(R8*1), CX
	IMULQ R13, CX
	SHRQ $32, CX
	SHRXL R15, CX, CX
	SHLL $4, CX
	PREFETCHT0 (R10)(CX*1)
	PREFETCHT0 (R11)(CX*4)

	// A bit for each equal tag, from the newest on.
	VMOVD AX, X0
	VPBROADCASTB X0, X0
	VPCMPEQB (R10)(DX*1), X0, X0
	VPMOVMSKB X0, R13
	ANDL $0xfffe, R13
	MOVBLZX (R10)(DX*1), DI
	MOVL AX, hashOf
	MOVL DX, rowOf
	JZ   push
	MOVL DI, R14
	MOVL R13, CX
	SHLL $16, CX
	ORL  CX, R13
	SHRXL R14, R13, R13
	MOVWLZX R13, R13
	MOVQ BX, R15
	LEAQ (R11)(DX*4), DX // the positions of the row
	LEAQ -3(SI)(R9*1), DI

candidate:
	TZCNTL R13, CX
	BLSRL R13, R13
	ADDL R14, CX
	ANDL $15, CX
	MOVL (DX)(CX*4), BX
	MOVL BX, CX
	SUBL R12, CX
	CMPL CX, below
	JCC  next // of an input before, or not before the position
	DECQ R15
	MOVL (DI)(R8*1), CX
	CMPL CX, (DI)(BX*1)
	JNE  tried
	ADDQ SI, BX
	SUBQ R8, BX
	MOVQ R8, AX
	LENGTH(BX, more, near, last, differ, compared)
	MOVQ AX, CX
	SUBQ R8, CX
	CMPQ CX, R9
	JLE  tried
	MOVQ CX, R9
	MOVQ SI, CX
	SUBQ BX, CX
	MOVQ CX, distance
	LEAQ -3(SI)(R9*1), DI
	ADDQ $8, AX
	CMPQ AX, blockEnd
	JGE  found

tried:
	TESTQ R15, R15
	JZ   found

next:
	TESTL R13, R13
	JNZ  candidate

found:
	MOVL $15, R14
	MOVL hashOf, AX
	MOVL rowOf, DX

push:
	PUSH(R8, AX, DX, CX)
	MOVQ R9, ret+24(FP)
	MOVQ distance, CX
	MOVQ CX, ret1+32(FP)
	VZEROUPPER
	RET

	// The positions since the last search go into their rows. DI is the hash of the last one.
fill:
	MOVQ $-1, DI
	MOVQ R8, DX
	SUBQ BX, DX
	ADDQ R12, BX
	LEAQ (R8)(R12*1), R9
	CMPQ DX, $const_manyPositions
	JLE  rest
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

rest:
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
