package zstd

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

var errStream = errors.New("invalid Huffman stream")

// expand1 decodes the single stream src[start:end] to dst, or at least to its first n bytes.
func (t *huffmanTable) expand1(dst, src []byte, start, end, n int) error {
	var r bitReader
	if !r.init(src, start, end) {
		return errStream
	}
	return t.finish(dst, &r, n)
}

// finish decodes the rest of a stream to dst, or at least to its first n bytes.
func (t *huffmanTable) finish(dst []byte, r *bitReader, n int) error {
	some := n < len(dst)
	dst = dst[:n]
	for len(dst) >= 5 && r.pos >= r.start {
		r.refill()
		word, left := r.word, r.left
		for i := range 5 {
			entry := t[word>>((left-maxHuffmanBits)&63)%(1<<maxHuffmanBits)]
			left -= uint(entry & 255)
			dst[i] = byte(entry >> 8)
		}
		r.left = left
		dst = dst[5:]
	}
	for i := range dst {
		if r.left < maxHuffmanBits && r.pos > r.start {
			r.refill()
		}
		index := r.word << ((maxHuffmanBits - r.left) & 63)
		if r.left >= maxHuffmanBits {
			index = r.word >> ((r.left - maxHuffmanBits) & 63)
		}
		entry := t[index%(1<<maxHuffmanBits)]
		n := uint(entry & 255)
		if n > r.left {
			return errStream
		}
		r.left -= n
		dst[i] = byte(entry >> 8)
	}
	if left := r.remaining(); left < 0 || left > 0 && !some {
		return errStream
	}
	return nil
}

// streams4 is the state of four streams, which the loops over them share. A word is the 8 bytes of src at the place of
// its stream, with the lowest bit set, shifted left by the number of used bits. So the lowest set bit marks that
// number. At least 56 bits are valid after a load, which suffice for 5 codes.
type streams4 struct {
	words  [4]uint64
	places [4]int
	starts [4]int // starts of the streams in src
	outs   [4]int // offset of the next byte of each stream in dst
	ends   [4]int // end of each stream in dst
	src    []byte
	table  *huffmanTable
	pairs  *pairTable
	dst    []byte
}

// init sets s up for four streams, which follow three lengths of two bytes in src[start:end], to be decoded to at least
// the first n bytes of dst, without a table of pairs. It reports whether the streams are valid.
//
// The four streams are decoded in one loop, so fewer of them would take as long. If the beginning of the first stream
// has all needed bytes, no more than that is decoded of the others.
func (s *streams4) init(dst, src []byte, start, end, n int, t *huffmanTable) bool {
	part := (len(dst) + 3) / 4
	if end-start < 10 || len(dst) < 6 || 3*part > len(dst) {
		return false
	}
	n = min(n, part)
	s.src, s.table, s.pairs, s.dst = src, t, nil, dst
	at := start + 6
	for i := range s.words {
		s.starts[i], s.outs[i], s.ends[i] = at, i*part, min(i*part+n, len(dst))
		if i == 3 {
			at = end
		} else if size := int(binary.LittleEndian.Uint16(src[start+2*i:])); size <= end-at {
			at += size
		} else {
			return false
		}
		var r bitReader
		if !r.init(src, s.starts[i], at) {
			return false
		}
		s.places[i] = r.pos
		s.words[i] = (r.word | 1) << (64 - r.left)
	}
	return true
}

// left returns the number of literals that are still to decode.
func (s *streams4) left() (n int) {
	for i, end := range s.ends {
		n += end - s.outs[i]
	}
	return n
}

// finish decodes the rest of the streams.
func (s *streams4) finish() error {
	part := (len(s.dst) + 3) / 4
	for i, pos := range s.places {
		r := bitReader{src: s.src, start: s.starts[i], pos: pos}
		r.word = binary.LittleEndian.Uint64(s.src[pos:])
		r.left = 64 - uint(bits.TrailingZeros64(s.words[i]))
		rest := s.dst[s.outs[i]:min((i+1)*part, len(s.dst))]
		if err := s.table.finish(rest, &r, s.ends[i]-s.outs[i]); err != nil || s.ends[0] < part {
			return err
		}
	}
	return nil
}

// turns returns the number of iterations that can run now. An iteration has the given number of look-ups per stream,
// which each yield at most width bytes. It may take bits from before a stream, as long as these bytes exist. Up to 29
// bits of a word are used already.
func (s *streams4) turns(codes, width int) int {
	in, out := math.MaxInt, math.MaxInt
	for i, place := range s.places {
		in, out = min(in, place-s.starts[i]), min(out, s.ends[i]-s.outs[i])
	}
	return min(8*(in+ahead-4)/(codes*maxHuffmanBits), out/(codes*width))
}

