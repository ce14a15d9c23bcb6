package ndarray

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/golden"
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

func number[T Real](t *testing.T, s string) T {
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

func ranges[T Real](t *testing.T, dtype string) {
	ctx := context.Background()
	o := &Options{Chunks: []int32{700}, Blocks: []int32{100}}
	o.CParams.Codec = codec.LZ4 // its encoder starts quickly
	check := func(c []string, a *Array, err error, n, crc string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%q: %v", c, err)
		}
		b := rawBytes(t, a)
		if strconv.FormatInt(a.Size(), 10) != n || strconv.FormatUint(uint64(crc32.ChecksumIEEE(b)), 16) != strings.TrimLeft(crc, "0") && crc != "00000000" {
			items, _ := Read[T](ctx, a)
			t.Errorf("%q: %d items: %v", c, a.Size(), items[:min(len(items), 8)])
		}
	}
	for _, c := range makingLines(t, "arange") {
		if c[0] == dtype {
			a, err := Arange(ctx, "", number[T](t, c[1]), number[T](t, c[2]), number[T](t, c[3]), o)
			check(c, a, err, c[4], c[5])
		}
	}
	for _, c := range makingLines(t, "linspace") {
		if c[0] == dtype {
			a, err := Linspace[T](ctx, "", number[float64](t, c[1]), number[float64](t, c[2]), number[int64](t, c[3]), c[4] == "1", o)
			check(c, a, err, c[5], c[6])
		}
	}
}

// TestNumPyFiles reads .npy files that NumPy wrote. It writes them in C order, which must produce the same bytes.
func TestNumPyFiles(t *testing.T) {
	ctx := context.Background()
	for _, c := range makingLines(t, "npy") {
		file, err1 := hex.DecodeString(c[0])
		items, err2 := hex.DecodeString(c[1])
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		h, err := ReadNPYHeader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		a, err := ReadNPY(ctx, "", bytes.NewReader(file), nil)
		if err != nil {
			t.Fatalf("%v %v: %v", h.DType, h.Shape, err)
		}
		if !bytes.Equal(rawBytes(t, a), items) {
			t.Errorf("%v %v, Fortran %v: the items differ", h.DType, h.Shape, h.Fortran)
		}
		var out bytes.Buffer
		if err := WriteNPY(ctx, &out, a); err != nil {
			t.Fatal(err)
		}
		if !h.Fortran && !bytes.Equal(out.Bytes(), file) {
			t.Errorf("%v %v written as %q", h.DType, h.Shape, out.Bytes()[:min(out.Len(), 200)])
		}
		if h.Fortran {
			again, err := ReadNPYHeader(&out)
			if err != nil || again.Fortran || again.DType.String() != h.DType.String() || !bytes.Equal(out.Bytes(), items) {
				t.Errorf("%v %v written: %v", h.DType, h.Shape, err)
			}
			b, err := h.Append(nil)
			if err != nil || !bytes.HasPrefix(file, b) {
				t.Errorf("%v %v, Fortran: header %q", h.DType, h.Shape, b)
			}
		}
	}
}

// TestNPYHeaderErrors checks that errors of .npy headers wrap errors of this package.
func TestNPYHeaderErrors(t *testing.T) {
	if _, err := (NPYHeader{DType: meta.DType{Kind: 'O', Size: 8}}).Append(nil); !errors.Is(err, ErrType) {
		t.Errorf("python objects: %v", err)
	}
	if _, err := ReadNPYHeader(strings.NewReader("text")); !errors.Is(err, ErrNPY) || !strings.HasPrefix(err.Error(), "ndarray: ") {
		t.Errorf("text: %v", err)
	}
}
