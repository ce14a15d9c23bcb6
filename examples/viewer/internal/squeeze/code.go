package squeeze

import (
	"cmp"
	"math/bits"
	"slices"
)

// tree is the codes of a block as they are written: the lengths of all codes, and the symbols that encode these.
type tree struct {
	lit     [literals]uint8 // lengths of the codes
	dist    [distances]uint8
	nlit    int
	ndist   int
	runs    []run     // of lengths
	lengths [19]uint8 // of the codes of runs
	codes   int       // lengths of codes of runs that are written
	bits    int       // of all runs
}

// run is a symbol that encodes lengths, with its extra bits.
type run struct {
	symbol       uint8
	extra, value uint8
}

// order is the order in which the lengths of the codes of runs are written.
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// tree returns the codes of a block.
func (x *block) tree() *tree {
	t := new(tree)
	copy(t.lit[:], codeLengths(x.lit[:], maxCode))
	copy(t.dist[:], codeLengths(x.dist[:], maxCode))
	t.nlit, t.ndist = endOfBlock+1, 1
	for s, n := range t.lit {
		if n > 0 {
			t.nlit = max(t.nlit, s+1)
		}
	}
	for s, n := range t.dist {
		if n > 0 {
			t.ndist = s + 1
		}
	}
	all := append(slices.Clone(t.lit[:t.nlit]), t.dist[:t.ndist]...)
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		t.addRun(all[i], n)
		i += n
	}
	var counts [19]int
	for _, r := range t.runs {
		counts[r.symbol]++
	}
	copy(t.lengths[:], codeLengths(counts[:], maxTreeCode))
	for t.codes = len(order); t.codes > 4 && t.lengths[order[t.codes-1]] == 0; t.codes-- {
	}
	for _, r := range t.runs {
		t.bits += int(t.lengths[r.symbol] + r.extra)
	}
	return t
}

// addRun adds n equal lengths.
func (t *tree) addRun(length uint8, n int) {
	if length > 0 {
		t.runs = append(t.runs, run{symbol: length})
		n--
	}
	for n > 0 {
		switch k := min(n, 138); {
		case length == 0 && k > 10:
			t.runs = append(t.runs, run{18, 7, uint8(k - 11)})
			n -= k
		case length == 0 && k > 2:
			t.runs = append(t.runs, run{17, 3, uint8(k - 3)})
			n -= k
		case length > 0 && k > 2:
			k = min(k, 6)
			t.runs = append(t.runs, run{16, 2, uint8(k - 3)})
			n -= k
		default:
			t.runs = append(t.runs, run{symbol: length})
			n--
		}
	}
}

// node is a symbol, or two nodes, in codeLengths.
type node struct {
	count  int
	symbol int // or -1
	a, b   *node
}

// codeLengths returns the lengths of the best prefix codes of at most most bits, by the package-merge algorithm. There
// are codes for two symbols at least, so that each reader takes them.
func codeLengths(counts []int, most int) []uint8 {
	var leaves []*node
	for s, n := range counts {
		if n > 0 {
			leaves = append(leaves, &node{count: n, symbol: s})
		}
	}
	for s := 0; len(leaves) < 2; s++ {
		if counts[s] == 0 {
			leaves = append(leaves, &node{symbol: s})
		}
	}
	byCount := func(a, b *node) int { return cmp.Compare(a.count, b.count) }
	slices.SortStableFunc(leaves, byCount)
	list := leaves
	for range most - 1 {
		next := slices.Clone(leaves)
		for i := 0; i+1 < len(list); i += 2 {
			next = append(next, &node{list[i].count + list[i+1].count, -1, list[i], list[i+1]})
		}
		slices.SortStableFunc(next, byCount)
		list = next
	}
	lengths := make([]uint8, len(counts))
	var add func(x *node)
	add = func(x *node) {
		if x.symbol >= 0 {
			lengths[x.symbol]++
			return
		}
		add(x.a)
		add(x.b)
	}
	for _, x := range list[:2*len(leaves)-2] {
		add(x)
	}
	return lengths
}

// canonical returns the codes of the given lengths, with their first bit lowest.
func canonical(lengths []uint8) []uint16 {
	var next [maxCode + 2]uint16
	for _, n := range lengths {
		if n > 0 {
			next[n+1]++
		}
	}
	for n := 1; n < len(next); n++ {
		next[n] = (next[n-1] + next[n]) << 1
	}
	return assign(lengths, next[:])
}

// assign gives the codes of each length to the symbols in their order. next[n] is the first code of n bits.
func assign(lengths []uint8, next []uint16) []uint16 {
	out := make([]uint16, len(lengths))
	for s, n := range lengths {
		if n > 0 {
			out[s] = bits.Reverse16(next[n]) >> (16 - n)
			next[n]++
		}
	}
	return out
}

// write writes the block.
func (x *block) write(w *bitWriter, final bool) {
	t := x.tree()
	head := 2 << 1 // dynamic codes
	if final {
		head |= 1
	}
	w.put(head, 3)
	w.put(t.nlit-257, 5)
	w.put(t.ndist-1, 5)
	w.put(t.codes-4, 4)
	for _, s := range order[:t.codes] {
		w.put(int(t.lengths[s]), 3)
	}
	codes := canonical(t.lengths[:])
	for _, r := range t.runs {
		w.put(int(codes[r.symbol]), int(t.lengths[r.symbol]))
		w.put(int(r.value), int(r.extra))
	}
	lit, dist := canonical(t.lit[:]), canonical(t.dist[:])
	for _, y := range x.tokens {
		s, extra, value := int(y.value), 0, 0
		if y.distance > 0 {
			s, extra, value = lengthSymbol(int(y.value))
		}
		w.put(int(lit[s]), int(t.lit[s]))
		w.put(value, extra)
		if y.distance > 0 {
			s := distanceSymbol(int(y.distance))
			w.put(int(dist[s]), int(t.dist[s]))
			extra := distanceExtra(s)
			w.put((int(y.distance)-1)&(1<<extra-1), extra)
		}
	}
	w.put(int(lit[endOfBlock]), int(t.lit[endOfBlock]))
}

// bitWriter writes bits, the lowest first.
type bitWriter struct {
	out  []byte
	bits uint64
	n    int
}

// put writes the lowest n bits of v, which has no others.
func (w *bitWriter) put(v, n int) {
	w.bits |= uint64(v) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
}

// flush writes the last bits and returns all bytes.
func (w *bitWriter) flush() []byte {
	if w.n > 0 {
		w.out = append(w.out, byte(w.bits))
	}
	return w.out
}
