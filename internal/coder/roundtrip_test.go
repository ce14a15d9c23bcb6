package coder

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
	"github.com/goblosc/blosc2/internal/race"
)

var (
	allCodecs    = []codec.ID{codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd}
	allTypeSizes = []int{1, 2, 3, 4, 7, 8, 12, 16, 255, 300}
	allSplits    = []SplitMode{SplitAuto, SplitAlways, SplitNever, SplitForward}
	pipelines    = map[string][]Filter{
		"default":       nil,
		"none":          {},
		"shuffle first": {Shuffle},
		"shuffle 3":     {Shuffle.With(3)},
		"bitshuffle":    {BitShuffle},
		"delta":         {Delta},
		"delta shuffle": {NoFilter, Delta, NoFilter, Shuffle},
		"shuffle delta": {Shuffle, Delta},
		"all":           {Shuffle, BitShuffle, Delta, Shuffle.With(2), BitShuffle, Delta},
	}
)

// brief reports whether time is short.
func brief() bool { return testing.Short() || race.Enabled }

// someCodecs returns all codecs, or two of them on slow machines.
func someCodecs() []codec.ID {
	if brief() {
		return []codec.ID{codec.LZ4, codec.Zstd}
	}
	return allCodecs
}

// tripPools are kept between round trips, with their codecs.
var tripPools = []*Pool{NewPool(&Options{Concurrency: 1}), NewPool(&Options{Concurrency: 3})}

// roundTrip encodes src in all ways, which must give the bytes of the naive encoder, and decodes it in all ways.
func roundTrip(t *testing.T, p Params, src []byte) {
	t.Helper()
	what := fmt.Sprintf("%+v, %d bytes", p, len(src))
	l, err := p.Layout(len(src))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	want := naiveEncode(t, src, p, l.BlockSize)
	before := slices.Clone(src)
	for _, pool := range tripPools {
		got, err := pool.Encode([]byte("head"), src, p)
		if err != nil || string(got[:4]) != "head" || !bytes.Equal(got[4:], want) {
			t.Fatalf("%s, %d workers: %v, %d bytes other than the %d of the naive encoder", what, pool.o.Concurrency, err, len(got), len(want))
		}
		got, err = pool.Decode(nil, want)
		if err != nil || !bytes.Equal(got, src) {
			t.Fatalf("%s, %d workers: decoding: %v, same data: %v", what, pool.o.Concurrency, err, bytes.Equal(got, src))
		}
	}
	assembled(t, what, l, src, want)
	if !bytes.Equal(naiveDecode(t, want), src) {
		t.Fatalf("%s: the naive decoder returns other data", what)
	}
	if !bytes.Equal(src, before) {
		t.Fatalf("%s: encoding changed its source", what)
	}
}

// shuffledFirst reports whether Shuffle is the first filter that changes a block of n bytes.
func shuffledFirst(l *Layout, n int) bool {
	for _, f := range l.Filters {
		width := int(f.Param())
		if width == 0 {
			width = l.TypeSize
		}
		if f.kind() == NoFilter || f.kind() == Shuffle && width == 1 {
			continue
		}
		return f.kind() == Shuffle && n%width == 0
	}
	return false
}

// assembled encodes block by block, the last one first, like callers without contiguous source. It shuffles half of the
// blocks from their items where it can.
func assembled(t *testing.T, what string, l *Layout, src, want []byte) {
	t.Helper()
	w := tripPools[0].Get()
	defer tripPools[0].Put(w)
	blocks := make([][]byte, l.NumBlocks)
	at := func(k int) []byte { return src[k*l.BlockSize : k*l.BlockSize+l.BlockLen(k)] }
	for k := range slices.Backward(blocks) {
		if l.Stored {
			break
		}
		var ref []byte
		if l.NeedsReference {
			ref = at(0)
		}
		var err error
		if k%2 == 0 {
			var ok bool
			blocks[k], ok, err = w.EncodeShuffled(nil, l, k, ref, func(s Shuffled) bool {
				filters.Shuffle(s.Bytes, at(k), s.Width)
				return true
			})
			if err != nil || ok != shuffledFirst(l, l.BlockLen(k)) {
				t.Fatalf("%s: block %d: %v, shuffled first: %v", what, k, err, ok)
			}
			if ok {
				continue
			}
		}
		if blocks[k], err = w.EncodeBlock(nil, l, k, at(k), ref); err != nil {
			t.Fatalf("%s: block %d: %v", what, k, err)
		}
	}
	var buf []byte
	var ref []byte
	if l.NeedsReference {
		ref = at(0)
	}
	got, err := assemble(t, w, l, ref, blocks, func(k int) ([]byte, error) {
		buf = append(buf[:0], at(k)...) // the same memory at each call
		return buf, nil
	})
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s: assembling: %v, %d bytes other than the %d of the naive encoder", what, err, len(got), len(want))
	}
}

