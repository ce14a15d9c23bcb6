package frame

import (
	"context"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/tune"
)

// record records the first choice of t, which may be nil, in the header.
func (b *Batch) record(t *tuner) error {
	if t == nil || !t.Chosen() {
		return nil
	}
	if t.first.Level == 0 {
		t.first = t.Params()
	}
	p := t.first
	p.BlockSize = int(b.next.blockSize)
	return b.next.setCParams(chunk.Params(p))
}

// encodeTuned is encode with the parameters that the tuner chooses.
func (b *Batch) encodeTuned(ctx context.Context, p []byte) ([]byte, error) {
	t := b.f.tuner
	blockSize := int(b.next.blockSize)
	var err error
	if blockSize == 0 {
		blockSize, err = b.f.opts.Goal.BlockSize(int(b.next.typeSize), len(p))
	}
	if err != nil {
		return nil, b.f.wrap("chunk", -1, err)
	}
	l, err := coder.Params{TypeSize: int(b.next.typeSize), BlockSize: blockSize}.Layout(len(p))
	if err != nil {
		return nil, b.f.wrap("chunk", -1, err)
	}
	if l.NumBlocks() == 0 {
		return b.f.pool.EncodeLayout(nil, p, l)
	}
	blockSize = l.BlockLen(0)
	if t.Due(len(p)) {
		err = t.Try(&tune.Chunk{Size: len(p), BlockSize: blockSize, Plain: func(k int) ([]byte, error) {
			return p[k*blockSize : min((k+1)*blockSize, len(p))], nil
		}})
	}
	if err == nil {
		l, err = t.Layout(len(p), blockSize)
	}
	var c []byte
	if err == nil {
		c, err = b.f.pool.EncodeLayout(nil, p, l)
	}
	if err == nil {
		err = b.record(t)
	}
	if err != nil {
		return nil, b.f.wrap("chunk", -1, err)
	}
	return c, ctx.Err()
}
