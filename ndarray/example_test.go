package ndarray_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

// Create an array from a slice, change a part of it and read a part of it.
func Example() {
	ctx := context.Background()
	data := []float32{
		1, 2, 3, 4,
		5, 6, 7, 8,
		9, 10, 11, 12,
	}
	// The name "" creates an array in memory; "matrix.b2nd" would create a file.
	a, err := ndarray.Create(ctx, "", []int64{3, 4}, data, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	// The last column.
	if err := ndarray.Write(ctx, a, []float32{40, 80, 120}, ndarray.All, ndarray.At(-1)); err != nil {
		log.Fatal(err)
	}
	rows, err := ndarray.Read[float32](ctx, a, ndarray.Span(1, ndarray.None))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Shape(), a.DType(), rows)
	// Output: [3 4] <f4 [5 6 7 80 9 10 11 120]
}

// Open an array that python-blosc2 wrote.
func ExampleOpen() {
	ctx := context.Background()
	a, err := ndarray.Open(ctx, "../testdata/python-blosc2/dtype_i4.b2nd", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	fmt.Println("shape", a.Shape(), "chunks", a.Chunks(), "blocks", a.Blocks(), "dtype", a.DType())
	corner, err := ndarray.Read[int32](ctx, a, ndarray.Span(0, 2), ndarray.Span(0, 3))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(corner)
	// Output:
	// shape [30 20] chunks [12 20] blocks [5 7] dtype <i4
	// [99 100 102 87 89 89]
}

func ExampleRead() {
	ctx := context.Background()
	data := make([]int64, 2*3*4)
	for i := range data {
		data[i] = int64(i)
	}
	a, err := ndarray.Create(ctx, "", []int64{2, 3, 4}, data, nil)
	if err != nil {
		log.Fatal(err)
	}
	show := func(sel ...ndarray.Index) {
		shape, err := a.SelectionShape(sel...)
		if err != nil {
			log.Fatal(err)
		}
		items, err := ndarray.Read[int64](ctx, a, sel...)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(sel, shape, items)
	}
	show(ndarray.At(1), ndarray.At(-1))
	show(ndarray.All, ndarray.At(0), ndarray.Span(1, 3))
	show(ndarray.Ellipsis, ndarray.Step(ndarray.None, ndarray.None, -2), ndarray.At(0))
	sel, err := ndarray.ParseSelection("0, 1:, None, ::3")
	if err != nil {
		log.Fatal(err)
	}
	show(sel...)
	// Output:
	// [1 -1] [4] [20 21 22 23]
	// [: 0 1:3] [2 2] [1 2 13 14]
	// [... ::-2 0] [2 2] [8 0 20 12]
	// [0 1: None ::3] [2 1 2] [4 7 8 11]
}

// Append one row to an array without rows, then several rows.
func ExampleArray_AppendBytes() {
	ctx := context.Background()
	a, err := ndarray.Zeros(ctx, "", []int64{0, 3}, "|u1", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, rows := range []string{"abc", "defghi"} {
		if err := a.AppendBytes(ctx, 0, []byte(rows)); err != nil {
			log.Fatal(err)
		}
	}
	last, err := ndarray.Read[uint8](ctx, a, ndarray.At(-1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Shape(), string(last))
	// Output: [3 3] ghi
}

// A copy can have another partition, other compression parameters, or another location.
func ExampleCopy() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{1000, 1000}, make([]float64, 1e6), nil)
	if err != nil {
		log.Fatal(err)
	}
	o := a.CreateOptions()
	o.Chunks, o.Blocks = []int64{100, 1000}, []int64{10, 500}
	o.Level = 9
	b, err := ndarray.Copy(ctx, "", a, o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Chunks(), a.Blocks())
	fmt.Println(b.Chunks(), b.Blocks(), b.Frame().Info().Params.Level)
	// Output:
	// [504 1000] [8 1000]
	// [100 1000] [10 500] 9
}

// The items are Float16 values, which print as numbers. For calculations, read them as float32.
func ExampleFloat16() {
	ctx := context.Background()
	data := []ndarray.Float16{ndarray.Float16Of(0.1), ndarray.Float16Of(65504.0), ndarray.Float16Of(1e6)}
	a, err := ndarray.Create(ctx, "", []int64{3}, data, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.DType(), data)
	fmt.Println(ndarray.Read[float32](ctx, a))
	// Output:
	// <f2 [0.1 65500 +Inf]
	// [0.099975586 65504 +Inf] <nil>
}

// Create chooses the length of the longest string. A longer string cannot be written later.
func ExampleRead_strings() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{2, 2}, []string{"Zürich", "Genève", "Basel", ""}, nil)
	if err != nil {
		log.Fatal(err)
	}
	row, err := ndarray.Read[string](ctx, a, ndarray.At(0))
	fmt.Printf("%v %q %v\n", a.DType(), row, err)
	err = ndarray.Fill(ctx, a, "Neuchâtel", ndarray.At(1), ndarray.At(1))
	fmt.Println(errors.Is(err, ndarray.ErrValue), err)
	// Output:
	// <U6 ["Zürich" "Genève"] <nil>
	// true ndarray: invalid value: item 0: string has 9 characters, but the item holds 6
}

