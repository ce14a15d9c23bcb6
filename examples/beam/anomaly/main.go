// Command anomaly computes the mean over files that follow each other in time, and the difference of every item from
// it, on the workers of a Beam runner. NaN is a missing value.
//
//	anomaly -in '/data/2024/t2m-*.b2nd' -out /data/2024
package main

import (
	"context"
	"errors"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/examples/beam/internal/cli"
	"github.com/goblosc/blosc2/ndarray"
)

var (
	in     = flag.String("in", "", "files to read, in the order of their names along axis 0: a path, a pattern or a URL; empty writes a sample to OUT/sample and reads it")
	out    = flag.String("out", "", "folder for mean/NAME.b2nd and anomaly/NAME.b2nd, shared by all workers, or its URL in a bucket")
	name   = flag.String("name", "data", "name of the new arrays")
	chunks = flag.String("chunks", "", "chunk shape of the anomaly; -1 is a whole axis. If it is empty, the files must have equal chunks, which divide their lengths along axis 0, and the anomaly has these chunks")
	memory = flag.Int64("max-memory", 64<<20, "bytes of items that a bundle holds to rechunk the files, with -chunks")
)

func init() { beam.RegisterFunction(subtract) }

func main() { cli.Main(run) }

// subtract returns the difference of x and the mean over its axis 0, with the dtype of the mean.
func subtract(ctx context.Context, _ b2beam.Key, x, mean b2beam.Tile) (b2beam.Tile, error) {
	items, err := floats(ctx, x)
	if err != nil {
		return b2beam.Tile{}, err
	}
	m, err := floats(ctx, mean)
	if err != nil {
		return b2beam.Tile{}, err
	}
	for i := range items {
		items[i] -= m[i%len(m)]
	}
	diff, err := b2beam.WithItems(ctx, x, items)
	if err != nil {
		return b2beam.Tile{}, err
	}
	return convert(ctx, diff, mean.DType)
}

// floats returns the items of a tile as float64.
func floats(ctx context.Context, t b2beam.Tile) ([]float64, error) {
	t, err := convert(ctx, t, "<f8")
	if err != nil {
		return nil, err
	}
	return b2beam.Items[float64](ctx, t)
}

// convert returns a tile with another dtype.
func convert(ctx context.Context, t b2beam.Tile, dtype string) (b2beam.Tile, error) {
	a, err := t.Array(ctx)
	if err != nil {
		return t, err
	}
	v, err := ndarray.AsType(a, dtype)
	if err != nil {
		return t, err
	}
	return t.With(ctx, v)
}

func run(ctx context.Context) error {
	if *out == "" {
		return errors.New("-out is missing")
	}
	if *in == "" {
		if err := cli.SampleFolder(*out); err != nil {
			return err
		}
		if err := cli.SampleDays(ctx, b2beam.Join(*out, "sample"), 30); err != nil {
			return err
		}
		*in = b2beam.Join(*out, "sample", "*.b2nd")
	}
	files, err := cli.Files(*in)
	if err != nil {
		return err
	}
	days, err := b2beam.Concat(ctx, *name, 0, files)
	if err != nil {
		return err
	}
	of, err := files[0].Chunks(ctx)
	if err != nil {
		return err
	}
	shape, err := cli.Ints(*chunks)
	if err != nil {
		return err
	}
	return cli.Run(ctx, func(s beam.Scope) error {
		tiles := b2beam.Read(s, days, nil)
		if shape == nil {
			shape = of
		} else { // before Reduce and Zip, which need tiles that form a grid
			tiles = b2beam.Rechunk(s, tiles, b2beam.RechunkOptions{Chunks: shape, MaxMemory: *memory})
		}
		mean := b2beam.Reduce(s, ndarray.OpMean, tiles, &ndarray.ReduceOptions{Axes: []int{0}, KeepDims: true, SkipNaN: true})
		b2beam.Write(s, b2beam.Join(*out, "mean"), mean, &ndarray.CreateOptions{Chunks: append([]int64{1}, shape[1:]...)})

		diff := b2beam.Zip(s, subtract, tiles, mean, &b2beam.ZipOptions{Broadcast: []int{0}})
		b2beam.Write(s, b2beam.Join(*out, "anomaly"), diff, &ndarray.CreateOptions{Chunks: shape})
		return nil
	})
}
