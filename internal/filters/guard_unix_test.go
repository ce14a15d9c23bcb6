//go:build linux || darwin

package filters

import (
	"bytes"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu/cputest"
	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardPages runs every filter on blocks that begin or end at a page that cannot be accessed: a kernel that reads
// or writes outside of its block faults.
func TestGuardPages(t *testing.T) {
	const size = 1 << 16
	srcMem, dstMem := guardpage.New(t, size), guardpage.New(t, size)
	filters := []struct {
		name           string
		encode, decode filter
	}{
		{"shuffle", Shuffle, Unshuffle},
		{"bitshuffle", BitShuffle, BitUnshuffle},
		{"bytedelta", ByteDeltaEncode, ByteDeltaDecode},
		{"delta", func(dst, src []byte, size int) { DeltaEncode(dst, src, nil, size) },
			func(dst, src []byte, size int) { DeltaDecode(dst, src, nil, size) }},
	}
	random := randomBytes(size, 9)
	forEachKernel(t, func(t *testing.T) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for _, f := range filters {
			for _, width := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 24, 31, 33, 40, 100} {
				for _, n := range []int{1, 15, 16, 31, 32, 33, 34, 47, 48, 63, 64, 65, 96, 127, 129, 191, 255, 256, 264, 288, 320, 511, 600} {
					for extra := range min(width, 3) {
						m := min(n*width+extra, size)
						want := random[:m]
						for _, atEnd := range []bool{false, true} {
							src, dst := srcMem[:m], dstMem[:m]
							if atEnd {
								src, dst = srcMem[len(srcMem)-m:], dstMem[len(dstMem)-m:]
							}
							copy(src, want)
							f.encode(dst, src, width)
							clear(src)
							f.decode(src, dst, width)
							if !bytes.Equal(src, want) {
								t.Fatalf("%s of size %d, %d bytes: wrong", f.name, width, m)
							}
						}
					}
				}
			}
		}
	})
}

// TestMoveGuard copies and fills blocks that begin or end at a page that cannot be accessed.
func TestMoveGuard(t *testing.T) {
	const size = 1 << 16
	src, dst, want := guardpage.New(t, size), guardpage.New(t, size), make([]byte, size)
	copy(src, randomBytes(size, 9))
	forEachKernel(t, func(t *testing.T) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for _, value := range fillValues() {
			naiveFill(want, value)
			for _, n := range []int{1, 31, 2047, 2048, 2049, 2100, 4095, 4097, 20_000, size - 1, size} {
				checkFill(t, dst, want, value, n, false)
				checkFill(t, dst, want, value, n, true)
			}
		}
		for _, n := range []int{1, 100, 16<<10 - 1, 16 << 10, 16<<10 + 1, 20_000, size - 1, size} {
			for _, s := range [][]byte{src[:n], src[size-n:]} {
				checkCopy(t, dst[:n], s, n)
				checkCopy(t, dst[size-n:], s, n)
			}
		}
	})
}

// TestRowsGuard runs UnshuffleRows and ShuffleRows on blocks and rows that begin or end at a page that cannot be
// accessed.
func TestRowsGuard(t *testing.T) {
	const size = 1 << 16
	src, dst := guardpage.New(t, size), guardpage.New(t, size)
	copy(src, randomBytes(size, 9))
	forEachKernel(t, func(t *testing.T) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for _, width := range []int{1, 2, 3, 4, 8, 16} {
			for length := 1; length <= 80; length++ {
				for back := range uint8(8) {
					checkRows(t, dst, src, width, 1+length%3, length, length%5, int(back), back)
					checkShuffleRows(t, dst, src, width, 1+length%3, length, length%5, int(back), back)
				}
			}
		}
	})
}

// FuzzRows does the same for any lengths.
func FuzzRows(f *testing.F) {
	f.Add(uint8(4), uint8(32), uint8(32), uint8(0), uint8(0), uint8(0))
	f.Add(uint8(8), uint8(1), uint8(45), uint8(3), uint8(9), uint8(7))
	f.Add(uint8(2), uint8(5), uint8(8), uint8(1), uint8(200), uint8(2))
	const size = 1 << 20
	src, dst := guardpage.New(f, size), guardpage.New(f, size)
	copy(src, randomBytes(size, 9))
	f.Fuzz(func(t *testing.T, width, n, length, gap, pad, back uint8) {
		for _, l := range cputest.Available(levels...) {
			with(l, func() {
				checkRows(t, dst, src, 1+int(width)%20, 1+int(n)%40, 1+int(length), int(gap)%64, int(pad), back)
				checkShuffleRows(t, dst, src, 1+int(width)%20, 1+int(n)%40, 1+int(length), int(gap)%64, int(pad), back)
			})
		}
	})
}
