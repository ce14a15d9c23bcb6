package main

import "testing"

// testLargeValues shows large values that are close together. One end of the range of colors can be set, and the other
// end keeps all digits.
func testLargeValues(t *testing.T, s *site, c *chrome) {
	data := make([]int64, 50*50)
	for i := range data {
		data[i] = 1_700_000_000_000_000_000 + int64(i)*16_000_000
	}
	p := c.newPage(t, 1400, 900, nil)
	p.open(s.url)
	p.drop("large.b2nd", encode(t, []int64{50, 50}, data, nil))
	p.drawn()
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
}
