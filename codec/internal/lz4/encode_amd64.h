// The body of the encoders, without the last literals. What differs between the two tables is in
//
//	HASH(r)          the hash of the 8 bytes in r, in place; R14 is the factor
//	SWAP(h, i, r)    loads the entry of a hash to r and puts index i there
//	PUT(h, i)        puts index i there
//	CLAMP(r)         an index below base stands for position 0
//	NEAR(i, m, t, l) goes to l where index i is too far from m for a match; changes t
//
// Registers:
//
//	SI         the address of index 0: that of the input less base
//	DI         where the next byte of the output goes
//	R8, R13    the index to search next and the 8 bytes there; the token and the end of the match while a sequence
//	           is written
//	R10        index from which no match may start
//	R11, R12   the table, base
//	AX, BX     the indexes of a position and of its candidate
//	DX, R15    the step and the counter it comes from; R15 is the place of the token while a sequence is written
//	CX, R9     at hand; R9 has the 8 bytes of a position that is looked up
	MOVQ b+0(FP), AX
	MOVQ table+8(FP), R11
	MOVQ block_base(AX), R12
	MOVQ block_src(AX), SI
	MOVQ block_src+8(AX), CX
	SUBQ R12, SI
	LEAQ (R12)(CX*1), CX
	LEAQ -40(CX), DX
	MOVQ DX, srcSafe
	LEAQ -5(CX), DX
	MOVQ DX, matchLimit
	LEAQ -11(CX), R10
	MOVQ block_dst(AX), DI
	MOVQ block_dst+8(AX), CX
	ADDQ DI, CX
	MOVQ CX, outEnd
	SUBQ $64, CX
	MOVQ CX, outSafe
	MOVQ block_steps(AX), CX
	MOVQ CX, steps
	MOVQ R12, anchor
	LEAQ 1(R12), R8
	MOVQ (SI)(R8*1), R13

search:
	MOVL $1, DX
	MOVQ steps, R15

step:
	MOVQ R13, CX
	HASH(CX)
	MOVQ R13, R9
	MOVQ R8, AX
	ADDQ DX, R8
	MOVL R15, DX
	SHRL $6, DX
	INCL R15
	CMPQ R8, R10
	JHI  done
	SWAP(CX, AX, BX)
	MOVQ (SI)(R8*1), R13
	CLAMP(BX)
	CMPL R9, (SI)(BX*1)
	JNE  step
	NEAR(AX, BX, CX, step)

	// A match. What is near the end of the input is left to Go, so that 32 bytes can be read from any literal and 32
	// compared from the start of any match.
	CMPQ AX, srcSafe
	JHI  leave

	// Where it ends comes first: the next look-up waits for that, and nothing waits for where it starts. TZCNT of what
	// is not zero is BSF on processors that do not know it.
	XORQ (SI)(BX*1), R9
	JZ   longer
	TZCNTQ R9, R13
	SHRQ $3, R13
	ADDQ AX, R13

behind:
	// It may start earlier: as many bytes before as are equal, but not before the anchor.
	MOVQ anchor, R9
	LEAQ -8(BX), CX
	CMPQ CX, R12
	JLT  back
	MOVQ -8(SI)(AX*1), CX
	XORQ -8(SI)(BX*1), CX
	JZ   back
	BSRQ CX, CX
	XORL $63, CX
	SHRL $3, CX
	MOVQ AX, DX
	SUBQ R9, DX
	CMPQ CX, DX
	CMOVQHI DX, CX
	SUBQ CX, AX
	SUBQ CX, BX
	JMP  literals

back:
	CMPQ AX, R9
	JLS  literals
	CMPQ BX, R12
	JLS  literals
	MOVB -1(SI)(AX*1), CX
	CMPB CX, -1(SI)(BX*1)
	JNE  literals
	DECQ AX
	DECQ BX
	JMP  back

literals:
	MOVQ AX, DX
	SUBQ R9, DX

	// There must be room for all of the literals and more; where there may not be, Go goes on.
	MOVQ DX, CX
	SHRQ $7, CX
	ADDQ DX, CX
	ADDQ DI, CX
	CMPQ CX, outSafe
	JHI  leave
	MOVQ DI, R15
	INCQ DI
	CMPQ DX, $15
	JCC  manyLiterals
	MOVL DX, R8
	SHLL $4, R8
	MOVUPS (SI)(R9*1), X0
	MOVUPS X0, (DI)
	ADDQ DX, DI
	JMP  match

manyLiterals:
	MOVL $0xf0, R8
	LEAQ -15(DX), CX
	CMPQ CX, $255
	JCS  lastLength

lengths:
	MOVB $255, (DI)
	INCQ DI
	SUBQ $255, CX
	CMPQ CX, $255
	JCC  lengths

lastLength:
	MOVB CX, (DI)
	INCQ DI
	ADDQ SI, R9
	LEAQ (DI)(DX*1), CX

copy:
	MOVUPS (R9), X0
	MOVUPS 16(R9), X1
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	ADDQ $32, R9
	ADDQ $32, DI
	CMPQ DI, CX
	JCS  copy
	MOVQ CX, DI

match:
	MOVL AX, CX
	SUBL BX, CX
	MOVW CX, (DI)
	ADDQ $2, DI
	MOVQ R13, R9
	SUBQ AX, R9
	SUBQ $4, R9
	MOVQ R13, anchor
	MOVQ R13, AX
	CMPQ R9, $15
	JCC  longMatch
	ADDL R9, R8
	MOVB R8, (R15)

