package npy_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// Write a selection as a .npy file, and read the file.
func Example() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{2, 3}, []int32{1, 2, 3, 4, 5, 6}, nil)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer // or an os.File
	if err := npy.Write(ctx, &file, a, ndarray.All, ndarray.Span(1, ndarray.None)); err != nil {
		log.Fatal(err)
	}
	b, err := npy.Read(ctx, "", &file, nil)
	if err != nil {
		log.Fatal(err)
	}
	items, err := ndarray.Read[int32](ctx, b)
	fmt.Println(b.Shape(), b.DType(), items, err)
	// Output: [2 2] <i4 [2 3 5 6] <nil>
}
