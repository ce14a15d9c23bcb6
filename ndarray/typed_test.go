package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/goblosc/blosc2/ndarray/internal/convert"
)

type celsius float32

// checkScalar writes and reads items of a type with all functions, in both byte orders.
func checkScalar[T scalar](t *testing.T, dtype string, values ...T) {
	t.Helper()
	ctx := context.Background()
	if got := DTypeOf[T]().String(); got != dtype {
		t.Errorf("%T: dtype %s, want %s", *new(T), got, dtype)
	}
	n := int64(len(values))
	a, err := Create(ctx, "", []int64{n}, values, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, len(convert.Bytes(values)))
	if err := a.ReadBytes(ctx, raw); err != nil {
		t.Fatal(err)
	}
	swapped := bytes.Clone(raw)
	if width := a.DType().Size; width > 1 {
		if strings.HasPrefix(dtype, "<c") {
			width /= 2
		}
		for i := 0; i < len(raw); i += width {
			slices.Reverse(swapped[i : i+width])
		}
	}
	big, err := CreateBytes(ctx, "", []int64{n}, strings.Replace(dtype, "<", ">", 1), swapped, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*Array{a, big} {
		what := a.DType().String()
		got, err := Read[T](ctx, a)
		if err != nil || !slices.Equal(got, values) {
			t.Errorf("%s: read %v, %v, want %v", what, got, err, values)
		}
		back := slices.Clone(values)
		slices.Reverse(back)
		if err := Write(ctx, a, back, Step(None, None, -1)); err != nil {
			t.Error(err)
		}
		if err := Fill(ctx, a, values[0], At(1)); err != nil {
			t.Error(err)
		}
		back[0] = values[0] // Write and Fill must not have changed it
		want := slices.Clone(values)
		want[1] = values[0]
		if err := ReadInto(ctx, a, back); err != nil || !slices.Equal(back, want) {
			t.Errorf("%s: read %v after writing, %v, want %v", what, back, err, want)
		}
		for i := range n {
			if x, err := Item[T](ctx, a, i-n); err != nil || x != want[i] {
				t.Errorf("%s: item %d is %v, %v", what, i, x, err)
			}
		}
	}
	if !slices.Equal(convert.Bytes(values), convert.Bytes(slices.Clone(values))) {
		t.Error("the values of the caller changed")
	}
}

// TestScalars reads and writes items of all scalar types.
func TestScalars(t *testing.T) {
	checkScalar(t, "|b1", true, false, true)
	checkScalar[int8](t, "|i1", -128, 127, 3)
	checkScalar[uint8](t, "|u1", 255, 0, 3)
	checkScalar[int16](t, "<i2", -32768, 258, 3)
	checkScalar[uint16](t, "<u2", 65535, 258, 3)
	checkScalar[int32](t, "<i4", math.MinInt32, 0x01020304, 3)
	checkScalar[uint32](t, "<u4", math.MaxUint32, 0x01020304, 3)
	checkScalar[int64](t, "<i8", math.MinInt64, 0x0102030405060708, 3)
	checkScalar[uint64](t, "<u8", math.MaxUint64, 0x0102030405060708, 3)
	checkScalar[float32](t, "<f4", float32(math.Inf(-1)), 0.1, 3)
	checkScalar(t, "<f8", math.Inf(1), 0.1, 3)
	checkScalar[complex64](t, "<c8", 1+2i, complex(0.1, -0.2), 3)
	checkScalar(t, "<c16", 1+2i, complex(0.1, -0.2), 3)
	checkScalar[celsius](t, "<f4", -273.15, 21.5, 100)
}

// TestForeignBools checks that every byte except 0 reads as true, as in NumPy, and is stored as 1 in a Go bool.
func TestForeignBools(t *testing.T) {
	a, err := CreateBytes(context.Background(), "", []int64{5}, "|b1", []byte{0, 1, 2, 128, 255}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read[bool](context.Background(), a)
	if err != nil || !bytes.Equal(convert.Bytes(got), []byte{0, 1, 1, 1, 1}) {
		t.Error(convert.Bytes(got), err)
	}
	if x, err := Item[bool](context.Background(), a, 3); err != nil || convert.Bytes([]bool{x})[0] != 1 {
		t.Error(x, err)
	}
}

// TestTypedFixtures reads files of python-blosc2 with items in both byte orders, dates and timedeltas.
func TestTypedFixtures(t *testing.T) {
	ctx := context.Background()
	open := func(name string) *Array {
		a, err := Open(ctx, filepath.Join("..", "testdata", "python-blosc2", name), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	for little, big := range map[string]string{"dtype_i4.b2nd": "dtype_be_i4.b2nd", "dtype_f8.b2nd": "dtype_be_f8.b2nd"} {
		a, b := open(little), open(big)
		if a.DType().Order != '<' || b.DType().Order != '>' {
			t.Errorf("byte orders %c and %c", a.DType().Order, b.DType().Order)
		}
		raw := make([]byte, b.Size()*int64(b.DType().Size))
		if err := b.ReadBytes(ctx, raw); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(little, "i4") {
			x, err := Read[int32](ctx, b)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range x {
				if v != int32(binary.BigEndian.Uint32(raw[4*i:])) {
					t.Fatalf("%s: item %d is %d", big, i, v)
				}
			}
			continue
		}
		x, err := Read[float64](ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if math.Float64bits(v) != binary.BigEndian.Uint64(raw[8*i:]) {
				t.Fatalf("%s: item %d is %v", big, i, v)
			}
		}
	}
	for _, name := range []string{"dtype_M8_s.b2nd", "dtype_m8_ns.b2nd"} {
		a := open(name)
		raw := make([]byte, a.Size()*8)
		if err := a.ReadBytes(ctx, raw); err != nil {
			t.Fatal(err)
		}
		x, err := Read[int64](ctx, a)
		if err != nil || x[7] != int64(binary.LittleEndian.Uint64(raw[56:])) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWrongTypes checks the errors for types that do not match the dtype.
func TestWrongTypes(t *testing.T) {
	ctx := context.Background()
	try := func(dtype string, calls ...func(a *Array) error) {
		t.Helper()
		a, err := Zeros(ctx, "", []int64{2}, dtype, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls {
			err := call(a)
			if !errors.Is(err, ErrType) || !strings.Contains(err.Error(), dtype) || !strings.HasPrefix(err.Error(), "ndarray: ") {
				t.Errorf("%s: %v", dtype, err)
			}
		}
	}
	readI4 := func(a *Array) error { _, err := Read[int32](ctx, a); return err }
	readI8 := func(a *Array) error { _, err := Read[int64](ctx, a); return err }
	readU8 := func(a *Array) error { _, err := Read[uint64](ctx, a); return err }
	readU1 := func(a *Array) error { _, err := Read[uint8](ctx, a); return err }
	readB1 := func(a *Array) error { _, err := Read[bool](ctx, a); return err }
	try("<f4", readI4, readI8, readU1)
	try("<u4", readI4)
	try("<i8", readI4, readU8)
	try("<M8[s]", readU8, readI4)
	try("|u1", readB1)
	try("|S1", readU1)
	try("|V4", readI4)
	try("<f2", func(a *Array) error { _, err := Read[uint16](ctx, a); return err })
	try("<c8", readI8, func(a *Array) error { _, err := Read[float64](ctx, a); return err })
	try("[('a', '<i4')]", readI4)
	try("('<i4', (1,))", readI4)
	try("<f4",
		func(a *Array) error { return Write(ctx, a, []float64{1, 2}) },
		func(a *Array) error { return ReadInto(ctx, a, make([]uint32, 2)) },
		func(a *Array) error { _, err := Item[Float16](ctx, a, 0); return err })

	a, err := Zeros(ctx, "", []int64{2}, "<i8", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Read[celsius2](ctx, a)
	if err == nil || !strings.Contains(err.Error(), "celsius2") {
		t.Errorf("error %v does not name the type", err)
	}
}

type celsius2 float64

// TestGivenDType reads raw items with Options.DType.
func TestGivenDType(t *testing.T) {
	ctx := context.Background()
	a, err := CreateBytes(ctx, "", []int64{2}, "|V4", []byte{0, 0, 0, 1, 0, 0, 1, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := saved(a.Frame())
	if err != nil {
		t.Fatal(err)
	}
	a, err = OpenBytes(b, &OpenOptions{DType: ">i4"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read[int32](ctx, a)
	if err != nil || !slices.Equal(got, []int32{1, 256}) {
		t.Error(got, err)
	}
	if raw, format := storedDType(a); raw != "|V4" || format != 0 {
		t.Errorf("stored dtype %s, format %d", raw, format)
	}
	for _, dtype := range []string{">i8", "nothing", "|V0"} {
		if _, err := OpenBytes(b, &OpenOptions{DType: dtype}); !errors.Is(err, ErrType) {
			t.Errorf("%s: %v", dtype, err)
		}
	}
}

// TestBufferErrors checks the errors for buffers and selections that do not match the array.
func TestBufferErrors(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros(ctx, "", []int64{4, 5}, "<i2", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, short := Item[int16](ctx, a, 1)
	_, far := Item[int16](ctx, a, 1, 5)
	_, near := Item[int16](ctx, a, -5, 0)
	_, shape := a.SelectionShape(All, All, All)
	for _, c := range []struct{ err, want error }{
		{a.ReadBytes(ctx, make([]byte, 39)), ErrShape},
		{a.ReadBytes(ctx, make([]byte, 41)), ErrShape},
		{a.WriteBytes(ctx, make([]byte, 3), At(1), At(1)), ErrShape},
		{a.FillBytes(ctx, make([]byte, 3), At(1), At(1)), ErrShape},
		{ReadInto(ctx, a, make([]int16, 4), At(1)), ErrShape},
		{a.ReadBytes(ctx, nil, At(4)), ErrBounds},
		{a.WriteBytes(ctx, nil, At(-5)), ErrBounds},
		{a.FillBytes(ctx, make([]byte, 2), At(0), At(0), At(0)), ErrBounds},
		{a.Resize(ctx, 3), ErrShape},
		{a.Resize(ctx, 3, -1), ErrShape},
		{a.Resize(ctx, 1<<40, 1<<40), ErrTooLarge},
		{a.AppendBytes(ctx, 2, nil), ErrBounds},
		{a.AppendBytes(ctx, -3, nil), ErrBounds},
		{a.AppendBytes(ctx, 0, make([]byte, 9)), ErrShape},
		{short, ErrBounds}, {far, ErrBounds}, {near, ErrBounds}, {shape, ErrBounds},
	} {
		if !errors.Is(c.err, c.want) || !strings.HasPrefix(c.err.Error(), "ndarray: ") {
			t.Errorf("error %v, want %v", c.err, c.want)
		}
	}
	if got, err := a.SelectionShape(NewAxis, At(1), Step(None, None, 2)); err != nil || !reflect.DeepEqual(got, []int64{1, 3}) {
		t.Error(got, err)
	}
	if err := a.ReadBytes(ctx, nil, Span(2, 2)); err != nil {
		t.Error(err)
	}
}

// TestFloat16Arrays reads and writes arrays of float16.
func TestFloat16Arrays(t *testing.T) {
	checkScalar(t, "<f2", Float16Of(0.5), Float16Of(-65504.0), 0x7c01)
	a, err := CreateBytes(context.Background(), "", []int64{2}, ">f2", []byte{0x3c, 0, 0xc0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read[Float16](context.Background(), a)
	if err != nil || fmt.Sprint(got) != "[1 -2.002]" {
		t.Error(got, err)
	}
	raw := make([]byte, 4)
	if err := Write(context.Background(), a, got); err != nil {
		t.Fatal(err)
	}
	if err := a.ReadBytes(context.Background(), raw); err != nil || !bytes.Equal(raw, []byte{0x3c, 0, 0xc0, 1}) {
		t.Error(raw, err)
	}
}

// TestMismatches checks that errors name both the dtype and the Go type.
func TestMismatches(t *testing.T) {
	type inner struct{ A int32 }
	ctx := context.Background()
	array := func(dtype string) *Array {
		t.Helper()
		a, err := Zeros(ctx, "", []int64{2}, dtype, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	abc := array("[('a', '<i4'), ('b', [('A', '<i4'), ('x', '<f8')]), ('c', '<i2', (2, 3)), ('C', 'S4')]")
	read := func(err error, text ...string) {
		t.Helper()
		for _, s := range append(text, "ndarray: wrong type: ") {
			if !errors.Is(err, ErrType) || !strings.Contains(err.Error(), s) {
				t.Errorf("error %v, want %q", err, s)
			}
		}
	}
	try := func(_ any, err error) error { return err }
	read(try(Read[struct{ A float32 }](ctx, abc)), `field "a" is <i4, not float32`, "AsType")
	read(try(Read[struct{ D int32 }](ctx, abc)), `no field "D"`, "struct { D int32 }", "('a', '<i4')")
	read(try(Read[struct {
		A int32 `b2:"A"`
	}](ctx, abc)), `no field "A" for A`)
	read(try(Read[struct{ B inner2 }](ctx, abc)), `field "b.x" is <f8, not int64`)
	read(try(Read[struct {
		A int32
		B int32 `b2:"a"`
	}](ctx, abc)), `fields A and B are both "a"`)
	read(try(Read[struct {
		Name [2][3]int16 `b2:"c"`
		C    [3][2]int16
	}](ctx, abc)), `field "C" is |S4, not [3][2]int16`) // the exact name is preferred to one with another case
	read(try(Read[struct {
		X [3][2]int16 `b2:"c"`
	}](ctx, abc)), `field "c" is ('<i2', (2, 3)), not [3][2]int16`)
	read(try(Read[struct {
		X [2][3]uint32 `b2:"c"`
	}](ctx, abc)), `field "c" is <i2, not uint32`)
	read(try(Read[struct {
		A uint
	}](ctx, abc)), `field "a" is <i4, not uint`)
	read(try(Read[struct{}](ctx, abc)), "no exported fields")
	read(try(Read[struct {
		a int32 `b2:"a"`
	}](ctx, abc)), "field a of struct", "not exported")
	read(try(Read[int64](ctx, abc)), "not int64")
	read(try(Read[*inner](ctx, abc)), "not *ndarray.inner")
	read(try(Read[any](ctx, abc)), "not interface {}")
	read(try(Read[[]int32](ctx, array("<i4"))), "items are <i4, not []int32")
	read(try(Read[int](ctx, array("<u8"))), "items are <u8, not int")
	read(try(Read[string](ctx, array("|V4"))), "items are |V4, not string")
	read(try(Read[[4]byte](ctx, array("<f4"))), "items are <f4, not [4]uint8")
	stored, err := saved(array("<i8").Frame())
	if err != nil {
		t.Fatal(err)
	}
	objects, err := OpenBytes(stored, &OpenOptions{DType: "|O8"})
	if err != nil {
		t.Fatal(err)
	}
	read(try(Read[string](ctx, objects)), "items are |O, not string")
	read(try(Read[Float16](ctx, array("<u2"))), "items are <u2, not ndarray.Float16")
	read(try(Read[uint16](ctx, array("<f2"))), "items are <f2, not uint16")
	read(try(Read[float64](ctx, array("<i8"))), "items are <i8, not float64")
	read(try(Read[time.Duration](ctx, array("<i8"))), "items are <i8, not time.Duration")
	read(try(Read[time.Time](ctx, array("<M8"))), "items are <M8, not time.Time", "it has no unit: use int64")
	read(try(Read[time.Duration](ctx, array("<m8"))), "items are <m8, not time.Duration", "it has no unit: use int64")
	read(try(Read[time.Duration](ctx, array("<m8[M]"))), "items are <m8[M], not time.Duration", "its unit has no fixed length: use int64")
	read(Write(ctx, abc, make([]inner, 2)), `no field "b"`, "ndarray.inner")
	read(Fill(ctx, abc, inner{}), `no field "b"`)
	read(try(Create(ctx, "", []int64{1}, []uintptr{1}, nil)), "uintptr has no dtype")
	read(try(Create(ctx, "", []int64{1}, []any{1}, nil)), "interface {} has no dtype")
	read(try(Create(ctx, "", []int64{1}, []struct{ F func() }{{}}, nil)), `field "F" is func(), which has no dtype; the tag b2:"-" omits it`)
	read(try(Create(ctx, "", []int64{1}, []struct {
		A int32
		B any
	}{{}}, nil)), `field "B" is interface {}, which has no dtype`)
	read(try(Full(ctx, "", []int64{1}, struct{ In [2]struct{ A *string } }{}, nil)), `field "In.A" is *string, which has no dtype`)
	read(try(Create(ctx, "", []int64{1}, []struct {
		A struct{}
	}{{}}, nil)), `field "A" is struct {}, which has no dtype: it has no exported fields`)
	read(try(Read[int16](ctx, array("<i4"))), "every value of the dtype; AsType converts with loss")
	read(Write(ctx, array("<i4"), []float64{1}), "<i4, not float64: the dtype does not have every value of the type; convert the values before writing")
	read(try(Create(ctx, "", []int64{1}, []int64{1}, &CreateOptions{DType: "<i4"})), "not int64: the dtype does not have every value of the type; convert the values before writing")
	read(try(Create(ctx, "", []int64{1}, []struct{}{{}}, nil)), "no exported fields")
	read(try(Create(ctx, "", []int64{1}, []struct {
		A int32
		B int32 `b2:"A"`
	}{{}}, nil)), `two fields of struct`)
	read(try(Create(ctx, "", []int64{1}, []struct {
		A int32 `b2:",<f4"`
	}{{}}, nil)), `field "A" is <f4, not int32`)
	read(try(Create(ctx, "", []int64{1}, []struct {
		A int32 `b2:",nothing"`
	}{{}}, nil)), "tag of field A")
	read(try(Create(ctx, "", []int64{1}, []int32{1}, &CreateOptions{DType: "<f4"})), "items are <f4, not int32")
	read(try(Create(ctx, "", []int64{1}, []int32{1}, &CreateOptions{DType: "what"})), "what")
	if d := DTypeOf[map[string]int](); d.Kind != 0 || d.String() != "" {
		t.Error(d)
	}
	if _, err := Read[struct{ B inner }](ctx, abc); err != nil { // some of the fields
		t.Error(err)
	}
	if got, err := Read[struct{ B inner }](ctx, array("[('B', [('A', '<i4')]), ('b', '<i8')]")); err != nil {
		t.Error(got, err)
	}
}

type inner2 struct{ X int64 }

// TestDirectStructs checks that structs with the memory layout of the items are not converted.
func TestDirectStructs(t *testing.T) {
	type point struct {
		X, Y float64
		N    [4]int32
	}
	d := DTypeOf[point]()
	c, err := goTypes.Converter(d, reflect.TypeFor[point](), convert.Writing)
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	if err != nil || c.Direct != little {
		t.Errorf("direct %v, %v", c.Direct, err)
	}
	data := []point{{1, 2, [4]int32{3, 4, 5, 6}}, {X: 7}}
	b, err := encodeItems(context.Background(), d, 0, data)
	if err != nil || little && &b[0] != (*byte)(unsafe.Pointer(&data[0])) {
		t.Error("a copy was made", err)
	}
}

// TestManyValues converts many items on several goroutines, and checks that the error names the first bad item.
func TestManyValues(t *testing.T) {
	for _, n := range []int64{0, 1, itemsAtOnce, itemsAtOnce + 1, share - 1, share, share + 1, 10*share + 3} {
		for _, workers := range []int{1, 2, 5} {
			ctx, cancel := context.WithCancel(context.Background())
			o := &CreateOptions{DType: "S7", Chunks: []int64{5000}, Blocks: []int64{500}}
			o.Concurrency = workers
			data := make([]string, n)
			for i := range data {
				data[i] = fmt.Sprint(i)
			}
			a, err := Create(ctx, "", []int64{n}, data, o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Read[string](ctx, a)
			if err != nil || !slices.Equal(got, data) {
				t.Fatalf("%d items, %d goroutines: %v", n, workers, err)
			}
			for _, bad := range []int64{n - 1, n / 2, n / 3} {
				if n == 0 {
					break
				}
				data[bad] = "too long"
				if err := Write(ctx, a, data); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), fmt.Sprintf("item %d: ", bad)) {
					t.Errorf("%d items, %d goroutines: item %d: %v", n, workers, bad, err)
				}
			}
			cancel()
			if _, err := Read[string](ctx, a); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	}
}
