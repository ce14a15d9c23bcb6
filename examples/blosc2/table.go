package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/ndarray"
)

// tableCmd prints a table.
type tableCmd struct {
	progressOption
	Text    bool     `help:"print rows in columns, as many as fit, and of more than 60 rows the first and last five; the default on a terminal"`
	JSON    bool     `name:"json" help:"print one JSON object {\"rows\": n, \"columns\": {name: [values]}}, the default for a file or a pipe. Nulls are null, bytes {\"bytes\": hexadecimal}, complex numbers {\"complex\": [real, imaginary]}, arrays nested lists, times text in UTC, timedeltas counts of their unit"`
	CSV     bool     `name:"csv" help:"print CSV with a header. Nulls are empty, bytes are hexadecimal, lists and objects are JSON"`
	Rows    rowRange `placeholder:"START:STOP" help:"print only these rows; as in Python, both are optional, and negative ones count from the end"`
	Path    string   `arg:"" name:"PATH"`
	Columns []string `arg:"" optional:"" name:"COLUMN"`
}

// Help describes the verb.
func (tableCmd) Help() string {
	return `
Prints the values of a table, without deleted rows and computed columns. PATH is a store that is a
table, or the key of a table in a store. With names of columns it prints these, in this order.

Examples:
  blosc2 table trips.b2z
  blosc2 table -rows -10: trips.b2z start fare
  blosc2 table -json trips.b2z | jq .rows
  blosc2 table -csv data.b2d/trips > trips.csv
`
}

// objectsCmd prints an object, batch or list array.
type objectsCmd struct {
	progressOption
	Path string `arg:"" name:"PATH"`
}

// Help describes the verb.
func (objectsCmd) Help() string {
	return `
Prints the items of an object or list array, one JSON value per line, or the batches of a batch array, one list per line.
PATH is a file (.b2b) or the key of an array in a store.

Examples:
  blosc2 objects notes.b2b
`
}

// Run runs the verb.
func (v *tableCmd) Run(e *env) error {
	switch {
	case v.JSON && v.CSV:
		return usagef("-json and -csv exclude each other")
	case v.Text && (v.JSON || v.CSV):
		return usagef("-text excludes -json and -csv")
	}
	name, key, ok := splitStore(v.Path)
	if !ok {
		name, key = v.Path, "/"
	}
	st, err := newStore(e, name)
	if errors.Is(err, frame.ErrFormat) {
		err = pathKindError(e, v.Path, "a table", err)
	}
	if err != nil {
		return err
	}
	defer st.close()
	key = st.find(key)
	t, err := table.Open(e.ctx, st.Store, key)
	if err != nil {
		return storeError(e, st, v.Path, key, fmt.Errorf("%s: %w", name, err))
	}
	part, err := v.part(e, t)
	if err == nil {
		part.far = st.remote != nil
		err = v.print(e, part)
	}
	if _, writeErr := e.out.Write(nil); err == nil || writeErr != nil {
		return writeErr
	}
	return fmt.Errorf("%s: %w", shownPath(name), err)
}

// print prints a part of a table.
func (v *tableCmd) print(e *env, t *tablePart) error {
	if v.Text || e.tty && !v.JSON && !v.CSV {
		return tableText(e, t)
	}
	p := e.startProgress(v.progressOption, "values", t.rows()*int64(len(t.columns)))
	defer p.end()
	if v.CSV {
		return tableCSV(e, t, p)
	}
	return tableJSON(e, t, p)
}

// tableJSON prints a table as JSON, column by column.
func tableJSON(e *env, t *tablePart, p *progress) error {
	columns, err := t.check(e)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.out, `{"rows": %d, "columns": {`, t.rows())
	for i, info := range t.columns {
		if i > 0 {
			e.out.WriteString(", ")
		}
		c := columns[i]
		if c == nil {
			if c, err = t.open(e, info.Name); err != nil {
				return err
			}
		}
		err := columnJSON(e, t, c, info, p)
		c.Close()
		if err != nil {
			return err
		}
	}
	_, err = e.out.WriteString("}}\n")
	return err
}

// columnJSON prints a column of a table as JSON.
func columnJSON(e *env, t *tablePart, c *table.Column, info table.ColumnInfo, p *progress) error {
	var buf bytes.Buffer
	if err := writeJSON(&buf, info.Name); err != nil {
		return err
	}
	buf.WriteString(": [")
	first := true
	for v, err := range t.values(e, c) {
		if err != nil {
			return err
		}
		if !first {
			buf.WriteString(", ")
		}
		first = false
		p.add(1)
		if err := writeCell(&buf, info, v); err != nil {
			return err
		}
		if buf.Len() > 1<<16 {
			if _, err := buf.WriteTo(e.out); err != nil {
				return err
			}
		}
	}
	buf.WriteByte(']')
	_, err := buf.WriteTo(e.out)
	return err
}

// tableCSV prints a table as CSV, some rows of all columns at a time.
func tableCSV(e *env, t *tablePart, p *progress) error {
	infos := t.columns
	columns, err := t.openAll(e)
	if err != nil {
		return err
	}
	record := make([]string, len(infos))
	for i, info := range infos {
		record[i] = e.cell(info.Name)
	}
	var lines csvLines
	write := func() error {
		line, err := lines.line(record)
		if err == nil {
			_, err = e.out.Write(line)
		}
		return err
	}
	if err := write(); err != nil {
		return err
	}
	return t.eachWindow(e, columns, func(values [][]any, n int64) error {
		p.add(n * int64(len(columns)))
		for row := range n {
			for i, info := range infos {
				if record[i], err = cellText(info, values[i][row]); err != nil {
					return err
				}
				record[i] = e.cell(record[i])
			}
			if err := write(); err != nil {
				return err
			}
		}
		return nil
	})
}

// hasTimes reports whether the values of a column are arrays of dates or timedeltas.
func hasTimes(c *table.Column) bool {
	if c.Info().Kind != "ndarray" {
		return false
	}
	kind := c.Array().DType().Kind
	return kind == 'M' || kind == 'm'
}

// readValues returns the values of rows of a column. In arrays, NaT is nil, and other timedeltas are counts of their
// unit.
func readValues(ctx context.Context, c *table.Column, start, stop int64) ([]any, error) {
	if !hasTimes(c) {
		return table.Read[any](ctx, c, start, stop)
	}
	counts, err := table.Read[int64](ctx, c, start, stop)
	if err != nil {
		return nil, err
	}
	var times []time.Time
	if c.Array().DType().Kind == 'M' {
		if times, err = table.Read[time.Time](ctx, c, start, stop); err != nil {
			return nil, err
		}
	}
	nulls, err := c.Nulls(ctx, start, stop)
	if err != nil {
		return nil, err
	}
	values := make([]any, stop-start)
	for row := range values {
		if nulls != nil && nulls[row] {
			continue
		}
		per := len(counts) / len(values)
		items := make([]any, per)
		for i := range items {
			switch n := counts[row*per+i]; {
			case n == ndarray.NaT:
			case times != nil:
				items[i] = times[row*per+i]
			default:
				items[i] = n
			}
		}
		values[row] = items
	}
	return values, nil
}

// Run runs the verb.
func (v *objectsCmd) Run(e *env) error {
	defer e.count(v.progressOption)()
	s, err := openReadable(e, v.Path)
	if err != nil {
		return err
	}
	defer s.close()
	return printObjects(e, s)
}
