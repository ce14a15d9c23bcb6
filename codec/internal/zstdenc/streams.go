package zstdenc

import "encoding/binary"

// stream writes one stream of literals to dst and returns its length. dst has room for 11 bits each and 16 bytes more.
func (h *huffmanCode) stream(dst, literals []byte) int {
	w := bitWriter{dst: dst}
	h.put(&w, literals)
	return w.end()
}

// put codes literals, the last one first.
func (h *huffmanCode) put(w *bitWriter, literals []byte) {
	code := &h.code
	i := len(literals)
	for ; i%5 > 0; i-- {
		c := code[literals[i-1]]
		w.add(uint64(c>>4), uint(c&15))
		if i%5 == 1 {
			w.flush()
		}
	}
	word, n, at, dst := w.word, w.n, w.at, w.dst
	for i >= 5 {
		p := literals[i-5 : i : i]
		a, b, c, d, e := code[p[4]], code[p[3]], code[p[2]], code[p[1]], code[p[0]]
		word |= uint64(a>>4) << (n & 63)
		n += uint(a & 15)
		word |= uint64(b>>4) << (n & 63)
		n += uint(b & 15)
		word |= uint64(c>>4) << (n & 63)
		n += uint(c & 15)
		word |= uint64(d>>4) << (n & 63)
		n += uint(d & 15)
		word |= uint64(e>>4) << (n & 63)
		n += uint(e & 15)
		binary.LittleEndian.PutUint64(dst[at:], word)
		at += int(n >> 3)
		word >>= n & 56
		n &= 7
		i -= 5
	}
	w.word, w.n, w.at = word, n, at
}

// streams writes one stream, or four behind their lengths, and returns how many bytes that is, or 0 where a length does
// not fit (RFC 8878, section 3.1.1.3.1.6). dst has room for them, each with 64 bytes more.
func (h *huffmanCode) streams(dst, literals []byte, four bool) int {
	if !four {
		return h.stream(dst, literals)
	}
	if kernels && len(literals) >= leastForKernel {
		return h.streams4(dst, literals)
	}
	part := (len(literals) + 3) / 4
	at := 6
	for i := range 4 {
		n := h.stream(dst[at:], literals[i*part:min(len(literals), (i+1)*part)])
		if i < 3 {
			if n >= 1<<16 {
				return 0
			}
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(n))
		}
		at += n
	}
	return at
}

// leastForKernel is how many literals are worth the other table of the kernel.
const leastForKernel = 1 << 10

// pair is two streams of literals, which the kernel codes in turns so that the processor has two chains of codes under
// way.
type pair struct {
	// codes are at the high end, with the length in the low byte.
	codes   [256]uint64
	streams [2]bitWriter
	left    [2][]byte // literals to code, the last one first
}

// streams4 is streams for four streams, two at a time. As it is not known before where the second one begins, each goes
// to a place of its own first.
func (h *huffmanCode) streams4(dst, literals []byte) int {
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
		// What the longer one has more, and what is no whole turn.
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

// runGeneric takes turns of 4 codes a stream.
func (p *pair) runGeneric(turns int) {
	for k := range p.streams {
		w, left := &p.streams[k], p.left[k]
		for i := 4*turns - 1; i >= 0; i-- {
			c := p.codes[left[i]]
			w.add(c>>(-c&63), uint(c&63))
			if i%4 == 0 {
				w.flush()
			}
		}
	}
}
