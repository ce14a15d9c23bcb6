package filters

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// naiveRows does the same as UnshuffleRows, one byte at a time.
func naiveRows(dst, src []byte, width int, r *Rows) {
	n := len(src) / width
	for i := range r.N {
		for k := range r.Len {
			for j := range width {
				dst[r.At+i*r.Step+k*width+j] = src[r.Block+i*r.BlockStep+k+j*n]
			}
		}
	}
}

// naiveShuffleRows does the same as ShuffleRows, one byte at a time.
func naiveShuffleRows(dst, src []byte, width int, r *Rows) {
	n := len(dst) / width
	for i := range r.N {
		for k := range r.Len {
			for j := range width {
				dst[r.Block+i*r.BlockStep+k+j*n] = src[r.At+i*r.Step+k*width+j]
			}
		}
	}
}

// layRows returns n rows of length elements, gap elements apart in the block and pad bytes apart in the other memory.
// Both lie at the end of the given memory, or, if a bit of back is set, at its beginning. Other bits of back reverse
// the steps of one side.
func layRows(blockMem, otherMem []byte, width, n, length, gap, pad int, back uint8) (block, other []byte, r Rows) {
	r = Rows{N: n, Len: length, BlockStep: length + gap, Step: length*width + pad, Ahead: 100 * int(back)}
	elements := (n-1)*r.BlockStep + length
	size, room := elements*width+gap%width, (n-1)*r.Step+length*width
	if back&1 > 0 {
		block, other = blockMem[:size], otherMem[:room]
	} else {
		block, other = blockMem[len(blockMem)-size:], otherMem[len(otherMem)-room:]
	}
	if back&2 > 0 {
		r.Block, r.BlockStep = (n-1)*r.BlockStep, -r.BlockStep
	}
	if back&4 > 0 {
		r.At, r.Step = (n-1)*r.Step, -r.Step
	}
	return block, other, r
}

// checkRows compares UnshuffleRows with naiveRows. See layRows.
func checkRows(t *testing.T, dstMem, srcMem []byte, width, n, length, gap, pad int, back uint8) {
	t.Helper()
	src, dst, r := layRows(srcMem, dstMem, width, n, length, gap, pad, back)
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

// checkShuffleRows compares ShuffleRows with naiveShuffleRows, and where the rows are all of the block with Shuffle.
func checkShuffleRows(t *testing.T, dstMem, srcMem []byte, width, n, length, gap, pad int, back uint8) {
	t.Helper()
	dst, src, r := layRows(dstMem, srcMem, width, n, length, gap, pad, back)
	for i := range dst {
		dst[i] = byte(i)
	}
	want := bytes.Clone(dst)
	naiveShuffleRows(want, src, width, &r)
	ShuffleRows(dst, src, width, &r)
	if !bytes.Equal(dst, want) {
		t.Fatalf("width %d, %+v: wrong, first at byte %d", width, r, firstDiff(dst, want))
	}
	if gap == 0 && pad == 0 && (back&6 == 0 || back&6 == 6) {
		if Shuffle(want, src, width); !bytes.Equal(dst, want) {
			t.Fatalf("width %d, %+v: other bytes than those of Shuffle", width, r)
		}
	}
}

func TestRows(t *testing.T) {
	const size = 1 << 18
	src, dst := randomBytes(size, 4), make([]byte, size)
	rng := rand.New(rand.NewPCG(3, 4))
	forEachKernel(t, func(t *testing.T) {
		for _, width := range []int{1, 2, 3, 4, 7, 8, 9, 16, 24} {
			for length := 1; length <= 100; length++ {
				checkRows(t, dst, src, width, 1+rng.IntN(5), length, rng.IntN(40), rng.IntN(40), uint8(rng.Uint32()))
				checkShuffleRows(t, dst, src, width, 1+rng.IntN(5), length, rng.IntN(40), rng.IntN(40), uint8(rng.Uint32()))
				checkShuffleRows(t, dst, src, width, 1+rng.IntN(5), length, 0, 0, uint8(rng.Uint32()))
			}
		}
	})
}

// TestRowsInside checks that rows outside of the block or of dst panic, even if the computation of their end overflows.
func TestRowsInside(t *testing.T) {
	src, dst := randomBytes(400, 4), make([]byte, 400)
	for _, r := range []Rows{
		{N: 1, Len: 101}, {N: 1, Len: 100, Block: 1}, {N: 1, Len: 1, Block: -1}, {N: 1, Len: 1, Block: 100},
		{N: 2, Len: 50, BlockStep: 51, Step: 200}, {N: 2, Len: 50, BlockStep: 50, Step: 201},
		{N: 2, Len: 50, BlockStep: -1}, {N: 2, Len: 50, Step: -1, At: 0}, {N: 1, Len: 50, At: 201}, {N: 1, Len: 1, At: -1},
		{N: math.MaxInt, Len: 32, BlockStep: math.MaxInt}, {N: 3, Len: 32, Step: math.MaxInt/2 + 1},
		{N: 3, Len: 32, Block: 10, BlockStep: math.MinInt}, {N: 5, Len: 32, At: 8, Step: math.MinInt / 2},
		{N: math.MaxInt, Len: math.MaxInt}, {N: 1, Len: math.MaxInt/4 + 2},
	} {
		if !panics(func() { UnshuffleRows(dst, src, 4, &r) }) || !panics(func() { ShuffleRows(src, dst, 4, &r) }) {
			t.Errorf("%+v was taken", r)
		}
	}
	one := Rows{N: 1, Len: 1}
	if !panics(func() { UnshuffleRows(dst, src, 0, &one) }) || !panics(func() { ShuffleRows(dst, src, 0, &one) }) {
		t.Error("a width of 0 was taken")
	}
	UnshuffleRows(nil, nil, 4, &Rows{}) // nothing to do
	ShuffleRows(nil, nil, 4, &Rows{})
}

// benchmarkRows moves boxes of 32*32*32 items between their blocks and their positions in an array.
func benchmarkRows(b *testing.B, move func(block, array []byte, width int, r *Rows)) {
	for _, width := range []int{2, 4, 8, 16} {
		block, array := randomBytes(32*32*32*width, 1), make([]byte, 256*256*32*width)
		benchmarkEachKernel(b, func(b *testing.B) {
			b.Run(fmt.Sprintf("size=%d", width), func(b *testing.B) {
				b.SetBytes(int64(len(block)))
				b.ReportAllocs()
				at := 0
				for b.Loop() {
					for plane := range 32 {
						r := Rows{N: 32, Len: 32, Block: 1024 * plane, BlockStep: 32, At: (at + plane*256*256) * width,
							Step: 256 * width, Ahead: 256 * 256 * width}
						move(block, array, width, &r)
					}
					if at += 32; at%256 == 0 { // the next box that shares no row with this one
						at = (at + 31*256) % (256 * 256)
					}
				}
			})
		})
	}
}

func BenchmarkUnshuffleRows(b *testing.B) {
	benchmarkRows(b, func(block, array []byte, width int, r *Rows) { UnshuffleRows(array, block, width, r) })
}

func BenchmarkShuffleRows(b *testing.B) {
	benchmarkRows(b, func(block, array []byte, width int, r *Rows) { ShuffleRows(block, array, width, r) })
}
