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

// Fields of the tables, starting at back.
#define heads (chainTables_heads-chainTables_back)
#define older (chainTables_older-chainTables_back)

// Local variables.
#define base  0(SP)  // index of the start of the input
#define limit 8(SP)  // index where a match must end
#define here  16(SP) // index of pos
#define low   24(SP) // index of the first byte that a match may have
#define end   32(SP) // index of the end of a match

//
// func findSSE2(s *search, again bool) (why int)
//
// It does what insert, findGeneric and follow do, and the loop of first over positions, and leaves runs of one byte to
// Go. hasKernel has checked walk.pos: 8 bytes before it and 8+5 bytes after it are in the input.
//
// Most of the time goes into branches that the CPU cannot predict: whether there is another candidate, whether it is a
// match, and whether it is longer. So the values that are needed after such a branch are loaded before it. Positions
// are entered into the tables many at a time, which also yields the first candidate of each and prefetches the distance
// to its next one. A candidate is measured at once, by the 8 bytes at it and the 8 before it, compared with those
// at pos, unless all 8 of either are equal. The search for the first match is a loop of its own, which compares 4
// bytes, because most candidates are no match.
//
// Registers:
//
//	DI         s
//	SI         the address of index 0: that of the input less base
//	R13        back
//	BX, R10    index of the candidate, and the distance to the next one
//	R8         the lowest index that is looked at here
//	R9         candidates left
//	AX, CX, DX scratch
//
// Registers of the search for the first match:
//
//	R11, R12   index of pos, and the 4 bytes there
//	R14        the first index not in the tables
//	R15, DX    candidates looked at for one position, and the initial value of walk.run
//
// Registers of all other searches:
//
//	R11, R12   the 8 bytes at pos, and the 8 before it
//	R14        the bit after the bytes that a match may have before pos, or 0 for 8 bytes or more
//	R15        length of the longest match
TEXT ·findSSE2(SB), NOSPLIT, $40-24
	MOVQ s+0(FP), DI

	// The input: SI is the address of index 0. The last 5 bytes of the input belong to no match.
	MOVQ search_block(DI), AX
	MOVL block_base(AX), R15
	MOVQ R15, base
	MOVQ block_src(AX), SI
	MOVQ block_src+8(AX), CX
	LEAQ -5(R15)(CX*1), CX
	MOVQ CX, limit
	SUBQ R15, SI

	// The tables, the position and the first position that is not in the tables, as indexes.
	MOVQ search_chainTables(DI), R13
	ADDQ $chainTables_back, R13
	MOVQ walkPos, R11
	ADDQ R15, R11
	MOVQ search_next(DI), R14
	ADDQ R15, R14

	// A position before search.next is in the tables.
	CMPB again+8(FP), $0
	JNE  again
	CMPQ R11, R14
	JCS  entered

	// Enter positions into the tables up to pos, and up to 63 after it. Those 64 or more before pos take the shorter
	// loop at skipped. Here R14 is not after R11, the index of pos.
enter:
	MOVL $maxDistance, R12
	LEAQ -const_aheadSize(R11), R10
	CMPQ R14, R10
	JCS  skipped

	// R10 is where to stop: not after limit, so that the 4 bytes of each position are in the input. It is after R11.
near:
	LEAQ const_aheadSize(R11), R10
	CMPQ R10, limit
	CMOVQGT limit, R10

	// One position, as in insert. AX is its hash, which the shift keeps inside heads; CX is the head before.
enter1:
	MOVL (SI)(R14*1), AX
	IMUL3L $-1640531535, AX, AX // 2654435761
	SHRL $17, AX
	MOVL heads(R13)(AX*4), CX
	MOVL R14, heads(R13)(AX*4)
	MOVL R14, BX
	ANDL $(const_aheadSize-1), BX
	MOVL CX, older(R13)(BX*4)

	// DX is the distance to that head, at most maxDistance; back of that head is needed next.
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

	// Store search.next.
	MOVQ R14, AX
	SUBQ base, AX
	MOVQ AX, search_next(DI)

	// pos is in the tables, and was among the last 64 positions entered, so older has its first candidate. A search for
	// any match, of 4 bytes or more, starts at first. Any other search has the candidates of only one position.
