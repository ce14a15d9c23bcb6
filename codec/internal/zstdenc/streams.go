package zstdenc

import "encoding/binary"

// histogram counts the bytes of b.
func histogram(count *[256]uint32, b []byte, parts *[3][256]uint32) {
	*count = [256]uint32{}
	if len(b) < 1024 {
		for _, c := range b {
			count[c]++
		}
		return
	}
	*parts = [3][256]uint32{} // of their own, as equal bytes next to each other would wait for each other
	for len(b) >= 8 {
		v := binary.LittleEndian.Uint64(b)
		count[uint8(v)]++
		parts[0][uint8(v>>8)]++
		parts[1][uint8(v>>16)]++
		parts[2][uint8(v>>24)]++
		count[uint8(v>>32)]++
		parts[0][uint8(v>>40)]++
		parts[1][uint8(v>>48)]++
		parts[2][uint8(v>>56)]++
		b = b[8:]
	}
	for _, c := range b {
		count[c]++
	}
	for i := range count {
		count[i] += parts[0][i] + parts[1][i] + parts[2][i]
	}
}

// stream writes one stream of literals to dst and returns its length. dst has room for 11 bits each and 16 bytes more.
func (h *huffmanCode) stream(dst, literals []byte) int {
	code := &h.code
	w := bitWriter{dst: dst}
	i := len(literals)
	for ; i%5 > 0; i-- {
		c := code[literals[i-1]]
		w.add(uint64(c>>4), uint(c&15))
		if i%5 == 1 {
			w.flush()
		}
	}
	word, n, at := w.word, w.n, w.at
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
	return w.end()
}

// streams writes one stream, or four behind their lengths, and returns how many bytes that is, or 0 where a length does
// not fit (RFC 8878, section 3.1.1.3.1.6).
func (h *huffmanCode) streams(dst, literals []byte, four bool) int {
	if !four {
		return h.stream(dst, literals)
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
