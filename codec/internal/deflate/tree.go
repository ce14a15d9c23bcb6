package deflate

import "math/bits"

// Numbers of symbols.
const (
	numLiterals  = 286 // literals, end of block, lengths
	numDistances = 30
	numLengths   = 19 // lengths of codes, and repetitions of lengths
	endOfBlock   = 256
	maxBits      = 15 // of one code
)

// code is a Huffman code: the lengths and the codes, lowest bit first, of its symbols.
type code struct {
	lengths [numLiterals + 2]uint8
	codes   [numLiterals + 2]uint16
	last    int // last symbol that has a code
}

// builder builds the code for the frequencies of symbols.
//
// It merges the two least frequent nodes until one is left. Among equally frequent nodes the depth decides, then their
// order in a heap. If a code gets too long, a symbol of the longest shorter length moves down and takes one of the
// longest codes next to it. All of these rules affect the lengths of codes, so they are those of the C library.
type builder struct {
	heap   [numLiterals + 1]uint64   // frequency, depth (8 bits), node (16 bits); the first entry is not used
	sorted [2 * numLiterals]uint16   // nodes in the order in which they left the heap
	parent [2*numLiterals + 1]uint16 // of nodes; symbols are the first
	depth  [2*numLiterals + 1]uint8  // below the root
}

// nodeBits is the position of the depth of a node in its heap entry.
const nodeBits = 16

// sift inserts an entry into the heap of n entries at i or below.
func (b *builder) sift(v uint64, i, n int) {
	heap := &b.heap
	for j := 2 * i; j <= n; j *= 2 {
		if j < n && heap[j+1]>>nodeBits <= heap[j]>>nodeBits {
			j++
		}
		if v>>nodeBits <= heap[j]>>nodeBits {
			break
		}
		heap[i] = heap[j]
		i = j
	}
	heap[i] = v
}

// build builds the code of symbols with these frequencies, with codes of at most longest bits.
func (b *builder) build(c *code, freqs []uint16, longest int) {
	heap, n := &b.heap, 0
	c.last = -1
	for symbol, f := range freqs {
		c.lengths[symbol] = 0
		if f != 0 {
			n++
			heap[n] = uint64(f)<<(nodeBits+8) | uint64(symbol)
			c.last = symbol
		}
	}
	for n < 2 { // a code has at least two symbols
		symbol := 0
		if c.last < 2 {
			c.last++
			symbol = c.last
		}
		n++
		heap[n] = 1<<(nodeBits+8) | uint64(symbol)
	}
	for i := n / 2; i >= 1; i-- {
		b.sift(heap[i], i, n)
	}
	node, count := len(freqs), 0
	for n >= 2 {
		x := heap[1]
		n--
		b.sift(heap[n+1], 1, n)
		y := heap[1]
		b.sorted[count], b.sorted[count+1] = uint16(x), uint16(y)
		count += 2
		b.parent[uint16(x)], b.parent[uint16(y)] = uint16(node), uint16(node)
		depth := max(x>>nodeBits&0xff, y>>nodeBits&0xff) + 1
		sum := x>>(nodeBits+8) + y>>(nodeBits+8)
		b.sift(sum<<(nodeBits+8)|depth<<nodeBits|uint64(node), 1, n)
		node++
	}
	b.setLengths(c, b.sorted[:count], node-1, longest)
}

// setLengths sets the lengths of codes from the tree, and the codes.
func (b *builder) setLengths(c *code, sorted []uint16, root, longest int) {
	var counts [maxBits + 1]int
	over := 0
	b.depth[root] = 0
	for i := len(sorted) - 1; i >= 0; i-- {
		node := sorted[i]
		n := b.depth[b.parent[node]] + 1
		if int(n) > longest {
			n = uint8(longest)
			over++
		}
		b.depth[node] = n
		if int(node) <= c.last {
			c.lengths[node] = n
			counts[n]++
		}
	}
	if over > 0 {
		for ; over > 0; over -= 2 {
			n := longest - 1
			for counts[n] == 0 {
				n--
			}
			counts[n]--
			counts[n+1] += 2
			counts[longest]--
		}
		// The rarest symbols get the longest codes.
		i := 0
		for n := longest; n > 0; n-- {
			for left := counts[n]; left > 0; i++ {
				if node := int(sorted[i]); node <= c.last {
					c.lengths[node] = uint8(n)
					left--
				}
			}
		}
	}
	c.setCodes(&counts)
}

// setCodes sets the codes for the lengths. counts holds the number of codes of each length.
func (c *code) setCodes(counts *[maxBits + 1]int) {
	var next [maxBits + 2]uint16
	v := 0
	for n := 1; n <= maxBits; n++ {
		next[n] = uint16(v)
		v = (v + counts[n]) << 1
	}
	for symbol, n := range c.lengths[:c.last+1] {
		if n != 0 {
			c.codes[symbol] = bits.Reverse16(next[n]) >> (16 - n)
			next[n]++
		}
	}
}

// cost returns the total number of bits of the codes of symbols with these frequencies.
func (c *code) cost(freqs []uint16) int {
	sum := 0
	for symbol, f := range freqs {
		sum += int(f) * int(c.lengths[symbol])
	}
	return sum
}

// The preset codes.
var presetLiterals, presetDistances = presetCodes()

func presetCodes() (literals, distances code) {
	var counts [maxBits + 1]int
	literals.last = len(literals.lengths) - 1
	for symbol := range literals.lengths {
		n := 8
		switch {
		case symbol >= 280:
		case symbol >= 256:
			n = 7
		case symbol >= 144:
			n = 9
		}
		literals.lengths[symbol] = uint8(n)
		counts[n]++
	}
	literals.setCodes(&counts)
	distances.last = numDistances - 1
	for symbol := range numDistances {
		distances.lengths[symbol] = 5
	}
	distances.setCodes(&[maxBits + 1]int{5: numDistances})
	return literals, distances
}
