package codec

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
)

// String returns the name of a codec as the command blosc2 spells it, or "codec N" with its compcode.
func (id ID) String() string {
	if id == Default {
		return "default"
	}
	if b := lookup(id); b != nil {
		return b.name
	}
	return fmt.Sprintf("codec %d", uint8(id))
}

// Parse returns the codec with a name: one that String returns for a codec of the format, or "default". The error wraps
// ErrParam.
func Parse(name string) (ID, error) {
	if name == Default.String() {
		return Default, nil
	}
	for i := range builtins {
		if builtins[i].name == name {
			return builtins[i].id, nil
		}
	}
	return 0, fmt.Errorf("codec: unknown codec %q: %w", name, ErrParam)
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

// Codec returns the codec that decodes a stream format, or Default if there is none or several.
func (f Format) Codec() ID {
	for i := range builtins {
		if b := &builtins[i]; b.format == f && f != FormatUser {
			return b.id
		}
	}
	return Default
}

// Set holds codecs. It never changes. The zero value holds the built-in ones.
type Set struct{ user []Codec }

// NewSet returns the set of the built-in codecs and of user. It returns ErrParam for a nil codec, for two codecs with
// the same identifier, and for an identifier outside FromCode(32) to FromCode(255). A user codec may replace a built-in
// one.
func NewSet(user []Codec) (Set, error) {
	var s Set
	for i, c := range user {
		if c == nil {
			return Set{}, fmt.Errorf("codec: codec %d is nil: %w", i, errs.ErrParam)
		}
		id := c.ID()
		if id < FromCode(firstUser) || id > FromCode(255) {
			return Set{}, fmt.Errorf("codec: user codec with identifier ID(%d), want FromCode(%d) to FromCode(255): %w", uint16(id), firstUser, errs.ErrParam)
		}
		if s.find(id) != nil {
			return Set{}, fmt.Errorf("codec: two codecs with compcode %d: %w", id.Code(), errs.ErrParam)
		}
		s.user = append(s.user, c)
	}
	return s, nil
}

// firstUser is the lowest compcode of a user codec. The codecs below have stream formats of their own.
const firstUser = 32

// find returns the user codec with an identifier, or nil.
func (s Set) find(id ID) Codec {
	for _, c := range s.user {
		if c.ID() == id {
			return c
		}
	}
	return nil
}

// ByID returns the codec with an identifier. It returns errors.ErrUnsupported if the set has no such codec.
func (s Set) ByID(id ID) (Codec, error) {
	if id == Default {
		id = Zstd
	}
	if c := s.find(id); c != nil {
		return c, nil
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
		if code >= firstUser {
			return s.ByID(FromCode(code))
		}
		return nil, fmt.Errorf("codec: stream format %d with compcode %d: %w", f, code, errs.ErrUnsupported)
	}
	for i := range builtins {
		if b := &builtins[i]; b.format == f {
			return b, nil // no user codec has a format of its own
		}
	}
	return nil, fmt.Errorf("codec: stream format %d: %w", f, errs.ErrUnsupported)
}
