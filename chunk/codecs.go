package chunk

import (
	"github.com/goblosc/blosc2/codec"
)

// CodecID names a codec; see package codec.
type CodecID = codec.ID

// CodecSet is an immutable set of codecs; see package codec.
type CodecSet = codec.Set

// CodecFromCode returns the codec with a compcode, the number that headers store.
func CodecFromCode(code uint8) CodecID { return codec.FromCode(code) }

// IndexParams are the parameters that C-Blosc2 compresses the index of a frame with.
func IndexParams() CParams {
	return CParams{TypeSize: 8, BlockSize: 16 << 10, Codec: codec.BloscLZ, Level: 5, Split: SplitNever}
}

// Shaped tells whether the codec or a filter works on the shape of blocks, in arrays, and not on their bytes alone.
func (p CParams) Shaped() bool {
	if p.traits().Shaped {
		return true
	}
	for _, f := range p.Filters {
		if f.ID == NDCell || f.ID == NDMean {
			return true
		}
	}
	return false
}
