//go:build amd64 && !purego

#include "textflag.h"
#include "transpose_amd64.h"

// AVX2 kernels that bring elements of a shuffled block together and write them to rows that are apart. See the comment
// on scatter in shuffle_amd64.s for how registers become elements.
//
// A row is processed in iterations of 32 elements, or of 16 or 8 if it is shorter than that. The elements that are left
// at the end of a row are moved by one more iteration, which ends at its end and writes some elements again. No byte
// before or after a row is touched. An iteration of 8 or 16 has all its elements in the lower lanes, those of 8 in
// their lower halves.
//
//  DI, SI   first byte of the row in dst, in the first plane of src
//  AX, BX   next byte of these
//  R8, R9   length of a plane, three times it
//  R10      BX plus 4 planes
//  R11, R12 steps from a row to the next in dst, src
//  R13      distance to the rows that come next
//  CX, DX   elements in a row, left in it
//
// R15 is not used: it may be the linker's.

// ARGS loads the arguments, except the number of rows, which stays in memory and is counted down.
#define ARGS \
	MOVQ dst+0(FP), DI; \
	MOVQ src+8(FP), SI; \
	MOVQ rowLen+16(FP), R8; \
	MOVQ n+24(FP), CX; \
	MOVQ dstStep+40(FP), R11; \
	MOVQ srcStep+48(FP), R12; \
	MOVQ ahead+56(FP), R13; \
	LEAQ (R8)(R8*2), R9

// START begins a row.
#define START \
	MOVQ DI, AX; \
	MOVQ SI, BX; \
	MOVQ CX, DX

// BACK moves back for the last turn of count elements, if less are left: size is that of an element.
#define BACK(count, size) \
	SUBQ  $count, DX; \
	ADDQ  DX, BX; \
	IMULQ $size, DX; \
	ADDQ  DX, AX; \
	MOVQ  $count, DX

// func rows2AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int)
//
// It is unshuffleRowsGeneric for a width of 2, with the loop in rows_amd64.go. UnshuffleRows has checked that all rows
// are inside of the block and of the other memory, and unshuffleRowsVector that a row has at least 8 elements. Turns
// stay inside of a row, so no load or store goes past it. Prefetches may be anywhere: they never fault.
TEXT ·rows2AVX2(SB), NOSPLIT, $0-64
	ARGS

	// A row: its first iteration is of 32, 16 or 8 elements, the largest of these numbers that it has.
row:
	START
	CMPQ DX, $16
	JLT  turn8
	CMPQ DX, $32
	JLT  turn16

	// 32 elements: interleave the bytes of two planes until lanes have whole elements. The lower lanes have the first
	// 16 elements, the upper lanes the others.
turn32:
	PREFETCHT0   (AX)(R13*1)
	PREFETCHT0   63(AX)(R13*1)
	VMOVDQU      (BX), Y0
	VMOVDQU      (BX)(R8*1), Y1
	VPUNPCKLBW   Y1, Y0, Y2
	VPUNPCKHBW   Y1, Y0, Y3
	VPERM2I128   $0x20, Y3, Y2, Y0
	VPERM2I128   $0x31, Y3, Y2, Y1
	VMOVDQU      Y0, (AX)
	VMOVDQU      Y1, 32(AX)
	ADDQ         $32, BX
	ADDQ         $64, AX
	SUBQ         $32, DX
	JZ           next
	CMPQ         DX, $32
	JGE          turn32

	// Less than 32 elements are left, and some were done before: end at the end of the row.
	BACK(32, 2)
	JMP          turn32

	// 16 elements, in the lower lanes only. A row of less than 32 takes one or two such turns.
turn16:
	PREFETCHT0 (AX)(R13*1)
	PREFETCHT0 31(AX)(R13*1)
	VMOVDQU    (BX), X0
	VMOVDQU    (BX)(R8*1), X1
	VPUNPCKLBW X1, X0, X2
	VPUNPCKHBW X1, X0, X3
	VMOVDQU    X2, (AX)
	VMOVDQU    X3, 16(AX)
	ADDQ       $16, BX
	ADDQ       $32, AX
	SUBQ       $16, DX
	JZ         next
	BACK(16, 2)
	JMP        turn16

	// 8 elements, in the lower halves of the lower lanes. A row of less than 16 takes one or two such turns.
turn8:
	PREFETCHT0 (AX)(R13*1)
	VMOVQ      (BX), X0
	VMOVQ      (BX)(R8*1), X1
	VPUNPCKLBW X1, X0, X2
	VMOVDQU    X2, (AX)
	ADDQ       $8, BX
	ADDQ       $16, AX
	SUBQ       $8, DX
	JZ         next
	BACK(8, 2)
	JMP        turn8

	// The next row, if there is one.
