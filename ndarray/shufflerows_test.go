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
)

// copying is a writing that puts all blocks together before they are shuffled.
type copying struct{ writing }

func (c *copying) Block(b *engine.Block, v *engine.Visit, k, at, n int) {
	c.writing.Block(b, v, k, at, n)
	b.ItemSize = 0
}

// writeCopying is WriteBytes by copying.
func writeCopying(a *Array, src []byte, sel []Index) error {
	return a.edit(context.Background(), func(b *Batch) error {
		s, err := resolve(b.st.rec.Shape, sel)
		if err != nil || s.items == 0 {
			return err
		}
		w := &copying{writing{src: src, plan: newPlan(b.st.geo, &s)}}
		return a.encode(context.Background(), b.b, b.st, w, w.size())
	})
}

// TestWriteRows makes and changes arrays whose blocks are shuffled from the rows of what is written, also through views,
// and compares the files with those made by copying. Blocks cut rows of many lengths and stand out of chunks and of the
// array.
func TestWriteRows(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rng := rand.New(rand.NewPCG(8, 2))
	shape := []int64{6, 11, 150}
	ways := []func(a *Array, src []byte, sel []Index) error{
		writeCopying,
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
		rounds = 4
	}
	n := 0
	for _, size := range []int{1, 2, 3, 4, 8, 12, 16, 300} {
		for _, filters := range [][]chunk.Filter{
			nil, {{ID: chunk.Shuffle, Meta: 2}}, {{ID: chunk.Shuffle}, {ID: chunk.Delta}}, {{ID: chunk.Delta}, {ID: chunk.Shuffle}},
		} {
			n++
			o := &Options{Chunks: []int32{4, 10, 110}, Blocks: []int32{3, 4, 45}}
			if n%2 == 0 {
				o = &Options{Chunks: []int32{6, 8, 96}, Blocks: []int32{2, 4, 1 + rng.Int32N(96)}}
			}
			o.CParams = chunk.CParams{Codec: codec.LZ4, Level: 1, Filters: filters, Dict: n%5 == 0}
			o.Concurrency, o.NoSync = 1+n%3, true
			arrays, files := make([]*Array, len(ways)), make([]string, len(ways))
			for i := range arrays {
				var err error
				files[i] = filepath.Join(dir, fmt.Sprintf("%d-%d.b2nd", n, i))
				if arrays[i], err = Zeros(files[i], shape, fmt.Sprintf("|V%d", size), o); err != nil {
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
						t.Fatalf("size %d, %v, %v: way %d to write %v makes another file", size, filters, o.Blocks, i, sel)
					}
				}
			}
			for _, a := range arrays {
				a.Close()
			}
		}
	}
}
