package coder

import (
	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/filters"
)

// PrefersPairs reports whether DecodePair is faster than decoding two blocks of an opened chunk one after the other. It
// is with LZ4 and Zstd if there are no filters to undo: each match or symbol waits for the one before it, and two
// interleaved streams fill the waits.
func (w *Worker) PrefersPairs(r *Reader) bool { return w.pairDecoder(r) != nil }

// pairDecoder returns the decoder of two blocks at once, or nil if decoding one after the other is as fast.
func (w *Worker) pairDecoder(r *Reader) codecs.BatchDecoder {
	if r.pairs {
		if d, err := w.decoder(r); err == nil {
			return d.batch
		}
	}
	return nil
}

// DecodePair decodes two blocks of an opened chunk, each as DecodeBlock does. It returns the error of the first block
// that fails.
func (w *Worker) DecodePair(dst [2][]byte, r *Reader, k [2]int) error {
	if d := w.pairDecoder(r); d != nil && w.decodePair(d, dst, r, k) {
		return nil
	}
	if err := w.DecodeBlock(dst[0], r, k[0]); err != nil {
		return err
	}
	return w.DecodeBlock(dst[1], r, k[1])
}

// decodePair decodes two blocks at once, and reports whether it could. If not, decoding them one by one finds the
// error.
func (w *Worker) decodePair(d codecs.BatchDecoder, dst [2][]byte, r *Reader, k [2]int) bool {
	defer w.batch.reset()
	for i, k := range k {
		if k < 0 || k >= r.NumBlocks || len(dst[i]) != r.BlockLen(k) {
			return false
		}
		in, err := r.bytes(k, &w.in[i])
		if err != nil || w.batch.addBlock(dst[i], &r.Header, &cursor{b: in}, whole(len(dst[i]))) != nil {
			return false
		}
	}
	return w.batch.decode(d) == nil
}

// decodePlanes decodes the streams of a block at once, if that is faster, and reports whether it did. If not, decoding
// them one by one finds the error, if there is one.
func (w *Worker) decodePlanes(dst []byte, r *Reader, c cursor, p part) bool {
	if r.streams(len(dst)) < 2 {
		return false
	}
	d, err := w.decoder(r)
	if err != nil || !d.batchPlanes {
		return false
	}
	defer w.batch.reset()
	return w.batch.addBlock(dst, &r.Header, &c, p) == nil && w.batch.decode(d.batch) == nil
}

// batch holds streams that are decoded at once, src[i] to at least the first n[i] bytes of dst[i].
type batch struct {
	dst, src [][]byte
	n        []int
}

// addBlock adds the streams of a regular block that p needs. dst receives the block.
func (b *batch) addBlock(dst []byte, h *Header, c *cursor, p part) error {
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
