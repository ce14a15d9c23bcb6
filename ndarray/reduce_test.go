package ndarray

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

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
	var floats []float64
	if op == OpMean || op == OpStd {
		if floats, err = Read[float64](ctx, got); err != nil {
			t.Fatal(err)
		}
	}
	for k, g := range groups {
		x, f := naiveReduce(op, g)
		item := b[k*size : (k+1)*size]
		if op == OpMean || op == OpStd {
			have := floats[k]
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

// TestReduceViews compares reductions of views with a loop. They decode each block once, as Read does.
func TestReduceViews(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(21, 22))
	shape := []int64{11, 30, 17}
	f := countFilter{new(atomic.Int64)}
	a, err := Create(ctx, "", shape, sparseData(r, 11*30*17), &CreateOptions{
		Chunks: []int64{4, 8, 6}, Blocks: []int64{2, 4, 6}, Filters: []chunk.Filter{chunk.Filter(f.Code())}, UserFilters: []chunk.UserFilter{f},
	})
	must(t, err)
	steps := []int64{1, 1, -1, -1, 2, -2, 3, -5, 7, 9, -100}
	for range 100 {
		var sel []Index
		for _, n := range shape {
			start, step := r.Int64N(n), steps[r.IntN(len(steps))]
			switch {
			case r.IntN(8) == 0:
				sel = append(sel, At(start))
			case step < 0:
				sel = append(sel, Step(n-1-start/3, None, step))
			default:
				sel = append(sel, Step(start/3, n-start/5, step))
			}
		}
		v, err := Slice(a, sel...)
		must(t, err)
		v, err = Transpose(v, r.Perm(len(v.Shape()))...)
		must(t, err)
		if r.IntN(2) == 0 {
			v, err = ExpandDims(v, 0)
			must(t, err)
		}
		f.blocks.Store(0)
		data, err := Read[int32](ctx, v)
		must(t, err)
		once := f.blocks.Load()
		check := func(what any) {
			if n := f.blocks.Swap(0); n != once {
				t.Errorf("%v of %v: %d blocks decoded, want %d", what, sel, n, once)
			}
		}
		check("read")
		axes := []int{}
		for i := range v.Shape() {
			if r.IntN(2) == 0 {
				axes = append(axes, i)
			}
		}
		for op := OpSum; op <= OpArgMax; op++ {
			checkReduce(t, v, data, op, nil)
			check(op)
			checkReduce(t, v, data, op, axes)
			check(op)
		}
		_, err = Histogram(ctx, v, []float64{0, 1, 5})
		must(t, err)
		check("histogram")
	}
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
		flipped, err := Flip(a)
		must(t, err)
		at := 77777*shape[1] + 5
		for r, at := range map[Reader]int64{a: at, flipped: a.Size() - 1 - at} {
			sum, err := ReduceAll[float32](ctx, r, OpSum, nil)
			if err != nil || sum != float32(want) {
				t.Errorf("sum %v, want %v (%v)", sum, want, err)
			}
			if got, err := ReduceAll[int64](ctx, r, OpArgMin, nil); err != nil || got != at {
				t.Errorf("argmin %v, want %v (%v)", got, at, err)
			}
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

// TestReduceAccuracy reduces chunks of many equal distances, whose errors add up, and compares with exact results.
func TestReduceAccuracy(t *testing.T) {
	ctx := t.Context()
	const n = 1 << 20
	floats, numbers := make([]float64, n), make([]complex128, n)
	for i := range floats {
		floats[i] = 0.1 + 0.3*float64(i%2)
		numbers[i] = complex(0.1+0.3*float64(i%2), 0.3+float64(i%2))
	}
	exact := func(part func(i int) float64) (sum, variance float64) {
		var a, b, c, d big.Float
		for _, x := range []*big.Float{&a, &b, &c, &d} {
			x.SetPrec(200)
		}
		for i := range 2 { // half of the items each
			x := part(i)
			a.Add(&a, c.SetFloat64(x))
			b.Add(&b, d.Mul(&c, &c))
		}
		sum, _ = c.Mul(&a, c.SetInt64(n/2)).Float64()
		a.Quo(&a, c.SetInt64(2))
		b.Quo(&b, &c)
		variance, _ = b.Sub(&b, d.Mul(&a, &a)).Float64()
		return sum, variance
	}
	_, v := exact(func(i int) float64 { return floats[i] })
	re, vre := exact(func(i int) float64 { return real(numbers[i]) })
	im, vim := exact(func(i int) float64 { return imag(numbers[i]) })
	near := func(x, want float64) bool { return math.Abs(x-want) <= 0x1p-50*want }
	for _, chunk := range []int64{n, 100_000} {
		o := &CreateOptions{Chunks: []int64{chunk}, Blocks: []int64{10_000}}
		a, err := Create(ctx, "", []int64{n}, floats, o)
		must(t, err)
		c, err := Create(ctx, "", []int64{n}, numbers, o)
		must(t, err)
		for _, skip := range []bool{false, true} {
			o := &ReduceOptions{SkipNaN: skip}
			if x, err := ReduceAll[float64](ctx, a, OpVar, o); err != nil || !near(x, v) {
				t.Errorf("chunks of %d, skip %v: variance %v, want %v (%v)", chunk, skip, x, v, err)
			}
			if x, err := ReduceAll[float64](ctx, c, OpVar, o); err != nil || !near(x, vre+vim) {
				t.Errorf("chunks of %d, skip %v: complex variance %v, want %v (%v)", chunk, skip, x, vre+vim, err)
			}
			if x, err := ReduceAll[complex128](ctx, c, OpSum, o); err != nil || !near(real(x), re) || !near(imag(x), im) {
				t.Errorf("chunks of %d, skip %v: sum %v, want %v (%v)", chunk, skip, x, complex(re, im), err)
			}
			if x, err := ReduceAll[complex128](ctx, c, OpMean, o); err != nil || !near(real(x), re/n) || !near(imag(x), im/n) {
				t.Errorf("chunks of %d, skip %v: mean %v, want %v (%v)", chunk, skip, x, complex(re/n, im/n), err)
			}
		}
	}
}

// TestReduceFar computes variances of finite numbers whose sums or distances overflow, and of an infinity, with chunks
// of all lengths.
func TestReduceFar(t *testing.T) {
	ctx := t.Context()
	inf := math.Inf(1)
	for _, c := range []struct {
		items []float64
		want  float64
	}{
		{[]float64{-1.7e308, 0.5e308, 1.7e308, 1}, inf},
		{[]float64{1.5e308, -1.5e308, 1.5e308, -1.5e308}, inf},
		{[]float64{1.7e308, 1.7e308, 1.7e308, 1.7e308}, 0},
		{[]float64{1.7e308, 1.7e308, -1.7e308, -1.7e308, 1.7e308}, inf},
		{[]float64{1.7e308, 1.7e308, 0, inf}, math.NaN()},
		{[]float64{-1.7e308, math.NaN(), 1.7e308, 1}, math.NaN()},
		{[]float64{inf, inf}, math.NaN()},
	} {
		n := int64(len(c.items))
		numbers := make([]complex128, n)
		for i, x := range c.items {
			numbers[i] = complex(1, x)
		}
		for chunk := range n {
			o := &CreateOptions{Chunks: []int64{chunk + 1, 1}}
			a, err := Create(ctx, "", []int64{n, 1}, c.items, o)
			must(t, err)
			b, err := Create(ctx, "", []int64{n, 1}, numbers, o)
			must(t, err)
			for _, r := range []Reader{a, b} {
				wide, err := BroadcastTo(r, n, 3)
				must(t, err)
				for _, skip := range []bool{false, true} {
					want := c.want
					if skip && slices.ContainsFunc(c.items, math.IsNaN) {
						want = inf
					}
					row, err1 := ReduceAll[float64](ctx, r, OpVar, &ReduceOptions{SkipNaN: skip})
					lanes := make([]float64, 3)
					err2 := ReduceInto(ctx, wide, lanes, OpVar, &ReduceOptions{Axes: []int{0}, SkipNaN: skip})
					must(t, errors.Join(err1, err2))
					for _, x := range append(lanes, row) {
						if x != want && (x == x || want == want) {
							t.Errorf("%v of %v in chunks of %d, skip %v: %v, want %v", r.DType(), c.items, chunk+1, skip, x, want)
						}
					}
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
