package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// checksumLayer is the name of the variable-length metalayer that holds the checksums of a frame.
const checksumLayer = "b2crc32c"

// checksumSet has the checksums of a state, except those of its chunks, which are in its index. They never change.
type checksumSet struct {
	index  uint32
	meta   map[uint32]uint32 // by the CRC-32C of the name
	vlmeta map[uint32]uint32
	stale  []byte // checksums of the chunks of another index; nil if they are those of the stored index
	fault  error  // why they are stale
}

// checksumRecord is the content of the metalayer. See the package comment.
type checksumRecord struct {
	Version int    `msgpack:"version"`
	Index   uint32 `msgpack:"index"`
	Meta    []byte `msgpack:"meta"`
	VLMeta  []byte `msgpack:"vlmeta"`
	Chunks  []byte `msgpack:"chunks"`
}

// kept reports whether the frame keeps checksums of all chunks. c may be nil.
func (c *checksumSet) kept() bool { return c != nil && c.stale == nil }

// unpackChecksums reads pairs of the checksum of a name and that of a content.
func unpackChecksums(b []byte) map[uint32]uint32 {
	m := map[uint32]uint32{}
	for ; len(b) >= 8; b = b[8:] {
		m[binary.LittleEndian.Uint32(b)] = binary.LittleEndian.Uint32(b[4:])
	}
	return m
}

func packChecksums(m map[uint32]uint32) []byte {
	b := []byte{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		b = binary.LittleEndian.AppendUint32(b, name)
		b = binary.LittleEndian.AppendUint32(b, m[name])
	}
	return b
}

// addChecksums adds or replaces the metalayer with the checksums in a state that has them. b is the stored index.
func (s *snapshot) addChecksums(b []byte, p *coder.Pool) error {
	c := *s.checksums
	r := checksumRecord{Version: 1, Meta: packChecksums(c.meta), VLMeta: packChecksums(c.vlmeta)}
	if c.stale == nil {
		c.index = crc32c.Checksum(b)
		r.Chunks = make([]byte, 0, 4*len(s.index.checksums))
		for _, sum := range s.index.checksums {
			r.Chunks = binary.LittleEndian.AppendUint32(r.Chunks, sum)
		}
	} else {
		r.Chunks = c.stale
	}
	r.Index = c.index
	content, err := meta.Marshal(r)
	if err != nil {
		return err
	}
	stored, err := p.Encode(nil, content, coder.Params{Level: codec.NoCompression})
	if err != nil {
		return err
	}
	s.checksums = &c
	s.vlmeta = withLayer(s.vlmeta, checksumLayer, stored)
	return nil
}

// withLayer returns layers with the content of one replaced, or with one more.
func withLayer(layers []meta.Layer, name string, content []byte) []meta.Layer {
	layers = slices.Clone(layers)
	if i := findLayer(layers, name); i >= 0 {
		layers[i].Content = content
		return layers
	}
	return append(layers, meta.Layer{Name: name, Content: content})
}

// noteLayer records the checksum of a metalayer, or of a variable-length one.
func (s *snapshot) noteLayer(variable bool, name string, content []byte) {
	if s.checksums == nil {
		return
	}
	c := *s.checksums
	m := &c.meta
	if variable {
		m = &c.vlmeta
	}
	if *m = maps.Clone(*m); *m == nil {
		*m = map[uint32]uint32{}
	}
	(*m)[crc32c.Checksum([]byte(name))] = crc32c.Checksum(content)
	s.checksums = &c
}

// forgetVLMeta removes the checksum of a variable-length metalayer, or for checksumLayer all checksums.
func (s *snapshot) forgetVLMeta(name string) {
	switch {
	case s.checksums == nil:
	case name == checksumLayer:
		s.checksums, s.index.checksums = nil, nil
	default:
		c := *s.checksums
		c.vlmeta = maps.Clone(c.vlmeta)
		delete(c.vlmeta, crc32c.Checksum([]byte(name)))
		s.checksums = &c
	}
}

// intact reports whether the stored bytes b of chunk i match its checksum, if it has one.
func (s *snapshot) intact(i int, b []byte) bool {
	return s.index.checksums == nil || s.index.list[i] < 0 || s.index.checksums[i] == crc32c.Checksum(b)
}

