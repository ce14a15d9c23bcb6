//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// ROOT sets slot to the number of the root for the bytes that are k after the position. DX is the low half of prime,
// and CX is finder.shift: the hash is the one of func hash for 4 bytes, for which 32 bits suffice.
#define ROOT(k, slot) \
	MOVL  k(R10), slot \
	IMULL DX, slot     \
	SHRL  CX, slot

// FETCH fetches what comparing the node in CX will need: its bytes and its branches. Any value is allowed, because a
// prefetch of an address that does not exist does nothing. It changes CX.
#define FETCH \
	PREFETCHT0 (SI)(CX*1) \
	ANDL       R9, CX     \
	PREFETCHT0 (R8)(CX*8)

// Local variables.
#define branches pair-8(SP) // the address of the branches of the node, while a match is stored

// func descendKernel(f *finder, at int, node, lowest uint32, best, reach int) (int, int)
//
// descendKernel goes down the tree from a node and makes position at its root. Its Go version is
// finder.descendGeneric. Most of its time would go to waiting for nodes that are not in the cache, so it fetches the
// roots that later positions need, and both branches of each node before it knows which one comes next.
//
// Registers:
//
//	SI         the address of the byte whose position plus base is 0, for nodes, which are positions plus base
//	R8, R9     the tree and its mask
//	R10        the address of the position
//	R11        the number of bytes from there to the end of the block, less 8
//	R12, R13   the addresses of the branches where the next smaller and the next larger node belong
//	R14, R15   the number of bytes that these have in common with the position
//	DI         how many nodes may still be compared
//	BX         the node
//	AX         the address of its branches
//	DX         the address of its bytes
//	CX         the number of bytes that it has in common with the position
//	BP         scratch
//
// Nodes are older positions, so the loads from DX end before those from R10, which end at the end of the block at the
// latest: at least 8 bytes before it for a load of 8 bytes. The mask keeps branches inside the tree.
TEXT ·descendKernel(SB), NOSPLIT, $8-56
	// The position and the tree.
	MOVQ f+0(FP), DI
	MOVQ finder_src(DI), SI
	MOVQ finder_src+8(DI), R11
	MOVQ at+8(FP), R10
	SUBQ R10, R11
	SUBQ $8, R11
	ADDQ SI, R10
	MOVL finder_base(DI), AX
	SUBQ AX, SI
	MOVQ finder_tree(DI), R8
	MOVL finder_mask(DI), R9

	// Fetch the slot of the root for the position 16 bytes on, and the root for the one 8 bytes on, whose slot was
	// fetched 8 positions ago. Near the end of the block there are no such positions.
	CMPQ R11, $12
	JLT  begin
	MOVQ finder_shift(DI), CX
	MOVQ finder_roots(DI), BX
	MOVL $(const_prime&0xffffffff), DX
	ROOT(16, AX)
	PREFETCHT0 (BX)(AX*4)
	ROOT(8, AX)
	MOVL (BX)(AX*4), CX
	FETCH

	// The branches of the position are the first to be set.
begin:
	MOVQ R10, R12
	SUBQ SI, R12
	ANDL R9, R12
	LEAQ (R8)(R12*8), R12
	LEAQ 4(R12), R13
	XORL R14, R14
	XORL R15, R15
	MOVL node+16(FP), BX
	MOVQ finder_tries(DI), DI

	// Nodes below lowest are not in the tree any more.
next:
	CMPL BX, lowest+20(FP)
	JCS  done
	MOVL BX, AX
	ANDL R9, AX
	LEAQ (R8)(AX*8), AX
	MOVL (AX), CX
	FETCH
	MOVL 4(AX), CX
	FETCH

	// All nodes between two others have as many bytes in common as these two. Compare from there: 8 bytes at a time,
	// then single bytes at the end of the block.
	MOVQ R14, CX
	CMPQ R15, CX
	CMOVQLT R15, CX
	LEAQ (SI)(BX*1), DX

words:
	CMPQ CX, R11
	JGT  bytes
	MOVQ (R10)(CX*1), BP
	XORQ (DX)(CX*1), BP
	JNE  differ
	ADDQ $8, CX
	JMP  words

differ:
	TZCNTQ BP, BP
	SHRQ   $3, BP
	ADDQ   BP, CX
	JMP    known

bytes:
	LEAQ 8(R11), BP
	CMPQ CX, BP
	JEQ  whole
	MOVBLZX (R10)(CX*1), BP
	CMPB BP, (DX)(CX*1)
	JNE  known
	INCQ CX
	JMP  bytes

	// The first byte that differs decides on which side the node belongs, and which branch has the next one.
known:
	CMPQ CX, best+24(FP)
	JGT  longer

order:
	MOVBLZX (DX)(CX*1), BP
	CMPB BP, (R10)(CX*1)
	JCC  larger
	MOVL BX, (R12)
	LEAQ 4(AX), R12
	MOVQ CX, R14
	MOVL 4(AX), BX
	DECQ DI
	JNE  next
	JMP  done

larger:
	MOVL BX, (R13)
	MOVQ AX, R13
	MOVQ CX, R15
	MOVL (AX), BX
	DECQ DI
	JNE  next
	JMP  done

	// All bytes up to the end of the block are equal, so the order is unknown.
whole:
	CMPQ CX, best+24(FP)
	JLE  done

	// This is the longest match so far. Note how far its source reaches.
longer:
	MOVQ CX, best+24(FP)
	MOVQ AX, branches
	MOVQ f+0(FP), BP
	MOVQ DX, AX
	ADDQ CX, AX
	SUBQ finder_src(BP), AX
	CMPQ AX, reach+32(FP)
	JLE  store
	MOVQ AX, reach+32(FP)

	// Append its length and distance to the matches, if these are needed.
store:
	MOVQ at+8(FP), AX
	CMPQ AX, finder_skipped(BP)
	JLT  stored
	MOVQ finder_found+8(BP), AX
	INCQ finder_found+8(BP)
	MOVQ finder_found(BP), BP
	LEAQ (BP)(AX*8), BP
	MOVL CX, candidate_length(BP)
	MOVQ R10, AX
	SUBQ DX, AX
	MOVL AX, candidate_distance(BP)

stored:
	MOVQ branches, AX
	LEAQ 8(R11), BP
	CMPQ CX, BP
	JNE  order

	// There are no more nodes on either side.
done:
	MOVL $0, (R12)
	MOVL $0, (R13)
	MOVQ best+24(FP), AX
	MOVQ AX, ret+40(FP)
	MOVQ reach+32(FP), AX
	MOVQ AX, ret1+48(FP)
	RET