// The unit of times is that of the dtype. The zero time.Time is NumPy's NaT.
func ExampleRead_times() {
	ctx := context.Background()
	days := []time.Time{time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), {}}
	a, err := ndarray.Create(ctx, "", []int64{2}, days, &ndarray.CreateOptions{DType: "M8[D]"})
	if err != nil {
		log.Fatal(err)
	}
	got, err := ndarray.Read[time.Time](ctx, a)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.DType(), got[0], got[1].IsZero())
	fmt.Println(ndarray.Read[int64](ctx, a))
	// Output:
	// <M8[D] 2024-02-29 00:00:00 +0000 UTC true
	// [19782 -9223372036854775808] <nil>
}

// The tags of the fields of a struct set the names of the fields of the dtype.
func ExampleRead_structs() {
	type city struct {
		Name  string     `b2:"name"`
		Place [2]float32 `b2:"place"`
		Since time.Time  `b2:"since,M8[Y]"`
	}
	ctx := context.Background()
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	a, err := ndarray.Create(ctx, "", []int64{2}, []city{
		{"Zürich", [2]float32{47.375, 8.5}, year(1262)}, {"Basel", [2]float32{47.5, 7.5}, year(1501)},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.DType())
	// A struct for reading may have only some of the fields.
	names, err := ndarray.Read[struct {
		Name string `b2:"name"`
	}](ctx, a)
	fmt.Println(names, err)
	last, err := ndarray.Item[city](ctx, a, -1)
	fmt.Println(last.Place, last.Since.Year(), err)
	// Output:
	// [('name', '<U6'), ('place', '<f4', (2,)), ('since', '<M8[Y]')]
	// [{Zürich} {Basel}] <nil>
	// [47.5 7.5] 1501 <nil>
}

// grid returns the array of the examples: 3 rows of 4 items.
func grid() *ndarray.Array {
	data := []int32{
		0, 1, 2, 3,
		10, 11, 12, 13,
		20, 21, 22, 23,
	}
	a, err := ndarray.Create(context.Background(), "", []int64{3, 4}, data, nil)
	if err != nil {
		log.Fatal(err)
	}
	return a
}

// Lists of two axes are independent: the result has all listed columns of all listed rows.
func ExamplePick() {
	a, ctx := grid(), context.Background()
	items, err := ndarray.Read[int32](ctx, a, ndarray.Pick(2, 0), ndarray.Pick(-1, 1, 1))
	fmt.Println(items, err)
	// Output: [23 21 21 3 1 1] <nil>
}

// Set every item of the selected rows to -1.
func ExampleMask() {
	a, ctx := grid(), context.Background()
	if err := ndarray.Fill(ctx, a, int32(-1), ndarray.Mask([]bool{true, false, true})); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ndarray.Read[int32](ctx, a))
	// Output: [-1 -1 -1 -1 10 11 12 13 -1 -1 -1 -1] <nil>
}

// Lists that are broadcast name points: row 2 of column 3, row 0 of column 1, row 1 of column 1.
func ExampleCoords() {
	a, ctx := grid(), context.Background()
	points := []ndarray.Index{ndarray.Coords([]int64{2, 0, 1}), ndarray.Coords([]int64{3, 1, 1})}
	fmt.Println(ndarray.Read[int32](ctx, a, points...))
	if err := ndarray.Write(ctx, a, []int32{7, 8, 9}, points...); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ndarray.Read[int32](ctx, a))
	// Output:
	// [23 1 11] <nil>
	// [0 8 2 3 10 9 12 13 20 21 22 7] <nil>
}

