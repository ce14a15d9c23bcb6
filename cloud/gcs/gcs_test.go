package gcs_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"google.golang.org/api/googleapi"

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

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestDown opens an object of a store that refuses requests: the error names the cause, also if it comes too late.
func TestDown(t *testing.T) {
	refused := func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }
	overloaded := func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: io.NopCloser(strings.NewReader("overloaded"))}, nil
	}
	for _, c := range []struct {
		name   string
		answer roundTrip
		stall  time.Duration
		want   func(error) bool
	}{
		{"refused", refused, time.Hour, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }},
		{"503", overloaded, time.Hour, func(err error) bool {
			var e *googleapi.Error
			return errors.As(err, &e) && e.Code == http.StatusServiceUnavailable
		}},
		{"503, stalled", overloaded, time.Nanosecond, func(err error) bool {
			return errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.Canceled) && strings.Contains(err.Error(), "503")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent atomic.Int64
			inner, err := gcsblob.OpenBucket(t.Context(), gcp.NewAnonymousHTTPClient(roundTrip(func(r *http.Request) (*http.Response, error) {
				sent.Add(1)
				return c.answer(r)
			})), "bucket", nil)
			if err != nil {
				t.Fatal(err)
			}
			b := cloud.New(inner, "gs://bucket", gcs.Driver{})
			defer b.Close()
			synctest.Test(t, func(t *testing.T) {
				_, err = b.Open(t.Context(), "dir/a", &remote.Options{Small: true, Stall: c.stall, Retries: -1})
			})
			if err == nil || !c.want(err) || sent.Load() > 5 {
				t.Errorf("%d requests: %v", sent.Load(), err)
			}
			t.Log(err)
		})
	}
}
