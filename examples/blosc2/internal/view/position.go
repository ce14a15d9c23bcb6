package view

import "slices"

// A position is a place in an array, and the part of it that is on the screen. Its methods return another position, or
// the same; they never change the slice.
type position struct {
	at        []int64 // indexes of the cursor, one for each axis
	row, col  int     // axes that run down and across the screen; -1 if there is none
	top, left int64   // first row and column on the screen
	other     int     // axis that [ and ] move along; -1 if there is none
	marked    bool    // a selection extends from the anchor to the cursor
	anchor    [2]int64
}

// origin returns the first position in an array with a number of axes. The last two are on the screen.
func origin(axes int) position {
	p := position{at: make([]int64, axes), row: axes - 2, col: axes - 1, other: -1}
	if axes < 2 {
		p.row, p.col = axes-1, -1
	}
	return p.chooseOther(0)
}

// along returns the index along an axis, or 0 for axis -1.
func (p position) along(axis int) int64 {
	if axis < 0 {
		return 0
	}
	return p.at[axis]
}

// length returns the length of an axis, or 1 for axis -1.
func length(shape []int64, axis int) int64 {
	if axis < 0 {
		return 1
	}
	return shape[axis]
}

// set moves the cursor to an index along an axis, or to the nearest one that exists.
func (p position) set(shape []int64, axis int, index int64) position {
	if axis < 0 {
		return p
	}
	p.at = slices.Clone(p.at)
	p.at[axis] = max(0, min(index, shape[axis]-1))
	return p
}

// move moves the cursor along an axis.
func (p position) move(shape []int64, axis int, by int64) position {
	if axis < 0 {
		return p
	}
	return p.set(shape, axis, p.at[axis]+by)
}

// chooseOther selects the axis that [ and ] move along: the next one, from an axis up, that is not on the screen.
func (p position) chooseOther(from int) position {
	n := len(p.at)
	p.other = -1
	for i := range n {
		if axis := (from + i) % n; axis != p.row && axis != p.col {
			p.other = axis
			break
		}
	}
	return p
}

// axes puts two axes on the screen.
func (p position) axes(row, col int) position {
	p.row, p.col = row, col
	p.top, p.left, p.marked = p.along(row), p.along(col), false
	return p.chooseOther(max(0, p.other))
}

// nextPair puts the next pair of axes on the screen, or with by -1 the previous one. The axes of a pair are in order.
func (p position) nextPair(by int) position {
	n := len(p.at)
	switch n {
	case 0:
		return p
	case 1:
		return p.axes(p.col, p.row)
	}
	var pairs [][2]int
	now := 0
	for row := range n {
		for col := row + 1; col < n; col++ {
			if row == min(p.row, p.col) && col == max(p.row, p.col) {
				now = len(pairs)
			}
			pairs = append(pairs, [2]int{row, col})
		}
	}
	pair := pairs[(now+by+len(pairs))%len(pairs)]
	return p.axes(pair[0], pair[1])
}

// key returns the position after a key that has the same meaning in the grid of values and in the map of chunks: to the
// ends of a row or column, along the other axes, or to another pair of axes. It reports whether name is such a key.
func (p position) key(name string, shape []int64, row, col int) (position, bool) {
	switch name {
	case "home", "0":
		p = p.set(shape, col, 0)
	case "end", "$":
		p = p.set(shape, col, length(shape, col)-1)
	case "{", "ctrl+home":
		p = p.set(shape, row, 0)
	case "}", "ctrl+end":
		p = p.set(shape, row, length(shape, row)-1)
	case "[", "-":
		p = p.move(shape, p.other, -1)
	case "]", "+", "=":
		p = p.move(shape, p.other, 1)
	case "tab":
		p = p.nextPair(1)
	case "shift+tab":
		p = p.nextPair(-1)
	case "t":
		p = p.axes(p.col, p.row)
	default:
		return p, false
	}
	return p, true
}

// scrollTo changes the first row and column so that the cursor is on a screen of some rows and columns.
func (p position) scrollTo(rows, cols int64) position {
	p.top = scrolled(p.top, p.along(p.row), rows)
	p.left = scrolled(p.left, p.along(p.col), cols)
	return p
}

// scrolled returns the first of n lines so that a line is among them.
func scrolled(first, line, n int64) int64 {
	return max(0, line-max(n, 1)+1, min(first, line))
}

// selected returns the rows and columns from the anchor to the cursor: the first ones, and after the last ones.
func (p position) selected() (top, left, bottom, right int64) {
	r, c := p.along(p.row), p.along(p.col)
	return min(r, p.anchor[0]), min(c, p.anchor[1]), max(r, p.anchor[0]) + 1, max(c, p.anchor[1]) + 1
}

// isSelected reports whether an item of the plane is in the marked selection.
func (p position) isSelected(row, col int64) bool {
	if !p.marked {
		return false
	}
	top, left, bottom, right := p.selected()
	return row >= top && row < bottom && col >= left && col < right
}
