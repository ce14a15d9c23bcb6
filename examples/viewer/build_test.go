package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"
)

// TestCompressed reads what compressed returns with compress/gzip.
func TestCompressed(t *testing.T) {
	text := bytes.Repeat([]byte("a static page that shows Blosc2 arrays\n"), 10_000)
	b, err := compressed(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("read %d bytes, %v; want %d", len(got), err, len(text))
	}
}
