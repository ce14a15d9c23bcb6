package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

var testShapes = [][]int64{
	{}, {0}, {1}, {7}, {300}, {0, 5}, {5, 0}, {13, 17}, {1, 1, 1}, {6, 1, 9}, {4, 5, 6, 3}, {3, 2, 4, 2, 3},
	{2, 3, 2, 3, 2, 2}, {2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 2},
}

var testItemSizes = []int{1, 2, 3, 4, 7, 8, 12, 16, 255, 300}

// dtypeOfSize returns a random dtype with an item size.
func dtypeOfSize(rng *rand.Rand, size int) string {
	list := []string{fmt.Sprintf("|V%d", size), fmt.Sprintf("|S%d", size)}
	switch size {
	case 1:
		list = append(list, "|u1", "|b1", "|i1")
	case 2:
		list = append(list, "<i2", "<f2", ">u2")
	case 4:
		list = append(list, "<i4", ">f4", "<U1")
	case 8:
		list = append(list, "<f8", "<c8", ">i8", "<M8[s]")
	case 12:
		list = append(list, "[('a', '<i4'), ('b', '<f8')]", "<U3")
	case 16:
		list = append(list, "<c16", "[('x', '<f4', (2, 2))]")
	}
	return list[rng.IntN(len(list))]
}

// makers are functions that create an array with the items of a model.
var makers = map[string]func(name string, m *model, dtype string, rng *rand.Rand, o *CreateOptions) (*Array, error){
	"Zeros": func(name string, m *model, dtype string, _ *rand.Rand, o *CreateOptions) (*Array, error) {
		return Zeros(ctx, name, m.shape, dtype, o)
	},
	"Uninit": func(name string, m *model, dtype string, _ *rand.Rand, o *CreateOptions) (*Array, error) {
		return uninit(name, m.shape, dtype, o)
	},
	"NaNs": func(name string, m *model, dtype string, _ *rand.Rand, o *CreateOptions) (*Array, error) {
		item := []byte{0, 0, 0xc0, 0x7f}
		if m.size == 8 {
			item = []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}
		}
		m.data = bytes.Repeat(item, len(m.data)/m.size)
		return nans(name, m.shape, dtype, o)
	},
	"Full": func(name string, m *model, dtype string, rng *rand.Rand, o *CreateOptions) (*Array, error) {
		item := randomBytes(rng, m.size)
		m.data = bytes.Repeat(item, len(m.data)/m.size)
		return fullBytes(name, m.shape, dtype, item, o)
	},
	"CreateBytes": func(name string, m *model, dtype string, rng *rand.Rand, o *CreateOptions) (*Array, error) {
		m.data = randomBytes(rng, len(m.data))
		return CreateBytes(context.Background(), name, m.shape, dtype, m.data, o)
	},
}

// checkCreated compares a new array with its model, through the handle that created it and through another one.
func checkCreated(t *testing.T, a *Array, m *model, p location, o *CreateOptions, rng *rand.Rand) {
	t.Helper()
	defer a.Close()
	m.check(t, a, rng)
	b, err := saved(a.Frame())
	if err != nil {
		t.Fatal(err)
	}
	again := []func() (*Array, error){
		func() (*Array, error) { return OpenBytes(b, nil) },
		func() (*Array, error) {
			return OpenReaderAt(ctx, bytes.NewReader(b), int64(len(b)), &OpenOptions{Concurrency: o.Concurrency})
		},
	}
	if p.name != "" {
		again = append(again, func() (*Array, error) { return Open(ctx, p.name, nil) })
	}
	for _, open := range again {
		a, err := open()
		if err != nil {
			t.Fatal(err)
		}
		m.check(t, a, rng)
		if !slices.Equal(a.Chunks(), o.Chunks) && o.Chunks != nil || !slices.Equal(a.Blocks(), o.Blocks) && o.Blocks != nil {
			t.Errorf("chunks %v and blocks %v, want %v and %v", a.Chunks(), a.Blocks(), o.Chunks, o.Blocks)
		}
		if a.DType().Size != m.size || len(a.Shape()) != len(m.shape) || a.Size() != int64(len(m.data)/m.size) {
			t.Errorf("%d items of %d bytes in %d dimensions", a.Size(), a.DType().Size, len(a.Shape()))
		}
		a.Close()
	}
}

