package b2arrow

import (
	"testing"

	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/tabletest"
)

// builder makes a table in a directory store.
type builder struct{ *tabletest.Builder }

// build returns the builder of a table with columns in JSON and marks of the rows that are not deleted.
func build(t testing.TB, columns string, live []bool) *builder {
	t.Helper()
	return &builder{tabletest.New(t, columns, live)}
}

// write writes an array.
func write[T any](b *builder, key string, shape []int64, data []T) {
	b.T.Helper()
	tabletest.Write(b.Builder, key, shape, data)
}

// open opens the table.
func (b *builder) open() *table.Table {
	b.T.Helper()
	return openTable(b.T, b.Dir)
}
