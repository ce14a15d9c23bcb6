package frame

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// ChecksumLayer is the name of the variable-length metalayer that holds the checksums of a frame.
const ChecksumLayer = "b2crc32c"

// checksums are those of a state, but for those of its chunks, which are in its index. They never change.
type checksums struct {
	index  uint32
	meta   map[uint32]uint32 // by the CRC-32C of the name
	vlmeta map[uint32]uint32
	stale  []byte // of the chunks of another index than the one that is stored; nil when they are of this one
	fault  error  // why they are stale
}

// sumsRecord is the content of the metalayer. See the package comment.
type sumsRecord struct {
	Version int    `msgpack:"version"`
	Index   uint32 `msgpack:"index"`
	Meta    []byte `msgpack:"meta"`
	VLMeta  []byte `msgpack:"vlmeta"`
	Chunks  []byte `msgpack:"chunks"`
}

// kept tells whether there are checksums for all chunks. c may be nil.
func (c *checksums) kept() bool { return c != nil && c.stale == nil }

// chunkSums returns the checksums of all chunks, or nil when there are none. The caller may append to them but not
// change them.
func (s *snapshot) chunkSums() []uint32 {
	if s.index.sums == nil && s.index.n > 0 && s.sums.kept() {
		return make([]uint32, s.index.n) // of one special value
	}
	return s.index.sums
}

// loadSums finds the checksums of a state and compares those of the index, which is stored as b.
func (f *Frame) loadSums(s *snapshot, b []byte) {
	i := findLayer(s.vlmeta, ChecksumLayer)
	if i < 0 {
		return
	}
	s.sums = &checksums{stale: []byte{}}
	fail := func(format string, args ...any) {
		s.sums.fault = f.wrap("variable-length metalayer "+ChecksumLayer, -1, fmt.Errorf(format+": %w", append(args, ErrChecksum)...))
	}
	stored := s.vlmeta[i].Content
	h, err := chunk.ParseHeader(stored, int64(len(stored)))
	if most := 4*len(s.index.list) + 8*(meta.MaxLayers+meta.MaxVLLayersRead) + 100; err == nil && h.NBytes > most {
		err = fmt.Errorf("%d bytes, at most %d", h.NBytes, most)
	}
	var content []byte
	if err == nil {
		content, err = f.plain.Decode(nil, stored)
	}
	var r sumsRecord
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
	s.sums.index, s.sums.meta, s.sums.vlmeta = r.Index, unpackSums(r.Meta), unpackSums(r.VLMeta)
	switch n := len(s.index.list); {
	case r.Index != crc32c.Checksum(b):
		s.sums.stale = r.Chunks
		if r.Chunks == nil {
			s.sums.stale = []byte{}
		}
		s.sums.fault = f.wrap("index", s.indexPos(), fmt.Errorf("corrupt, or written by another library: %w", ErrChecksum))
	case n > 0 && len(r.Chunks) != 4*n:
		fail("%d bytes for %d chunks", len(r.Chunks), n)
	default:
		s.sums.stale = nil
		for i := range n {
			s.index.sums = append(s.index.sums, binary.LittleEndian.Uint32(r.Chunks[4*i:]))
		}
	}
}

// unpackSums reads pairs of the checksum of a name and that of a content.
func unpackSums(b []byte) map[uint32]uint32 {
	m := map[uint32]uint32{}
	for ; len(b) >= 8; b = b[8:] {
		m[binary.LittleEndian.Uint32(b)] = binary.LittleEndian.Uint32(b[4:])
	}
	return m
}

func packSums(m map[uint32]uint32) []byte {
	b := []byte{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		b = binary.LittleEndian.AppendUint32(b, name)
		b = binary.LittleEndian.AppendUint32(b, m[name])
	}
	return b
}

