package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/ndarray"
)

// testHostile opens an array whose names and attributes are HTML.
func testHostile(t *testing.T, s *site, c *chrome) {
	evil := `<img src=x onerror="window.evil=1"><script>window.evil=1</script>`
	b := encode(t, []int64{4, 4}, make([]int32, 16), &ndarray.CreateOptions{Attrs: map[string]any{"<img src=x onerror=evil()>": evil, "list": []any{evil, 1, nil}}})
	p := c.newPage(t, 1000, 700, nil)
	p.open(s.url)
	p.drop(evil+".b2nd", b)
	p.drawn()
	p.wait(element("attributes") + ".textContent.includes('onerror')")
	if got := p.text("window.evil + ' ' + document.querySelectorAll('img, main script').length"); got != "undefined 0" {
		t.Errorf("%s", got)
	}
	if got := p.content("title"); !strings.Contains(got, "<img") {
		t.Errorf("title %q", got)
	}
	// The policy of the page refuses scripts in attributes.
	p.eval("document.body.insertAdjacentHTML('beforeend', '<button id=evil onclick=\"window.evil=2\"></button>'), "+element("evil")+".click(), "+element("evil")+".remove()", nil)
	if got := p.text("window.evil"); got != "undefined" {
		t.Errorf("a script of an attribute has run: %s", got)
	}
	p.c.mu.Lock()
	p.c.logs = nil // the refusal
	p.c.mu.Unlock()
}

// testFaults opens what cannot be opened: each fault has a message, and the next file opens.
func testFaults(t *testing.T, s *site, c *chrome) {
	p := c.newPage(t, 1000, 700, nil)
	p.open(s.url)
	closed := httptest.NewServer(http.NotFoundHandler()) // answers, but not to other pages
	defer closed.Close()
	broken := bytes.Clone(fixture(t, "stores/tree.b2z"))
	for i := range 2000 {
		broken[len(broken)-1-i] ^= 0xff
	}
	for _, f := range []struct{ name, url, want string }{
		{"", s.data + "/missing.b2nd", "404"},
		{"", "http://127.0.0.1:1/a.b2nd", "no answer"},
		{"", closed.URL + "/a.b2nd", "needs CORS headers"},
		{"", "ftp://example.org/a", "must begin with http"},
		{"garbage.b2nd", "just some text, no frame at all", "neither a Blosc2 frame nor a store"},
		{"empty.b2nd", "", ""},
		{"broken.b2z", string(broken), ""},
		{"cut.b2nd", string(fixture(t, "python-blosc2/meta.b2nd")[:200]), ""},
	} {
		p.eval(element("error")+".hidden = true", nil)
		if f.name == "" {
			p.choose("url", f.url)
			p.eval(element("open")+".requestSubmit()", nil)
		} else {
			p.drop(f.name, []byte(f.url))
		}
		p.wait("!" + element("error") + ".hidden")
		if got := p.content("error"); !strings.Contains(got, f.want) || len(got) < 10 {
			t.Errorf("%s%.40s: error %q, want %q", f.name, f.url, got, f.want)
		}
	}
	p.shot("fault.png")
	p.c.mu.Lock()
	p.c.logs = nil // the browser logs failed requests
	p.c.mu.Unlock()
	p.drop("tree.b2z", fixture(t, "stores/tree.b2z"))
	p.drawn()
	if p.text(element("error")+".hidden") != "true" {
		t.Error("the error is still shown")
	}
	// The object changes while it is open.
	changing := encode(t, []int64{3, 500, 500}, noise(3*500*500), &ndarray.CreateOptions{Chunks: []int64{1, 500, 500}})
	url := s.put(t, "changing.b2nd", changing)
	p.choose("url", url)
	p.next(func() { p.eval(element("open")+".requestSubmit()", nil) })
	s.far.put("/changing.b2nd", bytes.NewReader(changing), int64(len(changing)), `"new"`)
	p.choose("url", url)
	p.eval("(() => { const e = document.querySelector('#sliders input'); e.value = 2; e.dispatchEvent(new Event('input')); })()", nil)
	p.wait("!" + element("error") + ".hidden")
	if got := p.content("error"); !strings.Contains(got, "has changed") {
		t.Errorf("error %q", got)
	}
}

