package tune

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// Trial is a row of the table of a choice: parameters that were tried, and their result.
type Trial struct {
	Params coder.Params
	Bytes  int64   // size of the sample
	Stored int64   // its compressed size
	Write  float64 // time for encoding by the table, in ns per byte
	Read   float64 // time for decoding by the table, in ns per byte
	Cost   float64 // by which the goal compares
}

// measure is the exact result of encoding a sample, in bytes.
type measure struct {
	bytes   int64   // decoded
	stored  int64   // with the lengths of the streams
	copied  int64   // in streams that are stored uncompressed
	decoded int64   // that the codec decodes
	streams float64 // that the codec decodes, in blocks of full size
	work            // without the first block of each stream
}

// add counts the streams of a block of n bytes that a codec encoded. part is the size of the block, divided by that of
// the blocks of the chunk.
func (m *measure) add(id codec.ID, b []byte, n, streams int, part float64) {
	m.bytes += int64(n)
	m.stored += int64(len(b)) + 4 // its position
	size := n / streams
	for len(b) >= 4 {
		c := int(int32(binary.LittleEndian.Uint32(b)))
		b = b[4:]
		switch {
		case c <= 0: // a run
			b = b[min(-c, 1):]
			continue
		case c == size:
			m.copied += int64(c)
		default:
			m.decoded, m.streams = m.decoded+int64(size), m.streams+part
			m.stream(id, b[:min(c, len(b))])
		}
		b = b[min(c, len(b)):]
	}
}

// stream counts the work for a stream.
func (m *measure) stream(id codec.ID, b []byte) {
	if id != codec.Zstd {
		m.addLZ4(b)
		return
	}
	before := m.blocks
	m.addZstd(b)
	m.blocks -= min(m.blocks-before, 1)
}

// sample is a part of a chunk: pieces of equal length.
type sample struct {
	size   int
	part   float64 // size, divided by the size of a block
	pieces [][]byte
}

// len returns the number of bytes.
func (s *sample) len() int { return s.size * len(s.pieces) }

// flat reports whether each piece is a run of one byte. Then every candidate is as good as any other.
func (s *sample) flat() bool {
	for _, p := range s.pieces {
		for _, b := range p {
			if b != p[0] {
				return false
			}
		}
	}
	return true
}

// try encodes a sample with parameters.
func (t *Tuner) try(p coder.Params, s *sample) (Trial, error) {
	n := int64(s.len())
	if p.Level == codec.NoCompression {
		return t.row(p, measure{bytes: n, stored: n, copied: n}), nil
	}
	p.BlockSize = s.size
	l, err := p.Layout(s.len())
	if err != nil {
		return Trial{}, err
	}
	w := t.pool.Get()
	defer t.pool.Put(w)
	var m measure
	if l.NeedsReference() {
		if t.ref, err = w.Reference(t.ref[:0], l, s.pieces[0]); err != nil {
			return Trial{}, err
		}
	}
	for k, b := range s.pieces {
		if t.out, err = w.EncodeBlock(t.out[:0], l, k, b, t.ref); err != nil {
			return Trial{}, err
		}
		m.add(p.Codec, t.out, len(b), l.Streams(k), s.part)
	}
	if m.stored >= n { // the chunk is then stored uncompressed
		m = measure{bytes: n, stored: n, copied: n}
	}
	t.spent += writeTime(p) * float64(n)
	return t.row(p, m), nil
}

// row returns the row of a result. The first row is that of the default filters. Its level does not matter for reading.
func (t *Tuner) row(p coder.Params, m measure) Trial {
	p.BlockSize = 0
	n := float64(max(m.bytes, 1))
	read := readTime(p, m) / n
	if t.usual == 0 {
		t.usual = read
	}
	return Trial{Params: p, Bytes: m.bytes, Stored: m.stored, Write: writeTime(p), Read: read, Cost: t.goal.cost(p, m, t.usual)}
}
