// Package plane reads the part of a plane of an array that a picture shows, with the resolution of the picture.
package plane

import (
	"math"
	"slices"
)

// A Window is a part of a plane in items, as fractions, and the size of its picture in pixels.
type Window struct {
	Top, Left, Bottom, Right float64
	Height, Width            int
}

// A Grid is the items of a plane to read: every RowStep-th row from Top on, and every ColStep-th column from Left on.
type Grid struct {
	Top, Left, RowStep, ColStep int64
	Rows, Cols                  int
}

// Cost limits a read.
type Cost struct {
	RowBlock, ColBlock int64 // items of a block along the axes of the plane
	BlockBytes         int64 // of a decoded block
	Budget             int64 // bytes to decode
}

// GridOf returns the items for a picture of a window of a plane with some rows and columns: at most one item for each
// pixel, and fewer if their blocks exceed the budget. limited reports whether they do.
func GridOf(w Window, rows, cols int64, c Cost) (g Grid, limited bool) {
	top, bottom := clip(w.Top, w.Bottom, rows)
	left, right := clip(w.Left, w.Right, cols)
	g.RowStep, g.ColStep = stepFor(bottom-top, w.Height), stepFor(right-left, w.Width)
	for range 8 {
		r, k := touched(bottom-top, g.RowStep, c.RowBlock), touched(right-left, g.ColStep, c.ColBlock)
		most := max(c.Budget/max(c.BlockBytes, 1), 1)
		if r <= most/max(k, 1) {
			break
		}
		limited = true
		shrink := math.Sqrt(float64(most) / float64(r) / float64(k))
		newR, newK := max(int64(float64(r)*shrink), 1), max(int64(float64(k)*shrink), 1)
		if newR == 1 {
			newK = min(k, most)
		} else if newK == 1 {
			newR = min(r, most)
		}
		g.RowStep, g.ColStep = stepTo(bottom-top, newR, r, g.RowStep), stepTo(right-left, newK, k, g.ColStep)
	}
	g.Top, g.Left = top/g.RowStep*g.RowStep, left/g.ColStep*g.ColStep
	g.Rows, g.Cols = int(ceilDiv(bottom-g.Top, g.RowStep)), int(ceilDiv(right-g.Left, g.ColStep))
	return g, limited
}

// clip returns the items of an axis of length n that a range touches.
func clip(from, to float64, n int64) (start, stop int64) {
	if !(from < to) {
		return 0, 0
	}
	start = int64(math.Floor(max(0, min(from, float64(n)))))
	stop = min(int64(math.Ceil(max(0, min(to, float64(n))))), n)
	return start, max(start, stop)
}

// stepFor returns the step for at most one of n items for each pixel.
func stepFor(n int64, pixels int) int64 { return max(ceilDiv(n, int64(max(pixels, 1))), 1) }

// stepTo returns the step with which n items touch few of their blocks, if they touch more now.
func stepTo(n, few, now, step int64) int64 {
	if few >= now {
		return step
	}
	return max(step, ceilDiv(n, few))
}

// touched returns the number of blocks along an axis that every step-th of n items touches.
func touched(n, step, block int64) int64 {
	return max(min(ceilDiv(n, step), ceilDiv(n, max(block, 1))+1), 1)
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// bands divides the rows of a grid into parts. The blocks of a part have about most bytes. A part ends where a block
// ends.
func (g Grid) bands(c Cost, most int64) [][2]int {
	var list [][2]int
	perRow := touched(int64(g.Cols)*g.ColStep, g.ColStep, c.ColBlock) * max(c.BlockBytes, 1)
	start, bytes, last := 0, int64(0), int64(-1)
	for i := range g.Rows {
		block := (g.Top + int64(i)*g.RowStep) / max(c.RowBlock, 1)
		if block == last {
			continue
		}
		if bytes > 0 && bytes+perRow > most {
			list = append(list, [2]int{start, i})
			start, bytes = i, 0
		}
		bytes, last = bytes+perRow, block
	}
	if start < g.Rows {
		list = append(list, [2]int{start, g.Rows})
	}
	return slices.Clip(list)
}

// index returns the sample of the grid for item i of an axis, or -1.
func index(i, first, step int64, n int) int {
	if k := (i - first) / step; i >= first && k < int64(n) {
		return int(k)
	}
	return -1
}
