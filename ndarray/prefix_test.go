package ndarray

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
)

// savingCodec keeps all that it encodes. Its decoders note how much they are asked for.
type savingCodec struct {
	mu    sync.Mutex
	kept  [][]byte
	asked []int
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
	c.asked = append(c.asked, n)
	copy(dst[:n], c.kept[src[0]])
	return nil
}

// TestDecodesNoFurther wants blocks to be decoded no further than the last item that is wanted.
func TestDecodesNoFurther(t *testing.T) {
	ctx := context.Background()
	saving := &savingCodec{}
	o := &Options{Chunks: []int32{8, 10}, Blocks: []int32{4, 5}}
	o.Codecs = codec.Set{}.With(saving)
	o.CParams = chunk.CParams{Codec: codec.FromCode(200), Filters: []chunk.Filter{}}
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
	for _, c := range []struct {
		name string
		from Reader
		sel  []Index
		want []int // items, of the blocks that are decoded
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
	} {
		saving.asked = nil
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
		slices.Sort(saving.asked)
		slices.Sort(c.want)
		for i := range c.want {
			c.want[i] *= 4
		}
		if !slices.Equal(saving.asked, c.want) {
			t.Errorf("%s: codecs are asked for %d bytes, want %d", c.name, saving.asked, c.want)
		}
	}
}
