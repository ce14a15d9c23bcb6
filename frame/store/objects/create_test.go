package objects

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// optionsOf returns the kind of an array of python-blosc2 and the options that create one like it, from its
// metalayers.
func optionsOf(t testing.TB, like *frame.Frame) (Kind, *CreateOptions) {
	t.Helper()
	kind, o := Objects, &CreateOptions{Frame: &frame.CreateOptions{}}
	for _, l := range like.Meta() {
		var m struct {
			ItemsPerBlock *int     `msgpack:"items_per_block"`
			Item          meta.Map `msgpack:"item"`
			Nullable      bool     `msgpack:"nullable"`
			BatchRows     int      `msgpack:"batch_rows"`
		}
		if err := meta.Unmarshal(l.Content, &m); err != nil {
			t.Fatal(err)
		}
		switch l.Name {
		case "vlarray":
		case "batcharray":
			if kind != Lists {
				kind = Batches
			}
			if m.ItemsPerBlock != nil {
				o.ItemsPerBlock = *m.ItemsPerBlock
			}
		case "listarray":
			kind, o.Element, o.ElementSpec = Lists, m.Item[0].Value.(string), m.Item[1:]
			o.Nullable, o.BatchRows = m.Nullable, m.BatchRows
		default:
			o.Frame.Meta = append(o.Frame.Meta, l)
		}
	}
	return kind, o
}

// TestCreateAsPython creates all arrays of python-blosc2 in testdata again, with the same batches. The metalayers and
// chunks have the same bytes, and so has the header except for sizes and numbers of threads. Where Zstd has more to
// compress, chunks have the same blocks.
func TestCreateAsPython(t *testing.T) {
	ctx := context.Background()
	kinds := map[Kind]int{}
	for name, b := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			like, err := frame.OpenBytes(b, nil)
			if err != nil {
				t.Fatal(err)
			}
			source, err := New(ctx, like)
			if err != nil {
				t.Fatal(err)
			}
			kind, options := optionsOf(t, like)
			kinds[kind]++
			// The first batch chooses the number of items per block of all of these arrays except one.
			if name != "stores/batches.b2b" {
				options.ItemsPerBlock = 0
			}
			m := frame.NewMemory(nil)
			options.Frame.Storage = m
			o, err := Create(ctx, "", kind, options)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			if o.Kind() != source.Kind() || o.Len() != 0 || o.Batches() != 0 || len(o.f.VLMetaNames()) != 0 {
				t.Errorf("%v, %d items, %d batches, metalayers %v", o.Kind(), o.Len(), o.Batches(), o.f.VLMetaNames())
			}
			appendLike(t, o, source)
			got, want := o.f.Info(), like.Info()
			if !reflect.DeepEqual(got.Params, want.Params) || got.ChunkSize != want.ChunkSize || got.NBytes != want.NBytes {
				t.Errorf("%+v, want %+v", got, want)
			}
			sameContent(t, name, o.f, like)
			header := func(b []byte) []byte {
				b = bytes.Clone(b[:bytes.IndexByte(b, 0xd8)+21])
				clear(b[16:25]) // the length of the frame
				clear(b[39:48]) // the stored bytes of the chunks
				clear(b[63:69]) // the numbers of threads
				return b
			}
			if got, want := header(m.Bytes()), header(b); !bytes.Equal(got, want) {
				t.Errorf("header\n%x, want\n%x", got, want)
			}
		})
	}
	if kinds[Objects] == 0 || kinds[Batches] == 0 || kinds[Lists] == 0 {
		t.Errorf("%v", kinds)
	}
}

// appendLike appends the items of source to o, each batch with one call.
func appendLike(t testing.TB, o, source *Array) {
	t.Helper()
	all := values(t, source)
	bounds := []int64{0}
	for i := range source.Batches() {
		_, stop, err := source.BatchRange(i)
		if err != nil {
			t.Fatal(err)
		}
		bounds = append(bounds, stop)
	}
	if source.Batches() == 0 {
		bounds = append(bounds, source.Len())
	}
	for i, start := range bounds[:len(bounds)-1] {
		if err := o.Append(context.Background(), all[start:bounds[i+1]]...); err != nil {
			t.Fatal(err)
		}
	}
}

