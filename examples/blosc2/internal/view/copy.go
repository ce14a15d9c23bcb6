package view

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/goblosc/blosc2/meta"
)

// The limits of a copy to the clipboard. Many terminals accept about 100 kB.
const (
	maxCopyItems = 10000
	maxCopyBytes = 4 << 20
)

// report describes a copy.
func (c copied) report() string {
	if c.err != nil {
		return c.err.Error()
	}
	if c.items == 0 {
		return "copied " + c.text
	}
	return fmt.Sprintf("copied %d items", c.items)
}

// chosen returns the marked selection, or what is on the screen.
func (m model) chosen() region {
	p, shape := m.pos, m.doc.Array.Shape()
	if p.marked {
		top, left, bottom, right := p.selected()
		return p.region(shape, top, left, bottom-top, right-left)
	}
	if m.page == heatPage {
		g := m.heatRegion()
		g.rowStep, g.colStep = 1, 1
		return g
	}
	columns, left := m.columns(), p.left
	if len(columns) > 0 {
		left = columns[0].index
	}
	return p.region(shape, p.top, left, m.rows(), int64(len(columns)))
}

// copySelection copies the selection in NumPy's notation.
func (m model) copySelection() (model, tea.Cmd) {
	text := m.chosen().String()
	return m, func() tea.Msg { return copied{text: text} }
}

// copyValues copies the items of the selection as text: a line for each row, with tabs between columns.
func (m model) copyValues() (model, tea.Cmd) {
	g, a, tools, ctx := m.chosen(), m.doc.Array, m.tools, m.ctx
	d := a.DType()
	if n := float64(g.bottom-g.top) * float64(g.right-g.left); n > maxCopyItems || n*float64(d.Size) > maxCopyBytes {
		m.message = fmt.Sprintf("the selection has %.0f items; at most %d items and %d bytes can be copied", n, maxCopyItems, maxCopyBytes)
		return m, nil
	}
	return m, func() tea.Msg {
		data, err := g.read(ctx, a)
		if err != nil {
			return copied{err: err}
		}
		return copied{text: itemLines(g, d, data, tools), items: g.rows() * g.cols()}
	}
}

// itemLines returns the items of a region as text.
func itemLines(g region, d meta.DType, data []byte, tools *Tools) string {
	var b strings.Builder
	for i := range g.rows() * g.cols() {
		b.WriteString(clean(tools.Item(d, data[i*d.Size:(i+1)*d.Size])))
		if (i+1)%g.cols() == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte('\t')
		}
	}
	return b.String()
}
