package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// constant returns an array whose items are all x.
func constant[T any](t *testing.T, shape []int64, x T, o *ndarray.CreateOptions) []byte {
	t.Helper()
	a, err := ndarray.Full(t.Context(), "", shape, x, o)
	return saved(t, a, err)
}

// testConstant checks that the color bar of a plane with one value has the color of the plane.
func testConstant(t *testing.T, s *site, c *chrome) {
	p := c.newPage(t, 1200, 800, nil)
	p.open(s.url)
	p.drop("constant.b2nd", constant(t, []int64{50, 50}, 3.5, nil))
	p.drawn()
	pixel := func(id string, y int) string {
		return p.text(fmt.Sprintf(`(() => {
			const c = %s, copy = new OffscreenCanvas(1, c.height).getContext("2d", { willReadFrequently: true });
			copy.drawImage(c, -Math.floor(c.width / 2), 0);
			return copy.getImageData(0, %d, 1, 1).data.join();
		})()`, element(id), y))
	}
	plane := pixel("canvas", 150)
	for _, y := range []int{0, 100, 255} {
		if got := pixel("bar", y); got != plane {
			t.Errorf("row %d of the color bar is %s, the plane %s", y, got, plane)
		}
	}
	if got := p.content("bar-axis"); got != "3.5" {
		t.Errorf("the color bar has the labels %q", got)
	}
	if got := p.content("histogram-text"); !strings.HasSuffix(got, "values shown, all 3.5") {
		t.Errorf("histogram: %q", got)
	}
	p.shot("constant.png")
	// Other values have the color at the other end of the bar.
	data := make([]float64, 2500)
	data[0] = 1
	p.next(func() { p.drop("two.b2nd", encode(t, []int64{50, 50}, data, nil)) })
	p.next(func() { p.choose("high", "0") })
	if top, bottom := pixel("bar", 0), pixel("bar", 255); top == bottom || bottom != pixel("canvas", 150) {
		t.Errorf("the color bar has the colors %s and %s", top, bottom)
	}
	// The range of these values is larger than any number.
	for i := range data {
		data[i] = []float64{-math.MaxFloat64, math.MaxFloat64, 0}[i%3]
	}
	half := make([]float64, 2500)
	for i := range half {
		half[i] = math.MaxFloat64 * float64(i%2)
	}
	for _, c := range []struct {
		array []byte
		line  string
	}{
		{encode(t, []int64{50, 50}, data, nil), "-1.798e308 to 1.798e308"},
		{encode(t, []int64{50, 50}, half, nil), "from 0 to 1.798e308"},
		{constant(t, []int64{50, 50}, math.MaxFloat64, nil), "from 1.798e308 to 1.798e308"},
		{constant(t, []int64{50, 50}, -math.MaxFloat64, nil), "from -1.798e308 to -1.798e308"},
	} {
		p.next(func() { p.drop("extreme.b2nd", c.array) })
		p.wait(element("histogram-text") + ".textContent.includes('e308')")
		p.wait(element("line") + ".getAttribute('aria-label').includes('" + c.line + "')")
		for _, id := range []string{"line", "histogram", "bar-axis"} {
			p.wait(element(id) + ".childElementCount > 1")
			if got := p.text(element(id) + ".innerHTML"); strings.Contains(got, "NaN") || strings.Contains(got, "Infinity") {
				t.Errorf("%s: %s has a number that is not finite: %s", c.line, id, got)
			}
		}
	}
}

// apart is a script that fails if labels overlap or leave the page, or if there are fewer than three.
const apart = `(() => {
	for (const [id, from, to] of [["axis-x", "left", "right"], ["axis-y", "top", "bottom"]]) {
		const boxes = [...document.querySelectorAll("#" + id + " text:not(.name)")].map((e) => e.getBoundingClientRect()).sort((a, b) => a[from] - b[from]);
		if (boxes.length < 3) throw new Error(id + " has " + boxes.length + " labels");
		boxes.forEach((b, i) => {
			if (i && b[from] < boxes[i - 1][to] + 4) throw new Error("labels of " + id + " overlap");
			if (b.left < 0 || b.right > innerWidth) throw new Error("a label of " + id + " leaves the page");
		});
	}
	const name = document.querySelector("#axis-y .name").getBoundingClientRect();
	for (const e of document.querySelectorAll("#axis-y text:not(.name)")) {
		if (e.getBoundingClientRect().left < name.right) throw new Error("a label is on the name of the axis");
	}
})()`

