// Networks that the AVX2 kernels share, which use all sixteen registers, and stores.

// ROW stores a register to a row and prefetches the line of a later store. The hardware prefetcher predicts too few of
// them, especially if rows are not aligned, so that stores cross lines. This makes kernels up to twice as fast.
#define ROW(y, at, later) \
	VMOVDQU    y, at; \
	PREFETCHT0 later

// TRANSPOSE4 makes four planes of the elements of four bytes in Y0 to Y3: the mask in Y15 brings bytes of one
// significance together in each register, then words of one significance go to one register. Y4 to Y7 are lost.
#define TRANSPOSE4 \
	VPSHUFB     Y15, Y0, Y0; \
	VPSHUFB     Y15, Y1, Y1; \
	VPSHUFB     Y15, Y2, Y2; \
	VPSHUFB     Y15, Y3, Y3; \
	VPUNPCKLDQ  Y1, Y0, Y4; \
	VPUNPCKHDQ  Y1, Y0, Y5; \
	VPUNPCKLDQ  Y3, Y2, Y6; \
	VPUNPCKHDQ  Y3, Y2, Y7; \
	VPUNPCKLQDQ Y6, Y4, Y0; \
	VPUNPCKHQDQ Y6, Y4, Y1; \
	VPUNPCKLQDQ Y7, Y5, Y2; \
	VPUNPCKHQDQ Y7, Y5, Y3

// MASK8 applies the mask in Y15 to the elements of eight bytes in Y0 to Y7, and TRANSPOSE8 makes eight planes of them.
#define MASK8 \
	VPSHUFB Y15, Y0, Y0; \
	VPSHUFB Y15, Y1, Y1; \
	VPSHUFB Y15, Y2, Y2; \
	VPSHUFB Y15, Y3, Y3; \
	VPSHUFB Y15, Y4, Y4; \
	VPSHUFB Y15, Y5, Y5; \
	VPSHUFB Y15, Y6, Y6; \
	VPSHUFB Y15, Y7, Y7

// TRANSPOSE8 transposes the 8x8 matrix of words in each lane of Y0 to Y7 to Y8 to Y15.
#define TRANSPOSE8 \
	VPUNPCKLWD  Y1, Y0, Y8; \
	VPUNPCKHWD  Y1, Y0, Y9; \
	VPUNPCKLWD  Y3, Y2, Y10; \
	VPUNPCKHWD  Y3, Y2, Y11; \
	VPUNPCKLWD  Y5, Y4, Y12; \
	VPUNPCKHWD  Y5, Y4, Y13; \
	VPUNPCKLWD  Y7, Y6, Y14; \
	VPUNPCKHWD  Y7, Y6, Y15; \
	VPUNPCKLDQ  Y10, Y8, Y0; \
	VPUNPCKHDQ  Y10, Y8, Y1; \
	VPUNPCKLDQ  Y14, Y12, Y2; \
	VPUNPCKHDQ  Y14, Y12, Y3; \
	VPUNPCKLDQ  Y11, Y9, Y4; \
	VPUNPCKHDQ  Y11, Y9, Y5; \
	VPUNPCKLDQ  Y15, Y13, Y6; \
	VPUNPCKHDQ  Y15, Y13, Y7; \
	VPUNPCKLQDQ Y2, Y0, Y8; \
	VPUNPCKHQDQ Y2, Y0, Y9; \
	VPUNPCKLQDQ Y3, Y1, Y10; \
	VPUNPCKHQDQ Y3, Y1, Y11; \
	VPUNPCKLQDQ Y6, Y4, Y12; \
	VPUNPCKHQDQ Y6, Y4, Y13; \
	VPUNPCKLQDQ Y7, Y5, Y14; \
	VPUNPCKHQDQ Y7, Y5, Y15

// INTERLEAVE8 takes 16 bytes of eight rows in each lane of Y0 to Y7 and leaves two elements of eight bytes in each lane
// of Y8 to Y15, in their order.
#define INTERLEAVE8 \
	VPUNPCKLBW Y1, Y0, Y8; \
	VPUNPCKHBW Y1, Y0, Y9; \
	VPUNPCKLBW Y3, Y2, Y10; \
	VPUNPCKHBW Y3, Y2, Y11; \
	VPUNPCKLBW Y5, Y4, Y12; \
	VPUNPCKHBW Y5, Y4, Y13; \
	VPUNPCKLBW Y7, Y6, Y14; \
	VPUNPCKHBW Y7, Y6, Y15; \
	VPUNPCKLWD Y10, Y8, Y0; \
	VPUNPCKHWD Y10, Y8, Y1; \
	VPUNPCKLWD Y11, Y9, Y2; \
	VPUNPCKHWD Y11, Y9, Y3; \
	VPUNPCKLWD Y14, Y12, Y4; \
	VPUNPCKHWD Y14, Y12, Y5; \
	VPUNPCKLWD Y15, Y13, Y6; \
	VPUNPCKHWD Y15, Y13, Y7; \
	VPUNPCKLDQ Y4, Y0, Y8; \
	VPUNPCKHDQ Y4, Y0, Y9; \
	VPUNPCKLDQ Y5, Y1, Y10; \
	VPUNPCKHDQ Y5, Y1, Y11; \
	VPUNPCKLDQ Y6, Y2, Y12; \
	VPUNPCKHDQ Y6, Y2, Y13; \
	VPUNPCKLDQ Y7, Y3, Y14; \
	VPUNPCKHDQ Y7, Y3, Y15

// SPLIT16 joins the saved columns 0 to 7 of two elements in each lane with the columns 8 to 15 in y. It stores the
// elements of the lower lanes and keeps those of the upper lanes on the stack.
#define SPLIT16(save, y, upper0, upper1) \
	VMOVDQU      save, Y0; \
	VPUNPCKLQDQ  y, Y0, Y1; \
	VPUNPCKHQDQ  y, Y0, Y2; \
	VMOVDQU      X1, (DI); \
	VMOVDQU      X2, (DI)(R13*1); \
	VEXTRACTI128 $1, Y1, upper0; \
	VEXTRACTI128 $1, Y2, upper1; \
	LEAQ         (DI)(R13*2), DI

// UPPER16 stores two of the elements that SPLIT16 kept.
#define UPPER16(upper0, upper1) \
	VMOVDQU upper0, X1; \
	VMOVDQU upper1, X2; \
	VMOVDQU X1, (DI); \
	VMOVDQU X2, (DI)(R13*1); \
	LEAQ    (DI)(R13*2), DI
