package interop

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// chunksModel is a list of chunks in memory that is edited as the super-chunk is.
type chunksModel struct {
	params
	frameModel
	sparse   bool
	variable bool // chunks have any size; otherwise all except the last have the same size
	size     int
	chunks   [][]byte
}

func (m *chunksModel) String() string {
	return fmt.Sprintf("%d chunks, size %d, variable %v, sparse %v, %+v", len(m.chunks), m.size, m.variable, m.sparse, m.ours)
}

// TestSuperChunkEdits edits super-chunks alternately with both libraries. After each edit, both must read the content
// of the model.
func TestSuperChunkEdits(t *testing.T) {
	n := 16
	if testing.Short() {
		n = 4
	}
	sum := &tally{}
	inParallel(t, make([]int, n), func(t *testing.T, rng *rand.Rand, dir string, _ int) error {
		m := &chunksModel{sparse: rng.IntN(2) == 0, variable: rng.IntN(2) == 0, size: 0}
		m.file, m.vlmeta, m.counts = dir+"/frame", map[string][]byte{}, sum
		m.fixed = noise(rng, 1+rng.IntN(50))
		m.ours = chunk.Params{
			TypeSize: pick(rng, []int{1, 2, 4, 8, 12}), Codec: pick(rng, codecs), Level: 1 + rng.IntN(5),
			Filters: pick(rng, editPipelines), Split: pick(rng, splitModes),
		}
		m.refs = refParams(m.ours)
		m.size = m.ours.TypeSize * logUniform(rng, 1, 400)
		err := m.make(rng)
		for i := range editsPerFrame {
			if i > 0 && err == nil {
				err = m.edit(rng)
			}
			if err == nil {
				err = m.check()
			}
			if err != nil {
				return fmt.Errorf("edit %d, %s, %v: %w", i, m.op, m, err)
			}
		}
		return nil
	})
	sum.log(t)
}

// make creates the empty super-chunk with either library.
func (m *chunksModel) make(rng *rand.Rand) error {
	if m.step(rng, "make") {
		o := &frame.CreateOptions{Params: m.ours, Sparse: m.sparse, NoSync: true, Meta: []meta.Layer{{Name: "m", Content: m.fixed}}}
		f, err := frame.Create(ctx, m.file, o)
		if err != nil {
			return err
		}
		return f.Close()
	}
	s, err := ref.NewSChunk(&ref.Storage{Path: m.file, Sparse: m.sparse, CParams: m.refs, Metalayers: []ref.Meta{{Name: "m", Content: m.fixed}}})
	if err != nil {
		return err
	}
	s.Close()
	return nil
}

// chunkEditor is a super-chunk opened for editing by one of the libraries.
type chunkEditor struct {
	ours   *frame.Frame
	theirs *ref.SChunk
	refs   *ref.CParams
}

func (m *chunksModel) open(byUs bool) (e chunkEditor, err error) {
	e.refs = &m.refs
	if byUs {
		e.ours, err = frame.Edit(ctx, m.file, &frame.OpenOptions{NoSync: true})
	} else {
		e.theirs, err = ref.OpenSChunk(m.file)
	}
	return e, err
}

func (e chunkEditor) close() {
	if e.ours != nil {
		e.ours.Close()
	} else {
		e.theirs.Close()
	}
}

func (e chunkEditor) layers() layerEditor {
	if e.ours != nil {
		return ourLayers{e.ours}
	}
	return e.theirs
}

func (e chunkEditor) append(b []byte) error {
	if e.ours != nil {
		return e.ours.Append(ctx, b)
	}
	return e.theirs.Append(b)
}

func (e chunkEditor) insert(i int, b []byte) error {
	if e.ours != nil {
		return inBatch(e.ours, func(batch *frame.Batch) error { return batch.Insert(ctx, i, b) })
	}
	z, err := ref.Compress(b, e.refs)
	if err != nil {
		return err
	}
	return e.theirs.InsertRaw(i, z)
}

func (e chunkEditor) update(i int, b []byte) error {
	if e.ours != nil {
		return inBatch(e.ours, func(batch *frame.Batch) error { return batch.Update(ctx, i, b) })
	}
	z, err := ref.Compress(b, e.refs)
	if err != nil {
		return err
	}
	return e.theirs.UpdateRaw(i, z)
}

func (e chunkEditor) delete(i int) error {
	if e.ours != nil {
		return inBatch(e.ours, func(b *frame.Batch) error { return b.Delete(i) })
	}
	return e.theirs.Delete(i)
}

