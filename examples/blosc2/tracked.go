package main

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
)

// openTracked opens a frame in a file so that e.track counts what is read. It returns nil for anything else, and for a
// file that other processes may use under its lock file.
func openTracked(e *env, path string) *source {
	if e.track == nil {
		return nil
	}
	if _, locking := shared(e, path); locking {
		return nil
	}
	f, size, err := openRegular(path)
	if err != nil {
		return nil
	}
	s := &source{path: path, file: f}
	if s.frame, err = frame.OpenSource(e.ctx, &countedBytes{f, size, e.track, false}, nil); err != nil {
		f.Close()
		return nil
	}
	s.findArray()
	e.track.expect(size)
	return s
}

// openMemory opens a frame in memory. If there is progress, it counts what is read.
func openMemory(e *env, b []byte) (*frame.Frame, error) {
	if e.track == nil {
		return frame.OpenBytes(b, nil)
	}
	f, err := frame.OpenSource(e.ctx, &countedBytes{bytes.NewReader(b), int64(len(b)), e.track, true}, nil)
	if err == nil {
		e.track.expect(2 * int64(len(b))) // standard input has counted them already
	}
	return f, err
}

// countedBytes is a file or memory as the source of a frame. It counts the bytes that are read.
type countedBytes struct {
	io.ReaderAt
	size     int64
	p        *progress
	inMemory bool
}

// ReadAtContext implements frame.Source.
func (c *countedBytes) ReadAtContext(ctx context.Context, b []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.ReadAt(b, off)
	if c.p.add(int64(n)); c.inMemory {
		c.p.inMemory.Add(int64(n))
	}
	return n, err
}

// Size implements frame.Source.
func (c *countedBytes) Size() int64 { return c.size }

// remoteOptions returns the options of opening what is on a server. If there is progress, it counts what is received.
func remoteOptions(e *env) *remote.Options {
	if e.track == nil {
		return nil
	}
	return &remote.Options{Trace: func(x remote.Event) {
		if x.Kind == remote.Request {
			e.track.add(x.Len)
		}
	}}
}

// named adds a path to an error of a frame that was opened as a source, and so does not know its path.
func named(err error, path string) error {
	var fault *frame.Error
	if errors.As(err, &fault) && fault.Path == "" {
		fault.Path = path
	}
	return err
}
