package coder

import (
	"context"
	"io"
	"slices"
)

// readerAt reads the decoded bytes of one chunk by their offset. See chunk.Coder.DecodeAt.
type readerAt struct {
	pool *Pool
	r    Reader
}

// DecodeAt decodes the bytes [off, off+len(dst)) of the chunk at the start of src, which has size bytes. See
// chunk.Coder.DecodeAt.
func (p *Pool) DecodeAt(dst []byte, src io.ReaderAt, size, off int64) (int, error) {
	a := readerAt{pool: p}
	w := p.Get()
	err := w.OpenAt(&a.r, src, 0, size, 0, 0)
	p.Put(w)
	if err != nil {
		return 0, err
	}
	return a.ReadAt(dst, off)
}

// Size returns the decoded size of the chunk in bytes.
func (a *readerAt) Size() int64 { return int64(a.r.NBytes) }

// ReadAt decodes the bytes [off, off+len(p)) of the chunk into p. See chunk.Coder.DecodeAt.
func (a *readerAt) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, paramError("reading at %d", off)
	}
	if off >= a.Size() {
		return 0, io.EOF
	}
	at := int(off)
	n := min(len(p), a.r.NBytes-at)
	if n > 0 {
		if err := a.pool.readRange(p[:n], &a.r, at); err != nil {
			return 0, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readRange decodes the bytes of the chunk from at up into dst. Without a Postfilter, the blocks of special and stored
// chunks do not matter: neither memory nor time depends on their size.
func (p *Pool) readRange(dst []byte, r *Reader, at int) error {
	if p.o.Postfilter == nil {
		switch {
		case r.Special != Regular:
			return p.fill(context.Background(), dst, &r.Header, r.mem, at)
		case r.Stored:
			return p.readStored(dst, r, at)
		}
	}
	first, last := r.blockAt(at), r.blockAt(at+len(dst)-1)
	workers := p.getDecoders(context.Background(), last-first+1, r, -1)
	err := each(workers, last-first+1, func(w *Worker, k int) error { return w.readPart(dst, r, first+k, at) })
	p.putWorkers(workers) // not after a panic: see putWorkers
	return err
}

// readStored reads the bytes of a stored chunk from at up into dst. If there are many, several workers read pieces.
func (p *Pool) readStored(dst []byte, r *Reader, at int) error {
	if len(dst) < minShared {
		return r.readStored(dst, at)
	}
	workers := p.getWorkers(context.Background(), 1+len(dst)/minShared, -1)
	err := each(workers, (len(dst)-1)/copySize+1, func(_ *Worker, i int) error {
		from := i * copySize
		return r.readStored(dst[from:min(from+copySize, len(dst))], at+from)
	})
	p.putWorkers(workers)
	return err
}

// readPart decodes the bytes of block k that p needs. p is the bytes of the chunk from at up.
func (w *Worker) readPart(p []byte, r *Reader, k, at int) error {
	start, n := r.BlockOffset(k), r.BlockLen(k)
	if start >= at && n <= len(p)-(start-at) {
		return w.DecodeBlock(p[start-at:start-at+n], r, k)
	}
	w.part = slices.Grow(w.part[:0], n)[:n]
	if err := w.DecodePrefix(w.part, r, k, min(n, at+len(p)-start)); err != nil {
		return err
	}
	if start < at {
		copy(p, w.part[at-start:])
	} else {
		copy(p[start-at:], w.part)
	}
	return nil
}