// content returns a new chunk.
func (m *chunksModel) content(rng *rand.Rand, last bool) []byte {
	size := m.size
	if m.variable || last && rng.IntN(4) == 0 {
		size = (1 + rng.IntN(m.size/m.ours.TypeSize)) * m.ours.TypeSize
	}
	kind := pick(rng, kinds)
	if m.variable { // then the reference writes zeros that it cannot read back
		kind = pick(rng, []string{"text", "random"})
	}
	b := content(rng, kind, size, m.ours.TypeSize)
	if m.variable {
		b[0] |= 1
	}
	return b
}

// edit makes one random edit.
func (m *chunksModel) edit(rng *rand.Rand) error {
	n := len(m.chunks)
	short := n > 0 && len(m.chunks[n-1]) < m.size
	if m.variable { // or not yet
		short = n > 1 && len(m.chunks[n-1]) < len(m.chunks[0])
	}
	op := pick(rng, []string{"append", "append", "append", "insert", "update", "update", "delete", "reorder", "layers", "layers"})
	switch {
	case op == "layers":
		return m.editLayers(rng, func(byUs bool) (layerEditor, func(), error) {
			e, err := m.open(byUs)
			if err != nil {
				return nil, nil, err
			}
			return e.layers(), e.close, nil
		})
	case n == 0 || n == 1 && op == "delete" && rng.IntN(3) > 0:
		op = "append"
	case n > 30:
		op = "delete"
	}
	if (op == "append" || op == "insert") && short && !m.variable {
		op = "update" // the reference would change the frame to chunks of any size
	}
	if op == "reorder" {
		return m.reorder(rng, short)
	}
	byUs := rng.IntN(2) == 0
	if op == "append" && m.variable && n <= 1 {
		byUs = true // the reference may refuse if the frame had a larger chunk before
	}
	m.note(op, byUs)
	e, err := m.open(byUs)
	if err != nil {
		return err
	}
	defer e.close()
	switch op {
	case "append":
		// The first chunk sets the size of all chunks.
		b := m.content(rng, n > 0)
		m.chunks = append(m.chunks, b)
		return e.append(b)
	case "insert":
		i := rng.IntN(n)
		b := m.content(rng, false)
		m.chunks = slices.Insert(m.chunks, i, b)
		return e.insert(i, b)
	case "update":
		i := rng.IntN(n)
		if short && rng.IntN(2) == 0 {
			i = n - 1
		}
		b := m.content(rng, i > 0 && i == n-1)
		m.chunks[i] = b
		return e.update(i, b)
	}
	i := rng.IntN(n)
	m.chunks = slices.Delete(m.chunks, i, i+1)
	return e.delete(i)
}

// reorder changes the order of the chunks with this library. A shorter chunk stays last. Before that, reorder rolls
// back a batch.
func (m *chunksModel) reorder(rng *rand.Rand, short bool) error {
	n := len(m.chunks)
	if short {
		n--
	}
	order := rng.Perm(n)
	if short {
		order = append(order, n)
	}
	m.note("reorder", true)
	e, err := m.open(true)
	if err != nil {
		return err
	}
	defer e.close()
	b, err := e.ours.Begin(context.Background())
	if err != nil {
		return err
	}
	if err := b.Update(ctx, 0, m.chunks[len(m.chunks)-1]); err != nil {
		return err
	}
	b.Rollback()
	old := slices.Clone(m.chunks)
	for i, from := range order {
		m.chunks[i] = old[from]
	}
	return inBatch(e.ours, func(b *frame.Batch) error { return b.Reorder(order) })
}

// check opens the super-chunk with both libraries and compares with the model.
func (m *chunksModel) check() error {
	if err := m.repair(); err != nil {
		return err
	}
	f, err := frame.Open(ctx, m.file, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := ref.OpenSChunk(m.file)
	if err != nil {
		return err
	}
	defer s.Close()
	ours, err := infoOf(f)
	if err != nil {
		return err
	}
	theirs, err := s.Info()
	if err != nil {
		return err
	}
	if err := sameInfo(ours, theirs); err != nil {
		return err
	}
	if err := m.sameLayers(theirs); err != nil {
		return err
	}
	if f.NumChunks() != len(m.chunks) {
		return fmt.Errorf("%d chunks, want %d", f.NumChunks(), len(m.chunks))
	}
	for i, want := range m.chunks {
		got, err := f.ReadChunk(ctx, nil, i)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("this library reads other content in chunk %d", i)
		}
	}
	return sameChunks(f, s)
}
