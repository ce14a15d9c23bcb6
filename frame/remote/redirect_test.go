package remote

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestRedirect follows redirects to another host, once.
func TestRedirect(t *testing.T) {
	data := randomBytes(300_000)
	var mu sync.Mutex
	var seen []http.Header
	target := newServer(t, data)
	target.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		seen = append(seen, r.Header.Clone())
		mu.Unlock()
		if strings.Contains(r.URL.RawQuery, "expired") {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	})
	var hops int
	expired := ""
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		hops++
		if r.Header.Get("Authorization") != "secret" || r.Header.Get("X-Mine") != "1" {
			t.Errorf("header %v", r.Header)
		}
		http.Redirect(w, r, strings.Replace(target.URL, "127.0.0.1", "localhost", 1)+"/x?"+expired, http.StatusTemporaryRedirect)
	}))
	defer front.Close()
	o := quick()
	o.Header = http.Header{"Authorization": {"secret"}, "X-Mine": {"1"}}
	obj, err := Open(t.Context(), front.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	defer obj.Close()
	readAll(t, obj, data, []Range{{Off: 100_000, Len: 10}, {Off: 150_000, Len: 10}})
	mu.Lock()
	if hops > 2 { // the first requests are in flight at the same time
		t.Errorf("%d redirects, want at most 2", hops)
	}
	hops = 0
	for _, h := range seen {
		if h.Get("Authorization") != "" || h.Get("X-Mine") != "1" || h.Get("Range") == "" || h.Get("Accept-Encoding") != "identity" {
			t.Errorf("header %v", h)
		}
	}
	expired = "new"
	mu.Unlock()

	// The target expires: the next request starts from the URL again.
	obj.c.mu.Lock()
	obj.c.direct.url += "expired"
	obj.c.mu.Unlock()
	readAll(t, obj, data, []Range{{Off: 120_000, Len: 10}})
	mu.Lock()
	if hops != 1 {
		t.Errorf("%d redirects after the target has expired, want 1", hops)
	}
	mu.Unlock()
}

// TestRedirectReferer redirects to another host, which must not see the query of the first URL, and on the same host.
func TestRedirectReferer(t *testing.T) {
	for _, c := range []struct {
		host, own string
		check     bool
		want      string
	}{
		{"localhost", "", false, ""}, {"localhost", "", true, ""}, {"localhost", "http://mine/", false, "http://mine/"},
		{"127.0.0.1", "", false, "/a?token=secret"},
	} {
		s := newServer(t, randomBytes(1000))
		s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/a" {
				http.Redirect(w, r, strings.Replace(s.URL, "127.0.0.1", c.host, 1)+"/b", http.StatusFound)
				return true
			}
			if got := r.Header.Get("Referer"); got != c.want && got != s.URL+c.want {
				t.Errorf("%+v: Referer %q", c, got)
			}
			return false
		})
		o := quick()
		o.Small, o.Header = true, http.Header{}
		checked := false
		if c.check {
			transport := http.DefaultTransport.(*http.Transport).Clone()
			defer transport.CloseIdleConnections()
			o.Client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
				checked = true
				return nil
			}}
		}
		if c.own != "" {
			o.Header.Set("Referer", c.own)
		}
		obj, err := Open(t.Context(), s.URL+"/a?token=secret", o)
		if err != nil || checked != c.check {
			t.Fatalf("%+v: %v, checked %v", c, err, checked)
		}
		obj.Close()
	}
}

// TestRedirectOwnReferer sends the Referer of the caller also with the requests that need no redirect.
func TestRedirectOwnReferer(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "localhost"} {
		data := randomBytes(300_000)
		s := newServer(t, data)
		s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/a" {
				http.Redirect(w, r, strings.Replace(s.URL, "127.0.0.1", host, 1)+"/b", http.StatusFound)
				return true
			}
			if own, secret := r.Header.Get("Referer"), r.Header.Get("Authorization"); own != "http://mine/" || host == "localhost" && secret != "" {
				t.Errorf("%s: Referer %q, Authorization %q", host, own, secret)
			}
			return false
		})
		o := quick()
		o.Header = http.Header{"Referer": {"http://mine/"}, "Authorization": {"secret"}}
		obj, err := Open(t.Context(), s.URL+"/a", o)
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, obj, data, []Range{{Off: 100_000, Len: 10}})
		obj.Close()
	}
}

// TestRedirectInvalid redirects to URLs that no request can reach. The request is not repeated, and the error does not
// hold the query.
func TestRedirectInvalid(t *testing.T) {
	for _, location := range []string{"http://[bad?key=hidden", ":::?key=hidden", "http://host:port/?key=hidden", "ftp://host/?key=hidden", "http:///?key=hidden", "http://127.0.0.1:99999/?key=hidden", "/a?key=hidden"} {
		s := newServer(t, nil)
		s.set(func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
			return true
		})
		o := quick()
		o.Small = true
		_, err := Open(t.Context(), s.URL, o)
		want := int64(1)
		if location[0] == '/' {
			want = 10 // redirects of one request
		}
		if n := s.requests.Load(); err == nil || strings.Contains(err.Error(), "hidden") || n != want {
			t.Errorf("%s: %d requests, want %d: %v", location, n, want, err)
		}
	}
}

// signer redirects to URLs of a server that expire.
type signer struct {
	*server
	front *httptest.Server
	valid atomic.Int64 // the signature that the server accepts
}

// newSigner starts the servers.
func newSigner(t *testing.T, data []byte) *signer {
	s := &signer{server: newServer(t, data)}
	s.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("%s/?%d", s.URL, s.valid.Load()), http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.front.Close)
	return s
}

