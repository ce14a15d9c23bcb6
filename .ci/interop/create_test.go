package interop

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// makers are the kinds of arrays that both libraries create with the same parameters.
var makers = []string{"data", "data", "data", "zeros", "NaNs", "full"}

// reproduced reports whether this library's streams are identical to those of the reference.
func reproduced(id codec.ID) bool {
	return id == codec.BloscLZ || id == codec.LZ4 || id == codec.LZ4HC || id == codec.Zlib
}

// tally counts cases by name.
type tally struct {
	sync.Mutex
	n map[string]int
}

func (x *tally) add(name string) {
	x.Lock()
	defer x.Unlock()
	if x.n == nil {
		x.n = map[string]int{}
	}
	x.n[name]++
}

func (x *tally) log(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(x.n)) {
		t.Logf("%4d %s", x.n[name], name)
	}
}

// TestArraysCreated creates arrays with the same parameters in both libraries. If this library reproduces the streams
// of the reference, the files must be identical. Otherwise they may differ only in the streams and in the lengths that
// depend on them.
func TestArraysCreated(t *testing.T) {
	all := arrayCases(t, testCases(600))
	var sum tally
	inParallel(t, all, func(t *testing.T, rng *rand.Rand, dir string, c *arrayCase) error {
		var err error
		if c.meta, err = layers(rng, rng.IntN(len(valueKinds)), rng.IntN(4)); err != nil {
			return err
		}
		maker := pick(rng, makers)
		if maker == "NaNs" && c.ours.TypeSize != 4 && c.ours.TypeSize != 8 {
			maker = "full"
		}
		items := content(rng, c.kind, c.nbytes(), c.ours.TypeSize)
		item := content(rng, c.kind, c.ours.TypeSize, c.ours.TypeSize)
		item[0] |= 1 // this library stores no chunks for zeros
		a, err := c.create(rng, maker, c.path(dir, "ours"), items, item)
		if err != nil {
			return err
		}
		defer a.Close()
		r, err := c.createReference(maker, c.path(dir, "theirs"), items, item)
		if err != nil {
			return err
		}
		defer r.Close()
		ours, err := filesOf(a.Frame())
		if err != nil {
			return err
		}
		theirs, err := filesOfReference(r.SChunk(), c.path(dir, "theirs"))
		if err != nil {
			return err
		}
		if reproduced(c.ours.Codec) || maker != "data" {
			sum.add(c.store + ", all bytes the same")
			err = sameFiles(ours, theirs)
		} else {
			sum.add(c.store + ", all the same but streams")
			err = sameButStreams(ours, theirs, a.Frame(), r.SChunk(), c.ours, true)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", maker, err)
		}
		return nil
	})
	sum.log(t)
}

// create creates the array of the case with this library.
func (c *arrayCase) create(rng *rand.Rand, maker, path string, items, item []byte) (*ndarray.Array, error) {
	o := c.options(rng)
	switch maker {
	case "zeros":
		return ndarray.Zeros(ctx, path, c.shape, c.dtype(), o)
	case "NaNs":
		return ndarray.FullBytes(ctx, path, c.shape, c.dtype(), nan(c.ours.TypeSize), o)
	case "full":
		return ndarray.FullBytes(ctx, path, c.shape, c.dtype(), item, o)
	}
	return ndarray.CreateBytes(ctx, path, c.shape, c.dtype(), items, o)
}

// nan returns the bytes of a NaN of a size, as the reference stores it.
func nan(size int) []byte {
	if size == 4 {
		return binary.LittleEndian.AppendUint32(nil, 0x7fc00000)
	}
	return binary.LittleEndian.AppendUint64(nil, 0x7ff8000000000000)
}

// createReference creates the array of the case with the reference, with one thread.
func (c *arrayCase) createReference(maker, path string, items, item []byte) (*ref.Array, error) {
	p := c.reference(path)
	special := map[string]int{"zeros": ref.Zeros, "NaNs": ref.NaNs, "full": ref.Value}[maker]
	if special == 0 {
		return ref.ArrayOf(p, items)
	}
	return ref.SpecialArray(p, special, item)
}

// filesOf returns the stored bytes of a frame.
func filesOf(f *frame.Frame) (map[string][]byte, error) {
	if f.Path() != "" {
		return files(f.Path())
	}
	b, err := saved(f)
	return map[string][]byte{"": b}, err
}

