package source

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
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

// ranger is a source that reads many ranges at once.
type ranger struct{ reader }

func (s ranger) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	for i, r := range want {
		b := make([]byte, r.Len)
		if _, err := s.ReadAtContext(ctx, b, r.Off); err != nil {
			return err
		}
		if err := got(i, 0, b); err != nil {
			return err
		}
	}
	return nil
}

// A section of a source that reads many ranges does so, too.
func TestSectionRanges(t *testing.T) {
	const text = "0123456789"
	src := ranger{reader{strings.NewReader(text), int64(len(text))}}
	if _, ok := Section(src.reader, 2, 7).(RangeReader); ok {
		t.Error("a section has ReadRanges, but its source has not")
	}
	s, ok := Section(Section(src, 2, 7), 1, 5).(RangeReader)
	if !ok {
		t.Fatal("a section has no ReadRanges")
	}
	list := map[int]string{}
	got := func(i int, _ int64, b []byte) error { list[i] = string(b); return nil }
	if err := s.ReadRanges(context.Background(), []frame.Range{{Off: 3, Len: 2}, {Off: 0, Len: 1}}, got); err != nil || list[0] != "67" || list[1] != "3" {
		t.Errorf("%v, %v", list, err)
	}
	for _, r := range []frame.Range{{Off: -1, Len: 1}, {Off: 4, Len: 2}, {Off: 0, Len: -1}} {
		if err := s.ReadRanges(context.Background(), []frame.Range{r}, got); !errors.Is(err, frame.ErrBounds) {
			t.Errorf("%v: %v", r, err)
		}
	}
}
