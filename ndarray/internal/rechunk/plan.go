// Package rechunk plans how to copy an array to another partition within a bound on memory, possibly with copies in
// partitions between the two. It is arithmetic only: it reads and writes nothing.
package rechunk

import (
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// Problem is what to plan. All lengths of chunks are at least 1.
type Problem struct {
	Shape     []int64
	ItemSize  int64   // bytes
	From, To  []int64 // shapes of the chunks that are read, and of those that are written
	MaxMemory int64   // largest size of a tile in bytes
	Overhead  int64   // what opening a chunk costs, as the number of bytes that could be read in the same time
}

// Stage copies all items from one array to another, tile by tile. Tiles begin at multiples of their shape. A tile that
// does not end at the end of the array consists of whole chunks of the array that is written, so tiles can be copied in
// any order and at the same time.
type Stage struct {
	Tile         []int64 // shape of a tile
	Chunks       []int64 // shape of the chunks that are written
	Tiles        int64   // number of tiles
	Memory       int64   // bytes of the largest tile
	Reads        int64   // number of chunks that are read; a chunk counts again for each tile that has items of it
	Writes       int64   // number of chunks that are written, each once
	BytesRead    int64   // decoded bytes of the chunks that are read, without padding
	BytesWritten int64   // bytes of all items
}

// maxBetween is the largest number of arrays between the first and the last.
const maxBetween = 4

// New returns the stages of the cheapest plan that was found: a single one, which may read chunks more than once, or
// several ones that read each chunk once. It returns ErrTooLarge if a chunk of To exceeds MaxMemory, or if numbers
// overflow, and ErrShape if the lengths do not match.
func New(p Problem) ([]Stage, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	best := []Stage{p.direct()}
	least := p.Cost(best...)
	for between := 1; between <= maxBetween; between++ {
		stages := p.through(between)
		if stages == nil {
			break
		}
		if c := p.Cost(stages...); c < least {
			best, least = stages, c
		}
	}
	for _, s := range best {
		if s.BytesRead == math.MaxInt64 {
			return nil, fmt.Errorf("ndarray: %w: a copy of shape %v that reads more than 2^63-1 bytes", errs.ErrTooLarge, p.Shape)
		}
	}
	return best, nil
}

func (p *Problem) check() error {
	n := len(p.Shape)
	if len(p.From) != n || len(p.To) != n {
		return fmt.Errorf("ndarray: %w: chunks of %v and %v for a shape of %v", errs.ErrShape, p.From, p.To, p.Shape)
	}
	all := float64(p.ItemSize)
	for i, length := range p.Shape {
		if length < 0 || p.From[i] < 1 || p.To[i] < 1 || p.ItemSize < 1 {
			return fmt.Errorf("ndarray: %w: axis %d: length %d, chunks of %d and %d", errs.ErrShape, i, length, p.From[i], p.To[i])
		}
		all *= float64(length) + float64(p.From[i]) + float64(p.To[i]) // the sum of integers may overflow
	}
	if all > math.MaxInt64/(1<<16) {
		return fmt.Errorf("ndarray: %w: shape %v", errs.ErrTooLarge, p.Shape)
	}
	if size, most := p.bytes(p.To), min(p.MaxMemory, coder.MaxBytes); size > most {
		return fmt.Errorf("ndarray: %w: a chunk of %v has %d bytes, want at most %d", errs.ErrTooLarge, p.To, size, most)
	}
	return nil
}

// bytes returns the size of a tile of this shape at the beginning of the array.
func (p *Problem) bytes(tile []int64) int64 {
	n := p.ItemSize
	for i, length := range tile {
		n *= min(length, p.Shape[i])
	}
	return n
}

// Cost returns the cost of a plan in bytes.
func (p *Problem) Cost(stages ...Stage) float64 {
	sum := 0.0
	for _, s := range stages {
		sum += float64(s.BytesRead) + float64(s.BytesWritten) + float64(p.Overhead)*(float64(s.Reads)+float64(s.Writes))
	}
	return sum
}

// Stage returns the stage that copies chunks of a shape to chunks of another one. BytesRead is at most math.MaxInt64.
func (p *Problem) Stage(from, tile, to []int64) Stage {
	s := Stage{Tiles: 1, Memory: p.bytes(tile), Reads: 1, Writes: 1, BytesRead: p.ItemSize, BytesWritten: p.ItemSize}
	for i, n := range p.Shape {
		length := clip(tile[i], n)
		s.Tile = append(s.Tile, length)
		s.Chunks = append(s.Chunks, to[i])
		reads, items := overlaps(n, length, from[i])
		s.Tiles *= grid.CeilDiv(n, length)
		s.Reads *= reads
		s.BytesRead = times(s.BytesRead, items)
		s.Writes *= grid.CeilDiv(n, to[i])
		s.BytesWritten *= n
	}
	return s
}

// clip returns a length that covers an axis of n items as a tile of a given length does.
func clip(length, n int64) int64 { return max(1, min(length, n)) }

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// times returns a*b, or math.MaxInt64 if it is larger. Neither may be negative.
func times(a, b int64) int64 {
	n, ok := grid.Multiply(a, b)
	if !ok {
		return math.MaxInt64
	}
	return n
}

// lcm returns the least common multiple, or math.MaxInt64 if it is larger.
func lcm(a, b int64) int64 { return times(a/gcd(a, b), b) }

// overlaps returns how many pairs of a tile and a chunk have items in common along an axis of n items, and the sum of
// the lengths of the chunks in these pairs, which is at most math.MaxInt64.
func overlaps(n, tile, chunk int64) (pairs, items int64) {
	if n == 0 {
		return 0, 0
	}
	tiles, chunks := grid.CeilDiv(n, tile), grid.CeilDiv(n, chunk)
	// The pairs are the intervals between the ends of tiles and chunks. Some tiles and chunks end together.
	pairs = tiles + chunks - grid.CeilDiv(n, lcm(tile, chunk))
	start := (chunks - 1) * chunk
	last := tiles - start/tile // tiles with items of the last chunk
	full, rest := times(pairs-last, chunk), times(last, n-start)
	return pairs, full + min(rest, math.MaxInt64-full)
}

// direct returns the plan with one stage: tiles of whole new chunks that read the fewest old chunks.
func (p *Problem) direct() Stage {
	tile := slices.Clone(p.To)
	p.grow(tile, p.To, func(i int, length int64) float64 {
		_, items := overlaps(p.Shape[i], clip(length, p.Shape[i]), p.From[i])
		return -math.Log(float64(max(items, 1)))
	}, p.From)
	return p.Stage(p.From, tile, p.To)
}

// grow makes a tile larger, axis by axis, as long as it fits in memory and gains by it. The gain of an axis is that of
// its length. The lengths stay multiples of unit, or become those of the axes. other has lengths to which the tile may
// be aligned.
func (p *Problem) grow(tile, unit []int64, value func(i int, length int64) float64, other []int64) {
	for {
		best, axis, next := 1e-9, -1, int64(0)
		for i, n := range p.Shape {
			now := value(i, tile[i])
			for _, length := range longer(tile[i], unit[i], other[i], n) {
				was := tile[i]
				tile[i] = length
				fits := p.bytes(tile) <= p.MaxMemory
				tile[i] = was
				if !fits {
					continue
				}
				gain := (value(i, length) - now) / math.Log(float64(min(length, n))/float64(min(was, n)))
				if gain > best {
					best, axis, next = gain, i, length
				}
			}
		}
		if axis < 0 {
			return
		}
		tile[axis] = next
	}
}

// longer returns lengths of a tile along an axis of n items that are greater than length: multiples of unit, also those
// that are aligned to another length, and the whole axis.
func longer(length, unit, other, n int64) []int64 {
	if length >= n {
		return nil
	}
	list := []int64{n}
	add := func(x int64) {
		if x > length && x < n {
			list = append(list, x)
		}
	}
	for _, k := range []int64{1, 2, 3, 5} { // of a long tile, smaller steps take long and gain nothing
		add((length/unit + k*max(1, length/unit/1024)) * unit)
	}
	for _, k := range [][2]int64{{2, 1}, {3, 1}, {4, 1}, {5, 1}, {8, 1}, {3, 2}, {5, 2}, {5, 3}, {5, 4}} {
		if length <= n/k[0]*k[1] {
			add(length * k[0] / k[1] / unit * unit)
		}
	}
	if m := lcm(unit, other); m < n {
		add((length/m + 1) * m)
	}
	return list
}

// through returns the plan with some arrays between the first and the last: it reads each chunk once. It returns nil if
// a chunk that is read exceeds the memory.
func (p *Problem) through(between int) []Stage {
	if p.bytes(p.From) > p.MaxMemory {
		return nil
	}
	// The first tiles consist of whole old chunks, the last ones of whole new chunks. Grow first those along axes where
	// the other one is longer.
	first, last := slices.Clone(p.From), slices.Clone(p.To)
	for range 2 {
		p.grow(first, p.From, func(i int, length int64) float64 { return p.common(i, length, last[i]) }, last)
		p.grow(last, p.To, func(i int, length int64) float64 { return p.common(i, length, first[i]) }, first)
	}
	tiles := [][]int64{first}
	for j := 1; j < between; j++ {
		tiles = append(tiles, p.interpolate(first, last, float64(j)/float64(between)))
	}
	tiles = append(tiles, last)
	var stages []Stage
	chunks := p.From
	for j, tile := range tiles {
		to := p.To
		if j+1 < len(tiles) {
			to = make([]int64, len(p.Shape))
			for i, n := range p.Shape {
				to[i] = piece(tile[i], tiles[j+1][i], n)
			}
		}
		if p.bytes(tile) > p.MaxMemory || p.bytes(to) > coder.MaxBytes {
			return nil
		}
		stages = append(stages, p.Stage(chunks, tile, to))
		chunks = to
	}
	return stages
}

// common returns the logarithm of the length of chunks along an axis that divide two tiles.
func (p *Problem) common(i int, a, b int64) float64 {
	return math.Log(float64(piece(a, b, p.Shape[i])))
}

// piece returns the length of chunks along an axis of n items of which tiles of two lengths consist.
func piece(a, b, n int64) int64 {
	switch {
	case a >= n:
		return clip(b, n)
	case b >= n:
		return clip(a, n)
	}
	return gcd(a, b)
}

// interpolate returns a tile between two others: part 0 is the first, 1 the last.
func (p *Problem) interpolate(first, last []int64, part float64) []int64 {
	tile := make([]int64, len(p.Shape))
	for i, n := range p.Shape {
		a, b := clip(first[i], n), clip(last[i], n)
		unit, most := min(a, b), max(a, b)
		power := part
		if a > b {
			power = 1 - part
		}
		k := max(1, int64(math.Pow(float64(most)/float64(unit), power)))
		switch {
		case most >= n: // the longer tile need not consist of whole ones
		case most%unit == 0:
			k = divisor(most/unit, k)
		default:
			k = 1
		}
		tile[i] = k * unit
	}
	return tile
}

// divisor returns the largest divisor of n that is at most most.
func divisor(n, most int64) int64 {
	best := int64(1)
	for d := int64(1); d <= most && d <= n/d; d++ {
		if n%d == 0 {
			best = max(best, d)
			if n/d <= most {
				best = max(best, n/d)
			}
		}
	}
	return best
}
