package zstd

import (
	"encoding/binary"
	"errors"
)

var errDictionary = errors.New("invalid dictionary")

// dictionary is the state of a frame before its first block.
type dictionary struct {
	id      uint32 // 0 for content only
	content []byte
	huffman *huffmanTable
	tables  [3]*table
	repeats [3]uint32
}

const dictMagic = 0xec30a437

// parseDictionary reads a dictionary, which must not be empty:
//
//	magic number | identifier | Huffman code | tables of offsets, match and literal lengths | three offsets | content
func (d *Decoder) parseDictionary(b []byte) (*dictionary, error) {
	if len(b) < 8 || binary.LittleEndian.Uint32(b) != dictMagic {
		return &dictionary{content: b, repeats: [3]uint32{1, 4, 8}}, nil
	}
	dict := &dictionary{id: binary.LittleEndian.Uint32(b[4:]), huffman: new(huffmanTable)}
	if dict.id == 0 {
		return nil, errDictionary
	}
	n, err := d.readHuffman(dict.huffman, b, 8, len(b))
	if err != nil {
		return nil, err
	}
	b = b[n:]
	for _, i := range [3]int{matchOffsets, matchLengths, literalLengths} {
		dict.tables[i] = new(table)
		n, err := d.readTable(dict.tables[i], i, b)
		if err != nil {
			return nil, err
		}
		b = b[n:]
	}
	if len(b) < 12 {
		return nil, errDictionary
	}
	dict.content = b[12:]
	for i := range dict.repeats {
		offset := binary.LittleEndian.Uint32(b[4*i:])
		if offset == 0 || uint64(offset) > uint64(len(dict.content)) {
			return nil, errDictionary
		}
		dict.repeats[i] = offset
	}
	return dict, nil
}

// begin sets the decoder up for a frame with the dictionary.
func (dict *dictionary) begin(d *Decoder) {
	d.huffman, d.tables, d.repeats = dict.huffman, dict.tables, dict.repeats
}
