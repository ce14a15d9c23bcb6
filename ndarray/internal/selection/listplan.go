package selection

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// ListPlan is the plan of a selection with listed axes. The listed items are sorted by their location in storage, so
// that each list has one run of items in each chunk and in each block, whatever its order. The selected items of a
// chunk are the product of these runs and of a box along the sliced axes. A ListPlan is read-only after NewListPlan and
// Unique.
type ListPlan struct {
	Plan                     // of the sliced axes; a listed axis has one item here
	owner [grid.MaxDims]int8 // list of each axis of the array, from 1; 0 for a sliced axis
	Lists []pointList

	Inside bool // a list runs along the bytes of items
}

// pointList is a list of items along some axes.
//
// The key of an item is its offset in the decoded chunks, one after the other, if its coordinates along the other axes
// are zero: the sum over its axes of chunk * GridStride * ChunkBytes + block * BlockNumber * BlockBytes + item *
// ItemStride * ItemSize. The offset of an item is the sum of its keys in all lists and of its offset in the box.
type pointList struct {
	Points []listed
	stride int64 // distance of neighbors in the list on the user side, in items
}

// ListPart is the selected part of one chunk.
type ListPart struct {
	ChunkPart                     // Items and Whole refer to the sliced axes
	from, to  [grid.MaxDims]int   // run of each list
	base      [grid.MaxDims]int64 // key of the first item of the chunk in each list
}

// listBox is the selected part of a block: a box along the sliced axes for each combination of listed items.
type listBox struct {
	Box
	from, to [grid.MaxDims]int   // run of each list
	base     [grid.MaxDims]int64 // key of the first item of the block in each list
}

