package gcs_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/gcs"
	"github.com/goblosc/blosc2/cloud/internal/cloudtest"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

// store describes a server that answers as Google Cloud Storage does.
func store(t *testing.T) *cloudtest.Store {
	return &cloudtest.Store{
		Path: "/bucket/dir/a", Range: "Range", Match: "x-goog-if-generation-match",
		SetHeader: func(h http.Header, version string) {
			h.Set("X-Goog-Generation", version)
			h.Set("X-Goog-Metageneration", "1")
		},
		Setenv: func(setenv func(name, value string), host string) { setenv("STORAGE_EMULATOR_HOST", host) },
		Open: func(object string) (*remote.Object, error) {
			return gcs.Open(t.Context(), "gs://bucket/"+object, nil)
		},
		Exists: func(http.Header) int { return http.StatusPreconditionFailed },
		Bucket: func(string) (cloudtest.Bucket, cloudtest.Save, error) {
			b, err := gcs.OpenBucket(t.Context(), "gs://bucket?anonymous=true")
			return b, func(ctx context.Context, key string, a *ndarray.Array, overwrite bool) error {
				_, err := b.Save(ctx, key, a, &cloud.WriteOptions{Overwrite: overwrite})
				return err
			}, err
		},
	}
}

// TestOpen opens an object.
func TestOpen(t *testing.T) { cloudtest.TestOpen(t, store(t)) }

// TestWriteFaults writes to a server that fails.
func TestWriteFaults(t *testing.T) { cloudtest.TestWriteFaults(t, store(t)) }

// TestLocations opens an object of two stores that the environment names.
func TestLocations(t *testing.T) {
	cloudtest.TestLocations(t, store(t), func(host string, o *remote.Options) (*remote.Object, error) {
		t.Setenv("STORAGE_EMULATOR_HOST", host)
		return gcs.Open(t.Context(), "gs://bucket/dir/a?anonymous=true", o)
	})
}
