package azure_test

import (
	"net/http"
	"testing"

	"github.com/goblosc/blosc2/cloud/azure"
	"github.com/goblosc/blosc2/cloud/internal/cloudtest"
	"github.com/goblosc/blosc2/frame/remote"
)

// TestOpen opens an object of a server that answers as Azure Blob Storage does.
func TestOpen(t *testing.T) {
	cloudtest.TestOpen(t, &cloudtest.Store{
		Path: "/account/bucket/dir/a", Range: "x-ms-range", Match: "If-Match", Quoted: true,
		SetHeader: func(h http.Header, version string) { h.Set("ETag", version) },
		Setenv: func(setenv func(name, value string), host string) {
			setenv("AZURE_STORAGE_DOMAIN", host)
			setenv("AZURE_STORAGE_PROTOCOL", "http")
			setenv("AZURE_STORAGE_IS_LOCAL_EMULATOR", "true") // the account is part of the path
			setenv("AZURE_STORAGE_ACCOUNT", "account")
			setenv("AZURE_STORAGE_SAS_TOKEN", "sig=none")
		},
		Open: func(object string) (*remote.Object, error) {
			return azure.Open(t.Context(), "azblob://bucket/"+object, nil)
		},
	})
}
