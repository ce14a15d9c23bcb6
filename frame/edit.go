package frame

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/tune"
	"github.com/goblosc/blosc2/meta"
)

// Append compresses p with the frame's parameters and adds it as the last chunk, in a commit of its own. It waits like
// Begin; ctx bounds this waiting and the edit. Append does not retain p. Errors are those of Begin, Batch.Append and
// Batch.Commit. To make several edits one commit, use a Batch.
func (f *Frame) Append(ctx context.Context, p []byte) error {
	return f.edit(ctx, func(b *Batch) error { return b.Append(ctx, p) })
}

// Append compresses p, which must not be empty, with the frame's parameters and adds it as the last chunk. See
// AppendRaw.
func (b *Batch) Append(ctx context.Context, p []byte) error {
	return b.do(ctx, func(ctx context.Context) error { return b.insertEncoded(ctx, b.next.index.n, p) })
}

// Insert compresses p and inserts it before chunk i, or at the end if i is NumChunks. See InsertRaw.
func (b *Batch) Insert(ctx context.Context, i int, p []byte) error {
	return b.do(ctx, func(ctx context.Context) error { return b.insertEncoded(ctx, i, p) })
}

func (b *Batch) insertEncoded(ctx context.Context, i int, p []byte) error {
	if err := b.checkEdit(i, b.next.index.n); err != nil {
		return err
	}
	c, err := b.encode(ctx, p, i)
	if err != nil {
		return err
	}
	return b.insertChunk(i, c, nil)
}

// Update compresses p and replaces chunk i with it. See UpdateRaw.
func (b *Batch) Update(ctx context.Context, i int, p []byte) error {
	return b.do(ctx, func(ctx context.Context) error {
		if err := b.checkEdit(i, b.next.index.n-1); err != nil {
			return err
		}
		c, err := b.encode(ctx, p, i)
		if err != nil {
			return err
		}
		return b.replaceChunk(i, c, nil)
	})
}

// encode returns p encoded as chunk i.
func (b *Batch) encode(ctx context.Context, p []byte, i int) ([]byte, error) {
	encode := b.encodeParams
	if b.f.tuner != nil {
		encode = b.encodeTuned
	}
	c, err := encode(ctx, p, i)
	if canceled := ctx.Err(); canceled != nil {
		return nil, canceled
	}
	if err != nil {
		return nil, b.f.wrap("chunk", -1, err)
	}
	return c, nil
}

// encodeParams is encode with the parameters of the frame.
func (b *Batch) encodeParams(ctx context.Context, p []byte, i int) ([]byte, error) {
	l, err := b.f.plugins.Layout(b.next.cparams(), len(p))
	if err != nil {
		return nil, err
	}
	return b.f.pool.EncodeLayout(ctx, nil, p, l, int64(i))
}

// AppendBlocks compresses blocks and adds them as the last chunk. Each block has its own size of at least one byte. The
// first such chunk, in an empty frame, makes the frame one with blocks of variable size, which takes no other chunks.
// C-Blosc2 misreads such chunks with Delta. See AppendRaw.
func (b *Batch) AppendBlocks(ctx context.Context, blocks [][]byte) error {
	return b.do(ctx, func(ctx context.Context) error {
		if b.done {
			return b.errDone()
		}
		c, err := b.f.pool.EncodeVL(ctx, nil, blocks, b.next.cparams(), int64(b.next.index.n))
		if canceled := ctx.Err(); canceled != nil {
			return canceled
		}
		if err != nil {
			return b.f.wrap("chunk", -1, err)
		}
		return b.insertChunk(b.next.index.n, c, nil)
	})
}

// SetMeta adds or replaces a metalayer. If the frame has chunks, in the batch or in the state before it, SetMeta can
// only replace an existing metalayer with content of the same length. Otherwise it returns ErrParam. It also returns
// ErrParam if a reader uses an older state with chunks that a longer header would overwrite, and for a new metalayer
// whose name is not UTF-8 of 1 to 31 bytes without a NUL. It returns ErrTooLarge if the metalayers do not fit the
// format.
func (b *Batch) SetMeta(name string, content []byte) error {
	return b.doNow(func() error { return b.setMeta(name, content) })
}

