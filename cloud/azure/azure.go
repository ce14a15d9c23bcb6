// Package azure opens blobs in Azure Blob Storage.
//
//	src, err := azure.Open(ctx, "azblob://container/a.b2nd", nil)
//	if err != nil {
//		return err
//	}
//	defer src.Close()
//	a, err := ndarray.OpenSource(ctx, src, nil)
//
// The account and the credentials come from the environment, such as AZURE_STORAGE_ACCOUNT. The query of the URL can
// set the account, too: see [gocloud.dev/blob/azureblob.URLOpener]. The ETag names the version of a blob, and every
// read after the first asks for that version (If-Match). Opening takes two round trips, or one for a blob of up to 64
// KiB: Azure has no ranges at the end of a blob.
//
// The Azure SDK keeps 10 connections. More requests in flight open new ones each time. So Open and OpenDir have 10
// requests in flight, unless Options.Requests is set. For Bucket.Open and Bucket.OpenDir, set it to 10.
package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // opens azblob:// URLs

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/internal/contentrange"
	"github.com/goblosc/blosc2/frame/remote"
)

// Open opens the blob at a URL such as "azblob://container/dir/a.b2nd" for reading. See [cloud.Open].
func Open(ctx context.Context, url string, o *remote.Options) (*remote.Object, error) {
	return cloud.Open(ctx, url, Driver{}, withRequests(o))
}

// OpenDir opens the sparse frame at a URL such as "azblob://container/dir/a.b2nd/" for reading. See [cloud.OpenDir].
func OpenDir(ctx context.Context, url string, o *remote.Options) (*remote.Dir, error) {
	return cloud.OpenDir(ctx, url, Driver{}, withRequests(o))
}

// withRequests returns o with no more requests in flight than the SDK keeps connections, unless o sets Requests.
func withRequests(o *remote.Options) *remote.Options {
	var set remote.Options
	if o != nil {
		set = *o
	}
	set.Requests = cmp.Or(set.Requests, 10)
	return &set
}

// OpenBucket opens a container at a URL such as "azblob://container". See [cloud.OpenBucket].
func OpenBucket(ctx context.Context, url string) (*cloud.Bucket, error) {
	return cloud.OpenBucket(ctx, url, Driver{})
}

// Driver is the [cloud.Driver] for buckets of package azureblob.
type Driver struct{}

// Get implements [cloud.Driver].
func (Driver) Get(ctx context.Context, b *blob.Bucket, key string, off, n int64, version string) (_ *remote.Answer, err error) {
	if off < 0 {
		return nil, errors.ErrUnsupported
	}
	var resp *http.Response
	ctx = policy.WithCaptureResponse(ctx, &resp)
	defer func() { // package azureblob panics if the time of the last change is nil
		if resp == nil || resp.Header.Get("Last-Modified") != "" {
			return
		}
		if x := recover(); x != nil {
			resp.Body.Close()
			err = fmt.Errorf("an answer without Last-Modified (%v): %w", x, errors.ErrUnsupported)
		}
	}()
	r, err := b.NewRangeReader(ctx, key, off, n, &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error {
		var o *azblob.DownloadStreamOptions
		if !as(&o) {
			return errors.New("the bucket is not one of package azureblob")
		}
		if version != "" {
			tag := azcore.ETag(`"` + version + `"`)
			o.AccessConditions = &azblob.AccessConditions{ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfMatch: &tag}}
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	a := &remote.Answer{Body: r, Size: r.Size()}
	var out azblob.DownloadStreamResponse
	if r.As(&out) && out.ETag != nil {
		a.Version = strings.Trim(string(*out.ETag), `"`)
	}
	got := ""
	if out.ContentRange != nil {
		got = *out.ContentRange
	}
	if err := contentrange.Check(got, off, n, a.Size); err != nil {
		r.Close()
		return nil, err
	}
	return a, nil
}

// Location implements [cloud.Locator]. It returns the URL of the container, which has the account, without its query,
// which may hold a token.
func (Driver) Location(b *blob.Bucket) string {
	var c *container.Client
	if !b.As(&c) {
		return ""
	}
	url, _, _ := strings.Cut(c.URL(), "?")
	return url
}

// Status implements [cloud.Driver].
func (Driver) Status(err error) int {
	var e *azcore.ResponseError
	if errors.As(err, &e) {
		return e.StatusCode
	}
	return 0
}
