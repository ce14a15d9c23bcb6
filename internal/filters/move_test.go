package filters

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

// naiveFill does the same as Fill, one byte at a time.
func naiveFill(dst, value []byte) {
	for i := range dst {
		dst[i] = value[i%len(value)]
	}
}

// fillValues returns values to fill with: one of each length with its own code, and zeros.
func fillValues() (values [][]byte) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 33, 64, 100} {
		values = append(values, randomBytes(n, uint64(n)), make([]byte, n))
	}
	return append(values, []byte{0, 1}, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// checkFill compares Fill and FillUncached on n bytes at one end of mem with want.
func checkFill(t *testing.T, mem, want, value []byte, n int, atEnd bool) {
	t.Helper()
	dst := mem[:n]
	if atEnd {
		dst = mem[len(mem)-n:]
	}
	for _, fill := range []func(dst, value []byte){Fill, FillUncached} {
		for i := range dst {
			dst[i] = 0xa5
		}
		fill(dst, value)
		if !bytes.Equal(dst, want[:n]) {
			t.Fatalf("%d bytes of a value of %d: wrong, first at %d", n, len(value), firstDiff(dst, want))
		}
	}
}

func TestFill(t *testing.T) {
	mem, want := make([]byte, 3000), make([]byte, 3000)
	forEachKernel(t, func(t *testing.T) {
		for _, value := range fillValues() {
			naiveFill(want, value)
			for n := range 2500 {
				checkFill(t, mem[n%64:], want, value, n, n%2 == 0)
			}
		}
	})
}

// TestFillLong fills memory that is larger than the caches, and checks that the bytes around it do not change.
func TestFillLong(t *testing.T) {
	mem, want := make([]byte, 2*fillCached), make([]byte, 2*fillCached)
	forEachKernel(t, func(t *testing.T) {
		for i, value := range fillValues() {
			naiveFill(want, value)
			for _, n := range []int{fillPiece, fillCached - 1, fillCached, fillCached + 1, fillCached + 777} {
				mem[10+i], mem[11+i+n] = 1, 2
				checkFill(t, mem[11+i:][:n], want, value, n, false)
				if mem[10+i] != 1 || mem[11+i+n] != 2 {
					t.Fatalf("%d bytes of a value of %d: more was written", n, len(value))
				}
			}
		}
	})
}

// checkCopy copies n bytes with Copy, and fails if they are not the same or others were changed.
func checkCopy(t *testing.T, dst, src []byte, n int) {
	t.Helper()
	clear(dst)
	Copy(dst, src[:n])
	if !bytes.Equal(dst[:n], src[:n]) {
		t.Fatalf("%d bytes: wrong, first at %d", n, firstDiff(dst[:n], src[:n]))
	}
	for i, b := range dst[n:] {
		if b != 0 {
			t.Fatalf("%d bytes: byte %d changed", n, n+i)
		}
	}
}

func TestCopy(t *testing.T) {
	src, dst := randomBytes(1<<16, 1), make([]byte, 1<<16)
	forEachKernel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 31, 4096, 16<<10 - 1, 16 << 10, 16<<10 + 1, 20000, 40000} {
			for _, behind := range []int{0, 1, 31, 32, 63, 64, 65, 100, 4095, 4096} {
				checkCopy(t, dst[behind:], src, n)
				checkCopy(t, dst, src[behind:], n)
			}
		}
	})
}

func TestMovePanics(t *testing.T) {
	if !panics(func() { Copy(make([]byte, 3), make([]byte, 4)) }) {
		t.Error("a dst that is too short was accepted")
	}
	if !panics(func() { Fill(make([]byte, 3), nil) }) {
		t.Error("an empty value was accepted")
	}
}

func TestMoveAllocates(t *testing.T) {
	src, dst := make([]byte, 1<<17), make([]byte, 1<<17)
	forEachKernel(t, func(t *testing.T) {
		if n := testing.AllocsPerRun(10, func() {
			Copy(dst, src)
			Fill(dst, []byte{0})
			Fill(dst, []byte{1, 2, 3, 4})
			Fill(dst, []byte{1, 2, 3})
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// FuzzMove compares Copy and Fill with copy and naiveFill.
func FuzzMove(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint32(1000), uint16(3))
	f.Add([]byte{0}, uint32(100_000), uint16(64))
	mem, want := make([]byte, 2<<16+8), make([]byte, 1<<16)
	f.Fuzz(func(t *testing.T, value []byte, n uint32, off uint16) {
		m := int(n) % (1<<16 + 1)
		if len(value) == 0 {
			return
		}
		naiveFill(want[:m], value)
		for _, l := range cputest.Available(levels...) {
			with(l, func() {
				checkFill(t, mem[off:], want, value, m, n%2 == 0)
				checkCopy(t, mem[off:][:m+8], want, m)
			})
		}
	})
}

func BenchmarkCopy(b *testing.B) {
	for _, size := range []int{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20} {
		src, dst := randomBytes(size, 1), make([]byte, size)
		b.Run(fmt.Sprintf("%dK", size>>10), func(b *testing.B) {
			benchmarkEachKernel(b, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					Copy(dst, src)
				}
			})
		})
	}
}

func BenchmarkFill(b *testing.B) {
	for _, value := range [][]byte{{0}, {1}, {1, 2, 3, 4}, {1, 2, 3}} {
		for _, size := range []int{1 << 10, 16 << 10, 256 << 10, 1 << 20} {
			dst := make([]byte, size)
			b.Run(fmt.Sprintf("%v/%dK", value, size>>10), func(b *testing.B) {
				benchmarkEachKernel(b, func(b *testing.B) {
					b.SetBytes(int64(size))
					b.ReportAllocs()
					for b.Loop() {
						Fill(dst, value)
					}
				})
			})
		}
	}
}
