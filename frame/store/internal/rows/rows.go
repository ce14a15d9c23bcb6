// Package rows maps the rows of a table to stored rows, some of which are deleted.
package rows

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"sort"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/ndarray"
)

// A Set maps rows to stored rows.
type Set struct {
	Stored int64    // number of stored rows up to the last one that is not deleted
	Live   int64    // number of rows that are not deleted
	bits   []uint64 // bit of each stored row: it is not deleted; nil if none is
	before []int64  // number of rows with a bit before each group of groupWords words
}

// Window is the number of stored rows that are looked at together.
const Window = 1 << 16

const groupWords = 64

// Read reads the array that marks the rows that are not deleted. The frame of the array must justify one bit of memory
// for each stored row.
func Read(ctx context.Context, a *ndarray.Array) (*Set, error) {
	n, err := length(ctx, a)
	if err != nil {
		return nil, err
	}
	r := &Set{}
	err = windows(ctx, a, 0, n, func(part []byte, start int64) { r.add(part, start) })
	if err != nil {
		return nil, err
	}
	if r.Live == r.Stored {
		r.bits, r.before = nil, nil
	}
	return r, nil
}

// length returns the number of stored rows of an array that marks rows.
func length(ctx context.Context, a *ndarray.Array) (int64, error) {
	shape := a.Shape()
	if d := a.DType(); len(shape) != 1 || d.Kind != 'b' {
		return 0, faults.Corruptf("rows are marked by an array of shape %v and dtype %s", shape, d)
	}
	if err := a.Frame().Engine().CheckAlloc(ctx, shape[0]/8); err != nil {
		return 0, fmt.Errorf("marks of %d rows: %w", shape[0], err)
	}
	return shape[0], nil
}

// windows calls see with the marks of the rows start to stop-1, Window rows at a time.
func windows(ctx context.Context, a *ndarray.Array, start, stop int64, see func(part []byte, start int64)) error {
	window := make([]byte, min(stop-start, Window))
	for ; start < stop; start += Window {
		part := window[:min(Window, stop-start)]
		if err := a.ReadBytes(ctx, part, ndarray.Span(start, start+int64(len(part)))); err != nil {
			return err
		}
		see(part, start)
	}
	return nil
}

// Count returns the number of rows that are not deleted, which is Live of the Set of Read. It takes no memory for each
// row. It does not decode special chunks of more than Window rows, and no chunk if the index has one entry for all.
func Count(ctx context.Context, a *ndarray.Array) (int64, error) {
	n, err := length(ctx, a)
	if err != nil {
		return 0, err
	}
	v, err := a.Frame().Engine().View(ctx)
	if err != nil {
		return 0, err
	}
	defer v.Release()
	size := a.Chunks()[0]
	if _, uniform := v.Uniform(); uniform || size <= Window {
		return count(ctx, a, 0, n, uniform)
	}
	live := int64(0)
	for start := int64(0); start < n; start += size {
		info, err := v.ChunkInfo(ctx, int(start/size))
		if err != nil {
			return 0, err
		}
		part, err := count(ctx, a, start, min(start+size, n), info.Special != chunk.Regular)
		if err != nil {
			return 0, err
		}
		live += part
	}
	return live, nil
}

// count returns how many of the rows start to stop-1 are not deleted. With special set, all have the same mark.
func count(ctx context.Context, a *ndarray.Array, start, stop int64, special bool) (int64, error) {
	live, times := int64(0), int64(1)
	if special && stop > start {
		stop, times = start+1, stop-start
	}
	err := windows(ctx, a, start, stop, func(part []byte, _ int64) {
		live += int64(len(part) - bytes.Count(part, []byte{0}))
	})
	return live * times, err
}

// add appends the marks of rows. The first row is start, a multiple of 64. A mark is 0 for a deleted row.
func (r *Set) add(part []byte, start int64) {
	var rest [64]byte
	for at := start; len(part) > 0; at += 64 {
		if len(part) < 64 {
			copy(rest[:], part)
			part = rest[:]
		}
		word := pack(part[:64])
		part = part[64:]
		if len(r.bits)%groupWords == 0 {
			r.before = append(r.before, r.Live)
		}
		r.bits = append(r.bits, word)
		if word != 0 {
			r.Live += int64(bits.OnesCount64(word))
			r.Stored = at + int64(bits.Len64(word))
		}
	}
}

