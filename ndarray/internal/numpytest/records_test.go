package numpytest

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
)

// record has the fields of the "flat" rows of testdata/records.txt.gz, in another order.
type record struct {
	Q bool
	A int32
	inner
	U string          `b2:"u"`
	T time.Time       `b2:"t,M8[s]"`
	D time.Duration   `b2:"d"`
	H ndarray.Float16 `b2:"h"`
	Z complex64       `b2:"z"`

	Ignored func() `b2:"-"`
	_       int
}

type inner struct {
	B float64 `b2:"b"`
	S string  `b2:"s,S5"`
}

// titled has the titles of fields in its tags.
type titled struct {
	A int32           `b2:"field a"`
	B float64         `b2:"field b"`
	S string          `b2:"field s"`
	U string          `b2:"field u"`
	T time.Time       `b2:"field t"`
	D time.Duration   `b2:"field d"`
	H ndarray.Float16 `b2:"field h"`
	Z complex64       `b2:"field z"`
	Q bool            `b2:"field q"`
}

// row returns the record in the form of the script.
func (r record) row() []any {
	return []any{
		float64(r.A), r.B * 8, r.S, r.U, float64(r.T.Unix()), float64(r.D.Milliseconds()),
		r.H.Float64() * 8, float64(real(r.Z)), float64(imag(r.Z)), r.Q,
	}
}

// deep has the fields of the "deep" rows.
type deep struct {
	P struct{ X, Y float32 }
	M [2][3]int16
	N [2]struct {
		K uint8
		W [2]string
	}
	Raw [3]byte
	C   [2]complex64
	H   [3]ndarray.Float16
}

func (r deep) row() []any {
	var m, k, w, c, h []any
	for _, line := range r.M {
		for _, x := range line {
			m = append(m, float64(x))
		}
	}
	for _, n := range r.N {
		k = append(k, float64(n.K))
		w = append(w, n.W[0], n.W[1])
	}
	for _, x := range r.C {
		c = append(c, float64(real(x)), float64(imag(x)))
	}
	for _, x := range r.H {
		h = append(h, x.Float64())
	}
	return []any{float64(r.P.X), float64(r.P.Y), m, k, w, hex.EncodeToString(r.Raw[:]), c, h}
}

// recordRow is a line of the table.
type recordRow struct {
	kind, dtype string
	items       []byte
	want        []any // nil if NumPy cannot return strings
}

func recordRows(t testing.TB) []recordRow {
	t.Helper()
	var rows []recordRow
	for _, text := range golden.Lines(t, "testdata/records.txt.gz") {
		var line []any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		row := recordRow{kind: line[0].(string), dtype: line[1].(string)}
		var err error
		if row.items, err = hex.DecodeString(line[2].(string)); err != nil {
			t.Fatal(err)
		}
		row.want, _ = line[3].([]any)
		rows = append(rows, row)
	}
	return rows
}

// TestRecordsNumPy reads text and structures of NumPy as Go values and writes them again.
func TestRecordsNumPy(t *testing.T) {
	rows := recordRows(t)
	for _, row := range rows {
		switch {
		case row.kind == "text":
			checkRows(t, row, func(s string) any { return s })
		case strings.Contains(row.dtype, "field a"):
			checkRows(t, row, func(r titled) any {
				return record{A: r.A, inner: inner{r.B, r.S}, U: r.U, T: r.T, D: r.D, H: r.H, Z: r.Z, Q: r.Q}.row()
			})
			checkRows(t, row, func(r record) any { return r.row() })
		case row.kind == "flat":
			checkRows(t, row, func(r record) any { return r.row() })
		default:
			checkRows(t, row, func(r deep) any { return r.row() })
		}
	}
	if len(rows) < 25 {
		t.Error(len(rows), "rows")
	}
}

