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

	m measure
}

// measure is the exact result of encoding a sample, in bytes.
type measure struct {
	bytes   int64   // decoded
	stored  int64   // with the lengths of the streams
	copied  int64   // in streams that are stored uncompressed
	decoded int64   // that the codec decodes
	streams int     // that the codec decodes
	part    float64 // size of the pieces, divided by the size of a block
	work            // without the first block of each stream
}

// add counts the streams of a block of n bytes that a codec encoded.
func (m *measure) add(id codec.ID, b []byte, n, streams int) {
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
			m.decoded, m.streams = m.decoded+int64(size), m.streams+1
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

// try encodes the sample with parameters, and adds the result to the rows.
func (t *Tuner) try(p coder.Params) error {
	s := &t.sample
	n := int64(s.len())
	m := measure{bytes: n, stored: n, copied: n, part: s.part}
	p.TypeSize, p.BlockSize = t.typeSize, s.size
	if p.Level == codec.NoCompression {
		t.add(p, m, writeTime(p, &m, true))
		return nil
	}
	l, err := p.Layout(s.len())
	if err != nil {
		return err
	}
	w := t.pool.Get()
	defer t.pool.Put(w)
	if l.NeedsReference {
		if t.ref, err = w.Reference(t.ref[:0], l, s.pieces[0]); err != nil {
			return err
		}
	}
	encoded := measure{part: s.part}
	for k, b := range s.pieces {
		if t.out, err = w.EncodeBlock(t.out[:0], l, k, b, t.ref); err != nil {
			return err
		}
		encoded.add(p.Codec, t.out, len(b), l.Streams(k))
	}
	t.spent += setupTime + writeTime(p, &encoded, false)
	if encoded.stored < n { // otherwise the chunk is stored uncompressed
		m = encoded
	}
	t.add(p, m, writeTime(p, &encoded, true))
	return nil
}

// add adds a result to the rows. write is the time for encoding all bytes.
func (t *Tuner) add(p coder.Params, m measure, write float64) {
	p.BlockSize = 0
	n := float64(max(m.bytes, 1))
	t.rows = append(t.rows, Trial{Params: p, Bytes: m.bytes, Stored: m.stored, Write: write / n, Read: readTime(p, &m) / n, m: m})
}
