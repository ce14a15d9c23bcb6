package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

// cellOrder returns the numbers of the items of a block, C order, in the order of NDCELL.
func cellOrder(shape []int32, edge int) []int {
	ndim := len(shape)
	var out []int
	var items func(axis, at int, start []int)
	items = func(axis, at int, start []int) {
		if axis == ndim {
			out = append(out, at)
			return
		}
		for i := start[axis]; i < min(start[axis]+edge, int(shape[axis])); i++ {
			items(axis+1, at*int(shape[axis])+i, start)
		}
	}
	var cells func(axis int, start []int)
	cells = func(axis int, start []int) {
		if axis == ndim {
			items(0, 0, start)
			return
		}
		for i := 0; i < int(shape[axis]); i += edge {
			start[axis] = i
			cells(axis+1, start)
		}
	}
	cells(0, make([]int, ndim))
	return out
}

// registered holds pipelines whose filters need more than the chunk header, and blocks for them.
var registered = []struct {
	name     string
	typeSize int
	shape    []int32
	filters  []Filter
	naive    func(block []byte) []byte // the output of the first filter, if it can be computed
}{
	{"bytedelta", 4, nil, []Filter{Shuffle, ByteDelta.With(4)}, nil},
	{"bytedelta alone", 4, nil, []Filter{ByteDelta.With(3)}, func(b []byte) []byte { return naiveByteDelta(b, 3) }},
	{"bytedelta of the item size", 7, nil, []Filter{ByteDelta}, func(b []byte) []byte { return naiveByteDelta(b, 7) }},
	{"bytedelta of large items", 300, nil, []Filter{ByteDelta}, func(b []byte) []byte { return naiveByteDelta(b, 300) }},
	{"cells", 4, []int32{9, 10}, []Filter{NDCell.With(4)}, func(b []byte) []byte { return naiveCells(b, 4, []int32{9, 10}, 4) }},
	{"cells and shuffle", 8, []int32{4, 5, 6}, []Filter{NDCell.With(3), Shuffle}, nil},
	{"cells of large items", 300, []int32{5, 5}, []Filter{NDCell.With(2)}, func(b []byte) []byte { return naiveCells(b, 300, []int32{5, 5}, 2) }},
	{"cells and delta", 2, []int32{40}, []Filter{Delta, NDCell.With(7), BitShuffle}, nil},
}

func naiveByteDelta(b []byte, streams int) []byte {
	out := slices.Clone(b)
	n := len(b) / streams
	for i := range n * streams {
		if i%n > 0 {
			out[i] = b[i] - b[i-1]
		}
	}
	return out
}

func naiveCells(b []byte, size int, shape []int32, edge int) []byte {
	var out []byte
	for _, i := range cellOrder(shape, edge) {
		out = append(out, b[i*size:(i+1)*size]...)
	}
	return out
}

func TestRegisteredFilters(t *testing.T) {
	for _, c := range registered {
		blockSize := 100 * c.typeSize
		if c.shape != nil {
			blockSize = c.typeSize
			for _, n := range c.shape {
				blockSize *= int(n)
			}
		}
		for _, id := range someCodecs() {
			for name, content := range contents {
				for _, blocks := range []int{1, 5} {
					src := content(blocks * blockSize)
					if c.shape == nil {
						src = content(blocks*blockSize + 13)
					}
					what := fmt.Sprintf("%s, %v, %s", c.name, id, name)
					pool := NewPool(&Options{Concurrency: 2, ItemSize: c.typeSize, BlockShape: c.shape})
					p := Params{Codec: id, TypeSize: c.typeSize, BlockSize: blockSize, Filters: c.filters}
					b, err := pool.Encode(nil, src, p)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if got, err := pool.Decode(nil, b); err != nil || !bytes.Equal(got, src) {
						t.Fatalf("%s: %v, or other data", what, err)
					}
				}
			}
		}
		if c.naive == nil {
			continue
		}
		// Noise and a few zeros, so that the block is stored uncompressed, but not the whole chunk.
		src := append(noise(blockSize), make([]byte, blockSize)...)
		b, err := Encode(nil, src, Params{Codec: codec.LZ4, TypeSize: c.typeSize, BlockSize: blockSize, Filters: c.filters, Split: SplitNever},
			&Options{ItemSize: c.typeSize, BlockShape: c.shape})
		if err != nil {
			t.Fatal(err)
		}
		at := int(binary.LittleEndian.Uint32(b[32:]))
		if int(binary.LittleEndian.Uint32(b[at:])) != blockSize {
			t.Fatalf("%s: noise is not stored raw", c.name)
		}
		if !bytes.Equal(b[at+4:at+4+blockSize], c.naive(src[:blockSize])) {
			t.Errorf("%s: another order of bytes", c.name)
		}
	}
}

