package document

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goblosc/blosc2/examples/viewer/internal/item"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// openTable returns the sheet of a table of a store. Its columns are opened when they are read.
func openTable(ctx context.Context, st *store.Store, key string) (*Sheet, error) {
	t, err := table.Open(ctx, st, key)
	if err != nil {
		return nil, err
	}
	infos := t.Columns()
	s := &Sheet{Rows: t.Rows(), info: []Property{{"Kind", "table"}, {"Rows", countText(t.Rows())}, {"Columns", strconv.Itoa(len(infos))}}}
	for _, info := range infos {
		c := &column{table: t, info: info}
		s.Columns = append(s.Columns, Column{Name: info.Name, Kind: kindText(info), read: c.read})
	}
	names, err := t.Attrs(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s.attributes = append(s.attributes, attribute(name, func(v any) error { return t.Attr(ctx, name, v) }))
	}
	return s, nil
}

// kindText describes the values of a column, such as "timestamp[us, UTC]?". The question mark is for nulls.
func kindText(c table.ColumnInfo) string {
	text := c.Kind
	var parts []string
	switch {
	case c.Kind == "ndarray":
		parts = []string{shapeText(c.Shape), c.DType}
	case c.Item != nil:
		parts = []string{kindText(*c.Item)}
	case c.Unit != "":
		if parts = []string{c.Unit}; c.Timezone != "" {
			parts = append(parts, c.Timezone)
		}
	}
	if len(parts) > 0 {
		text += "[" + strings.Join(parts, ", ") + "]"
	}
	if c.Nullable {
		text += "?"
	}
	return text
}

// column reads a column of a table. It reads the stored bytes: table.Read would bring a program for each Go type, which
// is a fifth of a megabyte.
type column struct {
	table *table.Table
	info  table.ColumnInfo

	mu         sync.Mutex
	open       *table.Column
	categories []string
}

// opened opens the column once.
func (c *column) opened(ctx context.Context) (*table.Column, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		open, err := c.table.Column(ctx, c.info.Name)
		if err != nil {
			return nil, err
		}
		c.open = open
	}
	if c.categories == nil {
		var err error
		if c.categories, err = c.open.Categories(ctx); err != nil {
			return nil, err
		}
	}
	return c.open, nil
}

// read returns the values of rows.
func (c *column) read(ctx context.Context, start, stop int64) ([]Cell, error) {
	open, err := c.opened(ctx)
	if err != nil {
		return nil, err
	}
	if o := open.Objects(); o != nil {
		return readObjects(ctx, o, open, start, stop, item.Cell)
	}
	nulls, err := open.Nulls(ctx, start, stop)
	if err != nil {
		return nil, err
	}
	cells := make([]Cell, 0, stop-start)
	for from, to := range open.Stored(start, stop) {
		if ends, text := open.Text(); ends != nil {
			cells, err = appendTexts(ctx, cells, ends, text, from, to)
		} else {
			cells, err = c.appendItems(ctx, cells, open.Array(), from, to)
		}
		if err != nil {
			return nil, err
		}
	}
	for i, null := range nulls {
		if null {
			cells[i] = Cell{Null: true}
		}
	}
	return cells, nil
}

