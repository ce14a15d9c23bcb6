// Package selection computes which items of which blocks a selection of an array or a view has, and their positions in
// the result. It is pure arithmetic: a Plan answers the engine about each block, without I/O.
//
// To add a kind of selection with evenly spaced items, add a type to this file and its documented constructor to
// package ndarray. A kind with other items is an IndexArray, which NewListPlan lists.
package selection

import (
	"fmt"
	"math"
	"strconv"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// Index is one entry of a selection: it selects items along an axis, like one entry between the brackets of a NumPy
// subscript. At, Span and Step return an Index. All, Ellipsis and NewAxis are constants. Pick, Coords, Mask and Flat
// return an index that lists items one by one. The String method returns NumPy's notation. An Index is immutable.
type Index interface {
	fmt.Stringer
	index()
}

// None represents a missing start or stop: Step(None, None, -1) is NumPy's ::-1.
const None int64 = math.MinInt64

// Marker is an index without parameters.
type Marker uint8

// The indexes without parameters.
const (
	// All selects a whole axis, like ":".
	All Marker = iota
	// Ellipsis selects all axes for which the selection has no other index, like "...". A selection may contain it
	// once. A selection with fewer indexes than the array has axes implicitly ends in one.
	Ellipsis
	// NewAxis adds an axis of length 1 to the result, like "None".
	NewAxis
)

func (Marker) index() {}

// String returns the index in NumPy's notation.
func (m Marker) String() string {
	switch m {
	case All:
		return ":"
	case Ellipsis:
		return "..."
	case NewAxis:
		return "None"
	}
	return "marker(" + strconv.Itoa(int(m)) + ")"
}

// An index of one axis that selects evenly spaced items is a type of its own with a method along. A new kind of
// selection adds such a type, and a case to unnamedAxes and to apply. They are switches over types, because the call of
// a method of an interface would move the indexes of each call of a user to the heap.

// Point selects one item of an axis and drops the axis from the result.
type Point int64

// Span is the slice start:stop:step of an axis. None is a missing start or stop.
type Span struct{ Start, Stop, Step int64 }

// Range selects the items from Start up to, but not including, Stop, all of which must exist.
type Range struct{ Start, Stop int64 }

func (Point) index() {}
func (Span) index()  {}
func (Range) index() {}

// along selects one item and drops the axis. A negative position counts from the end of the axis.
func (p Point) along(axis int, n int64) (AxisSelection, error) {
	at := int64(p)
	if at < 0 {
		at += n
	}
	if at < 0 || at >= n {
		return AxisSelection{}, fmt.Errorf("%d is out of range for axis %d of length %d", int64(p), axis, n)
	}
	return AxisSelection{Start: at, Step: 1, Count: 1, dropped: true}, nil
}

// along selects a slice by Python's rules: a negative start or stop counts from the end of the axis, then both are
// clipped to the axis.
func (s Span) along(axis int, n int64) (AxisSelection, error) {
	if s.Step == 0 {
		return AxisSelection{}, fmt.Errorf("axis %d: the step of a slice is zero", axis)
	}
	step := max(s.Step, -math.MaxInt64)
	var start, stop, count int64
	if step > 0 {
		start = clip(s.Start, n, 0, n, 0)
		stop = clip(s.Stop, n, 0, n, n)
		if start < stop {
			count = (stop-start-1)/step + 1
		}
	} else {
		start = clip(s.Start, n, -1, n-1, n-1)
		stop = clip(s.Stop, n, -1, n-1, -1)
		if stop < start {
			count = (start-stop-1)/-step + 1
		}
	}
	if count < 2 {
		step = 1
	}
	return AxisSelection{Start: start, Step: step, Count: count}, nil
}

// along selects the items.
func (r Range) along(axis int, n int64) (AxisSelection, error) {
	if r.Start < 0 || r.Stop < r.Start || r.Stop > n {
		return AxisSelection{}, fmt.Errorf("a box with the items [%d, %d) of axis %d of length %d", r.Start, r.Stop, axis, n)
	}
	return AxisSelection{Start: r.Start, Step: 1, Count: r.Stop - r.Start}, nil
}

// clip returns the start or stop of a slice, limited to lo and hi. A negative end counts from the end of an axis of
// length n. If end is None, clip returns open.
func clip(end, n, lo, hi, open int64) int64 {
	if end == None {
		return open
	}
	if end < 0 {
		end += n
	}
	return min(max(end, lo), hi)
}

// String returns the index in NumPy's notation.
func (p Point) String() string { return strconv.FormatInt(int64(p), 10) }

// String returns the index in NumPy's notation.
func (s Span) String() string {
	b := make([]byte, 0, 16)
	if s.Start != None {
		b = strconv.AppendInt(b, s.Start, 10)
	}
	b = append(b, ':')
	if s.Stop != None {
		b = strconv.AppendInt(b, s.Stop, 10)
	}
	if s.Step != 1 {
		b = append(b, ':')
		b = strconv.AppendInt(b, s.Step, 10)
	}
	return string(b)
}

// String returns the index in NumPy's notation.
func (r Range) String() string { return Span{r.Start, r.Stop, 1}.String() }

// MaxResultDims is the maximum number of dimensions of the result of a selection, as in NumPy.
const MaxResultDims = 64

// AxisSelection holds the selected items of one axis of an array: Start + k*Step for 0 <= k < Count. All of them lie
// inside the axis. Step is 1 if there are fewer than two items. Start is undefined if there are no items.
type AxisSelection struct {
	Start, Step, Count int64
	dropped            bool // not an axis of the result, because of a Point
}

// Selection is a resolved selection.
type Selection struct {
	Ndim  int // of the array
	Axes  [grid.MaxDims]AxisSelection
	Items int64 // number of selected items

	resultDims int
	lengths    [MaxResultDims]int64

	ListAxes listAxes // set if the selection has index arrays
}

// Shape returns the shape of the result, in memory of s.
func (s *Selection) Shape() []int64 { return s.lengths[:s.resultDims] }

// Resolve applies indexes to an array of a given shape by NumPy's rules. It allocates nothing. The error wraps
// frame.ErrBounds or ErrTooLarge.
func Resolve(shape []int64, sel []Index) (s Selection, err error) {
	s.Ndim = len(shape)
	if s.Ndim > grid.MaxDims {
		return s, fmt.Errorf("ndarray: %w: %d dimensions, at most %d", errs.ErrShape, s.Ndim, grid.MaxDims)
	}
	rest, listed, err := unnamedAxes(len(shape), sel)
	if err != nil {
		return s, err
	}
	if listed {
		return resolveLists(shape, sel, rest)
	}
	axis, ellipsis := 0, false
	for i, x := range sel {
		switch x := x.(type) {
		default:
			err = s.apply(axis, shape[axis], x)
			axis++
		case Marker:
			switch x {
			case NewAxis:
				s.push(1)
			case All:
				s.whole(axis, shape[axis])
				axis++
			case Ellipsis:
				ellipsis = true
				for range rest {
					s.whole(axis, shape[axis])
					axis++
				}
			}
		}
		if err != nil {
			return s, fmt.Errorf("ndarray: %w: index %d: %s", frame.ErrBounds, i, err)
		}
	}
	if !ellipsis {
		for range rest {
			s.whole(axis, shape[axis])
			axis++
		}
	}
	var ok bool
	if s.Items, ok = grid.Product(s.Shape()); !ok {
		return s, fmt.Errorf("ndarray: %w: more than 2^63-1 items selected", errs.ErrTooLarge)
	}
	return s, nil
}

// ResolvePoint selects the one item at a position, with one number for each axis.
func ResolvePoint(shape, at []int64) (s Selection, err error) {
	s.Ndim, s.Items = len(shape), 1
	if len(at) != len(shape) {
		return s, fmt.Errorf("ndarray: %w: position has %d coordinates, want %d", frame.ErrBounds, len(at), len(shape))
	}
	for axis, i := range at {
		if err := s.apply(axis, shape[axis], Point(i)); err != nil {
			return s, fmt.Errorf("ndarray: %w: %s", frame.ErrBounds, err)
		}
	}
	return s, nil
}

// unnamedAxes checks the number and kinds of indexes. It returns the number of axes without an index, and reports
// whether the selection has index arrays.
func unnamedAxes(ndim int, sel []Index) (rest int, listed bool, err error) {
	named, ellipses, added, dropped := 0, 0, 0, 0
	for i, x := range sel {
		switch x := x.(type) {
		case Marker:
			switch x {
			case All:
				named++
			case Ellipsis:
				ellipses++
			case NewAxis:
				added++
			default:
				return 0, false, fmt.Errorf("ndarray: %w: index %d is not a constant of this package", frame.ErrBounds, i)
			}
		case *IndexArray:
			if x.Kind == FlatKind && len(sel) > 1 {
				return 0, false, fmt.Errorf("ndarray: %w: index %d: Flat must be the only index", frame.ErrBounds, i)
			}
			listed = true
			named += x.Axes(ndim)
			dropped += x.Axes(ndim)
			if !x.joint() {
				added++
			}
		case Point:
			named++
			dropped++
		case Span, Range:
			named++
		default:
			return 0, false, fmt.Errorf("ndarray: %w: index %d is nil", frame.ErrBounds, i)
		}
	}
	switch {
	case named > ndim:
		return 0, false, fmt.Errorf("ndarray: %w: %d axes are indexed, but the array has %d", frame.ErrBounds, named, ndim)
	case ellipses > 1:
		return 0, false, fmt.Errorf("ndarray: %w: more than one ellipsis", frame.ErrBounds)
	case ndim-dropped > MaxResultDims-added:
		return 0, false, fmt.Errorf("ndarray: %w: the result would have %d dimensions, at most %d", frame.ErrBounds, ndim-dropped+added, MaxResultDims)
	}
	return ndim - named, listed, nil
}

// push adds a dimension to the result.
func (s *Selection) push(length int64) {
	s.lengths[s.resultDims] = length
	s.resultDims++
}

// whole selects all n items of an axis.
func (s *Selection) whole(axis int, n int64) {
	s.Axes[axis] = AxisSelection{Step: 1, Count: n}
	s.push(n)
}

// apply selects items of an axis of length n.
func (s *Selection) apply(axis int, n int64, x Index) error {
	var a AxisSelection
	var err error
	switch x := x.(type) {
	case Point:
		a, err = x.along(axis, n)
	case Span:
		a, err = x.along(axis, n)
	case Range:
		a, err = x.along(axis, n)
	default:
		err = fmt.Errorf("axis %d: not an index of one axis", axis)
	}
	if err != nil {
		return err
	}
	if !a.dropped {
		s.push(a.Count)
	}
	s.Axes[axis] = a
	return nil
}

// WholeAxes returns the selection of everything.
func WholeAxes(shape []int64) (s Selection) {
	s.Ndim, s.Items = len(shape), 1
	for i, n := range shape {
		s.whole(i, n)
		s.Items *= n
	}
	return s
}

// OfBox returns the selection of a box.
func OfBox(start, count []int64) (s Selection) {
	s.Ndim, s.Items = len(start), 1
	for i, n := range count {
		s.Axes[i] = AxisSelection{Start: start[i], Step: 1, Count: n}
		s.push(n)
		s.Items *= n
	}
	return s
}

// Cut restricts a selection of whole axes to the items from lo up to, but not including, hi along an axis.
func (s *Selection) Cut(axis int, lo, hi int64) {
	if s.Items > 0 {
		s.Items = s.Items / s.Axes[axis].Count * (hi - lo)
	}
	s.Axes[axis].Start, s.Axes[axis].Count, s.lengths[axis] = lo, hi-lo, hi-lo
}
