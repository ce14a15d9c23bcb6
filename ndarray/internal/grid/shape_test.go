package grid

import (
	"errors"
	"math"
	"testing"

	"github.com/goblosc/blosc2/internal/errs"
)

// TestGeometry checks the geometry of valid and invalid shapes.
func TestGeometry(t *testing.T) {
	for _, x := range []struct {
		name           string
		shape          []int64
		chunks, blocks []int32
		itemSize       int64
		err            error
		nchunks        int64 // of the array
		nblocks        int64 // of a chunk
		chunkBytes     int64
	}{
		{"0-d", nil, nil, nil, 8, nil, 1, 1, 8},
		{"the example of the format", []int64{7}, []int32{3}, []int32{2}, 4, nil, 3, 2, 16},
		{"nothing divides", []int64{9, 10, 11}, []int32{4, 3, 5}, []int32{2, 2, 3}, 5, nil, 36, 8, 4 * 4 * 6 * 5},
		{"block above chunk", []int64{7}, []int32{3}, []int32{5}, 1, nil, 3, 1, 5},
		{"chunk above shape", []int64{2, 2}, []int32{5, 2}, []int32{2, 2}, 1, nil, 1, 3, 12},
		{"empty", []int64{3, 0, 2}, []int32{3, 0, 2}, []int32{3, 0, 2}, 4, nil, 0, 0, 0},
		{"empty that can grow", []int64{0, 6}, []int32{4, 3}, []int32{2, 3}, 1, nil, 0, 2, 12},
		{"empty with huge neighbors", []int64{1 << 62, 1 << 62, 0}, []int32{1, 1, 1}, []int32{1, 1, 1}, 1, nil, 0, 1, 1},
		{"16 dimensions", make16(2), narrow16(2), narrow16(1), 1, nil, 1, 1 << 16, 1 << 16},
		{"largest chunk", []int64{math.MaxInt64 / 2}, []int32{maxChunkBytes}, []int32{1}, 1, nil, 2147483682, maxChunkBytes, maxChunkBytes},

		{"longest", []int64{math.MaxInt64}, []int32{7}, []int32{7}, 1, nil, math.MaxInt64 / 7, 1, 7},

		{"17 dimensions", make([]int64, 17), make([]int32, 17), make([]int32, 17), 1, errs.ErrShape, 0, 0, 0},
		{"chunk shape too short", []int64{2, 2}, []int32{2}, []int32{2, 2}, 1, errs.ErrShape, 0, 0, 0},
		{"block shape too long", []int64{2}, []int32{2}, []int32{2, 2}, 1, errs.ErrShape, 0, 0, 0},
		{"negative shape", []int64{-1}, []int32{1}, []int32{1}, 1, errs.ErrShape, 0, 0, 0},
		{"negative chunk", []int64{1}, []int32{-1}, []int32{1}, 1, errs.ErrShape, 0, 0, 0},
		{"negative block", []int64{0}, []int32{0}, []int32{-1}, 1, errs.ErrShape, 0, 0, 0},
		{"zero chunk", []int64{1}, []int32{0}, []int32{1}, 1, errs.ErrShape, 0, 0, 0},
		{"zero block", []int64{1}, []int32{1}, []int32{0}, 1, errs.ErrShape, 0, 0, 0},
		{"zero block in a chunk", []int64{0}, []int32{1}, []int32{0}, 1, errs.ErrShape, 0, 0, 0},
		{"no item size", []int64{1}, []int32{1}, []int32{1}, 0, errs.ErrTooLarge, 0, 0, 0},
		{"item size", []int64{1}, []int32{1}, []int32{1}, maxItemSize + 1, errs.ErrTooLarge, 0, 0, 0},
		{"chunk bytes", []int64{1}, []int32{maxChunkBytes/8 + 1}, []int32{1}, 8, errs.ErrTooLarge, 0, 0, 0},
		{"chunk with padding", []int64{1}, []int32{maxChunkBytes - 1}, []int32{1 << 30}, 1, errs.ErrTooLarge, 0, 0, 0},
		{"chunk product", make16(9), narrow16(math.MaxInt32), narrow16(1), 1, errs.ErrTooLarge, 0, 0, 0},
		{"block above the largest chunk", []int64{1, 1}, []int32{1, 1}, []int32{1 << 16, 1 << 16}, 1, errs.ErrTooLarge, 0, 0, 0},
		{"block of an empty chunk", []int64{0, 0}, []int32{0, 1}, []int32{1 << 16, 1 << 16}, 1, errs.ErrTooLarge, 0, 0, 0},
		{"items", []int64{1 << 32, 1 << 31}, []int32{1, 1}, []int32{1, 1}, 1, errs.ErrTooLarge, 0, 0, 0},
		{"bytes", []int64{1 << 61}, []int32{1}, []int32{1}, 4, errs.ErrTooLarge, 0, 0, 0},
		{"bytes with padding", []int64{math.MaxInt64}, []int32{2}, []int32{2}, 1, errs.ErrTooLarge, 0, 0, 0},
	} {
		g, err := NewGeometry(x.shape, x.chunks, x.blocks, x.itemSize)
		if !errors.Is(err, x.err) {
			t.Errorf("%s: error %v, want %v", x.name, err, x.err)
		}
		if err == nil && (g.Chunks != x.nchunks || g.Blocks != x.nblocks || g.ChunkBytes != x.chunkBytes) {
			t.Errorf("%s: %d chunks of %d blocks and %d bytes, want %d, %d and %d", x.name,
				g.Chunks, g.Blocks, g.ChunkBytes, x.nchunks, x.nblocks, x.chunkBytes)
		}
		if err == nil && g.ChunkBytes != g.Blocks*g.BlockBytes {
			t.Errorf("%s: %d bytes in %d blocks of %d", x.name, g.ChunkBytes, g.Blocks, g.BlockBytes)
		}
	}
}

func make16(n int64) []int64 {
	s := make([]int64, 16)
	for i := range s {
		s[i] = n
	}
	return s
}

func narrow16(n int32) []int32 {
	s, _ := narrow(make16(int64(n)))
	return s
}

// TestByteSize checks sizes near the limits.
func TestByteSize(t *testing.T) {
	for _, x := range []struct{ items, size int64 }{{0, 8}, {3, 5}, {math.MaxInt, 1}, {math.MaxInt / 8, 8}} {
		if n, err := ByteSize(x.items, x.size); err != nil || int64(n) != x.items*x.size {
			t.Errorf("%d items of %d bytes: %d, %v", x.items, x.size, n, err)
		}
	}
	for _, x := range []struct{ items, size int64 }{{math.MaxInt/8 + 1, 8}, {1 << 62, 2}, {1 << 62, 4}, {math.MaxInt64, math.MaxInt64}} {
		if n, err := ByteSize(x.items, x.size); !errors.Is(err, errs.ErrTooLarge) {
			t.Errorf("%d items of %d bytes: %d, %v", x.items, x.size, n, err)
		}
	}
}
