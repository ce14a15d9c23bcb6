package filters

import (
	"fmt"
	"testing"
)

// benchSizes are the type sizes that have kernels of their own, and some that have none.
var benchSizes = []int{2, 3, 4, 7, 8, 12, 16, 32}

// benchBlock is the length of a block in bytes: no power of two, so that rows do not all begin at the same place of a
// cache set.
const benchBlock = 240 << 10

func benchmark(b *testing.B, f func(dst, src []byte, size int)) {
	src, dst := randomBytes(benchBlock, 1), make([]byte, benchBlock)
	benchmarkEachKernel(b, func(b *testing.B) {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
				b.SetBytes(benchBlock)
				b.ReportAllocs()
				for b.Loop() {
					f(dst, src, size)
				}
			})
		}
	})
}

func BenchmarkShuffle(b *testing.B)         { benchmark(b, Shuffle) }
func BenchmarkUnshuffle(b *testing.B)       { benchmark(b, Unshuffle) }
func BenchmarkBitShuffle(b *testing.B)      { benchmark(b, BitShuffle) }
func BenchmarkBitUnshuffle(b *testing.B)    { benchmark(b, BitUnshuffle) }
func BenchmarkByteDeltaEncode(b *testing.B) { benchmark(b, ByteDeltaEncode) }
func BenchmarkByteDeltaDecode(b *testing.B) { benchmark(b, ByteDeltaDecode) }

func BenchmarkDelta(b *testing.B) {
	src, dst, ref := randomBytes(benchBlock, 1), make([]byte, benchBlock), randomBytes(benchBlock, 2)
	for _, f := range []struct {
		name string
		f    func(dst, src, ref []byte, typeSize int)
		ref  []byte
	}{
		{"encode/first", DeltaEncode, nil}, {"decode/first", DeltaDecode, nil}, {"decode/other", DeltaDecode, ref},
	} {
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(benchBlock)
			b.ReportAllocs()
			for b.Loop() {
				f.f(dst, src, f.ref, 4)
			}
		})
	}
}

func BenchmarkCellDecode(b *testing.B) {
	src, dst := randomBytes(64*64*64*4, 1), make([]byte, 64*64*64*4)
	for _, edge := range []int{4, 16} {
		b.Run(fmt.Sprintf("edge=%d", edge), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := CellDecode(dst, src, 4, edge, []int32{64, 64, 64}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTruncPrec(b *testing.B) {
	src, dst := randomBytes(benchBlock, 1), make([]byte, benchBlock)
	b.SetBytes(benchBlock)
	b.ReportAllocs()
	for b.Loop() {
		if err := TruncPrec(dst, src, 4, 10); err != nil {
			b.Fatal(err)
		}
	}
}
