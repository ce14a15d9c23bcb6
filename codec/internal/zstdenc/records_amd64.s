//go:build amd64 && !purego

#include "go_asm.h"
#include "textflag.h"

// STATE encodes a code with a machine, as type transition describes: it adds the low bits of the state to R8, as many
// as the transition says, and replaces the state by the next one, which depends on its other bits and the code. It
// changes AX to DX. The loads stay inside the machine: codes are less than maxCodes, and the machine has states for
// each code of the records, so that the sum of the state's other bits and place is an index of next.
#define STATE(code, machine, state) \
	MOVBLZX code(SI), AX                    \
	MOVQ    machine_code(machine)(AX*8), BX \
	LEAL    (state)(BX*1), CX               \
	SHRL    $16, CX                         \
	BZHIL   CX, state, DX                   \
	SHRXL   CX, state, state                \
	SHLXQ   R9, DX, DX                      \
	ORQ     DX, R8                          \
	ADDL    CX, R9                          \
	SHRQ    $32, BX                         \
	ADDL    BX, state                       \
	MOVWLZX machine_next(machine)(state*2), state

// FLUSH writes the 8 bytes of R8 and moves DI by the bytes that are whole. The others are written again by the next
// FLUSH. Less than 8 bits remain in R8, of at most 63. It changes AX.
#define FLUSH \
	MOVQ  R8, (DI)   \
	MOVL  R9, AX     \
	SHRL  $3, AX     \
	ADDQ  AX, DI     \
	ANDL  $7, R9     \
	SHLL  $3, AX     \
	SHRXQ AX, R8, R8

// func recordsKernel(r *sequenceRun)
//
// recordsKernel writes records, at least one, the last one first. Its Go version is sequenceRun.runGeneric.
//
// A record takes at most 26 bits for the three states and 63 for its rest, which is less than 12 bytes. blockRoom,
// the length of the output, counts 12 bytes for each sequence.
//
// Registers:
//
//	SI             the record
//	DI             where the next byte goes
//	R8, R9         the bits that are not written, from the low end on, and their number
//	R10, R11, R12  the machines of literal lengths, offsets and match lengths
//	R13, R14, R15  their states
//	AX to DX       scratch
TEXT ·recordsKernel(SB), NOSPLIT, $8-8
	// SI is the end of the records, which have 16 bytes each.
	MOVQ r+0(FP), AX
	MOVQ sequenceRun_records(AX), SI
	MOVQ SI, first-8(SP)
	MOVQ sequenceRun_records+8(AX), CX
	SHLQ $4, CX
	ADDQ CX, SI

	// The output and the bits that are not written, the machines and their states.
	MOVQ (sequenceRun_bits+bitWriter_dst)(AX), DI
	ADDQ (sequenceRun_bits+bitWriter_at)(AX), DI
	MOVQ (sequenceRun_bits+bitWriter_word)(AX), R8
	MOVQ (sequenceRun_bits+bitWriter_n)(AX), R9
	MOVQ sequenceRun_machines+0(AX), R10
	MOVQ sequenceRun_machines+8(AX), R11
	MOVQ sequenceRun_machines+16(AX), R12
	MOVL sequenceRun_states+0(AX), R13
	MOVL sequenceRun_states+4(AX), R14
	MOVL sequenceRun_states+8(AX), R15

	// The three states of a record: at most 26 bits, after at most 7.
next:
	SUBQ $record__size, SI
	STATE(record_offset, R11, R14)
	STATE(record_length, R12, R15)
	STATE(record_literals, R10, R13)

	// The rest: at most fewBits bits fit into R8 as it is.
	MOVBLZX record_bits(SI), CX
	MOVQ record_rest(SI), DX
	CMPL CX, $const_fewBits
	JHI  many

add:
	SHLXQ R9, DX, DX
	ORQ  DX, R8
	ADDL CX, R9
	FLUSH
	CMPQ SI, first-8(SP)
	JHI  next

	// Store the bit writer and the states.
	MOVQ r+0(FP), AX
	SUBQ (sequenceRun_bits+bitWriter_dst)(AX), DI
	MOVQ DI, (sequenceRun_bits+bitWriter_at)(AX)
	MOVQ R8, (sequenceRun_bits+bitWriter_word)(AX)
	MOVQ R9, (sequenceRun_bits+bitWriter_n)(AX)
	MOVL R13, sequenceRun_states+0(AX)
	MOVL R14, sequenceRun_states+4(AX)
	MOVL R15, sequenceRun_states+8(AX)
	RET

	// A long rest, as in bitWriter.addRest: after a flush there is room for 56 bits. Of more than 56, 32 bits go first.
many:
	FLUSH
	CMPL CX, $56
	JLS  add
	MOVL DX, BX
	SHLXQ R9, BX, BX
	ORQ  BX, R8
	ADDL $32, R9
	FLUSH
	SHRQ $32, DX
	SUBL $32, CX
	JMP  add
