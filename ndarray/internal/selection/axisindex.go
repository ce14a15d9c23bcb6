package selection

import (
	"fmt"
	"math"
	"strconv"
)

// An index of one axis that selects evenly spaced items is a type of its own with a method along. A new kind of
// selection adds such a type, and a case to oneAxis and to along. They are switches over types, because the call of a
// method of an interface would move the indexes of each call of a user to the heap.

// oneAxis reports whether x is an index of one axis with evenly spaced items, and whether it drops the axis from the
// result.
func oneAxis(x Index) (drops, ok bool) {
	switch x.(type) {
	case Point:
		return true, true
	case Span, Range:
		return false, true
	}
	return false, false
}

// along returns the items that an index of one axis selects from an axis of length n. axis is its number, for errors.
func along(x Index, axis int, n int64) (AxisSelection, error) {
	switch x := x.(type) {
	case Point:
		return x.along(axis, n)
	case Span:
		return x.along(axis, n)
	case Range:
		return x.along(axis, n)
	}
	return AxisSelection{}, fmt.Errorf("axis %d: not an index of one axis", axis)
}

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
