package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// checkKernel checks what a kernel promises about its functions. fmt.Sprint tells apart the zeros of floats.
func checkKernel[T, A any](t *testing.T, name string, k Kernel[T, A], items []T) {
	t.Helper()
	one, many := k.Empty, []A{k.Empty}
	k.Row(&one, items, 5)
	for i := range items {
		k.Lane(many, items[i:i+1], 5+int64(i))
	}
	same := fmt.Sprint(one) == fmt.Sprint(many[0])
	if (k.Serial || int64(len(items)) <= k.Short) && !same {
		t.Errorf("%s of %v: %v by Row, %v by Lane", name, items, one, many[0])
	}
	if k.Serial {
		k.Row(&one, items, 50)
		for i := range items {
			k.Lane(many, items[i:i+1], 50+int64(i))
		}
		if fmt.Sprint(one) != fmt.Sprint(many[0]) {
			t.Errorf("%s of %v twice: %v by Row, %v by Lane", name, items, one, many[0])
		}
	}
	cells := []A{k.Empty, k.Empty, k.Empty}
	if k.Merge(cells[1:2], []A{one}); fmt.Sprint(cells) != fmt.Sprint([]A{k.Empty, one, k.Empty}) {
		t.Errorf("%s of %v: %v merged into empty cells is %v", name, items, one, cells)
	}
	copied := k.Copies(items[0], int64(len(items)), 0)
	k.Merge(cells[:1], []A{copied})
	if fmt.Sprint(cells[0]) != fmt.Sprint(copied) {
		t.Errorf("%s of copies of %v: %v merged into an empty cell is %v", name, items[0], copied, cells[0])
	}
}

// checkExtreme compares the fast merge of ExtremeReal with that of ExtremeOf.
func checkExtreme[T Real](t *testing.T, most bool, a, b []T, at int64) {
	t.Helper()
	k := ExtremeReal[T](most)
	simple := ExtremeOf(func(x, y T) bool { return x < y != most && x != y && x == x && y == y }, func(x T) bool { return x != x })
	x, y := []Extreme[T]{k.Empty}, []Extreme[T]{k.Empty}
	k.Row(&x[0], a, 1000)
	k.Row(&y[0], b, at)
	z := []Extreme[T]{x[0]}
	k.Merge(x, y)
	if simple.Merge(z, y); fmt.Sprint(x) != fmt.Sprint(z) {
		t.Errorf("%v at 1000, %v at %d, most %v: %v, want %v", a, b, at, most, x, z)
	}
}

// checkReal checks the kernels of real numbers.
func checkReal[T Real](t *testing.T, r *rand.Rand, number func() T) {
	items := make([]T, 1+r.IntN(40))
	if r.IntN(2) == 0 {
		items = items[:1+r.IntN(min(4, len(items)))]
	}
	for i := range items {
		items[i] = number()
	}
	checkKernel(t, "SumInts", SumInts[T](), items)
	checkKernel(t, "SumFloats", SumFloats[T](), items)
	checkKernel(t, "SumSkip", SumSkip[T](), items)
	checkKernel(t, "ProdInts", ProdInts[T](), items)
	checkKernel(t, "ProdFloats", ProdFloats[T](false), items)
	checkKernel(t, "ProdFloats, skip", ProdFloats[T](true), items)
	checkKernel(t, "Variance", Variance[T](), items)
	checkKernel(t, "VarianceSkip", VarianceSkip[T](), items)
	checkKernel(t, "Count", Count(func(x T) bool { return x != 0 }), items)
	for _, most := range []bool{false, true} {
		checkKernel(t, "ExtremeReal", ExtremeReal[T](most), items)
		checkKernel(t, "ExtremeRealSkip", ExtremeRealSkip[T](most), items)
		at := r.IntN(len(items)) + 1
		checkExtreme(t, most, items[:at], items[at-1:], int64(r.IntN(2000)))
	}
}

// checkComplex checks the kernels of complex numbers.
func checkComplex[T complex64 | complex128](t *testing.T, r *rand.Rand, number func() T) {
	items := make([]T, 1+r.IntN(40))
	for i := range items {
		items[i] = number()
	}
	less := func(x, y T) bool { return real(complex128(x)) < real(complex128(y)) }
	checkKernel(t, "SumComplex", SumComplex[T](), items)
	checkKernel(t, "SumComplexSkip", SumComplexSkip[T](), items)
	checkKernel(t, "ProdComplex", ProdComplex[T](false), items)
	checkKernel(t, "ProdComplex, skip", ProdComplex[T](true), items)
	checkKernel(t, "VarianceComplex", VarianceComplex[T](), items)
	checkKernel(t, "Skip of VarianceComplex", Skip(VarianceComplex[T](), IsNaN[T]), items)
	checkKernel(t, "ExtremeOf", ExtremeOf(less, IsNaN[T]), items)
	checkKernel(t, "Skip of ExtremeOf", Skip(ExtremeOf(less, IsNaN[T]), IsNaN[T]), items)
}

// checkKernels checks all kernels for random numbers.
func checkKernels(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	rare := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.MaxFloat32, math.NaN()}
	usual := r.IntN(3)
	float := func() float64 {
		if r.IntN(3) < usual {
			return r.NormFloat64()
		}
		return rare[r.IntN(len(rare)-r.IntN(2))]
	}
	checkReal(t, r, float)
	checkReal(t, r, func() float32 { return float32(float()) })
	checkReal(t, r, func() int8 { return int8(r.IntN(5) - 2) })
	checkReal(t, r, func() uint64 { return r.Uint64() >> r.IntN(64) })
	checkComplex(t, r, func() complex128 { return complex(float(), float()) })
	checkComplex(t, r, func() complex64 { return complex64(complex(float(), float())) })
}

func TestKernels(t *testing.T) {
	for seed := range uint64(300) {
		checkKernels(t, seed)
	}
}

func FuzzKernels(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkKernels(t, seed) })
}
