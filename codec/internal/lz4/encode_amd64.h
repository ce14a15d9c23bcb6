// The search of LZ4, for both forms of the table. What differs are three macros:
//
//	HASH       table index of the 4 or 5 low bytes of AX, in AX
//	LOOKUP     R13 = entry AX of the table, and R12 becomes the entry
//	TOO_FAR(x) to x if there are more than 65535 bytes from R13 to R12; uses AX
//	ENTER      DX becomes entry AX of the table
//
// Positions are offsets in the input.
//
//	SI  input            R9   where the search ends       R11  anchor: where the literals not yet written start
//	DI  output           R10  end of the output           R12  position
//	R8  table            R14  factor of the hash          R13  candidate
//
// While searching: BX 8 bytes at the next position R15, CX tries, DX step. While writing: CX the token.

	MOVL $1, R12
	XORL R11, R11
	MOVQ 1(SI), BX

search:
	MOVQ R12, R15
	MOVL $1, DX
	MOVQ tries-8(SP), CX

try:
	MOVQ BX, AX
	HASH
	MOVQ R15, R12
	ADDQ DX, R15
	MOVQ CX, DX
	SHRQ $6, DX
	INCQ CX
	CMPQ R15, R9
	JHI  done
	LOOKUP
	MOVL BX, AX
	MOVQ (SI)(R15*1), BX
	CMPL AX, (SI)(R13*1)
	JNE  try
	TOO_FAR(try)

	// The match may begin earlier.
back:
	CMPQ  R12, R11
	JLS   literals
	TESTQ R13, R13
	JEQ   literals
	MOVBLZX -1(SI)(R12*1), AX
	CMPB  AX, -1(SI)(R13*1)
	JNE   literals
	DECQ  R12
	DECQ  R13
	JMP   back

literals:
	MOVQ R12, DX
	SUBQ R11, DX

	// They need n + n/255, and 9 for the token, what must follow, and copies that go too far.
	MOVL  $0x80808081, AX
	IMULQ DX, AX
	SHRQ  $39, AX
	LEAQ  9(DI)(DX*1), BX
	ADDQ  AX, BX
	CMPQ  BX, R10
	JHI   full
	MOVQ  DI, CX
	INCQ  DI
	ADDQ  SI, R11
	CMPQ  DX, $15
	JHS   manyLiterals
	MOVL  DX, AX
	SHLL  $4, AX
	MOVB  AX, (CX)

	// Up to 8 literals, then up to 8 more; at least 12 bytes of the input follow them.
fewLiterals:
	MOVQ (R11), AX
	MOVQ AX, (DI)
	CMPQ DX, $8
	JLS  copied
	MOVQ 8(R11), AX
	MOVQ AX, 8(DI)

copied:
	ADDQ DX, DI

match:
	MOVQ R12, AX
	SUBQ R13, AX
	MOVW AX, (DI)
	ADDQ $2, DI
	ADDQ $4, R12
	ADDQ $4, R13
	MOVQ R12, R11
	MOVQ last-16(SP), DX
	SUBQ $8, DX
	CMPQ R12, DX
	JGT  ending
	MOVQ (SI)(R12*1), AX
	XORQ (SI)(R13*1), AX
	JNE  differ
	ADDQ $8, R12
	ADDQ $8, R13
	SUBQ $24, DX
	CMPQ R12, DX
	JGT  equal8

equal32:
	MOVOU    (SI)(R12*1), X0
	MOVOU    (SI)(R13*1), X1
	MOVOU    16(SI)(R12*1), X2
	MOVOU    16(SI)(R13*1), X3
	PCMPEQB  X1, X0
	PCMPEQB  X3, X2
	PAND     X0, X2
	PMOVMSKB X2, AX
	CMPL     AX, $0xffff
	JNE      equal8
	ADDQ     $32, R12
	ADDQ     $32, R13
	CMPQ     R12, DX
	JLE      equal32

equal8:
	ADDQ $24, DX

equal8Next:
	CMPQ R12, DX
	JGT  ending
	MOVQ (SI)(R12*1), AX
	XORQ (SI)(R13*1), AX
	JNE  differ
	ADDQ $8, R12
	ADDQ $8, R13
	JMP  equal8Next

ending:
	ADDQ $8, DX

endingNext:
	CMPQ R12, DX
	JGE  ended
	MOVBLZX (SI)(R12*1), AX
	CMPB AX, (SI)(R13*1)
	JNE  ended
	INCQ R12
	INCQ R13
	JMP  endingNext

differ:
	BSFQ AX, AX
	SHRQ $3, AX
	ADDQ AX, R12

ended:
	MOVQ  R12, DX
	SUBQ  R11, DX
	LEAQ  240(DX), BX
	MOVL  $0x80808081, AX
	IMULQ AX, BX
	SHRQ  $39, BX
	LEAQ  6(DI)(BX*1), BX
	CMPQ  BX, R10
	JHI   full
	CMPQ  DX, $15
	JHS   longMatch
	ADDB  DX, (CX)

matched:
	MOVQ R12, R11
	CMPQ R12, R9
	JHS  done
	MOVQ -2(SI)(R12*1), AX
	HASH
	LEAQ -2(R12), DX
	ENTER
	MOVQ (SI)(R12*1), BX
	MOVQ BX, AX
	HASH
	LOOKUP
	CMPL BX, (SI)(R13*1)
	JNE  onward
	TOO_FAR(onward)
	MOVQ DI, CX
	MOVB $0, (DI)
	INCQ DI
	JMP  match

onward:
	INCQ R12
	SHRQ $8, BX // 5 of the 7 bytes left are used
	JMP  search

longMatch:
	ADDB $15, (CX)
	SUBQ $15, DX

longMatch4:
	CMPQ DX, $1020
	JLO  longMatch1
	MOVL $-1, (DI)
	ADDQ $4, DI
	SUBQ $1020, DX
	JMP  longMatch4

longMatch1:
	CMPQ DX, $255
	JLO  longMatchLast
	MOVB $255, (DI)
	INCQ DI
	SUBQ $255, DX
	JMP  longMatch1

longMatchLast:
	MOVB DX, (DI)
	INCQ DI
	JMP  matched

manyLiterals:
	MOVB $0xf0, (CX)
	LEAQ -15(DX), AX

manyLiterals1:
	CMPQ AX, $255
	JLO  manyLiteralsLast
	MOVB $255, (DI)
	INCQ DI
	SUBQ $255, AX
	JMP  manyLiterals1

manyLiteralsLast:
	MOVB AX, (DI)
	INCQ DI

copy64:
	CMPQ  DX, $64
	JLO   copy16
	MOVOU (R11), X0
	MOVOU 16(R11), X1
	MOVOU 32(R11), X2
	MOVOU 48(R11), X3
	MOVOU X0, (DI)
	MOVOU X1, 16(DI)
	MOVOU X2, 32(DI)
	MOVOU X3, 48(DI)
	ADDQ  $64, R11
	ADDQ  $64, DI
	SUBQ  $64, DX
	JMP   copy64

copy16:
	CMPQ  DX, $16
	JLO   copyRest
	MOVOU (R11), X0
	MOVOU X0, (DI)
	ADDQ  $16, R11
	ADDQ  $16, DI
	SUBQ  $16, DX
	JMP   copy16

copyRest:
	TESTQ DX, DX // there is room for 7 bytes too many, not for 8
	JNE   fewLiterals
	JMP   match

full:
	MOVQ dst_base+0(FP), DI
	DECQ DI

done:
	SUBQ dst_base+0(FP), DI
