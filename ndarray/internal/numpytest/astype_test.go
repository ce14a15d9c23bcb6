package numpytest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
)

// readAs reads the items of r as values of type T in several ways, which must agree, and returns their bytes.
func readAs[T any](t *testing.T, rng *rand.Rand, r ndarray.Reader) []byte {
	t.Helper()
	ctx := context.Background()
	values, err := ndarray.Read[T](ctx, r)
	if err != nil {
		t.Fatalf("%v to %T: %v", r.DType(), values, err)
	}
	raw := convert.Bytes(values)
	again := make([]T, len(values))
	if err := ndarray.ReadInto(ctx, r, again); err != nil || !bytes.Equal(convert.Bytes(again), raw) {
		t.Fatalf("%v to %T: ReadInto: %v, want %v, %v", r.DType(), values, again, values, err)
	}
	if len(values) == 0 {
		return raw
	}
	positions := make([]int64, 5)
	var want []T
	for i := range positions {
		positions[i] = rng.Int64N(int64(len(values)))
		want = append(want, values[positions[i]])
	}
	listed, err := ndarray.Read[T](ctx, r, ndarray.Flat(positions...))
	if err != nil || !bytes.Equal(convert.Bytes(listed), convert.Bytes(want)) {
		t.Fatalf("%v to %T: items %v are %v, want %v, %v", r.DType(), values, positions, listed, want, err)
	}
	var at []int64
	rest := positions[0]
	for _, n := range slices.Backward(r.Shape()) {
		at = append(at, rest%n)
		rest /= n
	}
	slices.Reverse(at)
	item, err := ndarray.Item[T](ctx, r, at...)
	if err != nil || !bytes.Equal(convert.Bytes([]T{item}), convert.Bytes(want[:1])) {
		t.Fatalf("%v to %T: item %v is %v, want %v, %v", r.DType(), values, at, item, want[0], err)
	}
	if n := len(r.Shape()); n > 0 { // every second item of an axis, in another order
		axis := rng.IntN(n)
		sel := make([]ndarray.Index, n)
		for i := range sel {
			sel[i] = ndarray.All
		}
		var list []int64
		for i := r.Shape()[axis] - 1; i >= 0; i -= 2 {
			list = append(list, i)
		}
		sel[axis] = ndarray.Pick(list...)
		picked, err := ndarray.Read[T](ctx, r, sel...)
		sel[axis] = ndarray.Step(ndarray.None, ndarray.None, -2)
		if want, err2 := ndarray.Read[T](ctx, r, sel...); err != nil || err2 != nil || !bytes.Equal(convert.Bytes(picked), convert.Bytes(want)) {
			t.Fatalf("%v to %T: %v, want %v, %v, %v", r.DType(), values, picked, want, err, err2)
		}
	}
	return raw
}

// valueReaders maps dtypes to readAs.
var valueReaders = map[string]func(t *testing.T, rng *rand.Rand, r ndarray.Reader) []byte{
	"|b1": readAs[bool], "|i1": readAs[int8], "<i2": readAs[int16], "<i4": readAs[int32], "<i8": readAs[int64],
	"|u1": readAs[uint8], "<u2": readAs[uint16], "<u4": readAs[uint32], "<u8": readAs[uint64],
	"<f2": readAs[ndarray.Float16], "<f4": readAs[float32], "<f8": readAs[float64], "<c8": readAs[complex64], "<c16": readAs[complex128],
}

