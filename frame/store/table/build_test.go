package table

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// builder makes a table in a directory store.
type builder struct {
	t   testing.TB
	dir string
}

// build returns the builder of a table with columns in JSON and marks of the rows that are not deleted.
func build(t testing.TB, columns string, live []bool) *builder {
	t.Helper()
	b := &builder{t, t.TempDir()}
	b.frame("embed.b2e", []meta.Layer{b.layer("b2tree", map[string]any{"version": 1})}, nil, nil)
	b.schema(fmt.Sprintf(`{"version": 3, "columns": [%s]}`, columns))
	array(b, "_valid_rows", []int64{int64(len(live))}, live)
	return b
}

// schema writes the schema.
func (b *builder) schema(text string) {
	b.t.Helper()
	b.frame("_meta.b2f", nil, []meta.Layer{b.layer("kind", "ctable"), b.layer("version", 1), b.layer("schema", text)}, nil)
}

// layer returns a metalayer with a value.
func (b *builder) layer(name string, v any) meta.Layer {
	b.t.Helper()
	content, err := meta.Marshal(v)
	if err != nil {
		b.t.Fatal(err)
	}
	return meta.Layer{Name: name, Content: content}
}

// file returns the path of a file, whose directory exists.
func (b *builder) file(name string) string {
	b.t.Helper()
	file := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		b.t.Fatal(err)
	}
	return file
}

// frame writes a frame with chunks.
func (b *builder) frame(name string, fixed, variable []meta.Layer, chunks [][]byte) {
	b.t.Helper()
	ctx := context.Background()
	f, err := frame.CreateFunc(ctx, "", func(batch *frame.Batch) error {
		for _, c := range chunks {
			if err := batch.AppendBlocks(ctx, [][]byte{c}); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{Meta: fixed, VLMeta: variable})
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	_, err = f.Save(ctx, &out)
	if err == nil {
		err = os.WriteFile(b.file(name), out.Bytes(), 0o666)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// items writes the object array of a column, each batch with one block.
func (b *builder) items(key string, batches ...[]any) {
	b.t.Helper()
	var chunks [][]byte
	var lengths []int
	for _, batch := range batches {
		content, err := meta.Marshal(batch)
		if err != nil {
			b.t.Fatal(err)
		}
		chunks, lengths = append(chunks, content), append(lengths, len(batch))
	}
	layer := b.layer("batcharray", map[string]any{"version": 1, "serializer": "msgpack", "items_per_block": nil})
	b.frame(key+".b2b", []meta.Layer{layer}, []meta.Layer{b.layer("_batch_array_metadata", map[string]any{"batch_lengths": lengths})}, chunks)
}

// array writes an array.
func array[T any](b *builder, key string, shape []int64, data []T) {
	b.t.Helper()
	a, err := ndarray.Create(context.Background(), b.file(key+".b2nd"), shape, data, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		b.t.Fatal(err)
	}
}

// open opens the table.
func (b *builder) open() (*Table, error) {
	s, err := store.Open(context.Background(), b.dir, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	return Open(context.Background(), s, "/")
}

// column opens a column of the table.
func (b *builder) column(name string) (*Column, error) {
	t, err := b.open()
	if err != nil {
		b.t.Fatal(err)
	}
	return t.Column(context.Background(), name)
}

// fixed writes an array of a dtype with one dimension.
func (b *builder) fixed(key, dtype string, data []byte) {
	b.t.Helper()
	d, err := meta.ParseDType(dtype)
	if err != nil {
		b.t.Fatal(err)
	}
	a, err := ndarray.CreateBytes(context.Background(), b.file(key+".b2nd"), []int64{int64(len(data) / d.Size)}, dtype, data, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		b.t.Fatal(err)
	}
}
