//go:build amd64 && !purego

#include "textflag.h"
#include "transpose512_amd64.h"

// AVX-512 kernels that move bits between a plane (the bytes of one position of all elements) and its eight rows. They
// take 512 bytes of a plane, which are 64 bytes of every row, per iteration.
//
// VGF2P8AFFINEQB takes each quadword A of a register for a matrix of 8x8 bits and multiplies the eight bytes x of
// another quadword by it: bit i of a product is the parity of x and byte 7-i of A. For the bytes 1, 2, 4, ... 128 that
// transposes A and reverses the bits of each byte: bit i of byte j is bit j of byte 7-i of A. With the same bytes as A,
// the instruction only reverses bits.
//
// Split: eight bytes of a plane are such a matrix, whose transposition has the bits of row j in byte j. VPERMB then
// brings the bytes of equal rows in a register together to quadwords, and the matrix of quadwords in eight registers is
// transposed.
//
// If rows do not begin at a cache line, split prefetches the lines of its next stores.
//
// Join does the steps in the opposite order; VPERMB reverses the bytes.
//
//  DI, SI   next byte of dst, src
//  R8, R9   length of a row, three times it
//  R10      DI (or SI) plus 4 rows
//  AX       not 0 if rows do not begin at a cache line
//  CX       bytes of the plane left
//  Z31      mask of VPERMB
//  Z30      the bytes 1, 2, 4, ... 128 in every quadword, which also are the matrix that reverses bits

DATA unitBytes<>+0(SB)/8, $0x8040201008040201
GLOBL unitBytes<>(SB), RODATA|NOPTR, $8

// SPLIT8 does the steps of split within the 64 bytes at k.
#define SPLIT8(k, z) \
	VGF2P8AFFINEQB $0, k(SI), Z30, z; \
	VGF2P8AFFINEQB $0, Z30, z, z; \
	VPERMB         z, Z31, z

// func splitPlaneAVX512(rows *byte, rowLen int, plane *byte, mask *[64]byte, n int)
//
// It is splitPlane for n bytes of a plane. splitPlaneVector has checked that all eight rows have n/8 bytes, and
// splitPlaneKernel rounds n down to a multiple of 512, so no load or store goes past either side.
TEXT ·splitPlaneAVX512(SB), NOSPLIT, $0-40
	MOVQ         rows+0(FP), DI
	MOVQ         rowLen+8(FP), R8
	MOVQ         plane+16(FP), SI
	MOVQ         mask+24(FP), AX
	MOVQ         n+32(FP), CX
	LEAQ         (R8)(R8*2), R9
	LEAQ         (DI)(R8*4), R10
	VMOVDQU64    (AX), Z31
	VPBROADCASTQ unitBytes<>(SB), Z30

	// AX is 0 if all rows begin at cache lines: DI and the length of a row are multiples of 64.
	MOVQ         DI, AX
	ORQ          R8, AX
	ANDQ         $63, AX

	// 512 bytes of the plane: the matrices of bits in each register, then the matrix of quadwords, then 64 bytes of
	// each row.
split:
	SPLIT8(0, Z0)
	SPLIT8(64, Z1)
	SPLIT8(128, Z2)
	SPLIT8(192, Z3)
	SPLIT8(256, Z4)
	SPLIT8(320, Z5)
	SPLIT8(384, Z6)
	SPLIT8(448, Z7)
	QUADS8
	VMOVDQU64 Z16, (DI)
	VMOVDQU64 Z17, (DI)(R8*1)
	VMOVDQU64 Z18, (DI)(R8*2)
	VMOVDQU64 Z19, (DI)(R9*1)
	VMOVDQU64 Z20, (R10)
	VMOVDQU64 Z21, (R10)(R8*1)
	VMOVDQU64 Z22, (R10)(R8*2)
	VMOVDQU64 Z23, (R10)(R9*1)

	// Prefetches may go past the end of rows: they never fault.
	TESTQ     AX, AX
	JEQ       aligned
	FETCH4(DI)
	FETCH4(R10)

aligned:
	ADDQ $512, SI
	ADDQ $64, DI
	ADDQ $64, R10
	SUBQ $512, CX
	JNZ  split
	VZEROUPPER
	RET

// JOIN8 does the steps of join within z, and stores the 64 bytes at k.
#define JOIN8(k, z) \
	VPERMB         z, Z31, z; \
	VGF2P8AFFINEQB $0, z, Z30, z; \
	VMOVDQU64      z, k(DI)

// func joinPlaneAVX512(plane, rows *byte, rowLen int, mask *[64]byte, n int)
//
// It is joinPlane for n bytes of a plane. joinPlaneVector checks the rows as splitPlaneVector does.
TEXT ·joinPlaneAVX512(SB), NOSPLIT, $0-40
	MOVQ         plane+0(FP), DI
	MOVQ         rows+8(FP), SI
	MOVQ         rowLen+16(FP), R8
	MOVQ         mask+24(FP), AX
	MOVQ         n+32(FP), CX
	LEAQ         (R8)(R8*2), R9
	LEAQ         (SI)(R8*4), R10
	VMOVDQU64    (AX), Z31
	VPBROADCASTQ unitBytes<>(SB), Z30

	// 64 bytes of each row: the matrix of quadwords, then the matrices of bits in each register.
join:
	VMOVDQU64 (SI), Z0
	VMOVDQU64 (SI)(R8*1), Z1
	VMOVDQU64 (SI)(R8*2), Z2
	VMOVDQU64 (SI)(R9*1), Z3
	VMOVDQU64 (R10), Z4
	VMOVDQU64 (R10)(R8*1), Z5
	VMOVDQU64 (R10)(R8*2), Z6
	VMOVDQU64 (R10)(R9*1), Z7
	QUADS8
	JOIN8(0, Z16)
	JOIN8(64, Z17)
	JOIN8(128, Z18)
	JOIN8(192, Z19)
	JOIN8(256, Z20)
	JOIN8(320, Z21)
	JOIN8(384, Z22)
	JOIN8(448, Z23)
	ADDQ      $64, SI
	ADDQ      $64, R10
	ADDQ      $512, DI
	SUBQ      $512, CX
	JNZ       join
	VZEROUPPER
	RET
