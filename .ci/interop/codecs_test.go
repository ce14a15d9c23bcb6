package interop

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

// codecCase is an array encoded with a codec for arrays only, or with dictionaries.
type codecCase struct {
	codec         codec.ID
	meta          uint8
	dict          bool
	kind          string
	size          int // of an item in bytes
	shape         []int64
	chunks        []int32
	blocks        []int32
	level         int
	filters       []chunk.Filter
	split         chunk.SplitMode
	items         []byte
	lossy, strict bool // strict: streams are identical to those of the reference
}

func (c *codecCase) String() string {
	return fmt.Sprintf("%v meta %d dict %v level %d split %d filters %v, %s of %d bytes, %d in chunks %d and blocks %d",
		c.codec, c.meta, c.dict, c.level, c.split, c.filters, c.kind, c.size, c.shape, c.chunks, c.blocks)
}

// partition draws a shape, chunk shape and block shape. Blocks have least to most items along each axis.
func (c *codecCase) partition(rng *rand.Rand, dims, least, most int) {
	for range dims {
		b := least + rng.IntN(most-least+1)
		k := b * (1 + rng.IntN(3))
		n := 1 + rng.IntN(2*k)
		c.shape, c.chunks, c.blocks = append(c.shape, int64(n)), append(c.chunks, int32(k)), append(c.blocks, int32(b))
	}
}

// plane makes a pattern of repeated rows and repeated cells.
func plane(rng *rand.Rand, rows, cols int) []byte {
	b := make([]byte, rows*cols)
	var tiles [8][64]byte
	for i := range tiles {
		random(rng, tiles[i][:])
		for j := range tiles[i] {
			tiles[i][j] &= 15
		}
	}
	for y := range rows {
		for x := range cols {
			t := &tiles[(x/8*7+y/8*y/3)%len(tiles)]
			b[y*cols+x] = t[(y%8)*8+x%8]
			if rng.IntN(60) == 0 {
				b[y*cols+x] = byte(rng.Uint32())
			}
		}
	}
	return b
}

func ndlzCase(rng *rand.Rand, edge uint8) *codecCase {
	c := &codecCase{codec: codec.NDLZ, meta: edge, size: 1, filters: []chunk.Filter{}, split: chunk.SplitNever, strict: true}
	c.partition(rng, 2, 1, 90)
	if rng.IntN(30) == 0 { // streams of more than 64 KiB
		c.shape, c.chunks, c.blocks = nil, nil, nil
		c.partition(rng, 2, 400, 700)
	}
	n := count(c.shape)
	c.kind = pick(rng, []string{"plane", "sparse", "text", "ramp", "mixed", "constant"})
	if c.kind == "plane" {
		c.items = plane(rng, int(c.shape[0]), int(c.shape[1]))
	} else {
		c.items = content(rng, c.kind, n, 1)
	}
	return c
}

func zfpCase(rng *rand.Rand, id codec.ID) *codecCase {
	c := &codecCase{codec: id, size: 4 + 4*rng.IntN(2), filters: []chunk.Filter{}, split: chunk.SplitNever, lossy: true}
	dims := 1 + rng.IntN(4)
	c.partition(rng, dims, 4, []int{300, 40, 14, 8}[dims-1])
	c.meta = uint8(rng.Uint32())
	switch {
	case id == codec.ZFPAcc && rng.IntN(4) > 0:
		c.meta = uint8(3 - rng.IntN(16))
	case id == codec.ZFPPrec:
		c.meta = 1 + c.meta%64
	case id == codec.ZFPRate:
		c.meta = 1 + c.meta%110
	}
	c.kind = pick(rng, []string{"sine", "sparse", "ramp", "constant", "noise"})
	if c.kind == "noise" {
		c.items = make([]byte, count(c.shape)*c.size)
		items(c.items, c.size, func(int) uint64 {
			if c.size == 4 { // no infinities and no NaNs: the reference encodes them differently on each machine
				return uint64(rng.Uint32() &^ (1 << 30))
			}
			return rng.Uint64() &^ (1 << 62)
		})
	} else {
		c.items = content(rng, c.kind, count(c.shape)*c.size, c.size)
	}
	if c.kind == "constant" || c.kind == "sparse" { // random bytes may be an infinity or NaN
		for i := c.size - 1; i < len(c.items); i += c.size {
			c.items[i] &^= 0x40
		}
	}
	return c
}

