// Package httprange reads ranges of one version of an object on an HTTP server. It sends requests with a Doer, which in
// a browser is the Fetch API. It follows the rules of package frame/remote, which uses net/http instead.
package httprange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"time"

	"github.com/goblosc/blosc2/frame"
)

const (
	headLen  = 64 << 10 // bytes of the first request
	maxWhole = 64 << 20 // bytes of an object that is read whole, from a server that ignores ranges
	attempts = 4
	maxWait  = 10 * time.Second
)

// A Response is an answer whose body has not been read.
type Response struct {
	Status int
	Header func(name string) string // "" also if the browser hides it
	Body   io.ReadCloser            // Close ends the request
}

// A Doer sends a GET request. The error is one of the connection or of ctx.
type Doer interface {
	Do(ctx context.Context, url string, header map[string]string) (*Response, error)
	// Conditions reports whether requests to a URL may have the header If-Match.
	Conditions(url string) bool
}

// A Resource is an open object. It is an object.Getter.
type Resource struct {
	do      Doer
	url     string
	size    int64
	version version
	whole   []byte        // of a server that ignores ranges
	delay   time.Duration // before the first repetition
}

// Open requests the first bytes of the object at a URL and returns them. Errors wrap fs.ErrNotExist, fs.ErrPermission
// or errors.ErrUnsupported, or are those of the Doer.
func Open(ctx context.Context, do Doer, url string) (r *Resource, head []byte, err error) {
	r = &Resource{do: do, url: url, size: -1, delay: 200 * time.Millisecond}
	err = r.repeat(ctx, func() error {
		head, err = r.first(ctx)
		return err
	})
	return r, head, err
}

// Size returns the number of bytes of the object.
func (r *Resource) Size() int64 { return r.size }

// first requests the first bytes.
func (r *Resource) first(ctx context.Context) ([]byte, error) {
	resp, err := r.do.Do(ctx, r.url, map[string]string{"Range": "bytes=0-" + strconv.Itoa(headLen-1)})
	if err != nil {
		return nil, temporary{err}
	}
	defer resp.Body.Close()
	v := versionOf(resp)
	switch resp.Status {
	case 200:
		b, err := readWhole(resp)
		if err == nil {
			r.version, r.size, r.whole = v, int64(len(b)), b
		}
		return b, err
	case 416:
		if size, err := unsatisfied(resp); err == nil && size == 0 {
			r.version, r.size = v, 0
			return nil, nil
		}
	case 206:
		first, last, size, err := contentRange(resp)
		if err == nil && (first != 0 || last != min(headLen, size)-1) {
			err = unsupported("the answer has the bytes %d-%d, want 0-%d", first, last, min(headLen, size)-1)
		}
		if err == nil && size > last+1 && v == (version{}) {
			err = unsupported("the server names no version (ETag or Last-Modified), or hides it from this page")
		}
		if err != nil {
			return nil, err
		}
		b, err := readBody(resp, last+1)
		if err == nil {
			r.version, r.size = v, size
		}
		return b, err
	}
	return nil, statusError(resp, false)
}

// Get returns the n bytes at off. The error wraps frame.ErrChanged if the object is no longer the version that was
// opened.
func (r *Resource) Get(ctx context.Context, off, n int64) (b []byte, err error) {
	if r.whole != nil {
		return r.whole[off : off+n], nil
	}
	err = r.repeat(ctx, func() error {
		b, err = r.once(ctx, off, n)
		return err
	})
	return b, err
}

// once is Get without repetitions.
func (r *Resource) once(ctx context.Context, off, n int64) ([]byte, error) {
	header := map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", off, off+n-1)}
	if r.do.Conditions(r.url) {
		r.version.condition(header)
	}
	resp, err := r.do.Do(ctx, r.url, header)
	if err != nil {
		return nil, temporary{err}
	}
	defer resp.Body.Close()
	switch resp.Status {
	case 200:
		if err := r.check(resp, -1); err != nil {
			return nil, err
		}
		return nil, unsupported("the server no longer answers with the range asked for")
	case 416:
		if size, err := unsatisfied(resp); err == nil && size != r.size {
			return nil, r.check(resp, size)
		}
	case 206:
		first, last, size, err := contentRange(resp)
		if err == nil {
			err = r.check(resp, size)
		}
		if err == nil && (first != off || last != off+n-1) {
			err = unsupported("the answer has the bytes %d-%d, want %d-%d", first, last, off, off+n-1)
		}
		if err != nil {
			return nil, err
		}
		return readBody(resp, n)
	}
	return nil, statusError(resp, true)
}

// check returns frame.ErrChanged if an answer is about another version. size is -1 if it is not known.
func (r *Resource) check(resp *Response, size int64) error {
	if v := versionOf(resp); !r.version.same(v) {
		tags := v.etag != r.version.etag
		return fmt.Errorf("version %s, opened as %s: %w", v.shown(tags), r.version.shown(tags), frame.ErrChanged)
	}
	if size >= 0 && size != r.size {
		return fmt.Errorf("%d bytes, opened with %d: %w", size, r.size, frame.ErrChanged)
	}
	return nil
}

// temporary is an error after which the request may be repeated.
type temporary struct{ error }

func (t temporary) Unwrap() error { return t.error }

// repeat calls try until it succeeds, or its error is not temporary.
func (r *Resource) repeat(ctx context.Context, try func() error) error {
	wait := r.delay
	for i := 1; ; i++ {
		err := try()
		var t temporary
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil || i == attempts || !errors.As(err, &t) {
			return err
		}
		var later retryAfter
		if errors.As(err, &later) {
			if later.wait > maxWait {
				return err
			}
			wait = max(wait, later.wait)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait *= 2
	}
}

// retryAfter is an error with the time that the server asks to wait.
type retryAfter struct {
	error
	wait time.Duration
}

// statusError returns the error of a status.
func statusError(resp *Response, opened bool) error {
	err := fmt.Errorf("the server answers with status %d", resp.Status)
	switch s := resp.Status; {
	case s == 404 || s == 410:
		if err = fmt.Errorf("%w: %w", err, fs.ErrNotExist); opened {
			err = fmt.Errorf("%w: %w", err, frame.ErrChanged)
		}
	case s == 412 && opened:
		err = fmt.Errorf("%w: %w", err, frame.ErrChanged)
	case s == 401 || s == 403:
		err = fmt.Errorf("%w: %w", err, fs.ErrPermission)
	case s == 408 || s == 425 || s == 429 || s == 500 || s == 502 || s == 503 || s == 504:
		// Of a value out of range, n is the largest one.
		if n, e := strconv.ParseUint(resp.Header("Retry-After"), 10, 31); e == nil || errors.Is(e, strconv.ErrRange) {
			err = retryAfter{err, time.Duration(n) * time.Second}
		}
		return temporary{err}
	}
	return err
}

// unsupported returns an error that wraps errors.ErrUnsupported.
func unsupported(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, errors.ErrUnsupported)...)
}
