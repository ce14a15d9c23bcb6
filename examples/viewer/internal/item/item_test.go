package item

import (
	"testing"

	"github.com/goblosc/blosc2/meta"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ dtype, bytes, want string }{
		{"<i4", "\xfe\xff\xff\xff", "-2"}, {">u2", "\x01\x02", "258"}, {"|b1", "\x01", "True"}, {"<f4", "\x00\x00\xc0\x3f", "1.5"},
		{"<f8", "\x00\x00\x00\x00\x00\x00\xf0\x7f", "inf"}, {"<f4", "\x00\x00\xc0\x7f", "nan"}, {"<f2", "\x00\x3c", "1"}, {"<f2", "\x00\xfc", "-inf"},
		{"<c8", "\x00\x00\x80\x3f\x00\x00\x80\xbf", "1-1j"}, {"|S4", "ab\x00\x00", "ab"}, {"<U2", "\xe9\x00\x00\x00\x00\x00\x00\x00", "é"},
		{"<M8[D]", "\x57\x05\xf5\xff\xff\xff\xff\xff", "-001-12-31"}, {"<M8[Y]", "\x00\xf9\xff\xff\xff\xff\xff\xff", "0178"},
		{"<M8[D]", "\x01\x00\x00\x00\x00\x00\x00\x00", "1970-01-02"}, {"<M8[ms]", "\xff\xff\xff\xff\xff\xff\xff\xff", "1969-12-31T23:59:59.999"},
		{"<M8[s]", "\x00\x00\x00\x00\x00\x00\x00\x80", "NaT"}, {"<m8[25s]", "\x03\x00\x00\x00\x00\x00\x00\x00", "3 25s"}, {"<M8[M]", "\xff\xff\xff\xff\xff\xff\xff\xff", "1969-12"},
		{"|V2", "\x01\xff", "01ff"}, {"[('a', '<i2'), ('b', '|S1')]", "\x05\x00x", "(a: 5, b: x)"},
	} {
		d, err := meta.ParseDType(c.dtype)
		if err != nil {
			t.Fatal(err)
		}
		if got := Text(d, []byte(c.bytes)); got != c.want {
			t.Errorf("%s: %q, want %q", c.dtype, got, c.want)
		}
	}
}

// TestNumbers compares the fast conversions with those of single items.
func TestNumbers(t *testing.T) {
	data := make([]byte, 800)
	for i := range data {
		data[i] = byte(i*37 + i/7)
	}
	for _, dtype := range []string{"|b1", "|i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", "<u8", "<f2", "<f4", ">f4", "<f8", ">f8"} {
		d, err := meta.ParseDType(dtype)
		if err != nil || !IsReal(d) {
			t.Fatal(dtype, err)
		}
		got := Numbers(nil, d, data)
		if len(got) != len(data)/d.Size {
			t.Fatalf("%s: %d numbers", dtype, len(got))
		}
		for i, x := range got {
			if want := Number(d, data[i*d.Size:][:d.Size]); x != want && (x == x || want == want) {
				t.Errorf("%s: item %d is %v, want %v", dtype, i, x, want)
			}
		}
	}
	for _, dtype := range []string{"<c8", "|S3", "<M8[s]", "[('a', '<i2')]", "|V4"} {
		if d, err := meta.ParseDType(dtype); err != nil || IsReal(d) {
			t.Errorf("%s counts as real: %v", dtype, err)
		}
	}
}
