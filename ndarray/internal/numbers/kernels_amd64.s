//go:build amd64 && !purego

#include "textflag.h"

// AVX2 kernels that convert rows of numbers. All have the arguments of the type kernel, and the same loop:
//
//  DI, SI   next row of dst and of src
//  CX       rows left
//  R8, R9   steps from row to row
//  R10      numbers of a row that are left after the vector that follows
//  R11      distance to the row of dst that is converted later, for prefetching
//  R12, R13 offset in src and in dst of the last vector of a row
//  DX       numbers of this row that the loop has left
//  AX, BX   next vector of dst and of src
//  Y0, Y1   a vector of numbers
//  Y7, Y8   the last vector of the row
//  Y9-Y15   constants

// ARGS loads the arguments. V is the number of numbers in a vector, IN and OUT the bytes of a number.
#define ARGS(V, IN, OUT) \
	MOVQ  dst+0(FP), DI;    \
	MOVQ  src+8(FP), SI;    \
	MOVQ  n+16(FP), R10;    \
	MOVQ  rows+24(FP), CX;  \
	MOVQ  ds+32(FP), R8;    \
	MOVQ  ss+40(FP), R9;    \
	MOVQ  ahead+48(FP), R11; \
	SUBQ  $V, R10;          \
	IMUL3Q $IN, R10, R12;   \
	IMUL3Q $OUT, R10, R13

// ROW begins a row. It sets BX to the last vector, which may overlap the one before.
#define ROW \
	LEAQ (SI)(R12*1), BX

// FIRST keeps the converted last vector for the end of the row: if dst is src, the loop may overwrite its numbers. Then
// it sets AX and BX to the first vector, and the flags to whether the loop has numbers.
#define FIRST1 \
	VMOVDQA Y0, Y7;   \
	MOVQ    DI, AX;   \
	MOVQ    SI, BX;   \
	MOVQ    R10, DX;  \
	TESTQ   DX, DX

#define FIRST2 \
	VMOVDQA Y1, Y8;   \
	FIRST1

// NEXT stores a vector and goes to the next one. It sets the flags to whether numbers are left.
#define NEXT1(V, IN) \
	PREFETCHT0 (AX)(R11*1); \
	VMOVDQU    Y0, (AX);    \
	ADDQ       $(V*IN), BX; \
	ADDQ       $32, AX;     \
	SUBQ       $V, DX

#define NEXT2(V, IN) \
	PREFETCHT0 (AX)(R11*1); \
	VMOVDQU    Y0, (AX);    \
	VMOVDQU    Y1, 32(AX);  \
	ADDQ       $(V*IN), BX; \
	ADDQ       $64, AX;     \
	SUBQ       $V, DX

// LAST stores the last vector and goes to the next row.
#define LAST1 \
	VMOVDQU Y7, (DI)(R13*1);   \
	ADDQ    R8, DI;            \
	ADDQ    R9, SI;            \
	DECQ    CX

#define LAST2 \
	VMOVDQU Y8, 32(DI)(R13*1); \
	LAST1

// KERNEL1 is a kernel whose vectors have 32 bytes in dst, and KERNEL2 one whose vectors have 64. LOAD loads a vector
// from BX and CONVERT converts it, to Y0, or to Y0 and Y1.
#define KERNEL1(V, IN, OUT, LOAD, CONVERT) \
	ARGS(V, IN, OUT); \
row: \
	ROW; \
	LOAD; \
	CONVERT; \
	FIRST1; \
	JLE last; \
loop: \
	LOAD; \
	CONVERT; \
	NEXT1(V, IN); \
	JGT loop; \
last: \
	LAST1; \
	JNZ row; \
	VZEROUPPER; \
	RET

#define KERNEL2(V, IN, OUT, LOAD, CONVERT) \
	ARGS(V, IN, OUT); \
row: \
	ROW; \
	LOAD; \
	CONVERT; \
	FIRST2; \
	JLE last; \
loop: \
	LOAD; \
	CONVERT; \
	NEXT2(V, IN); \
	JGT loop; \
last: \
	LAST2; \
	JNZ row; \
	VZEROUPPER; \
	RET

// The shuffles that reverse the bytes of numbers of 2, 4 and 8 bytes.
DATA swap2<>+0(SB)/8, $0x0607040502030001
DATA swap2<>+8(SB)/8, $0x0e0f0c0d0a0b0809
GLOBL swap2<>(SB), RODATA|NOPTR, $16
DATA swap4<>+0(SB)/8, $0x0405060700010203
DATA swap4<>+8(SB)/8, $0x0c0d0e0f08090a0b
GLOBL swap4<>(SB), RODATA|NOPTR, $16
DATA swap8<>+0(SB)/8, $0x0001020304050607
DATA swap8<>+8(SB)/8, $0x08090a0b0c0d0e0f
GLOBL swap8<>(SB), RODATA|NOPTR, $16

