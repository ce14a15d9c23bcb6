// Package blocktable encodes and decodes the block table of a frame: the positions of the blocks of each chunk. The
// comment of package frame describes the format.
package blocktable

import (
	"context"
	"encoding/binary"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/meta"
)

// MaxLen is the largest number of elements of a table.
const MaxLen = 1 << 24

// Record is the content of the metalayer. Blocks has little-endian uint32 elements. For each chunk, in order, it has
// the number of blocks, and, unless that is 0, the position of the first block in the chunk and the stored bytes of
// each block, which follow each other. The number is 0 for special values and chunks that are not stored in that way.
type Record struct {
	Version int    `msgpack:"version"`
	Blocks  []byte `msgpack:"blocks"`
}

// Params returns the parameters with which a Record is compressed.
func Params() coder.Params {
	return coder.Params{TypeSize: 4, Codec: codec.Zstd, Level: 5}
}

// Notes are the elements of a table for the chunks that a batch wrote, by index entry. They are recorded when a chunk
// is written, because a Storage need not be readable before the first commit.
type Notes[K comparable] map[K][]byte

// Add adds an encoded chunk.
func (n Notes[K]) Add(key K, c []byte) { n[key] = elements(c) }

// Encode returns the table of an index as it is stored, or nil if it would be too long.
func (n Notes[K]) Encode(ctx context.Context, index []K, p *coder.Pool) ([]byte, error) {
	var blocks []byte
	for _, key := range index {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e := n[key]; e != nil {
			blocks = append(blocks, e...)
		} else {
			blocks = binary.LittleEndian.AppendUint32(blocks, 0)
		}
		if len(blocks) > 4*MaxLen {
			return nil, nil
		}
	}
	content, err := meta.Marshal(Record{Version: 1, Blocks: blocks})
	if err != nil {
		return nil, err
	}
	return p.Encode(nil, content, Params())
}

// elements returns the elements of an encoded chunk in a table, or nil if its blocks cannot be located.
func elements(c []byte) []byte {
	var r coder.Reader
	if _, err := r.Locate(c, int64(len(c))); err != nil || !r.Located() {
		return nil
	}
	n := r.NumBlocks
	at, _ := r.BlockRange(0)
	list := make([]byte, 0, 4*(n+2))
	list = binary.LittleEndian.AppendUint32(list, uint32(n))
	list = binary.LittleEndian.AppendUint32(list, uint32(at))
	for k := range n {
		from, to := r.BlockRange(k)
		if from != at {
			return nil // blocks in another order
		}
		list = binary.LittleEndian.AppendUint32(list, uint32(to-from))
		at = to
	}
	return list
}

// Table is a decoded table. The zero Table has no chunks.
type Table struct {
	blocks []byte   // as in Record
	at     []uint32 // number of the first element of each chunk
}

// Decode decodes the content of the metalayer of a frame with a number of chunks. For content that cannot be used it
// returns an empty Table.
func Decode(content []byte, chunks int) Table {
	var r Record
	if err := meta.Unmarshal(content, &r); err != nil || r.Version != 1 {
		return Table{}
	}
	var at []uint32
	rest := r.Blocks
	for range chunks {
		if len(rest) < 4 {
			return Table{}
		}
		at = append(at, uint32((len(r.Blocks)-len(rest))/4))
		n := int64(binary.LittleEndian.Uint32(rest))
		if rest = rest[4:]; n == 0 {
			continue
		}
		if int64(len(rest)) < 4+4*n {
			return Table{}
		}
		rest = rest[4+4*n:]
	}
	return Table{r.Blocks, at}
}

// Chunk returns the part of the table for chunk i, or nil.
func (t *Table) Chunk(i int) Chunk {
	if i >= len(t.at) {
		return nil
	}
	b := t.blocks[4*t.at[i]:]
	n := int(binary.LittleEndian.Uint32(b))
	if n == 0 {
		return nil
	}
	return Chunk(b[4 : 8+4*n])
}

// Chunk is the part of a Table for one chunk: the position of the first block, and the sizes of all blocks.
type Chunk []byte

// First returns the number of bytes before the first block.
func (c Chunk) First() int64 { return int64(binary.LittleEndian.Uint32(c)) }

// NumBlocks returns the number of blocks.
func (c Chunk) NumBlocks() int { return len(c)/4 - 1 }

func (c Chunk) size(k int) int64 { return int64(binary.LittleEndian.Uint32(c[4+4*k:])) }

// End returns the number of bytes of the chunk.
func (c Chunk) End() int64 {
	n := c.First()
	for k := range c.NumBlocks() {
		n += c.size(k)
	}
	return n
}

// Ranges returns the stored bytes of all blocks.
func (c Chunk) Ranges() []ranges.Range {
	list := make([]ranges.Range, c.NumBlocks())
	off := c.First()
	for k := range list {
		list[k] = ranges.Range{Off: off, Len: c.size(k)}
		off += c.size(k)
	}
	return list
}
