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

// Unmarshal is meta.Unmarshal for an item of f. Decoding takes many times the memory of short values and of maps, so it
// returns ErrTooLarge if f does not justify that.
func Unmarshal(f *frame.Frame, raw []byte, v any) error {
	if f.CheckAlloc(mostMemory*int64(len(raw))) != nil {
		n, err := decodedMemory(raw)
		if err == nil {
			err = f.CheckAlloc(n)
		}
		if err != nil {
			return fmt.Errorf("decoding %d bytes of MessagePack: %w", len(raw), err)
		}
	}
	return meta.Unmarshal(raw, v)
}

// decodedMemory returns the number of bytes that the values in b take at most when they are decoded.
func decodedMemory(b []byte) (int64, error) {
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
