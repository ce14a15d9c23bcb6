package main

import (
	"fmt"
	"strings"
	"testing"
)

// distinct is a script that fails if an element has equal, overlapping or too few labels, or some outside of the page.
const distinct = `(() => {
	const all = [...document.querySelectorAll("#%[1]s text")], boxes = all.map((e) => e.getBoundingClientRect());
	const texts = all.map((e) => e.textContent);
	if (texts.length < %[2]d || new Set(texts).size < texts.length) throw new Error("labels of %[1]s: " + texts);
	boxes.forEach((a, i) => {
		if (a.left < 0 || a.right > innerWidth) throw new Error("a label of %[1]s leaves the page: " + texts[i]);
		for (const b of boxes.slice(i + 1)) {
			if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom) throw new Error("labels of %[1]s overlap: " + texts);
		}
	});
})()`

// testLargeValues shows large values that are close together. Their labels differ. One end of the range of colors can
// be set, and the other end keeps all digits.
func testLargeValues(t *testing.T, s *site, c *chrome) {
	data := make([]int64, 50*50)
	for i := range data {
		data[i] = 1_700_000_000_000_000_000 + int64(i)*16_000_000
	}
	p := c.newPage(t, 1400, 900, nil)
	p.open(s.url)
	p.drop("large.b2nd", encode(t, []int64{50, 50}, data, nil))
	p.drawn()
	for id, least := range map[string]int{"line": 5, "histogram": 4, "bar-axis": 6} {
		p.wait(element(id) + ".querySelectorAll('text').length > 1")
		p.eval(fmt.Sprintf(distinct, id, least), nil)
	}
	p.shot("large-labels.png")
	for id, attribute := range map[string]string{"bar-axis": "aria-label", "canvas": "aria-label", "low": "placeholder"} {
		text := p.text(element(id) + ".getAttribute('" + attribute + "')")
		if id == "low" {
			text += " to " + p.text(element("high")+".placeholder")
		}
		if !strings.Contains(text, "1.7e18 to 1.70000004e18") {
			t.Errorf("%s: %s", id, text)
		}
	}
	if got := p.content("histogram-text"); !strings.Contains(got, "1.7e18 to 1.70000004e18") {
		t.Errorf("histogram: %s", got)
	}
	p.next(func() { p.choose("low", "1700000010000000000") })
	if got, want := p.text(element("high")+".value"), "1700000039984000000"; got != want {
		t.Errorf("the range ends at %s, want %s", got, want)
	}
	p.eval(element("low")+".value = ''", nil)
	p.next(func() { p.choose("high", "") })
	p.next(func() { p.choose("high", "1700000030000000000") })
	if got, want := p.text(element("low")+".value"), "1700000000000000000"; got != want {
		t.Errorf("the range begins at %s, want %s", got, want)
	}
	p.wait("location.hash.includes('range=1700000000000000000,1700000030000000000')")
	p.shot("large-values.png")
	// Shorter labels leave the size of the picture as it is.
	const right = "document.getElementById('figure').style.getPropertyValue('--right')"
	wide := p.text(right)
	p.next(func() { p.choose("low", "0") })
	if got := p.text(right); got != wide || wide == "96px" {
		t.Errorf("the color bar has %s, want %s as before", got, wide)
	}
	p.eval(element("low")+".value = ''", nil)
	p.next(func() { p.choose("high", "") })
	// The values are neighbors in float64.
	for i := range data {
		data[i] = 1_700_000_000_000_000_000 + int64(i%3)*256
	}
	p.next(func() { p.drop("near.b2nd", encode(t, []int64{50, 50}, data, nil)) })
	p.wait(element("bar-axis") + ".getAttribute('aria-label').includes('1.7e18 to 1.7000000000000005e18')")
	p.eval(fmt.Sprintf(distinct, "bar-axis", 1), nil)
	p.shot("near.png")
	p.next(func() { p.drop("small.b2nd", constant(t, []int64{50, 50}, 3, nil)) })
	p.wait(right + " === '96px'")
}

// testLabels compares labels with what they must be.
func testLabels(t *testing.T, s *site, c *chrome) {
	p := c.newPage(t, 800, 600, nil)
	p.open(s.url)
	for call, want := range map[string]string{
		"labels([0, 0.5, 1])":                                        "0 0.5 1",
		"labels(ticks(1.7e18, 1.70000004e18, 4))":                    "1.7e18 1.70000001e18 1.70000002e18 1.70000003e18 1.70000004e18",
		"labels(ticks(-1.7e9 - 4, -1.7e9, 4))":                       "-1.700000004e9 -1.700000003e9 -1.700000002e9 -1.700000001e9 -1.7e9",
		"labels(ticks(123456.001, 123456.005, 4))":                   "123456.002 123456.004",
		"labels(ticks(0, 2e6, 4))":                                   "0 500000 1e6 1.5e6 2e6",
		"labels(ticks(1e-5, 1.00004e-5, 4))":                         "1e-5 1.00001e-5 1.00002e-5 1.00003e-5 1.00004e-5",
		"labels(ticks(0, Number.MAX_VALUE, 5))":                      "0 5e307 1e308 1.5e308",
		"labels(ticks(0, 5e-324, 5))":                                "0 4.941e-324",
		"labels(ticks(11, 19, 1.5))":                                 "11",
		"labels(ticks(3, 7, 1.5))":                                   "5",
		"labels([7])":                                                "7",
		"labels(logTicks(1, 1000))":                                  "1 10 100 1000",
		"labels(logTicks(1.7e18, 1.70000004e18))":                    "1.7e18 1.70000004e18",
		"endLabels(1.7e18, 1.7e18 + 256)":                            "1.7e18 1.7000000000000003e18",
		"endLabels(123456.71, 123456.74)":                            "123456.71 123456.74",
		"endLabels(3, 3)":                                            "3 3",
		"endLabels(-1.7976931348623157e308, 1.7976931348623157e308)": "-1.798e308 1.798e308",
	} {
		if got := p.text(fmt.Sprintf("await import('./svg.js').then(({ labels, endLabels, ticks, logTicks }) => %s.join(' '))", call)); got != want {
			t.Errorf("%s is %s, want %s", call, got, want)
		}
	}
}
