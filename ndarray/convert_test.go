package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/meta"
)

// storedCounts are arrays of the same items from 0 to 100 in several dtypes.
func storedCounts(t *testing.T, shape []int64, n int, o CreateOptions) (items []uint8, arrays []*Array) {
	t.Helper()
	items = make([]uint8, n)
	for i := range items {
		items[i] = uint8(uint64(i) * uint64(i) >> 4 % 101)
	}
	made, err := Create(ctx, "", shape, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	for _, dtype := range []string{"|u1", "|i1", "<i2", ">u2", "<i4", ">i4", "<f2", ">f2", "<f4", ">f4", ">f8"} {
		v, err := AsType(made, dtype)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Copy(ctx, "", v, &o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		arrays = append(arrays, a)
	}
	return items, arrays
}

// TestFloatsOutOfRange checks the integers of floats that do not fit. The results are those of NumPy on x86-64.
func TestFloatsOutOfRange(t *testing.T) {
	const low32, low64 = 1 << 31, 1 << 63
	nan, inf := math.NaN(), math.Inf(1)
	cputest.Each(t, func(t *testing.T) {
		for _, x := range []struct {
			to    string
			items []float64
			want  []uint64
			from  string // the dtypes that have these items
		}{
			{"<i8", []float64{nan, inf, -inf, 1e30, 1 << 63, -1e30, -1 << 63}, []uint64{low64, low64, low64, low64, low64, low64, low64}, "<f8 <f4"},
			{"<u8", []float64{nan, -inf, -1e30, inf, 1e30, 1 << 64, 1 << 63, -1.9}, []uint64{low64, low64, low64, 0, 0, 0, low64, 1<<64 - 1}, "<f8 <f4"},
			{"<i4", []float64{nan, inf, -inf, 1e10, 1 << 31, 5e9, -5e9}, []uint64{low32, low32, low32, low32, low32, low32, low32}, "<f8 <f4"},
			{"<u4", []float64{nan, -inf, -5e9, inf, 5e9, 1 << 32, 1e30, 1 << 31, -1.9}, []uint64{low32, low32, low32, 0, 0, 0, 0, low32, 1<<32 - 1}, "<f8 <f4"},
			{"<u4", []float64{1<<32 - 0.5, -1<<31 - 0.5, -1<<31 - 1}, []uint64{1<<32 - 1, low32, low32}, "<f8"},
			{"<i2", []float64{nan, inf, -inf, 1 << 31, 65537, -65537}, []uint64{0, 0, 0, 0, 1, 1<<16 - 1}, "<f8 <f4"},
			{"|u1", []float64{nan, inf, -inf, 1 << 31, 300, -1}, []uint64{0, 0, 0, 0, 44, 255}, "<f8 <f4"},
			{"<i4", []float64{nan, inf, -inf, -2.5}, []uint64{low32, low32, low32, 1<<32 - 2}, "<f8 <f4 <f2"},
			{"<u4", []float64{nan, inf, -inf, -2.5}, []uint64{0, 0, 0, 1<<32 - 2}, "<f2"},
			{"<u8", []float64{nan, -inf, inf, -2.5}, []uint64{low64, low64, 0, 1<<64 - 2}, "<f8 <f4 <f2"},
		} {
			for from := range strings.FieldsSeq(x.from) {
				const repeats = 9 // so that kernels and what remains for the loops both see each number
				n := len(x.items)
				a, err := Create(ctx, "", []int64{repeats, int64(n)}, slices.Repeat(x.items, repeats), nil)
				if err != nil {
					t.Fatal(err)
				}
				v, err := AsType(a, from)
				if err == nil {
					v, err = AsType(v, x.to)
				}
				if err != nil {
					t.Fatal(err)
				}
				size := v.DType().Size
				got, word := make([]byte, size*n*repeats), make([]byte, 8)
				if err := v.ReadBytes(ctx, got); err != nil {
					t.Fatal(err)
				}
				for i := range n * repeats {
					copy(word, got[i*size:(i+1)*size])
					if y := binary.LittleEndian.Uint64(word); y != x.want[i%n] {
						t.Errorf("%s %v to %s: %#x, want %#x", from, x.items[i%n], x.to, y, x.want[i%n])
					}
				}
				a.Close()
			}
		}
	})
}

// TestConvertBlocks converts boxes of blocks that are larger than the memory for unshuffled items, of rows of any
// length, in all orders of the axes.
func TestConvertBlocks(t *testing.T) {
	cputest.Each(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, c := range []struct{ shape, chunks, blocks []int64 }{
			{[]int64{30011}, []int64{20000}, []int64{9001}},
			{[]int64{3, 9000}, []int64{3, 8000}, []int64{2, 5000}},
			{[]int64{700, 30}, []int64{600, 20}, []int64{500, 19}},
			{[]int64{40, 37, 50}, []int64{40, 37, 41}, []int64{17, 20, 33}},
			{[]int64{9, 5, 70, 11}, []int64{9, 5, 70, 11}, []int64{8, 3, 65, 4}},
		} {
			n := 1
			for _, k := range c.shape {
				n *= int(k)
			}
			o := CreateOptions{Chunks: c.chunks, Blocks: c.blocks, Codec: codec.LZ4, Level: 1}
			items, arrays := storedCounts(t, c.shape, n, o)
			want, err := Create(ctx, "", c.shape, items, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer want.Close()
			for _, a := range arrays {
				for range 6 {
					checkConverted(t, rng, a, want, c.shape)
				}
			}
		}
	}, cpu.AVX2)
}

// checkConverted compares a random box of two arrays, perhaps transposed, read as float64 and as uint8.
func checkConverted(t *testing.T, rng *rand.Rand, a, want *Array, shape []int64) {
	t.Helper()
	sel := make([]Index, len(shape))
	for i, n := range shape {
		lo, hi := rng.Int64N(n), n
		switch rng.IntN(5) {
		case 0:
			sel[i] = At(lo)
		case 1:
			sel[i] = Span(lo, lo+1+rng.Int64N(n-lo))
		case 2:
			sel[i] = Step(None, None, -1-rng.Int64N(3))
		case 3:
			sel[i] = Step(lo/2, hi, 1+rng.Int64N(3))
		default:
			sel[i] = All
		}
	}
	var r, plain Reader = a, want
	if rng.IntN(3) == 0 {
		x, err := Transpose(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := Transpose(want)
		if err != nil {
			t.Fatal(err)
		}
		for i, j := 0, len(sel)-1; i < j; i, j = i+1, j-1 {
			sel[i], sel[j] = sel[j], sel[i]
		}
		r, plain = x, y
	}
	items, err := Read[uint8](ctx, plain, sel...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read[float64](ctx, r, sel...)
	if err != nil || len(got) != len(items) {
		t.Fatal(len(got), err)
	}
	for i, x := range got {
		if x != float64(items[i]) {
			t.Fatalf("%v %v: item %d is %v, want %v", a.DType(), sel, i, x, items[i])
		}
	}
	if a.DType().Kind != 'f' || a.DType().Size > 4 {
		return
	}
	narrow, err := Read[float32](ctx, r, sel...)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range narrow {
		if x != float32(items[i]) {
			t.Fatalf("%v %v: item %d is %v, want %v", a.DType(), sel, i, x, items[i])
		}
	}
}

// TestConvertAllocations checks that a converting read allocates nothing in a loop, also when plain reads are between.
func TestConvertAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools")
	}
	ctx := context.Background()
	shape := []int64{64, 64, 32}
	const n = 64 * 64 * 32
	dst, raw := make([]float64, n), make([]byte, 8*n)
	for _, level := range []int{5, codec.NoCompression} {
		o := CreateOptions{Chunks: []int64{32, 64, 32}, Blocks: []int64{16, 16, 16}, Concurrency: 1}
		o.setParams(chunk.Params{Codec: codec.LZ4, Level: level})
		_, arrays := storedCounts(t, shape, n, o)
		special, err := Full(ctx, "", shape, float32(3), &o)
		if err != nil {
			t.Fatal(err)
		}
		defer special.Close()
		for _, a := range append(arrays, special) {
			for _, s := range []struct {
				sel []Index
				n   int
			}{{nil, n}, {[]Index{Span(10, 50), Span(3, 60), Span(1, 30)}, 40 * 57 * 29}, {[]Index{At(20)}, 64 * 32}} {
				name := fmt.Sprintf("level %d, %v, %v", level, a.DType(), s.sel)
				read := func() {
					if err := ReadInto(ctx, a, dst[:s.n], s.sel...); err != nil {
						t.Error(name, err)
					}
				}
				both := func() {
					if err := a.ReadBytes(ctx, raw[:s.n*a.DType().Size], s.sel...); err != nil {
						t.Error(name, err)
					}
					read()
				}
				if got := testing.AllocsPerRun(20, read); got > 0 {
					t.Errorf("%s: %v allocations", name, got)
				}
				if got := testing.AllocsPerRun(20, both); got > 0 {
					t.Errorf("%s: %v allocations, with plain reads", name, got)
				}
			}
		}
	}
}

// TestPairAllocations checks that calls in a loop allocate nothing for every dtype and Go type of numbers that convert.
func TestPairAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools")
	}
	for _, dtype := range []string{"|b1", "|i1", "|u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"} {
		for _, order := range []string{"<", ">"} {
			if dtype[0] == '|' {
				order = ""
			}
			a, err := Full[int8](t.Context(), "", []int64{20}, 1, &CreateOptions{DType: order + dtype, Concurrency: 1})
			if err != nil {
				t.Fatal(err)
			}
			n := pairAllocations[bool](t, a) + pairAllocations[int8](t, a) + pairAllocations[uint8](t, a) +
				pairAllocations[int16](t, a) + pairAllocations[uint16](t, a) + pairAllocations[int32](t, a) +
				pairAllocations[uint32](t, a) + pairAllocations[int64](t, a) + pairAllocations[uint64](t, a) +
				pairAllocations[Float16](t, a) + pairAllocations[float32](t, a) + pairAllocations[float64](t, a) +
				pairAllocations[complex64](t, a) + pairAllocations[complex128](t, a)
			if bits.UintSize == 64 { // shorter ones check each item
				n += pairAllocations[int](t, a) + pairAllocations[uint](t, a)
			}
			if n == 0 {
				t.Errorf("%v converts to no type", a.DType())
			}
		}
	}
}

