package reduce_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/reduce"
)

// must ends the test after an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// chunkwiseSum sums the chunks of a in their order, without batches of chunks, with the kernel for sums. Special chunks
// are the product of their item and its number.
func chunkwiseSum(t *testing.T, a *ndarray.Array, data []float32, length int) (sum float64, specials int) {
	t.Helper()
	k := reduce.SumFloats[float32]()
	sums := []float64{k.Empty}
	for i, err := range a.ChunkInfos(t.Context()) {
		must(t, err)
		items := data[i.Number*int64(length):]
		items = items[:min(len(items), length)]
		cell := k.Empty
		if i.Special != chunk.Regular {
			specials++
			cell = k.Copies(items[0], int64(len(items)), 0)
		} else {
			k.Row(&cell, items, 0)
		}
		k.Merge(sums, []float64{cell})
	}
	return sums[0], specials
}

// TestChunkSizes sums chunks of sizes that are read in different ways: several on a goroutine, or one, with or
// without looking at the header first.
func TestChunkSizes(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(5, 6))
	const few = 16 << 10 // bytes of chunks whose header is not read first
	regular, special := 0, 0
	for _, length := range []int{1, 2, 3, 64, 1000, few/4 - 1, few / 4, few/4 + 1, 40000} {
		n := length*(7+r.IntN(60)) + r.IntN(length)
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(math.Exp(r.NormFloat64() * 5))
		}
		for _, workers := range []int{1, 2, 5} {
			o := &ndarray.CreateOptions{Chunks: []int64{int64(length)}, Concurrency: workers}
			a, err := ndarray.Full(ctx, "", []int64{int64(n)}, float32(r.Float64()), o)
			must(t, err)
			for range 5 {
				at := r.IntN(n/length) * length
				end := min(n, at+length*(1+r.IntN(n/length/4)))
				must(t, ndarray.Write(ctx, a, data[at:end], ndarray.Span(int64(at), int64(end))))
			}
			items, err := ndarray.Read[float32](ctx, a)
			must(t, err)
			want, s := chunkwiseSum(t, a, items, length)
			special, regular = special+s, regular+(n+length-1)/length-s
			// The sum of float32 is rounded, but not the sum of the same items as float64.
			v, err := ndarray.AsType(a, "<f8")
			must(t, err)
			if got, err := ndarray.ReduceAll[float32](ctx, a, ndarray.OpSum, nil); err != nil || got != float32(want) {
				t.Errorf("chunks of %d, %d goroutines: sum %v, want %v (%v)", length, workers, got, float32(want), err)
			}
			if got, err := ndarray.ReduceAll[float64](ctx, v, ndarray.OpSum, nil); err != nil || got != want {
				t.Errorf("chunks of %d, %d goroutines: sum %v, want %v (%v)", length, workers, got, want, err)
			}
			if got, err := ndarray.Histogram(ctx, a, []float64{-1, math.MaxFloat32}); err != nil || got[0] != int64(n) {
				t.Errorf("chunks of %d, %d goroutines: histogram %v of %d items (%v)", length, workers, got, n, err)
			}
		}
	}
	if special < 200 || regular < 200 {
		t.Errorf("%d special chunks, %d others", special, regular)
	}
}

// TestShortAxes reduces arrays with a short axis in chunks of several shapes: several rows at a time, and one.
func TestShortAxes(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(7, 8))
	rare := []float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN(), 3}
	for range 12 {
		rows, n := int64(1+r.IntN(1500)), int64(1+r.IntN(10))
		data := make([]float64, rows*n)
		for i := range data {
			if data[i] = r.NormFloat64(); r.IntN(4) == 0 {
				data[i] = rare[r.IntN(len(rare))]
			}
		}
		a, err := ndarray.Create(ctx, "", []int64{rows, n}, data, &ndarray.CreateOptions{Chunks: []int64{1 + r.Int64N(rows), n}})
		must(t, err)
		single, err := ndarray.Copy(ctx, "", a, &ndarray.CreateOptions{Chunks: []int64{1, n}})
		must(t, err)
		turned, err := ndarray.Transpose(a)
		must(t, err)
		long, err := ndarray.Copy(ctx, "", turned, &ndarray.CreateOptions{Chunks: []int64{1, a.CreateOptions().Chunks[0]}})
		must(t, err)
		for op := ndarray.OpSum; op <= ndarray.OpCountNaN; op++ {
			for _, skip := range []bool{false, true} {
				if skip && op >= ndarray.OpArgMin {
					continue
				}
				for axis := range 2 {
					o := &ndarray.ReduceOptions{Axes: []int{axis}, SkipNaN: skip}
					with, other := single, *o
					if other.Axes = []int{axis}; axis == 0 {
						if op == ndarray.OpSum || op == ndarray.OpMean || op == ndarray.OpStd || op == ndarray.OpVar {
							continue // the order of addition differs
						}
						with, other.Axes = long, []int{1}
					}
					got, want := reduced(t, a, op, o), reduced(t, with, op, &other)
					if !sameFloats(got, want) {
						t.Fatalf("%v over axis %d of %d x %d, skip %v: %x, want %x", op, axis, rows, n, skip, got, want)
					}
				}
			}
		}
	}
}

