package ndarray

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"
)

// TestReadmeTable runs the Go code of the table "From NumPy and python-blosc2" in README.md.
func TestReadmeTable(t *testing.T) {
	type T = int32
	type Point struct {
		X float32 `b2:"x"`
	}
	ctx := context.Background()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "a.b2nd")
	x := make([]T, 6*5)
	for i := range x {
		x[i] = T(i)
	}
	a, err := Create(ctx, name, []int64{6, 5}, x, nil)
	ok(err)
	defer a.Close()
	opened, err := Open(name, nil)
	ok(err)
	ok(opened.Close())

	reads(t, "a[:]", x)(Read[T](ctx, a))
	reads(t, "a[2:5, -1]", []T{14, 19, 24})(Read[T](ctx, a, Span(2, 5), At(-1)))
	reads(t, "a[0, ::-2, None]", []T{4, 2, 0})(Read[T](ctx, a, At(0), Ellipsis, Step(None, None, -2), NewAxis))
	reads(t, "a.oindex", []T{15, 17, 5, 7})(Read[T](ctx, a, Pick(3, 1), Pick(0, 2)))
	reads(t, "a[[3, 1], [0, 2]]", []T{15, 7})(Read[T](ctx, a, Coords(3, 1), Coords(0, 2)))
	mask := make([]bool, len(x))
	mask[7] = true
	reads(t, "a[mask]", []T{7})(Read[T](ctx, a, MaskND(a.Shape(), mask)))
	reads(t, "take", []T{9, 2})(Take[T](ctx, a, []int64{9, 2}))
	ok(Put(ctx, a, []int64{9}, []T{99}))
	sel, err := ParseSelection("1, 3:")
	ok(err)
	reads(t, "a[eval(s)]", []T{8, 99})(Read[T](ctx, a, sel...))
	ok(Write(ctx, a, []T{1, 2, 3}, Span(2, 5), At(0)))
	ok(Fill(ctx, a, T(7), Span(2, 5)))
	if v, err := ReadAt[T](ctx, a, 3, 4); v != 7 || err != nil {
		t.Error("a[3, 4]:", v, err)
	}

	s, err := Create(ctx, "", []int64{2}, []struct{ Pos Point }{{Point{1}}, {Point{2}}}, nil)
	ok(err)
	f, err := Field(s, "Pos.x")
	ok(err)
	reads(t, "field", []float32{1, 2})(Read[float32](ctx, f))

	makes := func(r Reader, err error) {
		t.Helper()
		ok(err)
		if _, err := r.SelectionShape(); err != nil {
			t.Error(err)
		}
	}
	makes(Transpose(a))
	makes(Flip(a, 0))
	makes(ExpandDims(a, 0))
	makes(Squeeze(a))
	makes(BroadcastTo(a, 2, 6, 5))
	makes(Zeros("", []int64{3}, "<f4", nil))
	makes(Arange[T](ctx, "", 0, 10, 2, nil))
	makes(FromFunc(ctx, "", []int64{4}, func(t Tile[T]) error { clear(t.Items); return nil }, nil))
	makes(FromSeq(ctx, "", []int64{3}, slices.Values([]T{1, 2, 3}), nil))
	var file bytes.Buffer
	ok(WriteNPY(ctx, &file, a))
	makes(ReadNPY(ctx, "", &file, nil))
	makes(Concat(ctx, "", 0, nil, a, a))
	makes(Stack(ctx, "", 0, nil, a, a))
	makes(Reshape(ctx, a, "", []int64{-1, 2}, nil))
	makes(AsType(ctx, a, "", "u1", nil))
	o := a.Options()
	o.Chunks, o.Blocks = []int32{2, 5}, []int32{2, 5}
	makes(Copy(ctx, a, "", o))
	makes(Map(ctx, a, "", func(out []float64, in Tile[T]) error { clear(out); return nil }, nil))
	makes(Reduce(ctx, a, OpSum, &ReduceOptions{Axes: []int{0}, KeepDims: true}))
	if _, err := ReduceAll[T](ctx, a, OpMax); err != nil {
		t.Error(err)
	}
	for _, err := range a.ChunkInfos() {
		ok(err)
	}
	for _, err := range Tiles[T](ctx, a, ByChunk(a), 2) {
		ok(err)
	}
	ok(a.Resize(ctx, 7, 5))
	ok(Append(ctx, a, 0, x[:5]))
	ok(Insert(ctx, a, 0, 5, x[:5]))
	ok(a.Delete(ctx, 0, 5, 2))
	ok(a.Frame().SetVLMeta("k", []byte{0xc0}))
}

// reads returns a function that checks the results of a read.
func reads[T comparable](t *testing.T, what string, want []T) func([]T, error) {
	return func(got []T, err error) {
		t.Helper()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
}
