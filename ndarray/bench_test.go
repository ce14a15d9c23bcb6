package ndarray

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// benchShape is the shape of an array of 40 MiB of float32.
var benchShape = []int64{160, 256, 256}

// benchData returns the items: a smooth field with some noise.
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

func benchOptions(id codec.ID, level int) *CreateOptions {
	o := &CreateOptions{Chunks: []int64{96, 128, 128}, Blocks: []int64{32, 32, 32}}
	o.setParams(chunk.Params{Codec: id, Level: level})
	o.NoSync = true
	return o
}

var benchCodecs = []struct {
	name  string
	id    codec.ID
	level int
}{{"lz4hc-5", codec.LZ4HC, 5}, {"zstd-default", codec.Default, 0}}

// BenchmarkArrayRead reads a cube of 8 MiB that covers chunks and blocks in part, a plane, an item, and everything.
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
				if _, err := Item[float32](ctx, a, 80, 100, 100); err != nil {
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
	b.SetBytes(info.FrameLen - info.CBytes) // the bytes that opening reads
	made.Close()
	b.ReportAllocs()
	for b.Loop() {
		a, err := Open(ctx, name, nil)
		if err != nil {
			b.Fatal(err)
		}
		a.Close()
	}
}

// BenchmarkArrayWrite writes everything, and the cube of BenchmarkArrayRead, which covers its chunks in part.
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

