package objects

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/link"
	"github.com/goblosc/blosc2/meta"
)

// objectCase is an entry of testdata/stores/manifest.json.
type objectCase struct {
	File, Kind string
	Values     []any
}

// objectCases returns the object arrays of python-blosc2 with their contents.
func objectCases(t testing.TB) []objectCase {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/stores/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Cases []objectCase }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	var list []objectCase
	for _, c := range m.Cases {
		if c.Kind == "objectarray" || c.Kind == "batcharray" {
			list = append(list, c)
		}
	}
	if len(list) != 2 {
		t.Fatalf("%d arrays, want 2", len(list))
	}
	return list
}

// openObjects opens an object array of testdata.
func openObjects(t testing.TB, name string) *Array {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := frame.OpenReaderAt(context.Background(), bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := New(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

// viaJSON returns a value as encoding/json decodes its JSON, so that numbers of all types are equal.
func viaJSON(t testing.TB, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// countingReader counts the bytes that are read.
type countingReader struct {
	io.ReaderAt
	n int64
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.n += int64(len(p))
	return c.ReaderAt.ReadAt(p, off)
}

// TestEachReads counts the bytes that loops read from a batch of many blocks, and from one of a single block.
func TestEachReads(t *testing.T) {
	ctx := context.Background()
	const count = 1000
	rng := rand.NewChaCha8([32]byte{})
	items := make([]any, count)
	for i := range items {
		item := make([]byte, 500)
		rng.Read(item)
		items[i] = item
	}
	for _, perBlock := range []int{10, count} {
		path := t.TempDir() + "/a.b2b"
		w, err := Create(ctx, path, Batches, &CreateOptions{ItemsPerBlock: perBlock})
		if err == nil {
			err = errors.Join(w.Append(ctx, items...), w.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src := &countingReader{ReaderAt: bytes.NewReader(b)}
		f, err := frame.OpenReaderAt(ctx, src, int64(len(b)), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		o, err := New(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, calls := range []struct{ size, step, times int64 }{
			{count, count, 1}, {7, 7, 1}, {1, 1, 1}, {7, 7, 2}, {25, 25, 2}, {2, 3, 1},
		} {
			src.n = 0
			for start := int64(0); start < count; start += calls.step {
				for range calls.times {
					next := start
					err := o.Each(ctx, start, min(start+calls.size, count), func(i int64, raw []byte) error {
						var v []byte
						if err := o.Decode(raw, &v); err != nil || i != next || !bytes.Equal(v, items[i].([]byte)) {
							t.Errorf("%d items per block, calls %v: item %d differs (%v)", perBlock, calls, i, err)
						}
						next++
						return nil
					})
					if err != nil || next != min(start+calls.size, count) {
						t.Errorf("%d items per block, calls %v: up to item %d, %v", perBlock, calls, next, err)
					}
				}
			}
			if most := 8 * int64(len(b)); src.n > most {
				t.Errorf("%d items per block, calls %v: %d bytes of a file of %d were read", perBlock, calls, src.n, len(b))
			}
		}
	}
}

// TestEachFar reads arrays on a link of 50 ms and 100 MB/s, with the requests and bytes of a loop of ReadChunk.
func TestEachFar(t *testing.T) {
	const count = 20_000
	rng := rand.New(rand.NewPCG(7, 7))
	items := make([]any, count)
	for i := range items {
		items[i] = []int64{int64(rng.Uint64()), 2, 3}
	}
	for _, c := range []struct{ perBatch, perBlock int }{{10, 0}, {100, 0}, {100, 7}, {count, 50}} {
		name := filepath.Join(t.TempDir(), "a.b2b")
		w, err := Create(t.Context(), name, Lists, &CreateOptions{Element: "int64", BatchRows: c.perBatch, ItemsPerBlock: c.perBlock})
		if err == nil {
			err = errors.Join(w.Append(t.Context(), items...), w.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			far := func(do func(f *frame.Frame, o *Array) error) link.Stats {
				l := &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{"/a": {Data: b, ETag: `"1"`}}}
				src, err := remote.Open(ctx, "http://host/a", &remote.Options{Client: l.Client()})
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				f, err := frame.OpenSource(ctx, src, &frame.OpenOptions{Concurrency: 1})
				if err != nil {
					t.Fatal(err)
				}
				o, err := New(ctx, f)
				if err != nil {
					t.Fatal(err)
				}
				defer o.Close()
				l.Stats()
				if err := do(f, o); err != nil {
					t.Error(err)
				}
				return l.Stats()
			}
			want := far(func(f *frame.Frame, _ *Array) (err error) {
				for i := 0; i < f.NumChunks() && err == nil; i++ {
					_, err = f.ReadChunk(ctx, nil, i)
				}
				return err
			})
			for what, do := range map[string]func(f *frame.Frame, o *Array) error{
				"Items": func(_ *frame.Frame, o *Array) (err error) {
					for _, err = range o.Items(ctx, 0, count) {
					}
					return err
				},
				"windows": func(_ *frame.Frame, o *Array) (err error) {
					for i := int64(0); i < count && err == nil; i += 8 {
						err = o.Each(ctx, i, i+8, func(int64, []byte) error { return nil })
					}
					return err
				},
				"ReadBlock": func(f *frame.Frame, o *Array) error {
					for i := range f.NumChunks() {
						for k, n := 0, 1; k < n; k++ {
							var err error
							if _, n, err = f.Engine().ReadBlock(ctx, nil, i, k); err != nil {
								return err
							}
						}
					}
					return nil
				},
			} {
				got := far(do)
				if got.Requests > min(want.Requests, 3) || got.Bytes > min(want.Bytes, int64(len(b))) {
					t.Errorf("%+v, %s: %+v for %d bytes, ReadChunk %+v", c, what, got, len(b), want)
				}
			}
		})
	}
}

// TestReadOn goes on in a block after an edit of its frame, and after Close.
func TestReadOn(t *testing.T) {
	ctx := context.Background()
	o, err := Create(ctx, "", Batches, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := errors.Join(o.Append(ctx, "a", "b", "c", "d"), o.Append(ctx, "e", "f", "g", "h")); err != nil {
		t.Fatal(err)
	}
	check := func(i int64, want string) {
		t.Helper()
		var v string
		if err := o.Item(ctx, i, &v); err != nil || v != want {
			t.Errorf("item %d is %q, %v, want %q", i, v, err, want)
		}
	}
	check(0, "a")
	check(1, "b")
	b, err := o.Frame().Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Delete(0), b.Commit()); err != nil {
		t.Fatal(err)
	}
	check(2, "g")
	check(3, "h")
	check(0, "e")
	check(1, "f")
	o.Close()
	var v any
	if err := o.Item(ctx, 2, &v); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v, %v", v, err)
	}
}

// writeTexts writes a batch of 300 texts, 10 in each block. It returns the texts and the path.
func writeTexts(t *testing.T) (items []any, path string) {
	t.Helper()
	for i := range 300 {
		items = append(items, strings.Repeat(fmt.Sprint(i), 100))
	}
	path = t.TempDir() + "/a.b2b"
	o, err := Create(t.Context(), path, Batches, &CreateOptions{ItemsPerBlock: 10})
	if err == nil {
		err = errors.Join(o.Append(t.Context(), items...), o.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return items, path
}

// tornReader gives wrong bytes at the first read from an offset on.
type tornReader struct {
	io.ReaderAt
	from int64
	torn atomic.Bool
}

func (r *tornReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	if off >= r.from && n > 1000 && r.torn.CompareAndSwap(true, false) {
		clear(p[n/2 : n/2+8])
	}
	return n, err
}

// TestReadTorn reads the blocks of a batch, one of whose reads was wrong. Later reads do not keep its bytes.
func TestReadTorn(t *testing.T) {
	ctx := context.Background()
	_, path := writeTexts(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	src := &tornReader{ReaderAt: bytes.NewReader(b), from: 100}
	f, err := frame.OpenReaderAt(ctx, src, int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for k := range 2 { // the second opens the chunk that the next ones use
		src.torn.Store(k == 1)
		if _, err := f.ReadBlock(ctx, nil, 0, k); err != nil {
			t.Fatal(k, err)
		}
	}
	if src.torn.Load() {
		t.Fatal("no read was torn")
	}
	faults := 0
	for k := 2; k < 30; k++ {
		if _, err = f.ReadBlock(ctx, nil, 0, k); err != nil {
			faults++
			_, err = f.ReadBlock(ctx, nil, 0, k)
		}
		if err != nil {
			t.Errorf("block %d again: %v", k, err)
		}
	}
	if faults != 1 {
		t.Error(faults, "faults")
	}
}

// TestReadBlocksTogether reads the blocks of one batch from several goroutines, which share the open chunk.
func TestReadBlocksTogether(t *testing.T) {
	ctx := context.Background()
	items, path := writeTexts(t)
	f, err := frame.Open(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := New(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	if n := o.ItemsPerBlock(); n != 10 {
		t.Error(n, "items per block")
	}
	defer o.Close()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			err := o.Each(ctx, 0, 300, func(i int64, raw []byte) error {
				var v string
				if err := o.Decode(raw, &v); err != nil || v != items[i] {
					t.Errorf("item %d differs (%v)", i, err)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

func TestObjects(t *testing.T) {
	ctx := context.Background()
	for _, c := range objectCases(t) {
		t.Run(c.File, func(t *testing.T) {
			o := openObjects(t, "stores/"+c.File)
			var want []any
			if c.Kind == "objectarray" {
				want = c.Values
			} else if o.Batches() != len(c.Values) {
				t.Fatalf("%d batches, want %d", o.Batches(), len(c.Values))
			}
			for i := range o.Batches() {
				if start, stop, err := o.BatchRange(i); err != nil || start != int64(len(want)) || stop-start != int64(len(c.Values[i].([]any))) {
					t.Errorf("batch %d: %d to %d, %v", i, start, stop, err)
				}
				want = append(want, c.Values[i].([]any)...)
			}
			if o.Len() != int64(len(want)) {
				t.Fatalf("%d items, want %d", o.Len(), len(want))
			}
			i := 0
			for v, err := range o.Items(ctx, 0, o.Len()) {
				if err != nil || !reflect.DeepEqual(viaJSON(t, v), want[i]) {
					t.Errorf("item %d is %v, %v, want %v", i, v, err, want[i])
				}
				i++
			}
			if i != len(want) {
				t.Errorf("%d items, want %d", i, len(want))
			}
			for i, w := range want {
				var v any
				if err := o.Item(ctx, int64(i), &v); err != nil || !reflect.DeepEqual(viaJSON(t, v), w) {
					t.Errorf("Item(%d) is %v, %v, want %v", i, v, err, w)
				}
			}
			var v any
			if err := o.Item(ctx, o.Len(), &v); !errors.Is(err, ErrBounds) {
				t.Errorf("an item that does not exist: %v", err)
			}
		})
	}
}

// Reading an item does not decode its neighbors: a batch with a damaged value still yields the values before it.
func TestItemAlone(t *testing.T) {
	// 1, "ab", then an array that claims more elements than there are bytes.
	block := []byte{1, 0xa2, 'a', 'b', 0xdd, 0xff, 0xff, 0xff, 0xff}
	var got []byte
	see := func(_ int64, raw []byte) error { got = append(got, raw...); return nil }
	p := &place{end: 3, n: 3, items: block}
	if err := p.each(1, 2, see); err != nil || string(got) != "\xa2ab" {
		t.Errorf("%q, %v", got, err)
	}
	block[0] = 0xc1 // no value: it is not looked at again
	if err := p.each(1, 2, see); err != nil || string(got) != "\xa2ab\xa2ab" {
		t.Errorf("the last item again: %q, %v", got, err)
	}
	if err := p.each(2, 3, see); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a damaged value: %v", err)
	}
}

// TestItemMemory decodes items that take many times the memory of their bytes.
func TestItemMemory(t *testing.T) {
	const n, most = 1 << 16, 1 << 20
	ctx := context.Background()
	for _, x := range []struct {
		name    string
		content []byte
		want    error
	}{
		{"text", append([]byte{0xdb, 0, 8, 0, 0}, bytes.Repeat([]byte{'a'}, 8*n)...), nil},
		{"empty lists", append([]byte{0xdd, 0, 1, 0, 0}, bytes.Repeat([]byte{0x90}, n)...), frame.ErrTooLarge},
		{"maps", append([]byte{0xdc, 0x10, 0}, bytes.Repeat([]byte{0x81, 0xa0, 0xc0}, 1<<12)...), frame.ErrTooLarge},
	} {
		made := buildObjects(t, x.content)
		var out bytes.Buffer
		if _, err := made.Save(ctx, &out); err != nil {
			t.Fatal(err)
		}
		f, err := frame.OpenBytes(out.Bytes(), &frame.OpenOptions{MaxBytes: most})
		if err != nil {
			t.Fatal(err)
		}
		o, err := New(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := o.Item(ctx, 0, &v); !errors.Is(err, x.want) || err != nil && x.want == nil {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
	}
}

// buildObjects returns the frame of an object array with one item in MessagePack.
func buildObjects(t *testing.T, item []byte) *frame.Frame {
	t.Helper()
	ctx := context.Background()
	layer, err := meta.Marshal(map[string]any{"version": 1, "serializer": "msgpack"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, item) },
		&frame.CreateOptions{Meta: []meta.Layer{{Name: "vlarray", Content: layer}}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
