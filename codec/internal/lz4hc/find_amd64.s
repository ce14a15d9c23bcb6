//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Fields of the walk.
#define walkPos    (search_walk+walk_pos)(DI)
#define walkLow    (search_walk+walk_low)(DI)
#define walkStart  (search_walk+walk_found+match_start)(DI)
#define walkLength (search_walk+walk_found+match_length)(DI)
#define walkDist   (search_walk+walk_found+match_distance)(DI)
#define walkIndex  (search_walk+walk_index)(DI)
#define walkLowest (search_walk+walk_lowest)(DI)
#define walkLeft   (search_walk+walk_left)(DI)
#define walkRun    (search_walk+walk_run)(DI)

// Local variables.
#define posIndex 0(SP)  // index of pos
#define limit    8(SP)  // index where a match must end
#define length   16(SP) // of the longest match

// func findSSE2(s *search, again bool) (stopped bool)
//
// Registers:
//
//	DI         s
//	SI         the address of index 0: that of the input less base
//	R10, R13   heads and back; in the loop R10 is how far back the candidate after this one is
//	BX, R8     index of the candidate, and the lowest one
//	R9         candidates left
//	R11        the 4 bytes wanted
//	R12, R14   address where a longer match of index 0 would end, less 2 bytes, and what must stand there
//	R15        base
//	AX, CX, DX at hand
TEXT ·findSSE2(SB), NOSPLIT, $24-17
	MOVQ s+0(FP), DI
	MOVQ search_block(DI), AX
	MOVL block_base(AX), R15
	MOVQ block_src(AX), SI
	MOVQ block_src+8(AX), CX
	LEAQ -5(R15)(CX*1), CX
	MOVQ CX, limit
	SUBQ R15, SI
	MOVQ search_chainTables(DI), R13
	ADDQ $chainTables_back, R13
	MOVQ walkPos, R9
	ADDQ R15, R9
	MOVQ R9, posIndex
	MOVL (SI)(R9*1), R11
	CMPB again+8(FP), $0
	JNE  again

	// Enter the positions before.
position:
	MOVQ search_next(DI), R8
	ADDQ R15, R8
	LEAQ -chainTables_back(R13), R10
	CMPQ R8, R9
	JCC  entered
	MOVL $65535, R14

enter:
	MOVL (SI)(R8*1), AX
	IMUL3L $-1640531535, AX, AX // 2654435761
	SHRL $17, AX
	MOVL (R10)(AX*4), CX
	MOVL R8, (R10)(AX*4)
	MOVL R8, DX
	SUBL CX, DX
	CMPL DX, R14
	CMOVLHI R14, DX
	MOVWLZX R8, BX
	MOVW DX, (R13)(BX*2)
	INCQ R8
	CMPQ R8, R9
	JCS  enter
	MOVQ walkPos, AX
	MOVQ AX, search_next(DI)

entered:
	LEAQ -65535(R9), R8
	CMPQ R8, R15
	CMOVQLT R15, R8
	MOVL R8, walkLowest
	IMUL3L $-1640531535, R11, AX
	SHRL $17, AX
	MOVL (R10)(AX*4), BX
	JMP  begin

again:
	MOVL walkLowest, R8
	MOVL walkIndex, BX

begin:
	MOVQ walkLeft, R9
	MOVQ walkLength, AX
	MOVQ AX, length
	MOVQ walkLow, CX
	LEAQ -1(CX)(AX*1), R12
	ADDQ R15, R12
	ADDQ SI, R12
	MOVWLZX (R12), R14
	SUBQ posIndex, R12

	// The loop. Most candidates do not end as a longer match does. Where the next one is is loaded before that is known, so
	// that it is on its way when a branch is not as predicted.
candidate:
	CMPL BX, R8
	JCS  done
	DECQ R9
	JLT  done
	MOVWLZX BX, R10
	MOVWLZX (R13)(R10*2), R10
	MOVWLZX (R12)(BX*1), AX
	CMPL AX, R14
	JEQ  check

next:
	CMPL R10, $1
	JEQ  neighbour

step:
	SUBL R10, BX
	JMP  candidate

check:
	CMPL R11, (SI)(BX*1)
	JNE  next

	// How far the match goes: DX is the index in the input, AX less than it by the distance.
	MOVQ posIndex, DX
	ADDQ $4, DX
	LEAQ 4(BX), AX

