package ndarray

import (
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/meta"
)

// view returns a view that change makes of what r shows.
func view(r Reader, change func(m *mapping) (mapping, error)) (*View, error) {
	a, m := r.source()
	if m == nil {
		whole := identity(a.now().geo, a.dtype)
		m = &whole
	}
	next, err := change(m)
	if err != nil {
		return nil, err
	}
	return &View{a: a, m: next}, nil
}

// Slice returns a view of a selection: NumPy's r[2:5, ..., ::-1]. Lists (Pick, Mask, Coords, Flat) cannot make a view,
// but can be read from one. Errors are ErrBounds and ErrShape.
func Slice(r Reader, sel ...Index) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) { return m.slice(sel) })
}

// Transpose returns a view with the axes in another order: axis k of the view is axis axes[k] of r; negative ones
// count from the last. No axes reverse the order. The error is ErrShape.
func Transpose(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		if len(axes) == 0 {
			slices.Reverse(next.axes[:next.ndim])
			return next, nil
		}
		order, err := axisNumbers(axes, m.ndim)
		if err == nil && len(axes) != m.ndim {
			err = fmt.Errorf("ndarray: %w: an order of %d axes for %d dimensions", ErrShape, len(axes), m.ndim)
		}
		for i, axis := range order {
			next.axes[i] = m.axes[axis]
		}
		return next, err
	})
}

// axisNumbers returns the axes with negative numbers counted from ndim, each of which may be named once.
func axisNumbers(axes []int, ndim int) ([]int, error) {
	numbers := make([]int, 0, maxDims)
	for _, axis := range axes {
		n := axis
		if n < 0 {
			n += ndim
		}
		if n < 0 || n >= ndim {
			return nil, fmt.Errorf("ndarray: %w: axis %d of %d dimensions", ErrShape, axis, ndim)
		}
		if slices.Contains(numbers, n) {
			return nil, fmt.Errorf("ndarray: %w: axis %d named twice", ErrShape, axis)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// Flip returns a view that goes backwards along the given axes, or along all if none is given. The error is ErrShape.
func Flip(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		numbers, err := axisNumbers(axes, m.ndim)
		for i := range m.ndim {
			if x := &m.axes[i]; len(axes) == 0 || slices.Contains(numbers, i) {
				y, inside := x.take(&axisSelection{start: x.count - 1, step: -1, count: x.count})
				next.axes[i] = y
				next.offset += inside
			}
		}
		return next, err
	})
}

// ExpandDims returns a view with new axes of length 1, which stand at the given places of the result; negative ones
// count from its last. The error is ErrShape.
func ExpandDims(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		numbers, err := axisNumbers(axes, m.ndim+len(axes))
		if err == nil && m.ndim+len(axes) > maxDims {
			err = fmt.Errorf("ndarray: %w: a view of more than %d dimensions", ErrShape, maxDims)
		}
		if err != nil {
			return next, err
		}
		next.ndim += len(axes)
		from := 0
		for i := range next.ndim {
			if slices.Contains(numbers, i) {
				next.axes[i] = viewAxis{axis: -1, step: 1, count: 1}
			} else {
				next.axes[i] = m.axes[from]
				from++
			}
		}
		return next, nil
	})
}

// Squeeze returns a view without the given axes, which must have the length 1, or without all that have it when none
// is given. The error is ErrShape.
func Squeeze(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		next.ndim, next.axes = 0, [maxDims]viewAxis{}
		numbers, err := axisNumbers(axes, m.ndim)
		for i := range m.ndim {
			x := &m.axes[i]
			named := slices.Contains(numbers, i)
			switch {
			case named && x.count != 1:
				return next, fmt.Errorf("ndarray: %w: axis %d of length %d cannot be squeezed", ErrShape, i, x.count)
			case named || len(axes) == 0 && x.count == 1:
				next.fix(x, 0)
			default:
				next.axes[next.ndim] = *x
				next.ndim++
			}
		}
		return next, err
	})
}

// BroadcastTo returns a view in which axes of length 1 have another length, and new ones stand before the first, by
// NumPy's rules: their items repeat. The view cannot be written. Errors are ErrShape and ErrTooLarge.
func BroadcastTo(r Reader, shape ...int64) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		next.ndim, next.axes = 0, [maxDims]viewAxis{}
		var buf dims
		more := len(shape) - m.ndim
		if more < 0 || len(shape) > maxDims {
			return next, fmt.Errorf("ndarray: %w: shape %v cannot be broadcast to %v", ErrShape, slices.Clone(m.shape(&buf)), shape)
		}
		for i, n := range shape {
			x := viewAxis{axis: -1, step: 1, count: 1}
			if i >= more {
				x = m.axes[i-more]
			}
			if n < 0 || n != x.count && x.count != 1 {
				return next, fmt.Errorf("ndarray: %w: shape %v cannot be broadcast to %v", ErrShape, slices.Clone(m.shape(&buf)), shape)
			}
			if n != x.count {
				next.fix(&x, 0)
				x = viewAxis{axis: -1, step: 1, count: n}
			}
			next.axes[i] = x
		}
		next.ndim = len(shape)
		if _, ok := product(shape); !ok {
			return next, fmt.Errorf("ndarray: %w: shape %v", ErrTooLarge, shape)
		}
		return next, nil
	})
}

// Field returns a view of one field of structured items, by name or title, or by the path of a field in a field, as
// "pos.x". The axes of a sub-array follow those of r, as in NumPy. The error is ErrType.
func Field(r Reader, path string) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) { return fieldOf(m, path) })
}

// fieldOf returns the mapping of a field of the items that m shows.
func fieldOf(m *mapping, path string) (mapping, error) {
	next := *m
	for rest := path; ; {
		f, after, ok := findField(next.dtype.Fields, rest)
		if !ok {
			return *m, fmt.Errorf("ndarray: %w: no field %q in %v", ErrType, path, m.dtype)
		}
		next.offset += f.Offset
		next.dtype = f.Type
		for next.dtype.Elem != nil {
			bytes := next.dtype.Size
			for _, n := range next.dtype.Shape {
				if n > 0 {
					bytes /= n
				}
				if err := next.push(viewAxis{axis: -1, step: 1, count: int64(n), bytes: bytes}); err != nil {
					return *m, err
				}
			}
			next.dtype = *next.dtype.Elem
		}
		if after == "" {
			break
		}
		rest = after
	}
	if next.dtype.Size < 1 {
		return *m, fmt.Errorf("ndarray: %w: field %q has no bytes", ErrType, path)
	}
	var buf dims
	if _, ok := product(next.shape(&buf)); !ok {
		return *m, fmt.Errorf("ndarray: %w: more than 2^63 items in field %q", ErrTooLarge, path)
	}
	return next, nil
}

// findField finds the field that a path starts with, by name or title, and returns what follows the dot behind it. A
// name may have dots of its own: the longest one counts.
func findField(fields []meta.Field, path string) (f *meta.Field, rest string, ok bool) {
	best := -1
	for i := range fields {
		for _, name := range []string{fields[i].Name, fields[i].Title} {
			if name == "" || len(name) <= best || len(path) < len(name) || path[:len(name)] != name {
				continue
			}
			if len(path) == len(name) {
				f, rest, best = &fields[i], "", len(name)
			} else if path[len(name)] == '.' && len(path) > len(name)+1 {
				f, rest, best = &fields[i], path[len(name)+1:], len(name)
			}
		}
	}
	return f, rest, best >= 0
}
