package chunk

import (
	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/filters"
)

// batch is streams that are expanded together, each src[i] to the first n[i] bytes of dst[i] at least.
type batch struct {
	dst, src [][]byte
	n        []int
}

// TwoPay tells whether DecodeTwo takes less time for two blocks of an opened chunk than decoding one after the other. It
// does with LZ4 and Zstd where no filter is to be undone: the time is then that from one match, or one symbol, to the
// next, and two streams can be gone through at a time.
func (w *Worker) TwoPay(r *Reader) bool {
	h := &r.h
	if w.o.Postfilter != nil || h.Special() != Regular || h.Stored() || h.VLBlocks() || h.nblocks < 2 {
		return false
	}
	b := w.readerBlock(r, 0)
	return w.active(&h.Filters, &b) == 0 && w.together(r) != nil
}

// together returns the decoder for a chunk, if it expands streams together, or nil.
func (w *Worker) together(r *Reader) codecs.BatchDecoder {
	dec, err := w.decoder(r)
	if err != nil {
		return nil
	}
	b, _ := dec.(codecs.BatchDecoder)
	return b
}

// DecodeTwo decodes two blocks of an opened chunk, each as DecodeBlock does. The error is that of the first that fails.
func (w *Worker) DecodeTwo(dst [2][]byte, r *Reader, k [2]int) error {
	if w.TwoPay(r) && w.decodeTwo(dst, r, k) {
		return nil
	}
	if err := w.DecodeBlock(dst[0], r, k[0]); err != nil {
		return err
	}
	return w.DecodeBlock(dst[1], r, k[1])
}

// decodeTwo is DecodeTwo where it pays, and reports whether both blocks are decoded: one by one they say what is wrong.
func (w *Worker) decodeTwo(dst [2][]byte, r *Reader, k [2]int) bool {
	defer w.batch.reset()
	for i, k := range k {
		if k < 0 || k >= r.h.nblocks || len(dst[i]) != r.BlockLen(k) {
			return false
		}
		in, err := w.bytes(r, k, i)
		if err != nil || w.batch.add(dst[i], r, &cursor{b: in}, whole(len(dst[i]))) != nil {
			return false
		}
	}
	return w.batch.decode(w.together(r)) == nil
}

// decodePlanes is decodeStreams where the streams of a block pay to be expanded together, and reports whether they are: one
// by one they say what is wrong.
func (w *Worker) decodePlanes(dst []byte, r *Reader, c cursor, p part) bool {
	if r.h.streams(len(dst)) < 2 {
		return false
	}
	dec := w.together(r)
	if dec == nil || !dec.BatchesPlanes() {
		return false
	}
	defer w.batch.reset()
	return w.batch.add(dst, r, &c, p) == nil && w.batch.decode(dec) == nil
}

// add adds the streams of a regular block that are in p. dst is the place of the block.
func (b *batch) add(dst []byte, r *Reader, c *cursor, p part) error {
	return eachStream(dst, r, c, p, func(dst, in []byte, n int) error {
		if len(in) == len(dst) {
			filters.Copy(dst[:n], in[:n])
			return nil
		}
		b.dst, b.src, b.n = append(b.dst, dst), append(b.src, in), append(b.n, n)
		return nil
	})
}

// decode expands the streams.
func (b *batch) decode(dec codecs.BatchDecoder) error {
	if len(b.dst) == 0 {
		return nil
	}
	return dec.DecodeBatch(b.dst, b.src, b.n)
}

// reset forgets the streams.
func (b *batch) reset() {
	clear(b.dst)
	clear(b.src)
	b.dst, b.src, b.n = b.dst[:0], b.src[:0], b.n[:0]
}
