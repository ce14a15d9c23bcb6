//go:build amd64 && !purego

#include "textflag.h"
#include "transpose_amd64.h"

// AVX2 kernels that join rows of bytes to elements of 2, 4 or 8 bytes, 32 elements per iteration. Interleaving the
// bytes of two rows gives pairs, interleaving pairs gives fours, and so on. As interleaving works on the halves of
// registers separately, the lower halves end with the elements 0 to 15 and the upper halves with the elements 16 to 31.
// Exchanging halves then makes whole stores, which take fewer steps than stores of halves.
//
// The macros take the instruction that stores: VMOVDQU, or VMOVNTDQ to write past the caches. VMOVNTDQ does not load
// the lines that it overwrites. SFENCE makes its stores visible before all later stores.
//
//  DI       next byte of dst
//  BX, CX   element, number of elements
//  R8..R13, SI, DX   rows

// JOIN2 is an iteration for elements of 2 bytes.
#define JOIN2(store) \
	VMOVDQU    (R8)(BX*1), Y0; \
	VMOVDQU    (R9)(BX*1), Y1; \
	VPUNPCKLBW Y1, Y0, Y2; \
	VPUNPCKHBW Y1, Y0, Y3; \
	VPERM2I128 $0x20, Y3, Y2, Y0; \
	VPERM2I128 $0x31, Y3, Y2, Y1; \
	store      Y0, (DI); \
	store      Y1, 32(DI); \
	ADDQ       $64, DI

// JOIN4 is an iteration for elements of 4 bytes.
#define JOIN4(store) \
	VMOVDQU    (R8)(BX*1), Y0; \
	VMOVDQU    (R9)(BX*1), Y1; \
	VMOVDQU    (R10)(BX*1), Y2; \
	VMOVDQU    (R11)(BX*1), Y3; \
	VPUNPCKLBW Y1, Y0, Y4; \
	VPUNPCKHBW Y1, Y0, Y5; \
	VPUNPCKLBW Y3, Y2, Y6; \
	VPUNPCKHBW Y3, Y2, Y7; \
	VPUNPCKLWD Y6, Y4, Y0; \
	VPUNPCKHWD Y6, Y4, Y1; \
	VPUNPCKLWD Y7, Y5, Y2; \
	VPUNPCKHWD Y7, Y5, Y3; \
	VPERM2I128 $0x20, Y1, Y0, Y4; \
	VPERM2I128 $0x20, Y3, Y2, Y5; \
	VPERM2I128 $0x31, Y1, Y0, Y6; \
	VPERM2I128 $0x31, Y3, Y2, Y7; \
	store      Y4, (DI); \
	store      Y5, 32(DI); \
	store      Y6, 64(DI); \
	store      Y7, 96(DI); \
	ADDQ       $128, DI

// JOIN8 is an iteration for elements of 8 bytes.
#define JOIN8(store) \
	VMOVDQU    (R8)(BX*1), Y0; \
	VMOVDQU    (R9)(BX*1), Y1; \
	VMOVDQU    (R10)(BX*1), Y2; \
	VMOVDQU    (R11)(BX*1), Y3; \
	VMOVDQU    (R12)(BX*1), Y4; \
	VMOVDQU    (R13)(BX*1), Y5; \
	VMOVDQU    (SI)(BX*1), Y6; \
	VMOVDQU    (DX)(BX*1), Y7; \
	INTERLEAVE8; \
	VPERM2I128 $0x20, Y9, Y8, Y0; \
	VPERM2I128 $0x20, Y11, Y10, Y1; \
	VPERM2I128 $0x20, Y13, Y12, Y2; \
	VPERM2I128 $0x20, Y15, Y14, Y3; \
	VPERM2I128 $0x31, Y9, Y8, Y4; \
	VPERM2I128 $0x31, Y11, Y10, Y5; \
	VPERM2I128 $0x31, Y13, Y12, Y6; \
	VPERM2I128 $0x31, Y15, Y14, Y7; \
	store      Y0, (DI); \
	store      Y1, 32(DI); \
	store      Y2, 64(DI); \
	store      Y3, 96(DI); \
	store      Y4, 128(DI); \
	store      Y5, 160(DI); \
	store      Y6, 192(DI); \
	store      Y7, 224(DI); \
	ADDQ       $256, DI

// ARGUMENTS loads the arguments and the first two rows. AX is the address of the rows.
#define ARGUMENTS \
	MOVQ dst+0(FP), DI; \
	MOVQ rows+8(FP), AX; \
	MOVQ n+16(FP), CX; \
	MOVQ 0(AX), R8; \
	MOVQ 8(AX), R9; \
	XORL BX, BX

// ROWS4 loads the next two rows, and ROWS8 all others.
#define ROWS4 \
	MOVQ 16(AX), R10; \
	MOVQ 24(AX), R11

#define ROWS8 \
	ROWS4; \
	MOVQ 32(AX), R12; \
	MOVQ 40(AX), R13; \
	MOVQ 48(AX), SI; \
	MOVQ 56(AX), DX

// func join2AVX2(dst *byte, rows *[8]*byte, n int)
TEXT ·join2AVX2(SB), NOSPLIT, $0-24
	ARGUMENTS

join:
	JOIN2(VMOVDQU)
	ADDQ $32, BX
	CMPQ BX, CX
	JNE  join
	VZEROUPPER
	RET

// func join2UncachedAVX2(dst *byte, rows *[8]*byte, n int)
TEXT ·join2UncachedAVX2(SB), NOSPLIT, $0-24
	ARGUMENTS

join:
	JOIN2(VMOVNTDQ)
	ADDQ $32, BX
	CMPQ BX, CX
	JNE  join
	SFENCE
	VZEROUPPER
	RET

// func join4AVX2(dst *byte, rows *[8]*byte, n int)
TEXT ·join4AVX2(SB), NOSPLIT, $0-24
	ARGUMENTS
	ROWS4

join:
	JOIN4(VMOVDQU)
	ADDQ $32, BX
	CMPQ BX, CX
	JNE  join
	VZEROUPPER
	RET

// func join4UncachedAVX2(dst *byte, rows *[8]*byte, n int)
TEXT ·join4UncachedAVX2(SB), NOSPLIT, $0-24
	ARGUMENTS
	ROWS4

join:
	JOIN4(VMOVNTDQ)
	ADDQ $32, BX
	CMPQ BX, CX
	JNE  join
	SFENCE
	VZEROUPPER
	RET

// func join8AVX2(dst *byte, rows *[8]*byte, n int)
TEXT ·join8AVX2(SB), NOSPLIT, $0-24
	ARGUMENTS
	ROWS8

join:
	JOIN8(VMOVDQU)
	ADDQ $32, BX
	CMPQ BX, CX
	JNE  join
	VZEROUPPER
	RET

// func join8UncachedAVX2(dst *byte, rows *[8]*byte, n int)
TEXT ·join8UncachedAVX2(SB), NOSPLIT, $0-24
	ARGUMENTS
	ROWS8

join:
	JOIN8(VMOVNTDQ)
	ADDQ $32, BX
	CMPQ BX, CX
	JNE  join
	SFENCE
	VZEROUPPER
	RET
