//go:build amd64 && !purego

#include "textflag.h"
#include "transpose_amd64.h"

// AVX2 kernels that take elements from rows that are apart and write their bytes to the rows of a shuffled block. See
// the comment on gather in shuffle_amd64.s for how elements become registers.
//
// A row is processed in iterations of 32 elements, or of 16 or 8 if it is shorter than that. The elements that are left
// at the end of a row are done by shorter iterations; the last one begins as far before the end as it is long, and may
// write some bytes again. No byte before or after a row is touched on either side. An iteration of 8 or 16 has all its
// elements in the lower lanes.
//
//  DI, SI   first byte of the row in the first plane of dst, in src
//  BX, AX   next byte of these
//  R8, R9   length of a plane, three times it
//  R10      BX plus 4 planes
//  R11, R12 steps from a row to the next in dst, src
//  R13      distance to the rows that come next
//  R14      address of the shuffle mask (R15 is not used: it may be the linker's)
//  CX, DX   elements in a row, left in it

// ARGS loads the arguments, except the number of rows, which stays in memory and is counted down.
#define ARGS \
	MOVQ dst+0(FP), DI; \
	MOVQ src+8(FP), SI; \
	MOVQ rowLen+16(FP), R8; \
	MOVQ n+24(FP), CX; \
	MOVQ dstStep+40(FP), R11; \
	MOVQ srcStep+48(FP), R12; \
	MOVQ ahead+56(FP), R13; \
	MOVQ mask+64(FP), R14; \
	LEAQ (R8)(R8*2), R9

// START begins a row.
#define START \
	MOVQ SI, AX; \
	MOVQ DI, BX; \
	MOVQ CX, DX

// BACK moves back for the last turn of count elements, where no more are left: size is that of an element.
#define BACK(count, size) \
	SUBQ  $count, DX; \
	ADDQ  DX, BX; \
	IMULQ $size, DX; \
	ADDQ  DX, AX; \
	MOVQ  $count, DX

// LANES loads 16 bytes at p to the lower lane of y (whose lower half is x) and 16 bytes at q to its upper lane.
#define LANES(p, q, x, y) \
	VMOVDQU     p, x; \
	VINSERTI128 $1, q, y, y

// func gatherRows2AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int, mask *[32]byte)
//
// It is shuffleRowsGeneric for a width of 2, with the loop in rows_amd64.go. ShuffleRows has checked that all rows are
// inside of the block and of the other memory, and shuffleRowsVector that a row has at least 8 elements. Turns stay
// inside of a row, so no load or store goes past it. Prefetches may be anywhere: they never fault.
TEXT ·gatherRows2AVX2(SB), NOSPLIT, $0-72
	ARGS
	VMOVDQU (R14), Y15

	// A row: its first iteration is of 32, 16 or 8 elements, the largest of these numbers that it has.
row:
	START
	CMPQ DX, $16
	JLT  turn8
	CMPQ DX, $32
	JLT  turn16

	// 32 elements: the first 16 in the lower lanes, the others in the upper lanes. They become 32 bytes of two planes.
turn32:
	PREFETCHT0  (AX)(R13*1)
	PREFETCHT0  63(AX)(R13*1)
	LANES((AX), 32(AX), X0, Y0)
	LANES(16(AX), 48(AX), X1, Y1)
	VPSHUFB     Y15, Y0, Y0
	VPSHUFB     Y15, Y1, Y1
	VPUNPCKLQDQ Y1, Y0, Y2
	VPUNPCKHQDQ Y1, Y0, Y3
	VMOVDQU     Y2, (BX)
	VMOVDQU     Y3, (BX)(R8*1)
	ADDQ        $32, BX
	ADDQ        $64, AX
	SUBQ        $32, DX
	JZ          next

	// The rest: a whole iteration if 32 are left, otherwise one of 8, 16 or 32 elements that ends at the end of
	// the row.
	CMPQ DX, $32
	JGE  turn32
	CMPQ DX, $8
	JLE  back8
	CMPQ DX, $16
	JLE  back16
	BACK(32, 2)
	JMP  turn32

	// The last turn of 16.
back16:
	BACK(16, 2)

	// 16 elements, in the lower lanes only.
turn16:
	PREFETCHT0  (AX)(R13*1)
	PREFETCHT0  31(AX)(R13*1)
	VMOVDQU     (AX), X0
	VMOVDQU     16(AX), X1
	VPSHUFB     X15, X0, X0
	VPSHUFB     X15, X1, X1
	VPUNPCKLQDQ X1, X0, X2
	VPUNPCKHQDQ X1, X0, X3
	VMOVDQU     X2, (BX)
	VMOVDQU     X3, (BX)(R8*1)
	ADDQ        $16, BX
	ADDQ        $32, AX
	SUBQ        $16, DX
	JZ          next

	// Up to 15 are left: again 16, or 8 if these are enough.
	CMPQ DX, $8
	JGT  back16

	// The last turn of 8.
