// Package gcs opens objects in Google Cloud Storage.
//
//	src, err := gcs.Open(ctx, "gs://bucket/a.b2nd", nil)
//	if err != nil {
//		return err
//	}
//	defer src.Close()
//	a, err := ndarray.OpenSource(ctx, src, nil)
//
// Credentials are the application default credentials. The query of the URL can set others: see
// [gocloud.dev/blob/gcsblob.URLOpener]. The generation names the version of an object, and every read after the first
// asks for that generation. Opening takes one round trip of two requests. A request is sent up to five times, also if
// the program has set another number in a client of its own.
package gcs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob" // opens gs:// URLs
	"google.golang.org/api/googleapi"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/frame/remote"
)

// Open opens the object at a URL such as "gs://bucket/dir/a.b2nd" for reading. See [cloud.Open].
func Open(ctx context.Context, url string, o *remote.Options) (*remote.Object, error) {
	return cloud.Open(ctx, url, Driver{}, o)
}

// OpenDir opens the sparse frame at a URL such as "gs://bucket/dir/a.b2nd/" for reading. See [cloud.OpenDir].
func OpenDir(ctx context.Context, url string, o *remote.Options) (*remote.Dir, error) {
	return cloud.OpenDir(ctx, url, Driver{}, o)
}

// OpenBucket opens a bucket at a URL such as "gs://bucket". See [cloud.OpenBucket].
func OpenBucket(ctx context.Context, url string) (*cloud.Bucket, error) {
	return cloud.OpenBucket(ctx, url, Driver{})
}

// Driver is the [cloud.Driver] for buckets of package gcsblob.
type Driver struct{}

// errHandle ends a request of gocloud.dev/blob before it is sent.
var errHandle = errors.New("the bucket is not one of package gcsblob")

// attempts is the number of times that a request is sent. By default the storage library repeats it until its context
// ends, and the error is then that nothing arrives.
const attempts = 5

// Get implements [cloud.Driver]. It reads from the ObjectHandle that gocloud.dev/blob makes for the key, because only
// that has ranges at the end of an object.
func (Driver) Get(ctx context.Context, b *blob.Bucket, key string, off, n int64, version string) (*remote.Answer, error) {
	var handle *storage.ObjectHandle
	_, err := b.NewRangeReader(ctx, key, 0, -1, &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error {
		var h **storage.ObjectHandle
		if as(&h) {
			handle = *h
		}
		return errHandle
	}})
	if handle == nil {
		return nil, err
	}
	handle = handle.ReadCompressed(true).Retryer(storage.WithMaxAttempts(attempts)) // the stored bytes
	if version != "" {
		g, err := strconv.ParseInt(version, 10, 64)
		if err != nil {
			return nil, err
		}
		handle = handle.If(storage.Conditions{GenerationMatch: g})
	}
	at, most := off, n
	if off < 0 {
		at, most = -n, -1
	}
	r, err := handle.NewRangeReader(ctx, at, most)
	if err != nil {
		return nil, err
	}
	if off < 0 {
		at = max(r.Attrs.Size-n, 0)
	}
	if r.Attrs.StartOffset != at {
		r.Close()
		return nil, fmt.Errorf("the answer starts at %d, want %d: %w", r.Attrs.StartOffset, at, errors.ErrUnsupported)
	}
	a := &remote.Answer{Body: r, Size: r.Attrs.Size, Version: strconv.FormatInt(r.Attrs.Generation, 10)}
	return a, nil
}

// Location implements [cloud.Locator]. It returns the host of an emulator that the environment names. It cannot find
// out the endpoint of a client that the program has made: see [cloud.Bucket.Open].
func (Driver) Location(*blob.Bucket) string { return os.Getenv("STORAGE_EMULATOR_HOST") }

// Status implements [cloud.Driver].
func (Driver) Status(err error) int {
	var e *googleapi.Error
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, storage.ErrObjectNotExist), errors.Is(err, storage.ErrBucketNotExist):
		return 404
	}
	return 0
}