func TestByteDeltaOld(t *testing.T) {
	// Streams of 20 bytes: differences restart at the last 4 bytes of each.
	want := contents["ramp"](80)
	body := binary.LittleEndian.AppendUint32(nil, 80)
	for i := range want {
		c := want[i]
		if i%20 != 0 && i%20 != 16 {
			c -= want[i-1]
		}
		body = append(body, c)
	}
	b := chunkOf(80, 1, body)
	b[3] = 4
	b[21] = byte(ByteDeltaOld)
	for _, meta := range []byte{4, 0} {
		b[29] = meta
		if got, err := Decode(nil, b, nil); err != nil || !bytes.Equal(got, want) {
			t.Errorf("parameter %d: %x, %v", meta, got, err)
		}
	}
	b[3] = 1 // an unknown item size
	if _, err := Decode(nil, b, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without item size: %v", err)
	}
	if got, err := Decode(nil, b, &Options{ItemSize: 4}); err != nil || !bytes.Equal(got, want) {
		t.Errorf("with the item size in Options: %x, %v", got, err)
	}
}

func TestNDMean(t *testing.T) {
	shape := []int32{6, 10}
	var src, want []byte
	value := func(i int) float32 { return float32(i*i%97) / 4 }
	sums, counts := map[int]float32{}, map[int]float32{}
	cell := func(i int) int { return i/10/4*10 + i%10/4 }
	for i := range 60 {
		src = binary.LittleEndian.AppendUint32(src, math.Float32bits(value(i)))
	}
	for _, i := range cellOrder(shape, 4) {
		sums[cell(i)] += value(i)
		counts[cell(i)]++
	}
	for i := range 60 {
		want = binary.LittleEndian.AppendUint32(want, math.Float32bits(sums[cell(i)]/counts[cell(i)]))
	}
	o := &Options{BlockShape: shape, ItemSize: 4}
	for name, filters := range map[string][]Filter{
		"alone":       {NDMean.With(4)},
		"then delta":  {NDMean.With(4), Delta, Shuffle},
		"after delta": {NoFilter, NDMean.With(4), BitShuffle},
	} {
		b, err := Encode(nil, append(slices.Clone(src), src...), Params{TypeSize: 4, BlockSize: 240, Codec: codec.LZ4, Filters: filters}, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := Decode(nil, b, o); err != nil || !bytes.Equal(got, append(slices.Clone(want), want...)) {
			t.Errorf("%s: %v, or other data", name, err)
		}
	}
}

// TestLossyDelta checks that Delta refers to the decoded block 0 if a filter before it loses data.
func TestLossyDelta(t *testing.T) {
	for _, c := range []struct {
		f    Filter
		ts   int
		want func(b []byte) []byte
	}{
		{TruncPrec.With(5), 4, func(b []byte) []byte { return naiveForward(TruncPrec.With(5), b, nil, 4) }},
		{TruncPrec.With(256 - 40), 8, func(b []byte) []byte { return naiveForward(TruncPrec.With(256-40), b, nil, 8) }},
		{IntTrunc.With(4), 1, func(b []byte) []byte { b = slices.Clone(b); mask(b, 0xf0); return b }},
		{IntTrunc.With(256 - 3), 2, func(b []byte) []byte {
			b = slices.Clone(b)
			for i := 0; i < len(b)/2*2; i += 2 {
				b[i] &= 0xf8
			}
			return b
		}},
	} {
		for _, rest := range [][]Filter{{}, {Shuffle}, {Delta}, {NoFilter, Delta, Shuffle}} {
			p := Params{TypeSize: c.ts, BlockSize: 400, Codec: codec.Zlib, Filters: append([]Filter{c.f}, rest...)}
			src := floats(3000)
			b, err := Encode(nil, src, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if h, _ := ParseHeader(b, int64(len(b))); h.Stored {
				t.Fatalf("%+v: stored", p)
			}
			if got, err := Decode(nil, b, nil); err != nil || !bytes.Equal(got, c.want(src)) {
				t.Errorf("%+v: %v, or other data", p, err)
			}
			l, err := p.Layout(len(src))
			if err != nil {
				t.Fatal(err)
			}
			assembledWith(t, l, src, b)
		}
	}
}

// assembledWith encodes block by block with the result of Worker.Reference.
func assembledWith(t *testing.T, l *Layout, src, want []byte) {
	t.Helper()
	w := NewPool(nil).Get()
	at := func(k int) []byte { return src[k*l.BlockSize : k*l.BlockSize+l.BlockLen(k)] }
	ref, err := w.Reference(nil, l, at(0))
	if err != nil {
		t.Fatal(err)
	}
	var blocks [][]byte
	for k := range l.NumBlocks {
		b, err := w.EncodeBlock(nil, l, k, at(k), ref)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	got, err := assemble(t, w, l, ref, blocks, func(k int) ([]byte, error) { return at(k), nil })
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("assembled block by block: %v, or other bytes", err)
	}
}

// TestLossyReference encodes with a lossy filter, Delta, and ByteDelta without a parameter. ByteDelta works on items of
// a size that encoding knows, but the header cannot hold.
func TestLossyReference(t *testing.T) {
	p := Params{TypeSize: 300, BlockSize: 3000, Codec: codec.LZ4, Filters: []Filter{IntTrunc.With(7), Delta, ByteDelta}}
	src := contents["ramp"](9600)
	b, err := Encode(nil, src, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(src)
	mask(want, 0xfe)
	if got, err := Decode(nil, b, &Options{ItemSize: 300}); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, or other data", err)
	}
	if _, err := Decode(nil, b, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without item size: %v", err)
	}
}

// TestMissingContext decodes chunks whose filters need more than the chunk header.
func TestMissingContext(t *testing.T) {
	shape := []int32{8, 10}
	for _, id := range []Filter{NDCell, NDMean} {
		p := Params{TypeSize: 4, BlockSize: 320, Codec: codec.LZ4, Filters: []Filter{id.With(4), Shuffle}}
		src := floats(960)
		b, err := Encode(nil, src, p, &Options{BlockShape: shape, ItemSize: 4})
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			o    *Options
			kind error
		}{
			"nothing":       {nil, errors.ErrUnsupported},
			"no shape":      {&Options{ItemSize: 4}, errors.ErrUnsupported},
			"other shape":   {&Options{ItemSize: 4, BlockShape: []int32{8, 11}}, errs.ErrCorrupt},
			"9 dimensions":  {&Options{ItemSize: 4, BlockShape: []int32{8, 10, 1, 1, 1, 1, 1, 1, 1}}, errors.ErrUnsupported},
			"negative":      {&Options{ItemSize: 4, BlockShape: []int32{-8, -10}}, errs.ErrCorrupt},
			"no dimensions": {&Options{ItemSize: 4, BlockShape: []int32{}}, errors.ErrUnsupported},
		} {
			var e *Error
			if _, err := Decode(nil, b, c.o); !errors.Is(err, c.kind) || !errors.As(err, &e) {
				t.Errorf("%v, %s: %v", id, name, err)
			}
			if name == "no dimensions" || c.o == nil || c.o.BlockShape == nil {
				continue
			}
			if _, err := Encode(nil, src, p, c.o); !errors.Is(err, errs.ErrParam) {
				t.Errorf("%v, encoding with %s: %v", id, name, err)
			}
		}
		if _, err := Encode(nil, src, p, nil); !errors.Is(err, errs.ErrParam) {
			t.Errorf("%v, encoding without shape: %v", id, err)
		}
		// In encoding, the item size of Params has priority.
		other := &Options{ItemSize: 300, BlockShape: shape}
		if got, err := Encode(nil, src, p, other); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%v, encoding with another item size: %v", id, err)
		}
		if _, err := Decode(nil, b, other); !errors.Is(err, errs.ErrCorrupt) && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v, decoding with another item size: %v", id, err)
		}
		if _, err := Encode(nil, floats(900), p, &Options{BlockShape: shape, ItemSize: 4}); !errors.Is(err, errs.ErrParam) {
			t.Errorf("%v, encoding a short last block: %v", id, err)
		}
		// The header is checked before any block.
		if _, err := newReaderAt(bytes.NewReader(b), int64(len(b)), nil); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v, opening without shape: %v", id, err)
		}
	}
	p := Params{TypeSize: 300, BlockSize: 3000, Codec: codec.Zlib, Filters: []Filter{ByteDelta}}
	b, err := Encode(nil, contents["sevens"](9000), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(nil, b, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("bytedelta without item size: %v", err)
	}
	if got, err := Decode(nil, b, &Options{ItemSize: 300}); err != nil || !bytes.Equal(got, contents["sevens"](9000)) {
		t.Errorf("bytedelta with item size: %v", err)
	}
}

