package b2arrow

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Bytes that a reader decodes at once and hands out in batches: of all columns together, and of a column.
const (
	mostAhead      = 64 << 20
	mostColumn     = 8 << 20
	mostColumnRows = 1 << 22
)

// An ahead reads the rows of a column for several batches at once. Reads of single batches would decode the blocks at
// their ends twice, and new memory for small batches costs more time than decoding.
type ahead struct {
	*column
	size, rows int64       // rows of a batch, and rows that are read at once, a multiple
	from, to   int64       // the rows of held
	held       arrow.Array // nil if there is none
}

// newAhead returns a reader of batches of size rows. budget is the number of bytes that may be read at once.
func newAhead(c *column, size, budget int64) *ahead {
	a := &ahead{column: c, size: size, rows: size}
	width := c.width()
	if width == 0 {
		return a
	}
	most := min(budget/width, mostColumnRows)
	if most < 2*size {
		return a
	}
	a.rows = most / size * size
	// Reads that end with a block decode no block twice.
	block := max(c.c.Array().Blocks()[0], 1)
	for rows := a.rows; rows > a.rows/2; rows -= size {
		if rows%block == 0 {
			a.rows = rows
			break
		}
	}
	return a
}

// width returns the number of bytes of a row, or 0 if the rows differ.
func (r *column) width() int64 {
	if r.c.Objects() != nil || r.info.Kind == "utf8" {
		return 0
	}
	a := r.c.Array()
	width := int64(a.DType().Size)
	for _, n := range a.Shape()[1:] {
		width = mul(width, n)
	}
	return width
}

// batch returns the rows start to stop-1. limit is the number of rows of the table.
func (a *ahead) batch(ctx context.Context, mem memory.Allocator, start, stop, limit int64) (arrow.Array, error) {
	if a.held == nil || start < a.from || stop > a.to {
		a.drop()
		to := min(start+a.rows, limit)
		if to <= stop {
			return a.read(ctx, mem, start, stop)
		}
		held, err := a.read(ctx, mem, start, to)
		if err != nil {
			a.rows = a.size // the fault may be after this batch
			return a.read(ctx, mem, start, stop)
		}
		a.held, a.from, a.to = held, start, to
	}
	part := array.NewSlice(a.held, start-a.from, stop-a.from)
	if stop == a.to {
		a.drop()
	}
	return part, nil
}

// count counts the memory of a batch of the column, and of what the column keeps for the next one. Rows that are read
// ahead have a limit of their own.
func (a *ahead) count(t *tally, batch arrow.Array) {
	t.n += a.kept
	if a.last.a != nil {
		t.add(a.last.a.Data())
	}
	if a.rows == a.size {
		t.add(batch.Data())
		return
	}
	t.n += mul(int64(batch.Len()), a.width())
	if a.dict != nil {
		t.add(a.dict)
	}
}

// drop releases the rows that are held.
func (a *ahead) drop() {
	if a.held != nil {
		a.held.Release()
		a.held = nil
	}
}

// release releases the column and the rows that are held.
func (a *ahead) release() {
	a.drop()
	a.column.release()
}
