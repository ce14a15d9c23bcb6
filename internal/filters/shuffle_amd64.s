//go:build amd64 && !purego

#include "textflag.h"
#include "transpose_amd64.h"

// AVX2 kernels that move bytes between elements and rows. All of them take 32 elements per iteration. A register has
// two lanes of 16 bytes, between which few instructions move anything; so the lower lane works on the elements 0 to 15
// and the upper lane on the elements 16 to 31, and the lanes never meet: in a row they are 32 bytes that follow each
// other.
//
// gather: elements to rows. A lane of a register first holds as many whole elements as fit 16 bytes. VPSHUFB brings
// their equal bytes together, which makes it a row of a small matrix of units: 8 bytes for width 2, 4 for width 3 and
// 4, 2 for width 5 to 8. Interleaving units (VPUNPCK) of twice the size at each step then transposes that matrix, until
// a register holds 16 bytes of one row in each lane. For more than 8 columns a lane holds 16 bytes of one element, and
// interleaving the lower or the upper bytes of neighbors yields the units of two bytes, for eight columns at a time.
//
// scatter: rows to elements. Interleaving the bytes of two rows gives pairs, interleaving pairs gives fours, and so on,
// until a lane holds whole elements in their order. Elements of less than 4, 8 or 16 bytes are brought together by
// VPSHUFB, or stored unchanged; the bytes stored after the last of them are overwritten by the next store, which is
// why all stores go upwards, first those of the lower lanes and then those of the upper ones.
//
// Loads of gather and stores of scatter so reach up to 16 bytes minus the whole elements in them beyond the last
// element; the callers ensure that these bytes belong to the block.
//
//  DI, SI   next byte of dst, src
//  R8, R9   length of a row, three times it
//  R10..R12 DI (or SI) plus 4, 8, 12 rows
//  CX       elements left
//  DX       width, or rows to move
//  R13      distance of loads (or stores) of elements in bytes
//  BX       address of the elements of the upper lane
//  AX       address of the shuffle mask, or of memory that begins at a line of the cache

// LANES loads 16 bytes at p to the lower lane of y (whose lower half is x) and 16 bytes at q to its upper lane, and
// steps both pointers on.
#define LANES(p, q, x, y) \
	VMOVDQU     (p), x; \
	VINSERTI128 $1, (q), y, y; \
	ADDQ        R13, p; \
	ADDQ        R13, q

// func gather2AVX2(dst *byte, rowLen int, src *byte, mask *[32]byte, n int)
//
// It is gatherAll for a width of 2. gather256 has checked that src has all elements and dst all rows.
TEXT ·gather2AVX2(SB), NOSPLIT, $0-40
	MOVQ    dst+0(FP), DI
	MOVQ    rowLen+8(FP), R8
	MOVQ    src+16(FP), SI
	MOVQ    mask+24(FP), AX
	MOVQ    n+32(FP), CX
	VMOVDQU (AX), Y15

	// Elements 0 to 7 and 16 to 23, then 8 to 15 and 24 to 31. Their first bytes go to the lower half of each lane,
	// their second bytes to the upper half; then one register has all first bytes, the other all second bytes.
gather2:
	VMOVDQU     (SI), X0
	VINSERTI128 $1, 32(SI), Y0, Y0
	VMOVDQU     16(SI), X1
	VINSERTI128 $1, 48(SI), Y1, Y1
	VPSHUFB     Y15, Y0, Y0
	VPSHUFB     Y15, Y1, Y1
	VPUNPCKLQDQ Y1, Y0, Y2
	VPUNPCKHQDQ Y1, Y0, Y3
	ROW(Y2, (DI), 128(DI))
	ROW(Y3, (DI)(R8*1), 128(DI)(R8*1))
	ADDQ        $64, SI
	ADDQ        $32, DI
	SUBQ        $32, CX
	JNZ         gather2
	VZEROUPPER
	RET

