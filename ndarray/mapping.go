package ndarray

import (
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// mapping says which items of an array a view shows, and where. Each axis of the view goes along one axis of the
// array, along the bytes of an item, or stays at the same item; each axis of the array has one in the view, or a fixed
// coordinate. So views of views are one mapping, too. It is immutable once made.
type mapping struct {
	ndim  int               // of the view
	axes  [maxDims]viewAxis // of the view
	fixed dims              // the coordinate along each axis of the array that has none in the view

	offset int // where what is shown starts in an item, in bytes
	dtype  meta.DType
}

// viewAxis is an axis of a view.
type viewAxis struct {
	axis  int8  // of the array, or -1
	start int64 // item k stands at start + k*step along the axis of the array
	step  int64 // 1 when there are less than two items
	count int64 // items
	bytes int   // without an axis: from one item to the next, inside an item of the array; 0 repeats the same
}

// identity returns the mapping that shows an array as it is.
func identity(g *geometry, dtype meta.DType) mapping {
	m := mapping{ndim: g.ndim, dtype: dtype}
	for i := range g.ndim {
		m.axes[i] = viewAxis{axis: int8(i), step: 1, count: g.shape[i]}
	}
	return m
}

// shape returns the shape of the view in memory of buf.
func (m *mapping) shape(buf *dims) []int64 {
	for i := range m.ndim {
		buf[i] = m.axes[i].count
	}
	return buf[:m.ndim]
}

// whole reports whether whole items of the array are shown, of a size.
func (m *mapping) whole(itemSize int) bool { return m.dtype.Size == itemSize }

// check tells whether all items that are shown are inside of an array.
func (m *mapping) check(g *geometry) error {
	var shape, most dims
	for i := range m.ndim {
		if m.axes[i].count == 0 {
			return nil
		}
	}
	most = m.fixed
	for i := range m.ndim {
		if x := &m.axes[i]; x.axis >= 0 {
			most[x.axis] = max(x.start, x.start+(x.count-1)*x.step)
		}
	}
	for i := range g.ndim {
		if most[i] >= g.shape[i] {
			return fmt.Errorf("ndarray: %w: a view of shape %v shows index %d along axis %d of an array that has shape %v now", frame.ErrBounds, slices.Clone(m.shape(&shape)), most[i], i, slices.Clone(g.shape[:g.ndim]))
		}
	}
	return nil
}

// repeats tells whether an item of the array stands at several places of the view.
func (m *mapping) repeats() bool {
	for i := range m.ndim {
		if x := &m.axes[i]; x.axis < 0 && x.bytes == 0 && x.count > 1 {
			return true
		}
	}
	return false
}

// push adds an axis.
func (m *mapping) push(x viewAxis) error {
	if m.ndim == maxDims {
		return fmt.Errorf("ndarray: %w: a view of more than %d dimensions", errShape, maxDims)
	}
	m.axes[m.ndim] = x
	m.ndim++
	return nil
}

// fix sets item k of an axis as the one that is shown of it; the axis is no longer one of the view.
func (m *mapping) fix(x *viewAxis, k int64) {
	if x.axis >= 0 {
		m.fixed[x.axis] = x.start + k*x.step
	} else {
		m.offset += int(k) * x.bytes
	}
}

// take returns what a slice leaves of an axis, and where in an item it starts, in bytes.
func (x *viewAxis) take(s *axisSelection) (y viewAxis, inside int) {
	y = viewAxis{axis: x.axis, step: 1, count: s.count}
	switch {
	case s.count == 0:
	case x.axis < 0:
		inside = int(s.start) * x.bytes
		y.bytes = x.bytes * int(s.step)
	default:
		y.start = x.start + s.start*x.step
		if s.count > 1 {
			y.step = x.step * s.step
		}
	}
	return y, inside
}

// slice returns the mapping of a selection.
func (m *mapping) slice(sel []Index) (mapping, error) {
	var buf dims
	s, err := resolve(m.shape(&buf), sel)
	if err != nil {
		return *m, err
	}
	if s.place.lists > 0 {
		return *m, fmt.Errorf("ndarray: %w: a view cannot list items one by one: read them, or a selection of the view", frame.ErrBounds)
	}
	named, dots := 0, false
	for _, x := range sel {
		if x == Ellipsis {
			dots = true
		} else if x != NewAxis {
			named++
		}
	}
	if !dots {
		sel = append(slices.Clone(sel), Ellipsis)
	}
	next := *m
	next.ndim, next.axes = 0, [maxDims]viewAxis{}
	axis := 0
	for _, x := range sel {
		n := 1
		switch x {
		case NewAxis:
			if err := next.push(viewAxis{axis: -1, step: 1, count: 1}); err != nil {
				return *m, err
			}
			continue
		case Ellipsis:
			n = m.ndim - named
		}
		for range n {
			x, taken := &m.axes[axis], &s.axes[axis]
			axis++
			if taken.dropped {
				next.fix(x, taken.start)
				continue
			}
			y, inside := x.take(taken)
			next.offset += inside
			if err := next.push(y); err != nil {
				return *m, err
			}
		}
	}
	return next, nil
}

// plan makes the plan of a selection of a view without lists. stride is, for each axis of the view, the distance of
// neighbors on the user side, in items of the view.
func (m *mapping) plan(g *geometry, axes *[maxDims]axisSelection, stride *dims) plan {
	p := m.newPlan(g)
	for i := range m.ndim {
		m.planAxis(&p, i, &axes[i], stride[i])
	}
	return p
}

// newPlan returns a plan that selects the item at the origin of the view.
func (m *mapping) newPlan(g *geometry) plan {
	p := plan{geo: g, items: 1, chunks: 1, moved: moved{size: m.dtype.Size, offset: m.offset}}
	for i := range g.ndim {
		p.axes[i] = planAxis{first: m.fixed[i], step: 1, count: 1, chunks: 1}
	}
	return p
}

// planAxis plans a slice of an axis of the view.
func (m *mapping) planAxis(p *plan, i int, s *axisSelection, stride int64) {
	y, inside := m.axes[i].take(s)
	if y.axis >= 0 {
		p.items *= y.count
		p.slice(int(y.axis), &axisSelection{start: y.start, step: y.step, count: y.count}, stride)
		return
	}
	q := &p.moved
	q.offset += inside
	if y.count > 1 {
		q.count[q.n], q.user[q.n], q.item[q.n] = int(y.count), int(stride)*q.size, y.bytes
		q.n++
	}
}

// strides sets the distance of neighbours along each axis in the result of a selection without lists, in items.
func (s *selection) strides(stride *dims) {
	n := int64(1)
	for i := s.ndim - 1; i >= 0; i-- {
		stride[i] = n
		n *= s.axes[i].count
	}
}