// assemble builds a chunk of encoded blocks, and compares the header that Build returns with the header of the chunk.
func assemble(t *testing.T, w *Worker, l *Layout, ref []byte, blocks [][]byte, plain func(k int) ([]byte, error)) ([]byte, error) {
	t.Helper()
	b, h, err := w.Build(nil, l, ref, Blocks{
		Ready:    func(k int) ([]byte, error) { return blocks[k], nil },
		Shuffled: func(int, Shuffled) bool { return false },
		Plain:    plain,
	})
	checkHeader(t, b, h, err)
	return b, err
}

// checkHeader compares the header that Build returned with the result of ParseHeader.
func checkHeader(t *testing.T, b []byte, h Header, err error) {
	t.Helper()
	if err != nil {
		return
	}
	if want, err := ParseHeader(b, int64(len(b))); err != nil || h != want {
		t.Errorf("built a chunk with header %+v, but returned %+v: %v", want, h, err)
	}
}

func TestRoundTripPipelines(t *testing.T) {
	for _, id := range someCodecs() {
		for _, ts := range allTypeSizes {
			for _, filters := range pipelines {
				for _, split := range allSplits[:3] {
					p := Params{Codec: id, TypeSize: ts, Filters: filters, Split: split, BlockSize: 1000}
					roundTrip(t, p, contents["ramp"](2345))
				}
			}
		}
	}
}

func TestRoundTripSizes(t *testing.T) {
	for _, ts := range allTypeSizes {
		block := 1024 / ts * ts
		sizes := []int{0, 1, 2, 3, 7, 8, 30, 31, 32, 33, 34, 63, 64, 65, ts - 1, ts, ts + 1, 255, 256, 257,
			block - 1, block, block + 1, 2*block - 1, 2 * block, 2*block + 1, 2*block + ts, 5000}
		for _, n := range sizes {
			for _, content := range []string{"ramp", "noise", "sevens", "zeros"} {
				for _, split := range allSplits {
					roundTrip(t, Params{Codec: codec.LZ4, TypeSize: ts, BlockSize: block, Split: split}, contents[content](n))
				}
			}
			roundTrip(t, Params{Codec: codec.BloscLZ, TypeSize: ts}, contents["ramp"](n))
			roundTrip(t, Params{Codec: codec.LZ4, TypeSize: ts, BlockSize: 5, Filters: pipelines["delta shuffle"]}, contents["ramp"](n))
		}
	}
}

func TestRoundTripLevels(t *testing.T) {
	for _, id := range someCodecs() {
		for level := -1; level <= 9; level++ {
			roundTrip(t, Params{Codec: id, Level: level, TypeSize: 4}, contents["floats"](150_000))
		}
	}
}

// TestBudget has chunks that just fit into their size plus 32 bytes, and chunks that just do not.
func TestBudget(t *testing.T) {
	kinds := map[bool]int{}
	for name, content := range contents {
		for _, n := range []int{32, 40, 100, 999, 1000, 4096, 30_000, 30_001} {
			if brief() && (n > 10_000 || n == 40 || n == 999) {
				continue
			}
			for _, id := range []codec.ID{codec.BloscLZ, codec.LZ4, codec.Zlib} {
				for _, split := range allSplits[1:3] {
					for _, block := range []int{32, 200, 1000, 5000} {
						p := Params{Codec: id, TypeSize: 4, BlockSize: block, Split: split, Filters: pipelines["delta shuffle"]}
						roundTrip(t, p, content(n))
						b, err := tripPools[0].Encode(nil, content(n), p)
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						h, err := ParseHeader(b, int64(len(b)))
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						if h.CBytes > n-200 {
							kinds[h.Stored]++
						}
					}
				}
			}
		}
	}
	for gap := range 80 { // zero bytes that make up for the overhead of the streams, or not
		if brief() && gap%5 > 0 {
			continue
		}
		src := noise(20_000)
		clear(src[7000 : 7000+gap])
		roundTrip(t, Params{Codec: codec.LZ4, TypeSize: 1, BlockSize: 3000}, src)
		src = noise(20_000)
		clear(src[20_000-gap:])
		roundTrip(t, Params{Codec: codec.LZ4, TypeSize: 1, BlockSize: 3000}, src)
		roundTrip(t, Params{Codec: codec.BloscLZ, TypeSize: 8, BlockSize: 3000, Filters: pipelines["delta"]}, src)
	}
	for blocks := 15; blocks < 45; blocks++ {
		// The last block would fit, but codecs give up if they get too little space.
		src := append(noise((blocks-1)*300), bytes.Repeat([]byte("abcde"), 60)...)
		roundTrip(t, Params{Codec: codec.BloscLZ, BlockSize: 300, Filters: []Filter{}}, src)
		roundTrip(t, Params{Codec: codec.LZ4, BlockSize: 300, Filters: []Filter{}}, src)
	}
	if kinds[true] < 20 || kinds[false] < 20 {
		t.Errorf("stored and not stored chunks near the limit: %v", kinds)
	}
}

