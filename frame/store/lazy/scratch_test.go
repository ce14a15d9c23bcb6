package lazy

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// randomExpression returns an expression of the operands a (float64), f (float32), i (int64) and s (int8).
func randomExpression(r *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"a", "a", "f", "i", "s", "2", "0.5", "-1.5"}[r.IntN(8)]
	}
	x, y := randomExpression(r, r.IntN(depth)), randomExpression(r, depth-1)
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("where(%s > %s, %s, a)", x, y, y)
	case 1:
		return fmt.Sprintf("(%s).astype('f4')", y)
	case 2:
		return fmt.Sprintf("abs(%s)", y)
	case 3:
		return fmt.Sprintf("isnan(%s)", y)
	}
	op := []string{"+", "-", "*", "/", "//", "%", "<", "==", "**"}[r.IntN(9)]
	return fmt.Sprintf("(%s %s %s)", x, op, y)
}

// TestReuse evaluates random expressions with many small blocks, which use the same memory, and with a single block.
// The results are the same.
func TestReuse(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(3, 4))
	const n = 200
	items := mixedFloats(r, n)
	wide, err := ndarray.Create(ctx, "", []int64{n}, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	operands := map[string]ndarray.Reader{}
	for name, dtype := range map[string]string{"a": "<f8", "f": "<f4", "i": "<i8", "s": "|i1"} {
		if operands[name], err = ndarray.AsType(wide, dtype); err != nil {
			t.Fatal(err)
		}
	}
	done := 0
	for range 150 {
		text := randomExpression(r, 4)
		x, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		one, err1 := x.Eval(ctx, "", operands, &ndarray.CreateOptions{Chunks: []int64{n}, Blocks: []int64{n}})
		many, err2 := x.Eval(ctx, "", operands, &ndarray.CreateOptions{Chunks: []int64{100}, Blocks: []int64{7}, Concurrency: 4})
		if (err1 == nil) != (err2 == nil) {
			t.Fatal(text, err1, err2)
		}
		if err1 != nil {
			continue // for instance booleans minus booleans
		}
		want, got := make([]byte, one.NBytes()), make([]byte, many.NBytes())
		err1, err2 = one.ReadBytes(ctx, want), many.ReadBytes(ctx, got)
		if err1 != nil || err2 != nil || !near(one.DType().String(), got, want, 0) {
			t.Fatalf("%s: the results differ, %v %v", text, err1, err2)
		}
		done++
	}
	if done < 60 {
		t.Errorf("only %d expressions", done)
	}
}

// TestReuseBytes checks that Eval does not allocate memory for each block.
func TestReuseBytes(t *testing.T) {
	ctx := t.Context()
	const n = 1 << 17
	o := &ndarray.CreateOptions{Blocks: []int64{1024}, Concurrency: 1}
	a, err := ndarray.Create(ctx, "", []int64{n}, make([]float64, n), o)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Parse("(a * 2 > a) + a")
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := x.Eval(ctx, "", map[string]ndarray.Reader{"a": a}, o); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	used := after.TotalAlloc - before.TotalAlloc
	if used > 3*8*n {
		t.Errorf("%d bytes for %d items", used, n)
	}
}

// TestStack checks that release keeps one slice, and that the others are used again.
func TestStack(t *testing.T) {
	var s stack[int64]
	a, b, c := s.take(3), s.take(5), s.take(4)
	a[0], b[0], c[0] = 1, 2, 3
	s.release(1, c)
	if d := s.take(5); s.used != 3 || &d[0] != &b[0] || c[0] != 3 || a[0] != 1 {
		t.Error("the slices after release")
	}
	s.release(1, []int64{7}) // of another owner
	if s.used != 1 {
		t.Errorf("%d slices in use, want 1", s.used)
	}
	if d := s.take(9); len(d) != 9 || &d[0] == &b[0] || &d[0] == &c[0] || len(s.slices) != 3 {
		t.Error("a slice for more items")
	}
}
