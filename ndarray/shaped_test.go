package ndarray

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// TestNDLZDimensions makes arrays of all dimensions with NDLZ, which compresses only those of two.
func TestNDLZDimensions(t *testing.T) {
	ctx := context.Background()
	for _, shape := range [][]int64{{}, {1600}, {40, 40}, {16, 20, 20}} {
		o := &Options{}
		o.CParams.Codec, o.CParams.CodecMeta, o.CParams.Filters = codec.NDLZ, 4, []chunk.Filter{}
		n, _ := product(shape)
		data := make([]uint8, n)
		for i := range data {
			data[i] = uint8(i / 40)
		}
		a, err := Create(ctx, "", shape, data, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Read[uint8](ctx, a); err != nil || !bytes.Equal(got, data) {
			t.Errorf("shape %v: other items (%v)", shape, err)
		}
		info := a.Frame().Info()
		if compressed := info.CBytes < info.NBytes; compressed != (len(shape) == 2) || info.CParams.Codec != codec.NDLZ {
			t.Errorf("shape %v: %d bytes as %d", shape, info.NBytes, info.CBytes)
		}
		a.Close()
	}
}

// TestMeanWideCells makes arrays with ndmean whose cells are wider than the blocks along an axis.
func TestMeanWideCells(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		blocks []int32
		ok     bool
	}{
		{[]int32{20, 2}, true}, {[]int32{2, 4}, true}, {[]int32{20, 20}, true}, {[]int32{2, 20}, false},
	} {
		o := &Options{Chunks: []int32{40, 20}, Blocks: c.blocks}
		o.CParams.Filters = []chunk.Filter{{ID: chunk.NDMean, Meta: 4}}
		data := make([]float32, 1600)
		for i := range data {
			data[i] = float32(i % 13)
		}
		a, err := Create(ctx, "", []int64{40, 40}, data, o)
		if c.ok != (err == nil) {
			t.Errorf("blocks %v: %v", c.blocks, err)
		}
		if err != nil {
			continue
		}
		got, err := Read[float32](ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		h, w := min(4, int(c.blocks[0])), min(4, int(c.blocks[1]))
		sum := float32(0)
		for y := range h {
			for x := range w {
				sum += data[40*y+x]
			}
		}
		if want := sum / float32(h*w); math.Abs(float64(got[0]-want)) > 1e-5 {
			t.Errorf("blocks %v: %v, want the mean %v", c.blocks, got[0], want)
		}
		a.Close()
	}
}