back8:
	BACK(8, 2)

	// 8 elements, in the lower lanes only; each half of a register goes to a plane of its own. A row of less than 16
	// takes one or two such turns.
turn8:
	PREFETCHT0 (AX)(R13*1)
	VMOVDQU    (AX), X0
	VPSHUFB    X15, X0, X0
	VMOVQ      X0, (BX)
	VMOVHPS    X0, (BX)(R8*1)
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

// func gatherRows4AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int, mask *[32]byte)
//
// It is shuffleRowsGeneric for a width of 4, with the loop in rows_amd64.go. ShuffleRows has checked that all rows are
// inside of the block and of the other memory, and shuffleRowsVector that a row has at least 8 elements. Turns stay
// inside of a row, so no load or store goes past it. Prefetches may be anywhere: they never fault.
TEXT ·gatherRows4AVX2(SB), NOSPLIT, $0-72
	ARGS
	VMOVDQU (R14), Y15

	// A row: its first iteration is of 32, 16 or 8 elements, the largest of these numbers that it has.
row:
	START
	CMPQ DX, $16
	JLT  turn8
	CMPQ DX, $32
	JLT  turn16

	// 32 elements: the first 16 in the lower lanes, the others in the upper lanes. They become 32 bytes of four planes.
turn32:
	PREFETCHT0  (AX)(R13*1)
	PREFETCHT0  64(AX)(R13*1)
	PREFETCHT0  127(AX)(R13*1)
	LANES((AX), 64(AX), X0, Y0)
	LANES(16(AX), 80(AX), X1, Y1)
	LANES(32(AX), 96(AX), X2, Y2)
	LANES(48(AX), 112(AX), X3, Y3)
	TRANSPOSE4
	VMOVDQU     Y0, (BX)
	VMOVDQU     Y1, (BX)(R8*1)
	VMOVDQU     Y2, (BX)(R8*2)
	VMOVDQU     Y3, (BX)(R9*1)
	ADDQ        $32, BX
	ADDQ        $128, AX
	SUBQ        $32, DX
	JZ          next

	// The rest: a whole iteration if 32 are left, otherwise one of 8, 16 or 32 elements that ends at the end of
	// the row.
	CMPQ DX, $32
	JGE  turn32
	CMPQ DX, $8
	JLE  back8
	CMPQ DX, $16
	JLE  back16
	BACK(32, 4)
	JMP  turn32

	// The last turn of 16.
back16:
	BACK(16, 4)

	// 16 elements, in the lower lanes only.
turn16:
	PREFETCHT0  (AX)(R13*1)
	PREFETCHT0  63(AX)(R13*1)
	VMOVDQU     (AX), X0
	VMOVDQU     16(AX), X1
	VMOVDQU     32(AX), X2
	VMOVDQU     48(AX), X3
	TRANSPOSE4
	VMOVDQU     X0, (BX)
	VMOVDQU     X1, (BX)(R8*1)
	VMOVDQU     X2, (BX)(R8*2)
	VMOVDQU     X3, (BX)(R9*1)
	ADDQ        $16, BX
	ADDQ        $64, AX
	SUBQ        $16, DX
	JZ          next

	// Up to 15 are left: again 16, or 8 if these are enough.
	CMPQ DX, $8
	JGT  back16

	// The last turn of 8.
back8:
	BACK(8, 4)

	// 8 elements, in the lower lanes only; each half of a register goes to a plane of its own. A row of less than 16
	// takes one or two such turns.
turn8:
	PREFETCHT0 (AX)(R13*1)
	VMOVDQU    (AX), X0
	VMOVDQU    16(AX), X1
	VPSHUFB    X15, X0, X0
	VPSHUFB    X15, X1, X1
	VPUNPCKLDQ X1, X0, X4
	VPUNPCKHDQ X1, X0, X5
	VMOVQ      X4, (BX)
	VMOVHPS    X4, (BX)(R8*1)
	VMOVQ      X5, (BX)(R8*2)
	VMOVHPS    X5, (BX)(R9*1)
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

// PLANES8 stores to eight planes with the instruction and from the registers of the given kind.
#define PLANES8(store, r0, r1, r2, r3, r4, r5, r6, r7) \
	LEAQ  (BX)(R8*4), R10; \
	store r0, (BX); \
	store r1, (BX)(R8*1); \
	store r2, (BX)(R8*2); \
	store r3, (BX)(R9*1); \
	store r4, (R10); \
	store r5, (R10)(R8*1); \
	store r6, (R10)(R8*2); \
	store r7, (R10)(R9*1)

