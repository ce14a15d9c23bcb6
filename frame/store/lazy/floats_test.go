package lazy

import (
	"errors"
	"math"
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
