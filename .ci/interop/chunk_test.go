package interop

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
)

// chunkCase is the description of one chunk.
type chunkCase struct {
	params
	kind   string
	nbytes int
}

func (c chunkCase) String() string {
	return fmt.Sprintf("%d bytes of %s, %+v", c.nbytes, c.kind, c.ours)
}

func randomChunk(rng *rand.Rand) (chunkCase, []byte) {
	c := chunkCase{kind: pick(rng, kinds)}
	c.params, c.nbytes = randomParams(rng, randomSize(rng))
	if c.nbytes > 100_000 && c.ours.Level > 6 && c.ours.Codec != codec.BloscLZ && c.ours.Codec != codec.LZ4 {
		c.ours.Level, c.refs.Level = 6, 6 // the highest levels are slow
	}
	src := content(rng, c.kind, c.nbytes, c.ours.TypeSize)
	if c.ours.Level == 0 {
		c.ours.Level = codec.NoCompression
	}
	return c, src
}

// totals adds up the sizes of chunks, in bytes.
type totals struct {
	sync.Mutex
	ours, theirs int
}

// TestChunks compresses with both libraries. If this library reproduces the streams of the reference, the chunks must
// be identical, else their headers. Each library reads the chunks of the other.
func TestChunks(t *testing.T) {
	sums := map[codec.ID]*totals{}
	for _, id := range codecs {
		sums[id] = &totals{}
	}
	t.Run("cases", func(t *testing.T) {
		randomCases(t, func(rng *rand.Rand) (any, error) {
			c, src := randomChunk(rng)
			return c, c.run(rng, src, sums[c.ours.Codec])
		})
	})
	for id, sum := range sums {
		ratio := float64(sum.ours) / float64(sum.theirs)
		t.Logf("%v: %d bytes, %d by the reference: %+.1f %%", id, sum.ours, sum.theirs, 100*ratio-100)
		if ratio > 1.15 || sum.ours == 0 {
			t.Errorf("%v: %d bytes in all, %d by the reference", id, sum.ours, sum.theirs)
		}
	}
}

// run compresses src with both libraries, compares the chunks, and decodes them with both libraries.
func (c *chunkCase) run(rng *rand.Rand, src []byte, sum *totals) error {
	ours, err := (&chunk.Coder{Concurrency: 1 + rng.IntN(3)}).Encode(nil, src, c.ours)
	if err != nil {
		return err
	}
	theirs, err := ref.Compress(src, &c.refs)
	if err != nil {
		return err
	}
	if reproduced(c.ours.Codec) {
		err = sameChunk(ours, theirs)
	} else {
		err = sameHeader(ours, theirs)
	}
	if err != nil {
		return err
	}
	c.refs.Threads = 3
	threaded, err := ref.Compress(src, &c.refs)
	if err != nil {
		return err
	}
	for who, z := range map[string][]byte{"ours": ours, "theirs": theirs, "theirs with threads": threaded} {
		want := src
		if z[2]&stored == 0 {
			want = truncated(src, c.ours)
		}
		if err := readByBoth(rng, z, want, c.ours.Filters); err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
	}
	if len(theirs) < len(src)/2 { // if src compresses well
		sum.Lock()
		defer sum.Unlock()
		sum.ours += len(ours)
		sum.theirs += len(theirs)
	}
	return nil
}

// truncated returns src after TRUNC_PREC, or src itself if the pipeline does not have that filter.
func truncated(src []byte, c chunk.Params) []byte {
	for _, f := range c.Filters {
		if f.With(0) != chunk.TruncPrec {
			continue
		}
		zeroed := -int(int8(f.Param()))
		if zeroed <= 0 {
			zeroed += map[int]int{4: 23, 8: 52}[c.TypeSize] // bits to keep, of the mantissa
		}
		src = bytes.Clone(src)
		for i := range src {
			low := zeroed - i%c.TypeSize*8 // bits to clear in this byte
			src[i] &= byte(0xff << max(0, min(8, low)))
		}
	}
	return src
}

