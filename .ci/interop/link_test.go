package interop

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/link/arrays"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/ndarray"
)

// The link of docs/PERFORMANCE.md.
const (
	latency   = 50 * time.Millisecond
	bandwidth = 100e6
)

// linkCost is what a read takes on the link.
type linkCost struct {
	requests, rounds int
	bytes            int64
}

func (c linkCost) String() string {
	took := time.Duration(c.rounds)*latency + time.Duration(float64(c.bytes)/bandwidth*1e9)
	return fmt.Sprintf("%d requests, %d rounds, %.1f MB, %.2f s", c.requests, c.rounds, float64(c.bytes)/1e6, took.Seconds())
}

// TestFarReads counts what reads of the arrays of docs/PERFORMANCE.md take with C-Blosc2, whose callbacks read from far
// away. It reads one range after the other, so each call is a round. It also computes what the plans of other libraries
// take for the same blocks. All figures are in the document.
func TestFarReads(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(checkout, "docs", "PERFORMANCE.md"))
	if err != nil {
		t.Fatal(err)
	}
	var lines [5][]string
	for _, x := range []arrays.Array{arrays.Series(), arrays.Plane(), arrays.Box()} {
		stored, err := x.Frame(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		local, err := ndarray.OpenBytes(stored, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer local.Close()
		a := &countedReads{t: t, local: local}
		path := filepath.Join(t.TempDir(), "a.b2nd")
		if err := os.WriteFile(path, make([]byte, len(stored)), 0o666); err != nil {
			t.Fatal(err)
		}
		if a.CountedArray, err = ref.OpenCounted(path, stored); err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if n := a.Counts(); n.Reads != 11 {
			t.Errorf("open: %+v, want 11 reads", n)
		}
		for _, at := range [][]int64{{50, 50, 50}, {50, 150, 50}, {50, 50, 50}} {
			if c := a.read(at, []int64{at[0] + 1, at[1] + 1, at[2] + 1}); c.requests != 5 {
				t.Errorf("item: %v, want 5 requests", c)
			}
		}
		zarr := plan{gap: 1 << 20, most: 16 << 20, inFlight: 64}
		python := plan{gap: 4 << 10, most: math.MaxInt64, inFlight: 8}
		chunks := wantedBlocks(t, local, x.Start, x.Stop)
		for i, c := range []linkCost{
			a.read(x.Start, x.Stop), zarr.cost(chunks), python.cost(chunks),
			a.read([]int64{0, 0, 0}, x.Shape),
		} {
			lines[i] = append(lines[i], c.String())
		}
	}
	for i, what := range []string{"C-Blosc2", "plan of zarr-python", "plan of python-blosc2", "C-Blosc2, whole array"} {
		if want := "| " + what + " | " + strings.Join(lines[i], " | ") + " |"; !bytes.Contains(doc, []byte(want+"\n")) {
			t.Errorf("docs/PERFORMANCE.md does not have\n%s", want)
		}
	}
}

// countedReads is an array that C-Blosc2 reads by means of callbacks, and the same array in memory.
type countedReads struct {
	*ref.CountedArray
	t     *testing.T
	local *ndarray.Array
}

// read reads a box, compares it, and returns what that took.
func (a *countedReads) read(start, stop []int64) linkCost {
	a.t.Helper()
	got, err := a.Slice(start, stop)
	if err != nil {
		a.t.Fatal(err)
	}
	n := a.Counts()
	var sel []ndarray.Index
	for i := range start {
		sel = append(sel, ndarray.Span(start[i], stop[i]))
	}
	want := make([]byte, len(got))
	if err := a.local.ReadBytes(ctx, want, sel...); err != nil || !bytes.Equal(got, want) {
		a.t.Fatalf("C-Blosc2 reads other items, %v", err)
	}
	return linkCost{n.Reads, n.Reads, n.Bytes}
}

// wantedBlocks returns the ranges of the blocks that have items of a box, for each chunk that has some.
func wantedBlocks(t *testing.T, a *ndarray.Array, start, stop []int64) (list [][]ranges.Range) {
	t.Helper()
	for c, err := range a.ChunkInfos(ctx) {
		var raw []byte
		if err == nil {
			raw, err = a.Frame().ReadRaw(ctx, nil, int(c.Number))
		}
		var r coder.Reader
		if err == nil {
			_, err = r.Locate(raw, int64(len(raw)))
		}
		if err != nil {
			t.Fatal(err)
		}
		var want []ranges.Range
		for k := range r.NumBlocks {
			if blockInBox(a, c.Box.Start, int64(k), start, stop) {
				from, to := r.BlockRange(k)
				want = append(want, ranges.Range{Off: int64(from), Len: int64(to - from)})
			}
		}
		if want != nil {
			list = append(list, want)
		}
	}
	return list
}

// blockInBox reports whether block k of the chunk that begins at an item has items of a box.
func blockInBox(a *ndarray.Array, at []int64, k int64, start, stop []int64) bool {
	chunks, blocks := a.Chunks(), a.Blocks()
	for i := len(at) - 1; i >= 0; i-- {
		n := (chunks[i] + blocks[i] - 1) / blocks[i]
		first := at[i] + k%n*blocks[i]
		if k /= n; first >= stop[i] || first+blocks[i] <= start[i] {
			return false
		}
	}
	return true
}

// plan is how a library reads blocks: first it reads where the blocks of each chunk are, then the ranges of blocks,
// merged inside each chunk.
type plan struct {
	gap, most int64
	inFlight  int
}

// cost returns what a plan takes for the wanted ranges of chunks.
func (p plan) cost(chunks [][]ranges.Range) (c linkCost) {
	m := ranges.Model{MaxLen: p.most, MaxBytes: math.MaxInt64, Requests: math.MaxInt32, Gap: p.gap}
	for _, want := range chunks {
		for _, f := range ranges.Plan(slices.Clone(want), &m) {
			c.requests++
			c.bytes += f.Len
		}
	}
	rounds := func(n int) int { return (n + p.inFlight - 1) / p.inFlight }
	c.rounds = rounds(len(chunks)) + rounds(c.requests)
	c.requests += len(chunks)
	return c
}
