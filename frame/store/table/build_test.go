package table

import (
	"context"
	"testing"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/meta"
)

// builder makes a table in a directory store.
type builder struct{ *tabletest.Builder }

// build returns the builder of a table with columns in JSON and marks of the rows that are not deleted.
func build(t testing.TB, columns string, live []bool) *builder {
	t.Helper()
	return &builder{tabletest.New(t, columns, live)}
}

// array writes an array.
func array[T any](b *builder, key string, shape []int64, data []T) {
	b.T.Helper()
	tabletest.Write(b.Builder, key, shape, data)
}

// fixed writes an array of a dtype with one dimension.
func (b *builder) fixed(key, dtype string, data []byte) {
	b.T.Helper()
	d, err := meta.ParseDType(dtype)
	if err != nil {
		b.T.Fatal(err)
	}
	b.Fixed(key, dtype, []int64{int64(len(data) / d.Size)}, data)
}

// open opens the table.
func (b *builder) open() (*Table, error) {
	s, err := store.Open(context.Background(), b.Dir, nil)
	if err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(func() { s.Close() })
	return Open(context.Background(), s, "/")
}

// column opens a column of the table.
func (b *builder) column(name string) (*Column, error) {
	t, err := b.open()
	if err != nil {
		b.T.Fatal(err)
	}
	return t.Column(context.Background(), name)
}