// func gather4AVX2(dst *byte, rowLen int, src *byte, mask *[32]byte, width, n int)
//
// It is gatherAll for a width of 3 or 4. gather256 has checked the rows of dst and chosen n so that the last load of 16
// bytes is inside of src.
TEXT ·gather4AVX2(SB), NOSPLIT, $0-48
	MOVQ    dst+0(FP), DI
	MOVQ    rowLen+8(FP), R8
	MOVQ    src+16(FP), SI
	MOVQ    mask+24(FP), AX
	MOVQ    width+32(FP), DX
	MOVQ    n+40(FP), CX
	LEAQ    (R8)(R8*2), R9
	LEAQ    (DX*4), R13
	VMOVDQU (AX), Y15

	// Four loads of four elements to each lane: BX is 16 elements after SI.
gather4:
	LEAQ        (SI)(R13*4), BX
	LANES(SI, BX, X0, Y0)
	LANES(SI, BX, X1, Y1)
	LANES(SI, BX, X2, Y2)
	LANES(SI, BX, X3, Y3)
	MOVQ        BX, SI
	TRANSPOSE4

	// Each register has a row. The fourth exists only for a width of 4.
	ROW(Y0, (DI), 128(DI))
	ROW(Y1, (DI)(R8*1), 128(DI)(R8*1))
	ROW(Y2, (DI)(R8*2), 128(DI)(R8*2))
	CMPQ        DX, $4
	JNE         next
	ROW(Y3, (DI)(R9*1), 128(DI)(R9*1))

next:
	ADDQ $32, DI
	SUBQ $32, CX
	JNZ  gather4
	VZEROUPPER
	RET

// func scatter3AVX2(dst, src *byte, rowLen int, mask *[32]byte, n int)
//
// It is scatterAll for a width of 3. scatter256 has checked the rows of src and chosen n so that the last store of 16
// bytes is inside of dst.
TEXT ·scatter3AVX2(SB), NOSPLIT, $0-40
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    rowLen+16(FP), R8
	MOVQ    mask+24(FP), AX
	MOVQ    n+32(FP), CX
	VMOVDQU (AX), Y15

	// 32 bytes of each row. Interleave bytes to pairs and pairs to elements of four bytes, four in each lane, in their
	// order. Their last bytes are undefined: the mask drops them.
scatter3:
	VMOVDQU    (SI), Y0
	VMOVDQU    (SI)(R8*1), Y1
	VMOVDQU    (SI)(R8*2), Y2
	VPUNPCKLBW Y1, Y0, Y4
	VPUNPCKHBW Y1, Y0, Y5
	VPUNPCKLBW Y3, Y2, Y6
	VPUNPCKHBW Y3, Y2, Y7
	VPUNPCKLWD Y6, Y4, Y0
	VPUNPCKHWD Y6, Y4, Y1
	VPUNPCKLWD Y7, Y5, Y2
	VPUNPCKHWD Y7, Y5, Y3

	// Move the elements up to each other.
	VPSHUFB Y15, Y0, Y0
	VPSHUFB Y15, Y1, Y1
	VPSHUFB Y15, Y2, Y2
	VPSHUFB Y15, Y3, Y3

	// Store upwards, so that each store overwrites the excess of the previous one: first the 16 elements of the lower
	// lanes, then those of the upper lanes.
	VMOVDQU      X0, (DI)
	VMOVDQU      X1, 12(DI)
	VMOVDQU      X2, 24(DI)
	VMOVDQU      X3, 36(DI)
	VEXTRACTI128 $1, Y0, 48(DI)
	VEXTRACTI128 $1, Y1, 60(DI)
	VEXTRACTI128 $1, Y2, 72(DI)
	VEXTRACTI128 $1, Y3, 84(DI)
	ADDQ         $96, DI
	ADDQ         $32, SI
	SUBQ         $32, CX
	JNZ          scatter3
	VZEROUPPER
	RET

// func gather8AVX2(dst *byte, rowLen int, src *byte, mask *[32]byte, width, n int)
//
// It is gatherAll for a width of 5 to 8. gather256 has checked the rows of dst and chosen n so that the last load of 16
// bytes is inside of src.
TEXT ·gather8AVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rowLen+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ mask+24(FP), AX
	MOVQ width+32(FP), DX
	MOVQ n+40(FP), CX
	LEAQ (R8)(R8*2), R9
	LEAQ (DI)(R8*4), R10
	LEAQ (DX*2), R13

	// Eight loads of two elements to each lane: BX is 16 elements after SI. Y15 is loaded again, as TRANSPOSE8
	// overwrites it.