func filesOfReference(s *ref.SChunk, path string) (map[string][]byte, error) {
	if path != "" {
		return files(path)
	}
	b, err := s.Frame()
	return map[string][]byte{"": b}, err
}

// sameButStreams compares two frames, except for compressed streams, the lengths that depend on them, and, if blocks is
// false, the block sizes.
func sameButStreams(ours, theirs map[string][]byte, f *frame.Frame, s *ref.SChunk, p chunk.Params, blocks bool) error {
	if x, y := slices.Sorted(maps.Keys(ours)), slices.Sorted(maps.Keys(theirs)); !slices.Equal(x, y) {
		return fmt.Errorf("files %v, the reference has %v", x, y)
	}
	name := ""
	if len(theirs) > 1 || theirs[""] == nil {
		name = "chunks.b2frame"
	}
	x, y := ours[name], theirs[name]
	headX, headY := headOf(x), headOf(y)
	if !bytes.Equal(headX, headY) {
		i := firstDiff(headX, headY)
		return fmt.Errorf("headers differ at byte %d\nGo %s\nC  %s", i, around(headX, i), around(headY, i))
	}
	if !bytes.Equal(trailerOf(x), trailerOf(y)) {
		return fmt.Errorf("trailers differ\nGo %x\nC  %x", trailerOf(x), trailerOf(y))
	}
	if f.NumChunks() != s.Len() {
		return fmt.Errorf("%d chunks, the reference has %d", f.NumChunks(), s.Len())
	}
	for i := range s.Len() {
		if err := sameStoredChunk(f, s, i, p, blocks); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	return nil
}

// headOf returns the header of a frame without the lengths that depend on compression.
func headOf(b []byte) []byte {
	n := int(binary.BigEndian.Uint32(b[11:]))
	head := bytes.Clone(b[:min(n, len(b))])
	clear(head[16:24]) // of the frame
	clear(head[39:47]) // of the chunks
	return head
}

// trailerOf returns the trailer of a frame.
func trailerOf(b []byte) []byte {
	n := int(binary.BigEndian.Uint32(b[len(b)-22:]))
	return b[len(b)-min(n, len(b)):]
}

// sameStoredChunk compares a chunk of two frames, except for the parts that depend on the streams and, if blocks is
// false, on the block size.
func sameStoredChunk(f *frame.Frame, s *ref.SChunk, i int, p chunk.Params, blocks bool) error {
	theirs, err := s.Chunk(i)
	if err != nil {
		return err
	}
	ours, err := f.ReadRaw(ctx, nil, i)
	if err != nil {
		return err
	}
	plain := (ours[2]^theirs[2])&stored != 0 // one chunk is uncompressed and keeps the bits that TRUNC_PREC clears
	if !blocks {
		copy(theirs[8:12], ours[8:12])
		theirs[2] = ours[2] // the block size decides whether blocks are split and chunks stored uncompressed
	}
	if err := sameHeader(ours, theirs); err != nil {
		return err
	}
	// Both libraries keep a special value in the index only: the reference writes no 32-byte chunk for it.
	if special := theirs[31] >> 4 & 7; special != 0 && special != ref.Value {
		if info, err := f.ChunkInfo(ctx, i); err != nil || info.Off != -1 {
			return fmt.Errorf("special value %d is stored: %+v, %v", special, info, err)
		}
	}
	want, err := s.Content(i)
	if err != nil {
		return err
	}
	got, err := f.ReadChunk(ctx, nil, i)
	if err != nil {
		return err
	}
	if plain {
		got, want = truncated(got, p), truncated(want, p)
	}
	return sameBytes(got, want)
}

// chunkedCase is one super-chunk: buffers to append one after another, or a special value.
type chunkedCase struct {
	params
	kind    string
	sizes   []int
	various bool  // sizes
	special int   // or 0
	items   int64 // of the special value
	sparse  bool
	memory  bool
	meta    []meta.Layer
}

func (c *chunkedCase) String() string {
	return fmt.Sprintf("chunks of %v bytes of %s, %d items of special value %d, sparse %v, memory %v, %+v",
		c.sizes, c.kind, c.items, c.special, c.sparse, c.memory, c.ours)
}

// TestSuperChunksCreated creates plain super-chunks with both libraries, from chunks of equal or various sizes, or from
// special values. See TestArraysCreated.
func TestSuperChunksCreated(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 2<<40))
	var all []*chunkedCase
	for range testCases(400) {
		c := &chunkedCase{kind: pick(rng, kinds), sparse: rng.IntN(3) == 0, memory: rng.IntN(3) == 0}
		c.sparse = c.sparse && !c.memory
		size := logUniform(rng, 32, 20_000)
		c.params, size = randomParams(rng, size)
		c.setSizes(rng, size)
		c.refs = refParams(c.ours)
		all = append(all, c)
	}
	var sum tally
	inParallel(t, all, func(t *testing.T, rng *rand.Rand, dir string, c *chunkedCase) error {
		var err error
		if c.meta, err = layers(rng, rng.IntN(len(valueKinds)), rng.IntN(4)); err != nil {
			return err
		}
		same, err := c.run(rng, dir)
		sum.add(map[bool]string{true: "all bytes the same", false: "all the same but streams"}[same])
		return err
	})
	sum.log(t)
}

