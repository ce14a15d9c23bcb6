package ndarray

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/golden"
)

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

// TestNaNAsNumPy compares reductions with SkipNaN with NumPy's results in testdata/nan.py, bit by bit. The chunks
// divide the reduced axes, except for variances, whose last digits depend on the chunks.
func TestNaNAsNumPy(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 1))
	ops := map[string]Op{"prod": OpProd, "var": OpVar}
	cases, none := 0, 0
	for _, line := range golden.Lines(t, "testdata/nan.txt.gz") {
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
		o := &ReduceOptions{KeepDims: c[5] == "1", DDof: ddof, SkipNaN: true}
		if c[4] != "all" {
			for _, n := range golden.Ints(t, c[4]) {
				o.Axes = append(o.Axes, int(n))
			}
		}
		opts := &CreateOptions{}
		opts.Chunks, opts.Blocks = randomPartition(rng, shape)
		if op == OpVar || op == OpStd {
			opts.Chunks, opts.Blocks = nil, nil
		}
		a, err := CreateBytes(ctx, "", shape, c[1], data, opts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Reduce(ctx, a, op, o)
		a.Close()
		cases++
		if c[7] == "error" {
			if none++; !errors.Is(err, ErrValue) {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		b := rawBytes(t, got)
		if !slices.Equal(got.Shape(), golden.Ints(t, c[7])) || got.DType().String() != c[8] || !sameNumbers(got.DType(), b, want) {
			t.Errorf("%s: %v %v %x", line, got.Shape(), got.DType(), b)
		}
	}
	if cases < 2000 || none < 50 {
		t.Errorf("%d cases, %d of them without items", cases, none)
	}
}

// TestReduceInto checks ReduceInto, ReduceAll and options that do not apply.
func TestReduceInto(t *testing.T) {
	ctx := context.Background()
	nan := float32(math.NaN())
	a, err := Create(ctx, "", []int64{2, 3}, []float32{1, nan, 3, nan, nan, -8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	skip := &ReduceOptions{Axes: []int{0}, SkipNaN: true}
	sums := make([]float64, 3)
	if err := ReduceInto(ctx, a, sums, OpSum, skip); err != nil || !slices.Equal(sums, []float64{1, 0, -5}) {
		t.Error(sums, err)
	}
	counts := make([]int, 2)
	if err := ReduceInto(ctx, a, counts, OpCountNaN, &ReduceOptions{Axes: []int{1}}); err != nil || !slices.Equal(counts, []int{1, 2}) {
		t.Error(counts, err)
	}
	if x, err := ReduceAll[float64](ctx, a, OpMin, &ReduceOptions{SkipNaN: true}); err != nil || x != -8 {
		t.Error(x, err)
	}
	for i, c := range []struct{ err, want error }{
		{ReduceInto(ctx, a, sums[:2], OpSum, skip), ErrShape},
		{ReduceInto(ctx, a, make([]Float16, 3), OpSum, skip), ErrType},
		{ReduceInto(ctx, a, counts[:1], OpArgMin, &ReduceOptions{DDof: 1}), ErrParam},
		{ReduceInto(ctx, a, counts[:1], OpCountNaN, &ReduceOptions{SkipNaN: true}), ErrParam},
		{ReduceInto(ctx, a, make([]int, 3), OpArgMin, skip), ErrValue},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%d: %v", i, c.err)
		}
	}
	if _, err := ReduceAll[float32](ctx, a, OpSum, skip); !errors.Is(err, ErrParam) {
		t.Error(err)
	}
	dates, err := CreateBytes(ctx, "", []int64{2}, "<M8[s]", []byte{0, 0, 0, 0, 0, 0, 0, 128, 5, 0, 0, 0, 0, 0, 0, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range map[Op]int64{OpMin: 5, OpArgMin: 1, OpMax: 5} {
		if x, err := ReduceAll[int64](ctx, dates, op, &ReduceOptions{SkipNaN: true}); err != nil || x != want {
			t.Errorf("%v: %d, %v", op, x, err)
		}
	}
	if n, err := ReduceAll[int64](ctx, dates, OpCountNaN, nil); err != nil || n != 1 {
		t.Error(n, err)
	}
}