func dictCase(rng *rand.Rand, id codec.ID) *codecCase {
	c := &codecCase{codec: id, dict: true, size: pick(rng, []int{1, 2, 4, 7, 8, 300}), level: 1 + rng.IntN(9)}
	c.filters = pick(rng, [][]chunk.Filter{nil, {chunk.NoFilter}, {chunk.BitShuffle}})
	c.split = pick(rng, []chunk.SplitMode{chunk.SplitAuto, chunk.SplitNever, chunk.SplitAlways})
	if c.split == chunk.SplitAlways && c.size == 300 {
		c.split = chunk.SplitAuto
	}
	c.partition(rng, 1+rng.IntN(2), 2, 120)
	if len(c.shape) == 1 {
		c.shape[0], c.chunks[0], c.blocks[0] = c.shape[0]*20, c.chunks[0]*20, c.blocks[0]*20
	}
	c.kind = pick(rng, kinds)
	c.items = content(rng, c.kind, count(c.shape)*c.size, c.size)
	return c
}

// TestCodecs writes arrays with each of the two libraries and reads them with both.
func TestCodecs(t *testing.T) {
	forms := []struct {
		name string
		make func(rng *rand.Rand) *codecCase
	}{
		{"ndlz4", func(rng *rand.Rand) *codecCase { return ndlzCase(rng, 4) }},
		{"ndlz8", func(rng *rand.Rand) *codecCase { return ndlzCase(rng, 8) }},
		{"zfp_acc", func(rng *rand.Rand) *codecCase { return zfpCase(rng, codec.ZFPAcc) }},
		{"zfp_prec", func(rng *rand.Rand) *codecCase { return zfpCase(rng, codec.ZFPPrec) }},
		{"zfp_rate", func(rng *rand.Rand) *codecCase { return zfpCase(rng, codec.ZFPRate) }},
		{"dict_zstd", func(rng *rand.Rand) *codecCase { return dictCase(rng, codec.Zstd) }},
		{"dict_lz4", func(rng *rand.Rand) *codecCase { return dictCase(rng, codec.LZ4) }},
		{"dict_lz4hc", func(rng *rand.Rand) *codecCase { return dictCase(rng, codec.LZ4HC) }},
	}
	for k, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			dir, fails := t.TempDir(), 0
			var ours, theirs int
			for i := range testCases(250) {
				c := form.make(rand.New(rand.NewPCG(*seed, uint64(1000*k+i))))
				o, r, err := c.run(dir)
				if err != nil {
					t.Errorf("case %d of seed %d, %v: %v", i, *seed, c, err)
					if fails++; fails == mostFails {
						return
					}
				}
				ours, theirs = ours+o, theirs+r
			}
			t.Logf("files of %d bytes in all, %d for the reference", ours, theirs)
		})
	}
}

