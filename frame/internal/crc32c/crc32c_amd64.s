//go:build amd64 && !purego

#include "textflag.h"

// CRC-32C by folding (Gopal, Ozturk, Guilford and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel, 2009), four lanes of 128 bits in each of four registers.
//
// A message is a polynomial over GF(2). Its CRC is the remainder of that polynomial times x^32 modulo P. The CRC does
// not change if 16 bytes, a polynomial V, are removed from the message, and a polynomial with the same remainder as V *
// x^d is added d bits later. If L is the first 8 bytes of V and H the other 8 bytes, then
//
//	V * x^d = L * x^(d+64) + H * x^d
//
// Modulo P, each power is a remainder of 32 bits. The two products have less than 128 bits, and their sum is added to
// the 16 bytes that are d bits later. Bits are in the order of the checksum: bit i of a quadword is the coefficient of
// x^(63-i). In that order, the 128 bits that the CPU computes from two quadwords are x times the product of their
// polynomials. The factors are therefore those of d-1: x^(d+63) for L and x^(d-1) for H.
//
// The loop adds each of four registers to the bytes four registers later. Then the message consists of four registers.
// Three of them are added one by one to the fourth, and three lanes of the fourth to its last lane. CRC32Q computes the
// CRC of these 16 bytes, which is the CRC of the message. The previous CRC state is added to the first four bytes.
//
//  SI       next byte of the message
//  CX       bytes left
//  Z0..Z3   the last four registers of the message so far
//  Z8       factors

// FOLD moves z and adds it to the 64 bytes at m. It overwrites t.
#define FOLD(m, z, t) \
	VPCLMULQDQ $0x00, Z8, z, t; \
	VPCLMULQDQ $0x11, Z8, z, z; \
	VPTERNLOGQ $0x96, m, t, z

// func foldAVX512(crc uint32, p *byte, n int, factors *[3][8]uint64) uint32
TEXT ·foldAVX512(SB), NOSPLIT, $0-36
	MOVL      crc+0(FP), AX
	MOVQ      p+8(FP), SI
	MOVQ      n+16(FP), CX
	MOVQ      factors+24(FP), BX
	// Load the first four registers. VMOVD clears the rest of Z0. CX is the number of bytes left, less 256.
	VMOVD     AX, X0
	VPXORQ    (SI), Z0, Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	VMOVDQU64 (BX), Z8
	ADDQ      $256, SI
	SUBQ      $512, CX
	JLT       join

	// Move each register by four registers and add the next 256 bytes.
fold:
	FOLD((SI), Z0, Z4)
	FOLD(64(SI), Z1, Z5)
	FOLD(128(SI), Z2, Z6)
	FOLD(192(SI), Z3, Z7)
	ADDQ $256, SI
	SUBQ $256, CX
	JGE  fold

	// Add up the registers, moving by one register each time. CX becomes the number of bytes left, less 64.
join:
	VMOVDQU64 64(BX), Z8
	FOLD(Z1, Z0, Z4)
	FOLD(Z2, Z0, Z4)
	FOLD(Z3, Z0, Z4)
	ADDQ      $192, CX
	JLT       lanes

	// Add the remaining bytes, 64 bytes per iteration.
single:
	FOLD((SI), Z0, Z4)
	ADDQ $64, SI
	SUBQ $64, CX
	JGE  single

	// Move three lanes to the last one, which X3 holds, and add them to it: the last pair of factors is 0.
lanes:
	VEXTRACTI32X4 $3, Z0, X3
	VMOVDQU64     128(BX), Z8
	VPCLMULQDQ    $0x00, Z8, Z0, Z1
	VPCLMULQDQ    $0x11, Z8, Z0, Z0
	VPXORQ        Z1, Z0, Z0
	VEXTRACTI32X4 $1, Z0, X1
	VEXTRACTI32X4 $2, Z0, X2
	VPXOR         X1, X0, X0
	VPXOR         X3, X2, X2
	VPXOR         X2, X0, X0

	// The CRC of these 16 bytes.
	VMOVQ         X0, DX
	VPEXTRQ       $1, X0, CX
	XORL          AX, AX
	CRC32Q        DX, AX
	CRC32Q        CX, AX
	VZEROUPPER
	MOVL          AX, ret+32(FP)
	RET
