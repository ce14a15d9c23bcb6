package ndarray

import "github.com/goblosc/blosc2/ndarray/internal/selection"

// Index is one entry of a selection: it says what is taken along an axis, as one entry between the brackets
// of a NumPy subscript does. Make one with At, Span, From, Until or Step, or use All, Ellipsis or NewAxis; or list
// items with Pick or Mask, axis by axis, or as NumPy's index arrays do with Coords, CoordsND or MaskND, or with Flat.
// Its String method gives NumPy's notation. Indexes are immutable values.
type Index = selection.Index

// None stands for a missing start or stop: Step(None, None, -1) is NumPy's ::-1.
const None int64 = selection.None

// The indexes without parameters.
const (
	// All takes a whole axis, as ":" does.
	All = selection.All
	// Ellipsis takes all axes that no other index names, as "..." does. It may stand once in a selection.
	// A selection with fewer indexes than the array has axes ends in one, written or not.
	Ellipsis = selection.Ellipsis
	// NewAxis adds an axis of length 1 to the result, as "None" does.
	NewAxis = selection.NewAxis
)

// At takes the item i of an axis and drops the axis from the result. A negative i counts from the end.
// An item outside of the array is an error.
func At(i int64) Index { return selection.Point(i) }

// Span takes the items from start up to but not including stop. As in NumPy, negative numbers count from the
// end, and what reaches beyond the array is cut off.
func Span(start, stop int64) Index { return selection.Span{Start: start, Stop: stop, Step: 1} }

// From takes the items from start to the end of the axis.
func From(start int64) Index { return selection.Span{Start: start, Stop: None, Step: 1} }

// Until takes the items from the beginning of the axis up to but not including stop.
func Until(stop int64) Index { return selection.Span{Start: None, Stop: stop, Step: 1} }

// Step takes every step-th item from start up to but not including stop. A negative step goes backwards, from
// start down to but not including stop. Either end may be None. A step of zero is an error.
func Step(start, stop, step int64) Index { return selection.Span{Start: start, Stop: stop, Step: step} }

// Pick takes the listed items of one axis, in any order and as often as they are listed; negative ones count from
// the end. Several Picks are independent of each other: each makes an axis of the result, as numpy.ix_ and
// python-blosc2's oindex do. Of values that are written to the same item, the last stays. The index keeps the slice;
// do not change it while the index is in use.
func Pick(indices ...int64) Index { return selection.Pick(indices...) }

// Mask takes the items of one axis whose boolean is true. It is equivalent to a Pick of their numbers. There must be
// one boolean for each item of the axis, or none at all: an empty mask selects nothing of any axis. See MaskND for
// NumPy's a[mask].
func Mask(keep ...bool) Index { return selection.Mask(keep...) }

// Coords takes the listed items of one axis, as an index array of NumPy does: several of them (and each At beside
// them) go together, so that Coords(1, 2), Coords(3, 4) are the two points (1, 3) and (2, 4). Lists of different
// length are broadcast. Their axes become one in the result, which stands in the place of the first if they all
// stand side by side, and else before all others. Of values that are written to the same item, the last stays. The
// index keeps the slice; do not change it while the index is in use. Coords and Pick cannot stand in one selection.
func Coords(indices ...int64) Index { return selection.Coords(indices...) }

// CoordsND is Coords with an N-dimensional array of numbers, in C order: its dimensions, broadcast with those of the
// others, become axes of the result. The index keeps both slices.
func CoordsND(shape, indices []int64) Index { return selection.CoordsND(shape, indices) }

// MaskND takes the items whose boolean is true, as a boolean index array of NumPy does. It is an array over as many
// axes as it has dimensions, with their lengths, in C order; over all axes it selects single items of the array. The
// axes become one, which holds the items in C order. MaskND is equivalent to a Coords of each axis and is broadcast
// with others. Without dimensions it takes no axis, but adds one of length 1 or 0. A dimension of length 0 matches an
// axis of any length, as in NumPy: MaskND([]int64{6, 0, 4}, nil) selects an array of shape (0, 3) from one of shape
// (6, 5, 4, 3). The index retains both slices.
func MaskND(shape []int64, keep []bool) Index { return selection.MaskND(shape, keep) }

// Flat takes the items at the listed positions in C order of the whole array, negative ones from its end, as
// numpy.take does without an axis. It must be alone in a selection. Of values that are written to the same item, the
// last stays. The index keeps the slice; do not change it while the index is in use.
func Flat(positions ...int64) Index { return selection.Flat(positions...) }

// ParseSelection parses a selection in NumPy's notation: the text between the brackets of a subscript, such as
// "2:5, ..., ::-1", "3", "-1" or "None". Empty text selects everything. The entries may be in parentheses as a tuple, and
// in square brackets as a subscript. Numbers are decimal.
//
// Lists of numbers or booleans, and nested lists, are the index arrays of NumPy: "[3, 1, 2], :" reads as
// Coords(3, 1, 2), All; "[[3], [1]]" as CoordsND; "[True, False]" and "True" as MaskND. Square brackets around only
// numbers, booleans and lists are a list, too.
//
// The error for invalid text wraps ErrBounds and names the column.
func ParseSelection(s string) ([]Index, error) { return selection.Parse(s) }
