package codec

import (
	"errors"
	"fmt"
)

// ID names a codec in the programming interface and in frame headers. The zero value, Default, means "not set"
// and stands for Zstd wherever a codec may be left out; the other values are the compcode of the format plus
// 0x100, so that BloscLZ, whose compcode is 0, can be told from "not set".
type ID uint16

// The codecs that the format knows. User codecs have the identifiers FromCode(160) to FromCode(255).
const (
	Default ID = 0
	BloscLZ ID = 0x100 + 0
	LZ4     ID = 0x100 + 1
	LZ4HC   ID = 0x100 + 2
	Snappy  ID = 0x100 + 3 // Blosc1 chunks only
	Zlib    ID = 0x100 + 4
	Zstd    ID = 0x100 + 5
	NDLZ    ID = 0x100 + 32
	ZFPAcc  ID = 0x100 + 33 // ZFP with a fixed accuracy
	ZFPPrec ID = 0x100 + 34 // ZFP with a fixed precision
	ZFPRate ID = 0x100 + 35 // ZFP with a fixed rate
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

// String returns the name of a codec as the b2 command spells it, or "codec N" with its compcode.
func (id ID) String() string {
	switch id {
	case Default:
		return "default"
	case BloscLZ:
		return "blosclz"
	case LZ4:
		return "lz4"
	case LZ4HC:
		return "lz4hc"
	case Snappy:
		return "snappy"
	case Zlib:
		return "zlib"
	case Zstd:
		return "zstd"
	case NDLZ:
		return "ndlz"
	case ZFPAcc:
		return "zfp_acc"
	case ZFPPrec:
		return "zfp_prec"
	case ZFPRate:
		return "zfp_rate"
	case FromCode(36):
		return "openhtj2k"
	case FromCode(37):
		return "grok"
	case FromCode(38):
		return "openzl"
	}
	return fmt.Sprintf("codec %d", uint8(id))
}

// Format returns the stream format of a codec, as chunk headers record it.
func (id ID) Format() Format {
	switch id {
	case BloscLZ:
		return FormatBloscLZ
	case LZ4, LZ4HC:
		return FormatLZ4
	case Snappy:
		return FormatSnappy
	case Zlib:
		return FormatZlib
	case Zstd, Default:
		return FormatZstd
	}
	return FormatUser
}

// Format is the number of a stream format: bits 5 to 7 of the flags of a chunk header. It differs from the
// compcode: LZ4 and LZ4HC share one, and all codecs above 31 are FormatUser with their code in another byte.
type Format uint8

// The stream formats. 5 is reserved; 7 was meant for nested super-chunks and is never written.
const (
	FormatBloscLZ Format = 0
	FormatLZ4     Format = 1
	FormatSnappy  Format = 2
	FormatZlib    Format = 3
	FormatZstd    Format = 4
	FormatUser    Format = 6
)

// Errors. Test with errors.Is; codecs add what was wrong and where.
var (
	// ErrCorrupt: the stream does not decode to the expected number of bytes.
	ErrCorrupt = errors.New("corrupt data")
	// ErrUnsupported: the codec, or a form of its stream, is not available here.
	ErrUnsupported = errors.New("unsupported")
	// ErrIncompressible: the encoded stream would not fit into the room given. Store the input instead.
	ErrIncompressible = errors.New("incompressible")
)

// Params is what a codec is told about the streams that it will see: the same for all blocks of a chunk.
type Params struct {
	Level      int     // 1 to 9; encoders only
	Meta       uint8   // the codec's own parameter byte (compcode_meta)
	TypeSize   int     // item size in bytes: that of the frame, where there is one
	BlockShape []int32 // shape of a block in items, outermost first; nil when the chunk is not part of an array
	Dict       []byte  // dictionary or nil; kept, not copied, so it must not change
}

// Codec makes encoders and decoders. Implementations are safe for use by any number of goroutines.
type Codec interface {
	ID() ID
	// NewEncoder fails with ErrUnsupported when it cannot serve the parameters.
	NewEncoder(p Params) (Encoder, error)
	// NewDecoder fails with ErrUnsupported when it cannot serve the parameters, and with ErrCorrupt when the
	// dictionary, which comes from the chunk, is not sound.
	NewDecoder(p Params) (Decoder, error)
}

// Encoder compresses one stream at a time. It belongs to one goroutine; it keeps its tables between calls.
type Encoder interface {
	// Encode writes the stream for src into dst, never past len(dst), and returns its length in bytes,
	// or ErrIncompressible when it does not fit or there is nothing to gain: a stream is shorter than src.
	// After an error the content of dst is undefined. dst and src do not overlap.
	Encode(dst, src []byte) (n int, err error)
}

// Decoder expands one stream at a time. It belongs to one goroutine.
type Decoder interface {
	// Decode expands src to exactly len(dst) bytes; anything else is ErrCorrupt. src is untrusted.
	// dst and src do not overlap. After an error the content of dst is undefined.
	Decode(dst, src []byte) error
}

// PrefixDecoder is a Decoder that expands the beginning of a stream in less time than all of it.
type PrefixDecoder interface {
	Decoder
	// DecodePrefix expands the beginning of src, which expands to len(dst) bytes, to the first n bytes of dst at least, for
	// 0 < n < len(dst); the rest of dst is undefined then. It is ErrCorrupt where src does not give so many bytes; whether
	// what follows in src is sound is told by Decode only. dst and src do not overlap. After an error the content of dst
	// is undefined.
	DecodePrefix(dst, src []byte, n int) error
}

// BatchDecoder is a Decoder that expands some streams together in less time than one after the other.
type BatchDecoder interface {
	Decoder
	// DecodeBatch expands each src[i], which expands to len(dst[i]) bytes, to the first n[i] bytes of dst[i] at least, for
	// 0 < n[i] <= len(dst[i]): as Decode does where all are wanted, and as DecodePrefix does else. There are as many of each.
	// It fails with ErrCorrupt if one is not sound, and does not say which. After an error the content of all of dst is
	// undefined.
	DecodeBatch(dst, src [][]byte, n []int) error
	// PlanesPay reports whether the planes of a shuffled block are such streams. If not, only those of blocks without
	// filters are.
	PlanesPay() bool
}

// Set is an immutable set of codecs. The zero value holds the built-in ones.
type Set struct {
	user []Codec // later ones win
}

// With returns a set that also holds c. It takes the place of a codec with the same identifier.
func (s Set) With(c Codec) Set {
	user := make([]Codec, 0, len(s.user)+1)
	return Set{user: append(append(user, s.user...), c)}
}

// ByID returns the codec with an identifier, or ErrUnsupported with its name.
func (s Set) ByID(id ID) (Codec, error) {
	if id == Default {
		id = Zstd
	}
	for i := len(s.user) - 1; i >= 0; i-- {
		if s.user[i].ID() == id {
			return s.user[i], nil
		}
	}
	if c := builtin(id); c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("codec: %v (compcode %d): %w", id, uint8(id), ErrUnsupported)
}

// ByFormat returns the codec that reads a stream format; code is the byte of the chunk header that tells the
// codecs of FormatUser apart.
func (s Set) ByFormat(f Format, code uint8) (Codec, error) {
	switch f {
	case FormatBloscLZ:
		return s.ByID(BloscLZ)
	case FormatLZ4:
		return s.ByID(LZ4)
	case FormatSnappy:
		return s.ByID(Snappy)
	case FormatZlib:
		return s.ByID(Zlib)
	case FormatZstd:
		return s.ByID(Zstd)
	case FormatUser:
		if code >= 32 { // the codes below have formats of their own
			return s.ByID(FromCode(code))
		}
		return nil, fmt.Errorf("codec: stream format %d with compcode %d: %w", f, code, ErrUnsupported)
	}
	return nil, fmt.Errorf("codec: stream format %d: %w", f, ErrUnsupported)
}
