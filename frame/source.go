package frame

import (
	"context"
	"io"

	"github.com/goblosc/blosc2/frame/internal/storage"
)

// Source is where the bytes of a contiguous frame come from, when they are neither in a file nor in memory. Its methods
// are called by several goroutines at the same time.
//
// If a Source also has the method
//
//	Refresh(ctx context.Context) error
//
// then [Frame.Refresh] calls it first. After that, Size returns the number of bytes that are stored now.
type Source interface {
	// ReadAtContext reads len(p) bytes at offset off, like the ReadAt of an [io.ReaderAt]. It should return the error
	// of ctx soon after ctx is done. It must not keep p.
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
	// Size returns the number of bytes. It does not wait.
	Size() int64
}

// OpenSource opens the frame in src for reading. ctx is for the opening; the frame does not keep it. Reads of the frame
// pass their own context on to src. Close does not close src. Errors are those of Open and of src.
func OpenSource(ctx context.Context, src Source, o *OpenOptions) (*Frame, error) {
	return openBytes(ctx, storage.FromSource(src), o)
}

// OpenReaderAt opens the frame in the first size bytes of r for reading. r must be safe for concurrent use if the frame
// is used so. To read a frame inside a file, at an offset, use an [io.SectionReader]. A context is honored between
// reads of r. Close does not close r. Errors are those of Open and of r.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, o *OpenOptions) (*Frame, error) {
	return openBytes(ctx, storage.FromReader(r, size), o)
}

// OpenBytes opens the frame in b for reading. b must not change while the frame is open.
func OpenBytes(b []byte, o *OpenOptions) (*Frame, error) {
	return openBytes(context.Background(), NewMemory(b), o)
}

// openBytes opens a frame for reading that is not in a file.
func openBytes(ctx context.Context, st Storage, o *OpenOptions) (*Frame, error) {
	opts, sys, err := o.settings(placeBytes)
	if err != nil {
		return nil, err
	}
	f, err := newFrame("", opts, sys)
	if err != nil {
		return nil, err
	}
	return f.openStorage(ctx, st, false)
}
