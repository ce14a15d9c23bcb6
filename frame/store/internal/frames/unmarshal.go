package frames

import (
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// Bytes that decoding takes at most: for a value, for a map besides its values, and for a byte of MessagePack.
const (
	valueMemory = 64
	mapMemory   = 512
	mostMemory  = 512
)

// Unmarshal is meta.Unmarshal for an item or a metalayer of f. It returns ErrTooLarge if f does not justify the memory
// of the values.
func Unmarshal(f *frame.Frame, raw []byte, v any) error {
	if f.CheckAlloc(mostMemory*int64(len(raw))) != nil {
		n, err := DecodedMemory(raw)
		if err == nil {
			err = f.CheckAlloc(n)
		}
		if err != nil {
			return fmt.Errorf("decoding %d bytes of MessagePack: %w", len(raw), err)
		}
	}
	return meta.Unmarshal(raw, v)
}

// DecodedMemory returns the number of bytes that the values in b take at most when they are decoded: many times the
// bytes of MessagePack, if the values are short or maps.
func DecodedMemory(b []byte) (int64, error) {
	total := int64(len(b))
	for len(b) > 0 {
		size, values, err := valueHeader(b)
		if err != nil {
			return 0, err
		}
		total += valueMemory
		if c := b[0]; values > 0 && (c <= 0x8f || c >= 0xde) {
			total += mapMemory
		}
		b = b[min(size, int64(len(b))):]
	}
	return total, nil
}
