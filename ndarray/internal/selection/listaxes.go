package selection

import (
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// listAxes maps the axes of a selection with index arrays to lists and to dimensions of the result. The index arrays
// that are broadcast are one list over all their axes, including the axes of At. Each Pick and each Mask is a list of
// its own.
type listAxes struct {
	Lists  int                 // number of lists; 0 if no axis is listed
	joint  int                 // dimensions of the index arrays that are broadcast, which are list 0
	owner  [grid.MaxDims]int8  // list of each axis, from 1; 0 for a sliced axis
	dim    [grid.MaxDims]int8  // dimension of the result of each sliced axis that is not dropped
	Points [grid.MaxDims]int64 // number of items of each list
	last   [grid.MaxDims]int8  // last of the adjacent dimensions of the result of each list, or -1
}

// Memory returns the bytes that the lists of a plan take, or math.MaxInt64 if that is less. sel is the selection. A
// mask that is broadcast to several dimensions is turned into numbers: see IndexArray.numbers.
func (l *listAxes) Memory(sel []Index) int64 {
	n := int64(0)
	for _, points := range l.Points[:l.Lists] {
		if points > (math.MaxInt64-n)/listedBytes {
			return math.MaxInt64
		}
		n += points * listedBytes
	}
	if l.joint > 1 {
		for _, x := range sel {
			if x, ok := x.(*IndexArray); ok && x.Mask() {
				n += min(8*x.Count(), math.MaxInt64-n)
			}
		}
	}
	return n
}

// broadcast is the shape that index arrays are broadcast to.
type broadcast struct {
	n       int
	lengths [MaxResultDims]int64
}

// merge broadcasts b with another shape by NumPy's rules: dimensions are matched from the last one, and a length of 1
// matches any other length.
func (b *broadcast) merge(shape []int64) error {
	if grow := len(shape) - b.n; grow > 0 {
		copy(b.lengths[grow:], b.lengths[:b.n])
		for i := range grow {
			b.lengths[i] = 1
		}
		b.n = len(shape)
	}
	for i, n := range shape {
		have := &b.lengths[b.n-len(shape)+i]
		if *have == 1 {
			*have = n
		} else if n != 1 && n != *have {
			return fmt.Errorf("index arrays of shapes %v and %v cannot be broadcast", slices.Clone(b.lengths[:b.n]), slices.Clone(shape))
		}
	}
	return nil
}

// resolveLists is like Resolve, for selections with index arrays. It applies NumPy's rules and does not retain sel.
func resolveLists(shape []int64, sel []Index, rest int) (s Selection, err error) {
	s.Ndim = len(shape)
	joint, err := jointLists(sel)
	if err != nil {
		return s, fmt.Errorf("ndarray: %w: %s", frame.ErrBounds, err)
	}
	var b broadcast
	if joint {
		if err := b.arrays(sel); err != nil {
			return s, fmt.Errorf("ndarray: %w: %s", frame.ErrBounds, err)
		}
		var ok bool
		s.ListAxes.Lists, s.ListAxes.joint = 1, b.n
		if s.ListAxes.Points[0], ok = grid.Product(b.lengths[:b.n]); !ok {
			return s, fmt.Errorf("ndarray: %w: more than 2^63-1 items selected", errs.ErrTooLarge)
		}
	}
	axis, ellipsis := 0, false
	where := 0                     // first dimension of the result of the index arrays that are broadcast
	started, ended := false, false // an index array was found; another index followed it
	for i, x := range sel {
		array, listed := x.(*IndexArray)
		_, number := x.(Point)
		if joint && (listed || number) {
			if !started {
				started, where = true, s.resultDims
			} else if ended {
				where = 0
			}
		} else {
			ended = started
		}
		if listed {
			err = s.list(&axis, shape, array)
		} else {
			err = s.plain(&axis, shape, x, rest, joint)
		}
		if err != nil {
			return s, fmt.Errorf("ndarray: %w: index %d: %s", frame.ErrBounds, i, err)
		}
		ellipsis = ellipsis || x == Ellipsis
	}
	if !ellipsis {
		s.plain(&axis, shape, Ellipsis, rest, joint)
	}
	if joint {
		if s.resultDims+b.n > MaxResultDims {
			return s, fmt.Errorf("ndarray: %w: the result would have %d dimensions, at most %d", frame.ErrBounds, s.resultDims+b.n, MaxResultDims)
		}
		s.insert(where, &b)
	}
	var ok bool
	if s.Items, ok = grid.Product(s.Shape()); !ok {
		return s, fmt.Errorf("ndarray: %w: more than 2^63-1 items selected", errs.ErrTooLarge)
	}
	return s, nil
}

// jointLists reports whether the index arrays of a selection are broadcast. It returns an error if only some of them
// are.
func jointLists(sel []Index) (bool, error) {
	first := -1
	for i, x := range sel {
		array, ok := x.(*IndexArray)
		if !ok {
			continue
		}
		if first < 0 {
			first = i
		} else if other := sel[first].(*IndexArray); other.joint() != array.joint() {
			return false, fmt.Errorf("index %d is a %v and index %d a %v; a selection cannot mix lists of single axes (Pick) and broadcast index arrays (Coords, Mask)", first, other.Kind, i, array.Kind)
		}
	}
	return sel[first].(*IndexArray).joint(), nil
}

// String returns the name of the constructor.
func (k arrayKind) String() string {
	return [...]string{"Pick", "Coords", "Mask", "Flat"}[k]
}

// arrays sets b to the shape of the index arrays of a selection.
func (b *broadcast) arrays(sel []Index) error {
	for i, x := range sel {
		array, ok := x.(*IndexArray)
		if !ok {
			continue
		}
		err := array.check()
		if err == nil && array.Mask() {
			err = b.merge([]int64{array.Count()})
		} else if err == nil {
			err = b.merge(array.Shape)
		}
		if err != nil {
			return fmt.Errorf("index %d: %s", i, err)
		}
	}
	return nil
}

// plain applies an index that is not an array. If the selection has index arrays that are broadcast, an integer is one,
// too.
func (s *Selection) plain(axis *int, shape []int64, x Index, rest int, joint bool) (err error) {
	n := 1
	switch x := x.(type) {
	default:
		if _, ok := x.(Point); !ok {
			s.ListAxes.dim[*axis] = int8(s.resultDims)
		} else if joint {
			s.ListAxes.owner[*axis] = 1
		}
		err = s.apply(*axis, shape[*axis], x)
	case Marker:
		switch x {
		case NewAxis:
			s.push(1)
			return nil
		case Ellipsis:
			n = rest
		}
		for i := *axis; i < *axis+n; i++ {
			s.ListAxes.dim[i] = int8(s.resultDims)
			s.whole(i, shape[i])
		}
	}
	*axis += n
	return err
}

// list applies an index array.
func (s *Selection) list(axis *int, shape []int64, x *IndexArray) error {
	pl, from := &s.ListAxes, *axis
	*axis += x.Axes(len(shape))
	if err := x.check(); err != nil {
		return err
	}
	if x.joint() {
		for i := from; i < *axis; i++ {
			pl.owner[i] = 1
		}
	} else {
		n := x.Count()
		pl.Points[pl.Lists], pl.last[pl.Lists] = n, int8(s.resultDims)
		pl.Lists++
		pl.owner[from] = int8(pl.Lists)
		s.push(n)
	}
	if !x.Mask() {
		if x.joint() && pl.Points[0] == 0 {
			return nil // as in NumPy, numbers are not checked if the index arrays broadcast to no items
		}
		return x.checkBounds(from, shape)
	}
	for i, n := range x.Shape {
		if have := shape[from+i]; n != have && n != 0 { // NumPy does not compare a length of 0
			return fmt.Errorf("mask has length %d, but axis %d has length %d", n, from+i, have)
		}
	}
	return nil
}

// checkBounds returns an error unless all numbers are inside the axis.
func (x *IndexArray) checkBounds(axis int, shape []int64) error {
	n := int64(0)
	if x.Kind == FlatKind {
		n, _ = grid.Product(shape)
	} else {
		n = shape[axis]
	}
	for k, i := range x.At {
		if i >= n || i < -n {
			if x.Kind == FlatKind {
				return fmt.Errorf("entry %d of the list is %d, out of range for %d items", k, i, n)
			}
			return fmt.Errorf("entry %d of the list is %d, out of range for axis %d of length %d", k, i, axis, n)
		}
	}
	return nil
}

// insert inserts the dimensions of broadcast index arrays into the result.
func (s *Selection) insert(where int, b *broadcast) {
	copy(s.lengths[where+b.n:], s.lengths[where:s.resultDims])
	copy(s.lengths[where:], b.lengths[:b.n])
	s.resultDims += b.n
	for i := range s.Ndim {
		if s.ListAxes.dim[i] >= int8(where) {
			s.ListAxes.dim[i] += int8(b.n)
		}
	}
	s.ListAxes.last[0] = int8(where + b.n - 1)
	if b.n == 0 {
		s.ListAxes.last[0] = -1
	}
}
