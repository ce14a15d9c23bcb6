package zstd

import (
	"encoding/binary"
	"math/bits"
	"math/rand"
)

// bitWriter writes bits, starting at the lowest bit of the first byte.
type bitWriter struct {
	b    []byte
	word uint64
	n    int
}

func (w *bitWriter) add(v uint64, n int) {
	w.word |= v << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.word))
		w.word >>= 8
	}
}

// flush fills the last byte with zeros.
func (w *bitWriter) flush() []byte {
	if w.n > 0 {
		w.add(0, 8-w.n)
	}
	return w.b
}

// end writes the bit that marks the end, where a reader of the stream starts.
func (w *bitWriter) end() []byte {
	w.add(1, 1)
	return w.flush()
}

// machine is a finite state machine of a writer.
type machine struct {
	log   int
	probs []int
	rows  []row // of the states
}

type row struct {
	symbol, bits, base int
}

// newMachine builds the states from the probabilities in the words of RFC 8878, section 4.1.1.
func newMachine(log int, probs []int) *machine {
	m := &machine{log: log, probs: probs, rows: make([]row, 1<<log)}
	size := 1 << log
	taken := make([]bool, size)
	high := size - 1
	for s, p := range probs {
		if p == -1 {
			m.rows[high].symbol, taken[high] = s, true
			high--
		}
	}
	at := 0
	for s, p := range probs {
		for range max(p, 0) {
			m.rows[at].symbol = s
			for at = (at + size>>1 + size>>3 + 3) % size; taken[at]; at = (at + size>>1 + size>>3 + 3) % size {
			}
		}
	}
	for s, p := range probs {
		n := max(p, -p)
		if n == 0 {
			continue
		}
		shares := 1
		for shares < n {
			shares *= 2
		}
		double := shares - n // number of states, the first ones, with two shares
		width := size / shares
		base := 0
		for order := range 2 {
			k := 0
			for i := range m.rows {
				if m.rows[i].symbol != s {
					continue
				}
				if order == 0 && k >= double {
					m.rows[i].base, m.rows[i].bits = base, bits.Len(uint(width))-1
					base += width
				} else if order == 1 && k < double {
					m.rows[i].base, m.rows[i].bits = base, bits.Len(uint(2*width))-1
					base += 2 * width
				}
				k++
			}
		}
	}
	return m
}

// randomMachine returns a machine for all needed symbols.
func randomMachine(r *rand.Rand, needed []bool, maxLog int) *machine {
	probs := make([]int, len(needed))
	count, last := 0, 0
	for s, ok := range needed {
		if ok || r.Intn(8) == 0 {
			probs[s] = 1 - 2*r.Intn(2)
			count++
			last = s
		}
	}
	for count < 2 {
		if s := r.Intn(len(probs)); probs[s] == 0 {
			probs[s], last = 1, max(last, s)
			count++
		}
	}
	least := max(5, bits.Len(uint(count-1)))
	log := least + r.Intn(maxLog-least+1)
	for left := 1<<log - count; left > 0; {
		s := r.Intn(last + 1)
		if probs[s] == 0 {
			continue
		}
		if probs[s] < 0 {
			probs[s] = 1 // uses the same number of states
		}
		n := 1 + r.Intn(left)
		probs[s] += n
		left -= n
	}
	return newMachine(log, probs[:last+1])
}

// has reports whether the machine has states for all needed symbols.
func (m *machine) has(needed []bool) bool {
	for s, ok := range needed {
		if ok && (s >= len(m.probs) || m.probs[s] == 0) {
			return false
		}
	}
	return true
}

// description returns the description of the machine.
func (m *machine) description() []byte {
	var w bitWriter
	w.add(uint64(m.log-5), 4)
	left := 1 << m.log
	for s := 0; left > 0; s++ {
		v := m.probs[s] + 1
		n := bits.Len(uint(left + 1))
		small := 1<<n - 1 - (left + 1)
		switch {
		case v < small:
			w.add(uint64(v), n-1)
		case v >= 1<<(n-1):
			w.add(uint64(v+small), n)
		default:
			w.add(uint64(v), n)
		}
		if v == 1 {
			zeros := 0
			for m.probs[s+1+zeros] == 0 {
				zeros++
			}
			s += zeros
			for ; zeros >= 3; zeros -= 3 {
				w.add(3, 2)
			}
			w.add(uint64(zeros), 2)
		}
		left -= max(v-1, 1-v)
	}
	return w.flush()
}