func (b *Batch) setMeta(name string, content []byte) error {
	if b.done {
		return b.errDone()
	}
	s := b.next
	layers := slices.Clone(s.meta)
	i := findLayer(layers, name)
	chunks := s.index.n > 0 || b.cur != nil && b.cur.index.n > 0
	switch {
	case i >= 0 && len(layers[i].Content) != len(content) && chunks:
		return b.f.wrap("metalayer "+name, -1, fmt.Errorf("%d bytes in place of %d: %w", len(content), len(layers[i].Content), ErrParam))
	case i >= 0 && len(layers[i].Content) == len(content):
		layers[i].Content = slices.Clone(content)
		s.meta = layers // the header keeps its length, even if it could be shorter
		s.noteLayer(false, name, layers[i].Content)
		return nil
	case i >= 0:
		layers[i].Content = slices.Clone(content)
	case chunks:
		return b.f.wrap("metalayer "+name, -1, fmt.Errorf("cannot be added to a frame with chunks: %w", ErrParam))
	default:
		if err := checkLayerName(name); err != nil {
			return b.f.wrap("metalayer", -1, err)
		}
		layers = append(layers, meta.Layer{Name: name, Content: slices.Clone(content)})
	}
	if err := b.setLayers(layers); err != nil {
		return err
	}
	s.noteLayer(false, name, content)
	return nil
}

// setLayers sets the metalayers and the length of the header.
func (b *Batch) setLayers(layers []meta.Layer) error {
	n, err := measureHeader(layers)
	if err == nil {
		err = b.f.store.headerFits(int64(n))
	}
	if err != nil {
		return b.f.wrap("metalayers", -1, err)
	}
	b.next.meta, b.next.headerLen = layers, n
	return nil
}

// SetVLMeta adds or replaces a variable-length metalayer, compressed. By python-blosc2's convention content is a
// MessagePack value: see meta.Marshal. Other libraries write at most 16 of these metalayers. Errors are ErrTooLarge,
// ErrParam for "b2crc32c" and "b2blocks" (see SetChecksums and CreateOptions.BlockTable), and ErrParam for a new
// metalayer whose name is not UTF-8 of 1 to 31 bytes without a NUL.
func (b *Batch) SetVLMeta(name string, content []byte) error {
	return b.doNow(func() error { return b.setVLMeta(name, content) })
}

func (b *Batch) setVLMeta(name string, content []byte) error {
	if b.done {
		return b.errDone()
	}
	var c []byte
	var err error
	switch name {
	case checksumLayer:
		err = fmt.Errorf("the library writes it, see SetChecksums: %w", ErrParam)
	case blockLayer:
		err = fmt.Errorf("the library writes it, see CreateOptions.BlockTable: %w", ErrParam)
	default:
		c, err = b.f.plain.Encode(nil, content, coder.Params{})
	}
	if err != nil {
		return b.f.wrap("variable-length metalayer "+name, -1, err)
	}
	layers := slices.Clone(b.next.vlmeta)
	if i := findLayer(layers, name); i >= 0 {
		layers[i].Content = c
	} else if err := checkLayerName(name); err != nil {
		return b.f.wrap("variable-length metalayer", -1, err)
	} else {
		layers = append(layers, meta.Layer{Name: name, Content: c})
	}
	if _, err := meta.AppendTrailer(nil, layers); err != nil {
		return b.f.wrap("variable-length metalayer "+name, -1, err)
	}
	b.next.vlmeta = layers
	b.next.noteLayer(true, name, c)
	return nil
}

