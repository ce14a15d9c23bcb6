package attack

import (
	"bytes"
	"context"
	"io"
	"math"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// arrayCalls returns calls of package ndarray.
func arrayCalls(t *testing.T) []oddCall {
	ctx := context.Background()
	must := func(a *ndarray.Array, err error) *ndarray.Array {
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := must(ndarray.Create(ctx, "", []int64{4, 6}, make([]int32, 24), nil))
	f := must(ndarray.Create(ctx, "", []int64{3}, []float64{1, math.NaN(), 3}, nil))
	empty := must(ndarray.Zeros(ctx, "", []int64{0, 5}, "<f4", nil))
	scalar := must(ndarray.Zeros(ctx, "", []int64{}, "<i8", nil))
	closed := must(ndarray.Zeros(ctx, "", []int64{4}, "<i4", nil))
	closed.Close()
	view, err := ndarray.Slice(closed, ndarray.Span(1, 3))
	if err != nil {
		t.Log(err)
		view, _ = ndarray.Slice(a, ndarray.At(0))
	}
	const top, low = math.MaxInt64, math.MinInt64
	o := func(f func(o *ndarray.CreateOptions)) *ndarray.CreateOptions {
		o := &ndarray.CreateOptions{}
		f(o)
		return o
	}
	return []oddCall{
		{"Zeros nil shape", nil, func() error { return second(ndarray.Zeros(ctx, "", nil, "<i4", nil)) }},
		{"Zeros negative", errAny, func() error { return second(ndarray.Zeros(ctx, "", []int64{-1}, "<i4", nil)) }},
		{"Zeros huge", errAny, func() error { return second(ndarray.Zeros(ctx, "", []int64{top, top}, "<i4", nil)) }},
		{"Zeros 9 axes", nil, func() error { return second(ndarray.Zeros(ctx, "", make([]int64, 9), "<i4", nil)) }},
		{"Zeros no dtype", errAny, func() error { return second(ndarray.Zeros(ctx, "", []int64{3}, "", nil)) }},
		{"Zeros dtype of no bytes", errAny, func() error { return second(ndarray.Zeros(ctx, "", []int64{3}, "|S0", nil)) }},
		{"Zeros huge dtype", errAny, func() error { return second(ndarray.Zeros(ctx, "", []int64{3}, "|S9999999999", nil)) }},
		{"chunks of 0", nil, func() error {
			return second(ndarray.Zeros(ctx, "", []int64{3}, "<i4", o(func(o *ndarray.CreateOptions) { o.Chunks = []int64{0} })))
		}},
		{"chunks negative", errAny, func() error {
			return second(ndarray.Zeros(ctx, "", []int64{3}, "<i4", o(func(o *ndarray.CreateOptions) { o.Chunks = []int64{-4} })))
		}},
		{"chunks of more axes", errAny, func() error {
			return second(ndarray.Zeros(ctx, "", []int64{3}, "<i4", o(func(o *ndarray.CreateOptions) { o.Chunks = []int64{1, 1} })))
		}},
		{"blocks of 0", nil, func() error {
			return second(ndarray.Zeros(ctx, "", []int64{3}, "<i4", o(func(o *ndarray.CreateOptions) { o.Blocks = []int64{0} })))
		}},
		{"chunks huge", errAny, func() error {
			return second(ndarray.Zeros(ctx, "", []int64{3}, "<i4", o(func(o *ndarray.CreateOptions) { o.Chunks = []int64{top} })))
		}},
		{"level -7", errAny, func() error {
			return second(ndarray.Zeros(ctx, "", []int64{3}, "<i4", o(func(o *ndarray.CreateOptions) { o.Level = -7 })))
		}},
		{"concurrency -1", ndarray.ErrParam, func() error {
			return second(ndarray.Zeros(ctx, "", []int64{3}, "<i4", o(func(o *ndarray.CreateOptions) { o.Concurrency = -1 })))
		}},
		{"Create too few", ndarray.ErrShape, func() error { return second(ndarray.Create(ctx, "", []int64{4}, []int32{1}, nil)) }},
		{"Create nil data", nil, func() error { return second(ndarray.Create[int32](ctx, "", []int64{0}, nil, nil)) }},
		{"Create of any", ndarray.ErrType, func() error { return second(ndarray.Create(ctx, "", []int64{1}, []any{1}, nil)) }},
		{"Create of pointers", ndarray.ErrType, func() error { return second(ndarray.Create(ctx, "", []int64{1}, []*int{nil}, nil)) }},
		{"Create of maps", ndarray.ErrType, func() error { return second(ndarray.Create(ctx, "", []int64{1}, []map[int]int{nil}, nil)) }},
		{"Create of empty structs", errAny, func() error { return second(ndarray.Create(ctx, "", []int64{2}, []struct{}{{}, {}}, nil)) }},
		{"Create two unknown axes", errAny, func() error { return second(ndarray.Create(ctx, "", []int64{-1, -1}, []int32{1}, nil)) }},
		{"CreateBytes ragged", ndarray.ErrShape, func() error { return second(ndarray.CreateBytes(ctx, "", []int64{1}, "<i4", []byte{1}, nil)) }},
		{"Full NaN", nil, func() error { return second(ndarray.Full(ctx, "", []int64{3}, math.NaN(), nil)) }},
		{"Full of strings", nil, func() error { return second(ndarray.Full(ctx, "", []int64{3}, "", nil)) }},
		{"FullBytes nil item", errAny, func() error { return second(ndarray.FullBytes(ctx, "", []int64{3}, "<i4", nil, nil)) }},
		{"Arange step 0", errAny, func() error { return second(ndarray.Arange[int64](ctx, "", 0, 10, 0, nil)) }},
		{"Arange NaN", errAny, func() error { return second(ndarray.Arange(ctx, "", 0, math.NaN(), 1, nil)) }},
		{"Arange NaN step", errAny, func() error { return second(ndarray.Arange(ctx, "", 0, 10, math.NaN(), nil)) }},
		{"Arange Inf", errAny, func() error { return second(ndarray.Arange(ctx, "", 0, math.Inf(1), 1, nil)) }},
		{"Arange tiny step", errAny, func() error { return second(ndarray.Arange(ctx, "", 0, 1e300, 1e-300, nil)) }},
		{"Arange int8 overflow", nil, func() error { return second(ndarray.Arange[int8](ctx, "", -128, 127, 100, nil)) }},
		{"Arange int64 extremes", errAny, func() error { return second(ndarray.Arange[int64](ctx, "", low, top, 1, nil)) }},
		{"Arange backwards", nil, func() error { return second(ndarray.Arange[int64](ctx, "", 10, 0, 1, nil)) }},
		{"Linspace -1", errAny, func() error { return second(ndarray.Linspace[float64](ctx, "", 0, 1, -1, nil)) }},
		{"Linspace 0", nil, func() error { return second(ndarray.Linspace[float64](ctx, "", 0, 1, 0, nil)) }},
		{"Linspace NaN", nil, func() error { return second(ndarray.Linspace[float64](ctx, "", math.NaN(), 1, 3, nil)) }},
		{"Linspace huge", errAny, func() error { return second(ndarray.Linspace[float64](ctx, "", 0, 1, top, nil)) }},
		{"FromReader short", io.ErrUnexpectedEOF, func() error {
			return second(ndarray.FromReader(ctx, "", []int64{3}, "<i4", bytes.NewReader([]byte{1}), nil))
		}},
		{"Concat none", errAny, func() error { return second(ndarray.Concat(ctx, "", 0, nil, nil)) }},
		{"Concat axis 9", errAny, func() error { return second(ndarray.Concat(ctx, "", 9, []ndarray.Reader{a}, nil)) }},
		{"Concat axis -9", errAny, func() error { return second(ndarray.Concat(ctx, "", -9, []ndarray.Reader{a}, nil)) }},
		{"Concat scalars", errAny, func() error { return second(ndarray.Concat(ctx, "", 0, []ndarray.Reader{scalar, scalar}, nil)) }},
		{"Concat empty", nil, func() error { return second(ndarray.Concat(ctx, "", 0, []ndarray.Reader{empty, empty}, nil)) }},
		{"Stack axis 9", errAny, func() error { return second(ndarray.Stack(ctx, "", 9, []ndarray.Reader{a}, nil)) }},
		{"Stack none", errAny, func() error { return second(ndarray.Stack(ctx, "", 0, nil, nil)) }},
		{"Reshape -1 twice", errAny, func() error { return second(ndarray.Reshape(ctx, "", a, []int64{-1, -1}, nil)) }},
		{"Reshape -1 of none", errAny, func() error { return second(ndarray.Reshape(ctx, "", empty, []int64{0, -1}, nil)) }},
		{"Reshape huge", errAny, func() error { return second(ndarray.Reshape(ctx, "", a, []int64{top, 2}, nil)) }},
		{"Reshape -2", errAny, func() error { return second(ndarray.Reshape(ctx, "", a, []int64{-2, 12}, nil)) }},
		{"Read closed", errAny, func() error { return second(ndarray.Read[int32](ctx, closed)) }},
		{"Read view of closed", nil, func() error { second(ndarray.Read[int32](ctx, view)); return nil }},
		{"Read nil index", errAny, func() error { return second(ndarray.Read[int32](ctx, a, nil)) }},
		{"Read step 0", errAny, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Step(0, 4, 0))) }},
		{"Read low step", nil, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Step(3, ndarray.None, low))) }},
		{"Read top step", nil, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Step(low+1, top, top))) }},
		{"Read too many", errAny, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.At(0), ndarray.At(0), ndarray.At(0))) }},
		{"Read two ellipses", errAny, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Ellipsis, ndarray.Ellipsis)) }},
		{"Read 40 new axes", nil, func() error {
			sel := make([]ndarray.Index, 40)
			for i := range sel {
				sel[i] = ndarray.NewAxis
			}
			return second(ndarray.Read[int32](ctx, a, sel...))
		}},
		{"Read At low", ndarray.ErrBounds, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.At(low))) }},
		{"Read At scalar", errAny, func() error { return second(ndarray.Read[int64](ctx, scalar, ndarray.At(0))) }},
		{"Read Pick none", nil, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Pick())) }},
		{"Read Pick low", ndarray.ErrBounds, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Pick(low))) }},
		{"Read Coords none", errAny, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Coords(nil, 3))) }},
		{"Read Coords negative", errAny, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Coords([]int64{1}, -1))) }},
		{"Read Coords huge", errAny, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Coords([]int64{1}, top, top))) }},
		{"Read Mask nil", nil, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Mask(nil))) }},
		{"Read Mask negative", errAny, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Mask([]bool{true}, -1, -1))) }},
		{"Read Mask huge", errAny, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Mask([]bool{true}, top, top))) }},
		{"Read Flat low", ndarray.ErrBounds, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Flat(low))) }},
		{"Read Flat none", nil, func() error { return second(ndarray.Read[int32](ctx, a, ndarray.Flat())) }},
		{"Read Flat of empty", ndarray.ErrBounds, func() error { return second(ndarray.Read[float32](ctx, empty, ndarray.Flat(0))) }},
		{"Read as any", errAny, func() error { return second(ndarray.Read[any](ctx, a)) }},
		{"Read as struct", errAny, func() error { return second(ndarray.Read[struct{ A int }](ctx, a)) }},
		{"Read as recursive", errAny, func() error { return second(ndarray.Read[recursive](ctx, a)) }},
		{"ReadInto nil", ndarray.ErrShape, func() error { return ndarray.ReadInto[int32](ctx, a, nil) }},
		{"ReadBytes long", ndarray.ErrShape, func() error { return a.ReadBytes(ctx, make([]byte, 97)) }},
		{"ReadBytes none", nil, func() error { return a.ReadBytes(ctx, nil, ndarray.Span(1, 1)) }},
		{"Item none", errAny, func() error { return second(ndarray.Item[int32](ctx, a)) }},
		{"Item many", errAny, func() error { return second(ndarray.Item[int32](ctx, a, 0, 0, 0)) }},
		{"Item low", ndarray.ErrBounds, func() error { return second(ndarray.Item[int32](ctx, a, low, 0)) }},
		{"Item of scalar", nil, func() error { return second(ndarray.Item[int64](ctx, scalar)) }},
		{"Write closed", errAny, func() error { return ndarray.Write(ctx, closed, []int32{1}, ndarray.At(0)) }},
		{"Write nil", ndarray.ErrShape, func() error { return ndarray.Write[int32](ctx, a, nil) }},
		{"Write none", nil, func() error { return ndarray.Write[int32](ctx, a, nil, ndarray.Span(1, 1)) }},
		{"Fill NaN in ints", errAny, func() error { return ndarray.Fill(ctx, a, math.NaN()) }},
		{"Fill NaN", nil, func() error { return ndarray.Fill(ctx, f, math.NaN(), ndarray.At(1)) }},
		{"Fill string", errAny, func() error { return ndarray.Fill(ctx, a, "x") }},
		{"FillBytes nil", errAny, func() error { return a.FillBytes(ctx, nil) }},
		{"FillBytes none selected", nil, func() error { return a.FillBytes(ctx, make([]byte, 4), ndarray.Span(1, 1)) }},
		{"Append axis 9", errAny, func() error { return ndarray.Append(ctx, a, 9, []int32{1}) }},
		{"Append axis -9", errAny, func() error { return ndarray.Append(ctx, a, -9, []int32{1}) }},
		{"Append ragged", errAny, func() error { return ndarray.Append(ctx, a, 0, []int32{1}) }},
		{"Append nil", nil, func() error { return ndarray.Append[int32](ctx, a, 0, nil) }},
		{"Append scalar", errAny, func() error { return ndarray.Append(ctx, scalar, 0, []int64{1}) }},
		{"Append no items of width 0", errAny, func() error { return ndarray.Append(ctx, empty, 1, []float32{1}) }},
		{"Insert low", errAny, func() error { return ndarray.Insert(ctx, a, 0, low, make([]int32, 6)) }},
		{"Insert top", errAny, func() error { return ndarray.Insert(ctx, a, 0, top, make([]int32, 6)) }},
		{"Delete low", errAny, func() error { return a.Delete(ctx, 0, low, 1) }},
		{"Delete negative count", errAny, func() error { return a.Delete(ctx, 0, 0, -1) }},
		{"Delete top", errAny, func() error { return a.Delete(ctx, 0, 1, top) }},
		{"Delete none", nil, func() error { return a.Delete(ctx, 0, 0, 0) }},
		{"Delete axis 9", errAny, func() error { return a.Delete(ctx, 9, 0, 1) }},
		{"Resize none", errAny, func() error { return a.Resize(ctx) }},
		{"Resize negative", errAny, func() error { return a.Resize(ctx, -1, 6) }},
		{"Resize top", errAny, func() error { return a.Resize(ctx, top, top) }},
		{"Resize scalar", nil, func() error { return scalar.Resize(ctx) }},
		{"SetAttr no name", nil, func() error { a.SetAttr(ctx, "", 1); return nil }},
		{"SetAttr chan", errAny, func() error { return a.SetAttr(ctx, "c", make(chan int)) }},
		{"SetAttr nil", nil, func() error { return a.SetAttr(ctx, "n", nil) }},
		{"SetAttr recursive", errAny, func() error { m := map[string]any{}; m["m"] = m; return a.SetAttr(ctx, "r", m) }},
		{"Attr nil", errAny, func() error { return a.Attr("n", nil) }},
		{"Attr value", errAny, func() error { return a.Attr("n", 3) }},
		{"Attr nil pointer", errAny, func() error { return a.Attr("n", (*int)(nil)) }},
		{"Attr missing", errAny, func() error { var v any; return a.Attr("zz", &v) }},
		{"DeleteAttr missing", errAny, func() error { return a.DeleteAttr(ctx, "zz") }},
		{"Verify closed", errAny, func() error { return closed.Verify(ctx, nil) }},
		{"Save closed", errAny, func() error { return second(closed.Save(ctx, io.Discard)) }},
		{"Compact memory", nil, func() error { a.Compact(ctx); return nil }},
		{"Reduce op 99", errAny, func() error { return second(ndarray.Reduce(ctx, a, ndarray.Op(99), nil)) }},
		{"Reduce axis 9", errAny, func() error {
			return second(ndarray.Reduce(ctx, a, ndarray.OpSum, &ndarray.ReduceOptions{Axes: []int{9}}))
		}},
		{"Reduce axis twice", errAny, func() error {
			return second(ndarray.Reduce(ctx, a, ndarray.OpSum, &ndarray.ReduceOptions{Axes: []int{0, -2}}))
		}},
		{"Reduce empty max", errAny, func() error { return second(ndarray.Reduce(ctx, empty, ndarray.OpMax, nil)) }},
		{"Reduce empty sum", nil, func() error { return second(ndarray.Reduce(ctx, empty, ndarray.OpSum, nil)) }},
		{"ReduceAll empty mean", nil, func() error { second(ndarray.ReduceAll[float64](ctx, empty, ndarray.OpMean, nil)); return nil }},
		{"ReduceAll as string", errAny, func() error { return second(ndarray.ReduceAll[string](ctx, a, ndarray.OpSum, nil)) }},
		{"ReduceInto nil", errAny, func() error { return ndarray.ReduceInto[float64](ctx, a, nil, ndarray.OpSum, nil) }},
		{"Histogram no edges", errAny, func() error { return second(ndarray.Histogram(ctx, a, nil)) }},
		{"Histogram one edge", errAny, func() error { return second(ndarray.Histogram(ctx, a, []float64{1})) }},
		{"Histogram NaN edge", errAny, func() error { return second(ndarray.Histogram(ctx, a, []float64{0, math.NaN()})) }},
		{"Histogram unsorted", errAny, func() error { return second(ndarray.Histogram(ctx, a, []float64{1, 0})) }},
		{"Histogram closed", errAny, func() error { return second(ndarray.Histogram(ctx, closed, []float64{0, 1})) }},
		{"Quantiles none", nil, func() error { return second(ndarray.Quantiles(ctx, a, nil, nil)) }},
		{"Quantiles NaN", errAny, func() error { return second(ndarray.Quantiles(ctx, a, []float64{math.NaN()}, nil)) }},
		{"Quantiles 2", errAny, func() error { return second(ndarray.Quantiles(ctx, a, []float64{2}, nil)) }},
		{"Quantiles empty", nil, func() error { return second(ndarray.Quantiles(ctx, empty, []float64{0.5}, nil)) }},
		{"ByRows 0", errAny, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByRows(a, 0, 0))) }},
		{"ByRows -1", errAny, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByRows(a, 0, -1))) }},
		{"ByRows axis 9", errAny, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByRows(a, 9, 1))) }},
		{"ByRows top", nil, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByRows(a, 0, top))) }},
		{"ByTile 0", nil, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByTile(a, 0))) }},
		{"ByTile low", nil, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByTile(a, low))) }},
		{"ByWindow none", errAny, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByWindow(a, nil, nil, nil))) }},
		{"ByWindow 0", errAny, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByWindow(a, []int64{0, 0}, nil, nil))) }},
		{"ByWindow stride 0", errAny, func() error {
			return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByWindow(a, []int64{1, 1}, []int64{0, 0}, nil)))
		}},
		{"ByWindow halo -1", errAny, func() error {
			return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByWindow(a, []int64{1, 1}, []int64{1, 1}, []int64{-1, 0})))
		}},
		{"ByWindow huge", nil, func() error {
			return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByWindow(a, []int64{top, top}, []int64{top, top}, []int64{top, top})))
		}},
		{"Tiles zero boxes", nil, func() error { ends(ndarray.Tiles[int32](ctx, a, ndarray.Boxes{})); return nil }},
		{"Tiles of another array", errAny, func() error { return ends(ndarray.Tiles[float64](ctx, f, ndarray.ByChunk(a))) }},
		{"Tiles read ahead low", nil, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByChunk(a).ReadAhead(math.MinInt))) }},
		{"ReadAhead top", nil, func() error { return ends(ndarray.Tiles[int32](ctx, a, ndarray.ByChunk(a).ReadAhead(math.MaxInt))) }},
		{"BroadcastTo none", errAny, func() error { return second(ndarray.BroadcastTo(a)) }},
		{"BroadcastTo negative", errAny, func() error { return second(ndarray.BroadcastTo(a, -1, 4, 6)) }},
		{"BroadcastTo huge", errAny, func() error { return second(ndarray.BroadcastTo(a, top, 4, 6)) }},
		{"Transpose twice", errAny, func() error { return second(ndarray.Transpose(a, 0, 0)) }},
		{"Transpose 9", errAny, func() error { return second(ndarray.Transpose(a, 9, 0)) }},
		{"Flip 9", errAny, func() error { return second(ndarray.Flip(a, 9)) }},
		{"Squeeze 0", errAny, func() error { return second(ndarray.Squeeze(a, 0)) }},
		{"ExpandDims 99", errAny, func() error { return second(ndarray.ExpandDims(a, 99)) }},
		{"ExpandDims twice", errAny, func() error { return second(ndarray.ExpandDims(a, 0, 0)) }},
		{"AsType none", errAny, func() error { return second(ndarray.AsType(a, "")) }},
		{"AsType text", errAny, func() error { return second(ndarray.AsType(a, "<U3")) }},
		{"Field of ints", errAny, func() error { return second(ndarray.Field(a, "x")) }},
		{"PlanRechunk none", nil, func() error { return second(ndarray.PlanRechunk(nil, 0, nil, nil, 0)) }},
		{"PlanRechunk negative", errAny, func() error { return second(ndarray.PlanRechunk([]int64{4}, -1, []int64{1}, []int64{2}, -5)) }},
		{"PlanRechunk top", ndarray.ErrTooLarge, func() error { return second(ndarray.PlanRechunk([]int64{top}, top, []int64{1}, []int64{2}, top)) }},
		{"PlanRechunk chunks 0", errAny, func() error { return second(ndarray.PlanRechunk([]int64{4}, 4, []int64{0}, []int64{2}, 100)) }},
		{"CreateRegions nil shape", errAny, func() error { return second(ndarray.CreateRegions(ctx, t.TempDir()+"/r", nil, "", nil)) }},
		{"CreateRegions no name", errAny, func() error { return second(ndarray.CreateRegions(ctx, "", []int64{4}, "<i4", nil)) }},
		{"OpenRegions no name", errAny, func() error { return second(ndarray.OpenRegions(ctx, "", nil)) }},
		{"Open no name", errAny, func() error { return second(ndarray.Open(ctx, "", nil)) }},
		{"Edit directory", errAny, func() error { return second(ndarray.Edit(ctx, t.TempDir(), nil)) }},
		{"OpenBytes nil", errAny, func() error { return second(ndarray.OpenBytes(nil, nil)) }},
		{"OpenReaderAt negative", ndarray.ErrParam, func() error { return second(ndarray.OpenReaderAt(ctx, bytes.NewReader(nil), -1, nil)) }},
		{"ParseSelection none", nil, func() error { return second(ndarray.ParseSelection("")) }},
		{"ParseSelection commas", errAny, func() error { return second(ndarray.ParseSelection(",,")) }},
		{"WorkItems zero boxes", nil, func() error {
			for range a.WorkItems(ndarray.Boxes{}) {
			}
			return nil
		}},
		{"descriptions of what is closed", nil, func() error {
			_, _, _ = closed.String(), view.String(), closed.Shape()
			_ = closed.CreateOptions()
			return nil
		}},
	}
}

// recursive is a type that holds itself.
type recursive struct{ Next []recursive }
