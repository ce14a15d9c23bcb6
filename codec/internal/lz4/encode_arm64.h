// The body of the encoders, without the last literals. What differs between the two tables is in
//
//	HASH(v, h)       the hash of the 8 bytes in v, in h; R12 is the factor
//	SWAP(h, i, r)    loads the entry of a hash to r and puts index i there
//	PUT(h, i)        puts index i there
//	CLAMP(r)         an index below base represents position 0
//	NEAR(i, m, t, l) goes to l if index i is too far from m for a match; changes t
//
// Bounds: encode_asm.go has checked that the output has 64 bytes, and the input too. A load at a candidate is in the
// input, because the candidate is an index of it (see CLAMP) and before the position. A shift leaves as many bits of a
// hash as the table has entries, or fewer.
//
// Registers:
//
//	R0         b
//	R1         the address of index 0: that of the input less base
//	R2         address of the next byte of the output
//	R3, R4     the index to search next and the 8 bytes there; scratch while a match is compared
//	R5         index from which no match may start
//	R6, R7     the table, base
//	R8, R9     the indexes of a position and of its candidate
//	R10, R11   the step and the counter it comes from; R10 is the token while a sequence is written
//	R12        the factor of HASH
//	R17        the 8 bytes of a position that is looked up; the match length less 4 while it is written
//	R19        the last index of a match that the kernel writes: 40 bytes before the end of the input
//	R20        address of the byte after the last that a match may have: 5 before the end of the input
//	R21, R22   the end of the output, and 64 bytes before it
//	R23        the first counter of a search
//	R24        the anchor
//	R25        address of the token
//	R26        the end of the match
//	R13 to R16, F0 to F7   scratch

	// The input: R1 is the address of index 0, and the limits are indexes. R5 is the one after the last start of a
	// match, 12 before the end.
	MOVD b+0(FP), R0
	MOVD table+8(FP), R6
	MOVD block_base(R0), R7
	MOVD block_src(R0), R1
	MOVD (block_src+8)(R0), R13
	SUB  R7, R1
	ADD  R7, R13
	SUB  $40, R13, R19
	SUB  $11, R13, R5
	ADD  R1, R13, R20
	SUB  $5, R20

	// The output: its last 64 bytes are a reserve, so that copies of 32 bytes may go past the end of literals.
	MOVD block_dst(R0), R2
	MOVD (block_dst+8)(R0), R21
	ADD  R2, R21
	SUB  $64, R21, R22

	// A search begins at position 1, as position 0 has no candidate.
	MOVD block_steps(R0), R23
	MOVD R7, R24
	ADD  $1, R7, R3
	MOVD (R1)(R3), R4

	// A new search. R10 is the step to the next position: 1 at first, then R11>>6, and R11 counts up.
search:
	MOVD $1, R10
	MOVD R23, R11

	// Look up a position: R8 is its index, R17 its 8 bytes, which were loaded one step ahead. R3 becomes the index of
	// the next position and R4 its 8 bytes. R3 is at most R5, 11 before the end, so they are in the input.
step:
	HASH(R4, R13)
	MOVD R4, R17
	MOVD R3, R8
	ADD  R10, R3
	LSR  $const_stepBits, R11, R10
	ADD  $1, R11
	CMP  R5, R3
	BHI  done
	SWAP(R13, R8, R9)
	MOVD (R1)(R3), R4

	// A match has 4 bytes that are equal, and is near enough.
	CLAMP(R9)
	MOVWU (R1)(R9), R14
	CMPW  R17, R14
	BNE   step
	NEAR(R8, R9, R13, step)

	// A match. If it is less than 40 bytes before the end of the input, Go takes it, so that 32 bytes can be read from
	// any literal and 16 compared from the start of any match.
	CMP R19, R8
	BHI leave

	// Find its end first: the next look-up waits for the end, and nothing waits for the start.
	MOVD (R1)(R9), R13
	EOR  R17, R13
	CBZ  R13, longer
	RBIT R13, R13
	CLZ  R13, R13
	ADD  R13>>3, R8, R26

	// The match may start earlier: as many bytes before as are equal, but not before the anchor. 8 bytes are compared
	// if the candidate has them in the input; then the position, which is later, has them too.
