//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// LONG enters an index into the table of hashes of 7 bytes; hash is a scratch register.
#define LONG(bytes, hash, index) \
	MOVQ  bytes, hash            \
	IMULQ R12, hash              \
	SHRQ  $50, hash              \
	MOVL  index, (R11)(hash*4)

// SHORT enters an index into the table of hashes of 4 bytes, whose factor is 2654435761.
#define SHORT(bytes, hash, index) \
	IMUL3L $-1640531535, bytes, hash \
	SHRL   $18, hash              \
	MOVL   index, (R10)(hash*4)

// Local variables.
#define base       0(SP)  // index of the start of the input
#define last       8(SP)  // index of the last position that may have a match
#define srcSafe    16(SP) // matches from beyond this index are left to Go
#define matchLimit 24(SP) // index up to which a match may go
#define outSafe    32(SP) // address up to which there is room for 64 bytes

// func scanKernel(t *midTables, b *block) (found, at int, best bool)
//
// It does what scanGeneric, better and emit do, with enter, as long as there is a match that is not near the end of the
// input or of the output. scan has checked that the anchor is at most the last position of a match and that the output
// has 64 bytes. A match that it does not write is returned as scanGeneric returns it.
//
// An index in the tables that is less than base, from an older input, is too far away as well: newBase ensures that.
//
// Registers:
//
//	SI         the address of index 0: that of the input less base
//	R10, R11   the tables of hashes of 4 and 7 bytes
//	R12        the factor of the hash of 7 bytes, which removes the highest of 8 bytes
//	R13        address of the next byte of the output
//	R15        index of the anchor
//	R8         index of the position
//	AX         the 8 bytes there
//	BX, DI     indexes of the candidates of both tables; BX is that of the match
//	R14        the hash of 4 bytes; the position where a match was found
//	R9         index of the end of a match
//	CX, DX     scratch
TEXT ·scanKernel(SB), NOSPLIT, $40-33
	MOVQ t+0(FP), R10
	LEAQ midTables_long(R10), R11

	// The input: SI is the address of index 0, and the limits are indexes.
	MOVQ b+8(FP), DI
	MOVL block_base(DI), CX
	MOVQ CX, base
	MOVQ block_src(DI), SI
	SUBQ CX, SI
	MOVQ block_anchor(DI), R15
	ADDQ CX, R15
	ADDQ block_src+8(DI), CX
	LEAQ -5(CX), DX
	MOVQ DX, matchLimit
	LEAQ -12(CX), DX
	MOVQ DX, last
	LEAQ -40(CX), DX
	MOVQ DX, srcSafe

	// The output: its last 64 bytes are reserve, so that copies of 32 bytes may go past the end of literals.
	MOVQ block_dst(DI), R13
	MOVQ block_dst+8(DI), DX
	LEAQ -64(R13)(DX*1), DX
	MOVQ DX, outSafe
	ADDQ block_out(DI), R13

	// Begin at the anchor. After a match, enter some of its positions first.
	MOVQ R15, R8
	MOVQ R15, R9
	MOVQ $(58295818150454627<<8), R12
	CMPQ R8, base
	JEQ  position // there is no match yet
	MOVQ block_start(DI), R8
	ADDQ base, R8
	MOVQ block_found(DI), R14
	ADDQ base, R14

	// Enter two positions after R8, the start of the last match, under the indexes after R14, where it was found. The
	// bytes are in the input: the start is at least 4 before R9, which is at most last, 12 before the end.
enter:
	MOVQ 1(SI)(R8*1), AX
	MOVQ 2(SI)(R8*1), DX
	LEAQ 1(R14), BX
	LONG(AX, CX, BX)
	SHORT(AX, CX, BX)
	INCQ BX
	LONG(DX, CX, BX)

	// And four before R9, the end of the match; the one 5 before it only where it is not at the start of the input or
	// before. R9 is at least 5 after the start, and the last 8 bytes read end 6 after R9.
	LEAQ -5(R9), BX
	CMPQ BX, base
	JLS  near
	MOVQ (SI)(BX*1), AX
	LONG(AX, CX, BX)

near:
	LEAQ -3(R9), BX
	MOVQ (SI)(BX*1), AX
	LONG(AX, CX, BX)
	INCQ BX
	MOVQ (SI)(BX*1), AX
	LONG(AX, CX, BX)
	SHORT(AX, CX, BX)
	INCQ BX
	SHRQ $8, AX
	SHORT(AX, CX, BX)
	MOVQ R9, R8

	// Look up position R8, which is at most last, so that its 8 bytes are in the input. BX is the candidate by the hash
	// of 7 bytes, DI that by the hash of 4, whose slot is R14. Both shifts leave 14 bits, the size of the tables.
