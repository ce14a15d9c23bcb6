package codec

import (
	"fmt"

	"github.com/klauspost/compress/snappy"
)

// snappyCodec is Snappy, which chunks of C-Blosc 1 may use. It only decodes.
type snappyCodec struct{}

func (snappyCodec) ID() ID { return Snappy }

func (snappyCodec) NewEncoder(Params) (Encoder, error) {
	return nil, fmt.Errorf("codec: snappy: encoding: %w", ErrUnsupported)
}

func (snappyCodec) NewDecoder(Params) (Decoder, error) { return snappyDecoder{}, nil }

type snappyDecoder struct{}

func (snappyDecoder) Decode(dst, src []byte) error {
	// The length stands in front; with the right one the library decodes into dst.
	n, err := snappy.DecodedLen(src)
	if err == nil && n != len(dst) {
		return corrupt(Snappy, "stream does not expand to its block")
	}
	if err == nil {
		_, err = snappy.DecodeStrict(dst[:n:n], src)
	}
	if err != nil {
		return fmt.Errorf("codec: snappy: %w: %w", ErrCorrupt, err)
	}
	return nil
}