entered:
	CMPQ walkLength, $3
	JEQ  first
	MOVL R11, BX
	ANDL $(const_aheadSize-1), BX
	MOVL older(R13)(BX*4), BX

	// R8 is the lowest index: near enough, and in the input.
	LEAQ -maxDistance(R11), R8
	CMPQ R8, base
	CMOVQLT base, R8
	MOVL R8, walkLowest
	MOVQ search_attempts(DI), R9

	// R14 is bit 8*(pos-low), which ends the count of equal bytes before pos, or 0 where 8 bytes or more may be
	// counted.
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

	// The 16 bytes around pos are in the input: see hasKernel. Candidates less than 8 bytes after the start of the
	// input are left to Go, because the loop reads 8 bytes before each.
measure:
	MOVQ R11, here
	MOVQ -8(SI)(R11*1), R12
	MOVQ (SI)(R11*1), R11
	MOVQ base, AX
	ADDQ $8, AX
	CMPQ R8, AX
	CMOVQLT AX, R8
	JMP  candidate

	// Go on after a stop, with the candidate in walk.index.
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

	// Search for the first match at pos or later: R15 is the number of candidates of each position, DX the initial
	// value of walk.run: -1 to look at runs, 0 otherwise.
first:
	MOVQ search_attempts(DI), R15
	MOVBQSX search_runs(DI), DX
	NEGQ DX

	// The next position. BX is its first candidate, R12 its 4 bytes, R8 the lowest index, R9 the candidates left.
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

	// Is the candidate a match? An index below R8 is too far away or not in this input. Otherwise it is in the input
	// and before pos, so its 4 bytes are too. R10 is the distance to the next candidate.
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

	// The next candidate of the chain.
step4:
	SUBL R10, BX
	JMP  candidate4

	// No match here: the next position, if it has 8 bytes before limit. The tables have positions before R14.
nextPosition:
	INCQ R11
	LEAQ 8(R11), AX
	CMPQ AX, limit
	JHI  nothing
	CMPQ R11, R14
	JCS  position
	JMP  enter

	// No position has a match: walk.pos is the last one looked at, walk.found is as it was.
nothing:
	DECQ R11
	SUBQ base, R11
	MOVQ R11, walkPos
	MOVQ $const_walked, why+16(FP)
	RET

	// The next candidate is one byte before this one, which a run of one byte has. If it has the 4 bytes as well and
	// runs are looked at, Go continues. It is not below R8, so it is in the input.
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

	// The first match starts a search of the other kind, at this position and with this candidate again, which R9 must
	// not count twice. No byte before pos is allowed: low is pos, and R14 is bit 0.
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

	// The loop over candidates. DX becomes the length of the match, CX how many of its bytes are before pos. BX is at
	// least 8 after the start of the input and before pos, so that the 16 bytes around it are in the input.
candidate:
	CMPL BX, R8
	JCS  last
	DECQ R9
	JLT  done
	MOVL BX, R10
	ANDL $(const_windowSize-1), R10
	MOVWLZX (R13)(R10*2), R10

	// CX has the bytes that differ before, the nearest one lowest, and AX those from the candidate on. If either is 0
	// there may be more than 8 equal bytes, which check counts.
	MOVQ -8(SI)(BX*1), CX
	XORQ R12, CX
	BSWAPQ CX
	MOVQ (SI)(BX*1), AX
	XORQ R11, AX
	JZ   check
	ORQ  R14, CX
	JZ   check

	// Both counts are known. Most candidates are not longer than the longest one.
	TZCNTQ AX, DX
	SHRL $3, DX
	TZCNTQ CX, CX
	SHRL $3, CX
	ADDL CX, DX
	CMPL DX, R15
	JGT  perhaps

	// Follow the chain: R10 is the distance to the next candidate.