// TestOtherTypeSize decodes chunks whose headers have another item size than the frame, as C-Blosc2 does.
func TestOtherTypeSize(t *testing.T) {
	src := floats(960)
	for i := range src {
		src[i] &= 0xf0 // for LZ4
	}
	for _, p := range []Params{
		{Codec: codec.LZ4, Filters: []Filter{NDCell.With(4)}},
		{Codec: codec.LZ4, Filters: []Filter{NDMean.With(4)}},
		{Codec: codec.ZFPPrec, CodecMeta: 20},
	} {
		p.TypeSize, p.BlockSize, p.Split = 4, 320, SplitNever
		o := &Options{BlockShape: []int32{8, 10}, ItemSize: 4}
		b, err := Encode(nil, src, p, o)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Decode(nil, b, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []byte{1, 3, 8} {
			b[3] = size
			if got, err := Decode(nil, b, o); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, filters %v, item size %d in the header: %v, or other data", p.Codec, p.Filters, size, err)
			}
		}
	}
}

// TestCellItemSize decodes NDCell with items of a size that the header cannot hold, with and without that size.
func TestCellItemSize(t *testing.T) {
	shape := []int32{16, 16}
	for _, c := range []struct {
		size int
		o    *Options
		kind error
	}{
		{300, &Options{BlockShape: shape}, errors.ErrUnsupported},
		{300, &Options{BlockShape: shape, ItemSize: 300}, nil},
		{300, &Options{BlockShape: shape, ItemSize: 301}, errs.ErrCorrupt},
		{300, &Options{BlockShape: []int32{16, 7}}, errs.ErrCorrupt},  // no items fit
		{300, &Options{BlockShape: []int32{40, 40}}, errs.ErrCorrupt}, // items of 48 bytes, which the header would hold
		{300, &Options{BlockShape: []int32{1 << 30, 1 << 30, 4}}, errs.ErrCorrupt},
		{300, &Options{BlockShape: []int32{16, -16}}, errs.ErrCorrupt},
		{256, &Options{BlockShape: []int32{256, 256}}, nil}, // items of 1 byte, too
		{1, &Options{BlockShape: shape}, nil},
		{1, &Options{BlockShape: []int32{8, 16}}, errs.ErrCorrupt},
	} {
		n := 256 * c.size
		p := Params{TypeSize: c.size, BlockSize: n, Codec: codec.LZ4, Filters: []Filter{NDCell.With(2)}}
		blocks := [][]byte{contents["sevens"](n), contents["ramp"](n), contents["sevens"](n)}
		o := &Options{BlockShape: shape}
		regular, err := Encode(nil, bytes.Join(blocks, nil), p, o)
		if err != nil {
			t.Fatal(err)
		}
		variable, err := NewPool(o).EncodeVL(t.Context(), nil, blocks, p, -1)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{regular, variable} {
			var e *Error
			if _, err := Decode(nil, b, c.o); !errors.Is(err, c.kind) || err != nil && !errors.As(err, &e) {
				t.Errorf("items of %d bytes, blocks of shape %d, item size %d: %v, want %v", c.size, c.o.BlockShape, c.o.ItemSize, err, c.kind)
			}
		}
	}
}

func TestPipelineOfByteDelta(t *testing.T) {
	for ts, want := range map[int]uint8{0: 1, 1: 1, 4: 4, 255: 255, 256: 0} {
		p := Params{TypeSize: ts, Filters: []Filter{Shuffle, ByteDelta}}
		if pl := p.Pipeline(); pl[1].Param() != want || p.Filters[1].Param() != 0 {
			t.Errorf("items of %d bytes: parameter %d, want %d", ts, pl[1].Param(), want)
		}
	}
}
