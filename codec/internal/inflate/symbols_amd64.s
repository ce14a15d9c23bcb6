//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// LOAD fills the word: it adds the next bytes of the input above the unread bits, and moves R8 by those that fit in
// whole. There are then 56 bits or more. It changes R13 and R14.
#define LOAD \
	MOVQ  (R8), R13      \
	SHLXQ CX, R13, R13   \
	ORQ   R13, BX        \
	MOVL  CX, R14        \
	SHRL  $3, R14        \
	ANDL  $7, R14        \
	ADDQ  $7, R8         \
	SUBQ  R14, R8        \
	ORL   $56, CX

// SYMBOL loads the entry of the next symbol, for the low 11 bits of the word. It changes R14.
#define SYMBOL \
	MOVL BX, R14         \
	ANDL $(1<<const_literalBits-1), R14 \
	MOVL (DX)(R14*4), AX

// TAKE removes the bits of an entry. Both instructions look at the low six bits of a count alone, so the entry is its
// own count, and only the low six bits of CX count.
#define TAKE \
	SHRXQ AX, BX, BX     \
	SUBL  AX, CX

// LITERALS stores the one or two literals of an entry and removes its bits. It changes R13 and R14.
#define LITERALS \
	MOVL AX, R13         \
	SHRL $8, R13         \
	MOVW R13, (DI)       \
	MOVL AX, R14         \
	SHRL $24, R14        \
	ANDL $3, R14         \
	ADDQ R14, DI         \
	TAKE

// VALUE adds the base of an entry and the number that follows its code, for a length or a distance, and removes the
// bits of both. BZHIQ looks at the low eight bits of a count, of which the highest two are flags that are not set here.
// It changes R14.
#define VALUE(value) \
	BZHIQ AX, BX, value     \
	RORXL $8, AX, R14       \
	SHRXQ R14, value, value \
	TAKE                    \
	SHRL  $16, AX           \
	ADDL  AX, value

// func symbolsAVX2(r *run, t *tables, spans *[17]spans.Span) (stop int)
//
// It is run.fastGeneric, step by step, except that it looks up the first entry of an iteration in the one before. Then
// the look-up need not wait for LOAD. There are bits for it: the word has 64 bits of the input after LOAD, and at most
// 48 are taken until the next LOAD. Type tables describes the entries.
//
// Registers:
//
//	R8, DI        addresses of the next byte to load of the input, and of the next byte of the output
//	R9, R10       where an iteration must begin at the latest in both
//	R11           the start of the output
//	BX, CX        the word, and in its low six bits the number of unread bits
//	DX            tables
//	R12           spans
//	AX            an entry
//	R13, R14, R15 scratch
//	SI            the length of a match
TEXT ·symbolsAVX2(SB), NOSPLIT, $0-32
	MOVQ r+0(FP), AX
	MOVQ t+8(FP), DX
	MOVQ spans+16(FP), R12
	MOVQ run_src(AX), R8
	MOVQ run_src+8(AX), R9
	LEAQ -const_margin(R8)(R9*1), R9
	ADDQ run_in(AX), R8

	// The output: room bytes before its end, or the byte before stop if that is earlier.
	MOVQ    run_dst(AX), R11
	MOVQ    run_dst+8(AX), R10
	SUBQ    $const_room, R10
	MOVQ    run_stop(AX), DI
	DECQ    DI
	CMPQ    DI, R10
	CMOVQLT DI, R10
	ADDQ    R11, R10
	MOVQ    run_out(AX), DI
	ADDQ    R11, DI
	MOVQ    run_word(AX), BX
	MOVQ    run_left(AX), CX

	// The first entry.
	CMPQ R8, R9
	JHI  limit
	LOAD
	SYMBOL

	// Up to four entries of literals, which have bit 31 set.
	PCALIGN $32
iteration:
	CMPQ R8, R9
	JHI  limit
	CMPQ DI, R10
	JHI  limit
	LOAD
	TESTL AX, AX
	JPL  other
	LITERALS
	SYMBOL
	TESTL AX, AX
	JPL  loaded
	LITERALS
	SYMBOL
	TESTL AX, AX
	JPL  loaded
	LITERALS
	SYMBOL
	TESTL AX, AX
	JPL  loaded
	LITERALS
	SYMBOL
	JMP  iteration

	// A match needs up to 48 bits.
