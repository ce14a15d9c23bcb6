package blocktable

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// TestTable encodes a table of a chunk, of a special value, and of the same chunk again, and decodes it.
func TestTable(t *testing.T) {
	p := coder.NewPool(&coder.Options{Concurrency: 1})
	rng := rand.New(rand.NewPCG(1, 9))
	data := make([]byte, 40_000)
	for i := range data {
		data[i] = byte(rng.Uint32N(7))
	}
	c, err := p.Encode(nil, data, coder.Params{TypeSize: 1, BlockSize: 4096, Codec: codec.LZ4, Level: 5})
	if err != nil {
		t.Fatal(err)
	}
	n := Notes[int]{}
	n.Add(5, c)
	stored, err := n.Encode(t.Context(), []int{5, -1, 5}, p)
	if err != nil {
		t.Fatal(err)
	}
	content, err := p.Decode(nil, stored)
	if err != nil {
		t.Fatal(err)
	}
	table := Decode(content, 3)
	for _, i := range []int{0, 2} {
		x := table.Chunk(i)
		if x.NumBlocks() != 10 || x.End() != int64(len(c)) || x.Ranges()[0].Off != x.First() || x.Ranges()[9].End() != x.End() {
			t.Errorf("chunk %d: %v of %d bytes", i, x.Ranges(), len(c))
		}
	}
	if table.Chunk(1) != nil || table.Chunk(3) != nil {
		t.Error("a table of chunks without one")
	}
	for _, bad := range [][]byte{nil, content[:len(content)-1], slices.Concat([]byte{0xc1}, content[1:])} {
		if x := Decode(bad, 3); x.Chunk(0) != nil {
			t.Errorf("%d bytes are a table", len(bad))
		}
	}
	if x := Decode(content, 4); x.Chunk(0) != nil {
		t.Error("a table of three chunks is one of four")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.Encode(ctx, []int{5}, p); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
