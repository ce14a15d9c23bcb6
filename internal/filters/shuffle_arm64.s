//go:build arm64 && !purego

#include "textflag.h"

// NEON kernels that move bytes between elements and rows, 16 elements per iteration.
//
// The structure loads and stores of NEON do most of it. For a width of 2, 3 or 4, one VLD2, VLD3 or VLD4 of bytes takes
// elements apart into rows, and VST2, VST3 or VST4 puts them together. For a width of 8, VLD4 of two bytes gives pairs
// of rows; VUZP1 and VUZP2 take the even and the odd bytes of two such registers, which are 16 bytes of one row each.
// For a width of 16, VLD4 of four bytes gives fours of rows, and taking even and odd bytes twice separates them. VZIP1
// and VZIP2, which interleave, undo VUZP1 and VUZP2.
//
//  R0, R1   next byte of dst, src
//  R2       length of a row
//  R3       elements left
//  R5       offset in a row other than the first


// func gather2NEON(dst *byte, rowLen int, src *byte, n int)
//
// It is gatherAll for a width of 2. gatherVector has checked that src has n elements and dst all rows.
TEXT ·gather2NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD rowLen+8(FP), R2
	MOVD src+16(FP), R1
	MOVD n+24(FP), R3

	// 16 elements, the bytes of each column to a register.
gather:
	VLD2.P 32(R1), [V0.B16, V1.B16]

	// 16 bytes to each row.
	MOVD R0, R5
	ADD  $16, R0
	VST1 [V0.B16], (R5)
	ADD  R2, R5
	VST1 [V1.B16], (R5)
	SUBS $16, R3, R3
	BNE  gather
	RET

// func scatter2NEON(dst, src *byte, rowLen, n int)
//
// It is scatterAll for a width of 2. scatterVector has checked that dst has n elements and src all rows.
TEXT ·scatter2NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD rowLen+16(FP), R2
	MOVD n+24(FP), R3

	// 16 bytes of each row.
scatter:
	MOVD R1, R5
	ADD  $16, R1
	VLD1 (R5), [V0.B16]
	ADD  R2, R5
	VLD1 (R5), [V1.B16]

	// Store 16 elements.
	VST2.P [V0.B16, V1.B16], 32(R0)
	SUBS $16, R3, R3
	BNE  scatter
	RET

// func gather3NEON(dst *byte, rowLen int, src *byte, n int)
//
// It is gatherAll for a width of 3. gatherVector has checked that src has n elements and dst all rows.
TEXT ·gather3NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD rowLen+8(FP), R2
	MOVD src+16(FP), R1
	MOVD n+24(FP), R3

	// 16 elements, the bytes of each column to a register.
gather:
	VLD3.P 48(R1), [V0.B16, V1.B16, V2.B16]

	// 16 bytes to each row.
	MOVD R0, R5
	ADD  $16, R0
	VST1 [V0.B16], (R5)
	ADD  R2, R5
	VST1 [V1.B16], (R5)
	ADD  R2, R5
	VST1 [V2.B16], (R5)
	SUBS $16, R3, R3
	BNE  gather
	RET

// func scatter3NEON(dst, src *byte, rowLen, n int)
//
// It is scatterAll for a width of 3. scatterVector has checked that dst has n elements and src all rows.
TEXT ·scatter3NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD rowLen+16(FP), R2
	MOVD n+24(FP), R3

	// 16 bytes of each row.
scatter:
	MOVD R1, R5
	ADD  $16, R1
	VLD1 (R5), [V0.B16]
	ADD  R2, R5
	VLD1 (R5), [V1.B16]
	ADD  R2, R5
	VLD1 (R5), [V2.B16]

	// Store 16 elements.
	VST3.P [V0.B16, V1.B16, V2.B16], 48(R0)
	SUBS $16, R3, R3
	BNE  scatter
	RET

// func gather4NEON(dst *byte, rowLen int, src *byte, n int)
//
// It is gatherAll for a width of 4. gatherVector has checked that src has n elements and dst all rows.
TEXT ·gather4NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD rowLen+8(FP), R2
	MOVD src+16(FP), R1
	MOVD n+24(FP), R3

	// 16 elements, the bytes of each column to a register.
