package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// countedSource is a source of a frame that counts the bytes that are read.
type countedSource struct {
	*bytes.Reader
	n int64
}

// ReadAtContext implements frame.Source.
func (c *countedSource) ReadAtContext(_ context.Context, b []byte, off int64) (int, error) {
	n, err := c.ReadAt(b, off)
	atomic.AddInt64(&c.n, int64(n))
	return n, err
}

// TestDiffChunks compares arrays with different chunks. It reads each chunk a few times at most, and prints the first
// differences in C order, whichever array comes first.
func TestDiffChunks(t *testing.T) {
	dir := t.TempDir()
	slabs, rods := filepath.Join(dir, "slabs.b2nd"), filepath.Join(dir, "rods.b2nd")
	data := make([]byte, 40*40*40)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	first := data[0]
	for _, i := range []int{39 * 1600, 39 * 40, 1600, 39} { // which are changed below
		data[i] = first
	}
	must(t, string(data), "create", "-dtype", "|u1", "-shape", "40,40,40", "-chunks", "2,40,40", "-blocks", "2,40,40", slabs)
	must(t, "", "copy", "-chunks", "40,1,1", slabs, rods)
	data = []byte(readFile(t, slabs))
	for _, swap := range []bool{false, true} {
		source := &countedSource{bytes.NewReader(data), 0}
		a, err := ndarray.OpenSource(t.Context(), source, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b, err := ndarray.Open(t.Context(), rods, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if swap {
			a, b = b, a
		}
		d := &differ{e: &env{ctx: t.Context()}, options: &diffCmd{}}
		if err := d.arrays(a, b); err != nil || d.differ {
			t.Errorf("%v, %t", err, d.differ)
		}
		if source.n > 2*int64(len(data)) {
			t.Errorf("read %d bytes of a file of %d", source.n, len(data))
		}
	}
	for _, at := range []string{"39,0,0", "0,39,0", "1,0,0", "0,0,39"} {
		must(t, "", "set", rods, at, "-value", strconv.Itoa(int(first)^1))
	}
	for _, args := range [][]string{{slabs, rods}, {rods, slabs}} {
		out := differs(t, 1, append([]string{"-n", "3"}, args...)...)
		last := 0
		for _, at := range []string{"4 of 64000 differ", "(0, 0, 39)", "(0, 39, 0)", "(1, 0, 0)", "and 1 more"} {
			i := strings.Index(out, at)
			if i < last {
				t.Errorf("%q: %s is missing or too early in\n%s", args, at, out)
			}
			last = max(i, last)
		}
	}
}

// TestDiffFirst finds the first differences in C order if the boxes are in another order.
func TestDiffFirst(t *testing.T) {
	array := func(length int64) string {
		name := filepath.Join(t.TempDir(), "a.b2nd")
		a, err := ndarray.Zeros(t.Context(), name, []int64{4, 10_000_000}, "|u1", &ndarray.CreateOptions{Chunks: []int64{4, length}, Blocks: []int64{4, length}})
		if err == nil {
			err = a.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	a, b := array(100_000), array(200_000)
	for _, at := range []string{"0,9999999", "1,9999998", "2,1", "3,0"} {
		must(t, "", "set", b, at, "-value", "7")
	}
	for n, want := range map[string]string{
		"1": "  (0, 9999999): 0 and 7\n  ... and 3 more\n",
		"3": "  (0, 9999999): 0 and 7\n  (1, 9999998): 0 and 7\n  (2, 1): 0 and 7\n  ... and 1 more\n",
		"0": "",
	} {
		want = "items: 4 of 40000000 differ, largest distance 7\n" + want
		if out := differs(t, 1, "-n", n, a, b); out != want {
			t.Errorf("-n %s: %q, want %q", n, out, want)
		}
	}
}

// TestDivision checks the parts of arrays: blocks, even if they do not divide the chunks.
func TestDivision(t *testing.T) {
	for _, c := range []struct{ shape, chunks, blocks, want []int64 }{
		{[]int64{400, 400}, []int64{200, 200}, []int64{50, 100}, []int64{50, 100}},
		{[]int64{400, 400}, []int64{200, 200}, []int64{30, 200}, []int64{30, 200}},
		{[]int64{400, 400}, []int64{200, 200}, []int64{30, 70}, []int64{30, 70}},
		{[]int64{20, 400}, []int64{20, 200}, []int64{20, 64}, []int64{20, 64}},
		{[]int64{0, 400}, []int64{0, 200}, []int64{0, 64}, []int64{1, 64}},
	} {
		a, err := ndarray.Zeros(t.Context(), "", c.shape, "<f4", &ndarray.CreateOptions{Chunks: c.chunks, Blocks: c.blocks})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		d := divisionOf(a)
		if !slices.Equal(d.part, c.want) {
			t.Errorf("chunks %v, blocks %v: parts %v, want %v", c.chunks, c.blocks, d.part, c.want)
		}
		items := float64(c.want[0] * c.want[1])
		if d.cost < items*4 || d.cost > items*4+8192 {
			t.Errorf("chunks %v, blocks %v: cost %v for %v items", c.chunks, c.blocks, d.cost, items)
		}
	}
}

// TestCommonBox checks the size of boxes, and the number of times that the parts of two arrays are decoded.
func TestCommonBox(t *testing.T) {
	for _, c := range []struct {
		shape, one, two []int64
		most            int64
		reads           float64 // of a part, on average over both arrays
	}{
		{[]int64{200, 200, 200}, []int64{10, 200, 200}, []int64{200, 1, 1}, 2 << 20, 3},
		{[]int64{1000, 1000}, []int64{1, 1000}, []int64{1000, 1}, 40000, 5.6},
		{[]int64{1000, 1000}, []int64{100, 100}, []int64{100, 100}, 1 << 20, 1},
		{[]int64{1000, 1000}, []int64{100, 100}, []int64{30, 70}, 1 << 20, 1},
		{[]int64{1000, 1000}, []int64{100, 100}, []int64{1000, 1000}, 1 << 10, 1000},
		{[]int64{1 << 60}, []int64{1 << 20}, []int64{1<<20 + 1}, 1 << 24, 1.1},
		{nil, nil, nil, 1, 1},
		{[]int64{0, 5}, []int64{1, 5}, []int64{1, 1}, 100, 1},
	} {
		d := []division{{part: c.one}, {part: c.two}}
		for k, p := range d {
			d[k].cost = 4096
			for _, n := range p.part {
				d[k].cost *= float64(n)
			}
		}
		box := commonBox(c.shape, c.most, d...)
		size, cost, least := int64(1), 0.0, 0.0
		for _, n := range box {
			size *= n
		}
		for _, p := range d {
			all, reads := p.cost, p.cost
			for axis, n := range c.shape {
				all *= touches(n, p.part[axis], p.part[axis])
				reads *= touches(n, box[axis], p.part[axis])
			}
			cost, least = cost+reads, least+all
		}
		if size > c.most || slices.Contains(box, 0) || cost > c.reads*least*1.001 {
			t.Errorf("%v: box %v of %d items reads each part %.2f times, want %v", c, box, size, cost/least, c.reads)
		}
	}
}
