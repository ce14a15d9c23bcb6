package frame

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/meta"
)

// model is the required content of a frame, in the plainest form.
type model struct {
	chunks    [][]byte
	chunkSize int
	meta      []meta.Layer
	vlmeta    []meta.Layer
}

func (m *model) clone() *model {
	return &model{slices.Clone(m.chunks), m.chunkSize, slices.Clone(m.meta), slices.Clone(m.vlmeta)}
}

func (m *model) content() []byte { return bytes.Join(m.chunks, nil) }

// insert follows the rules of the format for frames that lose their common chunk size.
func (m *model) insert(i int, p []byte) {
	last := i == len(m.chunks)
	switch {
	case m.chunkSize < 0:
		m.chunkSize = len(p)
	case m.chunkSize == 0:
	case len(p) > m.chunkSize, !last && len(p) != m.chunkSize:
		m.chunkSize = 0
	case last && i > 0 && len(m.chunks[i-1]) < m.chunkSize:
		m.chunkSize = 0
	}
	m.chunks = slices.Insert(m.chunks, i, p)
}

func (m *model) update(i int, p []byte) {
	if m.chunkSize > 0 && (len(p) > m.chunkSize || i != len(m.chunks)-1 && len(p) != m.chunkSize) {
		m.chunkSize = 0
	}
	m.chunks[i] = p
}

// set sets a layer.
func set(layers []meta.Layer, name string, p []byte) []meta.Layer {
	if i := findLayer(layers, name); i >= 0 {
		layers[i].Content = p
		return layers
	}
	return append(layers, meta.Layer{Name: name, Content: p})
}

// check compares a frame with the model.
func (m *model) check(t testing.TB, f *Frame, rng *rand.Rand) {
	t.Helper()
	want := m.content()
	info := f.Info()
	if info.NumChunks != len(m.chunks) || info.NBytes != int64(len(want)) || info.ChunkSize != m.chunkSize {
		t.Fatalf("%+v, want %d chunks of %d, %d bytes", info, len(m.chunks), m.chunkSize, len(want))
	}
	if got := content(t, f); !bytes.Equal(got, want) {
		t.Fatal("other content")
	}
	if n := len(m.chunks); n > 0 {
		i := rng.IntN(n)
		if got, err := f.ReadChunk(t.Context(), nil, i); err != nil || !bytes.Equal(got, m.chunks[i]) {
			t.Fatalf("chunk %d: %v", i, err)
		}
		off := rng.IntN(len(want))
		p := make([]byte, rng.IntN(len(want)-off)+1)
		if _, err := f.Content(t.Context()).ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, want[off:off+len(p)]) {
			t.Fatalf("%d bytes at %d: %v", len(p), off, err)
		}
	}
	got := f.Meta()
	if fmt.Sprint(got) != fmt.Sprint(m.meta) {
		t.Fatalf("metalayers %v, want %v", got, m.meta)
	}
	names := f.VLMetaNames()
	if len(names) != len(m.vlmeta) {
		t.Fatalf("%v, want %d", names, len(m.vlmeta))
	}
	for i, l := range m.vlmeta {
		if v, err := f.VLMeta(l.Name); names[i] != l.Name || err != nil || !bytes.Equal(v, l.Content) {
			t.Fatalf("%s: %v", l.Name, err)
		}
	}
	checkSpace(t, f)
}

// checkSpace checks that chunks, index, trailer and free space do not overlap.
func checkSpace(t testing.TB, f *Frame) {
	t.Helper()
	c, ok := f.store.(*contiguous)
	if !ok {
		return
	}
	must(t, f.mu.lock(t.Context(), f, "another batch")) // the last reader of an old state changes the store, too
	defer f.unlock()
	s := f.snap.Load()
	head, err := measureHeader(s.meta)
	must(t, err)
	used := []storage.Extent{{Off: 0, End: int64(head)}, s.tail()}
	for i := range s.index.n {
		info, err := f.ChunkInfo(t.Context(), i)
		must(t, err)
		if info.Off >= 0 {
			used = append(used, storage.Extent{Off: info.Off, End: info.Off + int64(info.CBytes)})
		}
	}
	for _, x := range c.pending.All() {
		if x.Off = max(x.Off, int64(head)); x.Off < x.End {
			used = append(used, x)
		}
	}
	used = slices.AppendSeq(used, c.space.All())
	slices.SortFunc(used, func(x, y storage.Extent) int { return cmp.Or(cmp.Compare(x.Off, y.Off), cmp.Compare(x.End, y.End)) })
	for i := 1; i < len(used); i++ {
		if used[i-1].End > used[i].Off {
			t.Fatalf("%v and %v share bytes; free %v, pending %d", used[i-1], used[i], slices.Collect(c.space.All()), c.pending.Len())
		}
	}
	for old := range c.pending.Owners() {
		if list, _ := old.index.storedEntries(); old.src == c.Bytes && !c.shared {
			for _, x := range c.live(old, list) {
				for y := range c.space.All() {
					if x.Overlaps(y) {
						t.Fatalf("%v of an old state is free", x)
					}
				}
			}
		}
	}
	_, faulty := c.Bytes.(*disk)
	if st, ok := c.Bytes.(storage.WritableFile); ok {
		_, sim := st.File.(*simulated.File)
		faulty = faulty || sim
	}
	if size, err := c.Size(); err != nil || !c.cut && f.writable && !faulty && size != s.frameLen {
		t.Fatalf("%d bytes in the file, %d in the frame: %v", size, s.frameLen, err)
	}
}

// randomBytes returns n bytes that compress, or not, or are all zero.
func randomBytes(rng *rand.Rand, n int) []byte {
	p := make([]byte, n)
	switch rng.IntN(5) {
	case 0:
	case 1:
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
	default:
		start := rng.IntN(100)
		for i := range p {
			p[i] = byte(start + i/9)
		}
	}
	return p
}

