//go:build amd64 && !purego

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

#define maxDistance 65535 // of a match, as the format has it

// Fields of the tables, from back on.
#define heads (chainTables_heads-chainTables_back)
#define older (chainTables_older-chainTables_back)

// Local variables.
#define base  0(SP)  // index of the start of the input
#define limit 8(SP)  // index where a match must end
#define here  16(SP) // index of pos
#define low   24(SP) // index of the first byte that a match may have
#define end   32(SP) // index of the end of a match

// func findSSE2(s *search, again bool) (why int)
//
// Most time goes into branches that cannot be foreseen: whether there is a candidate more, and whether it is a match, and
// a longer one. So what comes after such a branch shall be ready. The positions are entered into the tables many at
// a time, which also gives the first candidate of each, and fetches where its next one is. And a candidate is measured at
// once, by the 8 bytes from it on and the 8 before it, compared with those at pos, unless it has all of either. The search
// for the first match at or behind pos, in which most candidates are none, looks at 4 bytes and is a loop of its own.
//
// Registers:
//
//	DI         s
//	SI         the address of index 0: that of the input less base
//	R13        back
//	BX, R10    index of the candidate, and how far back the next one is
//	R8         the lowest index that is looked at here
//	R9         candidates left
//	AX, CX, DX at hand
//
// Those of the first match:
//
//	R11, R12   index of pos, and the 4 bytes there
//	R14        the first index not in the tables
//	R15, DX    candidates looked at for one position, and what walk.run is at first
//
// And those of others:
//
//	R11, R12   the 8 bytes at pos, and the 8 before it
//	R14        a bit behind as many bytes as a match may have before pos, if these are less than 8
//	R15        length of the longest match
TEXT ·findSSE2(SB), NOSPLIT, $40-24
	MOVQ s+0(FP), DI
	MOVQ search_block(DI), AX
	MOVL block_base(AX), R15
	MOVQ R15, base
	MOVQ block_src(AX), SI
	MOVQ block_src+8(AX), CX
	LEAQ -5(R15)(CX*1), CX
	MOVQ CX, limit
	SUBQ R15, SI
	MOVQ search_chainTables(DI), R13
	ADDQ $chainTables_back, R13
	MOVQ walkPos, R11
	ADDQ R15, R11
	MOVQ search_next(DI), R14
	ADDQ R15, R14
	CMPB again+8(FP), $0
	JNE  again
	CMPQ R11, R14
	JCS  entered

	// Enter positions into the tables up to pos, and some behind it.
enter:
	MOVL $maxDistance, R12
	LEAQ -const_aheadSize(R11), R10
	CMPQ R14, R10
	JCS  skipped

near:
	LEAQ const_aheadSize(R11), R10
	CMPQ R10, limit
	CMOVQGT limit, R10

enter1:
	MOVL (SI)(R14*1), AX
	IMUL3L $-1640531535, AX, AX // 2654435761
	SHRL $17, AX
	MOVL heads(R13)(AX*4), CX
	MOVL R14, heads(R13)(AX*4)
	MOVL R14, BX
	ANDL $(const_aheadSize-1), BX
	MOVL CX, older(R13)(BX*4)
	MOVL R14, DX
	SUBL CX, DX
	ANDL $(const_windowSize-1), CX
	PREFETCHT0 (R13)(CX*2)
	CMPL DX, R12
	CMOVLHI R12, DX
	MOVL R14, BX
	ANDL $(const_windowSize-1), BX
	MOVW DX, (R13)(BX*2)
	INCQ R14
	CMPQ R14, R10
	JCS  enter1
	MOVQ R14, AX
	SUBQ base, AX
	MOVQ AX, search_next(DI)

entered:
	CMPQ walkLength, $3
	JEQ  first
	MOVL R11, BX
	ANDL $(const_aheadSize-1), BX
	MOVL older(R13)(BX*4), BX
	LEAQ -maxDistance(R11), R8
	CMPQ R8, base
	CMOVQLT base, R8
	MOVL R8, walkLowest
	MOVQ search_attempts(DI), R9

