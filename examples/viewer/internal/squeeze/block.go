package squeeze

import (
	"math"
	"math/bits"
	"slices"
)

// Symbols of literals and lengths, and of distances.
const (
	endOfBlock  = 256
	literals    = 286
	distances   = 30
	maxCode     = 15
	maxTreeCode = 7
)

// token is a literal, or a match if its distance is not 0.
type token struct{ value, distance uint16 }

// block is a block of dynamic Huffman codes, which holds the input from start to end.
type block struct {
	start, end int
	tokens     []token
	lit        [literals]int // counts of symbols
	dist       [distances]int
	size       int // in bits; 0 if it is not known
}

// costs are the bits of each literal, length and distance symbol, with the extra bits.
type costs struct {
	literal  [256]float32
	length   [maxLength + 1]float32
	distance [distances]float32
}

// flat returns costs for a first choice.
func flat() (c costs) {
	for i := range c.literal {
		c.literal[i] = 8
	}
	for n := minLength; n <= maxLength; n++ {
		_, extra, _ := lengthSymbol(n)
		c.length[n] = float32(7 + extra)
	}
	for s := range c.distance {
		c.distance[s] = float32(5 + distanceExtra(s))
	}
	return c
}

// costs returns the costs under the best codes for the tokens of the block.
func (x *block) costs() (c costs) {
	lit, dist := entropies(x.lit[:]), entropies(x.dist[:])
	for i := range c.literal {
		c.literal[i] = lit[i]
	}
	for n := minLength; n <= maxLength; n++ {
		s, extra, _ := lengthSymbol(n)
		c.length[n] = lit[s] + float32(extra)
	}
	for s := range c.distance {
		c.distance[s] = dist[s] + float32(distanceExtra(s))
	}
	return c
}

// entropies returns the bits of each symbol. A symbol that does not occur counts as one that occurs once.
func entropies(counts []int) []float32 {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	out := make([]float32, len(counts))
	for i, n := range counts {
		out[i] = float32(math.Log2(float64(max(sum, 1)) / float64(max(n, 1))))
	}
	return out
}

// choose sets the tokens to those that cost least.
func (x *block) choose(b []byte, m *matches, c *costs) {
	n := x.end - x.start
	cost := make([]float32, n+1) // of the bytes before
	last := make([]token, n+1)   // the token that ends there
	for i := 1; i <= n; i++ {
		cost[i] = math.MaxFloat32
	}
	for i := range n {
		if v := b[x.start+i]; cost[i]+c.literal[v] < cost[i+1] {
			cost[i+1], last[i+1] = cost[i]+c.literal[v], token{value: uint16(v)}
		}
		length := minLength - 1
		for _, y := range m.at(x.start + i) {
			most := min(int(y.length), n-i)
			base := cost[i] + c.distance[distanceSymbol(int(y.distance))]
			if most == maxLength {
				length = maxLength - 1 // shorter ones are hardly better
			}
			for length < most {
				length++
				if to := base + c.length[length]; to < cost[i+length] {
					cost[i+length], last[i+length] = to, token{uint16(length), y.distance}
				}
			}
		}
	}
	x.tokens = x.tokens[:0]
	for i := n; i > 0; {
		t := last[i]
		x.tokens = append(x.tokens, t)
		if i--; t.distance > 0 {
			i -= int(t.value) - 1
		}
	}
	slices.Reverse(x.tokens)
	x.count()
}

// count counts the symbols of the tokens.
func (x *block) count() {
	x.lit, x.dist, x.size = [literals]int{endOfBlock: 1}, [distances]int{}, 0
	for _, t := range x.tokens {
		if t.distance == 0 {
			x.lit[t.value]++
			continue
		}
		s, _, _ := lengthSymbol(int(t.value))
		x.lit[s]++
		x.dist[distanceSymbol(int(t.distance))]++
	}
}

// with returns one block with the tokens of x and y.
func (x *block) with(y *block) *block {
	z := &block{start: x.start, end: y.end, tokens: append(slices.Clip(x.tokens), y.tokens...)}
	z.count()
	return z
}

// bits returns the size of the block in bits.
func (x *block) bits() int {
	if x.size == 0 {
		t := x.tree()
		x.size = 17 + 3*t.codes + t.bits
		for s, n := range x.lit {
			x.size += n * int(t.lit[s])
			if s > endOfBlock {
				x.size += n * lengthExtra(s)
			}
		}
		for s, n := range x.dist {
			x.size += n * (int(t.dist[s]) + distanceExtra(s))
		}
	}
	return x.size
}

// lengthSymbol returns the symbol of a length, the number of its extra bits, and their value.
func lengthSymbol(n int) (symbol, extra, value int) {
	switch n -= minLength; {
	case n == maxLength-minLength:
		return literals - 1, 0, 0
	case n < 8:
		return endOfBlock + 1 + n, 0, 0
	}
	extra = bits.Len(uint(n)) - 3
	return endOfBlock + 1 + 4*extra + n>>extra, extra, n & (1<<extra - 1)
}

// lengthExtra returns the number of extra bits of a length symbol.
func lengthExtra(s int) int {
	if s == literals-1 {
		return 0
	}
	return max(0, (s-endOfBlock-1)/4-1)
}

// distanceSymbol returns the symbol of a distance.
func distanceSymbol(d int) int {
	if d--; d < 4 {
		return d
	}
	extra := bits.Len(uint(d)) - 2
	return 2*extra + d>>extra
}

// distanceExtra returns the number of extra bits of a distance symbol.
func distanceExtra(s int) int { return max(0, s/2-1) }
