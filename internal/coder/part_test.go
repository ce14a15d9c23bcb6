package coder

import (
	"bytes"
	"errors"
	"math/rand"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

// checkPrefixes decodes beginnings of a block whose content is known, into memory filled with other bytes.
func checkPrefixes(t *testing.T, name string, w *Worker, r *Reader, k int, want []byte) {
	t.Helper()
	spoil := func(b []byte) []byte {
		for i := range b {
			b[i] = 0xee
		}
		return b
	}
	got := make([]byte, len(want))
	for _, n := range []int{0, 1, len(want)/16 + 1, len(want) / 3, len(want)/2 + 1, len(want) - 1, len(want)} {
		if n > len(want) {
			continue
		}
		for i := range w.buf {
			spoil(w.buf[i][:cap(w.buf[i])])
		}
		if err := w.DecodePrefix(spoil(got), r, k, n); err != nil || !bytes.Equal(got[:n], want[:n]) {
			t.Fatalf("%s: the first %d bytes of block %d: %v, or wrong bytes", name, n, k, err)
		}
		for i := range w.buf {
			spoil(w.buf[i][:cap(w.buf[i])])
		}
		s, ok, err := w.DecodeShuffled(r, k, n)
		if err != nil || ok != shuffledOnly(r) {
			t.Fatalf("%s: the first %d bytes of block %d: %v, still shuffled: %v", name, n, k, err, ok)
		}
		if !ok {
			continue
		}
		if s.Unshuffle(spoil(got)); !bytes.Equal(got[:n], want[:n]) {
			t.Fatalf("%s: the first %d bytes of block %d: wrong bytes when unshuffled", name, n, k)
		}
	}
}

// TestPart compares the needed bytes of streams with those that the items need, byte by byte.
func TestPart(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 20_000 {
		size, width, n := 1+r.Intn(60), 1+r.Intn(9), 0
		n = r.Intn(size + 1)
		p := part{1, size, n}
		needed := make([]bool, size)
		for i := range n {
			needed[i] = true
		}
		if items := size / width; n > 0 && n <= items*width && r.Intn(2) > 0 {
			p = part{width, items, (n + width - 1) / width}
			for i := range needed {
				needed[i] = i < items*width && i%items < p.n
			}
		}
		from := r.Intn(size)
		to := from + 1 + r.Intn(size-from)
		want := 0
		for i := from; i < to; i++ {
			if needed[i] {
				want = i + 1 - from
			}
		}
		if got := p.neededOf(from, to); got != want {
			t.Fatalf("%+v: %d bytes of [%d, %d), want %d", p, got, from, to, want)
		}
	}
}

// savingCodec stores its input uncompressed. Its decoder records the number of bytes requested.
type savingCodec struct {
	kept  [][]byte
	asked []int
}

func (*savingCodec) ID() codec.ID                                     { return codec.FromCode(200) }
func (c *savingCodec) NewEncoder(codec.Params) (codec.Encoder, error) { return c, nil }
func (c *savingCodec) NewDecoder(codec.Params) (codec.Decoder, error) { return c, nil }
func (c *savingCodec) Decode(dst, src []byte) error                   { return c.DecodePrefix(dst, src, len(dst)) }

func (c *savingCodec) Encode(dst, src []byte) (n int, err error) {
	dst[0] = byte(len(c.kept))
	c.kept = append(c.kept, bytes.Clone(src))
	return 1, nil
}

func (c *savingCodec) DecodePrefix(dst, src []byte, n int) error {
	c.asked = append(c.asked, n)
	copy(dst[:n], c.kept[src[0]])
	return nil
}

// TestDecodePrefixAsks checks that DecodePrefix requests no more bytes of a codec than the beginning of a block needs.
func TestDecodePrefixAsks(t *testing.T) {
	src := noise(2500) // two and a half blocks
	for _, c := range []struct {
		name    string
		filters []Filter
		split   SplitMode
		k, n    int
		want    []int
	}{
		{"nothing wanted", []Filter{}, SplitNever, 0, 0, nil},
		{"shuffled", []Filter{Shuffle}, SplitNever, 0, 101, []int{750 + 26}},
		{"shuffled, in streams", []Filter{Shuffle}, SplitAlways, 1, 101, []int{26, 26, 26, 26}},
		{"shuffled and rounded", []Filter{TruncPrec.With(10), Shuffle}, SplitAlways, 1, 4, []int{1, 1, 1}},
		{"all but a byte", []Filter{Shuffle}, SplitAlways, 0, 999, []int{250, 250, 250, 250}},
		{"all", []Filter{Shuffle}, SplitAlways, 0, 1000, []int{250, 250, 250, 250}},
		{"the last block", []Filter{Shuffle}, SplitAlways, 2, 101, []int{375 + 26}},
		{"shuffled and more", []Filter{Delta, Shuffle}, SplitNever, 1, 101, []int{1000}},
		{"shuffled twice", []Filter{Shuffle, Shuffle}, SplitNever, 0, 101, []int{1000}},
		{"bit-shuffled", []Filter{BitShuffle}, SplitNever, 0, 101, []int{1000}},
	} {
		saving := &savingCodec{}
		o := &Options{Plugins: plugins(saving), Concurrency: 1}
		b, err := Encode(nil, src, Params{Codec: codec.FromCode(200), TypeSize: 4, BlockSize: 1000, Filters: c.filters, Split: c.split}, o)
		if err != nil {
			t.Fatal(err)
		}
		w := NewPool(o).Get()
		var r Reader
		if err := w.Open(&r, b); err != nil {
			t.Fatal(err)
		}
		whole, dst := make([]byte, r.BlockLen(c.k)), make([]byte, r.BlockLen(c.k))
		if err := w.DecodeBlock(whole, &r, c.k); err != nil {
			t.Fatal(err)
		}
		saving.asked = nil
		if err := w.DecodePrefix(dst, &r, c.k, c.n); err != nil || !bytes.Equal(dst[:c.n], whole[:c.n]) {
			t.Errorf("%s: %v, or other bytes", c.name, err)
		}
		if !slices.Equal(saving.asked, c.want) {
			t.Errorf("%s: requested %d, want %d", c.name, saving.asked, c.want)
		}
		for _, n := range []int{-1, len(dst) + 1} {
			if err := w.DecodePrefix(dst, &r, c.k, n); !errors.Is(err, errs.ErrParam) {
				t.Errorf("%s: %d bytes: %v, want errs.ErrParam", c.name, n, err)
			}
		}
	}
}