second:
	MOVQ walkPos, CX
	SUBQ walkLow, CX
	XORL AX, AX
	MOVL $1, R14
	CMPQ CX, $8
	CMOVQCC AX, R14
	SHLQ $3, CX
	SHLQ CX, R14
	MOVQ walkLow, AX
	ADDQ base, AX
	MOVQ AX, low
	MOVQ walkLength, R15

measure:
	MOVQ R11, here
	MOVQ -8(SI)(R11*1), R12
	MOVQ (SI)(R11*1), R11
	MOVQ base, AX
	ADDQ $8, AX
	CMPQ R8, AX
	CMOVQLT AX, R8
	JMP  candidate

	// Go on after a stop.
again:
	MOVL walkLowest, R8
	MOVL walkIndex, BX
	MOVQ walkLeft, R9
	CMPQ walkLength, $3
	JNE  second
	MOVQ search_attempts(DI), R15
	MOVBQSX search_runs(DI), DX
	NEGQ DX
	MOVL (SI)(R11*1), R12
	JMP  candidate4

first:
	MOVQ search_attempts(DI), R15
	MOVBQSX search_runs(DI), DX
	NEGQ DX

position:
	MOVL R11, BX
	ANDL $(const_aheadSize-1), BX
	MOVL older(R13)(BX*4), BX
	MOVL (SI)(R11*1), R12
	LEAQ -maxDistance(R11), R8
	CMPQ R8, base
	CMOVQLT base, R8
	MOVL R15, R9
	MOVQ DX, walkRun

	// Is the candidate a match at all?
candidate4:
	CMPL BX, R8
	JCS  nextPosition
	DECL R9
	JLT  nextPosition
	MOVL BX, R10
	ANDL $(const_windowSize-1), R10
	MOVWLZX (R13)(R10*2), R10
	CMPL R12, (SI)(BX*1)
	JEQ  isMatch
	CMPL R10, $1
	JEQ  neighbour4

step4:
	SUBL R10, BX
	JMP  candidate4

nextPosition:
	INCQ R11
	LEAQ 8(R11), AX
	CMPQ AX, limit
	JHI  nothing
	CMPQ R11, R14
	JCS  position
	JMP  enter

nothing:
	DECQ R11
	SUBQ base, R11
	MOVQ R11, walkPos
	MOVQ $const_walked, why+16(FP)
	RET

neighbour4:
	CMPQ walkRun, $0
	JEQ  step4
	LEAL -1(BX), AX
	CMPL AX, R8
	JCS  step4
	CMPL R12, (SI)(AX*1)
	JNE  step4
	MOVL R8, walkLowest
	MOVQ R11, AX
	SUBQ base, AX
	MOVQ AX, walkPos
	MOVQ AX, walkLow
	MOVQ AX, walkStart
	MOVQ $const_atNeighbour, AX
	JMP  stop

isMatch:
	MOVL R8, walkLowest
	MOVQ R11, AX
	SUBQ base, AX
	MOVQ AX, walkPos
	MOVQ AX, walkLow
	MOVQ AX, walkStart
	MOVQ R11, low
	MOVL $3, R15
	MOVL $1, R14
	INCL R9
	JMP  measure

	// The loop. DX is the length of the match, CX how much of it is before pos.
candidate:
	CMPL BX, R8
	JCS  last
	DECQ R9
	JLT  done
	MOVL BX, R10
	ANDL $(const_windowSize-1), R10
	MOVWLZX (R13)(R10*2), R10
	MOVQ -8(SI)(BX*1), CX
	XORQ R12, CX
	BSWAPQ CX
	MOVQ (SI)(BX*1), AX
	XORQ R11, AX
	JZ   check
	ORQ  R14, CX
	JZ   check
	TZCNTQ AX, DX
	SHRL $3, DX
	TZCNTQ CX, CX
	SHRL $3, CX
	ADDL CX, DX
	CMPL DX, R15
	JGT  perhaps