// TestCreateShapes creates arrays of all kinds, shapes and item sizes, in all kinds of storage.
func TestCreateShapes(t *testing.T) {
	for what, create := range makers {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, uint64(len(what))))
			for i, shape := range testShapes {
				for k, size := range testItemSizes {
					if what == "NaNs" && size != 4 && size != 8 {
						continue
					}
					m := newModel(shape, size)
					all := locations(t)
					p := all[(i+k)%len(all)]
					o := &CreateOptions{}
					if rng.IntN(4) > 0 {
						o.Chunks, o.Blocks = randomPartition(rng, shape)
					}
					o.Sparse, o.NoSync = p.sparse, true
					dtype := dtypeOfSize(rng, size)
					a, err := create(p.name, m, dtype, rng, o)
					if err != nil {
						t.Fatalf("%v of %s, chunks %v, blocks %v, %+v: %v", shape, dtype, o.Chunks, o.Blocks, o.params(), err)
					}
					if have, _ := storedDType(a); have != dtype || a.DType().String() != dtype {
						t.Errorf("dtype %s, want %s", have, dtype)
					}
					checkCreated(t, a, m, p, o, rng)
					if t.Failed() {
						t.Fatalf("%v of %s in %v, %+v", shape, dtype, p, o)
					}
				}
			}
		})
	}
}

// TestCreateParams creates arrays with all codecs, pipelines and split modes.
func TestCreateParams(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	filters := append(losslessFilters(), []chunk.Filter{chunk.NDCell.With(4), chunk.Shuffle})
	shape := []int64{29, 31}
	for _, id := range []codec.ID{codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd} {
		for _, f := range filters {
			for _, split := range []chunk.SplitMode{chunk.SplitAuto, chunk.SplitAlways, chunk.SplitNever, coder.SplitForward} {
				if testing.Short() && rng.IntN(4) > 0 {
					continue
				}
				size := testItemSizes[rng.IntN(len(testItemSizes))]
				o := &CreateOptions{Chunks: []int64{12, 20}, Blocks: []int64{5, 8}}
				o.setParams(chunk.Params{Codec: id, Filters: f, Split: split, Level: 1 + rng.IntN(9)})
				p := locations(t)[rng.IntN(3)]
				o.Sparse, o.NoSync = p.sparse, true
				m := newModel(shape, size)
				a, err := makers["CreateBytes"](p.name, m, fmt.Sprintf("|V%d", size), rng, o)
				if err != nil {
					t.Fatalf("items of %d bytes, %+v: %v", size, o.params(), err)
				}
				checkCreated(t, a, m, p, o, rng)
				if t.Failed() {
					t.Fatalf("items of %d bytes in %v, %+v", size, p, o.params())
				}
			}
		}
	}
}

