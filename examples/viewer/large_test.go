package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

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
	// The pointer comes to the slider: the next plane is read.
	s.far.counts()
	p.eval("document.querySelector('#sliders input').dispatchEvent(new PointerEvent('pointerenter'))", nil)
	ahead := 0
	for end := time.Now().Add(10 * time.Second); ahead == 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ahead, _ = s.far.counts()
	}
	if ahead == 0 {
		t.Error("no plane is read before the first step of the slider")
	}
	time.Sleep(time.Second)
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
