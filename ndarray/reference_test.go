package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

var codecNames = map[string]codec.ID{
	"Codec.BLOSCLZ": codec.BloscLZ, "Codec.LZ4": codec.LZ4, "Codec.LZ4HC": codec.LZ4HC, "Codec.ZLIB": codec.Zlib,
	"Codec.ZSTD": codec.Zstd, "": codec.Default,
}

var splitNames = map[string]chunk.SplitMode{
	"SplitMode.ALWAYS_SPLIT": chunk.SplitAlways, "SplitMode.NEVER_SPLIT": chunk.SplitNever,
	"SplitMode.AUTO_SPLIT": chunk.SplitAuto, "SplitMode.FORWARD_COMPAT_SPLIT": coder.SplitForward, "": chunk.SplitAuto,
}

// cparams returns the compression parameters of a fixture.
func (c *fixture) cparams(t testing.TB) (p chunk.Params, ok bool) {
	t.Helper()
	numbers := func(s string) (list []int) {
		for _, d := range regexp.MustCompile(`\d+[],>]`).FindAllString(s, -1) {
			n, err := strconv.Atoi(d[:len(d)-1])
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, n)
		}
		return list
	}
	p.Codec, ok = codecNames[c.Params["codec"]]
	split, known := splitNames[c.Params["splitmode"]]
	if !known {
		t.Fatalf("split mode %s", c.Params["splitmode"])
	}
	p.Split = split
	if s := c.Params["clevel"]; s != "" {
		p.Level, _ = strconv.Atoi(s)
		if p.Level == 0 {
			p.Level = codec.NoCompression
		}
	}
	for _, id := range numbers(c.Params["filters"]) {
		p.Filters = append(p.Filters, chunk.Filter(id))
	}
	for i, m := range numbers(c.Params["filters_meta"]) {
		p.Filters[i] = p.Filters[i].With(int(m))
	}
	p.Dict = c.Params["use_dict"] == "True"
	return p, ok
}

