package convert

import (
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// Cast returns a function that converts items of one dtype to another, as NumPy's astype does on x86-64, or none if the
// dtypes are the same. dst and src must hold the same number of whole items. It returns ErrType if NumPy's rules have
// no such conversion, or none that is safe for text.
func Cast(to, from meta.DType) (numbers.Loop, error) {
	d, okTo := numbers.Of(to, from)
	s, okFrom := numbers.Of(from, to)
	if okTo && okFrom {
		if to.Kind == from.Kind && d == s {
			return numbers.Loop{}, nil
		}
		return numbers.Conversion(d, s), nil
	}
	if to.String() == from.String() {
		return numbers.Loop{}, nil
	}
	if list := swaps(to, from); list != nil {
		if to.Fields == nil && to.Elem == nil {
			return numbers.Swapper(list[0].width), nil
		}
		return numbers.NewLoop(func(dst, src []byte) {
			copy(dst, src)
			for ; len(dst) > 0; dst = dst[to.Size:] {
				for _, n := range list {
					numbers.Swap(dst[n.at:n.at+n.width], n.width)
				}
			}
		}), nil
	}
	text := from.Kind == 'S' || from.Kind == 'U'
	if text && from.Kind == to.Kind && from.Size > 0 {
		return numbers.NewLoop(func(dst, src []byte) { convertText(dst, src, to, from) }), nil
	}
	if f := castTime(to, from); f != nil {
		return numbers.NewLoop(f), nil
	}
	return numbers.Loop{}, fmt.Errorf("ndarray: %w: cannot convert items of %v to %v", errs.ErrType, from, to)
}

// number is a number inside an item: where it starts and its bytes.
type number struct{ at, width int }

// part is a number inside an item, or bytes that have no order: where it starts times 2^32, its bytes times 2, and 1 if
// the byte order differs. Integers are sorted by code that other packages need, too.
type part int64

func partOf(at, width int, swap int64) part { return part(int64(at)<<32 | int64(width)<<1 | swap) }

func (p part) number() number { return number{int(p >> 32), int(p >> 1 & math.MaxInt32)} }
func (p part) swap() bool     { return p&1 != 0 }

// OrderDiffers reports whether two dtypes differ in the byte order of their numbers and in nothing else, and Cast can
// change it.
func OrderDiffers(to, from meta.DType) bool { return swaps(to, from) != nil }

// swaps returns the numbers of an item whose byte order differs, or nil if the dtypes differ in anything else, or if
// fields share bytes that cannot be right for all of them. Fields with the same number share one of the list.
func swaps(to, from meta.DType) []number {
	if littleEndian(to).String() != littleEndian(from).String() {
		return nil
	}
	parts := appendParts(nil, to, from, 0)
	slices.Sort(parts)
	var list []number
	swapped, kept := 0, 0 // the ends of the numbers in list, and of the other parts
	for _, p := range parts {
		n := p.number()
		end := n.at + n.width
		switch {
		case !p.swap() && n.at >= swapped:
			kept = max(kept, end)
		case p.swap() && n.at >= max(swapped, kept):
			list, swapped = append(list, n), end
		case !p.swap() || n.at < kept || list[len(list)-1] != n:
			return nil
		}
	}
	return list
}

// appendParts appends the parts of an item, or of a part of it that starts at byte at.
func appendParts(list []part, to, from meta.DType, at int) []part {
	switch {
	case to.Fields != nil:
		for i := range to.Fields {
			list = appendParts(list, to.Fields[i].Type, from.Fields[i].Type, at+to.Fields[i].Offset)
		}
	case to.Elem != nil:
		if to.Elem.Size > 0 {
			for k := range to.Size / to.Elem.Size {
				list = appendParts(list, *to.Elem, *from.Elem, at+k*to.Elem.Size)
			}
		}
	case to.Order != from.Order:
		width := to.Size
		switch to.Kind {
		case 'c':
			width /= 2
		case 'U':
			width = 4
		}
		for k := 0; k < to.Size; k += width {
			list = append(list, partOf(at+k, width, 1))
		}
	case to.Size > 0:
		if k := len(list) - 1; k >= 0 && !list[k].swap() {
			if n := list[k].number(); n.at+n.width == at {
				list[k] = partOf(n.at, n.width+to.Size, 0)
				break
			}
		}
		list = append(list, partOf(at, to.Size, 0))
	}
	return list
}

// littleEndian returns d with little-endian numbers.
func littleEndian(d meta.DType) meta.DType {
	if d.Order == '>' {
		d.Order = '<'
	}
	if d.Fields != nil {
		fields := append([]meta.Field{}, d.Fields...)
		for i := range fields {
			fields[i].Type = littleEndian(fields[i].Type)
		}
		d.Fields = fields
	}
	if d.Elem != nil {
		e := littleEndian(*d.Elem)
		d.Elem = &e
	}
	return d
}

// convertText truncates text or pads it with zeros.
func convertText(dst, src []byte, to, from meta.DType) {
	for len(dst) > 0 {
		n := copy(dst[:to.Size], src[:from.Size])
		clear(dst[n:to.Size])
		if to.Order != from.Order {
			numbers.Swap(dst[:n], 4)
		}
		dst, src = dst[to.Size:], src[from.Size:]
	}
}
