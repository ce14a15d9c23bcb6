package main

import (
	"bytes"
	"testing"
)

// TestKeysInKeys has keys of maps that are no strings. Maps inside such keys, inside each other, must not multiply.
func TestKeysInKeys(t *testing.T) {
	for packed, want := range map[string]string{
		"\x81\xc0\x01":                           `{"null": 1}`,
		"\x81\x92\xa1a\x91\x02\x01":              `{"[\"a\", [2]]": 1}`,
		"\x81\x92\x01\x82\xa1a\xc0\xa1b\xc0\xc0": `{"[1, \"map of 2\"]": null}`,
		"\x81\x80\xc0":                           `{"\"map of 0\"": null}`,
	} {
		if got, err := unpackJSON([]byte(packed)); err != nil || got != want {
			t.Errorf("%x: %s, %v, want %s", packed, got, err, want)
		}
	}
	const depth = 24 // 400 would take all memory if the length doubled at each level
	b := append(bytes.Repeat([]byte{0x81}, depth), bytes.Repeat([]byte{0xc0}, depth+1)...)
	if got, err := unpackJSON(b); err != nil || len(got) > 100 {
		t.Errorf("%d bytes of JSON from %d, %v", len(got), len(b), err)
	}
}
