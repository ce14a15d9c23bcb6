package frame

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/blockcache"
	"github.com/goblosc/blosc2/frame/internal/blocktable"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/ranges"
)

// chunkAhead is the stored bytes of a chunk that are read ahead. It is the io.ReaderAt of the source for one visit, and
// reads other bytes from the source.
type chunkAhead struct {
	p                *prefetcher
	callCtx          context.Context // of the reads below
	source           io.ReaderAt     // with that context
	number           int
	off, size, guess int64            // as in chunkSource
	usual            int64            // as in chunkSource; size if it has none
	exact            bool             // as in chunkSource
	likely           int64            // size of the chunk
	share            float64          // of the chunk that is needed; 0 if the blocks are cached
	whole            bool             // all bytes are read
	list             []int32          // Visit.Blocks
	from, to         int              // Visit.From and To
	head             []byte           // the beginning of the chunk, or nil
	table            blocktable.Chunk // the likely positions of the blocks, if head is nil; or nil

	others []*chunkAhead // of the same window and chunk: the bytes are for them, too

	ready  chan struct{} // closed when loading has ended
	err    error         // of the source, if parts are missing; set before ready is closed
	closed bool
	left   int // parts that are being loaded

	mu    sync.Mutex
	parts []*part // ascending and disjoint
	begin int     // parts[begin:next] were loaded last
	next  int
}

// part is a range of the source.
type part struct {
	ranges.Range
	of   *chunkAhead
	data []byte
	got  int64 // bytes that have arrived
}

// shorten ends the part at the end of the chunk, if a chunk begins with b: the range may end after the chunk's file.
func (q *part) shorten(b []byte) {
	if q.of != nil && q.Off != q.of.off {
		return
	}
	if h, err := coder.ParseHeader(b, chunk.MaxBytes); err == nil {
		q.Len = min(q.Len, int64(h.CBytes))
	}
}

// bytes returns the bytes of the part, or nil if they are not in memory.
func (q *part) bytes() []byte {
	if q.got < q.Len {
		return nil
	}
	return q.data
}

// finish lets decoding begin. The goroutine of the window closes ready. Later calls, from held, do nothing.
func (a *chunkAhead) finish() {
	if a.closed {
		return
	}
	a.closed = true
	for _, x := range a.others {
		for _, q := range a.parts {
			x.parts = append(x.parts, &part{Range: q.Range, of: x, data: q.data, got: q.got})
		}
		if len(x.parts) > 0 && x.parts[0].bytes() != nil {
			x.next = 1
		}
		x.err = a.err
		x.finish()
	}
	a.others = nil
	close(a.ready)
}

// wait waits until the first bytes are loaded, or loading has failed.
func (a *chunkAhead) wait(ctx context.Context) error {
	select {
	case <-a.ready:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// known reports whether the positions of the blocks, or likely ones, are known without another read.
func (a *chunkAhead) known() bool { return a.head != nil || a.table != nil }

// headLen returns the number of bytes to read for opening the chunk.
func (a *chunkAhead) headLen() int64 {
	if a.p.headers {
		return min(coder.HeaderSize, a.size)
	}
	n := int64(headBytes)
	if s := a.p.d.s; s.chunkSize > 0 && s.blockSize > 0 {
		n = max(n, coder.HeaderSize+4*(int64(s.chunkSize)/int64(s.blockSize)+1))
	}
	if a.usual < 4*headBytes {
		n = a.usual
	}
	return min(n, a.usual, maxHead)
}

// setParts sets the parts that are needed.
func (a *chunkAhead) setParts() {
	if a.whole && a.exact {
		a.parts = []*part{{Range: ranges.Range{Off: a.off, Len: a.guess}, of: a}}
		return
	}
	if a.head == nil {
		a.setLikely()
		return
	}
	var r coder.Reader
	first, err := r.Locate(a.head, a.size)
	if err != nil {
		return
	}
	n := int64(len(a.head))
	if cbytes := int64(r.CBytes); a.whole && cbytes > n {
		a.parts = []*part{{Range: ranges.Range{Off: a.off, Len: cbytes}, of: a}}
		return
	}
	a.parts = []*part{{Range: ranges.Range{Off: a.off, Len: n}, data: a.head, got: n}}
	if a.whole || a.share == 0 {
		return
	}
	list := []ranges.Range{{Off: a.off + n, Len: max(int64(first)-n, 0)}}
	if r.Located() {
		list = a.blocks(list, r.NumBlocks, r.BlockSize, r.NeedsFirst(), func(k int) ranges.Range {
			from, to := r.BlockRange(k)
			return ranges.Range{Off: int64(from), Len: int64(to - from)}
		})
	}
	a.add(list)
}

// setLikely sets the parts that are needed if the block table is right: the beginning of the chunk, and blocks.
func (a *chunkAhead) setLikely() {
	if a.table == nil {
		return
	}
	a.parts = []*part{{Range: ranges.Range{Off: a.off, Len: max(a.table.First(), a.headLen())}, of: a}}
	if a.share > 0 {
		s, list := a.p.d.s, a.table.Ranges()
		first := slices.Contains(s.pipeline[:], coder.Delta)
		a.add(a.blocks(nil, len(list), s.likelyBlock(a.number), first, func(k int) ranges.Range { return list[k] }))
	}
}

// add appends parts for ranges after the first part.
func (a *chunkAhead) add(list []ranges.Range) {
	slices.SortFunc(list, func(x, y ranges.Range) int { return cmp.Compare(x.Off, y.Off) })
	last := a.parts[0]
	for _, x := range list {
		x = ranges.Range{Off: max(x.Off, last.End()), Len: x.End() - max(x.Off, last.End())}
		switch {
		case x.Len <= 0:
		case x.Off == last.End() && last.of != nil && last.Len+x.Len <= partBytes:
			last.Len += x.Len
		default:
			last = &part{Range: x, of: a}
			a.parts = append(a.parts, last)
		}
	}
}

// blocks appends the ranges of the needed blocks that are not in the cache of decoded blocks. The chunk has n blocks of
// size bytes, and rangeOf returns where in the chunk each is. With first, all blocks need block 0.
func (a *chunkAhead) blocks(list []ranges.Range, n, size int, first bool, rangeOf func(k int) ranges.Range) []ranges.Range {
	add := func(k int) {
		if d := a.p.d; d.cache == nil || d.cache.Get(d.s, blockcache.Key{Chunk: a.number, Block: k}) == nil {
			x := rangeOf(k)
			x.Off += a.off
			list = append(list, x)
		}
	}
	begin, end := 0, n
	if first && end > 0 {
		add(0)
	}
	if a.to > 0 && size > 0 {
		begin, end = a.from/size, min((a.to-1)/size+1, end)
	}
	if len(a.list) == 0 {
		for k := begin; k < end; k++ {
			add(k)
		}
	}
	for _, k := range a.list {
		if int(k) < n {
			add(int(k))
		}
	}
	return list
}

// take appends the parts after those that were loaded, as far as the limit of a window allows, and counts them in left.
func (a *chunkAhead) take(list []*part, room *int64) []*part {
	for a.begin = a.next; a.next < len(a.parts); a.next++ {
		q := a.parts[a.next]
		n := q.Len
		if a.whole {
			n = min(n, a.likely)
		}
		switch {
		case q.bytes() != nil:
		case n > a.p.longest: // one read is long enough
		case n > *room:
			return list
		default:
			*room -= n
			a.left++
			list = append(list, q)
		}
	}
	return list
}

// chunk returns the chunk if all of it is in memory. openChunk calls it.
func (a *chunkAhead) chunk() []byte {
	b, n := a.beginning()
	if len(b) < n {
		return nil
	}
	return b[:n]
}

// beginning returns the first part and the size of the chunk, if the part is in memory and the beginning of a chunk.
func (a *chunkAhead) beginning() (b []byte, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.parts) == 0 || a.parts[0].bytes() == nil {
		return nil, 0
	}
	b = a.parts[0].data
	h, err := coder.ParseHeader(b, a.size)
	if err != nil {
		return nil, 0
	}
	return b, h.CBytes
}

// ReadAt implements io.ReaderAt.
func (a *chunkAhead) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		b, end, err := a.held(off + int64(n))
		if err != nil {
			return n, err
		}
		if len(b) > 0 {
			n += copy(p[n:], b)
			continue
		}
		rest := p[n:]
		rest = rest[:min(int64(len(rest)), end-off-int64(n))]
		k, err := a.source.ReadAt(rest, off+int64(n))
		if n += k; k < len(rest) {
			return n, err
		}
	}
	return n, nil
}

