package table

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path"
	"slices"
	"sync/atomic"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// A Column is an open column of a table. Read its values with Read and All, its nulls with Nulls. It is safe for
// concurrent use and valid until it or the store is closed.
type Column struct {
	t     *Table
	info  ColumnInfo
	key   string // of its first leaf
	rows  *rows.Set
	null  nullTest
	nat   []byte         // item that is NaT, which is null, too; nil if the column is no nullable timestamp
	array *ndarray.Array // values of fixed size, codes of a dictionary, or ends of texts
	text  *ndarray.Array // bytes of texts
	ends  *textEnds      // of the texts of some rows, in a loop over windows; otherwise nil
	items *objects.Array // values of any size
	dict  *dictionary    // nil if the column has no codes
	mask  *ndarray.Array // true for values that are not null; nil = none is null

	windows []*window // of the arrays, in a loop over rows; otherwise nil
	marks   *window   // of the mask, for several loops over ascending rows; otherwise nil
}

// Column opens a column. The error wraps fs.ErrNotExist if there is no column with that name, or ErrCorrupt if the
// column is shorter than the table or does not have the type in the schema.
//
// It wraps errors.ErrUnsupported for a computed column, with its expression in the text, and for a generated column
// that is stale: python-blosc2 marks it so when a column that it was computed from is modified, and does not read it,
// either. The other columns can be read.
func (t *Table) Column(ctx context.Context, name string) (*Column, error) {
	if why := t.refused[name]; why != "" {
		return nil, fmt.Errorf("table: %s: column %q: %w", t.key, name, faults.Unsupportedf("%s", why))
	}
	i, ok := t.byName[name]
	if !ok {
		return nil, fmt.Errorf("table: %s: column %q: %w", t.key, name, errs.ErrNotExist)
	}
	c := &Column{t: t, info: t.columns[i], rows: t.rows}
	if err := c.open(ctx, t); err != nil {
		c.Close()
		return nil, fmt.Errorf("table: %s: column %q: %w", t.key, name, err)
	}
	return c, nil
}

// Close closes the files of the column. It does not wait: reads in progress succeed or return fs.ErrClosed. Later reads
// of rows return fs.ErrClosed, also those of Array, Text and Objects. Other columns are not affected, even if they were
// opened with the same name. A second Close does nothing.
//
// Closing the store closes the files, too. Close is for tables with very many columns: in a directory, an open column
// has up to three open files, and the operating system limits their number.
func (c *Column) Close() error {
	var first error
	for _, a := range []*ndarray.Array{c.array, c.text, c.mask} {
		if a != nil {
			first = cmp.Or(first, a.Close())
		}
	}
	if c.items != nil {
		first = cmp.Or(first, c.items.Close())
	}
	if c.dict != nil {
		first = cmp.Or(first, c.dict.items.Close())
	}
	if first != nil {
		return c.wrap(first)
	}
	return nil
}

// open opens the leaves of a column.
func (c *Column) open(ctx context.Context, t *Table) error {
	key := path.Join(t.key, "_cols") + "/" + columnPath(c.info.Name)
	c.key = key
	var err error
	switch c.info.Kind {
	case "vlstring", "vlbytes", "object", "list", "struct":
		return c.openItems(ctx, t, key)
	case "utf8":
		if c.array, err = t.openColumnArray(ctx, key, c.rows.Stored+1); err != nil {
			return err
		}
		if c.text, err = t.openColumnArray(ctx, key+".utf8", 0); err != nil {
			return fmt.Errorf("text: %w", err)
		}
		err = c.checkType(c.text, meta.DType{Kind: 'u', Size: 1}, 1)
	case "dictionary":
		if c.dict, err = openDictionary(ctx, t, key); err != nil {
			return fmt.Errorf("categories: %w", err)
		}
		fallthrough
	default:
		c.array, err = t.openColumnArray(ctx, key, c.rows.Stored)
	}
	if err != nil {
		return err
	}
	if err := c.checkArray(); err != nil {
		return err
	}
	return c.openNulls(ctx, t, key)
}

// checkArray compares the array of a column with the schema.
func (c *Column) checkArray() error {
	want := fixedTypes()[c.info.Kind]
	dims := 1
	switch c.info.Kind {
	case "utf8", "timestamp":
		want = meta.DType{Kind: 'i', Size: 8}
	case "dictionary":
		want = meta.DType{Kind: 'i', Size: 4}
	case "bool":
		if c.array.DType().Kind == 'u' { // with a value for null
			want.Kind = 'u'
		}
	case "ndarray":
		d, err := meta.ParseDType(c.info.DType)
		if err != nil {
			return err
		}
		if !slices.Equal(c.array.Shape()[1:], c.info.Shape) {
			return faults.Corruptf("items of shape %v, but the schema says %v", c.array.Shape()[1:], c.info.Shape)
		}
		want, dims = d, 1+len(c.info.Shape)
	}
	return c.checkType(c.array, want, dims)
}

