package attack

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// layerSums returns pairs of the checksums of the name and of the content of layers.
func layerSums(layers []meta.Layer) []byte {
	b := []byte{}
	for _, l := range layers {
		if l.Name != checksumLayer {
			b = binary.LittleEndian.AppendUint32(b, crc([]byte(l.Name)))
			b = binary.LittleEndian.AppendUint32(b, crc(l.Content))
		}
	}
	return b
}

// resign makes the checksums of a frame match, if it has some. index is the stored index.
func (m *model) resign(index []byte) error {
	k := layer(m.vl, checksumLayer)
	if k < 0 {
		return nil
	}
	sums := []byte{}
	for _, e := range m.entries {
		var sum uint32
		if e.piece >= 0 {
			sum = crc(storedChunk(m.pieces[e.piece]))
		}
		sums = binary.LittleEndian.AppendUint32(sums, sum)
	}
	if h, err := chunk.ParseHeader(index, int64(len(index))); err == nil && h.Special != chunk.Regular {
		sums = []byte{} // a uniform index
	}
	record := meta.Map{
		{Key: "version", Value: 1}, {Key: "index", Value: int64(crc(index))},
		{Key: "meta", Value: layerSums(m.layers)}, {Key: "vlmeta", Value: layerSums(m.vl)}, {Key: "chunks", Value: sums},
	}
	if len(index) == 0 {
		record[1].Value = 0
	}
	content, err := meta.Marshal(record)
	if err != nil {
		return err
	}
	m.vl = slices.Clone(m.vl)
	m.vl[k].Content, err = chunk.Encode(nil, content, chunk.Params{Level: codec.NoCompression})
	return err
}

// hasRecord reports whether m has the checksums of the original as they are.
func (o *original) hasRecord(m *model) bool {
	i, k := layer(o.model.vl, checksumLayer), layer(m.vl, checksumLayer)
	return i >= 0 && k >= 0 && bytes.Equal(o.model.vl[i].Content, m.vl[k].Content)
}

// storedChunk returns the chunk at the start of b, or b if that is none.
func storedChunk(b []byte) []byte {
	if len(b) < 16 {
		return b
	}
	if n := binary.LittleEndian.Uint32(b[12:]); n <= uint32(len(b)) {
		return b[:n]
	}
	return b
}
