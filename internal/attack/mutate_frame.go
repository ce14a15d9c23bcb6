package attack

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
)

// mutateModel changes a frame that is taken apart, and returns what it did.
func mutateModel(rng *rand.Rand, m *model) string {
	switch n := rng.IntN(20); {
	case n < 6 && len(m.chunkPieces()) > 0:
		return m.mutatePiece(rng)
	case n < 10 && len(m.entries) > 0:
		return m.mutateEntries(rng)
	case n < 11 && len(m.entries) > 0:
		return m.mutateChunkSizes(rng)
	case n < 12 && !m.noMeta:
		return m.mutateIndexChunk(rng)
	case n < 13 && !m.noMeta:
		return m.makeUniform(rng)
	case n < 16:
		return m.mutateFixed(rng)
	case n < 19:
		return m.mutateLayers(rng)
	}
	m.hole = holeSize(rng)
	return fmt.Sprintf("hole of %d bytes", m.hole)
}

// mutatePiece changes a stored chunk.
func (m *model) mutatePiece(rng *rand.Rand) (what string) {
	k := pick(rng, m.chunkPieces()...)
	m.pieces[k], what = mutateChunk(rng, m.pieces[k])
	m.index = nil
	return what
}

// mutateEntries changes entries of the index. The numbers and lengths of other parts follow.
func (m *model) mutateEntries(rng *rand.Rand) string {
	m.index = nil
	k := rng.IntN(len(m.entries))
	e := &m.entries[k]
	switch rng.IntN(8) {
	case 0:
		e.raw = uint64(pick[int64](rng, 1, 2, 4, 16, 31, 32, 33, -1, -32)) // shifts it, so that chunks overlap
		return fmt.Sprintf("index: entry %d shifted by %d", k, int64(e.raw))
	case 1:
		*e = m.entries[rng.IntN(len(m.entries))]
		return fmt.Sprintf("index: entry %d is another", k)
	case 2:
		for i := range m.entries {
			m.entries[i] = m.entries[k]
		}
		return fmt.Sprintf("index: all entries are entry %d", k)
	case 3:
		*e = entry{-1, uint64(pick(rng, 0x81, 0x82, 0x83, 0x84, 0x80, 0x88, 0xff, 0x87)) << 56}
		if rng.IntN(4) == 0 {
			e.raw |= uint64(rng.Uint32())
		}
		return fmt.Sprintf("index: entry %d is %#x", k, e.raw)
	case 4:
		*e = entry{-1, uint64(extreme(rng, 100))}
		return fmt.Sprintf("index: entry %d is %d", k, int64(e.raw))
	case 5:
		n := pick(rng, 1, 2, 100, 5000, 100_000)
		m.entries = append(m.entries, slices.Repeat([]entry{*e}, n)...)
		m.countChunks(rng)
		return fmt.Sprintf("index: entry %d, %d times more", k, n)
	case 6:
		m.entries = slices.Delete(m.entries, k, k+1)
		m.countChunks(rng)
		return fmt.Sprintf("index: without entry %d", k)
	}
	rng.Shuffle(len(m.entries), func(i, j int) { m.entries[i], m.entries[j] = m.entries[j], m.entries[i] })
	return "index: another order"
}

// countChunks makes the size of the data, and mostly the shape of an array, match the number of entries.
func (m *model) countChunks(rng *rand.Rand) {
	size := be(m.fixed[posChunkSize:][:4])
	m.setField(posNBytes, 8, size*int64(len(m.entries)))
	i := layer(m.layers, "b2nd")
	if i < 0 || rng.IntN(4) == 0 {
		return
	}
	a, err := meta.ParseArray(m.layers[i].Content, int(be(m.fixed[posTypeSize:][:4])))
	if err != nil || len(a.Shape) == 0 {
		return
	}
	per := int64(1) // chunks for each step of the first axis
	for k, s := range a.Shape[1:] {
		if c := int64(a.ChunkShape[k+1]); c > 0 {
			per *= (s + c - 1) / c
		}
	}
	if per > 0 {
		a.Shape[0] = int64(len(m.entries)) / per * int64(a.ChunkShape[0])
		m.setArray(i, a)
	}
}