// sameContent compares the chunks and metalayers of two frames as they are stored.
func sameContent(t testing.TB, name string, f, like *frame.Frame) {
	t.Helper()
	ctx := context.Background()
	if f.NumChunks() != like.NumChunks() || !reflect.DeepEqual(f.Meta(), like.Meta()) || !reflect.DeepEqual(f.VLMetaNames(), like.VLMetaNames()) {
		t.Errorf("%s: %d chunks, want %d, metalayers %v, want %v", name, f.NumChunks(), like.NumChunks(), f.Meta(), like.Meta())
	}
	for i := range like.NumChunks() {
		got, err1 := f.ReadRaw(ctx, nil, i)
		want, err2 := like.ReadRaw(ctx, nil, i)
		if strings.HasPrefix(name, "tables/") && errors.Join(err1, err2) == nil {
			got, err1 = blocksOf(f, got, i)
			want, err2 = blocksOf(like, want, i)
		}
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: chunk %d is %x, want %x: %v", name, i, got, want, err)
		}
	}
	for _, layer := range like.VLMetaNames() {
		got, err1 := f.VLMeta(layer)
		want, err2 := like.VLMeta(layer)
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: metalayer %s is %x, want %x: %v", name, layer, got, want, err)
		}
	}
}

// blocksOf returns the header of a chunk without its size, and the lengths and decoded bytes of its blocks.
func blocksOf(f *frame.Frame, raw []byte, i int) ([]byte, error) {
	ctx := context.Background()
	info, err := f.ChunkInfo(ctx, i)
	if err != nil {
		return nil, err
	}
	b := slices.Concat(raw[:12], raw[16:32])
	for k := range info.Blocks {
		block, err := f.ReadBlock(ctx, nil, i, k)
		if err != nil {
			return nil, err
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(block))), block...)
	}
	return b, nil
}

// TestCreateFile creates arrays in files, and opens them again before and after the first item.
func TestCreateFile(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		kind Kind
		o    *CreateOptions
		item any
	}{
		{Objects, nil, "a"},
		{Batches, nil, []any{"b", int64(1)}},
		{Batches, &CreateOptions{ItemsPerBlock: 3}, "c"},
		{Lists, &CreateOptions{Element: "vlstring", BatchRows: 2, ItemsPerBlock: 2, Nullable: true}, []any{"d"}},
		{Lists, &CreateOptions{Element: "struct", ElementSpec: meta.Map{{Key: "fields", Value: []any{map[string]any{"name": "x", "kind": "int64"}}}}},
			[]any{map[string]any{"x": int64(1)}}},
		{Objects, &CreateOptions{Frame: &frame.CreateOptions{Params: chunk.Params{Codec: codec.LZ4}, Checksums: true}}, nil},
		{Batches, &CreateOptions{Frame: &frame.CreateOptions{Sparse: true, NoSync: true}}, "e"},
		{Objects, &CreateOptions{Frame: &frame.CreateOptions{Goal: chunk.Balanced}}, "f"},
		{Batches, &CreateOptions{Frame: &frame.CreateOptions{Goal: chunk.Smallest}}, "g"},
	} {
		name := filepath.Join(t.TempDir(), "a.b2b")
		o, err := Create(ctx, name, c.kind, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(ctx, name, c.kind, c.o); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("it exists: %v", err)
		}
		f, err := frame.Edit(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o, err = New(ctx, f); err != nil || o.Kind() != c.kind || o.Len() != 0 || o.Frame() != f {
			t.Fatalf("%v, %d items, %v", o.Kind(), o.Len(), err)
		}
		if c.kind == Objects && f.Info().Params.Dict != (c.o == nil) {
			t.Errorf("dictionaries: %v", f.Info().Params.Dict)
		}
		if err := o.Append(ctx, c.item, c.item, c.item); err != nil {
			t.Fatal(err)
		}
		if got := values(t, o); !reflect.DeepEqual(got, []any{c.item, c.item, c.item}) {
			t.Errorf("%v", got)
		}
		checkLayout(t, o)
		if err := f.Verify(ctx, nil); err != nil {
			t.Error(err)
		}
		f.Close()
	}
}

