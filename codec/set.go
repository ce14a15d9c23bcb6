package codec

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
)

// String returns the name of a codec as the b2 command spells it, or "codec N" with its compcode.
func (id ID) String() string {
	if id == Default {
		return "default"
	}
	if b := lookup(id); b != nil {
		return b.name
	}
	return fmt.Sprintf("codec %d", uint8(id))
}

// Format returns the stream format of a codec, as chunk headers record it.
func (id ID) Format() Format {
	if id == Default {
		id = Zstd
	}
	if b := lookup(id); b != nil {
		return b.format
	}
	return FormatUser
}

// Set is an immutable set of codecs. The zero value holds the built-in ones.
type Set struct {
	user []Codec // later ones win
}

// With returns a set that also holds c, which replaces a codec with the same identifier.
func (s Set) With(c Codec) Set {
	user := make([]Codec, 0, len(s.user)+1)
	return Set{user: append(append(user, s.user...), c)}
}

// ByID returns the codec with an identifier. It returns errors.ErrUnsupported if there is none.
func (s Set) ByID(id ID) (Codec, error) {
	if id == Default {
		id = Zstd
	}
	for i := len(s.user) - 1; i >= 0; i-- {
		if s.user[i].ID() == id {
			return s.user[i], nil
		}
	}
	if b := lookup(id); b != nil && b.newDecoder != nil {
		return b, nil
	}
	return nil, fmt.Errorf("codec: %v (compcode %d): %w", id, uint8(id), errs.ErrUnsupported)
}

// ByFormat returns the codec that decodes a stream format. code is the byte of the chunk header that distinguishes the
// codecs of FormatUser. It returns errors.ErrUnsupported if there is no such codec.
func (s Set) ByFormat(f Format, code uint8) (Codec, error) {
	if f == FormatUser {
		if code >= 32 { // the codes below have formats of their own
			return s.ByID(FromCode(code))
		}
		return nil, fmt.Errorf("codec: stream format %d with compcode %d: %w", f, code, errs.ErrUnsupported)
	}
	for i := range builtins {
		if b := &builtins[i]; b.format == f {
			return s.ByID(b.id)
		}
	}
	return nil, fmt.Errorf("codec: stream format %d: %w", f, errs.ErrUnsupported)
}
