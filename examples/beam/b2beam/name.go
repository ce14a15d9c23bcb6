package b2beam

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/ndarray"
)

// Join returns the name of a folder or file below a folder. The name of the folder is a path, or a URL whose query is
// kept, such as s3://bucket/dir?region=eu-west-1. The elements are separated by slashes. A slash at the end of the last
// one stays in a URL, where it marks a sparse array.
func Join(dir string, elem ...string) string {
	if !isURL(dir) {
		return paths.Trim(filepath.FromSlash(paths.Join(strings.TrimPrefix(dir, "file://"), path.Join(elem...))))
	}
	u, err := parseURL(dir)
	if err != nil {
		return dir // the caller that opens it gets the error
	}
	u.Path = path.Join("/", u.Path, path.Join(elem...))
	if len(elem) > 0 && strings.HasSuffix(elem[len(elem)-1], "/") {
		u.Path += "/"
	}
	return u.String()
}

// isURL reports whether a name is the URL of an object or a folder, on a web server or in a bucket. A name that begins
// with file:// is a path.
func isURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && !strings.ContainsAny(scheme, `/\`) && scheme != "file"
}

// isWeb reports whether a URL is read over HTTP.
func isWeb(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

// parseURL parses a URL. Its errors do not hold the URL or a part of it, which may have a password or another secret.
func parseURL(name string) (*url.URL, error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("%w: invalid URL", ndarray.ErrParam)
	}
	u.RawPath = ""
	return u, nil
}

// shown returns a name for messages: without the password and the query of a URL, which may have secrets, and of an
// invalid URL only the scheme.
func shown(name string) string {
	if !isURL(name) {
		return name
	}
	u, err := parseURL(name)
	if err != nil {
		scheme, _, _ := strings.Cut(name, "://")
		return scheme + "://"
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	return u.Redacted()
}

// arrayName returns the name of an array in a folder: a path, or a URL whose path ends with a slash.
func arrayName(dir, array string) (string, error) {
	local, err := filepath.Localize(array)
	if err != nil || local == "." {
		return "", fmt.Errorf("%w: the name is not that of a file below a folder", ndarray.ErrParam)
	}
	if !isURL(dir) {
		return Join(dir, array+".b2nd"), nil
	}
	u, err := parseURL(Join(dir, array+".b2nd"))
	if err != nil {
		return "", err
	}
	if isWeb(u) {
		return "", fmt.Errorf("%w: %s is on a web server, which is only read", ndarray.ErrParam, shown(dir))
	}
	u.Path += "/"
	return u.String(), nil
}

// source is an object or a sparse frame at a URL.
type source interface {
	frame.Source
	io.Closer
	Version() string
	ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error
}

// openSource opens the object at a URL, or the sparse frame at a URL whose path ends with a slash.
func openSource(ctx context.Context, name string, o *remote.Options) (source, error) {
	u, err := parseURL(name)
	if err != nil {
		return nil, err
	}
	switch sparse := strings.HasSuffix(u.Path, "/"); {
	case isWeb(u) && sparse:
		return opened(remote.OpenDir(ctx, name, o))
	case isWeb(u):
		return opened(remote.Open(ctx, name, o))
	case sparse:
		return opened(cloud.OpenDir(ctx, name, nil, o))
	}
	return opened(cloud.Open(ctx, name, nil, o))
}

// opened returns a nil interface after an error.
func opened[S source](s S, err error) (source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// bucket is the bucket of a folder. It is opened when it is first needed.
type bucket struct{ open *cloud.Bucket }

// objects returns the objects of the array at a URL. All arrays must be in the same bucket.
func (b *bucket) objects(ctx context.Context, name string) (frame.Objects, error) {
	u, err := parseURL(name)
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(u.Path, "/")
	if b.open == nil {
		u.Path = ""
		if b.open, err = cloud.OpenBucket(ctx, u.String(), nil); err != nil {
			return nil, err
		}
	}
	return b.open.Objects(prefix), nil
}

// place returns the path of an array and the options to open it with. For the URL of an array the path is empty, and
// the options have its objects.
func (b *bucket) place(ctx context.Context, name string) (path string, o *ndarray.OpenOptions, err error) {
	if !isURL(name) {
		return name, &ndarray.OpenOptions{}, nil
	}
	objects, err := b.objects(ctx, name)
	return "", &ndarray.OpenOptions{Objects: objects}, err
}

// close closes the bucket if it is open.
func (b *bucket) close() error {
	if b.open == nil {
		return nil
	}
	err := b.open.Close()
	b.open = nil
	return err
}
