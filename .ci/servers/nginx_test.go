// Package servers tests remote reading with real servers: nginx, which must be installed, and Go's file server.
package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

// config is the configuration of nginx. The arguments are the folder of the server, and again for each path.
const config = `
daemon off;
master_process off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 256; }
http {
	access_log off;
	default_type application/octet-stream;
	client_body_temp_path %[1]s/tmp;
	proxy_temp_path %[1]s/tmp;
	fastcgi_temp_path %[1]s/tmp;
	uwsgi_temp_path %[1]s/tmp;
	scgi_temp_path %[1]s/tmp;
	gzip on;
	gzip_min_length 1;
	gzip_types *;
	server {
		listen unix:%[1]s/socket;
		root %[1]s/root;
		location /plain/ { alias %[1]s/root/; max_ranges 0; }
		location /single/ { alias %[1]s/root/; max_ranges 1; }
		location /untagged/ { alias %[1]s/root/; etag off; }
		location /denied/ { deny all; }
		location /busy/ { return 503; }
		location /moved/ { rewrite ^/moved/(.*)$ /$1 redirect; }
	}
}
`

// server is a server with files in a folder.
type server struct {
	root     string
	url      string
	client   *http.Client
	requests *atomic.Int64
}

// RoundTrip counts the requests.
func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests.Add(1)
	return s.client.Transport.RoundTrip(r)
}

// options returns options for the server.
func (s server) options() *remote.Options {
	return &remote.Options{Client: &http.Client{Transport: s}, Retries: 1, MaxWait: time.Millisecond}
}

// startNginx starts nginx with a socket in a folder of its own.
func startNginx(t *testing.T) server {
	t.Helper()
	path, err := exec.LookPath("nginx")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Fatal("nginx is not installed: ", err)
		}
	}
	dir, err := os.MkdirTemp("", "nginx") // short, for the name of the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	root, file := filepath.Join(dir, "root"), filepath.Join(dir, "nginx.conf")
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(root, 0o755), os.Mkdir(filepath.Join(dir, "tmp"), 0o755),
		os.WriteFile(file, fmt.Appendf(nil, config, dir), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(path, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", file)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "socket"))
	}
	for i := 0; ; i++ {
		c, err := dial(t.Context(), "", "")
		if err == nil {
			c.Close()
			break
		}
		if i == 500 {
			b, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Fatalf("nginx does not start: %v\n%s%s", err, &log, b)
		}
		time.Sleep(20 * time.Millisecond)
	}
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return server{root, "http://nginx", &http.Client{Transport: transport}, new(atomic.Int64)}
}

// startGo starts Go's file server.
func startGo(t *testing.T) server {
	root := t.TempDir()
	s := httptest.NewServer(http.FileServer(http.Dir(root)))
	t.Cleanup(s.Close)
	return server{root, s.URL, s.Client(), new(atomic.Int64)}
}