gather8:
	LEAQ    (SI)(R13*8), BX
	LANES(SI, BX, X0, Y0)
	LANES(SI, BX, X1, Y1)
	LANES(SI, BX, X2, Y2)
	LANES(SI, BX, X3, Y3)
	LANES(SI, BX, X4, Y4)
	LANES(SI, BX, X5, Y5)
	LANES(SI, BX, X6, Y6)
	LANES(SI, BX, X7, Y7)
	MOVQ    BX, SI
	VMOVDQU (AX), Y15
	MASK8
	TRANSPOSE8

	// Each register has a row. Only those below the width exist; ROW leaves the flags, so JEQ is for the same
	// comparison.
	ROW(Y8, (DI), 128(DI))
	ROW(Y9, (DI)(R8*1), 128(DI)(R8*1))
	ROW(Y10, (DI)(R8*2), 128(DI)(R8*2))
	ROW(Y11, (DI)(R9*1), 128(DI)(R9*1))
	ROW(Y12, (R10), 128(R10))
	CMPQ    DX, $6
	JLT     next
	ROW(Y13, (R10)(R8*1), 128(R10)(R8*1))
	JEQ     next
	ROW(Y14, (R10)(R8*2), 128(R10)(R8*2))
	CMPQ    DX, $8
	JNE     next
	ROW(Y15, (R10)(R9*1), 128(R10)(R9*1))

next:
	ADDQ $32, DI
	ADDQ $32, R10
	SUBQ $32, CX
	JNZ  gather8
	VZEROUPPER
	RET

// func scatter8AVX2(dst, src *byte, rowLen int, mask *[32]byte, width, n int)
//
// It is scatterAll for a width of 5 to 7. scatter256 has checked the rows of src and chosen n so that the last store of
// 16 bytes is inside of dst. R14 is three times R13.
TEXT ·scatter8AVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ rowLen+16(FP), R8
	MOVQ mask+24(FP), AX
	MOVQ width+32(FP), DX
	MOVQ n+40(FP), CX
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), R10
	LEAQ (DX*2), R13
	LEAQ (R13)(R13*2), R14

	// 32 bytes of each row that exists. The other registers are undefined: the mask drops their bytes.
scatter8:
	VMOVDQU (SI), Y0
	VMOVDQU (SI)(R8*1), Y1
	VMOVDQU (SI)(R8*2), Y2
	VMOVDQU (SI)(R9*1), Y3
	VMOVDQU (R10), Y4
	CMPQ    DX, $6
	JLT     rows
	VMOVDQU (R10)(R8*1), Y5
	JEQ     rows
	VMOVDQU (R10)(R8*2), Y6

	// Interleave to elements of eight bytes, two in each lane, and move them up to each other.
rows:
	INTERLEAVE8
	VMOVDQU (AX), Y0
	VPSHUFB Y0, Y8, Y8
	VPSHUFB Y0, Y9, Y9
	VPSHUFB Y0, Y10, Y10
	VPSHUFB Y0, Y11, Y11
	VPSHUFB Y0, Y12, Y12
	VPSHUFB Y0, Y13, Y13
	VPSHUFB Y0, Y14, Y14
	VPSHUFB Y0, Y15, Y15

	// Store upwards, so that each store overwrites the excess of the previous one: first the 16 elements of the
	// lower lanes, then at BX those of the upper lanes.
	LEAQ         (DI)(R13*4), R11
	VMOVDQU      X8, (DI)
	VMOVDQU      X9, (DI)(R13*1)
	VMOVDQU      X10, (DI)(R13*2)
	VMOVDQU      X11, (DI)(R14*1)
	VMOVDQU      X12, (R11)
	VMOVDQU      X13, (R11)(R13*1)
	VMOVDQU      X14, (R11)(R13*2)
	VMOVDQU      X15, (R11)(R14*1)
	LEAQ         (DI)(R13*8), BX
	LEAQ         (BX)(R13*4), R11
	VEXTRACTI128 $1, Y8, (BX)
	VEXTRACTI128 $1, Y9, (BX)(R13*1)
	VEXTRACTI128 $1, Y10, (BX)(R13*2)
	VEXTRACTI128 $1, Y11, (BX)(R14*1)
	VEXTRACTI128 $1, Y12, (R11)
	VEXTRACTI128 $1, Y13, (R11)(R13*1)
	VEXTRACTI128 $1, Y14, (R11)(R13*2)
	VEXTRACTI128 $1, Y15, (R11)(R14*1)
	LEAQ         (BX)(R13*8), DI
	ADDQ         $32, SI
	ADDQ         $32, R10
	SUBQ         $32, CX
	JNZ          scatter8
	VZEROUPPER
	RET