gather:
	VLD4.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]

	// 16 bytes to each row.
	MOVD R0, R5
	ADD  $16, R0
	VST1 [V0.B16], (R5)
	ADD  R2, R5
	VST1 [V1.B16], (R5)
	ADD  R2, R5
	VST1 [V2.B16], (R5)
	ADD  R2, R5
	VST1 [V3.B16], (R5)
	SUBS $16, R3, R3
	BNE  gather
	RET

// func scatter4NEON(dst, src *byte, rowLen, n int)
//
// It is scatterAll for a width of 4. scatterVector has checked that dst has n elements and src all rows.
TEXT ·scatter4NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD rowLen+16(FP), R2
	MOVD n+24(FP), R3

	// 16 bytes of each row.
scatter:
	MOVD R1, R5
	ADD  $16, R1
	VLD1 (R5), [V0.B16]
	ADD  R2, R5
	VLD1 (R5), [V1.B16]
	ADD  R2, R5
	VLD1 (R5), [V2.B16]
	ADD  R2, R5
	VLD1 (R5), [V3.B16]

	// Store 16 elements.
	VST4.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0)
	SUBS $16, R3, R3
	BNE  scatter
	RET

// func gather8NEON(dst *byte, rowLen int, src *byte, n int)
//
// It is gatherAll for a width of 8. gatherVector has checked that src has n elements and dst all rows.
TEXT ·gather8NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD rowLen+8(FP), R2
	MOVD src+16(FP), R1
	MOVD n+24(FP), R3

	// 16 elements, the bytes of each column to a register.
gather:
	VLD4.P 64(R1), [V0.H8, V1.H8, V2.H8, V3.H8]
	VLD4.P 64(R1), [V4.H8, V5.H8, V6.H8, V7.H8]

	// VUZP1 and VUZP2 separate pairs of columns.
	VUZP1 V4.B16, V0.B16, V16.B16
	VUZP2 V4.B16, V0.B16, V17.B16
	VUZP1 V5.B16, V1.B16, V18.B16
	VUZP2 V5.B16, V1.B16, V19.B16
	VUZP1 V6.B16, V2.B16, V20.B16
	VUZP2 V6.B16, V2.B16, V21.B16
	VUZP1 V7.B16, V3.B16, V22.B16
	VUZP2 V7.B16, V3.B16, V23.B16

	// 16 bytes to each row.
	MOVD R0, R5
	ADD  $16, R0
	VST1 [V16.B16], (R5)
	ADD  R2, R5
	VST1 [V17.B16], (R5)
	ADD  R2, R5
	VST1 [V18.B16], (R5)
	ADD  R2, R5
	VST1 [V19.B16], (R5)
	ADD  R2, R5
	VST1 [V20.B16], (R5)
	ADD  R2, R5
	VST1 [V21.B16], (R5)
	ADD  R2, R5
	VST1 [V22.B16], (R5)
	ADD  R2, R5
	VST1 [V23.B16], (R5)
	SUBS $16, R3, R3
	BNE  gather
	RET

// func scatter8NEON(dst, src *byte, rowLen, n int)
//
// It is scatterAll for a width of 8. scatterVector has checked that dst has n elements and src all rows.
TEXT ·scatter8NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD rowLen+16(FP), R2
	MOVD n+24(FP), R3

	// 16 bytes of each row.
scatter:
	MOVD R1, R5
	ADD  $16, R1
	VLD1 (R5), [V16.B16]
	ADD  R2, R5
	VLD1 (R5), [V17.B16]
	ADD  R2, R5
	VLD1 (R5), [V18.B16]
	ADD  R2, R5
	VLD1 (R5), [V19.B16]
	ADD  R2, R5
	VLD1 (R5), [V20.B16]
	ADD  R2, R5
	VLD1 (R5), [V21.B16]
	ADD  R2, R5
	VLD1 (R5), [V22.B16]
	ADD  R2, R5
	VLD1 (R5), [V23.B16]

	// The steps of gather in the opposite order: VZIP1 and VZIP2 make pairs of columns.
	VZIP1 V17.B16, V16.B16, V0.B16
	VZIP2 V17.B16, V16.B16, V4.B16
	VZIP1 V19.B16, V18.B16, V1.B16
	VZIP2 V19.B16, V18.B16, V5.B16
	VZIP1 V21.B16, V20.B16, V2.B16
	VZIP2 V21.B16, V20.B16, V6.B16
	VZIP1 V23.B16, V22.B16, V3.B16
	VZIP2 V23.B16, V22.B16, V7.B16

	// Store 16 elements.
	VST4.P [V0.H8, V1.H8, V2.H8, V3.H8], 64(R0)
	VST4.P [V4.H8, V5.H8, V6.H8, V7.H8], 64(R0)
	SUBS $16, R3, R3
	BNE  scatter
	RET

