package selection

import (
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// Mapping maps the items of a view to items of an array. Each axis of the view runs along one axis of the array, runs
// along the bytes of an item, or repeats an item. Each axis of the array has one axis in the view or a fixed
// coordinate. A view of a view is one Mapping, too. A Mapping is immutable after construction.
type Mapping struct {
	Ndim  int                    // of the view
	Axes  [grid.MaxDims]ViewAxis // of the view
	fixed grid.Dims              // coordinate along each axis of the array that has no axis in the view

	Offset int        // first byte, in an item of the array, of an item of the view
	Dtype  meta.DType // of the items of the view

	// Convert converts stored items of the dtype Stored to items of Dtype. If there is none, the items of the view are
	// as stored, and Stored is not set.
	Convert numbers.Loop
	Stored  meta.DType
}

// ViewAxis is an axis of a view.
type ViewAxis struct {
	Axis  int8  // of the array, or -1
	Start int64 // item k of the view is item Start + k*Step along the axis of the array
	Step  int64 // 1 if there are fewer than two items
	Count int64 // number of items
	Bytes int   // without an axis: distance of neighbors inside an item of the array; 0 repeats one item
}

// Identity returns the mapping of an array to itself.
func Identity(g *grid.Geometry, dtype meta.DType) Mapping {
	m := Mapping{Ndim: g.Ndim, Dtype: dtype}
	for i := range g.Ndim {
		m.Axes[i] = ViewAxis{Axis: int8(i), Step: 1, Count: g.Shape[i]}
	}
	return m
}

// Shape returns the shape of the view in memory of buf.
func (m *Mapping) Shape(buf *grid.Dims) []int64 {
	for i := range m.Ndim {
		buf[i] = m.Axes[i].Count
	}
	return buf[:m.Ndim]
}

// Whole reports whether the view has whole items of the array, of itemSize bytes, as stored.
func (m *Mapping) Whole(itemSize int) bool { return m.Dtype.Size == itemSize && m.Convert.None() }

// Check returns ErrBounds unless all items of the view are inside the array.
func (m *Mapping) Check(g *grid.Geometry) error {
	var shape, most grid.Dims
	for i := range m.Ndim {
		if m.Axes[i].Count == 0 {
			return nil
		}
	}
	most = m.fixed
	for i := range m.Ndim {
		if x := &m.Axes[i]; x.Axis >= 0 {
			most[x.Axis] = max(x.Start, x.Start+(x.Count-1)*x.Step)
		}
	}
	for i := range g.Ndim {
		if most[i] >= g.Shape[i] {
			return fmt.Errorf("ndarray: %w: a view of shape %v refers to item %d along axis %d of an array that now has shape %v", frame.ErrBounds, slices.Clone(m.Shape(&shape)), most[i], i, slices.Clone(g.Shape[:g.Ndim]))
		}
	}
	return nil
}

// Repeats reports whether the view has an item of the array at several positions.
func (m *Mapping) Repeats() bool {
	for i := range m.Ndim {
		if x := &m.Axes[i]; x.Axis < 0 && x.Bytes == 0 && x.Count > 1 {
			return true
		}
	}
	return false
}

// Push adds an axis.
func (m *Mapping) Push(x ViewAxis) error {
	if m.Ndim == grid.MaxDims {
		return fmt.Errorf("ndarray: %w: the result would have more than %d dimensions", errs.ErrShape, grid.MaxDims)
	}
	m.Axes[m.Ndim] = x
	m.Ndim++
	return nil
}

// Fix selects item k of an axis, which is then no longer an axis of the view.
func (m *Mapping) Fix(x *ViewAxis, k int64) {
	if x.Axis >= 0 {
		m.fixed[x.Axis] = x.Start + k*x.Step
	} else {
		m.Offset += int(k) * x.Bytes
	}
}

// Take returns the axis of a slice of x, and the offset of the slice inside an item in bytes.
func (x *ViewAxis) Take(s *AxisSelection) (y ViewAxis, inside int) {
	y = ViewAxis{Axis: x.Axis, Step: 1, Count: s.Count}
	switch {
	case s.Count == 0:
	case x.Axis < 0:
		inside = int(s.Start) * x.Bytes
		y.Bytes = x.Bytes * int(s.Step)
	default:
		y.Start = x.Start + s.Start*x.Step
		if s.Count > 1 {
			y.Step = x.Step * s.Step
		}
	}
	return y, inside
}

// Slice returns the mapping of a selection.
func (m *Mapping) Slice(sel []Index) (Mapping, error) {
	var buf grid.Dims
	s, err := Resolve(m.Shape(&buf), sel)
	if err != nil {
		return *m, err
	}
	if s.ListAxes.Lists > 0 {
		return *m, fmt.Errorf("ndarray: %w: a view cannot have index arrays; read from the view with them instead", frame.ErrBounds)
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
	next.Ndim, next.Axes = 0, [grid.MaxDims]ViewAxis{}
	axis := 0
	for _, x := range sel {
		n := 1
		switch x {
		case NewAxis:
			if err := next.Push(ViewAxis{Axis: -1, Step: 1, Count: 1}); err != nil {
				return *m, err
			}
			continue
		case Ellipsis:
			n = m.Ndim - named
		}
		for range n {
			x, taken := &m.Axes[axis], &s.Axes[axis]
			axis++
			if taken.dropped {
				next.Fix(x, taken.Start)
				continue
			}
			y, inside := x.Take(taken)
			next.Offset += inside
			if err := next.Push(y); err != nil {
				return *m, err
			}
		}
	}
	return next, nil
}

// Plan returns the plan of a selection of a view without listed axes. stride is, for each axis of the view, the
// distance of neighbors on the user side, in items of the view.
func (m *Mapping) Plan(g *grid.Geometry, axes *[grid.MaxDims]AxisSelection, stride *grid.Dims) Plan {
	p := m.newPlan(g)
	for i := range m.Ndim {
		m.planAxis(&p, i, &axes[i], stride[i])
	}
	return p
}

// newPlan returns a plan that selects the item at the origin of the view.
func (m *Mapping) newPlan(g *grid.Geometry) Plan {
	p := Plan{Geo: g, Items: 1, Chunks: 1, part: itemPart{size: m.Dtype.Size, wide: m.Dtype.Size, offset: m.Offset}}
	if !m.Convert.None() {
		p.part.size, p.part.convert = m.Stored.Size, m.Convert
	} else if m.Dtype.Size == int(g.ItemSize) {
		p.ItemSize = m.Dtype.Size
	}
	for i := range g.Ndim {
		p.Axes[i] = planAxis{First: m.fixed[i], step: 1, count: 1, chunks: 1}
	}
	return p
}

// planAxis plans a slice of an axis of the view.
func (m *Mapping) planAxis(p *Plan, i int, s *AxisSelection, stride int64) {
	y, inside := m.Axes[i].Take(s)
	if y.Axis >= 0 {
		p.Items *= y.Count
		p.slice(int(y.Axis), &AxisSelection{Start: y.Start, Step: y.Step, Count: y.Count}, stride)
		return
	}
	q := &p.part
	q.offset += inside
	if y.Count > 1 {
		q.count[q.n], q.user[q.n], q.item[q.n] = int(y.Count), int(stride)*q.wide, y.Bytes
		q.n++
		p.ItemSize = 0
	}
}

// Strides sets the distance of neighbors along each axis in the result of a selection without listed axes, in items.
func (s *Selection) Strides(stride *grid.Dims) {
	n := int64(1)
	for i := s.Ndim - 1; i >= 0; i-- {
		stride[i] = n
		n *= s.Axes[i].Count
	}
}