func TestTruncPrec(t *testing.T) {
	for _, c := range []struct {
		ts   int
		meta uint8
		ok   bool
	}{
		{4, 1, true}, {4, 10, true}, {4, 23, true}, {4, 24, false}, {4, 0, false}, {4, 0xff, true}, {4, 256 - 22, true}, {4, 256 - 23, false},
		{8, 1, true}, {8, 52, true}, {8, 53, false}, {8, 256 - 51, true}, {8, 256 - 52, false},
		{2, 5, false}, {1, 5, false}, {16, 5, false}, {300, 5, false},
	} {
		p := Params{TypeSize: c.ts, Filters: []Filter{TruncPrec.With(int(c.meta)), Shuffle}, Codec: codec.LZ4}
		src := floats(1003)
		b, err := Encode(nil, src, p, nil)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, errs.ErrParam) {
			t.Errorf("%d bytes, %d bits: error %v, want %v", c.ts, int8(c.meta), err, c.ok)
		}
		if err != nil {
			continue
		}
		got, err := Decode(nil, b, nil)
		if want := naiveForward(p.Filters[0], src, nil, c.ts); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %d bits: %v, or other data", c.ts, int8(c.meta), err)
		}
	}
}

func TestBadParams(t *testing.T) {
	for name, p := range map[string]Params{
		"typesize":          {TypeSize: -1},
		"typesize above":    {TypeSize: MaxBlockSize + 1},
		"blocksize":         {BlockSize: -1},
		"blocksize above":   {BlockSize: MaxBlockSize + 1},
		"level":             {Level: 10},
		"level below":       {Level: -2},
		"split":             {Split: 3},
		"split above":       {Split: 5},
		"seven filters":     {Filters: make([]Filter, 7)},
		"reserved filter":   {Filters: []Filter{5}},
		"unknown filter":    {Filters: []Filter{200}},
		"old bytedelta":     {Filters: []Filter{ByteDeltaOld.With(4)}},
		"cells of edge 0":   {Filters: []Filter{NDCell}},
		"means of edge 0":   {TypeSize: 4, Filters: []Filter{NDMean}},
		"means of edge 128": {TypeSize: 4, Filters: []Filter{NDMean.With(128)}},
		"means of int16":    {TypeSize: 2, Filters: []Filter{NDMean.With(4)}},
		"no bits":           {TypeSize: 4, Filters: []Filter{IntTrunc}},
		"33 bits":           {TypeSize: 4, Filters: []Filter{IntTrunc.With(33)}},
		"all bits cleared":  {TypeSize: 4, Filters: []Filter{IntTrunc.With(256 - 32)}},
		"bits of 3 bytes":   {TypeSize: 3, Filters: []Filter{IntTrunc.With(8)}},
		"codec of Blosc1":   {Codec: codec.Snappy},
		"codec not there":   {Codec: codec.FromCode(200)},
		"codec not a codec": {Codec: 7},
	} {
		for _, n := range []int{0, 10, 1000} {
			b, err := Encode(nil, contents["ramp"](n), p, nil)
			if n < 1000 && (p.Codec != 0 || name == "unknown filter") && err == nil {
				continue // stored: no codec or filter is needed
			}
			if !errors.Is(err, errs.ErrParam) && !errors.Is(err, errors.ErrUnsupported) || len(b) > 0 {
				t.Errorf("%s, %d bytes: %d bytes, error %v", name, n, len(b), err)
			}
		}
	}
	if _, err := (Params{}).Layout(MaxBytes + 1); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("a chunk above the limit: %v", err)
	}
	if _, err := (Params{}).Layout(-1); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("a chunk of -1 bytes: %v", err)
	}
	if l, err := (Params{}).Layout(MaxBytes); err != nil || l.NBytes != MaxBytes {
		t.Errorf("the largest chunk: %v", err)
	}
}