// held returns the bytes in memory from an offset up. If there are none, it returns the offset of the next ones. If
// decoding reaches a part that is not loaded, held loads some parts and drops earlier ones. The error is that of the
// source.
func (a *chunkAhead) held(off int64) (b []byte, end int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i, _ := slices.BinarySearchFunc(a.parts, off, func(q *part, off int64) int { return cmp.Compare(q.End(), off+1) })
	if i == len(a.parts) {
		return nil, math.MaxInt64, a.err
	}
	q := a.parts[i]
	if a.err == nil && off >= q.Off && i >= a.next {
		for _, q := range a.parts[:a.begin] {
			q.data, q.got = nil, 0
		}
		a.next = i
		room := a.p.most
		a.err = a.p.lasting(a.p.read(a.callCtx, a.take(nil, &room)), false)
	}
	switch b = q.bytes(); {
	case b == nil:
		return nil, math.MaxInt64, a.err
	case off < q.Off:
		return nil, q.Off, a.err
	}
	return b[off-q.Off:], 0, nil
}

// tableOf returns the part of the block table of s for chunk i, or nil. The first call decodes the table. tableOf
// ignores a number of blocks that the chunk should not have, because it could be of any size.
func (f *Frame) tableOf(s *snapshot, i int) blocktable.Chunk {
	t := &s.table
	t.load.Do(func() { t.Table = f.readTable(s) })
	c := t.Chunk(i)
	size := s.likelyBlock(i)
	if c == nil || size == 0 || int64(c.NumBlocks()) != (s.chunkLen(i)-1)/int64(size)+1 || coder.HeaderSize+4*int64(c.NumBlocks()) > maxHead {
		return nil
	}
	return c
}

// likelyBlock returns the size of the blocks of chunk i if it was encoded with the parameters in the header, or 0.
func (s *snapshot) likelyBlock(i int) int {
	n := s.chunkLen(i)
	if n <= 0 || s.blockSize > 0 {
		return int(min(max(n, 0), int64(s.blockSize)))
	}
	size, err := s.f.plugins.BlockSizeFor(s.cparams(), int(n))
	if err != nil {
		return 0
	}
	return size
}

// readTable decodes the block table. A table that cannot be used counts as missing.
func (f *Frame) readTable(s *snapshot) blocktable.Table {
	var none blocktable.Table
	i := findLayer(s.vlmeta, blockLayer)
	if i < 0 || s.index.list == nil {
		return none
	}
	content := s.vlmeta[i].Content
	h, err := coder.ParseHeader(content, int64(len(content)))
	if err != nil || h.NBytes > 4*blocktable.MaxLen+100 || f.CheckAlloc(int64(h.NBytes)) != nil {
		return none
	}
	b, err := f.plain.Decode(nil, content)
	if err != nil {
		return none
	}
	return blocktable.Decode(b, s.index.n)
}
