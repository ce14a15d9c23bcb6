// LENGTH moves AX from the index up to which a match was compared to the index where the match ends: at the first byte
// at SI+AX that differs from the byte at bias+AX, or at the end of the block. The other arguments are labels of the
// caller's choice. It changes CX and Y0. Its Go twin is matchLength.
//
// Most matches are short, so 8 bytes are compared first. If these are equal, 32 at a time follow (more) while the block
// has as many, then 8 at a time (near), then bytes (last). At differ, CX has a bit set in each byte that differs.
//
// All loads at SI+AX end at blockEnd at the latest, which is checked before each of them. bias is less than SI, so the
// loads at bias+AX end before that.
#define LENGTH(bias, more, near, last, differ, done) \
	LEAQ      8(AX), CX           \
	CMPQ      CX, blockEnd        \
	JHI       last                \
	MOVQ      (SI)(AX*1), CX      \
	XORQ      (bias)(AX*1), CX    \
	JNZ       differ              \
	ADDQ      $8, AX              \
more:                             \
	LEAQ      32(AX), CX          \
	CMPQ      CX, blockEnd        \
	JHI       near                \
	VMOVDQU   (SI)(AX*1), Y0      \
	VPCMPEQB  (bias)(AX*1), Y0, Y0 \
	VPMOVMSKB Y0, CX              \
	ADDQ      $32, AX             \
	XORL      $-1, CX             \
	JZ        more                \
	TZCNTL    CX, CX              \
	LEAQ      -32(AX)(CX*1), AX   \
	JMP       done                \
near:                             \
	LEAQ      8(AX), CX           \
	CMPQ      CX, blockEnd        \
	JHI       last                \
	MOVQ      (SI)(AX*1), CX      \
	XORQ      (bias)(AX*1), CX    \
	JNZ       differ              \
	ADDQ      $8, AX              \
	JMP       near                \
last:                             \
	CMPQ      AX, blockEnd        \
	JCC       done                \
	MOVB      (SI)(AX*1), CX      \
	CMPB      CX, (bias)(AX*1)    \
	JNE       done                \
	INCQ      AX                  \
	JMP       last                \
differ:                           \
	TZCNTQ    CX, CX              \
	SHRQ      $3, CX              \
	ADDQ      CX, AX              \
done:
