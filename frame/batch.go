package frame

import (
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
)

// Batch is a group of edits that become visible, and durable, together. Chunks are written when they are added;
// until Commit no reader sees them, and the stored frame is the one before. A batch belongs to one goroutine;
// batches and single edits of other goroutines wait until it ends.
type Batch struct {
	f       *Frame
	cur     *snapshot // what readers see; nil before the first commit
	next    *snapshot // what the batch makes
	put     []extent  // where chunks were written
	dropped []extent  // chunks of cur that next does not have
	end     int64     // contiguous frames: where the newest bytes end
	owned   bool      // next.index.list is the batch's own
	done    bool
	err     error // of an edit that left the batch half done
}

// Begin starts a batch. End it with Commit or Rollback. Errors are ErrReadOnly and ErrClosed.
func (f *Frame) Begin() (*Batch, error) {
	f.mu.Lock()
	cur := f.snap.Load()
	var err error
	switch {
	case !f.beginBatch():
		err = f.errClosed()
	case !f.writable:
		err = fmt.Errorf("frame %s: %w", f.path, ErrReadOnly)
	case f.broken != nil:
		err = fmt.Errorf("frame %s: an earlier commit may be half done, open it again: %w", f.path, f.broken)
	}
	if err != nil {
		f.endBatch()
		return nil, err
	}
	f.store.reclaim(f)
	return &Batch{f: f, cur: cur, next: cur.successor()}, nil
}

// successor returns a copy of s that a batch may change.
func (s *snapshot) successor() *snapshot {
	return &snapshot{header: s.header, index: s.index, meta: s.meta, vlmeta: s.vlmeta, area: s.area, fileID: s.fileID}
}

// Commit makes the batch the state of the frame. When it fails, the frame is as it was before.
func (b *Batch) Commit() error {
	if b.done {
		return b.errDone()
	}
	if b.err != nil {
		b.Rollback()
		return b.err
	}
	if err := b.f.store.commit(b); err != nil {
		b.Rollback()
		return b.f.wrap("commit", -1, err)
	}
	b.done = true
	b.f.snap.CompareAndSwap(b.cur, b.next) // it stays nil when the frame was closed meanwhile
	b.f.store.reclaim(b.f)
	b.f.endBatch()
	return nil
}

// Rollback forgets the batch. After Commit it does nothing, so that it can be deferred.
func (b *Batch) Rollback() {
	if b.done {
		return
	}
	b.done = true
	b.f.store.rollback(b)
	b.f.endBatch()
}

func (b *Batch) errDone() error { return fmt.Errorf("frame %s: batch: %w", b.f.path, ErrClosed) }

// edit runs one edit as a batch of its own.
func (f *Frame) edit(change func(b *Batch) error) error {
	b, err := f.Begin()
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := change(b); err != nil {
		return err
	}
	return b.Commit()
}

// NumChunks returns the number of chunks as the batch has it.
func (b *Batch) NumChunks() int { return b.next.index.n }

// list returns the batch's own copy of the index.
func (b *Batch) list() []entry {
	if !b.owned {
		b.next.index = newIndex(slices.Clone(b.next.index.entries()))
		b.owned = true
	}
	return b.next.index.list
}

// store writes a chunk, or finds the special entry that stands for it. It fails when the chunk does not belong.
func (b *Batch) store(c []byte) (entry, error) {
	h, err := chunk.ParseHeader(c, int64(len(c)))
	if err != nil {
		return 0, b.f.wrap("chunk", -1, err)
	}
	if n := b.next.index.n; n > 0 && h.VLBlocks() != b.next.vlBlocks {
		return 0, b.f.wrap("chunk", -1, fmt.Errorf("blocks of variable size beside chunks without: %w", ErrParam))
	}
	b.next.vlBlocks = h.VLBlocks()
	if e, ok := specialEntry(h.Special()); ok && b.next.chunkSize != 0 {
		return e, nil
	}
	if _, ok := specialEntry(h.Special()); ok {
		// Without a chunk size the index cannot tell how large the chunk is: store it in another form.
		if c, err = b.f.plainSpecial(&h); err != nil {
			return 0, b.f.wrap("chunk", -1, err)
		}
	} else {
		c = c[:h.CBytes]
	}
	e, err := b.f.store.put(b, c)
	if err != nil {
		return 0, b.f.wrap("chunk", -1, err)
	}
	return e, nil
}

// plainSpecial returns a Value chunk with the content of a special one that only the index can hold.
func (f *Frame) plainSpecial(h *chunk.Header) ([]byte, error) {
	value := make([]byte, h.TypeSize)
	if h.NBytes%h.TypeSize != 0 || h.NBytes == 0 {
		return f.plain.Encode(nil, make([]byte, h.NBytes), chunk.CParams{Level: chunk.NoCompression})
	}
	chunk.FillSpecial(value, h.Special(), nil, h.TypeSize, 0)
	return chunk.EncodeSpecial(nil, chunk.Value, h.NBytes, value, chunk.CParams{TypeSize: h.TypeSize, BlockSize: h.BlockSize})
}

// forget notes that a chunk of the batch's state is no longer named.
func (b *Batch) forget(i int) error {
	e := b.next.index.at(i)
	if e < 0 {
		return nil
	}
	h, err := b.f.chunkHeader(b.next, i)
	if err != nil {
		return err
	}
	b.f.store.drop(b, e, int64(h.CBytes))
	return nil
}

// AppendChunk adds an encoded chunk at the end. The bytes are written as they are, but for special values that the
// index holds. A chunk that is larger than the frame's chunks, or follows one that is smaller, makes the frame one
// with chunks of variable size. Errors are ErrCorrupt, ErrParam or those of writing.
func (b *Batch) AppendChunk(c []byte) error { return b.InsertChunk(b.next.index.n, c) }

// InsertChunk adds an encoded chunk before chunk i. See AppendChunk.
func (b *Batch) InsertChunk(i int, c []byte) error {
	n := b.next.index.n
	if err := b.check(i, n); err != nil {
		return err
	}
	size, err := decodedSize(c)
	if err != nil {
		return b.f.wrap("chunk", -1, err)
	}
	if err := b.fit(i, size, i == n, 0); err != nil {
		return err
	}
	e, err := b.store(c)
	if err != nil {
		return err
	}
	if i == n {
		b.next.index = newIndex(append(b.next.index.entries(), e))
	} else {
		b.next.index = newIndex(slices.Insert(b.list(), i, e))
	}
	b.next.nbytes += size
	return nil
}

// UpdateChunk puts an encoded chunk in the place of chunk i. See AppendChunk.
func (b *Batch) UpdateChunk(i int, c []byte) error {
	n := b.next.index.n
	if err := b.check(i, n-1); err != nil {
		return err
	}
	size, err := decodedSize(c)
	if err != nil {
		return b.f.wrap("chunk", -1, err)
	}
	old, err := b.chunkSize(i)
	if err != nil {
		return err
	}
	if err := b.fit(i, size, i == n-1, old); err != nil {
		return err
	}
	e, err := b.store(c)
	if err != nil {
		return err
	}
	if err := b.forget(i); err != nil {
		return err
	}
	b.list()[i] = e
	b.next.nbytes += size - old
	return nil
}

// DeleteChunk removes chunk i; the later ones move down.
func (b *Batch) DeleteChunk(i int) error {
	n := b.next.index.n
	if err := b.check(i, n-1); err != nil {
		return err
	}
	size, err := b.chunkSize(i)
	if err != nil {
		return err
	}
	if err := b.forget(i); err != nil {
		return err
	}
	b.next.index = newIndex(slices.Delete(b.list(), i, i+1))
	b.next.nbytes -= size
	return nil
}

// Reorder puts chunk order[i] at place i. order must name each chunk once.
func (b *Batch) Reorder(order []int) error {
	if b.done {
		return b.errDone()
	}
	n := b.next.index.n
	seen := make([]bool, n)
	list := make([]entry, n)
	if len(order) != n {
		return b.f.wrap("index", -1, fmt.Errorf("an order of %d chunks for %d: %w", len(order), n, ErrParam))
	}
	for i, from := range order {
		if from < 0 || from >= n || seen[from] {
			return b.f.wrap("index", -1, fmt.Errorf("chunk %d in the order of %d: %w", from, n, ErrParam))
		}
		seen[from] = true
		list[i] = b.next.index.at(from)
	}
	if n > 0 && order[n-1] != n-1 && b.next.chunkSize > 0 && b.next.nbytes%int64(b.next.chunkSize) != 0 {
		return b.f.wrap("index", -1, fmt.Errorf("the last chunk is shorter and must stay the last: %w", ErrParam))
	}
	b.next.index, b.owned = newIndex(list), true
	return nil
}

