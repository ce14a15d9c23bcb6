package coder

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/errs"
)

// TestPrefersPairs expects pairs of blocks if the codec can decode streams at once and there are no filters to undo, or
// with Zstd if blocks are one stream.
func TestPrefersPairs(t *testing.T) {
	w := NewPool(nil).Get()
	dec, err := lookupDecoder(codec.LZ4)
	if err != nil {
		t.Fatal(err)
	}
	_, batches := dec.(codecs.BatchDecoder)
	if dec, err = lookupDecoder(codec.Zstd); err != nil {
		t.Fatal(err)
	}
	_, zstdBatches := dec.(codecs.BatchDecoder)
	src := shortMatches(600_000)
	for _, c := range []struct {
		name string
		p    Params
		want bool
	}{
		{"lz4", Params{Codec: codec.LZ4, Filters: []Filter{}}, batches},
		{"lz4hc in streams", Params{Codec: codec.LZ4HC, Filters: []Filter{}, Split: SplitAlways}, batches},
		{"rounded numbers", Params{Codec: codec.LZ4, Filters: []Filter{TruncPrec.With(10)}}, batches},
		{"lz4 with shuffle", Params{Codec: codec.LZ4, Filters: []Filter{Shuffle}}, false},
		{"lz4 with delta", Params{Codec: codec.LZ4, Filters: []Filter{Delta}}, false},
		{"one block", Params{Codec: codec.LZ4, Filters: []Filter{}, BlockSize: 600_000}, false},
		{"zstd", Params{Codec: codec.Zstd, Filters: []Filter{}}, zstdBatches},
		{"zstd with shuffle in streams", Params{Codec: codec.Zstd, Filters: []Filter{Shuffle}, Split: SplitAlways}, false},
		{"zstd with shuffle", Params{Codec: codec.Zstd, Filters: []Filter{Shuffle}, Split: SplitNever}, zstdBatches},
		{"zstd with bitshuffle", Params{Codec: codec.Zstd, Filters: []Filter{BitShuffle}, Split: SplitNever}, zstdBatches},
		{"zstd with delta", Params{Codec: codec.Zstd, Filters: []Filter{Delta, BitShuffle}, Split: SplitNever}, false},
		{"zstd with large blocks", Params{Codec: codec.Zstd, Filters: []Filter{BitShuffle}, Split: SplitNever, BlockSize: 256<<10 + 4}, false},
		{"blosclz", Params{Codec: codec.BloscLZ, Filters: []Filter{}}, false},
		{"stored", Params{Codec: codec.LZ4, Level: codec.NoCompression}, false},
	} {
		c.p.TypeSize = 4
		if c.p.BlockSize == 0 {
			c.p.BlockSize = 4096
		}
		b, err := Encode(nil, src, c.p, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var r Reader
		if err := w.Open(&r, b); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := w.PrefersPairs(&r); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// shortMatches returns n bytes, most of which repeat in short pieces.
func shortMatches(n int) []byte {
	b := noise(n)
	for i := range b {
		if i%12 > 2 {
			b[i] = byte(i % 12)
		}
	}
	return b
}

func lookupDecoder(id codec.ID) (codec.Decoder, error) {
	c, err := codec.Set{}.ByID(id)
	if err != nil {
		return nil, err
	}
	return c.NewDecoder(codec.Params{})
}

// TestDecodePairCorrupt changes chunks at random positions, and compares the errors and contents of blocks decoded in
// pairs with those decoded alone.
func TestDecodePairCorrupt(t *testing.T) {
	for _, c := range []struct {
		p     Params
		least int // number of failures; most changes of Zstd's literals go unnoticed
	}{
		{Params{Codec: codec.LZ4, Filters: []Filter{}}, 150},
		{Params{Codec: codec.Zstd, Filters: []Filter{}}, 15},
		{Params{Codec: codec.Zstd, Filters: []Filter{BitShuffle}, Split: SplitNever}, 150},
		{Params{Codec: codec.Zstd, Filters: []Filter{Shuffle, ByteDelta}, Split: SplitNever}, 150},
	} {
		c.p.TypeSize, c.p.BlockSize = 4, 4096
		t.Run(fmt.Sprint(c.p.Codec, c.p.Filters), func(t *testing.T) { decodePairCorrupt(t, c.p, c.least) })
	}
}

func decodePairCorrupt(t *testing.T, p Params, least int) {
	src := shortMatches(60_000)
	good, err := Encode(nil, src, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := NewPool(nil).Get()
	failed := 0
	for i := range 3000 {
		b := bytes.Clone(good)
		at := HeaderSize + i*7919%(len(b)-HeaderSize)
		b[at] ^= byte(1 + i%255)
		var r Reader
		if w.Open(&r, b) != nil {
			continue
		}
		k := [2]int{i % r.NumBlocks, (i/3 + 1) % r.NumBlocks}
		var want, got [2][]byte
		for j, k := range k {
			want[j], got[j] = make([]byte, r.BlockLen(k)), make([]byte, r.BlockLen(k))
		}
		wantErr := w.DecodeBlock(want[0], &r, k[0])
		if wantErr == nil {
			wantErr = w.DecodeBlock(want[1], &r, k[1])
		}
		err := w.DecodePair(got, &r, k)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("byte %d, blocks %d: %v, want %v", at, k, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("byte %d, blocks %d: other data", at, k)
		}
		if err != nil {
			failed++
		}
	}
	if failed < least {
		t.Errorf("%d fail", failed)
	}
	var r Reader
	if err := w.Open(&r, good); err != nil {
		t.Fatal(err)
	}
	for _, k := range [][2]int{{-1, 0}, {0, -1}, {r.NumBlocks, 0}, {0, r.NumBlocks}} {
		if err := w.DecodePair([2][]byte{make([]byte, 4096), make([]byte, 4096)}, &r, k); !errors.Is(err, errs.ErrParam) {
			t.Errorf("blocks %d: %v", k, err)
		}
	}
	if err := w.DecodePair([2][]byte{make([]byte, 4096), make([]byte, 4095)}, &r, [2]int{0, 1}); !errors.Is(err, errs.ErrParam) {
		t.Errorf("a buffer too short: %v", err)
	}
}

// oneByOne is a codec whose decoders decode streams only one by one.
type oneByOne struct{ codec.Codec }

func (c oneByOne) NewDecoder(p codec.Params) (codec.Decoder, error) {
	d, err := c.Codec.NewDecoder(p)
	if err != nil {
		return nil, err
	}
	return struct{ codec.PrefixDecoder }{d.(codec.PrefixDecoder)}, nil
}

// TestPlanesAtOnce checks that the planes of shuffled blocks are decoded at once where that is faster. It changes a
// chunk at random positions, and compares errors and contents with those of planes decoded one by one.
func TestPlanesAtOnce(t *testing.T) {
	src := make([]byte, 64_000)
	for i := range src {
		if src[i] = byte(rand.NormFloat64() * 20); i%4 == 3 {
			src[i] = 7
		}
	}
	zstd, err := codec.Set{}.ByID(codec.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	single, err := oneByOne{zstd}.NewDecoder(codec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	alone := NewPool(nil).Get()
	w := NewPool(nil).Get()
	for _, id := range []codec.ID{codec.Zstd, codec.LZ4} {
		good, err := Encode(nil, src, Params{Codec: id, TypeSize: 4, BlockSize: 16_000, Filters: []Filter{Shuffle}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var r Reader
		if err := w.Open(&r, good); err != nil {
			t.Fatal(err)
		}
		dec, err := lookupDecoder(id)
		if err != nil {
			t.Fatal(err)
		}
		_, batches := dec.(codecs.BatchDecoder)
		in, err := r.bytes(1, &w.in[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := w.decodePlanes(make([]byte, 16_000), &r, cursor{b: in}, whole(16_000)); got != (batches && id == codec.Zstd) {
			t.Errorf("%v: planes at once: %v", id, got)
		}
		if id != codec.Zstd {
			continue
		}
		failed, rounds := 0, 2000
		for i := range rounds {
			b := bytes.Clone(good)
			at := HeaderSize + i*7919%(len(b)-HeaderSize)
			b[at] ^= byte(1 + i%255)
			var r, other Reader
			alone.decoders = append(alone.decoders[:0], cachedDecoder{decoderKey{format: codec.FormatZstd, size: 4}, single})
			if w.Open(&r, b) != nil || alone.Open(&other, b) != nil {
				continue
			}
			k, n := i%r.NumBlocks, 1+i*31%16_000
			want, got := make([]byte, 16_000), make([]byte, 16_000)
			wantErr, err := alone.DecodePrefix(want, &other, k, n), w.DecodePrefix(got, &r, k, n)
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("byte %d, %d bytes of block %d: %v, want %v", at, n, k, err, wantErr)
			}
			if err == nil && !bytes.Equal(got[:n], want[:n]) {
				t.Fatalf("byte %d, %d bytes of block %d: other data", at, n, k)
			}
			if err != nil {
				failed++
			}
		}
		if failed < rounds/40 || failed == rounds {
			t.Errorf("%d of %d fail", failed, rounds)
		}
	}
}