// checkRows reads the items of a row as values of a type, compares, and writes them again in several ways.
func checkRows[T any](t *testing.T, row recordRow, form func(T) any) {
	t.Helper()
	ctx := context.Background()
	z, err := ndarray.Zeros(ctx, "", []int64{1}, row.dtype, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(len(row.items) / z.DType().Size)
	a, err := ndarray.CreateBytes(ctx, "", []int64{n}, row.dtype, row.items, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ndarray.Read[T](ctx, a)
	if row.want == nil {
		if !errors.Is(err, ndarray.ErrValue) {
			t.Errorf("%s %x: %v, %v", row.dtype, row.items, got, err)
		}
		return
	}
	if err != nil || int64(len(row.want)) != n {
		t.Fatal(row.dtype, err)
	}
	for i, want := range row.want {
		if have := form(got[i]); fmt.Sprint(have) != fmt.Sprint(want) {
			t.Errorf("%s: item %d is\n%v, want\n%v", row.dtype, i, have, want)
		}
		if one, err := ndarray.Item[T](ctx, a, int64(i)-n); err != nil || fmt.Sprint(form(one)) != fmt.Sprint(want) {
			t.Errorf("%s: ReadAt of item %d: %v, %v", row.dtype, i, one, err)
		}
	}
	raw := make([]byte, len(row.items))
	check := func(what string, a *ndarray.Array, err error) {
		t.Helper()
		if err != nil && strings.Contains(row.dtype, "other") && errors.Is(err, ndarray.ErrType) && strings.Contains(err.Error(), `no field "other"`) {
			return
		}
		if err != nil {
			t.Errorf("%s: %s: %v", row.dtype, what, err)
		} else if err := a.ReadBytes(ctx, raw); err != nil || !bytes.Equal(raw, row.items) {
			t.Errorf("%s: %s: %v\n%x, want\n%x", row.dtype, what, err, raw, row.items)
		}
	}
	made, err := ndarray.Create(ctx, "", []int64{n}, got, &ndarray.CreateOptions{DType: row.dtype})
	check("create", made, err)
	z, err = ndarray.Zeros(ctx, "", []int64{n}, row.dtype, nil)
	if err != nil {
		t.Fatal(err)
	}
	check("write", z, ndarray.Write(ctx, z, got))
	clear(got)
	if err := ndarray.ReadInto(ctx, a, got, ndarray.Step(ndarray.None, ndarray.None, -1)); err != nil || fmt.Sprint(form(got[n-1])) != fmt.Sprint(row.want[0]) {
		t.Errorf("%s: %v %v", row.dtype, got, err)
	}
	if err := ndarray.Fill(ctx, z, got[0]); err == nil {
		row.items = bytes.Repeat(row.items[len(row.items)-z.DType().Size:], int(n))
		check("fill", z, nil)
	}
}

// TestRecordRoundTrip creates an array of structs with the dtype of DTypeOf.
func TestRecordRoundTrip(t *testing.T) {
	ctx := context.Background()
	data := make([]deep, 1000) // more than are converted at a time
	for i := range data {
		d := &data[i]
		d.P.X, d.P.Y, d.M[1][2], d.Raw[1] = float32(i), 0.5, int16(-i), byte(i)
		d.N[0].K, d.N[1].W = byte(i), [2]string{"", strings.Repeat("é", i%7)}
		d.C[1], d.H[2] = complex(float32(i), -1), ndarray.Float16Of(float32(i))
	}
	a, err := ndarray.Create(ctx, "", []int64{10, 100}, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "[('P', [('X', '<f4'), ('Y', '<f4')]), ('M', '<i2', (2, 3)), ('N', [('K', 'u1'), ('W', '<U6', (2,))], (2,)), " +
		"('Raw', 'u1', (3,)), ('C', '<c8', (2,)), ('H', '<f2', (3,))]"
	if got := a.DType().String(); got != want {
		t.Errorf("dtype %s, want %s", got, want)
	}
	got, err := ndarray.Read[deep](ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if got[i] != data[i] {
			t.Fatalf("item %d: %+v, want %+v", i, got[i], data[i])
		}
	}
	some, err := ndarray.Read[struct {
		M [2][3]int16
		P struct{ Y float32 }
	}](ctx, a, ndarray.At(3), ndarray.Pick(7, 99))
	if err != nil || len(some) != 2 || some[0].M != data[307].M || some[1].P.Y != 0.5 {
		t.Error(some, err)
	}
	if d := ndarray.DTypeOf[record]().String(); d != "[('Q', '?'), ('A', '<i4'), ('b', '<f8'), ('s', 'S5'), ('u', '<U'), ('t', '<M8[s]'), ('d', '<m8[ns]'), ('h', '<f2'), ('z', '<c8')]" {
		t.Error(d)
	}
}

// TestTextArrays checks the lengths of strings.
func TestTextArrays(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		given, want string
		data        []string
	}{
		{"", "<U4", []string{"a", "日本語!", ""}}, {"", "<U1", []string{"", ""}}, {"", "<U1", nil}, {"S", "|S10", []string{"日本語!", ""}},
		{">U", ">U2", []string{"ab"}}, {"U9", "<U9", []string{"ab"}}, {"", "<U1", []string{"\x00"}}, {"S2", "|S2", []string{"ab\x00\x00"}},
	} {
		a, err := ndarray.Create(ctx, "", []int64{int64(len(c.data))}, c.data, &ndarray.CreateOptions{DType: c.given, Chunks: []int64{5}, Blocks: []int64{5}})
		if err != nil || a.DType().String() != c.want {
			t.Errorf("%q %q: %v, %v", c.given, c.data, a, err)
			continue
		}
		got, err := ndarray.Read[string](ctx, a)
		for i, s := range c.data {
			if err != nil || got[i] != strings.TrimRight(s, "\x00") {
				t.Errorf("%s: %q, %v, want %q", c.want, got, err, c.data)
			}
		}
	}
	for _, c := range []struct {
		dtype, s, text string
	}{
		{"S3", "abcd", "string has 4 bytes, but the item holds 3"}, {"U3", "abcd", "string has 4 characters, but the item holds 3"},
		{"U3", "a\xff", "not UTF-8"}, {"U3", "\xed\xa0\x80", "not UTF-8"}, {"U3", "abc\x00\x00é", "the item holds 3"},
	} {
		_, err := ndarray.Create(ctx, "", []int64{2}, []string{"", c.s}, &ndarray.CreateOptions{DType: c.dtype})
		if !errors.Is(err, ndarray.ErrValue) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "item 1:") {
			t.Errorf("%s %q: %v", c.dtype, c.s, err)
		}
	}
	type named string
	a, err := ndarray.Create(ctx, "", []int64{1}, []named{"x"}, nil)
	if got, err2 := ndarray.Read[named](ctx, a); err != nil || err2 != nil || got[0] != "x" {
		t.Error(got, err, err2)
	}
}

// TestTypeFixtures reads files of python-blosc2 of each dtype as Go values and writes them again.
func TestTypeFixtures(t *testing.T) {
	ctx := context.Background()
	check := func(name string, again func(a *ndarray.Array, o *ndarray.CreateOptions) (*ndarray.Array, error)) {
		t.Helper()
		a, err := ndarray.Open(ctx, filepath.Join("..", "..", "..", "testdata", "python-blosc2", "dtype_"+name+".b2nd"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		o := a.CreateOptions()
		o.DType = a.DType().String()
		b, err := again(a, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		have, want := make([]byte, a.Size()*int64(a.DType().Size)), make([]byte, a.Size()*int64(a.DType().Size))
		if err := errors.Join(a.ReadBytes(ctx, want), b.ReadBytes(ctx, have)); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s: other bytes, %v", name, err)
		}
		if coder.IsZero(want) {
			t.Errorf("%s: all items are zeros", name)
		}
	}
	check("bool", recreate[bool])
	check("i2", recreate[int16])
	check("u8", recreate[uint64])
	check("f2", recreate[ndarray.Float16])
	check("be_i4", recreate[int32])
	check("be_f8", recreate[float64])
	check("c8", recreate[complex64])
	check("c16", recreate[complex128])
	check("S5", recreate[string])
	check("U6", recreate[string])
	check("S5", recreate[[5]byte])
	check("M8_s", recreate[time.Time])
	check("m8_ns", recreate[time.Duration])
	check("V16", recreate[struct{ F0 [16]byte }])
	check("struct", recreate[struct {
		A int32
		B float64
		C string
	}])
	check("struct_nested", recreate[struct {
		Y, X float32
		Key  uint16 `b2:"id"`
	}])
}

// recreate creates an array from the values of another array.
func recreate[T any](a *ndarray.Array, o *ndarray.CreateOptions) (*ndarray.Array, error) {
	data, err := ndarray.Read[T](context.Background(), a)
	if err != nil {
		return nil, err
	}
	return ndarray.Create(context.Background(), "", a.Shape(), data, o)
}

// TestTimeArrays reads and writes times and durations as arrays.
func TestTimeArrays(t *testing.T) {
	ctx := context.Background()
	at := time.Date(2024, 2, 29, 13, 14, 15, 161718192, time.FixedZone("east", 3600))
	times := []time.Time{at, {}, time.Unix(0, 0)}
	a, err := ndarray.Create(ctx, "", []int64{3}, times, nil)
	if err != nil || a.DType().String() != "<M8[ns]" {
		t.Fatal(a, err)
	}
	got, err := ndarray.Read[time.Time](ctx, a)
	if err != nil || len(got) != 3 || !got[0].Equal(at) || !got[1].IsZero() || !got[2].Equal(times[2]) {
		t.Error(got, err)
	}
	if raw, err := ndarray.Read[int64](ctx, a); err != nil || !slices.Equal(raw, []int64{at.UnixNano(), ndarray.NaT, 0}) {
		t.Error(raw, err)
	}
	a, err = ndarray.Create(ctx, "", []int64{3}, times, &ndarray.CreateOptions{DType: ">M8[M]"})
	if err != nil {
		t.Fatal(err)
	}
	got, err = ndarray.Read[time.Time](ctx, a)
	if err != nil || !got[0].Equal(time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)) || !got[1].IsZero() {
		t.Error(got, err)
	}
	if x, err := ndarray.Item[time.Time](ctx, a, -3); err != nil || !x.Equal(got[0]) {
		t.Error(x, err)
	}
	if err := ndarray.Fill(ctx, a, time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), ndarray.At(0)); err != nil {
		t.Fatal(err)
	}
	if raw, err := ndarray.Read[int64](ctx, a); err != nil || !slices.Equal(raw, []int64{-1, ndarray.NaT, 0}) {
		t.Error(raw, err)
	}
	waits := []time.Duration{time.Minute, ndarray.NaT, -time.Nanosecond}
	for dtype, want := range map[string][]time.Duration{
		"": waits, "m8[ns]": waits, ">m8[ps]": waits, "m8[25s]": {50 * time.Second, ndarray.NaT, -25 * time.Second}, ">m8[h]": {0, ndarray.NaT, -time.Hour},
	} {
		a, err := ndarray.Create(ctx, "", []int64{3}, waits, &ndarray.CreateOptions{DType: dtype})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ndarray.Read[time.Duration](ctx, a); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %v, %v", a.DType(), got, err)
		}
		if _, err := ndarray.Read[time.Time](ctx, a); !errors.Is(err, ndarray.ErrType) {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		dtype string
		item  int64
		want  error
	}{{"<M8", 0, ndarray.ErrType}, {"<m8[Y]", 1, ndarray.ErrType}, {"<m8[3M]", 1, ndarray.ErrType}, {"<m8", 1, ndarray.ErrType}, {"<M8[Y]", math.MaxInt64, ndarray.ErrValue}, {"<m8[D]", 1 << 40, ndarray.ErrValue}} {
		a, err := ndarray.CreateBytes(ctx, "", []int64{2}, c.dtype, convert.Stored(meta.Of('i', 8), []int64{0, c.item}), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ndarray.Read[time.Time](ctx, a)
		if c.dtype[1] == 'm' {
			_, err = ndarray.Read[time.Duration](ctx, a)
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.dtype) || c.want == ndarray.ErrValue && !strings.Contains(err.Error(), "item 1:") {
			t.Errorf("%s: %v", c.dtype, err)
		}
	}
	if err := ndarray.Write(ctx, a, []time.Time{{}, {}, time.Unix(1<<62, 0)}); err != nil {
		t.Error(err) // in months
	}
	if _, err := ndarray.Create(ctx, "", []int64{1}, []time.Time{time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)}, nil); !errors.Is(err, ndarray.ErrValue) {
		t.Error(err)
	}
}

// TestSharedBytes changes the byte order of fields that share bytes, with results of NumPy. Where a field of NumPy's
// result has another value than before, AsType and Concat return ErrType.
func TestSharedBytes(t *testing.T) {
	ctx := context.Background()
	raw := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		offsets, from, to string
		want              []byte // nil = ErrType
	}{
		{"0, 0", "'<i4', '<i4'", "'>i4', '>i4'", []byte{4, 3, 2, 1, 5, 6, 7, 8}},
		{"4, 4", "'<i4', '<f4'", "'>i4', '>f4'", []byte{1, 2, 3, 4, 8, 7, 6, 5}},
		{"0, 0, 0", "'<i4', '<i4', '<i4'", "'>i4', '>i4', '>i4'", []byte{4, 3, 2, 1, 5, 6, 7, 8}},
		{"0, 4, 0", "'<c8', '<i4', '<f4'", "'>c8', '>i4', '>f4'", []byte{4, 3, 2, 1, 8, 7, 6, 5}},
		{"0, 0", "('<i2', (4,)), ('<i2', (2,))", "('>i2', (4,)), ('>i2', (2,))", []byte{2, 1, 4, 3, 6, 5, 8, 7}},
		{"0, 0, 4", "'<i4', '|S2', '<i4'", "'<i4', '|S2', '>i4'", []byte{1, 2, 3, 4, 8, 7, 6, 5}},
		{"4, 0", "'<i4', '<i2'", "'>i4', '>i2'", []byte{2, 1, 3, 4, 8, 7, 6, 5}},
		{"0, 2, 2", "'|u1', '|S0', '<i4'", "'|u1', '|S0', '>i4'", []byte{1, 2, 6, 5, 4, 3, 7, 8}},
		{"0, 0", "'<i4', '<i4'", "'>i4', '<i4'", nil},
		{"0, 0", "'<i4', '<i4'", "'<i4', '>i4'", nil},
		{"0, 0", "'<i4', '<i2'", "'>i4', '>i2'", nil},
		{"0, 2", "'<i4', '<i4'", "'>i4', '>i4'", nil},
		{"2, 0", "'<i4', '<i4'", "'>i4', '>i4'", nil},
		{"0, 3", "'<i4', '|u1'", "'>i4', '|u1'", nil},
		{"0, 3", "'|S8', '<i4'", "'|S8', '>i4'", nil},
		{"0, 0", "'<i8', '<c8'", "'>i8', '>c8'", nil},
	} {
		dtype := func(formats string) string {
			return fmt.Sprintf("{'names': %s, 'formats': [%s], 'offsets': [%s], 'itemsize': 8}",
				[]string{"['a', 'b']", "['a', 'b', 'c']"}[strings.Count(c.offsets, ",")-1], formats, c.offsets)
		}
		a, err := ndarray.CreateBytes(ctx, "", []int64{1}, dtype(c.from), raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ndarray.Zeros(ctx, "", []int64{1}, dtype(c.to), nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ndarray.AsType(a, dtype(c.to))
		joined, concatErr := ndarray.Concat(ctx, "", 0, []ndarray.Reader{b, a}, nil)
		if c.want == nil {
			if !errors.Is(err, ndarray.ErrType) || !errors.Is(concatErr, ndarray.ErrType) {
				t.Errorf("%s to %s at %s: %v, Concat %v", c.from, c.to, c.offsets, err, concatErr)
			}
			continue
		}
		if err != nil || concatErr != nil {
			t.Errorf("%s to %s at %s: %v, Concat %v", c.from, c.to, c.offsets, err, concatErr)
			continue
		}
		copied, err := ndarray.Copy(ctx, "", v, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, second := make([]byte, 8), make([]byte, 8)
		if err := copied.ReadBytes(ctx, got); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s to %s at %s: % x, %v", c.from, c.to, c.offsets, got, err)
		}
		if err := joined.ReadBytes(ctx, second, ndarray.Span(1, 2)); err != nil || !slices.Equal(second, c.want) {
			t.Errorf("%s to %s at %s: Concat % x, %v", c.from, c.to, c.offsets, second, err)
		}
	}
}
