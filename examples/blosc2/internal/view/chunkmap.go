package view

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// A chunkWindow is a rectangle of the grid of chunks. The lines of a grid with one axis are as long as the screen is
// wide.
type chunkWindow struct {
	at          []int64
	row, col    int
	top, left   int64
	rows, width int64
	infos       []frame.ChunkInfo // row by row
}

// equal reports whether two windows hold the same chunks.
func (w chunkWindow) equal(o chunkWindow) bool {
	if w.row != o.row || w.col != o.col || w.top != o.top || w.left != o.left || w.rows != o.rows || w.width != o.width {
		return false
	}
	for axis, n := range w.at {
		if axis != w.row && axis != w.col && n != o.at[axis] {
			return false
		}
	}
	return len(w.at) == len(o.at)
}

// wraps reports whether the grid has one axis, in lines one below the other.
func (w chunkWindow) wraps() bool { return w.col < 0 }

// number returns the chunk at a place of the window, or -1.
func (w chunkWindow) number(grid []int64, r, c int64) int {
	if len(grid) == 0 {
		if r == 0 && c == 0 {
			return 0
		}
		return -1
	}
	if w.wraps() {
		if n := (w.top+r)*w.width + c; n < grid[0] {
			return int(n)
		}
		return -1
	}
	at := slices.Clone(w.at)
	at[w.row], at[w.col] = w.top+r, w.left+c
	if at[w.row] >= grid[w.row] || at[w.col] >= grid[w.col] {
		return -1
	}
	n := int64(0)
	for axis, length := range grid {
		n = n*length + at[axis]
	}
	return int(n)
}

// chunkRegion returns the chunks on the screen, with the one at the cursor among them.
func (m model) chunkRegion() chunkWindow {
	p, width := m.chunk, int64(m.width)
	w := chunkWindow{at: p.at, row: p.row, col: p.col, rows: m.rows(), width: width}
	if w.row < 0 || w.col < 0 {
		w.row, w.col = max(p.row, p.col), -1
		if len(p.at) > 0 {
			w.top = max(0, p.at[0]/width-w.rows+1)
		}
		return w
	}
	w.top = p.at[p.row] / max(w.rows, 1) * w.rows
	w.left = p.at[p.col] / width * width
	return w
}

// readChunks returns a function that reads the headers of the chunks of a window.
func (m model) readChunks(w chunkWindow) func(ctx context.Context) loaded {
	doc := m.doc
	return func(ctx context.Context) loaded {
		for r := range w.rows {
			for c := range w.width {
				n := w.number(doc.Grid, r, c)
				if n < 0 {
					w.infos = append(w.infos, frame.ChunkInfo{})
					continue
				}
				info, err := doc.Chunk(ctx, n)
				if err != nil {
					return loaded{err: err}
				}
				w.infos = append(w.infos, info)
			}
		}
		return loaded{chunks: &w}
	}
}

// chunkOfCursor moves the cursor of the map to the chunk of the item at the cursor of the grid.
func (m model) chunkOfCursor() model {
	if m.page != chunkPage || m.doc.Array == nil || len(m.doc.Grid) != len(m.pos.at) {
		return m
	}
	m.chunk = m.pos
	m.chunk.at = slices.Clone(m.pos.at)
	for axis, n := range m.doc.Chunks {
		m.chunk.at[axis] /= max(n, 1)
	}
	return m
}

// chunkKey handles a key of the map of the chunks.
func (m model) chunkKey(name string) model {
	grid, p, w := m.doc.Grid, m.chunk, m.chunkRegion()
	row, col, down := p.row, p.col, int64(1)
	if w.wraps() {
		row, col, down = w.row, w.row, w.width
	}
	switch name {
	case "up", "k":
		p = p.move(grid, row, -down)
	case "down", "j":
		p = p.move(grid, row, down)
	case "left", "h":
		p = p.move(grid, col, -1)
	case "right", "l":
		p = p.move(grid, col, 1)
	case "pgup", "ctrl+b":
		p = p.move(grid, row, -down*w.rows)
	case "pgdown", "ctrl+f", "space":
		p = p.move(grid, row, down*w.rows)
	case "a":
		p = p.chooseOther(p.other + 1)
	default:
		var ok bool
		if p, ok = p.key(name, grid, row, col); !ok {
			return m
		}
	}
	return m.moveChunk(p)
}

