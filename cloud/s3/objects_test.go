package s3_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"gocloud.dev/blob"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/internal/cloudtest"
	"github.com/goblosc/blosc2/cloud/s3"
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

// TestStoreFaults writes to a server that fails.
func TestStoreFaults(t *testing.T) {
	cloudtest.TestWriteFaults(t, &cloudtest.Store{
		Setenv: func(func(name, value string), string) { setenv(t) },
		Exists: func(http.Header) int { return http.StatusPreconditionFailed },
		Bucket: func(host string) (cloudtest.Bucket, cloudtest.Save, error) {
			b, err := s3.OpenBucket(t.Context(), "s3://bucket?region=us-east-1&use_path_style=true&endpoint=http://"+host)
			return b, func(ctx context.Context, key string, a *ndarray.Array, overwrite bool) error {
				_, err := b.Save(ctx, key, a, &cloud.WriteOptions{Overwrite: overwrite})
				return err
			}, err
		},
	})
}