// TestConversionsAsNumPy compares converting reads and chains of views with NumPy's results in testdata/conversions.py,
// bit by bit.
func TestConversionsAsNumPy(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(4, 5))
	kinds := map[string]int{}
	for _, line := range golden.Lines(t, "testdata/conversions.txt.gz") {
		f := strings.Split(line, ";")
		items, err := hex.DecodeString(f[3])
		if err != nil {
			t.Fatal(err)
		}
		shape := golden.Ints(t, f[2])
		o := &ndarray.CreateOptions{}
		o.Chunks, o.Blocks = randomPartition(rng, shape)
		a, err := ndarray.CreateBytes(ctx, "", shape, f[1], items, o)
		if err != nil {
			t.Fatal(err)
		}
		var r, before ndarray.Reader = a, a
		for step := range strings.SplitSeq(f[4], "|") {
			before = r
			if r, err = applyStep(t, r, step, rng); err != nil {
				t.Fatalf("%s: %s: %v", line, step, err)
			}
		}
		to, err := meta.ParseDType(f[6])
		if err != nil {
			t.Fatal(err)
		}
		check := func(how string, r ndarray.Reader, b []byte, err error) {
			if err != nil || r.DType().String() != to.String() || !slices.Equal(r.Shape(), golden.Ints(t, f[5])) ||
				fmt.Sprintf("%08x", crc32.ChecksumIEEE(b)) != f[7] {
				t.Errorf("%s: %s: shape %v, dtype %v, %x, %v", line, how, r.Shape(), r.DType(), b, err)
			}
		}
		got := make([]byte, int(r.Size())*to.Size)
		err = r.ReadBytes(ctx, got)
		check("view", r, got, err)
		if kinds[f[0]]++; f[0] == "read" {
			b := valueReaders[f[6]](t, rng, before)
			convert.ToNative(to, b) // on a big-endian machine
			check("read", r, b, nil)
		}
		if rng.IntN(4) == 0 {
			c, err := ndarray.Copy(ctx, "", r, nil)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			check("copy", c, rawBytes(t, c), nil)
			c.Close()
		}
		a.Close()
	}
	if kinds["read"] < 1000 || kinds["view"] < 1200 {
		t.Errorf("cases %v", kinds)
	}
}

