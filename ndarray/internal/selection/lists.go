package selection

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// IndexArray is an Index that lists items one by one.
type IndexArray struct {
	Kind  arrayKind
	Shape []int64 // of the numbers or booleans
	At    []int64 // the numbers, in C order
	Keep  []bool  // the booleans of a mask, in C order
}

type arrayKind uint8

const (
	PickKind   arrayKind = iota // numbers for one axis
	CoordsKind                  // numbers for one axis, broadcast with other index arrays
	MaskKind                    // booleans for len(Shape) axes, broadcast with other index arrays
	FlatKind                    // numbers for all axes
)

func (*IndexArray) index() {}

// joint reports whether the index is broadcast with the other index arrays of the selection.
func (x *IndexArray) joint() bool { return x.Kind >= CoordsKind }

// Mask reports whether the index has booleans.
func (x *IndexArray) Mask() bool { return x.Kind == MaskKind }

// Axes returns the number of axes that the index applies to, in an array with ndim axes.
func (x *IndexArray) Axes(ndim int) int {
	switch x.Kind {
	case MaskKind:
		return len(x.Shape)
	case FlatKind:
		return ndim
	}
	return 1
}

// Count returns the number of listed items.
func (x *IndexArray) Count() int64 {
	if !x.Mask() {
		return int64(len(x.At))
	}
	n := int64(0)
	for _, k := range x.Keep {
		if k {
			n++
		}
	}
	return n
}

// check returns an error unless the number of values matches the shape.
func (x *IndexArray) check() error {
	for _, n := range x.Shape {
		if n < 0 {
			return fmt.Errorf("index array has the negative shape %v", slices.Clone(x.Shape))
		}
	}
	n, ok := grid.Product(x.Shape)
	if have := max(len(x.At), len(x.Keep)); !ok || n != int64(have) || len(x.Shape) > MaxResultDims {
		return fmt.Errorf("index array of shape %v has %d values", slices.Clone(x.Shape), have)
	}
	return nil
}

// String returns the index in NumPy's notation, with all its values. A Pick is written as a list.
func (x *IndexArray) String() string {
	if err := x.check(); err != nil {
		return "invalid(" + err.Error() + ")"
	}
	var b []byte
	if x.Kind == FlatKind {
		b = append(b, "flat"...)
	}
	if n, brackets := int64(1), 0; len(x.At)+len(x.Keep) == 0 {
		for n > 0 && n <= 1<<10 {
			n *= x.Shape[brackets]
			brackets++
		}
		if n > 0 {
			return string(append(b, "[]"...)) // the shape would print as too many empty lists
		}
	}
	b, _ = x.appendText(b, x.Shape, 0)
	return string(b)
}

// appendText appends the part of the array that starts at value i and has the given shape. It returns the position
// after the part.
func (x *IndexArray) appendText(b []byte, shape []int64, i int) ([]byte, int) {
	if len(shape) == 0 {
		switch {
		case !x.Mask():
			return strconv.AppendInt(b, x.At[i], 10), i + 1
		case x.Keep[i]:
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

// Pick is the constructor Pick of package ndarray.
func Pick(indices ...int64) Index {
	return &IndexArray{Kind: PickKind, Shape: []int64{int64(len(indices))}, At: indices}
}

// Coords is the constructor Coords of package ndarray.
func Coords(indices, shape []int64) Index {
	if len(shape) == 0 {
		shape = []int64{int64(len(indices))}
	}
	return &IndexArray{Kind: CoordsKind, Shape: shape, At: indices}
}

// Mask is the constructor Mask of package ndarray.
func Mask(keep []bool, shape []int64) Index {
	if shape == nil {
		shape = []int64{int64(len(keep))}
	}
	return &IndexArray{Kind: MaskKind, Shape: shape, Keep: keep}
}

// Bool returns a mask without dimensions.
func Bool(keep bool) Index { return &IndexArray{Kind: MaskKind, Keep: []bool{keep}} }

// Flat is the constructor Flat of package ndarray.
func Flat(positions ...int64) Index {
	return &IndexArray{Kind: FlatKind, Shape: []int64{int64(len(positions))}, At: positions}
}
