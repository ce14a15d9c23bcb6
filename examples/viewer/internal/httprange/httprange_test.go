package httprange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
)

// doer sends requests to a handler. It is the Fetch API of tests.
type doer struct {
	http.Handler
	conditions bool
	requests   int
}

func (d *doer) Conditions(string) bool { return d.conditions }

func (d *doer) Do(ctx context.Context, url string, header map[string]string) (*Response, error) {
	d.requests++
	if d.Handler == nil {
		return nil, errors.New("no answer")
	}
	r := httptest.NewRequest("GET", url, nil).WithContext(ctx)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	resp := w.Result()
	return &Response{resp.StatusCode, resp.Header.Get, resp.Body}, nil
}

// content is a large object.
var content = bytes.Repeat([]byte("0123456789abcdef"), 10_000)

// serve answers with an object under an ETag.
func serve(etag *string, data *[]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", *etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(*data))
	}
}

// open opens an object, with short waits.
func open(t *testing.T, d *doer) *Resource {
	t.Helper()
	r, head, err := Open(t.Context(), d, "http://host/a")
	if err != nil {
		t.Fatal(err)
	}
	if r.Size() != int64(len(content)) || !bytes.Equal(head, content[:len(head)]) || len(head) < headLen {
		t.Fatalf("size %d, head of %d bytes", r.Size(), len(head))
	}
	r.delay = time.Millisecond
	return r
}

func TestGet(t *testing.T) {
	etag, data := `"1"`, content
	for _, conditions := range []bool{false, true} {
		r := open(t, &doer{Handler: serve(&etag, &data), conditions: conditions})
		for _, off := range []int64{0, 1, 70_000, int64(len(content)) - 10} {
			if b, err := r.Get(t.Context(), off, 10); err != nil || !bytes.Equal(b, content[off:off+10]) {
				t.Errorf("%d: %q, %v", off, b, err)
			}
		}
	}
}

// TestChanged replaces an open object: reads must fail.
func TestChanged(t *testing.T) {
	for _, conditions := range []bool{false, true} {
		for name, change := range map[string]func(etag *string, data *[]byte){
			"version": func(etag *string, _ *[]byte) { *etag = `"2"` },
			"weak":    func(etag *string, _ *[]byte) { *etag = `W/"1"` },
			"none":    func(etag *string, _ *[]byte) { *etag = "" },
			"size":    func(_ *string, data *[]byte) { *data = (*data)[:150_000] },
			"short":   func(_ *string, data *[]byte) { *data = (*data)[:100] },
		} {
			etag, data := `"1"`, content
			r := open(t, &doer{Handler: serve(&etag, &data), conditions: conditions})
			change(&etag, &data)
			if _, err := r.Get(t.Context(), 100_000, 10); !errors.Is(err, frame.ErrChanged) {
				t.Errorf("%s, %v: %v, want ErrChanged", name, conditions, err)
			}
		}
	}
	etag, data := `"1"`, content
	d := &doer{Handler: serve(&etag, &data)}
	r := open(t, d)
	d.Handler = http.NotFoundHandler()
	if _, err := r.Get(t.Context(), 100_000, 10); !errors.Is(err, frame.ErrChanged) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

// TestWeak opens an object with a weak ETag, which names a version only together with Last-Modified.
func TestWeak(t *testing.T) {
	etag, modified := `W/"1"`, time.Time{}
	d := &doer{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", modified, bytes.NewReader(content))
	})}
	if _, _, err := Open(t.Context(), d, "http://host/a"); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "no version") {
		t.Errorf("only a weak ETag: %v", err)
	}
	modified = time.Unix(1e9, 0)
	r := open(t, d)
	if _, err := r.Get(t.Context(), 100_000, 10); err != nil {
		t.Error(err)
	}
	etag = `W/"2"`
	if _, err := r.Get(t.Context(), 100_000, 10); !errors.Is(err, frame.ErrChanged) || !strings.Contains(err.Error(), `W/"2", opened as W/"1"`) {
		t.Errorf("%v, want ErrChanged", err)
	}
	etag, modified, d.conditions = `"1 a"`, time.Time{}, true
	r = open(t, d)
	if _, err := r.Get(t.Context(), 100_000, 10); err != nil {
		t.Error(err)
	}
	etag, modified, d.conditions = `W/"1"`, time.Unix(1e9, 0), false
	r = open(t, d)
	modified = modified.Add(time.Hour)
	if _, err := r.Get(t.Context(), 100_000, 10); !errors.Is(err, frame.ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
}

