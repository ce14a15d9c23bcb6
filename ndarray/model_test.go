package ndarray

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// model is an array in plain memory, with items in C order. It applies selections item by item.
type model struct {
	shape []int64
	size  int // of an item in bytes
	data  []byte
}

func newModel(shape []int64, size int) *model {
	n, _ := grid.Product(shape)
	return &model{slices.Clone(shape), size, make([]byte, int(n)*size)}
}

// at returns the positions of the selected items and the shape of the selection.
func (m *model) at(t testing.TB, sel []Index) (list, shape []int64) {
	t.Helper()
	shape, list, err := naiveSelect(m.shape, sel)
	if err != nil {
		t.Fatalf("selection %v of %v: %v", sel, m.shape, err)
	}
	return list, shape
}

func (m *model) item(at int64) []byte { return m.data[int(at)*m.size:][:m.size] }

func (m *model) read(t testing.TB, sel []Index) []byte {
	t.Helper()
	list, _ := m.at(t, sel)
	out := make([]byte, 0, len(list)*m.size)
	for _, at := range list {
		out = append(out, m.item(at)...)
	}
	return out
}

func (m *model) write(t testing.TB, src []byte, sel []Index) {
	t.Helper()
	list, _ := m.at(t, sel)
	for i, at := range list {
		copy(m.item(at), src[i*m.size:])
	}
}

// resize returns the array with another shape. New items are zeros.
func (m *model) resize(shape []int64) *model {
	next := newModel(shape, m.size)
	for i := range len(next.data) / m.size {
		from, rest, inside := int64(0), int64(i), true
		at := make([]int64, len(shape))
		for k := len(shape) - 1; k >= 0; k-- {
			at[k] = rest % shape[k]
			rest /= shape[k]
		}
		for k, x := range at {
			inside = inside && x < m.shape[k]
			from = from*m.shape[k] + x
		}
		if inside {
			copy(next.item(int64(i)), m.item(from))
		}
	}
	return next
}

// check compares an array with the model: its shape, all items, and some selections.
func (m *model) check(t testing.TB, a *Array, rng *rand.Rand) {
	t.Helper()
	if !slices.Equal(a.Shape(), m.shape) {
		t.Fatalf("shape %v, want %v", a.Shape(), m.shape)
	}
	for i := range 4 {
		var sel []Index
		if i > 0 {
			sel = randomSelection(rng, m.shape)
		}
		want := m.read(t, sel)
		got := bytes.Repeat([]byte{0xaa}, len(want))
		if err := a.ReadBytes(context.Background(), got, sel...); err != nil {
			t.Fatalf("reading %v of %v: %v", sel, m.shape, err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("reading %v of %v in chunks of %v, blocks of %v: the items differ", sel, m.shape, a.Chunks(), a.Blocks())
		}
	}
}

// randomSelection returns a selection with all kinds of indexes except index arrays.
func randomSelection(rng *rand.Rand, shape []int64) []Index {
	var sel []Index
	named := rng.IntN(len(shape) + 1)
	last := named // position of the ellipsis: later axes are counted from the end
	if rng.IntN(3) == 0 {
		last = rng.IntN(named + 1)
	}
	for i := range named {
		axis := i
		if i >= last {
			axis += len(shape) - named
		}
		if i == last {
			sel = append(sel, Ellipsis)
		}
		if rng.IntN(8) == 0 {
			sel = append(sel, NewAxis)
		}
		sel = append(sel, randomIndex(rng, shape[axis]))
	}
	return sel
}

func randomIndex(rng *rand.Rand, n int64) Index {
	end := func() int64 {
		if rng.IntN(3) == 0 {
			return None
		}
		return rng.Int64N(2*n+3) - n - 1
	}
	switch r := rng.IntN(10); {
	case r < 2 && n > 0:
		return At(rng.Int64N(2*n) - n)
	case r < 4:
		return All
	case r < 7:
		return Span(end(), end())
	case r == 7:
		return Step(None, None, -1)
	default:
		step := 1 + rng.Int64N(n+2)
		if rng.IntN(2) == 0 {
			step = -step
		}
		return Step(end(), end(), step)
	}
}

// randomBytes returns n compressible bytes with runs of zeros.
func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; {
		run := min(1+rng.IntN(200), n-i)
		switch rng.IntN(4) {
		case 0: // zeros
		case 1:
			x := byte(rng.Uint32())
			for k := range run {
				b[i+k] = x
			}
		case 2:
			for k := range run {
				b[i+k] = byte(i+k) & 15
			}
		default:
			for k := range run {
				b[i+k] = byte(rng.Uint32())
			}
		}
		i += run
	}
	return b
}

