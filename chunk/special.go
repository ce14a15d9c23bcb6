package chunk

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/filters"
)

// FillSpecial writes what a special chunk stands for to dst: bytes [off, off+len(dst)) of its content. value is the
// repeated item of a Value chunk, at least one byte; typeSize the item size of a NaNs chunk (4 or 8 bytes). Anything
// else is zeros.
func FillSpecial(dst []byte, s Special, value []byte, typeSize, off int) {
	switch {
	case s == NaNs:
		value = nan(typeSize)
		repeat(dst, value, off%len(value))
	case s == Value && len(value) > 0:
		repeat(dst, value, off%len(value))
	default:
		filters.Fill(dst, []byte{0})
	}
}

// nan returns the bytes of a quiet NaN.
func nan(typeSize int) []byte {
	if typeSize == 4 {
		return []byte{0, 0, 0xc0, 0x7f}
	}
	return []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}
}

// repeat fills dst with value, starting at byte phase of it.
func repeat(dst, value []byte, phase int) {
	if phase > 0 {
		dst = dst[copy(dst, value[phase:]):]
	}
	filters.Fill(dst, value)
}

// EncodeSpecial appends the chunk of nbytes that stands for a special value. value is the repeated item of a Value,
// whose length divides nbytes, and ignored otherwise. NaNs have items of 4 or 8 bytes; NaNs and Uninit are whole
// items. Errors are ErrParam or ErrTooLarge.
func EncodeSpecial(dst []byte, s Special, nbytes int, value []byte, p CParams) ([]byte, error) {
	p, err := p.normal()
	if err != nil {
		return dst, err
	}
	if nbytes < 0 || nbytes > MaxBytes {
		return dst, fmt.Errorf("chunk: %d bytes: %w", nbytes, ErrTooLarge)
	}
	h := Header{
		Version: versionRegular, VersionLZ: 1, Flags: flagExtended, TypeSize: p.cappedTypeSize(),
		NBytes: nbytes, BlockSize: p.blockSize(nbytes), CBytes: HeaderSize, Blosc2Flags: uint8(s) << specialShift,
	}
	if s != Value {
		value = nil
	}
	h.CBytes += len(value)
	ragged := s == Uninit && nbytes%h.TypeSize != 0 // the reference refuses it
	if err := h.check(int64(h.CBytes)); s == Regular || s > Uninit || ragged || err != nil {
		return dst, paramError("no %v chunk of %d bytes with items of %d", s, nbytes, p.TypeSize)
	}
	return append(h.append(dst), value...), nil
}
