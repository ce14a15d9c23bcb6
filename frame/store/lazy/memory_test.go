package lazy

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/ndarray"
)

// reopened returns an array that is read from its bytes, with a limit of its memory.
func reopened(t *testing.T, shape []int64, items []float64, maxBytes int64) *ndarray.Array {
	t.Helper()
	a, err := ndarray.Create(context.Background(), "", shape, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := frames.Bytes(context.Background(), a.Frame())
	if err == nil {
		a, err = ndarray.OpenBytes(b, &ndarray.OpenOptions{MaxBytes: maxBytes})
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestMemory evaluates expressions of small operands whose results, or arrays inside reductions, are far larger.
func TestMemory(t *testing.T) {
	ctx := context.Background()
	const n = 256
	items := make([]float64, n)
	operands := map[string]ndarray.Reader{}
	for i, name := range []string{"a", "b", "c"} {
		operands[name] = reopened(t, []int64{n, 1, 1}[:i+1], items, 1<<20)
	}
	operands["d"] = reopened(t, []int64{110}, items[:110], 1<<20)
	for text, want := range map[string]error{
		"a * 2": nil, "a + b": nil, "sum(a * 2)": nil, "sum(a + b, axis=0)": nil, "sum(a > b, axis=-1)": nil,
		"a + b + c": ndarray.ErrTooLarge, "1 + sum(a + b + c, axis=(0, 1))": ndarray.ErrTooLarge,
		"sum(a > b, axis=())": ndarray.ErrTooLarge, // 64 KiB become 3 MiB
		"sum(b > d, axis=())": ndarray.ErrTooLarge, // 28 KB become 1.3 MiB
		"sum(b > d)":          nil,
	} {
		x, err := Parse(text)
		if err == nil {
			_, err = x.Eval(ctx, "", operands, nil)
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// TestMemoryOfReductions evaluates expressions with many reductions. Each of them is within the limit.
func TestMemoryOfReductions(t *testing.T) {
	const n = 256
	items := make([]float64, n*n)
	for i := range items {
		items[i] = float64(i)
	}
	operands := map[string]ndarray.Reader{
		"a": reopened(t, []int64{n, 1}, items[:n], 4<<20), "b": reopened(t, []int64{n}, items[:n], 4<<20),
		"c": reopened(t, []int64{n * n}, items, 4<<20),
	}
	for text, want := range map[string]error{
		"sum(a + b, axis=())" + strings.Repeat(" + sum(a + b, axis=())", 2): nil, // 3 MiB for a sum, 0.5 MiB of result
		"sum(a + b, axis=())" + strings.Repeat(" + sum(a + b, axis=())", 9): ndarray.ErrTooLarge,
		"sum(c, axis=())" + strings.Repeat(" + sum(c, axis=())", 9):         ndarray.ErrTooLarge,
	} {
		x, err := Parse(text)
		if err == nil {
			_, err = x.Eval(context.Background(), "", operands, nil)
		}
		if !errors.Is(err, want) {
			t.Errorf("%.60s: %v, want %v", text, err, want)
		}
	}

	// The arrays inside the reductions have 0.5 MiB each, which do not compress.
	x, err := Parse("c" + strings.Repeat(" + sum(sin(c * 1e9))", 100))
	if err != nil {
		t.Fatal(err)
	}
	b := &binder{ctx: context.Background(), operands: operands}
	defer b.close()
	before := heap()
	_, err = b.bind(x.root)
	if used := heap() - before; err != nil || used > 16<<20 {
		t.Errorf("100 reductions hold %d bytes, %v", used, err)
	}
}

// heap returns the number of bytes in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestNames has names that are no operands.
func TestNames(t *testing.T) {
	for text, want := range map[string][]string{
		"b + a * b":                         {"a", "b"},
		"a.astype(float64) + b":             {"a", "b"},
		"(a + c).astype(np.int32)":          {"a", "c"},
		"astype(a, int8)":                   {"a"},
		"a.astype(dtype=float32)":           {"a"},
		"where(m, x.astype('f4'), float64)": {"float64", "m", "x"},
		"sum(a, axis=None, keepdims=True)":  {"a"},
	} {
		x, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := x.Names(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestMissing has operands that are nil.
func TestMissing(t *testing.T) {
	x, err := Parse("a + 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, operands := range []map[string]ndarray.Reader{nil, {"a": nil}, {"a": (*ndarray.Array)(nil)}, {"a": (*ndarray.View)(nil)}} {
		_, err := x.Eval(t.Context(), "", operands, nil)
		if !errors.Is(err, ndarray.ErrParam) || !strings.Contains(err.Error(), "missing operand a") {
			t.Errorf("%#v: %v", operands, err)
		}
	}
	unused := map[string]ndarray.Reader{"a": reopened(t, []int64{1}, []float64{1}, 1<<20)}
	for i := range 20 { // whichever operand is first
		unused[strings.Repeat("b", i+1)] = (*ndarray.Array)(nil)
	}
	if _, err := x.Eval(t.Context(), "", unused, nil); err != nil {
		t.Errorf("operands that the expression does not use: %v", err)
	}
}

// TestOneState evaluates expressions while another goroutine sets all items to the same number, again and again.
func TestOneState(t *testing.T) {
	ctx := t.Context()
	o := &ndarray.CreateOptions{Chunks: []int64{20, 50}, Blocks: []int64{5, 10}}
	a, err := ndarray.Full(ctx, "", []int64{200, 200}, 1.0, o)
	if err != nil {
		t.Fatal(err)
	}
	flipped, err := ndarray.Flip(a)
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan bool), make(chan bool)
	defer func() {
		close(stop)
		<-done
	}()
	go func() {
		defer close(done)
		for k := 2.0; ; k++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := ndarray.Fill(ctx, a, k); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for range 20 {
		for _, text := range []string{"a - a", "a - flipped", "a - a.max()", "a.min() - flipped.max()"} {
			x, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			y, err := x.Eval(ctx, "", map[string]ndarray.Reader{"a": a, "flipped": flipped}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if some, err := ndarray.ReduceAll[bool](ctx, y, ndarray.OpAny, nil); err != nil || some {
				t.Errorf("%s: items other than 0: %v, %v", text, some, err)
			}
		}
	}
}

// TestOntoOperand replaces the file of an operand by the result.
func TestOntoOperand(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	x, err := Parse("a + 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, locking := range []bool{false, true} {
		if locking && !storage.CanLock {
			continue // no file locks here
		}
		name := filepath.Join(t.TempDir(), "a.b2nd")
		o := &ndarray.CreateOptions{Overwrite: true, Locking: locking}
		a, err := ndarray.Create(ctx, name, []int64{3}, []float64{1, 2, 3}, o)
		if err != nil {
			t.Fatal(err)
		}
		y, err := x.Eval(ctx, name, map[string]ndarray.Reader{"a": a}, o)
		if locking != errors.Is(err, ndarray.ErrParam) || !locking && err != nil {
			t.Errorf("Locking %v: %v", locking, err)
		}
		if err == nil {
			y.Close()
		}
		a.Close()
	}
}
