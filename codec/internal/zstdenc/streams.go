package zstdenc

import "encoding/binary"

// stream writes one stream of literals to dst and returns its length. dst must have space for 11 bits per literal and
// 16 more bytes.
func (h *huffmanCode) stream(dst, literals []byte) int {
	w := bitWriter{dst: dst}
	h.put(&w, literals)
	return w.end()
}

// put encodes literals, the last one first.
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

// streams writes one stream, or four after their lengths. It returns the number of bytes, or 0 if a length does not fit
// (RFC 8878, section 3.1.1.3.1.6). dst must have space for the streams, and 64 more bytes for each.
func (h *huffmanCode) streams(dst, literals []byte, four bool) int {
	if four {
		return h.streams4(dst, literals)
	}
	return h.stream(dst, literals)
}

func (h *huffmanCode) streams4Generic(dst, literals []byte) int {
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
