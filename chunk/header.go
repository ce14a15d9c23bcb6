package chunk

import (
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
)

// Header is the decoded header of a chunk. A 16-byte header is translated to the fields of a 32-byte header:
//
//	Version     uint8
//	VersionLZ   uint8
//	Flags       uint8
//	TypeSize    int       // 1 to 255
//	NBytes      int       // size of the decoded chunk
//	BlockSize   int       // size of a decoded block, at most NBytes; not used in chunks with VLBlocks
//	CBytes      int       // size of the chunk
//	Filters     [6]Filter // slot 0 is the first to be applied when writing, the last when reading
//	Codec       uint8     // compcode
//	CodecMeta   uint8
//	Flags2      uint8
//	Blosc2Flags uint8
//
// Its methods are
//
//	Extended() bool       // reports whether the header has 32 bytes
//	Overhead() int        // size of the header in bytes
//	Special() Special     // kind of value that a chunk without streams represents
//	Stored() bool         // reports whether the chunk holds its data uncompressed and unfiltered
//	VLBlocks() bool       // reports whether the blocks have sizes of their own
//	HasDict() bool        // reports whether a dictionary is stored in the chunk
//	Format() codec.Format // format of the chunk's streams
//	NumBlocks() int       // number of blocks
type Header = coder.Header

// ParseHeader decodes and checks the header at the start of b, which may hold less than the whole chunk: at least 16
// bytes, or 32 if the header has that size. size is the number of bytes available in total, from the start of the
// chunk. The error is an *Error that wraps ErrCorrupt or errors.ErrUnsupported.
func ParseHeader(b []byte, size int64) (Header, error) { return coder.ParseHeader(b, size) }

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

// Errors of this package. They differ in what the caller can do. Test with errors.Is. A codec, filter or version that
// is not available gives an error that matches errors.ErrUnsupported: the bytes may be valid.
var (
	// ErrCorrupt is returned if the bytes violate the format. The data, or this part of it, is lost.
	ErrCorrupt = errs.ErrCorrupt
	// ErrTooLarge is returned if the content is larger than the format or Options.MaxBytes allow.
	ErrTooLarge = errs.ErrTooLarge
	// ErrParam is returned for compression parameters that the format cannot express.
	ErrParam = errs.ErrParam
)

// Error reports where in a chunk an error was found:
//
//	Block int   // block number, or -1 if the header or the block positions are wrong
//	Off   int64 // offset from the start of the chunk, in bytes
//	Err   error // the cause, which Unwrap returns; it wraps one of the errors above
type Error = coder.Error
