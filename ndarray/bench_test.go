package ndarray

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// benchShape is that of an array of 40 MiB of float32: a smooth field with some noise.
var benchShape = []int64{160, 256, 256}

func benchData() []float32 {
	data := make([]float32, 160*256*256)
	seed := uint32(1)
	for i := range data {
		x, y, z := i/65536, i/256%256, i%256
		seed = seed*1664525 + 1013904223
		v := math.Sin(float64(x)/20) * math.Cos(float64(y)/31) * math.Sin(float64(z)/17)
		data[i] = float32(math.Round(v*1000)/1000) + float32(seed>>30)/1000
	}
	return data
}

func benchOptions(id codec.ID, level int) *Options {
	o := &Options{Chunks: []int32{96, 128, 128}, Blocks: []int32{32, 32, 32}}
	o.CParams = chunk.CParams{Codec: id, Level: level}
	o.NoSync = true
	return o
}

var benchCodecs = []struct {
	name  string
	id    codec.ID
	level int
}{{"lz4hc-5", codec.LZ4HC, 5}, {"zstd-default", codec.Default, 0}}

// BenchmarkArrayRead reads a cube of 8 MiB that cuts chunks and blocks, a plane, an item, and everything.
func BenchmarkArrayRead(b *testing.B) {
	ctx := context.Background()
	data := benchData()
	for _, c := range benchCodecs {
		name := filepath.Join(b.TempDir(), c.name)
		a, err := Create(ctx, name, benchShape, data, benchOptions(c.id, c.level))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { a.Close() })
		for _, s := range []struct {
			name string
			sel  []Index
			n    int
		}{
			{"cube", []Index{Span(16, 144), Span(64, 192), Span(64, 192)}, 128 * 128 * 128},
			{"plane", []Index{At(80)}, 256 * 256},
			{"column", []Index{All, At(80), At(80)}, 160},
			{"whole", nil, len(data)},
		} {
			dst := make([]float32, s.n)
			b.Run(c.name+"/"+s.name, func(b *testing.B) {
				b.SetBytes(int64(4 * s.n))
				b.ReportAllocs()
				for b.Loop() {
					if err := ReadInto(ctx, a, dst, s.sel...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(c.name+"/item", func(b *testing.B) {
			b.SetBytes(4)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadAt[float32](ctx, a, 80, 100, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkArrayOpen opens an array in a file and closes it again.
func BenchmarkArrayOpen(b *testing.B) {
	name := filepath.Join(b.TempDir(), "a.b2nd")
	made, err := Create(context.Background(), name, benchShape, benchData(), benchOptions(codec.LZ4, 1))
	if err != nil {
		b.Fatal(err)
	}
	info := made.Frame().Info()
	b.SetBytes(info.FrameLen - info.CBytes) // what opening looks at
	made.Close()
	b.ReportAllocs()
	for b.Loop() {
		a, err := Open(name, nil)
		if err != nil {
			b.Fatal(err)
		}
		a.Close()
	}
}

// BenchmarkArrayWrite writes everything, and the cube of BenchmarkArrayRead, which keeps parts of all its chunks.
func BenchmarkArrayWrite(b *testing.B) {
	ctx := context.Background()
	data := benchData()
	for _, c := range benchCodecs {
		a, err := Create(ctx, "", benchShape, data, benchOptions(c.id, c.level))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/whole", func(b *testing.B) {
			b.SetBytes(int64(4 * len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Write(ctx, a, data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/cube", func(b *testing.B) {
			cube := data[:128*128*128]
			b.SetBytes(int64(4 * len(cube)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Write(ctx, a, cube, Span(16, 144), Span(64, 192), Span(64, 192)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
