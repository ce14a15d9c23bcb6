package b2beam

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/goblosc/blosc2/ndarray"
)

// grid divides an array into tiles of one shape, clipped to the array.
type grid struct{ shape, tile []int64 }

// newGrid returns the grid of an array. A length of -1 in tile selects the whole axis.
func newGrid(shape, tile []int64) (grid, error) {
	g := grid{shape, slices.Clone(tile)}
	if len(tile) != len(shape) {
		return g, fmt.Errorf("%w: tiles %v of an array of shape %v", ndarray.ErrShape, tile, shape)
	}
	for i, n := range tile {
		if n == -1 {
			g.tile[i] = max(shape[i], 1)
		} else if n < 1 {
			return g, fmt.Errorf("%w: tiles %v of an array of shape %v", ndarray.ErrShape, tile, shape)
		}
	}
	return g, nil
}

// len returns the number of tiles.
func (g grid) len() int64 {
	n := int64(1)
	for i, length := range g.shape {
		n *= ceilDiv(length, g.tile[i])
	}
	return n
}

// box returns tile i, counted in C order.
func (g grid) box(i int64) ndarray.Box {
	b := ndarray.Box{Start: make([]int64, len(g.shape)), Shape: make([]int64, len(g.shape))}
	for axis := len(g.shape) - 1; axis >= 0; axis-- {
		count := ceilDiv(g.shape[axis], g.tile[axis])
		b.Start[axis] = i % count * g.tile[axis]
		i /= count
	}
	return g.at(b.Start)
}

// at returns the tile that has the item at a position.
func (g grid) at(item []int64) ndarray.Box {
	b := ndarray.Box{Start: make([]int64, len(item)), Shape: make([]int64, len(item))}
	for axis, at := range item {
		b.Start[axis] = at - at%g.tile[axis]
		b.Shape[axis] = min(g.tile[axis], g.shape[axis]-b.Start[axis])
	}
	return b
}

// within returns the tiles that share items with a box, in C order.
func (g grid) within(b ndarray.Box) []ndarray.Box {
	var tiles []ndarray.Box
	if b.Size() == 0 {
		return nil
	}
	item := slices.Clone(b.Start)
	for {
		t := g.at(item)
		tiles = append(tiles, t)
		axis := len(item) - 1
		for ; axis >= 0; axis-- {
			if item[axis] = t.Start[axis] + t.Shape[axis]; item[axis] < b.Start[axis]+b.Shape[axis] {
				break
			}
			item[axis] = b.Start[axis]
		}
		if axis < 0 {
			return tiles
		}
	}
}

// grow returns the grid with tiles of several tiles, of at most size items. It grows the last axis first, or the first
// axis for items in Fortran order, so that a tile is contiguous for as long as possible.
func (g grid) grow(size int64, fortran bool) grid {
	out := grid{g.shape, slices.Clone(g.tile)}
	rest := size
	for _, n := range g.tile {
		rest /= n
	}
	for i := 0; i < len(g.tile) && rest > 1; i++ {
		axis := i
		if !fortran {
			axis = len(g.tile) - 1 - i
		}
		times := min(rest, ceilDiv(g.shape[axis], g.tile[axis]))
		out.tile[axis] *= max(times, 1)
		rest /= max(times, 1)
	}
	return out
}

// intersection returns the items that two boxes share. They must share some.
func intersection(a, b ndarray.Box) ndarray.Box {
	c := ndarray.Box{Start: make([]int64, len(a.Start)), Shape: make([]int64, len(a.Start))}
	for axis := range a.Start {
		c.Start[axis] = max(a.Start[axis], b.Start[axis])
		c.Shape[axis] = min(a.Start[axis]+a.Shape[axis], b.Start[axis]+b.Shape[axis]) - c.Start[axis]
	}
	return c
}

// copyBox copies the items of box c from src, which holds the items of box from, to dst, which holds the items of box
// to, all in C order. Both boxes contain c. An item has size bytes.
func copyBox(dst []byte, to ndarray.Box, src []byte, from, c ndarray.Box, size int) {
	runs(to, from, c, int64(size), func(d, s, n int64) error {
		copy(dst[d:d+n], src[s:s+n])
		return nil
	})
}

// runs divides box c into runs of items that are contiguous in the boxes to and from, in C order. It calls visit with
// the offsets of a run in both and its length, in bytes, until visit returns an error.
func runs(to, from, c ndarray.Box, size int64, visit func(d, s, n int64) error) error {
	if c.Size() == 0 {
		return nil
	}
	inner, run := len(c.Shape), size // a run has whole axes from inner on
	for inner > 0 {
		inner--
		run *= c.Shape[inner]
		if c.Shape[inner] != to.Shape[inner] || c.Shape[inner] != from.Shape[inner] {
			break
		}
	}
	at := slices.Clone(c.Start)
	for {
		if err := visit(offset(to, at)*size, offset(from, at)*size, run); err != nil {
			return err
		}
		axis := inner - 1
		for ; axis >= 0; axis-- {
			if at[axis]++; at[axis] < c.Start[axis]+c.Shape[axis] {
				break
			}
			at[axis] = c.Start[axis]
		}
		if axis < 0 {
			return nil
		}
	}
}

// offset returns the number of items of a box before the item at a position, in C order.
func offset(b ndarray.Box, at []int64) int64 {
	n := int64(0)
	for axis, x := range at {
		n = n*b.Shape[axis] + x - b.Start[axis]
	}
	return n
}

// ceilDiv returns a/b rounded up, for a >= 0. It does not overflow.
func ceilDiv(a, b int64) int64 {
	if a == 0 {
		return 0
	}
	return (a-1)/b + 1
}

// prime is the modulus of weights.
const prime = 1<<61 - 1

// weight returns the weight of a box: the sum of the weights of its items, modulo prime. Every item of an array has
// another weight. So if boxes have as many items as a larger box and the sum of their weights is its weight, they cover
// it once. Boxes that overlap and leave gaps have that sum only by chance, once in about 10^18 times.
func weight(b ndarray.Box) uint64 {
	w := uint64(1)
	for axis, n := range b.Shape {
		x := multiply(0x9e3779b97f4a7c1, uint64(2*axis+3)) // the item at i has the product of x^i of all axes
		start, _ := powers(x, b.Start[axis])
		_, sum := powers(x, n)
		w = multiply(w, multiply(start, sum))
	}
	return w
}

// powers returns x^n, and the sum of x^i for i < n, modulo prime.
func powers(x uint64, n int64) (power, sum uint64) {
	power = 1
	for bit := bits.Len64(uint64(n)) - 1; bit >= 0; bit-- {
		sum = multiply(sum, power+1)
		power = multiply(power, power)
		if n>>bit&1 == 1 {
			sum = (multiply(sum, x) + 1) % prime
			power = multiply(power, x)
		}
	}
	return power, sum
}

// multiply returns the product of two numbers modulo prime.
func multiply(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return bits.Rem64(high, low, prime)
}
