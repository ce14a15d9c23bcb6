package frame

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
)

// entry is one element of the index: where a chunk is (a position relative to the end of the header, or a file
// number in sparse frames), or, when negative, the special value that it represents.
type entry int64

// The special entries, as the format has them: the sign bit and the kind in the top byte.
const (
	entryZeros  entry = math.MinInt64 | 1<<56
	entryNaNs   entry = math.MinInt64 | 2<<56
	entryUninit entry = math.MinInt64 | 4<<56
)

// special returns the value that a negative entry represents; an entry that is a position is chunk.Regular.
func (e entry) special() (chunk.Special, error) {
	if e >= 0 {
		return chunk.Regular, nil
	}
	// The order of the reference's tests, which look at single bits.
	switch top := uint64(e) >> 56 & 0x7f; {
	case top&1 != 0:
		return chunk.Zeros, nil
	case top&4 != 0:
		return chunk.Uninit, nil
	case top&2 != 0:
		return chunk.NaNs, nil
	}
	return 0, corrupt("index entry %#x", uint64(e))
}

// specialEntry returns the entry of a special value that the index can hold.
func specialEntry(s chunk.Special) (entry, bool) {
	switch s {
	case chunk.Zeros:
		return entryZeros, true
	case chunk.NaNs:
		return entryNaNs, true
	case chunk.Uninit:
		return entryUninit, true
	}
	return 0, false
}

// index is the list of chunks. A frame that was filled with one special value has one entry for all; it costs no
// memory however many chunks there are.
type index struct {
	n         int
	uniform   entry    // of all chunks, when list is nil
	list      []entry  // never changed; only the newest snapshot appends to it
	checksums []uint32 // CRC-32C of the stored chunks in list, 0 for special entries; nil = not known
}

func (x *index) at(i int) entry {
	if x.list == nil {
		return x.uniform
	}
	return x.list[i]
}

// entries returns the list, which the caller may append to but not change.
func (x *index) entries() []entry {
	if x.list != nil || x.n == 0 {
		return x.list
	}
	list := make([]entry, x.n)
	for i := range list {
		list[i] = x.uniform
	}
	return list
}

func newIndex(list []entry, checksums []uint32) index {
	return index{n: len(list), list: list, checksums: checksums}
}

// append writes the index chunk; an empty index has none.
func (x *index) append(dst []byte, p *coder.Pool) ([]byte, error) {
	if x.n == 0 {
		return dst, nil
	}
	if x.n > chunk.MaxBytes/8 {
		return dst, fmt.Errorf("%d chunks: %w", x.n, ErrTooLarge)
	}
	if x.list == nil {
		value := binary.LittleEndian.AppendUint64(nil, uint64(x.uniform))
		return coder.EncodeSpecial(dst, chunk.Value, 8*x.n, value, coder.IndexParams())
	}
	plain := make([]byte, 0, 8*x.n)
	for _, e := range x.list {
		plain = binary.LittleEndian.AppendUint64(plain, uint64(e))
	}
	return p.Encode(dst, plain, coder.IndexParams())
}

// parseIndex reads the index chunk at the start of b. want is the number of chunks, or -1 when only the index
// knows; most the largest number allowed, or 0.
func parseIndex(b []byte, want int64, most int, p *coder.Pool) (index, error) {
	h, err := coder.ParseHeader(b, int64(len(b)))
	if err != nil {
		return index{}, err
	}
	if want >= 0 && int64(h.NBytes) != 8*want || h.NBytes%8 != 0 || h.NBytes == 0 {
		return index{}, corrupt("index of %d bytes for %d chunks", h.NBytes, want)
	}
	n := h.NBytes / 8
	if most > 0 && n > most {
		return index{}, fmt.Errorf("%d chunks, OpenOptions.MaxChunks allows %d: %w", n, most, ErrTooLarge)
	}
	if h.Special() == chunk.Value && h.CBytes == coder.HeaderSize+8 {
		if e := entry(binary.LittleEndian.Uint64(b[coder.HeaderSize:])); e < 0 {
			return index{n: n, uniform: e}, nil
		}
	}
	// Chunks have a position each, so that an index compresses only so far; a few bytes must not ask for much memory.
	if most := max(1<<20, 4096*int64(h.CBytes)); int64(h.NBytes) > most && p.Options().MaxBytes >= 0 {
		return index{}, fmt.Errorf("index of %d bytes in %d: %w", h.NBytes, h.CBytes, ErrTooLarge)
	}
	plain, err := p.Decode(nil, b)
	if err != nil {
		return index{}, err
	}
	list := make([]entry, n)
	for i := range list {
		list[i] = entry(binary.LittleEndian.Uint64(plain[8*i:]))
	}
	return newIndex(list, nil), nil
}

// storedEntries returns the entries of stored chunks, in order, and whether one occurs twice.
func (x *index) storedEntries() (list []entry, shared bool) {
	if x.list == nil {
		if x.n > 0 && x.uniform >= 0 {
			return []entry{x.uniform}, x.n > 1
		}
		return nil, false
	}
	list = make([]entry, 0, x.n)
	for _, e := range x.list {
		if e >= 0 {
			list = append(list, e)
		}
	}
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		shared = shared || list[i] == list[i-1]
	}
	return list, shared
}

// isIndex reports whether a chunk may be an index.
func isIndex(h *coder.Header) bool { return h.TypeSize == 8 && h.NBytes%8 == 0 && !h.VLBlocks() }