// reduced returns the bytes of a result.
func reduced(t *testing.T, r ndarray.Reader, op ndarray.Op, o *ndarray.ReduceOptions) []byte {
	t.Helper()
	a, err := ndarray.Reduce(t.Context(), r, op, o)
	must(t, err)
	b := make([]byte, a.NBytes())
	must(t, a.ReadBytes(t.Context(), b))
	return b
}

// sameFloats compares the bytes of numbers. NaNs of float64 are equal: their signs depend on the CPU and the compiler.
func sameFloats(a, b []byte) bool {
	if len(a) != len(b) || len(a)%8 != 0 {
		return bytes.Equal(a, b)
	}
	for i := 0; i < len(a); i += 8 {
		x, y := binary.NativeEndian.Uint64(a[i:]), binary.NativeEndian.Uint64(b[i:])
		if x != y && !(math.IsNaN(math.Float64frombits(x)) && math.IsNaN(math.Float64frombits(y))) {
			return false
		}
	}
	return true
}

// TestProductChunks multiplies numbers whose partial products overflow or underflow, with chunks of all lengths, along
// rows and lanes.
func TestProductChunks(t *testing.T) {
	ctx, inf, nan := t.Context(), math.Inf(1), math.NaN()
	for _, c := range []struct {
		items []float64
		want  float64
	}{
		{[]float64{0, 1, 1e200, 1e200}, 0},
		{[]float64{1e200, 1e200, 0, -1}, math.Copysign(0, -1)},
		{[]float64{1e200, 1e200, 1e-200, 1e-200}, 1},
		{[]float64{1e-200, 1e-200, 1e200, 1e200, -3}, -3},
		{[]float64{1e-200, 1e-120, 1e200, 1e120}, 1}, // a product of 1e-320 has few digits
		{[]float64{1e200, 1e200, 1e200}, inf},
		{[]float64{1e-200, -1e-200, 1e-200, 1}, math.Copysign(0, -1)},
		{[]float64{0x1p-540, 0x1p-500, 0x1p-20}, 0x1p-1060},
		{[]float64{inf, 1e-200, 1e-200, -1}, -inf},
		{[]float64{1e-200, 1e-200, inf, 1}, inf},
		{[]float64{1e200, 1e200, inf, 0}, nan},
		{[]float64{1e-200, 1e-200, nan, 1}, nan},
		{[]float64{1e200, 1e200, 1e200, 1e200, 1e-200, 1e-200, 1e-200, 1e-200}, 1}, // special chunks, too
	} {
		n := int64(len(c.items))
		pairs := make([]complex128, n)
		for i, x := range c.items {
			pairs[i] = complex(x, 0)
		}
		for length := range n {
			o := &ndarray.CreateOptions{Chunks: []int64{length + 1, 1}}
			a, err := ndarray.Create(ctx, "", []int64{n, 1}, c.items, o)
			must(t, err)
			wide, err := ndarray.BroadcastTo(a, 2, n, 3)
			must(t, err)
			all, err := ndarray.ReduceAll[float64](ctx, a, ndarray.OpProd, nil)
			must(t, err)
			lanes := make([]float64, 6)
			must(t, ndarray.ReduceInto(ctx, wide, lanes, ndarray.OpProd, &ndarray.ReduceOptions{Axes: []int{1}}))
			b, err := ndarray.Create(ctx, "", []int64{n, 1}, pairs, o)
			must(t, err)
			pair, err := ndarray.ReduceAll[complex128](ctx, b, ndarray.OpProd, nil)
			must(t, err)
			for _, got := range append(lanes, all) {
				if !near(got, c.want) {
					t.Errorf("the product of %v by %d: %v, want %v", c.items, length+1, got, c.want)
				}
			}
			if c.want-c.want == 0 && math.Abs(real(pair)-c.want) > 1e-15*math.Abs(c.want) || c.want-c.want != 0 && real(pair)-real(pair) == 0 {
				t.Errorf("the complex product of %v by %d: %v, want %v", c.items, length+1, pair, c.want)
			}
		}
	}
}

// near reports whether numbers differ by at most a few units of the last digit. Zeros differ by their sign.
func near(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b || a*b > 0 && math.Abs(a-b) <= 1e-15*math.Abs(b)
}

// TestProductSpecial multiplies the items of special chunks.
func TestProductSpecial(t *testing.T) {
	for _, c := range []struct {
		item float64
		n    int64
		want float64
	}{ // computed with 300 bits
		{1.0000001, 100_000_000, 22026.454910182532},
		{0.9999999, 200_000_000, 2.0611515829838142e-09},
	} {
		a, err := ndarray.Full(t.Context(), "", []int64{c.n}, c.item, nil)
		must(t, err)
		got, err := ndarray.ReduceAll[float64](t.Context(), a, ndarray.OpProd, nil)
		if err != nil || math.Abs(got/c.want-1) > 1e-13 {
			t.Errorf("%d times %v: %v, want %v (%v)", c.n, c.item, got, c.want, err)
		}
		b, err := ndarray.AsType(a, "<c16")
		must(t, err)
		pair, err := ndarray.ReduceAll[complex128](t.Context(), b, ndarray.OpProd, nil)
		if err != nil || math.Abs(real(pair)/c.want-1) > 1e-13 || imag(pair) != 0 {
			t.Errorf("%d times %v, complex: %v, want %v (%v)", c.n, c.item, pair, c.want, err)
		}
	}
}
