package reduce

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigComplex is a complex number of 300 bits. Its exponents do not overflow in the tests.
type bigComplex struct{ re, im *big.Float }

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

func bigOf(x complex128) bigComplex { return bigComplex{bigFloat(real(x)), bigFloat(imag(x))} }

func (a bigComplex) times(b bigComplex) bigComplex {
	mul := func(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }
	re := new(big.Float).Sub(mul(a.re, b.re), mul(a.im, b.im))
	return bigComplex{re, new(big.Float).Add(mul(a.re, b.im), mul(a.im, b.re))}
}

// power returns the product of n copies of a.
func (a bigComplex) power(n int64) bigComplex {
	p := bigOf(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p = p.times(a)
		}
		a = a.times(a)
	}
	return p
}

// distance returns the distance of a product from a, in units of 2^-53 of the larger part of a.
func (a bigComplex) distance(p ComplexProduct) float64 {
	x := bigOf(p.frac)
	re := new(big.Float).Sub(x.re.SetMantExp(x.re, int(p.exp)), a.re)
	im := new(big.Float).Sub(x.im.SetMantExp(x.im, int(p.exp)), a.im)
	most := func(x, y *big.Float) *big.Float {
		if x, y = x.Abs(x), y.Abs(y); x.Cmp(y) > 0 {
			return x
		}
		return y
	}
	d, _ := new(big.Float).Quo(most(re, im), most(new(big.Float).Set(a.re), new(big.Float).Set(a.im))).Float64()
	return d * 0x1p53
}

// TestPowers compares products of copies, and of special chunks, with exact numbers.
func TestPowers(t *testing.T) {
	floats, complexes := ProdFloats[float64](false), ProdComplex[complex128](false)
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 1 + r.Int64N(1<<(1+r.IntN(20)))
		x := math.Ldexp(1-2*r.Float64(), r.IntN(2000)-1000)
		if r.IntN(2) == 0 { // near 1
			n, x = 1+r.Int64N(1<<31-1), 1+r.NormFloat64()*1e-6
		}
		p := floats.Copies(x, n, 0)
		if d := bigOf(complex(x, 0)).power(n).distance(ComplexProduct{complex(p.frac, 0), p.exp}); d > 1 {
			t.Errorf("%v to the power of %d: an error of %v", x, n, d)
		}
		z := complex(x, x*r.NormFloat64())
		if n > 1<<20 {
			sin, cos := math.Sincos(r.Float64() * 7)
			z = complex(x*cos, x*sin)
		}
		if d := bigOf(z).power(n).distance(complexes.Copies(z, n, 0)); d > 1.01 {
			t.Errorf("%v to the power of %d: an error of %v", z, n, d)
		}
	}
	for _, c := range []struct {
		x    float64
		n    int64
		want string
	}{
		{math.Copysign(0, -1), 3, "-0"}, {math.Copysign(0, -1), 4, "0"}, {math.Inf(-1), 1, "-Inf"}, {math.Inf(-1), 1 << 40, "+Inf"},
		{math.NaN(), 2, "NaN"}, {1, math.MaxInt64, "1"}, {-1, math.MaxInt64, "-1"}, {-1e300, math.MaxInt64, "-Inf"},
		{-1e-300, math.MaxInt64, "-0"}, {0x1p-1074, 1, "5e-324"}, {-0x1p-1000, math.MaxInt64, "-0"}, {0.5, math.MaxInt64, "0"},
	} {
		if got := fmt.Sprint(floats.Copies(c.x, c.n, 0).Float64()); got != c.want {
			t.Errorf("%v to the power of %d: %v, want %v", c.x, c.n, got, c.want)
		}
		z := complexes.Copies(complex(c.x, 0), c.n, 1).Complex128()
		if got := fmt.Sprint(real(z)); c.x != 0 && c.x-c.x == 0 && got != c.want {
			t.Errorf("%v to the power of %d, complex: %v, want %v", c.x, c.n, z, c.want)
		}
	}
}

// TestProductRange compares products of small and large numbers with exact numbers. Their order and how they are merged
// changes only the last digits.
func TestProductRange(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	floats, complexes := ProdFloats[float64](false), ProdComplex[complex128](false)
	for range 500 {
		n := 1 + r.IntN(40)
		items, both := make([]float64, n), make([]complex128, n)
		want, wantBoth := bigOf(1), bigOf(1)
		for i := range items {
			x := math.Ldexp(1-2*r.Float64(), r.IntN(2090)-1070)
			items[i], both[i] = x, complex(x, x*r.NormFloat64())
			want, wantBoth = want.times(bigOf(complex(x, 0))), wantBoth.times(bigOf(both[i]))
		}
		total, totalBoth := []Product{floats.Empty}, []ComplexProduct{complexes.Empty}
		for from := 0; from < n; {
			to := from + 1 + r.IntN(n-from)
			cell, pair := []Product{floats.Empty}, []ComplexProduct{complexes.Empty}
			if r.IntN(2) == 0 {
				floats.Row(&cell[0], items[from:to], int64(from))
				complexes.Row(&pair[0], both[from:to], int64(from))
			} else {
				for i := from; i < to; i++ {
					floats.Lane(cell, items[i:i+1], int64(i))
					complexes.Lane(pair, both[i:i+1], int64(i))
				}
			}
			floats.Merge(total, cell)
			complexes.Merge(totalBoth, pair)
			from = to
		}
		if d := want.distance(ComplexProduct{complex(total[0].frac, 0), total[0].exp}); d > float64(n) {
			t.Errorf("product of %v: an error of %v", items, d)
		}
		if d := wantBoth.distance(totalBoth[0]); d > float64(4*n) {
			t.Errorf("product of %v: an error of %v", both, d)
		}
	}
}

// TestSmallParts multiplies complex numbers whose parts differ by many orders, in one chunk and in two.
func TestSmallParts(t *testing.T) {
	k := ProdComplex[complex128](false)
	for _, part := range []float64{0x1p-460, 0x1.234567p-600, 0x1.234567p-900, 0x1.8p-1000} {
		items := []complex128{complex(0x1p-450, part), 0x1p-450, 0x1p899}
		one, two := k.Empty, []ComplexProduct{k.Empty}
		k.Row(&one, items, 0)
		for i := range items {
			cell := k.Empty
			k.Row(&cell, items[i:i+1], int64(i))
			k.Merge(two, []ComplexProduct{cell})
		}
		if want := complex(0.5, part*0x1p449); one.Complex128() != want || two[0].Complex128() != want {
			t.Errorf("imaginary part %v: products %v and %v, want %v", part, one.Complex128(), two[0].Complex128(), want)
		}
	}
}