// randomPartition returns a chunk shape and a block shape, which often do not divide the shape, and may be larger.
func randomPartition(rng *rand.Rand, shape []int64) (chunks, blocks []int64) {
	chunks, blocks = make([]int64, len(shape)), make([]int64, len(shape))
	for i, n := range shape {
		chunks[i] = 1 + rng.Int64N(n+2)
		blocks[i] = 1 + rng.Int64N(chunks[i])
	}
	return chunks, blocks
}

// randomCParams returns lossless compression parameters.
func randomCParams(rng *rand.Rand) chunk.Params {
	codecs := []codec.ID{codec.Default, codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd}
	splits := []chunk.SplitMode{chunk.SplitAuto, chunk.SplitAlways, chunk.SplitNever, coder.SplitForward}
	filters := losslessFilters()
	p := chunk.Params{
		Codec: codecs[rng.IntN(len(codecs))], Split: splits[rng.IntN(len(splits))],
		Filters: filters[rng.IntN(len(filters))], Level: rng.IntN(10), Dict: rng.IntN(8) == 0,
	}
	if p.Level == 0 && rng.IntN(2) == 0 {
		p.Level = codec.NoCompression
	}
	return p
}

func losslessFilters() [][]chunk.Filter {
	return [][]chunk.Filter{
		nil,
		{chunk.NoFilter},
		{chunk.Shuffle},
		{chunk.BitShuffle},
		{chunk.Delta},
		{chunk.Delta, chunk.Shuffle},
		{chunk.Shuffle, chunk.Delta},
		{chunk.Shuffle, chunk.ByteDelta},
	}
}

// location is the storage of an array of a test.
type location struct {
	name   string // "" for memory
	sparse bool
}

// locations returns names for new arrays: in memory, in a file, in a directory.
func locations(t testing.TB) []location {
	dir := t.TempDir()
	return []location{{}, {filepath.Join(dir, "file.b2nd"), false}, {filepath.Join(dir, "dir.b2nd"), true}}
}

func (p location) String() string {
	switch {
	case p.name == "":
		return "memory"
	case p.sparse:
		return "sparse"
	}
	return "contiguous"
}

