package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// fixturesDir has the frames and stores of other libraries.
const fixturesDir = "../../../../testdata"

// testConfig returns settings with short waits.
func testConfig() Config {
	return Config{
		Limits: Limits{Wait: 50 * time.Millisecond, Grace: 2 * time.Second},
		ItemText: func(d meta.DType, b []byte) string {
			switch d.Kind {
			case 'i', 'u':
				n := int64(0)
				for i := len(b) - 1; i >= 0; i-- {
					n = n<<8 | int64(b[i])
				}
				shift := 64 - 8*len(b)
				return fmt.Sprint(n << shift >> shift)
			case 'f':
				return "nan"
			}
			return strings.TrimRight(string(b), "\x00")
		},
	}
}

// newServer returns a server of a folder that is closed at the end of the test.
func newServer(t testing.TB, dir string, c Config) *Server {
	t.Helper()
	s, err := New(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if open, _ := s.cache.counts(); open != 0 || s.requests.used() != 0 || s.decoders.used() != 0 || s.memory.used.Load() != 0 {
			t.Errorf("%d open arrays, %d requests, %d decoders, %d bytes are left", open, s.requests.used(), s.decoders.used(), s.memory.used.Load())
		}
	})
	return s
}

// ask sends a request to a server without a connection. header lists names and values.
func ask(t testing.TB, s *Server, method, uri string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost/", nil)
	var err error
	if r.URL, err = url.ParseRequestURI(uri); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

// body returns the content of an answer, which must have a status.
func body(t testing.TB, r *http.Response, code int) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != code {
		t.Errorf("status %d, want %d: %s", r.StatusCode, code, b)
	}
	return string(b)
}

// get returns the content of a path, which must exist.
func get(t testing.TB, s *Server, uri string, header ...string) string {
	t.Helper()
	return body(t, ask(t, s, "GET", uri, header...), 200)
}

// write creates an array of int32 with the numbers from 0 up.
func write(t testing.TB, name string, shape ...int64) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	data := make([]int32, n)
	for i := range data {
		data[i] = int32(i)
	}
	a, err := ndarray.Create(context.Background(), name, shape, data, &ndarray.CreateOptions{Overwrite: true})
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSlices compares selections of arrays in all places with those that package ndarray reads.
func TestSlices(t *testing.T) {
	s := newServer(t, fixturesDir, testConfig())
	for _, p := range []string{
		"python-blosc2/edited_sframe", "python-blosc2/mixed_special.b2nd", "python-blosc2/meta.b2nd", "stores/tree.b2z/img/level0", "stores/tree.b2d/img/level0",
		"stores/tree.b2d/img/level0.b2nd",
		"stores/tree.b2d/meta/pos",
	} {
		a := openFixture(t, p)
		for _, sel := range []string{"", "...", "0", "-1,:3", "::-2,1", "[2,0]", "None,0:0"} {
			index, err := parseSelection(sel)
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			if err := npy.Write(t.Context(), &want, a, index...); err != nil {
				t.Fatal(err)
			}
			uri := "/" + p + "?sel=" + sel
			r := ask(t, s, "GET", uri)
			if body(t, r, 200) != want.String() {
				t.Errorf("%s differs", uri)
			}
			if n := fmt.Sprint(want.Len()); r.Header.Get("Content-Length") != n {
				t.Errorf("%s: length %s, want %s", uri, r.Header.Get("Content-Length"), n)
			}
			head := ask(t, s, "HEAD", uri)
			if got := body(t, head, 200); got != "" || head.Header.Get("Content-Length") != r.Header.Get("Content-Length") || head.Header.Get("ETag") != r.Header.Get("ETag") {
				t.Errorf("HEAD %s: %q, %v", uri, got, head.Header)
			}
			if got := body(t, ask(t, s, "GET", uri, "If-None-Match", `"x", `+r.Header.Get("ETag")), 304); got != "" {
				t.Errorf("%s has not changed, but %q", uri, got)
			}
		}
	}
}

