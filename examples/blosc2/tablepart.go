package main

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/meta"
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
	far         bool // on a server
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

// mostOpen is the number of columns of local files that check leaves open.
const mostOpen = 64

// check opens the columns of the part, so that an error comes before any output. A process may have fewer files than a
// table has columns: beyond mostOpen, check closes columns, and returns nil for them. Those on a server stay open.
func (p *tablePart) check(e *env) ([]*table.Column, error) {
	list := make([]*table.Column, len(p.columns))
	for i, info := range p.columns {
		c, err := p.open(e, info.Name)
		if err != nil {
			return nil, err
		}
		if p.far || i < mostOpen {
			list[i] = c
		} else {
			c.Close()
		}
	}
	return list, nil
}

// rows returns the number of rows of the part.
func (p *tablePart) rows() int64 { return p.stop - p.start }

// values ranges over the values of a column of the part.
func (p *tablePart) values(e *env, c *table.Column) iter.Seq2[any, error] {
	if p.rows() == p.Rows() && !hasTimes(c) {
		return table.All[any](e.ctx, c)
	}
	return func(yield func(any, error) bool) {
		err := p.eachWindow(e, []*table.Column{c}, func(values [][]any, _ int64) error {
			for _, v := range values[0] {
				if !yield(v, nil) {
					return errStop
				}
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(nil, err)
		}
	}
}

// errStop ends a loop over windows.
var errStop = errors.New("stop")

const (
	rowWindow     = 4096      // largest number of rows that are held at a time, unless they are far
	windowBytes   = 64 << 20  // of the values that are held at a time, if they are of several rows
	singleBytes   = 256 << 20 // of the values of a single row, unless stored bytes justify more
	valueHeader   = 80        // of a value while it is read, besides its content
	elementHeader = 24        // of an element of a value, besides its content
	mapHeader     = 256       // of a map, besides its elements
)

// eachWindow calls see with the values of some columns of the part, n rows at a time. They take up to windowBytes
// unless n is 1. Of a table on a server, n grows further, because each read of a column takes at least one request.
func (p *tablePart) eachWindow(e *env, columns []*table.Column, see func(values [][]any, n int64) error) error {
	window, most := max(min(rowWindow, int64(windowBytes/p.rowBytes(columns))), 1), int64(rowWindow)
	if p.far {
		most = p.rows()
	}
	for at := p.start; at < p.stop; {
		asked := min(window, p.stop-at)
		values, n, used, err := readRows(e, columns, at, asked)
		if err != nil && asked > rowWindow && e.ctx.Err() == nil {
			window, most = rowWindow, rowWindow // for the rows before the fault
			continue
		}
		if err == nil {
			err = see(values, n)
		}
		if err != nil {
			return err
		}
		at += n
		window = max(min(4*n, windowBytes*n/max(used, valueHeader*n), most), 1)
	}
	return nil
}

// rowBytes returns about the number of bytes of memory that the values of a row take.
func (p *tablePart) rowBytes(columns []*table.Column) float64 {
	const object = 20 // for each byte of objects
	n := 1.0
	for _, c := range columns {
		var frames []*frame.Frame
		if a := c.Array(); a != nil {
			frames = append(frames, a.Frame())
		}
		if ends, text := c.Text(); text != nil {
			frames = append(frames, ends.Frame(), text.Frame())
		}
		if o := c.Objects(); o != nil {
			n += object * float64(o.Frame().Info().NBytes) / float64(max(p.Rows(), 1))
		}
		n += valueHeader
		for _, f := range frames {
			n += 2 * float64(f.Info().NBytes) / float64(max(p.Rows(), 1))
		}
	}
	return n
}

// readRows returns n rows of some columns, starting at start, and about the number of bytes that they take. It returns
// fewer rows if those would take more than windowBytes. It returns ErrTooLarge if a single row takes more than
// singleBytes and more than the stored bytes of the columns justify.
func readRows(e *env, columns []*table.Column, start, n int64) (values [][]any, _, used int64, err error) {
	sizes := make([]int64, n)
	allowed := int64(singleBytes)
	for len(values) < len(columns) {
		list, err := readValues(e.ctx, columns[len(values)], start, start+n)
		fit := n / 2
		if err == nil {
			values = append(values, list)
			for row, v := range list {
				sizes[row] += valueSize(v)
			}
			fit, used = prefix(sizes, windowBytes)
		} else if !errors.Is(err, table.ErrTooLarge) {
			return nil, 0, 0, err
		} else if n == 1 {
			return nil, 0, 0, fmt.Errorf("row %d: %w", start, err)
		}
		if fit < n { // other columns are read for these rows only
			n, sizes = fit, sizes[:fit]
			for i := range values {
				values[i] = slices.Delete(values[i], int(n), len(values[i]))
			}
		}
		if used > allowed {
			if err := checkRow(columns, len(values), start, used); err != nil {
				return nil, 0, 0, err
			}
			allowed = used + used/8 // so that few calls look at all columns
		}
	}
	return values, n, used, nil
}

// prefix returns the number of sizes from the first one that have at most a sum, but at least 1, and their sum.
func prefix(sizes []int64, most int64) (n, sum int64) {
	for i, size := range sizes {
		if i > 0 && sum+size > most {
			break
		}
		n, sum = n+1, sum+size
	}
	return n, sum
}

// checkRow returns an error if the stored bytes of the columns do not justify n bytes for a row of the columns read.
func checkRow(columns []*table.Column, read int, row, n int64) error {
	err := frame.CheckAllocs(n, table.Frames(columns...)...)
	if errors.Is(err, table.ErrTooLarge) {
		err = fmt.Errorf("its values in %s take %d bytes, far more than is stored; print fewer columns, or use -json: %w",
			plural(read, "column"), n, table.ErrTooLarge)
	}
	if err != nil {
		err = fmt.Errorf("row %d: %w", row, err)
	}
	return err
}

// valueSize returns about the number of bytes of memory that a value takes.
func valueSize(v any) int64 { return valueHeader + contentSize(v) }

// contentSize returns about the number of bytes of memory that a value takes besides its header.
func contentSize(v any) (n int64) {
	element := func(v any) { n += elementHeader + contentSize(v) }
	switch v := v.(type) {
	case string:
		return int64(len(v))
	case meta.Ext:
		return int64(len(v.Data))
	case map[string]any:
		n = mapHeader
		for key, v := range v {
			element(key)
			element(v)
		}
		return n
	case meta.Map:
		for _, e := range v {
			element(e.Key)
			element(e.Value)
		}
		return n
	}
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice {
		return 0
	}
	if k := list.Type().Elem().Kind(); k != reflect.Interface && k != reflect.String {
		return int64(list.Len()) * int64(list.Type().Elem().Size())
	}
	for i := range list.Len() {
		element(list.Index(i).Interface())
	}
	return n
}
