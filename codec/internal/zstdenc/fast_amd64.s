//go:build amd64 && !purego

#include "go_asm.h"
#include "length_amd64.h"
#include "textflag.h"

// PUT puts index i, at which v has 8 bytes, into the table. It changes v.
#define PUT(v, i) \
	IMULQ R13, v            \
	SHRQ  $(64-const_fastLog), v \
	MOVL  i, (R11)(v*4)

#define blockEnd end-8(SP)
#define anchor   literal-16(SP)
#define r2       second-24(SP)
#define wide     safe-32(SP)

// func fastKernel(s *fastSearch)
//
// Positions are indexes as the table holds them, the position in the input plus base. An entry below base is from an input
// before, and stands for position 0.
//
// Registers:
//
//	SI         the address of index 0
//	R8, R10    the index to search next, and the last one
//	R9         SI less the offset before, so that what it would copy is at the same index
//	R11, R13   the table, and the factor of its hash
//	R12        base
//	R14, R15   where the next literals and the next sequence go
//	DX, DI     the step and the index where it grows; at hand where a match is written
//	AX         the 8 bytes at the index; then where the match ends
//	BX         the index of the candidate
//	CX         at hand
TEXT ·fastKernel(SB), NOSPLIT, $32-8
	MOVQ s+0(FP), AX
	MOVL fastSearch_base(AX), R12
	MOVQ fastSearch_src(AX), SI
	MOVQ fastSearch_src+8(AX), CX
	SUBQ R12, SI
	LEAQ -32(R12)(CX*1), CX
	MOVQ CX, wide // the last index at which 32 bytes can be read
	MOVQ fastSearch_end(AX), CX
	ADDQ R12, CX
	MOVQ CX, blockEnd
	LEAQ -10(CX), R10
	MOVQ fastSearch_at(AX), R8
	ADDQ R12, R8
	MOVQ fastSearch_anchor(AX), CX
	ADDQ R12, CX
	MOVQ CX, anchor
	MOVQ SI, R9
	SUBQ fastSearch_r1(AX), R9
	MOVQ fastSearch_r2(AX), CX
	MOVQ CX, r2
	MOVQ fastSearch_table(AX), R11
	MOVQ fastSearch_factor(AX), R13
	MOVQ fastSearch_text(AX), R14
	ADDQ fastSearch_text+8(AX), R14
	MOVQ fastSearch_sequences+8(AX), CX
	LEAQ (CX)(CX*2), CX
	SHLQ $2, CX
	ADDQ fastSearch_sequences(AX), CX
	MOVQ CX, R15
	CMPQ R8, R10
	JGT  exit

search:
	MOVL $1, DX
	LEAQ const_stepEvery(R8), DI

position:
	MOVQ (SI)(R8*1), AX
	MOVQ AX, CX
	IMULQ R13, CX
	SHRQ $(64-const_fastLog), CX
	MOVL (R11)(CX*4), BX
	MOVL R8, (R11)(CX*4)
	CMPL BX, R12
	CMOVLCS R12, BX
	MOVQ AX, CX
	SHRQ $8, CX
	CMPL CX, 1(R9)(R8*1)
	JEQ  repeat
	CMPL AX, (SI)(BX*1)
	JEQ  found
	CMPQ R8, DI
	JCC  grow
	ADDQ DX, R8
	CMPQ R8, R10
	JLE  position
	JMP  exit

grow:
	INCQ DX
	ADDQ $const_stepEvery, DI
	ADDQ DX, R8
	CMPQ R8, R10
	JLE  position
	JMP  exit

repeat:
	INCQ R8
	LEAQ (R9)(R8*1), BX
	SUBQ SI, BX

found:
	LEAQ (SI)(BX*1), DX
	SUBQ R8, DX // what is copied is there, at the same index
	LEAQ 4(R8), AX
	LENGTH(DX, more, near, last, differ, back)

	// It may start earlier, but not before the anchor.
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

offset:
	MOVQ R8, DI
	SUBQ BX, DI // the distance
	MOVQ anchor, BX
	MOVL $1, CX
	CMPQ DX, R9
	JNE  fresh
	CMPQ R8, BX
	JNE  literals

fresh: // without literals 1 is the second offset
	LEAQ 3(DI), CX
	MOVQ SI, DI
	SUBQ R9, DI
	MOVQ DI, r2
	MOVQ DX, R9

literals:
	MOVL CX, 8(R15)
	MOVQ AX, CX
	SUBQ R8, CX
	MOVL CX, 4(R15)
	MOVQ R8, CX
	SUBQ BX, CX
	MOVL CX, (R15)
	ADDQ $12, R15
	LEAQ (R14)(CX*1), DX // where they end
	CMPQ BX, wide
	JGT  bytes
	VMOVDQU (SI)(BX*1), Y0
	VMOVDQU Y0, (R14)
	CMPQ CX, $32
	JHI  many

copied:
	MOVQ DX, R14
	MOVQ AX, anchor
	CMPQ AX, R10
	JGT  exit

	MOVQ 2(SI)(R8*1), CX
	ADDQ $2, R8
	PUT(CX, R8)
	MOVQ -2(SI)(AX*1), CX
	LEAQ -2(AX), BX
	PUT(CX, BX)
	MOVQ AX, R8

	// A match at the second offset may follow at once.
second:
	MOVQ R8, BX
	SUBQ r2, BX
	MOVQ (SI)(R8*1), CX
	CMPL CX, (SI)(BX*1)
	JNE  search
	PUT(CX, R8)
	LEAQ (SI)(BX*1), DX
	SUBQ R8, DX
	MOVQ SI, CX
	SUBQ R9, CX
	MOVQ CX, r2
	MOVQ DX, R9
	LEAQ 4(R8), AX
	LENGTH(DX, more2, near2, last2, differ2, done2)
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

many: // 32 and more are copied
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

bytes: // near the end of the input
	CMPQ R14, DX
	JCC  copied
	MOVB (SI)(BX*1), CX
	MOVB CX, (R14)
	INCQ BX
	INCQ R14
	JMP  bytes

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
	MOVQ $0xaaaaaaaaaaaaaaab, CX // 1/3
	SHRQ $2, R15
	IMULQ CX, R15
	MOVQ R15, fastSearch_sequences+8(AX)
	VZEROUPPER
	RET
