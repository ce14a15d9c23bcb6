// Command choose measures what the partition and the codec of an array cost, and prints the results as tables in
// Markdown. Times are medians, divided by the times of the first line. The tables of docs/RECIPES.md are its output.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

func main() {
	if err := run(context.Background(), os.Stdout, []int64{128, 180, 360}, 7); err != nil {
		log.Fatal(err)
	}
}

// partition is a line of the first table.
type partition struct {
	title          string
	chunks, blocks []int64
}

// compression is a line of the second table.
type compression struct {
	title string
	o     ndarray.CreateOptions
}

func run(ctx context.Context, w io.Writer, shape []int64, rounds int) error {
	data := temperatures(shape)
	fmt.Fprint(w, "| chunks, blocks | size | plane | series | item | all |\n| --- | --- | --- | --- | --- | --- |\n")
	if err := partitions(ctx, w, shape, data, rounds); err != nil {
		return err
	}
	fmt.Fprint(w, "\n| codec | size | write | read all | plane |\n| --- | --- | --- | --- | --- |\n")
	return compressions(ctx, w, shape, data, rounds)
}

// partitions measures reads with several partitions.
func partitions(ctx context.Context, w io.Writer, shape []int64, data []float32, rounds int) error {
	var first []float64
	for _, p := range []partition{
		{"automatic", nil, nil},
		{"planes: `{1, -1, -1}`, `{1, -1, -1}`", []int64{1, -1, -1}, []int64{1, -1, -1}},
		{"series: `{-1, 20, 20}`, `{-1, 4, 4}`", []int64{-1, 20, 20}, []int64{-1, 4, 4}},
		{"both: `{64, 90, 180}`, `{16, 15, 30}`", []int64{64, 90, 180}, []int64{16, 15, 30}},
		{"small blocks: `{64, 90, 180}`, `{4, 6, 6}`", []int64{64, 90, 180}, []int64{4, 6, 6}},
		{"one chunk: `{-1, -1, -1}`, `{16, 15, 30}`", []int64{-1, -1, -1}, []int64{16, 15, 30}},
	} {
		a, err := ndarray.Create(ctx, "", shape, data, &ndarray.CreateOptions{Chunks: p.chunks, Blocks: p.blocks})
		if err != nil {
			return err
		}
		figures := []float64{float64(a.CBytes()) / float64(a.NBytes())}
		for _, sel := range [][]ndarray.Index{
			{ndarray.At(shape[0] / 3)},
			{ndarray.All, ndarray.At(shape[1] / 3), ndarray.At(shape[2] / 3)},
			{ndarray.At(shape[0] / 3), ndarray.At(shape[1] / 3), ndarray.At(shape[2] / 3)},
			{},
		} {
			took, err := reads(ctx, a, rounds, sel...)
			if err != nil {
				return err
			}
			figures = append(figures, took)
		}
		first = print(w, p.title, figures, first)
	}
	return nil
}

// compressions measures codecs and filters with the automatic partition.
func compressions(ctx context.Context, w io.Writer, shape []int64, data []float32, rounds int) error {
	var first []float64
	for _, c := range []compression{
		{"Zstd 5, shuffle (the default)", ndarray.CreateOptions{}},
		{"Zstd 1, shuffle", ndarray.CreateOptions{Level: 1}},
		{"Zstd 9, shuffle", ndarray.CreateOptions{Level: 9}},
		{"Zstd 5, bitshuffle", ndarray.CreateOptions{Filters: []chunk.Filter{chunk.BitShuffle}}},
		{"Zstd 5, no filter", ndarray.CreateOptions{Filters: []chunk.Filter{chunk.NoFilter}}},
		{"Zstd 5, 12 bits of the fraction, shuffle", ndarray.CreateOptions{Filters: []chunk.Filter{chunk.TruncPrec.With(12), chunk.Shuffle}}},
		{"LZ4 5, shuffle", ndarray.CreateOptions{Codec: codec.LZ4}},
		{"LZ4 5, bitshuffle", ndarray.CreateOptions{Codec: codec.LZ4, Filters: []chunk.Filter{chunk.BitShuffle}}},
		{"LZ4HC 9, bitshuffle", ndarray.CreateOptions{Codec: codec.LZ4HC, Level: 9, Filters: []chunk.Filter{chunk.BitShuffle}}},
		{"BloscLZ 5, shuffle", ndarray.CreateOptions{Codec: codec.BloscLZ}},
		{"Zlib 5, shuffle", ndarray.CreateOptions{Codec: codec.Zlib}},
		{"uncompressed", ndarray.CreateOptions{Level: codec.NoCompression}},
	} {
		var a *ndarray.Array
		wrote, err := median(rounds/3+1, func() (err error) {
			a, err = ndarray.Create(ctx, "", shape, data, &c.o)
			return err
		})
		if err != nil {
			return err
		}
		all, err := reads(ctx, a, rounds)
		if err != nil {
			return err
		}
		plane, err := reads(ctx, a, rounds, ndarray.At(shape[0]/3))
		if err != nil {
			return err
		}
		first = print(w, c.title, []float64{float64(a.CBytes()) / float64(a.NBytes()), wrote, all, plane}, first)
	}
	return nil
}

// print prints a line: a size in percent of the items, and times divided by those of the first line, which it returns.
func print(w io.Writer, title string, figures, first []float64) []float64 {
	if first == nil {
		first = figures
	}
	fmt.Fprintf(w, "| %s | %.0f%% |", title, 100*figures[0])
	for i, x := range figures[1:] {
		fmt.Fprintf(w, " %.2g |", x/first[i+1])
	}
	fmt.Fprintln(w)
	return first
}

// reads returns the time to read a selection.
func reads(ctx context.Context, a *ndarray.Array, rounds int, sel ...ndarray.Index) (float64, error) {
	shape, err := a.SelectionShape(sel...)
	if err != nil {
		return 0, err
	}
	n := int64(1)
	for _, m := range shape {
		n *= m
	}
	dst := make([]float32, n)
	return median(rounds, func() error { return ndarray.ReadInto(ctx, a, dst, sel...) })
}

// median returns the median time of a function in seconds, after a first call.
func median(rounds int, f func() error) (float64, error) {
	var times []float64
	for i := range rounds + 1 {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if i > 0 {
			times = append(times, time.Since(start).Seconds())
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// temperatures returns a smooth field with noise, rounded to hundredths.
func temperatures(shape []int64) []float32 {
	random := rand.New(rand.NewPCG(1, 1))
	data := make([]float32, shape[0]*shape[1]*shape[2])
	for i := range data {
		day, lat, lon := int64(i)/shape[2]/shape[1], int64(i)/shape[2]%shape[1], int64(i)%shape[2]
		x := 15 - 20*math.Cos(float64(lat)/28) + 5*math.Sin(float64(day)/58) + 3*math.Sin(float64(lon)/19) + random.Float64()/8
		data[i] = float32(math.Round(100*x) / 100)
	}
	return data
}
