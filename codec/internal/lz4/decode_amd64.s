//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The greatest length for the loops here. Go's copy is as good for more, or better.
#define longest 16384

// func decodeSSSE3(d *decoder, spans *[16]spans.Span)
//
// Registers:
//
//	SI, DI     where the next byte of the input is and where that of the output goes; SI is beyond the distance when a
//	           match is copied
//	R8, R9     as far as both may be at the start of a sequence: 32 and 64 bytes from the ends
//	R10        the start of the output
//	R11, R12   SI and DI at the start of the sequence
//	R13        spans
//	AX, CX     the match length, of which 4 are missing at first, and the number of literals
//	BX, DX     distance, and where the match is copied from
//	R15        at hand
//
// Bytes just written are loaded in pieces of 8 where they are likely to be: a processor forwards what a load wants from
// one store, but waits where it wants more.
//
// With short sequences the time is that from one token to the next: a load, a shift and an addition. The prefetch makes
// 7 loads of 6, so that those of tokens are not always given to the same of three ports as those of matches. That alone
// is worth 4 to 8 % there.
TEXT ·decodeSSSE3(SB), NOSPLIT, $0-16
	MOVQ d+0(FP), AX
	MOVQ spans+8(FP), R13
	MOVQ decoder_src(AX), SI
	MOVQ decoder_src+8(AX), R8
	LEAQ -32(SI)(R8*1), R8
	ADDQ decoder_in(AX), SI
	MOVQ decoder_dst(AX), R10
	MOVQ decoder_dst+8(AX), R9
	LEAQ -64(R10)(R9*1), R9
	MOVQ R10, DI
	ADDQ decoder_out(AX), DI

	PCALIGN $32
sequence:
	MOVQ SI, R11
	MOVQ DI, R12
	CMPQ SI, R8
	JHI  leave
	CMPQ DI, R9
	JHI  leave
	PREFETCHT0 320(SI)
	MOVBLZX (SI), CX
	MOVUPS 1(SI), X0
	MOVL CX, AX
	ADDQ $3, SI
	SHRL $4, CX
	ANDL $15, AX
	CMPL CX, $15
	JEQ  manyLiterals
	MOVUPS X0, (DI)
	ADDQ CX, SI
	ADDQ CX, DI

match:
	MOVWLZX -2(SI), BX
	MOVQ DI, DX
	SUBQ BX, DX
	CMPQ DX, R10
	JCS  leave
	CMPL AX, $15
	JEQ  longMatch
	CMPL BX, $8
	JCS  overlap
	MOVQ (DX), BX
	MOVQ BX, (DI)
	MOVQ 8(DX), BX
	MOVQ BX, 8(DI)
	MOVWLZX 16(DX), BX
	MOVW BX, 16(DI)
	LEAQ 4(DI)(AX*1), DI
	JMP  sequence

	// The distance is less than 8: the bytes repeat. Two times 16 bytes are 18 at least.
overlap:
	TESTL BX, BX
	JEQ  leave
	SHLL $5, BX
	MOVQ (DX), X0
	PSHUFB (R13)(BX*1), X0
	MOVQ 16(R13)(BX*1), BX
	MOVUPS X0, (DI)
	MOVUPS X0, (DI)(BX*1)
	LEAQ 4(DI)(AX*1), DI
	JMP  sequence

manyLiterals:
	SUBQ $2, SI

literalLength:
	CMPQ SI, R8
	JHI  leave
	MOVBLZX (SI), R15
	INCQ SI
	ADDQ R15, CX
	CMPL R15, $255
	JEQ  literalLength
	CMPQ CX, $longest
	JHI  leave
	LEAQ (SI)(CX*1), DX
	CMPQ DX, R8
	JHI  leave
	LEAQ (DI)(CX*1), BX
	CMPQ BX, R9
	JHI  leave

copyLiterals:
	MOVUPS (SI), X0
	MOVUPS 16(SI), X1
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	ADDQ $32, SI
	ADDQ $32, DI
	CMPQ DI, BX
	JCS  copyLiterals
	LEAQ 2(DX), SI
	MOVQ BX, DI
	JMP  match

longMatch:
	CMPQ SI, R8
	JHI  leave
	MOVBLZX (SI), R15
	INCQ SI
	ADDQ R15, AX
	CMPL R15, $255
	JEQ  longMatch
	CMPQ AX, $longest
	JHI  leave
	LEAQ 4(DI)(AX*1), AX // the end of the match
	CMPQ AX, R9
	JHI  leave
	CMPL BX, $32
	JCS  near

far:
	MOVUPS (DX), X0
	MOVUPS 16(DX), X1
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	ADDQ $32, DX
	ADDQ $32, DI
	CMPQ DI, AX
	JCS  far
	MOVQ AX, DI
	JMP  sequence

near:
	CMPL BX, $16
	JCS  repeat

near16:
	MOVUPS (DX), X0
	MOVUPS X0, (DI)
	ADDQ $16, DX
	ADDQ $16, DI
	CMPQ DI, AX
	JCS  near16
	MOVQ AX, DI
	JMP  sequence

repeat:
	TESTL BX, BX
	JEQ  leave
	MOVQ (DX), X0
	CMPL BX, $8
	JLS  pattern
	MOVUPS (DX), X0

pattern:
	SHLL $5, BX
	PSHUFB (R13)(BX*1), X0
	MOVQ 16(R13)(BX*1), BX

repeat2:
	MOVUPS X0, (DI)
	MOVUPS X0, (DI)(BX*1)
	LEAQ (DI)(BX*2), DI
	CMPQ DI, AX
	JCS  repeat2
	MOVQ AX, DI
	JMP  sequence

leave:
	MOVQ d+0(FP), AX
	SUBQ decoder_src(AX), R11
	MOVQ R11, decoder_in(AX)
	SUBQ R10, R12
	MOVQ R12, decoder_out(AX)
	RET
