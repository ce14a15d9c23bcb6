package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/meta"
)

// TestRun prints the table for little data.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, 256<<10, 0, 1); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n| "); n != len(kinds)+3 {
		t.Errorf("%d lines:\n%s", n, &out)
	}
}

// TestKinds compares two calls of each formula, and the sizes that they return.
func TestKinds(t *testing.T) {
	for _, k := range kinds {
		d, err := meta.ParseDType(k.dtype)
		if err != nil {
			t.Fatal(err)
		}
		shape, a := k.generate(100_000, d.Size)
		_, b := k.generate(100_000, d.Size)
		items := int64(1)
		for _, n := range shape {
			items *= n
		}
		if !bytes.Equal(a, b) || items*int64(d.Size) != int64(len(a)) {
			t.Errorf("%s: %d bytes and %d bytes for shape %v", k.name, len(a), len(b), shape)
		}
	}
}