// PAIR16 loads two elements for each lane and interleaves bytes of them: those of columns 0 to 7 with VPUNPCKLBW, those
// of columns 8 to 15 with VPUNPCKHBW.
#define PAIR16(unpack, y) \
	LANES(SI, BX, X14, Y14); \
	LANES(SI, BX, X15, Y15); \
	unpack Y15, Y14, y

// TURN16 is the part of an iteration before the stores.
#define TURN16(unpack) \
	LEAQ (SI)(AX*1), BX; \
	PAIR16(unpack, Y0); \
	PAIR16(unpack, Y1); \
	PAIR16(unpack, Y2); \
	PAIR16(unpack, Y3); \
	PAIR16(unpack, Y4); \
	PAIR16(unpack, Y5); \
	PAIR16(unpack, Y6); \
	PAIR16(unpack, Y7); \
	MOVQ BX, SI; \
	TRANSPOSE8

// func gatherLow16AVX2(dst *byte, rowLen int, src *byte, stride, n int)
//
// It is gatherAll for the first eight columns of elements of 9 bytes or more. gather256 has checked the rows of dst and
// chosen n so that the last load of 16 bytes is inside of src. AX is 16 elements in bytes.
TEXT ·gatherLow16AVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ rowLen+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ stride+24(FP), R13
	MOVQ n+32(FP), CX
	LEAQ (R8)(R8*2), R9
	LEAQ (DI)(R8*4), R10
	MOVQ R13, AX
	SHLQ $4, AX

	// Sixteen loads of one element to each lane; each register then has a row.
gather16:
	TURN16(VPUNPCKLBW)
	ROW(Y8, (DI), 128(DI))
	ROW(Y9, (DI)(R8*1), 128(DI)(R8*1))
	ROW(Y10, (DI)(R8*2), 128(DI)(R8*2))
	ROW(Y11, (DI)(R9*1), 128(DI)(R9*1))
	ROW(Y12, (R10), 128(R10))
	ROW(Y13, (R10)(R8*1), 128(R10)(R8*1))
	ROW(Y14, (R10)(R8*2), 128(R10)(R8*2))
	ROW(Y15, (R10)(R9*1), 128(R10)(R9*1))
	ADDQ $32, DI
	ADDQ $32, R10
	SUBQ $32, CX
	JNZ  gather16
	VZEROUPPER
	RET

// func gatherHigh16AVX2(dst *byte, rowLen int, src *byte, stride, rows, n int)
//
// It is gatherAll for columns 8 and up, of 9 to 16, as gatherLow16AVX2. DI and R10 begin at row 8.
TEXT ·gatherHigh16AVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rowLen+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ stride+24(FP), R13
	MOVQ rows+32(FP), DX
	MOVQ n+40(FP), CX
	LEAQ (R8)(R8*2), R9
	LEAQ (DI)(R8*8), DI
	LEAQ (DI)(R8*4), R10
	MOVQ R13, AX
	SHLQ $4, AX

	// As in gatherLow16AVX2, with the upper bytes of elements. Only the rows below DX exist; ROW leaves the flags, so
	// JEQ is for the same comparison.
gather16:
	TURN16(VPUNPCKHBW)
	ROW(Y8, (DI), 128(DI))
	CMPQ DX, $10
	JLT  next
	ROW(Y9, (DI)(R8*1), 128(DI)(R8*1))
	JEQ  next
	ROW(Y10, (DI)(R8*2), 128(DI)(R8*2))
	CMPQ DX, $12
	JLT  next
	ROW(Y11, (DI)(R9*1), 128(DI)(R9*1))
	JEQ  next
	ROW(Y12, (R10), 128(R10))
	CMPQ DX, $14
	JLT  next
	ROW(Y13, (R10)(R8*1), 128(R10)(R8*1))
	JEQ  next
	ROW(Y14, (R10)(R8*2), 128(R10)(R8*2))
	CMPQ DX, $16
	JLT  next
	ROW(Y15, (R10)(R9*1), 128(R10)(R9*1))

