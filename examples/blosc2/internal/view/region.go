package view

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/ndarray"
)

// A region is a rectangle of a plane of an array, of which it may leave out rows and columns.
type region struct {
	at               []int64 // indexes along the axes that are not on the screen; those of row and col mean nothing
	row, col         int
	top, left        int64
	bottom, right    int64 // after the last row and column
	rowStep, colStep int64
}

// region returns a rectangle of the plane on the screen.
func (p position) region(shape []int64, top, left, rows, cols int64) region {
	return region{
		at: p.at, row: p.row, col: p.col, top: top, left: left, rowStep: 1, colStep: 1,
		bottom: min(top+rows, length(shape, p.row)), right: min(left+cols, length(shape, p.col)),
	}
}

// samePlane reports whether two regions are in the same plane of an array.
func (g region) samePlane(o region) bool {
	if g.row != o.row || g.col != o.col || len(g.at) != len(o.at) {
		return false
	}
	for axis, n := range g.at {
		if axis != g.row && axis != g.col && n != o.at[axis] {
			return false
		}
	}
	return true
}

// equal reports whether two regions hold the same items.
func (g region) equal(o region) bool {
	return g.samePlane(o) && g.top == o.top && g.left == o.left && g.bottom == o.bottom && g.right == o.right &&
		g.rowStep == o.rowStep && g.colStep == o.colStep
}

// rows returns the number of rows.
func (g region) rows() int { return count(g.top, g.bottom, g.rowStep) }

// cols returns the number of columns.
func (g region) cols() int { return count(g.left, g.right, g.colStep) }

// count returns the number of indexes from start up to stop.
func count(start, stop, step int64) int {
	if stop <= start {
		return 0
	}
	return int((stop-start-1)/step + 1)
}

// selection returns the region as a selection.
func (g region) selection() []ndarray.Index {
	sel := make([]ndarray.Index, len(g.at))
	for axis, n := range g.at {
		switch axis {
		case g.row:
			sel[axis] = ndarray.Step(g.top, g.bottom, g.rowStep)
		case g.col:
			sel[axis] = ndarray.Step(g.left, g.right, g.colStep)
		default:
			sel[axis] = ndarray.At(n)
		}
	}
	return sel
}

// String returns the region in NumPy's notation.
func (g region) String() string {
	parts := make([]string, len(g.at))
	for axis, n := range g.at {
		switch axis {
		case g.row:
			parts[axis] = fmt.Sprintf("%d:%d", g.top, g.bottom)
		case g.col:
			parts[axis] = fmt.Sprintf("%d:%d", g.left, g.right)
		default:
			parts[axis] = strconv.FormatInt(n, 10)
		}
	}
	return strings.Join(parts, ", ")
}

// read returns the items, row by row.
func (g region) read(ctx context.Context, a ndarray.Reader) ([]byte, error) {
	rows, cols, size := g.rows(), g.cols(), a.DType().Size
	data := make([]byte, rows*cols*size)
	if len(data) == 0 {
		return data, nil
	}
	if err := a.ReadBytes(ctx, data, g.selection()...); err != nil {
		return nil, err
	}
	if g.row < 0 || g.col < 0 || g.row < g.col {
		return data, nil
	}
	across := make([]byte, 0, len(data)) // the columns come one after the other
	for r := range rows {
		for c := range cols {
			at := (c*rows + r) * size
			across = append(across, data[at:at+size]...)
		}
	}
	return across, nil
}

// isEmpty reports whether a shape has no items.
func isEmpty(shape []int64) bool { return slices.Contains(shape, 0) }
