package objects

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// fixtures returns the .b2b files of python-blosc2 by name: those of the stores and tables of testdata, in directories
// and zip files.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	root := "../../../testdata"
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(name) {
		case ".b2b":
			all[name], err = os.ReadFile(filepath.Join(root, name))
		case ".b2z":
			var z *zip.ReadCloser
			if z, err = zip.OpenReader(filepath.Join(root, name)); err != nil {
				return err
			}
			defer z.Close()
			for _, f := range z.File {
				if strings.HasSuffix(f.Name, ".b2b") {
					var r io.ReadCloser
					if r, err = f.Open(); err == nil {
						all[name+"/"+f.Name], err = io.ReadAll(r)
					}
				}
			}
		}
		return err
	})
	if err != nil || len(all) < 15 {
		t.Fatalf("%d arrays of objects, %v", len(all), err)
	}
	return all
}

// editable opens an array in memory for editing.
func editable(t testing.TB, m *frame.Memory) *Array {
	t.Helper()
	f, err := frame.EditStorage(context.Background(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	o, err := New(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// values returns all items of an array, read one by one and together.
func values(t testing.TB, o *Array) []any {
	t.Helper()
	ctx := context.Background()
	list := []any{}
	for v, err := range o.Items(ctx, 0, o.Len()) {
		if err != nil {
			t.Fatal(err)
		}
		var alone any
		if err := o.Item(ctx, int64(len(list)), &alone); err != nil || !reflect.DeepEqual(alone, v) {
			t.Fatalf("Item(%d) is %v, %v, want %v", len(list), alone, err, v)
		}
		list = append(list, v)
	}
	return list
}

// mixed are items of all types, as meta.Unmarshal returns them.
func mixed() []any {
	return []any{int64(0), nil, "text", []byte{0, 1}, 2.5, true, int64(-1 << 40), []any{int64(1), []any{"a"}}, map[string]any{"k": int64(1), "s": "x"},
		meta.Tuple{int64(1), "b"}, meta.Ext{Type: meta.ExtRef, Data: []byte{0x80}}, strings.Repeat("long", 5000)}
}

// TestAppend appends to all arrays of python-blosc2 in MessagePack.
func TestAppend(t *testing.T) {
	ctx := context.Background()
	kinds := map[Kind]int{}
	for name, b := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			m := frame.NewMemory(slices.Clone(b))
			o := editable(t, m)
			kinds[o.Kind()]++
			want, before := values(t, o), o.Batches()
			added := mixed()
			if o.Kind() == Lists {
				added = slices.Repeat(want, 2) // they have the right kind
			}
			for _, part := range [][]any{added, added[:1], nil, added[1:]} {
				if err := o.Append(ctx, part...); err != nil {
					t.Fatal(err)
				}
				want = append(want, part...)
				if got := values(t, o); !reflect.DeepEqual(got, want) {
					t.Fatalf("%d items, want %d: %v", len(got), len(want), got)
				}
			}
			if o.batched && o.Kind() != Lists && o.Batches() != before+3 {
				t.Errorf("%d batches, want %d", o.Batches(), before+3)
			}
			again := editable(t, frame.NewMemory(m.Bytes()))
			if got := values(t, again); !reflect.DeepEqual(got, want) {
				t.Errorf("opened again: %v", got)
			}
			if err := again.f.Verify(ctx, nil); err != nil {
				t.Error(err)
			}
			checkLayout(t, again)
		})
	}
	if kinds[Objects] == 0 || kinds[Batches] == 0 || kinds[Lists] == 0 {
		t.Errorf("%v", kinds)
	}
}

// checkLayout checks that an array has what python-blosc2 relies on: the lengths of all batches, and the same number of
// items in all blocks of a batch except the last.
func checkLayout(t testing.TB, o *Array) {
	t.Helper()
	ctx := context.Background()
	if !o.batched {
		return
	}
	content, err := o.f.VLMeta(lengthsLayer)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Lengths []int64 `msgpack:"batch_lengths"`
	}
	if err := meta.Unmarshal(content, &m); err != nil || len(m.Lengths) != o.Batches() {
		t.Fatalf("%d lengths, %v", len(m.Lengths), err)
	}
	perBlock := o.batches.Load().perBlock
	for i, n := range m.Lengths {
		blocks, err := o.Blocks(ctx, i)
		if want := (n + perBlock - 1) / max(perBlock, 1); err != nil || perBlock > 0 && int64(blocks) != want {
			t.Errorf("batch %d of %d items has %d blocks, want %d: %v", i, n, blocks, want, err)
		}
	}
}