// pairAllocations checks calls with items of type T. It returns 1 if the items of a convert to T, and 0 otherwise.
func pairAllocations[T any](t *testing.T, a *Array) int {
	t.Helper()
	ctx, dst := t.Context(), make([]T, 20)
	if err := ReadInto(ctx, a, dst); errors.Is(err, ErrType) {
		return 0
	}
	got := testing.AllocsPerRun(20, func() {
		if err := ReadInto(ctx, a, dst); err != nil {
			t.Error(err)
		}
		if _, err := Item[T](ctx, a, 3); err != nil {
			t.Error(err)
		}
	})
	if got > 0 {
		t.Errorf("%v as %T: %v allocations", a.DType(), dst[0], got)
	}
	return 1
}

// conversionPair reads an array in three ways: as stored, converted, and as an array that is stored as the values of
// the converted read.
type conversionPair struct {
	name string
	make func(b *testing.B, o *CreateOptions) (arrays []*Array, reads func(sel []Index, n int) [3]func() error)
}

// pairOf returns the pair of two dtypes, of which the second is stored as values of D. lossy means that the read needs
// AsType.
func pairOf[D any](from, to string, lossy bool) conversionPair {
	makeArrays := func(b *testing.B, o *CreateOptions) ([]*Array, func(sel []Index, n int) [3]func() error) {
		ctx := context.Background()
		f4, err := Create(ctx, "", benchShape, benchCounts(), nil)
		if err != nil {
			b.Fatal(err)
		}
		defer f4.Close()
		var arrays []*Array
		for _, dtype := range []string{from, to} {
			v, err := AsType(f4, dtype)
			if err != nil {
				b.Fatal(err)
			}
			a, err := Copy(ctx, "", v, o)
			if err != nil {
				b.Fatal(err)
			}
			arrays = append(arrays, a)
		}
		var r Reader = arrays[0]
		if lossy {
			if r, err = AsType(arrays[0], to); err != nil {
				b.Fatal(err)
			}
		}
		raw, dst := make([]byte, f4.Size()*int64(arrays[0].DType().Size)), make([]D, f4.Size())
		return arrays, func(sel []Index, n int) [3]func() error {
			size := n * arrays[0].DType().Size
			return [3]func() error{
				func() error { return arrays[0].ReadBytes(ctx, raw[:size], sel...) },
				func() error { return ReadInto(ctx, r, dst[:n], sel...) },
				func() error { return ReadInto(ctx, arrays[1], dst[:n], sel...) },
			}
		}
	}
	return conversionPair{from + "-" + fmt.Sprintf("%T", *new(D)), makeArrays}
}

