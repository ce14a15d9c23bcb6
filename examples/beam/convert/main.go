// Command convert turns a folder of .npy files, or of raw items, into arrays of Blosc2, on the workers of a Beam
// runner.
//
//	convert -in '/data/volumes/*.npy' -out /data/b2nd
//	convert -in '/data/camera/*.raw' -raw-shape 2048,2048 -raw-dtype '<u2' -out /data/b2nd
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/examples/beam/internal/cli"
	"github.com/goblosc/blosc2/ndarray"
)

var (
	in        = flag.String("in", "", "files to read: a path, a pattern or a URL; empty writes samples to OUT/sample and reads them")
	out       = flag.String("out", "", "folder for the arrays, shared by all workers, or its URL in a bucket")
	chunks    = flag.String("chunks", "", "chunk shape; -1 is a whole axis, and empty is automatic")
	codecName = flag.String("codec", "zstd", "codec")
	codecMeta = flag.Uint("codec-meta", 0, "parameter of ndlz and the zfp codecs, 0 to 255: see go doc codec.Default")
	level     = flag.Int("level", 5, "compression level, 1 to 9")
	rawShape  = flag.String("raw-shape", "", "shape of files without a header")
	rawDType  = flag.String("raw-dtype", "<f4", "NumPy dtype of files without a header")
	rawOffset = flag.Int64("raw-offset", 0, "bytes before the first item of files without a header")
)

func main() { cli.Main(run) }

func run(ctx context.Context) error {
	if *out == "" {
		return errors.New("-out is missing")
	}
	shape, err := cli.Ints(*chunks)
	if err != nil {
		return err
	}
	o := &ndarray.CreateOptions{Chunks: shape, Level: *level}
	if o.Codec, err = codec.Parse(*codecName); err != nil {
		return err
	}
	if *codecMeta > math.MaxUint8 {
		return fmt.Errorf("-codec-meta %d, want at most 255", *codecMeta)
	}
	o.CodecMeta = uint8(*codecMeta)
	from := &b2beam.FilesOptions{Chunks: shape, Codec: o.Codec, CodecMeta: o.CodecMeta, Level: o.Level}
	if *rawShape != "" {
		from.Raw = &b2beam.Raw{Offset: *rawOffset, DType: *rawDType}
		if from.Raw.Shape, err = cli.Ints(*rawShape); err != nil {
			return err
		}
	}
	if *in == "" {
		if err := cli.SampleFolder(*out); err != nil {
			return err
		}
		if err := cli.SampleVolumes(ctx, b2beam.Join(*out, "sample"), 5); err != nil {
			return err
		}
		*in = b2beam.Join(*out, "sample", "*.npy")
	}
	files, err := cli.Files(*in)
	if err != nil {
		return err
	}
	return cli.Run(ctx, func(s beam.Scope) error {
		b2beam.Write(s, *out, b2beam.FromFiles(s, files, from), o)
		return nil
	})
}
