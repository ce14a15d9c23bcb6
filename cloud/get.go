package cloud

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
)

// object is the remote.Getter of an object.
type object struct {
	b   *Bucket
	key string
}

// ownObject is an object that has its bucket for itself.
type ownObject struct{ object }

// Close implements io.Closer.
func (x *ownObject) Close() error { return x.b.Close() }

// Get implements remote.Getter.
func (x *object) Get(ctx context.Context, off, n int64, version string) (*remote.Answer, error) {
	a, err := x.b.driver.Get(ctx, x.b.Bucket, x.key, off, n, version)
	opened := version != ""
	switch {
	case err == nil && a.Size == 0: // an empty object has no range to read
		body := a.Body
		a.Body = nil
		return a, body.Close()
	case err == nil:
		return a, nil
	case x.b.driver.Status(err) == http.StatusRequestedRangeNotSatisfiable:
		switch {
		case opened:
			return nil, fmt.Errorf("%w: %w", err, frame.ErrChanged)
		case off > 0:
			return nil, fmt.Errorf("%w: %w", err, frame.ErrBounds)
		case off < 0: // it is empty, or the store has no ranges at the end
			return nil, fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
		}
		return &remote.Answer{}, nil // it has no byte at 0
	}
	return nil, x.b.wrap(err, opened)
}

// wrap returns an error of a read with its common value.
func (b *Bucket) wrap(err error, opened bool) error {
	status, code := b.driver.Status(err), gcerrors.Code(err)
	var u *url.Error
	if errors.As(err, &u) { // the query of its URL may hold a token
		err = u.Err
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == 0 && code == gcerrors.PermissionDenied:
		return fmt.Errorf("%w: %w", err, fs.ErrPermission)
	case status == http.StatusNotFound || code == gcerrors.NotFound:
		if opened {
			return fmt.Errorf("%w: %w: %w", err, fs.ErrNotExist, frame.ErrChanged)
		}
		return fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	case opened && (status == http.StatusPreconditionFailed || code == gcerrors.FailedPrecondition):
		return fmt.Errorf("%w: %w", err, frame.ErrChanged)
	}
	return err
}

// common is the Driver of a store of which no more is known. The time of the last change names a version.
type common struct{}

// Status implements Driver.
func (common) Status(error) int { return 0 }

// Get implements Driver.
func (common) Get(ctx context.Context, b *blob.Bucket, key string, off, n int64, _ string) (*remote.Answer, error) {
	if off < 0 {
		return nil, errors.ErrUnsupported
	}
	r, err := b.NewRangeReader(ctx, key, off, n, nil)
	if err != nil {
		return nil, err
	}
	a := &remote.Answer{Body: r, Size: r.Size()}
	if t := r.ModTime(); !t.IsZero() {
		a.Version = t.UTC().Format("2006-01-02T15:04:05.999999999Z")
	}
	return a, nil
}
