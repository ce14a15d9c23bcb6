// The body of the encoders, without the last literals. What differs between the two tables is in
//
//	HASH(r)          the hash of the 8 bytes in r, in place; R14 is the factor
//	SWAP(h, i, r)    loads the entry of a hash to r and puts index i there
//	PUT(h, i)        puts index i there
//	CLAMP(r)         an index below base represents position 0
//	NEAR(i, m, t, l) goes to l if index i is too far from m for a match; changes t
//
// Bounds: encode_amd64.go has checked that the output has 64 bytes, and the input too. A load at a candidate is in the
// input, because the candidate is an index of it (see CLAMP) and before the position. A shift leaves as many bits of a
// hash as the table has entries, or fewer.
//
// Registers:
//
//	SI         the address of index 0: that of the input less base
//	DI         address of the next byte of the output
//	R8, R13    the index to search next and the 8 bytes there; the token and the end of the match while a sequence
//	           is written
//	R10        index from which no match may start
//	R11, R12   the table, base
//	AX, BX     the indexes of a position and of its candidate
//	DX, R15    the step and the counter it comes from; R15 is the place of the token while a sequence is written
//	CX, R9     scratch; R9 has the 8 bytes of a position that is looked up

	// The input: SI is the address of index 0, and the limits are indexes. R10 is the one after the last start of a
	// match, 12 before the end.
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

	// The output: its last 64 bytes are a reserve, so that copies of 32 bytes may go past the end of literals.
	MOVQ block_dst(AX), DI
	MOVQ block_dst+8(AX), CX
	ADDQ DI, CX
	MOVQ CX, outEnd
	SUBQ $64, CX
	MOVQ CX, outSafe

	// A search begins at position 1, as position 0 has no candidate.
	MOVQ block_steps(AX), CX
	MOVQ CX, steps
	MOVQ R12, anchor
	LEAQ 1(R12), R8
	MOVQ (SI)(R8*1), R13

	// A new search. DX is the step to the next position: 1 at first, then R15>>6, and R15 counts up from steps.
search:
	MOVL $1, DX
	MOVQ steps, R15

	// Look up a position: AX is its index, R9 its 8 bytes, which were loaded one step ahead. R8 becomes the index of
	// the next position and R13 its 8 bytes. R8 is at most R10, 11 before the end, so they are in the input.
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

	// A match has 4 bytes that are equal, and is near enough.
	CLAMP(BX)
	CMPL R9, (SI)(BX*1)
	JNE  step
	NEAR(AX, BX, CX, step)

	// A match. If it is less than 40 bytes before the end of the input, Go takes it, so that 32 bytes can be read from
	// any literal and 32 compared from the start of any match.
	CMPQ AX, srcSafe
	JHI  leave

	// Find its end first: the next look-up waits for the end, and nothing waits for the start. TZCNT of a value that
	// is not zero is BSF on CPUs without TZCNT.
	XORQ (SI)(BX*1), R9
	JZ   longer
	TZCNTQ R9, R13
	SHRQ $3, R13
	ADDQ AX, R13

behind:
	// The match may start earlier: as many bytes before as are equal, but not before the anchor, R9. 8 bytes are
	// compared if the candidate has them in the input; then the position, which is later, has them too.
	MOVQ anchor, R9
	LEAQ -8(BX), CX
	CMPQ CX, R12
	JLT  back
	MOVQ -8(SI)(AX*1), CX
	XORQ -8(SI)(BX*1), CX
	JZ   back

	// The equal bytes are the highest ones.
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

	// Byte by byte, near the start of the input or after 8 equal bytes. Neither index goes below its bound.
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

	// DX is the number of literals.
