package chunk

import (
	"io"

	"github.com/goblosc/blosc2/internal/coder"
)

// ReaderAt reads the decoded bytes of one chunk by their position. It decodes only the blocks that it needs. It
// implements [io.ReaderAt] and is safe for concurrent use.
//
// Each call decodes its blocks again. To read from start to end in small pieces, put a bufio.Reader with a buffer of at
// least one block (Header().BlockSize) in front.
type ReaderAt struct{ r *coder.ReaderAt }

// NewReaderAt opens the chunk at the start of src, which has size bytes; bytes after the chunk are ignored. It reads
// the header and the positions of the blocks, and the streams of a block each time the block is needed. o may be nil.
// Errors are ErrCorrupt, ErrUnsupported or ErrTooLarge, in an *Error, or those of src.
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

// ReadAt decodes the bytes [off, off+len(p)) of the chunk into p, on up to Options.Concurrency goroutines. At the end
// of the chunk it returns fewer, and io.EOF. After another error the content of p is undefined and the count is 0.
// Errors are ErrParam for an offset below 0, ErrCorrupt or ErrUnsupported, in an *Error, or those of the source.
func (a *ReaderAt) ReadAt(p []byte, off int64) (int, error) { return a.r.ReadAt(p, off) }