// pack returns the bits of 64 marks: 1 for each that is not 0.
func pack(marks []byte) (word uint64) {
	for k := range 8 {
		const low = 0x0101010101010101 // the lowest bit of each byte
		x := binary.LittleEndian.Uint64(marks[8*k:])
		x |= x >> 4
		x |= x >> 2
		x |= x >> 1
		word |= (x & low) * 0x0102040810204080 >> 56 << (8 * k) // the product has these bits at its top, in order
	}
	return word
}

// Position returns the stored row of row i, which must exist.
func (r *Set) Position(i int64) int64 {
	if r.bits == nil {
		return i
	}
	g := sort.Search(len(r.before), func(g int) bool { return r.before[g] > i }) - 1
	left := int(i - r.before[g])
	for w := g * groupWords; ; w++ {
		word := r.bits[w]
		if n := bits.OnesCount64(word); left >= n {
			left -= n
			continue
		}
		for ; left > 0; left-- {
			word &= word - 1
		}
		return int64(w)*64 + int64(bits.TrailingZeros64(word))
	}
}

// IsLive reports whether a stored row is not deleted.
func (r *Set) IsLive(stored int64) bool {
	return r.bits == nil || r.bits[stored/64]&(1<<(stored%64)) != 0
}

// Runs returns the ranges of stored rows that hold the rows start to stop-1, each as long as possible.
func (r *Set) Runs(start, stop int64) iter.Seq2[int64, int64] {
	return func(yield func(from, to int64) bool) {
		if start >= stop {
			return
		}
		for p, left := r.Position(start), stop-start; left > 0; {
			to := r.runEnd(p, p+left)
			if !yield(p, to) {
				return
			}
			if left -= to - p; left > 0 {
				p = r.next(to)
			}
		}
	}
}

// runEnd returns the first stored row, starting at p, that is deleted, or limit or the number of stored rows if that is
// less. It looks at no row from limit up, because runs may be very long.
func (r *Set) runEnd(p, limit int64) int64 {
	limit = min(limit, r.Stored)
	if r.bits == nil {
		return limit
	}
	for p < limit {
		if word := ^r.bits[p/64] >> (p % 64); word != 0 {
			return min(p+int64(bits.TrailingZeros64(word)), limit)
		}
		p = (p/64 + 1) * 64
	}
	return limit
}

// next returns the first stored row, starting at p, that is not deleted. Without such a row it returns the number of
// stored rows, or more. It skips groups of deleted rows.
func (r *Set) next(p int64) int64 {
	if r.bits == nil {
		return p
	}
	for p < r.Stored {
		if word := r.bits[p/64] >> (p % 64); word != 0 {
			return p + int64(bits.TrailingZeros64(word))
		}
		w := p/64 + 1
		for g := w / groupWords; w%groupWords == 0 && g+1 < int64(len(r.before)) && r.before[g] == r.before[g+1]; g++ {
			w += groupWords
		}
		p = w * 64
	}
	return max(p, r.Stored)
}

// Windows calls see with the stored rows that hold the rows start to stop-1: from is the first of at most size, and
// live has the rows that are not deleted, relative to from, or is nil if none of them is. The row from is not deleted.
func (r *Set) Windows(start, stop, size int64, see func(from, to int64, live []int32) error) error {
	if start >= stop {
		return nil
	}
	var list []int32
	end := r.Position(stop-1) + 1
	for p := r.Position(start); p < end; p = r.next(p) {
		to := min(end, p+size)
		var live []int32
		if r.bits != nil {
			if list = r.appendLive(list[:0], p, to); int64(len(list)) < to-p {
				live = list
			}
		}
		if err := see(p, to, live); err != nil {
			return err
		}
		p = to
	}
	return nil
}

// appendLive appends the stored rows from to to-1 that are not deleted, relative to from.
func (r *Set) appendLive(list []int32, from, to int64) []int32 {
	for p := from; p < to; p = (p/64 + 1) * 64 {
		word := r.bits[p/64] >> (p % 64)
		if left := to - p; left < 64 {
			word &= 1<<left - 1
		}
		for ; word != 0; word &= word - 1 {
			list = append(list, int32(p-from)+int32(bits.TrailingZeros64(word)))
		}
	}
	return list
}

// Rank returns the number of rows before a stored row, which may be the one after the last.
func (r *Set) Rank(stored int64) int64 {
	if stored >= r.Stored {
		return r.Live
	}
	if r.bits == nil {
		return stored
	}
	word := int(stored / 64)
	n := r.before[word/groupWords]
	for w := word / groupWords * groupWords; w < word; w++ {
		n += int64(bits.OnesCount64(r.bits[w]))
	}
	return n + int64(bits.OnesCount64(r.bits[word]&(1<<(stored%64)-1)))
}
