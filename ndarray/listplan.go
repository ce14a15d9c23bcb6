package ndarray

// listPlan is the plan of a selection of which some axes are listed. The listed items are sorted by where they are in
// storage, so that each chunk and each block has one run of them per list, whatever their order. What is selected of
// a chunk is the product of these runs, and of a box along the axes that are sliced. It is read-only once made.
type listPlan struct {
	plan                // of the axes that are sliced; the others have one item here
	owner [maxDims]int8 // of each axis of the array: its list, from 1; 0 for one that is sliced
	lists []pointList

	inside bool // there are lists along the bytes of items
}

// pointList is a list of items along some axes.
//
// The key of an item is the byte at which it stands in the decoded chunks, one after the other, when its other
// coordinates are zero: the sum over its axes of chunk * gridStride * chunkBytes + block * blockNumber * blockBytes +
// item * itemStride * itemSize. The keys of all lists and the place in the box add up to the place of the item.
type pointList struct {
	points []listed
	stride int64 // of the places of the list on the user side, in items
}

// listPart is the selected part of one chunk.
type listPart struct {
	chunkPart                // items and whole are of the axes that are sliced
	from, to  [maxDims]int   // the run of each list
	base      [maxDims]int64 // the key of the first item of the chunk in each list
}

// listBox is the selected part of a block: a box of the axes that are sliced, for each combination of listed items.
type listBox struct {
	box
	from, to [maxDims]int   // the run of each list
	base     [maxDims]int64 // the key of the first item of the block in each list
}

// newListPlan makes the plan of a selection that is not empty, which was resolved from sel for what a mapping shows of
// an array. It takes 16 bytes for each listed item.
func newListPlan(g *geometry, m *mapping, s *selection, sel []Index) *listPlan {
	p := &listPlan{plan: m.newPlan(g)}
	p.items = s.items
	var stride [maxResultDims]int64
	n := int64(1)
	for i := s.resultDims - 1; i >= 0; i-- {
		stride[i] = n
		n *= s.lengths[i]
	}
	for i := range m.ndim {
		switch x, list := &m.axes[i], s.place.owner[i]; {
		case list == 0:
			m.planAxis(&p.plan, i, &s.axes[i], stride[s.place.dim[i]])
		case x.axis >= 0:
			p.owner[x.axis] = list
			p.axes[x.axis] = planAxis{step: 1, count: 1, chunks: 1}
		case x.bytes < 0: // keys are not negative: count from the first byte
			p.moved.offset += int(x.count-1) * x.bytes
		}
	}
	p.lists = make([]pointList, s.place.lists)
	for i := range p.lists {
		l := &p.lists[i]
		l.points = make([]listed, s.place.points[i])
		if last := s.place.last[i]; last >= 0 {
			l.stride = stride[last]
		}
	}
	var buf dims
	p.collect(m.shape(&buf), s, sel)
	for i := range p.lists {
		p.store(m, s, i)
		sortListed(p.lists[i].points)
	}
	return p
}

// collect sets the key of each listed item to its place in C order of the listed axes of what has the given shape.
func (p *listPlan) collect(shape []int64, s *selection, sel []Index) {
	for i := range p.lists {
		for k := range p.lists[i].points {
			p.lists[i].points[k].at = int64(k)
		}
	}
	axis, list := 0, 0
	joint := s.lengths[int(s.place.last[0])+1-s.place.joint:][:s.place.joint]
	for _, x := range sel {
		switch x := x.(type) {
		case point:
			if s.place.owner[axis] > 0 {
				n, at := shape[axis], s.axes[axis].start
				for k := range p.lists[0].points {
					y := &p.lists[0].points[k]
					y.key = y.key*n + at
				}
			}
			axis++
		case span:
			axis++
		case marker:
			switch x {
			case All:
				axis++
			case Ellipsis:
				axis = afterEllipsis(len(shape), sel)
			}
		case *indexArray:
			n, numbers, from := x.numbers(shape, axis)
			if x.joint() {
				appendCoordinate(p.lists[0].points, joint, n, numbers, from)
			} else {
				appendCoordinate(p.lists[list].points, nil, n, numbers, nil)
				list++
			}
			axis += x.axes(len(shape))
		}
	}
}

// afterEllipsis returns the axis of the first index behind an ellipsis.
func afterEllipsis(ndim int, sel []Index) int {
	axis := ndim
	for i := len(sel) - 1; i >= 0 && sel[i] != Ellipsis; i-- {
		if x, ok := sel[i].(*indexArray); ok {
			axis -= x.axes(ndim)
		} else if sel[i] != NewAxis {
			axis--
		}
	}
	return axis
}

// numbers returns the index array as one of numbers below n: a mask becomes the places of its items in C order.
func (x *indexArray) numbers(shape []int64, axis int) (n int64, at, from []int64) {
	n = 1
	for _, length := range shape[axis : axis+x.axes(len(shape))] {
		n *= length
	}
	if !x.mask() {
		return n, x.at, x.shape
	}
	at = make([]int64, 0, x.count())
	for i, k := range x.keep {
		if k {
			at = append(at, int64(i))
		}
	}
	return n, at, []int64{int64(len(at))}
}

