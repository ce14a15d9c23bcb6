package numbers

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

// kernelPairs returns all conversions that have a kernel on this machine.
func kernelPairs() (pairs [][2]Type) {
	for _, from := range allTypes() {
		for _, to := range allTypes() {
			if Conversion(to, from).kernel != nil {
				pairs = append(pairs, [2]Type{to, from})
			}
		}
	}
	return pairs
}

// specials are bits of numbers that are converted in another way than most: zeros, the largest and smallest numbers,
// infinities, quiet and signaling NaNs, subnormal numbers, and halves between numbers of other types.
var specials = []uint64{
	0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 1 << 63, 1<<64 - 1,
	0x03ff, 0x0400, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0xfc00, 0xfd55, // float16
	0x00400000, 0x00800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0xff800000, 0xffa00000, // float32
	0x380fffffffffffff, 0x36a0000000000000, 0x36a0000000000001, 0x47efffffefffffff, 0x47effffff0000000, 0x3ff0000010000000,
	0x3ff0000030000000, 0x7ff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000, 0xfff4000000000000, // float64
	0x000fffffffffffff,
	1<<54 | 1<<30 | 1, 1<<62 | 1<<38 | 1, 1<<64 - (1<<54 | 1<<30 | 1), // rounded twice through float64
}

// randomNumbers sets b to numbers of a type, one in four of them special.
func randomNumbers(rng *rand.Rand, b []byte, d Type) {
	for i := 0; i+d.size <= len(b); i += d.size {
		x := rng.Uint64()
		if rng.IntN(4) == 0 {
			x = specials[rng.IntN(len(specials))]
		}
		d.store(b[i:i+d.size], []uint64{x})
	}
}

// checkRows converts rows of n numbers with a kernel and with the Go loop, and compares all bits. gap is the space
// between rows in numbers. The memory of dst and src begins shift bytes after that of a slice.
func checkRows(t *testing.T, rng *rand.Rand, to, from Type, n, rows, gap, shift int) {
	l := Conversion(to, from)
	r := Rows{N: rows, DstLen: n * to.size, SrcLen: n * from.size, DstStep: (n + gap) * to.size, SrcStep: (n + gap/2) * from.size}
	r.Ahead = r.DstStep * rows
	src := make([]byte, shift+rows*r.SrcStep+1)[shift:]
	randomNumbers(rng, src, from)
	got := bytes.Repeat([]byte{0xa5}, shift+rows*r.DstStep)[shift:]
	want := bytes.Clone(got)
	l.Rows(got, src, r)
	for i := range rows {
		x, y := make([]byte, r.SrcLen), make([]byte, r.DstLen) // aligned for the loop
		copy(x, src[i*r.SrcStep:])
		l.run(y, x)
		copy(want[i*r.DstStep:], y)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%+v to %+v, %d rows of %d numbers, gap %d, shift %d: %x, want %x", from, to, rows, n, gap, shift, got, want)
	}
}

// TestKernels compares all kernels with the Go loops, for rows of all lengths, in memory that is not aligned.
func TestKernels(t *testing.T) {
	pairs := kernelPairs()
	if want := 128; cpu.Has(cpu.AVX2) && len(pairs) != want { // numbers of one byte count twice, as in fusedPairs
		t.Errorf("%d pairs of types have a kernel, want %d", len(pairs), want)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range pairs {
		for n := 1; n < 100; n++ {
			checkRows(t, rng, p[0], p[1], n, 1+rng.IntN(4), rng.IntN(3)*rng.IntN(20), rng.IntN(9))
		}
		checkRows(t, rng, p[0], p[1], 3001, 3, 7, 1)
	}
}

// TestKernelsHalf converts all float16 numbers.
func TestKernelsHalf(t *testing.T) {
	for _, from := range []Type{{'f', 2, false, 2}, {'f', 2, true, 2}} {
		src := make([]byte, 2<<16)
		for i := range 1 << 16 {
			Store16(src[2*i:], uint16(i), from.big)
		}
		for _, size := range []int{4, 8} {
			l := Conversion(nativeFloat(size), from)
			got, want := make([]byte, size<<16), make([]byte, size<<16)
			l.Run(got, src)
			l.run(want, src)
			if !bytes.Equal(got, want) {
				t.Errorf("%+v to %d bytes: the kernel and the loop differ", from, size)
			}
		}
	}
}

// nativeFloat returns the type of floats in the byte order of the machine.
func nativeFloat(size int) Type {
	return Type{'f', size, BigEndian, size}
}

// TestKernelsInPlace reverses bytes and copies bools in place.
func TestKernelsInPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, width := range []int{1, 2, 4, 8} {
		l := Swapper(width)
		if width == 1 {
			l = CopyBools()
		}
		for n := range 200 {
			b := make([]byte, n*width)
			randomNumbers(rng, b, Type{'u', width, false, width})
			want := make([]byte, len(b))
			l.run(want, b)
			if l.Run(b, b); !bytes.Equal(b, want) {
				t.Fatalf("%d numbers of %d bytes in place: %x, want %x", n, width, b, want)
			}
		}
	}
}

// TestRowsPanic converts rows that are not inside their buffers.
func TestRowsPanic(t *testing.T) {
	cputest.Each(t, func(t *testing.T) {
		l := Conversion(nativeFloat(8), Type{'i', 2, false, 2})
		dst, src := make([]byte, 8*64, 8*200), make([]byte, 2*64, 2*200) // the rest of the memory is that of others
		for i, r := range []Rows{
			{N: 2, DstLen: 8 * 32, SrcLen: 2 * 32, DstStep: 8*32 + 1, SrcStep: 2 * 32},
			{N: 2, DstLen: 8 * 32, SrcLen: 2 * 32, DstStep: 8 * 32, SrcStep: 2*32 + 1},
			{N: 2, DstLen: 8 * 32, SrcLen: 2 * 32, DstStep: 8 * 32, SrcStep: -1},
			{N: 1, DstLen: 8 * 32, SrcLen: 2 * 32, Dst: 8*32 + 1},
			{N: 1, DstLen: 8 * 32, SrcLen: 2 * 32, Src: -1},
			{N: 3, DstLen: 8 * 32, SrcLen: 2 * 32, DstStep: -1 << (^uint(0)>>63*32 + 30), SrcStep: 2},
			{N: 1, DstLen: 8 * 65, SrcLen: 2 * 65},
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("rows %d: no panic", i)
					}
				}()
				l.Rows(dst, src, r)
			}()
		}
		l.Rows(dst, src, Rows{DstLen: 1 << 20, SrcLen: 1 << 20})
	}, cpu.AVX2)
}

// FuzzKernels compares the kernels with the Go loops.
func FuzzKernels(f *testing.F) {
	f.Add(uint8(0), uint16(8), uint8(1), uint8(0), uint8(0), uint64(1))
	f.Add(uint8(17), uint16(33), uint8(3), uint8(5), uint8(1), uint64(2))
	pairs := kernelPairs()
	f.Fuzz(func(t *testing.T, pair uint8, n uint16, rows, gap, shift uint8, seed uint64) {
		if len(pairs) == 0 {
			t.Skip("this machine has no kernels")
		}
		p := pairs[int(pair)%len(pairs)]
		checkRows(t, rand.New(rand.NewPCG(seed, 1)), p[0], p[1], 1+int(n)%2000, 1+int(rows)%16, int(gap), int(shift)%64)
	})
}
