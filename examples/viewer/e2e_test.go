package main

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// TestViewer drives the viewer in a browser.
func TestViewer(t *testing.T) {
	if testing.Short() {
		t.Skip("a test with a browser")
	}
	s := newSite(t)
	c := startChrome(t)
	for _, sub := range []struct {
		name string
		test func(*testing.T, *site, *chrome)
	}{
		{"Dropped", testDropped}, {"URL", testURL}, {"Pixels", testPixels}, {"Keys", testKeys}, {"Table", testTable}, {"Mouse", testMouse}, {"Hostile", testHostile}, {"Faults", testFaults},
		{"Sheet", testSheet},
		{"Tables", testTables}, {"Objects", testObjects}, {"Switch", testSwitch}, {"Chunks", testChunks}, {"Kinds", testKinds}, {"Names", testNames}, {"Large", testLarge}, {"Huge", testHuge},
	} {
		t.Run(sub.name, func(t *testing.T) { sub.test(t, s, c) })
	}
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

// testDropped opens a store by dropping a file: it lists the keys and shows the first array.
func testDropped(t *testing.T, s *site, c *chrome) {
	p := c.newPage(t, 1400, 900, nil)
	p.open(s.url)
	p.shot("empty.png")
	p.drop("tree.b2z", fixture(t, "stores/tree.b2z"))
	p.drawn()
	p.wait(element("tree") + ".childElementCount >= 6")
	if got := p.content("title"); got != "tree.b2z · /img/level0" {
		t.Errorf("title %q", got)
	}
	if got := p.content("info"); !strings.Contains(got, "64 × 64") || !strings.Contains(got, "<u2") {
		t.Errorf("metadata %q", got)
	}
	p.wait(element("line") + ".getAttribute('aria-label').includes('64 values')")
	p.wait(element("histogram-text") + ".textContent.startsWith('4')")
	p.shot("tree.png")
	p.next(func() { p.eval("document.querySelector('#tree li[data-key=\"/img/level2\"]').click()", nil) })
	if got := p.content("info"); !strings.Contains(got, "16 × 16") {
		t.Errorf("metadata %q", got)
	}
	if got := p.text("document.querySelector('#tree [aria-selected=true]').dataset.key"); got != "/img/level2" {
		t.Errorf("selected %s", got)
	}
	if got := p.text("location.hash"); strings.Contains(got, "url=") {
		t.Errorf("hash %q of a file", got)
	}
}

// testURL opens a URL, changes the view, and opens the URL of the view again.
func testURL(t *testing.T, s *site, c *chrome) {
	url := s.put(t, "tree.b2z", fixture(t, "stores/tree.b2z"))
	p := c.newPage(t, 1400, 900, nil)
	p.open(s.url)
	p.choose("url", url)
	p.next(func() { p.eval(element("open")+".requestSubmit()", nil) })
	p.next(func() { p.eval("document.querySelector('#tree li[data-key=\"/img/level1\"]').click()", nil) })
	p.next(func() { p.choose("map", "gray") })
	p.next(func() { p.choose("scale", "percentile") })
	p.next(func() { p.choose("percentile", "5, 95") })
	p.next(func() { p.eval(element("zoom-in")+".click()", nil) })
	p.wait("location.hash.includes('window=')")
	hash := p.text("location.hash")
	for _, part := range []string{"url=" + url, "key=/img/level1", "map=gray", "scale=percentile", "percentile=5,95"} {
		if !strings.Contains(hash, part) {
			t.Errorf("%s: no %s", hash, part)
		}
	}
	label := p.text(element("canvas") + ".getAttribute('aria-label')")
	center := element("canvas") + ".getContext('2d').getImageData(" + element("canvas") + ".width / 2, 300, 1, 1).data.join()"
	pixel := p.text(center)
	q := c.newPage(t, 1400, 900, nil)
	q.open(s.url + hash)
	q.drawn()
	q.wait("location.hash !== ''")
	if got := q.text(element("canvas") + ".getAttribute('aria-label')"); got != label {
		t.Errorf("restored %s, want %s", got, label)
	}
	if got := q.text(center); got != pixel {
		t.Errorf("restored pixel %s, want %s", got, pixel)
	}
	if got := q.text("location.hash"); got != hash {
		t.Errorf("hash %s, want %s", got, hash)
	}
	for in, want := range map[string]string{
		"#axes=1,1&at=-1,2&window=3,1,2,4&map=red&scale=x&range=2,1&nan=zz&line=-1":                     "",
		"#url=a%20b&axes=2,0&at=1,2,3&window=0,0.5,2,4&map=gray&scale=log&nan=ff0000&range=-1,2&line=2": "#url=a%20b&axes=2,0&at=1,2,3&window=0,0.5,2,4&map=gray&scale=log&nan=ff0000&range=-1,2&line=2",
		"#at=1e99,2&percentile=5&window=a,b,c,d&percentile=3,2":                                         "",
	} {
		if got := q.text(fmt.Sprintf("await import('./state.js').then(({ parse, format }) => format(parse(%q)))", in)); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// testKeys moves with the keyboard alone.
func testKeys(t *testing.T, s *site, c *chrome) {
	data := make([]int32, 5*20*30)
	for i := range data {
		data[i] = int32(i)
	}
	url := s.put(t, "keys.b2nd", encode(t, []int64{5, 20, 30}, data, nil))
	p := c.newPage(t, 1400, 900, nil)
	p.open(s.url + "#url=" + url)
	p.drawn()
	p.eval(element("canvas")+".focus()", nil)
	p.press("ArrowDown", "ArrowDown", "ArrowRight")
	p.wait(element("readout") + ".textContent === '[0, 2, 1]\\n61'")
	p.next(func() { p.press("PageDown") })
	p.wait(element("readout") + ".textContent === '[1, 2, 1]\\n661'")
	p.next(func() { p.press("+") })
	p.wait("location.hash.includes('window=')")
	p.next(func() { p.press("Shift+ArrowRight") })
	p.next(func() { p.press("0") })
	p.wait("!location.hash.includes('window=')")
	p.next(func() { p.press("PageUp") })
	// The tab key reaches every control, and no key is trapped.
	seen := map[string]bool{}
	p.eval("document.activeElement.blur()", nil)
	for range 40 {
		p.press("Tab")
		seen[p.text("document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.tagName")] = true
	}
	for _, id := range []string{"url", "file", "row", "col", "map", "scale", "low", "high", "nan", "zoom-in", "zoom-out", "zoom-all", "canvas", "Index of axis 0", "line-axis", "SUMMARY"} {
		if !seen[id] {
			t.Errorf("the tab key does not reach %s: %v", id, seen)
		}
	}
}

// testTable moves through the table of an array that has no picture.
func testTable(t *testing.T, s *site, c *chrome) {
	p := c.newPage(t, 1000, 700, nil)
	p.open(s.url)
	p.drop("text.b2nd", fixture(t, "python-blosc2/dtype_S5.b2nd"))
	p.wait(element("table") + ".querySelector('td.here')")
	p.eval(element("table")+".focus()", nil)
	p.press("ArrowDown", "ArrowRight")
	p.wait(element("readout") + ".textContent === '[1, 1]\\nkey21'")
	p.shot("table.png")
}

// testMouse zooms with the wheel, drags, and picks.
func testMouse(t *testing.T, s *site, c *chrome) {
	data := make([]float64, 100*100)
	for i := range data {
		data[i] = float64(i)
	}
	url := s.put(t, "mouse.b2nd", encode(t, []int64{100, 100}, data, nil))
	p := c.newPage(t, 1400, 900, nil)
	p.open(s.url + "#url=" + url)
	p.drawn()
	var box struct{ X, Y, Width, Height float64 }
	p.eval("(({x, y, width, height}) => ({x, y, width, height}))("+element("canvas")+".getBoundingClientRect())", &box)
	x, y := box.X+box.Width/2+2, box.Y+box.Height/2+2
	p.mouse("mouseMoved", x, y, nil)
	p.wait(element("readout") + ".textContent.startsWith('[50, 50]')")
	p.next(func() { p.mouse("mouseWheel", x, y, map[string]any{"deltaX": 0, "deltaY": -300}) })
	p.wait("location.hash.includes('window=')")
	window := p.text("location.hash")
	p.next(func() {
		p.mouse("mousePressed", x, y, nil)
		p.mouse("mouseMoved", x+60, y+30, map[string]any{"buttons": 1})
		p.mouse("mouseReleased", x+60, y+30, nil)
	})
	p.wait("location.hash !== " + fmt.Sprintf("%q", window))
	p.mouse("mousePressed", x, y, nil)
	p.mouse("mouseReleased", x, y, nil)
	p.wait("/at=[34]\\d,[34]\\d/.test(location.hash)")
	// Two fingers that part show a part of the plane. They zoom only while both are down.
	p.next(func() { p.eval(element("zoom-all")+".click()", nil) })
	p.wait("!location.hash.includes('window=')")
	p.next(func() {
		p.touch("touchStart", x-40, y, x+40, y)
		p.touch("touchMove", x-160, y, x+160, y)
	})
	p.wait("(([t, l, b, r]) => r - l > 10 && r - l < 60 && (l + r) / 2 > 40 && (l + r) / 2 < 60)(/window=([^&]*)/.exec(location.hash)?.[1].split(',').map(Number) ?? [])")
	p.touch("touchEnd")
	p.eval(`document.querySelector('.range').getBoundingClientRect().height < 1.9 * document.getElementById('low').getBoundingClientRect().height || (() => { throw new Error('the range is on two lines') })()`, nil)
}

// encode returns the bytes of an array.
func encode[T any](t *testing.T, shape []int64, data []T, o *ndarray.CreateOptions) []byte {
	t.Helper()
	a, err := ndarray.Create(t.Context(), "", shape, data, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := a.Save(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

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

// testLarge opens 10 GB on a server with a latency of 50 ms, and moves the slider.
func testLarge(t *testing.T, s *site, c *chrome) {
	big := newBig(t)
	size, _ := big.Size()
	s.far.put("/big.b2nd", big, size, `"big"`)
	s.far.latency = 50 * time.Millisecond
	defer func() { s.far.latency = 0 }()
	p := c.newPage(t, 1400, 900, nil)
	p.open(s.url)
	// The program is in the cache of the browser after this.
	p.eval("import('./client.js').then(({ Client }) => new Client(() => {}).call('stats', {}))", nil)
	s.far.counts()
	p.choose("url", s.data+"/big.b2nd")
	start := time.Now()
	p.next(func() { p.eval(element("open")+".requestSubmit()", nil) })
	first := time.Since(start)
	requests, read := s.far.counts()
	t.Logf("first picture after %v: %d requests, %d bytes", first.Round(time.Millisecond), requests, read)
	p.wait(element("line") + ".childElementCount > 0")
	var steps []float64
	for i := 1; i < bigDepth; i++ {
		p.next(func() {
			p.eval(fmt.Sprintf("(() => { const e = document.querySelector('#sliders input'); e.value = %d; e.dispatchEvent(new Event('input')); })()", i), nil)
		})
		var ms float64
		p.eval("Number("+element("canvas")+".dataset.milliseconds)", &ms)
		steps = append(steps, ms)
		time.Sleep(150 * time.Millisecond)
	}
	t.Logf("milliseconds per step of the slider: %.0f", steps)
	n, b := s.far.counts()
	t.Logf("for %d steps: %d requests, %d bytes", len(steps), n, b)
	if requests > 4 {
		t.Errorf("%d requests for the first picture, want at most 4", requests)
	}
	slices.Sort(steps)
	// The goals are 2 s, and 100 ms for a step. Other work on the machine must not fail the test.
	if first > 6*time.Second || steps[len(steps)/2] > 500 {
		t.Errorf("the first picture took %v, and half of the steps more than %.0f ms", first, steps[len(steps)/2])
	}
	if read > 4<<20 {
		t.Errorf("%d bytes for the first picture", read)
	}
	if *shots != "" {
		q := c.newPage(t, 1180, 700, nil)
		q.open(s.url + "#at=5,330,420&url=" + s.data + "/big.b2nd")
		q.drawn()
		q.wait(element("line") + ".childElementCount > 0")
		q.eval(element("url")+".value = 'https://example.org/waves.b2nd', "+element("title")+".textContent = 'waves.b2nd'", nil)
		q.shot("viewer.png")
	}
}

// testHuge shows a plane of 100,000 x 100,000: it reads a part of it, in bounded memory.
func testHuge(t *testing.T, s *site, c *chrome) {
	a, err := ndarray.Full(t.Context(), "", []int64{100_000, 100_000}, float32(math.Pi), &ndarray.CreateOptions{Chunks: []int64{2000, 2000}, Blocks: []int64{200, 200}})
	if err != nil {
		t.Fatal(err)
	}
	part := noise(2000 * 2000)
	if err := ndarray.Write(t.Context(), a, part, ndarray.Span(0, 2000), ndarray.Span(2000, 4000)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := a.Save(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	url := s.put(t, "huge.b2nd", out.Bytes())
	p := c.newPage(t, 1200, 900, nil)
	p.open(s.url + "#url=" + url)
	p.drawn()
	t.Log(p.content("limited-text"), p.content("status"))
	p.shot("huge.png")
	for range 8 {
		p.next(func() { p.eval(element("zoom-in")+".click()", nil) })
	}
	p.wait("location.hash.includes('window=')")
}