// stored is the bit for uncompressed data in the flags of a chunk, which are byte 2 of its header.
const stored = 0x02

// sameChunk compares two chunks byte for byte.
func sameChunk(ours, theirs []byte) error {
	if i := firstDiff(ours, theirs); i >= 0 {
		return fmt.Errorf("chunks of %d and %d bytes differ at byte %d\nGo %s\nC  %s",
			len(ours), len(theirs), i, around(ours, i), around(theirs, i))
	}
	return nil
}

// sameHeader compares the headers of two chunks, except for the compressed size and the flag of uncompressed chunks,
// which depend on the codec.
func sameHeader(ours, theirs []byte) error {
	a, b := bytes.Clone(ours[:coder.HeaderSize]), bytes.Clone(theirs[:coder.HeaderSize])
	copy(a[12:16], b[12:16])
	a[2] |= stored
	b[2] |= stored
	if !bytes.Equal(a, b) {
		return fmt.Errorf("headers differ\nGo %x\nC  %x", ours[:coder.HeaderSize], theirs[:coder.HeaderSize])
	}
	return nil
}

// readByBoth decodes a chunk with both libraries, whole and in part.
func readByBoth(rng *rand.Rand, z, want []byte, filters []chunk.Filter) error {
	got, err := ref.Decompress(z, 1+rng.IntN(3))
	if err != nil {
		return err
	}
	if i := firstDiff(got, want); i >= 0 {
		return fmt.Errorf("the reference decodes other content, first at byte %d of %d", i, len(want))
	}
	// Bytes around the result must not change.
	prefix := []byte("keep")
	pool := coder.NewPool(&coder.Options{Concurrency: 1 + rng.IntN(3)})
	got, err = pool.Decode(bytes.Clone(prefix), append(bytes.Clone(z), "behind"...))
	if err != nil {
		return err
	}
	if i := firstDiff(got, append(prefix, want...)); i >= 0 {
		return fmt.Errorf("this library decodes other content, first at byte %d of %d", i-len(prefix), len(want))
	}
	if len(want) == 0 {
		return nil
	}
	if err := readBlock(rng, pool, z, want); err != nil {
		return err
	}
	// The reference does not support DELTA or dictionaries in partial reads. If the size of a read is exactly the size
	// of a full or short block, the reference reads from the start of that block.
	typeSize := int(z[3])
	if n := len(want) / typeSize; n > 0 && z[31]&1 == 0 && !has(filters, chunk.Delta) {
		first := rng.IntN(n)
		count := 1 + rng.IntN(n-first)
		_, _, blockSize, err := ref.Sizes(z)
		size := count * typeSize
		if err != nil || (size == blockSize || size == len(want)%blockSize) && first*typeSize%blockSize != 0 {
			return err
		}
		got, err := ref.Items(z, first, count)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want[first*typeSize:(first+count)*typeSize]) {
			return fmt.Errorf("the reference reads other items %d to %d", first, first+count)
		}
	}
	return nil
}

// readBlock decodes one block of a chunk at an offset in a larger file.
func readBlock(rng *rand.Rand, pool *coder.Pool, z, want []byte) error {
	w := pool.Get()
	defer pool.Put(w)
	file := append(bytes.Repeat([]byte{0xee}, 7), z...)
	var r coder.Reader
	if err := w.OpenAt(&r, bytes.NewReader(file), 7, int64(len(z)), 0, rng.Float64()); err != nil {
		return err
	}
	k := rng.IntN(r.NumBlocks)
	got := make([]byte, r.BlockLen(k))
	if err := w.DecodeBlock(got, &r, k); err != nil {
		return err
	}
	if at := r.BlockOffset(k); !bytes.Equal(got, want[at:at+len(got)]) {
		return fmt.Errorf("this library decodes other content in block %d of %d", k, r.NumBlocks)
	}
	return nil
}

