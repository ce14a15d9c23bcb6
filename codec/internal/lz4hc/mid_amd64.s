//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// LONG enters an index into the table of hashes of 7 bytes; hash is at hand.
#define LONG(bytes, hash, index) \
	MOVQ  bytes, hash            \
	IMULQ R12, hash              \
	SHRQ  $50, hash              \
	MOVL  index, (R11)(hash*4)

// SHORT does into that of 4, whose factor is 2654435761.
#define SHORT(bytes, hash, index) \
	IMUL3L $-1640531535, bytes, hash \
	SHRL   $18, hash              \
	MOVL   index, (R10)(hash*4)

// func scanKernel(t *midTables, b *block) (found, at int, best bool)
//
// An index in the tables that is less than base, from an older input, is too far away as well: newBase sees to that.
//
// Registers:
//
//	SI         the address of index 0: that of the input less base
//	R8, R9     index of the position, and of the last one that may have a match
//	R10, R11   the tables of hashes of 4 and 7 bytes
//	R12        the factor of the hash of 7 bytes, so that the highest of 8 bytes leaves no trace
//	R13, R15   base, and the index of the anchor
//	AX         the 8 bytes at the position
//	BX, DI     indexes of the candidates of both tables; DI is b at first
//	R14        the hash of 4 bytes
//	CX, DX     at hand
TEXT ·scanKernel(SB), NOSPLIT, $0-33
	MOVQ t+0(FP), R10
	LEAQ midTables_long(R10), R11
	MOVQ b+8(FP), DI
	MOVL block_base(DI), R13
	MOVQ block_src(DI), SI
	MOVQ block_src+8(DI), R9
	LEAQ -12(R13)(R9*1), R9
	SUBQ R13, SI
	MOVQ block_anchor(DI), R15
	ADDQ R13, R15
	MOVQ R15, R8
	MOVQ $(58295818150454627<<8), R12
	CMPQ R8, R13
	JEQ  position // there is no match yet

	// Two positions behind the start of the last match.
	MOVQ block_start(DI), CX
	ADDQ R13, CX
	MOVQ block_found(DI), BX
	ADDQ R13, BX
	MOVQ 1(SI)(CX*1), AX
	MOVQ 2(SI)(CX*1), DX
	LEAQ 1(BX), R14
	LEAQ 2(BX), BX
	LONG(AX, CX, R14)
	LONG(DX, CX, BX)
	SHORT(AX, CX, R14)

	// Up to four before its end.
	LEAQ -5(R8), BX
	CMPQ BX, R13
	JLS  near
	MOVQ (SI)(BX*1), AX
	LONG(AX, CX, BX)

near:
	LEAQ -3(R8), BX
	MOVQ (SI)(BX*1), AX
	LONG(AX, CX, BX)
	INCQ BX
	MOVQ (SI)(BX*1), AX
	LONG(AX, CX, BX)
	SHORT(AX, CX, BX)
	INCQ BX
	SHRQ $8, AX
	SHORT(AX, CX, BX)

position:
	MOVQ (SI)(R8*1), AX
	MOVQ AX, CX
	IMULQ R12, CX
	SHRQ $50, CX
	MOVL (R11)(CX*4), BX
	MOVL R8, (R11)(CX*4)
	IMUL3L $-1640531535, AX, R14 // 2654435761
	SHRL $18, R14
	MOVL (R10)(R14*4), DI

	// A candidate that is too far is none; the position stands in for it, so that one branch tells.
	MOVL R8, DX
	SUBL BX, DX
	XORL CX, CX
	CMPL DX, $65535
	SETHI CX
	CMOVLHI R8, BX
	MOVL (SI)(BX*1), DX
	XORL AX, DX
	ORL  CX, DX
	JEQ  best

	MOVL DI, BX
	MOVL R8, (R10)(R14*4)
	MOVL R8, DX
	SUBL BX, DX
	XORL CX, CX
	CMPL DX, $65535
	SETHI CX
	CMOVLHI R8, BX
	MOVL (SI)(BX*1), DX
	XORL AX, DX
	ORL  CX, DX
	JEQ  found

next:
	MOVQ R8, CX
	SUBQ R15, CX
	SHRQ $9, CX
	LEAQ 1(R8)(CX*1), R8
	CMPQ R8, R9
	JLS  position
	MOVQ R13, BX
	JMP  best

	// Is there perhaps a better one a byte behind, by its hash of 7 bytes?
found:
	CMPQ R8, R9
	JCC  best
	MOVQ 1(SI)(R8*1), AX
	MOVQ AX, CX
	IMULQ R12, CX
	SHRQ $50, CX
	MOVL (R11)(CX*4), DI
	LEAL 1(R8), DX
	SUBL DI, DX
	CMPL DX, $65535
	JHI  best
	CMPL AX, (SI)(DI*1)
	JNE  best
	MOVB $0, best+32(FP)
	JMP  exit

best:
	MOVB $1, best+32(FP)

exit:
	SUBQ R13, R8
	MOVQ R8, found+16(FP)
	SUBQ R13, BX
	MOVQ BX, at+24(FP)
	RET
