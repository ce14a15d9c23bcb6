package serve

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

// eventually waits until done returns true.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not after 20 s", what)
		}
	}
}

// start serves a folder on a free port until stop is called, which returns what Serve does.
func start(t testing.TB, s *Server) (addr string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), stop
}

// noLeaks checks at the end of a test that no goroutine and no file is left. Call it before the server is made.
func noLeaks(t testing.TB) {
	t.Helper()
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0 // not Linux
		}
		return len(list)
	}
	http.DefaultClient.CloseIdleConnections()
	// The first listener of a process opens files for the runtime, which stay open.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	goroutines, open := runtime.NumGoroutine(), files()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		eventually(t, "goroutines and files are closed", func() bool {
			return runtime.NumGoroutine() <= goroutines && files() <= open
		})
	})
}

// writeNoise creates an array of n random bytes.
func writeNoise(t testing.TB, name string, n int64) {
	t.Helper()
	data := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i+8 <= len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], r.Uint64()&0x3f3f3f3f3f3f3f3f)
	}
	a, err := ndarray.CreateBytes(context.Background(), name, []int64{n}, "|u1", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}

// TestHostileSelections asks for selections that are wrong, too large or too long.
func TestHostileSelections(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.b2nd"), 20, 30)
	big, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "big.b2nd"), []int64{1 << 20, 1 << 20, 4}, "<f8", nil)
	if err != nil {
		t.Fatal(err)
	}
	big.Close()
	lists, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "lists.b2nd"), []int64{3}, "[('a', 'u1'), ('b', '<i4', (1000000000, 0))]", nil)
	if err != nil {
		t.Fatal(err)
	}
	lists.Close()
	same := "{'names':['a','b','c'],'formats':['S30000000','S30000000','S30000000'],'offsets':[0,0,0],'itemsize':30000000}"
	overlap, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "overlap.b2nd"), []int64{1}, same, nil)
	if err != nil {
		t.Fatal(err)
	}
	overlap.Close()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("this is no frame, but it is long enough to be one"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, dir, testConfig())
	many := func(s string) string { return strings.Repeat(s, 5000) }
	for uri, code := range map[string]int{
		"/a.b2nd?sel=20": 400, "/a.b2nd?sel=-21": 400, "/a.b2nd?sel=0,0,0": 400, "/a.b2nd?sel=x": 400, "/a.b2nd?sel=::0": 400, "/a.b2nd?sel=...,...": 400,
		"/a.b2nd?sel=99999999999999999999": 400, "/a.b2nd?sel=-9223372036854775808": 400, "/a.b2nd?sel=::-9223372036854775808": 200, "/a.b2nd?sel=[": 400,
		"/a.b2nd?sel=[[0],[1]]": 200, "/a.b2nd?sel=[20]": 400, "/a.b2nd?sel=" + many("["): 400, "/a.b2nd?sel=" + many("0,"): 400, "/a.b2nd?sel=" + many("None,"): 400,
		"/a.b2nd?sel=[" + many("0,") + "0]": 200, "/a.b2nd?sel=[" + many("0,") + "0],None,[" + many("0,") + "0]": 200, "/a.b2nd?sel=%00": 400, "/a.b2nd?sel=%zz": 400,
		"/a.b2nd?sel=0;rm": 400, "/a.b2nd?sel=0&format=xml": 400, "/a.b2nd?sel=True": 200, "/a.b2nd?sel=[True]": 400,
		"/big.b2nd?sel=": 413, "/big.b2nd?sel=0": 200, "/big.b2nd?sel=0,0": 200, "/big.b2nd?sel=:,:1000": 413, "/big.b2nd?sel=::1048575,::1048575": 200,
		"/big.b2nd?sel=:,:,:0&format=json": 413, "/big.b2nd?sel=:,:,:0": 200, "/big.b2nd?sel=:10,:0&format=json": 200,
		"/lists.b2nd?sel=:&format=json": 413, "/lists.b2nd?sel=:": 200,
		"/overlap.b2nd?sel=:&format=json": 413, "/overlap.b2nd?sel=:0&format=json": 200,
		"/big.b2nd?sel=None,...,None": 413, "/big.b2nd?sel=:&format=json": 413, "/text?sel=0": 422, "/?sel=0": 422, "/missing?sel=0": 404,
		"/api/fetch/big.b2nd?slice_=:,:1000": 413, "/api/fetch/a.b2nd?slice_=20": 400, "/api/fetch/a.b2nd?slice_=0&field=x": 501,
		"/api/chunk/a.b2nd?nchunk=-1": 400, "/api/chunk/a.b2nd?nchunk=1": 400, "/api/chunk/a.b2nd?nchunk=": 400, "/api/chunk/a.b2nd?nchunk=99999999999999999999": 400,
		"/?format=": 200, "/?format=json": 200, "/?format=xml": 400, "/?format=npy": 400,
		"/api/chunk/text?nchunk=0": 422, "/api/info/text": 422, "/api/info/": 422,
	} {
		r := ask(t, s, "GET", uri)
		got := body(t, r, r.StatusCode)
		if r.StatusCode != code || strings.Contains(got, dir) {
			t.Errorf("%.80s: %d, want %d: %.200q", uri, r.StatusCode, code, got)
		}
	}
}

