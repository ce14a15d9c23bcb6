package frame

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
)

// worker is what one goroutine needs.
type worker struct {
	*coder.Worker
	buf     []byte          // decoded blocks
	answers [2]engine.Block // of the plan, about the blocks at hand
	sum     checksumReader  // of a chunk that is read to be compared with its checksum
}

func (f *Frame) getWorker() *worker {
	if w, ok := f.workers.Get().(*worker); ok {
		return w
	}
	return &worker{Worker: f.pool.Get()}
}

// putWorker gives a worker back, unless it must not be used again. After a panic it is not given back either: its codecs
// may be in any state.
func (f *Frame) putWorker(w *worker) {
	if w.Worker == nil {
		return
	}
	for i := range w.answers {
		w.answers[i].Data, w.answers[i].Mover = nil, nil // memory of the caller
	}
	f.workers.Put(w)
}

// withWorker calls do with a worker.
func (f *Frame) withWorker(do func(w *worker) error) error {
	w := f.getWorker()
	err := do(w)
	f.putWorker(w)
	return err
}

// block returns memory for a decoded block.
func (w *worker) block(n int) []byte {
	if cap(w.buf) < n {
		w.buf = make([]byte, n)
	}
	return w.buf[:n]
}

// recoverFault is deferred where a goroutine reads mapped memory for chunk i: when the system cannot provide bytes of the
// file, as it was truncated or the disk fails, that read is a fault, which is made an error here. No check before the read
// could find it. was is what debug.SetPanicOnFault(true) has returned, which belongs to the goroutine. All other panics go
// on. A worker w, which may be nil, is in the middle of a block then and not used again.
func recoverFault(m *storage.Mapped, was bool, f *Frame, i int, w *worker, err *error) {
	debug.SetPanicOnFault(was)
	p := recover()
	if p == nil {
		return
	}
	off, ok := m.Fault(p)
	if !ok {
		panic(p)
	}
	if w != nil {
		w.Worker = nil
	}
	*err = &Error{Path: f.path, Part: "chunk", Chunk: i, Off: -1,
		Err: fmt.Errorf("cannot read byte %d of the mapped file, which was truncated, or the disk fails: %w", off, ErrChanged)}
}

// checksumReader reads from r and makes the checksum of what it has read, while it is in the nearest cache.
type checksumReader struct {
	r    io.ReaderAt
	next int64 // where what it has read ends
	n    int   // how much that is
	sum  uint32
}

// checksumPart is how much it reads at a time. Other than files may need long for every read: from these it reads all
// that is asked for.
const checksumPart = 256 << 10

// ReadAt reads from where it has read to, or else makes no checksum any more.
func (c *checksumReader) ReadAt(p []byte, off int64) (n int, err error) {
	if off != c.next {
		c.next = -1
		return c.r.ReadAt(p, off)
	}
	most := len(p)
	if _, fast := c.r.(storage.File); fast {
		most = checksumPart
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
func (c *checksumReader) of(b []byte) uint32 {
	if c.next >= 0 && c.n == len(b) {
		return c.sum
	}
	return crc32c.Checksum(b)
}
