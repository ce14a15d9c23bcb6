package zstdenc

import "encoding/binary"

// bitWriter writes bits, starting at the lowest bit of the first byte. flush keeps fewer than 8 bits in word, so that
// 56 can be added between two flushes. It writes 8 bytes at a time, for which there must be space after the stream.
type bitWriter struct {
	dst  []byte
	at   int // offset of the next byte
	word uint64
	n    uint // bits in word
}

// add adds the low n bits of v. The other bits of v must be 0.
func (w *bitWriter) add(v uint64, n uint) {
	w.word |= v << (w.n & 63)
	w.n += n
}

// flush writes the complete bytes of word.
func (w *bitWriter) flush() {
	binary.LittleEndian.PutUint64(w.dst[w.at:], w.word)
	w.at += int(w.n >> 3)
	w.word >>= w.n & 56 & 63
	w.n &= 7
}

// close fills the last byte with zeros and returns the end of the stream.
func (w *bitWriter) close() int {
	w.flush()
	if w.n > 0 {
		w.at++
	}
	return w.at
}

// end marks the end of the stream for readers that start there (RFC 8878, section 4.1), and returns it.
func (w *bitWriter) end() int {
	w.add(1, 1)
	return w.close()
}
