//go:build amd64 && !purego

#include "textflag.h"
#include "transpose512_amd64.h"

// AVX-512 kernels that move bytes between elements and rows. All of them take 64 elements per iteration, which are a
// whole line of the cache in every row: so it does not matter much how many rows share a set of the cache.
//
// gather: elements to rows. A register first holds as many elements as fit 64 bytes with the width rounded up to a
// power of two: 32, 16, 8 or 4. VPERMB brings equal bytes together in units of as many bytes. The units of all
// registers are a square matrix, which is transposed: then each register holds 64 bytes of one row.
//
// scatter: rows to elements. Loads take a unit of each row and put them next to each other; units of less than 16 bytes
// come in pairs or fours, which interleaving separates. VPERMB then brings the bytes of every element together, and the
// elements next to each other. Bytes stored after the last of them are overwritten by the next store.
//
// Gather fetches the lines of its next stores as with AVX2, for sixteen rows where they do not begin at a line.
//
// Loads of gather and stores of scatter reach beyond the last element; the callers ensure that these bytes belong to
// the block.
//
//  DI, SI   next byte of dst, src
//  R8, R9   length of a row, three times it
//  R10..R12 DI plus 4, 8, 12 rows
//  CX       elements left
//  DX       width, or rows to move
//  AX       not 0 where rows do not begin at a line
//  R13, R14 bytes from a load (or store) of elements to the next, three times that
//  Z31      mask of VPERMB

// func gather2AVX512(dst *byte, rowLen int, src *byte, mask *[64]byte, n int)
//
// It is gatherAll for a width of 2. gather512 has checked that src has all elements and dst all rows.
TEXT ·gather2AVX512(SB), NOSPLIT, $0-40
	MOVQ      dst+0(FP), DI
	MOVQ      rowLen+8(FP), R8
	MOVQ      src+16(FP), SI
	MOVQ      mask+24(FP), AX
	MOVQ      n+32(FP), CX
	VMOVDQU64 (AX), Z31

	// 32 elements to each register: VPERMB puts their first bytes in the lower half, their second in the upper half.
	// Then one register has all first bytes, the other all second bytes.
gather2:
	VPERMB       (SI), Z31, Z0
	VPERMB       64(SI), Z31, Z1
	VINSERTI64X4 $1, Y1, Z0, Z2
	VSHUFI64X2   $0xee, Z1, Z0, Z3
	ROW(Z2, (DI), 128(DI))
	ROW(Z3, (DI)(R8*1), 128(DI)(R8*1))
	ADDQ         $128, SI
	ADDQ         $64, DI
	SUBQ         $64, CX
	JNZ          gather2
	VZEROUPPER
	RET

// FOUR loads 16 bytes at four places, of one, two or four elements each, and brings their equal bytes together.
#define FOUR(x, z) \
	VMOVDQU32    (SI), x; \
	VINSERTI32X4 $1, (SI)(R13*1), z, z; \
	VINSERTI32X4 $2, (SI)(R13*2), z, z; \
	VINSERTI32X4 $3, (SI)(R14*1), z, z; \
	VPERMB       z, Z31, z; \
	LEAQ         (SI)(R13*4), SI

// func gather4AVX512(dst *byte, rowLen int, src *byte, mask *[64]byte, width, n int)
//
// It is gatherAll for a width of 3 or 4. gather512 has checked the rows of dst and chosen n so that the last load of 16
// bytes is inside of src. R13 is four elements in bytes.
TEXT ·gather4AVX512(SB), NOSPLIT, $0-48
	MOVQ      dst+0(FP), DI
	MOVQ      rowLen+8(FP), R8
	MOVQ      src+16(FP), SI
	MOVQ      mask+24(FP), AX
	MOVQ      width+32(FP), DX
	MOVQ      n+40(FP), CX
	LEAQ      (R8)(R8*2), R9
	MOVQ      DX, R13
	SHLQ      $2, R13
	LEAQ      (R13)(R13*2), R14
	VMOVDQU64 (AX), Z31

	// 16 elements to each register, whose lanes become rows: the transposition puts each row in a register.
