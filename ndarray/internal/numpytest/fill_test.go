package numpytest

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// TestFillNumbers fills arrays, and creates arrays with Full, with numbers of types that the dtype does not hold.
func TestFillNumbers(t *testing.T) {
	for _, c := range []fillCase{
		{"<f4", fillWith(0.5), "0000003f"},
		{"<f4", fillWith(0.1), "value"},
		{"<f4", fillWith(math.NaN()), "0000c07f"},
		{">f4", fillWith(math.Inf(-1)), "ff800000"},
		{"|u1", fillWith(200), "c8"},
		{"|u1", fillWith(256), "value"},
		{"|u1", fillWith(-1), "value"},
		{"|u1", fillWith(int8(-1)), "value"},
		{"<u8", fillWith(-1), "value"},
		{"<i8", fillWith(uint64(math.MaxUint64)), "value"},
		{"<i8", fillWith(1e18), "000064a7b3b6e00d"},
		{"<i8", fillWith(9.3e18), "value"},
		{"<i2", fillWith(1.5), "value"},
		{"<i2", fillWith(math.NaN()), "value"},
		{"<f8", fillWith(int64(1 << 53)), "0000000000004043"},
		{"<f8", fillWith(int64(1<<53 + 1)), "value"},
		{"<f2", fillWith(float32(-2)), "00c0"},
		{"<f2", fillWith(70000), "value"},
		{"|b1", fillWith(1), "01"},
		{"|b1", fillWith(2), "value"},
		{"<i4", fillWith(complex(3, 0)), "03000000"},
		{"<i4", fillWith(complex(3, 1)), "value"},
		{"<c8", fillWith(int16(-1)), "000080bf00000000"},
		{"<f4", fillWith("a"), "type"},
		{"<M8[s]", fillWith(1.0), "type"},
		{"|S2", fillWith(1), "type"},
	} {
		a, err := ndarray.Zeros(t.Context(), "", []int64{1}, c.dtype, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, a, c.value.fill(a))
		a.Close()
		full, err := c.value.full(c.dtype)
		c.check(t, full, err)
		if full != nil {
			full.Close()
		}
	}
}

// TestFillRounding checks that the error for a number that a dtype does not have exactly names the conversion, if one
// exists.
func TestFillRounding(t *testing.T) {
	for _, c := range []struct {
		dtype string
		value filler
		want  string
	}{
		{"<f4", fillWith(-999.9), "ndarray: invalid value: items of dtype <f4 cannot store -999.9 exactly; convert it first, as in float32(-999.9)"},
		{">f4", fillWith(1<<24 + 1), "float32(16777217)"},
		{"<f4", fillWith(uint64(1<<24 + 1)), "float32(16777217)"},
		{"<f2", fillWith(float32(0.1)), "ndarray.Float16Of(float64(0.1))"},
		{"<f8", fillWith(int64(1<<53 + 1)), "float64(9007199254740993)"},
		{"<c8", fillWith(0.1), "cannot store 0.1 exactly; convert it first, as in float32(0.1)"},
		{">c8", fillWith(complex(0.1, -2)), "as in complex64(0.1-2i)"},
		{"<c16", fillWith(int64(1<<53 + 1)), "float64(9007199254740993)"},
		{"<f4", fillWith(3.4028235677e38), "float32(3.4028235677e+38)"}, // rounds to the largest number
		{"<f2", fillWith(65510), "ndarray.Float16Of(float64(65510))"},
		{"<f2", fillWith(65520), "cannot store 65520 exactly"},
		{"<c8", fillWith(1e300), "cannot store 1e+300 exactly"},
		{"<c8", fillWith(complex(1, 1e300)), "cannot store (1+1e+300i) exactly"},
		{"<f4", fillWith(1e300), "cannot store 1e+300 exactly"},
		{"<f2", fillWith(65536.0), "cannot store 65536 exactly"},
		{"<i4", fillWith(1.5), "cannot store 1.5 exactly"},
		{"<f8", fillWith(complex(3, 1)), "cannot store (3+1i) exactly"},
	} {
		a, err := ndarray.Zeros(t.Context(), "", []int64{1}, c.dtype, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.value.fill(a); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: Fill: %v, want %s", c.dtype, err, c.want)
		}
		a.Close()
		if _, err := c.value.full(c.dtype); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: Full: %v, want %s", c.dtype, err, c.want)
		}
	}
}

// fillCase is a value, the dtype of an array, and the item in hexadecimal or the error.
type fillCase struct {
	dtype string
	value filler
	want  string
}

// check checks the first item of an array that was filled, or the error.
func (c *fillCase) check(t *testing.T, a *ndarray.Array, err error) {
	t.Helper()
	switch c.want {
	case "value":
		if !errors.Is(err, ndarray.ErrValue) {
			t.Errorf("%s: %v", c.dtype, err)
		}
	case "type":
		if !errors.Is(err, ndarray.ErrType) {
			t.Errorf("%s: %v", c.dtype, err)
		}
	default:
		if err != nil {
			t.Errorf("%s: %v", c.dtype, err)
		} else if got := hex.EncodeToString(rawBytes(t, a)); got != c.want {
			t.Errorf("%s: %s, want %s", c.dtype, got, c.want)
		}
	}
}

// filler fills an array with a value, or creates an array of one item.
type filler struct {
	fill func(a *ndarray.Array) error
	full func(dtype string) (*ndarray.Array, error)
}

// fillWith returns the filler of a value.
func fillWith[T any](value T) filler {
	ctx := context.Background()
	return filler{
		func(a *ndarray.Array) error { return ndarray.Fill(ctx, a, value) },
		func(dtype string) (*ndarray.Array, error) {
			return ndarray.Full(ctx, "", []int64{1}, value, &ndarray.CreateOptions{DType: dtype})
		},
	}
}
