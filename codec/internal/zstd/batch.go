package zstd

import "math"

// batch is the state of DecodeBatch: the frames that it decodes at once.
//
// It decodes one frame until it reaches four streams of literals. Each look-up of a symbol waits for the previous one
// in its stream, so a CPU has time for four more streams. So this frame waits, and a second decoder decodes the
// following frames until one of them has such streams too. Then all eight are decoded in one loop. The second decoder
// finishes its frame, and the first one continues with its own.
type batch struct {
	dst, src [][]byte // the frames to begin
	n        []int
	err      error // error of the second decoder

	second  *Decoder
	waiting *streams4 // in the second decoder, the streams of the first, which the next streams of the second join
}

// DecodeBatch decodes each src[i] to dst[i], of which the first n[i] bytes are needed: like DecodePrefix if n[i] is
// less than len(dst[i]), and otherwise like Decode. The error does not identify the frame. The decoder keeps a second
// decoder for it.
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

// next makes d decode the next frame.
func (b *batch) next(d *Decoder) error {
	dst, src, n := b.dst[0], b.src[0], b.n[0]
	b.dst, b.src, b.n = b.dst[1:], b.src[1:], b.n[1:]
	if n == len(dst) {
		n = math.MaxInt
	}
	return d.upTo(dst, src, n)
}

// beside decodes s as long as there are streams to decode in the same loop.
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
		b.second = new(Decoder)
	}
	b.second.dict, b.second.SkipChecksum, b.second.minPairs = d.dict, d.SkipChecksum, d.minPairs
	second := &b.second.batch
	second.waiting = s
	for len(b.dst) > 0 && second.waiting != nil && b.err == nil {
		b.err = b.next(b.second)
	}
	second.waiting = nil
}