gather4:
	FOUR(X0, Z0)
	FOUR(X1, Z1)
	FOUR(X2, Z2)
	FOUR(X3, Z3)
	LANES4(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11)
	ROW(Z4, (DI), 128(DI))
	ROW(Z5, (DI)(R8*1), 128(DI)(R8*1))
	ROW(Z6, (DI)(R8*2), 128(DI)(R8*2))

	// The fourth row exists only for a width of 4.
	CMPQ DX, $4
	JNE  next
	ROW(Z7, (DI)(R9*1), 128(DI)(R9*1))

next:
	ADDQ $64, DI
	SUBQ $64, CX
	JNZ  gather4
	VZEROUPPER
	RET

// UNITS4 loads 16 bytes at offset k of four rows.
#define UNITS4(k, a, b, c, d, x, z) \
	VMOVDQU32    k(a)(SI*1), x; \
	VINSERTI32X4 $1, k(b)(SI*1), z, z; \
	VINSERTI32X4 $2, k(c)(SI*1), z, z; \
	VINSERTI32X4 $3, k(d)(SI*1), z, z

// func scatter4AVX512(dst, src *byte, rows *[4]int, mask *[64]byte, width, n int)
//
// It is scatterAll for a width of 3 or 4. scatter512 has checked the rows of src and chosen n so that the last store of
// 64 bytes is inside of dst. R8 to R11 are the offsets of rows (see rowOffsets), R13 is 16 elements in bytes.
TEXT ·scatter4AVX512(SB), NOSPLIT, $0-48
	MOVQ      dst+0(FP), DI
	MOVQ      src+8(FP), SI
	MOVQ      rows+16(FP), BX
	MOVQ      mask+24(FP), AX
	MOVQ      width+32(FP), R13
	MOVQ      n+40(FP), CX
	SHLQ      $4, R13
	LEAQ      (R13)(R13*2), R14
	MOVQ      0(BX), R8
	MOVQ      8(BX), R9
	MOVQ      16(BX), R10
	MOVQ      24(BX), R11
	VMOVDQU64 (AX), Z31

	// 16 bytes of each row to a register, whose 16 elements VPERMB puts together.
scatter4:
	UNITS4(0, R8, R9, R10, R11, X0, Z0)
	UNITS4(16, R8, R9, R10, R11, X1, Z1)
	UNITS4(32, R8, R9, R10, R11, X2, Z2)
	UNITS4(48, R8, R9, R10, R11, X3, Z3)
	VPERMB    Z0, Z31, Z0
	VPERMB    Z1, Z31, Z1
	VPERMB    Z2, Z31, Z2
	VPERMB    Z3, Z31, Z3

	// Store upwards, so that each store overwrites the excess of the previous one.
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, (DI)(R13*1)
	VMOVDQU64 Z2, (DI)(R13*2)
	VMOVDQU64 Z3, (DI)(R14*1)
	LEAQ      (DI)(R13*4), DI
	ADDQ      $64, SI
	SUBQ      $64, CX
	JNZ       scatter4
	VZEROUPPER
	RET

// func gather8AVX512(dst *byte, rowLen int, src *byte, mask *[64]byte, width, n int)
//
// It is gatherAll for a width of 5 to 8. gather512 has checked the rows of dst and chosen n so that the last load of 16
// bytes is inside of src. R13 is two elements in bytes.
TEXT ·gather8AVX512(SB), NOSPLIT, $0-48
	MOVQ      dst+0(FP), DI
	MOVQ      rowLen+8(FP), R8
	MOVQ      src+16(FP), SI
	MOVQ      mask+24(FP), AX
	MOVQ      width+32(FP), DX
	MOVQ      n+40(FP), CX
	LEAQ      (R8)(R8*2), R9
	LEAQ      (DI)(R8*4), R10
	LEAQ      (DX*2), R13
	LEAQ      (R13)(R13*2), R14
	VMOVDQU64 (AX), Z31

	// Eight elements to each register, whose quadwords become rows: the transposition puts each row in a register.
