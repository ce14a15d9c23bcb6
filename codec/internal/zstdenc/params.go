package zstdenc

import "math/bits"

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

// leastGain returns the logarithm of the part of a block that its compression must save.
func (p *params) leastGain() uint {
	if p.strategy == optimalParse {
		return 7
	}
	return 6
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
