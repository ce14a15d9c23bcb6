// Command parquet writes a table of python-blosc2 as a Parquet file:
//
//	parquet trips.b2z trips.parquet
//	parquet trips.b2z trips.parquet fare tip
//
// With names, it writes only these columns. It does not replace a file, unless one appears while it runs. It holds
// 65,536 rows at a time, and at most 1,048,576 compressed rows, which become a row group. Columns that are computed on
// each read are left out, and a column that is stale is an error: name the others.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/goblosc/blosc2/b2arrow"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: parquet TABLE OUT [COLUMN ...]")
		os.Exit(2)
	}
	if err := convert(ctx, os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "parquet:", err)
		os.Exit(1)
	}
}

// convert writes columns of the table at a path to a new file, or all columns if there are no names. The file has a
// temporary name until it is complete. After an error it is removed. It replaces a file that appears during the call.
func convert(ctx context.Context, from, to string, columns []string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s already exists", to)
	}
	s, err := store.Open(ctx, from, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	t, err := table.Open(ctx, s, "/")
	if err != nil {
		return err
	}
	temp := to + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = write(ctx, f, t, columns)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// write writes columns of a table in Parquet.
func write(ctx context.Context, out io.Writer, t *table.Table, columns []string) error {
	o := &b2arrow.Options{}
	if len(columns) > 0 {
		o.Columns = columns
	}
	schema, err := b2arrow.Schema(ctx, t, o)
	if err != nil {
		return err
	}
	schema = withLists(schema)
	// A struct hides Close, which pqarrow would call.
	w, err := pqarrow.NewFileWriter(schema, struct{ io.Writer }{out},
		parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxRowGroupLength(1<<20)),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())) // for large_utf8, time zones and dictionaries
	if err != nil {
		return err
	}
	for batch, err := range b2arrow.Batches(ctx, t, o) {
		if err == nil {
			err = writeBatch(w, schema, batch)
		}
		if err != nil {
			w.Close()
			return err
		}
	}
	return w.Close()
}

// writeBatch writes a batch. The writer joins small batches to row groups.
func writeBatch(w *pqarrow.FileWriter, schema *arrow.Schema, batch arrow.RecordBatch) error {
	batch, err := convertLists(schema, batch)
	if err != nil {
		return err
	}
	defer batch.Release()
	return w.WriteBuffered(batch)
}
