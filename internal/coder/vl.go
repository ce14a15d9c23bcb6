package coder

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/goblosc/blosc2/internal/errs"
)

// EncodeVL appends a chunk whose blocks have sizes of their own. See chunk.Coder.EncodeBlocks. number is the number of
// the chunk or -1, see Worker.Chunk. It returns the error of ctx if ctx is done before the last block.
func (p *Pool) EncodeVL(ctx context.Context, dst []byte, blocks [][]byte, c Params, number int64) ([]byte, error) {
	l, err := p.o.Plugins.layoutVL(c, blocks)
	if err != nil {
		return dst, err
	}
	offs := make([]int, len(blocks))
	for k := 1; k < len(blocks); k++ {
		offs[k] = offs[k-1] + len(blocks[k-1])
	}
	workers := p.getWorkers(ctx, len(blocks), number)
	out, err := encodeVL(dst, l, workers, blocks, offs)
	p.putWorkers(workers) // not after a panic
	return out, err
}

// encodeVL is EncodeVL on the given workers. offs holds the offsets of the blocks.
func encodeVL(dst []byte, l *Layout, workers []*Worker, blocks [][]byte, offs []int) ([]byte, error) {
	w := workers[0]
	var err error
	if l, err = w.trainVL(l, blocks, offs); err != nil {
		return dst, err
	}
	err = encodeAll(workers, len(blocks), func(w *Worker, k int) error {
		b := w.describeBlock(l, k, nil)
		b.Offset = offs[k]
		return w.encodeVLBlock(l, blocks[k], b)
	})
	defer clear(w.blocks)
	if err != nil {
		return dst, err
	}
	size := 0
	for _, encoded := range w.blocks {
		size += len(encoded)
	}
	b := builder{l: l}
	b.begin(dst, size)
	for k, encoded := range w.blocks {
		b.addBlock(k, append(b.dst, encoded...))
	}
	b.end()
	return b.dst, nil
}

// encodeAll calls f for all blocks. f appends the encoded block to the out of the worker that it gets. The blocks are
// then in first.blocks, until one of the workers is used again.
func encodeAll(workers []*Worker, n int, f func(w *Worker, k int) error) error {
	first := workers[0]
	first.blocks = slices.Grow(first.blocks[:0], n)[:n]
	for _, w := range workers {
		w.out = w.out[:0]
	}
	return each(workers, n, func(w *Worker, k int) error {
		at := len(w.out)
		err := f(w, k)
		first.blocks[k] = w.out[at:]
		return err
	})
}

// encodeVLBlock appends a block of variable length to w.out: its size and its stream.
func (w *Worker) encodeVLBlock(l *Layout, src []byte, b *block) error {
	src, err := w.filtered(l, src, b)
	if err != nil {
		return err
	}
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(len(src)))
	if l.p.Level == 0 {
		w.out = append(w.out, src...)
		return nil
	}
	enc, err := w.encoder(l)
	if err != nil {
		return err
	}
	at := len(w.out)
	w.out = grow(w.out, len(src))
	n, err := enc.Encode(w.out[at:], src)
	switch {
	case incompressible(n, len(src), err, src):
		n = copy(w.out[at:], src)
	case err != nil:
		return err
	}
	w.out = w.out[:at+n]
	return nil
}

// DecodeVL returns the blocks of the chunk at the start of src, which may be any chunk. The blocks share memory.
func (p *Pool) DecodeVL(src []byte) ([][]byte, error) {
	h, err := ParseHeader(src, int64(len(src)))
	if err != nil {
		return nil, err
	}
	const header = 24 // bytes of a slice
	if limit, ok, _ := p.o.allows(header*int64(h.NumBlocks), FreeBytes, &h, nil, 0, src); !ok {
		return nil, headerError(8, errs.ErrTooLarge, "a list of %d blocks in a chunk of %d bytes takes %d bytes, but %s", h.NumBlocks, h.CBytes, header*int64(h.NumBlocks), p.o.limitText("the list", limit))
	}
	data, err := p.Decode(nil, src)
	if err != nil {
		return nil, err
	}
	w := p.Get()
	defer p.Put(w)
	r := &w.reader
	defer r.Release()
	if err := w.Open(r, src); err != nil {
		return nil, err
	}
	blocks := make([][]byte, r.NumBlocks)
	for k := range blocks {
		n := r.BlockLen(k)
		blocks[k], data = data[:n:n], data[n:]
	}
	return blocks, nil
}
