package remote

import (
	"context"
	"io"
)

// Getter requests ranges of one object in a store that is not read with this package's HTTP requests. Several
// goroutines call Get at the same time. If a Getter is an io.Closer, the Object closes it.
type Getter interface {
	// Get requests the n bytes at off, or those up to the end of the object, or its last n bytes if off is negative. If
	// the store has no requests for the last bytes, Get returns errors.ErrUnsupported. n is greater than 0. If off is
	// greater than 0 and the object has no byte at off, Get returns ErrBounds.
	//
	// version is the version to be read, or "" if the object is being opened. Get should ask the store to answer only
	// if the object still has that version. It returns ErrChanged if it has another one. The Object also compares each
	// answer.
	//
	// Get should return soon after ctx is done. It repeats requests itself: its errors are final.
	Get(ctx context.Context, off, n int64, version string) (*Answer, error)
}

// Answer is the answer to a request of a Getter.
type Answer struct {
	Body io.ReadCloser // the bytes asked for; nil if the object is empty
	Size int64         // of the object
	// Version names the version of the object: if two versions are equal, the bytes are equal. "" = unknown, and so is
	// a name of more than 1 KiB.
	Version string
}
