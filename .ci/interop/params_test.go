package interop

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

var (
	seed  = flag.Uint64("seed", 1, "seed of the random cases")
	cases = flag.Int("cases", 2000, "random cases of each test")
)

const (
	shards    = 4  // number of parallel subtests for random cases
	mostFails = 10 // a test stops after this number of failures
)

// randomCases calls f for -cases random cases. f returns a description of the case and an error if the libraries
// differ.
func randomCases(t *testing.T, f func(rng *rand.Rand) (any, error)) {
	t.Helper()
	n := *cases
	if testing.Short() {
		n /= 10
	}
	var fails atomic.Int32
	for s := range shards {
		t.Run(fmt.Sprintf("shard%d", s), func(t *testing.T) {
			t.Parallel()
			for i := s; i < n && fails.Load() < mostFails; i += shards {
				what, err := f(rand.New(rand.NewPCG(*seed, uint64(i))))
				if err != nil {
					fails.Add(1)
					t.Errorf("case %d of seed %d, %+v: %v", i, *seed, what, err)
				}
			}
		})
	}
}

// pipelines are the filters of a case, starting at the first slot. The C library damages its input with three or more
// active filters, so there are at most two. nil is the default of both libraries, shuffle in the last slot.
var pipelines = [][]chunk.Filter{
	nil, {chunk.NoFilter}, {chunk.Shuffle}, {chunk.BitShuffle}, {chunk.Delta},
	{chunk.Delta, chunk.Shuffle}, {chunk.TruncPrec.With(10), chunk.Shuffle},
	{chunk.TruncPrec.With(0xf4), chunk.BitShuffle}, {chunk.Shuffle.With(5)},
	{chunk.NoFilter, chunk.NoFilter, chunk.Delta, chunk.BitShuffle},
}

var codecs = []codec.ID{codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd}

var typeSizes = []int{1, 2, 3, 4, 7, 8, 12, 16, 255, 300}

// params is a set of compression parameters in the terms of both libraries.
type params struct {
	ours chunk.Params
	refs ref.CParams
}

// randomParams returns parameters that both libraries accept for chunks of about nbytes, and the exact size.
func randomParams(rng *rand.Rand, nbytes int) (params, int) {
	splits := []chunk.SplitMode{chunk.SplitAuto, chunk.SplitAlways, chunk.SplitNever, coder.SplitForward}
	c := chunk.Params{
		TypeSize: pick(rng, typeSizes), Codec: pick(rng, codecs), Level: rng.IntN(10),
		Filters: pick(rng, pipelines), Split: pick(rng, splits),
	}
	for lossy(c.Filters) && c.TypeSize != 4 && c.TypeSize != 8 {
		c.TypeSize = pick(rng, typeSizes)
	}
	if wholeItems(c.Filters) {
		nbytes -= nbytes % c.TypeSize
	}
	// An explicit block size has whole items and is not larger than the chunk. With other sizes the C library writes
	// chunks that cannot be decoded.
	if most := nbytes / c.TypeSize; most > 0 && rng.IntN(2) == 0 {
		c.BlockSize = logUniform(rng, 1, most) * c.TypeSize
	}
	return params{c, refParams(c)}, nbytes
}

// refParams translates parameters of this library to those of the reference. In these tests, level 0 means uncompressed
// in both.
func refParams(c chunk.Params) ref.CParams {
	r := ref.CParams{
		Codec: c.Codec.Code(), CodecMeta: c.CodecMeta, Level: max(c.Level, 0), Split: ref.SplitAuto,
		TypeSize: c.TypeSize, BlockSize: c.BlockSize, Dict: c.Dict, Filters: [6]uint8{5: 1},
	}
	if c.Split != chunk.SplitAuto {
		r.Split = int(c.Split)
	}
	if c.Filters != nil {
		r.Filters = [6]uint8{}
	}
	for i, f := range c.Filters {
		r.Filters[i], r.FiltersMeta[i] = f.Code(), f.Param()
	}
	return r
}

// has reports whether a filter is in a pipeline.
func has(filters []chunk.Filter, id chunk.Filter) bool {
	for _, f := range filters {
		if f.With(0) == id {
			return true
		}
	}
	return false
}

// lossy reports whether a pipeline changes the content.
func lossy(filters []chunk.Filter) bool { return has(filters, chunk.TruncPrec) }

// wholeItems reports whether a pipeline needs chunks of whole items: the C library loses the bytes after the last item.
func wholeItems(filters []chunk.Filter) bool { return lossy(filters) || has(filters, chunk.Delta) }

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// logUniform returns a number from low to high, uniform on a logarithmic scale.
func logUniform(rng *rand.Rand, low, high int) int {
	x := math.Exp(rng.Float64() * math.Log(float64(high)/float64(low)+1))
	return min(high, int(float64(low)*x))
}

// randomSize returns the size of a chunk: short ones, ladders around powers of two, and up to a few MiB.
func randomSize(rng *rand.Rand) int {
	switch rng.IntN(8) {
	case 0:
		return rng.IntN(100)
	case 1:
		return 1<<(5+rng.IntN(14)) + rng.IntN(3) - 1
	case 2:
		return logUniform(rng, 100_000, 3_000_000)
	}
	return logUniform(rng, 32, 200_000)
}
