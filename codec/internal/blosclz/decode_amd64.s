//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// func decodeSSSE3(d *decoder, spans *[17]spans.Span)
//
// Registers:
//
//	SI, DI     addresses of the next byte of the input and of the output
//	R8, R9     limits of both at the start of a token: 40 and 64 bytes before the ends
//	R10        the start of the output
//	R11, R12   SI and DI at the start of the token
//	R13        spans
//	AX         the length of a match, or its part in the control byte
//	BX, DX     distance, and the source of the match
//	CX         scratch
//
// Bytes that were probably just written are loaded in pieces of 8: a CPU forwards a load from one store, but waits if
// it needs more stores.
TEXT ·decodeSSSE3(SB), NOSPLIT, $0-16
	MOVQ d+0(FP), AX
	MOVQ spans+8(FP), R13
	MOVQ decoder_src(AX), SI
	MOVQ decoder_src+8(AX), R8
	LEAQ -40(SI)(R8*1), R8
	MOVQ decoder_dst(AX), DI
	MOVQ decoder_dst+8(AX), R9
	LEAQ -64(DI)(R9*1), R9
	MOVQ DI, R10
	MOVQ SI, R11
	MOVQ DI, R12

	// The first token has literals; three of its bits mean nothing.
	MOVBLZX (SI), AX
	INCQ SI
	ANDL $31, AX
	JMP  literals

	// Remember where the token starts. Leave it to Go unless 40 bytes of input and 64 of output are left.
	PCALIGN $32
token:
	MOVQ SI, R11
	MOVQ DI, R12
	CMPQ SI, R8
	JHI  leave
	CMPQ DI, R9
	JHI  leave
	MOVBLZX (SI), AX
	INCQ SI
	CMPL AX, $32
	JCC  match

	// AX+1 literals, 1 to 32: copy 32 bytes. Later tokens overwrite the surplus.
literals:
	MOVUPS (SI), X0
	MOVUPS 16(SI), X1
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	LEAQ 1(SI)(AX*1), SI
	LEAQ 1(DI)(AX*1), DI
	JMP  token

	// The low five bits of the control byte are the high bits of the distance, the upper three, 1 to 7, the length less
	// 2. 7 means that bytes of the length follow. The low byte of the distance is next; the distance is one more.
match:
	MOVL AX, BX
	ANDL $31, BX
	SHLL $8, BX
	SHRL $5, AX
	CMPL AX, $7
	JEQ  long
	MOVBLZX (SI), CX
	INCQ SI
	LEAL 1(BX)(CX*1), BX
	CMPL BX, $8192
	JEQ  farShort

	// 3 to 8 bytes: copy 8. Leave distances that reach before the output to Go.
short:
	MOVQ DI, DX
	SUBQ BX, DX
	CMPQ DX, R10
	JCS  leave
	CMPL BX, $8
	JCS  shortRepeat
	MOVQ (DX), CX
	MOVQ CX, (DI)
	LEAQ 2(DI)(AX*1), DI
	JMP  token

	// A distance below 8: repeat the first BX bytes over 8.
shortRepeat:
	SHLL $5, BX
	MOVQ (DX), X0
	PSHUFB (R13)(BX*1), X0
	MOVQ X0, (DI)
	LEAQ 2(DI)(AX*1), DI
	JMP  token

	// The largest distance means that two more bytes follow, the high one first, to add to it.
farShort:
	MOVWLZX (SI), CX
	ROLW $8, CX
	ADDL CX, BX
	ADDQ $2, SI
	JMP  short

	// 9 bytes or more: add bytes to the length until one is below 255. The rest of the distance is after them.
long:
	ADDQ $2, AX

longer:
	CMPQ SI, R8
	JHI  leave
	MOVBLZX (SI), CX
	INCQ SI
	ADDQ CX, AX
	CMPL CX, $255
	JEQ  longer
	MOVBLZX (SI), CX
	INCQ SI
	LEAL 1(BX)(CX*1), BX
	CMPL BX, $8192
	JNE  copy
	MOVWLZX (SI), CX
	ROLW $8, CX
	ADDL CX, BX
	ADDQ $2, SI

	// The loops below write up to 31 bytes past the end of the match, so it must not be past R9.
copy:
	MOVQ DI, DX
	SUBQ BX, DX
	CMPQ DX, R10
	JCS  leave
	ADDQ DI, AX // the end of the match
	CMPQ AX, R9
	JHI  leave
	CMPL BX, $32
	JCS  near

	// A distance of 32 or more: 32 bytes per iteration, all of which are written already.
copy32:
	MOVUPS (DX), X0
	MOVUPS 16(DX), X1
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	ADDQ $32, DX
	ADDQ $32, DI
	CMPQ DI, AX
	JCS  copy32
	MOVQ AX, DI
	JMP  token

near:
	CMPL BX, $16
	JCS  repeat

	// A distance of 16 to 31: 16 bytes per iteration.
copy16:
	MOVUPS (DX), X0
	MOVUPS X0, (DI)
	ADDQ $16, DX
	ADDQ $16, DI
	CMPQ DI, AX
	JCS  copy16
	MOVQ AX, DI
	JMP  token

	// A distance of 1 to 15: load as many bytes as the distance, or more.
repeat:
	MOVQ (DX), X0
	CMPL BX, $8
	JLS  pattern
	MOVUPS (DX), X0

	// Repeat them over X0. BX becomes the number of bytes in whole repetitions, at least 9.
pattern:
	SHLL $5, BX
	PSHUFB (R13)(BX*1), X0
	MOVQ 16(R13)(BX*1), BX

	// Store the pattern twice per iteration, each time after the whole repetitions before.
repeat2:
	MOVUPS X0, (DI)
	MOVUPS X0, (DI)(BX*1)
	LEAQ (DI)(BX*2), DI
	CMPQ DI, AX
	JCS  repeat2
	MOVQ AX, DI
	JMP  token

	// Go decodes this token: store the positions of its start, as offsets.
leave:
	MOVQ d+0(FP), AX
	SUBQ decoder_src(AX), R11
	MOVQ R11, decoder_in(AX)
	SUBQ R10, R12
	MOVQ R12, decoder_out(AX)
	RET
