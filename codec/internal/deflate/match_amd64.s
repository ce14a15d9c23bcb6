//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// ENTER does what matcher.insert does, but leaves the test of the bit to the code after it. It enters the position at
// SI, of index R9, into the tables at DI, but not into long. BX becomes the low bits of the index before, DX the
// distance, or unreachable, and CX the low bits of R9. Bit R12 of R13 becomes whether the 3 bytes may have been seen.
// AX, R10 and R14 are scratch registers. The factor is 2654435761.
//
// The load takes 4 bytes at SI, for which margin in match_amd64.go has left room. The mask keeps CX inside heads, the
// shifts keep R10 inside recent and older, and back has an entry for every 16 bits.
#define ENTER \
	MOVL    (SI), AX                      \
	MOVL    AX, CX                        \
	SHLL    $10, CX                       \
	MOVL    AX, DX                        \
	SHRL    $3, DX                        \
	ANDL    $0x1fe0, DX                   \
	XORL    DX, CX                        \
	MOVL    AX, R12                       \
	SHRL    $16, AX                       \
	MOVBLZX AX, AX                        \
	XORL    AX, CX                        \
	ANDL    $0x7fff, CX                   \
	SHLL    $8, R12                       \
	IMUL3L  $-1640531535, R12, R12        \
	MOVL    R9, AX                        \
	SUBL    matcher_heads(DI)(CX*4), AX   \
	MOVL    R9, matcher_heads(DI)(CX*4)   \
	SHRL    $14, R12                      \
	MOVL    R12, R10                      \
	SHRL    $5, R10                       \
	MOVL    matcher_recent(DI)(R10*4), R14 \
	MOVL    matcher_older(DI)(R10*4), R13 \
	ORL     R14, R13                      \
	BTSL    R12, R14                      \
	MOVL    R14, matcher_recent(DI)(R10*4) \
	MOVL    $const_unreachable, DX        \
	CMPL    AX, DX                        \
	CMOVLCS AX, DX                        \
	MOVL    R9, BX                        \
	SUBL    DX, BX                        \
	MOVWLZX BX, BX                        \
	MOVWLZX R9, CX                        \
	MOVW    BX, matcher_back(DI)(CX*2)

// ENTERLONG does what long.insert does, after ENTER, for the tables at R8. R14 becomes the low bits of the index before
// with the same hash of 4 bytes, R10 the distance, or unreachable, and AX the rank.
#define ENTERLONG \
	IMUL3L  $-1640531535, (SI), AX      \
	SHRL    $(32-const_longBits), AX    \
	MOVL    R9, R10                     \
	SUBL    long_heads(R8)(AX*4), R10   \
	MOVL    R9, long_heads(R8)(AX*4)    \
	MOVL    $const_unreachable, R14     \
	CMPL    R10, R14                    \
	CMOVLHI R14, R10                    \
	MOVL    R9, R14                     \
	SUBL    R10, R14                    \
	MOVWLZX R14, R14                    \
	MOVW    R14, long_back(R8)(CX*2)    \
	MOVWLZX long_ranks(R8)(BX*2), AX    \
	INCL    AX                          \
	MOVW    AX, long_ranks(R8)(CX*2)

// Local variables.
#define stop   0(SP)  // address
#define low    8(SP)  // address after which matches may be
#define before 16(SP)
#define nice   24(SP)
#define chain  32(SP)
#define first  40(SP)  // the distance of the previous position with the same hash of 3 bytes
#define rank   48(SP)  // of the position
#define least  56(SP)  // length that a match of 4 bytes or more must exceed, or 0 in a walk along matcher.back

// func findSSE2(m *matcher, b *block)
//
// It does what findGeneric does, as long as it finds nothing and is before walk.stop. Loads go at most 8+16*16 bytes
// from the position on: stop is at least margin, maxMatch+32, before the end of the input.
//
// Registers:
//
//	DI         m
//	SI, R9     address and index of the position
//	R8         long, or 0
//	BX, DX     low bits of the index of the candidate, and its distance
//	R10        candidates left
//	R11        length of the longest match
//	R12, R14   address where a longer one would end, less one, and the 2 bytes there
//	R13        the largest distance
//	R15        b
//	AX, CX     scratch
//
// The time of a chain is that of its loads of indexes, each of which waits for the one before. The CPU does the rest
// during these loads.
TEXT ·findSSE2(SB), NOSPLIT, $64-16
	// The walk: addresses for positions, and the index of the first one.
	MOVQ m+0(FP), DI
	MOVQ b+8(FP), R15
	MOVQ matcher_src(DI), AX
	MOVQ (matcher_walk+walk_pos)(DI), CX
	LEAQ (AX)(CX*1), SI
	MOVL matcher_base(DI), R9
	ADDL CX, R9
	MOVQ (matcher_walk+walk_stop)(DI), CX
	ADDQ AX, CX
	MOVQ CX, stop
	MOVQ matcher_low(DI), CX
	LEAQ 1(AX)(CX*1), CX
	MOVQ CX, low
	MOVQ (matcher_walk+walk_before)(DI), R11
	MOVQ R11, before
	MOVQ (matcher_walk+walk_nice)(DI), CX
	MOVQ CX, nice
	MOVQ (matcher_walk+walk_chain)(DI), CX
	MOVQ CX, chain
	MOVQ matcher_long(DI), R8

	// Enter the position. Where its bit is not set, no position can have the same 3 bytes.
