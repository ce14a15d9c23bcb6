package source

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// Sections read like those of package io, also inside each other.
func TestSection(t *testing.T) {
	const text = "0123456789"
	outer := Section(FromReader(strings.NewReader(text), int64(len(text))), 2, 7)
	inner := Section(outer, 1, 5)
	for _, c := range []struct {
		src  Source
		want string
	}{{outer, text[2:9]}, {inner, text[3:8]}} {
		want := strings.NewReader(c.want)
		if c.src.Size() != want.Size() {
			t.Errorf("%d bytes, want %q", c.src.Size(), c.want)
		}
		for off := range int64(len(c.want) + 2) {
			for n := 1; n < len(text); n++ {
				got, expected := make([]byte, n), make([]byte, n)
				k, err := c.src.ReadAtContext(context.Background(), got, off)
				wantK, wantErr := want.ReadAt(expected, off)
				if k != wantK || err != wantErr || string(got) != string(expected) {
					t.Errorf("%d bytes at %d of %q: %q, %d, %v, want %q, %d, %v", n, off, c.want, got, k, err, expected, wantK, wantErr)
				}
			}
		}
	}
	if _, err := inner.ReadAtContext(context.Background(), make([]byte, 1), -1); err == nil {
		t.Error("a read before the section succeeded")
	}
}

// A context that is done ends reads.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := Reader(ctx, Section(FromReader(strings.NewReader("text"), 4), 0, 4))
	if b, err := io.ReadAll(r); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
	cancel()
	if _, err := r.ReadAt(make([]byte, 1), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