// TestIgnored opens an object on a server that ignores ranges.
func TestIgnored(t *testing.T) {
	d := &doer{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(content) })}
	r := open(t, d)
	if b, err := r.Get(t.Context(), 100_000, 10); err != nil || !bytes.Equal(b, content[100_000:100_010]) || d.requests != 1 {
		t.Errorf("%q, %v, %d requests", b, err, d.requests)
	}
	d.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000000")
		w.WriteHeader(200)
	})
	if _, _, err := Open(t.Context(), d, "http://host/a"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, want ErrUnsupported", err)
	}
	etag, data := `"1"`, content
	d.Handler = serve(&etag, &data)
	r = open(t, d)
	d.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", etag)
		w.Write(content)
	})
	if _, err := r.Get(t.Context(), 100_000, 10); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, want ErrUnsupported", err)
	}
}

// TestAnswers checks answers that are not what was asked for.
func TestAnswers(t *testing.T) {
	etag, data := `"1"`, content
	for name, answer := range map[string]struct {
		status int
		header string
		body   string
	}{
		"no Content-Range":    {206, "", "0123456789"},
		"other range":         {206, "bytes 100001-100010/160000", "0123456789"},
		"short range":         {206, "bytes 100000-100005/160000", "012345"},
		"malformed":           {206, "bytes 100000/160000", "0123456789"},
		"unknown size":        {206, "bytes 100000-100009/*", "0123456789"},
		"negative":            {206, "bytes -5-100009/160000", "0123456789"},
		"overflow":            {206, "bytes 100000-99999999999999999999/160000", "0123456789"},
		"more bytes":          {206, "bytes 100000-100009/160000", "0123456789x"},
		"fewer bytes":         {206, "bytes 100000-100009/160000", "0123"},
		"not satisfied":       {416, "bytes */160000", ""},
		"other status":        {302, "", ""},
		"forbidden":           {403, "", ""},
		"too many, for hours": {429, "retry 9999", ""},
		"too many, for ages":  {429, "retry 2147483648", ""},
		"unavailable":         {503, "", ""},
	} {
		d := &doer{Handler: serve(&etag, &data)}
		r := open(t, d)
		d.requests, d.Handler = 0, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", etag)
			if wait, ok := strings.CutPrefix(answer.header, "retry "); ok {
				w.Header().Set("Retry-After", wait)
			} else if answer.header != "" {
				w.Header().Set("Content-Range", answer.header)
			}
			w.WriteHeader(answer.status)
			fmt.Fprint(w, answer.body)
		})
		b, err := r.Get(t.Context(), 100_000, 10)
		if err == nil {
			t.Errorf("%s: %q", name, b)
		}
		want := 1
		if name == "fewer bytes" || name == "unavailable" {
			want = attempts
		}
		if d.requests != want {
			t.Errorf("%s: %d requests, want %d: %v", name, d.requests, want, err)
		}
	}
}

// TestRepeat lets some requests fail.
func TestRepeat(t *testing.T) {
	etag, data := `"1"`, content
	d := &doer{}
	left := 2
	d.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if left--; left >= 0 {
			w.WriteHeader(503)
			return
		}
		serve(&etag, &data)(w, r)
	})
	r := open(t, d)
	left = 3
	if _, err := r.Get(t.Context(), 100_000, 10); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left = 100
	r.delay = time.Hour
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := r.Get(ctx, 100_000, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want Canceled", err)
	}
}

func TestEmpty(t *testing.T) {
	etag, data := `"1"`, []byte{}
	r, head, err := Open(t.Context(), &doer{Handler: serve(&etag, &data)}, "http://host/a")
	if err != nil || r.Size() != 0 || len(head) != 0 {
		t.Errorf("size %d, %v", r.Size(), err)
	}
}
