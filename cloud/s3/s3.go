// Package s3 opens objects in stores with the S3 interface: Amazon S3 and compatible ones.
//
//	src, err := s3.Open(ctx, "s3://bucket/a.b2nd", nil)
//	if err != nil {
//		return err
//	}
//	defer src.Close()
//	a, err := ndarray.OpenSource(ctx, src, nil)
//
// Region, profile and credentials come from the environment and the files of the AWS SDK. The query of the URL can set
// them, too: see [gocloud.dev/blob/s3blob.URLOpener]. A store other than Amazon's needs its address, such as
// "s3://bucket/a.b2nd?endpoint=https://s3.example.org&region=us-east-1&use_path_style=true".
//
// The ETag names the version of an object, and every read after the first asks for that version (If-Match). Opening
// takes one round trip of two requests. OpenBucket returns a bucket to write to.
package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // opens s3:// URLs

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/internal/contentrange"
	"github.com/goblosc/blosc2/frame/remote"
)

// Open opens the object at a URL such as "s3://bucket/dir/a.b2nd" for reading. See [cloud.Open].
func Open(ctx context.Context, url string, o *remote.Options) (*remote.Object, error) {
	return cloud.Open(ctx, url, newDriver(o), o)
}

// OpenDir opens the sparse frame at a URL such as "s3://bucket/dir/a.b2nd/" for reading. See [cloud.OpenDir].
func OpenDir(ctx context.Context, url string, o *remote.Options) (*remote.Dir, error) {
	return cloud.OpenDir(ctx, url, newDriver(o), o)
}

// OpenBucket opens a bucket at a URL such as "s3://bucket". See [cloud.OpenBucket]. It keeps up to 100 connections.
func OpenBucket(ctx context.Context, url string) (*cloud.Bucket, error) {
	return cloud.OpenBucket(ctx, url, newDriver(nil))
}

// Driver is the [cloud.Driver] for buckets of package s3blob.
type Driver struct{ client *client }

// newDriver returns the Driver of a bucket whose reads use one client. o may be nil.
func newDriver(o *remote.Options) Driver {
	c := &client{idle: 100}
	if o != nil {
		c.idle = max(c.idle, o.Requests)
	}
	return Driver{c}
}

// client is the HTTP client of the SDK with more idle connections. The SDK keeps 10, but an Object has 16 requests in
// flight: in each round, the others would open new connections.
type client struct {
	idle      int // connections to keep
	mu        sync.Mutex
	sdk, wide *awshttp.BuildableClient
}

// use replaces the client of the SDK in the options of a request. It keeps a client that the caller has made.
func (c *client) use(o *s3.Options) {
	sdk, ok := o.HTTPClient.(*awshttp.BuildableClient)
	if c == nil || !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sdk != sdk {
		c.sdk, c.wide = sdk, sdk.WithTransportOptions(func(t *http.Transport) { t.MaxIdleConns, t.MaxIdleConnsPerHost = c.idle, c.idle })
	}
	o.HTTPClient = c.wide
}

// Get implements [cloud.Driver].
func (d Driver) Get(ctx context.Context, b *blob.Bucket, key string, off, n int64, version string) (*remote.Answer, error) {
	r, err := b.NewRangeReader(ctx, key, max(off, 0), n, &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error {
		var in *s3.GetObjectInput
		if !as(&in) {
			return errors.New("the bucket is not one of package s3blob")
		}
		if off < 0 {
			in.Range = aws.String(fmt.Sprintf("bytes=-%d", n))
		}
		var opts *[]func(*s3.Options)
		if as(&opts) { // ranges have no checksums, and the SDK would log each one
			*opts = append(*opts, d.client.use, func(o *s3.Options) { o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired })
		}
		if version != "" {
			in.IfMatch = aws.String(`"` + version + `"`)
		}
		return nil
	}})
	if err != nil {
		if status := d.Status(err); off < 0 && (status == http.StatusBadRequest || status == http.StatusNotImplemented) {
			err = fmt.Errorf("%w: %w", err, errors.ErrUnsupported) // some stores have no ranges at the end
		}
		return nil, err
	}
	a := &remote.Answer{Body: r, Size: r.Size()}
	var out s3.GetObjectOutput
	if r.As(&out) {
		if tag := aws.ToString(out.ETag); !strings.HasPrefix(tag, "W/") {
			a.Version = strings.Trim(tag, `"`)
		}
	}
	if err := contentrange.Check(aws.ToString(out.ContentRange), off, n, a.Size); err != nil {
		r.Close()
		return nil, err
	}
	return a, nil
}

// Location implements [cloud.Locator]. It returns the endpoint and the region, which come from the environment if the
// URL does not have them, and the host to which the client sends requests, which a resolver may choose.
func (Driver) Location(b *blob.Bucket) string {
	var c *s3.Client
	if !b.As(&c) {
		return ""
	}
	o := c.Options()
	return aws.ToString(o.BaseEndpoint) + " " + o.Region + " " + requestHost(c)
}

// requestHost returns the host of a request of a client, or "" if the client cannot tell. It signs the request with
// invented credentials, because to get the others may take a request.
func requestHost(c *s3.Client) string {
	invented := func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
	}
	presign := s3.NewPresignClient(c, s3.WithPresignClientFromClientOptions(func(o *s3.Options) {
		o.Credentials = aws.CredentialsProviderFunc(invented)
	}))
	r, err := presign.PresignGetObject(context.Background(), &s3.GetObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key")})
	if err != nil {
		return ""
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Status implements [cloud.Driver].
func (Driver) Status(err error) int {
	var e *awshttp.ResponseError
	if errors.As(err, &e) {
		return e.HTTPStatusCode()
	}
	return 0
}
