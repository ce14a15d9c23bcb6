package coder

// PrefersPairs tells whether DecodePair takes less time for two blocks of an opened chunk than decoding one after the other. It
// does with LZ4 and Zstd where no filter is to be undone: the time is then that from one match, or one symbol, to the
// next, and two streams can be gone through at a time.
func (w *Worker) PrefersPairs(r *Reader) bool {
	if !r.pairs {
		return false
	}
	d, err := w.decoder(r)
	return err == nil && d.batch != nil
}

// DecodePair decodes two blocks of an opened chunk, each as DecodeBlock does. The error is that of the first that fails.
func (w *Worker) DecodePair(dst [2][]byte, r *Reader, k [2]int) error {
	if w.PrefersPairs(r) && w.decodePair(dst, r, k) {
		return nil
	}
	if err := w.DecodeBlock(dst[0], r, k[0]); err != nil {
		return err
	}
	return w.DecodeBlock(dst[1], r, k[1])
}

// decodePair is DecodePair where it pays, and reports whether both blocks are decoded: one by one they say what is wrong.
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
