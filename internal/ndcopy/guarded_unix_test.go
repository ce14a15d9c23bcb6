//go:build linux || darwin

package ndcopy

import (
	"bytes"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/internal/guardpage"
)

// edges are widths at which rows are copied in another way.
var edges = [...]int{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 256, 512, 600}

const half = bits.UintSize / 2

// extremes are values for a field of a Copy.
var extremes = [...]int{-1, 0, 1, 1 << 20, math.MaxInt, math.MinInt, math.MaxInt / 2, math.MinInt / 2, 1<<half + 1, 1 << half,
	1 << (half - 1), -1 << (half - 1)}

// randomCopy returns a copy of rows and the lengths that its buffers need. Rows may overlap in the source only.
func randomCopy(r *rand.Rand) (c Copy, dst, src int) {
	width := edges[r.IntN(len(edges))]
	if r.IntN(2) == 0 {
		width = max(1, width+r.IntN(9)-4)
	}
	c.Begin(0, 0, width)
	dst, src = width, width
	for range r.IntN(4) {
		count := 2 + r.IntN(1+r.IntN(7))
		d, s := dst+r.IntN(2)*r.IntN(70), src+r.IntN(2)*r.IntN(70)
		if r.IntN(4) == 0 {
			s = r.IntN(src + 1)
		}
		if (count-1)*d+dst > 1<<15 || (count-1)*s+src > 1<<15 {
			break
		}
		dst, src = dst+(count-1)*d, src+(count-1)*s
		if r.IntN(3) == 0 {
			c.Dst += (count - 1) * d
			d = -d
		}
		if r.IntN(3) == 0 {
			c.Src += (count - 1) * s
			s = -s
		}
		c.Loop(count, d, s)
	}
	for i, k := 0, c.N-1; i < k; i, k = i+1, k-1 { // larger steps outside
		c.Count[i], c.Count[k] = c.Count[k], c.Count[i]
		c.DstStep[i], c.DstStep[k] = c.DstStep[k], c.DstStep[i]
		c.SrcStep[i], c.SrcStep[k] = c.SrcStep[k], c.SrcStep[i]
	}
	return c, dst, src
}

// eachRow is Run, row by row from loop i on.
func eachRow(c *Copy, dst, src []byte, i, d, s int) {
	if i == c.N {
		copy(dst[d:d+c.Width], src[s:s+c.Width])
		return
	}
	for range c.Count[i] {
		eachRow(c, dst, src, i+1, d, s)
		d, s = d+c.DstStep[i], s+c.SrcStep[i]
	}
}

// spoil makes one field of a copy wrong or extreme.
func spoil(r *rand.Rand, c *Copy) {
	fields := []*int{&c.Dst, &c.Src}
	for i := range c.N {
		fields = append(fields, &c.DstStep[i], &c.SrcStep[i])
	}
	f := fields[r.IntN(len(fields))]
	if r.IntN(2) == 0 {
		*f += []int{-1, 1, -c.Width, c.Width}[r.IntN(4)]
	} else {
		*f = extremes[r.IntN(len(extremes))]
	}
	if c.N > 0 && r.IntN(4) == 0 { // many rows, with steps so that the last one lies near the first or far away
		i := r.IntN(c.N)
		c.Count[i] = 1<<(half+r.IntN(half-1)) + r.IntN(2)
		c.DstStep[i], c.SrcStep[i] = 1<<(half+1+r.IntN(half-1)), 1<<(half+1+r.IntN(half-1))
	}
}

// tryRun runs a copy. It reports whether that panics, and fails if the reason is an access outside of the buffers.
func tryRun(t *testing.T, c *Copy, dst, src []byte) (panicked bool) {
	t.Helper()
	defer func() {
		v := recover()
		if _, ok := v.(interface{ Addr() uintptr }); ok {
			t.Fatalf("%+v, %d bytes from %d: %v", c, len(dst), len(src), v)
		}
		panicked = v != nil
	}()
	c.Run(dst, src)
	return false
}

// TestGuardedRows copies rows between guard pages, and tries copies that do not fit. Package guardpage describes long
// runs.
func TestGuardedRows(t *testing.T) {
	const size = 1 << 16
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	dstMem, srcMem := guardpage.New(t, size), guardpage.New(t, size)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range srcMem {
		srcMem[i] = byte(r.Uint32())
	}
	var before, want [size]byte
	for i := range before {
		before[i] = byte(i * 7)
	}
	runs := guardpage.Runs(t, 500_000)
	spoiled, panicked, kernels := 0, 0, 0
	for range runs {
		c, d, s := randomCopy(r)
		dst, src := dstMem[size-d:], srcMem[size-s:]
		if r.IntN(4) == 0 {
			dst, src = dstMem[:d:d], srcMem[:s:s]
		}
		if r.IntN(4) == 0 {
			spoil(r, &c)
			spoiled++
			if tryRun(t, &c, dst, src) {
				panicked++
			}
			continue
		}
		if c.N > 0 && c.Width >= minRow && c.Width <= maxRow {
			kernels++
		}
		copy(dst, before[:])
		copy(want[:d], before[:])
		eachRow(&c, want[:d], src, 0, c.Dst, c.Src)
		if tryRun(t, &c, dst, src) || !bytes.Equal(dst, want[:d]) {
			t.Fatalf("%+v, %d bytes from %d: a panic, or wrong bytes", c, d, s)
		}
	}
	t.Logf("%d runs, %d with kernels; %d were spoiled, and %d of these panicked", runs, kernels, spoiled, panicked)
	if panicked < spoiled/4 {
		t.Errorf("%d of %d spoiled copies panicked", panicked, spoiled)
	}
}

// TestRowsOverflow copies so many rows that the offset of the last one overflows to that of the first.
func TestRowsOverflow(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	dst, src := guardpage.New(t, 1), guardpage.New(t, 1)
	for _, step := range []int{1 << half, -1 << half, 1 << (2*half - 2), math.MinInt} {
		for _, other := range []int{0, 1 << half, 1 << (2*half - 2)} {
			for _, c := range []Copy{
				{Width: 44, N: 1, Count: [MaxDims]int{1<<half + 1}, DstStep: [MaxDims]int{step}, SrcStep: [MaxDims]int{other}},
				{Width: 44, N: 1, Count: [MaxDims]int{1<<half + 1}, DstStep: [MaxDims]int{other}, SrcStep: [MaxDims]int{step}},
			} {
				if !tryRun(t, &c, dst, src) {
					t.Errorf("%+v did not panic", c)
				}
			}
		}
	}
}