// Ones in bytes, for bools: true may be any byte except 0.
DATA ones<>+0(SB)/8, $0x0101010101010101
DATA ones<>+8(SB)/8, $0x0101010101010101
GLOBL ones<>(SB), RODATA|NOPTR, $16

// The float64 2^52, whose low 32 bits of fraction are the units.
DATA two52<>+0(SB)/8, $0x4330000000000000
GLOBL two52<>(SB), RODATA|NOPTR, $8

// Float16: bits without the sign, the largest finite number, the least normal number; the difference of the exponents
// of float32 and of float64, and 2^-24, the unit of subnormal numbers.
DATA half4<>+0(SB)/4, $0x7fff
DATA half4<>+4(SB)/4, $0x7bff
DATA half4<>+8(SB)/4, $0x0400
DATA half4<>+12(SB)/4, $0x38000000
DATA half4<>+16(SB)/4, $0x33800000
GLOBL half4<>(SB), RODATA|NOPTR, $20
DATA half8<>+0(SB)/8, $0x7fff
DATA half8<>+8(SB)/8, $0x7bff
DATA half8<>+16(SB)/8, $0x0400
DATA half8<>+24(SB)/8, $0x3f00000000000000
DATA half8<>+32(SB)/8, $0x3e70000000000000
GLOBL half8<>(SB), RODATA|NOPTR, $40

// Loads of eight numbers as 32-bit integers in Y0. Y15 has the shuffle or the ones.
#define LOADI1 VPMOVSXBD (BX), Y0
#define LOADU1 VPMOVZXBD (BX), Y0
#define LOADI2 VPMOVSXWD (BX), Y0
#define LOADU2 VPMOVZXWD (BX), Y0
#define LOAD4 VMOVDQU (BX), Y0

#define LOADB1 \
	VMOVQ     (BX), X0;      \
	VPMINUB   X15, X0, X0;   \
	VPMOVZXBD X0, Y0

#define LOADI2SWAPPED \
	VMOVDQU   (BX), X0;      \
	VPSHUFB   X15, X0, X0;   \
	VPMOVSXWD X0, Y0

#define LOADU2SWAPPED \
	VMOVDQU   (BX), X0;      \
	VPSHUFB   X15, X0, X0;   \
	VPMOVZXWD X0, Y0

#define LOAD4SWAPPED \
	VMOVDQU (BX), Y0;        \
	VPSHUFB Y15, Y0, Y0

// Conversions of the 32-bit integers in Y0. Those of 1 and 2 bytes are not negative if they are unsigned.
#define SAME
#define TOF4 VCVTDQ2PS Y0, Y0

#define TOF8 \
	VEXTRACTI128 $1, Y0, X1; \
	VCVTDQ2PD    X0, Y0;     \
	VCVTDQ2PD    X1, Y1

#define TOI8 \
	VEXTRACTI128 $1, Y0, X1; \
	VPMOVSXDQ    X0, Y0;     \
	VPMOVSXDQ    X1, Y1

#define U4TOI8 \
	VEXTRACTI128 $1, Y0, X1; \
	VPMOVZXDQ    X0, Y0;     \
	VPMOVZXDQ    X1, Y1

// 2^52 + x, of which x are the low bits of the fraction, and minus 2^52.
#define U4TOF8 \
	U4TOI8;             \
	VPOR   Y14, Y0, Y0; \
	VPOR   Y14, Y1, Y1; \
	VSUBPD Y14, Y0, Y0; \
	VSUBPD Y14, Y1, Y1

// The float32 numbers in Y0.
#define F4TOF8 \
	VEXTRACTF128 $1, Y0, X1; \
	VCVTPS2PD    X0, Y0;     \
	VCVTPS2PD    X1, Y1

// Loads of eight float64, and their conversion.
#define LOADF8 \
	VMOVDQU (BX), Y0;   \
	VMOVDQU 32(BX), Y1

#define LOADF8SWAPPED \
	LOADF8;              \
	VPSHUFB Y15, Y0, Y0; \
	VPSHUFB Y15, Y1, Y1

#define F8TOF4 \
	VCVTPD2PSY  Y0, X0;         \
	VCVTPD2PSY  Y1, X1;         \
	VINSERTF128 $1, X1, Y0, Y0

