package chunk

import (
	"slices"

	"github.com/goblosc/blosc2/internal/filters"
)

// beginStored appends a chunk that holds its data as they are, with any content, and returns where that is to be, too.
func (l *Layout) beginStored(dst []byte) (out, content []byte) {
	h := l.h
	h.Flags |= flagStored
	h.Blosc2Flags &^= b2flagDict // the reference leaves it, and cannot read its chunk
	h.CBytes = h.NBytes + HeaderSize
	out = h.append(slices.Grow(dst, h.CBytes))
	at := len(out)
	out = out[:at+h.NBytes]
	return out, out[at:]
}

// appendStored appends the chunk with its data as they are.
func (w *Worker) appendStored(dst []byte, l *Layout, plain func(k int) ([]byte, error)) ([]byte, error) {
	out, content := l.beginStored(dst)
	for k := range l.nblocks {
		src, err := plain(k)
		if err == nil {
			err = w.storeBlock(content, l, k, src)
		}
		if err != nil {
			return dst, err
		}
	}
	return out, nil
}

// storeBlock writes block k, which is src, to its place in content.
func (w *Worker) storeBlock(content []byte, l *Layout, k int, src []byte) error {
	b := w.layoutBlock(l, k)
	src, err := w.prefilter(src, &b)
	if err == nil {
		filters.Copy(content[k*l.blockSize:], src)
	}
	return err
}

// store appends the chunk with its data, src, as they are. Members of the team copy pieces that are worth it.
func store(dst []byte, l *Layout, team []*Worker, src []byte) ([]byte, error) {
	out, content := l.beginStored(dst)
	if team[0].o.Prefilter == nil {
		copyPieces(content, src, team)
		return out, nil
	}
	err := work(team, l.nblocks, func(w *Worker, k int) error {
		return w.storeBlock(content, l, k, l.block(src, k))
	})
	if err != nil {
		return dst, err
	}
	return out, nil
}

// copyPieces copies src to dst. Members of the team copy pieces that are worth it.
func copyPieces(dst, src []byte, team []*Worker) {
	team = team[:min(len(team), 1+len(src)/sharedFrom)]
	_ = work(team, (len(src)+movedPiece-1)/movedPiece, func(_ *Worker, i int) error {
		at := i * movedPiece
		filters.Copy(dst[at:], src[at:min(at+movedPiece, len(src))])
		return nil
	})
}

// movedPiece is how many bytes a worker copies or fills in one go. Copies of as many do not take the lines into the cache
// that they overwrite.
const movedPiece = 2 << 20

// sharedFrom is how many bytes one worker copies or fills in less time than it takes to set another one to work.
const sharedFrom = 4 << 20
