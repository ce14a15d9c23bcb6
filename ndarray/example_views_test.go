package ndarray_test

import (
	"context"
	"fmt"
	"log"

	"github.com/goblosc/blosc2/ndarray"
)

// A view shows an array in another way and copies nothing until it is read.
func ExampleTranspose() {
	ctx := context.Background()
	a := grid() // 3 rows of 4 numbers
	defer a.Close()
	t, err := ndarray.Transpose(a) // a.T
	check(err)
	v, err := ndarray.Slice(t, ndarray.Span(1, 3), ndarray.Step(ndarray.None, ndarray.None, -1)) // a.T[1:3, ::-1]
	check(err)
	items, err := ndarray.Read[int32](ctx, v)
	check(err)
	fmt.Println(v.Shape(), items)
	check(ndarray.Write(ctx, v, []int32{-1, -2}, ndarray.All, ndarray.At(0))) // through the view, into a
	row, err := ndarray.Read[int32](ctx, a, ndarray.At(2))
	check(err)
	fmt.Println(row)
	// Output:
	// [2 3] [21 11 1 22 12 2]
	// [20 -1 -2 23]
}

func ExampleBroadcastTo() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{3, 1}, []int32{1, 2, 3}, nil)
	check(err)
	defer a.Close()
	v, err := ndarray.BroadcastTo(a, 2, 3, 2) // np.broadcast_to(a, (2, 3, 2))
	check(err)
	items, err := ndarray.Read[int32](ctx, v)
	check(err)
	fmt.Println(items)
	// Output: [1 1 2 2 3 3 1 1 2 2 3 3]
}

// One field of a structured array, without the others.
func ExampleField() {
	ctx := context.Background()
	a, err := ndarray.Zeros("", []int64{3}, "[('id', '<i4'), ('pos', [('x', '<f8'), ('y', '<f8')])]", nil)
	check(err)
	defer a.Close()
	x, err := ndarray.Field(a, "pos.x") // a["pos"]["x"]
	check(err)
	check(ndarray.Write(ctx, x, []float64{1.5, 2.5, 3.5}))
	items, err := ndarray.Read[float64](ctx, x, ndarray.From(1))
	check(err)
	fmt.Println(x.DType(), items)
	// Output: <f8 [2.5 3.5]
}

func ExampleConcat() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{2, 2}, []int32{1, 2, 3, 4}, nil)
	check(err)
	b, err := ndarray.Create(ctx, "", []int64{1, 2}, []int32{5, 6}, nil)
	check(err)
	c, err := ndarray.Concat(ctx, "", 0, nil, a, b) // np.concatenate((a, b))
	check(err)
	items, err := ndarray.Read[int32](ctx, c)
	check(err)
	fmt.Println(c.Shape(), items)
	// Output: [3 2] [1 2 3 4 5 6]
}

func ExampleStack() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{3}, []int32{1, 2, 3}, nil)
	check(err)
	b, err := ndarray.Create(ctx, "", []int64{3}, []int32{4, 5, 6}, nil)
	check(err)
	c, err := ndarray.Stack(ctx, "", -1, nil, a, b) // np.stack((a, b), axis=-1)
	check(err)
	items, err := ndarray.Read[int32](ctx, c)
	check(err)
	fmt.Println(c.Shape(), items)
	// Output: [3 2] [1 4 2 5 3 6]
}

func ExampleReshape() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{2, 3}, []float64{1.5, 2, -3.9, 4, 5, 300}, nil)
	check(err)
	b, err := ndarray.Reshape(ctx, a, "", []int64{-1, 2}, nil) // a.reshape(-1, 2)
	check(err)
	c, err := ndarray.AsType(ctx, b, "", "|u1", nil) // b.astype("u1")
	check(err)
	items, err := ndarray.Read[uint8](ctx, c)
	check(err)
	fmt.Println(c.Shape(), items)
	// Output: [3 2] [1 2 253 4 5 44]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
