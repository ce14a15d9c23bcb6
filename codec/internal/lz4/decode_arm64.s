//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"

// The largest length for the loops here. Go's copy is as fast for longer ones, or faster.
#define longest 16384

// func decodeArm64(d *decoder, pairs *[16]spans.Pair)
//
// Registers:
//
//	R0         d
//	R1         where the output of the sequence starts
//	R2         the byte after the token of the sequence
//	R3, R4     limits of R2 and R1: 32 bytes before the end of the input, 64 before that of the output
//	R5         the start of the output
//	R6         pairs
//	R7, R8     the token, and the match length, of which 4 are missing
//	R9, R10    the distance, and the address of its first byte, or less 2 that of the byte after the match length
//	R11, R12   where the match goes, and where it comes from
//	R15        the end of the match
//	R13, R14, F0 to F3   scratch
//
// R1 and R2 change only after a sequence, so that Go can decode it instead at any time.
//
// A match of up to 16 bytes is copied by 8 and 8 bytes, in this order: then the distance may be 8 or more. Loads of 16
// bytes often need the bytes of several stores, which were executed just before, and CPUs wait for those.
TEXT ·decodeArm64(SB), NOSPLIT, $0-16
	MOVD d+0(FP), R0
	MOVD pairs+8(FP), R6

	// The input: its last 32 bytes are for Go.
	MOVD decoder_src(R0), R2
	MOVD (decoder_src+8)(R0), R3
	ADD  R2, R3
	SUB  $32, R3
	MOVD decoder_in(R0), R7
	ADD  R7, R2
	ADD  $1, R2

	// The output: its last 64 bytes are for Go.
	MOVD decoder_dst(R0), R5
	MOVD (decoder_dst+8)(R0), R4
	ADD  R5, R4
	SUB  $64, R4
	MOVD decoder_out(R0), R1
	ADD  R5, R1
	B    next

	// Load the token, and 16 bytes after it: up to 14 of them are literals. 15 literals mean more.
	PCALIGN $16
sequence:
	MOVBU -1(R2), R7
	FMOVQ (R2), F0
	AND   $15, R7, R8
	CMP   $0xf0, R7
	BHS   manyLiterals

	// Store all 16 bytes. The match overwrites those that are not literals.
	FMOVQ F0, (R1)
	ADD   R7>>4, R2, R10
	ADD   R7>>4, R1, R11

	// The match. R11 is at most 46 bytes past R4, so 18 bytes can be stored. Distances below 8, and those that reach
	// before the output, go to close. 13 to 15 in the token mean more than 16 bytes.
match:
	MOVHU (R10), R9
	SUB   R9, R11, R12
	CMP   $8, R9
	CCMP  HS, R12, R5, $0
	BLO   close
	CMP   $12, R8
	BHI   longer
	MOVD  (R12), R13
	MOVD  R13, (R11)
	MOVD  8(R12), R13
	MOVD  R13, 8(R11)

	// Move to the next sequence.
matched:
	ADD $3, R10, R2
	ADD R8, R11, R1
	ADD $4, R1

	// Leave the sequence to Go unless 32 bytes of input and 64 of output are left.
next:
	CMP  R4, R1
	CCMP LS, R2, R3, $2 // if the output is past its limit: higher
	BLS  sequence

	// Store the positions of the sequence, as offsets.
leave:
	MOVD decoder_src(R0), R7
	SUB  R7, R2
	SUB  $1, R2
	MOVD R2, decoder_in(R0)
	SUB  R5, R1
	MOVD R1, decoder_out(R0)
	RET

	// 17 or 18 bytes, or more.
longer:
	CMP   $15, R8
	BEQ   longMatch
	MOVD  (R12), R13
	MOVD  R13, (R11)
	MOVD  8(R12), R13
	MOVD  R13, 8(R11)
	MOVHU 16(R12), R13
	MOVH  R13, 16(R11)
	B     matched

	// A distance below 8, or one that reaches before the output, into a dictionary. A distance of 0 is invalid.
close:
	CMP R5, R12
	BLO leave
	CBZ R9, leave
	CMP $12, R8
	BHI closeLonger

	// Up to 16 bytes: repeat the first R9 of the 8 bytes loaded. The others may be bytes of the match.
	ADD   R9<<6, R6, R13
	FMOVD (R12), F0
	FMOVQ (R13), F1
	VTBL  V1.B16, [V0.B16], V0.B16
	FMOVQ F0, (R11)
	B     matched

closeLonger:
	CMP $15, R8
	BNE lengthKnown

	// Add bytes to the match length until one is below 255. They start 2 bytes after R10.
longMatch:
	CMP   R3, R10
	BHI   leave
	MOVBU 2(R10), R13
	ADD   $1, R10
	ADD   R13, R8
	CMP   $255, R13
	BEQ   longMatch
	CMP   $longest, R8
	BHI   leave

	// The loops below write up to 31 bytes past the end of the match, R15, so it must not be past R4.
lengthKnown:
	ADD R8, R11, R15
	ADD $4, R15
	CMP R4, R15
	BHI leave
	CMP $32, R9
	BLO near

	// A distance of 32 or more: 32 bytes per iteration, all of which are written already.
far:
	FLDPQ.P 32(R12), (F0, F1)
	FSTPQ.P (F0, F1), 32(R11)
	CMP     R15, R11
	BLO     far

	// Move to the next sequence after a long match.
copied:
	ADD  $3, R10, R2
	MOVD R15, R1
	B    next

near:
	CMP $16, R9
	BLO repeat

	// A distance of 16 to 31: 16 bytes per iteration.
near16:
	FMOVQ.P 16(R12), F0
	FMOVQ.P F0, 16(R11)
	CMP     R15, R11
	BLO     near16
	B       copied

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
	B     copied

	// 15 literals or more. R13 is the first byte of the rest of their number. With R13 up to 31 there are at most 46,
	// and no second byte.
manyLiterals:
	MOVBU (R2), R13
	CMP   $31, R13
	BHI   moreLiterals

	// Copy 48 bytes from after this byte, which the input must have. The distance is among them or directly after them,
	// and before the end of the input.
	ADD   $17, R2, R14
	CMP   R3, R14
	BHI   leave
	ADD   $1, R2, R12
	FLDPQ (R12), (F0, F1)
	FMOVQ 32(R12), F2
	FSTPQ (F0, F1), (R1)
	FMOVQ F2, 32(R1)
	ADD   R13, R2, R10
	ADD   $16, R10
	ADD   R13, R1, R11
	ADD   $15, R11
	B     match

	// 47 literals or more.
moreLiterals:
	MOVD R2, R12
	MOVD $15, R14

	// Add bytes to the number, R14, until one is below 255.
literalLength:
	CMP     R3, R12
	BHI     leave
	MOVBU.P 1(R12), R13
	ADD     R13, R14
	CMP     $255, R13
	BEQ     literalLength
	CMP     $longest, R14
	BHI     leave

	// The loop below reads and writes up to 63 bytes past the literals. They must end 64 bytes before the end of the
	// input, and of the output.
	ADD  R14, R12, R10
	ADD  R14, R1, R11
	ADD  $32, R10, R13
	CMP  R3, R13
	BHI  leave
	CMP  R4, R11
	BHI  leave
	MOVD R1, R13

	// Copy 64 bytes per iteration.
copyLiterals:
	FLDPQ   32(R12), (F2, F3)
	FLDPQ.P 64(R12), (F0, F1)
	FSTPQ   (F2, F3), 32(R13)
	FSTPQ.P (F0, F1), 64(R13)
	CMP     R11, R13
	BLO     copyLiterals
	B       match
