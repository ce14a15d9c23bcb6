package coder

import (
	"errors"
	"fmt"
	"math"
)

// Encode appends a chunk with the content src to dst, on up to Options.Concurrency goroutines; the bytes do not
// depend on their number. They are those of C-Blosc2 with one thread where the codec's streams are. A chunk of
// zeros comes out as special value. Errors are ErrParam, ErrUnsupported or ErrTooLarge.
func (p *Pool) Encode(dst, src []byte, c CParams) ([]byte, error) {
	l, err := c.Layout(len(src))
	if err != nil {
		return dst, err
	}
	if len(src)+MaxOverhead > math.MaxInt-len(dst) {
		return dst, fmt.Errorf("chunk: %d bytes after %d: %w", len(src), len(dst), ErrTooLarge)
	}
	n := l.nblocks
	if l.store {
		n = 1 + len(src)/sharedFrom
	}
	team := p.team(n)
	out, err := encode(dst, l, team, src)
	p.putTeam(team) // not after a panic
	return out, err
}

// encode is Encode with a team.
func encode(dst []byte, l *Layout, team []*Worker, src []byte) ([]byte, error) {
	w := team[0]
	from := Blocks{content: src}
	if l.store {
		out, _, err := store(dst, l, team, &from)
		return out, err
	}
	var err error
	if l, err = w.Train(l, func(k int) ([]byte, error) { return from.plain(l, k) }); err != nil {
		return dst, err
	}
	var ref []byte
	if l.NeedsReference() {
		if w.ref, err = w.Reference(w.ref[:0], l, src[:l.BlockLen(0)]); err != nil {
			return dst, err
		}
		ref = w.ref
	}
	return encodeChunk(dst, l, team, ref, &from)
}

// encodeChunk appends a chunk. A dst without room for the longest chunk is not grown to that size, as the chunk may be
// short: it is made in memory of the worker then.
func encodeChunk(dst []byte, l *Layout, team []*Worker, ref []byte, from *Blocks) ([]byte, error) {
	w, out := team[0], dst
	roomy := cap(dst)-len(dst) >= l.h.NBytes+MaxOverhead
	if !roomy {
		out = w.again[:0]
	}
	out, _, err := build(out, l, team, ref, from)
	if !roomy {
		w.again = out[:0]
	}
	switch {
	case errors.Is(err, errNoRoom):
		out, _, err = store(dst, l, team, from)
		return out, err
	case err != nil:
		return dst, err
	case roomy:
		return out, nil
	}
	return append(dst, out...), nil
}

// Encode appends a chunk with the content src to dst. It sets up codecs for this one call; a [Pool] keeps them for the
// next. See [Pool.Encode].
func Encode(dst, src []byte, c CParams, o *Options) ([]byte, error) {
	return NewPool(o).Encode(dst, src, c)
}
