package zstd

// batch is what DecodeBatch knows of the frames that it expands together.
//
// One frame is gone through at a time, until four streams of literals are to be expanded, one symbol a look-up: their
// look-ups wait for each other, so that a processor has time for four more. There the frame waits, and a second decoder
// goes through those that follow, until one of them has such streams, too. All eight are expanded side by side then;
// the second decoder finishes its frame, and the first goes on with what is left of its own.
type batch struct {
	dst, src [][]byte // the frames to begin
	n        []int
	err      error // of the second decoder

	second  *Decoder
	waiting *streams4 // of the second decoder: those of the first, which the next of its own join
}

// DecodeBatch expands each src[i] to dst[i], of which the first n[i] bytes are wanted: what is true of DecodePrefix is true
// of those with fewer than dst[i] has, and that of Decode of the others. It does not say which of them fails. The decoder
// keeps another one for it.
func (d *Decoder) DecodeBatch(dst, src [][]byte, n []int) error {
	b := &d.batch
	b.dst, b.src, b.n = dst, src, n
	var err error
	for len(b.dst) > 0 && err == nil && b.err == nil {
		err = b.next(d)
	}
	if b.err != nil {
		err = b.err
	}
	b.dst, b.src, b.n, b.err = nil, nil, nil, nil
	return err
}

// next has d expand the next frame.
func (b *batch) next(d *Decoder) error {
	dst, src, n := b.dst[0], b.src[0], b.n[0]
	b.dst, b.src, b.n = b.dst[1:], b.src[1:], b.n[1:]
	if n == len(dst) {
		return d.Decode(dst, src)
	}
	return d.DecodePrefix(dst, src, n)
}

// beside expands s as far as there are streams to go beside it.
func (d *Decoder) beside(s *streams4) {
	b := &d.batch
	if b.waiting != nil {
		b.waiting.runBoth(s)
		b.waiting = nil
		return
	}
	if len(b.dst) == 0 {
		return
	}
	if b.second == nil {
		b.second = &Decoder{dict: d.dict}
	}
	b.second.SkipChecksum, b.second.minPairs = d.SkipChecksum, d.minPairs
	second := &b.second.batch
	second.waiting = s
	for len(b.dst) > 0 && second.waiting != nil && b.err == nil {
		b.err = b.next(b.second)
	}
	second.waiting = nil
}
