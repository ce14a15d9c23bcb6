package lazy

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/ndarray"
)

// operandsOf makes the arrays of a case, with random chunks and blocks.
func operandsOf(t testing.TB, rng *rand.Rand, s string) map[string]ndarray.Reader {
	t.Helper()
	all := map[string]ndarray.Reader{}
	for one := range strings.SplitSeq(s, " ") {
		f := strings.Split(one, ":")
		items, err := hex.DecodeString(f[3])
		if err != nil {
			t.Fatal(err)
		}
		o := &ndarray.CreateOptions{}
		shape := golden.Ints(t, f[2])
		for _, n := range shape {
			c := 1 + rng.Int64N(n)
			o.Chunks, o.Blocks = append(o.Chunks, c), append(o.Blocks, 1+rng.Int64N(c))
		}
		a, err := ndarray.CreateBytes(t.Context(), "", shape, f[1], items, o)
		if err != nil {
			t.Fatal(err)
		}
		all[f[0]] = a
	}
	return all
}

// near reports whether items of a dtype are the same, or floats that differ by a limit at most. NumPy leaves the sign
// of NaNs open.
func near(dtype string, got, want []byte, limit float64) bool {
	if len(got) != len(want) || dtype[1] != 'f' {
		return bytes.Equal(got, want)
	}
	floats := func(b []byte) []float64 {
		a, err := ndarray.CreateBytes(context.Background(), "", []int64{int64(len(b)) / int64(dtype[2]-'0')}, dtype, b, nil)
		if err != nil {
			return nil
		}
		f, err := ndarray.Read[float64](context.Background(), a)
		if err != nil {
			return nil
		}
		return f
	}
	x, y := floats(got), floats(want)
	if x == nil || y == nil {
		return false
	}
	for i := range x {
		same := x[i] == y[i] && math.Signbit(x[i]) == math.Signbit(y[i]) || x[i] != x[i] && y[i] != y[i]
		if !same && !(math.Abs(x[i]-y[i]) <= limit*(1+math.Abs(y[i])) && limit > 0) {
			return false
		}
	}
	return true
}

