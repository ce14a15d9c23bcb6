package table

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray"
)

// TestSentinel finds a value that is null among items in both byte orders.
func TestSentinel(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct {
		dtype, items string
		null         any
		want         []bool
	}{
		{"<i2", "\x00\x80\x80\x00\xff\xff", jsonNumber("-32768"), []bool{true, false, false}},
		{">i2", "\x00\x80\x80\x00\xff\xff", jsonNumber("-32768"), []bool{false, true, false}},
		{"<i2", "\x00\x00\x01\x00", jsonNumber("65536"), nil},
		{">u4", "\x00\x00\x00\x07\x07\x00\x00\x00", jsonNumber("7"), []bool{true, false}},
		{"<f4", "\x00\x00\x00\x80\x00\x00\x80\x3f", jsonNumber("0"), []bool{true, false}},
		{"<f4", "\xcd\xcc\xcc\x3d\xce\xcc\xcc\x3d", jsonNumber("0.1"), []bool{true, false}},
		{"<f2", "\x66\x2e\x67\x2e", jsonNumber("0.1"), []bool{true, false}},
		{">f8", "\x7f\xf8\x00\x00\x00\x00\x00\x01\x3f\xf0\x00\x00\x00\x00\x00\x00", "NaN", []bool{true, false}},
		{"<f2", "\x00\x7c\x00\xfc", "-Infinity", []bool{false, true}},
		{"|S2", "a\x00ab", "a", []bool{true, false}},
		{"|S2", "a\x00ab", "abc", []bool{false, false}},
		{"|S4", "a\x00\x00b", "a", []bool{false}},
		{"|S2", "\x00\x00\x00a", "", []bool{true, false}},
		{">U2", "\x00\x00\x00a\x00\x00\x00\x00\x00\x00\x00a\x00\x00\x00b", "ab", []bool{false, true}},
	} {
		n := int64(len(x.want))
		if x.want == nil {
			n = 2
		}
		a, err := ndarray.Zeros(ctx, "", []int64{n}, x.dtype, nil)
		if err == nil {
			err = a.WriteBytes(ctx, []byte(x.items))
		}
		if err != nil {
			t.Fatalf("%s: %v", x.dtype, err)
		}
		c := &Column{rows: &rows.Set{Stored: n, Live: n}, array: a}
		if c.null, err = sentinel(x.null, a.DType(), ""); err != nil {
			t.Fatalf("%s: %v", x.dtype, err)
		}
		if got, err := c.Nulls(ctx, 0, n); err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s, null %v: %v, want %v: %v", x.dtype, x.null, got, x.want, err)
		}
	}
	for _, null := range []any{"x", true, []byte("7"), jsonNumber("1.5")} {
		if _, err := sentinel(null, ndarray.DTypeOf[int16](), "int16"); err == nil {
			t.Errorf("%v is an int16", null)
		}
	}
}

// TestNullsOfHugeItems looks for nulls among items that are far larger than their file. The race detector makes pools
// drop memory, so it counts none.
func TestNullsOfHugeItems(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct {
		dtype   string
		n, most int64 // rows, and the most bytes of memory
		want    error
	}{
		{"|S500000000", 1 << 16, 1 << 20, errs.ErrTooLarge}, // 33 TB
		{"|S1000000", 100, 32 << 20, nil},
	} {
		b := build(t, "", nil)
		a, err := ndarray.Zeros(ctx, b.File("a.b2nd"), []int64{x.n}, x.dtype, nil)
		if err == nil {
			a.Close() // what this handle has created has no limit
			a, err = ndarray.Open(ctx, b.File("a.b2nd"), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := &Column{rows: &rows.Set{Stored: x.n, Live: x.n}, array: a}
		if c.null, err = sentinel("x", a.DType(), "bytes"); err != nil {
			t.Fatal(err)
		}
		nulls, err := c.Nulls(ctx, 0, x.n)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, x.want) || err == nil && (int64(len(nulls)) != x.n || slices.Contains(nulls, true)) {
			t.Errorf("%s: %v, %v, want %v", x.dtype, nulls, err, x.want)
		}
		if used := int64(after.TotalAlloc - before.TotalAlloc); used > x.most && !race.Enabled {
			t.Errorf("%s: %d bytes of memory", x.dtype, used)
		}
	}
}

// TestAllOfHugeItems ranges over items that are far larger than their file. Memory grows only as the loop goes on.
func TestAllOfHugeItems(t *testing.T) {
	ctx := context.Background()
	const n, size = 1000, 1 << 20
	a, err := ndarray.Zeros(ctx, "", []int64{n}, fmt.Sprintf("|S%d", size), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &Column{rows: &rows.Set{Stored: n, Live: n}, array: a, info: ColumnInfo{Name: "a", Kind: "bytes"}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for v, err := range All[[]byte](ctx, c) {
		if len(v) > 0 || err != nil {
			t.Fatal(len(v), err)
		}
		break
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 32*size && !race.Enabled {
		t.Errorf("%d bytes of memory for the first of %d items", used, n)
	}
}

// TestNaT reads nullable timestamps with NaT, and other nulls or none. NaT is null for all functions.
func TestNaT(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		schema string
		mask   []bool
		want   []bool
		found  []int64
	}{
		"no mark":     {`"nullable": true`, nil, []bool{false, true, false, false}, []int64{0, 3}},
		"mask":        {`"nullable": true, "null_storage": "mask"`, []bool{false, true, true, true}, []bool{true, true, false, false}, []int64{3}},
		"no mask yet": {`"nullable": true, "null_storage": "mask"`, nil, []bool{false, true, false, false}, []int64{0, 3}},
		"value":       {`"null_value": 7`, nil, []bool{false, true, true, false}, []int64{0, 3}},
		"NaT":         {`"null_value": -9223372036854775808`, nil, []bool{false, true, false, false}, []int64{0, 3}},
	} {
		b := build(t, `{"name": "t", "kind": "timestamp", "unit": "ms", `+c.schema+`}`, []bool{true, true, true, true})
		array(b, "_cols/t", []int64{4}, []int64{5, ndarray.NaT, 7, 0})
		if c.mask != nil {
			array(b, "_cols/t.notnull", []int64{4}, c.mask)
		}
		column, err := b.column("t")
		if err != nil {
			t.Fatal(err)
		}
		nulls, err := column.Nulls(ctx, 0, 4)
		if err != nil || !slices.Equal(nulls, c.want) {
			t.Errorf("%s: nulls %v, %v, want %v", name, nulls, err, c.want)
		}
		values, anyErr := Read[any](ctx, column, 0, 4)
		pointers, err := ReadNullable[int64](ctx, column, 0, 4)
		if err := errors.Join(anyErr, err); err != nil {
			t.Fatal(err)
		}
		for i, null := range c.want {
			if (values[i] == nil) != null || (pointers[i] == nil) != null {
				t.Errorf("%s: value %d is %v, pointer %v", name, i, values[i], pointers[i])
			}
		}
		if found, err := Find(ctx, column, Less, int64(6)); err != nil || !slices.Equal(found, c.found) {
			t.Errorf("%s: rows %v, %v, want %v", name, found, err, c.found)
		}
	}
}
