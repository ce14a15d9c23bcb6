//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// Of a match, as the format has it.
#define maxDistance 65535

// Local variables.
#define anchor     0(SP)  // index of the first literal not yet written
#define srcSafe    8(SP)  // sequences from beyond this index are left to Go
#define matchLimit 16(SP) // index up to which a match may go
#define outSafe    24(SP) // address up to which there is room for 64 bytes
#define outEnd     32(SP) // address of the end of the output
#define steps      40(SP)

// func smallAsm(b *block, table *[1 << smallBits]uint16) (result int)
//
// It does what encodeGeneric does with smallFactor and smallShift, except for sequences near the ends. The registers
// are listed in encode_amd64.h. Indexes fit 16 bits, because base plus the length of the input is at most 1<<16 (see
// Encode).
TEXT ·smallAsm(SB), NOSPLIT, $48-24
	MOVQ $const_smallFactor, R14

#define HASH(r) \
	IMULQ R14, r \
	SHRQ  $const_smallShift, r
#define SWAP(h, i, r) \
	MOVWLZX (R11)(h*2), r \
	MOVW    i, (R11)(h*2)
#define PUT(h, i)        MOVW i, (R11)(h*2)
#define CLAMP(r) \
	CMPL    r, R12 \
	CMOVLCS R12, r
#define NEAR(i, m, t, l)

#include "encode_amd64.h"

#undef HASH
#undef SWAP
#undef PUT
#undef CLAMP
#undef NEAR

// func largeAsm(b *block, table *[1 << smallBits]uint32) (result int)
//
// It does what encodeGeneric does with largeFactor and largeShift. Encode clears the table and base is 0, so every
// entry is an index of the input, and only the distance can be too great.
TEXT ·largeAsm(SB), NOSPLIT, $48-24
	MOVQ $const_largeFactor, R14

#define HASH(r) \
	IMULQ R14, r \
	SHRQ  $const_largeShift, r
#define SWAP(h, i, r) \
	MOVL (R11)(h*4), r \
	MOVL i, (R11)(h*4)
#define PUT(h, i)        MOVL i, (R11)(h*4)
#define CLAMP(r)
#define NEAR(i, m, t, l) \
	MOVQ i, t                 \
	SUBQ m, t                 \
	CMPQ t, $maxDistance      \
	JHI  l

#include "encode_amd64.h"
