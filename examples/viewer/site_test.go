package main

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

var (
	shots = flag.String("shots", "", "write screenshots to this folder")
	built = flag.String("built", "", "test the viewer in this folder rather than a new one")
)

// site is the built viewer on a server, and a server of data with another origin.
type site struct {
	url, data   string
	far         *far
	dir, blosc2 string // files of the tests, and among them the command
}

// newSite builds the viewer and serves it.
func newSite(t *testing.T) *site {
	t.Helper()
	dir := *built
	if dir == "" {
		dir = t.TempDir()
		sizes, err := build(dir)
		if err != nil {
			t.Fatal(err)
		}
		checkSizes(t, sizes)
	}
	s := &site{far: &far{}, dir: t.TempDir()}
	pages, data := httptest.NewServer(http.FileServer(http.Dir(dir))), httptest.NewServer(s.far)
	t.Cleanup(pages.Close)
	t.Cleanup(data.Close)
	s.url, s.data = pages.URL+"/", data.URL
	return s
}

// checkSizes compares the size of the viewer after compression with its budget.
func checkSizes(t *testing.T, sizes []size) {
	t.Helper()
	total := 0
	for _, s := range sizes {
		total += s.gzipped
	}
	t.Logf("%d bytes in %d files, gzipped", total, len(sizes))
	if total > 2_000_000 {
		t.Errorf("the viewer has %d bytes after compression, want at most 2 MB", total)
	}
}

// put serves a file of the test data, or an array, under a name.
func (s *site) put(t *testing.T, name string, b []byte) string {
	t.Helper()
	s.far.put("/"+name, bytes.NewReader(b), int64(len(b)), fmt.Sprintf(`"%d"`, len(b)))
	return s.data + "/" + name
}

// element returns the script of an element.
func element(id string) string { return fmt.Sprintf("document.getElementById(%q)", id) }

// content returns the text of an element.
func (p *page) content(id string) string {
	p.t.Helper()
	return p.text(element(id) + ".textContent")
}

// drawn waits for the first picture.
func (p *page) drawn() {
	p.t.Helper()
	p.wait(element("canvas") + ".dataset.pictures > 0")
}

// next runs f and waits for a new picture.
func (p *page) next(f func()) {
	p.t.Helper()
	before := p.text(element("canvas") + ".dataset.pictures ?? 0")
	f()
	p.wait(element("canvas") + ".dataset.pictures > " + before)
}

// choose selects an option, or sets the value of a control, as a user does.
func (p *page) choose(id, value string) {
	p.t.Helper()
	p.eval(fmt.Sprintf("(() => { const e = %s; e.value = %q; for (const t of ['input', 'change']) e.dispatchEvent(new Event(t, { bubbles: true })); })()", element(id), value), nil)
}

// fixture returns a file of the test data.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// drop drops a file on the page.
func (p *page) drop(name string, b []byte) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`(() => {
		const bytes = Uint8Array.from(atob(%q), (c) => c.charCodeAt(0));
		const data = new DataTransfer();
		data.items.add(new File([bytes], %q));
		document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
	})()`, base64.StdEncoding.EncodeToString(b), name), nil)
}

// shot writes a screenshot if there is a folder for them.
func (p *page) shot(name string) {
	p.t.Helper()
	if *shots != "" {
		time.Sleep(300 * time.Millisecond)
		p.screenshot(filepath.Join(*shots, name))
	}
}

// encode returns the bytes of an array.
func encode[T any](t *testing.T, shape []int64, data []T, o *ndarray.CreateOptions) []byte {
	t.Helper()
	a, err := ndarray.Create(t.Context(), "", shape, data, o)
	return saved(t, a, err)
}

// saved returns the bytes of an array that was just made.
func saved(t *testing.T, a *ndarray.Array, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := a.Save(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// noise returns numbers that do not compress.
func noise(n int) []float32 {
	data := make([]float32, n)
	x := uint32(1)
	for i := range data {
		x = x*1664525 + 1013904223
		data[i] = float32(x>>8) / (1 << 24)
	}
	return data
}
