//go:build amd64 && !purego

#include "go_asm.h"
#include "length_amd64.h"
#include "textflag.h"

// ROOT sets slot to the number of the root for the bytes that are k after the position. DX is the low half of prime,
// and CX is finder.shift: the hash is the one of func hash for 4 bytes, for which 32 bits suffice.
#define ROOT(k, slot) \
	MOVL  k(SI)(R10*1), slot \
	IMULL DX, slot           \
	SHRL  CX, slot

// FETCH fetches what the comparison with the node in CX will need: its bytes and its branches. Any value is allowed,
// because a prefetch of an address that does not exist does nothing. It changes CX.
#define FETCH \
	PREFETCHT0 (SI)(CX*1) \
	ANDL       R9, CX     \
	PREFETCHT0 (R8)(CX*8)

// Local variables.
#define blockEnd end-8(SP) // the index where the block ends

// func descendKernel(f *finder, at int, node, lowest uint32, best, reach int) (int, int)
//
// descendKernel goes down the tree from a node and puts the position in its place, at the root. Its Go version is
// finder.descendGeneric. Most of its time would go to waiting for nodes that are not in the cache, so it fetches the
// roots that later positions need, and both branches of each node before it knows which one comes next.
//
// Positions are indexes here, as in the tree: the position in the input plus base.
//
// Registers:
//
//	SI         the address of index 0
//	R8, R9     the tree and its mask
//	R10        the position
//	R11        the index where the longest match ends
//	R12, R13   the addresses of the branches where the next smaller and the next larger node belong
//	R14, R15   the index up to which these are equal to the position
//	DI         how many nodes may still be compared
//	BX         the node
//	BP         the address of its branches
//	DX         the address from where the node has the index of the position
//	AX         the index up to which the node is equal
//	CX         scratch
//
// Nodes are older positions, so their bytes end before those of the position. The mask keeps branches inside the tree.
TEXT ·descendKernel(SB), NOSPLIT, $8-56
	// The position and the tree.
	MOVQ f+0(FP), DI
	MOVQ finder_src(DI), SI
	MOVL finder_base(DI), AX
	SUBQ AX, SI
	MOVQ at+8(FP), R10
	ADDQ AX, R10
	ADDQ finder_src+8(DI), AX
	MOVQ AX, blockEnd
	MOVQ finder_tree(DI), R8
	MOVL finder_mask(DI), R9

	// Fetch the slot of the root for the position 16 bytes on, and the root for the one 8 bytes on, whose slot was
	// fetched 8 positions ago. Near the end of the block there are no such positions.
	LEAQ 20(R10), CX
	CMPQ CX, AX
	JHI  begin
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
	MOVL R10, R12
	ANDL R9, R12
	LEAQ (R8)(R12*8), R12
	LEAQ 4(R12), R13
	MOVQ R10, R14
	MOVQ R10, R15
	MOVQ best+24(FP), R11
	ADDQ R10, R11
	MOVL node+16(FP), BX
	MOVQ finder_tries(DI), DI

	// Nodes below lowest are not in the tree any more.
next:
	CMPL BX, lowest+20(FP)
	JCS  done
	MOVL BX, BP
	ANDL R9, BP
	LEAQ (R8)(BP*8), BP
	MOVL (BP), CX
	FETCH
	MOVL 4(BP), CX
	FETCH

	// All nodes between two others are equal to the position as far as both of these. Compare from there.
	MOVQ R14, AX
	CMPQ R15, AX
	CMOVQLT R15, AX
	LEAQ (SI)(BX*1), DX
	SUBQ R10, DX
	LENGTH(DX, more, near, last, differ, known)
	CMPQ AX, R11
	JGT  longer

	// The first byte that differs decides on which side the node belongs, and which branch has the next one. If all
	// bytes up to the end of the block are equal, the order is unknown.
order:
	CMPQ AX, blockEnd
	JEQ  done
	MOVBLZX (DX)(AX*1), CX
	CMPB CX, (SI)(AX*1)
	JCC  larger
	MOVL BX, (R12)
	LEAQ 4(BP), R12
	MOVQ AX, R14
	MOVL 4(BP), BX
	DECQ DI
	JNE  next
	JMP  done

larger:
	MOVL BX, (R13)
	MOVQ BP, R13
	MOVQ AX, R15
	MOVL (BP), BX
	DECQ DI
	JNE  next
	JMP  done

	// This is the longest match so far. Note how far its source reaches in the input: to its end less the distance.
longer:
	MOVQ AX, R11
	MOVQ DX, CX
	ADDQ AX, CX
	MOVQ f+0(FP), AX
	SUBQ finder_src(AX), CX
	CMPQ CX, reach+32(FP)
	JLE  store
	MOVQ CX, reach+32(FP)

	// Append its length and distance to the matches, if these are needed.
store:
	MOVQ at+8(FP), CX
	CMPQ CX, finder_skipped(AX)
	JLT  stored
	MOVQ finder_found+8(AX), CX
	INCQ finder_found+8(AX)
	MOVQ finder_found(AX), AX
	LEAQ (AX)(CX*8), AX
	MOVL R11, CX
	SUBL R10, CX
	MOVL CX, candidate_length(AX)
	MOVL R10, CX
	SUBL BX, CX
	MOVL CX, candidate_distance(AX)

stored:
	MOVQ R11, AX
	JMP  order

	// There are no more nodes on either side.
done:
	MOVL $0, (R12)
	MOVL $0, (R13)
	SUBQ R10, R11
	MOVQ R11, ret+40(FP)
	MOVQ reach+32(FP), AX
	MOVQ AX, ret1+48(FP)
	VZEROUPPER
	RET
