// Package tabletest makes tables for tests.
package tabletest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// Builder makes a table in a directory store.
type Builder struct {
	T   testing.TB
	Dir string // of the store
}

// New returns the builder of a table with columns in JSON and marks of the rows that are not deleted.
func New(t testing.TB, columns string, live []bool) *Builder {
	t.Helper()
	b := &Builder{t, t.TempDir()}
	b.Frame("embed.b2e", []meta.Layer{b.Layer("b2tree", map[string]any{"version": 1})}, nil, nil)
	b.Schema(fmt.Sprintf(`{"version": 3, "columns": [%s]}`, columns))
	Write(b, "_valid_rows", []int64{int64(len(live))}, live)
	return b
}

// AllLive returns n marks of rows that are not deleted.
func AllLive(n int) []bool {
	live := make([]bool, n)
	for i := range live {
		live[i] = true
	}
	return live
}

// Schema writes the schema.
func (b *Builder) Schema(text string) {
	b.T.Helper()
	b.Frame("_meta.b2f", nil, []meta.Layer{b.Layer("kind", "ctable"), b.Layer("version", 1), b.Layer("schema", text)}, nil)
}

// Layer returns a metalayer with a value.
func (b *Builder) Layer(name string, v any) meta.Layer {
	b.T.Helper()
	content, err := meta.Marshal(v)
	if err != nil {
		b.T.Fatal(err)
	}
	return meta.Layer{Name: name, Content: content}
}

// File returns the path of a file, whose directory it makes.
func (b *Builder) File(name string) string {
	b.T.Helper()
	file := filepath.Join(b.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		b.T.Fatal(err)
	}
	return file
}

// Frame writes a frame with chunks, each of which has several blocks.
func (b *Builder) Frame(name string, fixed, variable []meta.Layer, chunks [][][]byte) {
	b.T.Helper()
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
		b.T.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	_, err = f.Save(ctx, &out)
	if err == nil {
		err = os.WriteFile(b.File(name), out.Bytes(), 0o666)
	}
	if err != nil {
		b.T.Fatal(err)
	}
}

// Items writes the object array of a column, each batch with one block.
func (b *Builder) Items(key string, batches ...[]any) {
	b.T.Helper()
	var chunks [][][]byte
	var lengths []int
	for _, batch := range batches {
		content, err := meta.Marshal(batch)
		if err != nil {
			b.T.Fatal(err)
		}
		chunks, lengths = append(chunks, [][]byte{content}), append(lengths, len(batch))
	}
	b.Batches(key, map[string]any{"version": 1, "serializer": "msgpack", "items_per_block": nil}, lengths, chunks)
}

// Batches writes a batch array.
func (b *Builder) Batches(key string, layer map[string]any, lengths []int, chunks [][][]byte) {
	b.T.Helper()
	b.Frame(key+".b2b", []meta.Layer{b.Layer("batcharray", layer)},
		[]meta.Layer{b.Layer("_batch_array_metadata", map[string]any{"batch_lengths": lengths})}, chunks)
}

// Write writes an array.
func Write[T any](b *Builder, key string, shape []int64, data []T) {
	b.T.Helper()
	a, err := ndarray.Create(context.Background(), b.File(key+".b2nd"), shape, data, nil)
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		b.T.Fatal(err)
	}
}

// Fixed writes an array of a dtype.
func (b *Builder) Fixed(key, dtype string, shape []int64, data []byte) {
	b.T.Helper()
	a, err := ndarray.CreateBytes(context.Background(), b.File(key+".b2nd"), shape, dtype, data, nil)
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		b.T.Fatal(err)
	}
}
