package zstdenc

import (
	"encoding/binary"
	"math/bits"
)

// strategy is a method to find matches.
type strategy uint8

const (
	fastMatch    strategy = iota // one table of hashes, the first match found
	doubleMatch                  // two tables, for long and short matches
	greedyMatch                  // rows of positions with the same hash
	lazyMatch                    // also tries the next position, and perhaps the one after it
	optimalParse                 // a tree of all positions, and the cheapest path through a block
)

// params are the parameters of a search.
type params struct {
	strategy  strategy
	hashLog   uint8 // logarithm of the number of positions in rows, or of trees
	searchLog uint8 // logarithm of the number of positions to examine
	minMatch  uint8 // number of hashed bytes
	// maxStep is the largest step where the search finds no match for a long time. The fast searches have no limit.
	maxStep  uint16
	target   uint16 // the optimal parse takes matches of this length without trying others
	passes   uint8  // most passes of the optimal parse; at least 2 for blocks with few sequences
	thorough bool   // skip no positions
	patient  bool   // lazyMatch tries the second position for matches of all lengths
	split    bool   // blocks end where the statistics of the bytes change
	sample   bool   // a sample of the input decides whether to hash 4 bytes instead of minMatch
	retryLog uint8  // logarithm of the compression ratio from which a block is searched again; 0 = never
}

// columns are the largest sizes of inputs for the columns of levels. The last column is for larger inputs.
var columns = [3]int{16 << 10, 128 << 10, 256 << 10}

// levels are the parameters of Blosc's levels for inputs of at most 16, 128 and 256 KiB, and for larger inputs.
// C-Blosc2 uses the levels 1, 3, 5 and so on to 15, and 22, of the C library; their sizes and times are the reference
// here. Levels 7 and 8 differ only for inputs up to 256 KiB.
//
// Shuffled numbers have planes of noise next to planes of bytes that repeat. At levels 4 to 6 the C library, too, takes
// long steps after noise. From level 7 up it finds the matches there. For that, steps must not exceed 8, which also
// enter all positions into their rows, except in long noise.
var levels = [9][4]params{
	{
		{strategy: fastMatch, minMatch: 5},
		{strategy: fastMatch, minMatch: 6},
		{strategy: fastMatch, minMatch: 6},
		{strategy: fastMatch, minMatch: 7, retryLog: 7},
	},
	{
		{strategy: fastMatch, minMatch: 5},
		{strategy: fastMatch, minMatch: 5},
		{strategy: fastMatch, minMatch: 5},
		{strategy: fastMatch, minMatch: 5, retryLog: 7},
	},
	same(params{strategy: doubleMatch, minMatch: 4, retryLog: 5}),
	same(params{strategy: greedyMatch, searchLog: 3, minMatch: 5, maxStep: 512, sample: true, retryLog: 5}),
	same(params{strategy: lazyMatch, searchLog: 3, minMatch: 5, maxStep: 512, sample: true, retryLog: 5}),
	same(params{strategy: lazyMatch, searchLog: 4, minMatch: 5, maxStep: 512, sample: true, patient: true, split: true}),
	same(params{strategy: lazyMatch, searchLog: 4, minMatch: 4, maxStep: 8, patient: true, split: true}),
	{
		small,
		small,
		small,
		{strategy: lazyMatch, searchLog: 4, minMatch: 4, maxStep: 8, patient: true, split: true},
	},
	same(best),
}

// small are the parameters of level 8 for inputs that the C library compresses better with an optimal parse: images
// need the matches of 3 bytes. For larger inputs its trees find only long matches, like rows in less time.
var small = params{
	strategy: optimalParse, searchLog: 4, minMatch: 3, maxStep: 8, target: 128, passes: 1, split: true,
}

// best are the parameters for the highest level, at any cost in time.
var best = params{strategy: optimalParse, searchLog: 8, minMatch: 3, maxStep: 1, target: 999, passes: 2, thorough: true, split: true}

