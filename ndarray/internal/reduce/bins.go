package reduce

import (
	"math"
	"slices"
	"sync"
)

// Bins are the bins of a histogram: bin i has the numbers from edge i up to, but not including, edge i+1, and the last
// bin also its upper edge.
type Bins struct {
	edges []float64
	even  bool    // the edges have nearly the same distance
	scale float64 // bins per unit
}

// NewBins returns the bins between edges, at least two, of which none is NaN or less than the one before.
func NewBins(edges []float64) *Bins {
	n := len(edges) - 1
	first, width := edges[0], edges[n]-edges[0]
	b := &Bins{edges: edges, scale: float64(n) / width}
	b.even = width > 0 && b.scale > 0 && !math.IsInf(width, 0) && !math.IsInf(b.scale, 0)
	for i, x := range edges {
		if math.Abs(x-(first+float64(i)/b.scale)) > 1/b.scale {
			b.even = false
		}
	}
	return b
}

// find returns the bin of x, or -1 if no bin has it.
func (b *Bins) find(x float64) int {
	last := len(b.edges) - 1
	if !(x >= b.edges[0] && x <= b.edges[last]) {
		return -1
	}
	if !b.even {
		i, _ := slices.BinarySearchFunc(b.edges, x, func(edge, x float64) int {
			if edge <= x {
				return -1
			}
			return 1
		})
		return min(i, last) - 1
	}
	i := min(int((x-b.edges[0])*b.scale), last-1)
	for x < b.edges[i] {
		i--
	}
	for i < last-1 && x >= b.edges[i+1] {
		i++
	}
	return i
}

// Histogram counts the numbers in each bin. It reduces all axes.
func Histogram[T Real](b *Bins, c *Counts) Kernel[T, struct{}] {
	return tally(c, len(b.edges)-1, func(counts []int64, items []T, n int64) {
		for _, x := range items {
			if i := b.find(float64(x)); i >= 0 {
				counts[i] += n
			}
		}
	})
}

// Counts are counts that several goroutines add to. Each has its own while it adds, because there may be more counts
// than items in a chunk. The zero value has no counts.
type Counts struct {
	mu   sync.Mutex
	free [][]int64
}

// take returns size counts that no other goroutine uses.
func (c *Counts) take(size int) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := len(c.free) - 1; k >= 0 {
		counts := c.free[k]
		c.free = c.free[:k]
		return counts
	}
	return make([]int64, size)
}

// give returns counts that take has returned.
func (c *Counts) give(counts []int64) {
	c.mu.Lock()
	c.free = append(c.free, counts)
	c.mu.Unlock()
}

// Sum returns the sums of all counts, or nil if nothing was counted.
func (c *Counts) Sum() []int64 {
	if len(c.free) == 0 {
		return nil
	}
	sum := c.free[0]
	for _, counts := range c.free[1:] {
		for i, n := range counts {
			sum[i] += n
		}
	}
	c.free = c.free[:1]
	return sum
}

// tally returns the kernel that adds items to size counts with a function, each item n times. Cells hold nothing.
func tally[T any](c *Counts, size int, count func(counts []int64, items []T, n int64)) Kernel[T, struct{}] {
	add := func(items []T, n int64) {
		counts := c.take(size)
		count(counts, items, n)
		c.give(counts)
	}
	return Kernel[T, struct{}]{
		Row:    func(_ *struct{}, items []T, _ int64) { add(items, 1) },
		Copies: func(x T, n, _ int64) struct{} { add([]T{x}, n); return struct{}{} },
		Merge:  func(_, _ []struct{}) {},
	}
}
