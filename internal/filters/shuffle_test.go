package filters

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

// The references of the tests follow the definitions in the package comment, one byte or bit at a time.

func naiveShuffle(src []byte, width int) []byte {
	dst := bytes.Clone(src)
	n := len(src) / width
	for i := range n {
		for j := range width {
			dst[j*n+i] = src[i*width+j]
		}
	}
	return dst
}

func naiveBitShuffle(src []byte, size int) []byte {
	dst := bytes.Clone(src)
	n := len(src) / size / 8 * 8
	clear(dst[:n*size])
	for e := range n {
		for b := range size {
			for k := range 8 {
				dst[(8*b+k)*(n/8)+e/8] |= src[e*size+b] >> k & 1 << (e % 8)
			}
		}
	}
	return dst
}

var testWidths = func() []int {
	var w []int
	for i := 1; i <= 33; i++ {
		w = append(w, i)
	}
	return append(w, 40, 63, 64, 65, 127, 128, 129, 254, 255, 256, 300)
}()

// testCounts are numbers of elements around the steps of the kernels and of their tiles.
var testCounts = []int{
	0, 1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 31, 32, 33, 47, 48, 63, 64, 65, 71, 72, 95, 96, 127, 128, 129, 191, 255, 256,
	257, 511, 512, 513, 520, 576, 1023, 1024, 1025, 4103,
}