// makeArray stores an array of random items in a file, and as a sparse frame in a directory, and returns the items.
func (s server) makeArray(t *testing.T) []uint16 {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	data := make([]uint16, 64*100*100)
	for i := range data {
		data[i] = uint16(rng.Uint32())
	}
	for name, sparse := range map[string]bool{"a.b2nd": false, "s.b2nd": true} {
		o := &ndarray.CreateOptions{Chunks: []int64{8, 100, 100}, Blocks: []int64{1, 20, 100}, Sparse: sparse}
		a, err := ndarray.Create(t.Context(), filepath.Join(s.root, name), []int64{64, 100, 100}, data, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// both calls do for nginx and for Go's file server.
func both(t *testing.T, do func(t *testing.T, s server)) {
	t.Run("nginx", func(t *testing.T) { do(t, startNginx(t)) })
	t.Run("net/http", func(t *testing.T) { do(t, startGo(t)) })
}

// source is what Open and OpenDir return.
type source interface {
	frame.Source
	io.Closer
}

// checkItems compares items of an array with data.
func checkItems(t *testing.T, src frame.Source, data []uint16) {
	t.Helper()
	a, err := ndarray.OpenSource(t.Context(), src, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	plane, err := ndarray.Read[uint16](t.Context(), a, ndarray.At(33))
	if err != nil || !slices.Equal(plane, data[33*10_000:34*10_000]) {
		t.Errorf("wrong plane: %v", err)
	}
	column, err := ndarray.Read[uint16](t.Context(), a, ndarray.All, ndarray.At(45), ndarray.At(7))
	for i, x := range column {
		if x != data[i*10_000+4507] {
			t.Fatalf("wrong item %d", i)
		}
	}
	all, allErr := ndarray.Read[uint16](t.Context(), a)
	if err != nil || allErr != nil || !slices.Equal(all, data) {
		t.Errorf("wrong items: %v, %v", err, allErr)
	}
}

// TestRead reads arrays in files and directories.
func TestRead(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		data := s.makeArray(t)
		for name, multipart := range map[string]bool{"one range": false, "several ranges": true} {
			o := s.options()
			o.Multipart = multipart
			src, err := remote.Open(t.Context(), s.url+"/a.b2nd", o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if n := s.requests.Swap(0); multipart && n != 1 || n > 2 {
				t.Errorf("%s: %d requests to open", name, n)
			}
			checkItems(t, src, data)
			src.Close()
			s.requests.Store(0)
		}
		dir, err := remote.OpenDir(t.Context(), s.url+"/s.b2nd/", s.options())
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		checkItems(t, dir, data)
	})
}

// TestChanged replaces files between reads.
func TestChanged(t *testing.T) {
	both(t, func(t *testing.T, s server) {
		s.makeArray(t)
		chunk := filepath.Join(s.root, "s.b2nd", "00000000.chunk")
		for _, c := range []struct {
			file string
			open func() (source, error)
			off  func(src source) int64
		}{
			{filepath.Join(s.root, "a.b2nd"), func() (source, error) { return remote.Open(t.Context(), s.url+"/a.b2nd", s.options()) },
				func(source) int64 { return 500_000 }},
			{chunk, func() (source, error) { return remote.OpenDir(t.Context(), s.url+"/s.b2nd/", s.options()) },
				func(src source) int64 { return src.(*remote.Dir).ChunkOffset(0) + 1000 }},
		} {
			src, err := c.open()
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			p := make([]byte, 100)
			if _, err := src.ReadAtContext(t.Context(), p, c.off(src)); err != nil {
				t.Fatal(err)
			}
			old, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			// Go's file server has only Last-Modified, in seconds.
			err = errors.Join(os.WriteFile(c.file, bytes.Repeat([]byte{1}, len(old)), 0o644), os.Chtimes(c.file, time.Time{}, time.Now().Add(-time.Hour)))
			if err != nil {
				t.Fatal(err)
			}
			err = nil
			for i := int64(0); err == nil && i < 3; i++ {
				_, err = src.ReadAtContext(t.Context(), p, c.off(src)+i*1000)
			}
			// If-Unmodified-Since accepts an older file, and the answer has another Last-Modified.
			if !errors.Is(err, remote.ErrChanged) {
				t.Errorf("%s: %v, want ErrChanged", c.file, err)
			}
			if err := os.WriteFile(c.file, old, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestNginx has configurations of nginx that answer in other ways.
func TestNginx(t *testing.T) {
	s := startNginx(t)
	data := s.makeArray(t)
	for _, c := range []struct {
		path      string
		multipart bool
		whole     int64
		want      error
	}{
		{"/plain/a.b2nd", false, 16 << 20, nil}, // ranges are ignored
		{"/plain/a.b2nd", true, 16 << 20, nil},
		{"/plain/a.b2nd", false, 100_000, errors.ErrUnsupported},
		{"/single/a.b2nd", true, 0, nil}, // several ranges are ignored
		{"/single/a.b2nd", false, 0, nil},
		{"/untagged/a.b2nd", false, 0, nil},
		{"/moved/a.b2nd", false, 0, nil},
		{"/none.b2nd", false, 0, fs.ErrNotExist},
		{"/denied/a.b2nd", false, 0, fs.ErrPermission},
		{"/busy/a.b2nd", false, 0, errBusy},
	} {
		o := s.options()
		o.Multipart, o.MaxWhole = c.multipart, c.whole
		src, err := remote.Open(t.Context(), s.url+c.path, o)
		var e *remote.Error
		if c.want == errBusy && errors.As(err, &e) && e.Status == http.StatusServiceUnavailable {
			continue
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s, several ranges %v: %v, want %v", c.path, c.multipart, err, c.want)
		}
		if err == nil {
			checkItems(t, src, data)
			src.Close()
		}
	}
	for path, want := range map[string]error{
		"/plain/s.b2nd/": nil, "/single/s.b2nd/": nil, "/untagged/s.b2nd/": nil, "/moved/s.b2nd/": nil, "/a.b2nd/": fs.ErrNotExist,
	} {
		src, err := remote.OpenDir(t.Context(), s.url+path, s.options())
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if err == nil {
			checkItems(t, src, data)
			src.Close()
		}
	}
}

var errBusy = errors.New("status 503")
