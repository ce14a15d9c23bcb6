package numpytest

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
)

var opNames = map[string]ndarray.Op{
	"sum": ndarray.OpSum, "min": ndarray.OpMin, "max": ndarray.OpMax, "mean": ndarray.OpMean, "std": ndarray.OpStd, "any": ndarray.OpAny, "all": ndarray.OpAll,
	"count_nonzero": ndarray.OpCountNonzero, "argmin": ndarray.OpArgMin, "argmax": ndarray.OpArgMax,
}

// numbersOf returns items as numbers. A complex number becomes two numbers.
func numbersOf(d meta.DType, b []byte) (out []float64) {
	if d.Kind == 'c' {
		d = meta.Of('f', d.Size/2)
	}
	b = slices.Clone(b)
	convert.ToNative(d, b)
	for ; len(b) > 0; b = b[d.Size:] {
		switch d.Size {
		case 2:
			x := make([]ndarray.Float16, 1)
			copy(convert.Bytes(x), b)
			out = append(out, x[0].Float64())
		case 4:
			x := make([]float32, 1)
			copy(convert.Bytes(x), b)
			out = append(out, float64(x[0]))
		case 8:
			x := make([]float64, 1)
			copy(convert.Bytes(x), b)
			out = append(out, x[0])
		}
	}
	return out
}

// near reports whether results agree: bit by bit, or for floats within a tolerance if op rounds.
func near(op ndarray.Op, d meta.DType, got, want []byte) bool {
	if d.Kind != 'f' && d.Kind != 'c' {
		return bytes.Equal(got, want)
	}
	eps := map[int]float64{2: 2e-3, 4: 1e-5, 8: 1e-13, 16: 1e-13}[d.Size]
	if d.Kind == 'c' {
		eps = map[int]float64{8: 1e-5, 16: 1e-13}[d.Size]
	}
	if op == ndarray.OpMin || op == ndarray.OpMax {
		eps = 0
	}
	a, b := numbersOf(d, got), numbersOf(d, want)
	for i, x := range a {
		y := b[i]
		switch {
		case x == y || x != x && y != y:
		case math.IsInf(x, 0) || math.IsInf(y, 0) || !(math.Abs(x-y) <= eps*max(10, math.Abs(x), math.Abs(y))):
			return false
		}
	}
	return len(a) == len(b)
}

