package frame

import (
	"context"
	"encoding/binary"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

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
