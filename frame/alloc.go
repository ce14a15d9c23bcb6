package frame

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
)

// CheckAlloc returns an error that wraps ErrTooLarge if a caller should not allocate n bytes for data that the frame
// claims to have, because too few bytes are stored or OpenOptions.MaxBytes is smaller. Call it before allocating memory
// whose size a file of unknown origin determines, such as that of a whole array. Methods that return new memory do.
func (f *Frame) CheckAlloc(n int64) error { return f.checkAlloc(n) }

// checkAlloc returns an error that wraps ErrTooLarge if a caller may not allocate n bytes for data that the frame
// claims to have. The limit is OpenOptions.MaxBytes. Without it, n may be at most 64 MiB, or 4096 times the stored
// bytes. Pages of zeros, such as holes in a file, do not count as stored. Frames created by this handle have no limit,
// unless they have chunks that were copied from a frame with one.
func (f *Frame) checkAlloc(n int64) error {
	if limit := f.allocLimit(n); n > limit {
		return fmt.Errorf("%d bytes out of a small file, more than %d: raise OpenOptions.MaxBytes: %w", n, limit, ErrTooLarge)
	}
	return nil
}

// mostAlloc returns the number of bytes that checkAlloc allows. It may read up to 16 MiB of the stored bytes;
// checkAlloc reads less. Beyond 64 GiB it counts the size of the frame instead of reading.
func (f *Frame) mostAlloc() int64 {
	const most = 64 << 30
	limit := f.allocLimit(most)
	if s := f.snap.Load(); s != nil && limit >= most && limit < math.MaxInt64 && f.opts.MaxBytes == 0 {
		limit = max(limit, coder.MemoryRatio*min(s.frameLen, math.MaxInt64/coder.MemoryRatio))
	}
	return limit
}

// allocLimit returns the limit of checkAlloc, as far as it matters for n.
func (f *Frame) allocLimit(n int64) int64 {
	switch {
	case f.opts.MaxBytes > 0:
		return f.opts.MaxBytes
	case f.opts.MaxBytes < 0 || f.trusted.Load():
		return math.MaxInt64
	case n <= coder.FreeBytes:
		return coder.FreeBytes
	}
	s := f.snap.Load()
	if s == nil {
		return coder.FreeBytes
	}
	enough := (n-1)/coder.MemoryRatio + 1
	s.stored.mu.Lock()
	defer s.stored.mu.Unlock()
	if s.stored.sought < enough {
		s.stored.found, s.stored.sought = f.store.stored(s, enough), enough
	}
	return max(coder.FreeBytes, coder.MemoryRatio*min(s.stored.found, math.MaxInt64/coder.MemoryRatio))
}

// copiesFrom gives the frame of the batch a limit if it gets chunks of a frame that has one: what these claim is as
// little trusted as before.
func (b *Batch) copiesFrom(f *Frame) {
	if !f.trusted.Load() {
		b.f.trusted.Store(false)
	}
}

// errHole is the error of n bytes of which too few are stored.
func errHole(n int64) error {
	return fmt.Errorf("%d bytes, too few of them are stored; OpenOptions.MaxBytes may allow them: %w", n, ErrTooLarge)
}

// readStored is storage.ReadAll for a size that a file claims. It returns ErrTooLarge if the stored bytes do not
// justify that size.
func (f *Frame) readStored(src io.ReaderAt, off, n int64) ([]byte, error) {
	if !coder.MayRead(src, off, n, f.opts.MaxBytes) {
		return nil, cmp.Or(storage.Canceled(src), errHole(n)) // bytes that cannot be read count as missing
	}
	return storage.ReadAll(src, off, n)
}