// TestClosed uses closed arrays.
func TestClosed(t *testing.T) {
	ctx := context.Background()
	for _, kind := range []Kind{Objects, Batches, Lists} {
		for _, closeFrame := range []bool{false, true} {
			options := &CreateOptions{}
			if kind == Lists {
				options.Element = "int64"
			}
			o, err := Create(ctx, "", kind, options)
			if err != nil {
				t.Fatal(err)
			}
			if err := o.Append(ctx, []any{1}); err != nil {
				t.Fatal(err)
			}
			if closeFrame {
				other, err1 := New(ctx, o.Frame())
				if err1 != nil {
					t.Fatal(err1)
				}
				err1 = other.Append(ctx, []any{2})
				_, err2 := o.Refresh(ctx)
				err = errors.Join(err1, err2, o.Frame().Close())
			} else {
				err = errors.Join(o.Append(ctx, []any{2}), o.Close())
			}
			if n := o.Len(); n != 2 || err != nil {
				t.Errorf("kind %d: %d items after Close, %v", kind, n, err)
			}
			var v any
			_, newErr := New(ctx, o.Frame())
			_, refreshErr := o.Refresh(ctx)
			see := func(int64, []byte) error { return nil }
			errs := []error{o.Item(ctx, 0, &v), o.Append(ctx, []any{3}), o.Append(ctx), o.Each(ctx, 0, 2, see), o.Each(ctx, 1, 1, see),
				newErr, refreshErr}
			if kind != Objects {
				_, blocksErr := o.Blocks(ctx, 0)
				_, blockErr := o.Block(ctx, nil, 0, 0)
				errs = append(errs, blocksErr, blockErr)
			}
			turns := 0
			for _, err := range o.Items(ctx, 0, o.Len()) {
				errs = append(errs, err)
				turns++
			}
			for i, err := range errs {
				if !errors.Is(err, fs.ErrClosed) || errors.Is(err, ErrCorrupt) || turns != 1 {
					t.Errorf("kind %d, call %d, %d turns: %v", kind, i, turns, err)
				}
			}
		}
	}
}

func TestCreateErrors(t *testing.T) {
	ctx := context.Background()
	fields := meta.Map{{Key: "fields", Value: []any{}}}
	for _, c := range []struct {
		field string
		kind  Kind
		o     *CreateOptions
	}{
		{"Kind(3)", Lists + 1, nil},
		{"ItemsPerBlock", Batches, &CreateOptions{ItemsPerBlock: -1}},
		{"ItemsPerBlock", Objects, &CreateOptions{ItemsPerBlock: 1}},
		{"Element", Lists, nil},
		{"Element", Lists, &CreateOptions{Element: "list"}},
		{"Element", Batches, &CreateOptions{Element: "int8"}},
		{"ElementSpec", Objects, &CreateOptions{ElementSpec: fields}},
		{"ElementSpec", Lists, &CreateOptions{Element: "struct"}},
		{"ElementSpec", Lists, &CreateOptions{Element: "int8", ElementSpec: meta.Map{{Key: "kind", Value: "int8"}}}},
		{"ElementSpec", Lists, &CreateOptions{Element: "string", ElementSpec: meta.Map{{Key: "max_length", Value: make(chan int)}}}},
		{"Nullable", Batches, &CreateOptions{Nullable: true}},
		{"BatchRows", Batches, &CreateOptions{BatchRows: 1}},
		{"BatchRows", Lists, &CreateOptions{Element: "int8", BatchRows: -1}},
		{"TypeSize", Objects, &CreateOptions{Frame: &frame.CreateOptions{Params: chunk.Params{TypeSize: 2}}}},
		{"BlockSize", Batches, &CreateOptions{Frame: &frame.CreateOptions{Params: chunk.Params{BlockSize: 100}}}},
		{"ChunkSize", Objects, &CreateOptions{Frame: &frame.CreateOptions{ChunkSize: 100}}},
		{"BlockTable", Objects, &CreateOptions{Frame: &frame.CreateOptions{BlockTable: true}}},
		{"Meta", Objects, &CreateOptions{Frame: &frame.CreateOptions{Meta: []meta.Layer{{Name: "listarray"}}}}},
		{"VLMeta", Batches, &CreateOptions{Frame: &frame.CreateOptions{VLMeta: []meta.Layer{{Name: lengthsLayer}}}}},
	} {
		name := filepath.Join(t.TempDir(), "a.b2b")
		_, err := Create(ctx, name, c.kind, c.o)
		if want := ErrParam; c.field != "ElementSpec" && !errors.Is(err, want) || err == nil || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %v", c.field, err)
		}
		if found, _ := filepath.Glob(name + "*"); found != nil {
			t.Errorf("%s: left %v", c.field, found)
		}
	}
}
