package main

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// site is the built viewer on a server of its own.
type site struct {
	url   string
	sizes []size
}

// newSite builds the viewer and serves it.
func newSite(t *testing.T) *site {
	t.Helper()
	if dir := os.Getenv("VIEWER_DIR"); dir != "" {
		srv := httptest.NewServer(http.FileServer(http.Dir(dir)))
		t.Cleanup(srv.Close)
		return &site{srv.URL + "/", nil}
	}
	dir := t.TempDir()
	sizes, err := build(dir)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(srv.Close)
	return &site{srv.URL + "/", sizes}
}

// drop drops a file on the page.
func (p *page) drop(name string) {
	p.t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		p.t.Fatal(err)
	}
	p.eval(`(() => {
		const bytes = Uint8Array.from(atob("`+base64.StdEncoding.EncodeToString(b)+`"), (c) => c.charCodeAt(0));
		const data = new DataTransfer();
		data.items.add(new File([bytes], `+"`"+filepath.Base(name)+"`"+`));
		document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
	})()`, nil)
}

// pictures returns the number of pictures drawn so far.
func (p *page) pictures() string { return p.text("document.getElementById('canvas').dataset.pictures ?? 0") }

// TestScratch is temporary.
func TestScratch(t *testing.T) {
	s := newSite(t)
	total := 0
	for _, x := range s.sizes {
		t.Log(x.name, x.gzipped)
		total += x.gzipped
	}
	t.Log("total", total)
	c := startChrome(t)
	p := c.newPage(t, 1400, 900, nil)
	p.open(s.url)
	shots := os.Getenv("VIEWER_SHOTS")
	p.screenshot(shots + "/empty.png")
	p.drop("../../testdata/stores/tree.b2z")
	p.wait("document.getElementById('canvas').dataset.pictures > 0")
	p.wait("document.getElementById('line').childElementCount > 3")
	p.screenshot(shots + "/tree.png")
}
