package coder

import (
	"context"
	"math"

	"github.com/goblosc/blosc2/internal/errs"
)

// Decode appends the content of the chunk at the start of src to dst. See chunk.Coder.Decode.
func (p *Pool) Decode(dst, src []byte) ([]byte, error) {
	return p.DecodeNumber(context.Background(), dst, src, -1)
}

// DecodeNumber is Decode with the number of the chunk or -1, see Worker.Chunk, and with a context. It returns the error
// of ctx if ctx is done before the last block.
func (p *Pool) DecodeNumber(ctx context.Context, dst, src []byte, number int64) ([]byte, error) {
	h, err := ParseHeader(src, int64(len(src)))
	if err != nil {
		return dst, err
	}
	if p.o.Postfilter == nil && (h.Special != Regular || h.Stored) {
		out, err := p.growFor(dst, &h, src)
		if err == nil {
			err = p.fill(ctx, out[len(dst):], &h, src, 0)
		}
		if err != nil {
			return dst, err
		}
		return out, nil
	}
	w := p.Get()
	w.Chunk = number
	out, err := p.decode(ctx, dst, src, w)
	w.reader.Release() // retain no memory of the caller
	p.Put(w)           // not after a panic: see putWorkers
	return out, err
}

// decode is Decode for a chunk that w opens.
func (p *Pool) decode(ctx context.Context, dst, src []byte, w *Worker) ([]byte, error) {
	r := &w.reader
	if err := w.Open(r, src); err != nil {
		return dst, err
	}
	out, err := p.growFor(dst, &r.Header, src)
	if err != nil {
		return dst, err
	}
	whole := out[len(dst):]
	if err := p.decodeBlocks(ctx, whole, w, r); err != nil {
		return dst, err
	}
	return out, nil
}

// uncachedLeast is the size in bytes from which a decoded chunk is written past the caches if one worker decodes it and
// filters write it. Most caches cannot keep such a chunk until it is read. Stores past the caches do not load the lines
// that they overwrite, so they take half the time. With a third-level cache of 32 MiB, writing and then reading 10 MiB
// takes the same time either way. With less, the caches are faster.
const uncachedLeast = 12 << 20

// uncachedFill is that size if several workers decode the chunk, or if it is only copied or filled. Several workers use
// up what the memory can take, while the caches take more: with a third-level cache of 32 MiB, two workers that decode
// a shuffled ramp of 16 MiB again and again take 1.6 times as long past the caches. A fill reads nothing that also
// takes space in the caches: filling 16 MiB again and again takes 1.7 times as long. Go clears memory by the same
// limit.
const uncachedFill = 32 << 20

// uncached reports whether workers that decode n bytes write them past the caches.
func uncached(n int, workers []*Worker) bool {
	return n >= uncachedFill || n >= uncachedLeast && len(workers) == 1
}

// decodeBlocks decodes all blocks of a chunk that w has opened. Where it is faster, workers decode two blocks at once,
// as long as there are two for each worker.
func (p *Pool) decodeBlocks(ctx context.Context, whole []byte, w *Worker, r *Reader) error {
	n, pairs := r.NumBlocks, 0
	workers := p.getDecoders(ctx, n, r, w.Chunk)
	r.uncached = p.o.Postfilter == nil && uncached(len(whole), workers)
	if w.PrefersPairs(r) {
		pairs = n / (2 * len(workers)) * len(workers)
	}
	block := func(k int) []byte {
		at := r.BlockOffset(k)
		return whole[at : at+r.BlockLen(k)]
	}
	err := spread(workers, n-pairs, func(w *Worker, i int) error {
		if i < pairs {
			return w.DecodePair([2][]byte{block(2 * i), block(2*i + 1)}, r, [2]int{2 * i, 2*i + 1})
		}
		return w.DecodeBlock(block(pairs+i), r, pairs+i)
	})
	p.putWorkers(workers)
	return err
}

// growFor returns dst grown by the decoded size of a chunk. It returns ErrTooLarge if the chunk is too large.
func (p *Pool) growFor(dst []byte, h *Header, src []byte) ([]byte, error) {
	n := h.NBytes
	if cap(dst)-len(dst) >= n {
		return grow(dst, n), nil
	}
	if limit, ok, _ := p.o.allows(int64(n), FreeBytes, h, nil, 0, src); !ok || n > math.MaxInt-len(dst) {
		return dst, headerError(4, errs.ErrTooLarge, "%d decoded bytes in a chunk of %d, but %s", n, h.CBytes, p.o.limitText("a chunk", limit))
	}
	return grow(dst, n), nil
}

// fill fills dst with the content, from byte at up, of a stored or special chunk in memory.
func (p *Pool) fill(ctx context.Context, dst []byte, h *Header, chunk []byte, at int) error {
	if len(dst) < minShared {
		h.fill(dst, chunk, at, false)
		return nil
	}
	return p.fillPieces(ctx, dst, *h, chunk, at, 1+len(dst)/minShared)
}

// fillPieces is fill on up to n workers.
func (p *Pool) fillPieces(ctx context.Context, dst []byte, h Header, chunk []byte, at, n int) error {
	workers, uncached := p.getWorkers(ctx, n, -1), len(dst) >= uncachedFill
	size := pieceSize(len(dst), workers)
	err := spread(workers, (len(dst)-1)/size+1, func(_ *Worker, i int) error {
		from := i * size
		h.fill(dst[from:min(from+size, len(dst))], chunk, at+from, uncached)
		return nil
	})
	p.putWorkers(workers)
	return err
}

// Decode appends the content of the chunk at the start of src to dst. It sets up codecs for this one call; a [Pool]
// keeps them for the next. See [Pool.Decode].
func Decode(dst, src []byte, o *Options) ([]byte, error) { return NewPool(o).Decode(dst, src) }