// FillSpecial makes an empty frame one of n bytes that stand for a special value: zeros, NaNs or uninitialised. It
// writes nothing but the index. The chunk size must be known.
func (b *Batch) FillSpecial(n int64, special chunk.Special) error {
	s := b.next
	e, ok := specialEntry(special)
	switch {
	case b.done:
		return b.errDone()
	case !ok || s.chunkSize <= 0 || n < 0 || n%int64(s.typeSize) != 0:
		return b.f.wrap("index", -1, fmt.Errorf("cannot fill %d bytes with %v, chunks of %d, items of %d: %w", n, special, s.chunkSize, s.typeSize, ErrParam))
	case special == chunk.NaNs && s.typeSize != 4 && s.typeSize != 8:
		return b.f.wrap("index", -1, fmt.Errorf("NaNs of %d bytes: %w", s.typeSize, ErrParam))
	case s.index.n > 0:
		return b.f.wrap("index", -1, fmt.Errorf("the frame is not empty: %w", ErrParam))
	case n == 0:
		return nil
	}
	count := (n-1)/int64(s.chunkSize) + 1
	if count > chunk.MaxBytes/8 {
		return b.f.wrap("index", -1, fmt.Errorf("%d chunks: %w", count, ErrTooLarge))
	}
	s.index, s.nbytes = index{n: int(count), uniform: e}, n
	return nil
}

// decodedSize returns the decoded size that the header of a chunk tells.
func decodedSize(c []byte) (int64, error) {
	h, err := chunk.ParseHeader(c, int64(len(c)))
	return int64(h.NBytes), err
}

// check tells whether i is at most last.
func (b *Batch) check(i, last int) error {
	if b.done {
		return b.errDone()
	}
	if i < 0 || i > last {
		return &Error{Path: b.f.path, Part: "chunk", Chunk: i, Off: -1, Err: fmt.Errorf("the frame has %d: %w", b.next.index.n, ErrBounds)}
	}
	return nil
}

// chunkSize returns the decoded size of chunk i.
func (b *Batch) chunkSize(i int) (int64, error) {
	if n := b.next.chunkLen(i); n >= 0 {
		return n, nil
	}
	h, err := b.f.chunkHeader(b.next, i)
	return int64(h.NBytes), err
}

// fit finds whether a chunk of size bytes at place i leaves the frame one of equal chunks, and makes it one with
// chunks of variable size if not. last tells that it will be the last chunk; old is the size of the one it
// replaces, or 0.
func (b *Batch) fit(i int, size int64, last bool, old int64) error {
	s := b.next
	if size == 0 {
		return b.f.wrap("chunk", -1, fmt.Errorf("a chunk of no bytes: %w", ErrParam))
	}
	if s.index.n == 0 && s.chunkSize < 0 {
		s.chunkSize = int32(size)
		return nil
	}
	if s.chunkSize == 0 {
		return nil
	}
	full := int64(s.chunkSize)
	fits := size == full || last && size < full
	if old == 0 && last && s.index.n > 0 && s.nbytes%full != 0 {
		fits = false // the chunk that was the last is shorter
	}
	if fits {
		return nil
	}
	return b.makeVariable()
}

// makeVariable turns the frame into one with chunks of variable size. Special entries, whose size would then be
// unknown, become chunks.
func (b *Batch) makeVariable() error {
	s := b.next
	list := b.list()
	sizes := make([]int64, len(list))
	for i := range list {
		sizes[i] = s.chunkLen(i)
	}
	size := s.chunkSize
	s.chunkSize = 0
	for i, e := range list {
		special, err := e.special()
		if err != nil || special == chunk.Regular {
			continue
		}
		s.chunkSize = size
		h, err := b.f.chunkHeader(s, i)
		s.chunkSize = 0
		if err != nil {
			return err
		}
		c, err := b.f.plainSpecial(&h)
		if err != nil {
			return err
		}
		if list[i], err = b.f.store.put(b, c); err != nil {
			return b.f.wrap("chunk", -1, err)
		}
	}
	return nil
}

// SetMeta sets a metalayer: a new one while the frame has no chunks, else one that is there, to a content of the same
// length. Errors are ErrLimit and ErrParam.
func (b *Batch) SetMeta(name string, content []byte) error {
	if b.done {
		return b.errDone()
	}
	s := b.next
	layers := slices.Clone(s.meta)
	i := findLayer(layers, name)
	switch {
	case i >= 0 && len(layers[i].Content) != len(content) && s.index.n > 0:
		return b.f.wrap("metalayer "+name, -1, fmt.Errorf("%d bytes in place of %d: %w", len(content), len(layers[i].Content), ErrParam))
	case i >= 0:
		layers[i].Content = slices.Clone(content)
	case s.index.n > 0:
		return b.f.wrap("metalayer "+name, -1, fmt.Errorf("cannot be added to a frame with chunks: %w", ErrParam))
	default:
		layers = append(layers, meta.Layer{Name: name, Content: slices.Clone(content)})
	}
	return b.setLayers(layers)
}

