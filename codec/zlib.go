package codec

import (
	"fmt"

	"github.com/goblosc/blosc2/codec/internal/deflate"
	"github.com/goblosc/blosc2/codec/internal/inflate"
)

// newZlibEncoder returns an encoder for zlib: deflate with a header of two bytes, and an Adler-32 at the end (RFC
// 1950).
func newZlibEncoder(p Params) (Encoder, error) { return &zlibEncoder{deflate.NewEncoder(p.Level)}, nil }

// newZlibDecoder ignores a dictionary, as the format does.
func newZlibDecoder(Params) (Decoder, error) { return new(zlibDecoder), nil }

type zlibEncoder struct{ e *deflate.Encoder }

func (e *zlibEncoder) Encode(dst, src []byte) (int, error) {
	return encoded(e.e.Encode(dst, src), src)
}

type zlibDecoder struct{ d inflate.Decoder }

// Decode ignores bytes of src after the end of the stream, as zlib's uncompress does.
func (d *zlibDecoder) Decode(dst, src []byte) error {
	return zlibError(d.d.Decode(dst, src))
}

// DecodePrefix does not compare the checksum.
func (d *zlibDecoder) DecodePrefix(dst, src []byte, n int) error {
	return zlibError(d.d.DecodePrefix(dst, src, n))
}

func zlibError(err error) error {
	if err != nil {
		return fmt.Errorf("codec: zlib: %w: %w", ErrCorrupt, err)
	}
	return nil
}
