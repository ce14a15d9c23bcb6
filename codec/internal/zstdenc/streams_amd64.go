//go:build amd64 && !purego

package zstdenc

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// leastForKernel is the least number of literals for which building the table of the kernel is worthwhile.
const leastForKernel = 1 << 10

// pair is two streams of literals, which the kernel encodes in one loop, so that the CPU processes two chains of codes
// at the same time.
type pair struct {
	// codes are at the high end, with the length in the low byte.
	codes   [256]uint64
	streams [2]bitWriter
	left    [2][]byte // literals to encode, the last one first
}

// streams4 does streams4Generic, two streams at a time. The start of the second stream is not known in advance, so each
// is first written to a buffer of its own.
func (h *huffmanCode) streams4(dst, literals []byte) int {
	if !cpu.Has(cpu.AVX2) || len(literals) < leastForKernel {
		return h.streams4Generic(dst, literals)
	}
	var p pair
	for s, c := range h.code[:h.last+1] {
		p.codes[s] = uint64(c>>4)<<(64-c&15) | uint64(c&15)
	}
	part := (len(literals) + 3) / 4
	room := part*maxHuffmanBits/8 + slack
	at := 6
	for i := 0; i < 4; i += 2 {
		for k := range p.streams {
			p.left[k] = literals[(i+k)*part : min(len(literals), (i+k+1)*part)]
			p.streams[k] = bitWriter{dst: dst[6+(i+k)*room:]}
		}
		// The excess of the longer stream, and the rest that does not fill an iteration.
		turns := len(p.left[1]) / 4
		for k := range p.streams {
			left := p.left[k]
			h.put(&p.streams[k], left[4*turns:])
			p.left[k] = left[:4*turns]
		}
		p.run(turns)
		for k := range p.streams {
			n := p.streams[k].end()
			if i+k < 3 {
				if n >= 1<<16 {
					return 0
				}
				binary.LittleEndian.PutUint16(dst[2*(i+k):], uint16(n))
			}
			at += copy(dst[at:], p.streams[k].dst[:n])
		}
	}
	return at
}

// run runs iterations of 4 codes per stream.
func (p *pair) run(turns int) {
	if turns == 0 {
		return
	}
	race.Read(p.left[0])
	race.Read(p.left[1])
	race.Write(p.streams[0].dst[:4*turns*maxHuffmanBits/8+8])
	race.Write(p.streams[1].dst[:4*turns*maxHuffmanBits/8+8])
	pairKernel(p, turns)
}

// pairKernel is run for at least one iteration.
//
//go:noescape
func pairKernel(p *pair, turns int)