next:
	CMPQ AX, R10
	JCC  done
	MOVQ -2(SI)(AX*1), CX
	HASH(CX)
	LEAQ -2(AX), DX
	PUT(CX, DX)

	// A match may follow at once.
	MOVQ (SI)(AX*1), R9
	MOVQ R9, CX
	HASH(CX)
	SWAP(CX, AX, BX)
	MOVQ 1(SI)(AX*1), R13
	LEAQ 1(AX), R8
	CLAMP(BX)
	CMPL R9, (SI)(BX*1)
	JNE  search
	NEAR(AX, BX, CX, search)
	CMPQ AX, srcSafe
	JHI  leave
	CMPQ DI, outSafe
	JHI  leave
	XORQ (SI)(BX*1), R9
	JZ   longer
	TZCNTQ R9, R13
	SHRQ $3, R13
	ADDQ AX, R13

noLiterals:
	MOVQ DI, R15
	INCQ DI
	XORL R8, R8
	JMP  match

longer:
	// The first 8 bytes are equal, and 24 more can be compared.
	LEAQ 8(AX), R13
	LEAQ 8(BX), DX
	MOVQ (SI)(R13*1), CX
	XORQ (SI)(DX*1), CX
	JNZ  differ8
	ADDQ $8, R13
	ADDQ $8, DX
	MOVOU (SI)(R13*1), X0
	MOVOU (SI)(DX*1), X1
	PCMPEQB X1, X0
	PMOVMSKB X0, CX
	XORL $0xffff, CX
	JNZ  differ16
	ADDQ $16, R13
	ADDQ $16, DX
	MOVQ matchLimit, R9
	SUBQ $64, R9
	CMPQ R13, R9
	JGT  longer16

longer64:
	MOVOU (SI)(R13*1), X0
	MOVOU (SI)(DX*1), X1
	MOVOU 16(SI)(R13*1), X2
	MOVOU 16(SI)(DX*1), X3
	MOVOU 32(SI)(R13*1), X4
	MOVOU 32(SI)(DX*1), X5
	MOVOU 48(SI)(R13*1), X6
	MOVOU 48(SI)(DX*1), X7
	PCMPEQB X1, X0
	PCMPEQB X3, X2
	PCMPEQB X5, X4
	PCMPEQB X7, X6
	PAND X2, X0
	PAND X6, X4
	PAND X4, X0
	PMOVMSKB X0, CX
	CMPL CX, $0xffff
	JNE  longer16
	ADDQ $64, R13
	ADDQ $64, DX
	CMPQ R13, R9
	JLE  longer64

longer16:
	LEAQ 16(R13), CX
	CMPQ CX, matchLimit
	JGT  nearEnd
	MOVOU (SI)(R13*1), X0
	MOVOU (SI)(DX*1), X1
	PCMPEQB X1, X0
	PMOVMSKB X0, CX
	XORL $0xffff, CX
	JNZ  differ16
	ADDQ $16, R13
	ADDQ $16, DX
	JMP  longer16

differ16:
	TZCNTL CX, CX
	ADDQ CX, R13
	JMP  ends

nearEnd:
	LEAQ 8(R13), CX
	CMPQ CX, matchLimit
	JHI  lastBytes
	MOVQ (SI)(R13*1), CX
	XORQ (SI)(DX*1), CX
	JNZ  differ8
	ADDQ $8, R13
	ADDQ $8, DX
	JMP  nearEnd

differ8:
	TZCNTQ CX, CX
	SHRL $3, CX
	ADDQ CX, R13
	JMP  ends

lastBytes:
	CMPQ R13, matchLimit
	JCC  ends
	MOVB (SI)(R13*1), CX
	CMPB CX, (SI)(DX*1)
	JNE  ends
	INCQ R13
	INCQ DX
	JMP  lastBytes

ends:
	// Only a match that follows at once starts at the anchor.
	CMPQ AX, anchor
	JNE  behind
	JMP  noLiterals

longMatch:
	// CX is how many bytes of length there are: (length + 240) / 255.
	LEAQ 240(R9), CX
	MOVL $0x80808081, DX
	IMULQ DX, CX
	SHRQ $39, CX
	LEAQ 6(DI)(CX*1), DX
	CMPQ DX, outEnd
	JHI  noRoom
	ADDL $15, R8
	MOVB R8, (R15)
	SUBQ $15, R9
	DECQ CX
	JZ   lastOfLength
	IMUL3Q $255, CX, DX
	SUBQ DX, R9
	LEAQ 16(DI)(CX*1), DX
	CMPQ DX, outEnd
	LEAQ (DI)(CX*1), DX
	JHI  bytes255
	PCMPEQB X0, X0

fill:
	MOVUPS X0, (DI)
	ADDQ $16, DI
	CMPQ DI, DX
	JCS  fill
	MOVQ DX, DI
	JMP  lastOfLength

bytes255:
	MOVB $255, (DI)
	INCQ DI
	CMPQ DI, DX
	JCS  bytes255

lastOfLength:
	MOVB R9, (DI)
	INCQ DI
	JMP  next

leave:
	MOVQ b+0(FP), CX
	SUBQ R12, AX
	SUBQ R12, BX
	MOVQ AX, block_pos(CX)
	MOVQ BX, block_match(CX)
	MOVQ $const_stopRest, result+16(FP)
	JMP  exit

noRoom:
	MOVQ b+0(FP), CX
	MOVQ $const_stopRoom, result+16(FP)
	JMP  exit

done:
	MOVQ b+0(FP), CX
	MOVQ $const_stopDone, result+16(FP)

exit:
	MOVQ anchor, AX
	SUBQ R12, AX
	MOVQ AX, block_anchor(CX)
	SUBQ block_dst(CX), DI
	MOVQ DI, block_out(CX)
	RET