forward:
	LEAQ 8(DX), CX
	CMPQ CX, limit
	JHI  forward1
	MOVQ (SI)(DX*1), CX
	XORQ (SI)(AX*1), CX
	JNZ  differ
	ADDQ $8, DX
	ADDQ $8, AX
	LEAQ 32(DX), CX
	CMPQ CX, limit
	JHI  forward
	MOVOU (SI)(DX*1), X0
	MOVOU (SI)(AX*1), X1
	MOVOU 16(SI)(DX*1), X2
	MOVOU 16(SI)(AX*1), X3
	PCMPEQB X1, X0
	PCMPEQB X3, X2
	PAND X2, X0
	PMOVMSKB X0, CX
	CMPL CX, $0xffff
	JNE  forward
	ADDQ $32, DX
	ADDQ $32, AX
	JMP  forward

forward1:
	CMPQ DX, limit
	JCC  measured
	MOVB (SI)(DX*1), CX
	CMPB CX, (SI)(AX*1)
	JNE  measured
	INCQ DX
	INCQ AX
	JMP  forward1

differ:
	BSFQ CX, CX
	SHRL $3, CX
	ADDQ CX, DX

measured:
	// And how early it can start. DX becomes the length, AX where it starts, R12 and R14 are free meanwhile.
	MOVQ posIndex, AX
	MOVQ walkLow, CX
	CMPQ CX, walkPos
	JEQ  known
	ADDQ R15, CX
	MOVQ BX, R14

backward8:
	LEAQ -8(R14), R12
	CMPQ R12, R15
	JLT  backward
	MOVQ -8(SI)(AX*1), R12
	XORQ -8(SI)(R14*1), R12
	JZ   backed8
	BSRQ R12, R12
	XORL $63, R12
	SHRL $3, R12
	MOVQ AX, R14
	SUBQ CX, R14
	CMPQ R12, R14
	CMOVQHI R14, R12
	SUBQ R12, AX
	JMP  known2

backed8:
	SUBQ $8, AX
	SUBQ $8, R14
	CMPQ AX, CX
	JHI  backward8
	MOVQ CX, AX
	JMP  known2

backward:
	CMPQ AX, CX
	JLS  known2
	CMPQ R14, R15
	JLS  known2
	MOVB -1(SI)(R14*1), R12
	CMPB R12, -1(SI)(AX*1)
	JNE  known2
	DECQ AX
	DECQ R14
	JMP  backward

known2:
	SUBQ AX, DX
	CMPQ DX, length
	JGT  longer

	// What the loop needs of the longest match, again.
	MOVQ length, AX
	JMP  restore

known:
	SUBQ AX, DX
	CMPQ DX, length
	JLE  next

longer:
	MOVQ DX, length
	MOVQ DX, walkLength
	SUBQ R15, AX
	MOVQ AX, walkStart
	MOVQ posIndex, CX
	SUBQ BX, CX
	MOVQ CX, walkDist
	MOVQ DX, AX

restore:
	MOVQ walkLow, CX
	LEAQ -1(CX)(AX*1), R12
	ADDQ R15, R12
	ADDQ SI, R12
	MOVWLZX (R12), R14
	SUBQ posIndex, R12
	JMP  next

neighbour:
	CMPQ walkRun, $0
	JEQ  step
	LEAL -1(BX), AX
	CMPL AX, R8
	JCS  step
	CMPL R11, (SI)(AX*1)
	JNE  step
	MOVL BX, walkIndex
	MOVQ R9, walkLeft
	MOVB $1, stopped+16(FP)
	RET

done:
	CMPQ length, $3
	JNE  found

	// Still nothing: on to the next position.
	INCQ walkPos
	INCQ walkLow
	MOVQ posIndex, R9
	INCQ R9
	MOVQ R9, posIndex
	LEAQ 7(R9), AX
	CMPQ AX, limit
	JHI  found
	MOVL (SI)(R9*1), R11
	MOVQ search_attempts(DI), AX
	MOVQ AX, walkLeft
	CMPB search_runs(DI), $0
	JEQ  position
	MOVQ $-1, walkRun
	JMP  position

found:
	MOVB $0, stopped+16(FP)
	RET
