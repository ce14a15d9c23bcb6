package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// TestReadAllocates checks that reads in a loop allocate nothing after the first rounds, which fill pools.
func TestReadAllocates(t *testing.T) {
	if race.Enabled {
		t.Log("the race detector makes pools drop memory at random, so allocations cannot be counted")
		return
	}
	for _, concurrency := range []int{1, 3} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) { readAllocates(t, concurrency) })
	}
}

func readAllocates(t *testing.T, concurrency int) {
	ctx := context.Background()
	o := &CreateOptions{Chunks: []int64{20, 30}, Blocks: []int64{7, 10}}
	o.Concurrency = concurrency
	data := make([]float32, 50*70)
	for i := range data {
		data[i] = float32(i % 1000)
	}
	clear(data[30*70:])
	for _, name := range []string{"", filepath.Join(t.TempDir(), "a.b2nd")} {
		a, err := Create(ctx, name, []int64{50, 70}, data, o)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		full, err := fullBytes("", []int64{50, 70}, "<f4", []byte{0, 0, 128, 63}, o)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float32, 50*70)
		var item float32
		row, column := Span(3, 40), Step(60, 2, -3)
		for what, f := range map[string]func() error{
			"whole":  func() error { return ReadInto(ctx, a, dst) },
			"slice":  func() error { return ReadInto(ctx, a, dst[:37*20], row, column) },
			"inline": func() error { return ReadInto(ctx, a, dst[:5*70], Span(3, 8)) },
			"point":  func() error { return ReadInto(ctx, a, dst[:1], At(3), At(-8)) },
			"zeros":  func() error { return ReadInto(ctx, a, dst[:5*70], Span(42, 47)) },
			"value":  func() error { return ReadInto(ctx, full, dst) },
			"item": func() (err error) {
				item, err = Item[float32](ctx, a, 5, 6)
				return err
			},
		} {
			var failed error
			run := func() {
				if err := f(); err != nil {
					failed = err
				}
			}
			for range 10 {
				run()
			}
			if n := testing.AllocsPerRun(200, run); n != 0 || failed != nil {
				t.Errorf("file %q: %s: %v allocations in a read, error %v", name, what, n, failed)
			}
		}
		if item != 356 {
			t.Errorf("item %v", item)
		}
	}
}