// TestConvertLarge converts a large array by all ways of the copy: whole blocks, rows, columns and lists.
func TestConvertLarge(t *testing.T) {
	ctx := context.Background()
	const rows, columns = 300, 700
	data := make([]int16, rows*columns)
	for i := range data {
		data[i] = int16(i*31) - int16(i>>7)
	}
	for _, dtype := range []string{"<i2", ">i2"} {
		b := bytes.Clone(convert.Stored(meta.Of('i', 2), data))
		if dtype == ">i2" {
			for i := 0; i < len(b); i += 2 {
				b[i], b[i+1] = b[i+1], b[i]
			}
		}
		a, err := ndarray.CreateBytes(ctx, "", []int64{rows, columns}, dtype, b, &ndarray.CreateOptions{Chunks: []int64{70, 333}, Blocks: []int64{13, 90}})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		for _, sel := range [][]ndarray.Index{nil, {ndarray.Span(3, 299)}, {ndarray.All, ndarray.At(7)}, {ndarray.At(7)}, {ndarray.Step(ndarray.None, ndarray.None, -3), ndarray.Step(1, ndarray.None, 5)}, {ndarray.Pick(5, 299, 5, 0), ndarray.Span(2, 600)},
			{ndarray.Span(2, 250), ndarray.Pick(699, 3, 3, 64)}, {ndarray.Pick(1, 2, 200), ndarray.Pick(3, 2, 600)}} {
			want, err := ndarray.Read[int16](ctx, a, sel...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ndarray.Read[float64](ctx, a, sel...)
			if err != nil || len(got) != len(want) {
				t.Fatal(err)
			}
			for i, x := range got {
				if x != float64(want[i]) {
					t.Fatalf("%s %v: item %d is %v, want %d", dtype, sel, i, x, want[i])
				}
			}
		}
		turned, err := ndarray.Transpose(a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ndarray.Read[float32](ctx, turned)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if x != float32(data[i%rows*columns+i/rows]) {
				t.Fatalf("%s: item %d of the transposed array is %v", dtype, i, x)
			}
		}
	}
}

// TestConvertSpecial converts special chunks and edits of an array.
func TestConvertSpecial(t *testing.T) {
	ctx := context.Background()
	o := &ndarray.CreateOptions{Chunks: []int64{10, 10}, Blocks: []int64{4, 5}}
	a, err := ndarray.Full(ctx, "", []int64{40, 30}, int16(-7), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := ndarray.Write(ctx, a, []int8{1, 2, 3}, ndarray.At(15), ndarray.Span(4, 7)); err != nil {
		t.Fatal(err)
	}
	for _, sel := range [][]ndarray.Index{nil, {ndarray.Step(ndarray.None, ndarray.None, -1)}, {ndarray.Pick(3, 15, 15)}, {ndarray.Pick(3, 15), ndarray.Pick(4, 5)}} {
		want, err := ndarray.Read[int16](ctx, a, sel...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ndarray.Read[int](ctx, a, sel...)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if x != int(want[i]) {
				t.Fatalf("%v: item %d is %d, want %d", sel, i, x, want[i])
			}
		}
	}
	type item struct {
		A float32
		B [3]int16
	}
	s, err := ndarray.Zeros(ctx, "", []int64{9}, ndarray.DTypeOf[item]().String(), &ndarray.CreateOptions{Chunks: []int64{4}, Blocks: []int64{2}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := ndarray.Fill(ctx, s, item{1.5, [3]int16{4, 5, 6}}); err != nil {
		t.Fatal(err)
	}
	b, err := ndarray.Field(s, "B")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ndarray.Read[float64](ctx, b, ndarray.At(2)); err != nil || !slices.Equal(got, []float64{4, 5, 6}) {
		t.Error(got, err)
	}
	if got, err := ndarray.Read[float64](ctx, b, ndarray.Pick(8, 0), ndarray.Pick(2, 1)); err != nil || !slices.Equal(got, []float64{6, 5, 6, 5}) {
		t.Error(got, err)
	}
}

// TestStructNumbers reads and writes fields as other number types.
func TestStructNumbers(t *testing.T) {
	ctx := context.Background()
	type stored struct {
		A float32
		B [3]int16
		C ndarray.Float16
	}
	type wide struct {
		A float64
		B [3]int
		C float32
	}
	data := []stored{{0.1, [3]int16{-1, 2, 3}, ndarray.Float16Of(2.5)}, {-4, [3]int16{5, 6, 7}, ndarray.Float16Of(-8.0)}}
	for _, dtype := range []string{"", "[('A', '>f4'), ('B', '>i2', (3,)), ('C', '>f2')]"} {
		o := &ndarray.CreateOptions{DType: dtype}
		a, err := ndarray.Create(ctx, "", []int64{2}, data, o)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		got, err := ndarray.Read[wide](ctx, a)
		want := []wide{{float64(float32(0.1)), [3]int{-1, 2, 3}, 2.5}, {-4, [3]int{5, 6, 7}, -8}}
		if err != nil || !slices.Equal(got, want) {
			t.Error(got, err)
		}
		if err := ndarray.Write(ctx, a, got); !errors.Is(err, ndarray.ErrType) || !strings.Contains(err.Error(), "convert the values") {
			t.Error(err)
		}
	}
	a, err := ndarray.Zeros(ctx, "", []int64{2}, "[('A', '<f8'), ('B', '>i8', (3,)), ('C', '<f4')]", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := ndarray.Write(ctx, a, data); err != nil {
		t.Fatal(err)
	}
	if got, err := ndarray.Read[wide](ctx, a); err != nil || got[0].A != float64(float32(0.1)) || got[1].B != [3]int{5, 6, 7} || got[1].C != -8 {
		t.Error(got, err)
	}
	if _, err := ndarray.Read[stored](ctx, a); !errors.Is(err, ndarray.ErrType) || !strings.Contains(err.Error(), "AsType") {
		t.Error(err)
	}
}

// TestAsTypeErrors checks dtypes that items cannot be converted to, and writes to a view.
func TestAsTypeErrors(t *testing.T) {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{3}, []float32{1, 2, 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, dtype := range []string{"", "S", "S0", "S4", "<U2", "|V4", "<f16", "<M8[s]", "[('a', '<f4')]", "nonsense"} {
		if _, err := ndarray.AsType(a, dtype); !errors.Is(err, ndarray.ErrType) {
			t.Errorf("%q: %v", dtype, err)
		}
	}
	v, err := ndarray.AsType(a, "<i2")
	if err != nil {
		t.Fatal(err)
	}
	part, err := ndarray.Slice(v, ndarray.Span(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []ndarray.Writer{v, part} {
		if err := ndarray.Fill(ctx, w, int16(1)); !errors.Is(err, ndarray.ErrReadOnly) {
			t.Error(err)
		}
		if err := w.WriteBytes(ctx, []byte{1, 2, 3, 4}); !errors.Is(err, ndarray.ErrReadOnly) {
			t.Error(err)
		}
	}
	if _, err := ndarray.Read[float32](ctx, part); err != nil {
		t.Error(err)
	}
	if got, err := ndarray.Read[float64](ctx, part); err != nil || !slices.Equal(got, []float64{2, 3}) {
		t.Error(got, err)
	}
	a.Close()
	if _, err := ndarray.Read[int16](ctx, v); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

// TestWriteNumbers writes values to every dtype that holds them, and reads them back.
func TestWriteNumbers(t *testing.T) {
	ctx := context.Background()
	data := []int16{-32768, -1, 0, 1, 32767}
	for _, dtype := range []string{"<i2", ">i2", "<i4", ">i8", "<f4", ">f4", "<f8", "<c8", ">c16"} {
		a, err := ndarray.Create(ctx, "", []int64{5}, data, &ndarray.CreateOptions{DType: dtype})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := ndarray.Write(ctx, a, data[:2], ndarray.Span(3, 5)); err != nil {
			t.Error(err)
		}
		got, err := ndarray.Read[complex128](ctx, a)
		if dtype[1:] == "i8" {
			var x []int
			x, err = ndarray.Read[int](ctx, a)
			for _, n := range x {
				got = append(got, complex(float64(n), 0))
			}
		}
		if err != nil || !slices.Equal(got, []complex128{-32768, -1, 0, -32768, -1}) {
			t.Errorf("%s: %v, %v", dtype, got, err)
		}
		a.Close()
	}
	for _, dtype := range []string{"|i1", "<u2", "<u8", "<f2", "|b1"} {
		if _, err := ndarray.Create(ctx, "", []int64{5}, data, &ndarray.CreateOptions{DType: dtype}); !errors.Is(err, ndarray.ErrType) || !strings.Contains(err.Error(), "convert the values") {
			t.Errorf("%s: %v", dtype, err)
		}
	}
	if d := ndarray.DTypeOf[int]().String() + ndarray.DTypeOf[uint]().String(); d != "<i8<u8" {
		t.Error(d)
	}
	checkInts(t)
}

// checkInts reads and writes int and uint.
func checkInts(t *testing.T) {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{3}, []int{-5, 6, math.MaxInt}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got, err := ndarray.Read[int](ctx, a); err != nil || !slices.Equal(got, []int{-5, 6, math.MaxInt}) || a.DType().String() != "<i8" {
		t.Error(got, a.DType(), err)
	}
	if err := ndarray.Write(ctx, a, []int64{1 << 40}, ndarray.At(1)); err != nil {
		t.Fatal(err)
	}
	got, err := ndarray.Read[int](ctx, a)
	if math.MaxInt > math.MaxInt32 && (err != nil || int64(got[1]) != 1<<40) || math.MaxInt == math.MaxInt32 && !errors.Is(err, ndarray.ErrValue) {
		t.Error(got, err)
	}
	u, err := ndarray.Create(ctx, "", []int64{2}, []uint{7, math.MaxUint}, &ndarray.CreateOptions{DType: ">u8"})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if got, err := ndarray.Read[uint](ctx, u); err != nil || !slices.Equal(got, []uint{7, math.MaxUint}) {
		t.Error(got, err)
	}
	if x := binary.BigEndian.Uint64(rawBytes(t, u)); x != 7 {
		t.Error(x)
	}
}
