package s3_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/internal/cloudtest"
	"github.com/goblosc/blosc2/cloud/s3"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

// TestObjects puts, gets, lists and removes objects, with the driver and without it.
func TestObjects(t *testing.T) {
	s := start(t)
	cloudtest.TestObjects(t, s.bucket(t))
	inner, err := blob.OpenBucket(t.Context(), strings.Replace(s.object(""), "bucket/", "bucket", 1))
	if err != nil {
		t.Fatal(err)
	}
	b := cloud.New(blob.PrefixedBucket(inner, "common/"), "s3://bucket/common", nil)
	defer b.Close()
	cloudtest.TestObjects(t, b)
}

// TestRegions fills an array by several writers, without and with faults.
func TestRegions(t *testing.T) {
	s := start(t)
	cloudtest.TestRegions(t, s.bucket(t))
	cloudtest.TestRegionsFaults(t, s.bucket(t), 3)
}

// store describes a server that answers as S3 does, without versitygw.
func store(t *testing.T) *cloudtest.Store {
	query := "?region=us-east-1&use_path_style=true&endpoint=http://"
	var endpoint string
	return &cloudtest.Store{
		Path: "/bucket/dir/a", Range: "Range", Match: "If-Match", Quoted: true,
		SetHeader: func(h http.Header, version string) { h.Set("ETag", version) },
		Setenv: func(_ func(name, value string), host string) {
			setenv(t)
			endpoint = host
		},
		Open: func(object string) (*remote.Object, error) {
			return s3.Open(t.Context(), "s3://bucket/"+object+query+endpoint, nil)
		},
		Exists: func(http.Header) int { return http.StatusPreconditionFailed },
		Bucket: func(host string) (cloudtest.Bucket, cloudtest.Save, error) {
			b, err := s3.OpenBucket(t.Context(), "s3://bucket"+query+host)
			return b, func(ctx context.Context, key string, a *ndarray.Array, overwrite bool) error {
				_, err := b.Save(ctx, key, a, &cloud.WriteOptions{Overwrite: overwrite})
				return err
			}, err
		},
	}
}

// TestOpen opens an object.
func TestOpen(t *testing.T) { cloudtest.TestOpen(t, store(t)) }

// TestStoreFaults writes to a server that fails.
func TestStoreFaults(t *testing.T) { cloudtest.TestWriteFaults(t, store(t)) }

// TestLocations opens an object of two stores that the environment names.
func TestLocations(t *testing.T) {
	setenv(t)
	cloudtest.TestLocations(t, store(t), func(host string, o *remote.Options) (*remote.Object, error) {
		t.Setenv("AWS_ENDPOINT_URL", "http://"+host)
		return s3.Open(t.Context(), "s3://bucket/dir/a?region=us-east-1&use_path_style=true", o)
	})
}

// TestResolver opens an object of two stores that are known only to the clients of the program.
func TestResolver(t *testing.T) {
	setenv(t)
	cloudtest.TestLocations(t, store(t), func(host string, o *remote.Options) (*remote.Object, error) {
		client := awss3.New(awss3.Options{
			Region: "us-east-1", UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
			//lint:ignore SA1019 other resolvers need another module
			EndpointResolver: awss3.EndpointResolverFromURL("http://" + host),
		})
		inner, err := s3blob.OpenBucketV2(t.Context(), client, "bucket", nil)
		if err != nil {
			return nil, err
		}
		b := cloud.New(inner, "s3://bucket", s3.Driver{})
		t.Cleanup(func() { b.Close() })
		return b.Open(t.Context(), "dir/a", o)
	})
}
