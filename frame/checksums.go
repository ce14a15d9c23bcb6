package frame

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// ChecksumLayer is the name of the variable-length metalayer that holds the checksums of a frame.
const ChecksumLayer = "b2crc32c"

// checksums are those of a state, but for those of its chunks, which are in its index. They never change.
type checksums struct {
	index  uint32
	meta   map[uint32]uint32 // by the CRC-32C of the name
	vlmeta map[uint32]uint32
	stale  []byte // of the chunks of another index than the one that is stored; nil when they are of this one
	fault  error  // why they are stale
}

// sumsRecord is the content of the metalayer. See the package comment.
type sumsRecord struct {
	Version int    `msgpack:"version"`
	Index   uint32 `msgpack:"index"`
	Meta    []byte `msgpack:"meta"`
	VLMeta  []byte `msgpack:"vlmeta"`
	Chunks  []byte `msgpack:"chunks"`
}

// kept tells whether there are checksums for all chunks. c may be nil.
func (c *checksums) kept() bool { return c != nil && c.stale == nil }

// unpackSums reads pairs of the checksum of a name and that of a content.
func unpackSums(b []byte) map[uint32]uint32 {
	m := map[uint32]uint32{}
	for ; len(b) >= 8; b = b[8:] {
		m[binary.LittleEndian.Uint32(b)] = binary.LittleEndian.Uint32(b[4:])
	}
	return m
}

func packSums(m map[uint32]uint32) []byte {
	b := []byte{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		b = binary.LittleEndian.AppendUint32(b, name)
		b = binary.LittleEndian.AppendUint32(b, m[name])
	}
	return b
}

// seal puts the metalayer with the checksums among those of a state whose index is stored as b.
func (s *snapshot) seal(b []byte, p *coder.Pool) error {
	if s.sums == nil {
		return nil
	}
	c := *s.sums
	r := sumsRecord{Version: 1, Meta: packSums(c.meta), VLMeta: packSums(c.vlmeta)}
	if c.stale == nil {
		c.index = crc32c.Checksum(b)
		r.Chunks = make([]byte, 0, 4*len(s.index.sums))
		for _, sum := range s.index.sums {
			r.Chunks = binary.LittleEndian.AppendUint32(r.Chunks, sum)
		}
	} else {
		r.Chunks = c.stale
	}
	r.Index = c.index
	content, err := meta.Marshal(r)
	if err != nil {
		return err
	}
	stored, err := p.Encode(nil, content, coder.CParams{Level: chunk.NoCompression})
	if err != nil {
		return err
	}
	s.sums = &c
	s.vlmeta = withLayer(s.vlmeta, ChecksumLayer, stored)
	return nil
}

// withLayer returns layers with another content of one, or with one more.
func withLayer(layers []meta.Layer, name string, content []byte) []meta.Layer {
	layers = slices.Clone(layers)
	if i := findLayer(layers, name); i >= 0 {
		layers[i].Content = content
		return layers
	}
	return append(layers, meta.Layer{Name: name, Content: content})
}

// noteLayer changes the checksum of a metalayer, or of a variable-length one.
func (s *snapshot) noteLayer(variable bool, name string, content []byte) {
	if s.sums == nil {
		return
	}
	c := *s.sums
	m := &c.meta
	if variable {
		m = &c.vlmeta
	}
	if *m = maps.Clone(*m); *m == nil {
		*m = map[uint32]uint32{}
	}
	(*m)[crc32c.Checksum([]byte(name))] = crc32c.Checksum(content)
	s.sums = &c
}

// forgetVLMeta takes the checksum of a variable-length metalayer away; with ChecksumLayer, all.
func (s *snapshot) forgetVLMeta(name string) {
	switch {
	case s.sums == nil:
	case name == ChecksumLayer:
		s.sums, s.index.sums = nil, nil
	default:
		c := *s.sums
		c.vlmeta = maps.Clone(c.vlmeta)
		delete(c.vlmeta, crc32c.Checksum([]byte(name)))
		s.sums = &c
	}
}

// sound tells whether chunk i, which is stored as b, is what its checksum was made for, if it has one.
func (s *snapshot) sound(i int, b []byte) bool {
	return s.index.sums == nil || s.index.list[i] < 0 || s.index.sums[i] == crc32c.Checksum(b)
}
