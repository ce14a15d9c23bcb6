package selection

import (
	"fmt"
	"math/bits"
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
	n := 0
	for keep := x.Keep; len(keep) > 0; keep = keep[min(64, len(keep)):] {
		n += bits.OnesCount64(word(keep[:min(64, len(keep))]))
	}
	return int64(n)
}

// word returns up to 64 booleans as bits, the first in the lowest.
func word(keep []bool) (w uint64) {
	shift := 0
	for ; len(keep) >= 8; keep = keep[8:] {
		b := (*[8]bool)(keep)
		w |= (bit(b[0]) | bit(b[1])<<1 | bit(b[2])<<2 | bit(b[3])<<3 | bit(b[4])<<4 | bit(b[5])<<5 | bit(b[6])<<6 | bit(b[7])<<7) << (shift & 63)
		shift += 8
	}
	for _, b := range keep {
		w |= bit(b) << (shift & 63)
		shift++
	}
	return w
}

// bit returns 1 for true. The compiler makes no branch of it, which a CPU could not predict.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
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