func randomBytes(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// filter is one direction of a filter with its type size or number of streams.
type filter func(dst, src []byte, size int)

// run calls f with slices that begin at the given offset from an aligned address, and fails the test if it writes
// outside of dst or changes src.
func run(t *testing.T, f filter, src []byte, size, offset int) []byte {
	t.Helper()
	const guard = 64
	in := append(make([]byte, offset, offset+len(src)), src...)
	buf := bytes.Repeat([]byte{0xA5}, offset+len(src)+2*guard)
	dst := buf[guard+offset:][:len(src)]
	f(dst, in[offset:], size)
	if !bytes.Equal(in[offset:], src) {
		t.Fatalf("size %d, %d bytes: src was changed", size, len(src))
	}
	for i, b := range buf {
		if (i < guard+offset || i >= guard+offset+len(src)) && b != 0xA5 {
			t.Fatalf("size %d, %d bytes: byte %d around dst was changed", size, len(src), i-guard-offset)
		}
	}
	return dst
}

// testLadder compares both directions of a filter with its reference for all sizes and counts.
func testLadder(t *testing.T, encode, decode filter, naive func([]byte, int) []byte) {
	type rung struct {
		size, offset int
		src, want    []byte
	}
	var rungs []rung
	for _, size := range testWidths {
		for i, count := range testCounts {
			if count*size > 12000 { // TestShuffleLongBlocks has long ones
				continue
			}
			src := randomBytes(count*size+i%min(size, 5), uint64(size*5000+count))
			rungs = append(rungs, rung{size, i, src, naive(src, size)})
		}
	}
	forEachKernel(t, func(t *testing.T) {
		for _, r := range rungs {
			if got := run(t, encode, r.src, r.size, r.offset%32); !bytes.Equal(got, r.want) {
				t.Fatalf("size %d, %d bytes: encoded wrong, first at byte %d", r.size, len(r.src), firstDiff(got, r.want))
			}
			if got := run(t, decode, r.want, r.size, (r.offset+r.size)%32); !bytes.Equal(got, r.src) {
				t.Fatalf("size %d, %d bytes: decoded wrong, first at byte %d", r.size, len(r.src), firstDiff(got, r.src))
			}
		}
	})
}

func firstDiff(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

func TestShuffle(t *testing.T) { testLadder(t, Shuffle, Unshuffle, naiveShuffle) }

func TestBitShuffle(t *testing.T) { testLadder(t, BitShuffle, BitUnshuffle, naiveBitShuffle) }

func TestShuffleLongBlocks(t *testing.T) {
	for _, width := range []int{2, 3, 4, 7, 8, 12, 16, 24, 255} {
		for _, size := range []int{1 << 16, 1<<17 + 12345} {
			src := randomBytes(size, uint64(width))
			want, bits := naiveShuffle(src, width), naiveBitShuffle(src, width)
			for _, l := range cputest.Available(levels...) {
				with(l, func() {
					if !bytes.Equal(run(t, Shuffle, src, width, 1), want) || !bytes.Equal(run(t, Unshuffle, want, width, 3), src) {
						t.Errorf("%s: shuffle of width %d of %d bytes", l, width, size)
					}
					if !bytes.Equal(run(t, BitShuffle, src, width, 1), bits) || !bytes.Equal(run(t, BitUnshuffle, bits, width, 3), src) {
						t.Errorf("%s: bit shuffle of type size %d of %d bytes", l, width, size)
					}
				})
			}
		}
	}
}

func TestBitUnshuffleV2(t *testing.T) {
	for _, size := range []int{1, 3, 4, 16} {
		for _, count := range []int{0, 1, 7, 8, 9, 64, 65, 72} {
			for tail := range min(size, 3) {
				src := randomBytes(count*size+tail, 7)
				want := src
				if count%8 == 0 {
					want = naiveBitShuffle(src, size)
				}
				if got := run(t, BitUnshuffleV2, want, size, 1); !bytes.Equal(got, src) {
					t.Errorf("type size %d, %d bytes: decoded wrong", size, len(src))
				}
			}
		}
	}
}

// TestShuffleKnown pins the layouts with values worked out by hand.
func TestShuffleKnown(t *testing.T) {
	tests := []struct {
		name      string
		f         filter
		size      int
		src, want []byte
	}{
		{"shuffle", Shuffle, 3, []byte("a0-b0-c0-tt"), []byte("abc000---tt")},
		{"unshuffle", Unshuffle, 3, []byte("abc000---tt"), []byte("a0-b0-c0-tt")},
		{"no element", Shuffle, 16, []byte("short"), []byte("short")},
		{"bit 0 of element 0", BitShuffle, 1, []byte{1, 0, 0, 0, 0, 0, 0, 0, 9}, []byte{1, 0, 0, 0, 0, 0, 0, 0, 9}},
		{"bit 0 of element 7", BitShuffle, 1, []byte{0, 0, 0, 0, 0, 0, 0, 1}, []byte{128, 0, 0, 0, 0, 0, 0, 0}},
		{"bit 7 of element 0", BitShuffle, 1, []byte{128, 0, 0, 0, 0, 0, 0, 0}, []byte{0, 0, 0, 0, 0, 0, 0, 1}},
		{"bit 1 of byte 1 of element 2", BitShuffle, 2,
			[]byte{0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
			[]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := run(t, tt.f, tt.src, tt.size, 0); !bytes.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestMisuse(t *testing.T) {
	two := map[string]filter{
		"Shuffle": Shuffle, "Unshuffle": Unshuffle,
		"BitShuffle": BitShuffle, "BitUnshuffle": BitUnshuffle,
		"BitUnshuffleV2":  BitUnshuffleV2,
		"ByteDeltaEncode": ByteDeltaEncode, "ByteDeltaDecode": ByteDeltaDecode, "ByteDeltaDecodeV1": ByteDeltaDecodeV1,
		"DeltaEncode": func(dst, src []byte, size int) { DeltaEncode(dst, src, nil, size) },
		"DeltaDecode": func(dst, src []byte, size int) { DeltaDecode(dst, src, nil, size) },
	}
	for name, f := range two {
		for _, size := range []int{0, -1} {
			if !panics(func() { f(make([]byte, 8), make([]byte, 8), size) }) {
				t.Errorf("%s took a size of %d", name, size)
			}
		}
		if !panics(func() { f(make([]byte, 7, 8), make([]byte, 8), 4) }) {
			t.Errorf("%s took a short dst", name)
		}
		dst := []byte{1, 2, 3}
		f(dst, nil, 4)
		if !bytes.Equal(dst, []byte{1, 2, 3}) {
			t.Errorf("%s wrote %v for an empty src", name, dst)
		}
	}
	short := map[string]func(dst, src []byte) error{
		"TruncPrec":  func(dst, src []byte) error { return TruncPrec(dst, src, 4, 8) },
		"IntTrunc":   func(dst, src []byte) error { return IntTrunc(dst, src, 4, 8) },
		"CellEncode": func(dst, src []byte) error { return CellEncode(dst, src, 4, 1, []int32{2}) },
		"CellDecode": func(dst, src []byte) error { return CellDecode(dst, src, 4, 1, []int32{2}) },
		"MeanEncode": func(dst, src []byte) error { return MeanEncode(dst, src, 4, 1, []int32{2}) },
		"MeanDecode": func(dst, src []byte) error { return MeanDecode(dst, src, 4, 1, []int32{2}) },
	}
	for name, f := range short {
		if !panics(func() { _ = f(make([]byte, 7, 8), make([]byte, 8)) }) {
			t.Errorf("%s took a short dst", name)
		}
	}
}

func panics(f func()) (p bool) {
	defer func() { p = recover() != nil }()
	f()
	return false
}

// TestJoin joins planes to memory of every alignment, and undoes Shuffle past the caches.
func TestJoin(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		for _, width := range []int{1, 2, 3, 4, 8, 9} {
			for _, count := range testCounts {
				want := randomBytes(count*width, uint64(width))
				shuffled := naiveShuffle(want, width)
				join := func(uncached bool) filter {
					return func(dst, src []byte, width int) {
						planes := make([][]byte, width)
						for j := range planes {
							planes[j] = src[j*count : (j+1)*count]
						}
						Join(dst, planes, uncached)
					}
				}
				for offset := range 33 {
					for _, f := range []filter{join(false), join(true), UnshuffleUncached} {
						if got := run(t, f, shuffled, width, offset); !bytes.Equal(got, want) {
							t.Fatalf("width %d, %d elements, offset %d: wrong from byte %d up", width, count, offset, firstDiff(got, want))
						}
					}
				}
			}
		}
	})
	tail := []byte("aceg-bdfh-tail"[:13])
	if got := run(t, UnshuffleUncached, tail, 2, 0); !bytes.Equal(got, naiveUnshuffle2(tail)) {
		t.Errorf("bytes after the last element: %q", got)
	}
	for name, f := range map[string]func(){
		"no planes":         func() { Join(nil, nil, false) },
		"different lengths": func() { Join(make([]byte, 9), [][]byte{make([]byte, 4), make([]byte, 5)}, false) },
		"a short dst":       func() { Join(make([]byte, 7), [][]byte{make([]byte, 4), make([]byte, 4)}, true) },
		"no element size":   func() { UnshuffleUncached(make([]byte, 8), make([]byte, 8), 0) },
	} {
		if !panics(f) {
			t.Errorf("took %s", name)
		}
	}
}

// naiveUnshuffle2 undoes naiveShuffle for elements of two bytes.
func naiveUnshuffle2(src []byte) []byte {
	dst, n := bytes.Clone(src), len(src)/2
	for i := range 2 * n {
		dst[i] = src[i%2*n+i/2]
	}
	return dst
}
