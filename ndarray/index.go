package ndarray

import "github.com/goblosc/blosc2/ndarray/internal/selection"

// Index is one entry of a selection: it selects items along an axis, like one entry between the brackets of a NumPy
// subscript. At, Span, From, Until and Step return an Index. All, Ellipsis and NewAxis are constants. Pick and Mask
// return an index that lists items of one axis. Coords, CoordsND, MaskND and Flat return NumPy's index arrays. The
// String method returns NumPy's notation. An Index is immutable.
type Index = selection.Index

// None represents a missing start or stop: Step(None, None, -1) is NumPy's ::-1.
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
// and the part of the range outside the array is ignored.
func Span(start, stop int64) Index { return selection.Span{Start: start, Stop: stop, Step: 1} }

// From selects the items from start to the end of the axis.
func From(start int64) Index { return selection.Span{Start: start, Stop: None, Step: 1} }

// Until selects the items from the beginning of the axis up to, but not including, stop.
func Until(stop int64) Index { return selection.Span{Start: None, Stop: stop, Step: 1} }

// Step selects every step-th item from start up to, but not including, stop. A negative step goes backwards, from start
// down to, but not including, stop. start and stop may be None. The selection returns ErrBounds for a step of zero.
func Step(start, stop, step int64) Index { return selection.Span{Start: start, Stop: stop, Step: step} }

// Pick selects the listed items of one axis, in the order of the list. An item may be listed several times. Negative
// numbers count from the end. Several Picks are independent of each other: each produces an axis of the result, as in
// numpy.ix_ and python-blosc2's oindex. If a write assigns several values to one item, the last value wins. The index
// retains the slice, so do not change it while the index is in use.
func Pick(indices ...int64) Index { return selection.Pick(indices...) }

// Mask selects the items of one axis whose boolean is true. It is equivalent to a Pick of their numbers. There must be
// one boolean for each item of the axis, or no boolean: an empty mask matches an axis of any length and selects
// nothing. See MaskND for NumPy's a[mask].
func Mask(keep ...bool) Index { return selection.Mask(keep...) }

// Coords selects the listed items of one axis, like an index array of NumPy. The lists of several Coords, and the
// numbers of At in the same selection, are broadcast against each other and name points: Coords(1, 2), Coords(3, 4)
// selects the two points (1, 3) and (2, 4). The axes of these indexes become one axis of the result. It replaces the
// first of them if they are adjacent, and comes before all other axes otherwise. If a write assigns several values to
// one item, the last value wins. The index retains the slice, so do not change it while the index is in use. A
// selection cannot contain both Coords and Pick.
func Coords(indices ...int64) Index { return selection.Coords(indices...) }

// CoordsND is like Coords with an N-dimensional index array, in C order. Its dimensions, broadcast with the dimensions
// of the other index arrays, become axes of the result. The index retains both slices.
func CoordsND(shape, indices []int64) Index { return selection.CoordsND(shape, indices) }

// MaskND selects the items whose boolean is true, like a boolean index array of NumPy. It applies to as many axes as it
// has dimensions, and must have their lengths. The booleans are in C order. A mask of all axes selects single items of
// the array. The axes become one axis, which holds the items in C order. MaskND is equivalent to a Coords for each axis
// and is broadcast with other index arrays.
//
// Without dimensions MaskND applies to no axis, but adds an axis of length 1 or 0. A dimension of length 0 matches an
// axis of any length, as in NumPy: MaskND([]int64{6, 0, 4}, nil) selects an array of shape (0, 3) from one of shape (6,
// 5, 4, 3). The index retains both slices.
func MaskND(shape []int64, keep []bool) Index { return selection.MaskND(shape, keep) }

// Flat selects the items at the listed positions in C order of the whole array, like numpy.take without an axis.
// Negative positions count from the end. Flat must be the only index of a selection. If a write assigns several values
// to one item, the last value wins. The index retains the slice, so do not change it while the index is in use.
func Flat(positions ...int64) Index { return selection.Flat(positions...) }

// ParseSelection parses a selection in NumPy's notation: the text between the brackets of a subscript, such as "2:5,
// ..., ::-1", "3", "-1" or "None". Empty text selects everything. The entries may be in parentheses as a tuple, and in
// square brackets as a subscript. Numbers are decimal.
//
// Lists of numbers or booleans, and nested lists, are the index arrays of NumPy: "[3, 1, 2], :" is parsed as Coords(3,
// 1, 2), All; "[[3], [1]]" as CoordsND; "[True, False]" and "True" as MaskND. Square brackets that contain only
// numbers, booleans and lists are a list, too.
//
// The error for invalid text wraps ErrBounds and names the column.
func ParseSelection(s string) ([]Index, error) { return selection.Parse(s) }