// last returns a state for the last symbol. If some is true, the state has bits to read.
func (m *machine) last(r *rand.Rand, symbol int, some bool) int {
	for {
		if s := r.Intn(len(m.rows)); m.rows[s].symbol == symbol && (!some || m.rows[s].bits > 0) {
			return s
		}
	}
}

// before returns the state for a symbol that leads to the given state, and writes the bits for this transition.
func (m *machine) before(w *bitWriter, symbol, next int) int {
	for s, row := range m.rows {
		if row.symbol == symbol && next >= row.base && next < row.base+1<<row.bits {
			w.add(uint64(next-row.base), row.bits)
			return s
		}
	}
	panic("no such state")
}

// huffman is a Huffman code of a writer.
type huffman struct {
	weights [256]int
	lengths [256]int
	codes   [256]int
	symbols []byte // symbols that have a code
}

// randomHuffman makes a code of 2 to 256 symbols.
func randomHuffman(r *rand.Rand) *huffman {
	count := 2 + r.Intn(1<<(1+r.Intn(8)))
	limit := max(bits.Len(uint(count-1)), 1+r.Intn(11))
	leaves := []int{1, 1}
	for len(leaves) < min(count, 256) {
		if i := r.Intn(len(leaves)); leaves[i] < limit {
			leaves[i]++
			leaves = append(leaves, leaves[i])
		}
	}
	h := &huffman{}
	longest := 0
	for _, n := range leaves {
		longest = max(longest, n)
	}
	order := r.Perm(256)
	if r.Intn(2) == 0 && len(leaves) < 100 {
		order = r.Perm(100) // so that the header can store the weights uncompressed
	}
	for i, n := range leaves {
		h.lengths[order[i]] = n
		h.weights[order[i]] = longest + 1 - n
	}
	code := 0
	for n := longest; n > 0; n-- { // the longest codes are the lowest
		for s := range 256 {
			if h.lengths[s] == n {
				h.codes[s] = code >> (longest - n)
				code += 1 << (longest - n)
			}
		}
	}
	for s := range 256 {
		if h.lengths[s] > 0 {
			h.symbols = append(h.symbols, byte(s))
		}
	}
	return h
}

// description returns the description of the code, or nil if it would be too long.
func (h *huffman) description(r *rand.Rand) []byte {
	last := int(h.symbols[len(h.symbols)-1])
	if last <= 128 && r.Intn(2) == 0 || last < 2 {
		b := []byte{byte(127 + last)}
		for s := 0; s < last; s += 2 {
			v := h.weights[s] << 4
			if s+1 < last {
				v |= h.weights[s+1]
			}
			b = append(b, byte(v))
		}
		return b
	}
	var needed [12]bool
	for _, v := range h.weights[:last] {
		needed[v] = true
	}
	m := randomMachine(r, needed[:], 6)
	var w bitWriter
	var states [2]int
	states[(last-1)%2] = m.last(r, h.weights[last-1], false)
	states[last%2] = m.last(r, h.weights[last-2], true) // otherwise this is not the end
	for i := last - 3; i >= 0; i-- {
		states[i%2] = m.before(&w, h.weights[i], states[i%2])
	}
	w.add(uint64(states[1]), m.log)
	w.add(uint64(states[0]), m.log)
	b := append(m.description(), w.end()...)
	if len(b) >= 128 {
		return nil
	}
	return append([]byte{byte(len(b))}, b...)
}

// stream returns the stream of some literals.
func (h *huffman) stream(literals []byte) []byte {
	var w bitWriter
	for i := len(literals) - 1; i >= 0; i-- {
		w.add(uint64(h.codes[literals[i]]), h.lengths[literals[i]])
	}
	return w.end()
}

// streams returns one stream, or four with their lengths.
func (h *huffman) streams(literals []byte, four bool) []byte {
	if !four {
		return h.stream(literals)
	}
	part := (len(literals) + 3) / 4
	var head, body []byte
	for i := range 4 {
		s := h.stream(literals[i*part : min(len(literals), (i+1)*part)])
		body = append(body, s...)
		if i < 3 {
			head = binary.LittleEndian.AppendUint16(head, uint16(len(s)))
		}
	}
	return append(head, body...)
}
