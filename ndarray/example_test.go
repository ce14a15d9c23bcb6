package ndarray_test

import (
	"context"
	"fmt"
	"log"

	"github.com/goblosc/blosc2/ndarray"
)

// An array is made of a slice, changed in part and read in part.
func Example() {
	ctx := context.Background()
	data := []float32{
		1, 2, 3, 4,
		5, 6, 7, 8,
		9, 10, 11, 12,
	}
	// A name in place of "" makes a file, for instance "matrix.b2nd".
	a, err := ndarray.Create(ctx, "", []int64{3, 4}, data, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	// The last column.
	if err := ndarray.Write(ctx, a, []float32{40, 80, 120}, ndarray.All, ndarray.At(-1)); err != nil {
		log.Fatal(err)
	}
	rows, err := ndarray.Read[float32](ctx, a, ndarray.From(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Shape(), a.DType(), rows)
	// Output: [3 4] <f4 [5 6 7 80 9 10 11 120]
}

// A file that python-blosc2 wrote.
func ExampleOpen() {
	a, err := ndarray.Open("../testdata/python-blosc2/dtype_i4.b2nd", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	fmt.Println("shape", a.Shape(), "chunks", a.Chunks(), "blocks", a.Blocks(), "dtype", a.DType())
	corner, err := ndarray.Read[int32](context.Background(), a, ndarray.Until(2), ndarray.Until(3))
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

// An array that starts with no rows grows by one row, or by several.
func ExampleArray_Append() {
	ctx := context.Background()
	a, err := ndarray.Zeros("", []int64{0, 3}, "|u1", &ndarray.Options{
		Chunks: []int32{100, 3}, Blocks: []int32{10, 3},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, rows := range []string{"abc", "defghi"} {
		if err := a.Append(ctx, 0, []byte(rows)); err != nil {
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

// A copy can have another partition, other compression parameters, or be in another place.
func ExampleCopy() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{1000, 1000}, make([]float64, 1e6), nil)
	if err != nil {
		log.Fatal(err)
	}
	o := a.Options()
	o.Chunks, o.Blocks = []int32{100, 1000}, []int32{10, 500}
	o.CParams.Level = 9
	b, err := ndarray.Copy(ctx, a, "", o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Chunks(), a.Blocks())
	fmt.Println(b.Chunks(), b.Blocks(), b.Frame().Info().CParams.Level)
	// Output:
	// [504 1000] [8 1000]
	// [100 1000] [10 500] 9
}