literals:
	MOVQ AX, DX
	SUBQ R9, DX

	// There must be room for the literals, for 1 byte per 128 of them, which is more than their length needs, and for
	// the reserve. If there may not be, Go continues.
	MOVQ DX, CX
	SHRQ $7, CX
	ADDQ DX, CX
	ADDQ DI, CX
	CMPQ CX, outSafe
	JHI  leave

	// The place of the token is R15, the token R8. Up to 14 literals are in the token, and 16 bytes are copied: the
	// anchor is at most srcSafe, and the output has its reserve.
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

	// The length takes bytes of 255 and a last one.
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

	// Copy 32 bytes at a time, up to CX. The last copy goes up to 31 bytes past the literals: the input has 40 after
	// srcSafe, and the output has its reserve.
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

	// The distance, and the length less 4, up to 14 in the token. R13 is the end of the match, which becomes the
	// anchor. The reserve has space for all of that.
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

	// The end of the match, AX: stop if no match may start there. Enter the position 2 before it. All 8 bytes are in
	// the input, as AX is at least 12 before its end.
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

	// The 8 bytes at the next position are loaded for the search, which comes if there is no match here.
	SWAP(CX, AX, BX)
	MOVQ 1(SI)(AX*1), R13
	LEAQ 1(AX), R8
	CLAMP(BX)
	CMPL R9, (SI)(BX*1)
	JNE  search
	NEAR(AX, BX, CX, search)

	// A match without literals. The same limits as above hold for it.
	CMPQ AX, srcSafe
	JHI  leave
	CMPQ DI, outSafe
	JHI  leave
	XORQ (SI)(BX*1), R9
	JZ   longer
	TZCNTQ R9, R13
	SHRQ $3, R13
	ADDQ AX, R13

	// The token has no literals.
noLiterals:
	MOVQ DI, R15
	INCQ DI
	XORL R8, R8
	JMP  match

longer:
	// The first 8 bytes are equal, and 24 more can be compared: AX is at most srcSafe. R13 and DX are the next bytes of
	// both, AX and BX stay.
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

	// Compare 64 bytes at a time while they end at or before matchLimit.
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

	// And 16 at a time, which also finds the first byte that differs in the 64.
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

	// CX has a bit for each byte that differs.
differ16:
	TZCNTL CX, CX
	ADDQ CX, R13
	JMP  ends

	// And 8 at a time.
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

	// CX has the bits that differ.
differ8:
	TZCNTQ CX, CX
	SHRL $3, CX
	ADDQ CX, R13
	JMP  ends

	// And byte by byte.
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
	// Only a match that follows the last one at once starts at the anchor. A search begins after it.
	CMPQ AX, anchor
	JNE  behind
	JMP  noLiterals

longMatch:
	// The length has CX bytes after the distance: (length + 240) / 255, by multiplication. There must be room for them
	// and 6 bytes more, as in encodeGeneric.
	LEAQ 240(R9), CX
	MOVL $0x80808081, DX
	IMULQ DX, CX
	SHRQ $39, CX
	LEAQ 6(DI)(CX*1), DX
	CMPQ DX, outEnd
	JHI  noRoom

	// The token, and the last byte of the length: R9 becomes the rest of the length after the CX bytes of 255 before
	// it. DX is their end.
	ADDL $15, R8
	MOVB R8, (R15)
	SUBQ $15, R9
	DECQ CX
	JZ   lastOfLength
	IMUL3Q $255, CX, DX
	SUBQ DX, R9

	// The next LEAQ leaves the flags. 16 bytes at a time are stored if the last store, which may go past DX, is in the
	// output; otherwise byte by byte.
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

	// The last byte has room, as 6 bytes more were checked.
lastOfLength:
	MOVB R9, (DI)
	INCQ DI
	JMP  next

	// Go writes the sequence: store the position and the candidate.
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

	// Store the anchor and the end of the output, as offsets.
exit:
	MOVQ anchor, AX
	SUBQ R12, AX
	MOVQ AX, block_anchor(CX)
	SUBQ block_dst(CX), DI
	MOVQ DI, block_out(CX)
	RET