gather8:
	FOUR(X0, Z0)
	FOUR(X1, Z1)
	FOUR(X2, Z2)
	FOUR(X3, Z3)
	FOUR(X4, Z4)
	FOUR(X5, Z5)
	FOUR(X6, Z6)
	FOUR(X7, Z7)
	QUADS8
	ROW(Z16, (DI), 128(DI))
	ROW(Z17, (DI)(R8*1), 128(DI)(R8*1))
	ROW(Z18, (DI)(R8*2), 128(DI)(R8*2))
	ROW(Z19, (DI)(R9*1), 128(DI)(R9*1))
	ROW(Z20, (R10), 128(R10))

	// Only the rows below the width exist; ROW leaves the flags, so JEQ is for the same comparison.
	CMPQ DX, $6
	JLT  next
	ROW(Z21, (R10)(R8*1), 128(R10)(R8*1))
	JEQ  next
	ROW(Z22, (R10)(R8*2), 128(R10)(R8*2))
	CMPQ DX, $8
	JNE  next
	ROW(Z23, (R10)(R9*1), 128(R10)(R9*1))

next:
	ADDQ $64, DI
	ADDQ $64, R10
	SUBQ $64, CX
	JNZ  gather8
	VZEROUPPER
	RET

// PAIR8 loads 16 bytes at offset k of eight rows: those of even number to e, those of odd number to o. Of these it
// makes twice eight elements, and stores them.
#define PAIR8(k, xe, ze, xo, zo) \
	UNITS4(k, AX, DX, R9, R11, xe, ze); \
	UNITS4(k, BX, R8, R10, R12, xo, zo); \
	VPUNPCKLQDQ zo, ze, Z8; \
	VPUNPCKHQDQ zo, ze, Z9; \
	VPERMB      Z8, Z31, Z8; \
	VPERMB      Z9, Z31, Z9; \
	VMOVDQU64   Z8, (DI); \
	VMOVDQU64   Z9, (DI)(R13*1); \
	LEAQ        (DI)(R13*2), DI

// func scatter8AVX512(dst, src *byte, rows *[8]int, mask *[64]byte, width, n int)
//
// It is scatterAll for a width of 5 to 8. scatter512 has checked the rows of src and chosen n so that the last store of
// 64 bytes is inside of dst. AX, BX, DX and R8 to R12 are the offsets of rows (see rowOffsets), R13 is eight elements
// in bytes.
TEXT ·scatter8AVX512(SB), NOSPLIT, $0-48
	// The mask first, as AX is needed for an offset, and the width last, as R13 has the address of the offsets.
	MOVQ      mask+24(FP), AX
	VMOVDQU64 (AX), Z31
	MOVQ      dst+0(FP), DI
	MOVQ      src+8(FP), SI
	MOVQ      rows+16(FP), R13
	MOVQ      0(R13), AX
	MOVQ      8(R13), BX
	MOVQ      16(R13), DX
	MOVQ      24(R13), R8
	MOVQ      32(R13), R9
	MOVQ      40(R13), R10
	MOVQ      48(R13), R11
	MOVQ      56(R13), R12
	MOVQ      width+32(FP), R13
	SHLQ      $3, R13
	MOVQ      n+40(FP), CX

	// 64 bytes of each row, 16 a step. Each store overwrites the excess of the previous one.
scatter8:
	PAIR8(0, X0, Z0, X1, Z1)
	PAIR8(16, X2, Z2, X3, Z3)
	PAIR8(32, X4, Z4, X5, Z5)
	PAIR8(48, X6, Z6, X7, Z7)
	ADDQ $64, SI
	SUBQ $64, CX
	JNZ  scatter8
	VZEROUPPER
	RET

// func gather16AVX512(dst *byte, rowLen int, src *byte, mask *[64]byte, stride, rows, n int)
//
// It is gatherAll for 9 to 16 columns. gather512 has checked the rows of dst and chosen n so that the last load of 16
// bytes is inside of src. R13 is an element in bytes.
TEXT ·gather16AVX512(SB), NOSPLIT, $0-56
	MOVQ      dst+0(FP), DI
	MOVQ      rowLen+8(FP), R8
	MOVQ      src+16(FP), SI
	MOVQ      mask+24(FP), AX
	MOVQ      stride+32(FP), R13
	MOVQ      rows+40(FP), DX
	MOVQ      n+48(FP), CX
	LEAQ      (R8)(R8*2), R9
	LEAQ      (DI)(R8*4), R10
	LEAQ      (DI)(R8*8), R11
	LEAQ      (R10)(R8*8), R12
	LEAQ      (R13)(R13*2), R14
	VMOVDQU64 (AX), Z31
	MOVQ      DI, AX
	ORQ       R8, AX
	ANDQ      $63, AX

	// Four elements to each register, whose doublewords become rows.
