package chunk

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
)

// Header describes a chunk.
type Header struct {
	Version   int     // of the format of the chunk: 1 to 6
	NBytes    int     // size of the decoded chunk in bytes
	CBytes    int     // size of the chunk in bytes
	NumBlocks int     // number of blocks
	Special   Special // the value that the chunk represents; Regular = it has streams or stored data
	Stored    bool    // the chunk holds its data uncompressed and unfiltered
	VarBlocks bool    // the blocks have sizes of their own; Params.BlockSize is 0

	// Params are the parameters that the chunk was encoded with, as far as its header has them. TypeSize is 1 to 255.
	// BlockSize is at most NBytes. Filters has 6 slots: slot 0 is the first to be applied when writing, the last when
	// reading. Level is codec.NoCompression if the chunk is stored, and 0 otherwise. Codec, Filters and Split of a
	// stored or special chunk may be others than it was encoded with.
	Params Params
}

// ParseHeader decodes and checks the header at the start of b, which may hold less than the whole chunk: at least 16
// bytes, or 32 if the header has that size. size is the number of bytes available in total, from the start of the
// chunk. It does not need the codec and the filters of the chunk. The error is an *Error that wraps ErrCorrupt or
// errors.ErrUnsupported.
func ParseHeader(b []byte, size int64) (Header, error) {
	h, err := coder.ParseHeader(b, size)
	if err != nil {
		return Header{}, err
	}
	p := Params{TypeSize: h.TypeSize, BlockSize: h.BlockSize, Codec: h.CodecID(), CodecMeta: h.CodecMeta, Filters: h.Filters[:], Dict: h.HasDict}
	if h.VLBlocks {
		p.BlockSize = 0
	}
	if h.Stored {
		p.Level = codec.NoCompression
	}
	p.Split = SplitNever
	if h.Split() {
		p.Split = SplitAlways
	}
	return Header{
		Version: int(h.Version), NBytes: h.NBytes, CBytes: h.CBytes, NumBlocks: h.NumBlocks,
		Special: h.Special, Stored: h.Stored, VarBlocks: h.VLBlocks, Params: p,
	}, nil
}

// Special is the kind of value that a chunk without streams represents. Its String method returns the name of the
// value.
type Special = coder.Special

// The special values.
const (
	Regular = coder.Regular // an ordinary chunk
	Zeros   = coder.Zeros   // zero bytes
	NaNs    = coder.NaNs    // quiet NaNs of 4 or 8 bytes
	Value   = coder.Value   // one item, repeated
	Uninit  = coder.Uninit  // unspecified content; reads as zeros
)

// Errors of this package, by what the caller can do about them. Test with errors.Is. For a codec, filter or version
// that is not available, errors match errors.ErrUnsupported: the bytes may be valid.
var (
	// ErrCorrupt is returned if the bytes violate the format. The data, or this part of it, is lost.
	ErrCorrupt = errs.ErrCorrupt
	// ErrTooLarge is returned if the content is larger than the format or Coder.MaxBytes allow.
	ErrTooLarge = errs.ErrTooLarge
	// ErrParam is returned for parameters that the format cannot express, and for codecs and filters that a Coder
	// cannot use.
	ErrParam = errs.ErrParam
)

// Error reports where in a chunk an error was found:
//
//	Block int   // block number, or -1 if the header or the block positions are wrong
//	Off   int64 // offset from the start of the chunk, in bytes
//	Err   error // the cause, which Unwrap returns; it wraps one of the errors above
type Error = coder.Error
