package interop

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

const editsPerFrame = 200

// editPipelines are lossless. The reference can only replace whole chunks with DELTA.
var editPipelines = [][]chunk.Filter{nil, {chunk.NoFilter}, {chunk.BitShuffle}, {chunk.Delta, chunk.Shuffle}}

// frameModel is the part of the model that arrays and super-chunks share.
type frameModel struct {
	file   string
	fixed  []byte // content of metalayer "m"
	vlmeta map[string][]byte
	op     string // the last edit
	counts *tally
}

// step notes the next edit and chooses the library that makes it.
func (m *frameModel) step(rng *rand.Rand, op string) (byUs bool) {
	byUs = rng.IntN(2) == 0
	m.note(op, byUs)
	return byUs
}

func (m *frameModel) note(op string, byUs bool) {
	m.op = op + map[bool]string{true: " by this library", false: " by the reference"}[byUs]
	m.counts.add(m.op)
}

// layerEditor holds the methods that edit metalayers in both libraries.
type layerEditor interface {
	SetMeta(name string, content []byte) error
	SetVLMeta(name string, content []byte) error
	DeleteVLMeta(name string) error
}

// editLayers changes the metalayers. open opens the frame with one of the libraries.
func (m *frameModel) editLayers(rng *rand.Rand, open func(byUs bool) (layerEditor, func(), error)) error {
	op := pick(rng, []string{"set metalayer", "set vlmeta", "set vlmeta", "delete vlmeta"})
	names := slices.Sorted(maps.Keys(m.vlmeta))
	if op == "delete vlmeta" && len(names) == 0 {
		op = "set vlmeta"
	}
	x, done, err := open(m.step(rng, op))
	if err != nil {
		return err
	}
	defer done()
	switch op {
	case "set metalayer":
		random(rng, m.fixed)
		return x.SetMeta("m", m.fixed)
	case "delete vlmeta":
		name := pick(rng, names)
		delete(m.vlmeta, name)
		return x.DeleteVLMeta(name)
	}
	l, err := layer(rng, 1+rng.IntN(3), rng.IntN(len(valueKinds)))
	if err != nil {
		return err
	}
	l.Name = "vl" + l.Name[:min(4, len(l.Name))]
	m.vlmeta[l.Name] = l.Content
	return x.SetVLMeta(l.Name, l.Content)
}

// sameLayers compares metalayers with the model.
func (m *frameModel) sameLayers(info *ref.Info) error {
	if !bytes.Equal(info.Metalayers["m"], m.fixed) {
		return errors.New("metalayer m has other content")
	}
	if len(info.VLMeta) != len(m.vlmeta) {
		return fmt.Errorf("%d variable-length metalayers, want %d", len(info.VLMeta), len(m.vlmeta))
	}
	for name, want := range m.vlmeta {
		if got, ok := info.VLMeta[name]; !ok || !bytes.Equal(got, want) {
			return fmt.Errorf("variable-length metalayer %s has other content", name)
		}
	}
	return nil
}

// repair commits to a sparse frame that the reference wrote but cannot open. The reference compares the number of a
// chunk file with the compressed size in the header, which is too small after some chunks were deleted. Any commit of
// this library makes the frame readable again.
func (m *frameModel) repair() error {
	names, err := os.ReadDir(m.file)
	if err != nil || !strings.HasSuffix(m.op, "by the reference") {
		return nil // a file
	}
	f, err := frame.Edit(ctx, m.file, &frame.OpenOptions{NoSync: true})
	if err != nil {
		return err
	}
	defer f.Close()
	var last int64
	for _, x := range names {
		if n, err := strconv.ParseInt(strings.TrimSuffix(x.Name(), ".chunk"), 16, 64); err == nil {
			last = max(last, n)
		}
	}
	if last == 0 || last <= f.Info().CBytes-coder.HeaderSize {
		return nil
	}
	if s, err := ref.OpenSChunk(m.file); err == nil {
		s.Close()
		return fmt.Errorf("the reference opens a frame with file %d and chunks of %d bytes", last, f.Info().CBytes)
	}
	m.counts.add("repair of a frame that the reference cannot open")
	return inBatch(f, func(b *frame.Batch) error { return b.SetMeta("m", m.fixed) })
}

// arrayModel is an array in memory that gets the same edits as the frame.
type arrayModel struct {
	arrayCase
	frameModel
	items []byte
	stale bool // the padding may hold old items, which appear when the reference grows the array
}

