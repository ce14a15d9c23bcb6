package b2arrow_test

import (
	"context"
	"fmt"
	"log"

	"github.com/goblosc/blosc2/b2arrow"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/ndarray"
)

// Read a table of python-blosc2 in batches of 150 rows.
func Example() {
	ctx := context.Background()
	s, err := store.Open(ctx, "../testdata/tables/wide0.b2z", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	t, err := table.Open(ctx, s, "/")
	if err != nil {
		log.Fatal(err)
	}
	o := &b2arrow.Options{Columns: []string{"c0_int8", "c1_vlstring", "c3_dictionary"}, Rows: 150}
	schema, err := b2arrow.Schema(ctx, t, o)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range schema.Fields() {
		fmt.Println(f.Name, f.Type)
	}
	for batch, err := range b2arrow.Batches(ctx, t, o) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.NumRows(), "rows, first", batch.Column(0).ValueStr(0), batch.Column(1).ValueStr(0), batch.Column(2).ValueStr(0))
	}
	// Output:
	// c0_int8 int8
	// c1_vlstring utf8
	// c3_dictionary dictionary<values=utf8, indices=int32, ordered=false>
	// 150 rows, first 10 línea8 green
	// 150 rows, first -54 café84 red
	// 100 rows, first -6 135 blue
}

// Read a slice of an array as a tensor.
func ExampleTensor() {
	ctx := context.Background()
	a, err := ndarray.Arange(ctx, "", int32(0), 12, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	matrix, err := ndarray.Reshape(ctx, "", a, []int64{3, 4}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer matrix.Close()
	columns, err := ndarray.Slice(matrix, ndarray.All, ndarray.Span(1, 3))
	if err != nil {
		log.Fatal(err)
	}
	x, err := b2arrow.Tensor(ctx, columns, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Release()
	fmt.Println(x.DataType(), x.Shape(), x.Strides())
	// Output: int32 [3 2] [8 4]
}