// step does one random edit to a batch and the model. It checks that what must be refused is.
func step(t testing.TB, rng *rand.Rand, b *Batch, m *model, common int) {
	t.Helper()
	n := len(m.chunks)
	size := common
	if common == 0 || rng.IntN(40) == 0 {
		size = 4 * (1 + rng.IntN(100))
	}
	p := randomBytes(rng, size)
	name := fmt.Sprintf("name%d", rng.IntN(4))
	switch op := rng.IntN(20); {
	case op < 5 || op < 12 && n == 0:
		must(t, b.Append(t.Context(), p))
		m.insert(n, p)
	case op < 6:
		i := rng.IntN(n + 1)
		must(t, b.Insert(t.Context(), i, p))
		m.insert(i, p)
	case op < 9:
		i := rng.IntN(n)
		must(t, b.Update(t.Context(), i, p))
		m.update(i, p)
	case op < 12:
		i := rng.IntN(n)
		must(t, b.Delete(i))
		m.chunks = slices.Delete(m.chunks, i, i+1)
	case op < 13:
		order := rng.Perm(n)
		err := b.Reorder(order)
		if m.chunkSize > 0 && n > 0 && len(m.chunks[n-1]) != m.chunkSize && order[n-1] != n-1 {
			if !errors.Is(err, ErrParam) {
				t.Fatal(err)
			}
			return
		}
		must(t, err)
		old := slices.Clone(m.chunks)
		for i, from := range order {
			m.chunks[i] = old[from]
		}
	case op < 14:
		kind := []chunk.Special{chunk.Zeros, chunk.NaNs, chunk.Uninit}[rng.IntN(3)]
		c, err := chunk.EncodeSpecial(nil, kind, len(p), nil, chunk.Params{TypeSize: 4})
		must(t, err)
		coder.FillSpecial(p, kind, nil, 4, 0)
		must(t, b.AppendRaw(t.Context(), c))
		m.insert(n, p)
	case op < 15:
		total := int64(4 * (1 + rng.IntN(1000)))
		err := b.Engine().FillSpecial(total, chunk.NaNs)
		if n > 0 || m.chunkSize <= 0 {
			if !errors.Is(err, ErrParam) {
				t.Fatal(err)
			}
			return
		}
		must(t, err)
		all := make([]byte, total)
		coder.FillSpecial(all, chunk.NaNs, nil, 4, 0)
		m.chunks = slices.Collect(slices.Chunk(all, m.chunkSize))
	case op < 16 && len(m.chunks) > 2 && rng.IntN(3) == 0:
		for len(m.chunks) > 0 {
			must(t, b.Delete(0))
			m.chunks = m.chunks[1:]
		}
	case op < 17:
		p = p[:min(len(p), []int{8, 8, 8, 100, 3}[rng.IntN(5)])]
		i := findLayer(m.meta, name)
		err := b.SetMeta(name, p)
		started := n > 0 || b.cur != nil && b.cur.index.n > 0
		if started && (i < 0 || len(m.meta[i].Content) != len(p)) {
			if !errors.Is(err, ErrParam) {
				t.Fatal(err)
			}
			return
		}
		if c, ok := b.f.store.(*contiguous); ok && errors.Is(err, ErrParam) && c.pending.Len() > 0 {
			return // the header would cover chunks of the old state that is held
		}
		must(t, err)
		m.meta = set(m.meta, name, p)
	case op < 19:
		must(t, b.SetVLMeta(name, p))
		m.vlmeta = set(m.vlmeta, name, p)
	default:
		i := findLayer(m.vlmeta, name)
		err := b.DeleteVLMeta(name)
		if i < 0 {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			return
		}
		must(t, err)
		m.vlmeta = slices.Delete(m.vlmeta, i, i+1)
	}
}

// TestModel runs random programs of edits and compares every state with the model.
func TestModel(t *testing.T) {
	const steps = 120
	for _, kind := range []string{"file", "memory", "sparse", "offset"} {
		for seed := range uint64(8) {
			common := []int{0, 64, 400, 0}[seed%4]
			t.Run(fmt.Sprintf("%s/%d", kind, seed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 17))
				f, reopen := modelFrame(t, kind, common)
				m := &model{chunkSize: common}
				if common == 0 {
					m.chunkSize = -1
				}
				type heldState struct {
					engine.View
					m *model
				}
				var held []heldState // old states, held for a while
				release := func(i int) {
					checkView(t, held[i].View, held[i].m)
					held[i].Release()
					held = slices.Delete(held, i, i+1)
				}
				for range steps {
					b, err := f.Begin(context.Background())
					must(t, err)
					next := m.clone()
					for range 1 + rng.IntN(5)*rng.IntN(3) {
						step(t, rng, b, next, common)
					}
					if rng.IntN(4) == 0 {
						b.Rollback()
					} else {
						must(t, b.Commit())
						m = next
					}
					m.check(t, f, rng)
					switch {
					case len(held) > 0 && rng.IntN(5) == 0:
						release(rng.IntN(len(held)))
					case len(held) < 3 && rng.IntN(4) == 0:
						view, err := f.Engine().View(t.Context())
						must(t, err)
						held = append(held, heldState{view, m.clone()})
					case len(held) == 0 && rng.IntN(8) == 0:
						f = reopen(f)
						m.check(t, f, rng)
						verify(t, f)
					}
				}
				for len(held) > 0 {
					release(0)
				}
				must(t, f.Close())
			})
		}
	}
}

