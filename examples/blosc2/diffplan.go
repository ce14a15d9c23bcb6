package main

import (
	"math"
	"slices"

	"github.com/goblosc/blosc2/ndarray"
)

// division is how an array is divided into the parts that are decoded alone: blocks.
type division struct {
	part []int64
	cost float64 // to decode a part, in bytes
}

// divisionOf returns the division of an array. Where blocks do not divide the chunks, it is an estimate: the last block
// of a chunk is smaller, and blocks begin again at each chunk.
func divisionOf(a *ndarray.Array) division {
	const overhead = 4 << 10 // of a part
	p, chunks := division{part: slices.Clone(a.Blocks())}, a.Chunks()
	size := float64(a.DType().Size)
	for i, n := range a.Shape() {
		if p.part[i] < 1 {
			p.part[i] = chunks[i]
		}
		p.part[i] = max(1, min(p.part[i], n))
		size *= float64(p.part[i])
	}
	p.cost = size + overhead
	return p
}

// commonBox returns the shape of boxes of at most most items that cover arrays of one shape, so that few parts are
// decoded more than once. It starts with one item, and extends the axis that saves most for its length.
func commonBox(shape []int64, most int64, arrays ...division) []int64 {
	const overhead = 64 << 10 // of a box, in bytes
	arrays = append(arrays, division{part: slices.Repeat([]int64{math.MaxInt64}, len(shape)), cost: overhead})
	box := slices.Repeat([]int64{1}, len(shape))
	size := int64(1)
	for {
		costs := make([]float64, len(arrays)) // of all boxes
		for k, p := range arrays {
			costs[k] = p.cost
			for axis, n := range shape {
				costs[k] *= touches(n, box[axis], p.part[axis])
			}
		}
		bestAxis, bestLength, best := -1, int64(0), 0.0
		for axis, n := range shape {
			limit := min(most/(size/box[axis]), n)
			for _, length := range boxLengths(axis, box[axis], limit, arrays) {
				before, after := 0.0, 0.0
				for k, p := range arrays {
					before += costs[k]
					after += costs[k] * touches(n, length, p.part[axis]) / touches(n, box[axis], p.part[axis])
				}
				gain := math.Log(before/after) / math.Log(float64(length)/float64(box[axis]))
				if gain > best {
					bestAxis, bestLength, best = axis, length, gain
				}
			}
		}
		if bestAxis < 0 {
			return box
		}
		size = size / box[bestAxis] * bestLength
		box[bestAxis] = bestLength
	}
}

// boxLengths returns lengths of an axis of a box above from, up to limit: those that match the parts of the arrays.
func boxLengths(axis int, from, limit int64, arrays []division) []int64 {
	if limit <= from {
		return nil
	}
	list := []int64{limit}
	for _, p := range arrays {
		n := p.part[axis]
		if n > limit {
			continue
		}
		list = append(list, limit-limit%n)
		for ; ; n *= 2 {
			list = append(list, n)
			if n > limit/2 {
				break
			}
		}
	}
	return slices.DeleteFunc(list, func(n int64) bool { return n <= from })
}

// touches returns the number of pairs of a box and a part that have items in common, along an axis of n items.
func touches(n, box, part int64) float64 {
	if n <= 0 {
		return 1
	}
	a, b := box, part
	for b != 0 {
		a, b = b, a%b
	}
	both := int64(0) // boundaries of boxes that are boundaries of parts
	if m := box / a; m <= (n-1)/part {
		both = (n - 1) / (m * part)
	}
	return float64((n-1)/box + (n-1)/part - both + 1)
}
