package interop

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/meta"
)

// openObjects opens an array of objects in a file for editing, and returns it with its items.
func openObjects(t *testing.T, name string) (*objects.Array, []any) {
	t.Helper()
	f, err := frame.Edit(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := objects.New(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	var list []any
	for v, err := range o.Items(t.Context(), 0, o.Len()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return o, list
}

// itemsOfC returns the items that C-Blosc2 finds in an array of objects: those of each chunk.
func itemsOfC(c *ref.SChunk) (items []any, err error) {
	info, err := c.Info()
	if err != nil {
		return nil, err
	}
	_, batched := info.Metalayers["batcharray"]
	for i := range c.Len() {
		b, err := c.Content(i)
		if err != nil {
			return nil, err
		}
		for len(b) > 0 {
			// Blocks follow each other: each is a list.
			n := len(b)
			for ; n > 0; n-- {
				var v any
				if err := meta.Unmarshal(b[:n], &v); err != nil {
					continue
				}
				if list, ok := v.([]any); ok && batched {
					items = append(items, list...)
				} else {
					items = append(items, v)
				}
				break
			}
			if n == 0 {
				return nil, fmt.Errorf("chunk %d: no MessagePack", i)
			}
			b = b[n:]
		}
	}
	return items, nil
}

// TestAppendObjects appends to arrays of objects of python-blosc2, and C-Blosc2 reads all items. Then C-Blosc2
// appends a chunk, as python-blosc2 does.
func TestAppendObjects(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(checkout, "testdata")
	for _, name := range []string{"stores/objects.b2b", "stores/batches.b2b", "tables/t39_list.b2d/_cols/c0_list.b2b",
		"tables/t35_vlbytes.b2d/_cols/c0_vlbytes.b2b", "tables/t46_object_null.b2d/_cols/c0_object.b2b"} {
		path := filepath.Join(t.TempDir(), "a.b2b")
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(path, b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		o, want := openObjects(t, path)
		added := []any{int64(7), nil, "text", bytes.Repeat([]byte("long"), 3000), []any{int64(0), 2.5}}
		if o.Kind() == objects.Lists {
			added = want[:5]
		}
		for _, part := range [][]any{added, added[:1], added[1:4]} {
			if err := o.Append(ctx, part...); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want = append(want, part...)
		}
		o.Close()
		c, err := ref.OpenSChunk(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := itemsOfC(c)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: C reads %d items, want %d: %v", name, len(got), len(want), err)
		}
		last, err := c.Chunk(c.Len() - 1)
		if err == nil {
			err = c.AppendRaw(last)
		}
		if err == nil && o.Batches() > 0 {
			want = append(want, added[1:4]...)
			lengths := []int64{}
			for i := range o.Batches() {
				start, stop, _ := o.BatchRange(i)
				lengths = append(lengths, stop-start)
			}
			var content []byte
			if content, err = meta.Marshal(map[string]any{"batch_lengths": append(lengths, 3)}); err == nil {
				err = c.SetVLMeta("_batch_array_metadata", content)
			}
		} else {
			want = append(want, added[3])
		}
		c.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, again := openObjects(t, path); !reflect.DeepEqual(again, want) {
			t.Errorf("%s: %d items after C appended, want %d", name, len(again), len(want))
		}
	}
}

// TestCreateObjects creates arrays of objects. The frame begins as a new frame of C-Blosc2 with the same metalayers
// does, and C-Blosc2 opens it. Then items are appended, and C-Blosc2 reads them.
func TestCreateObjects(t *testing.T) {
	ctx := t.Context()
	item := meta.Map{{Key: "max_length", Value: 8}}
	for _, c := range []struct {
		kind  objects.Kind
		o     *objects.CreateOptions
		items []any
	}{
		{objects.Objects, nil, []any{int64(1), nil, "text"}},
		{objects.Batches, nil, []any{int64(1), nil, "text"}},
		{objects.Batches, &objects.CreateOptions{ItemsPerBlock: 2}, []any{"a", "b", "c", "d", "e"}},
		{objects.Lists, &objects.CreateOptions{Element: "string", ElementSpec: item, Nullable: true, BatchRows: 2}, []any{[]any{"a", "b"}, nil, []any{}}},
	} {
		path := filepath.Join(t.TempDir(), "a.b2b")
		o, err := objects.Create(ctx, path, c.kind, c.o)
		if err != nil {
			t.Fatal(err)
		}
		info, layers := o.Frame().Info(), o.Frame().Meta()
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		st := &ref.Storage{Path: filepath.Join(t.TempDir(), "c.b2b"), CParams: ref.CParams{Codec: 5, Level: 5, Filters: [6]uint8{5: 1}, TypeSize: 1, Split: 3, Dict: info.Params.Dict}}
		for _, l := range layers {
			st.Metalayers = append(st.Metalayers, ref.Meta{Name: l.Name, Content: l.Content})
		}
		s, err := ref.NewSChunk(st)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		got, err1 := os.ReadFile(path)
		want, err2 := os.ReadFile(st.Path)
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: the empty frame is\n%x, want\n%x, %v", c.kind, got, want, err)
		}
		if s, err = ref.OpenSChunk(path); err != nil || s.Len() != 0 {
			t.Fatalf("%v: %v", c.kind, err)
		}
		s.Close()
		if o, _ = openObjects(t, path); o.Kind() != c.kind {
			t.Errorf("kind %v, want %v", o.Kind(), c.kind)
		}
		if err := o.Append(ctx, c.items...); err != nil {
			t.Fatal(err)
		}
		o.Close()
		if s, err = ref.OpenSChunk(path); err != nil {
			t.Fatal(err)
		}
		if items, err := itemsOfC(s); err != nil || !reflect.DeepEqual(items, c.items) {
			t.Errorf("%v: C reads %v, want %v: %v", c.kind, items, c.items, err)
		}
		s.Close()
	}
}