// DeleteVLMeta removes a variable-length metalayer. It returns fs.ErrNotExist if there is none with that name. Deleting
// "b2crc32c" removes the checksums from the frame; with OpenOptions.RequireChecksums that returns ErrParam.
func (b *Batch) DeleteVLMeta(name string) error {
	return b.doNow(func() error { return b.deleteVLMeta(name) })
}

func (b *Batch) deleteVLMeta(name string) error {
	if b.done {
		return b.errDone()
	}
	i := findLayer(b.next.vlmeta, name)
	if i < 0 {
		return b.f.wrap("variable-length metalayer "+name, -1, errs.ErrNotExist)
	}
	if name == checksumLayer {
		if err := b.mayRemoveChecksums(); err != nil {
			return err
		}
	}
	b.next.vlmeta = slices.Delete(slices.Clone(b.next.vlmeta), i, i+1)
	b.next.forgetVLMeta(name)
	return nil
}

// replaceMeta replaces the content of a metalayer by content of the same length.
func (b *Batch) replaceMeta(name string, content []byte) error {
	if b.done {
		return b.errDone()
	}
	i := findLayer(b.next.meta, name)
	if i < 0 {
		return b.f.wrap("metalayer "+name, -1, errs.ErrNotExist)
	}
	if have := len(b.next.meta[i].Content); have != len(content) {
		return b.f.wrap("metalayer "+name, -1, fmt.Errorf("%d bytes in place of %d: %w", len(content), have, ErrParam))
	}
	return b.setMeta(name, content)
}

// SetChecksums adds checksums to the frame, which later commits keep, or removes them. To add them it reads all chunks.
// If a chunk does not match a checksum that it already has, SetChecksums returns ErrChecksum, unless another library
// has changed the index since. Metalayers are not compared and get new checksums: another library may have changed
// them. SetChecksums returns the error of ctx when ctx is done.
func (b *Batch) SetChecksums(ctx context.Context, on bool) error {
	return b.do(ctx, func(ctx context.Context) error { return b.setChecksums(ctx, on) })
}

func (b *Batch) setChecksums(ctx context.Context, on bool) error {
	if b.done {
		return b.errDone()
	}
	s := b.next
	if !on {
		if err := b.mayRemoveChecksums(); err != nil {
			return err
		}
		s.checksums, s.index.checksums = nil, nil
		s.vlmeta = slices.DeleteFunc(slices.Clone(s.vlmeta), func(l meta.Layer) bool { return l.Name == checksumLayer })
		return nil
	}
	layers := withLayer(s.vlmeta, checksumLayer, nil)
	if _, err := meta.AppendTrailer(nil, layers); err != nil {
		return b.f.wrap("variable-length metalayer "+checksumLayer, -1, err)
	}
	var checksums []uint32
	var buf []byte
	for i := range s.index.list {
		err := ctx.Err()
		sum := uint32(0)
		if err == nil && s.index.list[i] >= 0 {
			if buf, err = b.f.rawChunk(storage.Bind(ctx, s.src), buf[:0], s, i); err == nil {
				err = b.f.checkChecksum(s, i, buf)
			}
			sum = crc32c.Checksum(buf)
		}
		if err != nil {
			return err
		}
		checksums = append(checksums, sum)
	}
	b.owned = false // the list has other checksums
	s.index.checksums, s.checksums, s.vlmeta = checksums, &checksumSet{}, layers
	for _, l := range s.meta {
		s.noteLayer(false, l.Name, l.Content)
	}
	for _, l := range s.vlmeta {
		if l.Name != checksumLayer {
			s.noteLayer(true, l.Name, l.Content)
		}
	}
	return nil
}

// mayRemoveChecksums returns ErrParam if OpenOptions.RequireChecksums forbids removing the checksums.
func (b *Batch) mayRemoveChecksums() error {
	if !b.f.opts.RequireChecksums {
		return nil
	}
	return b.f.wrap("variable-length metalayer "+checksumLayer, -1, fmt.Errorf("option RequireChecksums is set: %w", ErrParam))
}

