package zfp

import "encoding/binary"

// writer writes bits, starting at the lowest of each byte. If dst is full, it only counts.
type writer struct {
	dst  []byte
	pos  int64  // bits written; a block can have more than an int counts
	word uint64 // the last pos%64 bits
	full bool   // dst was too short
}

// bits writes the low n bits of v, n at most 64.
func (w *writer) bits(v uint64, n int) {
	if n == 0 {
		return
	}
	v &= ^uint64(0) >> (64 - uint(n))
	used := uint(w.pos) % 64
	w.word |= v << used
	w.pos += int64(n)
	if used+uint(n) >= 64 {
		w.flush(w.pos/64*8 - 8)
		w.word = v >> 1 >> (63 - used) // none left if used is 0
	}
}

// flush stores the word at byte at.
func (w *writer) flush(at int64) {
	if int64(len(w.dst))-at < 8 {
		w.full = true
		return
	}
	binary.LittleEndian.PutUint64(w.dst[at:], w.word)
}

// pad writes zeros up to bit end.
func (w *writer) pad(end int64) {
	for w.pos < end {
		w.bits(0, int(min(64, end-w.pos)))
	}
}

// finish completes the last word and returns the number of bytes.
func (w *writer) finish() (int, error) {
	w.pad((w.pos + 63) / 64 * 64)
	if w.full {
		return 0, ErrNoRoom
	}
	return int(w.pos / 8), nil
}

// reader reads the bits of a writer. After the end of src it reads zeros.
type reader struct {
	src []byte
	pos int64 // bits read
}

// peekBits is the number of bits that peek returns at least.
const peekBits = 57

// peek returns the next bits, starting at the lowest.
func (r *reader) peek() uint64 {
	at := r.pos >> 3
	if at <= int64(len(r.src))-8 {
		return binary.LittleEndian.Uint64(r.src[at:]) >> (uint(r.pos) & 7)
	}
	if at >= int64(len(r.src)) {
		return 0
	}
	var last [8]byte
	copy(last[:], r.src[at:])
	return binary.LittleEndian.Uint64(last[:]) >> (uint(r.pos) & 7)
}

// bits reads n bits, at most 64, the lowest first.
func (r *reader) bits(n int) uint64 {
	if n > peekBits {
		low := r.bits(32)
		return low | r.bits(n-32)<<32
	}
	v := r.peek() & (1<<uint(n) - 1)
	r.pos += int64(n)
	return v
}

// zeros reads zeros and the one after them, up to most bits. It returns the number of zeros. If there is no one
// among the bits, that is most.
func (r *reader) zeros(most int) int {
	n := 0
	for n < most {
		k := min(most-n, peekBits)
		z := trailingZeros(r.peek(), k)
		n += z
		r.pos += int64(z)
		if z < k {
			r.pos++
			break
		}
	}
	return n
}

// skip moves to bit pos, if that is ahead.
func (r *reader) skip(pos int64) { r.pos = max(r.pos, pos) }
