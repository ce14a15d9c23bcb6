package ndarray_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

// Float16s are numbers to look at; to calculate, they are read as float32.
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

// Strings are made as long as the longest, and longer ones do not fit later.
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
	// true ndarray: value out of range: item 0: a string of 9 characters does not fit in 6
}

// Times have the unit that the dtype says; a zero Time is NumPy's NaT.
func ExampleRead_times() {
	ctx := context.Background()
	days := []time.Time{time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), {}}
	a, err := ndarray.Create(ctx, "", []int64{2}, days, &ndarray.Options{DType: "M8[D]"})
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

// Structures are structs whose fields have the names in their tags.
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
	// A struct with some of the fields reads these.
	names, err := ndarray.Read[struct {
		Name string `b2:"name"`
	}](ctx, a)
	fmt.Println(names, err)
	last, err := ndarray.ReadAt[city](ctx, a, -1)
	fmt.Println(last.Place, last.Since.Year(), err)
	// Output:
	// [('name', '<U6'), ('place', '<f4', (2,)), ('since', '<M8[Y]')]
	// [{Zürich} {Basel}] <nil>
	// [47.5 7.5] 1501 <nil>
}
