package table

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/ndarray"
)

// A Table is an open table of python-blosc2 (CTable): columns of the same number of rows. Rows that were deleted are
// left out and not counted. It is safe for concurrent use and valid until the store is closed. Errors of reading are
// those of packages store, objects and ndarray.
type Table struct {
	s       *store.Store
	key     string
	columns []ColumnInfo
	byName  map[string]int    // position of each column
	refused map[string]string // columns that cannot be read, with the reason
	rows    *rows.Set
}

// Open opens the table below a key of a store, "/" for a store that is a table. It reads the schema and the list of
// deleted rows, but no column. The error wraps fs.ErrNotExist if the key does not exist, and ErrFormat if it is not a
// table.
func Open(ctx context.Context, s *store.Store, key string) (*Table, error) {
	if !s.Has(key) { // it may have an element "..", which path.Clean removes
		return nil, fmt.Errorf("table: %s: %w", key, errs.ErrNotExist)
	}
	t := &Table{s: s, key: path.Clean("/" + key)}
	if err := t.open(ctx); err != nil {
		return nil, fmt.Errorf("table: %s: %w", t.key, err)
	}
	return t, nil
}

func (t *Table) open(ctx context.Context) error {
	f, err := t.s.Frame(ctx, path.Join(t.key, "_meta"))
	if errors.Is(err, fs.ErrNotExist) {
		return faults.Formatf("not a table")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if t.columns, t.refused, err = readSchema(f); err != nil {
		return err
	}
	t.byName = make(map[string]int, len(t.columns))
	for i := range t.columns {
		t.byName[t.columns[i].Name] = i
	}
	marks, err := t.s.Frame(ctx, path.Join(t.key, "_valid_rows"))
	if err != nil {
		return err
	}
	defer marks.Close()
	a, err := ndarray.OpenFrame(marks)
	if err == nil {
		t.rows, err = rows.Read(ctx, a)
	}
	if err != nil {
		return fmt.Errorf("deleted rows: %w", err)
	}
	return nil
}

// readSchema returns what parseSchema does for the table that a frame describes.
func readSchema(f *frame.Frame) ([]ColumnInfo, map[string]string, error) {
	if kind, err := text(f, "kind"); err != nil || string(kind) != "ctable" {
		return nil, nil, faults.Formatf("not a table: its kind is %q (%v)", faults.Clip(string(kind)), err)
	}
	schema, err := text(f, "schema")
	if err != nil {
		return nil, nil, err
	}
	if err := f.CheckAlloc(jsonMemory(schema)); err != nil {
		return nil, nil, fmt.Errorf("schema of %d bytes: %w", len(schema), err)
	}
	return parseSchema(schema)
}

// text returns a variable-length metalayer that holds text.
func text(f *frame.Frame, name string) ([]byte, error) {
	b, ok, err := frames.VLMeta(f, name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, faults.Corruptf("no metalayer %s", name)
	}
	var v any
	if err := frames.UnmarshalMeta(f, b, &v); err != nil {
		return nil, fmt.Errorf("metalayer %s: %w", name, err)
	}
	switch v := v.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	}
	return nil, faults.Corruptf("metalayer %s: not text", name)
}

// Rows returns the number of rows.
func (t *Table) Rows() int64 { return t.rows.Live }

// Columns describes the stored columns, in the order of the schema, with those that Column refuses because they are
// stale. Computed columns are left out. The caller may change the result.
func (t *Table) Columns() []ColumnInfo { return cloneAll(t.columns) }

// Attrs returns the names of the attributes of the table: see Store.Attrs.
func (t *Table) Attrs(ctx context.Context) ([]string, error) { return t.s.Attrs(ctx, t.key) }

// Attr decodes an attribute of the table: see Store.Attr.
func (t *Table) Attr(ctx context.Context, name string, v any) error {
	return t.s.Attr(ctx, t.key, name, v)
}

// openColumnArray opens an array of a column, which must have at least as many rows as the table.
func (t *Table) openColumnArray(ctx context.Context, key string, n int64) (*ndarray.Array, error) {
	f, err := t.s.Frame(ctx, key)
	if err != nil {
		return nil, err
	}
	a, err := ndarray.OpenFrame(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	if shape := a.Shape(); len(shape) == 0 || shape[0] < n {
		a.Close()
		return nil, faults.Corruptf("array of shape %v for %d rows", shape, n)
	}
	return a, nil
}
