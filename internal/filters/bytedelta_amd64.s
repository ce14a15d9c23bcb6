//go:build amd64 && !purego

#include "textflag.h"

// AVX2 kernels for the differences of bytes and their running sums, 32 bytes per iteration.
//
// A difference needs the bytes and the same bytes one position earlier, which is a second load.
//
// Differences are stored one byte off the lines of the cache where blocks begin at one; fetching the lines of the next
// stores helps, as in shuffle_amd64.s.
//
// A running sum is built by doubling: adding the vector to itself moved up by one byte gives sums of two, moved by two
// bytes sums of four, by four bytes sums of eight, each within its quadword. Then the last sum of the lower quadword of
// each lane is added to all of the upper one, and the last of the lower lane to all of the upper lane. What came before
// the vector is added last. The chain from iteration to iteration is that one addition: the total of a vector is known
// before it.
//
//  DI, SI   next byte of dst, src
//  CX       bytes left
//  Y15      sum of all bytes before, in every byte
//  Y14      shuffle: byte 7 to all bytes of the upper quadword, zeros to the lower
//  Y13      shuffle: byte 15 to all bytes

DATA low<>+0(SB)/8, $0x8080808080808080
DATA low<>+8(SB)/8, $0x0707070707070707
GLOBL low<>(SB), RODATA|NOPTR, $16
DATA top<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA top<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL top<>(SB), RODATA|NOPTR, $16

// func byteDiffAVX2(dst, src *byte, n int)
TEXT ·byteDiffAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

	// n is a multiple of 32, so no access goes past it.
diff:
	VMOVDQU    (SI), Y0
	VPSUBB     -1(SI), Y0, Y0
	VMOVDQU    Y0, (DI)
	PREFETCHT0 128(DI)
	ADDQ       $32, SI
	ADDQ       $32, DI
	SUBQ       $32, CX
	JNZ        diff
	VZEROUPPER
	RET

// func byteSumAVX2(dst, src *byte, n int)
TEXT ·byteSumAVX2(SB), NOSPLIT, $0-24
	MOVQ           dst+0(FP), DI
	MOVQ           src+8(FP), SI
	MOVQ           n+16(FP), CX
	VPXOR          Y15, Y15, Y15
	VBROADCASTI128 low<>(SB), Y14
	VBROADCASTI128 top<>(SB), Y13

	// The sums of one, two, four and eight bytes in each quadword.
sum:
	VMOVDQU    (SI), Y0
	VPSLLQ     $8, Y0, Y1
	VPADDB     Y1, Y0, Y0
	VPSLLQ     $16, Y0, Y1
	VPADDB     Y1, Y0, Y0
	VPSLLQ     $32, Y0, Y1
	VPADDB     Y1, Y0, Y0
	VPSHUFB    Y14, Y0, Y1       // the lower quadword's total
	VPADDB     Y1, Y0, Y0
	VPSHUFB    Y13, Y0, Y1       // each lane's total
	VPERM2I128 $0x08, Y1, Y1, Y2 // the lower lane's in the upper lane, zeros in the lower
	VPADDB     Y2, Y0, Y0

	// Add the sum of all vectors before, store, and add the total of this one to it.
	VPADDB     Y15, Y0, Y0
	VMOVDQU    Y0, (DI)
	VPERM2I128 $0x01, Y1, Y1, Y2 // lanes exchanged
	VPADDB     Y2, Y1, Y1        // both lanes' total in every byte
	VPADDB     Y1, Y15, Y15
	ADDQ       $32, SI
	ADDQ       $32, DI
	SUBQ       $32, CX
	JNZ        sum
	VZEROUPPER
	RET
