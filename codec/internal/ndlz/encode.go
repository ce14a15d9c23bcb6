package ndlz

import (
	"bytes"
	"encoding/binary"
)

const (
	tableBits   = 12
	maxDistance = 65535
	maxStream   = 1<<31 - 1
)

// Encoder encodes blocks. It belongs to one goroutine and keeps its tables between blocks.
//
// The choices are those of C-Blosc2 3.3, so the same block and space give the same stream. There is one exception: the
// encoder does not make references that are too far back for the decoder of C-Blosc2.
type Encoder struct {
	// Positions of stored whole cells, triples of rows and pairs of rows, by their hash. 0 is no position. An entry for
	// rows stays until a stored cell clears it.
	cells, triples, pairs [1 << tableBits]uint32

	tripleRows, pairRows pending
	cell                 [64]byte // the cell to encode
	rows                 [24]byte // some of its rows
	dst                  []byte
	edge                 int
	pos, out             int // position of the cell's token, and end of the output
}

// pending holds entries for a table of rows, to be entered when the cell is stored: a slot and, if it exists, the
// position of each first row. The slots outlast the cell: a new position for row 0 sets all of them, and the slots of
// rows without position to 0.
type pending struct {
	at    [7]uint32
	slots [7]uint32
}

func (p *pending) add(row int, slot, at uint32) { p.slots[row], p.at[row] = slot, at }

// enter enters the entries of n rows.
func (p *pending) enter(table *[1 << tableBits]uint32, n int) {
	if p.at[0] == 0 {
		return
	}
	for i, slot := range p.slots[:n] {
		table[slot] = p.at[i]
	}
}

// Encode writes the stream of src, a block with rows times cols items, into dst, never past len(dst). It returns the
// length of the stream in bytes, or 0 if the stream is not shorter than src or does not fit. edge is the edge of the
// cells, 4 or 8. dst and src must not overlap.
func (e *Encoder) Encode(dst, src []byte, edge, rows, cols int) int {
	n := e.encode(dst, src, edge, rows, cols)
	e.dst = nil
	return n
}

func (e *Encoder) encode(dst, src []byte, edge, rows, cols int) int {
	size := edge * edge
	if len(src) < size || int64(len(src)) > maxStream || int64(len(dst)) < 17+2*(int64(len(src)/size)-1) {
		return 0
	}
	clear(e.cells[:])
	clear(e.triples[:])
	clear(e.pairs[:])
	e.tripleRows, e.pairRows = pending{}, pending{}
	e.dst, e.edge = dst, edge
	dst[0] = 2
	binary.LittleEndian.PutUint32(dst[1:], uint32(rows))
	binary.LittleEndian.PutUint32(dst[5:], uint32(cols))
	e.out = headerSize
	for y := 0; y < rows; y += edge {
		for x := 0; x < cols; x += edge {
			if len(dst)-e.out < size+1 {
				return 0
			}
			e.pos = e.out
			h, w := min(edge, rows-y), min(edge, cols-x)
			if h < edge || w < edge {
				e.put(tokenLiteral)
			}
			for i := range h {
				row := src[(y+i)*cols+x:][:w]
				if h < edge || w < edge {
					e.out += copy(dst[e.out:], row)
				} else {
					copy(e.cell[i*edge:], row)
				}
			}
			if h == edge && w == edge {
				e.encodeCell(e.cell[:size])
			}
			if e.out > len(src) {
				return 0
			}
		}
	}
	return e.out
}

func (e *Encoder) put(token byte) {
	e.dst[e.out] = token
	e.out++
}

// putOffset writes the distance of the token from an earlier position.
func (e *Encoder) putOffset(at uint32) {
	binary.LittleEndian.PutUint16(e.dst[e.out:], uint16(e.pos-int(at)))
	e.out += 2
}

// encodeCell writes a whole cell.
func (e *Encoder) encodeCell(cell []byte) {
	slot := hash(cell)
	if same(cell) {
		e.put(tokenSame)
		e.put(cell[0])
		return
	}
	if at, ok := e.lookup(e.cells[slot], cell, 0); ok {
		e.put(tokenCell)
		e.putOffset(at)
		return
	}
	e.tripleRows.at, e.pairRows.at = [7]uint32{}, [7]uint32{}
	if e.edge == 4 {
		if e.twoPairs(cell) || e.triple4(cell) || e.pair4(cell) {
			return
		}
		e.tripleRows.enter(&e.triples, 2)
		e.pairRows.enter(&e.pairs, 3)
	} else {
		if e.rows8(cell, &e.triples, &e.tripleRows, 3, tokenTriple8) || e.rows8(cell, &e.pairs, &e.pairRows, 2, tokenPair8) {
			return
		}
		e.tripleRows.enter(&e.triples, 6)
		e.pairRows.enter(&e.pairs, 7)
	}
	e.cells[slot] = uint32(e.pos + 1)
	e.put(tokenLiteral)
	e.out += copy(e.dst[e.out:], cell)
}