// TestNumPy compares the values of 98 expressions with those of NumPy in testdata/lazy.py.
func TestNumPy(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for _, line := range golden.Lines(t, "testdata/lazy.txt.gz") {
		c := strings.Split(line, ";")
		operands := operandsOf(t, rng, c[1])
		x, err := Parse(c[0])
		if err != nil {
			t.Fatal(err)
		}
		a, err := x.Eval(ctx, "", operands, nil)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		got := make([]byte, a.NBytes())
		if err := a.ReadBytes(ctx, got); err != nil {
			t.Fatal(err)
		}
		want, err1 := hex.DecodeString(c[4])
		limit, err2 := strconv.ParseFloat(c[5], 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if a.DType().String() != c[2] || !slices.Equal(a.Shape(), golden.Ints(t, c[3])) || !near(c[2], got, want, limit) {
			t.Errorf("%s: %v %v %x", line, a.Shape(), a.DType(), got)
		}
		seen[c[0]]++
	}
	if len(seen) < 95 {
		t.Errorf("only %d expressions", len(seen))
	}
}

// TestFixture evaluates an expression that python-blosc2 saved.
func TestFixture(t *testing.T) {
	ctx := context.Background()
	const dir = "../../../testdata/stores"
	f, err := frame.Open(ctx, filepath.Join(dir, "lazy_expr.b2nd"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, err := store.Describe(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Parse(e.Ref.Expression)
	if err != nil {
		t.Fatal(err)
	}
	operands, items := map[string]ndarray.Reader{}, [][]float64{}
	for _, name := range x.Names() {
		a, err := ndarray.Open(ctx, filepath.Join(dir, filepath.Base(e.Ref.Operands[name].Path)), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		operands[name] = a
		list, err := ndarray.Read[float64](ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, list)
	}
	a, err := x.Eval(ctx, "", operands, &ndarray.CreateOptions{DType: e.DType.String()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ndarray.Read[float64](ctx, a)
	if err != nil || len(items) != 2 || len(got) != 600 || !slices.Equal(a.Shape(), e.Shape) {
		t.Fatal(len(items), len(got), a.Shape(), err)
	}
	for i, x := range got {
		if want := (items[0][i] + items[1][i]) * 2; x != want {
			t.Fatalf("item %d: %v, want %v", i, x, want)
		}
	}
}

// TestErrors checks what Parse and Eval reject.
func TestErrors(t *testing.T) {
	ctx := context.Background()
	make1 := func(dtype string, shape ...int64) ndarray.Reader {
		a, err := ndarray.Zeros(ctx, "", shape, dtype, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	operands := map[string]ndarray.Reader{
		"a": make1("<i4", 3, 4), "u": make1("|u1", 3, 4), "f": make1("<f4", 4), "b": make1("|b1", 4), "s": make1("<U3", 4), "x": make1("<f8", 5),
	}
	for text, want := range map[string]error{
		"":                   ndarray.ErrParam,
		"a +":                ndarray.ErrParam,
		"a b":                ndarray.ErrParam,
		"a.":                 ndarray.ErrParam,
		"np.":                ndarray.ErrParam,
		"a ...":              ndarray.ErrParam,
		"(a":                 ndarray.ErrParam,
		"a)":                 ndarray.ErrParam,
		"1.2.3 + a":          ndarray.ErrParam,
		"'text":              ndarray.ErrParam,
		"f(x=1, 2)":          ndarray.ErrParam,
		"f(x=1, x=2)":        ndarray.ErrParam,
		"sin(a, a)":          ndarray.ErrParam,
		"missing + a":        ndarray.ErrParam,
		"a + x":              ndarray.ErrShape,
		"b - b":              ndarray.ErrType,
		"-b":                 ndarray.ErrType,
		"f & 1":              ndarray.ErrType,
		"~f":                 ndarray.ErrType,
		"u + 300":            ndarray.ErrValue,
		"a ** -1":            ndarray.ErrValue,
		"s + 1":              errors.ErrUnsupported,
		"3 + 4":              errors.ErrUnsupported,
		"a[0]":               errors.ErrUnsupported,
		"a < 1 < 2":          errors.ErrUnsupported,
		"a and b":            errors.ErrUnsupported,
		"not b":              errors.ErrUnsupported,
		"a.T":                errors.ErrUnsupported,
		"a + 1j":             errors.ErrUnsupported,
		"a + 0x10":           errors.ErrUnsupported,
		"open('/etc/hosts')": errors.ErrUnsupported,
		"a.astype('U3')":     errors.ErrUnsupported,
		"a + 'x'":            errors.ErrUnsupported,
		"sum(a, axis='0')":   errors.ErrUnsupported,
		"sum(a, dtype='f8')": errors.ErrUnsupported,
		"sum(a, axis=7)":     ndarray.ErrBounds,
		"sum(a, 0, axis=0)":  ndarray.ErrParam,
		"a.sum(None,axis=0)": ndarray.ErrParam,
		"sum(a,0,axis=None)": ndarray.ErrParam,
		strings.Repeat("(", 1000) + "a" + strings.Repeat(")", 1000): ndarray.ErrTooLarge,
		strings.Repeat("-", 1000) + "a":                             ndarray.ErrTooLarge,
		"a" + strings.Repeat("+a", 20_000):                          ndarray.ErrTooLarge,
		"a" + strings.Repeat(" ", 70_000):                           ndarray.ErrTooLarge,
	} {
		x, err := Parse(text)
		if err == nil {
			_, err = x.Eval(ctx, "", operands, nil)
		}
		if !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"a @ b":      "the operator @, at byte 2",
		" {}":        "a set or dictionary, at byte 1",
		"a + {1, 2}": "a set or dictionary, at byte 4",
		"a, b":       "a tuple, at byte 1",
		"a + α":      "the letter α, at byte 4",
		"aé + 1":     "the letter é, at byte 1",
		"a.T + 1":    `the attribute "T", at byte 2`,
		"(a) . T + ": `the attribute "T", at byte 6`,
		"np.pi * a":  `the attribute "pi", at byte 3`,
		"np.fft.x()": `the attribute "fft", at byte 3`,
		"a + foo(b)": "the function foo, at byte 4",
		"a.foo()":    "the function foo, at byte 2",
		"(a)(b)":     "a call of a result, at byte 3",
		"sin(*a)":    "a star before an argument, at byte 4",
		"sin(**a)":   "a star before an argument, at byte 4",
		"(a := b)":   "the operator :=, at byte 3",
		"a + ...":    "an ellipsis, at byte 4",
		"a # text":   "a comment, at byte 2",
		"await a":    "the operator await, at byte 0",
		"a + F'x'":   "a string with the prefix F, at byte 4",
		"'a' 'b'":    "a string of several parts, at byte 4",
		"'''a'''":    "a string of several parts, at byte 2",
		`a + '\n'`:   "a string with a backslash, at byte 4",
	} {
		x, err := Parse(text)
		if err == nil {
			_, err = x.Eval(ctx, "", operands, nil)
		}
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	x, err := Parse("a * 2.5")
	if err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := x.Eval(canceled, "", operands, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if a, err := x.Eval(ctx, "", operands, &ndarray.CreateOptions{DType: ">i2"}); err != nil || a.DType().String() != ">i2" {
		t.Error(a, err)
	}
}

// evalText returns the dtype and the items of an expression as text. Operands have the names of their dtypes.
func evalText(t *testing.T, text string) (string, error) {
	t.Helper()
	ctx := context.Background()
	operands := map[string]ndarray.Reader{}
	for _, dtype := range []string{"b1", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8"} {
		a, err := ndarray.Create(ctx, "", []int64{4}, []uint64{0, 1, 1 << 63, 1<<64 - 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if operands[dtype], err = ndarray.AsType(a, dtype); err != nil {
			t.Fatal(err)
		}
	}
	x, err := Parse(text)
	if err != nil {
		return "", err
	}
	a, err := x.Eval(ctx, "", operands, nil)
	if err != nil {
		return "", err
	}
	var items any
	switch dtype := a.DType().String(); dtype {
	case "|b1":
		items, err = ndarray.Read[bool](ctx, a)
	case "<f2", "<f4":
		as, _ := ndarray.AsType(a, "<f8")
		items, err = ndarray.Read[float64](ctx, as)
	case "<f8":
		items, err = ndarray.Read[float64](ctx, a)
	case "<u8":
		items, err = ndarray.Read[uint64](ctx, a)
	default:
		as, _ := ndarray.AsType(a, "<i8")
		items, err = ndarray.Read[int64](ctx, as)
	}
	return fmt.Sprint(a.DType().String()[1:], items), err
}

// TestConstants checks that numbers take the dtypes of arrays, while the results of functions keep theirs.
func TestConstants(t *testing.T) {
	for text, want := range map[string]string{
		"f4 * 0 + 1.5":                    "f4[1.5 1.5 1.5 1.5]",
		"f4 * 0 + sqrt(2)":                "f8[1.4142135623730951 1.4142135623730951 1.4142135623730951 1.4142135623730951]",
		"f4 * 0 + (sqrt(4) + 1)":          "f8[3 3 3 3]",
		"f4 * 0 + -abs(-2.5)":             "f8[-2.5 -2.5 -2.5 -2.5]",
		"f4 * 0 + (1.5).astype('f4')":     "f4[1.5 1.5 1.5 1.5]",
		"f2 * 0 + (1.5).astype('f4')":     "f4[1.5 1.5 NaN NaN]",
		"i1 + minimum(1, 2)":              "i8[1 2 1 0]",
		"i1 + maximum(1, 300)":            "i8[300 301 300 299]",
		"i1 + (1 + 2)":                    "i1[3 4 3 2]",
		"i1 + (1).astype('i2')":           "i2[1 2 1 0]",
		"i1 + (7 // 2)":                   "i1[3 4 3 2]",
		"u1 ** square(2)":                 "i8[0 1 0 4228250625]",
		"b1 ** 2":                         "i1[0 1 1 1]",
		"b1 ** minimum(2, 3)":             "i8[0 1 1 1]",
		"arctan2(i1, 1) * 0":              "f2[0 0 0 -0]",
		"arctan2(i1, minimum(1, 2)) * 0":  "f8[0 0 0 -0]",
		"power(b1, 2)":                    "i8[0 1 1 1]",
		"pow(b1, True)":                   "i1[0 1 1 1]",
		"hypot(b1, 0)":                    "f8[0 1 1 1]",
		"hypot(b1, False)":                "f2[0 1 1 1]",
		"hypot(b1, 0.0)":                  "f8[0 1 1 1]",
		"hypot(f4 * 0, 3.0)":              "f4[3 3 3 3]",
		"hypot(i1, 0)":                    "f2[0 1 0 1]",
		"where(b1, i1, abs(1))":           "i8[1 1 0 -1]",
		"where(where(True, 0, 1), i1, 7)": "i1[7 7 7 7]",
		"i1 * where(True, 2, 3)":          "i8[0 2 0 -2]",
		"u8 * 0 + minimum(1, 2)":          "f8[1 1 1 1]",
		"u8 < minimum(1, 2)":              "b1[true false false false]",
	} {
		got, err := evalText(t, text)
		if err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"sqrt(2)":                errors.ErrUnsupported,
		"minimum(1, 2) + 3":      errors.ErrUnsupported,
		"(1).astype('f4')":       errors.ErrUnsupported,
		"sum(sqrt(2))":           errors.ErrUnsupported,
		"power(2, -1) * f4":      ndarray.ErrValue,
		"2 ** abs(3) ** -1 * i1": ndarray.ErrValue,
		"i1 + 300":               ndarray.ErrValue,
	} {
		if got, err := evalText(t, text); !errors.Is(err, want) {
			t.Errorf("%s: %s %v, want %v", text, got, err, want)
		}
	}
}

// TestPython checks that operators of numbers follow Python.
func TestPython(t *testing.T) {
	for text, want := range map[string]string{
		"u8 < 2**63":                     "b1[true true false false]",
		"u8 < 1<<63":                     "b1[true true false false]",
		"u8 < 9223372036854775808":       "b1[true true false false]",
		"u8 == 18446744073709551615":     "b1[false false false true]",
		"u8 <= 2**64":                    "b1[true true true true]",
		"u8 < -2**70":                    "b1[false false false false]",
		"2**64 > i8":                     "b1[true true true true]",
		"i8 == 2**63":                    "b1[false false false false]",
		"i8 < 2**63":                     "b1[true true true true]",
		"i8 >= -9223372036854775808":     "b1[true true true true]",
		"f8 < 2**64":                     "b1[true true true false]",
		"u8 * 0 + 2**63":                 "u8[9223372036854775808 9223372036854775808 9223372036854775808 9223372036854775808]",
		"u8 * 0 + 2**64 // 2**32":        "u8[4294967296 4294967296 4294967296 4294967296]",
		"u8 * 0 + 2**1000 % 1000":        "u8[376 376 376 376]",
		"u8 & 2**63 - 1":                 "u8[0 1 0 9223372036854775807]",
		"where(b1, u8, 2**63)":           "u8[9223372036854775808 1 9223372036854775808 18446744073709551615]",
		"f8 * 0 + 2**64":                 "f8[1.8446744073709552e+19 1.8446744073709552e+19 1.8446744073709552e+19 1.8446744073709552e+19]",
		"2**64 + f4 * 0":                 "f4[1.8446744073709552e+19 1.8446744073709552e+19 1.8446744073709552e+19 1.8446744073709552e+19]",
		"u1 * sqrt(2**62) * 0 + 2**70":   "f8[1.1805916207174113e+21 1.1805916207174113e+21 1.1805916207174113e+21 1.1805916207174113e+21]",
		"i1 * 0 + sqrt(2**63)":           "f8[3.03700049997605e+09 3.03700049997605e+09 3.03700049997605e+09 3.03700049997605e+09]",
		"i4 * 0 + (-1 >> 2**70)":         "i4[-1 -1 -1 -1]",
		"i4 * 0 + (1 >> 100)":            "i4[0 0 0 0]",
		"i4 * 0 + (0 << 2**70)":          "i4[0 0 0 0]",
		"i4 * 0 + (-1) ** 2**70":         "i4[1 1 1 1]",
		"i4 * 0 + (-7 // 2) * 10":        "i4[-40 -40 -40 -40]",
		"i4 * 0 + -7 % 3 + 7 % -3 * 10":  "i4[-18 -18 -18 -18]",
		"i4 * 0 + (6 & 3 | 8 ^ 1)":       "i4[11 11 11 11]",
		"f4 * 0 + 7 / 2":                 "f4[3.5 3.5 3.5 3.5]",
		"i4 * 0 + 6 / 2":                 "f8[3 3 3 3]",
		"f8 * 0 + 2**1000 / 2**999":      "f8[2 2 2 2]",
		"arctan2(0 / -5, -1) + f8 * 0":   "f8[-3.141592653589793 -3.141592653589793 -3.141592653589793 -3.141592653589793]",
		"i1 * 0 / 300":                   "f8[0 0 0 0]",
		"u1 / -2 * 0 + 1":                "f8[1 1 1 1]",
		"i8 * 2.0**63 / 2**63":           "f8[0 1 -9.223372036854776e+18 -1]",
		"u8 / 2**64":                     "f8[0 5.421010862427522e-20 0.5 1]",
		"2**64 / u8":                     "f8[+Inf 1.8446744073709552e+19 2 1]",
		"b1 / 2**64 * 2**64":             "f8[0 1 1 1]",
		"hypot(i4 * 0, 2**64)":           "f8[1.8446744073709552e+19 1.8446744073709552e+19 1.8446744073709552e+19 1.8446744073709552e+19]",
		"hypot(2**64, u8 * 0) / 2**64":   "f8[1 1 1 1]",
		"hypot(f4 * 0, -2**64) / 2**64":  "f4[1 1 1 1]",
		"hypot(i1, 2**64)":               "f2[+Inf +Inf +Inf +Inf]",
		"hypot(b1, 2**64) / 2**64":       "f8[1 1 1 1]",
		"hypot(3 * 2**64, 4*2**64) + b1": "f8[9.223372036854776e+19 9.223372036854776e+19 9.223372036854776e+19 9.223372036854776e+19]",
		"arctan2(i4 * 0, 2**64)":         "f8[0 0 0 0]",
		"arctan2(2**64, i8 * 0) / 2**64": "f8[8.515303950216386e-20 8.515303950216386e-20 8.515303950216386e-20 8.515303950216386e-20]",
		"where(2**64, i1, 7)":            "i1[0 1 0 -1]",
		"where(-2**64, b1, False)":       "b1[false true true true]",
		"where(2**1000, f4 * 0, 2**64)":  "f4[0 0 0 0]",
		"where(b1, u1, -1)":              "u1[255 1 0 255]",
		"where(b1, 70000, u1)":           "u1[0 112 112 112]",
		"where(b1, i1, 128)":             "i1[-128 1 0 -1]",
		"where(b1, i4, 2**64 - 1)":       "i4[-1 1 0 -1]",
		"where(b1, u8, -2**63)":          "u8[9223372036854775808 1 9223372036854775808 18446744073709551615]",
		"where(b1, i8, 2**63)":           "i8[-9223372036854775808 1 -9223372036854775808 -1]",
		"where(b1, 2**63, -1)":           "i8[-1 -9223372036854775808 -9223372036854775808 -9223372036854775808]",
		"where(i8, b1, 2**63)":           "i8[-9223372036854775808 1 1 1]",
		"f8 * 0 + 2 ** -1":               "f8[0.5 0.5 0.5 0.5]",
		"f8 * 0 + -7.5 // 2":             "f8[-4 -4 -4 -4]",
		"f8 * 0 + -7.5 % 2":              "f8[0.5 0.5 0.5 0.5]",
		"f8 * 0 + (1e999 - 1e999 != 2)":  "f8[1 1 1 1]",
		"i4 * 0 + (2**53 + 1 > 2.0**53)": "i4[1 1 1 1]",
		"i1 * 0 + (True + True)":         "i1[2 2 2 2]",
		"i1 * 0 + -True":                 "i1[-1 -1 -1 -1]",
		"i1 * 0 + +True":                 "i1[1 1 1 1]",
		"i1 * 0 + ~True":                 "i1[-2 -2 -2 -2]",
		"i1 * 0 + (True - False * 3)":    "i1[1 1 1 1]",
		"i1 * 0 + (True << 3)":           "i1[8 8 8 8]",
		"b1 & (True ^ False)":            "b1[false true true true]",
		"b1 & (False | True & False)":    "b1[false false false false]",
		"b1 & (3 > 2)":                   "b1[false true true true]",
		"b1 + (True | 1)":                "i8[1 2 2 2]",
		"b1 + (True & False)":            "b1[false true true true]",
		"b1 * (True * True)":             "i8[0 1 1 1]",
		"i1 * 0 + True / True":           "f8[1 1 1 1]",
	} {
		if got, err := evalText(t, text); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"i8 + 2**63":                         ndarray.ErrValue, // OverflowError
		"i8 + 2**64":                         ndarray.ErrValue,
		"u8 + 2**64":                         ndarray.ErrValue,
		"u8 + (1 - 2)":                       ndarray.ErrValue,
		"b1 + 2**63":                         ndarray.ErrValue,
		"i1 + (100 + 28)":                    ndarray.ErrValue,
		"minimum(1, 2**63) + i8":             ndarray.ErrValue,
		"where(b1, 2**64, -1)":               ndarray.ErrValue,
		"where(b1, u1, -2**63 - 1)":          ndarray.ErrValue,
		"where(2**64, i1, 2**64)":            ndarray.ErrValue,
		"i8 * (7 // 0)":                      ndarray.ErrValue, // ZeroDivisionError
		"i8 * (7 % 0)":                       ndarray.ErrValue,
		"i8 * (7 / 0)":                       ndarray.ErrValue,
		"i8 * (7 / False)":                   ndarray.ErrValue,
		"f8 * (7.5 // 0)":                    ndarray.ErrValue,
		"f8 * (7.5 % 0.0)":                   ndarray.ErrValue,
		"f8 * (1 / 0.0)":                     ndarray.ErrValue,
		"f8 * 0 ** -1":                       ndarray.ErrValue,
		"f8 * 10.0 ** 309":                   ndarray.ErrValue, // OverflowError
		"f8 * (2**1024 - 1)":                 errors.ErrUnsupported,
		"f8 * (2**1023 * 2 - 1)":             errors.ErrUnsupported,
		"f8 * (2**1023 - 1 + 2**1023)":       ndarray.ErrValue,
		"i8 * (1 << -1)":                     ndarray.ErrValue,
		"i8 * (1 << 1024)":                   errors.ErrUnsupported,
		"i8 * (1 << 2**70)":                  errors.ErrUnsupported,
		"i8 * 2**2**2**2**2":                 errors.ErrUnsupported,
		"i8 * 3**1000":                       errors.ErrUnsupported,
		"i8 * (-8) ** 0.5":                   errors.ErrUnsupported, // complex
		"f8 * sqrt(2**64)":                   errors.ErrUnsupported,
		"i8 * (2**64).astype('f8')":          errors.ErrUnsupported,
		"i8 * (1.5 & 1)":                     ndarray.ErrType,
		"i8 * ~1.5":                          ndarray.ErrType,
		"i8 * (1.5 << 1)":                    ndarray.ErrType,
		"2**64":                              errors.ErrUnsupported,
		"sum(i8, axis=2**64)":                errors.ErrUnsupported,
		"sum(i8, axis=99999999999999999999)": errors.ErrUnsupported,
		"std(i8, ddof=99999999999999999999)": errors.ErrUnsupported,
		"i8 + 1" + strings.Repeat("0", 400):  errors.ErrUnsupported,
	} {
		if got, err := evalText(t, text); !errors.Is(err, want) {
			t.Errorf("%s: %s %v, want %v", text, got, err, want)
		}
	}
}

// TestLiterals checks which texts Parse accepts as numbers and names.
func TestLiterals(t *testing.T) {
	for text, want := range map[string]error{
		"0":                nil,
		"00":               nil,
		"0_0":              nil,
		"1_000":            nil,
		"1.":               nil,
		".5":               nil,
		"01.5":             nil,
		"01e5":             nil,
		"1_0.0_1e+1_0":     nil,
		"1.e-5":            nil,
		"1e5.astype('f4')": nil,
		"_x1":              nil,
		"x_":               nil,
		"1_":               ndarray.ErrParam,
		"1__0":             ndarray.ErrParam,
		"01":               ndarray.ErrParam,
		"0_1":              ndarray.ErrParam,
		"1_.5":             ndarray.ErrParam,
		"1._5":             ndarray.ErrParam,
		"1.5_":             ndarray.ErrParam,
		"1_e5":             ndarray.ErrParam,
		"1e_5":             ndarray.ErrParam,
		"1e5_":             ndarray.ErrParam,
		"1e":               ndarray.ErrParam,
		"1e+":              ndarray.ErrParam,
		"1.2.3":            ndarray.ErrParam,
		".":                ndarray.ErrParam,
		".e5":              ndarray.ErrParam,
		"._5":              ndarray.ErrParam,
		"1 2":              ndarray.ErrParam,
		"1x":               errors.ErrUnsupported,
		"2j":               errors.ErrUnsupported,
		"x\x7f":            ndarray.ErrParam,
		"\x7f":             ndarray.ErrParam,
	} {
		if _, err := Parse(text); err != want && !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// TestConversions compares astype and CreateOptions.DType with ndarray.AsType, also for floats that no integer holds.
func TestConversions(t *testing.T) {
	ctx := context.Background()
	items := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1, -1, 127.5, 128, -129, 255, 256, 300, 32768, -32769, 65504, 65535, 65536, 70000,
		1<<31 - 1, 1<<31 - 0.5, 1 << 31, -1 << 31, -1<<31 - 0.5, -1<<31 - 1, 3e9, -3e9, 1<<32 - 1, 1<<32 - 0.5, 1 << 32, 1<<32 + 1<<31, 1e12,
		-1e12, 1<<63 - 1024, 1 << 63, -1 << 63, -1<<63 - 2048, 1e19, -1e19, 1<<64 - 2048, 1 << 64, 1e300, -1e300, math.NaN(), math.Inf(1), math.Inf(-1)}
	dtypes := strings.Split("|b1 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 >u4 >i8 <f2 <f4 <f8", " ")
	all, err := ndarray.Create(ctx, "", []int64{int64(len(items))}, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func(r ndarray.Reader, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		a, err := ndarray.Copy(ctx, "", r, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, a.NBytes())
		if err := a.ReadBytes(ctx, b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, from := range dtypes {
		x, err := ndarray.AsType(all, from)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range dtypes {
			for text, dtype := range map[string]string{"x": to, "x.astype('" + to + "')": ""} {
				want := read(ndarray.AsType(x, to))
				if dtype == "" { // results are little-endian
					want = read(ndarray.AsType(x, strings.Replace(to, ">", "<", 1)))
				}
				e, err := Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				got := read(e.Eval(ctx, "", map[string]ndarray.Reader{"x": x}, &ndarray.CreateOptions{DType: dtype}))
				if !near(to, got, want, 0) {
					t.Errorf("%s from %s to %s: %x, want %x", text, from, to, got, want)
				}
			}
		}
	}
}

// FuzzParse parses and evaluates any text: data or an error.
func FuzzParse(f *testing.F) {
	for _, line := range golden.Lines(f, "testdata/lazy.txt.gz") {
		f.Add(strings.Split(line, ";")[0])
	}
	ctx := context.Background()
	a, err := ndarray.Arange[int32](ctx, "", 0, 12, 1, nil)
	if err != nil {
		f.Fatal(err)
	}
	b, err := ndarray.Linspace[float32](ctx, "", -1, 1, 12, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse(text)
		if err != nil {
			return
		}
		r, err := x.Eval(ctx, "", map[string]ndarray.Reader{"o0": a, "o1": b}, nil)
		if err != nil {
			return
		}
		if n := r.Size(); n != 1 && n != 12 {
			t.Errorf("%q has the shape %v", text, r.Shape())
		}
	})
}

func ExampleExpression_Eval() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{2, 3}, []float64{1, 2, 3, 4, 5, 6}, nil)
	if err != nil {
		panic(err)
	}
	x, err := Parse("where(o0 > 2, o0 - o0.mean(axis=0), 0)")
	if err != nil {
		panic(err)
	}
	y, err := x.Eval(ctx, "", map[string]ndarray.Reader{"o0": a}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(ndarray.Read[float64](ctx, y))
	// Output: [0 0 -1.5 1.5 1.5 1.5] <nil>
}
