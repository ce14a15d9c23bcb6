package ndarray

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// TestReadRows reads boxes, steps, views and lists from blocks whose rows are long enough for SIMD kernels, with items
// of many sizes, and compares them with a loop over the items.
func TestReadRows(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(8, 1))
	shape := []int64{6, 11, 150}
	rounds := 6
	if testing.Short() {
		rounds = 1
	}
	for _, size := range []int{1, 2, 3, 4, 8, 12, 16, 300} {
		for _, filters := range [][]chunk.Filter{nil, {chunk.Shuffle.With(2)}, {chunk.BitShuffle}} {
			o := &CreateOptions{Chunks: []int64{4, 10, 110}, Blocks: []int64{3, 4, 45}}
			o.setParams(chunk.Params{Codec: codec.LZ4, Level: 1, Filters: filters})
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
				for _, sel := range [][]Index{{Flat(at...)}, {Pick(1, 4, 1), All, Span(3, 20)}, {Coords([]int64{0, 5, 5}), Coords([]int64{3, 3, 9})}} {
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
						t.Fatalf("size %d: %v: the items differ (%v)", size, sel, err)
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
					t.Fatalf("size %d: row %d of the transposed array: the items differ", size, i)
				}
			}
			a.Close()
		}
	}
}

// unfusedWriting is a writing that copies all items of a block before the block is shuffled.
type unfusedWriting struct{ writing }

func (c *unfusedWriting) Block(b *engine.Block, v *engine.Visit, k, at, n int) {
	c.writing.Block(b, v, k, at, n)
	b.ItemSize = 0
}

// writeUnfused is WriteBytes with unfusedWriting.
func writeUnfused(a *Array, src []byte, sel []Index) error {
	return a.edit(context.Background(), func(b *Batch) error {
		s, err := selection.Resolve(b.st.rec.Shape, sel)
		if err != nil || s.Items == 0 {
			return err
		}
		w := &unfusedWriting{writing{src: src, plan: selection.NewPlan(b.st.geo, &s)}}
		return a.encode(context.Background(), b.b, b.st, w, w.size())
	})
}

// TestWriteRows creates and changes arrays whose blocks are shuffled directly from the rows of the source, also through
// views, and compares the files with those of unfusedWriting. Blocks have rows of many lengths and extend past the end
// of chunks and of the array.
func TestWriteRows(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rng := rand.New(rand.NewPCG(8, 2))
	shape := []int64{6, 11, 150}
	ways := []func(a *Array, src []byte, sel []Index) error{
		writeUnfused,
		func(a *Array, src []byte, sel []Index) error { return a.WriteBytes(ctx, src, sel...) },
		func(a *Array, src []byte, sel []Index) error {
			v, err := Slice(a, sel...)
			if err != nil {
				return err
			}
			return v.WriteBytes(ctx, src)
		},
	}
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	n := 0
	for _, size := range []int{1, 2, 3, 4, 8, 12, 16, 300} {
		for _, filters := range [][]chunk.Filter{
			nil, {chunk.Shuffle.With(2)}, {chunk.Shuffle, chunk.Delta}, {chunk.Delta, chunk.Shuffle},
		} {
			n++
			o := &CreateOptions{Chunks: []int64{4, 10, 110}, Blocks: []int64{3, 4, 45}}
			if n%2 == 0 {
				o = &CreateOptions{Chunks: []int64{6, 8, 96}, Blocks: []int64{2, 4, 1 + rng.Int64N(96)}}
			}
			o.setParams(chunk.Params{Codec: codec.LZ4, Level: 1, Filters: filters, Dict: n%5 == 0})
			o.Concurrency, o.NoSync = 1+n%3, true
			arrays, files := make([]*Array, len(ways)), make([]string, len(ways))
			for i := range arrays {
				var err error
				files[i] = filepath.Join(dir, fmt.Sprintf("%d-%d.b2nd", n, i))
				if arrays[i], err = Zeros(ctx, files[i], shape, fmt.Sprintf("|V%d", size), o); err != nil {
					t.Fatal(err)
				}
			}
			for round := range rounds {
				var sel []Index // the whole array at first
				switch {
				case round%2 == 1:
					sel = []Index{Span(rng.Int64N(3), 6), Span(rng.Int64N(3), 11), Span(rng.Int64N(30), 150-rng.Int64N(30))}
				case round > 0:
					sel = randomSelection(rng, shape)
				}
				list, _ := newModel(shape, size).at(t, sel)
				src := randomBytes(rng, len(list)*size)
				var want []byte
				for i, write := range ways {
					if err := write(arrays[i], src, sel); err != nil {
						t.Fatal(err)
					}
					got, err := os.ReadFile(files[i])
					if err != nil {
						t.Fatal(err)
					}
					if i == 0 {
						want = got
					} else if !bytes.Equal(got, want) {
						t.Fatalf("size %d, %v, %v: way %d to write %v creates another file", size, filters, o.Blocks, i, sel)
					}
				}
			}
			for _, a := range arrays {
				a.Close()
			}
		}
	}
}
