package lazy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/meta"
)

// floatOrder returns the order of two floats: -1, 0 or 1, or 2 if one of them is NaN.
func floatOrder(a, b float64) int {
	switch {
	case a != a || b != b:
		return 2
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// checkLoops compares the loops for two items, which have the bits a and b, with functions of items.
func checkLoops(t *testing.T, a, b uint64) {
	t.Helper()
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	if got, want := mod(x, y), math.Mod(x, y); !sameFloats(got, want) && (got != 0 || want != 0) {
		t.Errorf("%v %% %v (%x, %x): %v, want %v", x, y, a, b, got, want)
	}
	for _, c := range []struct {
		f    loop[float64]
		want float64
	}{{add[float64], x + y}, {subtract[float64], x - y}, {multiply[float64], x * y}, {divide, x / y}} {
		out := []float64{0, 0}
		if c.f(out, []float64{1, x}, []float64{1, y}); !sameFloats(out[1], c.want) {
			t.Errorf("%v and %v: %v, want %v", x, y, out[1], c.want)
		}
	}
	i, j := int64(a), int64(b)
	for _, c := range []struct {
		f    loop[int64]
		want int64
	}{{add[int64], i + j}, {subtract[int64], i - j}, {multiply[int64], i * j}, {and, i & j}, {or, i | j}, {xor, i ^ j}} {
		out := []int64{0, 0}
		if c.f(out, []int64{1, i}, []int64{1, j}); out[1] != c.want {
			t.Errorf("%d and %d: %d, want %d", i, j, out[1], c.want)
		}
	}
	for op, is := range comparisons {
		var signed, unsigned, floats [1]int64
		compareAs[int64](op, signed[:], []int64{i}, []int64{j})
		compareAs[uint64](op, unsigned[:], []int64{i}, []int64{j})
		compareAs[float64](op, floats[:], []float64{x}, []float64{y})
		got := [3]int64{signed[0], unsigned[0], floats[0]}
		want := [3]int64{truthOf(is(order(i, j, false, false))), truthOf(is(order(i, j, true, true))), truthOf(is(floatOrder(x, y)))}
		if got != want {
			t.Errorf("%d %s %d, as int64, uint64 and float64: %d, want %d", i, op, j, got, want)
		}
	}
	for _, kind := range []byte{'i', 'u'} {
		for _, size := range []int{1, 2, 4, 8} {
			want := new(big.Int).SetUint64(a & (1<<(8*size) - 1))
			if kind == 'i' && want.Bit(8*size-1) != 0 {
				want.Sub(want, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
			}
			v := vec{d: meta.Of(kind, size), i: []int64{i}}.wrap()
			low := want.Int64()
			if want.Sign() > 0 {
				low = int64(want.Uint64())
			}
			if got := v.i[0]; got != low {
				t.Errorf("%d as %v: %d, want %d", i, v.d, got, want)
			}
		}
	}
}

// TestLoops compares the loops for random items with functions of items. Many quotients are near integers.
func TestLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	items := mixedFloats(r, 300)
	for _, x := range items {
		for _, y := range items {
			checkLoops(t, math.Float64bits(x), math.Float64bits(y))
		}
	}
	for range 20_000 {
		y := math.Float64frombits(r.Uint64())
		x := y * float64(r.Uint64()>>(1+r.IntN(63)))
		for d := range uint64(5) {
			checkLoops(t, math.Float64bits(x)+d-2, math.Float64bits(y))
		}
	}
}

// FuzzLoops is TestLoops for any items.
func FuzzLoops(f *testing.F) {
	for _, x := range mixedFloats(rand.New(rand.NewPCG(7, 8)), 20) {
		f.Add(math.Float64bits(x), math.Float64bits(3))
		f.Add(math.Float64bits(1e10), math.Float64bits(x))
	}
	f.Fuzz(func(t *testing.T, a, b uint64) { checkLoops(t, a, b) })
}
