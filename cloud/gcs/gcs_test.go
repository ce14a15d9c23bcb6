package gcs_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/cloud/gcs"
	"github.com/goblosc/blosc2/frame"
)

// fake is a server that answers requests for the object dir/a of a bucket, as Google Cloud Storage does.
type fake struct {
	mu         sync.Mutex
	data       []byte
	generation int
	ignore     bool // conditions
	requests   []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	match := r.Header.Get("x-goog-if-generation-match")
	f.requests = append(f.requests, fmt.Sprint(r.Header.Get("Range"), " ", match))
	switch {
	case r.URL.Path != "/bucket/dir/a" || f.data == nil:
		http.NotFound(w, r)
	case match != "" && match != fmt.Sprint(f.generation) && !f.ignore:
		w.WriteHeader(http.StatusPreconditionFailed)
	default:
		w.Header().Set("X-Goog-Generation", fmt.Sprint(f.generation))
		w.Header().Set("X-Goog-Metageneration", "1")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
	}
}

// TestOpen opens an object and reads it before and after it changes.
func TestOpen(t *testing.T) {
	data := make([]byte, 1<<20)
	for i := range len(data) / 32 {
		h := sha256.Sum256(fmt.Append(nil, i))
		copy(data[32*i:], h[:])
	}
	f := &fake{}
	s := httptest.NewServer(f)
	defer s.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(s.URL, "http://"))
	for name, change := range map[string]func(){
		"replaced":                func() { f.generation = 2 },
		"replaced, no conditions": func() { f.generation, f.ignore = 2, true },
		"deleted":                 func() { f.data = nil },
	} {
		f.data, f.generation, f.ignore, f.requests = data, 1, false, nil
		src, err := gcs.Open(t.Context(), "gs://bucket/dir/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.requests) != 2 || src.Size() != int64(len(data)) || src.Version() != `"1"` {
			t.Errorf("requests %q, size %d, version %s", f.requests, src.Size(), src.Version())
		}
		p := make([]byte, 1000)
		if _, err := src.ReadAt(p, 500_000); err != nil || !bytes.Equal(p, data[500_000:501_000]) {
			t.Fatal(err)
		}
		if got, want := f.requests[2], "bytes=500000-500999 1"; got != want {
			t.Errorf("request %q, want %q", got, want)
		}
		f.mu.Lock()
		change()
		f.mu.Unlock()
		for range 2 {
			if _, err := src.ReadAt(p, 600_000); !errors.Is(err, frame.ErrChanged) {
				t.Errorf("%s: %v, want ErrChanged", name, err)
			}
		}
		src.Close()
	}
	if _, err := gcs.Open(t.Context(), "gs://bucket/none", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist", err)
	}
}
