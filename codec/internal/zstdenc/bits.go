package zstdenc

import "encoding/binary"

// bitWriter writes bits from the lowest of the first byte on. flush keeps less than 8 bits in word, so that 56 can be
// added between two of them. It writes 8 bytes at a time: behind the stream there must be room for these.
type bitWriter struct {
	dst  []byte
	at   int // where the next byte goes
	word uint64
	n    uint // bits in word
}

// add adds the low n bits of v, which has no others.
func (w *bitWriter) add(v uint64, n uint) {
	w.word |= v << (w.n & 63)
	w.n += n
}

// flush writes the whole bytes of word.
func (w *bitWriter) flush() {
	binary.LittleEndian.PutUint64(w.dst[w.at:], w.word)
	w.at += int(w.n >> 3)
	w.word >>= w.n & 56 & 63
	w.n &= 7
}

// close fills the last byte with zeros and returns where the stream ends.
func (w *bitWriter) close() int {
	w.flush()
	if w.n > 0 {
		w.at++
	}
	return w.at
}

// end marks the end for who reads from there (RFC 8878, section 4.1) and returns where the stream ends.
func (w *bitWriter) end() int {
	w.add(1, 1)
	return w.close()
}