// beside is a script that fails if the middle of a label is not beside the picture.
const beside = `(() => {
	const picture = document.querySelector("canvas").getBoundingClientRect();
	for (const [id, from, to] of [["axis-x", "left", "right"], ["axis-y", "top", "bottom"]]) {
		for (const e of document.querySelectorAll("#" + id + " text:not(.name)")) {
			const box = e.getBoundingClientRect(), middle = (box[from] + box[to]) / 2;
			if (middle < picture[from] || middle > picture[to]) throw new Error("label " + e.textContent + " of " + id + " is not beside the picture");
		}
	}
})()`

// testWide shows arrays with many rows and columns: their labels have room, also close up, and counts are grouped.
func testWide(t *testing.T, s *site, c *chrome) {
	p := c.newPage(t, 1200, 800, nil)
	p.open(s.url)
	for _, shape := range [][]int64{{1000, 1000}, {100_000, 100_000}, {2_000_000, 3_000_000}} {
		o := &ndarray.CreateOptions{Chunks: []int64{shape[0] / 100, shape[1] / 100}, Blocks: []int64{10, 10}}
		title := fmt.Sprintf("wide%d.b2nd", shape[1])
		p.next(func() { p.drop(title, constant(t, shape, uint8(7), o)) })
		p.wait(element("title") + ".textContent === " + fmt.Sprintf("%q", title))
		p.eval(apart, nil)
		p.shot(title + ".png")
		// The far corner, where indexes are long.
		p.eval(element("canvas")+".focus()", nil)
		for range 4 {
			p.press("+")
		}
		p.eval(apart, nil)
	}
	if got := p.content("info"); !strings.Contains(got, "2\u202f000\u202f000 × 3\u202f000\u202f000") || !strings.Contains(got, "10\u202f000") {
		t.Errorf("metadata %q", got)
	}
	p.open(s.url + "#url=" + s.put(t, "cut.b2nd", constant(t, []int64{20, 20}, uint8(7), nil)) + "&window=10,10,15,15")
	p.drawn()
	p.eval(beside, nil)
	for _, size := range []int{600, 390} {
		q := c.newPage(t, size, 800, nil)
		q.open(s.url + "#url=" + s.put(t, "narrow.b2nd", constant(t, []int64{500, 100_000}, uint8(7), nil)))
		q.drawn()
		q.eval(strings.Replace(apart, "boxes.length < 3", "boxes.length < 2", 1), nil)
		q.shot(fmt.Sprintf("narrow%d.png", size))
	}
}

// testNarrow shows an array on a narrow page: nothing is wider than the page, and the range stays on one line.
func testNarrow(t *testing.T, s *site, c *chrome) {
	for _, width := range []int{390, 320} {
		p := c.newPage(t, width, 800, nil)
		p.open(s.url)
		p.drop("narrow.b2nd", encode(t, []int64{3, 40, 50}, noise(3*40*50), nil))
		p.drawn()
		p.eval(`(() => {
			const low = document.getElementById("low").getBoundingClientRect(), high = document.getElementById("high").getBoundingClientRect();
			if (Math.abs(low.top - high.top) > 2) throw new Error("the range is on two lines");
			if (high.right > innerWidth) throw new Error("the range is cut off");
			const wide = document.documentElement.scrollWidth;
			if (wide > innerWidth) throw new Error("the page has " + wide + " columns of " + innerWidth);
		})()`, nil)
		p.shot(fmt.Sprintf("range%d.png", width))
	}
}