// Index arrays of different shapes are broadcast: the rows as a column and the columns as a row select a table.
func ExampleCoords_table() {
	a, ctx := grid(), context.Background()
	rows, columns := ndarray.Coords([]int64{2, 0}, 2, 1), ndarray.Coords([]int64{0, 1, 2})
	fmt.Println(a.SelectionShape(rows, columns))
	fmt.Println(ndarray.Read[int32](ctx, a, rows, columns))
	// Output:
	// [2 3] <nil>
	// [20 21 22 0 1 2] <nil>
}

// A mask of the whole array: set all items above 12 to 12.
func ExampleMask_whole() {
	a, ctx := grid(), context.Background()
	items, err := ndarray.Read[int32](ctx, a)
	if err != nil {
		log.Fatal(err)
	}
	mask := make([]bool, len(items))
	for i, x := range items {
		mask[i] = x > 12
	}
	above := ndarray.Mask(mask, a.Shape()...)
	fmt.Println(ndarray.Read[int32](ctx, a, above))
	if err := ndarray.Fill(ctx, a, int32(12), above); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ndarray.Read[int32](ctx, a))
	// Output:
	// [13 20 21 22 23] <nil>
	// [0 1 2 3 10 11 12 12 12 12 12 12] <nil>
}

// Flat is the only index of its selection. ReadInto reads the items into a slice of the caller.
func ExampleFlat() {
	a, dst := grid(), make([]int32, 3)
	err := ndarray.ReadInto(context.Background(), a, dst, ndarray.Flat(5, 0, -1))
	fmt.Println(dst, err)
	// Output: [11 0 23] <nil>
}

// Write to positions, like numpy.put. Positions count items in C order.
func ExampleFlat_put() {
	a, ctx := grid(), context.Background()
	if err := ndarray.Write(ctx, a, []int32{7, 8}, ndarray.Flat(-1, 4)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ndarray.Read[int32](ctx, a))
	// Output: [0 1 2 3 8 11 12 13 20 21 22 7] <nil>
}

func ExampleParseSelection() {
	sel, err := ndarray.ParseSelection("2:5, ..., ::-1")
	fmt.Println(sel, err)
	_, err = ndarray.ParseSelection("2:5, x")
	fmt.Println(err)
	// Output:
	// [2:5 ... ::-1] <nil>
	// ndarray: invalid selection: column 6: unknown word "x"
}

func ExampleStep() {
	fmt.Println(ndarray.At(-1), ndarray.Span(2, 5), ndarray.Span(3, ndarray.None), ndarray.Span(ndarray.None, -2))
	fmt.Println(ndarray.Step(0, 10, 2), ndarray.Step(ndarray.None, ndarray.None, -1))
	fmt.Println(ndarray.All, ndarray.Ellipsis, ndarray.NewAxis)
	// Output:
	// -1 2:5 3: :-2
	// 0:10:2 ::-1
	// : ... None
}

// Attributes are values that belong to the array: what python-blosc2 calls vlmeta.
func ExampleArray_SetAttr() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{2, 2}, []float32{280, 281, 279, 282}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	valid, err := ndarray.Create(ctx, "", []int64{2, 2}, []bool{true, true, false, true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer valid.Close()
	if err := errors.Join(
		a.SetAttr(ctx, "units", "K"),
		a.SetAttr(ctx, "levels", []int{1000, 850}),
		a.SetAttr(ctx, "valid", valid), // a copy of the array
		a.DeleteAttr(ctx, "levels"),
	); err != nil {
		log.Fatal(err)
	}
	var units string
	var mask *ndarray.Array
	if err := errors.Join(a.Attr("units", &units), a.Attr("valid", &mask)); err != nil {
		log.Fatal(err)
	}
	items, err := ndarray.Read[bool](ctx, mask)
	fmt.Println(a.Attrs(), units, items, err)
	fmt.Println(errors.Is(a.Attr("levels", &units), fs.ErrNotExist))
	// Output:
	// [units valid] K [true true false true] <nil>
	// true
}
