package serve

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// errChanging is returned if a file changes during each attempt to read it.
var errChanging = errors.New("the file is being edited")

const (
	maxReads   = 7                      // of a file that changes
	firstPause = 5 * time.Millisecond   // before it is read again; each pause is twice as long as the one before
	quiet      = 200 * time.Millisecond // after a write, no commit is under way
)

// stable calls read with the target of a path. If the file changes in the meantime, read may have seen several commits:
// stable calls it again after a pause, unless the answer has begun. was is the stamp of the file before the call.
// During the pause, others use the decoder.
func (s *Server) stable(ctx context.Context, decoder *seat, w *response, p string, read func(t target, was stamp) error) error {
	for n := 1; ; n++ {
		t, err := s.resolve(p)
		if err != nil {
			return err
		}
		was := s.stampNow(t)
		err = read(t, was)
		if w.code != 0 || !s.isChanging(t, was, err) {
			return err
		}
		switch {
		case n < maxReads:
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, ndarray.ErrNotArray): // in each state
			return err
		default:
			return errChanging
		}
		decoder.leave()
		if err := pause(ctx, firstPause<<(n-1)); err != nil {
			return err
		}
		if err := decoder.take(ctx); err != nil {
			return err
		}
	}
}

// pause waits for a time.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stampNow returns the stamp of the file of a target: of the index if it is a sparse frame. That of other directories,
// and of what does not exist, is always zero.
func (s *Server) stampNow(t target) stamp {
	info, err := s.root.Stat(t.name)
	if err == nil && info.IsDir() {
		info, err = s.root.Stat(filepath.Join(t.name, "chunks.b2frame"))
	}
	if err != nil {
		return stamp{}
	}
	return stampOf(info)
}

// isChanging reports whether the file of a target has changed since it had a stamp, or may be in the middle of a commit
// that causes an error of reading.
func (s *Server) isChanging(t target, was stamp, err error) bool {
	if err != nil && !mayPass(err) {
		return false
	}
	now := s.stampNow(t)
	return now != was || errors.Is(err, frame.ErrChanged) || err != nil && time.Since(time.Unix(0, now.mtime)).Abs() < quiet
}

// mayPass reports whether reading an intact file during a commit may cause an error.
func mayPass(err error) bool {
	for _, e := range []error{ndarray.ErrCorrupt, ndarray.ErrChanged, ndarray.ErrNotArray, ndarray.ErrFormat, errors.ErrUnsupported, fs.ErrNotExist} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// withArray calls use with the array of a target. If the file changes in the meantime, it opens the file again and
// repeats the call, unless the answer has begun.
func (s *Server) withArray(ctx context.Context, decoder *seat, w *response, p string, use func(t target, e *entry) error) error {
	return s.stable(ctx, decoder, w, p, func(t target, was stamp) error {
		e, err := s.open(ctx, t)
		if err != nil {
			return err
		}
		defer e.release()
		if err = e.noArray; err == nil {
			err = use(t, e)
		}
		if err != nil && s.isChanging(t, was, err) {
			for x := e; x != nil; x = x.parent {
				s.cache.forget(x)
			}
		}
		return err
	})
}
