package main

import (
	"bytes"
	"encoding/csv"
	"strings"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// sliceCmd writes a selection of an array.
type sliceCmd struct {
	Text bool `xor:"form" help:"print the items as NumPy does, long arrays abbreviated; the default on a terminal"`
	CSV  bool `name:"csv" xor:"form" help:"write all items as text, with a line for each row of the last axis. Byte strings that are not UTF-8 are hexadecimal, and codes of text that UTF-8 cannot have are escapes such as \\ud800. Structured items have a line each, after one with the names of the fields"`
	NPY  bool `name:"npy" xor:"form" help:"write a .npy file"`
	Raw  bool `name:"raw" xor:"form" help:"write the bytes of the items, even to a terminal; the default elsewhere"`
	progressOption
	Path string `arg:"" name:"PATH"`
	Sel  string `arg:"" name:"SEL"`
}

// Help describes the verb.
func (sliceCmd) Help() string {
	return `
Writes the items of a selection in C order. It decodes only the blocks that hold selected items. SEL is in NumPy's
notation: integers, slices, ..., None, and lists of integers or booleans. SEL may start with a minus sign and a digit.
If SEL contains lists, the selected items are held in memory.

Examples:
  blosc2 slice a.b2nd '0, 2:5, ::-1'
  blosc2 slice -npy a.b2nd '..., -1' > last.npy
  blosc2 slice -csv a.b2nd '[3, 1, 2], :' > rows.csv
`
}

// Run runs the verb.
func (v *sliceCmd) Run(e *env) error {
	sel, err := parseSelection(v.Sel)
	if err != nil {
		return err
	}
	if v.NPY {
		if err := e.refuseTerminal(""); err != nil {
			return err
		}
	}
	a, done, err := openArray(e, v.Path)
	if err != nil {
		return err
	}
	defer done()
	shape, err := selectionShape(a, v.Sel, sel)
	if err != nil {
		return err
	}
	text := v.Text || e.tty && !v.CSV && !v.Raw
	if text || v.CSV {
		if err := checkFields(a.DType()); err != nil {
			return err
		}
	}
	if text {
		return printArray(e, a, sel)
	}
	total, _ := byteCount(shape, a.DType().Size)
	p := e.startProgress(v.progressOption, "bytes", total)
	defer p.end()
	if v.CSV {
		return writeCSV(e, a, sel, p)
	}
	return dumpArray(e, a, sel, v.NPY, p)
}

// writeCSV writes a selection as CSV, in small pieces.
func writeCSV(e *env, a *ndarray.Array, sel []ndarray.Index, p *progress) error {
	shape, err := a.SelectionShape(sel...)
	if err != nil {
		return err
	}
	w := &csvWriter{e: e, d: a.DType(), row: 1}
	if n := len(shape); n > 0 && w.d.Fields == nil {
		w.row = shape[n-1]
	}
	if w.d.Fields != nil {
		for _, f := range w.d.Fields {
			w.cells = append(w.cells, f.Name)
		}
		if err := w.line('\n'); err != nil {
			return err
		}
	}
	return ndarray.ToWriter(e.ctx, p.writer(w), a, sel...)
}

// csvCells is the number of cells of a line that are held at a time.
const csvCells = 4096

// csvWriter turns items, which arrive in pieces of any size, into lines of CSV.
type csvWriter struct {
	e     *env
	d     meta.DType
	row   int64  // items in a line
	at    int64  // items of the line so far
	part  []byte // the beginning of an item
	cells []string
	lines csvLines
}

// Write implements io.Writer.
func (c *csvWriter) Write(p []byte) (int, error) {
	n := len(p)
	if len(c.part) > 0 {
		need := min(c.d.Size-len(c.part), len(p))
		c.part, p = append(c.part, p[:need]...), p[need:]
		if len(c.part) < c.d.Size {
			return n, nil
		}
		if err := c.item(c.part); err != nil {
			return 0, err
		}
		c.part = c.part[:0]
	}
	for ; len(p) >= c.d.Size; p = p[c.d.Size:] {
		if err := c.item(p[:c.d.Size]); err != nil {
			return 0, err
		}
	}
	c.part = append(c.part, p...)
	return n, nil
}

// item adds an item, and writes a line if it is the last of a row.
func (c *csvWriter) item(b []byte) error {
	if c.d.Fields != nil {
		for _, f := range c.d.Fields {
			c.cells = append(c.cells, itemText(f.Type, b[f.Offset:f.Offset+f.Type.Size]))
		}
		return c.line('\n')
	}
	c.cells = append(c.cells, itemText(c.d, b))
	if c.at++; c.at == c.row {
		c.at = 0
		return c.line('\n')
	}
	if len(c.cells) == csvCells {
		return c.line(',')
	}
	return nil
}

// line writes the cells and what ends them: a line break, or a comma if more cells of the line follow.
func (c *csvWriter) line(end byte) error {
	for i, s := range c.cells {
		c.cells[i] = c.e.cell(strings.ToValidUTF8(s, "\uFFFD"))
	}
	line, err := c.lines.line(c.cells)
	if err != nil {
		return err
	}
	c.cells = c.cells[:0]
	line[len(line)-1] = end
	_, err = c.e.out.Write(line)
	return err
}

// csvLines turns records into lines of CSV.
type csvLines struct {
	text bytes.Buffer // the line
	csv  *csv.Writer  // to text
}

// line returns a record as a line, which is valid until the next call. One empty string is "", because readers skip
// blank lines.
func (l *csvLines) line(record []string) ([]byte, error) {
	if l.csv == nil {
		l.csv = csv.NewWriter(&l.text)
	}
	l.text.Reset()
	if len(record) == 1 && record[0] == "" {
		l.text.WriteString("\"\"\n")
	} else if err := l.csv.Write(record); err != nil {
		return nil, err
	}
	l.csv.Flush()
	return l.text.Bytes(), l.csv.Error()
}