// Float16 in 32-bit integers. VPSRLD and VPSLLD leave the sign. The rest is shifted to the fraction and exponent of a
// float32, to which the difference of the exponents is added, twice for infinities and NaNs: their exponent is the
// largest of both formats. Numbers below the least normal number are multiples of 2^-24.
#define F2TOF4 \
	VPSRLD    $15, Y0, Y1;     \
	VPSLLD    $31, Y1, Y1;     \
	VPAND     Y14, Y0, Y0;     \
	VPSLLD    $13, Y0, Y2;     \
	VPADDD    Y11, Y2, Y2;     \
	VPCMPGTD  Y13, Y0, Y3;     \
	VPAND     Y11, Y3, Y3;     \
	VPADDD    Y3, Y2, Y2;      \
	VCVTDQ2PS Y0, Y4;          \
	VMULPS    Y10, Y4, Y4;     \
	VPCMPGTD  Y0, Y12, Y5;     \
	VBLENDVPS Y5, Y4, Y2, Y0;  \
	VPOR      Y1, Y0, Y0

// The same for the four float16 in the 32-bit integers of X, to float64 in Y.
#define F2TOF8HALF(X, Y) \
	VPSLLD    $17, X, X3;      \
	VPSRLD    $17, X3, X3;     \
	VCVTDQ2PD X3, Y4;          \
	VMULPD    Y10, Y4, Y4;     \
	VPMOVZXDQ X, Y2;           \
	VPSRLQ    $15, Y2, Y6;     \
	VPSLLQ    $63, Y6, Y6;     \
	VPAND     Y14, Y2, Y2;     \
	VPCMPGTQ  Y13, Y2, Y3;     \
	VPAND     Y11, Y3, Y3;     \
	VPCMPGTQ  Y2, Y12, Y5;     \
	VPSLLQ    $42, Y2, Y2;     \
	VPADDQ    Y11, Y2, Y2;     \
	VPADDQ    Y3, Y2, Y2;      \
	VBLENDVPD Y5, Y4, Y2, Y2;  \
	VPOR      Y6, Y2, Y

#define F2TOF8 \
	VEXTRACTI128 $1, Y0, X1; \
	F2TOF8HALF(X0, Y0);      \
	F2TOF8HALF(X1, Y1)

#define HALF4 \
	VPBROADCASTD half4<>+0(SB), Y14;  \
	VPBROADCASTD half4<>+4(SB), Y13;  \
	VPBROADCASTD half4<>+8(SB), Y12;  \
	VPBROADCASTD half4<>+12(SB), Y11; \
	VPBROADCASTD half4<>+16(SB), Y10

#define HALF8 \
	VPBROADCASTQ half8<>+0(SB), Y14;  \
	VPBROADCASTQ half8<>+8(SB), Y13;  \
	VPBROADCASTQ half8<>+16(SB), Y12; \
	VPBROADCASTQ half8<>+24(SB), Y11; \
	VPBROADCASTQ half8<>+32(SB), Y10

// Bools, copied as 0 and 1.
#define BOOLS \
	VMOVDQU (BX), Y0;    \
	VPMINUB Y15, Y0, Y0

// 16 integers of 1 byte, to 2 bytes.
#define I1TOI2 VPMOVSXBW (BX), Y0
#define U1TOI2 VPMOVZXBW (BX), Y0

#define B1TOI2 \
	VMOVDQU   (BX), X0;    \
	VPMINUB   X15, X0, X0; \
	VPMOVZXBW X0, Y0

// func swap2AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·swap2AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	KERNEL1(16, 2, 2, LOAD4SWAPPED, SAME)

// func swap4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·swap4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap4<>(SB), Y15
	KERNEL1(8, 4, 4, LOAD4SWAPPED, SAME)

// func swap8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·swap8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap8<>(SB), Y15
	KERNEL1(4, 8, 8, LOAD4SWAPPED, SAME)

// func b1b1AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·b1b1AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 ones<>(SB), Y15
	KERNEL1(32, 1, 1, BOOLS, SAME)

// func b1i2AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·b1i2AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 ones<>(SB), Y15
	KERNEL1(16, 1, 2, B1TOI2, SAME)

// func i1i2AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i1i2AVX2(SB), NOSPLIT, $0-56
	KERNEL1(16, 1, 2, I1TOI2, SAME)

// func u1i2AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u1i2AVX2(SB), NOSPLIT, $0-56
	KERNEL1(16, 1, 2, U1TOI2, SAME)

// func b1i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·b1i4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 ones<>(SB), Y15
	KERNEL1(8, 1, 4, LOADB1, SAME)

// func b1i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·b1i8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 ones<>(SB), Y15
	KERNEL2(8, 1, 8, LOADB1, TOI8)

// func b1f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·b1f4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 ones<>(SB), Y15
	KERNEL1(8, 1, 4, LOADB1, TOF4)

// func b1f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·b1f8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 ones<>(SB), Y15
	KERNEL2(8, 1, 8, LOADB1, TOF8)

// func i1i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i1i4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 1, 4, LOADI1, SAME)

// func i1i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i1i8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 1, 8, LOADI1, TOI8)