// rawArray creates an array with a partition that this package does not create.
func rawArray(t testing.TB, shape []int64, chunks, blocks []int32, size int, data []byte) *Array {
	t.Helper()
	geo, err := grid.NewGeometry(shape, chunks, blocks, int64(size))
	if err != nil {
		t.Fatal(err)
	}
	l := &layout{geo: geo, dtype: meta.Of('V', size)}
	l.rec = meta.Array{Shape: shape, ChunkShape: chunks, BlockShape: blocks, DType: fmt.Sprintf("|V%d", size)}
	l.opts.Params = chunk.Params{TypeSize: size, BlockSize: int(geo.BlockBytes)}
	if err := l.addRecord(); err != nil {
		t.Fatal(err)
	}
	a, err := l.create(context.Background(), "", func(b *frame.Batch) error {
		s, err := selection.Resolve(shape, nil)
		if err != nil {
			return err
		}
		return b.Engine().Encode(context.Background(), int(geo.ChunkBytes), &writing{src: data, plan: selection.NewPlan(geo, &s)}, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestBlocksLargerThanChunks reads and edits arrays with blocks larger than chunks, which C-Blosc2 creates.
func TestBlocksLargerThanChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		ndim := 1 + rng.IntN(3)
		shape, chunks, blocks := make([]int64, ndim), make([]int32, ndim), make([]int32, ndim)
		for i := range shape {
			shape[i], chunks[i], blocks[i] = 1+rng.Int64N(12), 1+rng.Int32N(6), 1+rng.Int32N(9)
		}
		m := newModel(shape, 3)
		m.data = randomBytes(rng, len(m.data))
		a := rawArray(t, shape, chunks, blocks, 3, m.data)
		for range 4 {
			m.check(t, a, rng)
			sel := randomSelection(rng, shape)
			list, _ := m.at(t, sel)
			src := randomBytes(rng, len(list)*3)
			if err := a.WriteBytes(context.Background(), src, sel...); err != nil {
				t.Fatal(err)
			}
			m.write(t, src, sel)
		}
		m.check(t, a, rng)
		c, err := Copy(context.Background(), "", a, nil)
		if slices.ContainsFunc([]int{0, 1, 2}[:ndim], func(i int) bool { return blocks[i] > chunks[i] }) {
			if !errors.Is(err, ErrShape) {
				t.Fatalf("copy with blocks of %v in chunks of %v: %v", blocks, chunks, err)
			}
			o := a.CreateOptions()
			o.Chunks, o.Blocks = make([]int64, ndim), nil
			c, err = Copy(context.Background(), "", a, o)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.check(t, c, rng)
	}
}

// TestCreateErrors checks the errors for invalid parameters, and that no file remains.
func TestCreateErrors(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.b2nd")
	part := func(chunks, blocks []int64) *CreateOptions { return &CreateOptions{Chunks: chunks, Blocks: blocks} }
	zeros := func(shape []int64, dtype string, o *CreateOptions) error {
		_, err := Zeros(ctx, name, shape, dtype, o)
		return err
	}
	two := []int64{4, 4}
	for what, c := range map[string]struct{ err, want error }{
		"negative":           {zeros([]int64{-1}, "<i4", nil), ErrShape},
		"dimensions":         {zeros(make([]int64, 17), "<i4", nil), ErrShape},
		"chunk dimensions":   {zeros(two, "<i4", part([]int64{2}, nil)), ErrShape},
		"block dimensions":   {zeros(two, "<i4", part(nil, []int64{2})), ErrShape},
		"negative chunk":     {zeros(two, "<i4", part([]int64{-2, 2}, []int64{1, 1})), ErrShape},
		"block in chunk":     {zeros(two, "<i4", part([]int64{2, 2}, []int64{3, 2})), ErrShape},
		"huge":               {zeros([]int64{1 << 40, 1 << 40}, "<i4", nil), ErrTooLarge},
		"many chunks":        {zeros([]int64{1 << 40}, "<i4", part([]int64{1}, []int64{1})), ErrTooLarge},
		"huge chunk":         {zeros([]int64{1 << 40}, "<i4", part([]int64{1 << 30}, []int64{16})), ErrTooLarge},
		"huge block":         {zeros([]int64{1 << 40}, "|u1", part([]int64{1 << 30}, []int64{1 << 30})), ErrTooLarge},
		"unknown dtype":      {zeros(two, "quux", nil), ErrType},
		"empty dtype":        {zeros(two, "", nil), ErrType},
		"dtype without size": {zeros(two, "|V0", nil), ErrType},
		"short item": {func() error {
			_, err := fullBytes(name, two, "<i4", []byte{1}, nil)
			return err
		}(), ErrShape},
		"short data": {func() error {
			_, err := CreateBytes(ctx, name, two, "<i4", make([]byte, 63), nil)
			return err
		}(), ErrShape},
		"typed data": {func() error {
			_, err := Create(ctx, name, two, make([]int16, 17), nil)
			return err
		}(), ErrShape},
		"level": {func() error {
			_, err := Zeros(ctx, name, two, "<i4", &CreateOptions{Level: 10})
			return err
		}(), frame.ErrParam},
		"cancelled": {func() error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, err := Create(ctx, name, two, make([]int16, 16), nil)
			return err
		}(), context.Canceled},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: error %v, want %v", what, c.err, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v, %v", left, err)
	}
	for _, sparse := range []bool{false, true} {
		o := &CreateOptions{}
		o.Sparse = sparse
		name := filepath.Join(dir, fmt.Sprint(sparse))
		a, err := Zeros(ctx, name, two, "<i4", o)
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		_, err = Zeros(ctx, name, two, "<i4", o)
		wantMessage(t, err, fs.ErrExist, "already exists; open it with Edit, or set Overwrite to replace it")
		_, err = CreateRegions(ctx, name, two, "<i4", nil)
		wantMessage(t, err, fs.ErrExist, "already exists; open it with Edit, or set Overwrite to replace it")
		o.Overwrite = true
		a, err = Zeros(ctx, name, []int64{5}, "<i4", o)
		if err != nil || a.Size() != 5 {
			t.Errorf("overwritten: %v", err)
		}
		a.Close()
	}
}

// TestCreateWithDictionary creates and reads arrays whose chunks have dictionaries, which makes them smaller.
func TestCreateWithDictionary(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 4))
	words := make([][16]byte, 200)
	for i := range words {
		for j := 0; j < 16; j += 8 {
			binary.LittleEndian.PutUint64(words[i][j:], rng.Uint64())
		}
	}
	data := make([]byte, 0, 64<<13)
	for len(data) < cap(data) {
		data = append(data, words[rng.IntN(len(words))][:]...)
	}
	for _, id := range []codec.ID{codec.Zstd, codec.LZ4, codec.LZ4HC} {
		size := map[bool]int64{}
		for _, dict := range []bool{false, true} {
			o := &CreateOptions{Chunks: []int64{256 << 10}, Blocks: []int64{1 << 10}}
			o.setParams(chunk.Params{Codec: id, Filters: []chunk.Filter{}, Dict: dict})
			a, err := Create(ctx, "", []int64{int64(len(data))}, data, o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Read[uint8](ctx, a)
			if err != nil || string(got) != string(data) {
				t.Fatalf("%v, dictionary %v: the contents differ (%v)", id, dict, err)
			}
			size[dict] = a.Frame().Info().CBytes
			a.Close()
		}
		if size[true] > size[false]*9/10 {
			t.Errorf("%v: %d bytes with dictionaries, %d without", id, size[true], size[false])
		}
	}
}

