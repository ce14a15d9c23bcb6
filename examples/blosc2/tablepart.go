package main

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/frame/store/table"
)

// rowRange is the value of -rows: a slice START:STOP of rows as in Python.
type rowRange struct {
	text        string
	start, stop *int64
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *rowRange) UnmarshalText(text []byte) error {
	r.text = string(text)
	start, stop, ok := strings.Cut(r.text, ":")
	if !ok {
		return usagef("%q is not START:STOP", text)
	}
	for _, end := range []struct {
		text string
		to   **int64
	}{{start, &r.start}, {stop, &r.stop}} {
		if end.text == "" {
			continue
		}
		n, err := strconv.ParseInt(end.text, 10, 64)
		if err != nil {
			return usagef("%q is not START:STOP", text)
		}
		*end.to = &n
	}
	return nil
}

// of returns the rows from start to stop-1 that r selects of n rows. Negative numbers count from the end.
func (r *rowRange) of(n int64) (start, stop int64) {
	bound := func(at *int64, missing int64) int64 {
		switch {
		case at == nil:
			return missing
		case *at < 0:
			return max(*at+n, 0)
		}
		return min(*at, n)
	}
	start = bound(r.start, 0)
	return start, max(bound(r.stop, n), start)
}

// tablePart is what is printed of a table: rows start to stop-1 of some columns.
type tablePart struct {
	*table.Table
	path        string // of the command line
	columns     []table.ColumnInfo
	start, stop int64
}

// part returns the part of a table that the command line selects.
func (v *tableCmd) part(e *env, t *table.Table) (*tablePart, error) {
	p := &tablePart{Table: t, path: v.Path, columns: t.Columns()}
	p.start, p.stop = v.Rows.of(t.Rows())
	if len(v.Columns) == 0 {
		return p, nil
	}
	all := p.columns
	p.columns = nil
	for i, name := range v.Columns {
		if slices.Contains(v.Columns[:i], name) {
			return nil, usagef("column %q is named twice", name)
		}
		i := slices.IndexFunc(all, func(info table.ColumnInfo) bool { return info.Name == name })
		if i < 0 {
			return nil, noColumn(e, t, name)
		}
		p.columns = append(p.columns, all[i])
	}
	return p, nil
}

// noColumn returns the error for a column that a table does not list. It may be one without stored values.
func noColumn(e *env, t *table.Table, name string) error {
	if _, err := t.Column(e.ctx, name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	const most = 10
	var names []string
	all := t.Columns()
	for _, info := range all[:min(len(all), most)] {
		names = append(names, shortened(info.Name))
	}
	if len(all) > most {
		names = append(names, "...")
	}
	return fmt.Errorf("no column %q; the table has %s", name, strings.Join(names, ", "))
}

// open opens a column of the part. The error for one that cannot be read names the command for others.
func (p *tablePart) open(e *env, name string) (*table.Column, error) {
	c, err := p.Column(e.ctx, name)
	if len(p.Columns()) > 1 && (errors.Is(err, errors.ErrUnsupported) || errors.Is(err, table.ErrCorrupt)) {
		err = fmt.Errorf("%w; print other columns with blosc2 table %s COLUMN...", err, p.path)
	}
	return c, err
}

// openAll opens the columns of the part.
func (p *tablePart) openAll(e *env) ([]*table.Column, error) {
	list := make([]*table.Column, len(p.columns))
	for i, info := range p.columns {
		var err error
		if list[i], err = p.open(e, info.Name); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// rows returns the number of rows of the part.
func (p *tablePart) rows() int64 { return p.stop - p.start }

// values ranges over the values of a column of the part.
func (p *tablePart) values(e *env, c *table.Column) iter.Seq2[any, error] {
	if p.rows() == p.Rows() {
		return table.All[any](e.ctx, c)
	}
	return func(yield func(any, error) bool) {
		for at := p.start; at < p.stop; {
			values, n, err := readRows(e, []*table.Column{c}, at, min(rowWindow, p.stop-at))
			if err != nil {
				yield(nil, err)
				return
			}
			for _, v := range values[0] {
				if !yield(v, nil) {
					return
				}
			}
			at += n
		}
	}
}
