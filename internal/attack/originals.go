package attack

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// original is valid input, of which mutants are made.
type original struct {
	name   string
	array  bool
	sealed bool   // has checksums
	model  *model // nil if it is a chunk
	chunk  []byte
	data   [][]byte // content of its chunks; only if it has checksums
	items  []byte   // of the array; the same
	meta   map[string][]byte
	vlmeta map[string][]byte
}

// maker makes the originals. The first error ends it.
type maker struct {
	dir  string
	list []*original
	err  error
}

// originals returns all originals. They are made in a folder, which is empty again afterwards.
func originals(dir string) ([]*original, error) {
	m := &maker{dir: dir}
	m.codecs()
	m.filters()
	m.shapes()
	m.frames()
	m.chunks()
	m.fixtures()
	return m.list, m.err
}

func (m *maker) fail(name string, err error) {
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("original %s: %w", name, err)
	}
}

// smooth returns data that compresses, the same each time.
func smooth(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 5))
	b := make([]byte, n)
	for i := range b {
		if b[i] = byte(i / 40); i%4 == 0 {
			b[i] = byte(i/4) + byte(rng.IntN(4))
		}
	}
	return b
}

// addArray makes an array in a file or in a directory, and takes it apart.
func (m *maker) addArray(name string, shape []int64, dtype string, o ndarray.CreateOptions, edit func(a *ndarray.Array) error) {
	if m.err != nil {
		return
	}
	o.NoSync, o.Concurrency = true, 1
	path := filepath.Join(m.dir, "original")
	defer os.RemoveAll(path)
	n, err := ndarray.Zeros(context.Background(), path, shape, dtype, &o)
	if err != nil {
		m.fail(name, err)
		return
	}
	if edit == nil {
		edit = func(a *ndarray.Array) error {
			return a.WriteBytes(context.Background(), smooth(int(a.Size())*a.DType().Size, uint64(len(m.list))))
		}
	}
	if err = edit(n); err == nil {
		err = inBatch(n.Frame(), func(b *frame.Batch) error { return b.SetVLMeta("note", []byte{0xa5, 'h', 'e', 'l', 'l', 'o'}) })
	}
	if err == nil {
		err = n.Close()
	}
	m.fail(name, err)
	m.addPath(name, path)
}

// addFrame makes a frame without dimensions.
func (m *maker) addFrame(name string, o frame.CreateOptions, fill func(b *frame.Batch) error) {
	if m.err != nil {
		return
	}
	o.NoSync, o.Concurrency = true, 1
	path := filepath.Join(m.dir, "original")
	defer os.RemoveAll(path)
	f, err := frame.CreateFunc(context.Background(), path, fill, &o)
	if err == nil {
		err = f.Close()
	}
	m.fail(name, err)
	m.addPath(name, path)
}

// addPath adds the file or directory with a name.
func (m *maker) addPath(name, path string) {
	if m.err != nil {
		return
	}
	b, files, err := readFrame(path)
	if err != nil {
		m.fail(name, err)
		return
	}
	o := &original{name: name}
	if o.model, err = parse(b, files); err != nil {
		m.fail(name, err)
		return
	}
	f, err := frame.Open(context.Background(), path, nil)
	if err != nil {
		m.fail(name, err)
		return
	}
	defer f.Close()
	o.sealed = f.Info().Checksums
	_, o.array = metaLayer(f, "b2nd")
	if o.sealed && f.Info().NBytes < 1<<20 {
		for i := range f.NumChunks() {
			c, err := f.ReadChunk(context.Background(), nil, i)
			m.fail(name, err)
			o.data = append(o.data, c)
		}
		o.meta, o.vlmeta = map[string][]byte{}, map[string][]byte{}
		for _, l := range f.Meta() {
			o.meta[l.Name] = l.Content
		}
		for _, name := range f.VLMetaNames() {
			o.vlmeta[name], err = f.VLMeta(name)
			m.fail(name, err)
		}
		if a, err := ndarray.OpenFrame(f); err == nil {
			o.items = make([]byte, int(a.Size())*a.DType().Size)
			m.fail(name, a.ReadBytes(context.Background(), o.items))
		}
	}
	m.list = append(m.list, o)
}

// readFrame reads a frame from a file, or from a directory with its chunk files by number.
func readFrame(path string) ([]byte, map[uint64][]byte, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !fi.IsDir() {
		b, err := os.ReadFile(path)
		return b, nil, err
	}
	names, err := filepath.Glob(filepath.Join(path, "*.chunk"))
	if err != nil {
		return nil, nil, err
	}
	files := map[uint64][]byte{}
	for _, name := range names {
		id, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(name), ".chunk"), 16, 64)
		if err != nil {
			return nil, nil, err
		}
		if files[id], err = os.ReadFile(name); err != nil {
			return nil, nil, err
		}
	}
	b, err := os.ReadFile(filepath.Join(path, "chunks.b2frame"))
	return b, files, err
}

