package frame

import (
	"context"
	"io"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/ranges"
)

// Source is the bytes of a contiguous frame that are neither in a file nor in memory, such as an object on a server.
// Several goroutines call its methods at the same time.
//
// If a Source also has the method
//
//	Refresh(ctx context.Context) error
//
// then [Frame.Refresh] calls it first. After that, Size returns the number of bytes that are stored now.
//
// If a Source also has the method
//
//	ReadRanges(ctx context.Context, want []Range, got func(i int, at int64, b []byte) error) error
//
// then reads of an array, and of [Frame.Content], call it for the bytes of many chunks and blocks at a time, before
// they decode them. It reads ranges of the source, which may overlap and have any order. It calls got on the goroutine
// of the caller: b is the bytes of range want[i] from its byte at on. A range may arrive in several parts, in any
// order, but each byte once. got does not retain b. ReadRanges stops at an error of got or of ctx, and returns it.
// Bytes that did not arrive are read again with ReadAtContext. A read keeps up to 64 MiB of stored bytes that wait to
// be decoded, or MaxBytes if that is less.
type Source interface {
	// ReadAtContext reads len(p) bytes at offset off, like the ReadAt of an [io.ReaderAt]. It should return the error
	// of ctx soon after ctx is done. It must not retain p.
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
	// Size returns the number of bytes. It does not wait.
	Size() int64
}

// Range is the bytes [Off, Off+Len) of a [Source].
type Range = ranges.Range

// OpenSource opens the frame in src for reading. ctx bounds only the opening; the frame does not retain it. Reads of
// the frame pass their own context to src. Close does not close src. Errors are those of Open and of src.
func OpenSource(ctx context.Context, src Source, o *OpenOptions) (*Frame, error) {
	return openBytes(ctx, storage.FromSource(src), o)
}

// OpenReaderAt opens the frame in the first size bytes of r for reading. If several goroutines use the frame, r must be
// safe for concurrent use. To read a frame at an offset of a file, use an [io.SectionReader]. A call checks its context
// between reads of r, but cannot interrupt a read. Close does not close r. Errors are those of Open and of r.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, o *OpenOptions) (*Frame, error) {
	return openBytes(ctx, storage.FromReader(r, size), o)
}

// OpenBytes opens the frame in b for reading. The frame retains b, which must not change while the frame is open.
// Errors are those of Open.
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
