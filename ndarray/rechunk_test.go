package ndarray

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// countFilter is a filter that changes nothing and counts the blocks that are decoded.
type countFilter struct{ blocks *atomic.Int64 }

func (countFilter) Code() uint8 { return 170 }

func (countFilter) Forward(dst, src []byte, _ chunk.BlockInfo) error {
	copy(dst, src)
	return nil
}

func (f countFilter) Backward(dst, src []byte, _ chunk.BlockInfo) error {
	f.blocks.Add(1)
	copy(dst, src)
	return nil
}

// TestRechunk copies arrays to partitions that cut across the old ones, with little memory: by tiles of another shape
// than those of a plain copy, and with temporary arrays. The copies have the items of the source, no old block is
// decoded more often than the plan says, and no files remain.
func TestRechunk(t *testing.T) {
	shape := []int64{64, 30, 41}
	items := make([]int32, 64*30*41)
	for i := range items {
		items[i] = int32(i * 7)
	}
	for _, x := range []struct {
		from, to []int64
		room     int64 // bytes of items, besides the memory for blocks and new chunks; 0 means 1 KiB of memory in all
		decoded  int64 // blocks, where each chunk is a block
	}{
		{[]int64{1, 30, 41}, []int64{64, 1, 3}, 16 << 10, 64},       // with temporary arrays
		{[]int64{64, 2, 2}, []int64{2, 30, 41}, 16 << 10, 15 * 21},  // the same
		{[]int64{1, 30, 41}, []int64{64, 1, 3}, 1 << 20, 64},        // one tile
		{[]int64{8, 30, 41}, []int64{4, 1, 41}, 40 << 10, 8},        // tiles of whole old chunks
		{[]int64{1, 30, 41}, []int64{64, 2, 41}, 0, 15 * 64},        // a chunk has more than that
		{[]int64{64, 30, 41}, []int64{1, 30, 41}, 10 << 10, 64 / 2}, // a chunk has more, and is not read as a whole
		{[]int64{2, 30, 41}, []int64{1, 30, 41}, 10 << 10, 64 / 2},  // aligned
	} {
		f := countFilter{new(atomic.Int64)}
		a, err := Create(ctx, "", shape, items, &CreateOptions{
			Chunks: x.from, Blocks: x.from, Filters: []chunk.Filter{chunk.Filter(f.Code())}, UserFilters: []chunk.UserFilter{f},
		})
		if err != nil {
			t.Fatal(err)
		}
		size := func(chunks []int64) int64 { return 4 * chunks[0] * chunks[1] * chunks[2] }
		memory := 2 * (x.room + 4*size(x.from) + 4*size(x.to))
		if x.room == 0 {
			memory = 1 << 10
		}
		for kind, o := range map[string]*CreateOptions{"memory": {}, "file": {}, "sparse": {Sparse: true, Checksums: true}} {
			dir := t.TempDir()
			name := filepath.Join(dir, "x")
			if kind == "memory" {
				name = ""
			}
			o.Chunks, o.MaxMemory, o.Level, o.NoSync, o.Concurrency = x.to, memory, 1, true, 1
			f.blocks.Store(0)
			b, err := Copy(ctx, name, a, o)
			if err != nil {
				t.Fatal(err)
			}
			if n := f.blocks.Load(); n != x.decoded {
				t.Errorf("%v to %v in %d bytes, %s: %d blocks decoded, want %d", x.from, x.to, memory, kind, n, x.decoded)
			}
			got, err := Read[int32](ctx, b)
			if err != nil || !slices.Equal(got, items) {
				t.Errorf("%v to %v, %s: other items, %v", x.from, x.to, kind, err)
			}
			if err := b.Frame().Verify(ctx, nil); err != nil || !slices.Equal(b.Chunks(), x.to) {
				t.Errorf("%v to %v, %s: chunks %v, %v", x.from, x.to, kind, b.Chunks(), err)
			}
			b.Close()
			list, err := os.ReadDir(dir)
			if err != nil || name != "" && len(list) != 1 {
				t.Errorf("%v to %v, %s: files %v, %v", x.from, x.to, kind, list, err)
			}
		}
	}
	if _, err := Zeros(ctx, "", shape, "<i4", &CreateOptions{MaxMemory: 1}); !errors.Is(err, ErrParam) {
		t.Errorf("MaxMemory of Zeros: %v", err)
	}
}

