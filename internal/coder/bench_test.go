package coder

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// benchData returns 16 MiB of float32s like those of measuring instruments: a slow wave and three bits of noise.
func benchData() []byte {
	b := noise(16 << 20)
	for i := 0; i < len(b); i += 4 {
		b[i] &= 0x07
		b[i+1], b[i+2], b[i+3] = byte(i>>9), byte(i>>17), 0x42
	}
	return b
}

func BenchmarkEncode(b *testing.B) {
	src := benchData()
	for _, id := range allCodecs {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%v/%d", id, workers), func(b *testing.B) {
				pool := NewPool(&Options{Concurrency: workers})
				var out []byte
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					var err error
					if out, err = pool.Encode(out[:0], src, Params{Codec: id, TypeSize: 4}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(src))/float64(len(out)), "ratio")
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	src := benchData()
	for _, id := range allCodecs {
		chunk, err := Encode(nil, src, Params{Codec: id, TypeSize: 4}, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%v/%d", id, workers), func(b *testing.B) {
				pool := NewPool(&Options{Concurrency: workers})
				var out []byte
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					if out, err = pool.Decode(out[:0], chunk); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkBlock opens a chunk in a file and decodes one block of 32 KiB.
func BenchmarkBlock(b *testing.B) {
	src := benchData()
	for _, id := range []codec.ID{codec.LZ4, codec.Zstd} {
		chunk, err := Encode(nil, src, Params{Codec: id, TypeSize: 4, BlockSize: 32 << 10}, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(id.String(), func(b *testing.B) {
			w := NewPool(nil).Get()
			file := bytes.NewReader(chunk)
			block := make([]byte, 32<<10)
			var r Reader
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				if err := w.OpenAt(&r, file, 0, int64(len(chunk)), 0, 0.01); err != nil {
					b.Fatal(err)
				}
				if err := w.DecodeBlock(block, &r, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
