package ndarray

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// BenchmarkAppend appends 1,000 frames of 256 x 256 counts to an array in a file, as an instrument does: with a commit
// for each, and in one batch; in chunks of one frame, and of 16.
func BenchmarkAppend(b *testing.B) {
	ctx := context.Background()
	const frames = 1000
	image := make([]uint16, 256*256)
	seed := uint32(1)
	for i := range image {
		seed = seed*1664525 + 1013904223
		image[i] = uint16(100 + seed>>28)
	}
	for _, rows := range []int32{1, 16} {
		for _, batch := range []bool{false, true} {
			name := fmt.Sprintf("chunks-of-%d/commits-%v", rows, map[bool]int{false: frames, true: 1}[batch])
			b.Run(name, func(b *testing.B) {
				o := &Options{Chunks: []int32{rows, 256, 256}, Blocks: []int32{1, 64, 256}}
				o.NoSync, o.Overwrite = true, true
				o.CParams = chunk.CParams{Codec: codec.LZ4, Level: 1}
				file := filepath.Join(b.TempDir(), "a.b2nd")
				b.SetBytes(frames * int64(2*len(image)))
				b.ReportAllocs()
				for b.Loop() {
					a, err := Zeros(file, []int64{0, 256, 256}, "<u2", o)
					if err != nil {
						b.Fatal(err)
					}
					if err := appendFrames(ctx, a, image, frames, batch); err != nil {
						b.Fatal(err)
					}
					if err := a.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*frames), "µs/frame")
			})
		}
	}
}

func appendFrames(ctx context.Context, a *Array, image []uint16, n int, batch bool) error {
	if !batch {
		for range n {
			if err := Append(ctx, a, 0, image); err != nil {
				return err
			}
		}
		return nil
	}
	b, err := a.Begin(context.Background())
	if err != nil {
		return err
	}
	defer b.Rollback()
	for range n {
		if err := Append(ctx, b, 0, image); err != nil {
			return err
		}
	}
	return b.Commit()
}

// BenchmarkShift inserts a row at the front of an array of 40 MiB: where chunks line up only the index changes, else
// all chunks are made anew.
func BenchmarkShift(b *testing.B) {
	ctx := context.Background()
	data := benchData()
	a, err := Create(ctx, "", benchShape, data, benchOptions(codec.LZ4, 1))
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int64{96, 1} {
		rows := data[:n*256*256]
		b.Run(fmt.Sprintf("rows-%d", n), func(b *testing.B) {
			b.SetBytes(int64(4 * len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Insert(ctx, a, 0, 0, rows); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := a.Resize(ctx, benchShape...); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
