package objects

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
)

// A place is where a read of a batched array began and ended. The next read goes on from there, so that one loop of
// reads, forward, neither decodes a block nor skips its first items again for each read.
type place struct {
	state any // of the frame
	list  *batches

	start, stop int64 // the items that were read

	// The block of the last item. end is 0 if there is none.
	batch, block int
	first, end   int64  // number of its first item, and of the item after its last one
	n            int64  // items that it has by its header: it may have more than the batch
	buf          []byte // the decoded block
	items        []byte // the part of buf with the items; nil if the block is not kept

	marks [2]mark // where the read began and ended in items
}

// mark is the offset of an item in the items of a block.
type mark struct {
	item int64
	off  int
}

// eachInBatches is Each for items of a batched array that exist.
func (o *Array) eachInBatches(ctx context.Context, start, stop int64, see func(i int64, raw []byte) error) error {
	state, err := frames.State(ctx, o.f)
	if err != nil {
		return err
	}
	list := o.batches.Load()
	p := o.last.Swap(nil)
	if p == nil || p.state != state || p.list != list || start != p.start && start < p.stop {
		p = &place{state: state, list: list}
	}
	keep := p.end > 0 && start <= p.end
	p.start = start
	for p.stop = start; p.stop < stop && err == nil; {
		if p.items == nil || p.stop < p.first || p.stop >= p.end {
			if err := o.load(ctx, p, p.stop); err != nil {
				return err
			}
		}
		if err = p.each(p.stop, min(stop, p.end), see); err != nil && err != faults.ErrStop {
			err = fmt.Errorf("batch %d, block %d: %w", p.batch, p.block, err)
		}
		p.stop = p.marks[1].item
	}
	if !keep || p.stop == p.end {
		p.buf, p.items = nil, nil
	}
	o.last.Store(p)
	return err
}

// load reads the block that holds item i, which must exist.
func (o *Array) load(ctx context.Context, p *place, i int64) error {
	list := p.list
	block, at := p.block, p.first
	if p.end == 0 || i < at || i >= list.ends[p.batch] {
		p.batch = sort.Search(len(list.ends), func(b int) bool { return list.ends[b] > i })
		block = 0
		at, _ = list.bounds(p.batch)
	}
	end := list.ends[p.batch]
	if list.perBlock > 0 {
		skip := (i - at) / list.perBlock
		block += int(min(skip, int64(math.MaxInt32-block))) // a block beyond the last one is an error below
		at += skip * list.perBlock
	}
	for ; ; block++ {
		var blocks int
		var err error
		p.buf, blocks, err = o.f.Engine().ReadBlock(ctx, p.buf[:0], p.batch, block)
		if blocks >= 0 && errors.Is(err, ErrBounds) {
			return faults.Corruptf("batch %d: %d blocks are too few for its items", p.batch, blocks)
		}
		if err != nil {
			return err
		}
		p.n, p.items, err = frames.ArrayHeader(p.buf)
		if want := min(list.perBlock, end-at); err == nil && list.perBlock > 0 && p.n != want {
			err = faults.Corruptf("%d items, want %d", p.n, want)
		}
		if err == nil && p.n == 0 {
			err = faults.Corruptf("no items")
		}
		if err != nil {
			return fmt.Errorf("batch %d, block %d: %w", p.batch, block, err)
		}
		if p.n > i-at {
			break
		}
		at += p.n
	}
	p.block, p.first, p.end = block, at, min(end, at+p.n)
	p.marks = [2]mark{}
	return nil
}

// each calls see with the items i to stop-1, which the block has. It sets the marks.
func (p *place) each(i, stop int64, see func(i int64, raw []byte) error) error {
	m := mark{item: p.first}
	for _, known := range p.marks {
		if known.item > m.item && known.item <= i {
			m = known
		}
	}
	n, err := frames.SkipValues(p.items[m.off:], i-m.item)
	if err != nil {
		return err
	}
	m = mark{i, m.off + n}
	p.marks = [2]mark{m, m}
	for m.item < stop {
		rest := p.items[m.off:]
		if n, err = frames.SkipValues(rest, 1); err != nil {
			return err
		}
		if m.item == p.first+p.n-1 && n < len(rest) {
			return faults.Corruptf("%d bytes after its items", len(rest)-n)
		}
		if err := see(m.item, rest[:n]); err != nil {
			return err
		}
		m = mark{m.item + 1, m.off + n}
		p.marks[1] = m
	}
	return nil
}
