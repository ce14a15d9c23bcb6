package main

import (
	"regexp"
	"strconv"

	"github.com/goblosc/blosc2/ndarray"
)

// slabs calls write for the rows from to to-1 of an array, a number of whole chunks at a time, so that progress moves.
// n is the size of a row in bytes.
func slabs(e *env, a *ndarray.Array, from, to, n int64, write func(i, j int64) error) error {
	length := max(a.Chunks()[0], 1)
	length *= max(e.slab/max(n, 1)/length, 1)
	for i := from; i < to; {
		j := min((i/length+1)*length, to)
		if err := write(i, j); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// appendSlabs appends data along the first axis in one commit, and counts the bytes.
func appendSlabs(e *env, a *ndarray.Array, data []byte, p *progress) error {
	n := int64(a.DType().Size)
	for _, length := range a.Shape()[1:] {
		n *= length
	}
	if n <= 0 || int64(len(data))%n != 0 {
		return a.AppendBytes(e.ctx, 0, data)
	}
	b, err := a.Begin(e.ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()
	p.remains(int64(len(data)))
	start := b.Shape()[0]
	err = slabs(e, a, start, start+int64(len(data))/n, n, func(i, j int64) error {
		defer p.add((j - i) * n)
		return b.AppendBytes(e.ctx, 0, data[(i-start)*n:(j-start)*n])
	})
	if err != nil {
		return err
	}
	return b.Commit()
}

// firstSpan matches a selection whose first index is a range without a step, and whose others are numbers and ranges.
var firstSpan = regexp.MustCompile(`^\s*(-?[0-9]*)\s*:\s*(-?[0-9]*)\s*(,[-0-9:,.\s]*)?$`)

// rows returns the first row of the selection text, if its first axis is a range of rows of an array with length rows.
func rows(text string, length int64) (start int64, ok bool) {
	m := firstSpan.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	if m[1] != "" {
		var err error
		if start, err = strconv.ParseInt(m[1], 10, 64); err != nil {
			return 0, false
		}
		if start < 0 {
			start += length
		}
	}
	return min(max(start, 0), length), true
}

// writeSlabs writes to a selection in one commit, and counts the bytes. shape is that of the selection. write writes
// the rows i to j-1 of the selected ones, or everything if sel is the whole selection.
func writeSlabs(e *env, a *ndarray.Array, text string, sel []ndarray.Index, shape []int64, p *progress,
	write func(b *ndarray.Batch, i, j int64, sel []ndarray.Index) error) error {
	b, err := a.Begin(e.ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()
	total, _ := byteCount(shape, a.DType().Size)
	p.remains(total)
	start, ok := int64(0), false
	if len(a.Shape()) > 0 && len(shape) > 0 {
		start, ok = rows(text, a.Shape()[0])
	}
	if !ok || shape[0] == 0 {
		err = write(b, 0, -1, sel)
		p.add(total)
	} else {
		n := total / shape[0]
		err = slabs(e, a, start, start+shape[0], n, func(i, j int64) error {
			defer p.add((j - i) * n)
			part := append([]ndarray.Index{ndarray.Span(i, j)}, sel[1:]...)
			return write(b, i-start, j-start, part)
		})
	}
	if err != nil {
		return err
	}
	return b.Commit()
}
