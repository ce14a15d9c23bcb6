// The length of a match. Each kernel includes this file once, where the next bytes are to be compared, and defines:
//
//	HERE, THERE   indexes of the next byte at the position and at the candidate; both move on to the bytes that differ
//	LIMIT         index where a match must end
//	REST          scratch
//
// SI is the address of index 0. X0 to X3 are overwritten.

	// 8 bytes, if they end at or before LIMIT. THERE is before HERE, so its bytes are in the input too.
count:
	LEAQ 8(HERE), REST
	CMPQ REST, LIMIT
	JHI  count1
	MOVQ (SI)(HERE*1), REST
	XORQ (SI)(THERE*1), REST
	JNZ  differ
	ADDQ $8, HERE
	ADDQ $8, THERE

	// Then 32 at once while they end there as well. Where they differ, the loop finds the byte 8 at a time.
	LEAQ 32(HERE), REST
	CMPQ REST, LIMIT
	JHI  count
	MOVOU (SI)(HERE*1), X0
	MOVOU (SI)(THERE*1), X1
	MOVOU 16(SI)(HERE*1), X2
	MOVOU 16(SI)(THERE*1), X3
	PCMPEQB X1, X0
	PCMPEQB X3, X2
	PAND X2, X0
	PMOVMSKB X0, REST
	CMPL REST, $0xffff
	JNE  count
	ADDQ $32, HERE
	ADDQ $32, THERE
	JMP  count

	// Less than 8 bytes before LIMIT: byte by byte.
count1:
	CMPQ HERE, LIMIT
	JCC  counted
	MOVB (SI)(HERE*1), REST
	CMPB REST, (SI)(THERE*1)
	JNE  counted
	INCQ HERE
	INCQ THERE
	JMP  count1

	// REST has the bits that differ; the lowest one is in the first byte that differs.
differ:
	TZCNTQ REST, REST
	SHRL $3, REST
	ADDQ REST, HERE
	ADDQ REST, THERE

counted:
