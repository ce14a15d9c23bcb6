package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

var ctx = context.Background()

// arrayCase is the description of one array.
type arrayCase struct {
	params
	store          string // one of stores
	kind           string // of the content, one of kinds
	shape          []int64
	chunks, blocks []int32
	meta           []meta.Layer
}

func (c *arrayCase) String() string {
	return fmt.Sprintf("%v of %s items of %d bytes in chunks of %v, blocks of %v, %s, %v level %d, filters %v, split %d, %d metalayers",
		c.shape, c.kind, c.ours.TypeSize, c.chunks, c.blocks, c.store, c.ours.Codec, c.ours.Level, c.ours.Filters, c.ours.Split, len(c.meta))
}

var stores = []string{"file", "directory", "memory"}

// forms are the kinds of shapes: each number of dimensions, an axis of length zero, and chunks and blocks that do not
// divide the shape evenly.
var forms = []string{"0-d", "1-d", "2-d", "3-d", "5-d", "16-d", "zero", "uneven"}

var dtypes = map[int][]string{
	1: {"|u1", "|b1", "|S1"}, 2: {"<i2", ">u2"}, 3: {"|S3", "|V3"}, 4: {"<f4", "<i4", ">f4"}, 7: {"|V7"}, 8: {"<f8", "<M8[ns]", ">i8"},
	12: {"<U3", "[('a', '<i4'), ('b', '<f8')]"}, 16: {"<c16", "|S16"}, 255: {"|S255"}, 300: {"<U75", "|S300"},
}

// dtype returns a dtype for the items of the case, the same in every call.
func (c *arrayCase) dtype() string {
	all := dtypes[c.ours.TypeSize]
	return all[(len(c.shape)+len(c.meta)+len(c.kind))%len(all)]
}

// setForm sets a random shape of a form, and its partition. The array stays small.
func (c *arrayCase) setForm(rng *rand.Rand, form string) {
	for {
		c.shape, c.chunks, c.blocks = []int64{}, []int32{}, []int32{}
		n := 1 + rng.IntN(4)
		switch form {
		case "zero":
		case "uneven":
			n = 1 + rng.IntN(3)
		default:
			fmt.Sscanf(form, "%d-d", &n)
		}
		most := max(2, logUniform(rng, 4, max(5, 200_000/c.ours.TypeSize)))
		for range n {
			length := 1 + rng.IntN(1+min(most, max(2, logUniform(rng, 1, 2*most))))
			if form == "16-d" && rng.IntN(3) > 0 {
				length = 1
			}
			most = max(1, most/length)
			c.addAxis(rng, int64(length), form == "uneven")
		}
		rng.Shuffle(n, func(i, j int) {
			c.shape[i], c.shape[j] = c.shape[j], c.shape[i]
			c.chunks[i], c.chunks[j] = c.chunks[j], c.chunks[i]
			c.blocks[i], c.blocks[j] = c.blocks[j], c.blocks[i]
		})
		if form == "zero" {
			c.setZero(rng)
		}
		if items, chunks := c.stored(); items*c.ours.TypeSize <= 600_000 && chunks <= 300 {
			return
		}
	}
}

// addAxis adds an axis of length n with its partition.
func (c *arrayCase) addAxis(rng *rand.Rand, length int64, uneven bool) {
	for {
		if uneven {
			length = max(length, 5)
		}
		ck := int32(1 + rng.IntN(int(length)+1+int(length)/4))
		if rng.IntN(4) == 0 {
			ck = int32(length)
		}
		bk := int32(1 + rng.IntN(int(ck)))
		if !uneven || length%int64(ck) != 0 && ck%bk != 0 {
			c.shape, c.chunks, c.blocks = append(c.shape, length), append(c.chunks, ck), append(c.blocks, bk)
			return
		}
		length++
	}
}

// setZero sets the length of one axis to zero. Its chunks keep their length: this library chooses one in place of zero,
// so that the array can grow.
func (c *arrayCase) setZero(rng *rand.Rand) { c.shape[rng.IntN(len(c.shape))] = 0 }

// stored returns the number of stored items, with padding, and the number of chunks.
func (c *arrayCase) stored() (items, chunks int) {
	items, chunks = 1, 1
	for i, n := range c.shape {
		if n == 0 {
			return 0, 0
		}
		ck, bk := int(c.chunks[i]), int(c.blocks[i])
		chunks *= (int(n) + ck - 1) / ck
		items *= (ck + bk - 1) / bk * bk
	}
	return items * chunks, chunks
}

// chunkBytes returns the size of a chunk, with padding.
func (c *arrayCase) chunkBytes() int {
	n := c.ours.TypeSize
	for i, ck := range c.chunks {
		n *= int((ck + c.blocks[i] - 1) / c.blocks[i] * c.blocks[i])
	}
	return n
}

// nbytes returns the size of the items.
func (c *arrayCase) nbytes() int { return count(c.shape) * c.ours.TypeSize }

func count(shape []int64) int {
	n := 1
	for _, s := range shape {
		n *= int(s)
	}
	return n
}

// options returns the options that make the array with this library.
func (c *arrayCase) options(rng *rand.Rand) *ndarray.CreateOptions {
	p := c.ours
	o := &ndarray.CreateOptions{
		Codec: p.Codec, CodecMeta: p.CodecMeta, Level: p.Level, Filters: p.Filters, Split: p.Split, Dict: p.Dict,
		Chunks: widen(c.chunks), Blocks: widen(c.blocks), Meta: c.meta, Sparse: c.store == "directory",
	}
	if o.Level == 0 {
		o.Level = codec.NoCompression
	}
	o.NoSync, o.Concurrency = true, 1+rng.IntN(3)
	return o
}

// reference returns the parameters with which the C library creates the array.
func (c *arrayCase) reference(path string) *ref.Params {
	p := &ref.Params{Shape: c.shape, Chunks: c.chunks, Blocks: c.blocks, DType: c.dtype()}
	p.CParams, p.Path, p.Sparse = refParams(c.ours), path, c.store == "directory"
	for _, m := range c.meta {
		p.Metalayers = append(p.Metalayers, ref.Meta{Name: m.Name, Content: m.Content})
	}
	return p
}

// path returns a name for the array in a directory, or "" for one in memory.
func (c *arrayCase) path(dir, name string) string {
	if c.store == "memory" {
		return ""
	}
	return filepath.Join(dir, name)
}

// box is a slice of an array: from first up to stop in each dimension.
type box struct{ first, stop []int64 }

// randomBox returns a box inside a shape without zeros, with at least one item.
func randomBox(rng *rand.Rand, shape []int64) box {
	var b box
	for _, n := range shape {
		first := rng.Int64N(n)
		b.first = append(b.first, first)
		b.stop = append(b.stop, first+1+rng.Int64N(n-first))
	}
	return b
}

func (b box) shape() []int64 {
	s := make([]int64, len(b.first))
	for i := range s {
		s[i] = b.stop[i] - b.first[i]
	}
	return s
}

func (b box) sel() []ndarray.Index {
	s := make([]ndarray.Index, len(b.first))
	for i := range s {
		s[i] = ndarray.Span(b.first[i], b.stop[i])
	}
	return s
}

// rows calls f for each run of items along the last axis of the box. It passes the offset of the run in the items of an
// array of a shape and its offset in the items of the box, both in bytes.
func (b box) rows(shape []int64, size int, f func(inArray, inBox, n int)) {
	if count(b.shape()) == 0 {
		return
	}
	at := slices.Clone(b.first)
	last := len(shape) - 1
	n := size
	if last >= 0 {
		n *= int(b.stop[last] - b.first[last])
	}
	for inBox := 0; ; inBox += n {
		inArray := 0
		for i, x := range at {
			inArray = inArray*int(shape[i]) + int(x)
		}
		f(inArray*size, inBox, n)
		i := last - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < b.stop[i] {
				break
			}
			at[i] = b.first[i]
		}
		if i < 0 {
			return
		}
	}
}

// of returns the items of a box of an array.
func (b box) of(items []byte, shape []int64, size int) []byte {
	out := make([]byte, count(b.shape())*size)
	b.rows(shape, size, func(inArray, inBox, n int) { copy(out[inBox:inBox+n], items[inArray:]) })
	return out
}

// put replaces the items of a box of an array.
func (b box) put(items, with []byte, shape []int64, size int) {
	b.rows(shape, size, func(inArray, inBox, n int) { copy(items[inArray:inArray+n], with[inBox:]) })
}

// sameBytes compares two contents.
func sameBytes(got, want []byte) error {
	if i := firstDiff(got, want); i >= 0 {
		return fmt.Errorf("%d bytes, want %d; the first difference is at byte %d", len(got), len(want), i)
	}
	return nil
}

// infoOf returns the properties of a frame that this library reads, in the reference's terms.
func infoOf(f *frame.Frame) (*ref.Info, error) {
	i := f.Info()
	p := i.Params
	info := &ref.Info{
		NBytes: i.NBytes, CBytes: i.CBytes, NChunks: int64(i.NumChunks), TypeSize: i.TypeSize, ChunkSize: i.ChunkSize,
		BlockSize: i.BlockSize, Codec: int(p.Codec.Code()), Level: max(p.Level, 0),
		Metalayers: map[string]ref.Hex{}, VLMeta: map[string]ref.Hex{},
	}
	for _, x := range coder.Params(p).Pipeline() {
		info.Filters = append(info.Filters, int(x.Code()))
		info.FiltersMeta = append(info.FiltersMeta, int(x.Param()))
	}
	for _, m := range f.Meta() {
		info.Metalayers[m.Name] = m.Content
	}
	for _, name := range f.VLMetaNames() {
		b, err := f.VLMeta(name)
		if err != nil {
			return nil, err
		}
		info.VLMeta[name] = b
	}
	return info, nil
}

// arrayInfoOf is infoOf for an array.
func arrayInfoOf(a *ndarray.Array) (*ref.Info, error) {
	info, err := infoOf(a.Frame())
	if err != nil {
		return nil, err
	}
	g := &ref.Geometry{NDim: len(a.Shape()), Shape: a.Shape(), Chunks: narrow(a.Chunks()), Blocks: narrow(a.Blocks())}
	for _, l := range a.Frame().Meta() {
		if l.Name == "b2nd" || l.Name == "caterva" {
			rec, err := meta.ParseArray(l.Content, a.DType().Size)
			if err != nil {
				return nil, err
			}
			g.DType, g.DTypeFormat = rec.DType, int(rec.DTypeFormat)
			break
		}
	}
	info.Geometry = g
	return info, nil
}

// sameInfo compares the properties that the two libraries read, except for the path.
func sameInfo(ours, theirs *ref.Info) error {
	a, b := *ours, *theirs
	a.Path, b.Path = "", ""
	x, err := json.Marshal(a)
	if err != nil {
		return err
	}
	y, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("info differs\nGo %.2000s\nC  %.2000s", x, y)
	}
	return nil
}

// slow reports whether a case would take long, because its codec is slow at high levels.
func slow(c chunk.Params, nbytes int) bool {
	return nbytes > 50_000 && c.Level > 6 && c.Codec != codec.BloscLZ && c.Codec != codec.LZ4
}

// files returns the content of a file under the name "", or the contents of the files of a directory by name.
func files(path string) (map[string][]byte, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		return map[string][]byte{"": b}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".b2lock") {
			continue // not part of the format
		}
		if all[e.Name()], err = os.ReadFile(filepath.Join(path, e.Name())); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sameFiles compares two results of files.
func sameFiles(ours, theirs map[string][]byte) error {
	for name, want := range theirs {
		got, ok := ours[name]
		if !ok {
			return fmt.Errorf("file %q of the reference is missing", name)
		}
		if i := firstDiff(got, want); i >= 0 {
			return fmt.Errorf("file %q: %d and %d bytes differ at byte %d\nGo %s\nC  %s",
				name, len(got), len(want), i, around(got, i), around(want, i))
		}
	}
	for name := range ours {
		if _, ok := theirs[name]; !ok {
			return fmt.Errorf("unexpected file %q", name)
		}
	}
	return nil
}

// widen returns lengths as 64-bit numbers.
func widen(list []int32) []int64 {
	if list == nil {
		return nil
	}
	out := make([]int64, len(list))
	for i, n := range list {
		out[i] = int64(n)
	}
	return out
}

// narrow returns lengths as 32-bit numbers.
func narrow(list []int64) []int32 {
	out := make([]int32, len(list))
	for i, n := range list {
		out[i] = int32(n)
	}
	return out
}
