package chunk

import "github.com/goblosc/blosc2/internal/coder"

// Sizes and limits of the format, in bytes.
const (
	MaxOverhead  = coder.MaxOverhead  // a chunk is at most this much larger than its data
	MaxBytes     = coder.MaxBytes     // largest decoded chunk
	MaxBlockSize = coder.MaxBlockSize // largest decoded block; also the largest item size of a frame
)

// Encode appends a chunk with the content src to dst. It creates codecs for this one call, where a [Pool] would keep
// them. See [Pool.Encode].
func Encode(dst, src []byte, c Params, o *Options) ([]byte, error) {
	return coder.Encode(dst, src, coder.Params(c), (*coder.Options)(o))
}

// Decode appends the content of the chunk at the start of src to dst. It creates codecs for this one call, where a
// [Pool] would keep them. See [Pool.Decode].
func Decode(dst, src []byte, o *Options) ([]byte, error) {
	return coder.Decode(dst, src, (*coder.Options)(o))
}

// EncodeVL appends a chunk whose blocks have sizes of their own. See [Pool.EncodeVL].
func EncodeVL(dst []byte, blocks [][]byte, c Params, o *Options) ([]byte, error) {
	return coder.EncodeVL(dst, blocks, coder.Params(c), (*coder.Options)(o))
}

// DecodeVL returns the blocks of the chunk at the start of src. See [Pool.DecodeVL].
func DecodeVL(src []byte, o *Options) ([][]byte, error) {
	return coder.DecodeVL(src, (*coder.Options)(o))
}

// EncodeSpecial appends the chunk of nbytes that represents a special value. value is the repeated item of a Value,
// whose length must divide nbytes; otherwise value is ignored. For NaNs, the item size must be 4 or 8 bytes. For NaNs
// and Uninit, it must divide nbytes. The error is ErrParam or ErrTooLarge.
func EncodeSpecial(dst []byte, s Special, nbytes int, value []byte, p Params) ([]byte, error) {
	return coder.EncodeSpecial(dst, s, nbytes, value, coder.Params(p))
}

// Pool encodes and decodes chunks, and keeps codecs and memory between calls. It is safe for concurrent use.
type Pool struct{ p *coder.Pool }

// NewPool returns a pool that uses o, which may be nil.
func NewPool(o *Options) *Pool { return &Pool{coder.NewPool((*coder.Options)(o))} }

// Options returns the options of the pool. The caller must not change them.
func (p *Pool) Options() *Options { return (*Options)(p.p.Options()) }

// Encode appends a chunk with the content src to dst, on up to Options.Concurrency goroutines. The bytes do not depend
// on the number of goroutines. They equal the bytes that C-Blosc2 writes with one thread if the codec writes the same
// streams. A chunk of zeros is encoded as a special value. The error wraps ErrParam, errors.ErrUnsupported or
// ErrTooLarge, or is an error of a user codec or user filter.
func (p *Pool) Encode(dst, src []byte, c Params) ([]byte, error) {
	return p.p.Encode(dst, src, coder.Params(c))
}

// Decode appends the content of the chunk at the start of src to dst, on up to Options.Concurrency goroutines. It
// ignores bytes after the chunk. The error is an *Error that wraps ErrCorrupt, errors.ErrUnsupported or ErrTooLarge, or
// an error of a user codec or user filter.
func (p *Pool) Decode(dst, src []byte) ([]byte, error) { return p.p.Decode(dst, src) }

// EncodeVL appends a chunk with at least one block, whose blocks have sizes of their own, from 1 byte up. It ignores
// the parameters BlockSize and Split: each block is one stream. Delta does not refer to other blocks. With
// NoCompression the blocks are only filtered. The chunk can be larger than its data, by 8 bytes a block and the header.
// The error wraps ErrParam, errors.ErrUnsupported or ErrTooLarge, or is an error of a user codec or user filter.
func (p *Pool) EncodeVL(dst []byte, blocks [][]byte, c Params) ([]byte, error) {
	return p.p.EncodeVL(dst, blocks, coder.Params(c))
}

// DecodeVL returns the blocks of the chunk at the start of src, which may be any chunk. The blocks share memory. The
// errors are those of [Pool.Decode].
func (p *Pool) DecodeVL(src []byte) ([][]byte, error) { return p.p.DecodeVL(src) }
