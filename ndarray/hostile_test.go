package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// smallFiles returns the contiguous files of testdata of at most most bytes.
func smallFiles(t testing.TB, most int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, folder := range []string{"python-blosc2", "legacy"} {
		for _, c := range fixtures(t, folder) {
			if fi, err := os.Stat(c.Path); err != nil || fi.IsDir() || fi.Size() > int64(most) {
				continue
			}
			b, err := os.ReadFile(c.Path)
			if err != nil {
				t.Fatal(err)
			}
			files[c.File] = b
		}
	}
	return files
}

// tryAll opens b and reads everything and a part. The result must be data or an error with a location, and the memory
// must be justified by the size of the file.
func tryAll(t testing.TB, what string, b []byte) (opened bool) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	opened = tryRead(t, what, b)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 && !race.Enabled {
		t.Errorf("%s: %d bytes allocated for a file of %d", what, n, len(b))
	}
	return opened
}

// tryRead opens b and reads everything and a part.
func tryRead(t testing.TB, what string, b []byte) (opened bool) {
	ctx := context.Background()
	o := &OpenOptions{Concurrency: 1}
	a, err := OpenBytes(b, o)
	if len(b)%2 == 0 { // open it from a reader instead
		a, err = OpenReaderAt(ctx, bytes.NewReader(b), int64(len(b)), o)
	}
	named := func(err error) {
		var fe *frame.Error
		if err != nil && (!errors.As(err, &fe) || fe.Part == "" || fe.Err == nil) {
			t.Errorf("%s: error without a location: %v", what, err)
		}
	}
	if err != nil {
		named(err)
		return false
	}
	defer a.Close()
	shape := a.Shape()
	if n := a.Size(); n >= 0 && n <= 4<<20/int64(a.DType().Size) {
		named(a.ReadBytes(ctx, make([]byte, n*int64(a.DType().Size))))
	} else if _, err := Read[uint8](ctx, a); err == nil && n > 1<<27 {
		t.Errorf("%s: %d items read at once", what, n)
	}
	sel := make([]Index, len(shape))
	for i, n := range shape {
		sel[i] = Step(n/3, n/3+2*(n/5+1), n/5+1)
	}
	if s, err := selection.Resolve(shape, sel); err != nil {
		t.Errorf("%s: selection: %v", what, err)
	} else if s.Items <= 1<<20/int64(a.DType().Size) {
		named(a.ReadBytes(ctx, make([]byte, s.Items*int64(a.DType().Size)), sel...))
	}
	return true
}

// TestTruncated truncates small files at every byte.
func TestTruncated(t *testing.T) {
	files := smallFiles(t, 1100)
	if len(files) < 20 {
		t.Fatalf("%d files", len(files))
	}
	for name, b := range files {
		for n := range b {
			if testing.Short() && n%7 != 0 {
				continue
			}
			if tryAll(t, name, b[:n:n]) {
				t.Errorf("%s opens when truncated to %d of %d bytes", name, n, len(b))
			}
		}
	}
}

// TestChangedBytes changes random bytes of small files.
func TestChangedBytes(t *testing.T) {
	rounds := 20000
	if testing.Short() || race.Enabled {
		rounds = 2000
	}
	files := smallFiles(t, 4096)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	rng := rand.New(rand.NewPCG(21, 1))
	opened := 0
	for range rounds {
		name := names[rng.IntN(len(names))]
		b := bytes.Clone(files[name])
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(b))
			if rng.IntN(2) == 0 {
				at = rng.IntN(min(len(b), 260)) // the header with its metalayers, and the first chunk
			}
			switch rng.IntN(3) {
			case 0:
				b[at] = byte(rng.Uint32())
			case 1:
				b[at] ^= 1 << rng.IntN(8)
			default:
				b[at] = []byte{0, 1, 127, 128, 255}[rng.IntN(5)]
			}
		}
		if tryAll(t, name, b) {
			opened++
		}
		if t.Failed() {
			os.WriteFile(filepath.Join(os.TempDir(), "changed.b2nd"), b, 0o666)
			return
		}
	}
	if opened < rounds/10 || opened > rounds*9/10 {
		t.Errorf("%d of %d changed files open", opened, rounds)
	}
}

