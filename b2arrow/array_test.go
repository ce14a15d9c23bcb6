package b2arrow

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/tensor"

	"github.com/goblosc/blosc2/ndarray"
)

// mustCreate creates an array in memory.
func mustCreate[T any](t testing.TB, shape []int64, data []T) *ndarray.Array {
	t.Helper()
	a, err := ndarray.Create(context.Background(), "", shape, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// checkArray compares an array of one dimension with Go values.
func checkArray(t *testing.T, r ndarray.Reader, wantType string, want ...any) {
	t.Helper()
	a, err := Array(context.Background(), r, checked(t))
	if err != nil {
		t.Error(err)
		return
	}
	defer a.Release()
	if got := valuesAt(t, a, 0, a.Len()); !reflect.DeepEqual(got, want) || a.DataType().String() != wantType {
		t.Errorf("%#v of type %v, want %#v of type %s", got, a.DataType(), want, wantType)
	}
}

func TestArray(t *testing.T) {
	ctx := context.Background()
	two := []int64{2}
	numbers := mustCreate(t, []int64{3}, []int16{1, 256, -1})
	checkArray(t, numbers, "int16", int16(1), int16(256), int16(-1))
	big, err := ndarray.AsType(numbers, ">i2")
	if err != nil {
		t.Fatal(err)
	}
	checkArray(t, big, "int16", int16(1), int16(256), int16(-1))
	back, err := ndarray.Flip(numbers)
	if err != nil {
		t.Fatal(err)
	}
	checkArray(t, back, "int16", int16(-1), int16(256), int16(1))
	checkArray(t, mustCreate(t, two, []uint64{1, math.MaxUint64}), "uint64", uint64(1), uint64(math.MaxUint64))
	checkArray(t, mustCreate(t, two, []ndarray.Float16{0x3c00, 0xc000}), "float16", float32(1), float32(-2))
	checkArray(t, mustCreate(t, two, []bool{true, false}), "bool", true, false)
	checkArray(t, mustCreate(t, two, []complex128{1 + 2i, 3}), "fixed_size_list<item: float64>[2]", []any{1., 2.}, []any{3., 0.})
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	times, err := ndarray.CreateBytes(ctx, "", two, "<M8[s]", append([]byte{0, 0, 0, 0, 0, 0, 0, 128}, le(at.Unix())...), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkArray(t, times, "timestamp[s]", nil, at)
	raw, err := ndarray.CreateBytes(ctx, "", two, "|V2", []byte("abcd"), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkArray(t, raw, "fixed_size_binary[2]", []byte("ab"), []byte("cd"))
	text, err := ndarray.CreateBytes(ctx, "", two, "|S3", []byte("a\x00bcd\x00"), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkArray(t, text, "large_binary", []byte("a\x00b"), []byte("cd"))
	type row struct {
		ID    int64
		Value float32
	}
	records := mustCreate(t, two, []row{{1, 0.5}, {2, -1}})
	checkArray(t, records, "struct<ID: int64 nullable, Value: float32 nullable>",
		map[string]any{"ID": int64(1), "Value": float32(0.5)}, map[string]any{"ID": int64(2), "Value": float32(-1)})
}

// TestArraySubArrays reads structures with sub-arrays, also inside each other.
func TestArraySubArrays(t *testing.T) {
	ctx := context.Background()
	create := func(n int64, dtype string, items ...byte) *ndarray.Array {
		t.Helper()
		a, err := ndarray.CreateBytes(ctx, "", []int64{n}, dtype, items, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	list := func(items ...any) []any { return items }
	const pairs, pairsType = "[('a', 'i1', (2,)), ('b', 'i1')]", "struct<a: fixed_size_list<item: int8, nullable>[2] nullable, b: int8 nullable>"
	rows := create(2, pairs, 1, 2, 3, 4, 5, 6)
	first, second := map[string]any{"a": list(int8(1), int8(2)), "b": int8(3)}, map[string]any{"a": list(int8(4), int8(5)), "b": int8(6)}
	checkArray(t, rows, pairsType, first, second)
	back, err := ndarray.Flip(rows)
	if err != nil {
		t.Fatal(err)
	}
	checkArray(t, back, pairsType, second, first)
	none, err := ndarray.Slice(rows, ndarray.Span(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	checkArray(t, none, pairsType, []any{}...)
	checkArray(t, create(1, "[('a', '|S1', (2, 2)), ('b', '|b1', (1,))]", 'a', 'b', 'c', 'd', 1),
		"struct<a: fixed_size_list<item: large_binary, nullable>[4] nullable, b: fixed_size_list<item: bool, nullable>[1] nullable>",
		map[string]any{"a": list([]byte("a"), []byte("b"), []byte("c"), []byte("d")), "b": list(true)})
	checkArray(t, create(2, "[('x', "+pairs+", (2,))]", 1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3),
		"struct<x: fixed_size_list<item: "+pairsType+", nullable>[2] nullable>",
		map[string]any{"x": list(first, second)}, map[string]any{"x": list(second, first)})

	// The first field is released when the second has no type.
	if _, err := Array(ctx, create(1, "[('a', 'i1', (2,)), ('b', '<M8[D]', (2,))]", make([]byte, 18)...), checked(t)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("days: %v", err)
	}
}

func le(i int64) []byte {
	b := make([]byte, 8)
	for k := range b {
		b[k] = byte(i >> (8 * k))
	}
	return b
}

func TestArrayErrors(t *testing.T) {
	ctx := context.Background()
	if _, err := Array(ctx, mustCreate(t, []int64{2, 1}, []int8{1, 2}), checked(t)); !errors.Is(err, ndarray.ErrShape) {
		t.Errorf("two dimensions: %v", err)
	}
	days, err := ndarray.Zeros(ctx, "", []int64{2}, "<M8[D]", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Array(ctx, days, checked(t)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("days: %v", err)
	}
	for dtype, advised := range map[string]bool{"<M8[D]": true, ">M8[3M]": true, "<m8[W]": true, "<m8[2ns]": true, "<M8": false, "<m8[Y]": false} {
		times, err := ndarray.Zeros(ctx, "", []int64{2}, dtype, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Array(ctx, times, checked(t))
		if !errors.Is(err, errors.ErrUnsupported) || strings.Contains(err.Error(), "ndarray.AsType") != advised {
			t.Errorf("%s: %v", dtype, err)
		}
		seconds, err := ndarray.AsType(times, dtype[1:3]+"[s]")
		if (err == nil) != advised {
			t.Errorf("%s to seconds: %v", dtype, err)
		}
		if advised {
			a, err := Array(ctx, seconds, checked(t))
			if err != nil {
				t.Fatal(err)
			}
			a.Release()
		}
	}
	if _, err := Tensor(ctx, days, checked(t)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a tensor of days: %v", err)
	}
	closed := mustCreate(t, []int64{2}, []int8{1, 2})
	closed.Close()
	if _, err := Array(ctx, closed, checked(t)); err == nil {
		t.Error("a closed array: no error")
	}
	// A terabyte of zeros in a file of a few hundred bytes.
	huge, err := ndarray.Zeros(ctx, t.TempDir()+"/huge.b2nd", []int64{1 << 20, 1 << 17}, "<f8", nil)
	if err != nil {
		t.Fatal(err)
	}
	name := huge.Frame().Path()
	huge.Close()
	if huge, err = ndarray.Open(ctx, name, nil); err != nil {
		t.Fatal(err)
	}
	defer huge.Close()
	if _, err := Tensor(ctx, huge, checked(t)); !errors.Is(err, ndarray.ErrTooLarge) {
		t.Errorf("a huge tensor: %v", err)
	}
	// Fields that are all the same megabyte.
	dtype := "{'names':['a','b','c'],'formats':['S1000000',[('x','S1000000')],('S500000',(2,))],'offsets':[0,0,0],'itemsize':1000000}"
	overlap, err := ndarray.CreateBytes(ctx, t.TempDir()+"/overlap.b2nd", []int64{1}, dtype, make([]byte, 1000000), nil)
	if err != nil {
		t.Fatal(err)
	}
	name = overlap.Frame().Path()
	overlap.Close()
	for limit, want := range map[int64]error{2 << 20: ndarray.ErrTooLarge, 3 << 20: nil} {
		overlap, err := ndarray.Open(ctx, name, &ndarray.OpenOptions{MaxBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		defer overlap.Close()
		fields, err := Array(ctx, overlap, checked(t))
		if !errors.Is(err, want) {
			t.Errorf("overlapping fields with MaxBytes %d: %v, want %v", limit, err, want)
		}
		if err == nil {
			fields.Release()
		}
	}
	row, err := ndarray.Slice(huge, ndarray.At(5), ndarray.Span(0, 10))
	if err != nil {
		t.Fatal(err)
	}
	checkArray(t, row, "float64", slices.Repeat([]any{0.}, 10)...)
}

func TestTensor(t *testing.T) {
	ctx := context.Background()
	data := make([]float32, 3*4*5)
	for i := range data {
		data[i] = float32(i)
	}
	a := mustCreate(t, []int64{3, 4, 5}, data)
	x, err := Tensor(ctx, a, checked(t))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Release()
	f, ok := x.(*tensor.Float32)
	if !ok || !slices.Equal(f.Float32Values(), data) || !slices.Equal(x.Shape(), []int64{3, 4, 5}) || !x.IsRowMajor() ||
		f.Value([]int64{2, 1, 3}) != 2*20+5+3 {
		t.Errorf("%T %v", x, x.Shape())
	}
	turned, err := ndarray.Transpose(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := Tensor(ctx, turned, checked(t))
	if err != nil {
		t.Fatal(err)
	}
	defer y.Release()
	if y.(*tensor.Float32).Value([]int64{3, 1, 2}) != 2*20+5+3 || !slices.Equal(y.Shape(), []int64{5, 4, 3}) {
		t.Errorf("transposed: %v", y.Shape())
	}
	for _, shape := range [][]int64{{}, {0, 3}} {
		n := int64(1)
		for _, e := range shape {
			n *= e
		}
		z, err := Tensor(ctx, mustCreate(t, shape, make([]uint8, n)), checked(t))
		if err != nil || z.Len() != int(n) || z.NumDims() != len(shape) {
			t.Errorf("shape %v: %v, %v", shape, z, err)
			continue
		}
		z.Release()
	}
}

var _ array.RecordReader = (*reader)(nil)

// TestArrayGrows reads an array of structures that grows and shrinks. All fields have the length of the result.
func TestArrayGrows(t *testing.T) {
	ctx := t.Context()
	a, err := ndarray.Zeros(ctx, "", []int64{100}, "[('x', '<i4'), ('y', '<i4')]", &ndarray.CreateOptions{Chunks: []int64{50}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	stop, stopped := make(chan bool), make(chan error)
	go func() {
		var err error
		for n := int64(0); err == nil; n++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
				err = a.Resize(ctx, 100+n%7)
			}
		}
		stopped <- err
	}()
	for range 300 {
		x, err := Array(ctx, a, checked(t))
		if errors.Is(err, ndarray.ErrBounds) || errors.Is(err, ndarray.ErrShape) {
			continue // it shrinks
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range x.Data().Children() {
			if f.Len() != x.Len() {
				t.Fatalf("field %d of %d items, want %d", i, f.Len(), x.Len())
			}
		}
		x.Release()
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}