// loadChecksums finds the checksums of a state, and compares the checksum of the index with its stored bytes b. If
// ctx is done, it may have found wrong ones.
func (f *Frame) loadChecksums(ctx context.Context, s *snapshot, b []byte) {
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
		content, err = f.plain.DecodeNumber(ctx, nil, stored, -1)
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

// checkLayer compares a metalayer, or a variable-length one as it is stored, with its checksum, which it must have. See
// once for sums.
func (f *Frame) checkLayer(sums map[*byte]uint32, s *snapshot, variable bool, l meta.Layer) error {
	if s.checksums == nil || s.checksums.meta == nil || variable && l.Name == checksumLayer {
		return nil // or one error covers all
	}
	part, m := "metalayer ", s.checksums.meta
	if variable {
		part, m = "variable-length metalayer ", s.checksums.vlmeta
	}
	is := once(sums, l, func(l meta.Layer) uint32 { return crc32c.Checksum(l.Content) })
	if was, ok := m[crc32c.Checksum([]byte(l.Name))]; !ok || was != is {
		return f.wrap(part+l.Name, -1, fmt.Errorf("corrupt, or written by another library: %w", ErrChecksum))
	}
	return nil
}

// checkCopied compares metalayers of a state that a copy gets with their checksums, unless those are stale.
func (f *Frame) checkCopied(s *snapshot, variable bool, layers []meta.Layer) error {
	if !s.checksums.kept() {
		return nil
	}
	sums := map[*byte]uint32{}
	for _, l := range layers {
		if variable && l.Name == blockLayer {
			continue // a copy makes its own
		}
		if err := f.checkLayer(sums, s, variable, l); err != nil {
			return err
		}
	}
	return nil
}

// checkLayers compares all metalayers, or all variable-length ones, with their checksums.
func (f *Frame) checkLayers(ctx context.Context, s *snapshot, variable bool, report func(error) error) error {
	if s.checksums == nil || s.checksums.meta == nil {
		return nil
	}
	part, layers, m := "metalayers", s.meta, s.checksums.meta
	if variable {
		part, layers, m = "variable-length metalayers", s.vlmeta, s.checksums.vlmeta
	}
	missing, sums := maps.Clone(m), map[*byte]uint32{}
	for _, l := range layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		delete(missing, crc32c.Checksum([]byte(l.Name)))
		if err := f.checkLayer(sums, s, variable, l); err != nil {
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
func (f *Frame) checkOpen(ctx context.Context, s *snapshot, report func(error) error) error {
	lost, err := f.checkLost(ctx, s)
	if err != nil {
		return err
	}
	if lost != nil {
		if err := report(lost); err != nil {
			return err
		}
	}
	if s.checksums != nil && s.checksums.fault != nil {
		if err := report(s.checksums.fault); err != nil {
			return err
		}
	}
	return f.checkLayers(ctx, s, false, report)
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
	return "the frame has no checksums, but option RequireChecksums is set"
}

func (noChecksums) Unwrap() error { return ErrChecksum }

// checkRequired returns ErrChecksum if OpenOptions.RequireChecksums is set and the frame has no checksums, or stale
// ones of variable-length metalayers. checkOpen has compared the others.
func (f *Frame) checkRequired(ctx context.Context, s *snapshot) error {
	if !f.opts.RequireChecksums {
		return nil
	}
	if s.checksums == nil {
		return f.wrap("variable-length metalayers", -1, noChecksums{})
	}
	return f.checkLayers(ctx, s, true, func(err error) error { return err })
}

// checkLost returns a fault if a frame without checksums seems to have had some. A changed byte in the name of the
// metalayer or in the number of metalayers hides them, and then nothing would be compared. err is that of ctx.
func (f *Frame) checkLost(ctx context.Context, s *snapshot) (fault, err error) {
	if s.checksums != nil {
		return nil, nil
	}
	records := map[*byte]bool{}
	for _, l := range s.vlmeta {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if once(records, l, f.isChecksumRecord) {
			return f.wrap("variable-length metalayer "+l.Name, -1,
				fmt.Errorf("it holds the checksums, which should be named %s: %w", checksumLayer, ErrChecksum)), nil
		}
	}
	if n := trailerLen(s.vlmeta); s.trailerLen > n {
		return f.wrap("trailer", s.frameLen-int64(s.trailerLen), corrupt("%d bytes, its metalayers take %d", s.trailerLen, n)), nil
	}
	return nil, nil
}

// once returns examine(l). It calls examine once for each content, because metalayers may share their stored bytes. Its
// results are in seen, by the first byte of the content. If seen is nil, it keeps none.
func once[T any](seen map[*byte]T, l meta.Layer, examine func(meta.Layer) T) T {
	if seen == nil || len(l.Content) == 0 {
		return examine(l)
	}
	result, ok := seen[&l.Content[0]]
	if !ok {
		result = examine(l)
		seen[&l.Content[0]] = result
	}
	return result
}

// isChecksumRecord reports whether a variable-length metalayer has the content of checksumLayer.
func (f *Frame) isChecksumRecord(l meta.Layer) bool {
	const mapOf5 = 0x85
	var first [1]byte // decoding all layers would take long
	if n, _ := f.plain.DecodeAt(first[:], bytes.NewReader(l.Content), int64(len(l.Content)), 0); n == 0 || first[0] != mapOf5 {
		return false
	}
	b, err := f.smallContent(l)
	var m map[string]any
	if err != nil || meta.Unmarshal(b, &m) != nil || len(m) != 5 {
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
