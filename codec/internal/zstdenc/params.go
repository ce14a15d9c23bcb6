package zstdenc

import "math/bits"

// strategy is a way to find matches.
type strategy uint8

const (
	fastMatch    strategy = iota // one table of hashes, the first match that is there
	doubleMatch                  // two tables, for long and short matches
	greedyMatch                  // rows of positions with the same hash
	lazyMatch                    // and whether there is more at the next position
	lazy2Match                   // or at the one after
	optimalParse                 // a tree of all positions, and the cheapest of all ways through a block
)

// params say how to find matches.
type params struct {
	strategy  strategy
	hashLog   uint8  // of the positions in rows, or of trees
	searchLog uint8  // of the positions to look at
	minMatch  uint8  // bytes that are hashed
	maxStep   uint16 // where nothing is found for long, steps become longer, up to this; the fast searches have no limit
	target    uint16 // the optimal parse takes matches so long without a look at others
	passes    uint8  // of the optimal parse
	thorough  bool   // leave nothing out
	split     bool   // blocks end where the bytes become others
	retryLog  uint8  // of how many times smaller blocks must become to be searched once more; 0: none is
}

// leastGain is the logarithm of the part of a block that its compression has to save.
func (p *params) leastGain() uint {
	if p.strategy == optimalParse {
		return 7
	}
	return 6
}

// sizes of inputs up to which columns of levels are for; another one is for those above.
var columns = [3]int{16 << 10, 128 << 10, 256 << 10}

// levels are the parameters of Blosc's levels for inputs of at most 16, 128 and 256 KiB, and for those above. C-Blosc2 has
// the levels 1, 3, 5 and so on to 15, and 22, of the C library: what these do in size and time is the measure here.
// Levels 7 and 8 differ for inputs up to 256 KiB only.
//
// Shuffled numbers have planes of noise beside planes of bytes that repeat. At the levels 4 to 6 the C library takes long
// steps behind noise, too. From 7 on it finds what is there, and steps of 8 are the longest that do; they also leave all
// positions in their rows.
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
	same(params{strategy: doubleMatch, minMatch: 5, retryLog: 5}),
	same(params{strategy: greedyMatch, searchLog: 3, minMatch: 5, maxStep: 512, retryLog: 5}),
	same(params{strategy: lazyMatch, searchLog: 3, minMatch: 5, maxStep: 512, retryLog: 5}),
	same(params{strategy: lazy2Match, searchLog: 4, minMatch: 5, maxStep: 512, split: true}),
	same(params{strategy: lazy2Match, searchLog: 4, minMatch: 4, maxStep: 8, split: true}),
	{
		small,
		small,
		small,
		{strategy: lazy2Match, searchLog: 4, minMatch: 4, maxStep: 8, split: true},
	},
	same(best),
}

// small are the parameters of level 8 for inputs of which the C library makes less by an optimal parse: images need the
// matches of 3 bytes. Its trees for larger inputs only look for long matches, as rows do in less time.
var small = params{
	strategy: optimalParse, searchLog: 4, minMatch: 3, maxStep: 8, target: 128, passes: 1, split: true,
}

// best are the parameters for those who have time.
var best = params{strategy: optimalParse, searchLog: 8, minMatch: 3, maxStep: 1, target: 999, passes: 2, thorough: true, split: true}

// same returns parameters that are the same for all sizes.
func same(p params) [4]params { return [4]params{p, p, p, p} }

// again is the second search for blocks that compress well.
var again = params{strategy: lazy2Match, searchLog: 4, minMatch: 4, maxStep: 512}

// paramsFor returns the parameters for an input of n bytes, and those for blocks of it that compress well.
func paramsFor(level, n int) (first, second params) {
	column := 0
	for column < len(columns) && n > columns[column] {
		column++
	}
	first = levels[level-1][column]
	second = again
	// Small inputs do with small tables.
	first.hashLog = uint8(min(max(bits.Len(uint(n-1)), 8), 20))
	second.hashLog = first.hashLog
	return first, second
}
