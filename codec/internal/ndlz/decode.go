package ndlz

import (
	"encoding/binary"
	"errors"
)

// Faults of a stream.
var (
	ErrHeader    = errors.New("stream is for a block of another size")
	ErrToken     = errors.New("unknown token")
	ErrReference = errors.New("reference to bytes that do not precede it")
	ErrShort     = errors.New("stream ends too early")
	ErrLong      = errors.New("stream continues after the last cell")
)

// Decode decodes src, the stream of a block, into dst. edge is 4 or 8. The stream records the shape of the block, which
// must have len(dst) items. src is untrusted.
func Decode(dst, src []byte, edge int) error {
	if len(src) < headerSize || src[0] != 2 {
		return ErrHeader
	}
	rows := int(int32(binary.LittleEndian.Uint32(src[1:])))
	cols := int(int32(binary.LittleEndian.Uint32(src[5:])))
	if rows < 1 || cols < 1 || int64(rows)*int64(cols) != int64(len(dst)) {
		return ErrHeader
	}
	d := decoder{src: src, pos: headerSize}
	for y := 0; y < rows; y += edge {
		for x := 0; x < cols; x += edge {
			c := cell{dst: dst[y*cols+x:], stride: cols, h: min(edge, rows-y), w: min(edge, cols-x)}
			if err := d.cell(&c, edge); err != nil {
				return err
			}
		}
	}
	if d.pos != len(src) {
		return ErrLong
	}
	return nil
}

// cell describes where the h rows of w items of a cell are written.
type cell struct {
	dst    []byte
	stride int
	h, w   int
}

// set fills the cell from its rows, which are stored one after the other.
func (c *cell) set(rows []byte) {
	for i := range c.h {
		copy(c.dst[i*c.stride:][:c.w], rows[i*c.w:])
	}
}

// row returns row i of a whole cell.
func (c *cell) row(i, edge int) []byte { return c.dst[i*c.stride:][:edge] }

type decoder struct {
	src []byte
	pos int
}

// take returns the next n bytes of the stream.
func (d *decoder) take(n int) ([]byte, error) {
	if n > len(d.src)-d.pos {
		return nil, ErrShort
	}
	d.pos += n
	return d.src[d.pos-n : d.pos], nil
}

// reference reads an offset and returns the n bytes that it refers to. They must end at or before start, the position
// of the token.
func (d *decoder) reference(start, n int) ([]byte, error) {
	b, err := d.take(2)
	if err != nil {
		return nil, err
	}
	at := start - int(binary.LittleEndian.Uint16(b))
	if at < headerSize || n > start-at {
		return nil, ErrReference
	}
	return d.src[at : at+n], nil
}

// cell decodes the next cell.
func (d *decoder) cell(c *cell, edge int) error {
	start := d.pos
	b, err := d.take(1)
	if err != nil {
		return err
	}
	token := b[0]
	switch {
	case token == tokenLiteral:
		rows, err := d.take(c.h * c.w)
		if err != nil {
			return err
		}
		c.set(rows)
		return nil
	case token == tokenSame:
		if b, err = d.take(1); err != nil {
			return err
		}
		for i := range c.h {
			row := c.dst[i*c.stride:][:c.w]
			for j := range row {
				row[j] = b[0]
			}
		}
		return nil
	case token == tokenCell:
		rows, err := d.reference(start, c.h*c.w)
		if err != nil {
			return err
		}
		c.set(rows)
		return nil
	case c.h < edge || c.w < edge:
		return ErrToken
	case edge == 4:
		return d.rows4(c, token, start)
	}
	return d.rows8(c, token, start)
}

// rows4 decodes a cell of edge 4 in which some rows are copies.
func (d *decoder) rows4(c *cell, token byte, start int) error {
	p := plans[token>>3]
	if p.n == 0 || token&7 != 0 {
		return ErrToken
	}
	n := int(p.n)
	copied, err := d.reference(start, 4*n)
	if err != nil {
		return err
	}
	var others []byte
	if p.n2 > 0 {
		others, err = d.reference(start, 4*int(p.n2))
	} else {
		others, err = d.take(4 * (4 - n))
	}
	if err != nil {
		return err
	}
	for i, r := range p.order {
		if i < n {
			copy(c.row(int(r), 4), copied[4*i:])
		} else {
			copy(c.row(int(r), 4), others[4*(i-n):])
		}
	}
	return nil
}

// rows8 decodes a cell of edge 8 in which some rows are copies.
func (d *decoder) rows8(c *cell, token byte, start int) error {
	first, n := int(token&7), 0
	switch token &^ 7 {
	case tokenPair8:
		n = 2
	case tokenTriple8:
		n = 3
	}
	if n == 0 || first+n > 8 {
		return ErrToken
	}
	copied, err := d.reference(start, 8*n)
	if err != nil {
		return err
	}
	others, err := d.take(8 * (8 - n))
	if err != nil {
		return err
	}
	for i := range 8 {
		if i >= first && i < first+n {
			copy(c.row(i, 8), copied[8*(i-first):])
		} else {
			copy(c.row(i, 8), others)
			others = others[8:]
		}
	}
	return nil
}
