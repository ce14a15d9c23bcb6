//go:build linux || darwin

package ndcopy

import (
	"bytes"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/internal/guardpage"
)

// checkCopy copies planes of rows between buffers at guard pages, and compares the buffers with the result of a loop.
// gap is the space between rows and between planes. Each bit of back reverses the steps of one loop on one side.
func checkCopy(t *testing.T, dstMem, srcMem []byte, width, n, planes, gap int, back uint8) {
	lay := func(mem []byte, gap int, back uint8, l *[MaxDims]int) ([]byte, int) {
		row := width + gap
		plane := n*row + gap
		size, off := (planes-1)*plane+(n-1)*row+width, 0
		if l[0], l[1] = plane, row; back&1 > 0 {
			l[1], off = -row, off+(n-1)*row
		}
		if back&2 > 0 {
			l[0], off = -plane, off+(planes-1)*plane
		}
		if back&4 > 0 {
			return mem[:size], off
		}
		return mem[len(mem)-size:], off
	}
	l := Copy{N: 2, Width: width}
	l.Count[0], l.Count[1] = planes, n
	dst, d := lay(dstMem, gap, back, &l.DstStep)
	src, s := lay(srcMem, gap/2, back>>3, &l.SrcStep)
	l.Dst, l.Src = d, s
	for i := range dst {
		dst[i] = byte(i)
	}
	want := bytes.Clone(dst)
	for p := range planes {
		for i := range n {
			copy(want[d+p*l.DstStep[0]+i*l.DstStep[1]:][:width], src[s+p*l.SrcStep[0]+i*l.SrcStep[1]:])
		}
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	l.Run(dst, src)
	if !bytes.Equal(dst, want) {
		t.Fatalf("%d planes of %d rows of %d bytes, gap %d, %b: wrong bytes", planes, n, width, gap, back)
	}
}

func TestRows(t *testing.T) {
	const size = 1 << 16
	dst, src := guardpage.New(t, size), guardpage.New(t, size)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range src {
		src[i] = byte(rng.Uint32())
	}
	for width := 1; width <= 600; width++ {
		for range 4 {
			checkCopy(t, dst, src, width, 1+rng.IntN(7), 1+rng.IntN(4), rng.IntN(70), uint8(rng.Uint32()))
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add(uint16(128), uint8(32), uint8(3), uint8(5), uint8(0))
	f.Add(uint16(33), uint8(1), uint8(1), uint8(0), uint8(63))
	const size = 1 << 20
	dst, src := guardpage.New(f, size), guardpage.New(f, size)
	for i := range src {
		src[i] = byte(i * i >> 3)
	}
	f.Fuzz(func(t *testing.T, width uint16, n, planes, gap, back uint8) {
		checkCopy(t, dst, src, 1+int(width)%700, 1+int(n)%32, 1+int(planes)%16, int(gap), back)
	})
}

func BenchmarkRows(b *testing.B) {
	// A box of 32*32*32 float32 out of many.
	src, dst := make([]byte, 128<<10), make([]byte, 32<<20)
	b.Run("128", func(b *testing.B) {
		b.SetBytes(128 << 10)
		b.ReportAllocs()
		at := 0
		for b.Loop() {
			l := Copy{N: 2, Width: 128, Dst: at % (24 << 20)}
			l.Count[0], l.Count[1] = 32, 32
			l.DstStep[0], l.DstStep[1], l.SrcStep[0], l.SrcStep[1] = 256<<10, 1024, 4096, 128
			l.Run(dst, src)
			if at += 128; at%1024 == 0 { // the next box that has no row of this one
				at += 31 << 10
			}
			if at%(256<<10) == 0 {
				at += 31 * 256 << 10
			}
		}
	})
}
