package chunk

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/shuffle"
)

// batch is streams that are expanded together, each src[i] to dst[i].
type batch struct {
	dst, src [][]byte
}

// TwoPay tells whether DecodeTwo takes less time for two blocks of an opened chunk than decoding one after the other. It
// does with LZ4 where no filter is to be undone: the time is then that from one match to the next, and two streams can
// be gone through at a time. Streams of filtered blocks have long matches here and there, which processors foresee
// better in one stream than in two.
func (w *Worker) TwoPay(r *Reader) bool {
	h := &r.h
	if w.o.Postfilter != nil || h.Special() != Regular || h.Stored() || h.VLBlocks() || h.nblocks < 2 {
		return false
	}
	b := w.readerBlock(r, 0)
	return w.active(&h.Filters, &b) == 0 && w.together(r) != nil
}

// together returns the decoder for a chunk, if it expands streams together, or nil.
func (w *Worker) together(r *Reader) codec.BatchDecoder {
	dec, err := w.decoder(r)
	if err != nil {
		return nil
	}
	b, _ := dec.(codec.BatchDecoder)
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
		if err != nil || w.batch.add(dst[i], r, &cursor{b: in}) != nil {
			return false
		}
	}
	return len(w.batch.dst) == 0 || w.together(r).DecodeBatch(w.batch.dst, w.batch.src) == nil
}

// add adds the streams of a regular block, of which dst is the place.
func (b *batch) add(dst []byte, r *Reader, c *cursor) error {
	return eachStream(dst, r, c, whole(len(dst)), func(dst, in []byte, _ int) error {
		if len(in) == len(dst) {
			shuffle.Copy(dst, in)
			return nil
		}
		b.dst, b.src = append(b.dst, dst), append(b.src, in)
		return nil
	})
}

// reset forgets the streams.
func (b *batch) reset() {
	clear(b.dst)
	clear(b.src)
	b.dst, b.src = b.dst[:0], b.src[:0]
}