// func i1f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i1f4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 1, 4, LOADI1, TOF4)

// func i1f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i1f8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 1, 8, LOADI1, TOF8)

// func u1i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u1i4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 1, 4, LOADU1, SAME)

// func u1i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u1i8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 1, 8, LOADU1, TOI8)

// func u1f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u1f4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 1, 4, LOADU1, TOF4)

// func u1f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u1f8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 1, 8, LOADU1, TOF8)

// func i2i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i2i4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 2, 4, LOADI2, SAME)

// func i2i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i2i8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 2, 8, LOADI2, TOI8)

// func i2f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i2f4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 2, 4, LOADI2, TOF4)

// func i2f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i2f8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 2, 8, LOADI2, TOF8)

// func u2i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u2i4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 2, 4, LOADU2, SAME)

// func u2i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u2i8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 2, 8, LOADU2, TOI8)

// func u2f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u2f4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 2, 4, LOADU2, TOF4)

// func u2f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u2f8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 2, 8, LOADU2, TOF8)

// func i2swappedi4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i2swappedi4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	KERNEL1(8, 2, 4, LOADI2SWAPPED, SAME)

// func i2swappedi8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i2swappedi8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	KERNEL2(8, 2, 8, LOADI2SWAPPED, TOI8)

// func i2swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i2swappedf4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	KERNEL1(8, 2, 4, LOADI2SWAPPED, TOF4)

// func i2swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i2swappedf8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	KERNEL2(8, 2, 8, LOADI2SWAPPED, TOF8)

// func u2swappedi4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u2swappedi4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	KERNEL1(8, 2, 4, LOADU2SWAPPED, SAME)

// func u2swappedi8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u2swappedi8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	KERNEL2(8, 2, 8, LOADU2SWAPPED, TOI8)

// func u2swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u2swappedf4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	KERNEL1(8, 2, 4, LOADU2SWAPPED, TOF4)

// func u2swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u2swappedf8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	KERNEL2(8, 2, 8, LOADU2SWAPPED, TOF8)

// func i4i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i4i8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 4, 8, LOAD4, TOI8)

// func i4f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i4f4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 4, 4, LOAD4, TOF4)

// func i4f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i4f8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 4, 8, LOAD4, TOF8)

// func i4swappedi8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i4swappedi8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap4<>(SB), Y15
	KERNEL2(8, 4, 8, LOAD4SWAPPED, TOI8)

// func i4swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i4swappedf4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap4<>(SB), Y15
	KERNEL1(8, 4, 4, LOAD4SWAPPED, TOF4)

// func i4swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·i4swappedf8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap4<>(SB), Y15
	KERNEL2(8, 4, 8, LOAD4SWAPPED, TOF8)

// func u4i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u4i8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 4, 8, LOAD4, U4TOI8)

// func u4f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u4f8AVX2(SB), NOSPLIT, $0-56
	VPBROADCASTQ two52<>(SB), Y14
	KERNEL2(8, 4, 8, LOAD4, U4TOF8)

// func u4swappedi8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u4swappedi8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap4<>(SB), Y15
	KERNEL2(8, 4, 8, LOAD4SWAPPED, U4TOI8)

// func u4swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·u4swappedf8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap4<>(SB), Y15
	VPBROADCASTQ two52<>(SB), Y14
	KERNEL2(8, 4, 8, LOAD4SWAPPED, U4TOF8)

// func f2f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·f2f4AVX2(SB), NOSPLIT, $0-56
	HALF4
	KERNEL1(8, 2, 4, LOADU2, F2TOF4)

// func f2swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·f2swappedf4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	HALF4
	KERNEL1(8, 2, 4, LOADU2SWAPPED, F2TOF4)

// func f2f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·f2f8AVX2(SB), NOSPLIT, $0-56
	HALF8
	KERNEL2(8, 2, 8, LOADU2, F2TOF8)

// func f2swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·f2swappedf8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap2<>(SB), Y15
	HALF8
	KERNEL2(8, 2, 8, LOADU2SWAPPED, F2TOF8)

// func f4f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·f4f8AVX2(SB), NOSPLIT, $0-56
	KERNEL2(8, 4, 8, LOAD4, F4TOF8)

// func f4swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·f4swappedf8AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap4<>(SB), Y15
	KERNEL2(8, 4, 8, LOAD4SWAPPED, F4TOF8)

// func f8f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·f8f4AVX2(SB), NOSPLIT, $0-56
	KERNEL1(8, 8, 4, LOADF8, F8TOF4)

// func f8swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
TEXT ·f8swappedf4AVX2(SB), NOSPLIT, $0-56
	VBROADCASTI128 swap8<>(SB), Y15
	KERNEL1(8, 8, 4, LOADF8SWAPPED, F8TOF4)