// TestMethods checks methods, hosts and headers for other origins.
func TestMethods(t *testing.T) {
	c := testConfig()
	c.Hosts = []string{"localhost", "::1"}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.b2nd"), 2)
	s := newServer(t, dir, c)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"} {
		if r := ask(t, s, method, "/a.b2nd", "Host", "localhost"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d %v", method, r.StatusCode, r.Header)
		}
	}
	for host, code := range map[string]int{"localhost": 200, "LOCALHOST:80": 200, "[::1]:80": 200, "[::1]": 200, "evil.example": 421, "": 421, "localhost.evil.example": 421} {
		if r := ask(t, s, "GET", "/a.b2nd", "Host", host); r.StatusCode != code || r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d, want %d", host, r.StatusCode, code)
		}
	}
	if r := ask(t, s, "GET", "/a.b2nd", "Host", "localhost"); r.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%v", r.Header)
	}
	c.CORS = "https://viewer.example"
	s = newServer(t, dir, c)
	r := ask(t, s, "OPTIONS", "/a.b2nd", "Host", "localhost")
	if r.StatusCode != 204 || r.Header.Get("Access-Control-Allow-Origin") != c.CORS || !strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "Range") {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if r := ask(t, s, "GET", "/missing", "Host", "localhost"); r.Header.Get("Access-Control-Allow-Origin") != c.CORS || r.Header.Get("Vary") != "Origin" {
		t.Errorf("%v", r.Header)
	}
}

// TestViewer serves a web page besides the folder.
func TestViewer(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"viewer/index.html": "page", "viewer/v.wasm": "\x00asm", "secret": "x", "data/a.html": "<script>"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := testConfig()
	body(t, ask(t, newServer(t, filepath.Join(dir, "data"), c), "GET", "/viewer/"), 404)
	c.Viewer = filepath.Join(dir, "viewer")
	s := newServer(t, filepath.Join(dir, "data"), c)
	if r := ask(t, s, "GET", "/viewer/"); body(t, r, 200) != "page" || r.Header.Get("Content-Security-Policy") != "" {
		t.Errorf("%v", r.Header)
	}
	if r := ask(t, s, "GET", "/viewer/v.wasm"); r.Header.Get("Content-Type") != "application/wasm" || body(t, r, 200) != "\x00asm" {
		t.Errorf("%v", r.Header)
	}
	for _, p := range []string{"/viewer/../secret", "/viewer/%2e%2e/secret", "/viewer/..%2fsecret"} {
		if got := ask(t, s, "GET", p); got.StatusCode == 200 {
			t.Errorf("%s: %s", p, body(t, got, 200))
		}
	}
	if r := ask(t, s, "GET", "/a.html"); !strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%v", r.Header)
	}
}