var codecIDs = []codec.ID{codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd}

// codecs adds an array for each codec, in turn with and without checksums, as a file and as a directory.
func (m *maker) codecs() {
	for i, id := range codecIDs {
		for _, sealed := range []bool{false, true} {
			for _, sparse := range []bool{false, true} {
				o := ndarray.CreateOptions{Chunks: []int64{8, 10}, Blocks: []int64{4, 6}}
				o.Checksums, o.Sparse, o.Codec = sealed, sparse, id
				if i == 4 {
					o.Split = chunk.SplitNever
				}
				m.addArray(fmt.Sprintf("array of %v, checksums %v, sparse %v", id, sealed, sparse), []int64{20, 23}, "<i4", o, nil)
			}
		}
	}
}

// filters adds arrays with other filters, and with dictionaries.
func (m *maker) filters() {
	for _, c := range []struct {
		name    string
		filters []chunk.Filter
	}{
		{"delta", []chunk.Filter{chunk.Delta, chunk.Shuffle}},
		{"bitshuffle", []chunk.Filter{chunk.BitShuffle}},
		{"trunc_prec", []chunk.Filter{chunk.TruncPrec.With(10), chunk.Shuffle}},
		{"bytedelta", []chunk.Filter{chunk.Shuffle, chunk.ByteDelta}},
		{"ndcell", []chunk.Filter{chunk.NDCell.With(4), chunk.Shuffle}},
		{"none", []chunk.Filter{}},
	} {
		o := ndarray.CreateOptions{Chunks: []int64{8, 12}, Blocks: []int64{4, 8}}
		o.Filters, o.Checksums = c.filters, c.name == "delta"
		m.addArray("array with "+c.name, []int64{20, 23}, "<f4", o, nil)
	}
	for _, id := range []codec.ID{codec.LZ4, codec.Zstd} {
		o := ndarray.CreateOptions{Chunks: []int64{1000}, Blocks: []int64{100}}
		o.Codec, o.Dict, o.Checksums = id, true, true
		m.addArray(fmt.Sprintf("array with dictionaries of %v", id), []int64{3000}, "<i4", o, nil)
	}
	for _, id := range []codec.ID{codec.NDLZ, codec.ZFPAcc, codec.ZFPPrec, codec.ZFPRate} {
		o := ndarray.CreateOptions{Chunks: []int64{16, 16}, Blocks: []int64{8, 8}}
		o.Codec, o.CodecMeta, o.Filters = id, 8, []chunk.Filter{}
		dtype := "<f4"
		if id == codec.NDLZ {
			o.CodecMeta, dtype = 4, "|u1"
		}
		m.addArray(fmt.Sprintf("array of %v", id), []int64{20, 20}, dtype, o, nil)
	}
}

// shapes adds arrays of other shapes, uniform ones, and some with dead bytes.
func (m *maker) shapes() {
	sealed := ndarray.CreateOptions{}
	sealed.Checksums = true
	m.addArray("array of no dimensions", nil, "<f8", sealed, nil)
	m.addArray("array without items", []int64{0, 5}, "<f8", ndarray.CreateOptions{}, nil)
	m.addArray("array of five dimensions", []int64{3, 4, 5, 2, 3}, "<i2", ndarray.CreateOptions{Chunks: []int64{2, 2, 3, 2, 2}, Blocks: []int64{1, 2, 2, 1, 2}}, nil)
	m.addArray("array of long items", []int64{9}, "|S300", ndarray.CreateOptions{Chunks: []int64{4}, Blocks: []int64{2}}, nil)
	m.addArray("array of structures", []int64{40}, "[('a', '<i4'), ('b', '<f8')]", ndarray.CreateOptions{Chunks: []int64{16}, Blocks: []int64{8}}, nil)
	keep := func(*ndarray.Array) error { return nil }
	m.addArray("array of zeros", []int64{1000, 1000}, "<i4", ndarray.CreateOptions{Chunks: []int64{100, 100}, Blocks: []int64{50, 50}}, keep)
	one := sealed
	one.Chunks, one.Blocks = []int64{100}, []int64{20}
	m.addArray("array of zeros with checksums", []int64{1000}, "<i4", one, keep)
	one.Sparse = true
	m.addArray("sparse array of zeros", []int64{1000}, "<i4", one, keep)
	part := ndarray.CreateOptions{Chunks: []int64{20}, Blocks: []int64{5}}
	m.addArray("array with parts", []int64{100}, "<i4", part, func(a *ndarray.Array) error {
		return a.WriteBytes(context.Background(), smooth(80, 1), ndarray.Span(25, 45))
	})
	part.Checksums = true
	m.addArray("array with dead bytes", []int64{100}, "<i4", part, func(a *ndarray.Array) error {
		for i := range int64(6) {
			if err := a.WriteBytes(context.Background(), smooth(80, uint64(i)), ndarray.Span(10*i, 10*i+20)); err != nil {
				return err
			}
		}
		return a.Resize(context.Background(), 70)
	})
}

