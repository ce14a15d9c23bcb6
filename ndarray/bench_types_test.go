package ndarray

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// benchTyped reads and writes an array of a type.
func benchTyped[T any](b *testing.B, name, dtype string, value func(i int) T) {
	ctx := context.Background()
	const n = 1 << 18
	data := make([]T, n)
	for i := range data {
		data[i] = value(i)
	}
	a, err := Create(ctx, "", []int64{n}, data, &Options{DType: dtype})
	if err != nil {
		b.Fatal(err)
	}
	size := int64(n * a.ItemSize())
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
		c, err := converterOf[T](a.DType())
		if err != nil || c.direct {
			b.Skip("nothing to convert: ", err)
		}
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if err := decodeItems(ctx, c.steps, a, data, raw); err != nil {
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

// BenchmarkTypes goes through arrays of 2^18 items; the bytes are those of the items as stored.
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
	benchTyped(b, "float16 as float32", "<f2", func(i int) float32 { return float32(i % 1000) })
	benchTyped(b, "int32 big-endian", ">i4", func(i int) int32 { return int32(i) })
	benchTyped(b, "text", "<U12", func(i int) string { return fmt.Sprint("name ", i%1000) })
	benchTyped(b, "bytes", "S12", func(i int) string { return fmt.Sprint("name ", i%1000) })
	benchTyped(b, "times", "<M8[ms]", func(i int) time.Time { return time.Unix(int64(i), 5e6) })
	benchTyped(b, "dates", "<M8[M]", func(i int) time.Time { return time.Unix(int64(i)*1e4, 0) })
	benchTyped(b, "struct", "", func(i int) particle { return particle{ID: int64(i), Mass: float32(i)} })
	benchTyped(b, "struct of text", "", func(i int) station { return station{Name: fmt.Sprint("name ", i%1000)} })
}