next:
	ADDQ $32, DI
	ADDQ $32, R10
	SUBQ $32, CX
	JNZ  gather16
	VZEROUPPER
	RET

// func scatter16AVX2(dst *byte, stride int, src *byte, rowLen, rows, n int)
//
// It is scatterAll for 9 to 16 columns. scatter256 has checked the rows of src and chosen n so that the last store of
// 16 bytes is inside of dst. AX is memory on the stack, 512 bytes from a cache line on: 256 for the first eight
// columns, 256 for the elements of the upper lanes.
TEXT ·scatter16AVX2(SB), NOSPLIT, $576-48
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R13
	MOVQ src+16(FP), SI
	MOVQ rowLen+24(FP), R8
	MOVQ rows+32(FP), DX
	MOVQ n+40(FP), CX
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), R10
	LEAQ (SI)(R8*8), R11
	LEAQ (R10)(R8*8), R12
	LEAQ 63(SP), AX
	ANDQ $~63, AX

	// The first eight rows become two elements of eight bytes in each lane, which are saved.
scatter16:
	VMOVDQU (SI), Y0
	VMOVDQU (SI)(R8*1), Y1
	VMOVDQU (SI)(R8*2), Y2
	VMOVDQU (SI)(R9*1), Y3
	VMOVDQU (R10), Y4
	VMOVDQU (R10)(R8*1), Y5
	VMOVDQU (R10)(R8*2), Y6
	VMOVDQU (R10)(R9*1), Y7
	INTERLEAVE8
	VMOVDQU Y8, 0(AX)
	VMOVDQU Y9, 32(AX)
	VMOVDQU Y10, 64(AX)
	VMOVDQU Y11, 96(AX)
	VMOVDQU Y12, 128(AX)
	VMOVDQU Y13, 160(AX)
	VMOVDQU Y14, 192(AX)
	VMOVDQU Y15, 224(AX)

	// The rows from 8 up that exist. The other registers are undefined: their bytes go past the element, and
	// the next store overwrites it. VMOVDQU leaves the flags, so JEQ is for the same comparison.
	VMOVDQU (R11), Y0
	CMPQ    DX, $10
	JLT     rows
	VMOVDQU (R11)(R8*1), Y1
	JEQ     rows
	VMOVDQU (R11)(R8*2), Y2
	CMPQ    DX, $12
	JLT     rows
	VMOVDQU (R11)(R9*1), Y3
	JEQ     rows
	VMOVDQU (R12), Y4
	CMPQ    DX, $14
	JLT     rows
	VMOVDQU (R12)(R8*1), Y5
	JEQ     rows
	VMOVDQU (R12)(R8*2), Y6
	CMPQ    DX, $16
	JLT     rows
	VMOVDQU (R12)(R9*1), Y7

	// Join both halves of elements and store upwards: the 16 elements of the lower lanes, then those of the upper
	// lanes.
rows:
	INTERLEAVE8
	SPLIT16(0(AX), Y8, 256(AX), 272(AX))
	SPLIT16(32(AX), Y9, 288(AX), 304(AX))
	SPLIT16(64(AX), Y10, 320(AX), 336(AX))
	SPLIT16(96(AX), Y11, 352(AX), 368(AX))
	SPLIT16(128(AX), Y12, 384(AX), 400(AX))
	SPLIT16(160(AX), Y13, 416(AX), 432(AX))
	SPLIT16(192(AX), Y14, 448(AX), 464(AX))
	SPLIT16(224(AX), Y15, 480(AX), 496(AX))
	UPPER16(256(AX), 272(AX))
	UPPER16(288(AX), 304(AX))
	UPPER16(320(AX), 336(AX))
	UPPER16(352(AX), 368(AX))
	UPPER16(384(AX), 400(AX))
	UPPER16(416(AX), 432(AX))
	UPPER16(448(AX), 464(AX))
	UPPER16(480(AX), 496(AX))
	ADDQ $32, SI
	ADDQ $32, R10
	ADDQ $32, R11
	ADDQ $32, R12
	SUBQ $32, CX
	JNZ  scatter16
	VZEROUPPER
	RET
