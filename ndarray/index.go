package ndarray

import (
	"fmt"

	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Index is one entry of a selection: it selects items along an axis, like one entry between the brackets of a NumPy
// subscript. At, Span and Step return an Index. All, Ellipsis and NewAxis are constants. Pick, Coords, Mask and Flat
// return an index that lists items one by one. The String method returns NumPy's notation. An Index is immutable.
type Index = selection.Index

// None represents a missing start or stop: Span(2, None) is NumPy's 2:, and Step(None, None, -1) is ::-1.
const None int64 = selection.None

// The indexes without parameters.
const (
	// All selects a whole axis, like ":".
	All = selection.All
	// Ellipsis selects all axes for which the selection has no other index, like "...". A selection may contain it
	// once. A selection with fewer indexes than the array has axes implicitly ends in one.
	Ellipsis = selection.Ellipsis
	// NewAxis adds an axis of length 1 to the result, like "None".
	NewAxis = selection.NewAxis
)

// At selects item i of an axis and drops the axis from the result. A negative i counts from the end. The selection
// returns ErrBounds if the item is outside the array.
func At(i int64) Index { return selection.Point(i) }

// Span selects the items from start up to, but not including, stop. As in NumPy, negative numbers count from the end,
// and the part of the range outside the array is ignored. start and stop may be None: Span(a, None) selects all items
// from a, and Span(None, b) all items up to b.
func Span(start, stop int64) Index { return selection.Span{Start: start, Stop: stop, Step: 1} }

// Step selects every step-th item from start up to, but not including, stop. A negative step goes backwards, from start
// down to, but not including, stop. start and stop may be None. The selection returns ErrBounds for a step of zero.
func Step(start, stop, step int64) Index { return selection.Span{Start: start, Stop: stop, Step: step} }

// Pick selects the listed items of one axis, in the order of the list. An item may be listed several times. Negative
// numbers count from the end. Several Picks are independent of each other: each produces an axis of the result, as in
// numpy.ix_ and python-blosc2's oindex. If a write assigns several values to one item, the last value wins. The index
// retains the slice, so do not change it while the index is in use.
func Pick(indices ...int64) Index { return selection.Pick(indices...) }

// Coords selects the listed items of one axis, like an index array of NumPy. Negative numbers count from the end.
// Without shape the list has one dimension; otherwise it is an N-dimensional array of that shape, in C order. The lists
// of several index arrays (Coords, Mask and At in the same selection) are broadcast against each other and name points:
// Coords([]int64{1, 2}), Coords([]int64{3, 4}) selects the two points (1, 3) and (2, 4). The result has the dimensions
// of the broadcast list in place of the indexed axes: where these are if they are adjacent, and otherwise first. If a
// write assigns several values to one item, the last value wins. The index retains the slices, so do not change them
// while the index is in use. A selection cannot contain both Coords and Pick.
func Coords(indices []int64, shape ...int64) Index { return selection.Coords(indices, shape) }

// Mask selects the items whose boolean is true, like a boolean index array of NumPy. Without shape it applies to one
// axis; otherwise keep is an N-dimensional array of that shape, in C order, and applies to as many axes. It must have
// the lengths of the axes. A mask of all axes selects single items of the array. The axes become one axis, which holds
// the items in C order. Mask is equivalent to a Coords for each axis and is broadcast with other index arrays. For
// independent axes, as in numpy.ix_, list the items with Pick. Reading or writing needs 16 bytes of memory for each
// selected item. A single mask of all axes needs less: two bits for each boolean, unless chunks have fewer than 64
// items or more than 65,536 blocks, or there are 16 axes. An empty shape that is not nil, such as the Shape of an array
// without axes, is that of a mask of one boolean, which applies to no axis.
//
// A dimension of length 0 matches an axis of any length, as in NumPy: Mask(nil, 6, 0, 4) selects an array of shape (0,
// 3) from one of shape (6, 5, 4, 3). The index retains the slices, so do not change them while the index is in use.
func Mask(keep []bool, shape ...int64) Index { return selection.Mask(keep, shape) }

// Flat selects the items at the listed positions in C order of the whole array, like numpy.take without an axis.
// Negative positions count from the end. Flat must be the only index of a selection. If a write assigns several values
// to one item, the last value wins. The index retains the slice, so do not change it while the index is in use.
func Flat(positions ...int64) Index { return selection.Flat(positions...) }

// ParseSelection parses a selection in NumPy's notation: the text between the brackets of a subscript, such as "2:5,
// ..., ::-1", "3", "-1" or "None". Empty text selects everything. The entries may be in parentheses as a tuple, and in
// square brackets as a subscript. Numbers are decimal. A missing number of a slice may be written as None: "None:2" is
// ":2".
//
// Lists of numbers or booleans, and nested lists, are the index arrays of NumPy: "[3, 1, 2], :" is parsed as
// Coords([]int64{3, 1, 2}), All; "[[3], [1]]" as Coords of shape (2, 1); "[True, False]" as Mask; and "True" as a mask
// without dimensions, which applies to no axis but adds an axis of length 1, or 0 for "False". Square brackets that
// contain only numbers, booleans and lists are a list, too.
//
// The error for invalid text wraps ErrBounds and names the column.
func ParseSelection(s string) ([]Index, error) { return selection.Parse(s) }

// axisNumber returns the number of an axis. A negative axis counts from the last. For an axis that does not exist, the
// error wraps fault.
func axisNumber(axis, ndim int, fault error) (int, error) {
	if axis < -ndim || axis >= ndim {
		return 0, fmt.Errorf("ndarray: %w: axis %d of an array of %d dimensions", fault, axis, ndim)
	}
	if axis < 0 {
		axis += ndim
	}
	return axis, nil
}
