package codec

import (
	"fmt"

	"github.com/goblosc/blosc2/codec/internal/zfp"
	"github.com/goblosc/blosc2/internal/errs"
)

// zfpMode is a mode of ZFP. A mode bounds the loss of a stream: by an error, by a number of bits of the transformed
// items, or by a size. Streams are bit for bit those of libzfp, padded to 8 bytes.
type zfpMode struct {
	id     ID
	bounds func(meta uint8, dims, typeSize int) zfp.Params // meta is Params.Meta
}

// The modes. Depending on the mode, Params.Meta is the decimal exponent of the largest error, as an int8; the number of
// bits, without the bits that the transform adds; or the size of a stream in percent of its block.
var (
	zfpAccuracy  = zfpMode{ZFPAcc, func(meta uint8, _, _ int) zfp.Params { return zfp.Accuracy(int(int8(meta))) }}
	zfpPrecision = zfpMode{ZFPPrec, func(meta uint8, dims, _ int) zfp.Params { return zfp.Precision(int(meta) + 3 + 2*dims) }}
	zfpRate      = zfpMode{ZFPRate, func(meta uint8, dims, typeSize int) zfp.Params { return zfp.Rate(int(meta), dims, typeSize) }}
)

// newEncoder requires blocks of at least one cell: C-Blosc2 writes no smaller ones, but reads them.
func (m zfpMode) newEncoder(p Params) (Encoder, error) { return m.newCoder(p, 4) }

func (m zfpMode) newDecoder(p Params) (Decoder, error) { return m.newCoder(p, 1) }

func (m zfpMode) newCoder(p Params, least int32) (*zfpCoder, error) {
	if p.TypeSize != 4 && p.TypeSize != 8 {
		return nil, fmt.Errorf("codec: %v: items of %d bytes, want floats of 4 or 8: %w", m.id, p.TypeSize, errs.ErrUnsupported)
	}
	items, err := blockItems(m.id, p, 1, 4, least)
	if err != nil {
		return nil, err
	}
	f := zfp.Field{Shape: p.BlockShape, ItemSize: p.TypeSize}
	return &zfpCoder{id: m.id, size: int64(items) * int64(p.TypeSize), zfp: zfp.NewCoder(f, m.bounds(p.Meta, len(p.BlockShape), p.TypeSize))}, nil
}

type zfpCoder struct {
	id   ID
	size int64 // of a block in bytes
	zfp  *zfp.Coder
}

func (c *zfpCoder) Encode(dst, src []byte) (int, error) {
	if int64(len(src)) != c.size {
		return 0, ErrIncompressible // a stream of a split block
	}
	n, err := c.zfp.Encode(dst, src)
	if err != nil {
		return 0, ErrIncompressible // the only error is that dst is too short
	}
	return encoded(n, src)
}

func (c *zfpCoder) Decode(dst, src []byte) error {
	if int64(len(dst)) != c.size {
		return fmt.Errorf("codec: %v: stream of %d decoded bytes, want a block of %d: %w", c.id, len(dst), c.size, ErrCorrupt)
	}
	if len(src) == 0 {
		return corrupt(c.id, "empty stream")
	}
	c.zfp.Decode(dst, src)
	return nil
}
