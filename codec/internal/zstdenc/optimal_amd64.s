//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// upward has the numbers of the lanes, and then the number of lanes.
DATA ·upward+0(SB)/4, $0
DATA ·upward+4(SB)/4, $1
DATA ·upward+8(SB)/4, $2
DATA ·upward+12(SB)/4, $3
DATA ·upward+16(SB)/4, $4
DATA ·upward+20(SB)/4, $5
DATA ·upward+24(SB)/4, $6
DATA ·upward+28(SB)/4, $7
DATA ·upward+32(SB)/4, $8
GLOBL ·upward(SB), RODATA|NOPTR, $36

// func relaxKernel(s *steps, i int, prices []uint32, m *match)
//
// relaxKernel tries matches of 8 lengths per iteration. The number of prices is a multiple of 8 and not 0. Its Go
// version is steps.relaxGeneric.
//
// Registers:
//
//	R8, R9, R10  where the next costs, lengths and offsets are
//	R11, R12     where the next prices are, and where they end
//	Y0           the price of the match without that of its length
//	Y1           the lengths
//	Y2           the offset
//	Y3           8
//	Y4, Y5       costs with this match, and costs so far; Y4 becomes the smaller ones
//	Y6           all bits of the lanes that keep their steps
TEXT ·relaxKernel(SB), NOSPLIT, $0-48
	// The first steps and prices.
	MOVQ s+0(FP), DI
	MOVQ i+8(FP), AX
	MOVQ steps_costs(DI), R8
	MOVQ steps_lengths(DI), R9
	MOVQ steps_offsets(DI), R10
	LEAQ (R8)(AX*4), R8
	LEAQ (R9)(AX*4), R9
	LEAQ (R10)(AX*4), R10
	MOVQ prices_base+16(FP), R11
	MOVQ prices_len+24(FP), R12
	LEAQ (R11)(R12*4), R12

	// The match in all lanes, with a length more in each.
	MOVQ m+40(FP), DI
	VPBROADCASTD match_price(DI), Y0
	VPBROADCASTD match_length(DI), Y1
	VPADDD ·upward(SB), Y1, Y1
	VPBROADCASTD match_offset(DI), Y2
	VPBROADCASTD ·upward+32(SB), Y3

	// Mostly no lane is better than before. Then there is nothing to store.
next:
	VPADDD (R11), Y0, Y4
	VMOVDQU (R8), Y5
	VPMINUD Y4, Y5, Y4
	VPCMPEQD Y4, Y5, Y6
	VPMOVMSKB Y6, AX
	CMPL AX, $-1
	JEQ  kept

	// Store the smaller costs, and the length and the offset in the lanes that have changed.
	VMOVDQU Y4, (R8)
	VPBLENDVB Y6, (R9), Y1, Y4
	VMOVDQU Y4, (R9)
	VPBLENDVB Y6, (R10), Y2, Y4
	VMOVDQU Y4, (R10)

kept:
	VPADDD Y3, Y1, Y1
	ADDQ $32, R8
	ADDQ $32, R9
	ADDQ $32, R10
	ADDQ $32, R11
	CMPQ R11, R12
	JCS  next
	VZEROUPPER
	RET