// TestBusy fills the places of requests, of decoders and of memory.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.b2nd"), 2)
	c := testConfig()
	c.Limits.Requests, c.Limits.Decoders = 1, 1
	s := newServer(t, dir, c)
	fill := map[string]func() func(){
		"requests": func() func() { s.requests.enter(t.Context()); return s.requests.leave },
		"decoders": func() func() { s.decoders.enter(t.Context()); return s.decoders.leave },
		"memory":   func() func() { s.memory.used.Add(s.memory.max); return func() { s.memory.give(s.memory.max) } },
	}
	for name, take := range fill {
		leave := take()
		r := ask(t, s, "GET", "/a.b2nd?sel=0")
		if body(t, r, 503); r.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: %v", name, r.Header)
		}
		body(t, ask(t, s, "GET", "/api/chunk/a.b2nd?nchunk=0"), 503)
		get(t, s, "/metrics")
		leave()
		get(t, s, "/a.b2nd?sel=0")
	}
	c.Limits.Time = time.Nanosecond
	if got := body(t, ask(t, newServer(t, dir, c), "GET", "/a.b2nd?sel=0"), 503); !strings.Contains(got, "too long") {
		t.Error(got)
	}
}

// TestCancel checks that a request ends when its client leaves: while it waits, and while it reads.
func TestCancel(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	writeNoise(t, filepath.Join(dir, "a.b2nd"), 48<<20)
	c := testConfig()
	c.Limits.Threads, c.Limits.Decoders, c.Limits.Wait = 1, 1, time.Minute
	s := newServer(t, dir, c)
	get(t, s, "/a.b2nd?sel=0")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Millisecond)
	defer cancel()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/a.b2nd?sel=:", nil).WithContext(ctx))
	if n := w.Body.Len(); n != 0 {
		t.Errorf("%d bytes after the client left", n)
	}
	if got := get(t, s, "/metrics"); !strings.Contains(got, `blosc2_requests_total{kind="slice",code="499"} 1`) {
		t.Error(got)
	}
	addr, _ := start(t, s)
	s.decoders.enter(t.Context())
	defer s.decoders.leave()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET /a.b2nd?sel=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	eventually(t, "the request waits", func() bool { return s.requests.used() == 1 })
	conn.Close()
	eventually(t, "the request ends", func() bool { return s.requests.used() == 0 })
	// A client that closes only its half of the connection takes an answer, which is not 200 without data.
	if conn, err = net.Dial("tcp", addr); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /a.b2nd?sel=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	eventually(t, "the request waits", func() bool { return s.requests.used() == 1 })
	conn.(*net.TCPConn).CloseWrite()
	conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 503 ") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSlowClients sends requests and does not take the answers, or does not finish the request.
func TestSlowClients(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	writeNoise(t, filepath.Join(dir, "a.b2nd"), 16<<20)
	c := testConfig()
	c.Limits.Stall, c.Limits.Header = 300*time.Millisecond, 300*time.Millisecond
	s := newServer(t, dir, c)
	addr, _ := start(t, s)
	for _, uri := range []string{"/a.b2nd", "/a.b2nd?sel=:", "/a.b2nd?sel=:&format=json", "/api/fetch/a.b2nd?slice_=1:"} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-, 0-1\r\n\r\n", uri)
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
		eventually(t, uri+" ends", func() bool { return s.requests.used() == 0 && s.memory.used.Load() == 0 })
		conn.Close()
	}
	for _, text := range []string{"", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\nX: "} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, text)
		conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("%q: the server does not close the connection: %v", text, err)
		}
		conn.Close()
	}
	// A request with a large header.
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// This fails when the server closes the connection.
	go fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 1<<20))
	conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	b := make([]byte, 12)
	if _, err := io.ReadFull(conn, b); err != nil || string(b) != "HTTP/1.1 431" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestShutdown stops a server whose request ends soon, and one whose request does not.
