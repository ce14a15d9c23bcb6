package codec

import (
	"fmt"

	"github.com/goblosc/blosc2/codec/internal/zfp"
)

// zfpCodec is ZFP in one of its modes: what a stream keeps of the floats of a block is bound by an error, a number of
// bits of the transformed items, or a size. Streams are bit for bit those of libzfp, padded to 8 bytes.
//
// Params.Meta is the parameter: the decimal exponent of the greatest error, with sign, for ZFPAcc; the number of bits
// for ZFPPrec; the size of a stream in percent of its block for ZFPRate.
type zfpCodec struct {
	id ID
}

func (c zfpCodec) ID() ID { return c.id }

func (c zfpCodec) NewEncoder(p Params) (Encoder, error) {
	if err := checkLevel(c.id, p); err != nil {
		return nil, err
	}
	// C-Blosc2 writes no blocks that are smaller than ZFP's cells, but reads them.
	return c.newCoder(p, 4)
}

func (c zfpCodec) NewDecoder(p Params) (Decoder, error) { return c.newCoder(p, 1) }

func (c zfpCodec) newCoder(p Params, least int32) (*zfpCoder, error) {
	if p.TypeSize != 4 && p.TypeSize != 8 {
		return nil, fmt.Errorf("codec: %v: items of %d bytes, want floats of 4 or 8: %w", c.id, p.TypeSize, ErrUnsupported)
	}
	items, err := blockItems(c.id, p, 1, 4, least)
	if err != nil {
		return nil, err
	}
	f := zfp.Field{Shape: p.BlockShape, ItemSize: p.TypeSize}
	return &zfpCoder{id: c.id, size: int64(items) * int64(p.TypeSize), zfp: zfp.NewCoder(f, c.params(p))}, nil
}

// params returns the bounds that the parameter stands for.
func (c zfpCodec) params(p Params) zfp.Params {
	dims := len(p.BlockShape)
	switch c.id {
	case ZFPAcc:
		return zfp.Accuracy(int(int8(p.Meta)))
	case ZFPPrec:
		return zfp.Precision(int(p.Meta) + 3 + 2*dims) // with those that the transform adds
	}
	return zfp.Rate(int(p.Meta), dims, p.TypeSize)
}

type zfpCoder struct {
	id   ID
	size int64 // of a block in bytes
	zfp  *zfp.Coder
}

func (c *zfpCoder) Encode(dst, src []byte) (int, error) {
	if int64(len(src)) != c.size {
		return 0, ErrIncompressible // part of a block, where blocks are split
	}
	n, err := c.zfp.Encode(dst, src)
	if err != nil {
		return 0, ErrIncompressible // the only error is lack of room
	}
	return encoded(n, src)
}

func (c *zfpCoder) Decode(dst, src []byte) error {
	if int64(len(dst)) != c.size {
		return fmt.Errorf("codec: %v: stream of %d bytes of a block of %d: %w", c.id, len(dst), c.size, ErrCorrupt)
	}
	if len(src) == 0 {
		return corrupt(c.id, "empty stream")
	}
	c.zfp.Decode(dst, src)
	return nil
}