// setArray stores the description of an array, without any check.
func (m *model) setArray(i int, a *meta.Array) {
	n := byte(len(a.Shape))
	b := []byte{0x97, a.Version, n, 0x90 + n}
	for _, s := range a.Shape {
		b = binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(s))
	}
	for _, list := range [][]int32{a.ChunkShape, a.BlockShape} {
		b = append(b, 0x90+n)
		for _, s := range list {
			b = binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(s))
		}
	}
	b = binary.BigEndian.AppendUint32(append(b, byte(a.DTypeFormat), 0xdb), uint32(len(a.DType)))
	m.layers[i].Content = append(b, a.DType...)
}

// mutateChunkSizes gives all chunks, the header and the size of the data another chunk size.
func (m *model) mutateChunkSizes(rng *rand.Rand) string {
	v := extreme(rng, be(m.fixed[posChunkSize:][:4]))
	for _, k := range m.chunkPieces() {
		if len(m.pieces[k]) >= 16 {
			putLE32(m.pieces[k], 4, v)
		}
	}
	m.setField(posChunkSize, 4, v)
	m.setField(posNBytes, 8, v*int64(len(m.entries)))
	return fmt.Sprintf("all chunks of %d bytes", int32(v))
}

// mutateIndexChunk changes the chunk of the index.
func (m *model) mutateIndexChunk(rng *rand.Rand) string {
	index := m.index
	if index == nil {
		var err error
		if index, err = m.encodeIndex(); err != nil {
			return err.Error()
		}
	}
	var what string
	m.index, what = mutateChunk(rng, index)
	return "index " + what
}

// makeUniform replaces the index by one entry for any number of chunks.
func (m *model) makeUniform(rng *rand.Rand) string {
	n := pick[int64](rng, 1, 2, 1000, 100_000, 10_000_000, 268435451, int64(len(m.entries)))
	v := uint64(pick(rng, 0x81, 0x82, 0x84, 0x81, 0x84, 0x83, 0x80, 0)) << 56
	if len(m.pieces) > 0 && rng.IntN(4) == 0 {
		v = uint64(pick[int64](rng, 0, 1, 32))
	}
	c, err := chunk.EncodeSpecial(nil, chunk.Value, 8, binary.LittleEndian.AppendUint64(nil, v), chunk.Params{TypeSize: 8})
	if err != nil {
		return err.Error()
	}
	putLE32(c, 4, 8*n)
	if pick(rng, true, false) {
		putLE32(c, 8, 8*n)
	}
	m.index = c
	if rng.IntN(4) > 0 {
		size := be(m.fixed[posChunkSize:][:4])
		if rng.IntN(3) == 0 {
			size = pick[int64](rng, 8, 4096, 1<<20, math.MaxInt32-32)
			m.setField(posChunkSize, 4, size)
		}
		m.setField(posNBytes, 8, n*size-pick(rng, 0, 0, 0, 1, size/2))
	}
	return fmt.Sprintf("uniform index of %d chunks, %#x", n, v)
}

// mutateFixed changes a field of the header that build does not set.
func (m *model) mutateFixed(rng *rand.Rand) string {
	if rng.IntN(2) == 0 {
		at := pick(rng, 25, 26, 27, 28, 70, 71, 72, 76, 77, 78, 79, 84, 85, 86, 0, 1, 15, 24, 29, 57)
		v := pick(rng, m.fixed[at]^1<<rng.IntN(8), byte(rng.IntN(256)), 0xff, 0)
		m.fixed[at] = v
		return fmt.Sprintf("header: byte %d is %#x", at, v)
	}
	at := pick(rng, posNBytes, posTypeSize, posBlockSize, posChunkSize)
	size := 4
	if at == posNBytes {
		size = 8
	}
	v := extreme(rng, be(m.fixed[at:][:size]))
	if at == posNBytes && rng.IntN(2) == 0 {
		v = be(m.fixed[posChunkSize:][:4]) * int64(len(m.entries))
	}
	m.setField(at, size, v)
	return fmt.Sprintf("header: field at %d is %d", at, v)
}