gather16:
	FOUR(X0, Z0)
	FOUR(X1, Z1)
	FOUR(X2, Z2)
	FOUR(X3, Z3)
	WORDS4(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19)
	FOUR(X4, Z4)
	FOUR(X5, Z5)
	FOUR(X6, Z6)
	FOUR(X7, Z7)
	WORDS4(Z4, Z5, Z6, Z7, Z20, Z21, Z22, Z23)
	FOUR(X8, Z8)
	FOUR(X9, Z9)
	FOUR(X10, Z10)
	FOUR(X11, Z11)
	WORDS4(Z8, Z9, Z10, Z11, Z16, Z17, Z18, Z19)
	FOUR(X12, Z12)
	FOUR(X13, Z13)
	FOUR(X14, Z14)
	FOUR(X15, Z15)
	WORDS4(Z12, Z13, Z14, Z15, Z20, Z21, Z22, Z23)

	// Lane l of registers 4*q+m now has 16 bytes of row 4*l+m.
	LANES4(Z0, Z4, Z8, Z12, Z16, Z20, Z24, Z28, Z29, Z30, Z0, Z4)
	LANES4(Z1, Z5, Z9, Z13, Z17, Z21, Z25, Z29, Z0, Z4, Z1, Z5)
	LANES4(Z2, Z6, Z10, Z14, Z18, Z22, Z26, Z30, Z0, Z4, Z2, Z6)
	LANES4(Z3, Z7, Z11, Z15, Z19, Z23, Z27, Z12, Z0, Z4, Z3, Z7)

	// Only the rows below DX exist. VMOVDQU64 leaves the flags, so JEQ is for the same comparison.
	VMOVDQU64 Z16, (DI)
	VMOVDQU64 Z17, (DI)(R8*1)
	VMOVDQU64 Z18, (DI)(R8*2)
	VMOVDQU64 Z19, (DI)(R9*1)
	VMOVDQU64 Z20, (R10)
	VMOVDQU64 Z21, (R10)(R8*1)
	VMOVDQU64 Z22, (R10)(R8*2)
	VMOVDQU64 Z23, (R10)(R9*1)
	VMOVDQU64 Z24, (R11)
	CMPQ      DX, $10
	JLT       next
	VMOVDQU64 Z25, (R11)(R8*1)
	JEQ       next
	VMOVDQU64 Z26, (R11)(R8*2)
	CMPQ      DX, $12
	JLT       next
	VMOVDQU64 Z27, (R11)(R9*1)
	JEQ       next
	VMOVDQU64 Z28, (R12)
	CMPQ      DX, $14
	JLT       next
	VMOVDQU64 Z29, (R12)(R8*1)
	JEQ       next
	VMOVDQU64 Z30, (R12)(R8*2)
	CMPQ      DX, $16
	JLT       next
	VMOVDQU64 Z12, (R12)(R9*1)

	// Prefetch lines of later stores. Prefetches never fault, so they may go past rows, and to rows that do not exist.
next:
	TESTQ AX, AX
	JEQ   aligned
	FETCH4(DI)
	FETCH4(R10)
	FETCH4(R11)
	FETCH4(R12)

aligned:
	ADDQ $64, DI
	ADDQ $64, R10
	ADDQ $64, R11
	ADDQ $64, R12
	SUBQ $64, CX
	JNZ  gather16
	VZEROUPPER
	RET

// ROWS16 loads 64 bytes of the rows m, 4+m, 8+m and 12+m, 16 of each to a register.
#define ROWS16(m, x0, z0, x1, z1, x2, z2, x3, z3) \
	MOVQ (8*m)(BX), R8; \
	MOVQ (8*m+32)(BX), R9; \
	MOVQ (8*m+64)(BX), R10; \
	MOVQ (8*m+96)(BX), R11; \
	UNITS4(0, R8, R9, R10, R11, x0, z0); \
	UNITS4(16, R8, R9, R10, R11, x1, z1); \
	UNITS4(32, R8, R9, R10, R11, x2, z2); \
	UNITS4(48, R8, R9, R10, R11, x3, z3)

