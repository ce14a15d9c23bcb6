//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// The largest length for the loops here. For more, Go's copy is as fast or faster.
#define longest 16384

// Both kernels go through sequences with the code in decode_lane_amd64.h. Registers:
//
//	SI, DI     addresses of the next byte of the input and of the output; of the second lane R8, R9
//	R10        the start of the output, of the first lane
//	R11, R12   where both were at the start of the sequence
//	R13        spans
//	R14        16
//	AX, BX, CX, DX, R15, X0, X1   scratch

// func decodeSSSE3(d *decoder, spans *[17]spans.Span)
//
// With short sequences the time is that from one token to the next: a load, a shift and an addition.
TEXT ·decodeSSSE3(SB), NOSPLIT, $0-16
	MOVQ d+0(FP), AX
	MOVQ spans+8(FP), R13
	MOVL $16, R14
	// The input: its last 32 bytes are for Go. d.roomy has checked that there are as many.
	MOVQ decoder_src(AX), SI
	MOVQ decoder_src+8(AX), R8
	LEAQ -32(SI)(R8*1), R8
	ADDQ decoder_in(AX), SI
	// The output: its last 64 bytes are for Go.
	MOVQ decoder_dst(AX), R10
	MOVQ decoder_dst+8(AX), R9
	LEAQ -64(R10)(R9*1), R9
	MOVQ R10, DI
	ADDQ decoder_out(AX), DI

#define IN SI
#define OUT DI
#define INMOST R8
#define OUTMOST R9
#define FIRST R10
#define next sequence
	PCALIGN $32
#include "decode_lane_amd64.h"

	// Store the positions, as offsets.
	MOVQ d+0(FP), AX
	SUBQ decoder_src(AX), SI
	MOVQ SI, decoder_in(AX)
	SUBQ R10, DI
	MOVQ DI, decoder_out(AX)
	RET

// func decodeTwoSSSE3(a, b *decoder, spans *[17]spans.Span) (lane int)
//
// Two lanes take turns, a sequence each. Neither waits for the tokens of the other, so that the CPU works on both at
// the same time.
TEXT ·decodeTwoSSSE3(SB), NOSPLIT, $48-32
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), BX
	MOVQ spans+16(FP), R13
	MOVL $16, R14
	// The first lane, as in decodeSSSE3. There are not enough registers for the limits of both.
	MOVQ decoder_src(AX), SI
	MOVQ decoder_src+8(AX), CX
	LEAQ -32(SI)(CX*1), CX
	MOVQ CX, inmost1-48(SP)
	ADDQ decoder_in(AX), SI
	MOVQ decoder_dst(AX), DI
	MOVQ DI, R10
	MOVQ decoder_dst+8(AX), CX
	LEAQ -64(DI)(CX*1), CX
	MOVQ CX, outmost1-40(SP)
	ADDQ decoder_out(AX), DI
	// The second lane.
	MOVQ decoder_src(BX), R8
	MOVQ decoder_src+8(BX), CX
	LEAQ -32(R8)(CX*1), CX
	MOVQ CX, inmost2-32(SP)
	ADDQ decoder_in(BX), R8
	MOVQ decoder_dst(BX), R9
	MOVQ R9, first2-16(SP)
	MOVQ decoder_dst+8(BX), CX
	LEAQ -64(R9)(CX*1), CX
	MOVQ CX, outmost2-24(SP)
	ADDQ decoder_out(BX), R9

#undef IN
#undef OUT
#undef INMOST
#undef OUTMOST
#undef FIRST
#undef next

#define IN SI
#define OUT DI
#define INMOST inmost1-48(SP)
#define OUTMOST outmost1-40(SP)
#define FIRST R10
#define next sequence2
#define sequence sequence1
#define match match1
#define manyLiterals manyLiterals1
#define moreLiterals moreLiterals1
#define literalLength literalLength1
#define copyLiterals copyLiterals1
#define longMatch longMatch1
#define far far1
#define longer longer1
#define lengthKnown lengthKnown1
#define near near1
#define near16 near161
#define repeat repeat1
#define pattern pattern1
#define again again1
#define leave leave1
	PCALIGN $32
#include "decode_lane_amd64.h"

	XORL CX, CX // the lane that stops
	JMP  done

#undef IN
#undef OUT
#undef INMOST
#undef OUTMOST
#undef FIRST
#undef next
#undef sequence
#undef match
#undef manyLiterals
#undef moreLiterals
#undef literalLength
#undef copyLiterals
#undef longMatch
#undef far
#undef longer
#undef lengthKnown
#undef near
#undef near16
#undef repeat
#undef pattern
#undef again
#undef leave

#define IN R8
#define OUT R9
#define INMOST inmost2-32(SP)
#define OUTMOST outmost2-24(SP)
#define FIRST first2-16(SP)
#define next sequence1
#define sequence sequence2
#define match match2
#define manyLiterals manyLiterals2
#define moreLiterals moreLiterals2
#define literalLength literalLength2
#define copyLiterals copyLiterals2
#define longMatch longMatch2
#define far far2
#define longer longer2
#define lengthKnown lengthKnown2
#define near near2
#define near16 near162
#define repeat repeat2
#define pattern pattern2
#define again again2
#define leave leave2
	PCALIGN $32
#include "decode_lane_amd64.h"

	MOVL $1, CX

	// Store the positions of both lanes. The lane that did not stop is at the start of a sequence, too.
done:
	MOVQ CX, lane+24(FP)
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), BX
	SUBQ decoder_src(AX), SI
	MOVQ SI, decoder_in(AX)
	SUBQ R10, DI
	MOVQ DI, decoder_out(AX)
	SUBQ decoder_src(BX), R8
	MOVQ R8, decoder_in(BX)
	SUBQ decoder_dst(BX), R9
	MOVQ R9, decoder_out(BX)
	RET
