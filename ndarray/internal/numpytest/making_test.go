package numpytest

import (
	"context"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/ndarray"
)

// makingLines returns the fields of the lines of a kind in testdata/making.txt.gz, without the kind.
func makingLines(t *testing.T, kind string) [][]string {
	t.Helper()
	var out [][]string
	for _, line := range golden.Lines(t, "testdata/making.txt.gz") {
		if rest, ok := strings.CutPrefix(line, kind+";"); ok {
			out = append(out, strings.Split(rest, ";"))
		}
	}
	if len(out) < 100 {
		t.Fatalf("only %d lines of kind %s", len(out), kind)
	}
	return out
}

func number[T ndarray.Real](t *testing.T, s string) T {
	t.Helper()
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return T(i)
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return T(u)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return T(f)
}

// TestNumPyRanges compares arrays of several chunks with numpy.arange and numpy.linspace.
func TestNumPyRanges(t *testing.T) {
	ranges[int8](t, "i1")
	ranges[uint8](t, "u1")
	ranges[int16](t, "<i2")
	ranges[uint16](t, "<u2")
	ranges[int32](t, "<i4")
	ranges[uint32](t, "<u4")
	ranges[int64](t, "<i8")
	ranges[uint64](t, "<u8")
	ranges[float32](t, "<f4")
	ranges[float64](t, "<f8")
}

func ranges[T ndarray.Real](t *testing.T, dtype string) {
	ctx := context.Background()
	o := &ndarray.CreateOptions{Chunks: []int64{700}, Blocks: []int64{100}}
	o.Codec = codec.LZ4 // its encoder starts quickly
	check := func(c []string, a *ndarray.Array, err error, n, crc string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%q: %v", c, err)
		}
		b := rawBytes(t, a)
		if strconv.FormatInt(a.Size(), 10) != n || strconv.FormatUint(uint64(crc32.ChecksumIEEE(b)), 16) != strings.TrimLeft(crc, "0") && crc != "00000000" {
			items, _ := ndarray.Read[T](ctx, a)
			t.Errorf("%q: %d items: %v", c, a.Size(), items[:min(len(items), 8)])
		}
	}
	for _, c := range makingLines(t, "arange") {
		if c[0] == dtype {
			a, err := ndarray.Arange(ctx, "", number[T](t, c[1]), number[T](t, c[2]), number[T](t, c[3]), o)
			check(c, a, err, c[4], c[5])
		}
	}
	for _, c := range makingLines(t, "linspace") {
		if c[0] == dtype {
			if c[4] != "1" {
				continue // endpoint=False
			}
			a, err := ndarray.Linspace[T](ctx, "", number[float64](t, c[1]), number[float64](t, c[2]), number[int64](t, c[3]), o)
			check(c, a, err, c[5], c[6])
		}
	}
}

// TestArangeNegativeZero begins a range with -0, as numpy.arange does.
func TestArangeNegativeZero(t *testing.T) {
	for _, chunk := range []int64{1, 3} {
		o := &ndarray.CreateOptions{Chunks: []int64{chunk}}
		a, err := ndarray.Arange(t.Context(), "", math.Copysign(0, -1), 3, 1, o)
		if err != nil {
			t.Fatal(err)
		}
		x, err := ndarray.Read[float64](t.Context(), a)
		if err != nil || !slices.Equal(x, []float64{0, 1, 2}) || !math.Signbit(x[0]) {
			t.Error(x, err)
		}
	}
}
