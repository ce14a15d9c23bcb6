package ndarray

import (
	"fmt"
	"math"
	"strconv"

	"github.com/goblosc/blosc2/frame"
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

type marker uint8

// The indexes without parameters.
const (
	// All takes a whole axis, as ":" does.
	All marker = iota
	// Ellipsis takes all axes that no other index names, as "..." does. It may stand once in a selection.
	// A selection with fewer indexes than the array has axes ends in one, written or not.
	Ellipsis
	// NewAxis adds an axis of length 1 to the result, as "None" does.
	NewAxis
)

type point int64

type span struct{ start, stop, step int64 }

func (marker) index() {}
func (point) index()  {}
func (span) index()   {}

func (m marker) String() string {
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

func (p point) String() string { return strconv.FormatInt(int64(p), 10) }

func (s span) String() string {
	b := make([]byte, 0, 16)
	if s.start != None {
		b = strconv.AppendInt(b, s.start, 10)
	}
	b = append(b, ':')
	if s.stop != None {
		b = strconv.AppendInt(b, s.stop, 10)
	}
	if s.step != 1 {
		b = append(b, ':')
		b = strconv.AppendInt(b, s.step, 10)
	}
	return string(b)
}

// maxResultDims is the most dimensions that a selection can have, NewAxis included. It is NumPy's limit.
const maxResultDims = 64

// axisSelection is what is taken along one axis of an array: the items start + k*step for 0 <= k < count.
// All of them lie inside the axis. The step is 1 when there are less than two of them; the start means nothing when there is none.
type axisSelection struct {
	start, step, count int64
	dropped            bool // by At: not an axis of the result
}

// selection is a resolved selection.
type selection struct {
	ndim  int // of the array
	axes  [maxDims]axisSelection
	items int64 // selected

	resultDims int
	lengths    [maxResultDims]int64

	place placement // when axes are listed item by item
}

// shape returns the shape of the result. It is memory of s.
func (s *selection) shape() []int64 { return s.lengths[:s.resultDims] }

// resolve applies indexes to an array of a given shape with NumPy's rules. It allocates nothing.
// The error wraps frame.ErrBounds, or ErrTooLarge.
func resolve(shape []int64, sel []Index) (s selection, err error) {
	s.ndim = len(shape)
	if s.ndim > maxDims {
		return s, fmt.Errorf("ndarray: %w: %d dimensions, at most %d", errShape, s.ndim, maxDims)
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
		case point:
			err = s.take(axis, shape[axis], int64(x))
			axis++
		case span:
			err = s.slice(axis, shape[axis], x)
			axis++
		case marker:
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
	if s.items, ok = product(s.shape()); !ok {
		return s, fmt.Errorf("ndarray: %w: more than 2^63 items selected", errTooLarge)
	}
	return s, nil
}

// resolvePoint selects the one item at a position, with one number for each axis.
func resolvePoint(shape, at []int64) (s selection, err error) {
	s.ndim, s.items = len(shape), 1
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
		case point:
			named++
			dropped++
		case span:
			named++
		case marker:
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
		case *indexArray:
			if x.kind == flatKind && len(sel) > 1 {
				return 0, false, fmt.Errorf("ndarray: %w: index %d: Flat takes the whole array and must stand alone", frame.ErrBounds, i)
			}
			listed = true
			named += x.axes(ndim)
			dropped += x.axes(ndim)
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
	case ndim-dropped > maxResultDims-added:
		return 0, false, fmt.Errorf("ndarray: %w: the result would have %d dimensions, at most %d", frame.ErrBounds, ndim-dropped+added, maxResultDims)
	}
	return ndim - named, listed, nil
}

func (s *selection) push(length int64) {
	s.lengths[s.resultDims] = length
	s.resultDims++
}

func (s *selection) whole(axis int, n int64) {
	s.axes[axis] = axisSelection{step: 1, count: n}
	s.push(n)
}

func (s *selection) take(axis int, n, i int64) error {
	at := i
	if at < 0 {
		at += n
	}
	if at < 0 || at >= n {
		return fmt.Errorf("%d is out of range for axis %d of length %d", i, axis, n)
	}
	s.axes[axis] = axisSelection{start: at, step: 1, count: 1, dropped: true}
	return nil
}

// slice applies Python's rules for slices: negative ends count from the end of the axis, then both are cut to it.
func (s *selection) slice(axis int, n int64, x span) error {
	if x.step == 0 {
		return fmt.Errorf("axis %d: the step of a slice is zero", axis)
	}
	step := max(x.step, -math.MaxInt64)
	var start, stop, count int64
	if step > 0 {
		start = clip(x.start, n, 0, n, 0)
		stop = clip(x.stop, n, 0, n, n)
		if start < stop {
			count = (stop-start-1)/step + 1
		}
	} else {
		start = clip(x.start, n, -1, n-1, n-1)
		stop = clip(x.stop, n, -1, n-1, -1)
		if stop < start {
			count = (start-stop-1)/-step + 1
		}
	}
	if count < 2 {
		step = 1
	}
	s.axes[axis] = axisSelection{start: start, step: step, count: count}
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

// wholeAxes returns the selection of everything.
func wholeAxes(shape []int64) (s selection) {
	s.ndim, s.items = len(shape), 1
	for i, n := range shape {
		s.whole(i, n)
		s.items *= n
	}
	return s
}

// cut makes a selection of whole axes one of the items from lo up to hi of an axis.
func (s *selection) cut(axis int, lo, hi int64) {
	if s.items > 0 {
		s.items = s.items / s.axes[axis].count * (hi - lo)
	}
	s.axes[axis].start, s.axes[axis].count, s.lengths[axis] = lo, hi-lo, hi-lo
}
