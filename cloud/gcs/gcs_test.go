package gcs_test

import (
	"net/http"
	"testing"

	"github.com/goblosc/blosc2/cloud/gcs"
	"github.com/goblosc/blosc2/cloud/internal/cloudtest"
	"github.com/goblosc/blosc2/frame/remote"
)

// TestOpen opens an object of a server that answers as Google Cloud Storage does.
func TestOpen(t *testing.T) {
	cloudtest.TestOpen(t, &cloudtest.Store{
		Path: "/bucket/dir/a", Range: "Range", Match: "x-goog-if-generation-match",
		SetHeader: func(h http.Header, version string) {
			h.Set("X-Goog-Generation", version)
			h.Set("X-Goog-Metageneration", "1")
		},
		Setenv: func(setenv func(name, value string), host string) { setenv("STORAGE_EMULATOR_HOST", host) },
		Open: func(object string) (*remote.Object, error) {
			return gcs.Open(t.Context(), "gs://bucket/"+object, nil)
		},
	})
}
