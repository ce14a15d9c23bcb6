package main

import (
	"testing"

	"github.com/goblosc/blosc2/meta"
)

// TestDateText compares dates with those of NumPy 1.24.
func TestDateText(t *testing.T) {
	for _, c := range []struct {
		dtype string
		n     int64
		want  string
	}{
		{"<M8[Y]", -1971, "-001"}, {"<M8[Y]", -2093, "-123"}, {"<M8[Y]", -14315, "-12345"}, {"<M8[Y]", -1970, "0000"}, {"<M8[Y]", 10375, "12345"},
		{"<M8[M]", -23651, "-001-02"}, {"<M8[D]", -719860, "-001-02-03"}, {"<M8[D]", -719528, "0000-01-01"}, {"<M8[h]", -17276636, "-001-02-03T04"},
		{"<M8[ms]", -62195889293211, "-001-02-03T04:05:06.789"}, {"<M8[D]", 10957, "2000-01-01"},
	} {
		d, err := meta.ParseDType(c.dtype)
		if err != nil {
			t.Fatal(err)
		}
		if got := dateText(d, c.n); got != c.want {
			t.Errorf("%s %d: %s, want %s", c.dtype, c.n, got, c.want)
		}
	}
}
