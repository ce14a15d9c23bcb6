package codec

import "github.com/goblosc/blosc2/codec/internal/blosclz"

// blosclzCodec is BloscLZ. Streams are byte for byte those of C-Blosc2.
type blosclzCodec struct{}

func (blosclzCodec) ID() ID { return BloscLZ }

func (blosclzCodec) NewEncoder(p Params) (Encoder, error) {
	if err := checkLevel(BloscLZ, p); err != nil {
		return nil, err
	}
	return &blosclzEncoder{level: p.Level}, nil
}

// NewDecoder ignores a dictionary, as the format does.
func (blosclzCodec) NewDecoder(Params) (Decoder, error) { return blosclzDecoder{}, nil }

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
		return corrupt(BloscLZ, "stream does not expand to its block")
	}
	return nil
}

func (blosclzDecoder) DecodePrefix(dst, src []byte, n int) error {
	if !blosclz.DecodePrefix(dst, src, n) {
		return corrupt(BloscLZ, "stream does not expand to the beginning of its block")
	}
	return nil
}
