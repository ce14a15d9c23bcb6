package numbers

import (
	"math"
	"math/bits"
	"slices"

	"github.com/goblosc/blosc2/internal/race"
)

// Loop converts items of one dtype to another. The zero Loop is none.
type Loop struct {
	loop     loopFunc // nil if convert converts
	to, from Type     // for convert
	spread   bool     // loop and kernel convert to the real parts of complex numbers

	// A kernel in assembly for long rows, or nil.
	kernel  kernel
	least   int // numbers of the shortest row for the kernel
	in, out int // bytes of a number in src and in dst
}

// kernel converts n numbers of each of the given number of rows. The rows are ds bytes apart in dst and ss bytes apart
// in src. It also prefetches the memory that is ahead bytes after each row of dst, which need not exist. dst may be src
// if the sizes of the numbers are the same, and rows is 1.
type kernel func(dst, src *byte, n, rows, ds, ss, ahead int)

// NewLoop returns the Loop that calls f. dst and src hold the same number of whole items.
func NewLoop(f func(dst, src []byte)) Loop { return Loop{loop: f} }

// None reports whether l is the zero Loop.
func (l *Loop) None() bool { return l.loop == nil && l.to.size == 0 }

// Run converts items. dst and src hold the same number of whole items. They must not overlap, except that they may be
// the same memory if l changes only the byte order, or copies bools.
func (l *Loop) Run(dst, src []byte) {
	if l.spread || l.kernel == nil || len(src) < l.least*l.in {
		l.run(dst, src)
		return
	}
	n := len(src) / l.in
	dst, src = slices.Clip(dst)[:n*l.out], src[:n*l.in]
	race.Read(src)
	race.Write(dst)
	l.kernel(&dst[0], &src[0], n, 1, 0, 0, 0)
}

// run converts items without the kernel, except for real parts.
func (l *Loop) run(dst, src []byte) {
	if l.spread {
		l.runComplex(dst, src)
		return
	}
	if l.loop == nil {
		convert(dst, src, l.to, l.from)
		return
	}
	l.loop(dst, src)
}

// Rows describes rows of items in two buffers. All sizes are bytes.
type Rows struct {
	N                int // number of rows
	Dst, Src         int // offsets of the first row
	DstLen, SrcLen   int // of a row
	DstStep, SrcStep int // from row to row
	Ahead            int // from the first row of dst to the row that the caller converts next, or 0
}

// Rows converts rows of items. It panics if a row is not inside both buffers, which must not overlap.
func (l *Loop) Rows(dst, src []byte, r Rows) {
	dst, src = slices.Clip(dst), slices.Clip(src) // slicing checks the capacity, not the length
	if l.spread || l.kernel == nil || r.SrcLen < l.least*l.in {
		for i := range r.N {
			d, s := r.Dst+i*r.DstStep, r.Src+i*r.SrcStep
			l.run(dst[d:d+r.DstLen], src[s:s+r.SrcLen])
		}
		return
	}
	if r.N <= 0 {
		return
	}
	n := r.SrcLen / l.in
	width, wide := n*l.in, n*l.out
	// If the first and the last row are inside, and the distance between them does not overflow, all are.
	lastD, lastS := r.Dst+distance(r.N-1, r.DstStep), r.Src+distance(r.N-1, r.SrcStep)
	_, _ = dst[r.Dst:r.Dst+wide], dst[lastD:lastD+wide]
	_, _ = src[r.Src:r.Src+width], src[lastS:lastS+width]
	if race.Enabled {
		for i := range r.N {
			race.Read(src[r.Src+i*r.SrcStep:][:width])
			race.Write(dst[r.Dst+i*r.DstStep:][:wide])
		}
	}
	l.kernel(&dst[r.Dst], &src[r.Src], n, r.N, r.DstStep, r.SrcStep, r.Ahead)
}

// distance returns n steps. It panics if they overflow.
func distance(n, step int) int {
	far := step
	if step < 0 {
		far = -step
	}
	if hi, lo := bits.Mul64(uint64(n), uint64(far)); hi > 0 || lo > math.MaxInt/2 {
		panic("numbers: rows lie outside of their buffers")
	}
	return n * step
}