behind:
	SUB  $8, R9, R13
	CMP  R7, R13
	BLT  back
	ADD  R8, R1, R14
	MOVD -8(R14), R14
	MOVD (R1)(R13), R13
	EOR  R13, R14
	CBZ  R14, back

	// The equal bytes are the highest ones.
	CLZ  R14, R14
	LSR  $3, R14
	SUB  R24, R8, R15
	CMP  R15, R14
	CSEL HI, R15, R14, R14
	SUB  R14, R8
	SUB  R14, R9
	B    literals

	// Byte by byte, near the start of the input or after 8 equal bytes. Neither index goes below its bound.
back:
	CMP   R24, R8
	BLS   literals
	CMP   R7, R9
	BLS   literals
	SUB   $1, R8, R13
	SUB   $1, R9, R14
	MOVBU (R1)(R13), R15
	MOVBU (R1)(R14), R16
	CMP   R15, R16
	BNE   literals
	MOVD  R13, R8
	MOVD  R14, R9
	B     back

	// R15 is the number of literals, R16 their address.
	//
	// There must be room for the literals, for 1 byte per 128 of them, which is more than their length needs, and for
	// the reserve. If there may not be, Go continues.
literals:
	SUB R24, R8, R15
	ADD R24, R1, R16
	ADD R15>>7, R15, R13
	ADD R2, R13
	CMP R22, R13
	BHI leave

	// Up to 14 literals are in the token, and 16 bytes are copied: the anchor is at most R19, and the output has its
	// reserve.
	MOVD  R2, R25
	ADD   $1, R2
	CMP   $15, R15
	BHS   manyLiterals
	LSL   $4, R15, R10
	FMOVQ (R16), F0
	FMOVQ F0, (R2)
	ADD   R15, R2

	// The distance, and the length less 4, up to 14 in the token. R26, the end of the match, becomes the anchor. The
	// reserve has space for all of that.
match:
	SUB    R9, R8, R13
	MOVH.P R13, 2(R2)
	SUB    R8, R26, R17
	SUB    $4, R17
	MOVD   R26, R24
	MOVD   R26, R8
	CMP    $15, R17
	BHS    longMatch
	ADD    R17, R10
	MOVB   R10, (R25)

	// The end of the match, R8: stop if no match may start there. Enter the position 2 before it. All 8 bytes are in
	// the input, as R8 is at least 12 before its end.
next:
	CMP  R5, R8
	BHS  done
	ADD  R8, R1, R16
	MOVD -2(R16), R13
	HASH(R13, R13)
	SUB  $2, R8, R15
	PUT(R13, R15)

	// A match may follow at once. The 8 bytes at the next position are loaded for the search, which comes if there is
	// no match here.
	MOVD  (R16), R17
	HASH(R17, R13)
	SWAP(R13, R8, R9)
	MOVD  1(R16), R4
	ADD   $1, R8, R3
	CLAMP(R9)
	MOVWU (R1)(R9), R14
	CMPW  R17, R14
	BNE   search
	NEAR(R8, R9, R13, search)

	// A match without literals. The same limits as above hold for it.
	CMP  R19, R8
	BHI  leave
	CMP  R22, R2
	BHI  leave
	MOVD (R1)(R9), R13
	EOR  R17, R13
	CBZ  R13, longer
	RBIT R13, R13
	CLZ  R13, R13
	ADD  R13>>3, R8, R26

	// The token has no literals.
noLiterals:
	MOVD R2, R25
	ADD  $1, R2
	MOVD $0, R10
	B    match

	// The first 8 bytes are equal, and the next 8 can be compared: R8 is at most R19. R16 and R15 are the addresses of
	// the next bytes of both.
longer:
	ADD    R8, R1, R16
	ADD    R9, R1, R15
	ADD    $8, R16
	ADD    $8, R15
	MOVD.P 8(R16), R13
	MOVD.P 8(R15), R14
	EOR    R14, R13
	CBNZ   R13, differ

	// Compare 64 bytes at a time while they end at or before R20.
longer64:
	ADD   $64, R16, R13
	CMP   R20, R13
	BHI   longer16
	FLDPQ (R16), (F0, F1)
	FLDPQ (R15), (F2, F3)
	FLDPQ 32(R16), (F4, F5)
	FLDPQ 32(R15), (F6, F7)
	VEOR  V2.B16, V0.B16, V0.B16
	VEOR  V3.B16, V1.B16, V1.B16
	VEOR  V6.B16, V4.B16, V4.B16
	VEOR  V7.B16, V5.B16, V5.B16
	VORR  V1.B16, V0.B16, V0.B16
	VORR  V5.B16, V4.B16, V4.B16
	VORR  V4.B16, V0.B16, V0.B16
	VMOV  V0.D[0], R13
	VMOV  V0.D[1], R14
	ORR   R13, R14
	CBNZ  R14, longer16
	ADD   $64, R16
	ADD   $64, R15
	B     longer64

	// And 16 at a time, which also finds the first byte that differs in the 64.