// reopen opens the array again for editing.
func (p location) reopen(t testing.TB, a *Array, o *OpenOptions) *Array {
	t.Helper()
	if p.name == "" {
		return a
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := Edit(ctx, p.name, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestModel applies random edits to arrays and compares them with a model after every step.
func TestModel(t *testing.T) {
	rounds := 40
	if testing.Short() || race.Enabled {
		rounds = 8
	}
	for _, kind := range []string{"memory", "contiguous", "sparse"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			steps := map[string]int{}
			for seed := range rounds {
				runProgram(t, kind, rand.New(rand.NewPCG(7, uint64(seed))), steps, fmt.Sprintf("seed %d: ", seed))
			}
			for _, step := range []string{"write", "fill", "resize", "append", "copy", "reopen"} {
				if steps[step] < rounds {
					t.Errorf("%d steps of %s", steps[step], step)
				}
			}
		})
	}
}

func runProgram(t *testing.T, kind string, rng *rand.Rand, steps map[string]int, log string) {
	ctx := context.Background()
	dir := t.TempDir()
	copies := 0
	p := location{sparse: kind == "sparse"}
	if kind != "memory" {
		p.name = filepath.Join(dir, "0")
	}
	shape := make([]int64, rng.IntN(4))
	for i := range shape {
		shape[i] = rng.Int64N(14)
	}
	o := &CreateOptions{}
	o.Chunks, o.Blocks = randomPartition(rng, shape)
	o.setParams(randomCParams(rng))
	o.Sparse, o.NoSync = p.sparse, true
	o.Concurrency = 1 + rng.IntN(3)
	size := []int{1, 2, 3, 4, 8, 12, 300}[rng.IntN(7)]
	a, err := Zeros(ctx, p.name, shape, fmt.Sprintf("|V%d", size), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { a.Close() }()
	m := newModel(shape, size)
	for range 25 {
		step := "write"
		switch rng.IntN(10) {
		case 0:
			step = "copy"
			copies++
			to := a.CreateOptions()
			if rng.IntN(2) == 0 {
				to.Chunks, to.Blocks = randomPartition(rng, m.shape)
				to.setParams(randomCParams(rng))
			}
			to.NoSync, to.Concurrency = true, 2
			next := p
			if kind != "memory" {
				next.name = filepath.Join(dir, fmt.Sprint(copies))
			}
			b, err := Copy(ctx, next.name, a, to)
			if err != nil {
				t.Fatalf("%scopy of %v: %v", log, m.shape, err)
			}
			m.check(t, a, rng)
			a.Close()
			a, p = b, next
		case 1:
			step = "reopen"
			a = p.reopen(t, a, &OpenOptions{})
		case 2, 3:
			step = "resize"
			for i := range m.shape {
				if rng.IntN(3) > 0 {
					shape[i] = rng.Int64N(16)
				}
			}
			if err := a.Resize(ctx, shape...); err != nil {
				t.Fatalf("%sresize of %v to %v: %v", log, m.shape, shape, err)
			}
			m = m.resize(shape)
		case 4, 5:
			step = "append"
			m = appendStep(t, a, m, rng)
			shape = slices.Clone(m.shape)
		case 6:
			step = "fill"
			sel, item := randomSelection(rng, m.shape), randomBytes(rng, size)
			if err := a.FillBytes(ctx, item, sel...); err != nil {
				t.Fatalf("%sfilling %v of %v: %v", log, sel, m.shape, err)
			}
			list, _ := m.at(t, sel)
			m.write(t, bytes.Repeat(item, len(list)), sel)
		default:
			sel := randomSelection(rng, m.shape)
			list, _ := m.at(t, sel)
			src := randomBytes(rng, len(list)*size)
			if err := a.WriteBytes(ctx, src, sel...); err != nil {
				t.Fatalf("%swriting %v of %v: %v", log, sel, m.shape, err)
			}
			m.write(t, src, sel)
		}
		steps[step]++
		log += step + " "
		m.check(t, a, rng)
		if t.Failed() {
			t.Fatal(log)
		}
	}
	a = p.reopen(t, a, nil)
	m.check(t, a, rng)
}

// appendStep appends items along a random axis, if that is possible.
func appendStep(t *testing.T, a *Array, m *model, rng *rand.Rand) *model {
	if len(m.data) == 0 || len(m.shape) == 0 {
		return m
	}
	axis := rng.IntN(len(m.shape))
	next := slices.Clone(m.shape)
	next[axis] += rng.Int64N(4)
	grown := m.resize(next)
	sel := make([]Index, axis+1)
	for i := range sel {
		sel[i] = All
	}
	sel[axis] = Span(m.shape[axis], None)
	list, _ := grown.at(t, sel)
	src := randomBytes(rng, len(list)*m.size)
	if err := a.AppendBytes(context.Background(), axis, src); err != nil {
		t.Fatalf("appending %d items to %v along axis %d: %v", len(list), m.shape, axis, err)
	}
	grown.write(t, src, sel)
	return grown
}

// TestFillRepeated fills a selection of lists that repeat items. The time must not depend on the product of the
// lengths of the lists, here 8e9.
func TestFillRepeated(t *testing.T) {
	a, err := Zeros(ctx, "", []int64{10, 10, 10}, "|u1", nil)
	must(t, err)
	const n = 2000
	var lists [3][]int64
	for k := range n {
		for i := range lists {
			lists[i] = append(lists[i], int64(k*(i+1)%(4+i)))
		}
	}
	start := time.Now()
	must(t, Fill[uint8](ctx, a, 7, Pick(lists[0]...), Pick(lists[1]...), Pick(lists[2]...)))
	if d := time.Since(start); d > 8*time.Second {
		t.Errorf("%v for a fill of 40 items", d)
	}
	for i, x := range wholeOf(t, a) {
		want := byte(0)
		if i/100 < 4 && i/10%10 < 5 && (i%10 == 0 || i%10 == 3) {
			want = 7
		}
		if x != want {
			t.Fatalf("item %d: %d, want %d", i, x, want)
		}
	}
}

// TestMaskOfAllAxes compares masks of arrays and views with lists of the same positions, which are read in another way.
// Some masks select few items of a shuffled block, some chunks are special values, and some items are converted.
func TestMaskOfAllAxes(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(11, 1))
	for _, filter := range [][]chunk.Filter{{chunk.Shuffle}, {chunk.BitShuffle}, nil} {
		o := &CreateOptions{Chunks: []int64{40, 60}, Blocks: []int64{16, 33}, Filters: filter}
		a, err := Full(ctx, "", []int64{90, 130}, int32(7), o)
		must(t, err)
		data := make([]int32, 70*130)
		for i := range data {
			data[i] = r.Int32N(1000)
		}
		must(t, Write(ctx, a, data, Span(0, 70)))
		flipped, err := Flip(a, 1)
		must(t, err)
		turned, err := Transpose(a)
		must(t, err)
		sparse, err := Slice(a, Step(None, None, 3), Step(120, 5, -2))
		must(t, err)
		floats, err := AsType(turned, "<f8")
		must(t, err)
		wide, err := BroadcastTo(a, 2, 90, 130)
		must(t, err)
		for _, v := range []Reader{a, flipped, turned, sparse, floats, wide} {
			for _, every := range []int{1, 2, 200} {
				keep, at := make([]bool, v.Size()), []int64{}
				for i := range keep {
					if keep[i] = r.IntN(every) == 0; keep[i] {
						at = append(at, int64(i))
					}
				}
				have, err := Read[float64](ctx, v, Mask(keep, v.Shape()...))
				must(t, err)
				want, err := Read[float64](ctx, v, Flat(at...))
				must(t, err)
				if !slices.Equal(have, want) {
					t.Errorf("filters %v, every %d of %v: the mask selects other items", filter, every, v)
				}
				if v == wide || v == floats {
					continue // cannot be written
				}
				values := make([]int32, len(at))
				for i := range values {
					values[i] = r.Int32()
				}
				must(t, Write(ctx, v.(Writer), values, Mask(keep, v.Shape()...)))
				written, err := Read[int32](ctx, v, Flat(at...))
				must(t, err)
				all, err := Read[int32](ctx, v)
				must(t, err)
				others := 0
				for i, x := range all {
					if !keep[i] && x >= 1000 {
						others++
					}
				}
				if !slices.Equal(written, values) {
					t.Errorf("filters %v, every %d of %v: the mask wrote other items", filter, every, v)
				}
				must(t, Fill(ctx, v.(Writer), int32(every), Mask(keep, v.Shape()...)))
				if all, err = Read[int32](ctx, v, Mask(keep, v.Shape()...)); err != nil || slices.ContainsFunc(all, func(x int32) bool { return x != int32(every) }) {
					t.Errorf("filters %v, every %d of %v: the mask filled other items (%v)", filter, every, v, err)
				}
				if others > 0 {
					t.Errorf("filters %v, every %d of %v: %d items outside the mask changed", filter, every, v, others)
				}
			}
		}
		must(t, a.Close())
	}
}
