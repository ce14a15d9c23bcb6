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
	hashLog   uint8 // of the positions in rows, or of trees
	searchLog uint8 // of the positions to look at
	minMatch  uint8 // bytes that are hashed
	target    uint16
	passes    uint8 // of the optimal parse
	thorough  bool  // leave nothing out
	split     bool  // blocks end where the bytes become others
	retry     uint8 // what blocks get that compress well, in retries
	retryLog  uint8 // of how many times smaller they have become
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
// Levels 7 and 8 differ for data only that compress well.
var levels = [9][4]params{
	{
		{strategy: fastMatch, minMatch: 5},
		{strategy: fastMatch, minMatch: 6},
		{strategy: fastMatch, minMatch: 6},
		{strategy: fastMatch, minMatch: 7, retry: withRows, retryLog: 7},
	},
	{
		{strategy: fastMatch, minMatch: 5},
		{strategy: fastMatch, minMatch: 5},
		{strategy: fastMatch, minMatch: 5},
		{strategy: fastMatch, minMatch: 5, retry: withRows, retryLog: 7},
	},
	same(params{strategy: doubleMatch, minMatch: 5, retry: withRows, retryLog: 5}),
	same(params{strategy: greedyMatch, searchLog: 3, minMatch: 5, retry: withRows, retryLog: 5}),
	same(params{strategy: lazyMatch, searchLog: 3, minMatch: 5, retry: withRows, retryLog: 5}),
	same(params{strategy: lazy2Match, searchLog: 4, minMatch: 5, split: true}),
	same(params{strategy: lazy2Match, searchLog: 4, minMatch: 4, split: true}),
	same(params{strategy: lazy2Match, searchLog: 4, minMatch: 4, split: true, retry: withTree, retryLog: 5}),
	same(best),
}

// best are the parameters for those who have time.
var best = params{strategy: optimalParse, searchLog: 8, minMatch: 3, target: 999, passes: 2, thorough: true, split: true}

// same returns parameters that are the same for all sizes.
func same(p params) [4]params { return [4]params{p, p, p, p} }

// retries are the second search for blocks that compress well, by the number that levels have.
var retries = [...]params{
	withRows: {strategy: lazy2Match, searchLog: 4, minMatch: 4},
	withTree: {strategy: optimalParse, searchLog: 5, minMatch: 3, target: 256, passes: 2},
}

// The second searches.
const (
	withRows = 1 + iota
	withTree
)

// paramsFor returns the parameters for an input of n bytes, and those for blocks of it that compress well.
func paramsFor(level, n int) (first, second params) {
	column := 0
	for column < len(columns) && n > columns[column] {
		column++
	}
	first = levels[level-1][column]
	second = retries[first.retry]
	// Small inputs do with small tables.
	first.hashLog = uint8(min(max(bits.Len(uint(n-1)), 8), 20))
	second.hashLog = first.hashLog
	return first, second
}