// checkType compares the dtype and the number of dimensions of an array with the required ones.
func (c *Column) checkType(a *ndarray.Array, want meta.DType, dims int) error {
	d := a.DType()
	if d.Kind != want.Kind || want.Size > 0 && d.Size != want.Size || len(a.Shape()) != dims {
		return faults.Corruptf("array of dtype %s and shape %v for a column of kind %s", d, a.Shape(), c.info.Kind)
	}
	return nil
}

// openItems opens a column whose values have any size.
func (c *Column) openItems(ctx context.Context, t *Table, key string) error {
	f, err := t.s.Frame(ctx, key)
	if err != nil {
		return err
	}
	if c.items, err = objects.New(ctx, f); err != nil {
		f.Close()
		return err
	}
	if n := c.items.Len(); n < c.rows.Stored {
		return faults.Corruptf("%d values for %d rows", n, c.rows.Stored)
	}
	return nil
}

// Info describes the column. The caller may change the result.
func (c *Column) Info() ColumnInfo { return c.info.clone() }

// Array returns the array of a column of numbers, booleans, fixed strings, timestamps or arrays, and that of the codes
// of a dictionary. It may have more rows than the table: the deleted ones. It is nil for all other columns.
func (c *Column) Array() *ndarray.Array {
	if c.info.Kind == "utf8" {
		return nil
	}
	return c.array
}

// Text returns the arrays of a column of kind utf8, and nil for all other columns: text holds the bytes of all stored
// rows, and the text of stored row i is text[ends[i]:ends[i+1]]. ends is as stored: it may not be ascending, or refer
// to bytes outside text.
func (c *Column) Text() (ends, text *ndarray.Array) {
	if c.info.Kind != "utf8" {
		return nil, nil
	}
	return c.array, c.text
}

// Objects returns the values of a column of kind vlstring, vlbytes, object, list or struct, one for each stored row,
// and nil for all other columns. The column owns it.
func (c *Column) Objects() *objects.Array { return c.items }

// Stored returns where the rows start to stop-1 are stored, in order: ranges from, to of stored rows, without the
// deleted rows between them. Without deleted rows it yields one range, and if a row does not exist none. The ranges
// refer to the results of Array, Text and Objects.
func (c *Column) Stored(start, stop int64) iter.Seq2[int64, int64] {
	if start < 0 || stop > c.rows.Live {
		start, stop = 0, 0
	}
	return c.rows.Runs(start, stop)
}

// dictionary has the categories of a column. They are read when they are first used.
type dictionary struct {
	items  *objects.Array
	values atomic.Pointer[[]string] // nil if they were not read
}

// openDictionary opens the categories of the column below a key.
func openDictionary(ctx context.Context, t *Table, key string) (*dictionary, error) {
	f, err := t.s.Frame(ctx, key+"_dict")
	if err != nil {
		return nil, err
	}
	o, err := objects.New(ctx, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &dictionary{items: o}, nil
}

// categories returns the categories. The caller must not change them. Calls at the same time may read them twice.
func (d *dictionary) categories(ctx context.Context) ([]string, error) {
	if values := d.values.Load(); values != nil {
		return *values, nil
	}
	f := d.items.Frame()
	m := memory{ctx: ctx, f: f}
	values := []string{}
	err := d.items.Each(ctx, 0, d.items.Len(), func(_ int64, raw []byte) error {
		if err := m.add(textHeader + int64(len(raw))); err != nil {
			return err
		}
		var s string
		if err := frames.UnmarshalMeta(f, raw, &s); err != nil {
			return err
		}
		values = append(values, s)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("categories: %w", err)
	}
	d.values.Store(&values)
	return values, nil
}

// Categories returns the values of a dictionary column, in the order of their codes, and nil for all other columns. The
// first call that uses them reads them, and the column keeps them. The caller may change the result. The error wraps
// ErrTooLarge if they take more memory than their stored bytes or MaxBytes allow, or is an error of reading.
func (c *Column) Categories(ctx context.Context) ([]string, error) {
	if c.dict == nil {
		return nil, nil
	}
	values, err := c.dict.categories(ctx)
	if err != nil {
		return nil, c.wrap(err)
	}
	return slices.Clone(values), nil
}

// Frames returns the frames that columns of a table are read from, each once, for frame.CheckAllocs. The columns own
// them.
func Frames(columns ...*Column) []*frame.Frame {
	var list []*frame.Frame
	seen := map[string]bool{}
	add := func(key string, f *frame.Frame) {
		if !seen[key] {
			seen[key], list = true, append(list, f)
		}
	}
	for _, c := range columns {
		add(c.key, c.valuesFrame())
		if c.text != nil {
			add(c.key+".utf8", c.text.Frame())
		}
		if c.mask != nil {
			add(c.key+".notnull", c.mask.Frame())
		}
		if c.dict != nil {
			add(c.key+"_dict", c.dict.items.Frame())
		}
	}
	return list
}
