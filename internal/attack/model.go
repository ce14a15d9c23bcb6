package attack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
)

// fixedLen is the length of the fixed part of a frame header.
const fixedLen = 87

// Positions of fields in the fixed part of a frame header.
const (
	posHeaderLen = 11
	posFrameLen  = 16
	posFlags     = 25
	posNBytes    = 30
	posCBytes    = 39
	posTypeSize  = 48
	posBlockSize = 53
	posChunkSize = 58
	posHasVLMeta = 68
)

// entry is an entry of the index: the number of a stored piece, or the bits that are stored if there is none.
type entry struct {
	piece int // or -1
	raw   uint64
}

// model is a frame that is taken apart. build puts it together again.
type model struct {
	sparse  bool
	fixed   []byte       // the fixed part of the header; build sets its lengths
	layers  []meta.Layer // metalayers
	pieces  [][]byte     // stored chunks, and what lies between them, in the order of their positions
	ids     []uint64     // for sparse frames: the number of the file of each piece
	entries []entry
	index   []byte       // the index as it is stored; nil = encode entries. Empty if there is none
	vl      []meta.Layer // variable-length metalayers, with their chunks
	hole    int64        // bytes of a hole after the pieces
	sign    bool         // compute the checksums again
	noMeta  bool         // the frame has no chunk area and no index, as its size is 0
}

// be returns the big-endian integer of some bytes.
func be(b []byte) int64 {
	var x int64
	for _, c := range b {
		x = x<<8 | int64(c)
	}
	return x
}

var errModel = errors.New("attack: cannot take this frame apart")

// parse takes a valid frame apart. files are the chunk files of a sparse frame, by their number.
func parse(b []byte, files map[uint64][]byte) (*model, error) {
	if len(b) < fixedLen {
		return nil, errModel
	}
	m := &model{sparse: files != nil, fixed: slices.Clone(b[:fixedLen])}
	headerLen, frameLen := int(be(b[posHeaderLen:][:4])), int(be(b[posFrameLen:][:8]))
	cbytes, nbytes := int(be(b[posCBytes:][:8])), be(b[posNBytes:][:8])
	if headerLen < fixedLen || frameLen > len(b) || frameLen < headerLen+23 {
		return nil, errModel
	}
	trailerLen := int(be(b[frameLen-22:][:4]))
	if trailerLen > frameLen-headerLen {
		return nil, errModel
	}
	var err error
	if m.layers, err = meta.ParseHeader(b[:headerLen], fixedLen); err != nil {
		return nil, err
	}
	if m.vl, err = meta.ParseTrailer(b[frameLen-trailerLen : frameLen]); err != nil {
		return nil, err
	}
	if nbytes == 0 {
		m.noMeta = true
		return m, nil
	}
	at := headerLen + cbytes
	if m.sparse {
		at = headerLen
	}
	if at > frameLen-trailerLen {
		return nil, errModel
	}
	h, err := chunk.ParseHeader(b[at:], int64(frameLen-trailerLen-at))
	if err != nil {
		return nil, err
	}
	m.index = slices.Clone(b[at : at+h.CBytes])
	if h.NBytes > 1<<16 {
		return m, nil // a uniform index
	}
	raw, err := chunk.Decode(nil, m.index)
	if err != nil {
		return nil, err
	}
	if m.sparse {
		return m, m.splitFiles(raw, files)
	}
	return m, m.splitArea(raw, b[headerLen:at])
}

// splitFiles makes pieces of chunk files.
func (m *model) splitFiles(raw []byte, files map[uint64][]byte) error {
	for ; len(raw) >= 8; raw = raw[8:] {
		v := binary.LittleEndian.Uint64(raw)
		c, ok := files[v]
		if !ok {
			if int64(v) >= 0 {
				return errModel
			}
			m.entries = append(m.entries, entry{-1, v})
			continue
		}
		m.entries = append(m.entries, entry{len(m.pieces), 0})
		m.pieces, m.ids = append(m.pieces, slices.Clone(c)), append(m.ids, v)
	}
	return nil
}

// splitArea makes pieces of the chunks of a contiguous frame and of the bytes between them.
func (m *model) splitArea(raw, area []byte) error {
	type chunkAt struct{ off, size int }
	var list []chunkAt
	for i := 0; i+8 <= len(raw); i += 8 {
		v := int64(binary.LittleEndian.Uint64(raw[i:]))
		if v < 0 {
			continue
		}
		if v > int64(len(area)) {
			return errModel
		}
		h, err := chunk.ParseHeader(area[v:], int64(len(area))-v)
		if err != nil {
			return err
		}
		list = append(list, chunkAt{int(v), h.CBytes})
	}
	slices.SortFunc(list, func(a, b chunkAt) int { return a.off - b.off })
	pieceAt, pos := map[uint64]int{}, 0
	for _, c := range slices.Compact(list) {
		if c.off < pos {
			return errModel
		}
		if c.off > pos {
			m.pieces = append(m.pieces, slices.Clone(area[pos:c.off]))
		}
		pieceAt[uint64(c.off)] = len(m.pieces)
		m.pieces, pos = append(m.pieces, slices.Clone(area[c.off:c.off+c.size])), c.off+c.size
	}
	if pos < len(area) {
		m.pieces = append(m.pieces, slices.Clone(area[pos:]))
	}
	for ; len(raw) >= 8; raw = raw[8:] {
		v := binary.LittleEndian.Uint64(raw)
		if p, ok := pieceAt[v]; ok {
			m.entries = append(m.entries, entry{p, 0})
		} else {
			m.entries = append(m.entries, entry{-1, v})
		}
	}
	return nil
}