// checkView checks that the bytes of an old state are still there.
func checkView(t testing.TB, v engine.View, m *model) {
	t.Helper()
	want := m.content()
	got := make([]byte, len(want))
	if viewed(v).nbytes != int64(len(want)) {
		t.Fatalf("%d bytes in the view, want %d", viewed(v).nbytes, len(want))
	}
	if err := viewed(v).f.readRange(context.Background(), viewed(v), got, 0); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("an old state has changed: %v", err)
	}
}

// modelFrame makes an empty frame of a kind of storage, and a function that opens it again.
func modelFrame(t testing.TB, kind string, chunkSize int) (*Frame, func(*Frame) *Frame) {
	o := &options{Params: chunk.Params{TypeSize: 4, Codec: codec.FromCode(1)}, ChunkSize: chunkSize, NoSync: true, Sparse: kind == "sparse", Concurrency: 2}
	name := filepath.Join(t.TempDir(), "x.b2frame")
	switch kind {
	case "memory":
		f, err := Create(t.Context(), "", o.memory())
		must(t, err)
		return f, func(f *Frame) *Frame {
			b := slices.Clone(f.store.(*contiguous).Bytes.(*Memory).Bytes())
			must(t, f.Close())
			f, err := EditStorage(t.Context(), NewMemory(b), nil)
			must(t, err)
			return f
		}
	case "offset":
		f, err := Create(t.Context(), "", o.memory())
		must(t, err)
		b, err := appendTo(f, make([]byte, 777))
		must(t, err)
		in := window{NewMemory(b), 777}
		f, err = EditStorage(t.Context(), in, &OpenOptions{NoSync: true})
		must(t, err)
		return f, func(f *Frame) *Frame {
			must(t, f.Close())
			f, err := EditStorage(t.Context(), in, nil)
			must(t, err)
			return f
		}
	}
	f, err := Create(t.Context(), name, o.create())
	must(t, err)
	return f, func(f *Frame) *Frame {
		must(t, f.Close())
		f, err := Edit(t.Context(), name, &OpenOptions{NoSync: true})
		must(t, err)
		return f
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// A frame of one special value has the block size of its chunks, also when that was automatic, as C-Blosc2 writes it.
func TestFillSpecialBlockSize(t *testing.T) {
	for _, c := range []struct{ typeSize, blockSize, chunkSize, want int }{
		{4, 0, 132, 132}, {8, 0, 1 << 20, 512 << 10}, {4, 64, 132, 64}, {4, 4096, 132, 132}, {12, 0, 4020, 4020},
	} {
		o := &options{ChunkSize: c.chunkSize, Params: chunk.Params{TypeSize: c.typeSize, BlockSize: c.blockSize}}
		f, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.Engine().FillSpecial(int64(10*c.typeSize), chunk.Zeros) }, o.memory())
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Info().BlockSize; got != c.want {
			t.Errorf("%+v: block size %d", c, got)
		}
		f.Close()
	}
}