// NewListPlan returns the plan of a selection of at least one item, which was resolved from sel for the shape of m. It
// takes 16 bytes of memory for each listed item. It returns the error of ctx if that ends.
func NewListPlan(ctx context.Context, g *grid.Geometry, m *Mapping, s *Selection, sel []Index) (*ListPlan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &ListPlan{Plan: m.newPlan(g)}
	p.Items = s.Items
	var stride [MaxResultDims]int64
	n := int64(1)
	for i := s.resultDims - 1; i >= 0; i-- {
		stride[i] = n
		n *= s.lengths[i]
	}
	for i := range m.Ndim {
		switch x, list := &m.Axes[i], s.ListAxes.owner[i]; {
		case list == 0:
			m.planAxis(&p.Plan, i, &s.Axes[i], stride[s.ListAxes.dim[i]])
		case x.Axis >= 0:
			p.owner[x.Axis] = list
			p.Axes[x.Axis] = planAxis{step: 1, count: 1, chunks: 1}
		case x.Bytes < 0: // keys must not be negative: count from the first byte
			p.part.offset += int(x.Count-1) * x.Bytes
		}
	}
	p.Lists = make([]pointList, s.ListAxes.Lists)
	for i := range p.Lists {
		l := &p.Lists[i]
		if s.ListAxes.Points[i] > math.MaxInt/listedBytes {
			return nil, fmt.Errorf("ndarray: selection of %d points: %w", s.ListAxes.Points[i], errs.ErrTooLarge)
		}
		l.Points = make([]listed, s.ListAxes.Points[i])
		if last := s.ListAxes.last[i]; last >= 0 {
			l.stride = stride[last]
		}
	}
	var buf grid.Dims
	if err := p.collect(ctx, m.Shape(&buf), s, sel); err != nil {
		return nil, err
	}
	for i := range p.Lists {
		if err := p.setKeys(ctx, m, s, i); err != nil {
			return nil, err
		}
		if err := sortListed(ctx, p.Lists[i].Points, g.BlockBytes); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Unique removes repeated items from each list, for a write of one item. A block then has at most as many selected
// items as it has bytes. Otherwise, their number is the product of the lengths of the lists.
func (p *ListPlan) Unique() {
	for i := range p.Lists {
		l := &p.Lists[i]
		l.Points = slices.CompactFunc(l.Points, func(a, b listed) bool { return a.key == b.key })
	}
}

// collect sets the key of each listed item to its position in C order of the listed axes of an array of the given
// shape.
func (p *ListPlan) collect(ctx context.Context, shape []int64, s *Selection, sel []Index) (err error) {
	axis, list := 0, 0
	joint := s.lengths[int(s.ListAxes.last[0])+1-s.ListAxes.joint:][:s.ListAxes.joint]
	for _, x := range sel {
		switch x := x.(type) {
		default:
			if _, ok := x.(Point); ok && s.ListAxes.owner[axis] > 0 {
				at := []int64{s.Axes[axis].Start}
				err = appendCoordinate(ctx, p.Lists[0].Points, nil, shape[axis], at, nil)
			}
			axis++
		case Marker:
			switch x {
			case All:
				axis++
			case Ellipsis:
				axis = afterEllipsis(len(shape), sel)
			}
		case *IndexArray:
			points, n := p.Lists[list].Points, x.items(shape, axis)
			switch {
			case x.Mask() && len(joint) == 1:
				err = appendMask(ctx, points, n, x.Keep)
			case x.joint():
				numbers, from := x.numbers()
				err = appendCoordinate(ctx, points, joint, n, numbers, from)
			default:
				err = appendCoordinate(ctx, points, nil, n, x.At, nil)
				list++
			}
			axis += x.Axes(len(shape))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// afterEllipsis returns the axis of the first index after an ellipsis.
func afterEllipsis(ndim int, sel []Index) int {
	axis := ndim
	for i := len(sel) - 1; i >= 0 && sel[i] != Ellipsis; i-- {
		if x, ok := sel[i].(*IndexArray); ok {
			axis -= x.Axes(ndim)
		} else if sel[i] != NewAxis {
			axis--
		}
	}
	return axis
}

// items returns the number of items along the axes of the index array, which starts at an axis of an array of a shape.
func (x *IndexArray) items(shape []int64, axis int) int64 {
	n := int64(1)
	for _, length := range shape[axis : axis+x.Axes(len(shape))] {
		n *= length
	}
	return n
}

// numbers returns the numbers of the index array and their shape. The numbers of a mask are the positions of its true
// values in C order.
func (x *IndexArray) numbers() (at, shape []int64) {
	if !x.Mask() {
		return x.At, x.Shape
	}
	at = make([]int64, 0, x.Count())
	for i, k := range x.Keep {
		if k {
			at = append(at, int64(i))
		}
	}
	return at, []int64{int64(len(at))}
}

// appendMask is appendCoordinate for a mask that is broadcast to one dimension. It needs no memory for the numbers. If
// the mask has one true value and there are more points, that value belongs to all of them.
func appendMask(ctx context.Context, points []listed, n int64, keep []bool) error {
	k, last := 0, int64(0)
	var found [maskPart]uint8
	for from := 0; from < len(keep); from += maskPart {
		if err := endedAt(ctx, from|(maskPart-1)); err != nil {
			return err
		}
		for _, i := range trues(&found, keep[from:min(from+maskPart, len(keep))]) {
			last = int64(from) + int64(i)
			points[k].key = points[k].key*n + last
			k++
		}
	}
	for ; k < len(points); k++ {
		if err := endedAt(ctx, k); err != nil {
			return err
		}
		points[k].key = points[k].key*n + last
	}
	return nil
}

// maskPart is the number of booleans that trues accepts.
const maskPart = 256

// trues returns the positions of true values in memory of buf. It has no branches: a CPU could not predict them.
func trues(buf *[maskPart]uint8, keep []bool) []uint8 {
	n := 0
	for i, k := range keep {
		buf[uint8(n)] = uint8(i)
		if k {
			n++
		}
	}
	return buf[:n]
}

// appendCoordinate multiplies the keys of points by n and adds a number to each. Negative numbers count from n. shape
// is the shape of the points, to which the numbers, of shape from, are broadcast.
func appendCoordinate(ctx context.Context, points []listed, shape []int64, n int64, numbers, from []int64) error {
	if len(numbers) == len(points) { // no number is repeated
		for k, i := range numbers {
			if err := endedAt(ctx, k); err != nil {
				return err
			}
			if i < 0 {
				i += n
			}
			points[k].key = points[k].key*n + i
		}
		return nil
	}
	var at, stride [MaxResultDims]int64
	step := int64(1)
	for i := len(from) - 1; i >= 0; i-- {
		if from[i] > 1 {
			stride[len(shape)-len(from)+i] = step
			step *= from[i]
		}
	}
	next := int64(0) // position in numbers
	for k := range points {
		if err := endedAt(ctx, k); err != nil {
			return err
		}
		i := numbers[next]
		if i < 0 {
			i += n
		}
		points[k].key = points[k].key*n + i
		for d := len(shape) - 1; d >= 0; d-- {
			next += stride[d]
			if at[d]++; at[d] < shape[d] {
				break
			}
			next -= stride[d] * shape[d]
			at[d] = 0
		}
	}
	return nil
}

// setKeys replaces the positions of a list, in C order of the axes of the view, by keys. It numbers the items.
func (p *ListPlan) setKeys(ctx context.Context, m *Mapping, s *Selection, list int) error {
	points := p.Lists[list].Points
	var axes []int
	for axis := range m.Ndim {
		if int(s.ListAxes.owner[axis]) == list+1 {
			axes = append(axes, axis)
			p.Inside = p.Inside || m.Axes[axis].Axis < 0 && m.Axes[axis].Bytes != 0
		}
	}
	// The keys of n positions from first up begin with start and ascend by step.
	first, n, start, step := int64(0), int64(0), int64(0), int64(0)
	for k := range points {
		if err := endedAt(ctx, k); err != nil {
			return err
		}
		i := points[k].key
		if i < first || i-first >= n {
			start, n, step = p.key(m, axes, i)
			first = i
		}
		points[k] = listed{key: start + (i-first)*step, at: int64(k)}
	}
	return nil
}

// key returns the key of an item at a position in C order of axes of the view. The keys of the item and of n-1 items
// after it ascend in equal steps.
func (p *ListPlan) key(m *Mapping, axes []int, rest int64) (key, n, step int64) {
	g := p.Geo
	n = 1
	for j := len(axes) - 1; j >= 0; j-- {
		x := &m.Axes[axes[j]]
		i := rest
		if j > 0 {
			rest, i = divide(rest, x.Count)
		}
		if x.Axis < 0 {
			if x.Bytes < 0 {
				i -= x.Count - 1
			}
			key += i * int64(x.Bytes)
			continue
		}
		axis := x.Axis
		chunk, inChunk := divide(x.Start+i*x.Step, g.ChunkShape[axis])
		block, inBlock := divide(inChunk, g.BlockShape[axis])
		stride := g.ItemStride[axis] * g.ItemSize
		key += chunk*g.GridStride[axis]*g.ChunkBytes + block*g.BlockNumber[axis]*g.BlockBytes + inBlock*stride
		if j == len(axes)-1 && x.Step == 1 {
			n, step = min(x.Count-i, g.ChunkShape[axis]-inChunk, g.BlockShape[axis]-inBlock), stride
		}
	}
	return key, n, step
}

// divide returns a / b and the remainder, for numbers that are not negative. CPUs divide 32-bit numbers much faster.
func divide(a, b int64) (quotient, rest int64) {
	if (a|b)>>32 == 0 {
		q := uint32(a) / uint32(b)
		return int64(q), int64(uint32(a) - q*uint32(b))
	}
	q := a / b
	return q, a - q*b
}

// First sets c to the first chunk with selected items. At least one exists.
func (p *ListPlan) First(c *ListPart) {
	for axis := range p.Geo.Ndim {
		if p.owner[axis] == 0 {
			c.at[axis] = 0
			p.setRange(&c.ChunkPart, axis)
		}
	}
	for i := range p.Lists {
		p.run(c, i, 0)
	}
	p.finish(c)
}

// Next moves c to the next chunk with selected items. It returns false after the last one. The chunks of a run follow
// each other, so that a single list is traversed once.
func (p *ListPlan) Next(c *ListPart) bool {
	for axis := p.Geo.Ndim - 1; axis >= 0; axis-- {
		if p.owner[axis] > 0 {
			continue
		}
		c.at[axis]++
		more := c.at[axis] < p.Axes[axis].chunks
		if !more {
			c.at[axis] = 0
		}
		p.setRange(&c.ChunkPart, axis)
		if more {
			p.finish(c)
			return true
		}
	}
	for i := len(p.Lists) - 1; i >= 0; i-- {
		more := c.to[i] < len(p.Lists[i].Points)
		if more {
			p.run(c, i, c.to[i])
			p.finish(c)
			return true
		}
		p.run(c, i, 0)
	}
	return false
}

// run sets the run of a list in a chunk: the items starting at from that are in the same chunk.
func (p *ListPlan) run(c *ListPart, list, from int) {
	points := p.Lists[list].Points
	number := points[from].key / p.Geo.ChunkBytes
	c.base[list] = number * p.Geo.ChunkBytes
	c.from[list] = from
	c.to[list] = from + below(points[from:], c.base[list]+p.Geo.ChunkBytes)
	for axis := range p.Geo.Ndim {
		if int(p.owner[axis]) == list+1 {
			c.Coord[axis] = number / p.Geo.GridStride[axis]
			number -= c.Coord[axis] * p.Geo.GridStride[axis]
			c.Origin[axis] = c.Coord[axis] * p.Geo.ChunkShape[axis]
		}
	}
}

// finish computes the fields that depend on all axes and lists.
func (p *ListPlan) finish(c *ListPart) {
	g := p.Geo
	c.Number, c.Items, c.Whole = 0, 1, true
	for i := range g.Ndim {
		c.Number += c.Coord[i] * g.GridStride[i]
		if p.owner[i] == 0 {
			n := c.Hi[i] - c.Lo[i]
			c.Items *= n
			c.Whole = c.Whole && n == g.ChunkLength(i, c.Origin[i])
		}
	}
}
