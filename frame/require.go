package frame

import (
	"fmt"

	"github.com/goblosc/blosc2/meta"
)

// noChecksums is the error for a frame without the checksums that Options.RequireChecksums asks for.
type noChecksums struct{}

func (noChecksums) Error() string {
	return "the frame has no checksums, Options.RequireChecksums asks for them"
}

func (noChecksums) Unwrap() error { return ErrChecksum }

// checkRequired returns an ErrChecksum if Options.RequireChecksums is set and the frame has no checksums, or stale ones
// of variable-length metalayers. checkOpen has compared the others.
func (f *Frame) checkRequired(s *snapshot) error {
	if !f.opts.RequireChecksums {
		return nil
	}
	if s.sums == nil {
		return f.wrap("variable-length metalayers", -1, noChecksums{})
	}
	return f.checkLayers(s, true, func(err error) error { return err })
}

// checkLost returns an error if a frame without checksums seems to have had some. A changed byte in the name of the
// layer or in the count of layers hides them, and nothing would be compared any more.
func (f *Frame) checkLost(s *snapshot) error {
	if s.sums != nil {
		return nil
	}
	for _, l := range s.vlmeta {
		if f.isSumsRecord(l) {
			return f.wrap("variable-length metalayer "+l.Name, -1,
				fmt.Errorf("it holds the checksums, which should be named %s: %w", ChecksumLayer, ErrChecksum))
		}
	}
	if n := trailerLen(s.vlmeta); s.trailerLen > n {
		return f.wrap("trailer", s.frameLen-int64(s.trailerLen), corrupt("%d bytes, its metalayers take %d", s.trailerLen, n))
	}
	return nil
}

// isSumsRecord reports whether a variable-length metalayer has the content of ChecksumLayer.
func (f *Frame) isSumsRecord(l meta.Layer) bool {
	b, err := f.smallContent(l)
	const mapOf5 = 0x85 // the first byte, as Unmarshal of all layers would take long
	if err != nil || len(b) == 0 || b[0] != mapOf5 {
		return false
	}
	var m map[string]any
	if meta.Unmarshal(b, &m) != nil || len(m) != 5 {
		return false
	}
	_, version := m["version"].(int64)
	_, index := m["index"].(int64)
	ok := version && index
	for _, key := range []string{"meta", "vlmeta", "chunks"} {
		_, isBytes := m[key].([]byte)
		ok = ok && isBytes
	}
	return ok
}

// trailerLen returns the length of a trailer with these metalayers.
func trailerLen(layers []meta.Layer) int {
	n := 35 // without metalayers
	for _, l := range layers {
		n += 1 + len(l.Name) + 5 + 5 + len(l.Content)
	}
	return n
}
