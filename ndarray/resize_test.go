package ndarray

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestResizeModel grows and shrinks arrays at random and compares them with a plain one after each step.
func TestResizeModel(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		ndim := 1 + rng.IntN(3)
		shape := make([]int64, ndim)
		chunks := make([]int32, ndim)
		blocks := make([]int32, ndim)
		for i := range shape {
			shape[i] = rng.Int64N(12)
			chunks[i] = 1 + rng.Int32N(5)
			blocks[i] = 1 + rng.Int32N(chunks[i])
		}
		a, err := Zeros("", shape, "<i4", &Options{Chunks: chunks, Blocks: blocks})
		if err != nil {
			t.Fatal(err)
		}
		model := map[[3]int64]int32{}
		for step := range 15 {
			if rng.IntN(2) == 0 {
				next := make([]int64, ndim)
				for i := range next {
					next[i] = rng.Int64N(12)
				}
				if err := a.Resize(ctx, next...); err != nil {
					t.Fatalf("round %d step %d: %v to %v: %v", round, step, shape, next, err)
				}
				shape = next
				for at := range model {
					if slices.ContainsFunc([]int{0, 1, 2}[:ndim], func(i int) bool { return at[i] >= shape[i] }) {
						delete(model, at)
					}
				}
			} else {
				n := a.Size()
				data := make([]int32, n)
				for i := range data {
					data[i] = rng.Int32()
					model[unravel(int64(i), shape)] = data[i]
				}
				if err := Write(ctx, a, data); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Read[int32](ctx, a)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range got {
				if want := model[unravel(int64(i), shape)]; x != want {
					t.Fatalf("round %d step %d shape %v chunks %v: item %v is %d, want %d", round, step, shape, chunks, unravel(int64(i), shape), x, want)
				}
			}
		}
	}
}

func unravel(i int64, shape []int64) (at [3]int64) {
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = i % shape[k]
		i /= shape[k]
	}
	return at
}