// stored returns the entries as they are stored.
func (m *model) stored() []uint64 {
	offs, off := make([]uint64, len(m.pieces)), uint64(0)
	for i, p := range m.pieces {
		if offs[i] = off; m.sparse {
			offs[i] = m.ids[i]
		}
		off += uint64(len(p))
	}
	list := make([]uint64, len(m.entries))
	for i, e := range m.entries {
		if list[i] = e.raw; e.piece >= 0 {
			list[i] = offs[e.piece] + e.raw // raw shifts it
		}
	}
	return list
}

// encodeIndex encodes the entries as a chunk.
func (m *model) encodeIndex() ([]byte, error) {
	var raw []byte
	for _, v := range m.stored() {
		raw = binary.LittleEndian.AppendUint64(raw, v)
	}
	return chunk.Encode(nil, raw, chunk.Params{TypeSize: 8, Codec: codec.BloscLZ})
}

// parts are the bytes of a frame: those before its hole, and those after.
type parts struct {
	head, tail []byte
	hole       int64
}

// size returns the number of bytes with the hole.
func (p *parts) size() int64 { return int64(len(p.head)) + p.hole + int64(len(p.tail)) }

// build puts a frame together, with lengths that are right.
func (m *model) build() (*parts, error) {
	index := m.index
	if index == nil {
		var err error
		if index, err = m.encodeIndex(); err != nil {
			return nil, err
		}
	}
	if m.noMeta {
		index = nil
	}
	if m.sign {
		if err := m.resign(index); err != nil {
			return nil, err
		}
	}
	head := appendSection(slices.Clone(m.fixed), m.layers, 0, 1)
	headerLen, cbytes := len(head), m.hole
	for _, p := range m.pieces {
		if cbytes += int64(len(p)); !m.sparse {
			head = append(head, p...)
		}
	}
	tail := append(slices.Clone(index), appendTrailer(m.vl)...)
	p := &parts{head: head, tail: tail, hole: m.hole}
	if m.sparse {
		p.hole = 0
	}
	binary.BigEndian.PutUint32(head[posHeaderLen:], uint32(headerLen))
	binary.BigEndian.PutUint64(head[posFrameLen:], uint64(p.size()))
	binary.BigEndian.PutUint64(head[posCBytes:], uint64(cbytes))
	head[posHasVLMeta] = 0xc2
	if len(m.vl) > 0 {
		head[posHasVLMeta] = 0xc3
	}
	return p, nil
}

// appendSection appends the section of some layers, which need not be valid. Positions count from base; the size of the
// map counts from the first marker if extra is 1.
func appendSection(dst []byte, layers []meta.Layer, base, extra int) []byte {
	size := 6 + extra
	for _, l := range layers {
		size += 6 + len(l.Name)
	}
	dst = append(dst, 0x93, 0xcd)
	dst = binary.BigEndian.AppendUint16(dst, uint16(size))
	dst = append(dst, 0xde)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(layers)))
	at := len(dst) + size - 6 - extra + 3 - base
	for _, l := range layers {
		dst = append(append(dst, 0xa0|byte(len(l.Name)&31)), l.Name...)
		dst = binary.BigEndian.AppendUint32(append(dst, 0xd2), uint32(at))
		at += 5 + len(l.Content)
	}
	dst = binary.BigEndian.AppendUint16(append(dst, 0xdc), uint16(len(layers)))
	for _, l := range layers {
		dst = append(binary.BigEndian.AppendUint32(append(dst, 0xc6), uint32(len(l.Content))), l.Content...)
	}
	return dst
}

func appendTrailer(layers []meta.Layer) []byte {
	b := appendSection([]byte{0x94, 1}, layers, 0, 0)
	b = binary.BigEndian.AppendUint32(append(b, 0xce), uint32(len(b)+23))
	return append(b, append([]byte{0xd8, 0}, make([]byte, 16)...)...)
}

// clone returns a copy that shares no memory.
func (m *model) clone() *model {
	c := *m
	c.fixed, c.index, c.ids, c.entries = slices.Clone(m.fixed), slices.Clone(m.index), slices.Clone(m.ids), slices.Clone(m.entries)
	c.layers, c.vl = cloneLayers(m.layers), cloneLayers(m.vl)
	c.pieces = slices.Clone(m.pieces)
	for i := range c.pieces {
		c.pieces[i] = slices.Clone(c.pieces[i])
	}
	return &c
}

func cloneLayers(layers []meta.Layer) []meta.Layer {
	layers = slices.Clone(layers)
	for i := range layers {
		layers[i].Content = slices.Clone(layers[i].Content)
	}
	return layers
}

// layer returns the number of a layer with a name, or -1.
func layer(layers []meta.Layer, name string) int {
	return slices.IndexFunc(layers, func(l meta.Layer) bool { return l.Name == name })
}

// chunkPieces returns the numbers of the pieces that entries reference.
func (m *model) chunkPieces() []int {
	var list []int
	for _, e := range m.entries {
		if e.piece >= 0 && !slices.Contains(list, e.piece) {
			list = append(list, e.piece)
		}
	}
	return list
}

// setField sets a big-endian field of the fixed part.
func (m *model) setField(at, size int, v int64) {
	for i := range size {
		m.fixed[at+i] = byte(v >> (8 * (size - 1 - i)))
	}
}

func (m *model) String() string {
	return fmt.Sprintf("%d pieces, %d entries, %d and %d metalayers", len(m.pieces), len(m.entries), len(m.layers), len(m.vl))
}
