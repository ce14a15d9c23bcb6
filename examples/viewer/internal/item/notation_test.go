package item

import (
	"math"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/meta"
)

func TestJSON(t *testing.T) {
	deep := any("x")
	for range 20 {
		deep = []any{deep}
	}
	for _, x := range []struct {
		v    any
		want string
	}{
		{nil, "null"}, {true, "true"}, {int8(-3), "-3"}, {uint64(math.MaxUint64), "18446744073709551615"}, {2.0, "2.0"}, {math.NaN(), "NaN"},
		{math.Inf(-1), "-Infinity"}, {"a\"\\\n\x01\u2028\xffé", `"a\"\\\n\u0001\u2028` + "\ufffdé" + `"`}, {[]byte{1, 255}, `{"bytes": "01ff"}`},
		{complex64(1 + 2i), `{"complex": [1.0, 2.0]}`}, {map[string]any{"b": 1, "a": []any{nil}}, `{"a": [null], "b": 1}`},
		{meta.Map{{Key: 1, Value: "x"}}, `{"1": "x"}`}, {meta.Tuple{1, 2}, "[1, 2]"}, {meta.Ext{Type: 5, Data: []byte{9}}, `{"extension": 5, "bytes": "09"}`},
		{make([]byte, 65), `{"bytes": "` + strings.Repeat("00", 64) + `…"}`}, {deep, "[[[[[[[[[…]]]]]]]]]"},
	} {
		if got := JSON(x.v); got != x.want {
			t.Errorf("%v is %s, want %s", x.v, got, x.want)
		}
	}
}

// TestKeysInKeys has a map in the key of a map, many times.
func TestKeysInKeys(t *testing.T) {
	key := any(nil)
	for range 24 {
		key = meta.Map{{Key: key}}
	}
	if got := JSON(key); len(got) > 1000 {
		t.Errorf("%d bytes of JSON", len(got))
	}
}

func TestTime(t *testing.T) {
	for _, x := range []struct {
		n    int64
		unit string
		want string
	}{
		{0, "s", "1970-01-01 00:00:00"}, {-1, "ms", "1969-12-31 23:59:59.999000"}, {1500000001, "us", "1970-01-01 00:25:00.000001"},
		{1, "ns", "1970-01-01 00:00:00.000000001"}, {7, "h", "7"},
	} {
		if got := Time(x.n, x.unit); got != x.want {
			t.Errorf("%d %s is %s, want %s", x.n, x.unit, got, x.want)
		}
	}
}

func TestClip(t *testing.T) {
	for most, want := range map[int]string{0: "…", 1: "a…", 2: "a…", 3: "aé…", 4: "aéb"} {
		if got := Clip("aéb", most); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
}