// func gather16NEON(dst *byte, rowLen int, src *byte, n int)
//
// It is gatherAll for a width of 16. gatherVector has checked that src has n elements and dst all rows.
TEXT ·gather16NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD rowLen+8(FP), R2
	MOVD src+16(FP), R1
	MOVD n+24(FP), R3

	// 16 elements, the bytes of each column to a register.
gather:
	VLD4.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD4.P 64(R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD4.P 64(R1), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD4.P 64(R1), [V12.S4, V13.S4, V14.S4, V15.S4]

	// VUZP1 and VUZP2, twice, separate fours of columns: registers j, 4+j, 8+j and 12+j get columns 4*j to 4*j+3.
	VUZP1 V4.B16, V0.B16, V16.B16
	VUZP1 V12.B16, V8.B16, V17.B16
	VUZP2 V4.B16, V0.B16, V18.B16
	VUZP2 V12.B16, V8.B16, V19.B16
	VUZP1 V17.B16, V16.B16, V0.B16
	VUZP1 V19.B16, V18.B16, V4.B16
	VUZP2 V17.B16, V16.B16, V8.B16
	VUZP2 V19.B16, V18.B16, V12.B16
	VUZP1 V5.B16, V1.B16, V20.B16
	VUZP1 V13.B16, V9.B16, V21.B16
	VUZP2 V5.B16, V1.B16, V22.B16
	VUZP2 V13.B16, V9.B16, V23.B16
	VUZP1 V21.B16, V20.B16, V1.B16
	VUZP1 V23.B16, V22.B16, V5.B16
	VUZP2 V21.B16, V20.B16, V9.B16
	VUZP2 V23.B16, V22.B16, V13.B16
	VUZP1 V6.B16, V2.B16, V24.B16
	VUZP1 V14.B16, V10.B16, V25.B16
	VUZP2 V6.B16, V2.B16, V26.B16
	VUZP2 V14.B16, V10.B16, V27.B16
	VUZP1 V25.B16, V24.B16, V2.B16
	VUZP1 V27.B16, V26.B16, V6.B16
	VUZP2 V25.B16, V24.B16, V10.B16
	VUZP2 V27.B16, V26.B16, V14.B16
	VUZP1 V7.B16, V3.B16, V28.B16
	VUZP1 V15.B16, V11.B16, V29.B16
	VUZP2 V7.B16, V3.B16, V30.B16
	VUZP2 V15.B16, V11.B16, V31.B16
	VUZP1 V29.B16, V28.B16, V3.B16
	VUZP1 V31.B16, V30.B16, V7.B16
	VUZP2 V29.B16, V28.B16, V11.B16
	VUZP2 V31.B16, V30.B16, V15.B16

	// 16 bytes to each row.
	MOVD R0, R5
	ADD  $16, R0
	VST1 [V0.B16], (R5)
	ADD  R2, R5
	VST1 [V4.B16], (R5)
	ADD  R2, R5
	VST1 [V8.B16], (R5)
	ADD  R2, R5
	VST1 [V12.B16], (R5)
	ADD  R2, R5
	VST1 [V1.B16], (R5)
	ADD  R2, R5
	VST1 [V5.B16], (R5)
	ADD  R2, R5
	VST1 [V9.B16], (R5)
	ADD  R2, R5
	VST1 [V13.B16], (R5)
	ADD  R2, R5
	VST1 [V2.B16], (R5)
	ADD  R2, R5
	VST1 [V6.B16], (R5)
	ADD  R2, R5
	VST1 [V10.B16], (R5)
	ADD  R2, R5
	VST1 [V14.B16], (R5)
	ADD  R2, R5
	VST1 [V3.B16], (R5)
	ADD  R2, R5
	VST1 [V7.B16], (R5)
	ADD  R2, R5
	VST1 [V11.B16], (R5)
	ADD  R2, R5
	VST1 [V15.B16], (R5)
	SUBS $16, R3, R3
	BNE  gather
	RET

// func scatter16NEON(dst, src *byte, rowLen, n int)
//
// It is scatterAll for a width of 16. scatterVector has checked that dst has n elements and src all rows.
TEXT ·scatter16NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD rowLen+16(FP), R2
	MOVD n+24(FP), R3

	// 16 bytes of each row.
scatter:
	MOVD R1, R5
	ADD  $16, R1
	VLD1 (R5), [V0.B16]
	ADD  R2, R5
	VLD1 (R5), [V4.B16]
	ADD  R2, R5
	VLD1 (R5), [V8.B16]
	ADD  R2, R5
	VLD1 (R5), [V12.B16]
	ADD  R2, R5
	VLD1 (R5), [V1.B16]
	ADD  R2, R5
	VLD1 (R5), [V5.B16]
	ADD  R2, R5
	VLD1 (R5), [V9.B16]
	ADD  R2, R5
	VLD1 (R5), [V13.B16]
	ADD  R2, R5
	VLD1 (R5), [V2.B16]
	ADD  R2, R5
	VLD1 (R5), [V6.B16]
	ADD  R2, R5
	VLD1 (R5), [V10.B16]
	ADD  R2, R5
	VLD1 (R5), [V14.B16]
	ADD  R2, R5
	VLD1 (R5), [V3.B16]
	ADD  R2, R5
	VLD1 (R5), [V7.B16]
	ADD  R2, R5
	VLD1 (R5), [V11.B16]
	ADD  R2, R5
	VLD1 (R5), [V15.B16]

	// The steps of gather in the opposite order: VZIP1 and VZIP2, twice, make fours of columns.
	VZIP1 V8.B16, V0.B16, V16.B16
	VZIP2 V8.B16, V0.B16, V17.B16
	VZIP1 V12.B16, V4.B16, V18.B16
	VZIP2 V12.B16, V4.B16, V19.B16
	VZIP1 V18.B16, V16.B16, V0.B16
	VZIP2 V18.B16, V16.B16, V4.B16
	VZIP1 V19.B16, V17.B16, V8.B16
	VZIP2 V19.B16, V17.B16, V12.B16
	VZIP1 V9.B16, V1.B16, V20.B16
	VZIP2 V9.B16, V1.B16, V21.B16
	VZIP1 V13.B16, V5.B16, V22.B16
	VZIP2 V13.B16, V5.B16, V23.B16
	VZIP1 V22.B16, V20.B16, V1.B16
	VZIP2 V22.B16, V20.B16, V5.B16
	VZIP1 V23.B16, V21.B16, V9.B16
	VZIP2 V23.B16, V21.B16, V13.B16
	VZIP1 V10.B16, V2.B16, V24.B16
	VZIP2 V10.B16, V2.B16, V25.B16
	VZIP1 V14.B16, V6.B16, V26.B16
	VZIP2 V14.B16, V6.B16, V27.B16
	VZIP1 V26.B16, V24.B16, V2.B16
	VZIP2 V26.B16, V24.B16, V6.B16
	VZIP1 V27.B16, V25.B16, V10.B16
	VZIP2 V27.B16, V25.B16, V14.B16
	VZIP1 V11.B16, V3.B16, V28.B16
	VZIP2 V11.B16, V3.B16, V29.B16
	VZIP1 V15.B16, V7.B16, V30.B16
	VZIP2 V15.B16, V7.B16, V31.B16
	VZIP1 V30.B16, V28.B16, V3.B16
	VZIP2 V30.B16, V28.B16, V7.B16
	VZIP1 V31.B16, V29.B16, V11.B16
	VZIP2 V31.B16, V29.B16, V15.B16

	// Store 16 elements.
	VST4.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST4.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	VST4.P [V8.S4, V9.S4, V10.S4, V11.S4], 64(R0)
	VST4.P [V12.S4, V13.S4, V14.S4, V15.S4], 64(R0)
	SUBS $16, R3, R3
	BNE  scatter
	RET
