package interop

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/ndarray"
)

// filterForms are the filters that TestFilters tries. Each makes a pipeline that fits the shape and partition of a
// case; sizes are its permitted item sizes.
var filterForms = []struct {
	name  string
	sizes []int
	make  func(rng *rand.Rand, c *arrayCase) []chunk.Filter
}{
	{"bytedelta", []int{1, 2, 3, 4, 7, 8, 12, 16, 255}, byteDeltaAfterShuffle},
	{"int_trunc", []int{1, 2, 4, 8}, func(rng *rand.Rand, c *arrayCase) []chunk.Filter {
		return scatter(rng, intTrunc(rng, c), anyLossless(rng))
	}},
	{"ndcell", typeSizes, func(rng *rand.Rand, c *arrayCase) []chunk.Filter {
		return scatter(rng, ndCell(rng, c), anyLossless(rng))
	}},
	{"ndmean", []int{4, 8}, func(rng *rand.Rand, c *arrayCase) []chunk.Filter {
		return scatter(rng, ndMean(rng, c), anyLossless(rng))
	}},
	{"trunc_prec", []int{4, 8}, func(rng *rand.Rand, c *arrayCase) []chunk.Filter {
		bits := 1 + rng.IntN(map[int]int{4: 22, 8: 51}[c.ours.TypeSize])
		return scatter(rng, chunk.TruncPrec.With(-bits), anyLossless(rng))
	}},
	{"streams", typeSizes, func(rng *rand.Rand, c *arrayCase) []chunk.Filter {
		return scatter(rng, chunk.Shuffle.With(1+logUniform(rng, 1, 255)%255))
	}},
	{"delta", typeSizes, func(rng *rand.Rand, c *arrayCase) []chunk.Filter {
		all := []chunk.Filter{chunk.Delta, anyFilter(rng, c)}
		rng.Shuffle(2, func(i, j int) { all[i], all[j] = all[j], all[i] })
		return scatter(rng, all...)
	}},
	{"two", typeSizes, func(rng *rand.Rand, c *arrayCase) []chunk.Filter {
		return scatter(rng, anyFilter(rng, c), anyFilter(rng, c))
	}},
	// With three or more filters, the reference damages its input, so it only reads these arrays. It has too few
	// buffers to read a Delta after three or more filters, or a second Delta.
	{"many", typeSizes, func(rng *rand.Rand, c *arrayCase) []chunk.Filter {
		var all []chunk.Filter
		for n := 3 + rng.IntN(4); len(all) < n; {
			f := anyFilter(rng, c)
			if f.With(0) != chunk.Delta || len(all) < 3 && !has(all, chunk.Delta) {
				all = append(all, f)
			}
		}
		return scatter(rng, all...)
	}},
}

// scatter puts filters into the six slots in order, with empty slots between.
func scatter(rng *rand.Rand, all ...chunk.Filter) []chunk.Filter {
	var used []chunk.Filter
	for _, f := range all {
		if f.With(0) != chunk.NoFilter {
			used = append(used, f)
		}
	}
	for len(used) < coder.NumFilters && rng.IntN(3) > 0 {
		at := rng.IntN(len(used) + 1)
		used = append(used[:at], append([]chunk.Filter{chunk.NoFilter}, used[at:]...)...)
	}
	if used == nil {
		return []chunk.Filter{chunk.NoFilter}
	}
	return used
}

func anyLossless(rng *rand.Rand) chunk.Filter {
	return pick(rng, []chunk.Filter{chunk.NoFilter, chunk.Shuffle, chunk.BitShuffle})
}

// anyFilter draws any filter that fits the case.
func anyFilter(rng *rand.Rand, c *arrayCase) chunk.Filter {
	size := c.ours.TypeSize
	for {
		switch rng.IntN(8) {
		case 0:
			return anyLossless(rng)
		case 1:
			return chunk.Delta
		case 2:
			return chunk.ByteDelta.With(min(size, 255))
		case 3:
			return ndCell(rng, c)
		case 4:
			return chunk.Shuffle.With(rng.IntN(20))
		case 5:
			if size == 4 || size == 8 {
				return chunk.TruncPrec.With((1 + rng.IntN(20)) * (2*rng.IntN(2) - 1))
			}
		case 6:
			if size == 4 || size == 8 {
				return ndMean(rng, c)
			}
		case 7:
			if size == 1 || size == 2 || size == 4 || size == 8 {
				return intTrunc(rng, c)
			}
		}
	}
}

