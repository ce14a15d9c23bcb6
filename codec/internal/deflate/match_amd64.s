//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// ENTER does what matcher.insert does, but leaves the test of the bit to the code after it. It enters the position at
// SI, of index R9, into the tables at DI and R8. BX becomes the low bits of the index before, DX the distance, or
// unreachable. Bit R12 of R13 becomes whether the 3 bytes may have been seen. AX, CX, R10 and R14 are scratch
// registers. The factor is 2654435761.
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
	MOVWLZX R9, CX                        \
	MOVW    BX, (R8)(CX*2)

// Local variables.
#define stop   0(SP)  // address
#define low    8(SP)  // address after which matches may be
#define before 16(SP)
#define nice   24(SP)
#define chain  32(SP)

// func findSSE2(m *matcher, b *block)
//
// It does what findGeneric does, as long as it finds nothing and is before walk.stop. Loads go at most 8+16*16 bytes
// from the position on: stop is at least margin, maxMatch+32, before the end of the input.
//
// Registers:
//
//	DI         m
//	SI, R9     address and index of the position
//	R8         back
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
TEXT ·findSSE2(SB), NOSPLIT, $40-16
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
	LEAQ matcher_back(DI), R8

	// Enter the position. Where its bit is not set, no position can have the same 3 bytes.
position:
	ENTER
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
	MOVWLZX (R8)(BX*2), BX
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
long:
	MOVOU (SI)(CX*1), X0
	MOVOU (AX)(CX*1), X1
	PCMPEQB X1, X0
	PMOVMSKB X0, DX
	XORL $0xffff, DX
	JNZ  differ
	ADDQ $16, CX
	CMPQ CX, $const_maxMatch
	JCS  long
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
	JLS  next
	MOVQ CX, R11
	MOVQ SI, DX
	SUBQ AX, DX
	MOVQ DX, (matcher_walk+walk_distance)(DI)
	CMPQ CX, nice
	JGE  found
	LEAQ -1(SI)(R11*1), R12
	MOVWLZX (R12), R14
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
// Registers: those of ENTER, and R15 for the address of the end.
TEXT ·insertSSE2(SB), NOSPLIT, $0-24
	MOVQ m+0(FP), DI
	MOVQ matcher_src(DI), AX
	MOVQ pos+8(FP), SI
	MOVL matcher_base(DI), R9
	ADDL SI, R9
	ADDQ AX, SI
	MOVQ end+16(FP), R15
	ADDQ AX, R15
	LEAQ matcher_back(DI), R8

enter:
	ENTER
	INCQ SI
	INCL R9
	CMPQ SI, R15
	JCS  enter
	RET
