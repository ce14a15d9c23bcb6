package b2arrow

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/ndarray"
)

// defaultRows is the default of Options.Rows.
const defaultRows = 1 << 16

// Options are the options for reading a table. A nil *Options has the defaults.
type Options struct {
	// Columns are the names of the columns to read, in this order. nil = all, in the order of the schema.
	Columns []string
	// Rows is the number of rows of a batch; the last one may have fewer. 0 = 65536, or fewer if the columns of a batch
	// together take more memory than their stored bytes or frame.OpenOptions.MaxBytes allow.
	Rows int64
	// Structs joins nested columns to structures: "trip.start" and "trip.end" become the fields start and end of a
	// structure trip, at the position of the first of them. A structure is never null, but its fields may be.
	Structs bool
	// Allocator allocates the memory of batches. nil = memory.DefaultAllocator.
	Allocator memory.Allocator
}

// Schema returns the schema of the batches of a table. It opens the columns, because the type of lists in Arrow streams
// is stored with them. A dot in the name of a column separates nested names, as in python-blosc2. All fields are
// nullable. See the package comment for the types.
//
// The error wraps fs.ErrNotExist for a column that does not exist, ndarray.ErrParam for invalid options, and
// errors.ErrUnsupported for a column without an Arrow type, or with Options.Structs for a column that has the name of a
// structure.
func Schema(ctx context.Context, t *table.Table, o *Options) (*arrow.Schema, error) {
	r, err := newReader(ctx, t, o)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.schema, nil
}

// Batches returns all rows of a table in batches. A batch is released after its iteration; call Retain to keep it.
// Values of fixed size are decoded for several batches at once, up to 8 MiB of a column and 64 MiB of all; such batches
// share memory. An error, which is one of Schema or Column, ends the iteration.
func Batches(ctx context.Context, t *table.Table, o *Options) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		r, err := newReader(ctx, t, o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Release()
		for r.Next() {
			if !yield(r.RecordBatch(), nil) {
				return
			}
		}
		if r.Err() != nil {
			yield(nil, r.Err())
		}
	}
}

// NewReader returns a reader of all rows of a table in batches, as Batches does. Its methods use ctx. The caller must
// release it, which closes its columns, and must not use it concurrently.
func NewReader(ctx context.Context, t *table.Table, o *Options) (array.RecordReader, error) {
	r, err := newReader(ctx, t, o)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// reader is an array.RecordReader of a table.
type reader struct {
	refs    atomic.Int64
	ctx     context.Context // Next has none
	mem     memory.Allocator
	schema  *arrow.Schema
	columns []*ahead
	opened  []*table.Column
	budget  budget
	nest    *nest // nil if the columns are the fields
	rows    int64 // of the table
	size    int64 // rows of a batch
	fewer   bool  // size may become less
	most    int64 // bytes of a column to read ahead
	next    int64 // first row of the next batch
	batch   arrow.RecordBatch
	err     error
}

// newReader opens the columns of a table.
func newReader(ctx context.Context, t *table.Table, o *Options) (*reader, error) {
	if o == nil {
		o = &Options{}
	}
	r := &reader{ctx: ctx, rows: t.Rows(), size: o.Rows, mem: allocator(o.Allocator)}
	r.refs.Add(1)
	if r.size < 0 {
		return nil, fmt.Errorf("b2arrow: option Rows is %d, want at least 0: %w", r.size, ndarray.ErrParam)
	}
	if r.size == 0 {
		r.size, r.fewer = defaultRows, true
	}
	names := o.Columns
	if names == nil {
		for _, c := range t.Columns() {
			names = append(names, c.Name)
		}
	}
	if err := r.open(ctx, t, names); err != nil {
		r.Release()
		return nil, err
	}
	r.budget.frames = table.Frames(r.opened...)
	r.most = min(mostColumn, r.budget.largest(mostAhead)/int64(max(len(r.opened), 1)))
	var fields []arrow.Field
	for _, c := range r.opened {
		column, err := newColumn(c)
		if err != nil {
			r.Release()
			return nil, err
		}
		r.columns, fields = append(r.columns, newAhead(column, r.size, r.most)), append(fields, column.field)
	}
	if o.Structs {
		var err error
		if r.nest, err = nestColumns(fields); err != nil {
			r.Release()
			return nil, err
		}
		fields = r.nest.setTypes()
	}
	r.schema = arrow.NewSchema(fields, nil)
	return r, nil
}

// open opens columns of a table.
func (r *reader) open(ctx context.Context, t *table.Table, names []string) error {
	for _, name := range names {
		c, err := t.Column(ctx, name)
		if err != nil {
			return err
		}
		r.opened = append(r.opened, c)
	}
	return nil
}

// Retain adds a reference.
func (r *reader) Retain() { r.refs.Add(1) }

// Release removes a reference. The last one frees the memory and closes the columns.
func (r *reader) Release() {
	if r.refs.Add(-1) > 0 {
		return
	}
	r.drop()
	for _, c := range r.columns {
		c.release()
	}
	for _, c := range r.opened {
		c.Close()
	}
	r.columns, r.opened, r.next = nil, nil, r.rows
}

// drop releases the batch.
func (r *reader) drop() {
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
}

// Schema returns the schema.
func (r *reader) Schema() *arrow.Schema { return r.schema }

// Next reads the next batch and releases the one before.
func (r *reader) Next() bool {
	r.drop()
	if r.err != nil || r.next >= r.rows {
		return false
	}
	stop := r.next + min(r.size, r.rows-r.next)
	r.batch, r.err = r.read(r.ctx, r.next, stop)
	for r.fewer && stop-r.next > 1 && errors.Is(r.err, errBatch) {
		r.shrink(stop - r.next)
		stop = r.next + r.size
		r.batch, r.err = r.read(r.ctx, r.next, stop)
	}
	r.next = stop
	return r.err == nil
}

// shrink halves the number of rows of a batch until it is less than n, which must be more than 1.
func (r *reader) shrink(n int64) {
	for r.size >= n {
		r.size /= 2
	}
	for i, c := range r.columns {
		c.drop()
		r.columns[i] = newAhead(c.column, r.size, r.most)
	}
}

// RecordBatch returns the batch, which is valid until the next call of Next.
func (r *reader) RecordBatch() arrow.RecordBatch { return r.batch }

// Record is RecordBatch. The interface requires it.
func (r *reader) Record() arrow.RecordBatch { return r.batch }

// Err returns the error that ended the batches, or nil.
func (r *reader) Err() error { return r.err }

// read returns the rows start to stop-1.
func (r *reader) read(ctx context.Context, start, stop int64) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, 0, len(r.columns))
	defer func() { releaseAll(columns) }()
	used := tally{seen: map[*memory.Buffer]bool{}}
	for _, c := range r.columns {
		a, err := c.batch(ctx, r.mem, start, stop, r.rows)
		if err != nil {
			return nil, err
		}
		columns = append(columns, a)
		c.count(&used, a)
		if err := r.budget.check(used.n); err != nil {
			return nil, err
		}
	}
	if r.nest == nil {
		return array.NewRecordBatch(r.schema, columns, stop-start), nil
	}
	joined := r.nest.arrays(columns, int(stop-start))
	defer releaseAll(joined)
	return array.NewRecordBatch(r.schema, joined, stop-start), nil
}
