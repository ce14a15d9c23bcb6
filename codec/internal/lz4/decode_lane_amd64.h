// The sequences of one block, as far as a kernel does them. It is included with these defined:
//
//	IN, OUT           addresses of the next byte of the input and of the output
//	INMOST, OUTMOST   limits of both at the start of a sequence: 32 and 64 bytes before the ends
//	FIRST             the start of the output
//	next              label to continue at after a sequence: its own start, or the start of another lane
//
// and, if it is included more than once, with a name for each label. If it cannot decode a sequence, it continues
// after the end of the text, with IN and OUT at the start of the sequence.
//
// AX is the match length, of which 4 are missing at first, and CX the number of literals; BX is the distance, and DX
// the source of the match. IN is after the distance when a match is copied.
//
// A match of up to 16 bytes is loaded, made a repetition of its first bytes if the distance is less, and stored,
// without a branch on distance or length: no CPU predicts these branches if matches are short. The load is in two
// halves, because some of its bytes were probably just written: a CPU forwards a load from one store, but waits if it
// needs more stores.
//
// 15 to 46 literals are copied as 48: their number is unpredictable, too. With 46 of them and the 18 bytes that a
// match may have without another check of OUTMOST, all 64 bytes before the end are used. After them, the code expects a
// distance of at least 16, because a wrong guess costs little, and copies the match in parts of 4 and 8 bytes: in
// records, a match often repeats the previous match, whose store was overwritten by literals from its fourth or fifth
// byte up.

	// Remember where the sequence starts. Leave it to Go unless 32 bytes of input and 64 of output are left.
sequence:
	MOVQ IN, R11
	MOVQ OUT, R12
	CMPQ IN, INMOST
	JHI  leave
	CMPQ OUT, OUTMOST
	JHI  leave
	// Load the token, and 16 bytes after it: up to 14 of them are literals. IN skips the token and the two bytes of the
	// distance, which follow the literals. CX is the number of literals, AX the match length less 4; 15 means more.
	MOVBLZX (IN), CX
	MOVUPS 1(IN), X0
	MOVL CX, AX
	ADDQ $3, IN
	SHRL $4, CX
	ANDL $15, AX
	CMPL CX, $15
	JEQ  manyLiterals

	// Store all 16 bytes. The match overwrites those that are not literals.
	MOVUPS X0, (OUT)
	ADDQ CX, IN
	ADDQ CX, OUT

	// Find where the match comes from. Leave distances that reach before the output, into a dictionary, to Go. OUT is
	// at most 46 bytes past OUTMOST, so 18 bytes can be stored.
match:
	MOVWLZX -2(IN), BX
	MOVQ OUT, DX
	SUBQ BX, DX
	CMPQ DX, FIRST
	JCS  leave
	CMPL AX, $12
	JHI  longer

	// Up to 16 bytes. A distance of 0 is invalid.
	TESTL BX, BX
	JEQ  leave
	// Bytes from OUT on may be loaded too, if the distance is below 16: PSHUFB replaces them by repetitions of the
	// first bytes. Entry 16 of spans, for all longer distances, does not change the 16 bytes.
	MOVQ (DX), X0
	MOVHPS 8(DX), X0
	CMPL BX, $16
	CMOVLCC R14, BX
	SHLL $5, BX
	PSHUFB (R13)(BX*1), X0
	MOVUPS X0, (OUT)
	LEAQ 4(OUT)(AX*1), OUT
	JMP  next

	// 15 literals or more. R15 is the first byte of the rest of their number. With R15 up to 31 there are at most 46,
	// and no second byte.
manyLiterals:
	MOVBLZX -2(IN), R15
	CMPL R15, $31
	JHI  moreLiterals

	// IN is 16 bytes past the literals, so that 48 bytes of input follow the literals if it is not past INMOST. Copy 48
	// bytes from after the length byte.
	LEAQ 30(IN)(R15*1), IN
	CMPQ IN, INMOST
	JHI  leave
	MOVUPS 2(R11), X0
	MOVUPS 18(R11), X1
	MOVUPS X0, (OUT)
	MOVUPS X1, 16(OUT)
	MOVUPS 34(R11), X0
	MOVUPS X0, 32(OUT)

	// IN and OUT go to the end of the literals, and IN over the distance.
	SUBQ $16, IN
	LEAQ 15(OUT)(R15*1), OUT
	MOVWLZX (IN), BX
	ADDQ $2, IN

	// A match of at most 12 bytes and a distance of at least 16 goes by 4 and 8 bytes.
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

	// 47 literals or more: IN goes back to the first byte of the rest of their number.
moreLiterals:
	SUBQ $2, IN

	// Add bytes to the number until one is below 255.
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

	// The loop below reads and writes up to 63 bytes past the literals. They must end 64 bytes before the end of the
	// input, so DX is 32 bytes past them, and BX, their end in the output, at most OUTMOST.
	LEAQ 32(IN)(CX*1), DX
	CMPQ DX, INMOST
	JHI  leave
	LEAQ (OUT)(CX*1), BX
	CMPQ BX, OUTMOST
	JHI  leave

	// Copy 64 bytes per iteration.
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

	// IN goes to the end of the literals and over the distance.
	LEAQ -30(DX), IN
	MOVQ BX, OUT
	JMP  match

	// 17 bytes or more. With 17 or 18, and a distance of at least 16, copy 16 bytes and then 2: those may be among the
	// 16.
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

	// Add bytes to the match length until one is below 255.
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

	// The loops below write up to 31 bytes past the end of the match, so it must not be past OUTMOST.
lengthKnown:
	LEAQ 4(OUT)(AX*1), AX // the end of the match
	CMPQ AX, OUTMOST
	JHI  leave
	CMPL BX, $32
	JCS  near

	// A distance of 32 or more: 32 bytes per iteration, all of which are written already.
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

	// A distance of 16 to 31: 16 bytes per iteration.
near16:
	MOVUPS (DX), X0
	MOVUPS X0, (OUT)
	ADDQ $16, DX
	ADDQ $16, OUT
	CMPQ OUT, AX
	JCS  near16
	MOVQ AX, OUT
	JMP  next

	// A distance of 1 to 15: load as many bytes as the distance, or more. A load of 16 bytes would wait for stores to
	// them, so up to 8 are loaded as 8.
repeat:
	TESTL BX, BX
	JEQ  leave
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
again:
	MOVUPS X0, (OUT)
	MOVUPS X0, (OUT)(BX*1)
	LEAQ (OUT)(BX*2), OUT
	CMPQ OUT, AX
	JCS  again
	MOVQ AX, OUT
	JMP  next

	// Go decodes this sequence: back to its start.
leave:
	MOVQ R11, IN
	MOVQ R12, OUT