// Reorder moves chunk order[i] to position i. It returns ErrParam if order does not contain each chunk number once, or
// if it moves a last chunk that is shorter than the others.
func (b *Batch) Reorder(order []int) error {
	return b.doNow(func() error { return b.reorder(order) })
}

func (b *Batch) reorder(order []int) error {
	if err := b.checkEditable(); err != nil {
		return err
	}
	n := b.next.index.n
	if len(order) != n {
		return b.f.wrap("index", -1, fmt.Errorf("order has %d entries, want %d: %w", len(order), n, ErrParam))
	}
	seen := make([]bool, n)
	for _, from := range order {
		if from < 0 || from >= n || seen[from] {
			return b.f.wrap("index", -1, fmt.Errorf("order names chunk %d of %d, or names it twice: %w", from, n, ErrParam))
		}
		seen[from] = true
	}
	if n > 0 && order[n-1] != n-1 && b.next.chunkSize > 0 && b.next.nbytes%int64(b.next.chunkSize) != 0 {
		return b.f.wrap("index", -1, fmt.Errorf("the last chunk is shorter and must stay the last: %w", ErrParam))
	}
	if b.next.index.list == nil {
		return nil // all chunks are equal
	}
	list := make([]entry, n)
	old := b.next.chunkChecksums()
	checksums := slices.Clone(old)
	for i, from := range order {
		list[i] = b.next.index.at(from)
		if checksums != nil {
			checksums[i] = old[from]
		}
	}
	b.next.index, b.owned = newIndex(list, checksums), true
	return nil
}