// same returns parameters that are the same for all sizes.
func same(p params) [4]params { return [4]params{p, p, p, p} }

// again are the parameters of the second search for blocks that compress well.
var again = params{strategy: greedyMatch, searchLog: 3, minMatch: 4, maxStep: 512}

// paramsFor returns the parameters for an input of n bytes, and for its blocks that compress well.
func paramsFor(level, n int) (first, second params) {
	column := 0
	for column < len(columns) && n > columns[column] {
		column++
	}
	first = levels[level-1][column]
	second = again
	// Small inputs need only small tables.
	first.hashLog = uint8(min(max(bits.Len(uint(n-1)), 8), 20))
	second.hashLog = first.hashLog
	return first, second
}

// tables are the tables in which the searches look up positions. All hold positions plus the encoder's base.
type tables struct {
	fast   *[1 << fastLog]uint32
	double *doubleTables
	rows   rows
	roots  []uint32 // roots of trees
}

// fit allocates the tables that a search needs.
func (t *tables) fit(p *params) {
	switch p.strategy {
	case fastMatch:
		if t.fast == nil {
			t.fast = new([1 << fastLog]uint32)
		}
	case doubleMatch:
		if t.double == nil {
			t.double = new(doubleTables)
		}
	case optimalParse:
		resize(&t.roots, 1<<p.hashLog)
	default:
		resize(&t.rows.positions, 1<<p.hashLog)
		resize(&t.rows.tags, 1<<p.hashLog)
	}
}

func (t *tables) clear() {
	if t.fast != nil {
		clear(t.fast[:])
	}
	if t.double != nil {
		*t.double = doubleTables{}
	}
	clear(t.rows.positions)
	clear(t.rows.tags)
	clear(t.roots)
}

// resize makes *s a slice of at least n items, which are zeros or old entries.
func resize[T any](s *[]T, n int) {
	if len(*s) < n {
		*s = make([]T, n)
	}
}

// prime mixes the hashed bits into the high bits.
const prime = 0x9e3779b185ebca87

// factor returns the factor of 8 bytes whose product has a hash of the n low bytes in its high bits. The other bytes
// are shifted out.
func factor(n uint8) uint64 { return prime << (64 - 8*n&63) }

// hashed returns the mask of the n low bytes.
func hashed(n uint8) uint64 { return 1<<(8*n) - 1 }

// load32 and load64 load from b[i:], which must be long enough. In this form, the compiler emits less code than for a
// slice.
func load32(b []byte, i int) uint32 {
	_, _ = b[i], b[i+3]
	return uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16 | uint32(b[i+3])<<24
}

func load64(b []byte, i int) uint64 {
	_, _ = b[i], b[i+7]
	return uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 |
		uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
}

// position returns the position of an entry of a table. An empty entry becomes the first position, which may match too:
// a branch would often be mispredicted.
func position(entry, base uint32) int {
	d := int32(entry - base)
	return int(d &^ (d >> 31))
}

// hash hashes the low n bytes of v to log bits.
func hash(v uint64, n, log uint8) uint32 {
	return uint32(v << (64 - 8*n&63) * prime >> (64 - log&63))
}

// matchLength returns the number of equal bytes at the start of b[at:] and b[from:], for from < at.
func matchLength(b []byte, from, at int) int {
	p := b[at:]
	q := b[from:]
	q = q[:len(p)]
	n := 0
	for ; n <= len(p)-16; n += 16 {
		x, y := p[n:n+16], q[n:n+16]
		if d := binary.LittleEndian.Uint64(x) ^ binary.LittleEndian.Uint64(y); d != 0 {
			return n + bits.TrailingZeros64(d)>>3
		}
		if d := binary.LittleEndian.Uint64(x[8:]) ^ binary.LittleEndian.Uint64(y[8:]); d != 0 {
			return n + 8 + bits.TrailingZeros64(d)>>3
		}
	}
	for n < len(p) && p[n] == q[n] {
		n++
	}
	return n
}
