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
