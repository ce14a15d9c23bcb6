package ndarray

import (
	"iter"
	"slices"
)

// Box is a box of items of an array: Shape[i] of them along axis i, from Start[i] on.
type Box struct {
	Start, Shape []int64
}

// Selection returns the indexes that select the box.
func (b Box) Selection() []Index {
	sel := make([]Index, len(b.Start))
	for i, at := range b.Start {
		sel[i] = Span(at, at+b.Shape[i])
	}
	return sel
}

// Size returns the number of items.
func (b Box) Size() int64 {
	n, _ := product(b.Shape)
	return n
}

// clone returns a copy with memory of its own.
func (b Box) clone() Box { return Box{slices.Clone(b.Start), slices.Clone(b.Shape)} }

// Tile is a box with its items.
type Tile[T any] struct {
	Box
	Inner Box // the box without its halo, where windows have one; else the same box
	Items []T // in C order; in tiles of raw bytes each item is ItemSize of them

	width int // elements of Items to an item, when they are not one
}

// Rows ranges over the rows of the tile along its last axis, in C order: the coordinates in the array of the first item
// of a row, and its items. A tile without axes has one row. The coordinates are valid until the next row.
func (t Tile[T]) Rows() iter.Seq2[[]int64, []T] {
	return func(yield func([]int64, []T) bool) {
		n := len(t.Shape)
		row := max(t.width, 1)
		if n > 0 {
			row *= int(t.Shape[n-1])
		}
		at := slices.Clone(t.Start)
		for rest := t.Items; len(rest) > 0; rest = rest[row:] {
			if !yield(at, rest[:row:row]) {
				return
			}
			for i := n - 2; i >= 0; i-- {
				if at[i]++; at[i] < t.Start[i]+t.Shape[i] {
					break
				}
				at[i] = t.Start[i]
			}
		}
	}
}

// All ranges over the items of the tile in C order: the coordinates of an item in the array, and where it is in Items.
// The coordinates are valid until the next item. In tiles of raw bytes it is the first byte of the item.
func (t Tile[T]) All() iter.Seq2[[]int64, *T] {
	return func(yield func([]int64, *T) bool) {
		last, width := len(t.Shape)-1, max(t.width, 1)
		for at, row := range t.Rows() {
			for k := 0; k < len(row); k += width {
				if !yield(at, &row[k]) {
					return
				}
				if last >= 0 {
					at[last]++
				}
			}
			if last >= 0 {
				at[last] = t.Start[last]
			}
		}
	}
}