// C-Blosc2 does not open a sparse frame whose chunk files have a number above the size of all chunks less 32, so
// numbers must stay small however often a small chunk is written.
func TestSparseNumbers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	f, err := Create(t.Context(), name, &CreateOptions{Sparse: true, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	check := func() {
		t.Helper()
		s := f.snap.Load()
		for i, e := range s.index.list {
			if int64(e) > s.cbytes-coder.HeaderSize {
				t.Fatalf("chunk %d of %d is file %d, with %d bytes in all", i, s.index.n, e, s.cbytes)
			}
			if p, err := f.ReadChunk(t.Context(), nil, i); err != nil || len(p) != 2 {
				t.Fatal(p, err)
			}
		}
	}
	for range 50 {
		if err := f.Append(t.Context(), []byte("ab")); err != nil {
			t.Fatal(err)
		}
		check()
	}
	for i := range 50 { // each is written twice in its batch
		b, err := f.Begin(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"bc", "cd"} {
			if err := b.Update(t.Context(), i, []byte(p)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		check()
	}
	for f.NumChunks() > 1 {
		if err := one(f).Delete(0); err != nil {
			t.Fatal(err)
		}
		check()
	}
	v, err := f.Engine().View(t.Context()) // its file must stay
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if err := one(f).Update(0, []byte("de")); err != nil {
			t.Fatal(err)
		}
		check()
	}
	if p, err := f.readChunkOf(viewed(v)); string(p) != "cd" || err != nil {
		t.Errorf("the view has %q now, %v", p, err)
	}
	v.Release()
	if err := one(f).Update(0, []byte("ef")); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(name); err != nil || len(all) != 2 {
		t.Errorf("%d files, %v", len(all), err)
	}
}

func (f *Frame) readChunkOf(s *snapshot) ([]byte, error) {
	raw, err := f.rawChunk(s.src, nil, s, 0)
	if err != nil {
		return nil, err
	}
	return f.plain.Decode(nil, raw)
}

// TestSalvageDoubt salvages frames of chunks of one size without a header, after the last chunks were deleted, also
// with an index in place of the older one, as C-Blosc2 writes it. Chunks may then have other numbers, but not without
// Doubt.
func TestSalvageDoubt(t *testing.T) {
	for _, size := range []int{800, 2400} {
		for _, typeSize := range []int{1, 8} {
			for deleted := 1; deleted <= 2; deleted++ {
				checkDoubt(t, size, typeSize, deleted, false)
				checkDoubt(t, size, typeSize, deleted, true)
			}
		}
	}
}

// checkDoubt is TestSalvageDoubt for chunks of size bytes. If c is set, C-Blosc2 deletes the chunks.
func checkDoubt(t *testing.T, size, typeSize, deleted int, c bool) {
	const n = 40
	data := noise(n * size)
	name := filepath.Join(t.TempDir(), "broken")
	f, err := CreateFunc(t.Context(), name, func(b *Batch) error {
		for i := range n {
			must(t, b.Append(t.Context(), data[i*size:][:size]))
		}
		return nil
	}, &CreateOptions{NoSync: true, ChunkSize: size, Params: chunk.Params{Level: codec.NoCompression, TypeSize: typeSize}})
	must(t, err)
	s := f.snap.Load()
	for k := range deleted {
		if !c {
			must(t, one(f).Delete(n-1-k))
		}
	}
	must(t, f.Close())
	whole, err := os.ReadFile(name)
	must(t, err)
	if c {
		x := newIndex(s.index.list[:n-deleted], nil)
		index, err := x.append(nil, f.plain)
		must(t, err)
		at := bytes.LastIndex(whole, []byte(trailerStart))
		whole = slices.Concat(whole[:s.indexPos()], index, whole[at:])
	}
	start := func(i int) int { return int(s.headerLen) + int(s.index.list[i]) }
	ones := bytes.Repeat([]byte{0xff}, 512)
	lost := slices.Concat(ones, whole[512:])
	copy(lost[start(20):], ones[:60])
	for what, b := range map[string][]byte{
		"0xff": slices.Concat(ones, whole[512:]), "0xff, and a chunk lost": lost, "noise": slices.Concat(noise(512), whole[512:]),
		"zeros": slices.Concat(make([]byte, 8192), whole[8192:]), "cut in the first chunk": whole[start(0)+300:], "cut at the second chunk": whole[start(1):],
	} {
		must(t, os.WriteFile(name, b, 0o666))
		g, found, err := Salvage(t.Context(), "", name, nil, nil)
		must(t, err)
		for i := range g.NumChunks() {
			got, err := g.ReadChunk(t.Context(), nil, i)
			must(t, err)
			at := bytes.Index(data, got)
			if at >= 0 && at != i*size && at < (n-deleted)*size && !found.Doubt {
				t.Errorf("%d chunks of %d bytes, items of %d, deleted by C %v, %s: %+v, chunk %d is at %d", n-deleted, size, typeSize, c, what, found, at/size, i)
				break
			}
		}
		must(t, g.Close())
	}
}
