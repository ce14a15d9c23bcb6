package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/s3"
)

// server is a versitygw on loopback. A proxy before it counts requests and has faults. It has one empty bucket.
type server struct {
	url  string // of the proxy
	idle func() // closes idle connections to versitygw

	mu       sync.Mutex
	requests []string                                          // method, key, and the parameters of uploads
	bytes    int64                                             // of answers
	running  int                                               // requests
	fault    func(w http.ResponseWriter, r *http.Request) bool // reports whether it has answered
}

// program is the command versitygw, which the go command builds and keeps in its cache.
var program = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "-C", "testdata/versitygw", "tool", "-n", "versitygw")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	var e *exec.ExitError
	if errors.As(err, &e) {
		err = fmt.Errorf("%w\n%s", err, e.Stderr)
	}
	return strings.TrimSpace(string(out)), err
})

// start starts a server.
func start(t *testing.T) *server {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "s3") // short, for the name of the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &server{}
	root := filepath.Join(dir, "root")
	meta := filepath.Join(dir, "meta") // for systems without extended attributes
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "bucket"), 0o700), os.Mkdir(meta, 0o700)); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	var log bytes.Buffer
	cmd := exec.Command(path, "--port", socket, "--access", "user", "--secret", "secret", "--keep-alive", "--quiet",
		"posix", "--sidecar", meta, root)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("versitygw: %s", &log)
		}
	})
	for i := 0; ; i++ {
		c, err := net.Dial("unix", socket)
		if err == nil {
			c.Close()
			break
		}
		if i == 500 {
			t.Fatalf("versitygw does not start: %v\n%s", err, &log)
		}
		time.Sleep(20 * time.Millisecond)
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
		MaxIdleConnsPerHost: 64,
	}
	s.idle = transport.CloseIdleConnections
	t.Cleanup(s.idle)
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) { // the host is signed
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", r.In.Host, r.In.Host
		},
		ModifyResponse: func(r *http.Response) error {
			r.Body = &countedBody{r.Body, s}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			// If versitygw refuses to replace an object, it closes the connection without reading the body. Its answer
			// may be lost then.
			_, err = os.Stat(filepath.Join(root, filepath.FromSlash(r.URL.Path)))
			if err != nil || r.Header.Get("If-None-Match") != "*" {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			w.WriteHeader(http.StatusPreconditionFailed)
			io.WriteString(w, "<Error><Code>PreconditionFailed</Code></Error>")
		},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		s.mu.Lock()
		s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+strings.TrimPrefix(r.URL.Path, "/bucket/")+" "+
			q.Get("partNumber")+map[bool]string{true: "uploads"}[q.Has("uploads")]))
		fault := s.fault
		s.running++
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.running--
			s.mu.Unlock()
		}()
		if fault == nil || !fault(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	s.url = front.URL
	setenv(t)
	return s
}

// setenv sets the credentials.
func setenv(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "user")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
}

type countedBody struct {
	io.ReadCloser
	s *server
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.s.mu.Lock()
	b.s.bytes += int64(n)
	b.s.mu.Unlock()
	return n, err
}

// take returns the requests and the bytes since the last call. It waits for requests that run, as a client may need
// only some of its answers.
func (s *server) take() ([]string, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 2000 {
		if s.running == 0 {
			break
		}
		s.mu.Unlock()
		time.Sleep(time.Millisecond)
		s.mu.Lock()
	}
	r, n := s.requests, s.bytes
	s.requests, s.bytes = nil, 0
	return r, n
}

// faults sets what happens to requests. nil is nothing.
func (s *server) faults(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// object returns the URL of an object.
func (s *server) object(key string) string {
	return "s3://bucket/" + key + "?region=us-east-1&use_path_style=true&endpoint=" + url.QueryEscape(s.url)
}

// bucket opens the bucket.
func (s *server) bucket(t *testing.T) *cloud.Bucket {
	t.Helper()
	b, err := s3.OpenBucket(t.Context(), strings.Replace(s.object(""), "bucket/", "bucket", 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}