position:
	ENTER
	TESTQ R8, R8
	JEQ   entered
	ENTERLONG
	MOVL AX, rank

entered:
	MOVL $const_unreachable, AX
	BTL  R12, R13
	CMOVLCC AX, DX

	// The first candidate may be maxDistance away, or pos-low-1 if that is less; later ones 1 less than maxDistance. At
	// position 0 the difference is -1, as a large number, but then every candidate is unreachable.
	MOVQ SI, R13
	SUBQ low, R13
	MOVL $const_maxDistance, CX
	CMPQ R13, CX
	CMOVQHI CX, R13
	CMPL DX, R13
	JHI  nothing
	DECL CX
	CMPQ R13, CX
	CMOVQHI CX, R13
	MOVQ DX, first
	TESTQ R8, R8
	JEQ   all
	CMPL DX, R13
	JHI  all

	// Walk along long.back: for matches of 4 bytes or more.
	MOVQ before, R11
	MOVL $const_minMatch, CX
	CMPQ R11, CX
	CMOVQCS CX, R11
	MOVQ R11, least
	MOVQ R14, BX
	MOVL R10, DX
	MOVQ (matcher_walk+walk_budget)(DI), R10
	LEAQ -1(SI)(R11*1), R12
	MOVWLZX (R12), R14
	CMPL DX, R13
	JHI  doneLong

	// A position with the same 4 bytes is a candidate if its rank is at most chain less. It is at most R13 before the
	// position, so after low: its bytes are in the input.
long:
	MOVL rank, AX
	MOVWLZX long_ranks(R8)(BX*2), CX
	SUBL CX, AX
	MOVWLZX AX, AX
	CMPL AX, chain
	JHI  beyond
	MOVQ R12, AX
	SUBQ DX, AX
	MOVWLZX (AX), AX
	CMPL AX, R14
	JEQ  check

	// The next one. If too many have other bytes, do what the C library does.
nextLong:
	MOVWLZX long_back(R8)(BX*2), BX
	MOVL R9, DX
	SUBL BX, DX
	MOVWLZX DX, DX
	CMPL DX, R13
	JHI  doneLong
	DECL R10
	JNZ  long
	JMP  all

	// The C library does not come to this position, if it has the same 4 bytes, nor to those after it.
beyond:
	MOVQ SI, AX
	SUBQ DX, AX
	MOVL (AX), AX
	CMPL AX, (SI)
	JNE  nextLong

	// R11 is not least if a match was found. Without one, 3 bytes may do: look for them along matcher.back.
doneLong:
	CMPQ R11, least
	JNE  found
	MOVQ before, R11
	CMPQ R11, $2
	JNE  none
	MOVQ first, DX
	MOVL R9, BX
	SUBL DX, BX
	MOVWLZX BX, BX
	MOVL $const_tooFar, AX
	CMPQ R13, AX
	CMOVQHI AX, R13
	MOVQ chain, R10
	MOVL (SI), R14
	CMPL DX, R13
	JHI  nothing

	// Only 3 of the 4 bytes count. The candidate is before the position, so they are in the input, too.
next3:
	MOVQ SI, AX
	SUBQ DX, AX
	MOVL (AX), AX
	XORL R14, AX
	SHLL $8, AX
	JEQ  found3
	MOVWLZX matcher_back(DI)(BX*2), BX
	MOVL R9, DX
	SUBL BX, DX
	MOVWLZX DX, DX
	CMPL DX, R13
	JHI  nothing
	DECL R10
	JNZ  next3
	JMP  nothing

found3:
	MOVQ $const_minMatch, R11
	MOVQ DX, (matcher_walk+walk_distance)(DI)
	JMP  found

	// Walk along matcher.back, as the C library does.
