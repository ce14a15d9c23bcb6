package codec

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
)

// ID identifies a codec in the programming interface and in frame headers. The zero value, Default, means "not set": it
// selects Zstd wherever a codec is optional. The other values are the compcode of the format plus 0x100, because the
// compcode of BloscLZ is 0.
type ID uint16

// The codecs that the format knows. The package comment describes their levels and memory. User codecs have the
// identifiers FromCode(160) to FromCode(255). From FromCode(32) up, numbers are reserved for codecs that are registered
// with Blosc; a user codec may implement one of them, too.
const (
	Default ID = 0
	BloscLZ ID = 0x100 + 0
	LZ4     ID = 0x100 + 1
	LZ4HC   ID = 0x100 + 2
	Snappy  ID = 0x100 + 3 // Blosc1 chunks only
	Zlib    ID = 0x100 + 4
	Zstd    ID = 0x100 + 5
	NDLZ    ID = 0x100 + 32 // parameter: edge of a cell, 4 or 8
	ZFPAcc  ID = 0x100 + 33 // lossy, for floats: the absolute error is at most 10 to the power of int8(parameter)
	ZFPPrec ID = 0x100 + 34 // lossy, for floats: keeps as many bits of an item as the parameter says, 1 to 64
	ZFPRate ID = 0x100 + 35 // lossy, for floats: stores the percentage of a block that the parameter says, at least 1
)

// FromCode returns the identifier of a compcode, the number that frame headers store.
func FromCode(code uint8) ID { return 0x100 + ID(code) }

// Code returns the compcode, the number that frame headers store. Default has the code of Zstd.
func (id ID) Code() uint8 {
	if id == Default {
		id = Zstd
	}
	return uint8(id)
}

// Levels with a name.
const (
	DefaultLevel  = 5
	NoCompression = -1 // level 0 in descriptions of the format: chunks are stored uncompressed
)

// Format is the number of a stream format: bits 5 to 7 of the flags of a chunk header. It differs from the compcode:
// LZ4 and LZ4HC share a format, and all codecs above 31 have FormatUser and their compcode in another byte.
type Format uint8

// The stream formats. 5 is reserved, and 7, meant for nested super-chunks, is never written.
const (
	FormatBloscLZ Format = 0
	FormatLZ4     Format = 1
	FormatSnappy  Format = 2
	FormatZlib    Format = 3
	FormatZstd    Format = 4
	FormatUser    Format = 6
)

// The errors of codecs wrap these and add what was wrong and where. For a codec or a variant of its streams that is not
// available, errors match errors.ErrUnsupported.
var (
	// ErrCorrupt is returned for a stream that does not decode to the expected number of bytes.
	ErrCorrupt = errs.ErrCorrupt
	// ErrParam is returned by Parse for an unknown name, and by NewSet for codecs that a Set cannot hold.
	ErrParam = errs.ErrParam
	// ErrIncompressible is returned if the stream does not fit in dst or is not shorter than src. Store src instead.
	ErrIncompressible = errors.New("incompressible")
)

// Params describes the streams of a chunk to its codec.
type Params struct {
	Level      int     // 1 to 9, encoders only; 0 returns errors.ErrUnsupported, and does not select 5 as elsewhere
	Meta       uint8   // parameter of the codec (compcode_meta)
	TypeSize   int     // item size in bytes; in a frame, the item size of the frame
	BlockShape []int32 // shape of a block in items, outermost first; nil if the chunk is not part of an array
	Dict       []byte  // dictionary or nil; it is retained, so it must not change
}

// Codec makes encoders and decoders. Implementations must be safe for concurrent use.
type Codec interface {
	// ID returns the identifier of the codec.
	ID() ID
	// NewEncoder returns errors.ErrUnsupported if the codec cannot use the parameters.
	NewEncoder(p Params) (Encoder, error)
	// NewDecoder returns errors.ErrUnsupported if the codec cannot use the parameters, and ErrCorrupt if the
	// dictionary, which comes from the chunk, is invalid.
	NewDecoder(p Params) (Decoder, error)
}

// Encoder compresses one stream at a time. It belongs to one goroutine; it keeps its tables between calls.
type Encoder interface {
	// Encode writes the stream for src to dst, never past len(dst), and returns the length of the stream in bytes. It
	// returns ErrIncompressible if the stream does not fit or is not shorter than src. After an error the content of
	// dst is undefined. dst and src must not overlap.
	Encode(dst, src []byte) (n int, err error)
}

// Decoder decodes one stream at a time. It belongs to one goroutine.
type Decoder interface {
	// Decode decodes src, which is untrusted, to exactly len(dst) bytes. It returns ErrCorrupt if src is not the stream
	// of len(dst) bytes. After an error the content of dst is undefined. dst and src must not overlap.
	Decode(dst, src []byte) error
}

// PrefixDecoder is a Decoder that decodes the beginning of a stream in less time than all of it.
type PrefixDecoder interface {
	Decoder
	// DecodePrefix decodes at least the first n bytes of src, a stream of len(dst) bytes, into dst, for 0 < n <
	// len(dst). The rest of dst is undefined. It returns ErrCorrupt if src does not yield n bytes, but may not detect
	// damage after them. After an error the content of dst is undefined. dst and src must not overlap.
	DecodePrefix(dst, src []byte, n int) error
}

// corrupt returns the error of a decoder of this package.
func corrupt(id ID, what string) error {
	return fmt.Errorf("codec: %v: %s: %w", id, what, ErrCorrupt)
}

// encoded turns the length of a stream, or 0 if there is none, into the result of Encode.
func encoded(n int, src []byte) (int, error) {
	if n == 0 || n >= len(src) {
		return 0, ErrIncompressible
	}
	return n, nil
}
