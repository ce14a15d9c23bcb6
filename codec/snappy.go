package codec

import (
	"fmt"

	"github.com/klauspost/compress/snappy"
)

// newSnappyDecoder returns a decoder for Snappy, which chunks of C-Blosc 1 may use.
func newSnappyDecoder(Params) (Decoder, error) { return snappyDecoder{}, nil }

type snappyDecoder struct{}

func (snappyDecoder) Decode(dst, src []byte) error {
	// The stream begins with the length of its content. If that is right, the library decodes into dst.
	n, err := snappy.DecodedLen(src)
	if err == nil && n != len(dst) {
		return corrupt(Snappy, "stream does not decode to the length of its block")
	}
	if err == nil {
		_, err = snappy.DecodeStrict(dst[:n:n], src)
	}
	if err != nil {
		return fmt.Errorf("codec: snappy: %w: %w", ErrCorrupt, err)
	}
	return nil
}
