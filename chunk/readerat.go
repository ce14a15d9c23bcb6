package chunk

import (
	"io"

	"github.com/goblosc/blosc2/internal/coder"
)

// ReaderAt reads the decoded bytes of one chunk by their offset. It decodes only the blocks that it needs. It
// implements [io.ReaderAt] and is safe for concurrent use.
//
// Each call decodes its blocks again. To read from start to end in small steps, use a bufio.Reader with a buffer of at
// least one block (Header().BlockSize).
type ReaderAt struct{ r *coder.ReaderAt }

// NewReaderAt opens the chunk at the start of src, which has size bytes. It ignores bytes after the chunk. It reads the
// header and the positions of the blocks. ReadAt reads the blocks that it needs. o may be nil. The error is an *Error
// that wraps ErrCorrupt, errors.ErrUnsupported or ErrTooLarge, or an error of src.
func NewReaderAt(src io.ReaderAt, size int64, o *Options) (*ReaderAt, error) {
	r, err := coder.NewReaderAt(src, size, (*coder.Options)(o))
	if err != nil {
		return nil, err
	}
	return &ReaderAt{r}, nil
}

// Size returns the decoded size of the chunk in bytes.
func (a *ReaderAt) Size() int64 { return a.r.Size() }

// Header returns the header of the chunk. The caller must not change it.
func (a *ReaderAt) Header() *Header { return a.r.Header() }

// ReadAt decodes the bytes [off, off+len(p)) of the chunk into p, on up to Options.Concurrency goroutines. If the chunk
// ends before that, it returns the number of bytes before the end and io.EOF. After another error it returns 0, and the
// content of p is undefined. The error wraps ErrParam if off is negative. Otherwise it is an *Error that wraps
// ErrCorrupt, errors.ErrUnsupported or ErrTooLarge, or an error of the source.
func (a *ReaderAt) ReadAt(p []byte, off int64) (int, error) { return a.r.ReadAt(p, off) }