// testKinds opens arrays of all dtypes and some shapes.
func testKinds(t *testing.T, s *site, c *chrome) {
	p := c.newPage(t, 1200, 900, nil)
	p.open(s.url)
	list, err := filepath.Glob("../../testdata/python-blosc2/dtype_*.b2nd")
	if err != nil || len(list) < 20 {
		t.Fatal(list, err)
	}
	for _, name := range append(list, "one", "zero", "none") {
		var b []byte
		switch name {
		case "one":
			b = encode(t, []int64{1000}, noise(1000), nil)
		case "zero":
			b = encode(t, []int64{}, noise(1), nil)
		case "none":
			b = encode(t, []int64{0, 5}, noise(0), nil)
		default:
			b = fixture(t, "python-blosc2/"+filepath.Base(name))
		}
		title := filepath.Base(name)
		p.drop(title, b)
		p.wait(element("title") + ".textContent === " + fmt.Sprintf("%q", title) + " && !" + element("stage") + ".hidden")
		if name != "none" {
			p.wait(element("readout") + ".textContent.includes(']\\n')")
		}
		if got := p.text(element("error") + ".hidden"); got != "true" {
			t.Errorf("%s: error %s", title, p.content("error"))
		}
		p.eval(element("readout")+".textContent = ''", nil)
		if name == "one" || strings.Contains(name, "S5") {
			p.shot("kind-" + title + ".png")
		}
	}
}

// testEmpty opens arrays without items after one with items, whose value must not stay.
func testEmpty(t *testing.T, s *site, c *chrome) {
	ctx := t.Context()
	some, err1 := ndarray.Create(ctx, "", []int64{20, 30}, noise(600), nil)
	none, err2 := ndarray.Create(ctx, "", []int64{0, 5}, noise(0), nil)
	dir := filepath.Join(s.dir, "empty.b2d")
	st, err3 := store.Create(ctx, dir, nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(st.Put(ctx, "/a", some.Frame()), st.Put(ctx, "/none", none.Frame()), st.Close()); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(pack(t, dir, filepath.Join(s.dir, "empty.b2z")))
	if err != nil {
		t.Fatal(err)
	}
	p := c.newPage(t, 1200, 800, nil)
	p.open(s.url)
	shows := func(title, value string) {
		t.Helper()
		p.wait(element("title") + ".textContent === " + fmt.Sprintf("%q", title) + " && !" + element("stage") + ".hidden")
		p.wait(element("readout") + ".textContent" + value)
	}
	p.drop("empty.b2z", packed)
	shows("empty.b2z · /a", ".includes(']\\n')")
	p.eval(`document.querySelector('#tree li[data-key="/none"]').click()`, nil)
	shows("empty.b2z · /none", " === ''")
	p.drop("some.b2nd", saved(t, some, nil))
	shows("some.b2nd", ".includes(']\\n')")
	p.drop("none.b2nd", saved(t, none, nil))
	shows("none.b2nd", " === ''")
}

// testNames checks that each control has a name for screen readers, and that the live regions exist.
func testNames(t *testing.T, s *site, c *chrome) {
	p := c.newPage(t, 1400, 1000, map[string]string{"prefers-color-scheme": "dark"})
	p.open(s.url)
	p.drop("edited.b2nd", encode(t, []int64{3, 40, 50}, noise(3*40*50), nil))
	p.drawn()
	p.eval(element("table-panel")+".open = "+element("chunk-panel")+".open = true", nil)
	p.wait(element("table") + ".querySelector('td.here') && " + element("chunks") + ".childElementCount > 0")
	p.shot("dark.png")
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
			Properties []struct {
				Name  string
				Value struct{ Value any }
			}
		}
	}
	p.command("Accessibility.getFullAXTree", nil, &tree)
	controls := 0
	for _, n := range tree.Nodes {
		focusable := false
		for _, x := range n.Properties {
			focusable = focusable || x.Name == "focusable" && x.Value.Value == true
		}
		if n.Ignored || !focusable || n.Role.Value == "RootWebArea" {
			continue
		}
		if controls++; n.Name.Value == nil || n.Name.Value == "" {
			t.Errorf("a %v without a name", n.Role.Value)
		}
	}
	if controls < 15 {
		t.Errorf("%d controls", controls)
	}
	for _, q := range []string{"[role=alert]", "[role=status]", "#panels [aria-live=polite]", "#sheet [aria-live=polite]", "main", "header", "h1", "html[lang]"} {
		if p.text("document.querySelectorAll('"+q+"').length") != "1" {
			t.Errorf("want one %s", q)
		}
	}
}
