package ndarray

// At takes the item i of an axis and drops the axis from the result. A negative i counts from the end.
// An item outside of the array is an error.
func At(i int64) Index { return point(i) }

// Span takes the items from start up to but not including stop. As in NumPy, negative numbers count from the
// end, and what reaches beyond the array is cut off.
func Span(start, stop int64) Index { return span{start, stop, 1} }

// From takes the items from start to the end of the axis.
func From(start int64) Index { return span{start, None, 1} }

// Until takes the items from the beginning of the axis up to but not including stop.
func Until(stop int64) Index { return span{None, stop, 1} }

// Step takes every step-th item from start up to but not including stop. A negative step goes backwards, from
// start down to but not including stop. Either end may be None. A step of zero is an error.
func Step(start, stop, step int64) Index { return span{start, stop, step} }

// Pick takes the listed items of one axis, in any order and as often as they are listed; negative ones count from
// the end. Several Picks are independent of each other: each makes an axis of the result, as numpy.ix_ and
// python-blosc2's oindex do. Of values that are written to the same item, the last stays. The index keeps the slice;
// do not change it while the index is in use.
func Pick(indices ...int64) Index {
	return &indexArray{kind: pickKind, shape: []int64{int64(len(indices))}, at: indices}
}

// Mask takes the items of one axis whose boolean is true. It is equivalent to a Pick of their numbers. There must be
// one boolean for each item of the axis, or none at all: an empty mask selects nothing of any axis. See MaskND for
// NumPy's a[mask].
func Mask(keep ...bool) Index {
	return &indexArray{kind: maskKind, shape: []int64{int64(len(keep))}, keep: keep}
}

// Coords takes the listed items of one axis, as an index array of NumPy does: several of them (and each At beside
// them) go together, so that Coords(1, 2), Coords(3, 4) are the two points (1, 3) and (2, 4). Lists of different
// length are broadcast. Their axes become one in the result, which stands in the place of the first if they all
// stand side by side, and else before all others. Of values that are written to the same item, the last stays. The
// index keeps the slice; do not change it while the index is in use. Coords and Pick cannot stand in one selection.
func Coords(indices ...int64) Index {
	return &indexArray{kind: coordsKind, shape: []int64{int64(len(indices))}, at: indices}
}

// CoordsND is Coords with an N-dimensional array of numbers, in C order: its dimensions, broadcast with those of the
// others, become axes of the result. The index keeps both slices.
func CoordsND(shape, indices []int64) Index {
	return &indexArray{kind: coordsKind, shape: shape, at: indices}
}

// MaskND takes the items whose boolean is true, as a boolean index array of NumPy does. It is an array over as many
// axes as it has dimensions, with their lengths, in C order; over all axes it selects single items of the array. The
// axes become one, which holds the items in C order. MaskND is equivalent to a Coords of each axis and is broadcast
// with others. Without dimensions it takes no axis, but adds one of length 1 or 0. A dimension of length 0 matches an
// axis of any length, as in NumPy: MaskND([]int64{6, 0, 4}, nil) selects an array of shape (0, 3) from one of shape
// (6, 5, 4, 3). The index retains both slices.
func MaskND(shape []int64, keep []bool) Index {
	return &indexArray{kind: maskNDKind, shape: shape, keep: keep}
}

// Flat takes the items at the listed positions in C order of the whole array, negative ones from its end, as
// numpy.take does without an axis. It must be alone in a selection. Of values that are written to the same item, the
// last stays. The index keeps the slice; do not change it while the index is in use.
func Flat(positions ...int64) Index {
	return &indexArray{kind: flatKind, shape: []int64{int64(len(positions))}, at: positions}
}