func TestShutdown(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.b2nd"), 2)
	c := testConfig()
	c.Limits.Decoders, c.Limits.Wait, c.Limits.Grace = 1, time.Minute, 300*time.Millisecond
	for _, ends := range []bool{true, false} {
		s := newServer(t, dir, c)
		if ends {
			s.limits.Grace = time.Minute
		}
		addr, stop := start(t, s)
		s.decoders.enter(t.Context())
		answer := make(chan string, 1)
		go func() {
			r, err := http.Get("http://" + addr + "/a.b2nd?sel=0")
			if err != nil {
				answer <- "lost"
				return
			}
			r.Body.Close()
			answer <- r.Status
		}()
		eventually(t, "the request waits", func() bool { return s.requests.used() == 1 })
		stopped := make(chan error, 1)
		go func() { stopped <- stop() }()
		eventually(t, "the server accepts no connections", func() bool {
			conn, err := net.Dial("tcp", addr)
			if err == nil {
				conn.Close()
			}
			return err != nil
		})
		want := "lost"
		if ends {
			want = "200 OK"
			s.decoders.leave()
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if got := <-answer; got != want {
			t.Errorf("ends %v: %s", ends, got)
		}
		if !ends {
			s.decoders.leave()
		}
	}
}

// TestChangedFile replaces and edits files between requests.
func TestChangedFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.b2nd")
	s := newServer(t, dir, testConfig())
	tags := map[string]bool{}
	for n := int64(2); n < 6; n++ {
		write(t, name, n)
		r := ask(t, s, "GET", "/a.b2nd?sel=&format=json")
		if got := body(t, r, 200); !strings.Contains(got, fmt.Sprintf(`"shape":[%d]`, n)) {
			t.Error(got)
		}
		tags[r.Header.Get("ETag")] = true
		tags[ask(t, s, "HEAD", "/a.b2nd").Header.Get("ETag")] = true
	}
	if open, opened := s.cache.counts(); open != 1 || opened != 4 || len(tags) != 8 {
		t.Errorf("%d open, %d opened, %d tags", open, opened, len(tags))
	}
	sparse, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "sparse"), []int64{4}, "<i4", &ndarray.CreateOptions{Sparse: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sparse.Close()
	contiguous, err := ndarray.Edit(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer contiguous.Close()
	for value := int32(7); value < 10; value++ {
		time.Sleep(20 * time.Millisecond) // the resolution of times of files
		for p, a := range map[string]*ndarray.Array{"/sparse": sparse, "/a.b2nd": contiguous} {
			if err := ndarray.Fill(t.Context(), a, value); err != nil {
				t.Fatal(err)
			}
			if got := get(t, s, p+"?sel=0&format=json"); !strings.Contains(got, fmt.Sprintf(`"data":%d}`, value)) {
				t.Errorf("%s: %s, want %d", p, got, value)
			}
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	body(t, ask(t, s, "GET", "/a.b2nd?sel=0"), 404)
}

// TestConcurrency reads many arrays from many goroutines with a small cache, while one of them is replaced.
func TestConcurrency(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	for i := range 5 {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.b2nd", i)), 40, 50)
	}
	if err := os.CopyFS(filepath.Join(dir, "stores"), os.DirFS(filepath.Join(fixturesDir, "stores"))); err != nil {
		t.Fatal(err)
	}
	c := testConfig()
	c.Limits.Arrays, c.Limits.Wait, c.Limits.Decoders = 2, time.Minute, 8
	s := newServer(t, dir, c)
	var readers, writer sync.WaitGroup
	done := make(chan struct{})
	writer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				write(t, filepath.Join(dir, "0.b2nd"), 40, 50)
			}
		}
	})
	for range 16 {
		readers.Go(func() {
			for i := range 60 {
				got := get(t, s, fmt.Sprintf("/%d.b2nd?sel=%d,3&format=json", i%5, i%40))
				if !strings.Contains(got, fmt.Sprintf(`"data":%d}`, i%40*50+3)) {
					t.Errorf("%d: %s", i, got)
				}
				get(t, s, "/stores/tree.b2z/img/level0?sel=0,0")
				if i%10 == 0 {
					get(t, s, "/stores/tree.b2z/")
					get(t, s, "/metrics")
				}
			}
		})
	}
	readers.Wait()
	close(done)
	writer.Wait()
	if open, _ := s.cache.counts(); open > 3 {
		t.Errorf("%d open arrays, want at most 3: two in the cache, and the store of one", open)
	}
}

