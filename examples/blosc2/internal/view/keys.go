package view

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// key handles a key.
func (m model) key(msg tea.KeyPressMsg) (model, tea.Cmd) {
	name := msg.String()
	if name == "ctrl+c" {
		return m.stop(), tea.Quit
	}
	if name == "ctrl+z" {
		return m, tea.Suspend
	}
	if m.prompt != nil {
		return m.promptKey(name, msg.Text), nil
	}
	m.message = ""
	switch name {
	case "q":
		return m.stop(), tea.Quit
	case "?":
		if m.page != helpPage {
			m.before, m.page, m.text = m.page, helpPage, list{}
			return m, nil
		}
		return m.back()
	case "b", "backspace", "esc":
		if name == "esc" && m.pos.marked {
			m.pos.marked = false
			return m, nil
		}
		return m.back()
	case "i":
		return m.toggle(infoPage, len(m.doc.Info) > 0), nil
	case "c":
		return m.toggle(chunkPage, len(m.doc.Grid) > 0 && !isEmpty(m.doc.Grid)).chunkOfCursor(), nil
	case "m":
		return m.toggleHeat(), nil
	}
	switch m.page {
	case gridPage, heatPage:
		if name == "enter" && m.page == heatPage {
			return m.back()
		}
		return m.arrayKey(name)
	case chunkPage:
		if name == "enter" {
			return m.back()
		}
		return m.chunkKey(name), nil
	case treePage:
		if name == "enter" || name == "right" || name == "l" {
			return m.open()
		}
		m.list = m.listKey(name, m.list, len(m.doc.Entries), false)
	default:
		m.text = m.listKey(name, m.text, len(m.textLines()), true)
	}
	return m, nil
}

// toggle shows a page, or the one below it if the page is shown.
func (m model) toggle(p page, there bool) model {
	switch {
	case !there:
		m.message = "there is nothing to show"
	case m.page != p:
		m.page, m.text = p, list{}
	case m.doc.Array != nil:
		m.page = gridPage
	case m.doc.Entries != nil:
		m.page = treePage
	default:
		m.page = infoPage
	}
	return m
}

// listKey moves in a list, or scrolls text.
func (m model) listKey(name string, l list, total int, text bool) list {
	height := max(m.height-2, 1)
	by, ok := map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -height, "ctrl+b": -height, "pgdown": height, "ctrl+f": height,
		"space": height, "home": -total, "{": -total, "end": total, "}": total,
	}[name]
	switch {
	case !ok:
		return l
	case text:
		return l.scroll(by, total, height)
	}
	return l.move(by, total, height)
}

// arrayKey handles a key of the grid and of the heat map.
func (m model) arrayKey(name string) (model, tea.Cmd) {
	shape, p := m.doc.Array.Shape(), m.pos
	if isEmpty(shape) {
		return m, nil
	}
	down, across := int64(1), int64(1)
	rows, cols := max(m.rows(), 1), m.pageColumns()
	if m.page == heatPage {
		g := m.heatRegion()
		down, across = g.rowStep, g.colStep
		rows, cols = max(1, (g.bottom-g.top)/4), max(1, (g.right-g.left)/4)
	}
	switch name {
	case "up", "k":
		p = p.move(shape, p.row, -down)
	case "down", "j":
		p = p.move(shape, p.row, down)
	case "left", "h":
		p = p.move(shape, p.col, -across)
	case "right", "l":
		p = p.move(shape, p.col, across)
	case "pgup", "ctrl+b":
		p = p.move(shape, p.row, -rows)
		p.top = max(0, p.top-rows)
	case "pgdown", "ctrl+f", "space":
		p = p.move(shape, p.row, rows)
		p.top = max(0, min(p.top+rows, length(shape, p.row)-rows))
	case "<", "shift+left":
		p = p.move(shape, p.col, -cols)
		p.left = max(0, p.left-cols)
	case ">", "shift+right":
		p = p.move(shape, p.col, cols)
		p.left = max(0, min(p.left+cols, length(shape, p.col)-1))
	case "a":
		p = p.chooseOther(p.other + 1)
		if p.other >= 0 {
			m.message = "[ and ] move along axis " + tuple([]int64{int64(p.other)})
			m.message = strings.NewReplacer("(", "", ",)", "").Replace(m.message)
		}
	case "v":
		p.marked = !p.marked
		p.anchor = [2]int64{p.along(p.row), p.along(p.col)}
	case ":", "g":
		m.prompt = new(string)
		return m, nil
	case "y":
		return m.copyValues()
	case "Y":
		return m.copySelection()
	case "p", "s", "z", "Z":
		return m.heatKey(name), nil
	default:
		p, _ = p.key(name, shape, p.row, p.col)
	}
	m.pos = p.scrollTo(m.rows(), 1<<62)
	return m.keepColumn(), nil
}

// keepColumn moves the first column so that the cursor is on the screen, as far as the widths of columns are known.
func (m model) keepColumn() model {
	at := m.pos.along(m.pos.col)
	list := m.columns()
	if len(list) > 0 && at > list[len(list)-1].index && at >= m.cells.right {
		m.pos.left = max(m.pos.left, at-int64(len(list))+1)
	}
	return m.scrollColumns()
}

// promptKey handles a key while the prompt is open.
func (m model) promptKey(name, text string) model {
	switch name {
	case "esc":
		m.prompt = nil
	case "enter":
		typed := *m.prompt
		m.prompt = nil
		return m.jump(typed)
	case "backspace":
		r := []rune(*m.prompt)
		if len(r) == 0 {
			m.prompt = nil
			return m
		}
		s := string(r[:len(r)-1])
		m.prompt = &s
	case "ctrl+u":
		m.prompt = new(string)
	default:
		m = m.typed(text)
	}
	return m
}

// typed adds text to the prompt.
func (m model) typed(text string) model {
	s := *m.prompt + strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
	if len(s) <= 1000 {
		m.prompt = &s
	}
	return m
}
