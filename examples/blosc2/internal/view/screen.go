package view

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// View implements tea.Model.
func (m model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	return v
}

// screen returns the text of the screen.
func (m model) screen() string {
	if m.width < 10 || m.height < 4 {
		return shorten("the terminal is too small", m.width)
	}
	lines := []string{headerStyle.Render(m.header())}
	lines = append(lines, m.body()...)
	if n := m.height - 1; len(lines) > n {
		lines = lines[:n]
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines, m.status())
	return strings.Join(lines, "\n")
}

// body returns the lines of the page.
func (m model) body() []string {
	switch m.page {
	case gridPage:
		return m.gridLines()
	case heatPage:
		return m.heatLines()
	case chunkPage:
		return m.chunkLines()
	case treePage:
		return m.list.lines(m.treeTexts(), m.height-2, m.width, true)
	}
	return m.text.lines(m.textLines(), m.height-2, m.width, false)
}

// header returns the first line.
func (m model) header() string {
	right := ""
	if a := m.doc.Array; a != nil {
		right = "  " + tuple(a.Shape()) + " " + clean(a.DType().String())
		switch m.page {
		case gridPage:
			columns := m.columns()
			n := int64(len(columns))
			left := m.pos.left
			if n > 0 {
				left = columns[0].index
			}
			right += "  [" + m.pos.region(a.Shape(), m.pos.top, left, m.rows(), n).String() + "]"
		case heatPage:
			right += "  [" + m.heatRegion().String() + "]"
		}
	}
	path := []rune(clean(m.doc.Path))
	if room := max(m.width-len([]rune(right)), 8); len(path) > room {
		path = append([]rune("…"), path[len(path)-room+1:]...)
	}
	return between(string(path), shorten(right, m.width-min(len(path), 8)), m.width)
}

// status returns the last line.
func (m model) status() string {
	if m.prompt != nil {
		return between(":"+clean(*m.prompt)+"█", "enter: go  esc: back", m.width)
	}
	if m.message != "" {
		return fit(m.message, m.width)
	}
	right := "  ? help"
	if m.want != nil {
		right = "  reading" + right
	}
	left := ""
	switch m.page {
	case gridPage, heatPage:
		left = m.place()
	case chunkPage:
		left = m.chunkStatus()
	case treePage:
		left = "enter: open"
	}
	return between(left, right, m.width)
}

// place describes the item at the cursor.
func (m model) place() string {
	if isEmpty(m.doc.Array.Shape()) {
		return ""
	}
	at := strings.Trim(tuple(m.pos.at), "(),")
	text := "[" + at + "]"
	if value := m.valueAtCursor(); value != "" {
		text += " = " + value
	}
	return text
}
