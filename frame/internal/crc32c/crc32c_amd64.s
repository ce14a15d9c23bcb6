//go:build amd64 && !purego

#include "textflag.h"

// CRC-32C by folding (Gopal, Ozturk, Guilford and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel, 2009), four lanes of 128 bits in each of four registers.
//
// A message is a polynomial over GF(2), its CRC the remainder of that, times x^32, modulo P. So 16 bytes, a polynomial V,
// may be taken from the message if something of the same remainder is added d bits further on, where the message has
// V(x) = V(x) * x^-d * x^d. With L for the 8 bytes of V that come first and H for the others,
//
//	V * x^d = L * x^(d+64) + H * x^d
//
// and modulo P either power is a remainder of 32 bits: two products of less than 128 bits, whose sum is added to the 16
// bytes d bits on. Bits are in the order of the checksum: bit i of a quadword is the coefficient of x^(63-i). In that
// order the product that the processor makes of two quadwords, seen as 128 bits, is x times theirs. The factors are
// therefore those of d-1: x^(d+63) for L and x^(d-1) for H.
//
// The loop adds each of four registers to the bytes four registers on. What is left of the message is then four
// registers, of which three are added to the fourth one by one, and of that three lanes to the last. The CRC of these 16
// bytes, which CRC32Q computes, is that of the message. What the register held before is added to the first four bytes.
//
//  SI       next byte of the message
//  CX       bytes left
//  Z0..Z3   the last four registers of the message so far
//  Z8       factors

// FOLD adds z, moved on, to the 64 bytes at m. It changes t.
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

	// Move each register on by four and add the next 256 bytes.
fold:
	FOLD((SI), Z0, Z4)
	FOLD(64(SI), Z1, Z5)
	FOLD(128(SI), Z2, Z6)
	FOLD(192(SI), Z3, Z7)
	ADDQ $256, SI
	SUBQ $256, CX
	JGE  fold

	// Add the registers up, each moved on by one. CX becomes the number of bytes left, less 64.
join:
	VMOVDQU64 64(BX), Z8
	FOLD(Z1, Z0, Z4)
	FOLD(Z2, Z0, Z4)
	FOLD(Z3, Z0, Z4)
	ADDQ      $192, CX
	JLT       lanes

	// Add what is left, 64 bytes a turn.
single:
	FOLD((SI), Z0, Z4)
	ADDQ $64, SI
	SUBQ $64, CX
	JGE  single

	// Move three lanes on to the last one, which is kept in X3, and add them to it: the last pair of factors is 0.
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
