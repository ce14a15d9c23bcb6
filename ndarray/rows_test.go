package ndarray

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// TestReadRows reads boxes, steps, views and lists out of blocks whose rows are long enough for kernels, with items of
// many sizes, and compares with a loop over the items.
func TestReadRows(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(8, 1))
	shape := []int64{6, 11, 150}
	rounds := 6
	if testing.Short() {
		rounds = 1
	}
	for _, size := range []int{1, 2, 3, 4, 8, 12, 16, 300} {
		for _, filters := range [][]chunk.Filter{nil, {{ID: chunk.Shuffle, Meta: 2}}, {{ID: chunk.BitShuffle}}} {
			o := &Options{Chunks: []int32{4, 10, 110}, Blocks: []int32{3, 4, 45}}
			o.CParams = chunk.CParams{Codec: codec.LZ4, Level: 1, Filters: filters}
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
				for _, sel := range [][]Index{{Flat(at...)}, {Pick(1, 4, 1), All, Span(3, 20)}, {Coords(0, 5, 5), Coords(3, 3, 9)}} {
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
						t.Fatalf("size %d: %v: other items (%v)", size, sel, err)
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
					t.Fatalf("size %d: row %d of the transposed array: other items", size, i)
				}
			}
			a.Close()
		}
	}
}
