package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
)

// isURL reports whether a path is a URL, which is read over HTTP.
func isURL(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// openURL opens a frame or a single chunk on a server.
func openURL(ctx context.Context, url string) (_ *source, err error) {
	s := &source{path: url}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.remote, err = remote.Open(ctx, url, nil); err != nil {
		return nil, err
	}
	s.path = s.remote.String()
	if s.frame, err = frame.OpenSource(ctx, s.remote, nil); err == nil {
		s.findArray()
		return s, nil
	}
	if errors.Is(err, frame.ErrFormat) {
		c, chunkErr := newChunkFile(remoteReader{ctx, s.remote}, s.remote.Size())
		if chunkErr == nil {
			s.chunk = c
			return s, nil
		}
		if strings.HasSuffix(s.path, ".chunk") {
			err = s.chunkError(chunkErr)
		}
	}
	var e *frame.Error
	if errors.As(err, &e) && e.Path == "" {
		err = fmt.Errorf("%s: %w", s.path, err)
	}
	return nil, err
}

// remoteReader reads under a context, so that an interrupt ends it.
type remoteReader struct {
	ctx context.Context
	src *remote.Object
}

// ReadAt implements io.ReaderAt.
func (r remoteReader) ReadAt(p []byte, off int64) (int, error) {
	return r.src.ReadAtContext(r.ctx, p, off)
}

// openFrame opens a frame in a file, a directory or on a server for reading.
func openFrame(ctx context.Context, path string) (*source, error) {
	if !isURL(path) {
		f, err := frame.Open(ctx, path, nil)
		return &source{path: path, frame: f}, err
	}
	s, err := openURL(ctx, path)
	if err == nil && s.frame == nil {
		s.close()
		err = fmt.Errorf("%s: a single chunk, want a frame: %w", s.path, frame.ErrFormat)
	}
	return s, err
}