// TestArrayEdits edits arrays alternately with both libraries. After each edit, both must read the content of the
// model.
func TestArrayEdits(t *testing.T) {
	n := 16
	if testing.Short() {
		n = 4
	}
	sum := &tally{}
	inParallel(t, make([]int, n), func(t *testing.T, rng *rand.Rand, dir string, _ int) error {
		m, err := newArrayModel(rng, dir, sum)
		if err != nil {
			return err
		}
		for i := range editsPerFrame {
			if i > 0 {
				err = m.edit(rng)
			}
			if err == nil {
				err = m.check(rng)
			}
			if err != nil {
				return fmt.Errorf("edit %d, %s, %v: %w", i, m.op, &m.arrayCase, err)
			}
		}
		return nil
	})
	sum.log(t)
}

// newArrayModel creates a small array with either library.
func newArrayModel(rng *rand.Rand, dir string, counts *tally) (*arrayModel, error) {
	m := &arrayModel{}
	m.file, m.vlmeta, m.counts = dir+"/frame", map[string][]byte{}, counts
	m.fixed = noise(rng, 1+rng.IntN(50))
	m.store, m.kind = pick(rng, []string{"file", "directory"}), "text"
	m.ours = chunk.Params{
		TypeSize: pick(rng, []int{1, 2, 4, 8, 12, 300}), Codec: pick(rng, codecs), Level: 1 + rng.IntN(5),
		Filters: pick(rng, editPipelines), Split: pick(rng, splitModes),
	}
	m.refs = refParams(m.ours)
	m.meta = []meta.Layer{{Name: "m", Content: bytes.Clone(m.fixed)}}
	for range 1 + rng.IntN(3) {
		m.addAxis(rng, 1+rng.Int64N(9), false)
	}
	maker := pick(rng, []string{"data", "data", "zeros", "full"})
	m.items = content(rng, pick(rng, kinds), m.nbytes(), m.ours.TypeSize)
	item := noise(rng, m.ours.TypeSize)
	byUs := m.step(rng, "make "+maker)
	switch maker {
	case "zeros":
		clear(m.items)
	case "full":
		m.items = bytes.Repeat(item, count(m.shape))
		m.stale = true // the padding holds the value as well
	}
	if byUs {
		a, err := m.create(rng, maker, m.file, m.items, item)
		if err != nil {
			return nil, err
		}
		return m, a.Close()
	}
	a, err := m.createReference(maker, m.file, m.items, item)
	if err != nil {
		return nil, err
	}
	a.Close()
	return m, nil
}

// editor is an array opened for editing by one of the libraries.
type editor struct {
	ours   *ndarray.Array
	theirs *ref.Array
}

func (m *arrayModel) open(rng *rand.Rand, byUs bool) (e editor, err error) {
	if byUs {
		e.ours, err = ndarray.Edit(ctx, m.file, &ndarray.OpenOptions{NoSync: true, Concurrency: 1 + rng.IntN(3)})
	} else {
		e.theirs, err = ref.OpenArray(m.file)
	}
	return e, err
}

func (e editor) close() {
	if e.ours != nil {
		e.ours.Close()
	} else {
		e.theirs.Close()
	}
}

func (e editor) layers() layerEditor {
	if e.ours != nil {
		return ourLayers{e.ours.Frame()}
	}
	return e.theirs.SChunk()
}

func (e editor) resize(shape []int64) error {
	if e.ours != nil {
		return e.ours.Resize(ctx, shape...)
	}
	return e.theirs.Resize(shape)
}

func (e editor) set(b box, items []byte) error {
	if e.ours != nil {
		return e.ours.WriteBytes(ctx, items, b.sel()...)
	}
	return e.theirs.SetSlice(b.first, b.stop, items)
}

func (e editor) fill(b box, item []byte) error {
	if e.ours != nil {
		return e.ours.FillBytes(ctx, item, b.sel()...)
	}
	return e.theirs.SetSlice(b.first, b.stop, bytes.Repeat(item, count(b.shape())))
}

// edit makes one random edit.
func (m *arrayModel) edit(rng *rand.Rand) error {
	empty := count(m.shape) == 0
	switch n := rng.IntN(10); {
	case n < 3:
		return m.editLayers(rng, func(byUs bool) (layerEditor, func(), error) {
			e, err := m.open(rng, byUs)
			if err != nil {
				return nil, nil, err
			}
			return e.layers(), e.close, nil
		})
	case n < 5 || empty:
		return m.resize(rng)
	case n < 6:
		return m.append(rng)
	}
	b := randomBox(rng, m.shape)
	op := pick(rng, []string{"set slice", "set slice", "fill slice", "clear slice"})
	e, err := m.open(rng, m.step(rng, op))
	if err != nil {
		return err
	}
	defer e.close()
	if op == "set slice" {
		items := content(rng, pick(rng, kinds), count(b.shape())*m.ours.TypeSize, m.ours.TypeSize)
		b.put(m.items, items, m.shape, m.ours.TypeSize)
		return e.set(b, items)
	}
	item := make([]byte, m.ours.TypeSize)
	if op == "fill slice" {
		random(rng, item)
	}
	b.put(m.items, bytes.Repeat(item, count(b.shape())), m.shape, m.ours.TypeSize)
	return e.fill(b, item)
}

