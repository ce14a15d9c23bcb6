package coder

// PrefersPairs reports whether DecodePair is faster than decoding two blocks of an opened chunk one after the other. It
// is with LZ4 and Zstd if there are no filters to undo: each match or symbol waits for the one before it, and two
// interleaved streams fill the waits.
func (w *Worker) PrefersPairs(r *Reader) bool {
	if !r.pairs {
		return false
	}
	d, err := w.decoder(r)
	return err == nil && d.batch != nil
}

// DecodePair decodes two blocks of an opened chunk, each as DecodeBlock does. It returns the error of the first block
// that fails.
func (w *Worker) DecodePair(dst [2][]byte, r *Reader, k [2]int) error {
	if w.PrefersPairs(r) && w.decodePair(dst, r, k) {
		return nil
	}
	if err := w.DecodeBlock(dst[0], r, k[0]); err != nil {
		return err
	}
	return w.DecodeBlock(dst[1], r, k[1])
}

// decodePair decodes two blocks at once, and reports whether it could. If not, decoding them one by one finds the
// error.
func (w *Worker) decodePair(dst [2][]byte, r *Reader, k [2]int) bool {
	defer w.batch.reset()
	for i, k := range k {
		if k < 0 || k >= r.h.nblocks || len(dst[i]) != r.BlockLen(k) {
			return false
		}
		in, err := r.bytes(k, &w.in[i])
		if err != nil || w.batch.add(dst[i], &r.h, &cursor{b: in}, whole(len(dst[i]))) != nil {
			return false
		}
	}
	return w.batch.decode(w.decoding.batch) == nil
}