// TestDecodeInParallel decodes eight blocks of an array at the same time. A filter waits in each block until all eight
// have reached it, which would never happen if decoding held a lock. Eight goroutines read one block each, and one call
// reads all blocks.
func TestDecodeInParallel(t *testing.T) {
	const n = 8
	ctx := context.Background()
	var mu sync.Mutex
	var here int
	var all chan bool
	o := &CreateOptions{Chunks: []int64{n * 100}, Blocks: []int64{100}}
	funcFilter(func() error {
		mu.Lock()
		if here++; here == n {
			close(all)
		}
		wait := all
		mu.Unlock()
		select {
		case <-wait:
		case <-time.After(20 * time.Second):
			t.Error("blocks are not decoded in parallel")
		}
		return nil
	}).use(o)
	data := make([]int32, n*100)
	for i := range data {
		data[i] = int32(i)
	}
	o.Concurrency = n
	a, err := Create(ctx, "", []int64{n * 100}, data, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	read := func(from, to int64) {
		got := make([]int32, to-from)
		if err := ReadInto(ctx, a, got, Span(from, to)); err != nil || got[0] != int32(from) || got[to-from-1] != int32(to-1) {
			t.Errorf("%d to %d: the items differ, error %v", from, to, err)
		}
	}
	here, all = 0, make(chan bool)
	var wg sync.WaitGroup
	for i := range int64(n) {
		wg.Go(func() { read(100*i, 100*i+100) })
	}
	wg.Wait()
	here, all = 0, make(chan bool)
	read(0, n*100)
}

// BenchmarkDisjoint reads disjoint slices of an array in eight goroutines. Run it with -cpu 1,2,... to measure the
// speedup.
func BenchmarkDisjoint(b *testing.B) {
	ctx := context.Background()
	o := benchOptions(codec.LZ4, 5)
	o.Concurrency = 1
	data := benchData()
	a, err := Create(ctx, filepath.Join(b.TempDir(), "a.b2nd"), benchShape, data, o)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	const n = 8
	rows := benchShape[0] / n
	dst := make([]float32, len(data))
	b.SetBytes(int64(4 * len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range int64(n) {
			part := dst[i*rows*256*256:][:rows*256*256]
			wg.Go(func() {
				if err := ReadInto(ctx, a, part, Span(i*rows, i*rows+rows)); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

// savingCodec keeps the streams that it encodes, and records the number of bytes that each decoding requests.
type savingCodec struct {
	mu        sync.Mutex
	kept      [][]byte
	requested []int
}

func (*savingCodec) ID() codec.ID                                     { return codec.FromCode(200) }
func (c *savingCodec) NewEncoder(codec.Params) (codec.Encoder, error) { return c, nil }
func (c *savingCodec) NewDecoder(codec.Params) (codec.Decoder, error) { return c, nil }
func (c *savingCodec) Decode(dst, src []byte) error                   { return c.DecodePrefix(dst, src, len(dst)) }

func (c *savingCodec) Encode(dst, src []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dst[0] = byte(len(c.kept))
	c.kept = append(c.kept, bytes.Clone(src))
	return 1, nil
}

func (c *savingCodec) DecodePrefix(dst, src []byte, n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requested = append(c.requested, n)
	copy(dst[:n], c.kept[src[0]])
	return nil
}

// TestPartialDecoding checks that the decoding of a block stops after the last selected item.
func TestPartialDecoding(t *testing.T) {
	ctx := context.Background()
	saving := &savingCodec{}
	o := &CreateOptions{Chunks: []int64{8, 10}, Blocks: []int64{4, 5}}
	o.Codecs = []codec.Codec{saving}
	o.setParams(chunk.Params{Codec: codec.FromCode(200), Filters: []chunk.Filter{}})
	items := make([]int32, 8*10)
	for i := range items {
		items[i] = int32(i) * 12345
	}
	a, err := CreateBytes(ctx, "", []int64{8, 10}, "<i4", convert.Bytes(items), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	view, err := Transpose(a)
	if err != nil {
		t.Fatal(err)
	}
	border, err := CreateBytes(ctx, "", []int64{7, 9}, "<i4", convert.Bytes(items[:7*9]), o)
	if err != nil {
		t.Fatal(err)
	}
	defer border.Close()
	for _, c := range []struct {
		name string
		from Reader
		sel  []Index
		want []int // number of items for each decoded block
	}{
		{"first row of blocks", a, []Index{At(0)}, []int{5, 5}},
		{"second row", a, []Index{At(5), Span(0, 3)}, []int{8}},
		{"an item", a, []Index{At(2), At(6)}, []int{12}},
		{"backwards", a, []Index{Step(3, 0, -2), At(0)}, []int{16}},
		{"whole blocks", a, []Index{Span(0, 4)}, []int{20, 20}},
		{"column", a, []Index{All, At(0)}, []int{16, 16}},
		{"a list", a, []Index{Flat(30, 2, 11)}, []int{16}},
		{"lists of rows", a, []Index{Pick(1, 0), Span(4, 6)}, []int{10, 6}},
		{"row of a view", view, []Index{All, At(1)}, []int{10, 10}},
		{"all with a border", border, nil, []int{20, 20, 20, 20}},
		{"last row before a border", border, []Index{At(-1)}, []int{15, 14}},
		{"row before the last", border, []Index{At(-2)}, []int{10, 9}},
		{"column beside a border", border, []Index{All, At(5)}, []int{16, 11}},
		{"list up to a border", border, []Index{Flat(62, 5)}, []int{1, 14}},
	} {
		saving.requested = nil
		shape, err := c.from.SelectionShape(c.sel...)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(4)
		for _, x := range shape {
			n *= x
		}
		if err := c.from.ReadBytes(ctx, make([]byte, n), c.sel...); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		slices.Sort(saving.requested)
		slices.Sort(c.want)
		for i := range c.want {
			c.want[i] *= 4
		}
		if !slices.Equal(saving.requested, c.want) {
			t.Errorf("%s: requests of %d bytes, want %d", c.name, saving.requested, c.want)
		}
	}
}

// TestReadDamagedEnd checks that reads of all items notice damage after the last item of a block at the border of the
// array.
func TestReadDamagedEnd(t *testing.T) {
	ctx := context.Background()
	const rows, columns = 7, 9
	items := make([]int32, rows*columns)
	for i := range items {
		items[i] = int32(i % 3)
	}
	for _, filters := range [][]chunk.Filter{{}, {chunk.Shuffle}} {
		o := &CreateOptions{Chunks: []int64{8, 16}, Blocks: []int64{8, 16}}
		o.setParams(chunk.Params{Codec: codec.Zlib, Level: 5, Filters: filters, Split: chunk.SplitNever})
		a, err := Create(ctx, "", []int64{rows, columns}, items, o)
		if err != nil {
			t.Fatal(err)
		}
		var saved bytes.Buffer
		if _, err := a.Frame().Save(ctx, &saved); err != nil {
			t.Fatal(err)
		}
		stored := saved.Bytes()
		info, err := a.Frame().ChunkInfo(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		stored[info.Off+int64(info.CBytes)-1]++ // of the Adler-32
		if a, err = OpenBytes(stored, nil); err != nil {
			t.Fatal(err)
		}
		turned, err := Transpose(a)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, 4*rows*columns)
		_, converted := Read[float64](ctx, a)
		var tiles error
		for _, err := range Tiles[int32](ctx, a, ByChunk(a)) {
			tiles = errors.Join(tiles, err)
		}
		for name, err := range map[string]error{
			"ReadBytes": a.ReadBytes(ctx, dst),
			"Step":      a.ReadBytes(ctx, dst, Step(6, -8, -1)),
			"Transpose": turned.ReadBytes(ctx, dst),
			"Read":      converted,
			"Tiles":     tiles,
		} {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("filters %v: %s: %v", filters, name, err)
			}
		}
		if err := a.ReadBytes(ctx, dst[:4*columns], At(1)); err != nil {
			t.Errorf("a row before the damage: %v", err)
		}
	}
}

// TestReadRows reads boxes, steps, views and lists from blocks whose rows are long enough for SIMD kernels, with items
// of many sizes, and compares them with a loop over the items.
func TestReadRows(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(8, 1))
	shape := []int64{6, 11, 150}
	rounds := 6
	if testing.Short() {
		rounds = 1
	}
	for _, size := range []int{1, 2, 3, 4, 8, 12, 16, 300} {
		for _, filters := range [][]chunk.Filter{nil, {chunk.Shuffle.With(2)}, {chunk.BitShuffle}} {
			o := &CreateOptions{Chunks: []int64{4, 10, 110}, Blocks: []int64{3, 4, 45}}
			o.setParams(chunk.Params{Codec: codec.LZ4, Level: 1, Filters: filters})
			m := newModel(shape, size)
			m.data = randomBytes(rng, len(m.data))
			a, err := CreateBytes(ctx, "", shape, fmt.Sprintf("|V%d", size), m.data, o)
			if err != nil {
				t.Fatal(err)
			}
			for range rounds {
				m.check(t, a, rng)
				at := make([]int64, 1+rng.IntN(40))
				for i := range at {
					at[i] = rng.Int64N(6 * 11 * 150)
				}
				for _, sel := range [][]Index{{Flat(at...)}, {Pick(1, 4, 1), All, Span(3, 20)}, {Coords([]int64{0, 5, 5}), Coords([]int64{3, 3, 9})}} {
					_, positions, err := naiveSelect(shape, sel)
					if err != nil {
						t.Fatal(err)
					}
					var want []byte
					for _, p := range positions {
						want = append(want, m.item(p)...)
					}
					got := make([]byte, len(want))
					if err := a.ReadBytes(ctx, got, sel...); err != nil || !bytes.Equal(got, want) {
						t.Fatalf("size %d: %v: the items differ (%v)", size, sel, err)
					}
				}
			}
			v, err := Transpose(a, 1, 0, 2)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(m.data))
			if err := v.ReadBytes(ctx, got); err != nil {
				t.Fatal(err)
			}
			for i := range 11 * 6 {
				row := 150 * size
				if !bytes.Equal(got[i*row:][:row], m.data[(i%6*11+i/6)*row:][:row]) {
					t.Fatalf("size %d: row %d of the transposed array: the items differ", size, i)
				}
			}
			a.Close()
		}
	}
}

// unfusedWriting is a writing that copies all items of a block before the block is shuffled.
type unfusedWriting struct{ writing }

func (c *unfusedWriting) Block(b *engine.Block, v *engine.Visit, k, at, n int) {
	c.writing.Block(b, v, k, at, n)
	b.ItemSize = 0
}

// writeUnfused is WriteBytes with unfusedWriting.
func writeUnfused(a *Array, src []byte, sel []Index) error {
	return a.edit(context.Background(), func(b *Batch) error {
		s, err := selection.Resolve(b.st.rec.Shape, sel)
		if err != nil || s.Items == 0 {
			return err
		}
		w := &unfusedWriting{writing{src: src, plan: selection.NewPlan(b.st.geo, &s)}}
		return a.encode(context.Background(), b.b, b.st, w, w.size())
	})
}

// TestWriteRows creates and changes arrays whose blocks are shuffled directly from the rows of the source, also through
// views, and compares the files with those of unfusedWriting. Blocks have rows of many lengths and extend past the end
// of chunks and of the array.
func TestWriteRows(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rng := rand.New(rand.NewPCG(8, 2))
	shape := []int64{6, 11, 150}
	ways := []func(a *Array, src []byte, sel []Index) error{
		writeUnfused,
		func(a *Array, src []byte, sel []Index) error { return a.WriteBytes(ctx, src, sel...) },
		func(a *Array, src []byte, sel []Index) error {
			v, err := Slice(a, sel...)
			if err != nil {
				return err
			}
			return v.WriteBytes(ctx, src)
		},
	}
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	n := 0
	for _, size := range []int{1, 2, 3, 4, 8, 12, 16, 300} {
		for _, filters := range [][]chunk.Filter{
			nil, {chunk.Shuffle.With(2)}, {chunk.Shuffle, chunk.Delta}, {chunk.Delta, chunk.Shuffle},
		} {
			n++
			o := &CreateOptions{Chunks: []int64{4, 10, 110}, Blocks: []int64{3, 4, 45}}
			if n%2 == 0 {
				o = &CreateOptions{Chunks: []int64{6, 8, 96}, Blocks: []int64{2, 4, 1 + rng.Int64N(96)}}
			}
			o.setParams(chunk.Params{Codec: codec.LZ4, Level: 1, Filters: filters, Dict: n%5 == 0})
			o.Concurrency, o.NoSync = 1+n%3, true
			arrays, files := make([]*Array, len(ways)), make([]string, len(ways))
			for i := range arrays {
				var err error
				files[i] = filepath.Join(dir, fmt.Sprintf("%d-%d.b2nd", n, i))
				if arrays[i], err = Zeros(ctx, files[i], shape, fmt.Sprintf("|V%d", size), o); err != nil {
					t.Fatal(err)
				}
			}
			for round := range rounds {
				var sel []Index // the whole array at first
				switch {
				case round%2 == 1:
					sel = []Index{Span(rng.Int64N(3), 6), Span(rng.Int64N(3), 11), Span(rng.Int64N(30), 150-rng.Int64N(30))}
				case round > 0:
					sel = randomSelection(rng, shape)
				}
				list, _ := newModel(shape, size).at(t, sel)
				src := randomBytes(rng, len(list)*size)
				var want []byte
				for i, write := range ways {
					if err := write(arrays[i], src, sel); err != nil {
						t.Fatal(err)
					}
					got, err := os.ReadFile(files[i])
					if err != nil {
						t.Fatal(err)
					}
					if i == 0 {
						want = got
					} else if !bytes.Equal(got, want) {
						t.Fatalf("size %d, %v, %v: way %d to write %v creates another file", size, filters, o.Blocks, i, sel)
					}
				}
			}
			for _, a := range arrays {
				a.Close()
			}
		}
	}
}

// TestLengthMessages checks that the error for a slice of the wrong length counts items if the caller passed items.
func TestLengthMessages(t *testing.T) {
	a, err := Create(ctx, "", []int64{2, 3}, make([]int32, 6), nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Slice(a, At(0))
	if err != nil {
		t.Fatal(err)
	}
	const whole = "want 6 for a selection of shape [2 3]"
	inBytes := whole[:5] + "24" + whole[6:] + " with items of 4 bytes"
	for _, n := range []int{0, 5, 7} {
		has := fmt.Sprintf("invalid shape: buffer has %d items, ", n)
		wantMessage(t, ReadInto(ctx, a, make([]int32, n)), ErrShape, has+whole)
		wantMessage(t, ReadInto(ctx, a, make([]int64, n)), ErrShape, has+whole)
		wantMessage(t, Write(ctx, a, make([]int32, n)), ErrShape, has+whole)
		wantMessage(t, Write(ctx, a, make([]int8, n)), ErrShape, has+whole)
		wantMessage(t, ReadInto(ctx, v, make([]int32, n)), ErrShape, has+"want 3 for a selection of shape [3]")
		wantMessage(t, Write(ctx, v, make([]int32, n)), ErrShape, has+"want 3 for a selection of shape [3]")
		bytes := make([]byte, 4*n)
		wantMessage(t, a.ReadBytes(ctx, bytes), ErrShape, fmt.Sprintf("buffer has %d bytes, %s", 4*n, inBytes))
		wantMessage(t, a.WriteBytes(ctx, bytes), ErrShape, fmt.Sprintf("buffer has %d bytes, %s", 4*n, inBytes))
		_, err := Create(ctx, "", []int64{2, 3}, make([]int16, n), nil)
		wantMessage(t, err, ErrShape, fmt.Sprintf("data has %d items, want 6 for shape [2 3]", n))
		_, err = Create(ctx, "", []int64{2, 3}, slices.Repeat([]string{"a"}, n), nil)
		wantMessage(t, err, ErrShape, fmt.Sprintf("data has %d items, want 6 for shape [2 3]", n))
		_, err = CreateBytes(ctx, "", []int64{2, 3}, "<i4", bytes, nil)
		wantMessage(t, err, ErrShape, fmt.Sprintf("data has %d bytes, want 24 for shape [2 3] with items of 4 bytes", 4*n))
		if n > 0 {
			wantMessage(t, Append(ctx, a, 0, make([]int16, n)), ErrShape, fmt.Sprintf("data has %d items, want a multiple of 3 for axis 0", n))
			wantMessage(t, Insert(ctx, a, 1, 0, make([]int32, n)), ErrShape, fmt.Sprintf("data has %d items, want a multiple of 2 for axis 1", n))
			wantMessage(t, a.AppendBytes(ctx, 0, bytes), ErrShape, fmt.Sprintf("data has %d bytes, want a multiple of 12 for axis 0", 4*n))
		}
	}
	_, err = FromSeq(ctx, "", []int64{2, 3}, slices.Values([]int32{1, 2, 3, 4}), nil)
	wantMessage(t, err, ErrShape, "input ends after 4 items, too few for shape [2 3]: unexpected EOF")
	r, err := CreateRegions(ctx, filepath.Join(t.TempDir(), "r"), []int64{2, 3}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	wantMessage(t, Write(ctx, r, []int32{1}), ErrShape, "buffer has 1 items, "+whole)
}

// TestUserFilterZeros writes items that a user filter turns into zeros, and zeros.
func TestUserFilterZeros(t *testing.T) {
	ctx := context.Background()
	for _, filters := range [][]chunk.Filter{{200}, {chunk.Shuffle, 200}} {
		a, err := CreateBytes(ctx, "", []int64{100, 100}, "<u4", bytes.Repeat([]byte{0xaa}, 40000), &CreateOptions{
			Chunks: []int64{50, 50}, Blocks: []int64{10, 25}, Filters: filters,
			UserFilters: []chunk.UserFilter{keyFilter(func(chunk.BlockInfo) byte { return 0xaa })},
		})
		must(t, err)
		got := make([]byte, 40000)
		for _, c := range []byte{0xaa, 0, 0xaa} {
			top := bytes.Repeat([]byte{c}, 24000)
			must(t, a.WriteBytes(ctx, top, Span(0, 60)))
			want := append(top, bytes.Repeat([]byte{0xaa}, 16000)...)
			if err := a.ReadBytes(ctx, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, items of bytes %#x: %v, or other items", filters, c, err)
			}
		}
	}
}

// TestReplacedFilter creates arrays with a user filter that has the number of NDMean, with a parameter and items that
// NDMean does not accept.
func TestReplacedFilter(t *testing.T) {
	ctx := context.Background()
	key := renumbered{keyFilter(func(chunk.BlockInfo) byte { return 0x55 })}
	o := &CreateOptions{Filters: []chunk.Filter{chunk.NDMean}, UserFilters: []chunk.UserFilter{key}}
	items := bytes.Repeat([]byte("some text "), 1000)
	a, err := CreateBytes(ctx, "", []int64{100, 100}, "|u1", items, o)
	must(t, err)
	must(t, a.Resize(ctx, 120, 100))
	got := make([]byte, 12000)
	if err := a.ReadBytes(ctx, got); err != nil || !bytes.Equal(got[:10000], items) {
		t.Errorf("%v, or other items", err)
	}
	full, err := Full(ctx, "", []int64{100, 100}, uint8(7), o)
	must(t, err)
	if err := full.ReadBytes(ctx, got[:10000]); err != nil || !bytes.Equal(got[:10000], bytes.Repeat([]byte{7}, 10000)) {
		t.Errorf("%v, or other items than 7", err)
	}
}
