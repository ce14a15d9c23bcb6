// Command records stores structs with text and dates as a structured array, the form in which NumPy reads them too. It
// reads single fields, and selects items by date.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

// reading is an item. The tags set the name and the dtype of a field.
type reading struct {
	Station string    `b2:"station,S8"`
	Time    time.Time `b2:"time,M8[s]"`
	Celsius float32   `b2:"celsius"`
}

// short has some of the fields of a reading.
type short struct {
	Station string
	Celsius float32
}

func run(ctx context.Context) error {
	start := time.Date(2024, time.February, 28, 0, 0, 0, 0, time.UTC)
	var data []reading
	for i := range 1000 {
		data = append(data, reading{
			Station: fmt.Sprintf("st-%d", i%4),
			Time:    start.Add(time.Duration(i) * time.Hour),
			Celsius: float32(i%24) / 2,
		})
	}
	data[3].Time = time.Time{} // a missing date: NumPy's NaT
	a, err := ndarray.Create(ctx, "", []int64{1000}, data, nil)
	if err != nil {
		return err
	}
	fmt.Println(a.DType())

	first, err := ndarray.Read[reading](ctx, a, ndarray.Span(2, 4)) // a[2:4]
	if err != nil {
		return err
	}
	for _, r := range first {
		fmt.Printf("%s %.1f, without a date: %t\n", r.Station, r.Celsius, r.Time.IsZero())
	}

	column, err := ndarray.Field(a, "time") // a["time"], a view
	if err != nil {
		return err
	}
	times, err := ndarray.Read[time.Time](ctx, column)
	if err != nil {
		return err
	}
	leapDay := make([]bool, len(times))
	for i, t := range times {
		leapDay[i] = t.Month() == time.February && t.Day() == 29
	}
	selected, err := ndarray.Read[short](ctx, a, ndarray.Mask(leapDay)) // a[leapDay]
	if err != nil {
		return err
	}
	last := selected[len(selected)-1]
	fmt.Println(len(selected), "readings on the leap day, the last one", last.Station, last.Celsius)

	celsius, err := ndarray.Field(a, "celsius")
	if err != nil {
		return err
	}
	mean, err := ndarray.ReduceAll[float32](ctx, celsius, ndarray.OpMean, nil) // a["celsius"].mean()
	if err != nil {
		return err
	}
	fmt.Printf("mean %.2f\n", mean)
	return ndarray.Fill(ctx, celsius, float32(0), ndarray.At(0)) // a["celsius"][0] = 0
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Print(err)
	}
}
