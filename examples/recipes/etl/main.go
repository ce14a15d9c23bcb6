// Command etl joins the parts of a recording, converts counts to volts, and stores the result with another codec for
// the archive. No step holds a whole array in memory.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

const parts, samples, channels = 4, 50_000, 8

// extract writes the parts with a fast codec. Close the arrays, also after an error.
func extract(ctx context.Context, dir string) ([]ndarray.Reader, error) {
	var all []ndarray.Reader
	for part := range parts {
		a, err := ndarray.FromFunc(ctx, filepath.Join(dir, fmt.Sprintf("part%d.b2nd", part)), []int64{samples, channels},
			func(t ndarray.Tile[int16]) error {
				for at, item := range t.All() {
					x := float64(part*samples+int(at[0])) / 20_000
					*item = int16(8000 * math.Sin(x+float64(at[1])))
				}
				return nil
			}, &ndarray.CreateOptions{Codec: codec.LZ4, Level: 1})
		if err != nil {
			return all, err
		}
		all = append(all, a)
	}
	return all, nil
}

// volts converts counts to volts.
func volts(out []float32, in ndarray.Tile[int16]) error {
	for i, count := range in.Items {
		out[i] = float32(count) / 3276.8
	}
	return nil
}

func run(ctx context.Context, dir string) error {
	raw, err := extract(ctx, dir)
	for _, a := range raw {
		defer a.(*ndarray.Array).Close()
	}
	if err != nil {
		return err
	}
	joined, err := ndarray.Concat(ctx, filepath.Join(dir, "raw.b2nd"), 0, raw, nil)
	if err != nil {
		return err
	}
	defer joined.Close()
	converted, err := ndarray.Map(ctx, filepath.Join(dir, "volts.b2nd"), joined, volts, nil)
	if err != nil {
		return err
	}
	defer converted.Close()

	archive, err := ndarray.Copy(ctx, filepath.Join(dir, "archive.b2nd"), converted, &ndarray.CreateOptions{
		Codec: codec.Zstd, Level: 9,
		Filters:   []chunk.Filter{chunk.TruncPrec.With(12), chunk.BitShuffle}, // 12 bits of each fraction are enough
		Checksums: true,
	})
	if err != nil {
		return err
	}
	defer archive.Close()
	var faults []error
	if err := archive.Verify(ctx, func(err error) error { faults = append(faults, err); return nil }); err != nil {
		return err
	}
	for _, a := range []*ndarray.Array{joined, converted, archive} {
		o := a.CreateOptions()
		fmt.Printf("%v %v %v level %d: %d%% of %d bytes\n", a.Shape(), a.DType(), o.Codec, o.Level, 100*a.CBytes()/a.NBytes(), a.NBytes())
	}
	item, err := ndarray.Item[float32](ctx, archive, -1, 0)
	if err != nil {
		return err
	}
	fmt.Printf("last item %.3f V, faults: %v\n", item, errors.Join(faults...))
	return nil
}

func main() {
	dir, err := os.MkdirTemp("", "etl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), dir); err != nil {
		log.Print(err)
	}
}
