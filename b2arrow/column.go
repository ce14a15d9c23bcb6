package b2arrow

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/ndarray"
)

// Column returns the rows start to stop-1 of a column, in memory of mem, or of memory.DefaultAllocator if mem is nil.
// The caller must release the result. See Schema for its type.
//
// The error wraps ndarray.ErrBounds if a row does not exist, ndarray.ErrTooLarge if the rows take more memory than the
// stored bytes justify or than an array of the type can have, ndarray.ErrCorrupt, errors.ErrUnsupported, or is an error
// of reading.
func Column(ctx context.Context, c *table.Column, start, stop int64, mem memory.Allocator) (arrow.Array, error) {
	mem = allocator(mem)
	r, err := newColumn(c)
	if err != nil {
		return nil, err
	}
	defer r.release()
	return r.read(ctx, mem, start, stop)
}

// column reads a column.
type column struct {
	c     *table.Column
	info  table.ColumnInfo
	field arrow.Field
	dict  arrow.ArrayData // the categories of a dictionary; nil if they were not read
	kept  int64           // bytes of the categories that c keeps
	last  lastBlock       // of Arrow streams
}

// newColumn returns a reader of c. The caller must release it.
func newColumn(c *table.Column) (*column, error) {
	r := &column{c: c, info: c.Info()}
	var err error
	if r.field, err = fieldOf(&r.info, 0); err != nil {
		return nil, r.wrap(err)
	}
	if o := c.Objects(); o != nil {
		if _, ok := o.ArrowSchema(); ok {
			if r.field.Type, err = streamType(o); err != nil {
				return nil, r.wrap(err)
			}
		}
	}
	return r, nil
}

func (r *column) release() {
	r.last.release()
	if r.dict != nil {
		r.dict.Release()
	}
}

// wrap adds the name of the column to an error.
func (r *column) wrap(err error) error {
	return fmt.Errorf("b2arrow: column %q: %w", r.info.Name, err)
}

// read returns the rows start to stop-1.
func (r *column) read(ctx context.Context, mem memory.Allocator, start, stop int64) (arrow.Array, error) {
	if start < 0 || stop < start {
		return nil, r.wrap(fmt.Errorf("rows %d to %d: %w", start, stop, ndarray.ErrBounds))
	}
	if o := r.c.Objects(); o != nil {
		// Nulls is not needed: nil is null. If the last row exists, all do; without rows, the one before them must.
		if stop > 0 && length(r.c.Stored(stop-1, stop)) == 0 {
			return nil, r.wrap(fmt.Errorf("rows %d to %d: %w", start, stop, ndarray.ErrBounds))
		}
		var a arrow.Array
		var err error
		if _, ok := o.ArrowSchema(); ok {
			a, err = readStreams(ctx, mem, o, r.field.Type, r.c.Stored(start, stop), &r.last)
		} else {
			a, err = readObjects(ctx, mem, o, r.field.Type, &r.info, r.c.Stored(start, stop))
		}
		if err != nil {
			return nil, r.wrap(err)
		}
		return a, nil
	}
	nulls, err := r.c.Nulls(ctx, start, stop) // checks the rows, too
	if err != nil {
		return nil, err
	}
	var d arrow.ArrayData
	switch r.info.Kind {
	case "utf8":
		d, err = r.readText(ctx, mem, start, stop, nulls)
	case "dictionary":
		d, err = r.readCodes(ctx, mem, start, stop, nulls)
	case "ndarray":
		d, err = r.readLists(ctx, mem, start, stop, nulls)
	default:
		d, err = r.items(start, stop, r.field.Type, 1, nulls).data(ctx, mem, nulls)
	}
	if err != nil {
		return nil, r.wrap(err)
	}
	return makeArray(d), nil
}

// length returns the number of rows in ranges.
func length(ranges func(yield func(from, to int64) bool)) int64 {
	n := int64(0)
	for from, to := range ranges {
		n += to - from
	}
	return n
}

// items returns the values of rows of a column with an array, per values for each row.
func (r *column) items(start, stop int64, t arrow.DataType, per int, nulls []bool) *items {
	a := r.c.Array()
	d := a.DType()
	return &items{typ: t, dtype: d, n: mul(stop-start, int64(per)), check: a.Frame().CheckAlloc, row: start, per: per, nulls: nulls,
		read: func(ctx context.Context, dst []byte) error {
			return readRows(ctx, a, r.c.Stored(start, stop), int64(per)*int64(d.Size), dst)
		}}
}

// readLists reads a column of arrays.
func (r *column) readLists(ctx context.Context, mem memory.Allocator, start, stop int64, nulls []bool) (arrow.ArrayData, error) {
	list := r.field.Type.(*arrow.FixedSizeListType)
	elements, err := r.items(start, stop, list.Elem(), int(list.Len()), nulls).data(ctx, mem, nil)
	if err != nil {
		return nil, err
	}
	validity, count := validityOf(mem, nulls)
	return newData(list, int(stop-start), validity, count, nil, elements), nil
}

// readCategories sets dict.
func (r *column) readCategories(ctx context.Context, mem memory.Allocator) error {
	categories, err := r.c.Categories(ctx)
	if err != nil {
		return err
	}
	b := array.NewStringBuilder(mem)
	defer b.Release()
	length := 0
	for _, s := range categories {
		if length += len(s); length > maxText {
			return tooLarge("more than 2 GiB of categories")
		}
		if !utf8.ValidString(s) {
			return corrupt("category %q is not UTF-8", s)
		}
		b.Append(s)
	}
	const header = 16 // of a string
	r.kept = int64(length) + header*int64(len(categories))
	values := b.NewArray()
	defer values.Release()
	r.dict = values.Data()
	r.dict.Retain()
	return nil
}

// readCodes reads a dictionary column. The code of a null becomes 0.
func (r *column) readCodes(ctx context.Context, mem memory.Allocator, start, stop int64, nulls []bool) (arrow.ArrayData, error) {
	if r.dict == nil {
		if err := r.readCategories(ctx, mem); err != nil {
			return nil, err
		}
	}
	b, err := r.items(start, stop, arrow.PrimitiveTypes.Int32, 1, nulls).buffer(ctx, mem)
	if err != nil {
		return nil, err
	}
	codes := arrow.Int32Traits.CastFromBytes(b.Bytes())
	for i, code := range codes {
		switch {
		case nulls != nil && nulls[i]:
			codes[i] = 0
		case code < 0 || int(code) >= r.dict.Len():
			b.Release()
			return nil, corrupt("code %d in row %d, but there are %d categories", code, start+int64(i), r.dict.Len())
		}
	}
	validity, count := validityOf(mem, nulls)
	defer b.Release()
	if validity != nil {
		defer validity.Release()
	}
	return array.NewDataWithDictionary(r.field.Type, len(codes), []*memory.Buffer{validity, b}, count, 0, r.dict.(*array.Data)), nil
}