next:
	ADDQ R11, DI
	ADDQ R12, SI
	DECQ rows+32(FP)
	JNZ  row
	VZEROUPPER
	RET

// func rows4AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int)
//
// It is unshuffleRowsGeneric for a width of 4, with the loop in rows_amd64.go. UnshuffleRows has checked that all rows
// are inside of the block and of the other memory, and unshuffleRowsVector that a row has at least 8 elements. Turns
// stay inside of a row, so no load or store goes past it. Prefetches may be anywhere: they never fault.
TEXT ·rows4AVX2(SB), NOSPLIT, $0-64
	ARGS

	// A row: its first iteration is of 32, 16 or 8 elements, the largest of these numbers that it has.
row:
	START
	CMPQ DX, $16
	JLT  turn8
	CMPQ DX, $32
	JLT  turn16

	// 32 elements: interleave the bytes of four planes until lanes have whole elements. The lower lanes have the first
	// 16 elements, the upper lanes the others.
turn32:
	PREFETCHT0   (AX)(R13*1)
	PREFETCHT0   64(AX)(R13*1)
	PREFETCHT0   127(AX)(R13*1)
	VMOVDQU      (BX), Y0
	VMOVDQU      (BX)(R8*1), Y1
	VMOVDQU      (BX)(R8*2), Y2
	VMOVDQU      (BX)(R9*1), Y3
	VPUNPCKLBW   Y1, Y0, Y4
	VPUNPCKHBW   Y1, Y0, Y5
	VPUNPCKLBW   Y3, Y2, Y6
	VPUNPCKHBW   Y3, Y2, Y7
	VPUNPCKLWD   Y6, Y4, Y0
	VPUNPCKHWD   Y6, Y4, Y1
	VPUNPCKLWD   Y7, Y5, Y2
	VPUNPCKHWD   Y7, Y5, Y3
	VPERM2I128   $0x20, Y1, Y0, Y4
	VPERM2I128   $0x20, Y3, Y2, Y5
	VPERM2I128   $0x31, Y1, Y0, Y6
	VPERM2I128   $0x31, Y3, Y2, Y7
	VMOVDQU      Y4, (AX)
	VMOVDQU      Y5, 32(AX)
	VMOVDQU      Y6, 64(AX)
	VMOVDQU      Y7, 96(AX)
	ADDQ         $32, BX
	ADDQ         $128, AX
	SUBQ         $32, DX
	JZ           next
	CMPQ         DX, $32
	JGE          turn32

	// Less than 32 elements are left, and some were done before: end at the end of the row.
	BACK(32, 4)
	JMP          turn32

	// 16 elements, in the lower lanes only. A row of less than 32 takes one or two such turns.
turn16:
	PREFETCHT0 (AX)(R13*1)
	PREFETCHT0 63(AX)(R13*1)
	VMOVDQU    (BX), X0
	VMOVDQU    (BX)(R8*1), X1
	VMOVDQU    (BX)(R8*2), X2
	VMOVDQU    (BX)(R9*1), X3
	VPUNPCKLBW X1, X0, X4
	VPUNPCKHBW X1, X0, X5
	VPUNPCKLBW X3, X2, X6
	VPUNPCKHBW X3, X2, X7
	VPUNPCKLWD X6, X4, X0
	VPUNPCKHWD X6, X4, X1
	VPUNPCKLWD X7, X5, X2
	VPUNPCKHWD X7, X5, X3
	VMOVDQU    X0, (AX)
	VMOVDQU    X1, 16(AX)
	VMOVDQU    X2, 32(AX)
	VMOVDQU    X3, 48(AX)
	ADDQ       $16, BX
	ADDQ       $64, AX
	SUBQ       $16, DX
	JZ         next
	BACK(16, 4)
	JMP        turn16

	// 8 elements, in the lower halves of the lower lanes. A row of less than 16 takes one or two such turns.
turn8:
	PREFETCHT0 (AX)(R13*1)
	VMOVQ      (BX), X0
	VMOVQ      (BX)(R8*1), X1
	VMOVQ      (BX)(R8*2), X2
	VMOVQ      (BX)(R9*1), X3
	VPUNPCKLBW X1, X0, X4
	VPUNPCKLBW X3, X2, X6
	VPUNPCKLWD X6, X4, X0
	VPUNPCKHWD X6, X4, X1
	VMOVDQU    X0, (AX)
	VMOVDQU    X1, 16(AX)
	ADDQ       $8, BX
	ADDQ       $32, AX
	SUBQ       $8, DX
	JZ         next
	BACK(8, 4)
	JMP        turn8

	// The next row, if there is one.
next:
	ADDQ R11, DI
	ADDQ R12, SI
	DECQ rows+32(FP)
	JNZ  row
	VZEROUPPER
	RET