// TestRechunkRandom copies small arrays from any partition to any other, with any memory.
func TestRechunkRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	n := 200
	if testing.Short() {
		n = 40
	}
	for range n {
		dims := 1 + rng.IntN(3)
		var shape, from, blocks, to []int64
		for range dims {
			shape = append(shape, 1+rng.Int64N(40))
			from = append(from, 1+rng.Int64N(40))
			blocks = append(blocks, 1+rng.Int64N(from[len(from)-1]))
			to = append(to, 1+rng.Int64N(40))
		}
		size := int64(1)
		for _, k := range shape {
			size *= k
		}
		items := make([]uint16, size)
		for i := range items {
			items[i] = uint16(rng.Uint32())
		}
		a, err := Create(ctx, "", shape, items, &CreateOptions{Chunks: from, Blocks: blocks, Codec: codec.LZ4})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Copy(ctx, "", a, &CreateOptions{Chunks: to, MaxMemory: 1 + rng.Int64N(4*size)})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Read[uint16](ctx, b); err != nil || !slices.Equal(got, items) {
			t.Fatalf("%v, chunks of %v with blocks of %v to %v: other items, %v", shape, from, blocks, to, err)
		}
	}
}

// TestWorkItems sends the boxes of an array with gob and JSON, and reads them with another handle.
func TestWorkItems(t *testing.T) {
	shape := []int64{7, 10}
	items := make([]int16, 70)
	for i := range items {
		items[i] = int16(i)
	}
	name := filepath.Join(t.TempDir(), "x")
	a, err := Create(ctx, name, shape, items, &CreateOptions{Chunks: []int64{3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for most, want := range map[int64]int{1: 9, 47: 9, 48: 6, 60: 3, 119: 3, 120: 2, 1 << 40: 1} {
		list := slices.Collect(a.WorkItems(ByTile(a, most)))
		if len(list) != want {
			t.Errorf("tiles of %d bytes: %d, want %d", most, len(list), want)
		}
		var wire bytes.Buffer
		var viaGob, viaJSON []WorkItem
		if err := errors.Join(gob.NewEncoder(&wire).Encode(list), gob.NewDecoder(&wire).Decode(&viaGob)); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err == nil {
			err = json.Unmarshal(text, &viaJSON)
		}
		if err != nil || !reflect.DeepEqual(viaGob, list) || !reflect.DeepEqual(viaJSON, list) {
			t.Errorf("%v, gob %v, JSON %v, error %v", list, viaGob, viaJSON, err)
		}
		seen := make([]int, len(items))
		for _, w := range viaJSON {
			b, err := Open(ctx, w.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Read[int16](ctx, b, w.Selection()...)
			if err != nil || int64(2*len(got)) != w.NBytes || w.Start[0]%3 != 0 || w.Start[1]%4 != 0 {
				t.Errorf("%+v: %d items, %v", w, len(got), err)
			}
			for _, x := range got {
				seen[x]++
			}
			b.Close()
		}
		if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
			t.Errorf("tiles of %d bytes do not cover the array once", most)
		}
	}
	none, err := Zeros(ctx, "", []int64{0, 3}, "<i2", nil)
	if err != nil || len(slices.Collect(none.WorkItems(ByTile(none, 10)))) != 0 {
		t.Errorf("items of an empty array, %v", err)
	}
	text, err := json.Marshal(WorkItem{"a", Box{[]int64{1}, []int64{2}}, 8})
	if want := `{"Name":"a","Start":[1],"Shape":[2],"NBytes":8}`; string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}

// TestCopyBuffers checks that a new array does not keep the buffers that wrote its chunks: the temporary array of a
// copy would take their memory while it is read.
func TestCopyBuffers(t *testing.T) {
	const chunk = 4 << 20
	items := make([]byte, 4*chunk)
	rand.NewChaCha8([32]byte{1}).Read(items)
	used := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	runtime.GC()
	runtime.GC() // pools keep buffers over one collection
	before := used()
	a, err := CreateBytes(ctx, "", []int64{int64(len(items))}, "|u1", items, &CreateOptions{Chunks: []int64{chunk}, Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	if extra := used() - before - a.CBytes(); extra > 2*chunk {
		t.Errorf("%d bytes besides the array", extra)
	}
	runtime.KeepAlive(items)
	a.Close()
}

// TestCopyOntoItself replaces the file of an array by a copy of it. With Locking on both sides, the copy would wait for
// its own reading.
func TestCopyOntoItself(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" || runtime.GOOS == "plan9" {
		t.Skip("this system has no locks, or cannot replace an open file")
	}
	name := filepath.Join(t.TempDir(), "x.b2nd")
	a, err := Create(t.Context(), name, []int64{4}, []int32{1, 2, 3, 4}, &CreateOptions{Locking: true})
	must(t, err)
	defer a.Close()
	link := filepath.Join(filepath.Dir(name), "..", filepath.Base(filepath.Dir(name)), "x.b2nd")
	for what, call := range map[string]func(ctx context.Context, name string, o *CreateOptions) (*Array, error){
		"Copy": func(ctx context.Context, name string, o *CreateOptions) (*Array, error) { return Copy(ctx, name, a, o) },
		"Concat": func(ctx context.Context, name string, o *CreateOptions) (*Array, error) {
			return Concat(ctx, name, 0, []Reader{a}, o)
		},
		"Reshape": func(ctx context.Context, name string, o *CreateOptions) (*Array, error) {
			return Reshape(ctx, name, a, []int64{4}, o)
		},
		"Map": func(ctx context.Context, name string, o *CreateOptions) (*Array, error) {
			return Map(ctx, name, a, func(out []int32, in Tile[int32]) error { copy(out, in.Items); return nil }, o)
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		for _, name := range []string{name, link} {
			if _, err := call(ctx, name, &CreateOptions{Overwrite: true, Locking: true}); !errors.Is(err, ErrParam) {
				t.Errorf("%s: %v, want ErrParam", what, err)
			}
		}
		if _, err := call(ctx, name, &CreateOptions{Locking: true}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v, want fs.ErrExist", what, err)
		}
		b, err := call(ctx, name+".other", &CreateOptions{Overwrite: true, Locking: true})
		must(t, err)
		must(t, b.Close())
	}
	b, err := Copy(t.Context(), name, a, &CreateOptions{Overwrite: true})
	must(t, err)
	must(t, b.Close())
}

// TestAttrOfOtherHandle stores an array as an attribute of itself, by two handles with locks.
func TestAttrOfOtherHandle(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" || runtime.GOOS == "plan9" {
		t.Skip("this system has no locks")
	}
	name := filepath.Join(t.TempDir(), "x.b2nd")
	a, err := Create(t.Context(), name, []int64{4}, []int32{1, 2, 3, 4}, &CreateOptions{Locking: true})
	must(t, err)
	defer a.Close()
	b, err := Open(t.Context(), name, &OpenOptions{Locking: true})
	must(t, err)
	defer b.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	must(t, a.SetAttr(ctx, "other", b))
	must(t, a.Attr("other", &b))
	if items, err := Read[int32](ctx, b); err != nil || !slices.Equal(items, []int32{1, 2, 3, 4}) {
		t.Errorf("items %v, error %v", items, err)
	}
}

// TestCopyOptions checks what a copy takes from its source.
func TestCopyOptions(t *testing.T) {
	a, err := Create(ctx, "", []int64{8, 8}, make([]float32, 64), &CreateOptions{
		Codec: codec.LZ4, Level: 9, Filters: []chunk.Filter{}, Chunks: []int64{4, 8}, Blocks: []int64{2, 8}, Checksums: true,
		Attrs: map[string]any{"units": "K"}, Meta: []meta.Layer{{Name: "m", Content: []byte{1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, c := range []struct {
		o           *CreateOptions
		id          codec.ID
		level       int
		chunks      []int64
		attrs, meta int
	}{
		{nil, codec.LZ4, 9, []int64{4, 8}, 1, 2},
		{&CreateOptions{}, codec.LZ4, 9, []int64{4, 8}, 1, 2},
		{&CreateOptions{Codec: codec.Zlib}, codec.Zlib, 5, []int64{4, 8}, 1, 2},
		{&CreateOptions{Level: 3}, codec.Zstd, 3, []int64{4, 8}, 1, 2},
		{&CreateOptions{Chunks: []int64{0, 0}}, codec.LZ4, 9, []int64{8, 8}, 1, 2},
		{&CreateOptions{Chunks: []int64{2, -1}}, codec.LZ4, 9, []int64{2, 8}, 1, 2},
		{&CreateOptions{Attrs: map[string]any{}}, codec.LZ4, 9, []int64{4, 8}, 0, 2},
		{&CreateOptions{Meta: []meta.Layer{}}, codec.LZ4, 9, []int64{4, 8}, 1, 1},
	} {
		b, err := Copy(ctx, "", a, c.o)
		if err != nil {
			t.Fatal(err)
		}
		p := b.Frame().Info().Params
		if p.Codec != c.id || p.Level != c.level || !slices.Equal(b.Chunks(), c.chunks) || len(b.Attrs()) != c.attrs ||
			len(b.Frame().Meta()) != c.meta || !b.Frame().Info().Checksums {
			t.Errorf("%+v: %v level %d, chunks %v, attributes %v", c.o, p.Codec, p.Level, b.Chunks(), b.Attrs())
		}
		b.Close()
	}

	// The copy keeps the stored dtype, also of an array that was opened as raw bytes.
	file, err := saved(a.Frame())
	must(t, err)
	raw, err := OpenBytes(file, &OpenOptions{DType: "|V4"})
	must(t, err)
	b, err := Copy(ctx, "", raw, nil)
	must(t, err)
	if d := b.DType().String(); d != "<f4" {
		t.Errorf("copy of <f4 that was opened as |V4 has dtype %s", d)
	}
}

// TestCopyCodec copies chunks of a codec that is not available. They are not decoded.
func TestCopyCodec(t *testing.T) {
	code := codec.FromCode(200)
	o := &CreateOptions{Chunks: []int64{100}, Codec: code, Codecs: []codec.Codec{&savingCodec{}}, Filters: []chunk.Filter{}}
	a, err := Create(ctx, "", []int64{200}, count(200), o)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := saved(a.Frame())
	if err != nil {
		t.Fatal(err)
	}
	a, err = OpenBytes(stored, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() (*Array, error){
		"Copy":   func() (*Array, error) { return Copy(ctx, "", a, nil) },
		"Concat": func() (*Array, error) { return Concat(ctx, "", 0, []Reader{a, a}, nil) },
	} {
		c, err := make()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := c.CreateOptions().Codec; got != code {
			t.Errorf("%s: codec %v, want %v", name, got, code)
		}
	}
	c, err := chunk.Encode(nil, slices.Repeat([]byte("ab"), 500), chunk.Params{Codec: codec.LZ4})
	if err != nil {
		t.Fatal(err)
	}
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.AppendRaw(ctx, c) }, &frame.CreateOptions{Params: chunk.Params{Codec: code}})
	if err != nil || f.Info().Params.Codec != code {
		t.Errorf("AppendRaw: %v", err)
	}
}

// TestCopyNumbers copies converted views of arrays with a lossy codec or filter that is for other numbers.
func TestCopyNumbers(t *testing.T) {
	data := make([]float64, 1000)
	for i := range data {
		data[i] = float64(i)
	}
	for _, o := range []CreateOptions{
		{Codec: codec.ZFPPrec, CodecMeta: 60},
		{Filters: []chunk.Filter{chunk.TruncPrec.With(40), chunk.Shuffle}},
	} {
		a, err := Create(ctx, "", []int64{1000}, data, &o)
		if err != nil {
			t.Fatal(err)
		}
		for _, dtype := range []string{">f8", "<f4", "<i8", ">i8", "<i2"} {
			v, err := AsType(a, dtype)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Copy(ctx, "", v, nil)
			if err != nil {
				t.Fatal(err)
			}
			back, err := AsType(b, "<f8")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Read[float64](ctx, back); err != nil || math.Abs(got[999]-999) > 1 {
				t.Errorf("%v %v, dtype %s: item 999 is %v, %v", o.Codec, o.Filters, dtype, got[999], err)
			}
		}
	}
}

// editedReader is a Reader that edits its array whenever its options are asked for, in the middle of a copy.
type editedReader struct {
	*Array
	edit func()
}

func (r *editedReader) CreateOptions() *CreateOptions {
	r.edit()
	return r.Array.CreateOptions()
}

// TestCopyOfOneState edits an array while it is copied. The copy must show the state before the edit, with its
// metalayers.
func TestCopyOfOneState(t *testing.T) {
	for _, n := range []int64{1, 5, 11, 12, 13, 40} {
		for _, o := range []*CreateOptions{nil, {Chunks: []int64{3}}, {Level: 1}} {
			a, err := Create(ctx, "", []int64{12}, make([]int64, 12), &CreateOptions{
				Chunks: []int64{4}, Blocks: []int64{2}, Meta: []meta.Layer{{Name: "units", Content: []byte("\xa1m")}},
			})
			must(t, err)
			must(t, Fill(ctx, a, 12))
			c, err := Copy(ctx, "", &editedReader{a, func() {
				must(t, a.Resize(ctx, n))
				must(t, Fill(ctx, a, n))
				b, err := a.Frame().Begin(ctx)
				must(t, err)
				must(t, b.SetMeta("units", []byte("\xa1s")))
				must(t, b.Commit())
			}}, o)
			if err != nil {
				t.Errorf("resized to %d: %v", n, err)
				continue
			}
			items, err := Read[int64](ctx, c)
			must(t, err)
			if units := c.Frame().Meta()[1]; !slices.Equal(items, slices.Repeat([]int64{12}, 12)) || string(units.Content) != "\xa1m" {
				t.Errorf("resized to %d: copy has items %v and units %q", n, items, units.Content)
			}
		}
	}
}

// TestCopyNames copies arrays with a metalayer whose name only C-Blosc2 writes.
func TestCopyNames(t *testing.T) {
	for _, name := range []string{"", "a\x00b", "\xff"} {
		l, err := newGivenLayout(ctx, "", []int64{3}, "<i4", nil)
		must(t, err)
		other, err := Zeros(ctx, "", []int64{3}, "<i4", nil)
		must(t, err)
		h, err := snapshotOf(ctx, other)
		must(t, err)
		defer h.release()
		a, err := l.create(ctx, "", func(b *frame.Batch) error {
			must(t, b.Engine().CopyMeta(h.v, []meta.Layer{{Name: name, Content: []byte("m")}}))
			return b.Append(ctx, make([]byte, l.geo.ChunkBytes))
		})
		must(t, err)
		for _, o := range []*CreateOptions{nil, {Chunks: []int64{2}}, {Checksums: true}} {
			c, err := Copy(ctx, "", a, o)
			must(t, err)
			if m := c.Frame().Meta(); len(m) != 2 || m[1].Name != name || string(m[1].Content) != "m" {
				t.Errorf("%q: copy has metalayers %q", name, m)
			}
			must(t, c.Verify(ctx, nil))
		}
		z, err := Zeros(ctx, "", []int64{3}, "<i4", a.CreateOptions())
		must(t, err)
		must(t, Fill(ctx, z, 1))
		setErr := z.SetAttr(ctx, name, 1)
		b, err := z.Begin(ctx)
		must(t, err)
		_, createErr := Zeros(ctx, "", []int64{3}, "<i4", &CreateOptions{Attrs: map[string]any{name: 1}})
		for i, err := range []error{setErr, b.SetAttr(ctx, name, 1), createErr} {
			if !errors.Is(err, ErrParam) {
				t.Errorf("%q: call %d: %v, want %v", name, i, err, ErrParam)
			}
		}
		b.Rollback()
	}
}

// TestCreateChecksChunks creates an array with too few chunks. It must not replace the array of that name.
func TestCreateChecksChunks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.b2nd")
	old, err := Full(ctx, name, []int64{3}, int32(7), nil)
	must(t, err)
	old.Close()
	l, err := newGivenLayout(ctx, name, []int64{9}, "<i4", &CreateOptions{Chunks: []int64{4}, Overwrite: true})
	must(t, err)
	_, err = l.create(ctx, name, func(b *frame.Batch) error { return b.Append(ctx, make([]byte, 16)) })
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v, want %v", err, ErrCorrupt)
	}
	a, err := Open(ctx, name, nil)
	must(t, err)
	defer a.Close()
	if items, err := Read[int32](ctx, a); err != nil || !slices.Equal(items, []int32{7, 7, 7}) {
		t.Errorf("%v, error %v", items, err)
	}
}
