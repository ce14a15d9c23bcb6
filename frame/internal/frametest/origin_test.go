package frametest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// pack returns a value as MessagePack.
func pack(t *testing.T, v any) []byte {
	t.Helper()
	b, err := meta.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// elsewhere makes a frame of six chunks of 80 bytes in blocks of 20, with a metalayer: those in stored are bytes of
// their number plus one, the others uninitialized.
func elsewhere(t *testing.T, name string, content any, stored []int, vl map[string]any) *frame.Frame {
	t.Helper()
	o := &frame.CreateOptions{
		ChunkSize: 80, Params: chunk.Params{TypeSize: 4, BlockSize: 20},
		Meta: []meta.Layer{{Name: name, Content: pack(t, content)}},
	}
	f, err := frame.CreateFunc(t.Context(), "", func(b *frame.Batch) error {
		if err := b.Engine().FillSpecial(480, chunk.Uninit); err != nil {
			return err
		}
		for _, i := range stored {
			if err := b.Update(t.Context(), i, bytes.Repeat([]byte{byte(i + 1)}, 80)); err != nil {
				return err
			}
		}
		for name, v := range vl {
			if err := b.SetVLMeta(name, pack(t, v)); err != nil {
				return err
			}
		}
		return nil
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// notHere fails unless err matches errors.ErrUnsupported with these words.
func notHere(t *testing.T, what string, err error, words string) {
	t.Helper()
	if !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %v, want errors.ErrUnsupported with %q", what, err, words)
	}
}

// proxyOf returns the metalayer of a proxy cache.
func proxyOf(path any) meta.Map {
	return meta.Map{{Key: "local_abspath", Value: path}, {Key: "urlpath", Value: nil}, {Key: "caterva2_env", Value: false}}
}

// TestDataElsewhere reads frames of which python-blosc2 keeps no data: before, they read as zeros.
func TestDataElsewhere(t *testing.T) {
	kind := func(name string) map[string]any { return map[string]any{"kind": name, "version": 1} }
	object := func(name string, more map[string]any) map[string]any {
		v := kind(name)
		for k, x := range more {
			v[k] = x
		}
		return map[string]any{"b2o": v}
	}
	for _, c := range []struct {
		layer   string
		content any
		vl      map[string]any
		words   string
	}{
		{"b2o", kind("lazyexpr"), object("lazyexpr", map[string]any{"expression": "a + b"}), `super-chunk is a lazy expression "a + b" saved by python-blosc2; its data is not in the file`},
		{"b2o", kind("lazyexpr"), nil, "super-chunk is a lazy expression saved by"},
		{"b2o", kind("lazyudf"), object("lazyudf", map[string]any{"name": "cube"}), `is a lazy function "cube" saved`},
		{"b2o", kind("c2array"), object("c2array", map[string]any{"path": "@public/a.b2nd", "urlbase": "https://cat2.cloud/"}), `is a remote array "@public/a.b2nd" at "https://cat2.cloud/" saved`},
		{"b2o", kind("ref"), object("ref", nil), `is an object of kind "ref" saved`},
		{"b2o", "no map", nil, "is an object of kind saved"},
		{"LazyArray", 1, map[string]any{"_LazyArray": map[string]any{"expression": "a * 2", "operands": map[string]any{}}}, `is a lazy expression "a * 2" saved`},
		{"LazyArray", 2, map[string]any{"_LazyArray": map[string]any{"UDF": "def f(): pass", "name": "f"}}, `is a lazy function "f" saved`},
		{"LazyArray", 2, map[string]any{"_LazyArray": map[string]any{"expression": strings.Repeat("x", 5000)}}, "xxx"},
		{"proxy-source", proxyOf("/data/a.b2nd"), nil, `: super-chunk is a cache by python-blosc2's Proxy of "/data/a.b2nd", and this chunk was not fetched`},
		{"proxy-source", meta.Map{{Key: "local_abspath", Value: nil}, {Key: "urlpath", Value: meta.Tuple{"a.b2nd", "https://cat2.cloud/", "secret"}}}, nil, `Proxy of "a.b2nd" at "https://cat2.cloud/", and`},
		{"proxy-source", []any{}, nil, "of a source that it does not name"},
	} {
		f := elsewhere(t, c.layer, c.content, nil, c.vl)
		stored, err := appendTo(f, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.words, err)
		}
		opened, err := frame.EditStorage(t.Context(), frame.NewMemory(stored), nil)
		if err != nil {
			t.Fatalf("%s: %v", c.words, err)
		}
		for _, f := range []*frame.Frame{f, opened} {
			refusesData(t, f, c.words)
			if len(f.Meta()) != 1 || len(f.VLMetaNames()) != len(c.vl) || f.NumChunks() != 6 || f.Info().NBytes != 480 {
				t.Errorf("%s: metalayers %v %v, %+v", c.words, f.Meta(), f.VLMetaNames(), f.Info())
			}
		}
		refusesEdits(t, opened)
	}
}

// refusesData reads in every way.
func refusesData(t *testing.T, f *frame.Frame, words string) {
	t.Helper()
	ctx := context.Background()
	_, err := f.ReadChunk(ctx, nil, 0)
	notHere(t, "ReadChunk", err, words)
	if strings.Contains(err.Error(), "secret") || len(err.Error()) > 600 {
		t.Errorf("message: %v", err)
	}
	_, err = f.ReadBlock(ctx, nil, 0, 1)
	notHere(t, "ReadBlock", err, words)
	_, err = f.ReadRaw(ctx, nil, 0)
	notHere(t, "ReadRaw", err, words)
	_, err = f.Content(ctx).ReadAt(make([]byte, 8), 4)
	notHere(t, "ReadAt", err, words)
	_, err = io.Copy(io.Discard, f.Content(ctx))
	notHere(t, "WriteTo", err, words)
	_, err = io.ReadAll(f.Content(ctx))
	notHere(t, "Reader", err, words)
	var faults []error
	err = f.Verify(ctx, func(err error) error { faults = append(faults, err); return nil })
	if err != nil || len(faults) != 1 {
		t.Fatalf("Verify: %v, faults %v", err, faults)
	}
	notHere(t, "Verify", faults[0], words)
	v, err := f.Engine().View(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	_, err = frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Engine().CopyChunks(ctx, v) }, &frame.CreateOptions{ChunkSize: 80, Params: chunk.Params{TypeSize: 4}})
	notHere(t, "CopyChunks", err, words)
	if _, err := f.ChunkInfo(ctx, 0); err != nil {
		t.Errorf("ChunkInfo: %v", err)
	}
}

// refusesEdits changes data in every way, then metalayers.
func refusesEdits(t *testing.T, f *frame.Frame) {
	t.Helper()
	data := make([]byte, 80)
	ctx := context.Background()
	for what, err := range map[string]error{
		"Append": f.Append(t.Context(), data), "Insert": change(f, func(b *frame.Batch) error { return b.Insert(ctx, 1, data) }), "Update": change(f, func(b *frame.Batch) error { return b.Update(ctx, 1, data) }),
		"Delete":       change(f, func(b *frame.Batch) error { return b.Delete(1) }),
		"Reorder":      change(f, func(b *frame.Batch) error { return b.Reorder([]int{1, 0, 2, 3, 4, 5}) }),
		"AppendBlocks": change(f, func(b *frame.Batch) error { return b.AppendBlocks(ctx, [][]byte{data}) }),
		"SelectChunks": change(f, func(b *frame.Batch) error {
			return b.Engine().SelectChunks(ctx, 1, 80, func(i int64) int64 { return i })
		}),
		"FillSpecial": change(f, func(b *frame.Batch) error { return b.Engine().FillSpecial(80, chunk.Zeros) }),
		"Encode":      change(f, func(b *frame.Batch) error { return b.Engine().Encode(ctx, 80, nil, 0) }),
	} {
		notHere(t, what, err, "only its metalayers can be edited")
	}
	if err := change(f, func(b *frame.Batch) error { return b.SetVLMeta("note", pack(t, 1)) }); err != nil {
		t.Errorf("SetVLMeta: %v", err)
	}
	if err := change(f, func(b *frame.Batch) error { return b.SetChecksums(ctx, true) }); err != nil {
		t.Errorf("SetChecksums: %v", err)
	}
}

// TestProxyCache reads the chunks that a proxy cache holds, and those that it does not.
func TestProxyCache(t *testing.T) {
	list := func(bits ...int) []byte {
		b := make([]byte, 3)
		for _, i := range bits {
			b[i/8] |= 1 << (i % 8)
		}
		return b
	}
	for _, c := range []struct {
		name   string
		stored []int
		vl     map[string]any
		want   []int
	}{
		{"no list", []int{1, 4}, nil, []int{1, 4}},
		{"nothing fetched", nil, nil, nil},
		{"list of chunks", []int{1, 2, 4}, map[string]any{"proxy-fetched": []byte{1<<1 | 1<<4}}, []int{1, 4}},
		{"evicted chunk", []int{1}, map[string]any{"proxy-fetched": []byte{1<<1 | 1<<4}}, []int{1}},
		{"list of blocks", []int{1, 4, 5}, map[string]any{"proxy-fetched-blocks": list(4, 5, 6, 7, 16, 17, 19, 20, 21, 22, 23), "proxy-fetched-bpc": 4}, []int{1, 5}},
		{"list of blocks without their number", []int{1, 4, 5}, map[string]any{"proxy-fetched-blocks": list(4, 5, 6, 7, 16, 17, 19)}, []int{1}},
		{"both lists", []int{1, 2}, map[string]any{"proxy-fetched-blocks": list(4, 5, 6, 7), "proxy-fetched": []byte{6}}, []int{1}},
		{"list of blocks that does not fit", []int{1, 2}, map[string]any{"proxy-fetched-blocks": []byte{255}, "proxy-fetched": []byte{2}}, []int{1}},
		{"list that does not fit", []int{1, 4}, map[string]any{"proxy-fetched": []byte{255, 255}}, nil},
		{"list of another type", []int{1, 4}, map[string]any{"proxy-fetched": "yes"}, nil},
		{"wrong number of blocks", []int{1, 4}, map[string]any{"proxy-fetched-blocks": list(4, 5, 6, 7), "proxy-fetched-bpc": 5}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			made := elsewhere(t, "proxy-source", proxyOf("/data/a.b2nd"), c.stored, c.vl)
			dir := filepath.Join(t.TempDir(), "cache")
			sparse, err := frame.Copy(context.Background(), dir, made, &frame.CreateOptions{Sparse: true})
			if err != nil {
				t.Fatal(err)
			}
			defer sparse.Close()
			for _, f := range []*frame.Frame{made, sparse} {
				for i := range 6 {
					got, err := f.ReadChunk(t.Context(), nil, i)
					at := make([]byte, 80)
					_, atErr := f.Content(t.Context()).ReadAt(at, int64(80*i))
					if !slices.Contains(c.want, i) {
						notHere(t, "ReadChunk", err, "and this chunk was not fetched")
						notHere(t, "ReadAt", atErr, "and this chunk was not fetched")
						continue
					}
					want := bytes.Repeat([]byte{byte(i + 1)}, 80)
					if err != nil || atErr != nil || !bytes.Equal(got, want) || !bytes.Equal(at, want) {
						t.Errorf("chunk %d: %d %d (%v, %v)", i, got, at, err, atErr)
					}
				}
				refusesEdits(t, f)
			}
		})
	}
}

// TestSalvageCache salvages a proxy cache: the new frame is one, too.
func TestSalvageCache(t *testing.T) {
	f := elsewhere(t, "proxy-source", proxyOf("/data/a.b2nd"), []int{2}, nil)
	dir := t.TempDir()
	c, err := frame.Copy(context.Background(), filepath.Join(dir, "a"), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	out, found, err := frame.Salvage(context.Background(), filepath.Join(dir, "b"), filepath.Join(dir, "a"), func(err error) { t.Error(err) }, nil)
	if err != nil || found.Chunks != 6 {
		t.Fatalf("%+v, %v", found, err)
	}
	defer out.Close()
	if b, err := out.ReadChunk(t.Context(), nil, 2); err != nil || b[0] != 3 {
		t.Errorf("chunk 2: %v", err)
	}
	_, err = out.ReadChunk(t.Context(), nil, 1)
	notHere(t, "chunk 1", err, "not fetched")
}
