package view

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// A list is a place in lines of text that scroll.
type list struct{ at, top int }

// move moves the cursor, and scrolls so that it is among the lines of the screen.
func (l list) move(by, total, height int) list {
	l.at = max(0, min(l.at+by, total-1))
	l.top = int(scrolled(int64(l.top), int64(l.at), int64(height)))
	return l
}

// scroll moves the lines themselves.
func (l list) scroll(by, total, height int) list {
	l.top = max(0, min(l.top+by, total-height))
	l.at = l.top
	return l
}

// lines returns the lines on the screen. The one at the cursor is marked if mark is set.
func (l list) lines(all []string, height, width int, mark bool) []string {
	var out []string
	for i := l.top; i < min(l.top+height, len(all)); i++ {
		line := fit(all[i], width)
		if mark && i == l.at {
			line = cursorStyle.Render(line)
		}
		out = append(out, line)
	}
	return out
}

// treeTexts returns the lines of a store.
func (m model) treeTexts() []string {
	var texts []string
	width := 0
	for _, entry := range m.doc.Entries {
		width = max(width, ansi.StringWidth(clean(entry.Key)))
	}
	for _, entry := range m.doc.Entries {
		texts = append(texts, fit(clean(entry.Key), min(width, m.width*2/3))+"  "+strings.TrimSpace(clean(entry.Text)))
	}
	return texts
}

// textLines returns the lines of the info page or the help page.
func (m model) textLines() []string {
	if m.page == helpPage {
		return strings.Split(strings.Trim(helpText, "\n"), "\n")
	}
	width := 0
	for _, p := range m.doc.Info {
		width = max(width, ansi.StringWidth(clean(p[0])))
	}
	var lines []string
	for _, p := range m.doc.Info {
		name := fit(clean(p[0]), width)
		for _, part := range strings.Split(ansi.Wrap(clean(p[1]), max(m.width-width-2, 20), ""), "\n") {
			lines = append(lines, name+"  "+part)
			name = spaces(width)
		}
	}
	return lines
}

// open returns a command that opens the entry at the cursor.
func (m model) open() (model, tea.Cmd) {
	if m.list.at >= len(m.doc.Entries) || m.doc.Entries[m.list.at].Path == "" {
		return m, nil
	}
	path, ctx, open := m.doc.Entries[m.list.at].Path, m.ctx, m.tools.Open
	m.opening++
	number := m.opening
	m.message = "opening " + clean(path)
	return m, func() tea.Msg {
		doc, err := open(ctx, path)
		if err == nil && ctx.Err() != nil {
			doc.Close()
			err = ctx.Err()
		}
		return opened{number, doc, err}
	}
}

// back returns from a page to the grid, and from there to the store. The document that it leaves is closed.
func (m model) back() (model, tea.Cmd) {
	switch {
	case m.page == helpPage:
		m.page = m.before
	case m.doc.Array != nil && m.page != gridPage:
		m.page = gridPage
	case m.doc.Array == nil && m.page == chunkPage:
		m.page = infoPage
	case m.tree != nil && m.doc != m.tree:
		left := m.doc
		return m.show(m.tree), closing(left)
	case m.tree != nil:
		m.page = treePage
	}
	return m, nil
}

// closing returns a command that closes a document, unless it is nil.
func closing(doc *Document) tea.Cmd {
	return func() tea.Msg {
		if doc != nil {
			doc.Close()
		}
		return nil
	}
}

const helpText = `
Moving
  arrows, h j k l         move the cursor
  pgup, pgdn              a screen up or down (also ctrl+b, ctrl+f, space)
  < >                     a screen left or right (also shift+left, shift+right)
  home, end               first or last column
  { }                     first or last row (also ctrl+home, ctrl+end)
  [ ]                     back or on along another axis (also - +)
  a                       choose the axis for [ and ]
  tab, shift+tab          next or previous pair of axes on the screen
  t                       exchange rows and columns
  : or g                  go to an index or a selection, in NumPy's notation
  mouse                   a click moves the cursor, the wheel scrolls
Selecting
  v                       begin a selection at the cursor, or end it
  y                       copy the values of the selection, or of the screen
  Y                       copy the selection in NumPy's notation
Pages
  m                       heat map, and back; p s z Z: colors, scale, zoom
  c                       map of the chunks, and back
  i                       metadata, and back
  b, backspace, esc       back, in a store to its list
  ?, q, ctrl+z            this page; quit (also ctrl+c); suspend`
