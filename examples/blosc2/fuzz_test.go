package main

import (
	"strings"
	"testing"
)

// FuzzJSON packs JSON, unpacks it and packs it again, which must produce the same bytes.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"1", "-2.5e3", `{"b": [1, "x", null], "a": {}}`, `"\ud83d\ude00"`, "18446744073709551615", "1e400", "[[[]]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := packJSON(s)
		if err != nil || strings.Contains(s, "__tuple__") {
			return
		}
		text, err := unpackJSON(b, anySize)
		if err != nil {
			t.Fatalf("%q packed as %x: %v", s, b, err)
		}
		again, err := packJSON(text)
		if err != nil || string(again) != string(b) {
			t.Fatalf("%q packed as %x, shown as %s, packed as %x (%v)", s, b, text, again, err)
		}
	})
}
