// Command first is the program at the beginning of README.md.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

func main() {
	ctx := context.Background()
	data := make([]float64, 1000*1000)
	for i := range data {
		data[i] = math.Sqrt(float64(i))
	}
	a, err := ndarray.Create(ctx, "roots.b2nd", []int64{1000, 1000}, data, &ndarray.CreateOptions{
		Codec: codec.LZ4HC, Level: 9, Overwrite: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	fmt.Println(a)
	part, err := ndarray.Read[float64](ctx, a, ndarray.At(-1), ndarray.Step(0, 1000, 300)) // a[-1, 0:1000:300]
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", part)
}
