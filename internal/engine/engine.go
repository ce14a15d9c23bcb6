// Package engine is the contract between package frame, which decodes and encodes blocks, and the plans of reads and
// writes. A plan knows where the items of a block come from or go to. The engine knows the bytes of the format.
//
// The engine asks a plan once per block. The plan answers with a Block, and the engine executes it.
package engine

import (
	"context"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/ndcopy"
)

// ReadPlan selects the blocks of a read.
//
// Next is called by one goroutine at a time. The other methods are called by several at the same time, once for each
// block of a visit, in no particular order.
type ReadPlan interface {
	// Next sets v to the next chunk, or returns false after the last one. v.Blocks has the memory of an earlier visit.
	Next(v *Visit) bool
	// Block answers about block k of a visited chunk, n bytes at offset at of the decoded chunk.
	Block(b *Block, v *Visit, k, at, n int)
	// Special takes a chunk that represents a special value, instead of its blocks. value is the item of a chunk.Value;
	// a chunk.NaNs has items of typeSize bytes. n is the decoded size of the chunk.
	Special(v *Visit, s chunk.Special, value []byte, typeSize, n int) error
}

// WritePlan selects the blocks of a write. Its methods are called like those of a ReadPlan, but Block may be called
// again for a block if the chunk must be encoded in another way. No chunk is visited twice.
type WritePlan interface {
	// Next sets v to the next chunk, or returns false after the last one. The number of chunks appends a chunk.
	Next(v *Visit) bool
	// Block answers about block k of a visited chunk, n bytes at offset at of the decoded chunk.
	Block(b *Block, v *Visit, k, at, n int)
}

// Waiter is a WritePlan whose functions wait for other data.
type Waiter interface {
	WritePlan
	// SetContext sets the context of this waiting, before the first call of Next. It ends when a part of the write has
	// failed.
	SetContext(ctx context.Context)
}

// Visit is one chunk of a read or write.
type Visit struct {
	Chunk  int     // chunk number
	Blocks []int32 // reading: the needed blocks, ascending; if empty, the blocks of [From, To)
	From   int     // reading: the needed bytes of the decoded chunk are [From, To); To = 0 for all
	To     int
	Keep   bool // writing: a part of the chunk is kept; otherwise the answers about its blocks need no Keep
	State  any  // for the plan; it is kept when the Visit is reused for another chunk
}

// StateOf returns the State of v, of type *T. If v has none, it sets it to a new one.
func StateOf[T any](v *Visit) *T {
	s, ok := v.State.(*T)
	if !ok {
		s = new(T)
		v.State = s
	}
	return s
}

// Block is the answer of a plan about a block.
//
// A read copies from the block to Data, and a write from Data to the block, as Copy specifies. If Copy is a single row
// of the whole block, the engine decodes into Data, or encodes from it, without a copy.
type Block struct {
	Data []byte
	Copy ndcopy.Copy

	// ItemSize is the size of an item, if rows and steps of Copy are whole items. Items may then be copied directly
	// from or to a shuffled block. Otherwise it is 0.
	ItemSize int
	// Need is the number of leading bytes of the block that a read needs. Decoding may stop after them.
	Need int
	// Keep is the part of the old block that a write keeps.
	Keep Keep
	// Mover moves the items instead of Data and Copy, unless it is nil. It serves plans whose moves are not a Copy:
	// items in any order, or computed items. A plan may reuse the Mover of one of its earlier answers. It must set the
	// field to nil if it needs none.
	Mover Mover

	spare Mover // the Mover of an earlier call, for MoverOf
}

// MoverOf sets b.Mover to a Mover of type M and returns it. It reuses that of an earlier answer, of this call or of an
// earlier one, if it has type M.
func MoverOf[T any, M interface {
	*T
	Mover
}](b *Block) M {
	if m, ok := b.Mover.(M); ok {
		return m
	}
	m, ok := b.spare.(M)
	if !ok {
		m = new(T)
	}
	b.Mover = m
	return m
}

// Reset drops the memory of the caller at the end of a call. It keeps the Mover for MoverOf if it is a Resetter.
func (b *Block) Reset() {
	if m, ok := b.Mover.(Resetter); ok {
		m.Reset()
		b.spare = b.Mover
	}
	b.Data, b.Mover = nil, nil
}

// Resetter is implemented by a Mover that MoverOf returns in later calls. Reset drops all memory of the caller.
type Resetter interface{ Reset() }

// Mover moves the items of one block.
type Mover interface {
	// Move takes the items of a decoded block, of which only the needed bytes are defined, or sets those of a block
	// to be written. If kept is set, block holds the old content. Otherwise its content is undefined and Move sets all.
	// A block that is written may be moved twice.
	Move(block []byte, kept bool) error
	// Unshuffle is Move for a block that is read and still shuffled. If Move is faster, it returns false.
	Unshuffle(block coder.Shuffled) bool
}

// Keep is the part of a block that a write keeps.
type Keep uint8

const (
	KeepNone Keep = iota // every item of the block is written
	KeepSome             // the write needs the old content
	KeepAll              // no item is written: the stored bytes may be copied
)

// Direct returns the part of Data that is the whole block of n bytes, or nil.
func (b *Block) Direct(n int) []byte {
	c := &b.Copy
	if b.Mover != nil || c.N > 0 || c.Width != n {
		return nil
	}
	at := c.Dst + c.Src // the offset in the block is 0
	return b.Data[at : at+n : at+n]
}

// Read moves the items from a decoded block.
func (b *Block) Read(block []byte) error {
	if b.Mover != nil {
		return b.Mover.Move(block, false)
	}
	b.Copy.Run(b.Data, block)
	return nil
}

// ReadShuffled is Read for a block that is still shuffled. If Read is faster, it does nothing and returns false.
func (b *Block) ReadShuffled(block coder.Shuffled) bool {
	size := block.Width
	switch {
	case b.ItemSize != size:
		return false
	case b.Mover != nil:
		return b.Mover.Unshuffle(block)
	case !block.RowsFaster(b.Copy.Bytes()/size, b.Copy.Width/size):
		return false
	}
	b.Copy.Unshuffle(b.Data, block)
	return true
}

// Write moves the items to a block. If kept is set, the block holds the old content. Otherwise its content is
// undefined.
func (b *Block) Write(block []byte, kept bool) error {
	if b.Mover != nil {
		return b.Mover.Move(block, kept)
	}
	if !kept && b.Copy.Bytes() < len(block) {
		clear(block) // the padding
	}
	b.Copy.Run(block, b.Data)
	return nil
}

// WriteShuffled is Write for a shuffled block without old content. If the write keeps old content or Write is faster,
// it does nothing and returns false.
func (b *Block) WriteShuffled(block coder.Shuffled) bool {
	if b.Keep != KeepNone || b.ItemSize != block.Width || b.Mover != nil || b.Copy.Width == 0 || b.Direct(len(block.Bytes)) != nil {
		return false
	}
	return b.Copy.Shuffle(block, b.Data)
}