// TestCreateCodec checks that a new array cannot have a codec that compresses nothing: one that the options do not
// hold, one that only decodes, and NDLZ without the edge of its cells. The options must hold its filters, too.
func TestCreateCodec(t *testing.T) {
	shape, ones := []int64{20, 20}, slices.Repeat([]int8{1}, 400)
	for _, c := range []struct {
		o    CreateOptions
		is   error
		part string
	}{
		{CreateOptions{Codec: 6}, ErrParam, "codec 6, want a constant of package codec or codec.FromCode(6)"},
		{CreateOptions{Codec: 255}, ErrParam, "codec 255, want"},
		{CreateOptions{Codec: 513}, ErrParam, "codec 513, want a constant of package codec"},
		{CreateOptions{Codec: codec.FromCode(6)}, errors.ErrUnsupported, "compcode 6"},
		{CreateOptions{Codec: codec.FromCode(36)}, errors.ErrUnsupported, "openhtj2k (compcode 36)"},
		{CreateOptions{Codec: codec.FromCode(200)}, errors.ErrUnsupported, "compcode 200): unsupported; add it to Codecs"},
		{CreateOptions{Codec: codec.FromCode(200), Codecs: []codec.Codec{sleeping{}}, Level: 10}, ErrParam, "level 10"},
		{CreateOptions{Codec: codec.Snappy}, errors.ErrUnsupported, "snappy: encoding"},
		{CreateOptions{Codec: codec.NDLZ}, errors.ErrUnsupported, "CodecMeta (Meta in codec.Params) is 0; set it to 4 or 8"},
		{CreateOptions{Codec: codec.NDLZ, CodecMeta: 5}, errors.ErrUnsupported, "CodecMeta (Meta in codec.Params) is 5; set it to 4 or 8"},
		{CreateOptions{Codec: codec.ZFPPrec}, errors.ErrUnsupported, "CodecMeta (Meta in codec.Params) is 0; set it to the bits of an item, 1 to 64"},
		{CreateOptions{Filters: []chunk.Filter{chunk.Shuffle, chunk.Filter(200)}}, errors.ErrUnsupported, "filter with number 200: unsupported; add it to UserFilters"},
	} {
		dir := t.TempDir()
		_, err := Create(ctx, "", shape, ones, &c.o)
		wantMessage(t, err, c.is, c.part)
		_, err = Create(ctx, "", []int64{1, 1}, []int8{1}, &c.o)
		wantMessage(t, err, c.is, c.part)
		_, err = Zeros(ctx, filepath.Join(dir, "a"), shape, "|i1", &c.o)
		wantMessage(t, err, c.is, c.part)
		_, err = Full(ctx, "", shape, int8(1), &c.o)
		wantMessage(t, err, c.is, c.part)
		_, err = CreateRegions(ctx, filepath.Join(dir, "r"), shape, "|i1", &c.o)
		wantMessage(t, err, c.is, c.part)
		_, err = frame.Create(ctx, "", &frame.CreateOptions{Params: c.o.params(), Codecs: c.o.Codecs})
		wantMessage(t, err, c.is, c.part)
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v: remaining files: %v, %v", c.o.Codec, left, err)
		}
	}
}

