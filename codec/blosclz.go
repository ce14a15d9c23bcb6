package codec

import "github.com/goblosc/blosc2/codec/internal/blosclz"

// newBloscLZEncoder returns an encoder for BloscLZ. Streams are byte for byte those of C-Blosc2.
func newBloscLZEncoder(p Params) (Encoder, error) { return &blosclzEncoder{level: p.Level}, nil }

// newBloscLZDecoder ignores a dictionary, as the format does.
func newBloscLZDecoder(Params) (Decoder, error) { return blosclzDecoder{}, nil }

type blosclzEncoder struct {
	level int
	lz    blosclz.Encoder
}

func (e *blosclzEncoder) Encode(dst, src []byte) (int, error) {
	return encoded(e.lz.Encode(dst, src, e.level), src)
}

type blosclzDecoder struct{}

func (blosclzDecoder) Decode(dst, src []byte) error {
	if !blosclz.Decode(dst, src) {
		return corrupt(BloscLZ, "stream does not decode to the length of its block")
	}
	return nil
}

func (blosclzDecoder) DecodePrefix(dst, src []byte, n int) error {
	if !blosclz.DecodePrefix(dst, src, n) {
		return corrupt(BloscLZ, "stream does not decode to the beginning of its block")
	}
	return nil
}