longer16:
	ADD   $16, R16, R13
	CMP   R20, R13
	BHI   nearEnd
	LDP.P 16(R16), (R13, R14)
	LDP.P 16(R15), (R3, R4)
	EOR   R3, R13
	CBNZ  R13, differ16
	EOR   R4, R14
	CBZ   R14, longer16
	MOVD  R14, R13

	// R13 has the bits that differ, of 8 bytes before R16.
differ:
	SUB  $8, R16

differs:
	RBIT R13, R13
	CLZ  R13, R13
	ADD  R13>>3, R16
	B    ends

	// The same, of the first 8 of 16 bytes.
differ16:
	SUB $16, R16
	B   differs

	// And 8 at a time.
nearEnd:
	ADD    $8, R16, R13
	CMP    R20, R13
	BHI    lastBytes
	MOVD.P 8(R16), R13
	MOVD.P 8(R15), R14
	EOR    R14, R13
	CBZ    R13, nearEnd
	B      differ

	// And byte by byte.
lastBytes:
	CMP     R20, R16
	BHS     ends
	MOVBU   (R16), R13
	MOVBU.P 1(R15), R14
	CMP     R13, R14
	BNE     ends
	ADD     $1, R16
	B       lastBytes

	// Only a match that follows the last one at once starts at the anchor. A search begins after it.
ends:
	SUB R1, R16, R26
	CMP R24, R8
	BNE behind
	B   noLiterals

	// The length takes bytes of 255 and a last one.
manyLiterals:
	MOVD $0xf0, R10
	SUB  $15, R15, R13
	MOVD $255, R14
	CMP  $255, R13
	BLO  lastLength

lengths:
	MOVB.P R14, 1(R2)
	SUB    $255, R13
	CMP    $255, R13
	BHS    lengths

	// Copy 32 bytes at a time, up to R13. The last copy goes up to 31 bytes past the literals: the input has 40 after
	// R19, and the output has its reserve.
lastLength:
	MOVB.P R13, 1(R2)
	ADD    R15, R2, R13

copy:
	FLDPQ.P 32(R16), (F0, F1)
	FSTPQ.P (F0, F1), 32(R2)
	CMP     R13, R2
	BLO     copy
	MOVD    R13, R2
	B       match

	// The length has R14 bytes after the distance: (length + 240) / 255. There must be room for them and 6 bytes more,
	// as in encodeGeneric.
longMatch:
	MOVD $255, R13
	ADD  $240, R17, R14
	UDIV R13, R14
	ADD  R14, R2, R15
	ADD  $6, R15
	CMP  R21, R15
	BHI  noRoom

	// The token, and the last byte of the length: R17 becomes the rest of the length after the bytes of 255 before it.
	// R15 is their end.
	ADD  $15, R10
	MOVB R10, (R25)
	SUB  $15, R17
	SUBS $1, R14
	BEQ  lastOfLength
	MUL  R13, R14, R15
	SUB  R15, R17
	MOVD $-1, R13

	// 16 bytes at a time are stored if the last store, which may go past R15, is in the output; otherwise byte by byte.
	ADD R14, R2, R15
	ADD $16, R15, R16
	CMP R21, R16
	BHI bytes255

fill:
	STP.P (R13, R13), 16(R2)
	CMP   R15, R2
	BLO   fill
	MOVD  R15, R2
	B     lastOfLength

bytes255:
	MOVB.P R13, 1(R2)
	CMP    R15, R2
	BLO    bytes255

	// The last byte has room, as 6 bytes more were checked.
lastOfLength:
	MOVB.P R17, 1(R2)
	B      next

	// Go writes the sequence: store the position and the candidate.
leave:
	SUB  R7, R8
	SUB  R7, R9
	MOVD R8, block_pos(R0)
	MOVD R9, block_match(R0)
	MOVD $const_stopRest, R13
	B    exit

noRoom:
	MOVD $const_stopRoom, R13
	B    exit

done:
	MOVD $const_stopDone, R13

	// Store the anchor and the end of the output, as offsets.
exit:
	MOVD R13, result+16(FP)
	SUB  R7, R24
	MOVD R24, block_anchor(R0)
	MOVD block_dst(R0), R13
	SUB  R13, R2
	MOVD R2, block_out(R0)
	RET