// JOINED16 stores four elements that follow each other.
#define JOINED16(z) \
	VPERMB    z, Z31, z; \
	VMOVDQU64 z, (DI); \
	LEAQ      (DI)(R13*4), DI

// APART16 stores 16 bytes of four elements.
#define APART16(x, z) \
	VPERMB        z, Z31, z; \
	VMOVDQU32     x, (DI); \
	VEXTRACTI32X4 $1, z, (DI)(R13*1); \
	VEXTRACTI32X4 $2, z, (DI)(R13*2); \
	VEXTRACTI32X4 $3, z, (DI)(R14*1); \
	LEAQ          (DI)(R13*4), DI

// func scatter16AVX512(dst *byte, stride int, src *byte, rows *[16]int, mask *[64]byte, n int)
//
// It is scatterAll for 9 to 16 columns. scatter512 has checked the rows of src and chosen n so that the last store, of
// 64 bytes for a stride of at most 16 and of 16 bytes for others, is inside of dst. BX is the address of the offsets of
// rows (see rowOffsets), R13 the stride.
TEXT ·scatter16AVX512(SB), NOSPLIT, $0-48
	MOVQ      dst+0(FP), DI
	MOVQ      stride+8(FP), R13
	MOVQ      src+16(FP), SI
	MOVQ      rows+24(FP), BX
	MOVQ      mask+32(FP), AX
	MOVQ      n+40(FP), CX
	LEAQ      (R13)(R13*2), R14
	VMOVDQU64 (AX), Z31

	// 64 bytes of each row. Register 4*k+m has elements 16*k to 16*k+15 of the rows m, 4+m, 8+m and 12+m; after WORDS4,
	// the elements 16*k+4*m to 16*k+4*m+3 of all rows.
scatter16:
	ROWS16(0, X0, Z0, X4, Z4, X8, Z8, X12, Z12)
	ROWS16(1, X1, Z1, X5, Z5, X9, Z9, X13, Z13)
	ROWS16(2, X2, Z2, X6, Z6, X10, Z10, X14, Z14)
	ROWS16(3, X3, Z3, X7, Z7, X11, Z11, X15, Z15)
	WORDS4(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19)
	WORDS4(Z4, Z5, Z6, Z7, Z20, Z21, Z22, Z23)
	WORDS4(Z8, Z9, Z10, Z11, Z16, Z17, Z18, Z19)
	WORDS4(Z12, Z13, Z14, Z15, Z20, Z21, Z22, Z23)

	// Elements that follow each other go four to a store, each of which overwrites the excess of the previous one.
	CMPQ R13, $16
	JGT  apart
	JOINED16(Z0)
	JOINED16(Z1)
	JOINED16(Z2)
	JOINED16(Z3)
	JOINED16(Z4)
	JOINED16(Z5)
	JOINED16(Z6)
	JOINED16(Z7)
	JOINED16(Z8)
	JOINED16(Z9)
	JOINED16(Z10)
	JOINED16(Z11)
	JOINED16(Z12)
	JOINED16(Z13)
	JOINED16(Z14)
	JOINED16(Z15)

next:
	ADDQ $64, SI
	SUBQ $64, CX
	JNZ  scatter16
	VZEROUPPER
	RET

	// Elements of more than 16 bytes: only 16 bytes of each.
apart:
	APART16(X0, Z0)
	APART16(X1, Z1)
	APART16(X2, Z2)
	APART16(X3, Z3)
	APART16(X4, Z4)
	APART16(X5, Z5)
	APART16(X6, Z6)
	APART16(X7, Z7)
	APART16(X8, Z8)
	APART16(X9, Z9)
	APART16(X10, Z10)
	APART16(X11, Z11)
	APART16(X12, Z12)
	APART16(X13, Z13)
	APART16(X14, Z14)
	APART16(X15, Z15)
	JMP next
