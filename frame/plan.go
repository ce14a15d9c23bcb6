package frame

import (
	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
)

// Visit is one chunk that a Plan or a Source wants to have decoded or encoded.
type Visit struct {
	Chunk  int     // chunk number
	Blocks []int32 // the blocks wanted, ascending; empty = those of [From, To)
	From   int     // wanted bytes of the decoded chunk; To = 0 for all
	To     int
	State  any // the plan's own; kept with the Visit when it is used for another chunk
}

// Plan tells Decode which blocks to decode and takes them.
//
// Next is called by one goroutine at a time. The other methods are called by several at the same time, but at most
// once for each block of a visit. Blocks arrive in no particular order.
type Plan interface {
	// Blocks returns how many blocks are wanted in all, roughly: no more goroutines are started.
	Blocks() int64
	// BlockSize returns the decoded size that blocks must have, in bytes, or 0 when any will do.
	BlockSize() int
	// Next sets v to the next chunk and returns whether there is one. v.Blocks has the memory of an earlier visit.
	Next(v *Visit) bool
	// Place returns memory to decode block k into, n bytes that start at byte at of the decoded chunk, or nil: then
	// Block gets them in a buffer of the engine. Of these it also returns how many are wanted, from the first on: what
	// stands behind may be anything, as blocks whose format allows it are decoded no further.
	Place(v *Visit, k, at, n int) (place []byte, wanted int)
	// Block takes block k, for which Place returned nil. data is valid until it returns, and must not be changed. It has
	// the bytes of the whole block, of which those that Place wanted are set.
	Block(v *Visit, k, at int, data []byte) error
	// Special takes a chunk that stands for a special value, in place of all its blocks. value is the item of a
	// chunk.Value; a chunk.NaNs has items of typeSize bytes. n is the decoded size of the chunk.
	Special(v *Visit, s chunk.Special, value []byte, typeSize, n int) error
}

// RowPlan is a Plan that takes blocks for which Place returned nil while the bytes of their items still lie apart, to
// bring them together where they belong. It is asked only where that is the last step of decoding.
type RowPlan interface {
	Plan
	// Shuffled takes block k and returns true, or returns false: then Block gets it. data is valid until it returns; the
	// items are set that have a byte that Place wanted.
	Shuffled(v *Visit, k, at int, data coder.Shuffled) bool
}
