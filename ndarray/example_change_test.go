package ndarray_test

import (
	"context"
	"fmt"
	"log"

	"github.com/goblosc/blosc2/ndarray"
)

// letters makes an array of letters, three in a row.
func letters(text string) *ndarray.Array {
	a, err := ndarray.Create(context.Background(), "", []int64{int64(len(text)) / 3, 3}, []uint8(text), &ndarray.Options{
		Chunks: []int32{2, 2}, Blocks: []int32{1, 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	return a
}

// show prints the rows of such an array, with dots for zeros.
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

// Resize cuts and grows at the ends of the axes, ResizeAt anywhere.
func ExampleArray_ResizeAt() {
	ctx := context.Background()
	a := letters("abcdefghi")
	if err := a.Resize(ctx, 2, 4); err != nil {
		log.Fatal(err)
	}
	show(a)
	if err := a.ResizeAt(ctx, []int64{1, 0}, []int64{3, 2}); err != nil { // a row before row 1; columns 0 and 1 leave
		log.Fatal(err)
	}
	show(a)
	// Output:
	// abc. def. [2 4]
	// c. .. f. [3 2]
}

// Insert adds rows or columns, or steps along any axis, before an item.
func ExampleArray_Insert() {
	ctx := context.Background()
	a := letters("abcdef")
	if err := a.Insert(ctx, 0, 1, []byte("ABCDEF")); err != nil { // two rows
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

// Delete removes rows or columns, or steps along any axis.
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

// A batch makes many edits one commit.
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