// run does one case and returns the sizes of the two files.
func (c *codecCase) run(dir string) (ourSize, theirSize int, err error) {
	ourPath, theirPath := filepath.Join(dir, "ours.b2nd"), filepath.Join(dir, "theirs.b2nd")
	dtype := fmt.Sprintf("|V%d", c.size)
	if c.lossy {
		dtype = fmt.Sprintf("<f%d", c.size)
	} else if c.codec == codec.NDLZ {
		dtype = "|u1"
	}
	o := &ndarray.CreateOptions{
		Codec: c.codec, CodecMeta: c.meta, Level: c.level, Filters: c.filters, Split: c.split, Dict: c.dict,
		Chunks: widen(c.chunks), Blocks: widen(c.blocks), Overwrite: true, NoSync: true, Concurrency: 1,
	}
	params := chunk.Params{TypeSize: c.size, Codec: c.codec, CodecMeta: c.meta, Level: c.level, Filters: c.filters, Split: c.split, Dict: c.dict}
	a, err := ndarray.CreateBytes(context.Background(), ourPath, c.shape, dtype, c.items, o)
	if err != nil {
		return 0, 0, fmt.Errorf("create: %w", err)
	}
	if err := a.Close(); err != nil {
		return 0, 0, err
	}
	ourChunks, err := c.bothRead(ourPath, false)
	if err != nil {
		return 0, 0, fmt.Errorf("array of this library: %w", err)
	}
	b, err := os.ReadFile(ourPath)
	if err != nil {
		return 0, 0, err
	}
	if !c.dict && (noRoom(ourChunks) || c.codec == codec.ZFPRate && c.meta > 100) {
		return len(b), len(b), nil
	}
	p := &ref.Params{Shape: c.shape, Chunks: c.chunks, Blocks: c.blocks, DType: dtype}
	p.CParams, p.Path = refParams(params), theirPath
	if p.CParams.Level == 0 {
		p.CParams.Level = codec.DefaultLevel
	}
	r, err := ref.ArrayOf(p, c.items)
	if err != nil {
		return 0, 0, fmt.Errorf("the reference creates: %w", err)
	}
	r.Close()
	theirChunks, err := c.bothRead(theirPath, true)
	if err != nil {
		return 0, 0, fmt.Errorf("array of the reference: %w", err)
	}
	for i := range ourChunks {
		switch {
		case c.lossy:
			err = sameStreams(ourChunks[i], theirChunks[i])
		case c.strict && !c.misread():
			err = sameBytes(ourChunks[i], theirChunks[i])
		}
		if err != nil {
			return 0, 0, fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	b2, err := os.ReadFile(theirPath)
	return len(b), len(b2), err
}

// noRoom reports whether a chunk had no room for one more block. In that case the reference fails with NDLZ. With ZFP
// it writes past the end of the room and corrupts its memory, as it does at rates above 100%.
func noRoom(chunks [][]byte) bool {
	for _, b := range chunks {
		nbytes, blockSize, cbytes := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
		if cbytes+blockSize > nbytes+chunk.MaxOverhead {
			return true
		}
	}
	return false
}

// misread reports whether the reference may misread its own streams: it computes distances in 16 bits, which overflow
// above 65530 bytes. This library does not write these distances.
func (c *codecCase) misread() bool {
	return c.codec == codec.NDLZ && int(c.blocks[0])*int(c.blocks[1]) > 60000
}

// bothRead reads an array with both libraries, which must agree, and returns its chunks. own reports whether the
// reference wrote the array.
func (c *codecCase) bothRead(path string, own bool) (chunks [][]byte, err error) {
	a, err := ndarray.Open(context.Background(), path, nil)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	content := make([]byte, len(c.items))
	if err := a.ReadBytes(context.Background(), content); err != nil {
		return nil, fmt.Errorf("this library reads: %w", err)
	}
	if !c.lossy && !bytes.Equal(content, c.items) {
		return nil, fmt.Errorf("this library reads: %w", sameBytes(content, c.items))
	}
	r, err := ref.OpenArray(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for i := range r.SChunk().Len() {
		b, err := r.SChunk().Chunk(i)
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, b)
	}
	if c.dict {
		// The reference misreads parts of chunks with dictionaries, even its own. It reads whole chunks correctly.
		return chunks, wholeChunks(a, chunks, own)
	}
	theirs, err := r.Dump()
	if err == nil {
		err = sameBytes(content, theirs)
	}
	if err != nil && !(own && c.excuse(chunks)) {
		return nil, fmt.Errorf("the reference reads: %w", err)
	}
	return chunks, nil
}

// wholeChunks decodes the chunks of an array with both libraries. own reports whether the reference wrote them: the
// reference cannot read its own uncompressed chunks, which it flags as having a dictionary.
func wholeChunks(a *ndarray.Array, chunks [][]byte, own bool) error {
	for i, b := range chunks {
		if own && b[2]&2 != 0 && b[31]&1 != 0 {
			continue
		}
		ours, err := a.Frame().ReadChunk(ctx, nil, i)
		if err != nil {
			return fmt.Errorf("this library reads: %w", err)
		}
		theirs, err := ref.Decompress(b, 1)
		if err == nil {
			err = sameBytes(ours, theirs)
		}
		if err != nil {
			return fmt.Errorf("chunk %d, the reference reads: %w", i, err)
		}
	}
	return nil
}

// excuse reports whether the reference may fail to read its own chunks, such as ZFP streams of less than 8 bytes.
func (c *codecCase) excuse(chunks [][]byte) bool {
	return c.misread() || c.lossy && slices.ContainsFunc(chunks, hasTinyStream)
}

// streams returns the streams of a chunk whose blocks are not split, each after its length. It returns nil if the chunk
// is uncompressed or special.
func streams(b []byte) (out [][]byte) {
	if b[2]&2 != 0 || b[31]&0x70 != 0 {
		return nil
	}
	nbytes, blockSize := int(binary.LittleEndian.Uint32(b[4:])), int(binary.LittleEndian.Uint32(b[8:]))
	for k := range (nbytes + blockSize - 1) / blockSize {
		at := int(binary.LittleEndian.Uint32(b[32+4*k:]))
		n := int(int32(binary.LittleEndian.Uint32(b[at:])))
		if n < 0 { // a run
			n = 1
		}
		out = append(out, b[at:at+4+n])
	}
	return out
}

// TestLZ4LastToken changes the match length in the last token of an LZ4 stream. No match follows, so both libraries
// must ignore it.
func TestLZ4LastToken(t *testing.T) {
	src := content(rand.New(rand.NewPCG(*seed, 1)), "text", 2000, 1)
	p := chunk.Params{TypeSize: 1, Codec: codec.LZ4, Filters: []chunk.Filter{chunk.NoFilter}, Split: chunk.SplitNever}
	z, err := new(chunk.Coder).Encode(nil, src, p)
	if err != nil {
		t.Fatal(err)
	}
	all := streams(z)
	if len(all) != 1 || z[2]&2 != 0 {
		t.Fatalf("%d streams, want 1 that is compressed", len(all))
	}
	s := all[0][4:]
	last := lastToken(s)
	if s[last]&15 != 0 {
		t.Fatalf("last token %#x, want no match length", s[last])
	}
	for low := range byte(16) {
		s[last] = s[last]&0xf0 | low
		if err := readByBoth(rand.New(rand.NewPCG(*seed, 2)), z, src, p.Filters); err != nil {
			t.Errorf("match length %d: %v", low, err)
		}
	}
}

// lastToken returns the position of the last token of an LZ4 stream.
func lastToken(s []byte) int {
	at := 0
	length := func(n int) int {
		for more := n == 15; more; at++ {
			n += int(s[at])
			more = s[at] == 255
		}
		return n
	}
	for {
		token := at
		at++
		n := length(int(s[token] >> 4))
		if at += n; at == len(s) {
			return token
		}
		at += 2
		length(int(s[token] & 15))
	}
}

// hasTinyStream reports whether a stream has less than 8 bytes.
func hasTinyStream(b []byte) bool {
	return slices.ContainsFunc(streams(b), func(s []byte) bool { return len(s) > 4 && len(s) < 12 })
}

// sameStreams compares two ZFP chunks. The streams of this library are multiples of 8 bytes long, so more blocks are
// stored uncompressed.
func sameStreams(ours, theirs []byte) error {
	if bytes.Equal(ours[16:32], theirs[16:32]) && ours[2]&2 != 0 && theirs[2]&2 == 0 {
		return nil // uncompressed, because the streams are longer
	}
	if !bytes.Equal(ours[:12], theirs[:12]) || !bytes.Equal(ours[16:32], theirs[16:32]) {
		return fmt.Errorf("header %x, in the reference %x", ours[:32], theirs[:32])
	}
	blockSize := int(binary.LittleEndian.Uint32(ours[8:]))
	theirStreams := streams(theirs)
	for k, a := range streams(ours) {
		b := theirStreams[k]
		padded := (len(b)-4+7)/8*8 + 4
		switch {
		case len(a) == 4+blockSize && padded >= len(a): // stored
		case bytes.Equal(a, b):
		case len(a) == padded && bytes.Equal(a[4:len(b)], b[4:]) && !bytes.ContainsFunc(a[len(b):], func(r rune) bool { return r != 0 }):
		default:
			return fmt.Errorf("block %d: %x, in the reference %x", k, a, b)
		}
	}
	return nil
}