// benchCounts returns items from 0 to 250 that all dtypes hold: a smooth field with some noise.
func benchCounts() []float32 {
	data := benchData()
	for i, x := range data {
		data[i] = float32(int(x*100 + 120))
	}
	return data
}

// BenchmarkConvert compares converting reads with plain reads of the same array ("plain"), and of an array that is
// stored as the values of the converting read ("wide"). It runs them in turn and reports the ratios of the medians.
func BenchmarkConvert(b *testing.B) {
	pairs := []conversionPair{
		pairOf[float64]("<f4", "<f8", false),
		pairOf[float32](">f4", "<f4", false),
		pairOf[float32]("<i2", "<f4", false),
		pairOf[float64]("<i4", "<f8", false),
		pairOf[float32]("|u1", "<f4", false),
		pairOf[float32]("<f2", "<f4", false),
		pairOf[float32]("<f8", "<f4", true),
		pairOf[bool]("|b1", "|b1", false),
	}
	codecs := []struct {
		name  string
		id    codec.ID
		level int
	}{{"lz4", codec.LZ4, 5}, {"blosclz", codec.BloscLZ, 5}, {"zstd", codec.Zstd, 1}, {"stored", codec.LZ4, codec.NoCompression}}
	if testing.Short() {
		codecs, pairs = codecs[:1], pairs[:2]
	}
	for _, c := range codecs {
		for _, p := range pairs {
			for _, goroutines := range []int{1, 2} {
				o := &CreateOptions{Chunks: []int64{96, 128, 128}, Blocks: []int64{32, 32, 32}, Concurrency: goroutines}
				o.setParams(chunk.Params{Codec: c.id, Level: c.level})
				var reads func(sel []Index, n int) [3]func() error
				var arrays []*Array
				for _, s := range []struct {
					name string
					sel  []Index
					n    int
				}{
					{"whole", nil, 160 * 256 * 256},
					{"cube", []Index{Span(16, 144), Span(64, 192), Span(64, 192)}, 128 * 128 * 128},
					{"plane", []Index{At(80)}, 256 * 256},
				} {
					b.Run(fmt.Sprintf("%s/%s/%d/%s", c.name, p.name, goroutines, s.name), func(b *testing.B) {
						if reads == nil {
							arrays, reads = p.make(b, o)
						}
						b.ReportAllocs()
						compareReads(b, reads(s.sel, s.n))
					})
				}
				for _, a := range arrays {
					a.Close()
				}
			}
		}
	}
}

