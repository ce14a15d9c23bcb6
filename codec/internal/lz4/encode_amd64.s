//go:build amd64 && !purego

#include "textflag.h"

// What both functions begin with: the registers that encode_amd64.h tells of.
#define SETUP \
	MOVQ dst_base+0(FP), DI; \
	MOVQ dst_len+8(FP), R10; \
	ADDQ DI, R10; \
	MOVQ src_base+24(FP), SI; \
	MOVQ src_len+32(FP), R9; \
	LEAQ -5(R9), AX; \
	MOVQ AX, last-16(SP); \
	SUBQ $11, R9; \
	MOVQ table+48(FP), R8; \
	MOVQ acceleration+56(FP), AX; \
	SHLQ $6, AX; \
	MOVQ AX, tries-8(SP)

// A table of 8192 entries of 16 bits, by a hash of 4 bytes.
#define HASH IMULL R14, AX; SHRL $19, AX
#define LOOKUP MOVWLZX (R8)(AX*2), R13; MOVW R12, (R8)(AX*2)
#define ENTER MOVW DX, (R8)(AX*2)
#define TOO_FAR(x)

// func encodeSmall(dst, src []byte, table *[8192]uint16, acceleration int) (out, anchor int)
TEXT ·encodeSmall(SB), NOSPLIT, $16-80
	SETUP
	MOVL $2654435761, R14

#include "encode_amd64.h"
	MOVQ DI, out+64(FP)
	MOVQ R11, anchor+72(FP)
	RET

#undef HASH
#undef LOOKUP
#undef ENTER
#undef TOO_FAR

// A table of 4096 entries of 32 bits, by a hash of 5 bytes.
#define HASH SHLQ $24, AX; IMULQ R14, AX; SHRQ $52, AX
#define LOOKUP MOVL (R8)(AX*4), R13; MOVL R12, (R8)(AX*4)
#define ENTER MOVL DX, (R8)(AX*4)
#define TOO_FAR(x) MOVQ R12, AX; SUBQ R13, AX; CMPQ AX, $65535; JHI x

// func encodeLarge(dst, src []byte, table *[4096]uint32, acceleration int) (out, anchor int)
TEXT ·encodeLarge(SB), NOSPLIT, $16-80
	SETUP
	MOVQ $889523592379, R14

#include "encode_amd64.h"
	MOVQ DI, out+64(FP)
	MOVQ R11, anchor+72(FP)
	RET
