//go:build amd64 && !purego

#include "textflag.h"

// func copyRows(dst, src *byte, n, ds, ss, width, dstAhead, srcAhead int)
//
// DI and SI point to the rows, R11 and R12 to the rows ahead. A row is copied in steps of 16 bytes. The last step, at
// offset R10, may overlap the one before.
TEXT ·copyRows(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ ds+24(FP), R8
	MOVQ ss+32(FP), R9
	MOVQ width+40(FP), R10
	SUBQ $16, R10
	MOVQ dstAhead+48(FP), R11
	ADDQ DI, R11
	MOVQ srcAhead+56(FP), R12
	ADDQ SI, R12

	// A row. AX is the offset in it, and R10 the offset of its last 16 bytes.
row:
	XORL AX, AX
	CMPQ R10, $32
	JCS  tail

	// 32 bytes per step while they end at or before R10, and prefetches of the rows ahead, which need not exist.
many:
	PREFETCHT0 (R11)(AX*1)
	PREFETCHT0 (R12)(AX*1)
	MOVUPS (SI)(AX*1), X0
	MOVUPS 16(SI)(AX*1), X1
	MOVUPS X0, (DI)(AX*1)
	MOVUPS X1, 16(DI)(AX*1)
	ADDQ $32, AX
	LEAQ 32(AX), BX
	CMPQ BX, R10
	JLS  many

	// 16 bytes per step up to R10. The store may go past R10, but not past the row.
tail:
	CMPQ AX, R10
	JCC  last
	MOVUPS (SI)(AX*1), X0
	MOVUPS X0, (DI)(AX*1)
	ADDQ $16, AX
	JMP  tail

	// The last 16 bytes. Then continue with the next row.
last:
	PREFETCHT0 (R11)(R10*1)
	PREFETCHT0 (R12)(R10*1)
	MOVUPS (SI)(R10*1), X0
	MOVUPS X0, (DI)(R10*1)
	ADDQ R8, DI
	ADDQ R9, SI
	ADDQ R8, R11
	ADDQ R9, R12
	DECQ CX
	JNZ  row
	RET
