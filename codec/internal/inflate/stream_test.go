package inflate

import (
	"math/bits"
	"math/rand"
	"slices"
)

// bitWriter writes bits, lowest first.
type bitWriter struct {
	b    []byte
	word uint64
	n    int
}

func (w *bitWriter) put(v uint64, n int) {
	w.word |= v << w.n
	w.n += n
	for ; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.word))
		w.word >>= 8
	}
}

// code writes a code, highest bit first.
func (w *bitWriter) code(v uint64, n int) { w.put(bits.Reverse64(v)>>(64-n), n) }

// end fills the last byte.
func (w *bitWriter) end() []byte {
	if w.n > 0 {
		w.put(0, 8-w.n)
	}
	return w.b
}

// huffman is a Huffman code.
type huffman struct {
	lengths []int
	codes   []uint64
}

// newHuffman returns the code with these lengths.
func newHuffman(lengths []int) *huffman {
	h := &huffman{lengths, make([]uint64, len(lengths))}
	v := uint64(0)
	for n := 1; n <= maxBits; n++ {
		for symbol, m := range lengths {
			if m == n {
				h.codes[symbol] = v
				v++
			}
		}
		v <<= 1
	}
	return h
}

// randomHuffman returns a code for some of n symbols, including all of must, and these symbols.
func randomHuffman(r *rand.Rand, n, longest int, must ...int) (h *huffman, used []int) {
	used = r.Perm(n)[:r.Intn(1+r.Intn(n))]
	for _, symbol := range must {
		if !slices.Contains(used, symbol) {
			used = append(used, symbol)
		}
	}
	lengths := make([]int, n)
	if len(used) <= 1 {
		for _, symbol := range used {
			lengths[symbol] = 1
		}
		return newHuffman(lengths), used
	}
	// Split leaves of a tree until there are enough. The tree becomes deep if the last leaf is preferred.
	leaves, deep := []int{0}, r.Intn(2) == 0
	for len(leaves) < len(used) {
		i := r.Intn(len(leaves))
		if deep && r.Intn(4) > 0 {
			i = len(leaves) - 1
		}
		if leaves[i] == longest {
			i = slices.Index(leaves, slices.Min(leaves))
		}
		leaves[i]++
		leaves = append(leaves, leaves[i])
	}
	for i, symbol := range used {
		lengths[symbol] = leaves[i]
	}
	return newHuffman(lengths), used
}

func (h *huffman) put(w *bitWriter, symbol int) { w.code(h.codes[symbol], h.lengths[symbol]) }

// describe writes the lengths of two codes, run-length encoded at random.
func describe(r *rand.Rand, w *bitWriter, literals, distances []int) {
	all := append(slices.Clone(literals), distances...)
	meta, _ := randomHuffman(r, 19, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18)
	w.put(uint64(len(literals)-257), 5)
	w.put(uint64(len(distances)-1), 5)
	w.put(19-4, 4)
	for _, symbol := range order {
		w.put(uint64(meta.lengths[symbol]), 3)
	}
	for i := 0; i < len(all); {
		run := 1
		for i+run < len(all) && all[i+run] == all[i] {
			run++
		}
		switch {
		case all[i] == 0 && run >= 11 && r.Intn(4) > 0:
			run = min(run, 138)
			meta.put(w, 18)
			w.put(uint64(run-11), 7)
		case all[i] == 0 && run >= 3 && r.Intn(4) > 0:
			run = min(run, 10)
			meta.put(w, 17)
			w.put(uint64(run-3), 3)
		case i > 0 && all[i] == all[i-1] && run >= 3 && r.Intn(4) > 0:
			run = min(run, 6)
			meta.put(w, 16)
			w.put(uint64(run-3), 2)
		default:
			run = 1
			meta.put(w, all[i])
		}
		i += run
	}
}

// randomStream returns a stream of blocks of all kinds, and its content.
func randomStream(r *rand.Rand) (src, want []byte) {
	w := &bitWriter{b: []byte{0x78, 0x9c}}
	blocks := 1 + r.Intn(4)
	for i := range blocks {
		last := uint64(0)
		if i == blocks-1 {
			last = 1
		}
		w.put(last, 1)
		switch kind := r.Intn(6); kind {
		case 0:
			n := r.Intn(1 + r.Intn(2000))
			w.put(0, 2)
			w.end()
			w.put(uint64(n), 16)
			w.put(uint64(n^0xffff), 16)
			for range n {
				c := byte(r.Intn(256))
				want = append(want, c)
				w.put(uint64(c), 8)
			}
		case 1:
			w.put(1, 2)
			literals, distances := make([]int, 288), make([]int, 32)
			for i := range literals {
				switch {
				case i < 144 || i >= 280:
					literals[i] = 8
				case i < 256:
					literals[i] = 9
				default:
					literals[i] = 7
				}
			}
			for i := range distances {
				distances[i] = 5
			}
			want = randomSymbols(r, w, want, newHuffman(literals), newHuffman(distances), r.Perm(286), r.Perm(30))
		default:
			w.put(2, 2)
			literals, used := randomHuffman(r, 257+r.Intn(30), 15, endOfBlock)
			distances, far := randomHuffman(r, 1+r.Intn(30), 15)
			describe(r, w, literals.lengths, distances.lengths)
			want = randomSymbols(r, w, want, literals, distances, used, far)
		}
	}
	return append(w.end(), checksum(want)...), want
}

// randomSymbols writes symbols of a block, and appends their bytes to the content.
func randomSymbols(r *rand.Rand, w *bitWriter, want []byte, literals, distances *huffman, used, far []int) []byte {
	for range r.Intn(1 + r.Intn(2000)) {
		symbol := used[r.Intn(len(used))]
		if symbol < 256 {
			literals.put(w, symbol)
			want = append(want, byte(symbol))
			continue
		}
		if symbol == endOfBlock || len(far) == 0 {
			continue
		}
		e := literalSymbols[symbol]
		d := far[r.Intn(len(far))]
		f := distanceSymbols[d]
		more, behind := r.Intn(1<<(e&63)), r.Intn(1<<(f&63))
		n, distance := int(e>>16)+more, int(f>>16)+behind
		if distance > len(want) {
			continue
		}
		literals.put(w, symbol)
		w.put(uint64(more), int(e&63))
		distances.put(w, d)
		w.put(uint64(behind), int(f&63))
		for range n {
			want = append(want, want[len(want)-distance])
		}
	}
	literals.put(w, endOfBlock)
	return want
}
