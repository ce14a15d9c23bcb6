package chunk

import "github.com/goblosc/blosc2/internal/coder"

// Sizes and limits of the format, in bytes.
const (
	MaxOverhead  = coder.MaxOverhead  // a chunk is at most this much larger than its data
	MaxBytes     = coder.MaxBytes     // largest decoded chunk
	MaxBlockSize = coder.MaxBlockSize // largest decoded block; also the largest item size of a frame
)

// Encode appends a chunk with the content src to dst. It sets up codecs for this one call; a [Pool] keeps them for the
// next. See [Pool.Encode].
func Encode(dst, src []byte, c CParams, o *Options) ([]byte, error) {
	return coder.Encode(dst, src, coder.CParams(c), (*coder.Options)(o))
}

// Decode appends the content of the chunk at the start of src to dst. It sets up codecs for this one call; a [Pool]
// keeps them for the next. See [Pool.Decode].
func Decode(dst, src []byte, o *Options) ([]byte, error) {
	return coder.Decode(dst, src, (*coder.Options)(o))
}

// EncodeVL appends a chunk whose blocks have sizes of their own. See [Pool.EncodeVL].
func EncodeVL(dst []byte, blocks [][]byte, c CParams, o *Options) ([]byte, error) {
	return coder.EncodeVL(dst, blocks, coder.CParams(c), (*coder.Options)(o))
}

// DecodeVL returns the blocks of the chunk at the start of src. See [Pool.DecodeVL].
func DecodeVL(src []byte, o *Options) ([][]byte, error) {
	return coder.DecodeVL(src, (*coder.Options)(o))
}

// EncodeSpecial appends the chunk of nbytes that represents a special value. value is the repeated item of a Value,
// whose length divides nbytes, and is ignored otherwise. NaNs have items of 4 or 8 bytes; NaNs and Uninit are whole
// items. Errors are ErrParam or ErrTooLarge.
func EncodeSpecial(dst []byte, s Special, nbytes int, value []byte, p CParams) ([]byte, error) {
	return coder.EncodeSpecial(dst, s, nbytes, value, coder.CParams(p))
}

// Pool encodes and decodes chunks, and keeps codecs and memory between calls. It is safe for concurrent use.
type Pool struct{ p *coder.Pool }

// NewPool returns a pool that uses o, which may be nil.
func NewPool(o *Options) *Pool { return &Pool{coder.NewPool((*coder.Options)(o))} }

// Options returns the options of the pool. The caller must not change them.
func (p *Pool) Options() *Options { return (*Options)(p.p.Options()) }

// Encode appends a chunk with the content src to dst, on up to Options.Concurrency goroutines; the bytes do not
// depend on their number. They are those of C-Blosc2 with one thread where the codec's streams are. A chunk of
// zeros is encoded as a special value. Errors are ErrParam, ErrUnsupported or ErrTooLarge.
func (p *Pool) Encode(dst, src []byte, c CParams) ([]byte, error) {
	return p.p.Encode(dst, src, coder.CParams(c))
}

// Decode appends the content of the chunk at the start of src to dst, on up to Options.Concurrency goroutines.
// Bytes after the chunk are ignored. Errors are ErrCorrupt, ErrUnsupported or ErrTooLarge, in an *Error.
func (p *Pool) Decode(dst, src []byte) ([]byte, error) { return p.p.Decode(dst, src) }

// EncodeVL appends a chunk whose blocks have sizes of their own, any from 1 byte up; there is at least one. The
// parameters BlockSize and Split do not matter: each block is one stream, and Delta is within each block. With
// NoCompression the blocks go through the filters only. The chunk can be larger than its data, by 8 bytes a block and
// the header. Errors are ErrParam, ErrUnsupported or ErrTooLarge, or those of user filters.
func (p *Pool) EncodeVL(dst []byte, blocks [][]byte, c CParams) ([]byte, error) {
	return p.p.EncodeVL(dst, blocks, coder.CParams(c))
}

// DecodeVL returns the blocks of the chunk at the start of src, which may be any chunk. The blocks share memory.
// Errors are those of [Pool.Decode].
func (p *Pool) DecodeVL(src []byte) ([][]byte, error) { return p.p.DecodeVL(src) }
