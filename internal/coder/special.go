package coder

import (
	"encoding/binary"
	"fmt"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
)

// FillSpecial writes bytes [off, off+len(dst)) of the content of a special chunk to dst. value is the repeated item of
// a Value chunk, at least one byte. typeSize is the item size of a NaNs chunk (4 or 8 bytes). Every other chunk is
// filled with zeros.
func FillSpecial(dst []byte, s Special, value []byte, typeSize, off int) {
	fillSpecial(dst, s, value, typeSize, off, false)
}

// fillSpecial is FillSpecial. If uncached is set, it writes past the caches.
func fillSpecial(dst []byte, s Special, value []byte, typeSize, off int, uncached bool) {
	switch {
	case s == NaNs:
		value = nan(typeSize)
		repeat(dst, value, off%len(value), uncached)
	case s == Value && len(value) > 0:
		repeat(dst, value, off%len(value), uncached)
	default:
		repeat(dst, []byte{0}, 0, uncached)
	}
}

// CheckItems returns ErrCorrupt if a special chunk does not repeat one item of itemSize bytes. value is the length of
// the repeated value of a Value chunk, and typeSize is the item size of a NaNs chunk.
func CheckItems(s Special, value, typeSize, itemSize int) error {
	n := 1
	switch s {
	case Value:
		n = value
	case NaNs:
		n = typeSize
	}
	if itemSize%n != 0 {
		return fmt.Errorf("special chunk (%v) repeats %d bytes, but items have %d: %w", s, n, itemSize, errs.ErrCorrupt)
	}
	return nil
}

// nan returns the bytes of a quiet NaN.
func nan(typeSize int) []byte {
	if typeSize == 4 {
		return []byte{0, 0, 0xc0, 0x7f}
	}
	return []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}
}

// repeat fills dst with copies of value, starting at byte phase of value.
func repeat(dst, value []byte, phase int, uncached bool) {
	if phase > 0 {
		dst = dst[copy(dst, value[phase:]):]
	}
	if uncached {
		filters.FillUncached(dst, value)
	} else {
		filters.Fill(dst, value)
	}
}

// fill fills dst with the content, from byte at up, of a stored or special chunk in memory. If uncached is set, it
// writes special values past the caches.
func (h *Header) fill(dst, chunk []byte, at int, uncached bool) {
	if s := h.Special; s != Regular {
		fillSpecial(dst, s, h.item(chunk), h.TypeSize, at, uncached)
		return
	}
	at += h.Overhead
	filters.Copy(dst, chunk[at:at+len(dst)])
}

// item returns the repeated item of a Value chunk, and nil for other chunks.
func (h *Header) item(chunk []byte) []byte {
	if h.Special == Value {
		return chunk[HeaderSize:h.CBytes]
	}
	return nil
}

// EncodeSpecial appends the chunk of nbytes that represents a special value. value is the repeated item of a Value,
// whose length divides nbytes, and is ignored otherwise. NaNs have items of 4 or 8 bytes; NaNs and Uninit are whole
// items. Errors are ErrParam or ErrTooLarge.
func EncodeSpecial(dst []byte, s Special, nbytes int, value []byte, p Params) ([]byte, error) {
	n, err := p.normal(Plugins{})
	if err != nil {
		return dst, err
	}
	if s == Uninit && nbytes%CappedTypeSize(n.TypeSize) != 0 { // C-Blosc2 rejects it
		return dst, paramError("no %v chunk of %d bytes with items of %d", s, nbytes, p.TypeSize)
	}
	return n.special(dst, s, nbytes, value)
}

// EncodeZeros returns a chunk of nbytes of zeros that is not special: each block is stored as a stream of zeros. The
// chunk is small: the blocks are larger than blockSize if there would be more than 65536 of them. Errors are
// ErrTooLarge.
func EncodeZeros(nbytes, typeSize, blockSize int) ([]byte, error) {
	if blocksIn(nbytes, max(blockSize, 1)) > 1<<16 {
		blockSize = 256 << 10
	}
	l, err := Params{
		Codec: codec.BloscLZ, Level: 1, TypeSize: typeSize, BlockSize: blockSize, Filters: []Filter{}, Split: SplitNever,
	}.Layout(nbytes)
	if err != nil {
		return nil, err
	}
	h := l.Header
	if l.Stored {
		h.CBytes = HeaderSize + nbytes
		return append(h.append(nil), make([]byte, nbytes)...), nil
	}
	starts := HeaderSize + 4*l.NumBlocks
	h.CBytes = starts + 4*l.NumBlocks
	out := h.append(make([]byte, 0, h.CBytes))
	for k := range l.NumBlocks {
		out = binary.LittleEndian.AppendUint32(out, uint32(starts+4*k))
	}
	return out[:h.CBytes], nil // each stream is only a length of 0
}

// IndexedSpecial returns the chunk of nbytes that a special value in the index of a frame represents. s must not be
// Value. It is for reading, so it accepts parameters that only writing rejects, such as a filter that cannot be
// encoded. Errors are ErrParam or ErrTooLarge.
func IndexedSpecial(s Special, nbytes int, p Params) ([]byte, error) {
	if s == Value || p.TypeSize < 1 || p.TypeSize > MaxBlockSize || p.BlockSize < 0 || p.BlockSize > MaxBlockSize {
		return nil, paramError("no %v chunk with items of %d bytes and blocks of %d", s, p.TypeSize, p.BlockSize)
	}
	if p.Codec == codec.Default {
		p.Codec = codec.Zstd
	}
	p.Level = min(max(p.Level, 0), 9)
	if len(p.Filters) > NumFilters {
		p.Filters = p.Filters[:NumFilters]
	}
	n := normalParams{Params: p, traits: Plugins{}.traits(p.Codec)}
	n.setPipeline()
	return n.special(nil, s, nbytes, nil)
}

// special is EncodeSpecial with checked parameters.
func (p *normalParams) special(dst []byte, s Special, nbytes int, value []byte) ([]byte, error) {
	if nbytes < 0 || nbytes > MaxBytes {
		return dst, fmt.Errorf("chunk: %d bytes: %w", nbytes, errs.ErrTooLarge)
	}
	h := Header{
		Version: versionRegular, VersionLZ: 1, Overhead: HeaderSize, TypeSize: CappedTypeSize(p.TypeSize),
		NBytes: nbytes, BlockSize: p.blockSize(nbytes), CBytes: HeaderSize, Special: s,
	}
	if s != Value {
		value = nil
	}
	h.CBytes += len(value)
	if n := len(value); n > 0 { // C-Blosc2 rejects blocks that end within a value
		h.BlockSize = max(h.BlockSize-h.BlockSize%n, n)
	}
	if err := h.check(int64(h.CBytes), 0, 0); s == Regular || s > Uninit || err != nil {
		return dst, paramError("no %v chunk of %d bytes with items of %d", s, nbytes, p.TypeSize)
	}
	return append(h.append(dst), value...), nil
}
