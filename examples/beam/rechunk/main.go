// Command rechunk copies arrays with other chunks, on the workers of a Beam runner: time series from a climate archive
// whose chunks are maps, for example.
//
//	rechunk -in '/data/era5/*.b2nd' -out /data/series -chunks -1,16,16 -max-memory 1000000000
package main

import (
	"context"
	"errors"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/examples/beam/internal/cli"
)

var (
	in     = flag.String("in", "", "arrays to read: a path, a pattern or a URL; empty writes a sample to OUT/sample and reads it")
	out    = flag.String("out", "", "folder for the new arrays, shared by all workers, or its URL in a bucket")
	chunks = flag.String("chunks", "-1,8,8", "new chunk shape; -1 is a whole axis")
	temp   = flag.String("temp", "", "folder for arrays between the stages, like -out; empty is OUT/stages")
	memory = flag.Int64("max-memory", 32<<20, "bytes of a tile; a worker holds one for each bundle, see README.md")
)

func main() { cli.Main(run) }

func run(ctx context.Context) error {
	if *out == "" {
		return errors.New("-out is missing")
	}
	if *temp == "" {
		*temp = b2beam.Join(*out, "stages")
	}
	shape, err := cli.Ints(*chunks)
	if err != nil {
		return err
	}
	if *in == "" {
		if err := cli.SampleFolder(*out); err != nil {
			return err
		}
		*in = b2beam.Join(*out, "sample", "t2m.b2nd")
		if err := cli.SampleArchive(ctx, *in, 60); err != nil {
			return err
		}
	}
	files, err := cli.Files(*in)
	if err != nil {
		return err
	}
	return cli.Run(ctx, func(s beam.Scope) error {
		_, err := b2beam.RechunkStored(ctx, s, files, *out, *temp, b2beam.RechunkOptions{Chunks: shape, MaxMemory: *memory}, nil)
		return err
	})
}
