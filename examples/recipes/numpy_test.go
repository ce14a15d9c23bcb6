package recipes

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/frame/store"
	. "github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// T is the type of the items of a.
type T = int64

type Point struct {
	Pos struct {
		X float32 `b2:"x"`
		Y float32 `b2:"y"`
	} `b2:"pos"`
}

func eye(t Tile[float64]) error {
	for at, item := range t.All() {
		if at[0] == at[1] {
			*item = 1
		}
	}
	return nil
}

func double(out []T, in Tile[T]) error {
	for i, x := range in.Items {
		out[i] = 2*x + 1
	}
	return nil
}

// is returns a function that fails the test unless a result has a text. The text of an array or a view is its shape,
// dtype, and the sum of its items if they are numbers.
func is(t *testing.T, want string) func(v any, err error) {
	return func(v any, err error) {
		t.Helper()
		must(t, err)
		if r, ok := v.(Reader); ok {
			text := fmt.Sprint(r.Shape(), " ", r.DType())
			if floats, err := AsType(r, "<f8"); err == nil {
				items, err := Read[float64](context.Background(), floats)
				must(t, err)
				sum := 0.0
				for _, x := range items {
					sum += x
				}
				text += fmt.Sprint(" ", sum)
			}
			v = text
		}
		if got := fmt.Sprint(v); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// same fails the test unless values have a text.
func same(t *testing.T, want string, values ...any) {
	t.Helper()
	is(t, want)(fmt.Sprint(values...), nil)
}

// counted returns the array a of docs/NUMPY.md: the numbers 0 to 119 in shape (6, 5, 4).
func counted(t *testing.T, name string) *Array {
	t.Helper()
	data := make([]T, 120)
	for i := range data {
		data[i] = T(i)
	}
	a, err := Create(t.Context(), name, []int64{6, 5, 4}, data, &CreateOptions{Chunks: []int64{3, 5, 4}, Blocks: []int64{1, 5, 4}})
	must(t, err)
	return a
}

// TestNumPyReads has the rows of docs/NUMPY.md that open and read.
func TestNumPyReads(t *testing.T) {
	ctx := t.Context()
	t.Chdir(t.TempDir())
	counted(t, "a.b2nd").Close()
	a, err := Open(ctx, "a.b2nd", nil)
	must(t, err)
	defer a.Close()
	edited, err := Edit(ctx, "a.b2nd", nil)
	must(t, err)
	must(t, edited.Close())

	same(t, "[6 5 4] <i8 [3 5 4] [1 5 4]\n", fmt.Sprintln(a.Shape(), a.DType(), a.Chunks(), a.Blocks()))
	same(t, "3 120 8", len(a.Shape()), a.Size(), a.DType().Size)
	same(t, "960\n", fmt.Sprintln(a.Frame().Info().NBytes)) // its two chunks need no padding
	if a.NBytes() != 960 || a.CBytes() <= 0 {
		t.Error(a.NBytes(), a.CBytes())
	}
	fmt.Println(a)

	is(t, "120")(length(Read[T](ctx, a)))
	is(t, "[43 47 51 55 59 63 67 71 75 79 83 87 91 95 99]")(Read[T](ctx, a, Span(2, 5), All, At(-1)))
	is(t, "80")(length(Read[T](ctx, a, Span(2, None))))
	is(t, "100")(length(Read[T](ctx, a, Span(0, 5))))
	is(t, "60")(length(Read[T](ctx, a, Ellipsis, Step(None, None, -2), NewAxis)))
	is(t, "76")(Item[T](ctx, a, 3, 4, 0))
	is(t, "[60 61 62 63 68 69 70 71 20 21 22 23 28 29 30 31]")(Read[T](ctx, a, Pick(3, 1), Pick(0, 2)))
	is(t, "[60 61 62 63 28 29 30 31]")(Read[T](ctx, a, Coords([]int64{3, 1}), Coords([]int64{0, 2})))
	keep := make([]bool, 120)
	keep[5], keep[119] = true, true
	is(t, "[5 119]")(Read[T](ctx, a, Mask(keep, a.Shape()...)))
	is(t, "[7 3]")(Read[T](ctx, a, Flat(7, 3)))
	s := "5, ..., -1"
	sel, err := ParseSelection(s)
	must(t, err)
	is(t, "[103 107 111 115 119]")(Read[T](ctx, a, sel...))
	small, err := AsType(a, "<i4")
	must(t, err)
	func(a Reader) { is(t, "120")(length(Read[float64](ctx, a))) }(small)

	is(t, "[4 5 6] <i8 7140")(Transpose(a))
	is(t, "[6 5 4] <i8 7140")(Flip(a, 0))
	is(t, "[1 6 5 4] <i8 7140")(ExpandDims(a, 0))
	is(t, "[6 5 4] <i8 7140")(Squeeze(a))
	is(t, "[2 6 5 4] <i8 14280")(BroadcastTo(a, 2, 6, 5, 4))
	is(t, "[6 5 4] |u1 7140")(AsType(a, "u1"))

	chunks, tiles := 0, 0
	for info, err := range a.ChunkInfos(ctx) {
		must(t, err)
		_ = info
		chunks++
	}
	for t, err := range Tiles[T](ctx, a, ByChunk(a).ReadAhead(2)) {
		if err == nil && len(t.Items) == 60 {
			tiles++
		}
	}
	same(t, "2 2", chunks, tiles)
	for _, boxes := range []Boxes{ByBlock(a), ByRows(a, 0, 1), ByWindow(a, []int64{1, 5, 4}, []int64{1, 5, 4}, nil)} {
		same(t, "6", boxes.Len())
	}
	is(t, "[1 5 4] <i8 7140")(Reduce(ctx, a, OpSum, &ReduceOptions{Axes: []int{0}, KeepDims: true}))
	is(t, "119")(ReduceAll[T](ctx, a, OpMax, nil))
	f, err := Create(ctx, "", []int64{3}, []float64{1, math.NaN(), 3}, nil)
	must(t, err)
	is(t, "2")(ReduceAll[float64](ctx, f, OpMean, &ReduceOptions{SkipNaN: true}))
	edges := []float64{0, 50, 100}
	is(t, "[50 51]")(Histogram(ctx, a, edges))
	is(t, "[2 2.8]")(Quantiles(ctx, f, []float64{0.5, 0.9}, &ReduceOptions{SkipNaN: true}))
}

// length returns the number of items that a call has read.
func length[E any](items []E, err error) (int, error) { return len(items), err }

// TestNumPyCreates has the rows that create arrays.
func TestNumPyCreates(t *testing.T) {
	ctx, shape := t.Context(), []int64{2, 3}
	t.Chdir(t.TempDir())
	a, c, x := counted(t, ""), counted(t, ""), []float64{1, 2}

	is(t, "[2 3] <f4 0")(Zeros(ctx, "", shape, "<f4", nil))
	is(t, "[2 3] <f8 6")(Full(ctx, "", shape, 1.0, nil))
	is(t, "[2 3] <i8 42")(Full(ctx, "", shape, int64(7), nil))
	is(t, "[2 3] <f8 NaN")(Full(ctx, "", shape, math.NaN(), nil))
	is(t, "[6 5 4] <i8 0")(Zeros(ctx, "", a.Shape(), a.DType().String(), a.CreateOptions()))
	is(t, "[6 5 4] <i8 840")(Full(ctx, "", a.Shape(), T(7), a.CreateOptions()))
	is(t, "[2 3] <f8 0")(Zeros(ctx, "", shape, "<f8", nil))
	is(t, "[3 3] <f8 3")(FromFunc(ctx, "", []int64{3, 3}, eye, nil))
	created, err := Create(ctx, "x.b2nd", []int64{2}, x, nil)
	is(t, "[2] <f8 3")(created, err)
	must(t, created.Close())
	is(t, "[2] <f8 3")(Create(ctx, "", []int64{2}, x, &CreateOptions{Codec: codec.LZ4HC, Level: 9}))
	is(t, "[2] <f8 3")(Create(ctx, "", []int64{2}, x,
		&CreateOptions{Filters: []chunk.Filter{chunk.TruncPrec.With(12), chunk.Shuffle}}))
	is(t, "[5] <i8 20")(Arange[int64](ctx, "", 0, 10, 2, nil))
	is(t, "[5] <f8 2.5")(Linspace[float64](ctx, "", 0, 1, 5, nil))
	f := func(t Tile[float64]) error { t.Items[0] = 1; return nil }
	is(t, "[2 3] <f8 1")(FromFunc(ctx, "", shape, f, nil))
	is(t, "[2] <f8 3")(FromSeq(ctx, "", []int64{2}, slices.Values(x), nil))
	is(t, "[2] |u1 3")(FromReader(ctx, "", []int64{2}, "|u1", bytes.NewReader([]byte{1, 2}), nil))

	is(t, "[12 5 4] <i8 14280")(Concat(ctx, "", 0, []Reader{a, c}, nil))
	is(t, "[2 6 5 4] <i8 14280")(Stack(ctx, "", 0, []Reader{a, c}, nil))
	is(t, "[60 2] <i8 7140")(Reshape(ctx, "", a, []int64{-1, 2}, nil))
	is(t, "[6 5 4] <i8 7140")(Copy(ctx, "", a, &CreateOptions{Chunks: []int64{6, 5, 2}}))
	is(t, "[6 5 4] <i8 14400")(Map(ctx, "", a, double, nil))

	file := new(bytes.Buffer)
	must(t, npy.Write(ctx, file, a))
	is(t, "[6 5 4] <i8 7140")(npy.Read(ctx, "", file, nil))
	file.Reset()
	must(t, ToWriter(ctx, file, a))
	same(t, "960", file.Len())
	file.Reset()
	n, err := a.Save(ctx, file)
	must(t, err)
	b := file.Bytes()
	same(t, fmt.Sprint(len(b)), n)
	is(t, "[6 5 4] <i8 7140")(OpenBytes(b, nil))
}

// TestNumPyEdits has the rows that change an array.
func TestNumPyEdits(t *testing.T) {
	ctx, a := t.Context(), counted(t, "")
	rows, x, y := make([]T, 20), []T{-7, -3}, make([]T, 60)

	must(t, Write(ctx, a, x, Flat(7, 3)))
	must(t, Write(ctx, a, y, Span(2, 5)))
	is(t, "[6 5 4] <i8 2950")(a, nil)
	must(t, Fill(ctx, a, 7, Span(2, 5)))
	is(t, "[6 5 4] <i8 3370")(a, nil)
	must(t, a.Resize(ctx, 7, 5, 4))
	must(t, Append(ctx, a, 0, rows))
	is(t, "[8 5 4] <i8 3370")(a, nil)
	must(t, Insert(ctx, a, 0, 5, rows))
	is(t, "[9 5 4] <i8 3370")(a, nil)
	must(t, a.Delete(ctx, 0, 5, 2))
	is(t, "[7 5 4] <i8 1180")(a, nil)

	b, err := a.Begin(ctx)
	must(t, err)
	must(t, Fill(ctx, b, 1))
	must(t, b.Commit())
	is(t, "[7 5 4] <i8 140")(a, nil)

	v := "value"
	must(t, a.SetAttr(ctx, "k", v))
	v = ""
	must(t, a.Attr("k", &v))
	same(t, "[k] value", a.Attrs(), " ", v)
	must(t, a.DeleteAttr(ctx, "k"))
	same(t, "[]", a.Attrs())
}

// TestNumPyStructures has the rows about structured items.
func TestNumPyStructures(t *testing.T) {
	ctx, points := t.Context(), make([]Point, 3)
	points[1].Pos.X = 2
	s, err := Create(ctx, "", []int64{3}, points, nil)
	must(t, err)
	is(t, "[3] <f4 2")(Field(s, "pos.x"))
	is(t, "[{{0 0}} {{2 0}} {{0 0}}]")(Read[Point](ctx, s))
}

// TestNumPyElsewhere has the rows about stores and servers.
func TestNumPyElsewhere(t *testing.T) {
	ctx := t.Context()
	t.Chdir(t.TempDir())
	d, err := store.Create(ctx, "s.b2d", nil)
	must(t, err)
	defer d.Close()
	must(t, d.Put(ctx, "/x", counted(t, "a.b2nd").Frame()))
	must(t, d.Pack(ctx, "s.b2z", nil))

	s, err := store.Open(ctx, "s.b2z", nil)
	must(t, err)
	defer s.Close()
	is(t, "[6 5 4] <i8 7140")(s.Array(ctx, "/x"))

	server := httptest.NewServer(http.FileServer(http.Dir(".")))
	defer server.Close()
	url := server.URL + "/a.b2nd"
	src, err := remote.Open(ctx, url, nil)
	must(t, err)
	defer src.Close()
	is(t, "[6 5 4] <i8 7140")(OpenSource(ctx, src, nil))
}
