package coder

import (
	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/filters"
)

// batch holds streams that are decoded at once, src[i] to at least the first n[i] bytes of dst[i].
type batch struct {
	dst, src [][]byte
	n        []int
}

// add adds the streams of a regular block that p needs. dst receives the block.
func (b *batch) add(dst []byte, h *Header, c *cursor, p part) error {
	return eachStream(dst, h, c, p, func(_ int, dst, in []byte, n int) error {
		if len(in) == len(dst) {
			filters.Copy(dst[:n], in[:n])
			return nil
		}
		b.dst, b.src, b.n = append(b.dst, dst), append(b.src, in), append(b.n, n)
		return nil
	})
}

// decode decodes the streams.
func (b *batch) decode(dec codecs.BatchDecoder) error {
	if len(b.dst) == 0 {
		return nil
	}
	return dec.DecodeBatch(b.dst, b.src, b.n)
}

// reset removes all streams.
func (b *batch) reset() {
	clear(b.dst)
	clear(b.src)
	b.dst, b.src, b.n = b.dst[:0], b.src[:0], b.n[:0]
}
