package coder

import (
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
)

// steps are the filters of a pipeline that change bytes, in the order of encoding, resolved once per chunk.
type steps struct {
	list [NumFilters]step
	n    int
	// planes is the number of byte planes if blocks can be read or written by plane: if Shuffle is the only filter to
	// undo, or the first filter to apply. Otherwise it is 0.
	planes int
	// user is set if there are user filters, and foreign if encoding calls any functions of the program.
	user, foreign bool
}

type step struct {
	f   Filter
	def *filterDef
}

// unknownFilter is the definition of a filter that cannot be applied.
var unknownFilter = filterDef{lossy: true}

// decodeSteps resolves a pipeline for decoding. It returns errors.ErrUnsupported if a filter cannot be undone.
func (o *Options) decodeSteps(p *Pipeline, typeSize int) (steps, error) {
	var s steps
	for _, f := range p {
		def := o.Plugins.filter(f)
		switch {
		case def == nil:
			return s, unsupportedFilter(f)
		case def.shaped && len(o.BlockShape) == 0:
			return s, fmt.Errorf("%s without the block shape of the array (Coder.BlockShape): %w", f.label(), errs.ErrUnsupported)
		}
		if def.backward != nil {
			s.addFilter(f, def, typeSize)
			s.user = s.user || o.Plugins.filters[f.Code()] != nil
		}
	}
	if s.n != 1 {
		s.planes = 0
	}
	return s, nil
}

// checkItemSize returns errors.ErrUnsupported if a filter works on items of a size that is not known: a header cannot
// hold sizes above 255. block is the size of the largest block.
func (s *steps) checkItemSize(o *Options, typeSize, block int) error {
	if typeSize != 1 || o.ItemSize > 0 {
		return nil
	}
	for i := range s.n {
		f, def := s.list[i].f, s.list[i].def
		if def.itemized && (def.shaped && exceedsHeader(block, o.BlockShape) || !def.shaped && f.Param() == 0) {
			return fmt.Errorf("%s without the item size of the frame (Coder.TypeSize): %w", f.label(), errs.ErrUnsupported)
		}
	}
	return nil
}

// exceedsHeader reports whether a block of some size and shape has items that are too large for a header.
func exceedsHeader(size int, shape []int32) bool {
	for _, n := range shape {
		if n < 1 || size%int(n) != 0 {
			return false
		}
		size /= int(n)
	}
	return size > MaxTypeSize
}

// encodeSteps resolves a pipeline for encoding. An unknown filter fails only when it is applied, because stored chunks
// may have it.
func (o *Options) encodeSteps(p *Pipeline, typeSize int) steps {
	var s steps
	for _, f := range p {
		def := o.Plugins.filter(f)
		if def == nil {
			def = &unknownFilter
		}
		if o.Plugins.filters[f.Code()] != nil {
			s.user, s.foreign = true, true
		}
		if f.kind() != NoFilter {
			s.addFilter(f, def, typeSize)
		}
	}
	if o.Prefilter != nil {
		s.planes, s.foreign = 0, true
	}
	return s
}

// addFilter adds a filter, unless it does not change items of this size.
func (s *steps) addFilter(f Filter, def *filterDef, typeSize int) {
	planes := 0
	if def.planes != nil {
		if planes = def.planes(f.Param(), typeSize); planes == 1 {
			return
		}
	}
	if s.n == 0 {
		s.planes = planes
	}
	s.list[s.n] = step{f, def}
	s.n++
}

// backward undoes the filters: src, which may be one of the buffers, becomes dst. The last step writes to dst directly.
func (s *steps) backward(dst, src []byte, b *block, bufs *buffers) error {
	if s.n == 0 {
		copy(dst, src)
		return nil
	}
	uncached := b.uncached
	for i := s.n - 1; i >= 0; i-- {
		b.uncached = uncached && i == 0 // the next filter reads the other results at once
		step, out := &s.list[i], dst
		if i > 0 {
			out = bufs.other(src)
		}
		b.Param = step.f.Param()
		if err := step.def.backward(out, src, b); err != nil {
			return fmt.Errorf("%s: %w", step.f.label(), err)
		}
		src = out
	}
	return nil
}

// forward applies the filters from number first up to src, which it does not change, and returns the result: one of the
// buffers, or src itself if there are no filters.
func (s *steps) forward(src []byte, first int, b *block, bufs *buffers) ([]byte, error) {
	for i := first; i < s.n; i++ {
		step := &s.list[i]
		if step.def.forward == nil {
			return nil, unsupportedFilter(step.f)
		}
		dst := bufs.other(src)
		b.Param = step.f.Param()
		if err := step.def.forward(dst, src, b); err != nil {
			return nil, fmt.Errorf("%s: %w", step.f.label(), err)
		}
		src = dst
	}
	return src, nil
}

// lossy reports whether decoding may return different data than was encoded. Delta then refers to the decoded data.
func (s *steps) lossy() bool {
	for i := range s.n {
		if s.list[i].def.lossy {
			return true
		}
	}
	return false
}

// buffers holds a block between two filters. Each filter reads one buffer and writes the other.
type buffers [2][]byte

// first returns n bytes of the first buffer.
func (b *buffers) first(n int) []byte {
	b[0] = sized(b[0], n)
	return b[0]
}

// other returns as many bytes as src of the buffer that does not hold src.
func (b *buffers) other(src []byte) []byte {
	if len(src) > 0 && len(b[0]) > 0 && &src[0] == &b[0][0] {
		b[1] = sized(b[1], len(src))
		return b[1]
	}
	return b.first(len(src))
}

// sized returns n bytes with undefined contents. It reuses the memory of b if that is large enough.
func sized(b []byte, n int) []byte {
	if cap(b) < n {
		b = make([]byte, n)
	}
	return b[:n]
}

// grow returns dst with n more bytes, whose contents are undefined.
func grow(dst []byte, n int) []byte { return slices.Grow(dst, n)[:len(dst)+n] }

// Shuffled is a block with the bytes of its items in byte planes, as the filter Shuffle orders them. In decoding, only
// unshuffling is left to do. In encoding, shuffling is done already. A Shuffled is valid until its worker is used
// again.
type Shuffled struct {
	Bytes []byte
	Width int // of an item, in bytes
}

// Unshuffle writes the unshuffled block to dst, which has the length of the block.
func (s Shuffled) Unshuffle(dst []byte) { filters.Unshuffle(dst, s.Bytes, s.Width) }

// RowsFaster reports whether unshuffling n items of the block, in rows of length items, is faster than unshuffling the
// whole block.
func (s Shuffled) RowsFaster(n, length int) bool {
	return n <= len(s.Bytes)/s.Width/32 || filters.UnshuffleRowsFaster(s.Width, length)
}