// func gatherRows8AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int, mask *[32]byte)
//
// It is shuffleRowsGeneric for a width of 8, with the loop in rows_amd64.go. ShuffleRows has checked that all rows are
// inside of the block and of the other memory, and shuffleRowsVector that a row has at least 8 elements. Turns stay
// inside of a row, so no load or store goes past it. Prefetches may be anywhere: they never fault.
TEXT ·gatherRows8AVX2(SB), NOSPLIT, $0-72
	ARGS

	// A row: its first iteration is of 32, 16 or 8 elements, the largest of these numbers that it has.
row:
	START
	CMPQ DX, $16
	JLT  turn8
	CMPQ DX, $32
	JLT  turn16

	// 32 elements: the first 16 in the lower lanes, the others in the upper lanes. They become 32 bytes of eight
	// planes.
turn32:
	PREFETCHT0 (AX)(R13*1)
	PREFETCHT0 64(AX)(R13*1)
	PREFETCHT0 128(AX)(R13*1)
	PREFETCHT0 192(AX)(R13*1)
	PREFETCHT0 255(AX)(R13*1)
	LANES((AX), 128(AX), X0, Y0)
	LANES(16(AX), 144(AX), X1, Y1)
	LANES(32(AX), 160(AX), X2, Y2)
	LANES(48(AX), 176(AX), X3, Y3)
	LANES(64(AX), 192(AX), X4, Y4)
	LANES(80(AX), 208(AX), X5, Y5)
	LANES(96(AX), 224(AX), X6, Y6)
	LANES(112(AX), 240(AX), X7, Y7)
	VMOVDQU    (R14), Y15
	MASK8
	TRANSPOSE8
	PLANES8(VMOVDQU, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15)
	ADDQ       $32, BX
	ADDQ       $256, AX
	SUBQ       $32, DX
	JZ         next

	// The rest: a whole iteration if 32 are left, otherwise one of 8, 16 or 32 elements that ends at the end of
	// the row.
	CMPQ DX, $32
	JGE  turn32
	CMPQ DX, $8
	JLE  back8
	CMPQ DX, $16
	JLE  back16
	BACK(32, 8)
	JMP  turn32

	// The last turn of 16.
back16:
	BACK(16, 8)

	// 16 elements, in the lower lanes only.
turn16:
	PREFETCHT0 (AX)(R13*1)
	PREFETCHT0 64(AX)(R13*1)
	PREFETCHT0 127(AX)(R13*1)
	VMOVDQU    (R14), X15
	VMOVDQU    (AX), X0
	VMOVDQU    16(AX), X1
	VMOVDQU    32(AX), X2
	VMOVDQU    48(AX), X3
	VMOVDQU    64(AX), X4
	VMOVDQU    80(AX), X5
	VMOVDQU    96(AX), X6
	VMOVDQU    112(AX), X7
	MASK8
	TRANSPOSE8
	PLANES8(VMOVDQU, X8, X9, X10, X11, X12, X13, X14, X15)
	ADDQ       $16, BX
	ADDQ       $128, AX
	SUBQ       $16, DX
	JZ         next

	// Up to 15 are left: again 16, or 8 if these are enough.
	CMPQ DX, $8
	JGT  back16

	// The last turn of 8.
back8:
	BACK(8, 8)

	// 8 elements, in the lower lanes only; each half of a register goes to a plane of its own. A row of less than 16
	// takes one or two such turns.
turn8:
	PREFETCHT0 (AX)(R13*1)
	PREFETCHT0 63(AX)(R13*1)
	VMOVDQU    (R14), X15
	VMOVDQU    (AX), X0
	VMOVDQU    16(AX), X1
	VMOVDQU    32(AX), X2
	VMOVDQU    48(AX), X3
	VPSHUFB    X15, X0, X0
	VPSHUFB    X15, X1, X1
	VPSHUFB    X15, X2, X2
	VPSHUFB    X15, X3, X3
	VPUNPCKLWD X1, X0, X8
	VPUNPCKHWD X1, X0, X9
	VPUNPCKLWD X3, X2, X10
	VPUNPCKHWD X3, X2, X11
	VPUNPCKLDQ X10, X8, X0
	VPUNPCKHDQ X10, X8, X1
	VPUNPCKLDQ X11, X9, X2
	VPUNPCKHDQ X11, X9, X3
	LEAQ       (BX)(R8*4), R10
	VMOVQ      X0, (BX)
	VMOVHPS    X0, (BX)(R8*1)
	VMOVQ      X1, (BX)(R8*2)
	VMOVHPS    X1, (BX)(R9*1)
	VMOVQ      X2, (R10)
	VMOVHPS    X2, (R10)(R8*1)
	VMOVQ      X3, (R10)(R8*2)
	VMOVHPS    X3, (R10)(R9*1)
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
