//go:build amd64 && !purego

#include "textflag.h"
#include "transpose_amd64.h"

// AVX2 kernels that move bits between a plane (the bytes of one position of all elements) and its eight rows. They take
// 256 bytes of a plane, which are 32 bytes of every row, per iteration, in the two steps of the generic kernels but
// with vectors instead of words.
//
// Split: the plane is seen as elements of eight bytes, and the network that shuffles these brings byte j of all of them
// to register j. Bit k of byte i of register j now has to go to bit j of byte i of row k: for every i the eight
// registers hold an 8x8 matrix of bits. Swapping halves of bytes between registers four apart, then pairs of bits
// between registers two apart, then bits between neighbors transposes all 32 matrices at once (Warren, "Hacker's
// Delight", second edition, section 7-3).
//
// Join does the two steps in the opposite order.
//
//  DI, SI   next byte of dst, src
//  R8, R9   length of a row, three times it
//  R10      DI (or SI) plus 4 rows
//  CX       bytes of the plane left

DATA bits4<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL bits4<>(SB), RODATA|NOPTR, $8
DATA bits2<>+0(SB)/8, $0x3333333333333333
GLOBL bits2<>(SB), RODATA|NOPTR, $8
DATA bits1<>+0(SB)/8, $0x5555555555555555
GLOBL bits1<>(SB), RODATA|NOPTR, $8

// SWAP exchanges the bits of a at m<<shift with the bits of b at m; t is lost.
#define SWAP(a, b, shift, m, t) \
	VPSRLQ $shift, a, t; \
	VPXOR  b, t, t; \
	VPAND  m, t, t; \
	VPXOR  t, b, b; \
	VPSLLQ $shift, t, t; \
	VPXOR  t, a, a

// BITS transposes the 8x8 matrices of bits in the registers a to h; m, t and u are lost.
#define BITS(a, b, c, d, e, f, g, h, m, t, u) \
	VPBROADCASTQ bits4<>(SB), m; \
	SWAP(a, e, 4, m, t); \
	SWAP(b, f, 4, m, u); \
	SWAP(c, g, 4, m, t); \
	SWAP(d, h, 4, m, u); \
	VPBROADCASTQ bits2<>(SB), m; \
	SWAP(a, c, 2, m, t); \
	SWAP(b, d, 2, m, u); \
	SWAP(e, g, 2, m, t); \
	SWAP(f, h, 2, m, u); \
	VPBROADCASTQ bits1<>(SB), m; \
	SWAP(a, b, 1, m, t); \
	SWAP(c, d, 1, m, u); \
	SWAP(e, f, 1, m, t); \
	SWAP(g, h, 1, m, u)

// LANES loads 16 bytes at offset k to the lower lane of y (whose lower half is x) and 16 bytes half an iteration
// further to its upper lane, and brings the equal bytes of the two elements in each together.
#define LANES(k, x, y) \
	VMOVDQU     k(SI), x; \
	VINSERTI128 $1, 128+k(SI), y, y; \
	VPSHUFB     Y15, y, y

// func splitPlaneAVX2(rows *byte, rowLen int, plane *byte, mask *[32]byte, n int)
//
// It is splitPlane for n bytes of a plane. splitPlaneVector has checked that all eight rows have n/8 bytes, and n is a
// multiple of 256, so no load or store goes past either side.
TEXT ·splitPlaneAVX2(SB), NOSPLIT, $0-40
	MOVQ rows+0(FP), DI
	MOVQ rowLen+8(FP), R8
	MOVQ plane+16(FP), SI
	MOVQ mask+24(FP), AX
	MOVQ n+32(FP), CX
	LEAQ (R8)(R8*2), R9
	LEAQ (DI)(R8*4), R10

	// 256 bytes of the plane: the lower lanes have the first half of them. The mask is loaded in each iteration, as
	// TRANSPOSE8 overwrites Y15.
split:
	VMOVDQU (AX), Y15
	LANES(0, X0, Y0)
	LANES(16, X1, Y1)
	LANES(32, X2, Y2)
	LANES(48, X3, Y3)
	LANES(64, X4, Y4)
	LANES(80, X5, Y5)
	LANES(96, X6, Y6)
	LANES(112, X7, Y7)

	// Byte j of all elements to register 8+j, then bit k of all registers to register 8+k, which is row k.
	TRANSPOSE8
	BITS(Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15, Y0, Y1, Y2)
	VMOVDQU Y8, (DI)
	VMOVDQU Y9, (DI)(R8*1)
	VMOVDQU Y10, (DI)(R8*2)
	VMOVDQU Y11, (DI)(R9*1)
	VMOVDQU Y12, (R10)
	VMOVDQU Y13, (R10)(R8*1)
	VMOVDQU Y14, (R10)(R8*2)
	VMOVDQU Y15, (R10)(R9*1)
	ADDQ    $256, SI
	ADDQ    $32, DI
	ADDQ    $32, R10
	SUBQ    $256, CX
	JNZ     split
	VZEROUPPER
	RET

// func joinPlaneAVX2(plane, rows *byte, rowLen, n int)
//
// It is joinPlane for n bytes of a plane. joinPlaneVector checks the rows as splitPlaneVector does.
TEXT ·joinPlaneAVX2(SB), NOSPLIT, $0-32
	MOVQ plane+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ rowLen+16(FP), R8
	MOVQ n+24(FP), CX
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), R10

	// 32 bytes of each row: bits first, then the bytes of each element of eight to each other.
join:
	VMOVDQU      (SI), Y0
	VMOVDQU      (SI)(R8*1), Y1
	VMOVDQU      (SI)(R8*2), Y2
	VMOVDQU      (SI)(R9*1), Y3
	VMOVDQU      (R10), Y4
	VMOVDQU      (R10)(R8*1), Y5
	VMOVDQU      (R10)(R8*2), Y6
	VMOVDQU      (R10)(R9*1), Y7
	BITS(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10)
	INTERLEAVE8

	// The lower lanes have the first 128 bytes of the plane, the upper lanes the others.
	VMOVDQU      X8, (DI)
	VMOVDQU      X9, 16(DI)
	VMOVDQU      X10, 32(DI)
	VMOVDQU      X11, 48(DI)
	VMOVDQU      X12, 64(DI)
	VMOVDQU      X13, 80(DI)
	VMOVDQU      X14, 96(DI)
	VMOVDQU      X15, 112(DI)
	VEXTRACTI128 $1, Y8, 128(DI)
	VEXTRACTI128 $1, Y9, 144(DI)
	VEXTRACTI128 $1, Y10, 160(DI)
	VEXTRACTI128 $1, Y11, 176(DI)
	VEXTRACTI128 $1, Y12, 192(DI)
	VEXTRACTI128 $1, Y13, 208(DI)
	VEXTRACTI128 $1, Y14, 224(DI)
	VEXTRACTI128 $1, Y15, 240(DI)
	ADDQ         $32, SI
	ADDQ         $32, R10
	ADDQ         $256, DI
	SUBQ         $256, CX
	JNZ          join
	VZEROUPPER
	RET
