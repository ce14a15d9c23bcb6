package ndarray

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

var opNames = map[string]Op{
	"sum": OpSum, "min": OpMin, "max": OpMax, "mean": OpMean, "std": OpStd, "any": OpAny, "all": OpAll,
	"count_nonzero": OpCountNonzero, "argmin": OpArgMin, "argmax": OpArgMax,
}

// ints parses integers separated by commas.
func ints(t *testing.T, s string) []int64 {
	t.Helper()
	out := []int64{}
	for w := range strings.SplitSeq(s, ",") {
		if w == "" {
			continue
		}
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
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
			x := make([]Float16, 1)
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
func near(op Op, d meta.DType, got, want []byte) bool {
	if d.Kind != 'f' && d.Kind != 'c' {
		return bytes.Equal(got, want)
	}
	eps := map[int]float64{2: 2e-3, 4: 1e-5, 8: 1e-13, 16: 1e-13}[d.Size]
	if d.Kind == 'c' {
		eps = map[int]float64{8: 1e-5, 16: 1e-13}[d.Size]
	}
	if op == OpMin || op == OpMax {
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
		dtype, op, shape := c[0], opNames[c[3]], ints(t, c[1])
		data, err1 := hex.DecodeString(c[2])
		want, err2 := hex.DecodeString(c[9])
		ddof, err3 := strconv.Atoi(c[6])
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		o := &ReduceOptions{KeepDims: c[5] == "1", DDof: ddof}
		if c[4] != "all" {
			o.Axes = []int{}
			for _, n := range ints(t, c[4]) {
				o.Axes = append(o.Axes, int(n))
			}
		}
		opts := &CreateOptions{Chunks: make([]int64, len(shape)), Blocks: make([]int64, len(shape))}
		opts.Concurrency = 1 + r.IntN(4)
		for i := range shape {
			opts.Chunks[i] = 1 + r.Int64N(4)
			opts.Blocks[i] = 1 + r.Int64N(opts.Chunks[i])
		}
		a, err := CreateBytes(ctx, "", shape, dtype, data, opts)
		if err != nil {
			t.Fatal(err)
		}
		var v Reader = a
		if len(shape) > 0 && r.IntN(3) == 0 { // through a view that reverses the transformation of its array
			back := make([]byte, len(data))
			f, err := Flip(a, 0)
			if err == nil {
				err = f.ReadBytes(ctx, back)
			}
			if err == nil {
				a, err = CreateBytes(ctx, "", shape, dtype, back, opts)
			}
			if err == nil {
				v, err = Flip(a, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got, err := Reduce(ctx, v, op, o)
		if c[7] == "error" {
			if !errors.Is(err, ErrShape) {
				t.Errorf("%q: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c, err)
			continue
		}
		b := rawBytes(t, got)
		if !slices.Equal(got.Shape(), ints(t, c[7])) || got.DType().String() != c[8] || !near(op, got.DType(), b, want) {
			t.Errorf("%s of %s %v over %s: %v %v %x, want %s %s %s\n%v\n%v", c[3], dtype, shape, c[4], got.Shape(), got.DType(), b, c[7], c[8], c[9], numbersOf(got.DType(), b), numbersOf(got.DType(), want))
		}
	}
}

// naiveReduce reduces the items of a cell to an integer or a float.
func naiveReduce(op Op, items []int32) (x int64, f float64) {
	n := float64(len(items))
	for i, v := range items {
		w := int64(v)
		f += float64(v) / n
		switch {
		case op == OpSum, op == OpCountNonzero && v != 0:
			if x++; op == OpSum {
				x += w - 1
			}
		case op == OpMin && (i == 0 || w < x), op == OpMax && (i == 0 || w > x):
			x = w
		case op == OpArgMin && v < items[x], op == OpArgMax && v > items[x]:
			x = int64(i)
		case op == OpAny && v != 0:
			x = 1
		case op == OpAll && (i == 0 || x == 1):
			x = min(w*w, 1)
		}
	}
	if op == OpStd {
		s := 0.0
		for _, v := range items {
			s += (float64(v) - f) * (float64(v) - f)
		}
		f = math.Sqrt(s / n)
	}
	if op == OpAll && len(items) == 0 {
		x = 1
	}
	return x, f
}

// checkReduce compares a reduction of int32 with a naive loop.
func checkReduce(t testing.TB, r Reader, data []int32, op Op, axes []int) {
	t.Helper()
	ctx := context.Background()
	shape := r.Shape()
	var kept []int
	for i := range shape {
		if axes != nil && !slices.Contains(axes, i) {
			kept = append(kept, i)
		}
	}
	cells := int64(1)
	for _, i := range kept {
		cells *= shape[i]
	}
	groups := make([][]int32, cells)
	eachItem(whole(shape), shape, func(at []int64, flat int64) {
		cell := int64(0)
		for _, i := range kept {
			cell = cell*shape[i] + at[i]
		}
		groups[cell] = append(groups[cell], data[flat])
	})
	got, err := Reduce(ctx, r, op, &ReduceOptions{Axes: axes})
	empty := false
	count := int64(1)
	for i := range shape {
		if !slices.Contains(kept, i) {
			count *= shape[i]
		}
	}
	if count == 0 {
		empty = op == OpArgMin || op == OpArgMax || (op == OpMin || op == OpMax) && cells > 0
	}
	if empty {
		if !errors.Is(err, ErrShape) {
			t.Fatalf("%v of %v over %v: %v", op, shape, axes, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v of %v over %v: %v", op, shape, axes, err)
	}
	b := rawBytes(t, got)
	size := got.DType().Size
	for k, g := range groups {
		x, f := naiveReduce(op, g)
		item := b[k*size : (k+1)*size]
		if op == OpMean || op == OpStd {
			have := numbersOf(got.DType(), item)[0]
			if len(g) == 0 && have != have || math.Abs(have-f) <= 1e-9*max(1, math.Abs(f)) {
				continue
			}
			t.Fatalf("%v of %v over %v, cell %d: %v, want %v", op, shape, axes, k, have, f)
		}
		want := convert.Stored(meta.Of('i', 8), []int64{x})[:size]
		if !bytes.Equal(item, want) {
			t.Fatalf("%v of %v over %v, cell %d: %x, want %x", op, shape, axes, k, item, want)
		}
	}
}

// sparseData returns runs of numbers, so that many chunks are zeros or one value, and a minimum may occur several
// times.
func sparseData(r *rand.Rand, n int64) []int32 {
	data := make([]int32, n)
	for i := 0; i < len(data); {
		v, run := r.Int32N(7)-3, 1+r.IntN(40)
		if r.IntN(2) == 0 {
			v = 0
		}
		for range min(run, len(data)-i) {
			data[i] = v
			i++
		}
	}
	return data
}

// TestReduceNaive compares reductions of random arrays with a loop.
func TestReduceNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	ctx := context.Background()
	arrays := 400
	if testing.Short() {
		arrays = 100
	}
	for range arrays {
		shape, o := shapeOf(r)
		n, _ := grid.Product(shape)
		data := sparseData(r, n)
		a, err := Create(ctx, "", shape, data, o)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 && len(shape) > 0 && r.IntN(2) == 0 { // chunks of one value that is not zero
			sel := Span(0, 1+r.Int64N(shape[0]))
			if err := Fill(ctx, a, int32(2), sel); err != nil {
				t.Fatal(err)
			}
			if data, err = Read[int32](ctx, a); err != nil {
				t.Fatal(err)
			}
		}
		var axes []int
		if r.IntN(4) > 0 {
			axes = []int{}
			for i := range shape {
				if r.IntN(2) == 0 {
					axes = append(axes, i)
				}
			}
		}
		for op := OpSum; op <= OpArgMax; op++ {
			checkReduce(t, a, data, op, axes)
		}
	}
}

func FuzzReduce(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(7))
	f.Add(uint64(2), uint8(8), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, op, axes uint8) {
		r := rand.New(rand.NewPCG(seed, 0))
		shape, o := shapeOf(r)
		n, _ := grid.Product(shape)
		data := sparseData(r, n)
		a, err := Create(context.Background(), "", shape, data, o)
		if err != nil {
			t.Fatal(err)
		}
		list := []int{}
		for i := range shape {
			if axes>>i&1 == 1 {
				list = append(list, i)
			}
		}
		checkReduce(t, a, data, Op(op%10), list)
		v, err := Transpose(a)
		if err != nil {
			t.Fatal(err)
		}
		turned, err := Read[int32](context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		checkReduce(t, v, turned, Op(op%10), list)
	})
}

// TestReduceSpecial reduces 1 TiB of special values, which is too much to decode, and a few regular chunks.
func TestReduceSpecial(t *testing.T) {
	ctx := context.Background()
	o := &CreateOptions{Chunks: []int64{1 << 8, 1 << 16}, Blocks: []int64{1 << 6, 1 << 12}}
	shape := []int64{1 << 18, 1 << 20}
	if testing.Short() {
		o.Chunks, shape[1] = []int64{1 << 9, 1 << 12}, 1<<15 // an eighth of the data in a chunk, and one chunk in 64
	}
	for _, c := range []struct {
		make func() (*Array, error)
		sum  float64
	}{
		{func() (*Array, error) { return Zeros(ctx, "", shape, "<f4", o) }, 0},
		{func() (*Array, error) { return Full(ctx, "", shape, float32(0.5), o) }, 0.5 * float64(shape[0]*shape[1])},
	} {
		a, err := c.make()
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(ctx, a, []float32{-5}, At(77777), At(5)); err != nil {
			t.Fatal(err)
		}
		want := c.sum - 5
		if c.sum > 0 {
			want -= 0.5
		}
		sum, err := ReduceAll[float32](ctx, a, OpSum, nil)
		if err != nil || sum != float32(want) {
			t.Errorf("sum %v, want %v (%v)", sum, want, err)
		}
		if at, err := ReduceAll[int64](ctx, a, OpArgMin, nil); err != nil || at != 77777*shape[1]+5 {
			t.Errorf("argmin %v (%v)", at, err)
		}
		if least, err := ReduceAll[float32](ctx, a, OpMin, nil); err != nil || least != -5 {
			t.Errorf("min %v (%v)", least, err)
		}
		m, err := Reduce(ctx, a, OpMin, &ReduceOptions{Axes: []int{1}})
		if err != nil {
			t.Fatal(err)
		}
		if row, err := Read[float32](ctx, m, Span(77776, 77779)); err != nil || row[1] != -5 || row[0] != row[2] || row[0] < 0 {
			t.Errorf("minima %v (%v)", row, err)
		}
	}
}

// TestReduceDeterministic sums numbers of many magnitudes on various numbers of goroutines.
func TestReduceDeterministic(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 1))
	rows := 300
	if testing.Short() {
		rows = 100
	}
	data := make([]float64, rows*400)
	for i := range data {
		data[i] = math.Exp(r.NormFloat64() * 20)
	}
	made, err := Create(ctx, "", []int64{int64(rows), 400}, data, &CreateOptions{Chunks: []int64{37, 53}, Blocks: []int64{10, 20}})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := saved(made.Frame())
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []Op{OpSum, OpMean, OpStd} {
		for _, axes := range [][]int{nil, {0}, {1}} {
			var first []byte
			for workers := range 6 {
				a, err := OpenBytes(packed, &OpenOptions{Concurrency: workers})
				if err != nil {
					t.Fatal(err)
				}
				s, err := Reduce(ctx, a, op, &ReduceOptions{Axes: axes})
				if err != nil {
					t.Fatal(err)
				}
				if b := rawBytes(t, s); first == nil {
					first = b
				} else if !bytes.Equal(b, first) {
					t.Fatalf("%v over %v with %d goroutines: the result differs", op, axes, workers)
				}
			}
		}
	}
}

// TestReduceErrors checks the errors of Reduce.
func TestReduceErrors(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros(ctx, "", []int64{3, 4}, "<M8[s]", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Zeros(ctx, "", []int64{3}, "S4", nil)
	if err != nil {
		t.Fatal(err)
	}
	dead, cancel := context.WithCancel(ctx)
	cancel()
	try := func(ctx context.Context, r Reader, op Op, axes ...int) error {
		_, err := Reduce(ctx, r, op, &ReduceOptions{Axes: axes})
		return err
	}
	for what, c := range map[string]struct{ got, want error }{
		"dates":     {try(ctx, a, OpSum), ErrType},
		"text":      {try(ctx, text, OpMin), ErrType},
		"no op":     {try(ctx, a, Op(99)), ErrType},
		"axis":      {try(ctx, a, OpMin, 2), ErrBounds},
		"axis -3":   {try(ctx, a, OpMin, -3), ErrBounds},
		"twice":     {try(ctx, a, OpMin, 1, -1), ErrBounds},
		"cancelled": {try(dead, a, OpMin), context.Canceled},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v", what, c.got)
		}
	}
	if _, err := ReduceAll[float32](ctx, a, OpMin, nil); !errors.Is(err, ErrType) {
		t.Error(err)
	}
	if x, err := ReduceAll[int64](ctx, a, OpMin, nil); err != nil || x != 0 {
		t.Error(x, err)
	}
	if none, err := Reduce(ctx, a, OpCountNonzero, &ReduceOptions{Axes: []int{}}); err != nil || !slices.Equal(none.Shape(), []int64{3, 4}) {
		t.Error(err)
	}
	a.Close()
	if err := try(ctx, a, OpMin); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

func BenchmarkReduce(b *testing.B) {
	ctx := context.Background()
	data := make([]float32, 4096*4096)
	for i := range data {
		data[i] = float32(i%1000) * 0.25
	}
	a, err := Create(ctx, "", []int64{4096, 4096}, data, nil)
	if err != nil {
		b.Fatal(err)
	}
	zeros, err := Zeros(ctx, "", []int64{1 << 17, 1 << 14}, "<f4", nil)
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, a *Array, op Op, axes []int) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(a.Size() * 4)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Reduce(ctx, a, op, &ReduceOptions{Axes: axes}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for op := OpSum; op <= OpArgMax; op++ {
		run(op.String()+"/all", a, op, nil)
		run(op.String()+"/rows", a, op, []int{0})
		run(op.String()+"/columns", a, op, []int{1})
	}
	run("sum/zeros", zeros, OpSum, nil)
}
