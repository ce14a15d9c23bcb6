package lazy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// evalItems returns the items of the value of an expression of a and y, as floats.
func evalItems(t *testing.T, text string, a, y ndarray.Reader) []float64 {
	t.Helper()
	x, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Eval(t.Context(), "", map[string]ndarray.Reader{"a": a, "y": y}, &ndarray.CreateOptions{DType: "<f8"})
	if err != nil {
		t.Fatal(text, err)
	}
	items, err := ndarray.Read[float64](t.Context(), r)
	if err != nil {
		t.Fatal(text, err)
	}
	return items
}

// sameFloats reports whether floats have the same bits. All NaNs are the same.
func sameFloats(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// mixedFloats returns random floats of all sizes, and special ones.
func mixedFloats(r *rand.Rand, n int) []float64 {
	items := []float64{
		0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 5e-324, -1e-310, 1e-40, math.MaxFloat64, math.MaxFloat32,
		65504, 6e-8, 3.7477291136231814e+37, 1.6563278847661583e+89, 3.6072535641741165e+66, // pow rounds these wrong
	}
	for len(items) < n {
		switch len(items) % 3 {
		case 0:
			items = append(items, math.Float64frombits(r.Uint64()))
		case 1:
			items = append(items, float64(math.Float32frombits(r.Uint32())))
		default:
			items = append(items, r.Float64()*200-100)
		}
	}
	return items
}

// TestScalarPowers compares powers to one exponent with the functions that NumPy 2.4 computes instead, for each dtype
// and each form of the exponent. All bits are the same.
func TestScalarPowers(t *testing.T) {
	ctx := t.Context()
	items := mixedFloats(rand.New(rand.NewPCG(1, 2)), 20_000)
	wide, err := ndarray.Create(ctx, "", []int64{int64(len(items))}, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	for dtype, round := range map[string]func(x float64) float64{
		"<f2": func(x float64) float64 { return ndarray.Float16Of(x).Float64() },
		"<f4": func(x float64) float64 { return float64(float32(x)) },
		"<f8": func(x float64) float64 { return x },
	} {
		a, err := ndarray.AsType(wide, dtype)
		if err != nil {
			t.Fatal(err)
		}
		bases := evalItems(t, "a", a, a)
		for _, c := range []struct {
			y     float64
			texts []string
			want  func(x float64) float64
		}{
			{2, []string{"a ** 2", "a ** 2.0", "power(a, 2)"}, func(x float64) float64 { return x * x }},
			{1, []string{"a ** 1", "a ** 1.0", "pow(a, 1)"}, func(x float64) float64 { return x }},
			{0, []string{"a ** 0", "a ** 0.0", "a ** -0.0"}, func(float64) float64 { return 1 }},
			{-1, []string{"a ** -1", "a ** -1.0", "power(a, -1)"}, func(x float64) float64 { return 1 / x }},
			{0.5, []string{"a ** 0.5", "a ** (1 / 2)"}, math.Sqrt},
			{3, []string{"a ** 3", "power(a, 3.0)"}, func(x float64) float64 { return pow(x, 3) }},
		} {
			texts := c.texts
			if c.y != 0.5 || dtype != "<f2" {
				texts = append(texts, "a ** y", "power(a, y)")
			}
			for _, text := range texts {
				for _, shape := range [][]int64{{}, {1}} {
					y, err := ndarray.Create(ctx, "", shape, []float64{c.y}, nil)
					if err != nil {
						t.Fatal(err)
					}
					as, err := ndarray.AsType(y, dtype)
					if err != nil {
						t.Fatal(err)
					}
					for k, got := range evalItems(t, text, a, as) {
						if want := round(c.want(bases[k])); !sameFloats(got, want) {
							t.Fatalf("%s of %s, a = %v, y = %v: %v, want %v", text, dtype, bases[k], c.y, got, want)
						}
					}
				}
			}
		}
	}
}
