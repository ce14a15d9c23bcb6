package codec_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

// benchInput returns float32 values of a slow wave with noise in the low bits, byte-shuffled.
func benchInput(n int) []byte {
	r := newRandom(1)
	b, out := make([]byte, n), make([]byte, n)
	for i := 0; i < n; i += 4 {
		v := float32(20 + 10*math.Sin(float64(i)/2000) + float64(r.below(1000))/50000)
		binary.LittleEndian.PutUint32(b[i:], math.Float32bits(v))
	}
	transpose(out, b, 4)
	return out
}

const benchSize = 256 << 10

func BenchmarkEncode(b *testing.B) {
	src := benchInput(benchSize)
	for _, id := range ids {
		for _, level := range []int{1, 5, 9} {
			b.Run(fmt.Sprintf("%v-%d", id, level), func(b *testing.B) {
				e := newEncoder(b, id, level)
				dst := make([]byte, len(src))
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					n, _ = e.Encode(dst, src)
				}
				if n == 0 {
					n = len(src)
				}
				b.ReportMetric(float64(len(src))/float64(n), "ratio")
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	src := benchInput(benchSize)
	for _, id := range ids {
		for _, level := range []int{1, 5, 9} {
			stream := make([]byte, len(src))
			n, err := newEncoder(b, id, level).Encode(stream, src)
			if err != nil {
				continue // BloscLZ gives up at the high levels
			}
			b.Run(fmt.Sprintf("%v-%d", id, level), func(b *testing.B) {
				d := newDecoder(b, id)
				dst := make([]byte, len(src))
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					if err := d.Decode(dst, stream[:n]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
