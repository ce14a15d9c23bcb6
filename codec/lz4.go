package codec

import (
	"github.com/goblosc/blosc2/codec/internal/lz4"
	"github.com/goblosc/blosc2/codec/internal/lz4dict"
	"github.com/goblosc/blosc2/codec/internal/lz4hc"
)

// lz4Window is the largest distance of an LZ4 match in bytes.
const lz4Window = 64 << 10

// newLZ4Encoder returns an encoder for LZ4. Without a dictionary, streams are byte for byte those of LZ4_compress_fast
// with acceleration 10-level, which C-Blosc2 calls.
func newLZ4Encoder(p Params) (Encoder, error) {
	if len(p.Dict) > 0 {
		return lz4DictEncoder{lz4dict.NewEncoder(p.Dict, 10-p.Level)}, nil
	}
	return &lz4Encoder{acceleration: 10 - p.Level}, nil
}

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

// newLZ4HCEncoder returns an encoder with longer searches for the format of LZ4. Without a dictionary, streams are byte
// for byte those of LZ4_compress_HC with the level, which C-Blosc2 calls.
func newLZ4HCEncoder(p Params) (Encoder, error) {
	if len(p.Dict) > 0 {
		return lz4hcEncoder{lz4hc.NewDictEncoder(p.Level, p.Dict)}, nil
	}
	return lz4hcEncoder{lz4hc.NewEncoder(p.Level)}, nil
}

type lz4hcEncoder struct {
	lz *lz4hc.Encoder
}

func (e lz4hcEncoder) Encode(dst, src []byte) (int, error) {
	return encoded(e.lz.Encode(dst, src), src)
}

// lz4Decoder decodes LZ4 streams. dict is history that matches may refer to, or empty.
type lz4Decoder struct{ dict []byte }

// newLZ4Decoder returns a decoder for the streams of LZ4 and LZ4HC: a codecs.BatchDecoder if that is faster.
func newLZ4Decoder(p Params) (Decoder, error) {
	var d lz4Decoder
	d.SetDict(p.Dict)
	if lz4.BatchIsFaster() {
		return &lz4BatchDecoder{d}, nil
	}
	return &d, nil
}

// SetDict makes d a [codecs.DictDecoder].
func (d *lz4Decoder) SetDict(dict []byte) error {
	d.dict = dict[max(0, len(dict)-lz4Window):]
	return nil
}

func (d *lz4Decoder) Decode(dst, src []byte) error {
	if len(src) == 0 {
		return corrupt(LZ4, "empty stream")
	}
	if !lz4.Decode(dst, src, d.dict) {
		return corrupt(LZ4, "stream does not decode to the length of its block")
	}
	return nil
}

func (d *lz4Decoder) DecodePrefix(dst, src []byte, n int) error {
	if len(src) == 0 {
		return corrupt(LZ4, "empty stream")
	}
	if !lz4.DecodePrefix(dst, src, d.dict, n) {
		return corrupt(LZ4, "stream does not decode to the beginning of its block")
	}
	return nil
}

// lz4BatchDecoder is an lz4Decoder that decodes two streams at a time.
type lz4BatchDecoder struct{ lz4Decoder }

// BatchesPlanes returns false: byte planes have occasional long matches, and branches are predicted better in one
// stream than in two.
func (d *lz4BatchDecoder) BatchesPlanes() bool { return false }

// DecodeBatch decodes all of each stream.
func (d *lz4BatchDecoder) DecodeBatch(dst, src [][]byte, _ []int) error {
	for _, s := range src {
		if len(s) == 0 {
			return corrupt(LZ4, "empty stream")
		}
	}
	if !lz4.DecodeAll(dst, src, d.dict) {
		return corrupt(LZ4, "a stream does not decode to the length of its block")
	}
	return nil
}
