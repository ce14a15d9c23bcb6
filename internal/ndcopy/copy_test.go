package ndcopy

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// step is one loop of a naive copy.
type step struct{ count, dst, src int }

// naive copies rows by loops over single bytes.
func naive(dst, src []byte, d, s, width int, loops []step) {
	if len(loops) == 0 {
		for i := range width {
			dst[d+i] = src[s+i]
		}
		return
	}
	for k := range loops[0].count {
		naive(dst, src, d+k*loops[0].dst, s+k*loops[0].src, width, loops[1:])
	}
}

// lay sets the steps of loops on one side, in a random order of the loops, and returns the offset of the first row and
// the size of the side. If repeat is set, some loops repeat the same rows.
func lay(rng *rand.Rand, loops []step, width int, repeat bool, set func(x *step, by int)) (off, size int) {
	size = width
	for _, i := range rng.Perm(len(loops)) {
		n := loops[i].count
		if repeat && rng.IntN(4) == 0 {
			set(&loops[i], 0)
			continue
		}
		by := size + rng.IntN(3)/2*width*rng.IntN(3)
		size = by*(n-1) + size
		if rng.IntN(3) == 0 {
			off += by * (n - 1)
			by = -by
		}
		set(&loops[i], by)
	}
	return off, size
}

// checkCopyAgainstLoops compares random copies with naive loops. The copies may be simplified, flipped and repeated.
func checkCopyAgainstLoops(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	width := []int{1, 2, 3, 4, 8, 12, 16, 32, 40, 300}[rng.IntN(10)]
	loops := make([]step, rng.IntN(5))
	if rng.IntN(20) == 0 {
		loops = make([]step, MaxDims)
	}
	rows := 1
	for i := range loops {
		loops[i].count = 1 + rng.IntN(5)
		if rows*loops[i].count > 3000 {
			loops[i].count = 1
		}
		rows *= loops[i].count
	}
	d, dstSize := lay(rng, loops, width, false, func(x *step, by int) { x.dst = by })
	s, srcSize := lay(rng, loops, width, true, func(x *step, by int) { x.src = by })
	if rng.IntN(8) == 0 {
		s = 0
		for i := range loops {
			loops[i].src = 0
		}
	}
	src := make([]byte, srcSize)
	for i := range src {
		src[i] = byte(rng.Uint32())
	}
	want := bytes.Repeat([]byte{0xaa}, dstSize)
	got := bytes.Clone(want)
	naive(want, src, d, s, width, loops)

	var c Copy
	c.Begin(d, s, width)
	for _, x := range loops {
		c.Loop(x.count, x.dst, x.src)
	}
	before := c
	if rng.IntN(2) == 0 {
		c.Flip()
		c.Flip()
	}
	if rng.IntN(4) > 0 {
		c.Simplify()
	}
	if c.Bytes() != rows*width || c.Bytes() != before.Bytes() || c.SrcEnd() != before.SrcEnd() || c.SrcEnd() > srcSize || c.N > before.N {
		t.Fatalf("%d bytes of %d up to %d of %d in %d loops of %d: %+v", c.Bytes(), rows*width, c.SrcEnd(), srcSize, c.N, before.N, loops)
	}
	if c.Run(got, src); !bytes.Equal(got, want) {
		t.Fatalf("rows of %d bytes, %+v: wrong bytes", width, loops)
	}
}

func TestCopyAgainstLoops(t *testing.T) {
	for seed := range uint64(3000) {
		checkCopyAgainstLoops(t, seed)
	}
}

func FuzzCopy(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(checkCopyAgainstLoops)
}
