// LENGTH moves AX, the index up to which a match was compared, to where it ends: at the first byte that differs from that
// at bias+AX, or at the end of the block. It changes CX.
//
// Most matches are short: 8 bytes first, and where these are equal 32 at a time.
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