// TestOddChunks creates super-chunks whose chunks end inside an item, also chunks of zeros, and inserts NaNs or a value
// of another size than the items. The reference must read them. It cannot create them itself.
func TestOddChunks(t *testing.T) {
	inParallel(t, make([]int, testCases(200)), func(t *testing.T, rng *rand.Rand, dir string, _ int) error {
		typeSize := pick(rng, []int{2, 3, 4, 7, 8, 16, 100, 255, 256, 300})
		size := logUniform(rng, 1, 100_000)
		o := &frame.CreateOptions{
			Params: chunk.Params{TypeSize: typeSize, Codec: pick(rng, codecs)}, Sparse: rng.IntN(2) == 0, NoSync: true,
		}
		var parts [][]byte
		for range 1 + rng.IntN(5) {
			parts = append(parts, content(rng, pick(rng, []string{"zeros", "zeros", "constant", "text"}), size, typeSize))
		}
		if rng.IntN(2) == 0 {
			last := &parts[len(parts)-1]
			*last = (*last)[:1+rng.IntN(size)]
		}
		special, value := chunk.NaNs, []byte(nil)
		if rng.IntN(2) == 0 {
			special, value = chunk.Value, noise(rng, 1+rng.IntN(12))
		}
		z, err := chunk.EncodeSpecial(nil, special, max(4, 4*len(value))*(1+rng.IntN(size)), value, chunk.Params{TypeSize: 4})
		if err != nil {
			return err
		}
		raw, err := chunk.Decode(nil, z)
		if err != nil {
			return err
		}
		at := rng.IntN(2) * len(parts)
		f, err := frame.CreateFunc(ctx, dir+"/frame", func(b *frame.Batch) error {
			for _, p := range parts {
				if err := b.Append(ctx, p); err != nil {
					return err
				}
			}
			return b.InsertRaw(ctx, at, z)
		}, o)
		if err != nil {
			return err
		}
		f.Close()
		parts = slices.Insert(parts, at, raw)
		s, err := ref.OpenSChunk(dir + "/frame")
		if err != nil {
			return err
		}
		defer s.Close()
		for i, want := range parts {
			if got, err := s.Content(i); err != nil || !bytes.Equal(got, want) {
				return fmt.Errorf("chunk %d of %d, %d bytes, items of %d: %v", i, len(parts), len(want), typeSize, err)
			}
		}
		return nil
	})
}

// setSizes chooses the chunks. Either each has size bytes, except for a shorter last one, or they have any size.
func (c *chunkedCase) setSizes(rng *rand.Rand, size int) {
	n := logUniform(rng, 1, 60) - 1
	// The reference cannot read other chunks of zeros that it writes. See TestOddChunks.
	size = max(size-size%c.ours.TypeSize, c.ours.TypeSize)
	if rng.IntN(5) == 0 {
		c.special = pick(rng, []int{ref.Zeros, ref.NaNs, ref.Value, ref.Uninit})
		if c.special == ref.NaNs {
			c.ours.TypeSize, c.ours.Filters, c.ours.BlockSize = 4+4*rng.IntN(2), nil, 0
		}
		c.sizes = []int{max(1, size/c.ours.TypeSize) * c.ours.TypeSize}
		c.items = int64(1 + rng.IntN(1+n*c.sizes[0]/c.ours.TypeSize))
		return
	}
	c.various = n > 1 && rng.IntN(3) == 0
	for i := range n {
		switch {
		case c.various:
			c.sizes = append(c.sizes, (1+rng.IntN(size/c.ours.TypeSize))*c.ours.TypeSize)
		case i == n-1:
			c.sizes = append(c.sizes, (1+rng.IntN(size/c.ours.TypeSize))*c.ours.TypeSize)
		default:
			c.sizes = append(c.sizes, size)
		}
	}
	if c.various { // the reference cannot read back the zeros that it writes to these frames
		c.kind = "text"
	}
	for _, n := range c.sizes {
		if c.ours.BlockSize > n { // then the reference sets a wrong block size
			c.ours.BlockSize = 0
		}
	}
}