position:
	MOVQ (SI)(R8*1), AX
	MOVQ AX, CX
	IMULQ R12, CX
	SHRQ $50, CX
	MOVL (R11)(CX*4), BX
	MOVL R8, (R11)(CX*4)
	IMUL3L $-1640531535, AX, R14 // 2654435761
	SHRL $18, R14
	MOVL (R10)(R14*4), DI

	// A candidate that is too far becomes the position itself, so that the load is in the input, and CX makes the test
	// fail. Any other is at most 65535 before R8 and, as newBase ensures, in the input.
	MOVL R8, DX
	SUBL BX, DX
	XORL CX, CX
	CMPL DX, $65535
	SETHI CX
	CMOVLHI R8, BX
	MOVL (SI)(BX*1), DX
	XORL AX, DX
	ORL  CX, DX
	JEQ  long

	// The same with the candidate of the hash of 4 bytes, whose slot is written only now.
	MOVL DI, BX
	MOVL R8, (R10)(R14*4)
	MOVL R8, DX
	SUBL BX, DX
	XORL CX, CX
	CMPL DX, $65535
	SETHI CX
	CMOVLHI R8, BX
	MOVL (SI)(BX*1), DX
	XORL AX, DX
	ORL  CX, DX
	JEQ  short

	// No match: step on, by 1 and 1 more for each 512 bytes since the anchor. Beyond last there is no match.
	MOVQ R8, CX
	SUBQ R15, CX
	SHRQ $9, CX
	LEAQ 1(R8)(CX*1), R8
	CMPQ R8, last
	JLS  position
	MOVQ base, BX
	MOVB $1, best+32(FP)
	JMP  exit

	// Found by the hash of 7 bytes. A position from beyond srcSafe is left to Go, so that 32 bytes can be read from any
	// literal and from R8. Where the match ends comes first, because the next look-up waits for it. R14 is where the
	// match was found, as R8 may move back.
long:
	MOVB $1, best+32(FP)
	CMPQ R8, srcSafe
	JHI  exit
	MOVQ R8, R14
	XORQ (SI)(BX*1), AX
	JZ   more
	TZCNTQ AX, AX
	SHRL $3, AX
	LEAQ (R8)(AX*1), R9
	JMP  room

	// Found by the hash of 4 bytes. The end of the match is R9, as above.
short:
	MOVB $0, best+32(FP)
	CMPQ R8, srcSafe
	JHI  exit
	MOVQ R8, R14
	XORQ (SI)(BX*1), AX
	JZ   more
	TZCNTQ AX, AX
	SHRL $3, AX
	LEAQ (R8)(AX*1), R9

	// Is there a longer match at the next position, by its hash of 7 bytes? DI is its candidate, near enough and in the
	// input after the comparison. CX keeps the hash.
behind:
	MOVQ 1(SI)(R8*1), AX
	MOVQ AX, CX
	IMULQ R12, CX
	SHRQ $50, CX
	MOVL (R11)(CX*4), DI
	LEAL 1(R8), DX
	SUBL DI, DX
	CMPL DX, $65535
	JHI  room
	CMPL AX, (SI)(DI*1)
	JNE  room
	XORQ (SI)(DI*1), AX
	JZ   behindMore
	TZCNTQ AX, AX
	SHRL $3, AX
	LEAQ 1(R8)(AX*1), DX

behindEnd:
	// DX is where that match ends. It starts 1 later, so it is longer if it ends more than 1 later.
	LEAQ 1(R9), AX
	CMPQ DX, AX
	JLS  room

	// The check of room, with a byte more than is needed. If it fails, nothing has changed yet and Go decides again.
	LEAQ 1(R8), AX
	SUBQ R15, AX
	SUBQ R8, DX
	ADDQ DX, AX // more than is needed
	SHRQ $7, AX
	ADDQ R8, AX
	SUBQ R15, AX
	ADDQ R13, AX
	CMPQ AX, outSafe
	JCC  exit

	// Take it, and enter its position.
	LEAQ (R8)(DX*1), R9
	INCQ R8
	MOVL R8, (R11)(CX*4)
	MOVQ DI, BX
	JMP  before

	// Is there room for the literals from R15 to R8, for 1 byte per 128 bytes up to R9, which is more than the lengths
	// need, and for the reserve of 64 bytes, which has to hold the token, the distance and the excess of copies?
room:
	MOVQ R9, AX
	SUBQ R15, AX
	SHRQ $7, AX
	ADDQ R8, AX
	SUBQ R15, AX
	ADDQ R13, AX
	CMPQ AX, outSafe
	JCC  exit

