package ndarray_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/goblosc/blosc2/ndarray"
)

// A function computes the items from their coordinates, block by block and in parallel.
func ExampleFromFunc() {
	ctx := context.Background()
	a, err := ndarray.FromFunc(ctx, "", []int64{3, 4}, func(t ndarray.Tile[float64]) error {
		for at, x := range t.All() {
			*x = 10*float64(at[0]) + float64(at[1])
		}
		return nil
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	row, err := ndarray.Read[float64](ctx, a, ndarray.At(2))
	fmt.Println(a.Shape(), row, err)
	// Output: [3 4] [20 21 22 23] <nil>
}

// A reader supplies the items as they are stored, here 16-bit numbers. The array is created in one commit with bounded
// memory.
func ExampleFromReader() {
	ctx := context.Background()
	camera := strings.NewReader("\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00")
	a, err := ndarray.FromReader(ctx, "", []int64{2, 3}, "<u2", camera, nil)
	if err != nil {
		log.Fatal(err)
	}
	items, err := ndarray.Read[uint16](ctx, a)
	fmt.Println(a.Shape(), items, err)
	// Output: [2 3] [1 2 3 4 5 6] <nil>
}

func ExampleFromSeq() {
	ctx := context.Background()
	fibonacci := func(yield func(int64) bool) {
		for a, b := int64(0), int64(1); yield(a); a, b = b, a+b {
		}
	}
	a, err := ndarray.FromSeq(ctx, "", []int64{2, 5}, fibonacci, nil)
	if err != nil {
		log.Fatal(err)
	}
	items, err := ndarray.Read[int64](ctx, a, ndarray.At(-1))
	fmt.Println(items, err)
	// Output: [5 8 13 21 34] <nil>
}

func ExampleArange() {
	ctx := context.Background()
	a, _ := ndarray.Arange(ctx, "", 10, 30.0, 5, nil)
	b, _ := ndarray.Linspace[float32](ctx, "", 0, 1, 5, nil)
	fmt.Println(ndarray.Read[float64](ctx, a))
	fmt.Println(ndarray.Read[float32](ctx, b))
	// Output:
	// [10 15 20 25] <nil>
	// [0 0.25 0.5 0.75 1] <nil>
}

// Ones, and an array of NaNs like another one. DType sets a dtype that is not that of the Go type.
func ExampleFull() {
	ctx := context.Background()
	a, _ := ndarray.Full[int8](ctx, "", []int64{2, 2}, 1, nil)
	b, _ := ndarray.Full(ctx, "", a.Shape(), float32(math.NaN()), &ndarray.CreateOptions{DType: ">f4"})
	fmt.Println(ndarray.Read[int8](ctx, a))
	fmt.Println(ndarray.Read[float32](ctx, b))
	fmt.Println(a.DType(), b.DType())
	// Output:
	// [1 1 1 1] <nil>
	// [NaN NaN NaN NaN] <nil>
	// |i1 >f4
}

// A function computes the items of each block of the new array from the items of the old one.
func ExampleMap() {
	ctx := context.Background()
	a, _ := ndarray.Arange[int16](ctx, "", 0, 6, 1, nil)
	b, err := ndarray.Map(ctx, "", a, func(out []float32, in ndarray.Tile[int16]) error {
		for i, x := range in.Items {
			out[i] = float32(x) / 4
		}
		return nil
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	items, err := ndarray.Read[float32](ctx, b)
	fmt.Println(b.DType(), items, err)
	// Output: <f4 [0 0.25 0.5 0.75 1 1.25] <nil>
}

// Iterate over an array two rows at a time, and read the next rows ahead.
func ExampleTiles() {
	ctx := context.Background()
	a, _ := ndarray.Create(ctx, "", []int64{5, 2}, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, nil)
	for t, err := range ndarray.Tiles[int32](ctx, a, ndarray.ByRows(a, 0, 2).ReadAhead(1)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(t.Start, t.Shape, t.Items)
	}
	// Output:
	// [0 0] [2 2] [0 1 2 3]
	// [2 0] [2 2] [4 5 6 7]
	// [4 0] [1 2] [8 9]
}

// Windows of three items with a neighbor on each side, for a moving average of three items.
func ExampleByWindow() {
	ctx := context.Background()
	a, _ := ndarray.Create(ctx, "", []int64{7}, []float32{3, 6, 9, 0, 3, 6, 9}, nil)
	for t, err := range ndarray.Tiles[float32](ctx, a, ndarray.ByWindow(a, []int64{3}, nil, []int64{1}).ReadAhead(2)) {
		if err != nil {
			log.Fatal(err)
		}
		var mean []float32
		for k := 1; k+1 < len(t.Items); k++ {
			mean = append(mean, (t.Items[k-1]+t.Items[k]+t.Items[k+1])/3)
		}
		fmt.Println(t.Inner.Start, t.Inner.Shape, "read with halo:", t.Items, "means:", mean)
	}
	// Output:
	// [0] [3] read with halo: [3 6 9 0] means: [6 5]
	// [3] [3] read with halo: [9 0 3 6 9] means: [4 3 6]
	// [6] [1] read with halo: [6 9] means: []
}

// Find the chunks that are stored, and their compression ratios, without decoding them.
func ExampleArray_ChunkInfos() {
	ctx := context.Background()
	a, _ := ndarray.Zeros(ctx, "", []int64{200, 200}, "<f8", &ndarray.CreateOptions{Chunks: []int64{100, 100}})
	if err := ndarray.Write(ctx, a, []float64{1, 2, 3}, ndarray.At(7), ndarray.Span(150, 153)); err != nil {
		log.Fatal(err)
	}
	for c, err := range a.ChunkInfos(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Number, c.Coord, c.Box.Start, c.Special, c.CBytes > 0, c.NBytes)
	}
	// Output:
	// 0 [0 0] [0 0] zeros false 80000
	// 1 [0 1] [0 100] regular true 80000
	// 2 [1 0] [100 0] zeros false 80000
	// 3 [1 1] [100 100] zeros false 80000
}

// Reduce all axes, or some of them.
func ExampleReduce() {
	ctx := context.Background()
	a, _ := ndarray.Create(ctx, "", []int64{2, 3}, []float32{1, 2, 3, 4, 5, 9}, nil)
	sum, err := ndarray.ReduceAll[float32](ctx, a, ndarray.OpSum, nil)
	if err != nil {
		log.Fatal(err)
	}
	means, err := ndarray.Reduce(ctx, a, ndarray.OpMean, &ndarray.ReduceOptions{Axes: []int{-1}, KeepDims: true})
	if err != nil {
		log.Fatal(err)
	}
	items, err := ndarray.Read[float32](ctx, means)
	fmt.Println(sum, means.Shape(), items, err)
	// Output: 24 [2 1] [2 6] <nil>
}

// letters creates an array of letters with three columns.
func letters(text string) *ndarray.Array {
	a, err := ndarray.Create(context.Background(), "", []int64{int64(len(text)) / 3, 3}, []uint8(text), &ndarray.CreateOptions{
		Chunks: []int64{2, 2}, Blocks: []int64{1, 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	return a
}

// show prints the rows of an array of letters, with dots for zeros.
func show(a *ndarray.Array) {
	shape := a.Shape()
	items, err := ndarray.Read[uint8](context.Background(), a)
	if err != nil {
		log.Fatal(err)
	}
	for i, x := range items {
		if x == 0 {
			items[i] = '.'
		}
	}
	for i := range shape[0] {
		fmt.Printf("%s ", items[i*shape[1]:(i+1)*shape[1]])
	}
	fmt.Println(shape)
}

// Resize changes the length of axes at their ends.
func ExampleArray_Resize() {
	ctx := context.Background()
	a := letters("abcdefghi")
	if err := a.Resize(ctx, 2, 4); err != nil {
		log.Fatal(err)
	}
	show(a)
	// Output: abc. def. [2 4]
}

// Insert rows or columns, or steps along any axis, before an item.
func ExampleArray_InsertBytes() {
	ctx := context.Background()
	a := letters("abcdef")
	if err := a.InsertBytes(ctx, 0, 1, []byte("ABCDEF")); err != nil { // two rows
		log.Fatal(err)
	}
	show(a)
	if err := ndarray.Insert(ctx, a, 1, -1, []uint8{'1', '2', '3', '4'}); err != nil { // a column before the last
		log.Fatal(err)
	}
	show(a)
	// Output:
	// abc ABC DEF def [4 3]
	// ab1c AB2C DE3F de4f [4 4]
}

// Delete rows or columns, or steps along any axis.
func ExampleArray_Delete() {
	ctx := context.Background()
	a := letters("abcdefghijkl")
	if err := a.Delete(ctx, 0, 2, 1); err != nil {
		log.Fatal(err)
	}
	show(a)
	if err := a.Delete(ctx, -1, -2, 2); err != nil { // the last two columns
		log.Fatal(err)
	}
	show(a)
	// Output:
	// abc def jkl [3 3]
	// a d j [3 1]
}

// A batch makes several edits one commit.
func ExampleArray_Begin() {
	ctx := context.Background()
	a := letters("")
	b, err := a.Begin(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer b.Rollback() // does nothing after Commit
	for _, row := range []string{"abc", "def", "ghi"} {
		if err := ndarray.Append(ctx, b, 0, []uint8(row)); err != nil {
			log.Fatal(err)
		}
	}
	if err := ndarray.Fill(ctx, b, uint8('-'), ndarray.All, ndarray.At(1)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Shape(), b.Shape())
	if err := b.Commit(); err != nil {
		log.Fatal(err)
	}
	show(a)
	// Output:
	// [0 3] [3 3]
	// a-c d-f g-i [3 3]
}

// A view transforms an array without copying it.
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
	check(ndarray.Write(ctx, v, []int32{-1, -2}, ndarray.All, ndarray.At(0))) // writes to a
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

// Read one field of structured items, without the others.
func ExampleField() {
	ctx := context.Background()
	a, err := ndarray.Zeros(ctx, "", []int64{3}, "[('id', '<i4'), ('pos', [('x', '<f8'), ('y', '<f8')])]", nil)
	check(err)
	defer a.Close()
	x, err := ndarray.Field(a, "pos.x") // a["pos"]["x"]
	check(err)
	check(ndarray.Write(ctx, x, []float64{1.5, 2.5, 3.5}))
	items, err := ndarray.Read[float64](ctx, x, ndarray.Span(1, ndarray.None))
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
	c, err := ndarray.Concat(ctx, "", 0, []ndarray.Reader{a, b}, nil) // np.concatenate((a, b))
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
	c, err := ndarray.Stack(ctx, "", -1, []ndarray.Reader{a, b}, nil) // np.stack((a, b), axis=-1)
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
	b, err := ndarray.Reshape(ctx, "", a, []int64{-1, 2}, nil) // a.reshape(-1, 2)
	check(err)
	c, err := ndarray.AsType(b, "|u1") // b.astype("u1")
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

func ExampleReduceInto() {
	ctx := context.Background()
	nan := math.NaN()
	a, err := ndarray.Create(ctx, "", []int64{2, 3}, []float64{1, nan, 3, 5, nan, 7}, nil)
	check(err)
	means := make([]float64, 3)
	err = ndarray.ReduceInto(ctx, a, means, ndarray.OpMean, &ndarray.ReduceOptions{Axes: []int{0}, SkipNaN: true})
	check(err)
	fmt.Println(means) // numpy.nanmean(a, axis=0)
	// Output: [3 NaN 5]
}

func ExampleQuantiles() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{6}, []int16{30, 10, 20, 60, 50, 40}, nil)
	check(err)
	q, err := ndarray.Quantiles(ctx, a, []float64{0, 0.5, 0.9}, nil)
	check(err)
	counts, err := ndarray.Histogram(ctx, a, []float64{0, 25, 50, 75})
	check(err)
	fmt.Println(q, counts)
	// Output: [10 35 55] [2 2 2]
}
