package lazy

import (
	"context"
	"errors"
	"slices"
	"testing"

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
	for text, want := range map[string]error{
		"a * 2": nil, "a + b": nil, "sum(a * 2)": nil, "sum(a + b, axis=0)": nil, "sum(a > b, axis=-1)": nil,
		"a + b + c": ndarray.ErrTooLarge, "1 + sum(a + b + c, axis=(0, 1))": ndarray.ErrTooLarge,
		"sum(a > b, axis=())": ndarray.ErrTooLarge, // 64 KiB become 2 MiB
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
