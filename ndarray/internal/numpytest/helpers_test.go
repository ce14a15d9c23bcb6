package numpytest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// rawBytes returns all items of r.
func rawBytes(t testing.TB, r ndarray.Reader) []byte {
	t.Helper()
	b := make([]byte, r.Size()*int64(r.DType().Size))
	if err := r.ReadBytes(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// randomPartition returns a chunk shape and a block shape, which often do not divide the shape, and may be larger.
func randomPartition(rng *rand.Rand, shape []int64) (chunks, blocks []int64) {
	chunks, blocks = make([]int64, len(shape)), make([]int64, len(shape))
	for i, n := range shape {
		chunks[i] = 1 + rng.Int64N(n+2)
		blocks[i] = 1 + rng.Int64N(chunks[i])
	}
	return chunks, blocks
}