loaded:
	LOAD

other:
	TESTL $const_isSpecial, AX
	JNE  special

	// A length, and the entry of the distance.
length:
	VALUE(SI)
	MOVL BX, R13
	ANDL $(1<<const_distanceBits-1), R13
	MOVL tables_distances(DX)(R13*4), AX
	TESTL $(const_isFar|const_isNone), AX
	JNE  far

distance:
	VALUE(R13)
	SYMBOL
	MOVQ DI, R15
	SUBQ R11, R15
	CMPQ R13, R15
	JHI  before

	// R15 is where the match comes from, and SI where it ends. The copies write up to 31 bytes after the end.
	MOVQ DI, R15
	SUBQ R13, R15
	ADDQ DI, SI
	CMPL R13, $16
	JCS  near
	VMOVDQU (R15), X0
	VMOVDQU X0, (DI)
	ADDQ    $16, DI
	CMPQ    DI, SI
	JCC     copied

	// A distance of at least 16: 32 bytes per iteration. Each load finds bytes that are already there.
copy:
	VMOVDQU 16(R15), X0
	VMOVDQU X0, (DI)
	VMOVDQU 32(R15), X0
	VMOVDQU X0, 16(DI)
	ADDQ    $32, R15
	ADDQ    $32, DI
	CMPQ    DI, SI
	JCS     copy

copied:
	MOVQ SI, DI
	JMP  iteration

	// A distance below 16: fill a register with the first bytes, repeated. R13 becomes the number of bytes in whole
	// repetitions, at least 9.
near:
	SHLL    $5, R13
	VMOVDQU (R15), X0
	VPSHUFB (R12)(R13*1), X0, X0
	MOVQ    16(R12)(R13*1), R13

	// Each store begins before the end of the match.
repeat:
	VMOVDQU X0, (DI)
	ADDQ    R13, DI
	CMPQ    DI, SI
	JCS     repeat
	MOVQ    SI, DI
	JMP     iteration

	// The code of a distance has more bits than the index: its entry is in a second table, or there is none.
far:
	TESTL $const_isFar, AX
	JEQ  noSymbol
	SHRL $16, AX
	MOVL BX, R13
	SHRL $const_distanceBits, R13
	ANDL $(1<<const_distanceMore-1), R13
	ADDL AX, R13
	MOVL tables_distances(DX)(R13*4), AX
	TESTL $const_isNone, AX
	JEQ  distance
	JMP  noSymbol

	// A code with more bits than the index, the end of the block, or no symbol.
special:
	TESTL $const_isSecond, AX
	JEQ  last
	SHRL $8, AX
	MOVWLZX AX, AX
	MOVL BX, R13
	SHRL $const_literalBits, R13
	ANDL $(1<<const_literalMore-1), R13
	ADDL AX, R13
	MOVL (DX)(R13*4), AX
	TESTL AX, AX
	JMI  literal
	TESTL $const_isSpecial, AX
	JEQ  length

last:
	TESTL $const_isEnd, AX
	JEQ  noSymbol
	TAKE
	MOVQ $const_stopEnd, R15
	JMP  save

	// One literal, whose code has more than 11 bits.
literal:
	MOVL AX, R13
	SHRL $8, R13
	MOVB R13, (DI)
	INCQ DI
	TAKE
	SYMBOL
	JMP  iteration

noSymbol:
	MOVQ $const_stopSymbol, R15
	JMP  save

before:
	MOVQ $const_stopDistance, R15
	JMP  save

limit:
	MOVQ $const_stopLimit, R15

save:
	MOVQ r+0(FP), AX
	SUBQ run_src(AX), R8
	MOVQ R8, run_in(AX)
	SUBQ R11, DI
	MOVQ DI, run_out(AX)
	MOVQ BX, run_word(AX)
	ANDQ $63, CX
	MOVQ CX, run_left(AX)
	MOVQ R15, stop+24(FP)
	RET
