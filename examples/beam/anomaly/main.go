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
	memory = flag.Int64("max-memory", 64<<20, "bytes of items that a bundle holds for one step with -chunks")
)

func init() { beam.RegisterFunction(subtract) }

func main() { cli.Main(run) }

// subtract returns the difference of x and the mean over its axis 0, which b is.
func subtract(ctx context.Context, _ b2beam.Key, x, mean b2beam.Tile) (b2beam.Tile, error) {
	items, err := b2beam.Items[float64](ctx, x)
	if err != nil {
		return b2beam.Tile{}, err
	}
	m, err := b2beam.Items[float64](ctx, mean)
	if err != nil {
		return b2beam.Tile{}, err
	}
	out := make([]float32, len(items))
	for i, v := range items {
		out[i] = float32(v - m[i%len(m)])
	}
	return b2beam.WithItems(ctx, x, out)
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
		mean := b2beam.Reduce(s, ndarray.OpMean, tiles, &ndarray.ReduceOptions{Axes: []int{0}, KeepDims: true, SkipNaN: true})
		b2beam.Write(s, b2beam.Join(*out, "mean"), mean, &ndarray.CreateOptions{Chunks: append([]int64{1}, of[1:]...)})

		diff := b2beam.Zip(s, subtract, tiles, mean, &b2beam.ZipOptions{Broadcast: []int{0}})
		if shape == nil {
			shape = of
		} else {
			diff = b2beam.Rechunk(s, diff, b2beam.RechunkOptions{Chunks: shape, MaxMemory: *memory})
		}
		b2beam.Write(s, b2beam.Join(*out, "anomaly"), diff, &ndarray.CreateOptions{Chunks: shape})
		return nil
	})
}
