package b2arrow

import (
	"context"
	"iter"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/ndarray"
)

// maxText is the largest number of bytes of all texts of an array of type utf8.
const maxText = math.MaxInt32

// readText reads a column of kind utf8. Its arrays have the layout of large_utf8.
func (r *column) readText(ctx context.Context, mem memory.Allocator, start, stop int64, nulls []bool) (arrow.ArrayData, error) {
	ends, text := r.c.Text()
	n := stop - start
	if mul(n, 16) > math.MaxInt-64 {
		return nil, tooLarge("%d rows", n)
	}
	if err := ends.Frame().CheckAlloc(8 * n); err != nil {
		return nil, err
	}
	offsets := newBuffer(mem, (int(n)+1)*arrow.Int64SizeBytes)
	places, err := readOffsets(ctx, ends, text.Size(), r.c.Stored(start, stop), arrow.Int64Traits.CastFromBytes(offsets.Bytes()))
	if err != nil {
		offsets.Release()
		return nil, err
	}
	b, err := readUTF8(ctx, mem, text, places, arrow.Int64Traits.CastFromBytes(offsets.Bytes()))
	if err != nil {
		offsets.Release()
		return nil, err
	}
	validity, count := validityOf(mem, nulls)
	return newData(r.field.Type, int(n), validity, count, []*memory.Buffer{offsets, b}), nil
}

// readOffsets sets the offsets of the texts of ranges of rows, without the texts between them, and returns where these
// texts are in the array of size bytes. offsets has one number more than there are rows.
func readOffsets(ctx context.Context, ends *ndarray.Array, size int64, ranges iter.Seq2[int64, int64], offsets []int64) ([]span, error) {
	var places []span
	var around []int64
	offsets[0] = 0
	done, last := 0, int64(0) // number of rows, and where the text of the last one ends in the array
	for g := range groups(ranges, window/8) {
		from, to := g[0].from, g[len(g)-1].to
		n := int(to - from)
		begin, base := done, offsets[done]
		start := base
		stored := offsets[done:min(done+n+1, len(offsets))]
		if len(g) > 1 { // otherwise they are read in place
			if around == nil {
				around = make([]int64, window/8+1)
			}
			stored = around[:n+1]
		}
		if err := ndarray.ReadInto(ctx, ends, stored, ndarray.Span(from, to+1)); err != nil {
			return nil, err
		}
		for i, end := range stored {
			if end < last || end > size {
				return nil, corrupt("stored row %d ends at byte %d of %d, the one before it at %d", from+int64(i)-1, end, size, last)
			}
			last = end
		}
		for _, s := range g {
			first := stored[s.from-from]
			places = append(places, span{first, stored[s.to-from]})
			for _, end := range stored[s.from-from+1 : s.to-from+1] {
				done++
				offsets[done] = end - first + base
			}
			base = offsets[done]
		}
		offsets[begin] = start
	}
	return places, nil
}

// readUTF8 reads texts at places of an array.
func readUTF8(ctx context.Context, mem memory.Allocator, text *ndarray.Array, places []span, offsets []int64) (*memory.Buffer, error) {
	total := offsets[len(offsets)-1]
	if total > math.MaxInt-64 {
		return nil, tooLarge("%d bytes of text", total)
	}
	if err := text.Frame().CheckAlloc(total); err != nil {
		return nil, err
	}
	b := newBuffer(mem, int(total))
	ranges := func(yield func(from, to int64) bool) {
		for _, p := range places {
			if p.from < p.to && !yield(p.from, p.to) {
				return
			}
		}
	}
	if err := readRows(ctx, text, ranges, 1, b.Bytes()); err != nil {
		b.Release()
		return nil, err
	}
	if err := checkUTF8(b.Bytes(), offsets); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// checkUTF8 returns an error unless all texts are UTF-8.
func checkUTF8(text []byte, offsets []int64) error {
	valid := utf8.Valid(text)
	for i, at := range offsets[:len(offsets)-1] {
		if valid && at < offsets[i+1] && !utf8.RuneStart(text[at]) || !valid && !utf8.Valid(text[at:offsets[i+1]]) {
			return corrupt("text %d is not UTF-8", i)
		}
	}
	return nil
}