// TestBlockSizes compares the automatic block size and the split bit of large chunks. The chunks are runs, which
// compress quickly.
func TestBlockSizes(t *testing.T) {
	src := bytes.Repeat([]byte{7}, 40_000_000)
	randomCases(t, func(rng *rand.Rand) (any, error) {
		c := chunkCase{kind: "sevens"}
		nbytes := randomSize(rng)
		if rng.IntN(100) == 0 {
			nbytes = logUniform(rng, 1_000_000, len(src))
		}
		c.params, c.nbytes = randomParams(rng, nbytes)
		c.ours.Level = 1 + rng.IntN(9)
		c.refs.Level = c.ours.Level
		theirs, err := ref.Compress(src[:c.nbytes], &c.refs)
		if err != nil {
			return c, err
		}
		ours, err := chunk.Encode(nil, src[:c.nbytes], c.ours)
		if err != nil {
			return c, err
		}
		if err := sameHeader(ours, theirs); err != nil {
			return c, err
		}
		_, _, want, err := ref.Sizes(theirs)
		if err != nil {
			return c, err
		}
		got, err := c.ours.BlockSizeFor(c.nbytes)
		if err == nil && got != want && c.nbytes > 0 {
			err = fmt.Errorf("block size %d, want %d", got, want)
		}
		return c, err
	})
}

// TestValueSizes encodes repeated values whose size is not the item size, with blocks of any size.
func TestValueSizes(t *testing.T) {
	value := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for _, size := range []int{1, 2, 4, 8, 256} {
		for n := range len(value) {
			v := value[:n+1]
			for _, block := range []int{0, 1, 12, 30, 100, 5000} {
				c, err := chunk.EncodeSpecial(nil, chunk.Value, 100*len(v), v, chunk.Params{TypeSize: size, BlockSize: block})
				if err != nil {
					t.Fatal(err)
				}
				if got, err := ref.Decompress(c, 1); err != nil || !bytes.Equal(got, bytes.Repeat(v, 100)) {
					t.Errorf("items of %d bytes, value of %d, blocks of %d: %v, or other data", size, len(v), block, err)
				}
			}
		}
	}
}

// TestSpecialChunks compares the chunks, of any size, that represent special values.
func TestSpecialChunks(t *testing.T) {
	randomCases(t, func(rng *rand.Rand) (any, error) {
		var c struct {
			chunkCase
			special chunk.Special
			value   []byte
		}
		c.special = chunk.Special(1 + rng.IntN(4))
		items := max(1, randomSize(rng)) // the reference cannot read its own repeated-value chunk of 0 bytes
		if rng.IntN(4) == 0 {
			items = logUniform(rng, 1, chunk.MaxBytes/300)
		}
		c.params, _ = randomParams(rng, items)
		if c.special == chunk.NaNs {
			c.ours.TypeSize = 4 << rng.IntN(2)
		}
		c.nbytes = items * c.ours.TypeSize
		c.ours.BlockSize -= c.ours.BlockSize % c.ours.TypeSize
		c.refs = refParams(c.ours)
		c.value = make([]byte, c.ours.TypeSize)
		random(rng, c.value)
		if c.ours.Level == 0 {
			c.ours.Level = codec.NoCompression
		}
		theirs, err := ref.CompressSpecial(int(c.special), c.nbytes, c.value, &c.refs)
		if err != nil {
			return c, err
		}
		ours, err := chunk.EncodeSpecial(nil, c.special, c.nbytes, c.value, c.ours)
		if err != nil {
			return c, err
		}
		if !bytes.Equal(ours, theirs) {
			return c, fmt.Errorf("chunks differ\nGo %x\nC  %x", ours, theirs)
		}
		if c.nbytes > 2_000_000 {
			return c, nil
		}
		want, err := ref.Decompress(ours, 1)
		if err != nil {
			return c, err
		}
		got, err := chunk.Decode(nil, theirs)
		if err == nil && c.special != chunk.Uninit && !bytes.Equal(got, want) {
			err = errors.New("contents differ")
		}
		return c, err
	})
}

