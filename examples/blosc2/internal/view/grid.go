package view

import (
	"context"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/goblosc/blosc2/meta"
)

// The limits of what a screen holds.
const (
	minColumn    = 3       // cells of the narrowest column, with the space before it
	maxGridBytes = 8 << 20 // of the items on the screen
	maxText      = 1 << 16 // bytes of the largest item that is printed without abbreviation
)

// cells are the items of a region with their texts.
type cells struct {
	region
	dtype  meta.DType
	data   []byte
	texts  [][]string // by column
	widths []int      // of the columns
}

// A column is a column on the screen.
type column struct {
	index int64
	width int // without the space before it
}

// The styles of texts.
var (
	headerStyle   = lipgloss.NewStyle().Bold(true).Reverse(true)
	indexStyle    = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	cursorStyle   = lipgloss.NewStyle().Reverse(true)
	selectedStyle = lipgloss.NewStyle().Underline(true).Foreground(lipgloss.Yellow)
)

// gutter returns the number of cells of the indexes of the rows.
func (m model) gutter() int {
	shape := m.doc.Array.Shape()
	return max(len(strconv.FormatInt(length(shape, m.pos.row)-1, 10)), len(m.corner()))
}

// corner returns the axes of the rows and columns.
func (m model) corner() string {
	name := func(axis int) string {
		if axis < 0 {
			return "-"
		}
		return strconv.Itoa(axis)
	}
	return name(m.pos.row) + `\` + name(m.pos.col)
}

// gridRegion returns the items to read for the grid.
func (m model) gridRegion() region {
	a := m.doc.Array
	rows, cols := m.rows(), int64(max((m.width-m.gutter())/minColumn, 1))
	size := int64(max(a.DType().Size, 1))
	cols = max(1, min(cols, maxGridBytes/size/rows))
	top := m.pos.top
	if most := max(1, maxGridBytes/size); most < rows {
		rows, top = most, m.pos.along(m.pos.row)
	}
	return m.pos.region(a.Shape(), top, m.pos.left, rows, cols)
}

// readCells returns a function that reads the items of the grid.
func (m model) readCells(g region) func(ctx context.Context) loaded {
	a, tools := m.doc.Array, m.tools
	return func(ctx context.Context) loaded {
		data, err := g.read(ctx, a)
		if err != nil {
			return loaded{err: err}
		}
		return loaded{cells: newCells(g, a.DType(), data, tools)}
	}
}

// newCells returns the items of a region with their texts. The texts of a column have the same width.
func newCells(g region, d meta.DType, data []byte, tools *Tools) *cells {
	c := &cells{region: g, dtype: d, data: data}
	rows, cols := g.rows(), g.cols()
	for k := range cols {
		var items []byte
		for r := range rows {
			items = append(items, c.item(r, k)...)
		}
		texts := tools.Aligned(d, items)
		if len(texts) != rows {
			texts = make([]string, rows) // items without bytes
		}
		width := len(strconv.FormatInt(g.left+int64(k)*g.colStep, 10))
		for r := range texts {
			texts[r] = clean(shorten(texts[r], 1000))
			width = max(width, ansi.StringWidth(texts[r]))
		}
		c.texts, c.widths = append(c.texts, texts), append(c.widths, width)
	}
	return c
}

// item returns the bytes of an item.
func (c *cells) item(row, col int) []byte {
	at := (row*c.cols() + col) * c.dtype.Size
	return c.data[at : at+c.dtype.Size]
}

// has reports whether an item of the plane was read.
func (c *cells) has(row, col int64) bool {
	return row >= c.top && row < c.bottom && col >= c.left && col < c.right
}

// columns returns the columns from an index on that were read and fit on a screen, and at least one if any was read.
func (c *cells) columns(left int64, width int) []column {
	var list []column
	for index := max(left, c.left); index < c.right; index++ {
		w := c.widths[index-c.left]
		if w+1 > width && len(list) > 0 {
			break
		}
		w = min(w, max(width-1, 1))
		list = append(list, column{index, w})
		width -= w + 1
	}
	return list
}

// current returns what was read if it is of the plane on the screen, or nil.
func (m model) current() *cells {
	if m.cells == nil || !m.cells.samePlane(m.pos.region(m.doc.Array.Shape(), 0, 0, 0, 0)) {
		return nil
	}
	return m.cells
}

// columns returns the columns on the screen.
func (m model) columns() []column {
	if c := m.current(); c != nil {
		return c.columns(m.pos.left, m.width-m.gutter())
	}
	return nil
}

// pageColumns returns the number of columns on the screen, as far as it is known, and at least one.
func (m model) pageColumns() int64 {
	return int64(max(len(m.columns()), 1))
}

// scrollColumns moves the first column on until the cursor is on the screen.
func (m model) scrollColumns() model {
	c, at := m.current(), m.pos.along(m.pos.col)
	if c == nil || at < c.left || at >= c.right {
		return m
	}
	for m.pos.left < at {
		list := m.columns()
		if len(list) == 0 || list[len(list)-1].index >= at {
			break
		}
		m.pos.left++
	}
	return m
}

// gridLines returns the lines of the grid: the indexes of the columns, then the rows.
func (m model) gridLines() []string {
	if isEmpty(m.doc.Array.Shape()) {
		return []string{"", "no items"}
	}
	gutter, columns, c := m.gutter(), m.columns(), m.current()
	var head strings.Builder
	head.WriteString(fitRight(m.corner(), gutter))
	for _, col := range columns {
		head.WriteString(" " + m.align(strconv.FormatInt(col.index, 10), col.width))
	}
	lines := []string{indexStyle.Render(fit(head.String(), m.width))}
	last := min(m.pos.top+m.rows(), length(m.doc.Array.Shape(), m.pos.row))
	for row := m.pos.top; row < last; row++ {
		var line strings.Builder
		line.WriteString(indexStyle.Render(fitRight(strconv.FormatInt(row, 10), gutter)))
		for _, col := range columns {
			text := "…"
			if c.has(row, col.index) {
				text = c.texts[col.index-c.left][row-c.top]
			}
			line.WriteString(" " + m.cellStyle(row, col.index).Render(m.align(text, col.width)))
		}
		lines = append(lines, line.String())
	}
	return lines
}

// align returns a text in the cells of a column: at the right, unless the items are text or structured.
func (m model) align(s string, width int) string {
	if d := m.doc.Array.DType(); d.Fields != nil || strings.ContainsRune("SUVO", rune(d.Kind)) {
		return fit(s, width)
	}
	return fitRight(s, width)
}

// cellStyle returns how an item looks.
func (m model) cellStyle(row, col int64) lipgloss.Style {
	switch {
	case row == m.pos.along(m.pos.row) && col == m.pos.along(m.pos.col):
		return cursorStyle
	case m.pos.isSelected(row, col):
		return selectedStyle
	}
	return lipgloss.NewStyle()
}

// valueAtCursor returns the item at the cursor, or "" if it was not read.
func (m model) valueAtCursor() string {
	c := m.current()
	row, col := m.pos.along(m.pos.row), m.pos.along(m.pos.col)
	if c == nil || !c.has(row, col) {
		return ""
	}
	if c.dtype.Size > maxText {
		return c.texts[col-c.left][row-c.top]
	}
	return clean(m.tools.Item(c.dtype, c.item(int(row-c.top), int(col-c.left))))
}