// byteDeltaAfterShuffle returns a shuffle and a byte delta with the same number of streams: the item size or any other.
func byteDeltaAfterShuffle(rng *rand.Rand, c *arrayCase) []chunk.Filter {
	var n uint8
	switch rng.IntN(3) {
	case 0:
		n = uint8(c.ours.TypeSize)
	case 1:
		n = uint8(1 + rng.IntN(30))
	}
	return scatter(rng, chunk.Shuffle.With(int(n)), chunk.ByteDelta.With(int(n)))
}

func intTrunc(rng *rand.Rand, c *arrayCase) chunk.Filter {
	bits := 1 + rng.IntN(8*c.ours.TypeSize-1)
	if rng.IntN(2) == 0 {
		bits = -bits
	}
	return chunk.IntTrunc.With(bits)
}

// ndCell draws an edge of 2 to 8 for cells that have no more items than a block, or of 1 for tiny blocks.
func ndCell(rng *rand.Rand, c *arrayCase) chunk.Filter {
	fits := func(edge int) bool {
		cell, block := 1, 1
		for _, n := range c.blocks {
			cell, block = cell*edge, block*int(n)
		}
		return cell <= block
	}
	edge := 2 + rng.IntN(7)
	for !fits(edge) {
		edge--
	}
	return chunk.NDCell.With(edge)
}

// ndMean draws an edge that is not longer than any side of a block: with longer edges the reference fails.
func ndMean(rng *rand.Rand, c *arrayCase) chunk.Filter {
	most := int32(127)
	for _, n := range c.blocks {
		most = min(most, n)
	}
	return chunk.NDMean.With(1 + int(rng.Int32N(most)))
}

// filterCase draws an array of one to four dimensions, with chunks and blocks that do not divide the shape evenly.
func filterCase(rng *rand.Rand, form int) *arrayCase {
	c := &arrayCase{store: pick(rng, []string{"file", "memory"}), kind: pick(rng, kinds)}
	for c.shape == nil || slow(c.ours, c.nbytes()) {
		c.ours.Codec, c.ours.Level, c.ours.Split = pick(rng, codecs), rng.IntN(10), pick(rng, splitModes)
		c.shape, c.chunks, c.blocks = nil, nil, nil
		dims := 1 + rng.IntN(4)
		c.ours.TypeSize = pick(rng, filterForms[form].sizes)
		most := max(9, 60_000/c.ours.TypeSize)
		for i := range dims {
			length := 5 + rng.IntN([]int{min(most, 5000), 80, 16, 8}[dims-1])
			if i == 0 {
				length = min(length, max(5, most))
			}
			c.addAxis(rng, int64(length), true)
		}
		if items, chunks := c.stored(); items*c.ours.TypeSize > 400_000 || chunks > 60 {
			c.shape = nil
		}
	}
	c.ours.Filters = filterForms[form].make(rng, c)
	if c.ours.TypeSize > 16 && c.ours.Split == chunk.SplitAlways {
		c.ours.Split = chunk.SplitAuto // streams of some bytes
	}
	c.refs = refParams(c.ours)
	return c
}

// TestFilters writes arrays with each of the two libraries and reads them with both.
func TestFilters(t *testing.T) {
	for k, form := range filterForms {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			dir, fails, compared, size := t.TempDir(), 0, 0, 0
			for i := range testCases(250) {
				rng := rand.New(rand.NewPCG(*seed, uint64(1<<50+1000*k+i)))
				c := filterCase(rng, k)
				same, err := c.runFilters(rng, dir)
				if err != nil {
					t.Errorf("case %d of seed %d, %v: %v", i, *seed, c, err)
					if fails++; fails == mostFails {
						return
					}
				}
				compared, size = compared+same, size+c.nbytes()
			}
			if compared == 0 && form.name != "many" {
				t.Error("no chunk was compared with a chunk of the reference")
			}
			t.Logf("%d bytes in all; %d chunks of both libraries have the same content", size, compared)
		})
	}
}