// remake creates the array of a fixture again, like the program with python-blosc2 did: from its items, shape, dtype
// and the parameters in the manifest. ok is false if this package does not write the codec.
func (c *fixture) remake(t testing.TB, a *Array) (n *Array, exact, ok bool) {
	t.Helper()
	p, ok := c.cparams(t)
	if !ok {
		return nil, false, false
	}
	ctx := context.Background()
	data := make([]byte, c.NBytes)
	if err := a.ReadBytes(ctx, data); err != nil {
		t.Fatal(err)
	}
	o := &CreateOptions{Chunks: grid.Widen(c.Chunks), Blocks: grid.Widen(c.Blocks)}
	o.setParams(p)
	o.Meta = a.Frame().Meta()[1:]
	exact = p.Codec != codec.Default && p.Codec != codec.Zstd && !p.Dict
	kind := kindOf(c.File)
	switch kind {
	case "shape", "defaults", "zeros", "full", "nans":
		o.Chunks, o.Blocks = nil, nil // chosen by python-blosc2
	}
	if c.File == "dtype_U6.b2nd" {
		// Text is shuffled by characters unless parameters are set. The writer of this file set parameters.
		o.Filters = []chunk.Filter{5: chunk.Shuffle}
	}
	dtype, _ := storedDType(a)
	var err error
	switch kind {
	case "zeros":
		exact = true
		n, err = Zeros(ctx, "", c.Shape, dtype, o)
	case "nans":
		exact = true
		n, err = nans("", c.Shape, dtype, o)
	case "full":
		exact = true
		n, err = fullBytes("", c.Shape, dtype, data[:c.ItemSize], o)
	default:
		n, err = CreateBytes(ctx, "", c.Shape, dtype, data, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n, exact, true
}

// kindOf returns the start of the name of a fixture.
func kindOf(file string) string {
	kind, _, _ := strings.Cut(strings.TrimSuffix(file, ".b2nd"), "_")
	return kind
}

// headers returns a frame header without the fields that may differ: compressed sizes, the number of threads of the
// writer (2 in the fixtures, 1 in this package) and the flag for variable-length metalayers.
func headers(b []byte) []byte {
	h := bytes.Clone(b[:binary.BigEndian.Uint32(b[11:])])
	clear(h[16:24])     // frame length
	clear(h[39:47])     // size of the chunks
	clear(h[63:65])     // threads for compression
	clear(h[66:68])     // threads for decompression
	h[26], h[68] = 0, 0 // contiguous or sparse; variable-length metalayers
	return h
}

// inOrder returns a regular chunk with its blocks in order. Writers with several threads, such as the writer of the
// fixtures, append each block when it is ready.
func inOrder(c []byte) []byte {
	le := binary.LittleEndian
	h, err := coder.ParseHeader(c, int64(len(c)))
	if err != nil || h.Special != chunk.Regular || h.Stored || h.HasDict {
		return c
	}
	out := bytes.Clone(c[:coder.HeaderSize+4*h.NumBlocks])
	for k := range h.NumBlocks {
		from := le.Uint32(c[coder.HeaderSize+4*k:])
		to := uint32(len(c))
		for i := range h.NumBlocks {
			if x := le.Uint32(c[coder.HeaderSize+4*i:]); x > from {
				to = min(to, x)
			}
		}
		le.PutUint32(out[coder.HeaderSize+4*k:], uint32(len(out)))
		out = append(out, c[from:to]...)
	}
	return out
}

// TestReferenceFiles creates the arrays of the fixtures again. With BloscLZ, LZ4, LZ4HC, Zlib or special values, the
// files are equal except for the number of threads in the header and the order of blocks in a chunk, which depends on
// the threads. With Zstd, whose streams come from another encoder, everything except the streams is equal.
func TestReferenceFiles(t *testing.T) {
	same, alike := 0, 0
	for _, c := range fixtures(t, "python-blosc2") {
		a, err := Open(ctx, c.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		n, exact, ok := c.remake(t, a)
		if !ok {
			continue
		}
		if slices.Contains(c.Shape, 0) && kindOf(c.File) == "shape" {
			// python-blosc2 gives such an axis chunks of length zero, which cannot hold items.
			if slices.Contains(n.Chunks(), 0) || slices.Contains(n.Blocks(), 0) || !slices.Equal(n.Shape(), c.Shape) {
				t.Errorf("%s: chunks %v and blocks %v", c.File, n.Chunks(), n.Blocks())
			}
			alike++
			if exact {
				same++
			}
			continue
		}
		file := c.Path
		if a.Frame().Info().Sparse {
			file = filepath.Join(file, "chunks.b2frame")
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := saved(n.Frame())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(headers(got), headers(want)) {
			t.Errorf("%s: header\n%x\nwant\n%x", c.File, headers(got), headers(want))
		}
		if !slices.Equal(n.Chunks(), grid.Widen(c.Chunks)) || !slices.Equal(n.Blocks(), grid.Widen(c.Blocks)) {
			t.Errorf("%s: chunks %v and blocks %v, want %v and %v", c.File, n.Chunks(), n.Blocks(), c.Chunks, c.Blocks)
		}
		compareChunks(t, &c, n.Frame(), a.Frame(), exact)
		alike++
		if exact {
			same++
			compareFiles(t, &c, got, want, a.Frame())
		}
	}
	if same != 72 || alike != 174 {
		t.Errorf("only %d files match, %d of them byte for byte", alike, same)
	}
}

// compareFiles compares contiguous frames, except for the number of threads and the order of blocks.
func compareFiles(t *testing.T, c *fixture, got, want []byte, f *frame.Frame) {
	t.Helper()
	want = bytes.Clone(want)
	for i := range f.NumChunks() {
		info, err := f.ChunkInfo(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if info.Off >= 0 {
			stored := want[info.Off:][:info.CBytes]
			copy(stored, inOrder(stored))
		}
	}
	copy(want[63:65], got[63:65])
	copy(want[66:68], got[66:68])
	if !bytes.Equal(got, want) {
		t.Errorf("%s: file of %d bytes differs from the fixture of %d bytes", c.File, len(got), len(want))
	}
}

// compareChunks compares the headers and special values of chunks.
func compareChunks(t *testing.T, c *fixture, got, want *frame.Frame, exact bool) {
	t.Helper()
	if got.NumChunks() != want.NumChunks() {
		t.Fatalf("%s: %d chunks, want %d", c.File, got.NumChunks(), want.NumChunks())
	}
	for i := range got.NumChunks() {
		x, err := got.ReadRaw(t.Context(), nil, i)
		if err != nil {
			t.Fatal(err)
		}
		y, err := want.ReadRaw(t.Context(), nil, i)
		if err != nil {
			t.Fatal(err)
		}
		hx, hy := bytes.Clone(x[:coder.HeaderSize]), bytes.Clone(y[:coder.HeaderSize])
		if !exact {
			clear(hx[12:16]) // size of the chunk
			clear(hy[12:16])
			const stored = 2 // flag of uncompressed chunks, which may differ between encoders
			hx[2], hy[2] = hx[2]&^stored, hy[2]&^stored
			const dict = 1 // flag of dictionaries, which the encoder may not use
			hx[31], hy[31] = hx[31]&^dict, hy[31]&^dict
		}
		edited := strings.HasPrefix(c.File, "edited") // special values were written and replaced
		if !bytes.Equal(hx, hy) && !edited {
			t.Errorf("%s: chunk %d: header\n%x\nwant\n%x", c.File, i, hx, hy)
		}
	}
}

// TestTextParams checks that text is shuffled by characters if no parameters are set, as in python-blosc2.
func TestTextParams(t *testing.T) {
	a, err := Zeros(ctx, "", []int64{10}, "<U6", nil)
	if err != nil {
		t.Fatal(err)
	}
	filters := a.Frame().Info().Params.Filters
	if want := (chunk.Shuffle.With(4)); len(filters) != coder.NumFilters || filters[5] != want {
		t.Errorf("filters %v", filters)
	}
}

// TestReadmeTable runs the Go code of the table "From NumPy and python-blosc2" in README.md.
func TestReadmeTable(t *testing.T) {
	type T = int32
	type Point struct {
		X float32 `b2:"x"`
	}
	ctx := context.Background()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "a.b2nd")
	x := make([]T, 6*5)
	for i := range x {
		x[i] = T(i)
	}
	a, err := Create(ctx, name, []int64{6, 5}, x, nil)
	ok(err)
	defer a.Close()
	opened, err := Open(ctx, name, nil)
	ok(err)
	ok(opened.Close())

	reads(t, "a[:]", x)(Read[T](ctx, a))
	reads(t, "a[2:5, -1]", []T{14, 19, 24})(Read[T](ctx, a, Span(2, 5), At(-1)))
	reads(t, "a[0, ::-2, None]", []T{4, 2, 0})(Read[T](ctx, a, At(0), Ellipsis, Step(None, None, -2), NewAxis))
	reads(t, "a.oindex", []T{15, 17, 5, 7})(Read[T](ctx, a, Pick(3, 1), Pick(0, 2)))
	reads(t, "a[[3, 1], [0, 2]]", []T{15, 7})(Read[T](ctx, a, Coords([]int64{3, 1}), Coords([]int64{0, 2})))
	mask := make([]bool, len(x))
	mask[7] = true
	reads(t, "a[mask]", []T{7})(Read[T](ctx, a, Mask(mask, a.Shape()...)))
	reads(t, "take", []T{9, 2})(Read[T](ctx, a, Flat(9, 2)))
	ok(Write(ctx, a, []T{99}, Flat([]int64{9}...)))
	sel, err := ParseSelection("1, 3:")
	ok(err)
	reads(t, "a[eval(s)]", []T{8, 99})(Read[T](ctx, a, sel...))
	ok(Write(ctx, a, []T{1, 2, 3}, Span(2, 5), At(0)))
	ok(Fill(ctx, a, T(7), Span(2, 5)))
	if v, err := Item[T](ctx, a, 3, 4); v != 7 || err != nil {
		t.Error("a[3, 4]:", v, err)
	}

	s, err := Create(ctx, "", []int64{2}, []struct{ Pos Point }{{Point{1}}, {Point{2}}}, nil)
	ok(err)
	f, err := Field(s, "Pos.x")
	ok(err)
	reads(t, "field", []float32{1, 2})(Read[float32](ctx, f))

	makes := func(r Reader, err error) {
		t.Helper()
		ok(err)
		if _, err := r.SelectionShape(); err != nil {
			t.Error(err)
		}
	}
	makes(Transpose(a))
	makes(Flip(a, 0))
	makes(ExpandDims(a, 0))
	makes(Squeeze(a))
	makes(BroadcastTo(a, 2, 6, 5))
	makes(Zeros(ctx, "", []int64{3}, "<f4", nil))
	makes(Arange[T](ctx, "", 0, 10, 2, nil))
	makes(FromFunc(ctx, "", []int64{4}, func(t Tile[T]) error { clear(t.Items); return nil }, nil))
	makes(FromSeq(ctx, "", []int64{3}, slices.Values([]T{1, 2, 3}), nil))
	makes(Concat(ctx, "", 0, []Reader{a, a}, nil))
	makes(Stack(ctx, "", 0, []Reader{a, a}, nil))
	makes(Reshape(ctx, "", a, []int64{-1, 2}, nil))
	makes(AsType(a, "u1"))
	o := a.CreateOptions()
	o.Chunks, o.Blocks = []int64{2, 5}, []int64{2, 5}
	makes(Copy(ctx, "", a, o))
	makes(Map(ctx, "", a, func(out []float64, in Tile[T]) error { clear(out); return nil }, nil))
	makes(Reduce(ctx, a, OpSum, &ReduceOptions{Axes: []int{0}, KeepDims: true}))
	if _, err := ReduceAll[T](ctx, a, OpMax, nil); err != nil {
		t.Error(err)
	}
	for _, err := range a.ChunkInfos(ctx) {
		ok(err)
	}
	for _, err := range Tiles[T](ctx, a, ByChunk(a).ReadAhead(2)) {
		ok(err)
	}
	ok(a.Resize(ctx, 7, 5))
	ok(Append(ctx, a, 0, x[:5]))
	ok(Insert(ctx, a, 0, 5, x[:5]))
	ok(a.Delete(ctx, 0, 5, 2))
	ok(inBatch(a.Frame(), func(b *frame.Batch) error { return b.SetVLMeta("k", []byte{0xc0}) }))
}

// reads returns a function that checks the results of a read.
func reads[T comparable](t *testing.T, what string, want []T) func([]T, error) {
	return func(got []T, err error) {
		t.Helper()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
}
