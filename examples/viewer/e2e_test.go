package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

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
		{"Sheet", testSheet}, {"Constant", testConstant}, {"LargeValues", testLargeValues}, {"Labels", testLabels}, {"Wide", testWide}, {"Narrow", testNarrow},
		{"Tables", testTables}, {"Objects", testObjects}, {"Switch", testSwitch}, {"Chunks", testChunks}, {"Kinds", testKinds}, {"Empty", testEmpty}, {"Names", testNames}, {"Large", testLarge}, {"Huge", testHuge},
	} {
		t.Run(sub.name, func(t *testing.T) { sub.test(t, s, c) })
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
	// Of three steps at once the second is left out. Nothing waits for it.
	p.next(func() {
		p.eval("(() => { const e = document.querySelector('#sliders input'); for (const i of [1, 2, 3]) { e.value = i; e.dispatchEvent(new Event('input')); } })()", nil)
	})
	p.wait(element("canvas") + ".dataset.at === '3,2,1'")
	time.Sleep(300 * time.Millisecond)
	p.wait(element("busy") + ".hidden")
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
