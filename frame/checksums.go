package frame

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// checksumLayer is the name of the variable-length metalayer that holds the checksums of a frame.
const checksumLayer = "b2crc32c"

// checksumSet has the checksums of a state, except those of its chunks, which are in its index. They never change.
type checksumSet struct {
	index  uint32
	meta   map[uint32]uint32 // by the CRC-32C of the name
	vlmeta map[uint32]uint32
	stale  []byte // checksums of the chunks of another index; nil if they are those of the stored index
	fault  error  // why they are stale
}

// checksumRecord is the content of the metalayer. See the package comment.
type checksumRecord struct {
	Version int    `msgpack:"version"`
	Index   uint32 `msgpack:"index"`
	Meta    []byte `msgpack:"meta"`
	VLMeta  []byte `msgpack:"vlmeta"`
	Chunks  []byte `msgpack:"chunks"`
}

// kept reports whether the frame keeps checksums of all chunks. c may be nil.
func (c *checksumSet) kept() bool { return c != nil && c.stale == nil }

// unpackChecksums reads pairs of the checksum of a name and that of a content.
func unpackChecksums(b []byte) map[uint32]uint32 {
	m := map[uint32]uint32{}
	for ; len(b) >= 8; b = b[8:] {
		m[binary.LittleEndian.Uint32(b)] = binary.LittleEndian.Uint32(b[4:])
	}
	return m
}

func packChecksums(m map[uint32]uint32) []byte {
	b := []byte{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		b = binary.LittleEndian.AppendUint32(b, name)
		b = binary.LittleEndian.AppendUint32(b, m[name])
	}
	return b
}

// seal adds or replaces the metalayer with the checksums in a state whose index has the stored bytes b.
func (s *snapshot) seal(b []byte, p *coder.Pool) error {
	if s.checksums == nil {
		return nil
	}
	c := *s.checksums
	r := checksumRecord{Version: 1, Meta: packChecksums(c.meta), VLMeta: packChecksums(c.vlmeta)}
	if c.stale == nil {
		c.index = crc32c.Checksum(b)
		r.Chunks = make([]byte, 0, 4*len(s.index.checksums))
		for _, sum := range s.index.checksums {
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
	stored, err := p.Encode(nil, content, coder.Params{Level: codec.NoCompression})
	if err != nil {
		return err
	}
	s.checksums = &c
	s.vlmeta = withLayer(s.vlmeta, checksumLayer, stored)
	return nil
}

// withLayer returns layers with the content of one replaced, or with one more.
func withLayer(layers []meta.Layer, name string, content []byte) []meta.Layer {
	layers = slices.Clone(layers)
	if i := findLayer(layers, name); i >= 0 {
		layers[i].Content = content
		return layers
	}
	return append(layers, meta.Layer{Name: name, Content: content})
}

// noteLayer records the checksum of a metalayer, or of a variable-length one.
func (s *snapshot) noteLayer(variable bool, name string, content []byte) {
	if s.checksums == nil {
		return
	}
	c := *s.checksums
	m := &c.meta
	if variable {
		m = &c.vlmeta
	}
	if *m = maps.Clone(*m); *m == nil {
		*m = map[uint32]uint32{}
	}
	(*m)[crc32c.Checksum([]byte(name))] = crc32c.Checksum(content)
	s.checksums = &c
}

// forgetVLMeta removes the checksum of a variable-length metalayer, or for checksumLayer all checksums.
func (s *snapshot) forgetVLMeta(name string) {
	switch {
	case s.checksums == nil:
	case name == checksumLayer:
		s.checksums, s.index.checksums = nil, nil
	default:
		c := *s.checksums
		c.vlmeta = maps.Clone(c.vlmeta)
		delete(c.vlmeta, crc32c.Checksum([]byte(name)))
		s.checksums = &c
	}
}

// intact reports whether the stored bytes b of chunk i match its checksum, if it has one.
func (s *snapshot) intact(i int, b []byte) bool {
	return s.index.checksums == nil || s.index.list[i] < 0 || s.index.checksums[i] == crc32c.Checksum(b)
}