// runFilters runs one case. It returns the number of chunks with the same content in both libraries.
func (c *arrayCase) runFilters(rng *rand.Rand, dir string) (same int, err error) {
	items := content(rng, c.kind, c.nbytes(), c.ours.TypeSize)
	if has(c.ours.Filters, chunk.NDMean) { // no infinities and no NaNs: their means depend on the machine
		for i := c.ours.TypeSize - 1; i < len(items); i += c.ours.TypeSize {
			items[i] &^= 0x40
		}
	}
	ourPath, theirPath := c.path(dir, "ours.b2nd"), c.path(dir, "theirs.b2nd")
	if ourPath != "" {
		defer os.Remove(ourPath)
		defer os.Remove(theirPath)
	}
	a, err := ndarray.CreateBytes(ctx, ourPath, c.shape, c.dtype(), items, c.options(rng))
	if err != nil {
		return 0, fmt.Errorf("create: %w", err)
	}
	defer a.Close()
	r, err := open(a)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if err := c.bothAgree(rng, a, r, items); err != nil {
		return 0, fmt.Errorf("array of this library: %w", err)
	}
	if active(c.ours.Filters) > 2 || has(c.ours.Filters, chunk.NDCell) && c.ours.TypeSize > coder.MaxTypeSize {
		return 0, nil // the reference reads cells of larger items, but cannot write them
	}
	theirs, err := ref.ArrayOf(c.reference(theirPath), items)
	if err != nil {
		return 0, fmt.Errorf("the reference creates: %w", err)
	}
	defer theirs.Close()
	b, err := theirs.Frame()
	if err != nil {
		return 0, err
	}
	if theirPath != "" {
		if b, err = os.ReadFile(theirPath); err != nil {
			return 0, err
		}
	}
	back, err := ndarray.OpenBytes(b, nil)
	if err != nil {
		return 0, err
	}
	defer back.Close()
	if err := c.bothAgree(rng, back, theirs, items); err != nil {
		return 0, fmt.Errorf("array of the reference: %w", err)
	}
	return c.sameContent(a.Frame(), back.Frame())
}

// active counts the filters of a pipeline.
func active(filters []chunk.Filter) (n int) {
	for _, f := range filters {
		if f.With(0) != chunk.NoFilter {
			n++
		}
	}
	return n
}

// changes reports whether a pipeline changes the content.
func changes(filters []chunk.Filter) bool {
	return lossy(filters) || has(filters, chunk.IntTrunc) || has(filters, chunk.NDMean)
}

// bothAgree reads one array with both libraries: whole chunks, all items and two slices. With Delta it compares only
// chunks, because the reference misreads parts of them.
func (c *arrayCase) bothAgree(rng *rand.Rand, a *ndarray.Array, r *ref.Array, items []byte) error {
	got := make([]byte, len(items))
	if err := a.ReadBytes(ctx, got); err != nil {
		return fmt.Errorf("this library reads: %w", err)
	}
	if !changes(c.ours.Filters) && !bytes.Equal(got, items) {
		return fmt.Errorf("this library reads: %w", sameBytes(got, items))
	}
	if err := sameChunks(a.Frame(), r.SChunk()); err != nil {
		return err
	}
	if has(c.ours.Filters, chunk.Delta) {
		return nil
	}
	theirs, err := r.Dump()
	if err == nil {
		err = sameBytes(got, theirs)
	}
	if err != nil {
		return fmt.Errorf("the reference reads: %w", err)
	}
	for range 2 {
		b := randomBox(rng, c.shape)
		want := b.of(theirs, c.shape, c.ours.TypeSize)
		part := make([]byte, len(want))
		if err := a.ReadBytes(ctx, part, b.sel()...); err != nil {
			return err
		}
		if err := sameBytes(part, want); err != nil {
			return fmt.Errorf("this library reads %v: %w", b, err)
		}
		if theirs, err := r.Slice(b.first, b.stop); err != nil || !bytes.Equal(theirs, want) {
			return fmt.Errorf("the reference reads %v: %w", b, cmpErr(err, theirs, want))
		}
	}
	return nil
}

// cmpErr returns err if it is not nil, or an error if got and want differ.
func cmpErr(err error, got, want []byte) error {
	if err != nil {
		return err
	}
	return sameBytes(got, want)
}

// sameContent compares chunks that both libraries compressed, or both stored uncompressed: lossy filters must change
// them in the same way. It skips Delta with a lossy filter: the reference encodes differences to the original content,
// but decodes them against the changed content.
func (c *arrayCase) sameContent(ours, theirs *frame.Frame) (same int, err error) {
	if changes(c.ours.Filters) && has(c.ours.Filters, chunk.Delta) {
		return 0, nil
	}
	for i := range ours.NumChunks() {
		a, err := ours.ReadRaw(ctx, nil, i)
		if err != nil {
			return same, err
		}
		b, err := theirs.ReadRaw(ctx, nil, i)
		if err != nil {
			return same, err
		}
		if (a[2]^b[2])&stored != 0 {
			continue
		}
		if a, err = ours.ReadChunk(ctx, a[:0], i); err != nil {
			return same, err
		}
		if b, err = theirs.ReadChunk(ctx, b[:0], i); err != nil {
			return same, err
		}
		if err := sameBytes(a, b); err != nil {
			return same, fmt.Errorf("chunk %d differs between the libraries: %w", i, err)
		}
		same++
	}
	return same, nil
}
