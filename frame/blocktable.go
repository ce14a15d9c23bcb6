package frame

import (
	"context"
	"encoding/binary"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/meta"
)

// chunkBlocks is the part of a blockTable of one chunk: the position of the first block, and the sizes of all.
type chunkBlocks []byte

// first returns the number of bytes before the first block.
func (c chunkBlocks) first() int64 { return int64(binary.LittleEndian.Uint32(c)) }

func (c chunkBlocks) numBlocks() int { return len(c)/4 - 1 }

func (c chunkBlocks) size(k int) int64 { return int64(binary.LittleEndian.Uint32(c[4+4*k:])) }

// end returns the number of bytes of the chunk.
func (c chunkBlocks) end() int64 {
	n := c.first()
	for k := range c.numBlocks() {
		n += c.size(k)
	}
	return n
}

// ranges returns the stored bytes of all blocks of a chunk.
func (c chunkBlocks) ranges() []ranges.Range {
	list := make([]ranges.Range, c.numBlocks())
	off := c.first()
	for k := range list {
		list[k] = ranges.Range{Off: off, Len: c.size(k)}
		off += c.size(k)
	}
	return list
}

// tableOf returns what the block table of s says of chunk i, or nil. It decodes the table when first called. A table
// for another number of blocks than the chunk is likely to have is wrong. It could be of any length.
func (f *Frame) tableOf(s *snapshot, i int) chunkBlocks {
	t := &s.table
	t.load.Do(func() { t.blocks, t.at = f.readTable(s) })
	if i >= len(t.at) {
		return nil
	}
	b := t.blocks[4*t.at[i]:]
	n := int(binary.LittleEndian.Uint32(b))
	size := s.likelyBlock(i)
	if size == 0 || int64(n) != (s.chunkLen(i)-1)/int64(size)+1 || coder.HeaderSize+4*int64(n) > maxHead {
		return nil
	}
	return chunkBlocks(b[4 : 8+4*n])
}

// likelyBlock returns the size of the blocks of chunk i if it was encoded with the parameters in the header, or 0.
func (s *snapshot) likelyBlock(i int) int {
	n := s.chunkLen(i)
	if n <= 0 || s.blockSize > 0 {
		return int(min(max(n, 0), int64(s.blockSize)))
	}
	size, err := s.cparams().BlockSizeFor(int(n))
	if err != nil {
		return 0
	}
	return size
}

// readTable decodes the block table. A table that cannot be used is as good as none.
func (f *Frame) readTable(s *snapshot) (blocks []byte, at []uint32) {
	i := findLayer(s.vlmeta, blockLayer)
	if i < 0 || s.index.list == nil {
		return nil, nil
	}
	content := s.vlmeta[i].Content
	h, err := coder.ParseHeader(content, int64(len(content)))
	if err != nil || h.NBytes > 4*maxTable+100 || f.checkAlloc(int64(h.NBytes)) != nil {
		return nil, nil
	}
	b, err := f.plain.Decode(nil, content)
	if err != nil {
		return nil, nil
	}
	var r tableRecord
	if err := meta.Unmarshal(b, &r); err != nil || r.Version != 1 {
		return nil, nil
	}
	rest := r.Blocks
	for range s.index.n {
		if len(rest) < 4 {
			return nil, nil
		}
		at = append(at, uint32((len(r.Blocks)-len(rest))/4))
		n := int64(binary.LittleEndian.Uint32(rest))
		if rest = rest[4:]; n == 0 {
			continue
		}
		if int64(len(rest)) < 4+4*n {
			return nil, nil
		}
		rest = rest[4+4*n:]
	}
	return r.Blocks, at
}

// maxTable is the largest number of elements of a block table.
const maxTable = 1 << 24

// tableRecord is the content of the metalayer. Blocks has little-endian uint32 elements. For each chunk, in order, it
// has the number of blocks, and, unless that is 0, the position of the first block in the chunk and the stored bytes of
// each block, which follow each other. The number is 0 for special values and chunks that are not stored in that way.
type tableRecord struct {
	Version int    `msgpack:"version"`
	Blocks  []byte `msgpack:"blocks"`
}

// blockNotes are the elements in a block table of the chunks that a batch has written. A Storage need not be readable
// before the first commit, so they come from the bytes that are written.
type blockNotes map[entry][]byte

// add adds an encoded chunk, unless n is nil.
func (n blockNotes) add(e entry, c []byte) {
	if n != nil {
		n[e] = tableElements(c)
	}
}

// table returns the block table of an index as it is stored, or nil if it would be too long.
func (n blockNotes) table(ctx context.Context, x *index, p *coder.Pool) ([]byte, error) {
	var blocks []byte
	for i := range x.n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e := n[x.at(i)]; e != nil {
			blocks = append(blocks, e...)
		} else {
			blocks = binary.LittleEndian.AppendUint32(blocks, 0)
		}
		if len(blocks) > 4*maxTable {
			return nil, nil
		}
	}
	content, err := meta.Marshal(tableRecord{Version: 1, Blocks: blocks})
	if err != nil {
		return nil, err
	}
	return p.Encode(nil, content, tableParams())
}

// tableParams returns the parameters with which a block table is compressed.
func tableParams() coder.Params {
	return coder.Params{TypeSize: 4, Codec: codec.Zstd, Level: 5}
}

// tableElements returns the elements of an encoded chunk in a block table, or nil if its blocks cannot be located.
func tableElements(c []byte) []byte {
	var r coder.Reader
	if _, err := r.Locate(c, int64(len(c))); err != nil || !r.Located() {
		return nil
	}
	n := r.NumBlocks()
	at, _ := r.BlockRange(0)
	list := make([]byte, 0, 4*(n+2))
	list = binary.LittleEndian.AppendUint32(list, uint32(n))
	list = binary.LittleEndian.AppendUint32(list, uint32(at))
	for k := range n {
		from, to := r.BlockRange(k)
		if from != at {
			return nil // written in another order
		}
		list = binary.LittleEndian.AppendUint32(list, uint32(to-from))
		at = to
	}
	return list
}
