//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"

// func decodeArm64(d *decoder, pairs *[16]spans.Pair)
//
// Registers:
//
//	R0         d
//	R1         where the output of the token starts
//	R2         the byte after the control byte
//	R3, R4     limits of R2 and R1: 40 bytes before the end of the input, 64 before that of the output
//	R5         the start of the output
//	R6         pairs
//	R7         the control byte
//	R8         the length of a match
//	R9         the distance, at first less 1
//	R10        the input of a long match
//	R12        where the match comes from, or 1 more
//	R15        the end of the match
//	R16        8191
//	R11, R13, R14, F0 to F2   scratch
//
// R1 and R2 change only after a token, so that Go can decode it instead at any time.
TEXT ·decodeArm64(SB), NOSPLIT, $0-16
	MOVD d+0(FP), R0
	MOVD pairs+8(FP), R6
	MOVD $8191, R16
	MOVD decoder_src(R0), R2
	MOVD (decoder_src+8)(R0), R3
	ADD  R2, R3
	SUB  $40, R3
	MOVD decoder_dst(R0), R1
	MOVD (decoder_dst+8)(R0), R4
	ADD  R1, R4
	SUB  $64, R4
	MOVD R1, R5

	// The first token has literals; three of its bits mean nothing.
	MOVBU.P 1(R2), R7
	AND     $31, R7
	B       literals

	// A token below 32 has literals, a higher one is a match.
	PCALIGN $16
token:
	MOVBU -1(R2), R7
	CMP   $32, R7
	BHS   match

	// R7+1 literals, 1 to 32: copy 32 bytes. Later tokens overwrite those that are not literals.
literals:
	FLDPQ (R2), (F0, F1)
	ADD   $1, R7
	FSTPQ (F0, F1), (R1)
	ADD   R7, R1
	ADD   R7, R2
	ADD   $1, R2

	// Leave the token to Go unless 40 bytes of input and 64 of output are left.
next:
	CMP  R4, R1
	CCMP LS, R2, R3, $2 // if the output is past its limit: higher
	BLS  token

	// Store the positions of the token, as offsets.
leave:
	MOVD decoder_src(R0), R7
	SUB  R7, R2
	SUB  $1, R2
	MOVD R2, decoder_in(R0)
	SUB  R5, R1
	MOVD R1, decoder_out(R0)
	RET

	// The low five bits of the control byte are the high bits of the distance, the upper three, 1 to 7, the length less
	// 2. 7 means that bytes of the length follow. Otherwise the low byte of the distance is next.
match:
	AND   $31, R7, R9
	CMP   $0xe0, R7
	BHS   long
	MOVBU (R2), R13
	ADD   R9<<8, R13, R9
	CMP   R16, R9
	BEQ   farShort

	// 3 to 8 bytes: copy 8. Distances below 8, and those that reach before the output, go to close. R12 is one more
	// than where the match comes from, as R9 is one less than the distance.
	SUB  R9, R1, R12
	CMP  $7, R9
	CCMP HS, R12, R5, $0 // if the distance is below 8: lower
	BLS  close
	MOVD -1(R12), R13
	MOVD R13, (R1)

	// Move to the next token.
short:
	ADD R7>>5, R1
	ADD $2, R1
	ADD $2, R2
	B   next

	// Repeat the first R9+1 of the 8 bytes loaded.
close:
	CMP   R5, R12
	BLS   leave
	ADD   R9<<6, R6, R13
	FMOVD -1(R12), F0
	FMOVQ 64(R13), F1
	VTBL  V1.B16, [V0.B16], V0.B16
	FMOVD F0, (R1)
	B     short

	// The largest distance means that two more bytes follow, the high one first, to add to it.
farShort:
	MOVHU  1(R2), R13
	REV16W R13, R13
	ADD    R13, R9
	SUB    R9, R1, R12
	CMP    R5, R12
	BLS    leave
	MOVD   -1(R12), R13
	MOVD   R13, (R1)
	ADD    $2, R2
	B      short

	// 9 bytes or more: add bytes to the length until one is below 255. The rest of the distance is after them.
long:
	MOVD R2, R10
	MOVD $9, R8

longer:
	CMP     R3, R10
	BHI     leave
	MOVBU.P 1(R10), R13
	ADD     R13, R8
	CMP     $255, R13
	BEQ     longer
	MOVBU.P 1(R10), R13
	ADD     R9<<8, R13, R9
	CMP     R16, R9
	BNE     copy
	MOVHU.P 2(R10), R13
	REV16W  R13, R13
	ADD     R13, R9

	// The loops below write up to 31 bytes past the end of the match, R15, so it must not be past R4.
copy:
	ADD  $1, R9
	SUB  R9, R1, R12
	ADD  R8, R1, R15
	CMP  R5, R12
	CCMP HS, R4, R15, $0 // if the match begins before the output: lower
	BLO  leave
	ADD  $1, R10, R2
	MOVD R1, R11
	MOVD R15, R1
	CMP  $32, R9
	BLO  near

	// A distance of 32 or more: 32 bytes per iteration, all of which are written already.
far:
	FLDPQ.P 32(R12), (F0, F1)
	FSTPQ.P (F0, F1), 32(R11)
	CMP     R15, R11
	BLO     far
	B       next

near:
	CMP $16, R9
	BLO repeat

	// A distance of 16 to 31: 16 bytes per iteration.
near16:
	FMOVQ.P 16(R12), F0
	FMOVQ.P F0, 16(R11)
	CMP     R15, R11
	BLO     near16
	B       next

	// A distance of 1 to 15: load as many bytes as the distance, or more.
repeat:
	FMOVD (R12), F0
	CMP   $8, R9
	BLS   pattern
	FMOVQ (R12), F0

	// Repeat them over 32 bytes. R14 is the number of bytes in complete repetitions.
pattern:
	ADD   R9<<6, R6, R13
	FLDPQ (R13), (F1, F2)
	MOVD  32(R13), R14
	VTBL  V1.B16, [V0.B16], V1.B16
	VTBL  V2.B16, [V0.B16], V2.B16

	// Store them in each iteration, after the complete repetitions of the one before.
again:
	FSTPQ (F1, F2), (R11)
	ADD   R14, R11
	CMP   R15, R11
	BLO   again
	B     next
