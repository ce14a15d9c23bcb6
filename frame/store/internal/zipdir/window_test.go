package zipdir

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/source"
)

// rangeSource is a source of a string that reads many ranges at once, and counts them.
type rangeSource struct {
	source.Source
	text  string
	count int
}

func (s *rangeSource) ReadRanges(_ context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	for i, r := range want {
		s.count++
		if err := got(i, 0, []byte(s.text[r.Off:r.End()])); err != nil {
			return err
		}
	}
	return nil
}

// A window takes ranges that it holds from memory, and the others from its source.
func TestWindowRanges(t *testing.T) {
	const text = "0123456789"
	src := &rangeSource{source.FromReader(strings.NewReader(text), int64(len(text))), text, 0}
	if _, ok := (&window{src.Source, 6, nil}).source().(source.RangeReader); ok {
		t.Error("a window has ReadRanges, but its source has not")
	}
	w := (&window{src, 6, []byte("6789")}).source().(source.RangeReader)
	list := make([]string, 4)
	got := func(i int, _ int64, b []byte) error { list[i] = string(b); return nil }
	if err := w.ReadRanges(t.Context(), []frame.Range{{Off: 7, Len: 3}, {Off: 5, Len: 2}, {Off: 6, Len: 1}, {Off: 1, Len: 2}}, got); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(list, ","); all != "789,56,6,12" || src.count != 2 {
		t.Errorf("read %s, %d ranges from the source", all, src.count)
	}
	stop := func(int, int64, []byte) error { return io.EOF }
	if err := w.ReadRanges(t.Context(), []frame.Range{{Off: 7, Len: 3}}, stop); err != io.EOF {
		t.Error(err)
	}
}