next:
	CMPL R10, $1
	JEQ  neighbour

step:
	SUBL R10, BX
	JMP  candidate

	// The first 4 bytes must be equal.
perhaps:
	TESTL AX, AX
	JNE   next
	MOVQ  here, AX
	SUBQ  CX, AX

longer:
	// DX is the length, AX where it starts.
	MOVQ DX, R15
	MOVQ DX, walkLength
	SUBQ base, AX
	MOVQ AX, walkStart
	MOVQ here, CX
	SUBQ BX, CX
	MOVQ CX, walkDist
	JMP  next

	// A candidate that may have many bytes: those where a longer match would end tell most of them off.
check:
	CMPL R11, (SI)(BX*1)
	JNE  next
	MOVQ low, CX
	ADDQ SI, CX
	MOVWLZX -1(CX)(R15*1), DX
	SUBQ here, CX
	ADDQ BX, CX
	CMPW DX, -1(CX)(R15*1)
	JNE  next

	// How far the match goes: DX is the index in the input, AX less than it by the distance.
	MOVQ here, DX
	ADDQ $4, DX
	LEAQ 4(BX), AX

#define HERE DX
#define THERE AX
#define LIMIT limit
#define REST CX
#include "count_amd64.h"

	// And how early it can start: AX is the index in the input, DX that of the candidate.
	MOVQ here, AX
	CMPQ AX, low
	JEQ  measured
	MOVQ DX, end
	MOVQ BX, DX

backward8:
	LEAQ -8(DX), CX
	CMPQ CX, base
	JLT  backward
	MOVQ -8(SI)(AX*1), CX
	XORQ -8(SI)(DX*1), CX
	JZ   backed8
	BSWAPQ CX
	TZCNTQ CX, CX
	SHRL $3, CX
	SUBQ CX, AX
	CMPQ AX, low
	CMOVQLT low, AX
	JMP  start

backed8:
	SUBQ $8, AX
	SUBQ $8, DX
	CMPQ AX, low
	JHI  backward8
	MOVQ low, AX
	JMP  start

backward:
	CMPQ AX, low
	JLS  start
	CMPQ DX, base
	JLS  start
	MOVB -1(SI)(DX*1), CX
	CMPB CX, -1(SI)(AX*1)
	JNE  start
	DECQ AX
	DECQ DX
	JMP  backward

start:
	MOVQ end, DX

measured:
	SUBQ AX, DX
	CMPQ DX, R15
	JGT  longer
	JMP  next

neighbour:
	CMPQ walkRun, $0
	JEQ  step
	LEAL -1(BX), AX
	CMPL AX, walkLowest
	JCS  step
	CMPL R11, (SI)(AX*1)
	JNE  step
	MOVQ $const_atNeighbour, AX

stop:
	MOVL BX, walkIndex
	MOVQ R9, walkLeft
	MOVQ AX, why+16(FP)
	RET

	// The 8 bytes before the last candidates are not all in the input.
last:
	MOVQ $const_atStart, AX
	CMPL BX, walkLowest
	JCC  stop

done:
	MOVQ $const_walked, why+16(FP)
	RET

	// Nobody asks for the candidates of positions that a long match has skipped. And in a run of one byte, where that is
	// always the position before, it need not be looked up. CX is the hash of that.
skipped:
	MOVL $-1, CX

skipped1:
	MOVL (SI)(R14*1), AX
	IMUL3L $-1640531535, AX, AX // 2654435761
	SHRL $17, AX
	MOVL $1, DX
	CMPL AX, CX
	JEQ  linked
	MOVL AX, CX
	MOVL R14, DX
	SUBL heads(R13)(AX*4), DX
	CMPL DX, R12
	CMOVLHI R12, DX

linked:
	MOVL R14, heads(R13)(AX*4)
	MOVL R14, BX
	ANDL $(const_windowSize-1), BX
	MOVW DX, (R13)(BX*2)
	INCQ R14
	CMPQ R14, R10
	JCS  skipped1
	JMP  near