// seal puts the metalayer with the checksums among those of a state whose index is stored as b.
func (s *snapshot) seal(b []byte, p *coder.Pool) error {
	if s.sums == nil {
		return nil
	}
	c := *s.sums
	r := sumsRecord{Version: 1, Meta: packSums(c.meta), VLMeta: packSums(c.vlmeta)}
	if c.stale == nil {
		c.index = crc32c.Checksum(b)
		r.Chunks = make([]byte, 0, 4*len(s.index.sums))
		for _, sum := range s.index.sums {
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
	stored, err := p.Encode(nil, content, coder.CParams{Level: chunk.NoCompression})
	if err != nil {
		return err
	}
	s.sums = &c
	s.vlmeta = withLayer(s.vlmeta, ChecksumLayer, stored)
	return nil
}

// withLayer returns layers with another content of one, or with one more.
func withLayer(layers []meta.Layer, name string, content []byte) []meta.Layer {
	layers = slices.Clone(layers)
	if i := findLayer(layers, name); i >= 0 {
		layers[i].Content = content
		return layers
	}
	return append(layers, meta.Layer{Name: name, Content: content})
}

// noteLayer changes the checksum of a metalayer, or of a variable-length one.
func (s *snapshot) noteLayer(variable bool, name string, content []byte) {
	if s.sums == nil {
		return
	}
	c := *s.sums
	m := &c.meta
	if variable {
		m = &c.vlmeta
	}
	if *m = maps.Clone(*m); *m == nil {
		*m = map[uint32]uint32{}
	}
	(*m)[crc32c.Checksum([]byte(name))] = crc32c.Checksum(content)
	s.sums = &c
}

// forgetVLMeta takes the checksum of a variable-length metalayer away; with ChecksumLayer, all.
func (s *snapshot) forgetVLMeta(name string) {
	switch {
	case s.sums == nil:
	case name == ChecksumLayer:
		s.sums, s.index.sums = nil, nil
	default:
		c := *s.sums
		c.vlmeta = maps.Clone(c.vlmeta)
		delete(c.vlmeta, crc32c.Checksum([]byte(name)))
		s.sums = &c
	}
}

// checkLayer compares a metalayer, or a variable-length one as it is stored, with its checksum, which it must have.
func (f *Frame) checkLayer(s *snapshot, variable bool, l meta.Layer) error {
	if s.sums == nil || s.sums.meta == nil || variable && l.Name == ChecksumLayer {
		return nil // or there is an error for all
	}
	part, m := "metalayer ", s.sums.meta
	if variable {
		part, m = "variable-length metalayer ", s.sums.vlmeta
	}
	if sum, ok := m[crc32c.Checksum([]byte(l.Name))]; !ok || sum != crc32c.Checksum(l.Content) {
		return f.wrap(part+l.Name, -1, fmt.Errorf("corrupt, or written by another library: %w", ErrChecksum))
	}
	return nil
}

// checkLayers compares all metalayers, or all variable-length ones, with their checksums.
func (f *Frame) checkLayers(s *snapshot, variable bool, report func(error) error) error {
	if s.sums == nil || s.sums.meta == nil {
		return nil
	}
	part, layers, m := "metalayers", s.meta, s.sums.meta
	if variable {
		part, layers, m = "variable-length metalayers", s.vlmeta, s.sums.vlmeta
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
		return report(f.wrap(part, -1, fmt.Errorf("%d are not there: %w", len(missing), ErrChecksum)))
	}
	return nil
}

// checkOpen compares what opening has read, except variable-length metalayers, with the checksums. It also reports
// checksums that have lost their name.
func (f *Frame) checkOpen(s *snapshot, report func(error) error) error {
	if err := f.checkLost(s); err != nil {
		if err := report(err); err != nil {
			return err
		}
	}
	if s.sums != nil && s.sums.fault != nil {
		if err := report(s.sums.fault); err != nil {
			return err
		}
	}
	return f.checkLayers(s, false, report)
}

// sound tells whether chunk i, which is stored as b, is what its checksum was made for, if it has one.
func (s *snapshot) sound(i int, b []byte) bool {
	return s.index.sums == nil || s.index.list[i] < 0 || s.index.sums[i] == crc32c.Checksum(b)
}

// checkSum is an error for a chunk that is not sound.
func (f *Frame) checkSum(s *snapshot, i int, b []byte) error {
	if s.sound(i, b) {
		return nil
	}
	return f.chunkError(s, i, ErrChecksum)
}

// summing reads from r and makes the checksum of what it has read, while it is in the nearest cache.
type summing struct {
	r    io.ReaderAt
	next int64 // where what it has read ends
	n    int   // how much that is
	sum  uint32
}

// summingPart is how much it reads at a time. Other than files may need long for every read: from these it reads all
// that is asked for.
const summingPart = 256 << 10

// ReadAt reads from where it has read to, or else makes no checksum any more.
func (c *summing) ReadAt(p []byte, off int64) (n int, err error) {
	if off != c.next {
		c.next = -1
		return c.r.ReadAt(p, off)
	}
	most := len(p)
	if _, fast := c.r.(systemFile); fast {
		most = summingPart
	}
	for full := true; full && n < len(p) && err == nil; {
		part := p[n:]
		part = part[:min(most, len(part))]
		var k int
		k, err = c.r.ReadAt(part, off+int64(n))
		c.sum = crc32c.Update(c.sum, part[:k])
		n += k
		full = k == len(part)
	}
	c.next, c.n = off+int64(n), c.n+n
	return n, err
}

// of returns the checksum of b, which begins where it began to read.
func (c *summing) of(b []byte) uint32 {
	if c.next >= 0 && c.n == len(b) {
		return c.sum
	}
	return crc32c.Checksum(b)
}

// mustCheck tells whether chunk i must be compared with its checksum when it is opened. Such as only parts are read
// of need not when they were compared once, for this state of the frame.
func (f *Frame) mustCheck(s *snapshot, i int, want float64) bool {
	if !f.opts.Verify || s.index.sums == nil {
		return false
	}
	return want >= 0.5 || s.draft || s.marks()[i/32].Load()&(1<<(i%32)) == 0
}

// noteChecked records that chunk i was compared.
func (f *Frame) noteChecked(s *snapshot, i int) {
	if !s.draft {
		s.marks()[i/32].Or(1 << (i % 32))
	}
}

// SetChecksums makes the frame keep checksums from this batch on, or no longer. It reads all chunks to make them
// anew; one that differs from a checksum that it has is an ErrChecksum, unless another library has changed the index
// since. It returns early when ctx says so.
func (b *Batch) SetChecksums(ctx context.Context, on bool) error {
	if b.done {
		return b.errDone()
	}
	ctx = task.Context(ctx)
	s := b.next
	if !on {
		if err := b.keepSums(); err != nil {
			return err
		}
		s.sums, s.index.sums = nil, nil
		s.vlmeta = slices.DeleteFunc(slices.Clone(s.vlmeta), func(l meta.Layer) bool { return l.Name == ChecksumLayer })
		return nil
	}
	layers := withLayer(s.vlmeta, ChecksumLayer, nil)
	if _, err := meta.AppendTrailer(nil, layers); err != nil {
		return b.f.wrap("variable-length metalayer "+ChecksumLayer, -1, err)
	}
	var sums []uint32
	var buf []byte
	for i := range s.index.list {
		err := ctx.Err()
		sum := uint32(0)
		if err == nil && s.index.list[i] >= 0 {
			if buf, err = b.f.rawChunk(buf[:0], s, i); err == nil {
				err = b.f.checkSum(s, i, buf)
			}
			sum = crc32c.Checksum(buf)
		}
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	b.owned = false // the list has other checksums now
	s.index.sums, s.sums, s.vlmeta = sums, &checksums{}, layers
	for _, l := range s.meta {
		s.noteLayer(false, l.Name, l.Content)
	}
	for _, l := range s.vlmeta {
		if l.Name != ChecksumLayer {
			s.noteLayer(true, l.Name, l.Content)
		}
	}
	return nil
}

// keepSums returns an ErrParam if Options.RequireChecksums forbids removing the checksums.
func (b *Batch) keepSums() error {
	if !b.f.opts.RequireChecksums {
		return nil
	}
	return b.f.wrap("variable-length metalayer "+ChecksumLayer, -1, fmt.Errorf("Options.RequireChecksums asks for it: %w", ErrParam))
}

// SetChecksums makes the frame keep checksums, or no longer. See Batch.SetChecksums.
func (f *Frame) SetChecksums(ctx context.Context, on bool) error {
	return f.editContext(ctx, func(b *Batch) error { return b.SetChecksums(ctx, on) })
}