// emptied returns an array like a fixture, without its items. fixed replaces the metalayers if it is not nil.
func emptied(t testing.TB, b []byte, fixed []meta.Layer) (*Array, *frame.Frame) {
	t.Helper()
	ctx := context.Background()
	like, err := frame.OpenBytes(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fixed == nil {
		fixed = like.Meta()
	}
	f, err := frame.Create(ctx, "", &frame.CreateOptions{Meta: fixed, Params: like.Info().Params})
	if err != nil {
		t.Fatal(err)
	}
	o, err := New(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	return o, like
}

// TestAppendAsPython writes the arrays of python-blosc2 again: the chunks and metalayers have the same bytes.
func TestAppendAsPython(t *testing.T) {
	for _, c := range objectCases(t) {
		b, err := os.ReadFile("../../../testdata/stores/" + c.File)
		if err != nil {
			t.Fatal(err)
		}
		o, like := emptied(t, b, nil)
		appendLike(t, o, openObjects(t, "stores/"+c.File))
		sameContent(t, "stores/"+c.File, o.f, like)
	}
}

// batchLayer returns the metalayer of a batch array with a number of items per block.
func batchLayer(t testing.TB, perBlock any) []meta.Layer {
	t.Helper()
	content, err := meta.Marshal(meta.Map{{Key: "version", Value: 1}, {Key: "serializer", Value: "msgpack"},
		{Key: "items_per_block", Value: perBlock}, {Key: "arrow_schema", Value: nil}})
	if err != nil {
		t.Fatal(err)
	}
	return []meta.Layer{{Name: "batcharray", Content: content}}
}

// The first batch of an array decides how many items its blocks have, if nothing else does. The metalayer then says it.
func TestAppendFirst(t *testing.T) {
	ctx := context.Background()
	large := strings.Repeat("x", 700_000)
	for _, c := range []struct {
		level int
		items []any
		want  int64
	}{
		{5, []any{1, 2, 3}, 3}, {1, []any{large, large, large}, 1}, {3, []any{"a", large, large}, 2}, {9, []any{large, large, large}, 3},
		{codec.NoCompression, []any{large, large, large}, 3}, {5, slices.Repeat([]any{large}, 13), 11}, {7, slices.Repeat([]any{large}, 30), 23},
		{1, []any{strings.Repeat("x", 1<<20)}, 1},
	} {
		f, err := frame.Create(ctx, "", &frame.CreateOptions{Meta: batchLayer(t, nil)})
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b.Rollback()
		if got := blockLength(c.level, encoded(t, c.items)); int64(got) != c.want {
			t.Errorf("level %d: %d items per block, want %d", c.level, got, c.want)
		}
		o, err := New(ctx, f)
		if err == nil {
			err = o.Append(ctx, c.items...)
		}
		if err != nil {
			t.Fatal(err)
		}
		stored := o.batches.Load().perBlock
		if again, err := New(ctx, f); err != nil || stored < 1 || again.batches.Load().perBlock != stored || again.Len() != int64(len(c.items)) {
			t.Errorf("level %d: %d items per block, %v", c.level, stored, err)
		}
		checkLayout(t, o)
		f.Close()
	}
}

func encoded(t testing.TB, items []any) (raw [][]byte) {
	t.Helper()
	for _, v := range items {
		b, err := meta.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, b)
	}
	return raw
}

// An array that has batches but not the number of items per block stays so.
func TestAppendWithoutBlockLength(t *testing.T) {
	ctx := context.Background()
	f := buildBatches(t, batchLayer(t, nil)[0].Content, encoded(t, []any{map[string]any{"batch_lengths": []int{3}}})[0],
		encoded(t, []any{[]any{1, 2}})[0], encoded(t, []any{[]any{3}})[0])
	o, err := New(ctx, f)
	if err == nil {
		err = o.Append(ctx, 4, 5)
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := New(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	if got := values(t, again); !reflect.DeepEqual(got, []any{int64(1), int64(2), int64(3), int64(4), int64(5)}) || again.batches.Load().perBlock != 0 {
		t.Errorf("%v", got)
	}
}

// listArray returns an empty list array whose items have a kind.
func listArray(t testing.TB, m map[string]any, layer string) *Array {
	t.Helper()
	ctx := context.Background()
	layers := batchLayer(t, 4)
	layers[0].Name = layer
	layers = append(layers, meta.Layer{Name: "listarray", Content: encoded(t, []any{m})[0]})
	f, err := frame.Create(ctx, "", &frame.CreateOptions{Meta: layers})
	if err != nil {
		t.Fatal(err)
	}
	o, err := New(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

func TestAppendLists(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		kind      string
		good, bad []any
	}{
		{"int8", []any{[]int8{-128, 127}, []any{}, []int{1}}, []any{[]int{128}, []any{nil}, []any{1.5}, []any{"a"}, 1, "text", nil, meta.Tuple{1}}},
		{"uint16", []any{[]uint16{0, 65535}}, []any{[]int{-1}, []int{65536}}},
		{"uint64", []any{[]uint64{0, 1 << 63}}, []any{[]int{-1}}},
		{"int64", []any{[]int64{-1 << 63}}, []any{[]uint64{1 << 63}}},
		{"float32", []any{[]float32{1.5}}, []any{[]int{1}}},
		{"bool", []any{[]bool{true}}, []any{[]int{1}}},
		{"string", []any{[]string{"a"}}, []any{[]any{[]byte{1}}, []byte("a")}},
		{"bytes", []any{[][]byte{{1}}}, []any{[]string{"a"}}},
		{"struct", []any{[]any{map[string]any{"a": 1}}, []struct{ A int }{{1}}}, []any{[]int{1}}},
		{"another", []any{[]any{1, "a"}}, []any{1}},
	} {
		o := listArray(t, map[string]any{"item": map[string]any{"kind": c.kind}, "nullable": false, "batch_rows": nil}, "batcharray")
		if err := o.Append(ctx, c.good...); err != nil || o.Len() != int64(len(c.good)) {
			t.Errorf("%s: %d lists, %v", c.kind, o.Len(), err)
		}
		for _, v := range c.bad {
			if err := o.Append(ctx, c.good[0], v); !errors.Is(err, ErrType) || o.Len() != int64(len(c.good)) {
				t.Errorf("%s: %v: %v, %d lists", c.kind, v, err, o.Len())
			}
		}
	}
	o := listArray(t, map[string]any{"item": map[string]any{"kind": "int64"}, "nullable": true, "batch_rows": 3}, "batcharray")
	if err := o.Append(ctx, []int{1}, nil, []int{}, []int{2, 3}, nil); err != nil || o.Batches() != 2 || o.Len() != 5 {
		t.Errorf("%d batches, %d lists, %v", o.Batches(), o.Len(), err)
	}
	checkLayout(t, o)
	o = listArray(t, map[string]any{"item": map[string]any{"kind": "int64"}, "backend": "vl"}, "vlarray")
	if err := o.Append(ctx, []int{1}, []int{}); err != nil || o.f.NumChunks() != 2 {
		t.Errorf("%d chunks, %v", o.f.NumChunks(), err)
	}
}

func TestAppendErrors(t *testing.T) {
	ctx := context.Background()
	o := openObjects(t, "stores/objects.b2b")
	n := o.Len()
	for _, items := range [][]any{{1}, {}} {
		if err := o.Append(ctx, items...); !errors.Is(err, ErrReadOnly) {
			t.Errorf("read-only: %v", err)
		}
	}
	b, err := os.ReadFile("../../../testdata/stores/objects.b2b")
	if err != nil {
		t.Fatal(err)
	}
	o = editable(t, frame.NewMemory(b))
	if err := o.Append(ctx, 1, make(chan int)); !errors.Is(err, ErrType) || o.Len() != n {
		t.Errorf("a channel: %v, %d items", err, o.Len())
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := o.Append(done, 1); !errors.Is(err, context.Canceled) || o.Len() != n {
		t.Errorf("canceled: %v, %d items", err, o.Len())
	}
	layer := batchLayer(t, 2)
	layer[0].Content = encoded(t, []any{map[string]any{"serializer": "arrow"}})[0]
	f, err := frame.Create(ctx, "", &frame.CreateOptions{Meta: layer})
	if err != nil {
		t.Fatal(err)
	}
	if o, err = New(ctx, f); err != nil {
		t.Fatal(err)
	}
	if err := o.Append(ctx, 1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Arrow streams: %v", err)
	}
}

// Reads and appends at the same time see whole batches.
func TestAppendConcurrent(t *testing.T) {
	ctx := context.Background()
	b, err := os.ReadFile("../../../testdata/stores/batches.b2b")
	if err != nil {
		t.Fatal(err)
	}
	o := editable(t, frame.NewMemory(b))
	n := o.Len()
	var wait sync.WaitGroup
	for k := range 3 {
		wait.Go(func() {
			for i := range 20 {
				if err := o.Append(ctx, fmt.Sprint(k), i, k); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Go(func() {
		for o.Len() < n+180 {
			if last := o.Len(); (last-n)%3 != 0 {
				t.Errorf("%d items", last)
			}
			for _, err := range o.Items(ctx, 0, o.Len()) {
				if err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	wait.Wait()
	if got := int64(len(values(t, o))); got != n+180 {
		t.Errorf("%d items, want %d", got, n+180)
	}
}

// TestAppendSecond appends to an empty array by two Arrays, the first of which chooses the length of blocks.
func TestAppendSecond(t *testing.T) {
	ctx := context.Background()
	f, err := frame.Create(ctx, "", &frame.CreateOptions{Meta: batchLayer(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var arrays [2]*Array
	for i := range arrays {
		if arrays[i], err = New(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range []int{10, 25} {
		if err := arrays[i].Append(ctx, slices.Repeat([]any{int64(i)}, n)...); err != nil {
			t.Fatal(err)
		}
	}
	o, err := New(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Repeat([]any{int64(0)}, 10), slices.Repeat([]any{int64(1)}, 25)...)
	if got := values(t, o); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// TestAppendToMany appends to an array of many batches. A call appends to the lengths of all of them, and does not
// decode and encode them again.
func TestAppendToMany(t *testing.T) {
	ctx := t.Context()
	const n = 70_000 // the header of the array of lengths becomes longer
	o, err := Create(ctx, "", Lists, &CreateOptions{Element: "int64", BatchRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := o.Append(ctx, slices.Repeat([]any{[]int64{}}, n)...); err != nil {
		t.Fatal(err)
	}
	other, err := New(ctx, o.Frame())
	if err != nil {
		t.Fatal(err)
	}
	add := func(o *Array) {
		if err := o.Append(ctx, []int64{1}); err != nil {
			t.Fatal(err)
		}
	}
	add(o)
	first := &o.batches.Load().ends[0]
	add(o)
	if &o.batches.Load().ends[0] != first {
		t.Error("the lengths were decoded again")
	}
	add(other)
	add(o) // finds the batch of the other
	b, err := saved(o.Frame())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []*Array{o, editable(t, frame.NewMemory(b))} {
		if o.Len() != n+4 || o.Batches() != n+4 {
			t.Errorf("%d items, %d batches, want %d", o.Len(), o.Batches(), n+4)
		}
	}
}