// TestChangedShapes replaces every number of the metalayer by very large and unusual numbers.
func TestChangedShapes(t *testing.T) {
	for name, b := range smallFiles(t, 2000) {
		layer := bytes.Index(b, []byte{0, 2, 0x92, 0xd3}) // the shape of two dimensions
		if layer < 0 {
			continue
		}
		at := layer + 3
		for i := range 6 {
			for _, x := range []uint64{0, 1, 2, 1 << 20, 1<<31 - 1, 1 << 31, 1 << 40, 1<<62 + 1, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
				c := bytes.Clone(b)
				switch {
				case i < 2:
					binary.BigEndian.PutUint64(c[at+9*i+1:], x)
				default:
					binary.BigEndian.PutUint32(c[at+18+5*(i-2)+(i-2)/2+2:], uint32(x))
				}
				tryAll(t, name, c)
			}
		}
	}
}

// TestHugeArrays reads from arrays of special values that are larger than any memory. It must not allocate memory for
// them.
func TestHugeArrays(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		shape          []int64
		chunks, blocks []int64
	}{
		{[]int64{1 << 57}, []int64{1 << 30}, []int64{1 << 28}},
		{[]int64{1 << 31, 1 << 26}, []int64{1 << 15, 1 << 15}, []int64{1 << 14, 1 << 14}},
		{[]int64{1 << 27}, []int64{1}, []int64{1}},
		{[]int64{1 << 26, 1, 1 << 30}, []int64{1, 1, 1 << 30}, []int64{1, 1, 1 << 10}},
	} {
		made, err := Zeros(ctx, "", c.shape, "|u1", &CreateOptions{Chunks: c.chunks, Blocks: c.blocks})
		if err != nil {
			t.Fatalf("%v: %v", c.shape, err)
		}
		b, err := saved(made.Frame())
		if err != nil {
			t.Fatal(err)
		}
		tryAll(t, "huge", b)
		a, err := OpenBytes(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read[uint8](ctx, a); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v: all items read: %v", c.shape, err)
		}
		at := make([]int64, len(c.shape))
		for i := range at {
			at[i] = -1
		}
		if x, err := Item[uint8](ctx, a, at...); x != 0 || err != nil {
			t.Errorf("%v: last item %d, %v", c.shape, x, err)
		}
		far := Step(None, None, max(1, c.shape[0]/5))
		rest := make([]Index, len(c.shape))
		rest[0] = far
		for i := 1; i < len(rest); i++ {
			rest[i] = Step(None, None, -max(1, c.shape[i]/3))
		}
		if x, err := Read[uint8](ctx, a, rest...); len(x) < 5 || err != nil {
			t.Errorf("%v: %d distant items: %v", c.shape, len(x), err)
		}
	}
}

