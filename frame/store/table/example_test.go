package table_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
)

const mixed = "../../../testdata/tables/wide0.b2z"

// Read columns as slices. Find returns the numbers of rows.
func Example() {
	ctx := context.Background()
	s, err := store.Open(ctx, mixed, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	t, err := table.Open(ctx, s, "/")
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := t.Column(ctx, "c2_uint16")
	if err != nil {
		fmt.Println(err)
		return
	}
	colors, err := t.Column(ctx, "c3_dictionary")
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := table.Read[uint16](ctx, counts, 0, 3)
	fmt.Println(first, err)
	names, err := table.Read[string](ctx, colors, 0, 2)
	fmt.Println(names, err)
	large, err := table.Find(ctx, counts, table.Greater, uint16(20_000))
	fmt.Println(len(large), "of", t.Rows(), "rows", err)
	// Output:
	// [25819 28749 3304] <nil>
	// [green red] <nil>
	// 151 of 400 rows <nil>
}

// Find the rows that meet two conditions: those in the results of both, which are in ascending order.
func ExampleFind() {
	ctx := context.Background()
	s, err := store.Open(ctx, mixed, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	t, err := table.Open(ctx, s, "/")
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := t.Column(ctx, "c2_uint16")
	if err != nil {
		fmt.Println(err)
		return
	}
	colors, err := t.Column(ctx, "c3_dictionary")
	if err != nil {
		fmt.Println(err)
		return
	}
	large, err := table.Find(ctx, counts, table.Greater, uint16(20_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	green, err := table.Find(ctx, colors, table.Equal, "green")
	if err != nil {
		fmt.Println(err)
		return
	}
	var both []int64
	for _, row := range large {
		if _, ok := slices.BinarySearch(green, row); ok {
			both = append(both, row)
		}
	}
	fmt.Println(len(both), "large and green, the first in row", both[0])
	// Output:
	// 41 large and green, the first in row 0
}

// Columns lists the columns. All returns the values of one without holding them all in memory.
func ExampleAll() {
	ctx := context.Background()
	s, err := store.Open(ctx, mixed, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	t, err := table.Open(ctx, s, "/")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, info := range t.Columns()[3:] {
		fmt.Println(info.Name, info.Kind)
	}
	c, err := t.Column(ctx, "c4_float32")
	if err != nil {
		fmt.Println(err)
		return
	}
	var sum float64
	for v, err := range table.All[float32](ctx, c) {
		if err != nil {
			fmt.Println(err)
			return
		}
		sum += float64(v)
	}
	fmt.Printf("%.1f\n", sum)
	// Output:
	// c3_dictionary dictionary
	// c4_float32 float32
	// c5_int32 int32
	// -1259.7
}

// The fields of a struct have the names of columns in their tags.
func ExampleRows() {
	ctx := context.Background()
	s, err := store.Open(ctx, mixed, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	t, err := table.Open(ctx, s, "/")
	if err != nil {
		fmt.Println(err)
		return
	}
	type sample struct {
		Color string `b2:"c3_dictionary"`
		Count uint16 `b2:"c2_uint16"`
		Note  string `b2:"c1_vlstring"`
	}
	for row, err := range table.Rows[sample](ctx, t, 0, 2) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%+v\n", row)
	}
	// Output:
	// {Color:green Count:25819 Note:línea8}
	// {Color:red Count:28749 Note:81}
}

// A pointer is nil for a null.
func ExampleReadNullable() {
	ctx := context.Background()
	s, err := store.Open(ctx, "../../../testdata/tables/t06_int32_null.b2z", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	t, err := table.Open(ctx, s, "/")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := t.Column(ctx, t.Columns()[0].Name)
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := table.ReadNullable[int32](ctx, c, 7, 11)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range values {
		if v == nil {
			fmt.Println("null")
		} else {
			fmt.Println(*v)
		}
	}
	// Output:
	// 1396509
	// null
	// null
	// 1066183091
}
