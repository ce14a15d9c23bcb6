//go:build arm64 && !purego

#include "go_asm.h"
#include "textflag.h"

// func smallAsm(b *block, table *[1 << smallBits]uint16) (result int)
//
// It does what encodeGeneric does with smallFactor and smallShift, except for sequences near the ends. The registers
// are listed in encode_arm64.h. Indexes fit 16 bits, because base plus the length of the input is at most 1<<16 (see
// Encode).
TEXT ·smallAsm(SB), NOSPLIT, $0-24
	MOVD $const_smallFactor, R12

#define HASH(v, h) \
	MUL R12, v, h              \
	LSR $const_smallShift, h
#define SWAP(h, i, r) \
	MOVHU (R6)(h<<1), r \
	MOVH  i, (R6)(h<<1)
#define PUT(h, i) MOVH i, (R6)(h<<1)
#define CLAMP(r) \
	CMP  R7, r        \
	CSEL LO, R7, r, r
#define NEAR(i, m, t, l)

#include "encode_arm64.h"

#undef HASH
#undef SWAP
#undef PUT
#undef CLAMP
#undef NEAR

// func largeAsm(b *block, table *[1 << smallBits]uint32) (result int)
//
// It does what encodeGeneric does with largeFactor and largeShift. Encode clears the table and base is 0, so every
// entry is an index of the input, and only the distance can be too great.
TEXT ·largeAsm(SB), NOSPLIT, $0-24
	MOVD $const_largeFactor, R12

#define HASH(v, h) \
	MUL R12, v, h              \
	LSR $const_largeShift, h
#define SWAP(h, i, r) \
	MOVWU (R6)(h<<2), r \
	MOVW  i, (R6)(h<<2)
#define PUT(h, i) MOVW i, (R6)(h<<2)
#define CLAMP(r)
#define NEAR(i, m, t, l) \
	SUB  m, i, t \
	LSR  $16, t  \
	CBNZ t, l

#include "encode_arm64.h"
