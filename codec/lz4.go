package codec

import (
	"github.com/goblosc/blosc2/codec/internal/lz4"
	"github.com/goblosc/blosc2/codec/internal/lz4dict"
	"github.com/goblosc/blosc2/codec/internal/lz4hc"
)

// lz4Window is how far back an LZ4 match can reach.
const lz4Window = 64 << 10

// lz4Codec is LZ4. Streams are byte for byte those of LZ4_compress_fast with acceleration 10-level, which is
// what C-Blosc2 calls.
type lz4Codec struct{}

func (lz4Codec) ID() ID { return LZ4 }

func (lz4Codec) NewEncoder(p Params) (Encoder, error) {
	if err := checkLevel(LZ4, p); err != nil {
		return nil, err
	}
	if len(p.Dict) > 0 {
		return lz4DictEncoder{lz4dict.NewEncoder(p.Dict, 10-p.Level)}, nil
	}
	return &lz4Encoder{acceleration: 10 - p.Level}, nil
}

func (lz4Codec) NewDecoder(p Params) (Decoder, error) { return newLZ4Decoder(LZ4, p), nil }

type lz4Encoder struct {
	lz           lz4.Encoder
	acceleration int
}

func (e *lz4Encoder) Encode(dst, src []byte) (int, error) {
	return encoded(e.lz.Encode(dst, src, e.acceleration), src)
}

// lz4DictEncoder is LZ4 with a dictionary. Its streams are not those of the C library.
type lz4DictEncoder struct {
	lz *lz4dict.Encoder
}

func (e lz4DictEncoder) Encode(dst, src []byte) (int, error) {
	return encoded(e.lz.Encode(dst, src), src)
}

// lz4hcCodec is LZ4 with longer searches. Streams are byte for byte those of LZ4_compress_HC with the level, which
// is what C-Blosc2 calls; they have the format of LZ4.
type lz4hcCodec struct{}

func (lz4hcCodec) ID() ID { return LZ4HC }

func (lz4hcCodec) NewEncoder(p Params) (Encoder, error) {
	if err := checkLevel(LZ4HC, p); err != nil {
		return nil, err
	}
	if len(p.Dict) > 0 {
		return lz4hcEncoder{lz4hc.NewDictEncoder(p.Level, p.Dict)}, nil
	}
	return lz4hcEncoder{lz4hc.NewEncoder(p.Level)}, nil
}

func (lz4hcCodec) NewDecoder(p Params) (Decoder, error) { return newLZ4Decoder(LZ4HC, p), nil }

type lz4hcEncoder struct {
	lz *lz4hc.Encoder
}

func (e lz4hcEncoder) Encode(dst, src []byte) (int, error) {
	return encoded(e.lz.Encode(dst, src), src)
}

// lz4Decoder decodes the streams of LZ4 and LZ4HC. dict is history that matches may reach into, or empty.
type lz4Decoder struct {
	id   ID
	dict []byte
}

// newLZ4Decoder returns a BatchDecoder where that is the faster way.
func newLZ4Decoder(id ID, p Params) Decoder {
	d := lz4Decoder{id: id, dict: p.Dict[max(0, len(p.Dict)-lz4Window):]}
	if lz4.DecodeAllPays() {
		return &lz4BatchDecoder{d}
	}
	return &d
}

func (d *lz4Decoder) Decode(dst, src []byte) error {
	if len(src) == 0 {
		return corrupt(d.id, "empty stream")
	}
	if !lz4.Decode(dst, src, d.dict) {
		return corrupt(d.id, "stream does not expand to its block")
	}
	return nil
}

func (d *lz4Decoder) DecodePrefix(dst, src []byte, n int) error {
	if len(src) == 0 {
		return corrupt(d.id, "empty stream")
	}
	if !lz4.DecodePrefix(dst, src, d.dict, n) {
		return corrupt(d.id, "stream does not expand to the beginning of its block")
	}
	return nil
}

// lz4BatchDecoder is an lz4Decoder that expands two streams at a time.
type lz4BatchDecoder struct{ lz4Decoder }

// PlanesPay returns false: planes have long matches here and there, which processors foresee better in one stream than
// in two.
func (d *lz4BatchDecoder) PlanesPay() bool { return false }

// DecodeBatch expands all of each.
func (d *lz4BatchDecoder) DecodeBatch(dst, src [][]byte, _ []int) error {
	for _, s := range src {
		if len(s) == 0 {
			return corrupt(d.id, "empty stream")
		}
	}
	if !lz4.DecodeAll(dst, src, d.dict) {
		return corrupt(d.id, "a stream does not expand to its block")
	}
	return nil
}
