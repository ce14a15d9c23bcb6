// Package selection computes which items of which blocks a selection of an array or of a view takes, and where they go.
// It is pure arithmetic: a Plan answers the engine about each block, without I/O.
//
// To add a kind of selection: add an Index type here and its documented constructor to package ndarray, resolve it in
// Resolve, and let NewPlan make axes of it. If its items are not evenly spaced along the axes, make a list of them in
// NewListPlan.
package selection

import (
	"fmt"
	"math"
	"strconv"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// Index is one entry of a selection: it says what is taken along an axis, as one entry between the brackets
// of a NumPy subscript does. Make one with At, Span, From, Until or Step, or use All, Ellipsis or NewAxis; or list
// items with Pick or Mask, axis by axis, or as NumPy's index arrays do with Coords, CoordsND or MaskND, or with Flat.
// Its String method gives NumPy's notation. Indexes are immutable values.
type Index interface {
	fmt.Stringer
	index()
}

// None stands for a missing start or stop: Step(None, None, -1) is NumPy's ::-1.
const None int64 = math.MinInt64

// Marker is an index without parameters.
type Marker uint8

// The indexes without parameters.
const (
	// All takes a whole axis, as ":" does.
	All Marker = iota
	// Ellipsis takes all axes that no other index names, as "..." does. It may stand once in a selection.
	// A selection with fewer indexes than the array has axes ends in one, written or not.
	Ellipsis
	// NewAxis adds an axis of length 1 to the result, as "None" does.
	NewAxis
)

// Point is one item of an axis, which the result does not have.
type Point int64

// Span is the slice start:stop:step of an axis. None is a missing start or stop.
type Span struct{ Start, Stop, Step int64 }

func (Marker) index() {}
func (Point) index()  {}
func (Span) index()   {}

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

// MaxResultDims is the most dimensions that a selection can have, NewAxis included. It is NumPy's limit.
const MaxResultDims = 64

// AxisSelection is what is taken along one axis of an array: the items start + k*step for 0 <= k < count.
// All of them lie inside the axis. The step is 1 when there are less than two of them; the start means nothing when there is none.
type AxisSelection struct {
	Start, Step, Count int64
	dropped            bool // by At: not an axis of the result
}

// Selection is a resolved selection.
type Selection struct {
	Ndim  int // of the array
	Axes  [grid.MaxDims]AxisSelection
	Items int64 // selected

	resultDims int
	lengths    [MaxResultDims]int64

	Place placement // when axes are listed item by item
}

// Shape returns the shape of the result. It is memory of s.
func (s *Selection) Shape() []int64 { return s.lengths[:s.resultDims] }

// Resolve applies indexes to an array of a given shape with NumPy's rules. It allocates nothing.
// The error wraps frame.ErrBounds, or ErrTooLarge.
func Resolve(shape []int64, sel []Index) (s Selection, err error) {
	s.Ndim = len(shape)
	if s.Ndim > grid.MaxDims {
		return s, fmt.Errorf("ndarray: %w: %d dimensions, at most %d", grid.ErrShape, s.Ndim, grid.MaxDims)
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
		case Point:
			err = s.take(axis, shape[axis], int64(x))
			axis++
		case Span:
			err = s.Slice(axis, shape[axis], x)
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
		return s, fmt.Errorf("ndarray: %w: more than 2^63 items selected", grid.ErrTooLarge)
	}
	return s, nil
}

// ResolvePoint selects the one item at a position, with one number for each axis.
func ResolvePoint(shape, at []int64) (s Selection, err error) {
	s.Ndim, s.Items = len(shape), 1
	if len(at) != len(shape) {
		return s, fmt.Errorf("ndarray: %w: %d coordinates in %d dimensions", frame.ErrBounds, len(at), len(shape))
	}
	for axis, i := range at {
		if err := s.take(axis, shape[axis], i); err != nil {
			return s, fmt.Errorf("ndarray: %w: %s", frame.ErrBounds, err)
		}
	}
	return s, nil
}

// unnamedAxes checks the number and kinds of indexes, and returns how many axes are left to an ellipsis, and whether
// there are index arrays.
func unnamedAxes(ndim int, sel []Index) (rest int, listed bool, err error) {
	named, ellipses, added, dropped := 0, 0, 0, 0
	for i, x := range sel {
		switch x := x.(type) {
		case Point:
			named++
			dropped++
		case Span:
			named++
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
				return 0, false, fmt.Errorf("ndarray: %w: index %d: Flat takes the whole array and must stand alone", frame.ErrBounds, i)
			}
			listed = true
			named += x.Axes(ndim)
			dropped += x.Axes(ndim)
			if !x.joint() {
				added++
			}
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

func (s *Selection) push(length int64) {
	s.lengths[s.resultDims] = length
	s.resultDims++
}

func (s *Selection) whole(axis int, n int64) {
	s.Axes[axis] = AxisSelection{Step: 1, Count: n}
	s.push(n)
}

func (s *Selection) take(axis int, n, i int64) error {
	at := i
	if at < 0 {
		at += n
	}
	if at < 0 || at >= n {
		return fmt.Errorf("%d is out of range for axis %d of length %d", i, axis, n)
	}
	s.Axes[axis] = AxisSelection{Start: at, Step: 1, Count: 1, dropped: true}
	return nil
}

// Slice applies Python's rules for slices: negative ends count from the end of the axis, then both are cut to it.
func (s *Selection) Slice(axis int, n int64, x Span) error {
	if x.Step == 0 {
		return fmt.Errorf("axis %d: the step of a slice is zero", axis)
	}
	step := max(x.Step, -math.MaxInt64)
	var start, stop, count int64
	if step > 0 {
		start = clip(x.Start, n, 0, n, 0)
		stop = clip(x.Stop, n, 0, n, n)
		if start < stop {
			count = (stop-start-1)/step + 1
		}
	} else {
		start = clip(x.Start, n, -1, n-1, n-1)
		stop = clip(x.Stop, n, -1, n-1, -1)
		if stop < start {
			count = (start-stop-1)/-step + 1
		}
	}
	if count < 2 {
		step = 1
	}
	s.Axes[axis] = AxisSelection{Start: start, Step: step, Count: count}
	s.push(count)
	return nil
}

// clip returns one end of a slice, counted from the end of an axis of length n if negative, within lo and hi.
func clip(end, n, lo, hi, open int64) int64 {
	if end == None {
		return open
	}
	if end < 0 {
		end += n
	}
	return min(max(end, lo), hi)
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

// Cut makes a selection of whole axes one of the items from lo up to hi of an axis.
func (s *Selection) Cut(axis int, lo, hi int64) {
	if s.Items > 0 {
		s.Items = s.Items / s.Axes[axis].Count * (hi - lo)
	}
	s.Axes[axis].Start, s.Axes[axis].Count, s.lengths[axis] = lo, hi-lo, hi-lo
}
