package azure_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob/azureblob"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/azure"
	"github.com/goblosc/blosc2/cloud/internal/cloudtest"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

// store describes a server that answers as Azure Blob Storage does.
func store(t *testing.T) *cloudtest.Store {
	return &cloudtest.Store{
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
		Exists: func(h http.Header) int {
			h.Set("x-ms-error-code", "BlobAlreadyExists")
			return http.StatusConflict
		},
		Bucket: func(host string) (cloudtest.Bucket, cloudtest.Save, error) {
			b, err := azure.OpenBucket(t.Context(), "azblob://bucket?domain="+host) // the environment is read once
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

// TestLocations opens a blob of two accounts, whose tokens change.
func TestLocations(t *testing.T) {
	token := 0
	cloudtest.TestLocations(t, store(t), func(host string, o *remote.Options) (*remote.Object, error) {
		token++
		c, err := container.NewClientWithNoCredential(fmt.Sprintf("http://%s/account/bucket?sig=%d", host, token), nil)
		if err != nil {
			return nil, err
		}
		inner, err := azureblob.OpenBucket(t.Context(), c, nil)
		if err != nil {
			return nil, err
		}
		b := cloud.New(inner, "azblob://bucket", azure.Driver{})
		t.Cleanup(func() { b.Close() })
		return b.Open(t.Context(), "dir/a", o)
	})
}

// TestNoTime opens an object without the time of its last change.
func TestNoTime(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Write([]byte("text"))
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	store(t).Setenv(t.Setenv, host)
	b, err := azure.OpenBucket(t.Context(), "azblob://bucket?domain="+host)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Open(t.Context(), "dir/a", nil); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "Last-Modified") {
		t.Errorf("%v, want ErrUnsupported", err)
	}
}