// run runs iterations of turnCodes look-ups per stream, as long as neither the input nor the output can end.
func (s *streams4) run() {
	if !cpu.Has(kernelLevel) {
		s.runGeneric()
		return
	}
	race.Read(s.src)
	race.Write(s.dst)
	if s.pairs != nil {
		for n := s.turns(turnCodes, 2); n > 0; n = s.turns(turnCodes, 2) {
			pairsKernel(s, n)
		}
		return
	}
	for n := s.turns(turnCodes, 1); n > 0; n = s.turns(turnCodes, 1) {
		streamsKernel(s, n)
	}
}

// runGeneric runs iterations as long as neither the input nor the output can end.
func (s *streams4) runGeneric() {
	if s.pairs != nil {
		s.runPairs()
		return
	}
	t, src := s.table, s.src
	w0, w1, w2, w3 := s.words[0], s.words[1], s.words[2], s.words[3]
	for {
		n := s.turns(5, 1)
		if n <= 0 {
			break
		}
		p0, p1, p2, p3 := s.places[0], s.places[1], s.places[2], s.places[3]
		d0, d1, d2, d3 := s.dst[s.outs[0]:], s.dst[s.outs[1]:], s.dst[s.outs[2]:], s.dst[s.outs[3]:]
		for i := 0; i < 5*n; i += 5 {
			o0, o1, o2, o3 := (*[5]byte)(d0[i:]), (*[5]byte)(d1[i:]), (*[5]byte)(d2[i:]), (*[5]byte)(d3[i:])
			for j := range 5 {
				e0, e1, e2, e3 := t[w0>>53], t[w1>>53], t[w2>>53], t[w3>>53]
				w0, w1, w2, w3 = w0<<(e0&63), w1<<(e1&63), w2<<(e2&63), w3<<(e3&63)
				o0[j], o1[j], o2[j], o3[j] = byte(e0>>8), byte(e1>>8), byte(e2>>8), byte(e3>>8)
			}
			w0, p0 = reload(src, w0, p0)
			w1, p1 = reload(src, w1, p1)
			w2, p2 = reload(src, w2, p2)
			w3, p3 = reload(src, w3, p3)
		}
		s.places = [4]int{p0, p1, p2, p3}
		for i := range s.outs {
			s.outs[i] += 5 * n
		}
	}
	s.words = [4]uint64{w0, w1, w2, w3}
}

// runPairs is runGeneric with the table of pairs.
func (s *streams4) runPairs() {
	t, src, dst := s.pairs, s.src, s.dst
	w0, w1, w2, w3 := s.words[0], s.words[1], s.words[2], s.words[3]
	for {
		n := s.turns(5, 2)
		if n <= 0 {
			break
		}
		p0, p1, p2, p3 := s.places[0], s.places[1], s.places[2], s.places[3]
		o0, o1, o2, o3 := s.outs[0], s.outs[1], s.outs[2], s.outs[3]
		for range n {
			for range 5 {
				e0, e1, e2, e3 := t[w0>>53], t[w1>>53], t[w2>>53], t[w3>>53]
				w0, w1, w2, w3 = w0<<(e0>>16&63), w1<<(e1>>16&63), w2<<(e2>>16&63), w3<<(e3>>16&63)
				binary.LittleEndian.PutUint16(dst[o0:], uint16(e0))
				binary.LittleEndian.PutUint16(dst[o1:], uint16(e1))
				binary.LittleEndian.PutUint16(dst[o2:], uint16(e2))
				binary.LittleEndian.PutUint16(dst[o3:], uint16(e3))
				o0, o1, o2, o3 = o0+int(e0>>24), o1+int(e1>>24), o2+int(e2>>24), o3+int(e3>>24)
			}
			w0, p0 = reload(src, w0, p0)
			w1, p1 = reload(src, w1, p1)
			w2, p2 = reload(src, w2, p2)
			w3, p3 = reload(src, w3, p3)
		}
		s.places, s.outs = [4]int{p0, p1, p2, p3}, [4]int{o0, o1, o2, o3}
	}
	s.words = [4]uint64{w0, w1, w2, w3}
}

// reload reduces the number of used bits of a word to less than 8.
func reload(src []byte, word uint64, place int) (uint64, int) {
	used := bits.TrailingZeros64(word)
	place -= used >> 3
	return (binary.LittleEndian.Uint64(src[place:]) | 1) << (used & 7), place
}