// run creates the super-chunk with both libraries and compares. It reports whether it compared all bytes.
func (c *chunkedCase) run(rng *rand.Rand, dir string) (bool, error) {
	ours, theirs := dir+"/ours", dir+"/theirs"
	if c.memory {
		ours, theirs = "", ""
	}
	value := content(rng, "text", c.ours.TypeSize, 1)
	var parts [][]byte
	for _, n := range c.sizes {
		parts = append(parts, content(rng, c.kind, n, c.ours.TypeSize))
	}
	f, err := c.create(ours, parts, value)
	if err != nil {
		return false, err
	}
	defer f.Close()
	s, err := c.createReference(theirs, parts, value)
	if err != nil {
		return false, err
	}
	defer s.Close()
	x, err := filesOf(f)
	if err != nil {
		return false, err
	}
	y, err := filesOfReference(s, theirs)
	if err != nil {
		return false, err
	}
	// With chunks of various sizes, the reference limits the block size to that of the previous chunks.
	if !c.various && (reproduced(c.ours.Codec) || c.special != 0 || len(parts) == 0) {
		return true, sameFiles(x, y)
	}
	return false, sameButStreams(x, y, f, s, c.ours, !c.various)
}

func (c *chunkedCase) create(path string, parts [][]byte, value []byte) (*frame.Frame, error) {
	o := &frame.CreateOptions{Params: c.ours, Meta: c.meta, Sparse: c.sparse, NoSync: true}
	if o.Params.Level == 0 {
		o.Params.Level = codec.NoCompression
	}
	if c.special != 0 && c.special != ref.Value {
		o.ChunkSize = c.sizes[0]
	}
	fill := func(b *frame.Batch) error {
		switch c.special {
		case 0:
			for _, p := range parts {
				if err := b.Append(ctx, p); err != nil {
					return err
				}
			}
			return nil
		case ref.Value:
			return c.fillValue(b, value)
		}
		return b.Engine().FillSpecial(c.items*int64(c.ours.TypeSize), chunk.Special(c.special))
	}
	if path == "" {
		return frame.CreateFunc(ctx, "", fill, o)
	}
	return frame.CreateFunc(ctx, path, fill, o)
}

// fillValue appends chunks of a repeated item.
func (c *chunkedCase) fillValue(b *frame.Batch, value []byte) error {
	for left := int(c.items) * c.ours.TypeSize; left > 0; left -= c.sizes[0] {
		z, err := chunk.EncodeSpecial(nil, chunk.Value, min(left, c.sizes[0]), value, c.ours)
		if err != nil {
			return err
		}
		if err := b.AppendRaw(ctx, z); err != nil {
			return err
		}
	}
	return nil
}

func (c *chunkedCase) createReference(path string, parts [][]byte, value []byte) (*ref.SChunk, error) {
	st := &ref.Storage{Path: path, Sparse: c.sparse, CParams: c.refs}
	for _, m := range c.meta {
		st.Metalayers = append(st.Metalayers, ref.Meta{Name: m.Name, Content: m.Content})
	}
	s, err := ref.NewSChunk(st)
	if err != nil {
		return nil, err
	}
	switch c.special {
	case 0:
		for _, p := range parts {
			if err = s.Append(p); err != nil {
				break
			}
		}
	case ref.Value: // blosc2_schunk_fill_special knows only the others
		for left := int(c.items) * c.ours.TypeSize; left > 0 && err == nil; left -= c.sizes[0] {
			var z []byte
			if z, err = ref.CompressSpecial(ref.Value, min(left, c.sizes[0]), value, &c.refs); err == nil {
				err = s.AppendRaw(z)
			}
		}
	default:
		err = s.FillSpecial(c.items, c.special, c.sizes[0])
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}
