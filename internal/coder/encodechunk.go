package coder

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/internal/errs"
)

// Encode appends a chunk with the content src to dst. See chunk.Coder.Encode.
func (p *Pool) Encode(dst, src []byte, c Params) ([]byte, error) {
	l, err := p.o.Plugins.Layout(c, len(src))
	if err != nil {
		return dst, err
	}
	return p.EncodeLayout(context.Background(), dst, src, l, -1)
}

// EncodeLayout is Encode with the layout of the chunk, which is for len(src) bytes, its number or -1, see Worker.Chunk,
// and with a context. It returns the error of ctx if ctx is done before the last block.
func (p *Pool) EncodeLayout(ctx context.Context, dst, src []byte, l *Layout, number int64) ([]byte, error) {
	if len(src)+MaxOverhead > math.MaxInt-len(dst) {
		return dst, fmt.Errorf("chunk: %d bytes after %d: %w", len(src), len(dst), errs.ErrTooLarge)
	}
	n := l.NumBlocks
	if l.Stored {
		n = 1 + len(src)/minShared
	}
	workers := p.getWorkers(ctx, n, number)
	out, err := encode(dst, l, workers, src)
	p.putWorkers(workers) // not after a panic: see putWorkers
	return out, err
}

// encode is Encode on the given workers.
func encode(dst []byte, l *Layout, workers []*Worker, src []byte) ([]byte, error) {
	w := workers[0]
	from := Blocks{content: src}
	if l.Stored {
		out, _, err := store(dst, l, workers, &from)
		return out, err
	}
	var err error
	if l, err = w.Train(l, func(k int) ([]byte, error) { return from.plain(l, k) }); err != nil {
		return dst, err
	}
	var ref []byte
	if l.NeedsReference {
		if w.ref, err = w.Reference(w.ref[:0], l, src[:l.BlockLen(0)]); err != nil {
			return dst, err
		}
		ref = w.ref
	}
	return encodeChunk(dst, l, workers, ref, &from)
}

// encodeChunk appends a chunk. If dst does not have space for the longest chunk, it makes the chunk in memory of the
// worker and copies it, because growing dst to that size wastes memory if the chunk is short.
func encodeChunk(dst []byte, l *Layout, workers []*Worker, ref []byte, from *Blocks) ([]byte, error) {
	w, out := workers[0], dst
	fits := cap(dst)-len(dst) >= l.NBytes+MaxOverhead
	if !fits {
		out = w.scratch[:0]
	}
	out, _, err := build(out, l, workers, ref, from)
	if !fits {
		w.scratch = out[:0]
	}
	switch {
	case errors.Is(err, errNoRoom):
		out, _, err = store(dst, l, workers, from)
		return out, err
	case err != nil:
		return dst, err
	case fits:
		return out, nil
	}
	return append(dst, out...), nil
}

// Encode appends a chunk with the content src to dst. It sets up codecs for this one call; a [Pool] keeps them for the
// next. See [Pool.Encode].
func Encode(dst, src []byte, c Params, o *Options) ([]byte, error) {
	return NewPool(o).Encode(dst, src, c)
}