// openFixture opens an array of the test data: a file, a sparse directory, or the leaf of a store.
func openFixture(t *testing.T, p string) *ndarray.Array {
	t.Helper()
	for _, ext := range []string{".b2d", ".b2z"} {
		if name, key, ok := strings.Cut(p, ext+"/"); ok && filepath.Ext(key) == "" {
			st, err := store.Open(t.Context(), filepath.Join(fixturesDir, name+ext), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { st.Close() })
			a, err := st.Array(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
	}
	a, err := ndarray.Open(t.Context(), filepath.Join(fixturesDir, p), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// TestJSON compares items of all kinds of dtypes as JSON.
func TestJSON(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.b2nd"), 2, 3)
	s := newServer(t, dir, testConfig())
	for q, want := range map[string]string{
		"sel=&format=json":         `{"shape":[2,3],"dtype":"<i4","data":[[0,1,2],[3,4,5]]}`,
		"sel=1,1&format=json":      `{"shape":[],"dtype":"<i4","data":4}`,
		"sel=0:0&format=json":      `{"shape":[0,3],"dtype":"<i4","data":[]}`,
		"sel=:,0:0&format=json":    `{"shape":[2,0],"dtype":"<i4","data":[[],[]]}`,
		"sel=None,-1&format=json":  `{"shape":[1,3],"dtype":"<i4","data":[[3,4,5]]}`,
		"format=json&sel=::-1,[2]": `{"shape":[2,1],"dtype":"<i4","data":[[5],[2]]}`,
	} {
		r := ask(t, s, "GET", "/a.b2nd?"+q)
		if got := strings.TrimSpace(body(t, r, 200)); got != want || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
	for sel, want := range map[string]string{
		"0,x": `selection "0,x": column 3: unknown word "x"`, "0,9": "selection: index 1: 9 is out of range for axis 1 of length 3",
	} {
		if got := body(t, ask(t, s, "GET", "/a.b2nd?sel="+sel), 400); got != want+"\n" {
			t.Errorf("%s: %q, want %q", sel, got, want)
		}
	}
	for q, code := range map[string]int{"": 200, "?format=": 200, "?format=json": 400, "?format=npy": 400} {
		body(t, ask(t, s, "GET", "/api/fetch/a.b2nd"+q), 200)
		got := body(t, ask(t, s, "GET", "/a.b2nd"+q), code)
		if want := strings.TrimPrefix(q, "?") + " is for selections and listings"; code != 200 && !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", q, got, want)
		}
	}
	b, err := ndarray.CreateBytes(t.Context(), filepath.Join(dir, "b.b2nd"), []int64{3}, "|S2", []byte("\xff\xfea\x00\xfe\x00"), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	bytesWant := `{"shape":[3],"dtype":"|S2","data":[{"bytes":"fffe"},"a",{"bytes":"fe"}]}`
	if got := get(t, s, "/b.b2nd?sel=&format=json"); strings.TrimSpace(got) != bytesWant {
		t.Errorf("%s, want %s", got, bytesWant)
	}
	if got := get(t, s, "/a.b2nd?sel=0,0", "Accept", "application/json"); !strings.HasPrefix(got, "{") {
		t.Errorf("%q", got)
	}
	fixtures := newServer(t, fixturesDir, testConfig())
	for p, want := range map[string]string{
		"/tables/t05_int32.b2z":    "/tables/t05_int32.b2z is a table; select from one of its columns, /tables/t05_int32.b2z/_cols/NAME",
		"/stores/tree.b2z":         "/stores/tree.b2z holds arrays; select from one of them, which /stores/tree.b2z/ lists",
		"/stores/tree.b2z/img":     "/stores/tree.b2z/img holds arrays",
		"/tables/t05_int32.b2z/no": "not found",
	} {
		code := 422
		if want == "not found" {
			code = 404
		}
		if got := body(t, ask(t, fixtures, "GET", p+"?sel=0"), code); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
	body(t, ask(t, fixtures, "GET", "/stores/tree.b2z/img/level0?format=json"), 400)
	body(t, ask(t, fixtures, "GET", "/stores/tree.b2z/img?format=json"), 301)
	list, err := filepath.Glob(filepath.Join(fixturesDir, "python-blosc2", "dtype_*"))
	if err != nil || len(list) < 20 {
		t.Fatal(list, err)
	}
	for _, name := range list {
		var v struct{ Data any }
		got := get(t, fixtures, "/python-blosc2/"+filepath.Base(name)+"?sel=...&format=json")
		if err := json.Unmarshal([]byte(got), &v); err != nil || v.Data == nil {
			t.Errorf("%s: %v: %.200s", name, err, got)
		}
	}
}

// TestFiles compares files, ranges and leaves with their bytes.
func TestFiles(t *testing.T) {
	s := newServer(t, fixturesDir, testConfig())
	want, err := os.ReadFile(filepath.Join(fixturesDir, "stores/tree.b2z"))
	if err != nil {
		t.Fatal(err)
	}
	r := ask(t, s, "GET", "/stores/tree.b2z")
	if got := body(t, r, 200); got != string(want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	tag := r.Header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) {
		t.Errorf("ETag %s is not strong", tag)
	}
	for _, c := range []struct {
		ranges string
		code   int
		want   []string
	}{
		{"bytes=0-9", 206, []string{string(want[:10])}}, {"bytes=-5", 206, []string{string(want[len(want)-5:])}},
		{"bytes=5-6,100-119,7-7", 206, []string{string(want[5:7]), string(want[100:120]), string(want[7:8])}},
		{"bytes=10-5", 416, nil}, {"bytes=99999999-", 416, nil}, {"bytes=x", 416, nil}, {"items=0-1", 416, nil},
		{"bytes=-", 416, nil}, {"bytes=0-99999999999999999999999", 416, nil}, {"bytes=" + strings.Repeat("0-0,", 300) + "1-1", 416, nil},
		{"bytes=" + strings.Repeat("0-,", 100) + "0-", 200, []string{string(want)}},
	} {
		got := body(t, ask(t, s, "GET", "/stores/tree.b2z", "Range", c.ranges), c.code)
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: a part is missing", c.ranges)
			}
		}
	}
	body(t, ask(t, s, "GET", "/stores/tree.b2z", "If-None-Match", tag), 304)
	body(t, ask(t, s, "GET", "/stores/tree.b2z", "If-Match", `"other"`), 412)
	body(t, ask(t, s, "GET", "/stores/tree.b2z", "Range", "bytes=0-1", "If-Range", `"other"`), 200)
	leaf := get(t, s, "/stores/tree.b2z/img/level0")
	if !strings.Contains(string(want), leaf) || len(leaf) < 1000 {
		t.Errorf("%d bytes that are not a member of the store", len(leaf))
	}
	if got := body(t, ask(t, s, "GET", "/stores/tree.b2z/img/level0", "Range", "bytes=1-4"), 206); got != string(leaf[1:5]) {
		t.Errorf("%q", got)
	}
	for p, to := range map[string]string{"/stores": "./stores/", "/stores/tree.b2z/img": "./img/"} {
		if r := ask(t, s, "GET", p); r.StatusCode != 301 || r.Header.Get("Location") != to {
			t.Errorf("%s: %d, %v", p, r.StatusCode, r.Header)
		}
	}
}

// editor edits a file when an answer begins.
type editor struct {
	*httptest.ResponseRecorder
	edit func()
}

func (e *editor) WriteHeader(code int) {
	e.edit()
	e.ResponseRecorder.WriteHeader(code)
}

// TestEditedFile edits a file in place after its version is sent: the answer must have no bytes of the new version.
func TestEditedFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "tree.b2z")
	content, err := os.ReadFile(filepath.Join(fixturesDir, "stores/tree.b2z"))
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, dir, testConfig())
	for _, p := range []string{"/tree.b2z", "/tree.b2z/img/level0"} {
		past := time.Now().Add(-time.Hour)
		if err := errors.Join(os.WriteFile(name, content, 0o666), os.Chtimes(name, past, past)); err != nil {
			t.Fatal(err)
		}
		w := &editor{httptest.NewRecorder(), func() {
			if err := os.WriteFile(name, content, 0o666); err != nil {
				t.Error(err)
			}
		}}
		s.ServeHTTP(w, httptest.NewRequest("GET", p, nil))
		r := w.Result()
		if got := body(t, r, 200); got != "" {
			t.Errorf("%s: %d bytes of another version", p, len(got))
		}
		body(t, ask(t, s, "GET", p, "If-Match", r.Header.Get("ETag"), "Range", "bytes=1-5"), 412)
	}
}

// TestListings checks listings of folders and stores, as JSON and HTML.
func TestListings(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, `<i>&"'.b2nd`), 2)
	write(t, filepath.Join(dir, "sub", "a:b.b2nd"), 2)
	for _, name := range []string{".hidden", "sub/.x"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := newServer(t, dir, testConfig())
	var l listing
	if err := json.Unmarshal([]byte(get(t, s, "/?format=json")), &l); err != nil {
		t.Fatal(err)
	}
	if len(l.Entries) != 2 || l.Entries[0].Name != `<i>&"'.b2nd` || l.Entries[1].Name != "sub/" || l.Truncated || l.Kind != "directory" {
		t.Errorf("%+v", l)
	}
	if got := get(t, s, "/"); strings.Contains(got, "<i>") || !strings.Contains(got, `href="./%3Ci%3E&amp;%22%27.b2nd"`) || strings.Contains(got, "hidden") {
		t.Error(got)
	}
	if got := get(t, s, "/sub/", "Accept", "text/html, application/json"); !strings.Contains(got, `href="./a:b.b2nd"`) || strings.Contains(got, ".x") {
		t.Error(got)
	}
	fixtures := newServer(t, fixturesDir, testConfig())
	if err := json.Unmarshal([]byte(get(t, fixtures, "/stores/tree.b2z/", "Accept", "application/json")), &l); err != nil {
		t.Fatal(err)
	}
	if len(l.Entries) < 5 || l.Entries[1].Name != "img/level0" || l.Entries[1].DType != "<u2" || len(l.Entries[1].Shape) != 2 {
		t.Errorf("%+v", l)
	}
	if got := get(t, fixtures, "/stores/tree.b2z/img/"); !strings.Contains(got, `href="./level0"`) {
		t.Error(got)
	}
	few := testConfig()
	few.Limits.Entries = 1
	if got := get(t, newServer(t, dir, few), "/?format=json"); !strings.Contains(got, `"truncated":true`) {
		t.Error(got)
	}
}

