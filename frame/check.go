package frame

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// loadChecksums finds the checksums of a state, and compares the checksum of the index with its stored bytes b.
func (f *Frame) loadChecksums(s *snapshot, b []byte) {
	i := findLayer(s.vlmeta, checksumLayer)
	if i < 0 {
		return
	}
	s.checksums = &checksumSet{stale: []byte{}}
	fail := func(format string, args ...any) {
		s.checksums.fault = f.wrap("variable-length metalayer "+checksumLayer, -1, fmt.Errorf(format+": %w", append(args, ErrChecksum)...))
	}
	stored := s.vlmeta[i].Content
	h, err := coder.ParseHeader(stored, int64(len(stored)))
	if most := 4*len(s.index.list) + 8*(meta.MaxLayers+meta.MaxVLLayersRead) + 100; err == nil && h.NBytes > most {
		err = fmt.Errorf("%d bytes, at most %d", h.NBytes, most)
	}
	var content []byte
	if err == nil {
		content, err = f.plain.Decode(nil, stored)
	}
	var r checksumRecord
	if err == nil {
		err = meta.Unmarshal(content, &r)
	}
	if err == nil && (r.Version != 1 || len(r.Meta)%8 != 0 || len(r.VLMeta)%8 != 0) {
		err = fmt.Errorf("version %d, %d and %d bytes", r.Version, len(r.Meta), len(r.VLMeta))
	}
	if err != nil {
		fail("%v", err)
		return
	}
	s.checksums.index, s.checksums.meta, s.checksums.vlmeta = r.Index, unpackChecksums(r.Meta), unpackChecksums(r.VLMeta)
	switch n := len(s.index.list); {
	case r.Index != crc32c.Checksum(b):
		s.checksums.stale = r.Chunks
		if r.Chunks == nil {
			s.checksums.stale = []byte{}
		}
		s.checksums.fault = f.wrap("index", s.indexPos(), fmt.Errorf("corrupt, or written by another library: %w", ErrChecksum))
	case n > 0 && len(r.Chunks) != 4*n:
		fail("%d bytes for %d chunks", len(r.Chunks), n)
	default:
		s.checksums.stale = nil
		for i := range n {
			s.index.checksums = append(s.index.checksums, binary.LittleEndian.Uint32(r.Chunks[4*i:]))
		}
	}
}

// checkLayer compares a metalayer, or a variable-length one as it is stored, with its checksum, which it must have.
func (f *Frame) checkLayer(s *snapshot, variable bool, l meta.Layer) error {
	if s.checksums == nil || s.checksums.meta == nil || variable && l.Name == checksumLayer {
		return nil // or one error covers all
	}
	part, m := "metalayer ", s.checksums.meta
	if variable {
		part, m = "variable-length metalayer ", s.checksums.vlmeta
	}
	if sum, ok := m[crc32c.Checksum([]byte(l.Name))]; !ok || sum != crc32c.Checksum(l.Content) {
		return f.wrap(part+l.Name, -1, fmt.Errorf("corrupt, or written by another library: %w", ErrChecksum))
	}
	return nil
}

// checkCopied compares metalayers of a state that a copy gets with their checksums, unless those are stale.
func (f *Frame) checkCopied(s *snapshot, variable bool, layers []meta.Layer) error {
	if !s.checksums.kept() {
		return nil
	}
	for _, l := range layers {
		if variable && l.Name == blockLayer {
			continue // a copy makes its own
		}
		if err := f.checkLayer(s, variable, l); err != nil {
			return err
		}
	}
	return nil
}

// checkLayers compares all metalayers, or all variable-length ones, with their checksums.
func (f *Frame) checkLayers(s *snapshot, variable bool, report func(error) error) error {
	if s.checksums == nil || s.checksums.meta == nil {
		return nil
	}
	part, layers, m := "metalayers", s.meta, s.checksums.meta
	if variable {
		part, layers, m = "variable-length metalayers", s.vlmeta, s.checksums.vlmeta
	}
	missing := maps.Clone(m)
	for _, l := range layers {
		delete(missing, crc32c.Checksum([]byte(l.Name)))
		if err := f.checkLayer(s, variable, l); err != nil {
			if err := report(err); err != nil {
				return err
			}
		}
	}
	if len(missing) > 0 {
		return report(f.wrap(part, -1, fmt.Errorf("%d with a checksum are missing: %w", len(missing), ErrChecksum)))
	}
	return nil
}

// checkOpen compares the parts that opening has read, except variable-length metalayers, with the checksums. It also
// reports checksums that have lost their name.
func (f *Frame) checkOpen(s *snapshot, report func(error) error) error {
	if err := f.checkLost(s); err != nil {
		if err := report(err); err != nil {
			return err
		}
	}
	if s.checksums != nil && s.checksums.fault != nil {
		if err := report(s.checksums.fault); err != nil {
			return err
		}
	}
	return f.checkLayers(s, false, report)
}

// checkChecksum returns an error if chunk i does not match its checksum.
func (f *Frame) checkChecksum(s *snapshot, i int, b []byte) error {
	if s.intact(i, b) {
		return nil
	}
	return f.chunkError(s, i, ErrChecksum)
}

// noChecksums is the error for a frame without the checksums that OpenOptions.RequireChecksums asks for.
type noChecksums struct{}

func (noChecksums) Error() string {
	return "the frame has no checksums, but OpenOptions.RequireChecksums is set"
}

func (noChecksums) Unwrap() error { return ErrChecksum }

// checkRequired returns ErrChecksum if OpenOptions.RequireChecksums is set and the frame has no checksums, or stale
// ones of variable-length metalayers. checkOpen has compared the others.
func (f *Frame) checkRequired(s *snapshot) error {
	if !f.opts.RequireChecksums {
		return nil
	}
	if s.checksums == nil {
		return f.wrap("variable-length metalayers", -1, noChecksums{})
	}
	return f.checkLayers(s, true, func(err error) error { return err })
}

// checkLost returns an error if a frame without checksums seems to have had some. A changed byte in the name of the
// metalayer or in the number of metalayers hides them, and then nothing would be compared.
func (f *Frame) checkLost(s *snapshot) error {
	if s.checksums != nil {
		return nil
	}
	for _, l := range s.vlmeta {
		if f.isChecksumRecord(l) {
			return f.wrap("variable-length metalayer "+l.Name, -1,
				fmt.Errorf("it holds the checksums, which should be named %s: %w", checksumLayer, ErrChecksum))
		}
	}
	if n := trailerLen(s.vlmeta); s.trailerLen > n {
		return f.wrap("trailer", s.frameLen-int64(s.trailerLen), corrupt("%d bytes, its metalayers take %d", s.trailerLen, n))
	}
	return nil
}

// isChecksumRecord reports whether a variable-length metalayer has the content of checksumLayer.
func (f *Frame) isChecksumRecord(l meta.Layer) bool {
	b, err := f.smallContent(l)
	const mapOf5 = 0x85 // the first byte; decoding all layers would take long
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
