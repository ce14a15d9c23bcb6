package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/examples/blosc2/internal/selection"
	"github.com/goblosc/blosc2/ndarray"
)

// jump moves the cursor to the first item of a selection in NumPy's notation, and marks the selection if it has more
// rows or columns.
func (m model) jump(text string) model {
	if strings.TrimSpace(text) == "" {
		return m
	}
	sel, err := ndarray.ParseSelection(text)
	if err == nil {
		_, err = m.doc.Array.SelectionShape(sel...)
	}
	if err != nil {
		m.message = clean(fmt.Sprintf("selection %q: %s", text, selection.Reason(err)))
		return m
	}
	first, last, single, err := corners(sel, m.doc.Array.Shape())
	if err != nil {
		m.message = clean(err.Error())
		return m
	}
	p := m.pos
	if row, col, ok := openAxes(single); ok && (single[max(p.row, 0)] || single[max(p.col, 0)]) {
		p = p.axes(row, col)
	}
	p.at, p.marked = first, false
	if p.row >= 0 && last[p.row] != first[p.row] || p.col >= 0 && last[p.col] != first[p.col] {
		p.marked, p.anchor = true, [2]int64{}
		if p.row >= 0 {
			p.anchor[0] = last[p.row]
		}
		if p.col >= 0 {
			p.anchor[1] = last[p.col]
		}
	}
	p.top, p.left = p.along(p.row), p.along(p.col)
	p.top = max(0, min(p.top, length(m.doc.Array.Shape(), p.row)-m.rows()))
	m.pos = p
	return m
}

// openAxes returns the last two axes that a selection does not fix.
func openAxes(single []bool) (row, col int, ok bool) {
	row, col = -1, -1
	for axis, s := range single {
		if !s {
			row, col = col, axis
		}
	}
	return row, col, row >= 0
}

// corners returns the first and the last item of a selection along each axis, and whether the selection fixes the axis.
// The selection has been checked against the shape.
func corners(sel []ndarray.Index, shape []int64) (first, last []int64, single []bool, err error) {
	var parts []string
	ellipsis := -1
	for _, index := range sel {
		switch s := index.String(); s {
		case "None":
		case "...":
			ellipsis = len(parts)
		default:
			parts = append(parts, s)
		}
	}
	if ellipsis < 0 {
		ellipsis = len(parts)
	}
	missing := len(shape) - len(parts)
	if missing < 0 {
		return nil, nil, nil, fmt.Errorf("too many indexes for %d axes", len(shape))
	}
	for range missing {
		parts = append(parts[:ellipsis], append([]string{":"}, parts[ellipsis:]...)...)
	}
	for axis, s := range parts {
		start, stop, err := ends(s, shape[axis])
		if err != nil {
			return nil, nil, nil, err
		}
		first, last = append(first, start), append(last, stop)
		single = append(single, !strings.Contains(s, ":"))
	}
	return first, last, single, nil
}

// ends returns the least and the largest index that an index selects along an axis of a length.
func ends(s string, n int64) (least, largest int64, err error) {
	parts := strings.Split(s, ":")
	numbers := make([]int64, 3)
	given := make([]bool, 3)
	for i, part := range parts {
		if part = strings.TrimSpace(part); part == "" || part == "None" {
			continue
		}
		if numbers[i], err = strconv.ParseInt(part, 10, 64); err != nil {
			return 0, 0, fmt.Errorf("cannot go to %s: want integers and slices", s)
		}
		given[i] = true
		if numbers[i] < 0 && i < 2 {
			numbers[i] += n
		}
	}
	if len(parts) == 1 {
		return numbers[0], numbers[0], nil
	}
	step := int64(1)
	if given[2] {
		step = numbers[2]
	}
	start, stop := int64(0), n
	if step < 0 {
		start, stop = n-1, -1
	}
	if given[0] {
		start = numbers[0]
	}
	if given[1] {
		stop = numbers[1]
	}
	if step > 0 {
		least, largest = max(0, start), min(stop, n)-1
	} else {
		least, largest = max(-1, stop)+1, min(start, n-1)
	}
	if least > largest {
		return 0, 0, fmt.Errorf("%s selects no items", s)
	}
	if span := largest - least; step > 0 {
		largest -= span % step
	} else if step < 0 {
		least += span % -max(step, -math.MaxInt64)
	}
	return least, largest, nil
}
