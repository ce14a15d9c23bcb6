package frame

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/goblosc/blosc2/internal/task"
)

// Content returns the decoded bytes of the super-chunk, its chunks one after the other. Several goroutines may call
// ReadAt of the result; Read and Seek have one position. Its size in bytes is that of the frame at the time of the
// call. Each call of ReadAt or Read takes the state that the frame has then, whole; Save writes one state. It decodes
// only the blocks that it needs, on up to Concurrency goroutines, and stops when ctx is done. In a frame with chunks of
// variable size the first read reads the headers of all chunks.
//
// Read in steps of at least a block, by io.CopyBuffer or a bufio.Reader for instance, or set OpenOptions.Cache: each
// read decodes its blocks again.
//
// The errors of a read are io.EOF, those of ReadChunk, and those of ctx. If the frame is closed, every read returns
// fs.ErrClosed.
func (f *Frame) Content(ctx context.Context) *io.SectionReader {
	n := int64(math.MaxInt64) // of a closed frame: reads must fail, not find the end
	if s := f.snap.Load(); s != nil {
		n = s.nbytes
	}
	return io.NewSectionReader(&contentReader{f, task.Context(ctx)}, 0, n)
}

// contentReader is the decoded bytes of a frame.
type contentReader struct {
	f   *Frame
	ctx context.Context // of all reads
}

// ReadAt implements io.ReaderAt.
func (c *contentReader) ReadAt(p []byte, off int64) (_ int, err error) {
	f := c.f
	s, err := f.acquire(c.ctx)
	if err != nil {
		return 0, err
	}
	defer f.release(s, &err)
	if off < 0 {
		return 0, f.wrap("super-chunk", -1, fmt.Errorf("reading at %d: %w", off, ErrBounds))
	}
	if off >= s.nbytes {
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), s.nbytes-off)]
	if err := f.readRange(c.ctx, s, want, off); err != nil {
		return 0, err
	}
	if len(want) < len(p) {
		return len(want), io.EOF
	}
	return len(p), nil
}