before:
	// The match may start earlier: as many bytes before as are equal, but not before the anchor. 8 bytes are compared
	// if the candidate has them in the input; then the position, which is later, has them too.
	LEAQ -8(BX), CX
	CMPQ CX, base
	JLT  before1
	MOVQ -8(SI)(R8*1), CX
	XORQ -8(SI)(BX*1), CX
	JZ   before1
	BSWAPQ CX
	TZCNTQ CX, CX
	SHRL $3, CX
	MOVQ R8, DX
	SUBQ R15, DX
	CMPQ CX, DX
	CMOVQHI DX, CX
	SUBQ CX, R8
	SUBQ CX, BX
	JMP  literals

	// Byte by byte, near the start of the input or after 8 equal bytes. Neither index goes below its bound.
before1:
	CMPQ R8, R15
	JLS  literals
	CMPQ BX, base
	JLS  literals
	MOVB -1(SI)(R8*1), CX
	CMPB CX, -1(SI)(BX*1)
	JNE  literals
	DECQ R8
	DECQ BX
	JMP  before1

	// DX is the number of literals, DI where they go. Up to 14 are in the token, and 16 bytes are copied: the anchor is
	// at most srcSafe, and the output has its reserve.
literals:
	MOVQ R8, DX
	SUBQ R15, DX
	LEAQ 1(R13), DI
	CMPQ DX, $15
	JCC  manyLiterals
	MOVL DX, AX
	SHLL $4, AX
	MOVUPS (SI)(R15*1), X0
	MOVUPS X0, (DI)
	ADDQ DX, DI
	JMP  match

	// The length takes bytes of 255 and a last one.
manyLiterals:
	MOVL $0xf0, AX
	LEAQ -15(DX), CX
	CMPQ CX, $255
	JCS  lastLength

lengths:
	MOVB $255, (DI)
	INCQ DI
	SUBQ $255, CX
	CMPQ CX, $255
	JCC  lengths

	// Copy 32 bytes at a time. The last copy goes up to 31 bytes past the literals: the input has 40 after srcSafe,
	// and the output has its reserve.
lastLength:
	MOVB CX, (DI)
	INCQ DI
	ADDQ SI, R15
	ADDQ DI, DX

copy:
	MOVUPS (R15), X0
	MOVUPS 16(R15), X1
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	ADDQ $32, R15
	ADDQ $32, DI
	CMPQ DI, DX
	JCS  copy
	MOVQ DX, DI

	// The distance, and the length less 4, up to 14 in the token. AX is the token.
match:
	MOVL R8, CX
	SUBL BX, CX
	MOVW CX, (DI)
	ADDQ $2, DI
	MOVQ R9, CX
	SUBQ R8, CX
	SUBQ $4, CX
	CMPQ CX, $15
	JCC  longMatch
	ADDL CX, AX
	MOVB AX, (R13)

	// The anchor is the end of the match. Where another match may start, R8 and R14 are the start of this one and where
	// it was found, for enter.
written:
	MOVQ DI, R13
	MOVQ R9, R15
	CMPQ R9, last
	JLS  enter

	// The rest are literals.
	MOVQ R9, R8
	MOVQ base, BX
	MOVB $1, best+32(FP)
	JMP  exit

	// A length of 15 or more has bytes of 255 and a last one after the distance.
longMatch:
	ADDL $15, AX
	MOVB AX, (R13)
	SUBQ $15, CX
	CMPQ CX, $255
	JCS  lastOfLength

matchLengths:
	MOVB $255, (DI)
	INCQ DI
	SUBQ $255, CX
	CMPQ CX, $255
	JCC  matchLengths

lastOfLength:
	MOVB CX, (DI)
	INCQ DI
	JMP  written

	// The first 8 bytes are equal: compare on, up to matchLimit. DX becomes the end; R9 is 0, except for the match of
	// the next position, where it is the end of the first match.
more:
	XORL R9, R9
	LEAQ 8(R8), DX
	LEAQ 8(BX), DI
	JMP  count

behindMore:
	LEAQ 9(R8), DX
	ADDQ $8, DI

#define HERE DX
#define THERE DI
#define LIMIT matchLimit
#define REST AX
#include "count_amd64.h"

	TESTQ R9, R9
	JNE   behindMost
	MOVQ  DX, R9
	CMPB  best+32(FP), $0
	JEQ   behind
	JMP   room

	// DI becomes the index of the candidate again, as the distance of the match is DX less DI.
behindMost:
	SUBQ DX, DI
	LEAQ 1(R8)(DI*1), DI
	JMP  behindEnd

	// Return R8 and BX as positions, and store the anchor and the end of the output.
exit:
	MOVQ b+8(FP), DI
	MOVQ base, CX
	SUBQ CX, R8
	MOVQ R8, found+16(FP)
	SUBQ CX, BX
	MOVQ BX, at+24(FP)
	SUBQ CX, R15
	MOVQ R15, block_anchor(DI)
	SUBQ block_dst(DI), R13
	MOVQ R13, block_out(DI)
	RET
