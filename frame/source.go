package frame

import (
	"io"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
)

// openChunk opens chunk i of a snapshot, which is not a special entry, into r. want is the share of it that will be
// read. The source must be closed when r is not used any more.
func (f *Frame) openChunk(s *snapshot, w *worker, r *coder.Reader, i int, want float64) (io.Closer, error) {
	next := entry(-1)
	if i+1 < s.index.n {
		next = s.index.at(i + 1)
	}
	check := f.mustCheck(s, i, want)
	if check {
		want = 1
	}
	e := s.index.at(i)
	src, err := f.store.open(s, e, next)
	if err != nil {
		return nil, f.chunkError(s, i, err)
	}
	switch {
	case src.mem != nil:
		err = w.Open(r, src.mem)
	case check:
		w.sum = checksumReader{r: src.at, next: src.off}
		err = w.OpenAt(r, &w.sum, src.off, src.size, src.guess, want)
	default:
		err = w.OpenAt(r, src.at, src.off, src.size, src.guess, want)
	}
	if err == nil {
		err = s.checkChunk(i, r.Header())
	}
	if err == nil && check {
		sum := uint32(0)
		if src.mem != nil {
			sum = crc32c.Checksum(r.Raw())
		} else {
			sum = w.sum.of(r.Raw())
			w.sum.r = nil
		}
		if sum == s.index.sums[i] {
			f.noteChecked(s, i)
		} else {
			err = ErrChecksum
		}
	}
	if err != nil {
		closeSource(src.close)
		return nil, f.chunkError(s, i, err)
	}
	return src.close, nil
}
