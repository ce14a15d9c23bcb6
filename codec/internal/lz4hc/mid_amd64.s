//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// func scanKernel(t *midTables, b *block, pos int) (found, at int, long bool)
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
TEXT ·scanKernel(SB), NOSPLIT, $0-41
	MOVQ t+0(FP), R10
	LEAQ midTables_long(R10), R11
	MOVQ b+8(FP), DI
	MOVL block_base(DI), R13
	MOVQ block_src(DI), SI
	MOVQ block_src+8(DI), R9
	LEAQ -12(R13)(R9*1), R9
	SUBQ R13, SI
	MOVQ pos+16(FP), R8
	ADDQ R13, R8
	MOVQ block_anchor(DI), R15
	ADDQ R13, R15
	MOVQ $(58295818150454627<<8), R12

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
	JEQ  long

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

found:
	MOVB $0, long+40(FP)
	JMP  exit

long:
	MOVB $1, long+40(FP)

exit:
	SUBQ R13, R8
	MOVQ R8, found+24(FP)
	SUBQ R13, BX
	MOVQ BX, at+32(FP)
	RET
