package view

import tea "charm.land/bubbletea/v2"

// wheelLines is the number of lines that a step of the wheel scrolls.
const wheelLines = 3

// click moves the cursor to a place on the screen.
func (m model) click(x, y int) model {
	m.message = ""
	switch m.page {
	case gridPage:
		return m.clickGrid(x, y-2)
	case heatPage:
		return m.clickHeat(x, y-1)
	case treePage:
		if i := m.list.top + y - 1; y >= 1 && i < len(m.doc.Entries) {
			m.list.at = i
		}
	case chunkPage:
		w := m.chunkRegion()
		if y < 1 || int64(y-1) >= w.rows || w.number(m.doc.Grid, int64(y-1), int64(x)) < 0 || len(m.doc.Grid) == 0 {
			return m
		}
		if w.wraps() {
			return m.moveChunk(m.chunk.set(m.doc.Grid, w.row, (w.top+int64(y-1))*w.width+int64(x)))
		}
		return m.moveChunk(m.chunk.set(m.doc.Grid, w.row, w.top+int64(y-1)).set(m.doc.Grid, w.col, w.left+int64(x)))
	}
	return m
}

// clickGrid moves the cursor to a line and a cell of the grid.
func (m model) clickGrid(x, line int) model {
	shape := m.doc.Array.Shape()
	if line < 0 || int64(line) >= m.rows() || isEmpty(shape) {
		return m
	}
	row := m.pos.top + int64(line)
	if row >= length(shape, m.pos.row) {
		return m
	}
	m.pos = m.pos.set(shape, m.pos.row, row)
	at := m.gutter()
	for _, col := range m.columns() {
		if at += col.width + 1; x < at && x >= m.gutter() {
			m.pos = m.pos.set(shape, m.pos.col, col.index)
			break
		}
	}
	return m
}

// clickHeat moves the cursor to a cell of the heat map.
func (m model) clickHeat(x, line int) model {
	img := m.image
	if img == nil || !img.equal(m.heatRegion()) || line < 0 || int64(line) >= m.rows() {
		return m
	}
	if m.tools.Color {
		line *= 2
	}
	zoom := img.zoomOf(m.pixels())
	shape := m.doc.Array.Shape()
	if line/zoom >= img.rows() || x/zoom >= img.cols() {
		return m
	}
	m.pos = m.pos.set(shape, m.pos.row, img.top+int64(line/zoom)*img.rowStep)
	m.pos = m.pos.set(shape, m.pos.col, img.left+int64(x/zoom)*img.colStep)
	return m
}

// wheel scrolls.
func (m model) wheel(msg tea.MouseWheelMsg) model {
	by := int64(wheelLines)
	if msg.Button == tea.MouseWheelUp || msg.Button == tea.MouseWheelLeft {
		by = -by
	}
	across := msg.Button == tea.MouseWheelLeft || msg.Button == tea.MouseWheelRight || msg.Mod.Contains(tea.ModShift)
	switch m.page {
	case gridPage:
		shape, p := m.doc.Array.Shape(), m.pos
		if isEmpty(shape) {
			return m
		}
		if across {
			p.left = max(0, min(p.left+by, length(shape, p.col)-1))
			m.pos = p.set(shape, p.col, max(p.left, min(p.along(p.col), p.left+m.pageColumns()-1)))
			return m.scrollColumns()
		}
		p.top = max(0, min(p.top+by, length(shape, p.row)-m.rows()))
		m.pos = p.set(shape, p.row, max(p.top, min(p.along(p.row), p.top+m.rows()-1)))
	case treePage:
		m.list = m.list.move(int(by), len(m.doc.Entries), max(m.height-2, 1))
	case infoPage, helpPage:
		m.text = m.text.scroll(int(by), len(m.textLines()), max(m.height-2, 1))
	}
	return m
}
