package chunk

import "github.com/goblosc/blosc2/internal/coder"

// Sizes and limits of the format, in bytes.
const (
	MaxOverhead  = coder.MaxOverhead  // a chunk is at most this much larger than its data, except by EncodeBlocks
	MaxBytes     = coder.MaxBytes     // largest decoded chunk
	MaxBlockSize = coder.MaxBlockSize // largest decoded block; also the largest item size of a frame
)

// Encode appends a chunk with the content src to dst. It sets up codecs for this call only. A [Coder] keeps them for
// the next call. See [Coder.Encode].
func Encode(dst, src []byte, p Params) ([]byte, error) {
	return coder.NewPool(nil).Encode(dst, src, coder.Params(p))
}

// Decode appends the content of the chunk at the start of src to dst. It sets up codecs for this call only. A [Coder]
// keeps them for the next call. See [Coder.Decode].
func Decode(dst, src []byte) ([]byte, error) {
	return coder.NewPool(nil).Decode(dst, src)
}

// EncodeSpecial appends the chunk of nbytes that represents a special value. value is the repeated item of a Value,
// whose length must divide nbytes; otherwise value is ignored. For NaNs, the item size must be 4 or 8 bytes. For NaNs
// and Uninit, it must divide nbytes. The blocks of a Value are whole values: BlockSize is rounded down to them, but to
// one at least. The error is ErrParam or ErrTooLarge.
func EncodeSpecial(dst []byte, s Special, nbytes int, value []byte, p Params) ([]byte, error) {
	return coder.EncodeSpecial(dst, s, nbytes, value, coder.Params(p))
}