// lookup returns the position at and reports whether the bytes there equal rows and are near enough to row of the cell.
func (e *Encoder) lookup(at uint32, rows []byte, row int) (uint32, bool) {
	ok := at != 0 && e.pos+row*e.edge-int(at) < maxDistance && bytes.Equal(rows, e.dst[at:][:len(rows)])
	return at, ok
}

// near reports whether an offset, to which the decoder of C-Blosc2 adds more, stays within 16 bits there.
func (e *Encoder) near(at uint32, more int) bool { return e.pos-int(at)+more < 1<<16 }

// pick returns some rows of a cell of edge 4, one after the other.
func (e *Encoder) pick(cell []byte, rows ...int) []byte {
	for i, r := range rows {
		copy(e.rows[4*i:4*i+4], cell[4*r:])
	}
	return e.rows[:4*len(rows)]
}

// twoPairs writes a cell that consists of two stored pairs of rows. It reports whether it did.
func (e *Encoder) twoPairs(cell []byte) bool {
	for j := 1; j < 4; j++ {
		order := plans[0x20>>3|j].order
		first := e.pick(cell, 0, j)
		at, ok := e.lookup(e.pairs[hash(first)], first, 0)
		if !ok {
			continue
		}
		l, m := int(order[2]), int(order[3])
		second := e.pick(cell, l, m)
		at2, ok := e.lookup(e.pairs[hash(second)], second, l)
		if !ok || !e.near(at, 5) || !e.near(at2, 5) {
			continue
		}
		e.put(byte(0x20 | j<<3))
		e.putOffset(at)
		e.putOffset(at2)
		return true
	}
	return false
}

// triple4 writes a cell of edge 4 that contains a stored triple of rows. It reports whether it did.
func (e *Encoder) triple4(cell []byte) bool {
	for _, t := range [...]struct {
		i, j, k, other int
		token          byte
	}{{0, 1, 2, 3, 0xe8}, {0, 1, 3, 2, 0xf0}, {0, 2, 3, 1, 0xf8}, {1, 2, 3, 0, 0xe0}} {
		rows := e.pick(cell, t.i, t.j, t.k)
		slot := hash(rows)
		at, ok := e.lookup(e.triples[slot], rows, t.i)
		if at == 0 && t.k == t.i+2 {
			e.tripleRows.add(t.i, slot, uint32(e.pos+1+4*t.i))
		}
		if ok && e.near(at, 3) {
			e.put(t.token)
			e.putOffset(at)
			e.out += copy(e.dst[e.out:], cell[4*t.other:][:4])
			return true
		}
	}
	return false
}

// pair4 writes a cell of edge 4 that contains a stored pair of rows. It reports whether it did.
func (e *Encoder) pair4(cell []byte) bool {
	for i := range 3 {
		for j := i + 1; j < 4; j++ {
			rows := e.pick(cell, i, j)
			slot := hash(rows)
			at, ok := e.lookup(e.pairs[slot], rows, i)
			if at == 0 && j == i+1 {
				e.pairRows.add(i, slot, uint32(e.pos+1+4*i))
			}
			if !ok || !e.near(at, 3) {
				continue
			}
			token := 0x80 | i<<5 | j<<3
			if i == 2 {
				token = 0x80
			}
			e.put(byte(token))
			e.putOffset(at)
			for _, r := range plans[token>>3].order[2:] {
				e.out += copy(e.dst[e.out:], cell[4*r:][:4])
			}
			return true
		}
	}
	return false
}

// rows8 writes a cell of edge 8 that contains n stored rows. It reports whether it did.
func (e *Encoder) rows8(cell []byte, table *[1 << tableBits]uint32, p *pending, n int, token byte) bool {
	for i := range 9 - n {
		rows := cell[8*i : 8*(i+n)]
		slot := hash(rows)
		at, ok := e.lookup(table[slot], rows, i)
		if at == 0 {
			p.add(i, slot, uint32(e.pos+1+8*i))
		}
		if ok {
			e.put(token | byte(i))
			e.putOffset(at)
			e.out += copy(e.dst[e.out:], cell[:8*i])
			e.out += copy(e.dst[e.out:], cell[8*(i+n):])
			return true
		}
	}
	return false
}

// same reports whether all bytes of a cell are the same.
func same(cell []byte) bool { return bytes.Equal(cell[1:], cell[:len(cell)-1]) }