// BenchmarkAppend appends 1,000 images of 256 x 256 counts to an array in a file, as an instrument does: with a commit
// for each and in one batch, in chunks of 1 and of 16 images.
func BenchmarkAppend(b *testing.B) {
	ctx := context.Background()
	const frames = 1000
	image := make([]uint16, 256*256)
	seed := uint32(1)
	for i := range image {
		seed = seed*1664525 + 1013904223
		image[i] = uint16(100 + seed>>28)
	}
	for _, rows := range []int64{1, 16} {
		for _, batch := range []bool{false, true} {
			name := fmt.Sprintf("chunks-of-%d/commits-%v", rows, map[bool]int{false: frames, true: 1}[batch])
			b.Run(name, func(b *testing.B) {
				o := &CreateOptions{Chunks: []int64{rows, 256, 256}, Blocks: []int64{1, 64, 256}}
				o.NoSync, o.Overwrite = true, true
				o.setParams(chunk.Params{Codec: codec.LZ4, Level: 1})
				file := filepath.Join(b.TempDir(), "a.b2nd")
				b.SetBytes(frames * int64(2*len(image)))
				b.ReportAllocs()
				for b.Loop() {
					a, err := Zeros(ctx, file, []int64{0, 256, 256}, "<u2", o)
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

// BenchmarkShift inserts a row at the front of an array of 40 MiB. If chunks stay aligned, only the index changes.
// Otherwise all chunks are rewritten.
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

// benchTyped reads and writes an array as values of a type.
func benchTyped[T any](b *testing.B, name, dtype string, value func(i int) T) {
	ctx := context.Background()
	const n = 1 << 18
	data := make([]T, n)
	for i := range data {
		data[i] = value(i)
	}
	a, err := Create(ctx, "", []int64{n}, data, &CreateOptions{DType: dtype})
	if err != nil {
		b.Fatal(err)
	}
	size := int64(n * a.DType().Size)
	b.Run(name+"/read", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if err := ReadInto(ctx, a, data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(name+"/convert", func(b *testing.B) {
		raw := make([]byte, size)
		if err := a.ReadBytes(ctx, raw); err != nil {
			b.Fatal(err)
		}
		c, err := readerOf[T](a.DType())
		if err != nil || c.Direct {
			b.Skip("this type does not match the dtype: ", err)
		}
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if err := decodeItems(ctx, c.Converter, a, data, engine.Stored{Bytes: raw}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(name+"/back", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := encodeItems(ctx, a.DType(), 0, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTypes reads and writes arrays of 2^18 items. It counts the bytes of the items as stored.
func BenchmarkTypes(b *testing.B) {
	type particle struct {
		ID   int64
		Pos  [3]float64
		Mass float32
		Kind uint16
	}
	type station struct {
		Name string
		At   time.Time
		Wind struct{ U, V float32 }
	}
	benchTyped(b, "float16", "<f2", func(i int) Float16 { return Float16Of(float32(i % 1000)) })
	benchTyped(b, "int32 big-endian", ">i4", func(i int) int32 { return int32(i) })
	benchTyped(b, "text", "<U12", func(i int) string { return fmt.Sprint("name ", i%1000) })
	benchTyped(b, "bytes", "S12", func(i int) string { return fmt.Sprint("name ", i%1000) })
	benchTyped(b, "times", "<M8[ms]", func(i int) time.Time { return time.Unix(int64(i), 5e6) })
	benchTyped(b, "dates", "<M8[M]", func(i int) time.Time { return time.Unix(int64(i)*1e4, 0) })
	benchTyped(b, "struct", "", func(i int) particle { return particle{ID: int64(i), Mass: float32(i)} })
	benchTyped(b, "struct of text", "", func(i int) station { return station{Name: fmt.Sprint("name ", i%1000)} })
}

// BenchmarkViews reads through views: a transposed plane across the last axis, the whole cube transposed and flipped,
// and a field of items of 16 bytes.
func BenchmarkViews(b *testing.B) {
	ctx := context.Background()
	data := benchData()
	a, err := Create(ctx, "", benchShape, data, benchOptions(codec.LZ4, 5))
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	items, err := CreateBytes(ctx, "", []int64{160, 256, 64}, "[('a', '<f4'), ('b', '<f4'), ('c', '<f8')]", convert.Bytes(data), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer items.Close()
	must := func(v *View, err error) *View {
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
	dst := make([]float32, len(data))
	for _, c := range []struct {
		name string
		r    Reader
		sel  []Index
	}{
		{"plane", a, []Index{All, All, At(80)}},
		{"plane-transposed", must(Transpose(a, 2, 1, 0)), []Index{At(80)}},
		{"cube", a, nil},
		{"cube-transposed", must(Transpose(a)), nil},
		{"cube-swapped", must(Transpose(a, 1, 0, 2)), nil},
		{"cube-flipped", must(Flip(a)), nil},
		{"field", must(Field(items, "b")), nil},
		{"repeated", must(BroadcastTo(must(Slice(a, At(3), NewAxis)), 160, 256, 256)), nil},
	} {
		shape, err := c.r.SelectionShape(c.sel...)
		if err != nil {
			b.Fatal(err)
		}
		n, _ := grid.Product(shape)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(4 * n)
			b.ReportAllocs()
			for b.Loop() {
				if err := ReadInto(ctx, c.r, dst[:n], c.sel...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCopies creates arrays from another array.
func BenchmarkCopies(b *testing.B) {
	ctx := context.Background()
	data := benchData()
	o := benchOptions(codec.LZ4, 5)
	a, err := Create(ctx, "", benchShape, data, o)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	v, err := Transpose(a)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		run  func() (*Array, error)
	}{
		{"as-stored", func() (*Array, error) { return Copy(ctx, "", a, nil) }},
		{"transposed", func() (*Array, error) { return Copy(ctx, "", v, nil) }},
		{"reshape", func() (*Array, error) { return Reshape(ctx, "", a, []int64{256, -1}, nil) }},
		{"astype-f8", func() (*Array, error) { return asTypeCopy(ctx, a, "<f8") }},
		{"astype-i2", func() (*Array, error) { return asTypeCopy(ctx, a, "<i2") }},
		{"concat", func() (*Array, error) { return Concat(ctx, "", 1, []Reader{a, a}, nil) }},
		{"concat-streamed", func() (*Array, error) { return Concat(ctx, "", 0, []Reader{a, a}, nil) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(4 * len(data)))
			b.ReportAllocs()
			for b.Loop() {
				x, err := c.run()
				if err != nil {
					b.Fatal(err)
				}
				x.Close()
			}
		})
	}
}

// BenchmarkRatios compares a converting read with a plain read of the same array, and reductions that skip NaNs with
// plain ones. It runs both in turn and reports the ratio of the medians.
func BenchmarkRatios(b *testing.B) {
	ctx := context.Background()
	data := make([]float32, 4<<20)
	for i := range data {
		data[i] = float32(i%1000) * 0.25
	}
	a, err := Create(ctx, "", []int64{2048, 2048}, data, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	swapped, err := asTypeCopy(ctx, a, ">f4")
	if err != nil {
		b.Fatal(err)
	}
	defer swapped.Close()
	wide := make([]float64, len(data))
	type pair struct {
		name  string
		plain func() error
		other func() error
	}
	pairs := []pair{
		{"f4-to-float64", func() error { return ReadInto(ctx, a, data) }, func() error { return ReadInto(ctx, a, wide) }},
		{"big-f4-to-float32", func() error { return ReadInto(ctx, a, data) }, func() error { return ReadInto(ctx, swapped, data) }},
		{"big-f4-to-float64", func() error { return ReadInto(ctx, a, data) }, func() error { return ReadInto(ctx, swapped, wide) }},
	}
	for _, op := range []Op{OpSum, OpMean, OpStd, OpMin, OpMax} {
		reduce := func(skip bool) func() error {
			return func() error {
				_, err := ReduceAll[float64](ctx, a, op, &ReduceOptions{SkipNaN: skip})
				return err
			}
		}
		pairs = append(pairs, pair{op.String() + "-skip-nan", reduce(false), reduce(true)})
	}
	for _, c := range pairs {
		b.Run(c.name, func(b *testing.B) {
			m := medians(b, c.plain, c.other)
			b.ReportMetric(m[1]/m[0], "ratio")
		})
	}
}