// appendCoordinate multiplies the keys of points by n and adds to each its number, negative ones counted from n.
// The points have a shape, to which the one of the numbers is broadcast.
func appendCoordinate(points []listed, shape []int64, n int64, numbers, from []int64) {
	if len(numbers) == len(points) { // then nothing is repeated
		for k, i := range numbers {
			if i < 0 {
				i += n
			}
			points[k].key = points[k].key*n + i
		}
		return
	}
	var at, stride [maxResultDims]int64
	step := int64(1)
	for i := len(from) - 1; i >= 0; i-- {
		if from[i] > 1 {
			stride[len(shape)-len(from)+i] = step
			step *= from[i]
		}
	}
	where := int64(0)
	for k := range points {
		i := numbers[where]
		if i < 0 {
			i += n
		}
		points[k].key = points[k].key*n + i
		for d := len(shape) - 1; d >= 0; d-- {
			where += stride[d]
			if at[d]++; at[d] < shape[d] {
				break
			}
			where -= stride[d] * shape[d]
			at[d] = 0
		}
	}
}

// store turns the keys of a list from places in C order of the axes of a view into places in storage.
func (p *listPlan) store(m *mapping, s *selection, list int) {
	g := p.geo
	points := p.lists[list].points
	var axes []int
	for axis := range m.ndim {
		if int(s.place.owner[axis]) == list+1 {
			axes = append(axes, axis)
			p.inside = p.inside || m.axes[axis].axis < 0 && m.axes[axis].bytes != 0
		}
	}
	for k := range points {
		rest, key := points[k].key, int64(0)
		for j := len(axes) - 1; j >= 0; j-- {
			x := &m.axes[axes[j]]
			i := rest
			if j > 0 {
				rest, i = divide(rest, x.count)
			}
			if x.axis < 0 {
				if x.bytes < 0 {
					i -= x.count - 1
				}
				key += i * int64(x.bytes)
				continue
			}
			axis := x.axis
			chunk, i := divide(x.start+i*x.step, g.chunkShape[axis])
			block, i := divide(i, g.blockShape[axis])
			key += chunk*g.gridStride[axis]*g.chunkBytes + block*g.blockNumber[axis]*g.blockBytes + i*g.itemStride[axis]*g.itemSize
		}
		points[k].key = key
	}
}

// divide returns a / b and the rest, for numbers that are not negative. Processors divide small ones much faster.
func divide(a, b int64) (quotient, rest int64) {
	if (a|b)>>32 == 0 {
		q := uint32(a) / uint32(b)
		return int64(q), int64(uint32(a) - q*uint32(b))
	}
	q := a / b
	return q, a - q*b
}

// first sets c to the first touched chunk. There always is one.
func (p *listPlan) first(c *listPart) {
	for axis := range p.geo.ndim {
		if p.owner[axis] == 0 {
			c.at[axis] = 0
			p.place(&c.chunkPart, axis)
		}
	}
	for i := range p.lists {
		p.run(c, i, 0)
	}
	p.finish(c)
}

// next moves c to the next touched chunk, or returns false after the last one. All chunks of a run follow each other, so
// that a single list is gone through once.
func (p *listPlan) next(c *listPart) bool {
	for axis := p.geo.ndim - 1; axis >= 0; axis-- {
		if p.owner[axis] > 0 {
			continue
		}
		c.at[axis]++
		more := c.at[axis] < p.axes[axis].chunks
		if !more {
			c.at[axis] = 0
		}
		p.place(&c.chunkPart, axis)
		if more {
			p.finish(c)
			return true
		}
	}
	for i := len(p.lists) - 1; i >= 0; i-- {
		more := c.to[i] < len(p.lists[i].points)
		if more {
			p.run(c, i, c.to[i])
			p.finish(c)
			return true
		}
		p.run(c, i, 0)
	}
	return false
}

// run sets the part of a list in a chunk: the items from one on that are in the same chunk.
func (p *listPlan) run(c *listPart, list, from int) {
	points := p.lists[list].points
	number := points[from].key / p.geo.chunkBytes
	c.base[list] = number * p.geo.chunkBytes
	c.from[list] = from
	c.to[list] = from + below(points[from:], c.base[list]+p.geo.chunkBytes)
	for axis := range p.geo.ndim {
		if int(p.owner[axis]) == list+1 {
			c.coord[axis] = number / p.geo.gridStride[axis]
			number -= c.coord[axis] * p.geo.gridStride[axis]
			c.origin[axis] = c.coord[axis] * p.geo.chunkShape[axis]
		}
	}
}

// finish computes what depends on all axes and lists.
func (p *listPlan) finish(c *listPart) {
	g := p.geo
	c.number, c.items, c.whole = 0, 1, true
	for i := range g.ndim {
		c.number += c.coord[i] * g.gridStride[i]
		if p.owner[i] == 0 {
			n := c.hi[i] - c.lo[i]
			c.items *= n
			c.whole = c.whole && n == min(g.chunkShape[i], g.shape[i]-c.origin[i])
		}
	}
}
