package frame

import (
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
)

// Reorder puts chunk order[i] at place i. order must name each chunk once.
func (b *Batch) Reorder(order []int) error {
	if b.done {
		return b.errDone()
	}
	if err := b.checkData(); err != nil {
		return err
	}
	n := b.next.index.n
	if len(order) != n {
		return b.f.wrap("index", -1, fmt.Errorf("an order of %d chunks for %d: %w", len(order), n, ErrParam))
	}
	seen := make([]bool, n)
	for _, from := range order {
		if from < 0 || from >= n || seen[from] {
			return b.f.wrap("index", -1, fmt.Errorf("chunk %d in the order of %d: %w", from, n, ErrParam))
		}
		seen[from] = true
	}
	if n > 0 && order[n-1] != n-1 && b.next.chunkSize > 0 && b.next.nbytes%int64(b.next.chunkSize) != 0 {
		return b.f.wrap("index", -1, fmt.Errorf("the last chunk is shorter and must stay the last: %w", ErrParam))
	}
	if b.next.index.list == nil {
		return nil // all chunks are alike
	}
	list := make([]entry, n)
	old := b.next.chunkSums()
	sums := slices.Clone(old)
	for i, from := range order {
		list[i] = b.next.index.at(from)
		if sums != nil {
			sums[i] = old[from]
		}
	}
	b.next.index, b.owned = newIndex(list, sums), true
	return nil
}

// FillSpecial makes an empty frame one of n bytes that stand for a special value: zeros, NaNs or uninitialised. It
// writes nothing but the index. The chunk size must be known.
func (b *Batch) FillSpecial(n int64, special chunk.Special) error {
	s := b.next
	e, ok := specialEntry(special)
	if err := b.checkData(); err != nil {
		return err
	}
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
	size, err := s.cparams().BlockSizeFor(int(s.chunkSize))
	if err != nil {
		return b.f.wrap("header", offBlockSize, err)
	}
	s.blockSize = int32(size) // automatic no longer, as in the reference
	s.index, s.nbytes, b.owned = index{n: int(count), uniform: e}, n, false
	return nil
}

// SelectChunks makes the index one of n chunks of size bytes each: chunk i is chunk from(i) as it was, or one of zeros
// when that is negative. Chunks that are named no more are deleted. It is how an array changes its grid.
func (b *Batch) SelectChunks(n, size int64, from func(i int64) int64) error {
	if b.done {
		return b.errDone()
	}
	if err := b.checkData(); err != nil {
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
	if s.index.n == 0 || s.index.list == nil && s.index.uniform == entryZeros { // old and new chunks are alike
		b.setUniform(int(n), int32(size), entryZeros)
		return nil
	}
	if most := max(n, int64(s.index.n)); most > int64(len(s.index.list)) {
		if err := b.checkList(int(most)); err != nil {
			return err
		}
	}
	kept := make([]bool, s.index.n)
	list := make([]entry, n)
	had := s.chunkSums()
	var sums []uint32
	if s.sums.kept() {
		sums = make([]uint32, n)
	}
	for i := range list {
		list[i] = entryZeros
		if old := from(int64(i)); old >= 0 {
			if old >= int64(len(kept)) || kept[old] {
				return b.f.wrap("index", -1, fmt.Errorf("chunk %d named twice, or not there: %w", old, ErrParam))
			}
			kept[old] = true
			list[i] = s.index.at(int(old))
			if sums != nil {
				sums[i] = had[old]
			}
		}
	}
	for i, k := range kept {
		if !k {
			if err := b.release(i); err != nil {
				return b.fail(err)
			}
		}
	}
	if s.chunkSize <= 0 && n > 0 {
		s.chunkSize = int32(size)
	}
	s.index, b.owned, s.nbytes = newIndex(list, sums), true, n*size
	return nil
}

// setUniform makes the index one of n chunks of size bytes that a special entry represents.
func (b *Batch) setUniform(n int, size int32, e entry) {
	s := b.next
	if s.chunkSize <= 0 && n > 0 {
		s.chunkSize = size
	}
	s.index, b.owned, s.nbytes = index{n: n, uniform: e}, false, int64(n)*int64(size)
}
