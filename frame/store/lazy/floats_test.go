package lazy

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// evalFloats returns the value of an expression of two floats, a and b.
func evalFloats(t *testing.T, text string, a, b float64) float64 {
	t.Helper()
	ctx := t.Context()
	x, err1 := ndarray.Create(ctx, "", []int64{1}, []float64{a}, nil)
	y, err2 := ndarray.Create(ctx, "", []int64{1}, []float64{b}, nil)
	e, err3 := Parse(text)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	r, err := e.Eval(ctx, "", map[string]ndarray.Reader{"a": x, "b": y}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ndarray.Item[float64](ctx, r, 0)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestFloats compares functions of floats with those of NumPy where package math differs, and near there.
func TestFloats(t *testing.T) {
	nan, inf, negative := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	for _, c := range []struct {
		text       string
		a, b, want float64
	}{
		{"arctan2(a, b)", -1e-300, -1e300, -math.Pi},
		{"arctan2(a, b)", -5e-324, -2, -math.Pi},
		{"arctan2(a, b)", 1e-300, -1e300, math.Pi},
		{"arctan2(a, b)", negative, 0, negative},
		{"arctan2(a, b)", negative, negative, -math.Pi},
		{"arctan2(a, b)", 0, negative, math.Pi},
		{"arctan2(a, b)", -inf, -inf, -3 * math.Pi / 4},
		{"arctan2(a, b)", nan, 1, nan},
		{"arctan2(a, b)", 1, nan, nan},
		{"exp(a)", 709.5, 0, 1.3549863193146328e+308},
		{"exp(a)", 709.78, 0, 1.7928227943945155e+308},
		{"exp(a)", 709.7827128933841, 0, inf},
		{"exp(a)", inf, 0, inf},
		{"exp(a)", -inf, 0, 0},
		{"exp(a)", nan, 0, nan},
		{"sinh(a)", 710.4, 0, 1.6663642832806496e+308},
		{"sinh(a)", -710.4, 0, -1.6663642832806496e+308},
		{"sinh(a)", 711, 0, inf},
		{"sinh(a)", -inf, 0, -inf},
		{"sinh(a)", negative, 0, negative},
		{"sinh(a)", nan, 0, nan},
		{"cosh(a)", 709.65, 0, 7.871347521040321e+307},
		{"cosh(a)", -709.65, 0, 7.871347521040321e+307},
		{"cosh(a)", 711, 0, inf},
		{"cosh(a)", -inf, 0, inf},
		{"cosh(a)", nan, 0, nan},
		{"log(a)", 5e-324, 0, -744.4400719213812},
		{"log(a)", 0x1p-1022, 0, -1022 * math.Ln2},
		{"log(a)", negative, 0, -inf},
		{"log(a)", -5e-324, 0, nan},
		{"log(a)", inf, 0, inf},
		{"log10(a)", 5e-324, 0, -323.3062153431158},
		{"log10(a)", 0, 0, -inf},
		{"log10(a)", -5e-324, 0, nan},
		{"log2(a)", 1.0000000000000018, 0, 2.5627412030519317e-15},
		{"log2(a)", 5e-324, 0, -1074},
		{"log2(a)", 0.5, 0, -1},
		{"log2(a)", 1, 0, 0},
		{"log2(a)", 2, 0, 1},
		{"log2(a)", -1, 0, nan},
		{"a ** b", 5e-324, 0.4, 4.7589798149082265e-130},
		{"power(a, b)", 1e-310, 0.3, 1.000000000000007e-93},
		{"power(a, b)", 5e-324, 1, 5e-324},
		{"power(a, b)", 5e-324, 0, 1},
		{"power(a, b)", 5e-324, -1, inf},
		{"power(a, b)", 5e-324, 1e300, 0},
		{"power(a, b)", 5e-324, -1e300, inf},
		{"power(a, b)", 5e-324, inf, 0},
		{"power(a, b)", 5e-324, -inf, inf},
		{"power(a, b)", 5e-324, nan, nan},
		{"power(a, b)", -5e-324, 0.4, nan},
		{"a + 5e-324 ** 0.4", 0, 0, 4.7589798149082265e-130},
		{"arcsin(a)", negative, 0, negative},
		{"arcsin(a)", 5e-324, 0, 5e-324},
		{"arcsin(a)", 1, 0, math.Pi / 2},
		{"arcsin(a)", 1.0000000000000002, 0, nan},
		{"arcsin(a)", -inf, 0, nan},
		{"arccos(a)", 0.9999999999999998, 0, 2.1073424255447017e-08},
		{"arccos(a)", 1, 0, 0},
		{"arccos(a)", negative, 0, math.Pi / 2},
		{"arccos(a)", -1, 0, math.Pi},
		{"arccos(a)", 1.0000000000000002, 0, nan},
		{"arccos(a)", -inf, 0, nan},
	} {
		got, want := evalFloats(t, c.text, c.a, c.b), c.want
		same := got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want
		if !same && !(math.Abs(got-want) <= 1e-12*math.Abs(want) && !math.IsInf(want, 0)) {
			t.Errorf("%s with a = %v, b = %v: %v, want %v", c.text, c.a, c.b, got, want)
		}
	}
}

// TestFewUlps compares functions with those of NumPy up to the last digits.
func TestFewUlps(t *testing.T) {
	for _, c := range []struct {
		text       string
		a, b, want float64
	}{
		{"a ** b", 1.000000001, -3e9, 0.04978705608434455},
		{"a ** b", 1.0001, 100000, 22015.456048527954},
		{"a ** b", -1.0001, 100001, -22017.65759413281},
		{"a ** b", 1.0000000000000002, 1e18, 2.7086111089766717e+96},
		{"a ** b", 0.9999999999999999, -3e18, 4.45779387326829e+144},
		{"a ** b", -1.0000000000000002, 9007199254740991, -7.389056098930647},
		{"a ** b", 0.1, -307.7, 5.011872336272506e+307},
		{"a ** b", 1.7976931348623157e308, 0.3, 2.995123040109037e+92},
		{"a ** b", 1e-310, -0.99, 7.943282347242788e+306},
		{"a ** b", 1.5, 1750.5, 1.769086127627106e+308},
		{"a ** b", 2, 1023.9999999999999, 1.7976931348621742e+308},
		{"arcsin(a)", 0.9999999925930456, 0, 1.5706746143929622},
		{"arcsin(a)", -0.9999999999999999, 0, -1.5707963118937354},
		{"arcsin(a)", 0.71, 0, 0.789498209346172},
		{"arcsin(a)", 0.5, 0, 0.5235987755982989},
		{"arcsin(a)", 1e-300, 0, 1e-300},
	} {
		if got := evalFloats(t, c.text, c.a, c.b); !(math.Abs(got-c.want) <= 5e-16*math.Abs(c.want)) {
			t.Errorf("%s with a = %v, b = %v: %v, want %v", c.text, c.a, c.b, got, c.want)
		}
	}
}

// TestExactPowers has powers that are floats, and those at the borders of the floats.
func TestExactPowers(t *testing.T) {
	for _, c := range [][3]float64{
		{2, 10, 1024}, {3, 5, 243}, {10, 22, 1e22}, {-3, 33, -5559060566555523}, {7, 18, 1628413597910449},
		{2.25, 0.5, 1.5}, {1e-310, 1, 1e-310}, {math.MaxFloat64, 1, math.MaxFloat64}, {10, -323, 1e-323},
		{2, -1074, 5e-324}, {0.5, 1074, 5e-324}, {2, -1074.9999, 5e-324}, {2, -1075, 0}, {3.7, -570.3, 0},
		{-2, 1023, -0x1p1023}, {-2, 1024, math.Inf(1)}, {-2, 1025, math.Inf(-1)}, {-2.5, -1e300, 0},
		{-1, 9007199254740991, -1}, {-1, 9007199254740992, 1}, {-1, 1e300, 1}, {1, -1e300, 1}, {1.5, 5e-324, 1},
		{-2, -1075, math.Copysign(0, -1)},
	} {
		if got := pow(c[0], c[1]); got != c[2] || math.Signbit(got) != math.Signbit(c[2]) {
			t.Errorf("%v ** %v: %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

// bigPow returns x to the power of y, which is a multiple of 1/64.
func bigPow(x, y float64) *big.Float {
	value := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	p, b := value(1), value(x)
	for range 6 {
		b.Sqrt(b)
	}
	for n := int64(64 * math.Abs(y)); n > 0; n >>= 1 {
		if n&1 != 0 {
			p.Mul(p, b)
		}
		b.Mul(b, b)
	}
	if y < 0 {
		p.Quo(value(1), p)
	}
	return p
}

// TestPow compares random powers with those of package big.
func TestPow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := math.Ldexp(1+r.Float64(), r.IntN(2000)-1000)
		if r.IntN(2) == 0 {
			x = 1 + math.Ldexp(r.Float64()-0.5, -r.IntN(30))
		}
		want := (r.Float64()*2 - 1) * 1020
		y := math.Round(want/math.Log2(x)*64) / 64
		if math.Abs(want-y*math.Log2(x)) > 1 || math.IsInf(y, 0) {
			continue // the result may be subnormal
		}
		exact := bigPow(x, y)
		got := new(big.Float).SetPrec(300).SetFloat64(pow(x, y))
		off, _ := got.Quo(got.Sub(got, exact), exact).Float64()
		if !(math.Abs(off) < 1.2e-16) {
			t.Errorf("%v ** %v has a relative error of %g", x, y, off)
		}
	}
}

// TestPowersToHalf has the powers to 0.5 that NumPy 2.4 computes as sqrt, and those that it does not.
func TestPowersToHalf(t *testing.T) {
	ctx := t.Context()
	inf, half := math.Inf(1), []float64{0.5, 0.5}
	for _, dtype := range []string{"<f2", "<f4", "<f8"} {
		operands := map[string]ndarray.Reader{}
		for name, shape := range map[string][]int64{"a": {2}, "h0": {}, "h1": {1}, "h2": {2}} {
			items := half[:append(shape, 1)[0]]
			if name == "a" {
				items = []float64{-inf, math.Copysign(0, -1)}
			}
			a, err := ndarray.Create(ctx, "", shape, items, nil)
			if err != nil {
				t.Fatal(err)
			}
			if operands[name], err = ndarray.AsType(a, dtype); err != nil {
				t.Fatal(err)
			}
		}
		root, power, wide := "[NaN -0]", "[+Inf 0]", "[NaN -0]"
		if dtype == "<f2" {
			wide = power
		}
		for text, want := range map[string]string{
			"a ** 0.5": root, "a ** (1 / 2)": root, "a ** sqrt(0.25)": root, "power(a, 0.5)": wide,
			"a ** h0": wide, "power(a, h0)": wide, "a ** h1": wide, "power(a, h1)": wide,
			"a ** h2": power, "power(a, h2)": power, "a ** (h2 * 1)": power,
		} {
			x, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := x.Eval(ctx, "", operands, &ndarray.CreateOptions{DType: "<f8"})
			if err != nil {
				t.Fatal(text, err)
			}
			items, err := ndarray.Read[float64](ctx, r)
			if got := fmt.Sprint(items); got != want || err != nil {
				t.Errorf("%s of %s: %s %v, want %s", text, dtype, got, err, want)
			}
		}
	}
	if got, err := evalText(t, "i1 ** 0.5"); got != "f8[0 1 0 NaN]" || err != nil {
		t.Error(got, err)
	}
}

// TestAxisOfScalars reduces arrays without dimensions along an axis.
func TestAxisOfScalars(t *testing.T) {
	for name := range reductions {
		for _, args := range []string{"axis=0", "axis=-1", "0", "-1", "axis=0, keepdims=True"} {
			text := name + "(sum(i1 * 0 + 2), " + args + ") * 1.0"
			want := map[string]string{"std": "f8[0]", "var": "f8[0]", "argmin": "f8[0]", "argmax": "f8[0]", "any": "f8[1]", "all": "f8[1]"}[name]
			if want == "" {
				want = "f8[8]"
			}
			if got, err := evalText(t, text); err != nil || got != want {
				t.Errorf("%s: %s %v, want %s", text, got, err, want)
			}
		}
		for _, args := range []string{"axis=1", "axis=-2", "axis=(0,)"} {
			if got, err := evalText(t, name+"(sum(i1), "+args+")"); !errors.Is(err, ndarray.ErrBounds) {
				t.Errorf("%s with %s: %s %v", name, args, got, err)
			}
		}
	}
}

// TestExtremes checks which of two items minimum and maximum return, for zeros and NaN. The results are those of NumPy
// on amd64.
func TestExtremes(t *testing.T) {
	for _, c := range []struct {
		dtype string
		want  string // the minimum and the maximum of a and b, and the minimum of b and a
	}{
		{"<f2", "[-0 0 NaN NaN 1 0] [-0 0 NaN NaN 2 0] [0 -0 NaN NaN 1 0]"},
		{"<f4", "[0 -0 NaN NaN 1 0] [0 -0 NaN NaN 2 0] [-0 0 NaN NaN 1 0]"},
		{"<f8", "[0 -0 NaN NaN 1 0] [0 -0 NaN NaN 2 0] [-0 0 NaN NaN 1 0]"},
	} {
		operands := map[string]ndarray.Reader{}
		zero, nan := math.Copysign(0, -1), math.NaN()
		for name, items := range map[string][]float64{"a": {zero, 0, nan, 1, 1, 0}, "b": {0, zero, 1, nan, 2, 0}} {
			x, err := ndarray.Create(t.Context(), "", []int64{6}, items, nil)
			if err != nil {
				t.Fatal(err)
			}
			if operands[name], err = ndarray.AsType(x, c.dtype); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, text := range []string{"minimum(a, b)", "maximum(a, b)", "minimum(b, a)"} {
			x, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			a, err := x.Eval(t.Context(), "", operands, nil)
			if err != nil {
				t.Fatal(err)
			}
			as, err := ndarray.AsType(a, "<f8")
			if err != nil {
				t.Fatal(err)
			}
			items, err := ndarray.Read[float64](t.Context(), as)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(items))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.dtype, s, c.want)
		}
	}
}