next:
	CMPL R10, $1
	JEQ  neighbour

step:
	SUBL R10, BX
	JMP  candidate

	// The first 4 bytes must be equal: a match covers pos.
perhaps:
	TESTL AX, AX
	JNE   next
	MOVQ  here, AX
	SUBQ  CX, AX

longer:
	// DX is the length of a longer match, AX the index of its start: store it in walk.found.
	MOVQ DX, R15
	MOVQ DX, walkLength
	SUBQ base, AX
	MOVQ AX, walkStart
	MOVQ here, CX
	SUBQ BX, CX
	MOVQ CX, walkDist
	JMP  next

	// A candidate that may have many equal bytes. Its first 4 bytes must be equal, and so must the 2 bytes where a
	// longer match would end, which rules out most candidates. Follow reads the same 2 bytes: low+longest-1 at the
	// position.
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

	// How far the match goes: DX becomes the index of its end, at most limit, and AX that of the candidate's end.
	MOVQ here, DX
	ADDQ $4, DX
	LEAQ 4(BX), AX

#define HERE DX
#define THERE AX
#define LIMIT limit
#define REST CX
#include "count_amd64.h"

	// And how early it can start: AX is the index at the position, not below low, and DX at the candidate.
	MOVQ here, AX
	CMPQ AX, low
	JEQ  measured
	MOVQ DX, end
	MOVQ BX, DX

	// Compare 8 bytes at once while the candidate has as many in the input. AX is after DX, so the position has too.
backward8:
	LEAQ -8(DX), CX
	CMPQ CX, base
	JLT  backward
	MOVQ -8(SI)(AX*1), CX
	XORQ -8(SI)(DX*1), CX
	JZ   backed8

	// Some of the 8 bytes differ: count the equal ones, the last of which is the highest. Stop at low.
	BSWAPQ CX
	TZCNTQ CX, CX
	SHRL $3, CX
	SUBQ CX, AX
	CMPQ AX, low
	CMOVQLT low, AX
	JMP  start

	// All 8 bytes are equal.
backed8:
	SUBQ $8, AX
	SUBQ $8, DX
	CMPQ AX, low
	JHI  backward8
	MOVQ low, AX
	JMP  start

	// Byte by byte near the start of the input: neither index goes below its bound.
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

	// DX is the end of the match, AX its start.
measured:
	SUBQ AX, DX
	CMPQ DX, R15
	JGT  longer
	JMP  next

	// As above: the next candidate is one byte before this one. It is not below walk.lowest, so it is in the
	// input, though its 8 bytes before may not be.
neighbour:
	CMPQ walkRun, $0
	JEQ  step
	LEAL -1(BX), AX
	CMPL AX, walkLowest
	JCS  step
	CMPL R11, (SI)(AX*1)
	JNE  step
	MOVQ $const_atNeighbour, AX

	// Leave the candidate, and how many may still be looked at, to Go, for the reason in AX.
stop:
	MOVL BX, walkIndex
	MOVQ R9, walkLeft
	MOVQ AX, why+16(FP)
	RET

	// The candidate is below R8. If it is not below walk.lowest, it is only too near the start of the input for 8 bytes
	// before it, and Go follows the rest of the chain.
last:
	MOVQ $const_atStart, AX
	CMPL BX, walkLowest
	JCC  stop

done:
	MOVQ $const_walked, why+16(FP)
	RET

	// Enter positions that are 64 or more before pos. No search will use them as a position, so older does not need
	// their candidates. In a run of one byte the hash repeats and the last index of the hash is the position before, so
	// it need not be loaded. CX is the hash of the position before, first one that no hash equals. R14 stays below R10,
	// 64 before pos, so that the 4 bytes are in the input.
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

	// DX is the distance to the head before.
linked:
	MOVL R14, heads(R13)(AX*4)
	MOVL R14, BX
	ANDL $(const_windowSize-1), BX
	MOVW DX, (R13)(BX*2)
	INCQ R14
	CMPQ R14, R10
	JCS  skipped1
	JMP  near