all:
	MOVQ first, DX
	MOVL R9, BX
	SUBL DX, BX
	MOVQ before, R11
	MOVQ $0, least

	// R12 and R14: only a candidate with the same 2 bytes there can be longer than R11.
	MOVWLZX BX, BX
	MOVQ chain, R10
	LEAQ -1(SI)(R11*1), R12
	MOVWLZX (R12), R14

	// A candidate is at most R13 before the position, so after low: its bytes are in the input.
candidate:
	MOVQ R12, AX
	SUBQ DX, AX
	MOVWLZX (AX), AX
	CMPL AX, R14
	JEQ  check

	// The next candidate, by the low 16 bits of its index. The distance is a difference of 16 bits, as in longest.
next:
	MOVWLZX matcher_back(DI)(BX*2), BX
	MOVL R9, DX
	SUBL BX, DX
	MOVWLZX DX, DX
	CMPL DX, R13
	JHI  done
	DECL R10
	JNZ  candidate
	JMP  done

	// How long the match is: CX. AX is the address of the candidate.
check:
	MOVQ SI, AX
	SUBQ DX, AX
	MOVQ (AX), CX
	XORQ (SI), CX
	JNZ  short
	MOVL $8, CX

	// 16 bytes at a time, up to 258 or some more, which do not count.
vector:
	MOVOU (SI)(CX*1), X0
	MOVOU (AX)(CX*1), X1
	PCMPEQB X1, X0
	PMOVMSKB X0, DX
	XORL $0xffff, DX
	JNZ  differ
	ADDQ $16, CX
	CMPQ CX, $const_maxMatch
	JCS  vector
	MOVL $const_maxMatch, CX
	JMP  measured

	// The first of the bits in DX is the first byte that differs.
differ:
	BSFL DX, DX
	ADDQ DX, CX
	CMPQ CX, $const_maxMatch
	JLS  measured
	MOVL $const_maxMatch, CX
	JMP  measured

	// Less than 8 bytes are equal.
short:
	BSFQ CX, CX
	SHRL $3, CX

	// A longer match: keep its length and distance, and stop if it is long enough. R12 and R14 move on with the length.
measured:
	CMPQ CX, R11
	JLS  shorter
	MOVQ CX, R11
	MOVQ SI, DX
	SUBQ AX, DX
	MOVQ DX, (matcher_walk+walk_distance)(DI)
	CMPQ CX, nice
	JGE  found
	LEAQ -1(SI)(R11*1), R12
	MOVWLZX (R12), R14

	// Go on with the walk.
shorter:
	CMPQ least, $0
	JNE  nextLong
	JMP  next

	// The chain is at its end. R11 is not before if a match was found.
done:
	CMPQ R11, before
	JNE  found

	// No match. If any match would do, the byte is a literal and the search continues at the next position, until the
	// block is full or at stop. A block that is full was flushed before the call, so the literal has room.
nothing:
	CMPQ R11, $2
	JNE  none
	MOVBLZX (SI), AX
	MOVQ block_count(R15), CX
	MOVL AX, block_symbols(R15)(CX*4)
	INCQ CX
	MOVQ CX, block_count(R15)
	INCW block_literalFreqs(R15)(AX*2)
	INCQ SI
	INCL R9
	CMPQ CX, $const_maxSymbols
	JEQ  none
	CMPQ SI, stop
	JCS  position

	// The result: no distance where there is no match.
none:
	MOVQ $0, (matcher_walk+walk_distance)(DI)

	// The length and the position, which is that of the match or the next one.
found:
	MOVQ R11, (matcher_walk+walk_length)(DI)
	SUBQ matcher_src(DI), SI
	MOVQ SI, (matcher_walk+walk_pos)(DI)
	RET

// func insertSSE2(m *matcher, pos, end int)
//
// It does what insertAllGeneric does. end is at least margin before the end of the input, and pos is less than end.
//
//
// Registers: those of ENTER and ENTERLONG, and R15 for the address of the end. R8 is long, or 0.
TEXT ·insertSSE2(SB), NOSPLIT, $0-24
	MOVQ m+0(FP), DI
	MOVQ matcher_src(DI), AX
	MOVQ pos+8(FP), SI
	MOVL matcher_base(DI), R9
	ADDL SI, R9
	ADDQ AX, SI
	MOVQ end+16(FP), R15
	ADDQ AX, R15
	MOVQ matcher_long(DI), R8

enter:
	ENTER
	TESTQ R8, R8
	JEQ   entered
	ENTERLONG

entered:
	INCQ SI
	INCL R9
	CMPQ SI, R15
	JCS  enter
	RET