// frames adds frames without dimensions: empty, of variable chunk sizes, with blocks of variable length.
func (m *maker) frames() {
	layers := frame.CreateOptions{Meta: []meta.Layer{{Name: "one", Content: []byte{1}}, {Name: "two", Content: []byte{0xa3, 'a', 'b', 'c'}}}}
	m.addFrame("empty frame", layers, nil)
	for _, sparse := range []bool{false, true} {
		o := layers
		o.Sparse, o.Checksums = sparse, !sparse
		o.Params = chunk.Params{TypeSize: 8, Codec: codec.LZ4}
		m.addFrame(fmt.Sprint("frame of one chunk size, sparse ", sparse), o, func(b *frame.Batch) error {
			return appendAll(b.Append, 800, 800, 800, 200)
		})
		m.addFrame(fmt.Sprint("frame of several chunk sizes, sparse ", sparse), o, func(b *frame.Batch) error {
			return appendAll(b.Append, 800, 160, 1600, 8, 400)
		})
		m.addFrame(fmt.Sprint("frame of variable blocks, sparse ", sparse), o, func(b *frame.Batch) error {
			for i := range 3 {
				if err := b.AppendBlocks(context.Background(), [][]byte{smooth(100+i, 1), smooth(7, 2), smooth(400, 3)}); err != nil {
					return err
				}
			}
			return b.SetVLMeta("note", []byte{1})
		})
	}
	many := frame.CreateOptions{ChunkSize: 64, Params: chunk.Params{TypeSize: 4}}
	m.addFrame("frame of many chunks", many, func(b *frame.Batch) error {
		return appendAll(b.Append, slices.Repeat([]int{64}, 100)...)
	})
}

// appendAll appends chunks of some sizes.
func appendAll(add func(context.Context, []byte) error, sizes ...int) error {
	for i, n := range sizes {
		if err := add(context.Background(), smooth(n, uint64(i))); err != nil {
			return err
		}
	}
	return nil
}

// chunks adds the stored chunks of the frames so far, and special ones.
func (m *maker) chunks() {
	for _, o := range m.list {
		if len(o.model.pieces) > 0 {
			m.list = append(m.list, &original{name: "chunk of " + o.name, chunk: o.model.pieces[0]})
		}
	}
	for _, s := range []chunk.Special{chunk.Zeros, chunk.NaNs, chunk.Value, chunk.Uninit} {
		c, err := chunk.EncodeSpecial(nil, s, 4000, binary.LittleEndian.AppendUint32(nil, 7), chunk.Params{TypeSize: 4})
		m.fail("special chunk", err)
		m.list = append(m.list, &original{name: fmt.Sprint("chunk of ", s), chunk: c})
	}
}

// fixtures adds files of testdata, where it is: frames and chunks that other libraries wrote.
func (m *maker) fixtures() {
	root := "testdata"
	for range 4 {
		if _, err := os.Stat(filepath.Join(root, "python-blosc2")); err == nil {
			break
		}
		root = filepath.Join("..", root)
	}
	paths, err := filepath.Glob(filepath.Join(root, "*", "*"))
	m.fail(root, err)
	for _, p := range paths {
		fi, err := os.Stat(p)
		if err != nil || fi.IsDir() || fi.Size() > 8<<10 {
			continue
		}
		b, err := os.ReadFile(p)
		m.fail(p, err)
		switch filepath.Ext(p) {
		case ".chunk":
			m.list = append(m.list, &original{name: p, chunk: b})
		case ".b2nd", ".b2frame":
			if mod, err := parse(b, nil); err == nil {
				_, isArray := layerNames(mod.layers)
				m.list = append(m.list, &original{name: p, model: mod, array: isArray})
			}
		}
	}
}

// layerNames returns the names of layers, and whether they make an array.
func layerNames(layers []meta.Layer) (names []string, array bool) {
	for _, l := range layers {
		names = append(names, l.Name)
		array = array || l.Name == "b2nd" || l.Name == "caterva"
	}
	return names, array
}