// moveChunk moves the cursor of the map to a chunk, and the cursor of the grid to its first item.
func (m model) moveChunk(p position) model {
	grid := m.doc.Grid
	m.chunk = p
	if m.doc.Array != nil && len(grid) == len(m.pos.at) && !isEmpty(m.doc.Array.Shape()) {
		if p.row != m.pos.row || p.col != m.pos.col {
			m.pos = m.pos.axes(p.row, p.col)
		}
		for axis := range grid {
			m.pos = m.pos.set(m.doc.Array.Shape(), axis, p.at[axis]*m.doc.Chunks[axis])
		}
		m.pos.top, m.pos.left, m.pos.marked = m.pos.along(p.row), m.pos.along(p.col), false
	}
	return m
}

// letters are the cells of chunks of special values.
var letters = map[chunk.Special]byte{chunk.Zeros: 'z', chunk.NaNs: 'n', chunk.Value: 'v', chunk.Uninit: 'u'}

// chunkLines returns the lines of the map, and below a line that explains it.
func (m model) chunkLines() []string {
	w := m.chunks
	if want := m.chunkRegion(); w == nil || !w.equal(want) {
		return nil
	}
	here := m.chunkNumber()
	var lines []string
	for r := range w.rows {
		var line strings.Builder
		for c := range w.width {
			n := w.number(m.doc.Grid, r, c)
			if n < 0 {
				break
			}
			m.chunkCell(&line, w.infos[r*w.width+c], n == here)
		}
		lines = append(lines, line.String())
	}
	return append(lines, shorten("digits: ratio 2^digit  z: zeros  n: NaNs  v: one value  u: uninitialized", m.width))
}

// chunkCell writes a cell of the map.
func (m model) chunkCell(b *strings.Builder, info frame.ChunkInfo, here bool) {
	glyph, power := letters[info.Special], logRatio(info)
	if info.Special == chunk.Regular {
		glyph = '0' + byte(power)
	}
	switch {
	case here:
		fmt.Fprintf(b, "\x1b[0;7m%c\x1b[0m", glyph)
	case m.tools.Color && info.Special == chunk.Regular:
		c := m.tools.Palettes[0].Color(float64(power) / 9)
		ink := 255
		if power > 5 {
			ink = 0
		}
		fmt.Fprintf(b, "\x1b[48;2;%d;%d;%d;38;2;%d;%d;%dm%c\x1b[0m", c.R, c.G, c.B, ink, ink, ink, glyph)
	default:
		b.WriteByte(glyph)
	}
}

// logRatio returns the logarithm to base 2 of the ratio of a chunk, from 0 to 9.
func logRatio(info frame.ChunkInfo) int {
	if info.CBytes <= 0 || info.NBytes <= info.CBytes {
		return 0
	}
	return min(9, int(math.Log2(float64(info.NBytes)/float64(info.CBytes))))
}

// chunkNumber returns the number of the chunk at the cursor.
func (m model) chunkNumber() int {
	n := int64(0)
	for axis, length := range m.doc.Grid {
		n = n*length + m.chunk.at[axis]
	}
	return int(n)
}

// chunkStatus describes the chunk at the cursor.
func (m model) chunkStatus() string {
	n := m.chunkNumber()
	text := fmt.Sprintf("chunk %d %s", n, tuple(m.chunk.at))
	w := m.chunks
	if want := m.chunkRegion(); w == nil || !w.equal(want) {
		return text
	}
	for i, info := range w.infos {
		if w.number(m.doc.Grid, int64(i)/w.width, int64(i)%w.width) != n {
			continue
		}
		if info.Special != chunk.Regular {
			return text + fmt.Sprintf(": %v, %d bytes of data, %d stored", info.Special, info.NBytes, info.CBytes)
		}
		return text + fmt.Sprintf(": %d bytes of data, %d stored, ratio %.2f", info.NBytes, info.CBytes, float64(info.NBytes)/float64(max(info.CBytes, 1)))
	}
	return text
}
