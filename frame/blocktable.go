package frame

import (
	"encoding/binary"

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
