package shuffle

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// naiveRows is what UnshuffleRows should do, one byte at a time.
func naiveRows(dst, src []byte, width int, r *Rows) {
	n := len(src) / width
	for i := range r.N {
		for k := range r.Len {
			for j := range width {
				dst[r.Dst+i*r.DstStep+k*width+j] = src[r.Src+i*r.SrcStep+k+j*n]
			}
		}
	}
}

// checkRows compares UnshuffleRows with naiveRows: n rows of length elements, gap elements apart in the block and pad
// bytes apart in dst. The block stands at the end of srcMem and the rows at the end of dstMem, or with a bit of back
// both at the beginning; other bits turn the steps of one side around.
func checkRows(t *testing.T, dstMem, srcMem []byte, width, n, length, gap, pad int, back uint8) {
	t.Helper()
	r := Rows{N: n, Len: length, SrcStep: length + gap, DstStep: length*width + pad, Ahead: 100 * int(back)}
	src, dst := srcMem, dstMem
	elements := (n-1)*r.SrcStep + length
	size, room := elements*width+gap%width, (n-1)*r.DstStep+length*width
	if back&1 > 0 {
		src, dst = src[:size], dst[:room]
	} else {
		src, dst = src[len(src)-size:], dst[len(dst)-room:]
	}
	if back&2 > 0 {
		r.Src, r.SrcStep = (n-1)*r.SrcStep, -r.SrcStep
	}
	if back&4 > 0 {
		r.Dst, r.DstStep = (n-1)*r.DstStep, -r.DstStep
	}
	for i := range dst {
		dst[i] = byte(i)
	}
	want := bytes.Clone(dst)
	naiveRows(want, src, width, &r)
	UnshuffleRows(dst, src, width, &r)
	if !bytes.Equal(dst, want) {
		t.Fatalf("width %d, %+v: wrong, first at byte %d", width, r, firstDiff(dst, want))
	}
}

func TestUnshuffleRows(t *testing.T) {
	const size = 1 << 18
	src, dst := randomBytes(size, 4), make([]byte, size)
	rng := rand.New(rand.NewPCG(3, 4))
	forEachKernel(t, func(t *testing.T) {
		for _, width := range []int{1, 2, 3, 4, 7, 8, 9, 16, 24} {
			for length := 1; length <= 100; length++ {
				checkRows(t, dst, src, width, 1+rng.IntN(5), length, rng.IntN(40), rng.IntN(40), uint8(rng.Uint32()))
			}
		}
	})
}

// TestUnshuffleRowsInside checks that rows outside of the block or of dst, whatever overflows, are a panic.
func TestUnshuffleRowsInside(t *testing.T) {
	src, dst := randomBytes(400, 4), make([]byte, 400)
	for _, r := range []Rows{
		{N: 1, Len: 101}, {N: 1, Len: 100, Src: 1}, {N: 1, Len: 1, Src: -1}, {N: 1, Len: 1, Src: 100},
		{N: 2, Len: 50, SrcStep: 51, DstStep: 200}, {N: 2, Len: 50, SrcStep: 50, DstStep: 201},
		{N: 2, Len: 50, SrcStep: -1}, {N: 2, Len: 50, DstStep: -1, Dst: 0}, {N: 1, Len: 50, Dst: 201}, {N: 1, Len: 1, Dst: -1},
		{N: math.MaxInt, Len: 32, SrcStep: math.MaxInt}, {N: 3, Len: 32, DstStep: math.MaxInt/2 + 1},
		{N: 3, Len: 32, Src: 10, SrcStep: math.MinInt}, {N: 5, Len: 32, Dst: 8, DstStep: math.MinInt / 2},
		{N: math.MaxInt, Len: math.MaxInt}, {N: 1, Len: math.MaxInt/4 + 2},
	} {
		if !panics(func() { UnshuffleRows(dst, src, 4, &r) }) {
			t.Errorf("%+v was taken", r)
		}
	}
	if !panics(func() { UnshuffleRows(dst, src, 0, &Rows{N: 1, Len: 1}) }) {
		t.Error("a width of 0 was taken")
	}
	UnshuffleRows(nil, nil, 4, &Rows{}) // nothing to do
}

// BenchmarkUnshuffleRows writes a box of 32*32*32 items out of its block to where it belongs in an array.
func BenchmarkUnshuffleRows(b *testing.B) {
	for _, width := range []int{2, 4, 8} {
		src, dst := randomBytes(32*32*32*width, 1), make([]byte, 256*256*32*width)
		benchmarkEachKernel(b, func(b *testing.B) {
			b.Run(fmt.Sprintf("size=%d", width), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				at := 0
				for b.Loop() {
					for plane := range 32 {
						r := Rows{N: 32, Len: 32, Src: 1024 * plane, SrcStep: 32, Dst: (at + plane*256*256) * width,
							DstStep: 256 * width, Ahead: 256 * 256 * width}
						UnshuffleRows(dst, src, width, &r)
					}
					if at += 32; at%256 == 0 { // the next box that has no row of this one
						at = (at + 31*256) % (256 * 256)
					}
				}
			})
		})
	}
}