// TestOddChunks replaces the chunk of an array by valid chunks that do not match the array.
func TestOddChunks(t *testing.T) {
	ctx := context.Background()
	value := func(n int, v []byte) []byte {
		c, err := chunk.EncodeSpecial(nil, chunk.Value, n, v, chunk.Params{TypeSize: len(v)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	encoded := func(n int, p chunk.Params) []byte {
		c, err := chunk.Encode(nil, bytes.Repeat([]byte("0123456"), n)[:n], p)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	vl, err := new(chunk.Coder).EncodeBlocks(nil, [][]byte{make([]byte, 10), []byte("0123456789"), make([]byte, 40)}, chunk.Params{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		blocks []int64
		chunk  []byte
		want   error
	}{
		{"variable blocks", []int64{5, 4}, vl, ErrCorrupt},
		{"variable blocks instead of several", []int64{5, 2}, vl, ErrCorrupt},
		{"other blocks", []int64{5, 4}, encoded(60, chunk.Params{TypeSize: 3, BlockSize: 30}), ErrCorrupt},
		{"larger blocks", []int64{5, 2}, encoded(60, chunk.Params{TypeSize: 3, BlockSize: 60}), ErrCorrupt},
		{"other size", []int64{5, 4}, encoded(63, chunk.Params{TypeSize: 3}), ErrCorrupt},
		{"smaller size", []int64{5, 4}, encoded(57, chunk.Params{TypeSize: 3}), ErrCorrupt},
		{"long value", []int64{5, 2}, value(60, []byte("012345")), ErrCorrupt},
		{"odd value", []int64{5, 2}, value(60, []byte("01")), ErrCorrupt},
		{"value of a byte", []int64{5, 2}, value(60, []byte("7")), nil},
		{"value of an item", []int64{5, 4}, value(60, []byte("789")), nil},
		{"other item size", []int64{5, 2}, encoded(60, chunk.Params{TypeSize: 2, BlockSize: 30}), nil},
	} {
		a, err := CreateBytes(ctx, "", []int64{5, 4}, "|V3", bytes.Repeat([]byte("abcde"), 12), &CreateOptions{Chunks: []int64{5, 4}, Blocks: c.blocks})
		if err != nil {
			t.Fatal(err)
		}
		f := a.Frame()
		if err := replaceOnly(ctx, f, c.chunk); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		for i, err := range []error{
			a.ReadBytes(ctx, make([]byte, 60)),
			a.ReadBytes(ctx, make([]byte, 18), Span(1, 3), Span(1, None)),
			a.WriteBytes(ctx, make([]byte, 18), Span(1, 3), Span(1, None)),
		} {
			var fe *frame.Error
			if i == 2 && err == nil && strings.Contains(c.what, "value") {
				continue // the bytes are valid for this array
			}
			if !errors.Is(err, c.want) || err != nil && !errors.As(err, &fe) {
				t.Errorf("%s, call %d: %v", c.what, i, err)
			}
		}
	}
}

// TestIndexOfFewBytes opens frames whose index is a special value that represents millions of offsets.
func TestIndexOfFewBytes(t *testing.T) {
	made, err := Zeros(ctx, "", []int64{1 << 20}, "|u1", &CreateOptions{Chunks: []int64{1}, Blocks: []int64{1}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := saved(made.Frame())
	if err != nil {
		t.Fatal(err)
	}
	index := b[binary.BigEndian.Uint32(b[11:]):]
	if !tryAll(t, "zeros", b) {
		t.Error("an array of zeros does not open")
	}
	index[39] = 0 // all chunks at offset 0
	if tryAll(t, "one position", b) {
		t.Error("opened a frame with millions of chunks at the same offset")
	}
	for _, s := range []chunk.Special{chunk.Zeros, chunk.Uninit} {
		index[31] = byte(s) << 4
		if tryAll(t, s.String(), b) {
			t.Errorf("opened a frame with millions of chunks and an index of %v", s)
		}
	}
}

// FuzzReadWrite applies random edits to an array whose geometry the fuzzer chooses, and compares it with a model.
func FuzzReadWrite(f *testing.F) {
	f.Add(uint64(1), uint8(2), uint16(10), uint16(12), uint16(3), uint8(4), uint8(5), uint8(6))
	f.Add(uint64(2), uint8(0), uint16(0), uint16(0), uint16(0), uint8(0), uint8(0), uint8(1))
	f.Add(uint64(3), uint8(3), uint16(7), uint16(1), uint16(9), uint8(200), uint8(3), uint8(255))
	f.Add(uint64(4), uint8(1), uint16(300), uint16(0), uint16(0), uint8(64), uint8(9), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, ndim uint8, x, y, z uint16, chunks, blocks, size uint8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		most := []int64{1, 600, 40, 14}[ndim%4]
		shape := []int64{int64(x) % most, int64(y) % most, int64(z) % most}[:ndim%4]
		o := &CreateOptions{Chunks: make([]int64, len(shape)), Blocks: make([]int64, len(shape))}
		for i := range shape {
			o.Chunks[i] = max(1+int64(chunks>>i)%int64(most), int64(most)/6) // else each run takes seconds
			o.Blocks[i] = 1 + int64(blocks>>i)%o.Chunks[i]
		}
		o.setParams(randomCParams(rng))
		o.Concurrency = 1
		if ndim%4 > 1 {
			size %= 40
		}
		m := newModel(shape, 1+int(size))
		m.data = randomBytes(rng, len(m.data))
		ctx := context.Background()
		a, err := CreateBytes(ctx, "", shape, fmt.Sprintf("|V%d", m.size), m.data, o)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			m.check(t, a, rng)
			switch rng.IntN(3) {
			case 0:
				next := make([]int64, len(shape))
				for i := range next {
					next[i] = rng.Int64N(most)
				}
				if err := a.Resize(ctx, next...); err != nil {
					t.Fatal(err)
				}
				m = m.resize(next)
			default:
				sel := randomSelection(rng, m.shape)
				list, _ := m.at(t, sel)
				src := randomBytes(rng, len(list)*m.size)
				if err := a.WriteBytes(ctx, src, sel...); err != nil {
					t.Fatal(err)
				}
				m.write(t, src, sel)
			}
		}
		m.check(t, a, rng)
	})
}

// FuzzOpen opens any bytes. If they are an array, it reads and edits it in memory, which must succeed or return an
// error.
func FuzzOpen(f *testing.F) {
	for _, b := range smallFiles(f, 1300) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !tryAll(t, "fuzzed", b) {
			return
		}
		a, err := OpenBytes(bytes.Clone(b), nil)
		if err != nil {
			return
		}
		if n := a.Size(); n > 1<<16 || int64(a.DType().Size) > 1<<10 || a.geometryBytes() > 1<<22 {
			return
		}
		c, err := Copy(context.Background(), "", a, nil)
		if err != nil {
			return
		}
		item := make([]byte, a.DType().Size)
		shape := c.Shape()
		for i := range shape {
			shape[i] = (shape[i] + 1) % 50
		}
		// The array may have damaged chunks. An edit then fails and must leave the array unchanged.
		before := make([]byte, c.Size()*int64(c.DType().Size))
		readable := c.ReadBytes(context.Background(), before) == nil
		err = c.Resize(context.Background(), shape...)
		if err == nil {
			err = c.FillBytes(context.Background(), item)
		}
		if err == nil {
			after := make([]byte, c.Size()*int64(c.DType().Size))
			if err := c.ReadBytes(context.Background(), after); err != nil || !coder.IsZero(after) {
				t.Errorf("filled with zeros, but reads other items: %v", err)
			}
		} else if after := make([]byte, len(before)); readable && len(before) == int(c.Size())*c.DType().Size {
			if err := c.ReadBytes(context.Background(), after); err != nil || !bytes.Equal(before, after) {
				t.Errorf("a failed edit changed the array: %v", err)
			}
		}
	})
}

// geometryBytes returns the decoded size of a chunk in bytes.
func (a *Array) geometryBytes() int64 { return a.state.Load().geo.ChunkBytes }

// TestHugeItems reads items that are much larger than their file, as values that are not stored like them.
func TestHugeItems(t *testing.T) {
	const size = 2 << 20
	ctx := context.Background()
	made, err := Zeros(ctx, "", []int64{3}, fmt.Sprintf("|S%d", size), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := saved(made.Frame())
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]error{size / 2: ErrTooLarge, 0: nil} {
		a, err := OpenBytes(b, &OpenOptions{MaxBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := Item[string](ctx, a, 1); s != "" || !errors.Is(err, want) {
			t.Errorf("MaxBytes %d: Item: %q, %v, want %v", limit, s, err, want)
		}
		s := []string{"x"}
		if err := ReadInto(ctx, a, s, At(2)); !errors.Is(err, want) || err == nil && s[0] != "" {
			t.Errorf("MaxBytes %d: ReadInto: %q, %v, want %v", limit, s, err, want)
		}
	}
}

// TestTinyBlocks makes arrays with the partition of a file of few bytes, whose chunks have millions of blocks.
func TestTinyBlocks(t *testing.T) {
	ctx := t.Context()
	made, err := Full(ctx, "", []int64{10}, uint8(3), &CreateOptions{Chunks: []int64{1 << 30}, Blocks: []int64{32}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := saved(made.Frame())
	if err != nil {
		t.Fatal(err)
	}
	a, err := OpenBytes(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	add := func(out []uint8, in Tile[uint8]) error {
		for i, x := range in.Items {
			out[i] = x + uint8(in.Start[0]) + uint8(i)
		}
		return nil
	}
	for name, do := range map[string]func() (*Array, error){
		"Map":    func() (*Array, error) { return Map(ctx, "", a, add, nil) },
		"Copy":   func() (*Array, error) { return Copy(ctx, "", a, &CreateOptions{Level: 1}) },
		"Concat": func() (*Array, error) { return Concat(ctx, "", 0, []Reader{a, a}, nil) },
	} {
		if _, err := do(); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v, want %v", name, err, ErrTooLarge)
		}
	}
	if _, err := Copy(ctx, "", a, nil); err != nil {
		t.Errorf("Copy of stored chunks: %v", err)
	}
	if _, err := Copy(ctx, "", a, &CreateOptions{Chunks: []int64{10}, Blocks: []int64{10}}); err != nil {
		t.Errorf("Copy with another partition: %v", err)
	}
}

// TestReduceLargeBlocks reduces chunks of one block of 24 MiB, with memory for a few of them at a time.
func TestReduceLargeBlocks(t *testing.T) {
	const n, size = 12, 24 << 20
	ctx := t.Context()
	made, err := Full(ctx, "", []int64{n, size}, uint8(1), &CreateOptions{Codec: codec.LZ4, Chunks: []int64{1, size}, Blocks: []int64{1, size}})
	for i := range int64(n) {
		err = errors.Join(err, made.WriteBytes(ctx, []byte{0}, At(i), At(0)))
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := saved(made.Frame())
	if err != nil {
		t.Fatal(err)
	}
	a, err := OpenBytes(b, &OpenOptions{Concurrency: n, MaxBytes: size})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sum, err := ReduceAll[uint64](ctx, a, OpSum, nil)
	runtime.ReadMemStats(&after)
	if err != nil || sum != n*(size-1) {
		t.Errorf("sum %v, %v, want %v", sum, err, n*(size-1))
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 6*size {
		t.Errorf("%d MiB allocated", got>>20)
	}
}

// TestReduceLargeResult reduces chunks that have as many items as the result. The cells of a few chunks are larger than
// all of their items. With memory for the cells of one chunk, there are no more.
func TestReduceLargeResult(t *testing.T) {
	const n, size = 10, 1 << 20
	ctx := t.Context()
	made, err := Full(ctx, "", []int64{n, size}, uint8(1), &CreateOptions{Chunks: []int64{1, size}, Blocks: []int64{1, size}})
	must(t, err)
	b, err := saved(made.Frame())
	must(t, err)
	axes := &ReduceOptions{Axes: []int{0}}
	dst := make([]float64, size)
	for limit, most := range map[int64]uint64{-1: 120 << 20, 48 << 20: 96 << 20, 30 << 20: 1 << 20} {
		a, err := OpenBytes(b, &OpenOptions{Concurrency: n, MaxBytes: limit})
		must(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = ReduceInto(ctx, a, dst, OpVar, axes)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > most || errors.Is(err, ErrTooLarge) != (limit == 30<<20) {
			t.Errorf("MaxBytes of %d: %d MiB allocated, %v", limit, got>>20, err)
		}
	}
	limited, err := OpenBytes(b, &OpenOptions{MaxBytes: 48 << 20})
	must(t, err)
	a, err := AsType(limited, "<c16")
	must(t, err)
	if err := ReduceInto(ctx, a, dst, OpVar, axes); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a result of 56 MiB with MaxBytes of 48 MiB: %v", err)
	}
}

// TestHugeAttrs reads attributes of little MessagePack that are much larger as Go values, and an array whose bytes, the
// value of an attribute, are stored in far fewer.
func TestHugeAttrs(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros(ctx, "", []int64{3}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := Zeros(ctx, "", []int64{200, 1 << 20}, "|u1", &CreateOptions{Level: codec.NoCompression, Chunks: []int64{1, 1 << 20}})
	if err == nil {
		err = inner.WriteBytes(ctx, bytes.Repeat([]byte("pattern!"), 1<<17), At(0))
	}
	if err := errors.Join(err, a.SetAttr(ctx, "lists", make([][]any, 1<<21)), a.SetAttr(ctx, "array", inner)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := a.Save(ctx, &out); err != nil {
		t.Fatal(err)
	}
	if a, err = OpenBytes(out.Bytes(), nil); err != nil {
		t.Fatal(err)
	}
	var v any
	if err := a.Attr("lists", &v); !errors.Is(err, ErrTooLarge) || errors.Is(err, ErrCorrupt) {
		t.Errorf("lists: %v, want %v", err, ErrTooLarge)
	}
	if err := a.Attr("array", &inner); err != nil {
		t.Fatal(err)
	}
	if _, err := Read[uint8](ctx, inner); !errors.Is(err, ErrTooLarge) {
		t.Errorf("200 MiB from a file of %d bytes: %v, want %v", out.Len(), err, ErrTooLarge)
	}
}

// TestChunkLimit checks that calls that hold whole chunks name a chunk in the error if the limit is less than a chunk,
// also for an array that is shorter than a chunk along an axis.
func TestChunkLimit(t *testing.T) {
	for _, c := range []struct{ shape, chunks, blocks []int64 }{
		{[]int64{4 << 20}, []int64{2 << 20}, []int64{64 << 10}},
		{[]int64{1500, 3000}, []int64{2000, 2000}, []int64{200, 200}},
	} {
		n := int64(1)
		for _, length := range c.shape {
			n *= length
		}
		data := make([]uint8, n)
		for i := range data {
			data[i] = uint8(i >> 12)
		}
		made, err := Create(t.Context(), "", c.shape, data, &CreateOptions{Chunks: c.chunks, Blocks: c.blocks})
		must(t, err)
		defer made.Close()
		file, err := saved(made.Frame())
		must(t, err)
		a, err := OpenBytes(file, &OpenOptions{MaxBytes: 1 << 20, Concurrency: 1})
		must(t, err)
		defer a.Close()
		checkChunkLimit(t, a)
	}
}

// checkChunkLimit calls functions that hold whole chunks of a, and some that do not.
func checkChunkLimit(t *testing.T, a *Array) {
	ctx := t.Context()
	tiles := func(boxes Boxes) error {
		for _, err := range Tiles[uint8](ctx, a, boxes) {
			return err
		}
		return nil
	}
	large := &CreateOptions{Level: 1}
	small := &CreateOptions{Level: 1, Chunks: slices.Repeat([]int64{500}, len(a.Shape()))}
	for name, do := range map[string]func() error{
		"Reduce":          func() error { _, err := Reduce(ctx, a, OpSum, nil); return err },
		"Histogram":       func() error { _, err := Histogram(ctx, a, []float64{0, 1, 2}); return err },
		"Quantiles":       func() error { _, err := Quantiles(ctx, a, []float64{0.5}, nil); return err },
		"Copy":            func() error { _, err := Copy(ctx, "", a, large); return err },
		"Reshape":         func() error { _, err := Reshape(ctx, "", a, []int64{-1}, large); return err },
		"Concat":          func() error { _, err := Concat(ctx, "", 0, []Reader{a, a, a}, large); return err },
		"Tiles of chunks": func() error { return tiles(ByChunk(a)) },
		"Tiles of tiles":  func() error { return tiles(ByTile(a, 1)) },
	} {
		if err := do(); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "chunk") {
			t.Errorf("%v: %s: %v", a.Shape(), name, err)
		}
	}
	if err := tiles(ByRows(a, 0, a.Shape()[0])); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "a box") {
		t.Errorf("%v: Tiles of rows: %v", a.Shape(), err)
	}
	for name, do := range map[string]func() error{
		"ToWriter":              func() error { return ToWriter(ctx, io.Discard, a) },
		"Copy":                  func() error { _, err := Copy(ctx, "", a, small); return err },
		"Copy of stored chunks": func() error { _, err := Copy(ctx, "", a, nil); return err },
		"Concat":                func() error { _, err := Concat(ctx, "", 0, []Reader{a, a}, small); return err },
		"Reshape": func() error {
			_, err := Reshape(ctx, "", a, []int64{-1}, &CreateOptions{Chunks: []int64{1 << 19}})
			return err
		},
	} {
		if err := do(); err != nil {
			t.Errorf("%v: %s: %v", a.Shape(), name, err)
		}
	}
}