// TestLargeIndexes asks for arrays whose indexes are together larger than the cache, and for one that is larger alone.
func TestLargeIndexes(t *testing.T) {
	dir := t.TempDir()
	for name, chunks := range map[string]int64{"a": 4000, "b": 4000, "c": 4000, "small": 1, "large": 20000} {
		a, err := ndarray.Zeros(t.Context(), filepath.Join(dir, name), []int64{chunks}, "|u1", &ndarray.CreateOptions{Chunks: []int64{1}})
		if err == nil {
			err = a.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := newServer(t, dir, testConfig())
	s.cache.maxSize = 2*(9000+8*4000) + 9000 + 8*1
	for _, c := range []struct {
		name         string
		open, opened int
	}{
		{"a", 1, 1}, {"small", 2, 2}, {"b", 3, 3}, {"a", 3, 3}, {"c", 2, 4}, // without b and small
		{"a", 2, 4}, {"large", 2, 5}, {"large", 2, 6}, {"c", 2, 6}, {"b", 2, 7}, {"small", 3, 8},
	} {
		get(t, s, "/"+c.name+"?sel=0")
		if open, opened := s.cache.counts(); open != c.open || opened != int64(c.opened) {
			t.Errorf("%s: %d open arrays of %d opened, want %d of %d", c.name, open, opened, c.open, c.opened)
		}
	}
	s.cache.clear()
	if s.cache.size != 0 {
		t.Errorf("%d bytes in an empty cache", s.cache.size)
	}
}

// TestBuffers checks that no byte of an earlier answer is in an array that stores nothing for its items.
func TestBuffers(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.b2nd"), 1000)
	zeros, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "zeros.b2nd"), []int64{1000}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	zeros.Close()
	s := newServer(t, dir, testConfig())
	for range 20 {
		get(t, s, "/a.b2nd?sel=")
		if got := get(t, s, "/zeros.b2nd?sel="); got[len(got)-4000:] != strings.Repeat("\x00", 4000) {
			t.Fatal("bytes of an earlier answer")
		}
	}
}

// TestMetrics checks the form of the metrics, and counters after a few requests.
func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.b2nd"), 2)
	s := newServer(t, dir, testConfig())
	n := len(get(t, s, "/a.b2nd?sel=")) + len(get(t, s, "/a.b2nd?sel=0"))
	body(t, ask(t, s, "GET", "/a.b2nd?sel=9"), 400)
	get(t, s, "/a.b2nd")
	r := ask(t, s, "GET", "/metrics")
	got := body(t, r, 200)
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Error(r.Header)
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) blosc2_[a-z_]+ .+|blosc2_[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")?\})? [0-9.e+-]+)$`)
	for l := range strings.SplitSeq(strings.TrimSpace(got), "\n") {
		if !line.MatchString(l) {
			t.Errorf("%q", l)
		}
	}
	for _, want := range []string{
		`blosc2_requests_total{kind="slice",code="200"} 2`, `blosc2_requests_total{kind="slice",code="400"} 1`, `blosc2_requests_total{kind="file",code="200"} 1`,
		`blosc2_request_seconds_count{kind="slice"} 3`, `blosc2_request_seconds_bucket{kind="slice",le="+Inf"} 3`, "blosc2_slices_in_flight 0",
		"blosc2_open_arrays 1", "blosc2_opened_arrays_total 1", "blosc2_requests_in_flight 0", "# TYPE blosc2_request_seconds histogram",
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no line %s in\n%s", want, got)
		}
	}
	m := regexp.MustCompile(`response_bytes_total\{kind="slice"\} (\d+)`).FindStringSubmatch(got)
	if m == nil || m[1] < fmt.Sprint(n) {
		t.Errorf("%v bytes, want at least %d", m, n)
	}
}
