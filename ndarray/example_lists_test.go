package ndarray_test

import (
	"context"
	"fmt"
	"log"

	"github.com/goblosc/blosc2/ndarray"
)

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

// Lists for two axes are independent of each other: all listed columns of all listed rows.
func ExamplePick() {
	a, ctx := grid(), context.Background()
	items, err := ndarray.Read[int32](ctx, a, ndarray.Pick(2, 0), ndarray.Pick(-1, 1, 1))
	fmt.Println(items, err)
	// Output: [23 21 21 3 1 1] <nil>
}

// Every item of the rows whose truth value is set becomes -1.
func ExampleMask() {
	a, ctx := grid(), context.Background()
	if err := ndarray.Fill(ctx, a, int32(-1), ndarray.Mask(true, false, true)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ndarray.Read[int32](ctx, a))
	// Output: [-1 -1 -1 -1 10 11 12 13 -1 -1 -1 -1] <nil>
}

// Lists that go together name points: row 2 of column 3, row 0 of column 1, row 1 of column 1.
func ExampleCoords() {
	a, ctx := grid(), context.Background()
	points := []ndarray.Index{ndarray.Coords(2, 0, 1), ndarray.Coords(3, 1, 1)}
	fmt.Println(ndarray.Read[int32](ctx, a, points...))
	if err := ndarray.Write(ctx, a, []int32{7, 8, 9}, points...); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ndarray.Read[int32](ctx, a))
	// Output:
	// [23 1 11] <nil>
	// [0 8 2 3 10 9 12 13 20 21 22 7] <nil>
}

// Index arrays of different shapes are broadcast: a column of rows and a row of columns make a table.
func ExampleCoordsND() {
	a, ctx := grid(), context.Background()
	rows, columns := ndarray.CoordsND([]int64{2, 1}, []int64{2, 0}), ndarray.Coords(0, 1, 2)
	fmt.Println(a.SelectionShape(rows, columns))
	fmt.Println(ndarray.Read[int32](ctx, a, rows, columns))
	// Output:
	// [2 3] <nil>
	// [20 21 22 0 1 2] <nil>
}

// A mask over the whole array: all items above 12 become 12.
func ExampleMaskND() {
	a, ctx := grid(), context.Background()
	items, err := ndarray.Read[int32](ctx, a)
	if err != nil {
		log.Fatal(err)
	}
	mask := make([]bool, len(items))
	for i, x := range items {
		mask[i] = x > 12
	}
	above := ndarray.MaskND(a.Shape(), mask)
	fmt.Println(ndarray.Read[int32](ctx, a, above))
	if err := ndarray.Fill(ctx, a, int32(12), above); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ndarray.Read[int32](ctx, a))
	// Output:
	// [13 20 21 22 23] <nil>
	// [0 1 2 3 10 11 12 12 12 12 12 12] <nil>
}

// Flat positions stand alone; their items can be read into memory of the caller's.
func ExampleFlat() {
	a, dst := grid(), make([]int32, 3)
	err := ndarray.ReadInto(context.Background(), a, dst, ndarray.Flat(5, 0, -1))
	fmt.Println(dst, err)
	// Output: [11 0 23] <nil>
}

// Positions count the items in C order.
func ExampleTake() {
	fmt.Println(ndarray.Take[int32](context.Background(), grid(), []int64{5, 0, -1, 5}))
	// Output: [11 0 23 11] <nil>
}

func ExamplePut() {
	a, ctx := grid(), context.Background()
	if err := ndarray.Put(ctx, a, []int64{-1, 4}, []int32{7, 8}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ndarray.Read[int32](ctx, a))
	// Output: [0 1 2 3 8 11 12 13 20 21 22 7] <nil>
}
