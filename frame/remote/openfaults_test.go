package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
)

// TestOpenFaults opens an object on a server with a fault in its first answers.
func TestOpenFaults(t *testing.T) {
	big, small := randomBytes(500_000), randomBytes(100_000)
	ignore := func(n int64, w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false }
	for _, c := range []struct {
		name  string
		data  []byte
		fault func(n int64, w http.ResponseWriter, r *http.Request) bool
		o     func(*Options)
		text  string // of the error, or "" if opening must succeed
		err   error
	}{
		{"ranges ignored", small, ignore, nil, "", nil},
		{"ranges ignored, large", big, ignore, nil, "ignores ranges", errors.ErrUnsupported},
		{"ranges ignored, none whole", small, ignore, func(o *Options) { o.MaxWhole = -1 }, "ignores ranges", errors.ErrUnsupported},
		{"endless", small, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					break
				}
			}
			return true
		}, nil, "more than 300000 bytes", errors.ErrUnsupported},
		{"without a length", small, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.(http.Flusher).Flush()
			w.Write(small)
			return true
		}, nil, "", nil},
		{"no suffix: 416", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if suffix := strings.HasPrefix(r.Header.Get("Range"), "bytes=-"); suffix {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return true
			}
			return false
		}, nil, "", nil},
		{"no suffix: 200", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				r.Header.Del("Range")
			}
			return false
		}, nil, "", nil},
		{"no suffix: 400", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				w.WriteHeader(http.StatusBadRequest)
				return true
			}
			return false
		}, nil, "", nil},
		{"changed between", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, min(n, 5))) // the requests of the first two pairs differ
			return false
		}, nil, "", nil},
		{"always changing", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
			return false
		}, nil, "changed", ErrChanged},
		{"weak ETag", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `W/"1"`)
			return false
		}, nil, "names no version", errors.ErrUnsupported},
		{"weak ETag, small", small[:1000], func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `W/"1"`)
			return false
		}, nil, "", nil},
		{"weak ETag with Last-Modified", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `W/"1"`)
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			return false
		}, nil, "", nil},
		{"no version", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Del("ETag")
			return false
		}, nil, "names no version", errors.ErrUnsupported},
		{"no version, accepted", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Del("ETag")
			return false
		}, func(o *Options) { o.Unversioned = true }, "", nil},
		{"bad ETag", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `1`)
			return false
		}, nil, "names no version", errors.ErrUnsupported},
		{"not found", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			http.NotFound(w, r)
			return true
		}, nil, "404", fs.ErrNotExist},
		{"unauthorized", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, nil, "401", fs.ErrPermission},
		{"encoded", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Encoding", "br")
			return false
		}, nil, `"br"`, errors.ErrUnsupported},
		{"busy twice", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if n <= 2 {
				w.WriteHeader(http.StatusBadGateway)
			}
			return n <= 2
		}, nil, "", nil},
		{"always busy", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}, nil, "4 attempts", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, c.data)
			s.set(c.fault)
			o := quick()
			if c.o != nil {
				c.o(o)
			}
			obj, err := Open(t.Context(), s.URL, o)
			if c.text != "" {
				if err == nil || !strings.Contains(err.Error(), c.text) || c.err != nil && !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v with %q", err, c.err, c.text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer obj.Close()
			got, err := io.ReadAll(io.NewSectionReader(obj, 0, obj.Size()))
			if err != nil || !bytes.Equal(got, c.data) {
				t.Errorf("%d bytes of %d: %v", len(got), len(c.data), err)
			}
		})
	}
}