// TestPlainZeros appends special chunks of zeros to a frame with items of another size. The reference must read zeros
// from the stored chunks, which are not special.
func TestPlainZeros(t *testing.T) {
	f, err := frame.Create(t.Context(), "", &frame.CreateOptions{Params: chunk.Params{TypeSize: 7}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Rollback()
	sizes := []int{1, 5, 31, 32, 33, 1000, 65_537, 3_000_001}
	for _, n := range sizes {
		zeros, err := chunk.EncodeSpecial(nil, chunk.Zeros, n, nil, chunk.Params{TypeSize: 1})
		if err == nil {
			err = b.AppendRaw(t.Context(), zeros)
		}
		if err != nil {
			t.Fatal(n, err)
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	for i, n := range sizes {
		raw, err := f.ReadRaw(t.Context(), nil, i)
		if err != nil {
			t.Fatal(n, err)
		}
		if h, err := chunk.ParseHeader(raw, int64(len(raw))); err != nil || h.Special != chunk.Regular {
			t.Errorf("%d bytes: %+v, %v", n, h, err)
		}
		if got, err := ref.Decompress(raw, 1); err != nil || !bytes.Equal(got, make([]byte, n)) {
			t.Errorf("%d bytes: the reference reads %d bytes, %v", n, len(got), err)
		}
	}
}

// TestDictChunks writes chunks with dictionaries. Each library reads the chunks of the other.
func TestDictChunks(t *testing.T) {
	dicts := 0
	for i := range 60 {
		rng := rand.New(rand.NewPCG(*seed, uint64(i)))
		c := chunkCase{kind: pick(rng, []string{"ramp", "text", "sine", "sparse"})}
		c.params, c.nbytes = randomParams(rng, logUniform(rng, 5_000, 300_000))
		c.ours.Codec = pick(rng, []codec.ID{codec.Zstd, codec.LZ4, codec.LZ4HC})
		c.ours.Level, c.ours.Dict = 1+rng.IntN(5), true
		c.refs = refParams(c.ours)
		src := content(rng, c.kind, c.nbytes, c.ours.TypeSize)
		theirs, err := ref.Compress(src, &c.refs)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if theirs[2]&stored != 0 { // stored, but marked as having a dictionary: the C library cannot read its own chunk
			continue
		}
		dicts += int(theirs[31] & 1)
		ours, err := chunk.Encode(nil, src, c.ours)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		for who, z := range map[string][]byte{"ours": ours, "theirs": theirs} {
			want := src
			if z[2]&stored == 0 {
				want = truncated(src, c.ours)
			}
			if err := readByBoth(rng, z, want, c.ours.Filters); err != nil {
				t.Errorf("%+v: %s: %v", c, who, err)
			}
		}
	}
	if dicts < 10 {
		t.Errorf("only %d chunks had a dictionary", dicts)
	}
}

// TestVLBlocks reads chunks of the reference whose blocks have variable lengths.
func TestVLBlocks(t *testing.T) {
	for i := range 200 {
		rng := rand.New(rand.NewPCG(*seed, uint64(i)))
		c := chunkCase{kind: pick(rng, kinds)}
		c.params, _ = randomParams(rng, 0)
		c.refs.Level = 1 + rng.IntN(9) // there is no uncompressed form
		if wholeItems(c.ours.Filters) {
			continue
		}
		var blocks [][]byte
		for range 1 + rng.IntN(20) {
			blocks = append(blocks, content(rng, c.kind, logUniform(rng, 1, 20_000), c.ours.TypeSize))
		}
		z, err := ref.CompressBlocks(blocks, &c.refs)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		want, err := ref.Decompress(z, 1)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		got, err := chunk.Decode(nil, z)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%+v: wrong content, %v", c, err)
		}
		if err := readBlock(rng, coder.NewPool(nil), z, want); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// firstDiff returns the index of the first byte in which a and b differ, or -1.
func firstDiff(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

// around returns some bytes of b at i and the header.
func around(b []byte, i int) string {
	low := max(i-8, 0)
	return fmt.Sprintf("header %x, at %d %x", b[:min(len(b), coder.HeaderSize)], low, b[min(low, len(b)):min(i+16, len(b))])
}
