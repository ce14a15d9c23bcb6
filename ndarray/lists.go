package ndarray

import (
	"fmt"
	"slices"
	"strconv"
)

// indexArray is an Index that lists items one by one.
type indexArray struct {
	kind  arrayKind
	shape []int64 // of the numbers or truth values
	at    []int64 // the numbers, in C order
	keep  []bool  // the truth values of a mask, in C order
}

type arrayKind uint8

const (
	pickKind   arrayKind = iota // numbers for one axis
	maskKind                    // truth values for one axis
	coordsKind                  // numbers for one axis, that go together with those of other axes
	maskNDKind                  // truth values for len(shape) axes
	flatKind                    // numbers for all axes
)

func (*indexArray) index() {}

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

// joint tells whether the index goes together with others of its kind.
func (x *indexArray) joint() bool { return x.kind >= coordsKind }

// mask tells whether the index has truth values.
func (x *indexArray) mask() bool { return x.kind == maskKind || x.kind == maskNDKind }

// axes returns how many axes the index takes of an array with ndim of them.
func (x *indexArray) axes(ndim int) int {
	switch x.kind {
	case maskNDKind:
		return len(x.shape)
	case flatKind:
		return ndim
	}
	return 1
}

// count returns how many items are listed.
func (x *indexArray) count() int64 {
	if !x.mask() {
		return int64(len(x.at))
	}
	n := int64(0)
	for _, k := range x.keep {
		if k {
			n++
		}
	}
	return n
}

// sound tells whether there are as many numbers or truth values as the shape says.
func (x *indexArray) sound() error {
	for _, n := range x.shape {
		if n < 0 {
			return fmt.Errorf("an index array of shape %v", slices.Clone(x.shape))
		}
	}
	n, ok := product(x.shape)
	if have := max(len(x.at), len(x.keep)); !ok || n != int64(have) || len(x.shape) > maxResultDims {
		return fmt.Errorf("an index array of shape %v with %d values", slices.Clone(x.shape), have)
	}
	return nil
}

// String returns the index in NumPy's notation, with all its numbers; a Pick reads as the list that it is.
func (x *indexArray) String() string {
	if err := x.sound(); err != nil {
		return "invalid(" + err.Error() + ")"
	}
	var b []byte
	if x.kind == flatKind {
		b = append(b, "flat"...)
	}
	if n, brackets := int64(1), 0; len(x.at)+len(x.keep) == 0 {
		for n > 0 && n <= 1<<10 {
			n *= x.shape[brackets]
			brackets++
		}
		if n > 0 {
			return string(append(b, "[]"...)) // too many empty lists
		}
	}
	b, _ = x.appendText(b, x.shape, 0)
	return string(b)
}

// appendText appends the part of the array that starts at value i and has a shape, and returns where the next starts.
func (x *indexArray) appendText(b []byte, shape []int64, i int) ([]byte, int) {
	if len(shape) == 0 {
		switch {
		case !x.mask():
			return strconv.AppendInt(b, x.at[i], 10), i + 1
		case x.keep[i]:
			return append(b, "True"...), i + 1
		}
		return append(b, "False"...), i + 1
	}
	b = append(b, '[')
	for k := range shape[0] {
		if k > 0 {
			b = append(b, ", "...)
		}
		b, i = x.appendText(b, shape[1:], i)
	}
	return append(b, ']'), i
}