// mutateLayers changes metalayers.
func (m *model) mutateLayers(rng *rand.Rand) string {
	if i := layer(m.layers, "b2nd"); i >= 0 && rng.IntN(2) == 0 {
		return m.mutateArray(rng, i)
	}
	layers, kind := &m.layers, "metalayer"
	if rng.IntN(2) == 0 {
		layers, kind = &m.vl, "variable-length metalayer"
	}
	if len(*layers) == 0 || rng.IntN(8) == 0 {
		n := pick(rng, 1, 2, 15, 16, 17, 1000, 8192, 8193)
		for i := range n {
			*layers = append(*layers, meta.Layer{Name: fmt.Sprint("layer", i), Content: []byte{1}})
		}
		return fmt.Sprintf("%d %ss more", n, kind)
	}
	l := &(*layers)[rng.IntN(len(*layers))]
	switch rng.IntN(6) {
	case 0:
		l.Name = pick(rng, "", "b2nd", "caterva", "b2o", "proxy-source", "LazyArray", "b2crc32c", "a\x00b", "\x1b[2J\n", strings.Repeat("n", 31), (*layers)[0].Name)
		return fmt.Sprintf("%s named %q", kind, l.Name)
	case 1:
		n := rng.IntN(len(l.Content) + 1)
		l.Content = l.Content[:n]
		return fmt.Sprintf("%s %q of %d bytes", kind, l.Name, n)
	case 2:
		l.Content = append(l.Content, make([]byte, pick(rng, 1, 100, 70_000))...)
		return fmt.Sprintf("longer %s %q", kind, l.Name)
	}
	if kind != "metalayer" {
		var what string
		l.Content, what = mutateChunk(rng, l.Content)
		return fmt.Sprintf("%s %q: %s", kind, l.Name, what)
	}
	flip(rng, l.Content)
	return fmt.Sprintf("%s %q: bytes", kind, l.Name)
}

// mutateArray changes the description of an array.
func (m *model) mutateArray(rng *rand.Rand, i int) string {
	a, err := meta.ParseArray(m.layers[i].Content, int(be(m.fixed[posTypeSize:][:4])))
	if err != nil {
		flip(rng, m.layers[i].Content)
		return "bytes of b2nd"
	}
	var what string
	switch n := len(a.Shape); {
	case n > 0 && rng.IntN(4) > 0:
		k := rng.IntN(n)
		switch rng.IntN(3) {
		case 0:
			a.Shape[k] = extreme(rng, a.Shape[k])
		case 1:
			a.ChunkShape[k] = int32(extreme(rng, int64(a.ChunkShape[k])))
		default:
			a.BlockShape[k] = int32(extreme(rng, int64(a.BlockShape[k])))
		}
		what = fmt.Sprintf("b2nd: shape %d, chunks %d, blocks %d", a.Shape, a.ChunkShape, a.BlockShape)
	case rng.IntN(2) == 0:
		a.DType = pick(rng, "", "<i8", ">i4", "|V0", "<U99999999", "|S4", "|O8", "<M8[ns]", "[('a', '<i4', (2, 3))]", "[('a', [('b', '<i2')])]",
			strings.Repeat("[('a', ", 1000), "('<i4', (1, 1, 1))", "\x00", "[('x', '|V4'), ('x', '<i4')]")
		what = fmt.Sprintf("b2nd: dtype %.40q", a.DType)
	default: // more dimensions
		k := pick(rng, 1, 8, 15, 16)
		for len(a.Shape) < k {
			a.Shape, a.ChunkShape, a.BlockShape = append(a.Shape, 1), append(a.ChunkShape, 1), append(a.BlockShape, 1)
		}
		what = fmt.Sprintf("b2nd: %d dimensions", len(a.Shape))
	}
	if len(a.Shape) < 16 {
		m.setArray(i, a)
	}
	return what
}