// TestNDLZDimensions creates arrays of all numbers of dimensions with NDLZ, which compresses only two dimensions.
func TestNDLZDimensions(t *testing.T) {
	ctx := context.Background()
	for _, shape := range [][]int64{{}, {1600}, {40, 40}, {16, 20, 20}} {
		o := &CreateOptions{}
		o.Codec, o.CodecMeta, o.Filters = codec.NDLZ, 4, []chunk.Filter{}
		n, _ := grid.Product(shape)
		data := make([]uint8, n)
		for i := range data {
			data[i] = uint8(i / 40)
		}
		a, err := Create(ctx, "", shape, data, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Read[uint8](ctx, a); err != nil || !bytes.Equal(got, data) {
			t.Errorf("shape %v: the items differ (%v)", shape, err)
		}
		info := a.Frame().Info()
		if compressed := info.CBytes < info.NBytes; compressed != (len(shape) == 2) || info.Params.Codec != codec.NDLZ {
			t.Errorf("shape %v: %d bytes compressed to %d", shape, info.NBytes, info.CBytes)
		}
		a.Close()
	}
}

// TestMeanWideCells creates arrays with ndmean and cells that are longer than the blocks along an axis.
func TestMeanWideCells(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		blocks []int64
		ok     bool
	}{
		{[]int64{20, 2}, true}, {[]int64{2, 4}, true}, {[]int64{20, 20}, true}, {[]int64{2, 20}, false},
	} {
		o := &CreateOptions{Chunks: []int64{40, 20}, Blocks: c.blocks}
		o.Filters = []chunk.Filter{chunk.NDMean.With(4)}
		data := make([]float32, 1600)
		for i := range data {
			data[i] = float32(i % 13)
		}
		a, err := Create(ctx, "", []int64{40, 40}, data, o)
		if c.ok != (err == nil) {
			t.Errorf("blocks %v: %v", c.blocks, err)
		}
		if err != nil {
			continue
		}
		got, err := Read[float32](ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		h, w := min(4, int(c.blocks[0])), min(4, int(c.blocks[1]))
		sum := float32(0)
		for y := range h {
			for x := range w {
				sum += data[40*y+x]
			}
		}
		if want := sum / float32(h*w); math.Abs(float64(got[0]-want)) > 1e-5 {
			t.Errorf("blocks %v: %v, want the mean %v", c.blocks, got[0], want)
		}
		a.Close()
	}
}

// TestCreateZFP leaves the filters of a ZFP codec to the library, and sets some that ZFP cannot follow.
func TestCreateZFP(t *testing.T) {
	ctx := t.Context()
	data := make([]float64, 64*64)
	for i := range data {
		data[i] = math.Sin(float64(i) / 100)
	}
	// The parameter is an int8: the error is at most 10 to the power of -3.
	a, err := Create(ctx, "", []int64{64, 64}, data, &CreateOptions{Codec: codec.ZFPAcc, CodecMeta: 253})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read[float64](ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range got {
		if math.Abs(x-data[i]) > 1e-3 {
			t.Fatalf("item %d: %v, want %v", i, x, data[i])
		}
	}
	if s := a.String(); !strings.Contains(s, "zfp_acc level 5, 32768 bytes") {
		t.Errorf("%s: want no filter", s)
	}
	for _, f := range []chunk.Filter{chunk.Shuffle, chunk.BitShuffle, chunk.Delta, chunk.ByteDelta} {
		o := &CreateOptions{Codec: codec.ZFPRate, CodecMeta: 50, Filters: []chunk.Filter{f}}
		if _, err := Create(ctx, "", []int64{64, 64}, data, o); !errors.Is(err, ErrParam) {
			t.Errorf("%v: %v, want ErrParam", f, err)
		}
	}
}

// untilExists is a context that ends when a file of the name exists.
type untilExists struct {
	context.Context
	name string
}

func (c untilExists) Err() error {
	if _, err := os.Stat(c.name); err == nil {
		return context.Canceled
	}
	return nil
}

// TestCreateContextEnds creates arrays whose context ends when they have their names: the calls succeed.
func TestCreateContextEnds(t *testing.T) {
	data := []int8{1, 2, 3, 4}
	from, err := Create(t.Context(), "", []int64{4}, data, nil)
	must(t, err)
	for _, o := range []*CreateOptions{nil, {Sparse: true}, {Locking: true}, {Locking: true, Sparse: true}} {
		for what, create := range map[string]func(ctx context.Context, name string) (*Array, error){
			"Create": func(ctx context.Context, name string) (*Array, error) { return Create(ctx, name, []int64{4}, data, o) },
			"Copy":   func(ctx context.Context, name string) (*Array, error) { return Copy(ctx, name, from, o) },
			"Concat": func(ctx context.Context, name string) (*Array, error) {
				return Concat(ctx, name, 0, []Reader{from}, o)
			},
		} {
			name := filepath.Join(t.TempDir(), "a.b2nd")
			a, err := create(untilExists{t.Context(), name}, name)
			if errors.Is(err, errors.ErrUnsupported) {
				continue // no file locks here
			}
			if err != nil {
				t.Errorf("%s, %+v: %v", what, o, err)
				continue
			}
			if got, err := Read[int8](t.Context(), a); err != nil || !slices.Equal(got, data) {
				t.Errorf("%s, %+v: %v, %v", what, o, got, err)
			}
			must(t, a.Close())
		}
	}
}

// TestOwnArrayHasNoLimit reads an array that the program has created and whose only block takes more memory than the
// default limit, and opens it then.
func TestOwnArrayHasNoLimit(t *testing.T) {
	const n = 16 << 20
	items := make([]uint8, n)
	items[5] = 1
	ctx, name := context.Background(), filepath.Join(t.TempDir(), "a.b2nd")
	a, err := Create(ctx, name, []int64{n}, items, &CreateOptions{Chunks: []int64{n}, Blocks: []int64{n}, NoSync: true})
	must(t, err)
	got, err := Read[uint8](ctx, a)
	if err != nil || !bytes.Equal(got, items) {
		t.Errorf("Read: %v, or other items", err)
	}
	if _, err := a.Frame().ReadChunk(ctx, nil, 0); err != nil {
		t.Errorf("ReadChunk: %v", err)
	}
	if _, err := a.Frame().ReadBlock(ctx, nil, 0, 0); err != nil {
		t.Errorf("ReadBlock: %v", err)
	}
	must(t, a.Verify(ctx, nil))
	must(t, Write(ctx, a, []uint8{2}, Span(9, 10)))
	must(t, a.Close())
	a, err = Open(ctx, name, nil)
	must(t, err)
	defer a.Close()
	if _, err := Item[uint8](ctx, a, 9); !errors.Is(err, ErrTooLarge) {
		t.Errorf("opened: %v, want ErrTooLarge", err)
	}
}