// fillSpecial fills an empty frame with n bytes of a special value: zeros, NaNs or uninitialized. It writes only the
// index. The chunk size must be known.
func (b *Batch) fillSpecial(n int64, special chunk.Special) error {
	s := b.next
	e, ok := specialEntry(special)
	if err := b.checkEditable(); err != nil {
		return err
	}
	switch {
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
	size, err := b.f.plugins.BlockSizeFor(s.cparams(), int(s.chunkSize))
	if err != nil {
		return b.f.wrap("header", offBlockSize, err)
	}
	s.blockSize = int32(size) // no longer automatic, as in C-Blosc2
	s.index, s.nbytes, b.owned = index{n: int(count), uniform: e}, n, false
	return nil
}

// selectChunks sets the index to n chunks of size bytes each: chunk i becomes the previous chunk from(i), or zeros if
// from(i) is negative. Chunks that are no longer referenced are deleted. Arrays use it to change their grid.
func (b *Batch) selectChunks(ctx context.Context, n, size int64, from func(i int64) int64) error {
	if err := b.checkChunks(n, size); err != nil {
		return err
	}
	s := b.next
	if s.equalZeros() { // old and new chunks are equal
		b.setUniform(int(n), int32(size), entryZeros)
		return nil
	}
	kept := make([]bool, s.index.n)
	list := make([]entry, n)
	had := s.chunkChecksums()
	var checksums []uint32
	if s.checksums.kept() {
		checksums = make([]uint32, n)
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		list[i] = entryZeros
		if old := from(int64(i)); old >= 0 {
			if old >= int64(len(kept)) || kept[old] {
				return b.f.wrap("index", -1, fmt.Errorf("chunk %d does not exist or is used twice: %w", old, ErrParam))
			}
			kept[old] = true
			list[i] = s.index.at(int(old))
			if checksums != nil {
				checksums[i] = had[old]
			}
		}
	}
	if err := b.releaseOthers(ctx, kept); err != nil {
		return b.fail(err)
	}
	if s.chunkSize <= 0 && n > 0 {
		s.chunkSize = int32(size)
	}
	s.index, b.owned, s.nbytes = newIndex(list, checksums), true, n*size
	return nil
}

// releaseOthers is release for the chunks of which no entry is kept. It reads the header of each chunk once, even if
// several entries reference the chunk.
func (b *Batch) releaseOthers(ctx context.Context, kept []bool) error {
	x := &b.next.index
	var seen map[entry]bool // nil if no chunk is referenced twice
	if !x.ascends() {
		seen = map[entry]bool{}
		for i, k := range kept {
			if k {
				seen[x.at(i)] = true
			}
		}
	}
	for i, k := range kept {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := x.at(i)
		if k || seen[e] {
			continue
		}
		if seen != nil {
			seen[e] = true
		}
		if err := b.release(i); err != nil {
			return err
		}
	}
	return nil
}

// checkChunks returns an error if selectChunks cannot set the index to n chunks of size bytes.
func (b *Batch) checkChunks(n, size int64) error {
	if err := b.checkEditable(); err != nil {
		return err
	}
	s := b.next
	switch {
	case size < 1 && n > 0 || size > chunk.MaxBytes || n < 0 || n > chunk.MaxBytes/8:
		return b.f.wrap("index", -1, fmt.Errorf("%d chunks of %d bytes: %w", n, size, ErrTooLarge))
	case s.chunkSize > 0 && n > 0 && int64(s.chunkSize) != size:
		return b.f.wrap("index", -1, fmt.Errorf("chunks of %d bytes in a frame with chunks of %d: %w", size, s.chunkSize, ErrParam))
	}
	if s.index.n > 0 && (s.chunkSize <= 0 || s.nbytes%int64(s.chunkSize) != 0) {
		return b.f.wrap("index", -1, fmt.Errorf("not all chunks have the same size: %w", ErrParam))
	}
	if most := max(n, int64(s.index.n)); most > int64(len(s.index.list)) && !s.equalZeros() {
		return b.checkList(int(most))
	}
	return nil
}

// equalZeros reports whether all chunks are zeros that one entry of the index represents, also if there are none.
func (s *snapshot) equalZeros() bool {
	return s.index.n == 0 || s.index.list == nil && s.index.uniform == entryZeros
}

// setUniform sets the index to n chunks of size bytes that one special entry represents.
func (b *Batch) setUniform(n int, size int32, e entry) {
	s := b.next
	if s.chunkSize <= 0 && n > 0 {
		s.chunkSize = size
	}
	s.index, b.owned, s.nbytes = index{n: n, uniform: e}, false, int64(n)*int64(size)
}

// record stores the first choice of t in the header.
func (b *Batch) record(t *tuner) error {
	if !t.Chosen() {
		return nil
	}
	if t.first.Level == 0 {
		t.first = t.Params()
	}
	p := t.first
	p.BlockSize = int(b.next.blockSize)
	return b.next.setCParams(chunk.Params(p), coder.Plugins{})
}

// encodeTuned is encode with the parameters that the tuner chooses.
func (b *Batch) encodeTuned(ctx context.Context, p []byte, i int) ([]byte, error) {
	t := b.f.tuner
	blockSize := int(b.next.blockSize)
	if blockSize == 0 {
		var err error
		if blockSize, err = b.f.opts.Goal.BlockSize(int(b.next.typeSize), len(p)); err != nil {
			return nil, err
		}
	}
	l, err := coder.Params{TypeSize: int(b.next.typeSize), BlockSize: blockSize}.Layout(len(p))
	if err != nil {
		return nil, err
	}
	if l.NumBlocks == 0 {
		return b.f.pool.EncodeLayout(ctx, nil, p, l, int64(i))
	}
	blockSize = l.BlockLen(0)
	if t.Due(len(p)) {
		err := t.Try(&tune.Chunk{Size: len(p), BlockSize: blockSize, Plain: func(k int) ([]byte, error) {
			return p[k*blockSize : min((k+1)*blockSize, len(p))], ctx.Err()
		}})
		if err != nil {
			return nil, err
		}
	}
	if l, err = t.Layout(len(p), blockSize); err != nil {
		return nil, err
	}
	c, err := b.f.pool.EncodeLayout(ctx, nil, p, l, int64(i))
	if err != nil {
		return nil, err
	}
	return c, b.record(t)
}