// PLANES8 loads from eight planes with the instruction and to the registers of the given kind.
#define PLANES8(load, r0, r1, r2, r3, r4, r5, r6, r7) \
	LEAQ (BX)(R8*4), R10; \
	load (BX), r0; \
	load (BX)(R8*1), r1; \
	load (BX)(R8*2), r2; \
	load (BX)(R9*1), r3; \
	load (R10), r4; \
	load (R10)(R8*1), r5; \
	load (R10)(R8*2), r6; \
	load (R10)(R9*1), r7

// func rows8AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int)
//
// It is unshuffleRowsGeneric for a width of 8, with the loop in rows_amd64.go. UnshuffleRows has checked that all rows
// are inside of the block and of the other memory, and unshuffleRowsVector that a row has at least 8 elements. Turns
// stay inside of a row, so no load or store goes past it. Prefetches may be anywhere: they never fault.
TEXT ·rows8AVX2(SB), NOSPLIT, $0-64
	ARGS

	// A row: its first iteration is of 32, 16 or 8 elements, the largest of these numbers that it has.
row:
	START
	CMPQ DX, $16
	JLT  turn8
	CMPQ DX, $32
	JLT  turn16

	// 32 elements: interleave the bytes of eight planes until lanes have whole elements. The lower lanes have the first
	// 16 elements, the upper lanes the others.
turn32:
	PREFETCHT0   (AX)(R13*1)
	PREFETCHT0   64(AX)(R13*1)
	PREFETCHT0   128(AX)(R13*1)
	PREFETCHT0   192(AX)(R13*1)
	PREFETCHT0   255(AX)(R13*1)
	PLANES8(VMOVDQU, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	INTERLEAVE8
	VPERM2I128   $0x20, Y9, Y8, Y0
	VPERM2I128   $0x20, Y11, Y10, Y1
	VPERM2I128   $0x20, Y13, Y12, Y2
	VPERM2I128   $0x20, Y15, Y14, Y3
	VPERM2I128   $0x31, Y9, Y8, Y4
	VPERM2I128   $0x31, Y11, Y10, Y5
	VPERM2I128   $0x31, Y13, Y12, Y6
	VPERM2I128   $0x31, Y15, Y14, Y7
	VMOVDQU      Y0, (AX)
	VMOVDQU      Y1, 32(AX)
	VMOVDQU      Y2, 64(AX)
	VMOVDQU      Y3, 96(AX)
	VMOVDQU      Y4, 128(AX)
	VMOVDQU      Y5, 160(AX)
	VMOVDQU      Y6, 192(AX)
	VMOVDQU      Y7, 224(AX)
	ADDQ         $32, BX
	ADDQ         $256, AX
	SUBQ         $32, DX
	JZ           next
	CMPQ         DX, $32
	JGE          turn32

	// Less than 32 elements are left, and some were done before: end at the end of the row.
	BACK(32, 8)
	JMP          turn32

	// 16 elements, in the lower lanes only. A row of less than 32 takes one or two such turns.
turn16:
	PREFETCHT0 (AX)(R13*1)
	PREFETCHT0 64(AX)(R13*1)
	PREFETCHT0 127(AX)(R13*1)
	PLANES8(VMOVDQU, X0, X1, X2, X3, X4, X5, X6, X7)
	INTERLEAVE8
	VMOVDQU    X8, (AX)
	VMOVDQU    X9, 16(AX)
	VMOVDQU    X10, 32(AX)
	VMOVDQU    X11, 48(AX)
	VMOVDQU    X12, 64(AX)
	VMOVDQU    X13, 80(AX)
	VMOVDQU    X14, 96(AX)
	VMOVDQU    X15, 112(AX)
	ADDQ       $16, BX
	ADDQ       $128, AX
	SUBQ       $16, DX
	JZ         next
	BACK(16, 8)
	JMP        turn16

	// 8 elements, in the lower halves of the lower lanes. A row of less than 16 takes one or two such turns.
turn8:
	PREFETCHT0 (AX)(R13*1)
	PREFETCHT0 63(AX)(R13*1)
	PLANES8(VMOVQ, X0, X1, X2, X3, X4, X5, X6, X7)
	INTERLEAVE8
	VMOVDQU    X8, (AX)
	VMOVDQU    X9, 16(AX)
	VMOVDQU    X10, 32(AX)
	VMOVDQU    X11, 48(AX)
	ADDQ       $8, BX
	ADDQ       $64, AX
	SUBQ       $8, DX
	JZ         next
	BACK(8, 8)
	JMP        turn8

	// The next row, if there is one.
next:
	ADDQ R11, DI
	ADDQ R12, SI
	DECQ rows+32(FP)
	JNZ  row
	VZEROUPPER
	RET
