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
	huffman huffmanTable // unless id is 0
	tables  [3]table     // unless id is 0
	repeats [3]uint32
}

const dictMagic = 0xec30a437

// parseDictionary reads a dictionary, which must not be empty, into dict:
//
//	magic number | identifier | Huffman code | tables of offsets, match and literal lengths | three offsets | content
func (d *Decoder) parseDictionary(dict *dictionary, b []byte) error {
	if len(b) < 8 || binary.LittleEndian.Uint32(b) != dictMagic {
		dict.id, dict.content, dict.repeats = 0, b, [3]uint32{1, 4, 8}
		return nil
	}
	dict.id = binary.LittleEndian.Uint32(b[4:])
	if dict.id == 0 {
		return errDictionary
	}
	n, err := d.readHuffman(&dict.huffman, b, 8, len(b))
	if err != nil {
		return err
	}
	b = b[n:]
	for _, i := range [3]int{matchOffsets, matchLengths, literalLengths} {
		n, err := d.readTable(&dict.tables[i], i, b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	if len(b) < 12 {
		return errDictionary
	}
	dict.content = b[12:]
	for i := range dict.repeats {
		offset := binary.LittleEndian.Uint32(b[4*i:])
		if offset == 0 || uint64(offset) > uint64(len(dict.content)) {
			return errDictionary
		}
		dict.repeats[i] = offset
	}
	return nil
}

// begin sets the decoder up for a frame with the dictionary.
func (dict *dictionary) begin(d *Decoder) {
	d.repeats = dict.repeats
	if dict.id == 0 {
		return
	}
	d.huffman = &dict.huffman
	for i := range d.tables {
		d.tables[i] = &dict.tables[i]
	}
}
