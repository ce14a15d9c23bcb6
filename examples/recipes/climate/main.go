// Command climate reads planes and time series of daily temperatures, and computes means that skip missing values.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

const days, lats, lons = 365, 37, 72 // a grid of 5 degrees

// create stores the temperatures of a simple model, with no data west of 20°. A block holds 16 days of a small area, so
// that neither a plane nor a time series decodes everything.
func create(ctx context.Context, name string) error {
	a, err := ndarray.FromFunc(ctx, name, []int64{days, lats, lons}, func(t ndarray.Tile[float32]) error {
		for at, item := range t.All() {
			day, lat, lon := float64(at[0]), 90-5*float64(at[1]), at[2]
			season := math.Cos((day - 200) / 365 * 2 * math.Pi)
			north := math.Sin(lat * math.Pi / 180)
			*item = float32(math.Round(10*(28-45*north*north+15*season*north)) / 10)
			if lon < 4 {
				*item = float32(math.NaN())
			}
		}
		return nil
	}, &ndarray.CreateOptions{
		Codec: codec.Zstd, Level: 7,
		Chunks: []int64{128, -1, -1}, // -1 is the whole axis
		Blocks: []int64{16, 10, 18},
		Attrs:  map[string]any{"units": "degC"},
	})
	if err != nil {
		return err
	}
	return a.Close()
}

func run(ctx context.Context, name string) error {
	if err := create(ctx, name); err != nil {
		return err
	}
	a, err := ndarray.Open(ctx, name, nil)
	if err != nil {
		return err
	}
	defer a.Close()
	var units string
	if err := a.Attr("units", &units); err != nil {
		return err
	}
	fmt.Println(a.Shape(), a.DType(), units)

	plane, err := ndarray.Read[float32](ctx, a, ndarray.At(200)) // a[200]
	if err != nil {
		return err
	}
	fmt.Printf("day 200, 90° N to 90° S at 50° E: %.1f ... %.1f\n", plane[10], plane[36*lons+10])

	sel := []ndarray.Index{ndarray.Step(0, days, 73), ndarray.At(9), ndarray.At(-1)} // a[::73, 9, -1]
	series, err := ndarray.Read[float64](ctx, a, sel...)
	if err != nil {
		return err
	}
	fmt.Printf("45° N, every 73rd day: %.1f\n", series)

	// np.nanmean(a, (0, 2))
	zonal, err := ndarray.Reduce(ctx, a, ndarray.OpMean, &ndarray.ReduceOptions{Axes: []int{0, 2}, SkipNaN: true})
	if err != nil {
		return err
	}
	mean, err := ndarray.Read[float64](ctx, zonal, ndarray.Step(0, lats, 9))
	if err != nil {
		return err
	}
	fmt.Printf("means of the year at 90°, 45°, 0°, -45°, -90°: %.1f\n", mean)
	highest, err := ndarray.ReduceAll[float32](ctx, a, ndarray.OpMax, &ndarray.ReduceOptions{SkipNaN: true})
	if err != nil {
		return err
	}
	fmt.Printf("highest: %.1f\n", highest)
	return nil
}

func main() {
	dir, err := os.MkdirTemp("", "climate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), filepath.Join(dir, "temperature.b2nd")); err != nil {
		log.Print(err)
	}
}