// expire makes URLs expire. Requests with an expired URL are answered when n of them have arrived.
func (s *signer) expire(n int) {
	s.valid.Add(1)
	var arrived atomic.Int64
	all := make(chan struct{})
	s.set(func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.RawQuery == fmt.Sprint(s.valid.Load()) {
			return false
		}
		if arrived.Add(1) == int64(n) {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	})
}

// TestRedirectExpires lets a signed URL expire while several requests are in flight.
func TestRedirectExpires(t *testing.T) {
	data := randomBytes(2_000_000)
	s := newSigner(t, data)
	obj, err := Open(t.Context(), s.front.URL, quick())
	if err != nil {
		t.Fatal(err)
	}
	defer obj.Close()
	for round := range int64(3) {
		const reads = 8
		s.expire(reads)
		var all sync.WaitGroup
		for i := range int64(reads) {
			all.Go(func() {
				p, off := make([]byte, 10), 100_000+(round*reads+i)*50_000
				if _, err := obj.ReadAt(p, off); err != nil || !bytes.Equal(p, data[off:off+10]) {
					t.Errorf("round %d, read %d: %v", round, i, err)
				}
			})
		}
		all.Wait()
	}
}

// TestRedirectExpiresMultipart lets a signed URL expire. Requests for several ranges go on.
func TestRedirectExpiresMultipart(t *testing.T) {
	data := randomBytes(2_000_000)
	s := newSigner(t, data)
	o := quick()
	o.Multipart, o.Requests, o.Gap = true, 1, -1
	obj, err := Open(t.Context(), s.front.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	defer obj.Close()
	for round := range int64(3) {
		s.expire(1)
		var want []Range
		for i := range int64(10) {
			want = append(want, Range{Off: 100_000 + (round*10+i)*50_000, Len: 10})
		}
		readAll(t, obj, data, want)
		if n := s.requests.Load(); n != 2 {
			t.Errorf("round %d: %d requests, want one for the expired URL and one for all ranges", round, n)
		}
	}
}

// TestRedirectDown stops the server that redirects led to. The URL leads to another one then.
func TestRedirectDown(t *testing.T) {
	for _, retries := range []int{1, -1} {
		data := randomBytes(300_000)
		first, second := newServer(t, data), newServer(t, data)
		var to atomic.Value
		to.Store(first.URL)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, to.Load().(string), http.StatusFound)
		}))
		defer front.Close()
		o := quick()
		o.Retries = retries
		obj, err := Open(t.Context(), front.URL, o)
		if err != nil {
			t.Fatal(err)
		}
		defer obj.Close()
		to.Store(second.URL)
		first.CloseClientConnections()
		first.Close()
		p := make([]byte, 10)
		if _, err := obj.ReadAt(p, 100_000); (err != nil) != (retries < 0) {
			t.Errorf("%d retries: %v", retries, err)
		}
		if _, err := obj.ReadAt(p, 150_000); err != nil {
			t.Errorf("%d retries, second read: %v", retries, err)
		}
	}
}

// TestRedirectRefresh changes where the URL of the newest version leads to.
func TestRedirectRefresh(t *testing.T) {
	s := newServer(t, randomBytes(300_000))
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", fmt.Sprintf("%q", r.URL.Path))
		return false
	})
	var newest atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("%s/%d", s.URL, newest.Load()), http.StatusFound)
	}))
	defer front.Close()
	obj, err := Open(t.Context(), front.URL, quick())
	if err != nil {
		t.Fatal(err)
	}
	defer obj.Close()
	if err := obj.Refresh(t.Context()); err != nil {
		t.Errorf("the same version: %v", err)
	}
	newest.Add(1)
	if _, err := obj.ReadAt(make([]byte, 10), 100_000); err != nil {
		t.Errorf("the version that was opened: %v", err)
	}
	if err := obj.Refresh(t.Context()); !errors.Is(err, ErrChanged) {
		t.Errorf("another version: %v, want ErrChanged", err)
	}
}

// TestRedirectCookies follows redirects with a jar, whose cookies change with each answer. A cookie of Options.Header
// is not for another host.
func TestRedirectCookies(t *testing.T) {
	for _, other := range []bool{false, true} {
		data := randomBytes(300_000)
		var mu sync.Mutex
		var seen []string
		target := newServer(t, data)
		target.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
			http.SetCookie(w, &http.Cookie{Name: "n", Value: fmt.Sprint(n), Path: "/"})
			if r.URL.Path != "/x" {
				to := target.URL
				if other {
					to = strings.Replace(to, "127.0.0.1", "localhost", 1)
				}
				http.Redirect(w, r, to+"/x", http.StatusFound)
				return true
			}
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, r.Header.Get("Cookie"))
			return false
		})
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		o := quick()
		o.Client, o.Small = &http.Client{Jar: jar}, true
		o.Header = http.Header{"Cookie": {"mine=1"}}
		obj, err := Open(t.Context(), target.URL, o)
		if err != nil {
			t.Fatal(err)
		}
		for off := range int64(3) {
			readAll(t, obj, data, []Range{{Off: 100_000 + off*30_000, Len: 10}})
		}
		obj.Close()
		o.Client.CloseIdleConnections()
		want := []string{"mine=1; n=1", "mine=1; n=2", "mine=1; n=3", "mine=1; n=4", "mine=1; n=5"}
		if other {
			want = []string{"", "n=2", "n=3", "n=4", "n=5"}
		}
		if want = want[:min(len(seen), len(want))]; !slices.Equal(seen, want) || len(seen) < 4 {
			t.Errorf("another host %v: cookies %q, want %q", other, seen, want)
		}
	}
}