// all returns the box of a whole array.
func all(shape []int64) box { return box{make([]int64, len(shape)), slices.Clone(shape)} }

// setShape changes the shape of the model; new items are zeros.
func (m *arrayModel) setShape(shape []int64) {
	common := all(shape)
	for i, n := range m.shape {
		common.stop[i] = min(common.stop[i], n)
	}
	kept := common.of(m.items, m.shape, m.ours.TypeSize)
	m.items = make([]byte, count(shape)*m.ours.TypeSize)
	common.put(m.items, kept, shape, m.ours.TypeSize)
	m.shape = shape
}

// resize grows and shrinks along all axes.
func (m *arrayModel) resize(rng *rand.Rand) error {
	shape := slices.Clone(m.shape)
	grows, shrinks := false, false
	for i := range shape {
		switch most := int64(30_000 / m.ours.TypeSize); rng.IntN(4) {
		case 0, 1:
			shape[i] = rng.Int64N(14)
			for shape[i] > 1 && int64(count(shape)) > most {
				shape[i]--
			}
		case 2:
			shape[i] += int64(rng.IntN(3))
		}
		if shape[i] == 0 && rng.IntN(3) > 0 {
			shape[i] = 1
		}
		grows, shrinks = grows || shape[i] > m.shape[i], shrinks || shape[i] < m.shape[i]
	}
	e, err := m.open(rng, m.step(rng, "resize"))
	if err != nil {
		return err
	}
	defer e.close()
	old := m.shape
	m.stale = m.stale || shrinks
	m.setShape(shape)
	if err := e.resize(shape); err != nil {
		return err
	}
	if e.ours == nil && grows && m.stale && count(shape) > 0 {
		// The reference does not clear items that appear again: write zeros.
		for i := range shape {
			b := all(shape)
			if b.first[i] = old[i]; b.first[i] >= shape[i] {
				continue
			}
			if err := e.fill(b, make([]byte, m.ours.TypeSize)); err != nil {
				return err
			}
		}
	}
	return nil
}

// append adds items at the end of an axis.
func (m *arrayModel) append(rng *rand.Rand) error {
	axis := rng.IntN(len(m.shape))
	shape := slices.Clone(m.shape)
	shape[axis] += 1 + rng.Int64N(4)
	if count(shape)*m.ours.TypeSize > 40_000 {
		return m.resize(rng)
	}
	b := all(shape)
	b.first[axis] = m.shape[axis]
	items := content(rng, pick(rng, kinds), count(b.shape())*m.ours.TypeSize, m.ours.TypeSize)
	byUs := rng.IntN(2) == 0
	if axis == 0 && len(items) == m.chunkBytes() && (len(shape) > 1 || m.shape[0]%int64(m.chunks[0]) != 0 || m.chunks[0]%m.blocks[0] != 0) {
		byUs = true // the reference appends items of the size of a chunk as a chunk
	}
	m.note("append", byUs)
	e, err := m.open(rng, byUs)
	if err != nil {
		return err
	}
	defer e.close()
	m.setShape(shape)
	b.put(m.items, items, shape, m.ours.TypeSize)
	if e.ours != nil {
		return e.ours.AppendBytes(ctx, axis, items)
	}
	return e.theirs.Append(items, axis)
}

// check opens the array with both libraries and compares with the model.
func (m *arrayModel) check(rng *rand.Rand) error {
	if err := m.repair(); err != nil {
		return err
	}
	a, err := ndarray.Open(ctx, m.file, nil)
	if err != nil {
		return err
	}
	defer a.Close()
	r, err := ref.OpenArray(m.file)
	if err != nil {
		return err
	}
	defer r.Close()
	ours, err := arrayInfoOf(a)
	if err != nil {
		return err
	}
	theirs, err := r.Info()
	if err != nil {
		return err
	}
	if err := sameInfo(ours, theirs); err != nil {
		return err
	}
	if !slices.Equal(ours.Shape, m.shape) {
		return fmt.Errorf("shape %v, want %v", ours.Shape, m.shape)
	}
	if err := m.sameLayers(theirs); err != nil {
		return err
	}
	return m.sameItems(rng, a, r, m.items)
}
