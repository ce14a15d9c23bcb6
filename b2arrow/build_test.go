package b2arrow

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/table"
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
	schema := fmt.Sprintf(`{"version": 3, "columns": [%s]}`, columns)
	b.frame("_meta.b2f", nil, []meta.Layer{b.layer("kind", "ctable"), b.layer("version", 1), b.layer("schema", schema)}, nil)
	write(b, "_valid_rows", []int64{int64(len(live))}, live)
	return b
}

// allLive returns n marks of rows that are not deleted.
func allLive(n int) []bool {
	live := make([]bool, n)
	for i := range live {
		live[i] = true
	}
	return live
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

// frame writes a frame with chunks, each of which has several blocks.
func (b *builder) frame(name string, fixed, variable []meta.Layer, chunks [][][]byte) {
	b.t.Helper()
	ctx := context.Background()
	f, err := frame.CreateFunc(ctx, "", func(batch *frame.Batch) error {
		for _, blocks := range chunks {
			if err := batch.AppendBlocks(ctx, blocks); err != nil {
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

// items writes an object array, each batch with one block.
func (b *builder) items(key string, batches ...[]any) {
	b.t.Helper()
	var chunks [][][]byte
	var lengths []int
	for _, batch := range batches {
		content, err := meta.Marshal(batch)
		if err != nil {
			b.t.Fatal(err)
		}
		chunks, lengths = append(chunks, [][]byte{content}), append(lengths, len(batch))
	}
	b.batches(key, map[string]any{"version": 1, "serializer": "msgpack", "items_per_block": nil}, lengths, chunks)
}

// batches writes a batch array.
func (b *builder) batches(key string, layer map[string]any, lengths []int, chunks [][][]byte) {
	b.t.Helper()
	b.frame(key+".b2b", []meta.Layer{b.layer("batcharray", layer)},
		[]meta.Layer{b.layer("_batch_array_metadata", map[string]any{"batch_lengths": lengths})}, chunks)
}

// write writes an array.
func write[T any](b *builder, key string, shape []int64, data []T) {
	b.t.Helper()
	a, err := ndarray.Create(context.Background(), b.file(key+".b2nd"), shape, data, nil)
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// fixed writes an array of a dtype.
func (b *builder) fixed(key, dtype string, shape []int64, data []byte) {
	b.t.Helper()
	a, err := ndarray.CreateBytes(context.Background(), b.file(key+".b2nd"), shape, dtype, data, nil)
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// open opens the table.
func (b *builder) open() *table.Table {
	b.t.Helper()
	return openTable(b.t, b.dir)
}
