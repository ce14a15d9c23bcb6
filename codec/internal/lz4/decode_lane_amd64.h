// The sequences of one block, as far as a kernel does them. It is included with these defined:
//
//	IN, OUT           where the next byte of the input is and where that of the output goes
//	INMOST, OUTMOST   as far as both may be at the start of a sequence: 32 and 64 bytes from the ends
//	FIRST             the start of the output
//	next              where to go on after a sequence: its own start, or that of another lane
//
// and where it is included more than once, with a name for each label. It runs on to the end of the text where a sequence
// is not for it, with IN and OUT at its start.
//
// AX is the match length, of which 4 are missing at first, and CX the number of literals; BX is the distance, and DX where
// the match is copied from. IN is beyond the distance when a match is copied.
//
// A match of up to 16 bytes is loaded, made a repetition of its first bytes if the distance is less, and stored, without a
// branch on distance or length: where matches are short, no processor foresees them. The load is of two halves, as bytes
// just written are likely to be among them: a processor forwards what a load wants from one store, but waits where it
// wants more.
//
// 15 to 46 literals are copied as 48: their number is not foreseen, either. With 46 of them and the 18 bytes that a match
// may have without another look at OUTMOST, all 64 bytes before the end are used. Behind them, where little is lost if
// that was wrong, a distance of 16 at least is taken for granted, and the match goes by parts of 4 and 8 bytes: in records,
// a match often repeats the one before, whose store was overwritten by literals from its fourth or fifth byte on.

sequence:
	MOVQ IN, R11
	MOVQ OUT, R12
	CMPQ IN, INMOST
	JHI  leave
	CMPQ OUT, OUTMOST
	JHI  leave
	MOVBLZX (IN), CX
	MOVUPS 1(IN), X0
	MOVL CX, AX
	ADDQ $3, IN
	SHRL $4, CX
	ANDL $15, AX
	CMPL CX, $15
	JEQ  manyLiterals
	MOVUPS X0, (OUT)
	ADDQ CX, IN
	ADDQ CX, OUT

match:
	MOVWLZX -2(IN), BX
	MOVQ OUT, DX
	SUBQ BX, DX
	CMPQ DX, FIRST
	JCS  leave
	CMPL AX, $12
	JHI  longer
	TESTL BX, BX
	JEQ  leave
	MOVQ (DX), X0
	MOVHPS 8(DX), X0
	CMPL BX, $16
	CMOVLCC R14, BX
	SHLL $5, BX
	PSHUFB (R13)(BX*1), X0
	MOVUPS X0, (OUT)
	LEAQ 4(OUT)(AX*1), OUT
	JMP  next

manyLiterals:
	MOVBLZX -2(IN), R15
	CMPL R15, $31
	JHI  moreLiterals
	LEAQ 30(IN)(R15*1), IN
	CMPQ IN, INMOST
	JHI  leave
	MOVUPS 2(R11), X0
	MOVUPS 18(R11), X1
	MOVUPS X0, (OUT)
	MOVUPS X1, 16(OUT)
	MOVUPS 34(R11), X0
	MOVUPS X0, 32(OUT)
	SUBQ $16, IN
	LEAQ 15(OUT)(R15*1), OUT
	MOVWLZX (IN), BX
	ADDQ $2, IN
	CMPL AX, $8
	JHI  match
	CMPL BX, $16
	JCS  match
	MOVQ OUT, DX
	SUBQ BX, DX
	CMPQ DX, FIRST
	JCS  leave
	MOVL (DX), BX
	MOVQ 4(DX), X0
	MOVL BX, (OUT)
	MOVQ X0, 4(OUT)
	LEAQ 4(OUT)(AX*1), OUT
	JMP  next

moreLiterals:
	SUBQ $2, IN

literalLength:
	CMPQ IN, INMOST
	JHI  leave
	MOVBLZX (IN), R15
	INCQ IN
	ADDQ R15, CX
	CMPL R15, $255
	JEQ  literalLength
	CMPQ CX, $longest
	JHI  leave
	LEAQ 32(IN)(CX*1), DX
	CMPQ DX, INMOST
	JHI  leave
	LEAQ (OUT)(CX*1), BX
	CMPQ BX, OUTMOST
	JHI  leave

copyLiterals:
	MOVUPS (IN), X0
	MOVUPS 16(IN), X1
	MOVUPS X0, (OUT)
	MOVUPS X1, 16(OUT)
	MOVUPS 32(IN), X0
	MOVUPS 48(IN), X1
	MOVUPS X0, 32(OUT)
	MOVUPS X1, 48(OUT)
	ADDQ $64, IN
	ADDQ $64, OUT
	CMPQ OUT, BX
	JCS  copyLiterals
	LEAQ -30(DX), IN
	MOVQ BX, OUT
	JMP  match

	// 17 or 18 bytes.
longer:
	CMPL AX, $15
	JEQ  longMatch
	CMPL BX, $16
	JCS  lengthKnown
	MOVUPS (DX), X0
	MOVUPS X0, (OUT)
	MOVWLZX 16(DX), BX
	MOVW BX, 16(OUT)
	LEAQ 4(OUT)(AX*1), OUT
	JMP  next

longMatch:
	CMPQ IN, INMOST
	JHI  leave
	MOVBLZX (IN), R15
	INCQ IN
	ADDQ R15, AX
	CMPL R15, $255
	JEQ  longMatch
	CMPQ AX, $longest
	JHI  leave

lengthKnown:
	LEAQ 4(OUT)(AX*1), AX // the end of the match
	CMPQ AX, OUTMOST
	JHI  leave
	CMPL BX, $32
	JCS  near

far:
	MOVUPS (DX), X0
	MOVUPS 16(DX), X1
	MOVUPS X0, (OUT)
	MOVUPS X1, 16(OUT)
	ADDQ $32, DX
	ADDQ $32, OUT
	CMPQ OUT, AX
	JCS  far
	MOVQ AX, OUT
	JMP  next

near:
	CMPL BX, $16
	JCS  repeat

near16:
	MOVUPS (DX), X0
	MOVUPS X0, (OUT)
	ADDQ $16, DX
	ADDQ $16, OUT
	CMPQ OUT, AX
	JCS  near16
	MOVQ AX, OUT
	JMP  next

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

again:
	MOVUPS X0, (OUT)
	MOVUPS X0, (OUT)(BX*1)
	LEAQ (OUT)(BX*2), OUT
	CMPQ OUT, AX
	JCS  again
	MOVQ AX, OUT
	JMP  next

leave:
	MOVQ R11, IN
	MOVQ R12, OUT
