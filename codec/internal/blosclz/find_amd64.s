//go:build amd64 && !purego

#include "textflag.h"

// func findVector(src []byte, table *[16384]uint32, hashBits, pos, limit, minFar int) (at, ref, end int)
//
// It does what findGeneric does, with matchEnd.
//
//	SI  input    R9   next position    R8   last byte of the input
//	DI  table    R10  limit            R11  factor of the hash
//	CX  shift    R12  candidate        R13  end of the match
//
// AX, BX, DX and R14 are scratch registers; DX is the distance less 1, R14 the next byte of the candidate.
//
// Bounds: limit is at least 12 before the end of the input (see find). The table has only positions of this input,
// which have 4 bytes, because Encode and probe clear it; so a candidate is loaded before its distance is known to be in
// range. It is before the position then. The shift leaves hashBits bits of a hash, at most those of the table.
TEXT ·findVector(SB), NOSPLIT, $0-88
	MOVQ src_base+0(FP), SI
	MOVQ src_len+8(FP), R8
	DECQ R8
	MOVQ table+24(FP), DI
	MOVL $32, CX
	SUBQ hashBits+32(FP), CX
	MOVQ pos+40(FP), R9
	MOVQ limit+48(FP), R10
	MOVL $2654435761, R11
	CMPQ R9, R10
	JGE  none

	// The position: look up its 4 bytes and enter it. R9 becomes the next position.
try:
	MOVL  (SI)(R9*1), AX
	MOVL  AX, BX
	IMULL R11, BX
	SHRL  CX, BX
	MOVL  (DI)(BX*4), R12
	MOVL  R9, (DI)(BX*4)
	INCQ  R9
	CMPL  AX, (SI)(R12*1)
	JEQ   found

next:
	CMPQ R9, R10
	JLT  try

	// No match before limit.
none:
	MOVQ R9, at+64(FP)
	MOVQ $0, ref+72(FP)
	MOVQ $0, end+80(FP)
	RET

	// The distance must be from 1 to that of the format; 0 less 1 is a large number.
found:
	LEAQ -2(R9), DX
	SUBQ R12, DX                  // the distance less 1
	CMPQ DX, $(65535+8190-1)
	JHS  next

	// Find the end of the match: R13 is after its 4 bytes, R14 at the same position of the candidate. AX is the last
	// position with 8 bytes before the last byte.
	LEAQ 3(R9), R13
	LEAQ 4(R12), R14
	LEAQ -8(R8), AX
	CMPQ R13, AX
	JGT  ending
	MOVQ (SI)(R13*1), BX
	XORQ (SI)(R14*1), BX
	JNE  differ
	ADDQ $8, R13
	ADDQ $8, R14

	// 32 bytes at a time, up to 24 before that position.
	SUBQ $24, AX
	CMPQ R13, AX
	JGT  equal8

equal32:
	MOVOU    (SI)(R13*1), X0
	MOVOU    (SI)(R14*1), X1
	MOVOU    16(SI)(R13*1), X2
	MOVOU    16(SI)(R14*1), X3
	PCMPEQB  X1, X0
	PCMPEQB  X3, X2
	PAND     X0, X2
	PMOVMSKB X2, BX
	CMPL     BX, $0xffff
	JNE      equal8
	ADDQ     $32, R13
	ADDQ     $32, R14
	CMPQ     R13, AX
	JLE      equal32

	// Then 8 at a time, again from where the 32 bytes differ.
equal8:
	ADDQ $24, AX

equal8Next:
	CMPQ R13, AX
	JGT  ending
	MOVQ (SI)(R13*1), BX
	XORQ (SI)(R14*1), BX
	JNE  differ
	ADDQ $8, R13
	ADDQ $8, R14
	JMP  equal8Next

	// Then byte by byte, up to the last byte of the input, where a match ends at the latest. R13 goes one further than
	// the byte that differs.
ending:
	CMPQ R13, R8
	JGE  ended
	MOVBLZX (SI)(R13*1), BX
	INCQ R13
	CMPB BX, (SI)(R14*1)
	JNE  ended
	INCQ R14
	JMP  ending

	// The first byte that differs, and one more.
differ:
	BSFQ BX, BX
	SHRQ $3, BX
	LEAQ 1(R13)(BX*1), R13

ended:
	// A near match has at least 8 bytes, with the one that differs and without those left for the next match.
	LEAQ -3(R13), AX
	SUBQ R9, AX
	CMPQ AX, $4
	JLT  next
	CMPQ DX, $8191
	JLO  good
	CMPQ AX, minFar+56(FP)
	JLT  next

	// A match, at the position before R9.
good:
	DECQ R9
	MOVQ R9, at+64(FP)
	MOVQ R12, ref+72(FP)
	MOVQ R13, end+80(FP)
	RET