// appendItems appends the stored rows from to to-1 of an array.
func (c *column) appendItems(ctx context.Context, cells []Cell, a *ndarray.Array, from, to int64) ([]Cell, error) {
	d := a.DType()
	per := int64(1)
	for _, n := range a.Shape()[1:] {
		per *= n
	}
	if size := per * int64(d.Size); size > maxValue/max(to-from, 1) {
		return nil, fmt.Errorf("rows of %d bytes are not shown: %w", size, ndarray.ErrTooLarge)
	}
	b := make([]byte, (to-from)*per*int64(d.Size))
	if err := a.ReadBytes(ctx, b, ndarray.Span(from, to)); err != nil {
		return nil, err
	}
	size := int(per) * d.Size
	for row := range int(to - from) {
		cell, err := c.cell(d, b[row*size:(row+1)*size])
		if err != nil {
			return nil, err
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

// cell returns the value of a row of an array.
func (c *column) cell(d meta.DType, b []byte) (Cell, error) {
	if c.info.Kind == "ndarray" {
		return Cell{Text: item.JSON(nested(d, b, c.info.Shape))}, nil
	}
	v := item.Value(d, b)
	switch c.info.Kind {
	case "timestamp":
		n := v.(int64)
		return Cell{Text: item.Time(n, c.info.Unit), Null: n == ndarray.NaT}, nil
	case "dictionary":
		code := v.(int64)
		if code < 0 || code >= int64(len(c.categories)) {
			// A null, or an error of the file: Nulls finds the null.
			return Cell{Text: fmt.Sprintf("(code %d of %d)", code, len(c.categories))}, nil
		}
		return Cell{Text: c.categories[code]}, nil
	case "bool":
		if n, ok := v.(uint64); ok { // with a value for null
			v = n == 1
		}
	case "bytes":
		v = []byte(v.(string))
	}
	return Cell{Text: item.Cell(v)}, nil
}

// nested returns the items of an array as nested lists.
func nested(d meta.DType, b []byte, shape []int64) any {
	if len(shape) == 0 {
		return item.Value(d, b)
	}
	list := make([]any, shape[0])
	for i := range list {
		size := len(b) / len(list)
		list[i] = nested(d, b[i*size:(i+1)*size], shape[1:])
	}
	return list
}

// appendTexts appends the stored rows from to to-1 of a utf8 column.
func appendTexts(ctx context.Context, cells []Cell, ends, text *ndarray.Array, from, to int64) ([]Cell, error) {
	b := make([]byte, 8*(to-from+1))
	if err := ends.ReadBytes(ctx, b, ndarray.Span(from, to+1)); err != nil {
		return nil, err
	}
	var at []int64
	for end := range slices.Chunk(b, 8) {
		at = append(at, item.Value(ends.DType(), end).(int64))
	}
	first, last := at[0], at[len(at)-1]
	if !slices.IsSorted(at) || first < 0 || last > text.Shape()[0] {
		return nil, fmt.Errorf("rows %d to %d have the bytes %d to %d of %d: %w", from, to, first, last, text.Shape()[0], table.ErrCorrupt)
	}
	if last-first <= maxValue { // read at once
		value := make([]byte, last-first)
		if err := text.ReadBytes(ctx, value, ndarray.Span(first, last)); err != nil {
			return nil, err
		}
		for i, end := range at[1:] {
			cells = append(cells, Cell{Text: string(value[at[i]-first : end-first])})
		}
		return cells, nil
	}
	for i, end := range at[1:] {
		value := make([]byte, min(end-at[i], maxCell+1))
		if err := text.ReadBytes(ctx, value, ndarray.Span(at[i], at[i]+int64(len(value)))); err != nil {
			return nil, err
		}
		cells = append(cells, Cell{Text: string(value)})
	}
	return cells, nil
}

// readObjects returns the items start to stop-1 of an array of objects, or the rows of a column of them.
func readObjects(ctx context.Context, o *objects.Array, c *table.Column, start, stop int64, text func(any) string) ([]Cell, error) {
	var cells []Cell
	see := func(_ int64, raw []byte) error {
		var v any
		if len(raw) > maxValue {
			cells = append(cells, Cell{Text: fmt.Sprintf("(%d bytes)", len(raw))})
			return nil
		}
		if err := o.Decode(raw, &v); err != nil {
			return err
		}
		cells = append(cells, Cell{Text: text(v), Null: v == nil})
		return nil
	}
	if c == nil {
		err := o.Each(ctx, start, stop, see)
		return cells, err
	}
	for from, to := range c.Stored(start, stop) {
		if err := o.Each(ctx, from, to, see); err != nil {
			return nil, err
		}
	}
	return cells, nil
}