// TestHostileNames asks for names outside of the folder, hidden ones, and ones that cannot be.
func TestHostileNames(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.b2nd"), 2)
	dir := filepath.Join(outside, "served")
	write(t, filepath.Join(dir, "a.b2nd"), 2)
	write(t, filepath.Join(dir, ".hidden", "a.b2nd"), 2)
	sparse, err := ndarray.Zeros(t.Context(), filepath.Join(outside, "sparse"), []int64{4}, "<i4", &ndarray.CreateOptions{Sparse: true})
	if err != nil {
		t.Fatal(err)
	}
	sparse.Close()
	links := map[string]string{"out.b2nd": "../secret.b2nd", "up": "..", "root": "/", "sparse": "../sparse", "in.b2nd": "a.b2nd", "loop": "loop"}
	if runtime.GOOS != "windows" {
		for name, to := range links {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		get(t, newServer(t, dir, testConfig()), "/in.b2nd?sel=0")
	}
	s := newServer(t, dir, testConfig())
	names := []string{
		"/../secret.b2nd", "/..", "/../", "/%2e%2e/secret.b2nd", "/..%2fsecret.b2nd", "/%2e%2e%2fsecret.b2nd", "/a/../../secret.b2nd", "/./a.b2nd", "/.hidden/a.b2nd",
		"/.hidden/", "//a.b2nd", "/%2fetc/passwd", "//etc/passwd", "/" + strings.ReplaceAll(outside, "/", "%2f") + "/secret.b2nd", "/a.b2nd%00", "/%00", "/a.b2nd/", "/a.b2nd/x",
		"/a.b2nd%00.txt", "/..\\secret.b2nd", "/C:\\x", "/a.b2nd/..", "/out.b2nd", "/up/secret.b2nd", "/up/", "/root/etc/passwd", "/sparse", "/sparse/", "/loop", "/missing",
		"/" + strings.Repeat("a", 5000), "/" + strings.Repeat("a/", 2000), "/\xff\xfe", "/...", "/con", "/a.b2nd::$DATA",
	}
	for _, name := range names {
		for _, prefix := range []string{"", "/api/info", "/api/fetch", "/api/chunk"} {
			for _, query := range []string{"", "sel=0", "nchunk=0", "slice_=0"} {
				got := ask(t, s, "GET", prefix+name+"?"+query)
				text := body(t, got, got.StatusCode)
				bad := got.StatusCode != 404 && !(prefix == "/api/chunk" && got.StatusCode == 400)
				if bad || strings.Contains(text, outside) {
					t.Errorf("%.99s%.99s?%s: %d %.99s", prefix, name, query, got.StatusCode, text)
				}
			}
		}
	}
	if l := get(t, s, "/?format=json"); strings.Contains(l, "out.b2nd") || strings.Contains(l, `"up/"`) || strings.Contains(l, "hidden") || !strings.Contains(l, "a.b2nd") {
		t.Error(l)
	}
}

// TestAboveLink serves folders with names that have ".." after a symbolic link, which leads above its target.
func TestAboveLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes .. by name")
	}
	top := t.TempDir()
	t.Chdir(top)
	write(t, "here/a.b2nd", 2)
	write(t, "there/below/b.b2nd", 2)
	a, err := ndarray.Zeros(t.Context(), "there/a.b2nd", []int64{1}, "<i4", &ndarray.CreateOptions{Sparse: true})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if err := os.Symlink("../there/below", "here/link"); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	for _, dir := range []string{"here/link/..", top + "/here/link/../below/..", ".."} {
		if dir == ".." {
			t.Chdir(top + "/here/link")
		}
		got := body(t, ask(t, newServer(t, dir, testConfig()), "GET", "/a.b2nd?sel=:&format=json"), 200)
		if want := `{"shape":[1],"dtype":"<i4","data":[0]}` + "\n"; got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
