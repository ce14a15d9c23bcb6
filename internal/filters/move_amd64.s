//go:build amd64 && !purego

#include "textflag.h"

// func copyString(dst, src *byte, n int)
TEXT ·copyString(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	REP; MOVSB
	RET

// AVX2 kernel that fills memory with a word. The first and the last 32 bytes are stored wherever they begin; stores
// between them are aligned, with the word turned by as many bytes as were skipped.
//
//  DI       next byte of dst
//  R9       bytes left
//  R8       end of dst
//  Y0       the word, rotated to start at DI, four times
//  Y1       the word, rotated for the last 32 bytes, four times

// func fillAVX2(dst *byte, word uint64, n int, uncached bool)
TEXT ·fillAVX2(SB), NOSPLIT, $0-25
	MOVQ dst+0(FP), DI
	MOVQ word+8(FP), AX
	MOVQ n+16(FP), R9
	LEAQ (DI)(R9*1), R8

	// Y1 for the last 32 bytes, which begin n%8 bytes into the word.
	MOVQ         R9, CX
	SHLQ         $3, CX
	MOVQ         AX, DX
	RORQ         CX, DX // modulo 64: by n%8 bytes
	VMOVQ        DX, X1
	VPBROADCASTQ X1, Y1

	// The first 32 bytes: n is at least 32. BX is the number of bytes that DI skips to be aligned. The word is rotated
	// by as many bytes.
	VMOVQ        AX, X0
	VPBROADCASTQ X0, Y0
	VMOVDQU      Y0, (DI)
	MOVQ         DI, BX
	NEGQ         BX
	ANDQ         $31, BX // up to where stores are aligned
	LEAQ         (BX*8), CX
	RORQ         CX, AX
	VMOVQ        AX, X0
	VPBROADCASTQ X0, Y0
	ADDQ         BX, DI
	SUBQ         BX, R9
	SUBQ         $256, R9
	JB           rest
	CMPB         uncached+24(FP), $0
	JNE          longUncached

	// 256 bytes per iteration while as many are left.
long:
	VMOVDQU Y0, (DI)
	VMOVDQU Y0, 32(DI)
	VMOVDQU Y0, 64(DI)
	VMOVDQU Y0, 96(DI)
	VMOVDQU Y0, 128(DI)
	VMOVDQU Y0, 160(DI)
	VMOVDQU Y0, 192(DI)
	VMOVDQU Y0, 224(DI)
	ADDQ    $256, DI
	SUBQ    $256, R9
	JAE     long
	JMP     rest

	// The same past the caches. SFENCE makes the stores visible before all later ones.
longUncached:
	VMOVNTDQ Y0, (DI)
	VMOVNTDQ Y0, 32(DI)
	VMOVNTDQ Y0, 64(DI)
	VMOVNTDQ Y0, 96(DI)
	VMOVNTDQ Y0, 128(DI)
	VMOVNTDQ Y0, 160(DI)
	VMOVNTDQ Y0, 192(DI)
	VMOVNTDQ Y0, 224(DI)
	ADDQ     $256, DI
	SUBQ     $256, R9
	JAE      longUncached
	SFENCE

	// R9 becomes the number of bytes left, less 32.
rest:
	ADDQ $256-32, R9
	JLT  last        // fewer than 32 bytes left

short:
	VMOVDQU Y0, (DI)
	ADDQ    $32, DI
	SUBQ    $32, R9
	JAE     short

	// The last 32 bytes overlap those before.
last:
	VMOVDQU    Y1, -32(R8)
	VZEROUPPER
	RET