// TestNumPyReductions compares reductions of random arrays, special values and views with NumPy's results.
func TestNumPyReductions(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 5))
	for _, c := range makingLines(t, "reduce") {
		dtype, op, shape := c[0], opNames[c[3]], golden.Ints(t, c[1])
		data, err1 := hex.DecodeString(c[2])
		want, err2 := hex.DecodeString(c[9])
		ddof, err3 := strconv.Atoi(c[6])
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		o := &ndarray.ReduceOptions{KeepDims: c[5] == "1", DDof: ddof}
		if c[4] != "all" {
			o.Axes = []int{}
			for _, n := range golden.Ints(t, c[4]) {
				o.Axes = append(o.Axes, int(n))
			}
		}
		opts := &ndarray.CreateOptions{Chunks: make([]int64, len(shape)), Blocks: make([]int64, len(shape))}
		opts.Concurrency = 1 + r.IntN(4)
		for i := range shape {
			opts.Chunks[i] = 1 + r.Int64N(4)
			opts.Blocks[i] = 1 + r.Int64N(opts.Chunks[i])
		}
		a, err := ndarray.CreateBytes(ctx, "", shape, dtype, data, opts)
		if err != nil {
			t.Fatal(err)
		}
		var v ndarray.Reader = a
		if len(shape) > 0 && r.IntN(3) == 0 { // through a view that reverses the transformation of its array
			back := make([]byte, len(data))
			f, err := ndarray.Flip(a, 0)
			if err == nil {
				err = f.ReadBytes(ctx, back)
			}
			if err == nil {
				a, err = ndarray.CreateBytes(ctx, "", shape, dtype, back, opts)
			}
			if err == nil {
				v, err = ndarray.Flip(a, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got, err := ndarray.Reduce(ctx, v, op, o)
		if c[7] == "error" {
			if !errors.Is(err, ndarray.ErrShape) {
				t.Errorf("%q: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c, err)
			continue
		}
		b := rawBytes(t, got)
		if !slices.Equal(got.Shape(), golden.Ints(t, c[7])) || got.DType().String() != c[8] || !near(op, got.DType(), b, want) {
			t.Errorf("%s of %s %v over %s: %v %v %x, want %s %s %s\n%v\n%v", c[3], dtype, shape, c[4], got.Shape(), got.DType(), b, c[7], c[8], c[9], numbersOf(got.DType(), b), numbersOf(got.DType(), want))
		}
	}
}

// sameNumbers reports whether items are equal bit by bit, or are both NaN. NumPy leaves the sign of NaNs open.
func sameNumbers(d meta.DType, got, want []byte) bool {
	if bytes.Equal(got, want) {
		return true
	}
	if d.Kind != 'f' && d.Kind != 'c' {
		return false
	}
	a, b := numbersOf(d, got), numbersOf(d, want)
	for i, x := range a {
		if y := b[i]; math.Float64bits(x) != math.Float64bits(y) && (x == x || y == y) {
			return false
		}
	}
	return len(a) == len(b)
}

// sameComplex reports whether a product, variance or extreme of complex numbers is NumPy's, except for what depends on
// the order of the steps: signs of zeros, the last digit of a variance, and the part of an extreme beside its NaN.
func sameComplex(d meta.DType, got, want []byte) bool {
	a, b := numbersOf(d, got), numbersOf(d, want)
	parts, last := 2, 0.0
	if d.Kind == 'f' { // a variance
		parts, last = 1, map[int]float64{4: 0x1p-23, 8: 0x1p-52}[d.Size]
	}
	for i := range b {
		k, n := i-i%parts, i-i%parts+parts
		isNaN := slices.ContainsFunc(b[k:n], math.IsNaN)
		if len(a) != len(b) || slices.ContainsFunc(a[k:n], math.IsNaN) != isNaN || !isNaN && math.Abs(a[i]-b[i]) > last*math.Abs(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestNaNAsNumPy compares reductions with SkipNaN with NumPy's results in testdata/nan.py, bit by bit. The chunks
// divide the reduced axes, except for variances, whose last digits depend on the chunks.
func TestNaNAsNumPy(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 1))
	ops := map[string]ndarray.Op{"prod": ndarray.OpProd, "var": ndarray.OpVar}
	cases, none, part := 0, 0, 1 // one line of each part runs
	if testing.Short() {
		part = 3
	}
	for i, line := range golden.Lines(t, "testdata/nan.txt.gz") {
		if i%part > 0 {
			continue
		}
		c := strings.Split(line, ";")
		op, ok := opNames[c[0]]
		if !ok {
			op = ops[c[0]]
		}
		shape := golden.Ints(t, c[2])
		data, err1 := hex.DecodeString(c[3])
		want, err2 := hex.DecodeString(c[9])
		ddof, err3 := strconv.Atoi(c[6])
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		o := &ndarray.ReduceOptions{KeepDims: c[5] == "1", DDof: ddof, SkipNaN: true}
		if c[4] != "all" {
			for _, n := range golden.Ints(t, c[4]) {
				o.Axes = append(o.Axes, int(n))
			}
		}
		opts := &ndarray.CreateOptions{}
		opts.Chunks, opts.Blocks = randomPartition(rng, shape)
		if op == ndarray.OpVar || op == ndarray.OpStd {
			opts.Chunks, opts.Blocks = nil, nil
		}
		a, err := ndarray.CreateBytes(ctx, "", shape, c[1], data, opts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ndarray.Reduce(ctx, a, op, o)
		a.Close()
		cases++
		if c[7] == "error" {
			if none++; !errors.Is(err, ndarray.ErrValue) {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		b, same := rawBytes(t, got), sameNumbers
		if kind := got.DType().Kind; strings.Contains(c[1], "c") && op != ndarray.OpSum && op != ndarray.OpMean && kind != 'i' {
			same = sameComplex
		}
		if !slices.Equal(got.Shape(), golden.Ints(t, c[7])) || got.DType().String() != c[8] || !same(got.DType(), b, want) {
			t.Errorf("%s: %v %v %x", line, got.Shape(), got.DType(), b)
		}
	}
	if cases < 3200/part || none < 50/part {
		t.Errorf("%d cases, %d of them without items", cases, none)
	}
}

// TestComplexProducts has products of infinities as NumPy computes them, with chunks of all lengths.
func TestComplexProducts(t *testing.T) {
	ctx := context.Background()
	inf, nan := math.Inf(1), math.NaN()
	x := complex(-inf, 1)
	for _, c := range []struct {
		items []complex128
		want  complex128
	}{
		{[]complex128{x}, complex(-inf, nan)},
		{[]complex128{1 + 2i, x}, complex(-inf, -inf)},
		{[]complex128{x, 1 + 2i}, complex(nan, nan)},
		{[]complex128{1 + 2i, x, x}, complex(inf, nan)},
		{[]complex128{x, x}, complex(nan, nan)},
		{[]complex128{0.5i, 0.5i, 0.5i, 0.5i}, complex(0.0625, math.Copysign(0, -1))},
		{[]complex128{complex(nan, 1), x}, complex(nan, nan)},
	} {
		n := int64(len(c.items))
		for i := range n {
			a, err := ndarray.Create(ctx, "", []int64{n, 1}, c.items, &ndarray.CreateOptions{Chunks: []int64{i + 1, 1}})
			if err != nil {
				t.Fatal(err)
			}
			wide, err := ndarray.BroadcastTo(a, 2, n, 3)
			if err != nil {
				t.Fatal(err)
			}
			all, err1 := ndarray.ReduceAll[complex128](ctx, a, ndarray.OpProd, nil)
			lanes := make([]complex128, 6)
			err2 := ndarray.ReduceInto(ctx, wide, lanes, ndarray.OpProd, &ndarray.ReduceOptions{Axes: []int{1}})
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			for _, got := range append(lanes, all) {
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("the product of %v by %d: %v, want %v", c.items, i+1, got, c.want)
				}
			}
		}
	}
	a, err := ndarray.Create(ctx, "", []int64{2}, []complex128{complex(nan, 1), x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ndarray.ReduceAll[complex128](ctx, a, ndarray.OpProd, &ndarray.ReduceOptions{SkipNaN: true})
	if err != nil || fmt.Sprint(got) != "(-Inf+NaNi)" {
		t.Error(got, err)
	}
}

// TestReduceInto checks ReduceInto, ReduceAll and options that do not apply.
func TestReduceInto(t *testing.T) {
	ctx := context.Background()
	nan := float32(math.NaN())
	a, err := ndarray.Create(ctx, "", []int64{2, 3}, []float32{1, nan, 3, nan, nan, -8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	skip := &ndarray.ReduceOptions{Axes: []int{0}, SkipNaN: true}
	sums := make([]float64, 3)
	if err := ndarray.ReduceInto(ctx, a, sums, ndarray.OpSum, skip); err != nil || !slices.Equal(sums, []float64{1, 0, -5}) {
		t.Error(sums, err)
	}
	counts := make([]int, 2)
	if err := ndarray.ReduceInto(ctx, a, counts, ndarray.OpCountNaN, &ndarray.ReduceOptions{Axes: []int{1}}); err != nil || !slices.Equal(counts, []int{1, 2}) {
		t.Error(counts, err)
	}
	if x, err := ndarray.ReduceAll[float64](ctx, a, ndarray.OpMin, &ndarray.ReduceOptions{SkipNaN: true}); err != nil || x != -8 {
		t.Error(x, err)
	}
	for i, c := range []struct{ err, want error }{
		{ndarray.ReduceInto(ctx, a, sums[:2], ndarray.OpSum, skip), ndarray.ErrShape},
		{ndarray.ReduceInto(ctx, a, make([]ndarray.Float16, 3), ndarray.OpSum, skip), ndarray.ErrType},
		{ndarray.ReduceInto(ctx, a, counts[:1], ndarray.OpArgMin, &ndarray.ReduceOptions{DDof: 1}), ndarray.ErrParam},
		{ndarray.ReduceInto(ctx, a, counts[:1], ndarray.OpCountNaN, &ndarray.ReduceOptions{SkipNaN: true}), ndarray.ErrParam},
		{ndarray.ReduceInto(ctx, a, make([]int, 3), ndarray.OpArgMin, skip), ndarray.ErrValue},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%d: %v", i, c.err)
		}
	}
	if _, err := ndarray.ReduceAll[float32](ctx, a, ndarray.OpSum, skip); !errors.Is(err, ndarray.ErrParam) {
		t.Error(err)
	}
	dates, err := ndarray.CreateBytes(ctx, "", []int64{2}, "<M8[s]", []byte{0, 0, 0, 0, 0, 0, 0, 128, 5, 0, 0, 0, 0, 0, 0, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range map[ndarray.Op]int64{ndarray.OpMin: 5, ndarray.OpArgMin: 1, ndarray.OpMax: 5} {
		if x, err := ndarray.ReduceAll[int64](ctx, dates, op, &ndarray.ReduceOptions{SkipNaN: true}); err != nil || x != want {
			t.Errorf("%v: %d, %v", op, x, err)
		}
	}
	if n, err := ndarray.ReduceAll[int64](ctx, dates, ndarray.OpCountNaN, nil); err != nil || n != 1 {
		t.Error(n, err)
	}
}

// TestSumsOfNegativeZeros sums negative zeros, in special chunks and others. As in NumPy 2.4, the sums and means are 0.
func TestSumsOfNegativeZeros(t *testing.T) {
	ctx, zero := context.Background(), math.Copysign(0, -1)
	for _, dtype := range []string{"<f2", "<f4", "<f8", ">f4", "<c8", "<c16"} {
		for _, shape := range [][]int64{{1, 1}, {1, 3}, {3, 1}, {9, 2}, {300, 1}, {1, 300}, {40, 70}} {
			items := make([]complex128, shape[0]*shape[1])
			for i := range items {
				items[i] = complex(zero, zero)
			}
			if shape[0] > 1 && shape[1] > 1 { // so that there are chunks that are not special
				items[0], items[len(items)-1] = 1, 1
			}
			for _, chunk := range []int64{1, 2, 300} {
				source, err := ndarray.Create(ctx, "", shape, items, nil)
				if err != nil {
					t.Fatal(err)
				}
				typed, err := ndarray.AsType(source, dtype)
				if err != nil {
					t.Fatal(err)
				}
				o := &ndarray.CreateOptions{Chunks: []int64{min(chunk, shape[0]), min(chunk, shape[1])}}
				a, err := ndarray.Copy(ctx, "", typed, o)
				if err != nil {
					t.Fatal(err)
				}
				for _, axes := range [][]int{nil, {0}, {1}} {
					checkZeroSums(t, a, axes)
				}
			}
		}
	}
}

// checkZeroSums reports an error if a sum or a mean is -0.
func checkZeroSums(t *testing.T, a *ndarray.Array, axes []int) {
	t.Helper()
	flipped, err := ndarray.Flip(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []ndarray.Reader{a, flipped} {
		for _, op := range []ndarray.Op{ndarray.OpSum, ndarray.OpMean} {
			for _, skip := range []bool{false, true} {
				sums, err := ndarray.Reduce(t.Context(), r, op, &ndarray.ReduceOptions{Axes: axes, SkipNaN: skip})
				if err != nil {
					t.Fatal(err)
				}
				got, err := ndarray.Read[complex128](t.Context(), sums)
				if err != nil || strings.Contains(fmt.Sprint(got), "-0") {
					t.Errorf("%s of %v %s over axes %v, skip %v: %v, %v", op, a.Shape(), a.DType(), axes, skip, got, err)
				}
			}
		}
	}
}