// compareReads runs reads in turn, and reports the ratios of the median of the second to the medians of the others.
func compareReads(b *testing.B, reads [3]func() error) {
	m := medians(b, reads[:]...)
	b.ReportMetric(m[1]/1e3, "µs")
	b.ReportMetric(m[1]/m[0], "x-plain")
	b.ReportMetric(m[1]/m[2], "x-wide")
	b.ReportMetric(m[1]/max(m[0], m[2]), "x")
	b.ReportMetric(0, "ns/op")
}

// medians calls functions in turn, and returns the median of the times of each in nanoseconds.
func medians(b *testing.B, list ...func() error) []float64 {
	times := make([][]time.Duration, len(list))
	for b.Loop() {
		for k, f := range list {
			start := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			times[k] = append(times[k], time.Since(start))
		}
	}
	var m []float64
	for _, t := range times {
		slices.Sort(t)
		m = append(m, float64(t[len(t)/2]))
	}
	return m
}

// TestPythonObjects checks that new arrays cannot have Python objects. Existing ones are read and copied as before.
func TestPythonObjects(t *testing.T) {
	one := []int64{1}
	for _, dtype := range []string{"O", "|O8", "[('a', '<i4'), ('b', 'O')]", "[('a', [('b', '|O', (2,))])]"} {
		const part = "has Python objects, which cannot be stored; see package frame/store/objects"
		d, err := meta.ParseDType(dtype)
		if err != nil {
			t.Fatal(err)
		}
		items := make([]byte, d.Size)
		_, err = Zeros(ctx, "", one, dtype, nil)
		wantMessage(t, err, ErrType, part)
		_, err = FullBytes(ctx, "", one, dtype, items, nil)
		wantMessage(t, err, ErrType, part)
		_, err = CreateBytes(ctx, "", one, dtype, items, nil)
		wantMessage(t, err, ErrType, part)
		_, err = FromReader(ctx, "", one, dtype, bytes.NewReader(items), nil)
		wantMessage(t, err, ErrType, part)
		_, err = CreateRegions(ctx, filepath.Join(t.TempDir(), "a"), one, dtype, nil)
		wantMessage(t, err, ErrType, part)

		raw, err := Zeros(ctx, "", one, fmt.Sprintf("|V%d", d.Size), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Copy(ctx, "", raw, &CreateOptions{DType: dtype})
		wantMessage(t, err, ErrType, part)
		l, err := newLayout(ctx, "", one, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := l.create(ctx, "", func(b *frame.Batch) error { return b.Engine().FillSpecial(l.geo.ChunkBytes, chunk.Zeros) })
		if err == nil {
			a, err = Copy(ctx, "", a, nil)
		}
		if err != nil || a.DType().String() != d.String() {
			t.Fatalf("%s: %v, %v", dtype, a, err)
		}
		if err := a.ReadBytes(ctx, items); err != nil {
			t.Error(err)
		}
	}
	for _, dtype := range []string{"<f16", ">c32"} { // long double and its complex numbers are bytes
		if _, err := Zeros(ctx, "", one, dtype, nil); err != nil {
			t.Error(err)
		}
	}
}
