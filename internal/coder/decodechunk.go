package coder

import (
	"math"

	"github.com/goblosc/blosc2/internal/sched"
)

// Decode appends the content of the chunk at the start of src to dst, on up to Options.Concurrency goroutines.
// Bytes behind the chunk are ignored. Errors are ErrCorrupt, ErrUnsupported or ErrTooLarge, in an *Error.
func (p *Pool) Decode(dst, src []byte) ([]byte, error) {
	h, err := ParseHeader(src, int64(len(src)))
	if err != nil {
		return dst, err
	}
	if p.o.Postfilter == nil && (h.Special() != Regular || h.Stored()) {
		out, err := p.room(dst, &h, src)
		if err == nil {
			p.decodeFlat(out[len(dst):], &h, src)
		}
		return out, err
	}
	w := p.Get()
	out, err := p.decode(dst, src, w)
	w.reader.reset() // hold no memory of the caller
	p.Put(w)         // not after a panic: see putTeam
	return out, err
}

// decode is Decode for a chunk that w opens.
func (p *Pool) decode(dst, src []byte, w *Worker) ([]byte, error) {
	r := &w.reader
	if err := w.Open(r, src); err != nil {
		return dst, err
	}
	out, err := p.room(dst, &r.h, src)
	if err != nil {
		return dst, err
	}
	whole := out[len(dst):]
	if err := p.decodeBlocks(whole, w, r); err != nil {
		return dst, err
	}
	return out, nil
}

// decodeBlocks decodes all blocks of a chunk that w has opened. Where that pays, workers take two blocks at a time, as long
// as there are two for each of them.
func (p *Pool) decodeBlocks(whole []byte, w *Worker, r *Reader) error {
	n, pairs := r.h.nblocks, 0
	team := p.team(n)
	if w.PrefersPairs(r) {
		pairs = n / (2 * len(team)) * len(team)
	}
	place := func(k int) []byte {
		at := r.BlockOffset(k)
		return whole[at : at+r.BlockLen(k)]
	}
	err := sched.Each(&team[0].pool.Pool, team, n-pairs, func(w *Worker, i int) error {
		if i < pairs {
			return w.DecodePair([2][]byte{place(2 * i), place(2*i + 1)}, r, [2]int{2 * i, 2*i + 1})
		}
		return w.DecodeBlock(place(pairs+i), r, pairs+i)
	})
	p.putTeam(team)
	return err
}

// room returns dst with as many more bytes as a chunk decodes to. It fails with ErrTooLarge.
func (p *Pool) room(dst []byte, h *Header, src []byte) ([]byte, error) {
	n := h.NBytes
	if cap(dst)-len(dst) >= n {
		return grow(dst, n), nil
	}
	if limit, ok := p.o.allows(int64(n), FreeBytes, h, nil, 0, src); !ok || n > math.MaxInt-len(dst) {
		return dst, headerError(4, ErrTooLarge, "%d bytes decoded from %d, Options.MaxBytes allows %d", n, h.CBytes, limit)
	}
	return grow(dst, n), nil
}

// decodeFlat fills dst with the content of a chunk in memory that is stored or special, whatever its blocks are.
func (p *Pool) decodeFlat(dst []byte, h *Header, chunk []byte) {
	if len(dst) < sharedFrom {
		h.flat(dst, chunk, 0)
		return
	}
	p.decodePieces(dst, *h, chunk, 1+len(dst)/sharedFrom)
}

// decodePieces is decodeFlat for several workers. Writing a piece never fails.
func (p *Pool) decodePieces(dst []byte, h Header, chunk []byte, workers int) {
	team := p.team(workers)
	_ = sched.Each(&team[0].pool.Pool, team, (len(dst)-1)/movedPiece+1, func(_ *Worker, i int) error {
		at := i * movedPiece
		h.flat(dst[at:min(at+movedPiece, len(dst))], chunk, at)
		return nil
	})
	p.putTeam(team)
}

// Decode appends the content of the chunk at the start of src to dst. It sets up codecs for this one call; a [Pool]
// keeps them for the next. See [Pool.Decode].
func Decode(dst, src []byte, o *Options) ([]byte, error) { return NewPool(o).Decode(dst, src) }