// setLayers sets the metalayers and with them the length of the header.
func (b *Batch) setLayers(layers []meta.Layer) error {
	head, err := meta.AppendHeader(make([]byte, fixedLen), layers)
	if err != nil {
		return b.f.wrap("metalayers", -1, err)
	}
	b.next.meta, b.next.headerLen = layers, len(head)
	return nil
}

// SetVLMeta sets a variable-length metalayer; it is compressed. By python-blosc2's convention content is a
// MessagePack value: see meta.Marshal. The format lets other libraries write back at most 16 of them. Errors are
// ErrLimit.
func (b *Batch) SetVLMeta(name string, content []byte) error {
	if b.done {
		return b.errDone()
	}
	c, err := b.f.plain.Encode(nil, content, chunk.CParams{})
	if err != nil {
		return b.f.wrap("variable-length metalayer "+name, -1, err)
	}
	layers := slices.Clone(b.next.vlmeta)
	if i := findLayer(layers, name); i >= 0 {
		layers[i].Content = c
	} else {
		layers = append(layers, meta.Layer{Name: name, Content: c})
	}
	if _, err := meta.AppendTrailer(nil, layers); err != nil {
		return b.f.wrap("variable-length metalayer "+name, -1, err)
	}
	b.next.vlmeta = layers
	return nil
}

// DeleteVLMeta removes a variable-length metalayer, or fails with ErrNotFound.
func (b *Batch) DeleteVLMeta(name string) error {
	if b.done {
		return b.errDone()
	}
	i := findLayer(b.next.vlmeta, name)
	if i < 0 {
		return b.f.wrap("variable-length metalayer "+name, -1, ErrNotFound)
	}
	b.next.vlmeta = slices.Delete(slices.Clone(b.next.vlmeta), i, i+1)
	return nil
}

// SetVariable makes an empty frame one with chunks of variable size.
func (b *Batch) SetVariable() error {
	if b.done {
		return b.errDone()
	}
	if b.next.index.n > 0 {
		return b.f.wrap("header", -1, fmt.Errorf("the frame is not empty: %w", ErrParam))
	}
	b.next.chunkSize = 0
	return nil
}

// SelectChunks makes the index one of n chunks of size bytes each: chunk i is chunk from(i) as it was, or one of zeros
// when that is negative. Chunks that are named no more are deleted. It is how an array changes its grid.
func (b *Batch) SelectChunks(n, size int64, from func(i int64) int64) error {
	if b.done {
		return b.errDone()
	}
	s := b.next
	switch {
	case size < 1 && n > 0 || size > chunk.MaxBytes || n < 0 || n > chunk.MaxBytes/8:
		return b.f.wrap("index", -1, fmt.Errorf("%d chunks of %d bytes: %w", n, size, ErrTooLarge))
	case s.chunkSize > 0 && n > 0 && int64(s.chunkSize) != size:
		return b.f.wrap("index", -1, fmt.Errorf("chunks of %d bytes in a frame with chunks of %d: %w", size, s.chunkSize, ErrParam))
	}
	kept := make([]bool, s.index.n)
	list := make([]entry, n)
	for i := range list {
		list[i] = entryZeros
		if old := from(int64(i)); old >= 0 {
			if old >= int64(len(kept)) || kept[old] {
				return b.f.wrap("index", -1, fmt.Errorf("chunk %d named twice, or not there: %w", old, ErrParam))
			}
			kept[old] = true
			list[i] = s.index.at(int(old))
		}
	}
	for i, k := range kept {
		if !k {
			if err := b.forget(i); err != nil {
				return err
			}
		}
	}
	if s.chunkSize <= 0 && n > 0 {
		s.chunkSize = int32(size)
	}
	s.index, b.owned, s.nbytes = newIndex(list), true, n*size
	return nil
}

// ReplaceMeta puts content of the same length in the place of a metalayer.
func (b *Batch) ReplaceMeta(name string, content []byte) error {
	if b.done {
		return b.errDone()
	}
	i := findLayer(b.next.meta, name)
	if i < 0 {
		return b.f.wrap("metalayer "+name, -1, ErrNotFound)
	}
	if have := len(b.next.meta[i].Content); have != len(content) {
		return b.f.wrap("metalayer "+name, -1, fmt.Errorf("%d bytes in place of %d: %w", len(content), have, ErrParam))
	}
	return b.SetMeta(name, content)
}
