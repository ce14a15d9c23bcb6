package frame

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/blockcache"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/internal/task"
)

const (
	maxWindows   = 4        // windows that are loaded or wait to be decoded
	windowBytes  = 16 << 20 // stored bytes of a window in memory
	windowChunks = 1024
	windowBlocks = 1 << 18 // listed blocks of a window
	roundBytes   = 1 << 20 // bytes that take less time than one more round trip
	headBytes    = 4096    // what opening a chunk reads first
	maxHead      = 1 << 20 // longer lists of block positions are not read ahead
)

// prefetcher reads the stored bytes that a call of Decode needs before they are decoded, for a source that reads many
// ranges at once. It takes chunks from the plan, a window of them at a time, and loads each window on a goroutine of
// its own with two reads: first the beginnings of chunks, which locate their blocks, and then the blocks. Decoding then
// reads from a chunkAhead. An error of the source is final: decoding returns it for the bytes that have not arrived.
type prefetcher struct {
	d       *decoding
	src     storage.RangeReader
	gap     int64 // that src reads over
	headers bool  // only the headers of chunks are read
	call    context.Context
	ctx     context.Context // of the windows: ends when no worker needs another chunk
	cancel  context.CancelFunc
	most    int64          // bytes of a window
	windows []*chunkWindow // that are not all taken
	last    bool           // the plan has no more chunks

	running sync.WaitGroup
	mu      sync.Mutex
	exit    *task.Exit // of a window: a panic of the source
}

// chunkWindow is some consecutive chunks of the plan.
type chunkWindow struct {
	visits []windowVisit
	taken  int
}

// windowVisit is a chunk of a window.
type windowVisit struct {
	engine.Visit
	ahead *chunkAhead // or nil if nothing is read ahead
}

func newPrefetcher(ctx context.Context, d *decoding, src storage.RangeReader) *prefetcher {
	p := &prefetcher{d: d, src: src, call: ctx, most: windowBytes}
	if limit := d.f.opts.MaxBytes; limit > 0 {
		p.most = min(p.most, limit/maxWindows)
	}
	if g, ok := src.(storage.Gapper); ok {
		p.gap = g.Gap()
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// stop waits until no goroutine works for p.
func (p *prefetcher) stop() {
	p.cancel()
	p.running.Wait()
}

// peek returns the number of the next chunk, or false after the last one. One goroutine at a time may call it or next.
func (p *prefetcher) peek() (chunk int, ok bool) {
	for !p.last && len(p.windows) < maxWindows {
		p.start()
	}
	if len(p.windows) == 0 {
		return 0, false
	}
	w := p.windows[0]
	return w.visits[w.taken].Chunk, true
}

// next sets the visit of a job to the next chunk, or returns false after the last one.
func (p *prefetcher) next(j *decodeJob) bool {
	if _, ok := p.peek(); !ok {
		return false
	}
	w := p.windows[0]
	v := &w.visits[w.taken]
	j.visit, j.ahead = v.Visit, v.ahead
	*v = windowVisit{}
	if w.taken++; w.taken == len(w.visits) {
		p.windows = slices.Delete(p.windows, 0, 1)
	}
	return true
}

// start takes the chunks of a window from the plan and begins to load them.
func (p *prefetcher) start() {
	w := &chunkWindow{}
	var list []*chunkAhead
	size, blocks := int64(0), 0
	for len(w.visits) == 0 || len(w.visits) < windowChunks && blocks < windowBlocks && size < p.most*3/4 {
		var v windowVisit
		if !p.d.plan.Next(&v.Visit) {
			p.last = true
			break
		}
		if v.ahead = p.chunk(&v.Visit); v.ahead != nil {
			list = append(list, v.ahead)
			size += headBytes + int64(v.ahead.share*float64(v.ahead.likely))
		}
		blocks += len(v.Blocks)
		w.visits = append(w.visits, v)
	}
	if len(w.visits) == 0 {
		return
	}
	p.windows = append(p.windows, w)
	if len(list) == 0 {
		return
	}
	p.running.Add(1)
	go task.Run(func() { p.load(list) }, func(x *task.Exit) {
		if x != nil {
			p.mu.Lock()
			p.exit = x
			p.mu.Unlock()
		}
		p.running.Done()
	})
}

// chunk returns what is known of a chunk without reading, or nil if it is not read ahead.
func (p *prefetcher) chunk(v *engine.Visit) *chunkAhead {
	d, i := p.d, v.Chunk
	e := d.s.index.at(i)
	if e < 0 {
		return nil
	}
	src, err := d.f.store.open(d.s, d.from, e, d.s.nextStored(i))
	if err != nil || src.mem != nil {
		return nil
	}
	if n, err := d.s.src.(*storage.SourceBytes).Size(); !d.s.sparse && (err != nil || src.off > n-src.size) {
		return nil
	}
	a := &chunkAhead{p: p, off: src.off, size: src.size, guess: src.guess, share: d.share(v), ready: make(chan struct{})}
	a.exact = src.exact || src.guess == src.size
	if a.likely = src.likely; a.likely == 0 {
		a.likely = src.guess
	}
	a.number, a.list, a.from, a.to = i, v.Blocks, v.From, v.To
	if d.cached(v) {
		a.share = 0
	}
	if p.headers {
		a.share = 0
	}
	if a.whole = a.share >= 0.5 || d.f.mustCheck(d.s, i, a.share); a.whole && a.likely > p.most {
		return nil // one read is long enough
	}
	if a.head = d.s.heads.get(a.off); a.head == nil && !a.whole && !p.headers {
		if t := d.f.tableOf(d.s, i); t != nil && t.end() <= a.size {
			a.table = t
		}
	}
	return a
}

// cached reports whether all blocks of a visit are in the cache of decoded blocks.
func (d *decoding) cached(v *engine.Visit) bool {
	if d.cache == nil || len(v.Blocks) == 0 {
		return false
	}
	for _, k := range v.Blocks {
		if d.cache.Get(d.s, blockcache.Key{Chunk: v.Chunk, Block: int(k)}) == nil {
			return false
		}
	}
	return true
}

// lasting returns an error of a source, but nil for one that may concern a single file of a directory. Then each chunk
// without its bytes reads them again, and gets an error of its own.
func lasting(err error) error {
	if !errors.Is(err, ErrChanged) && (errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist)) {
		return nil
	}
	return err
}

// load reads the chunks of a window. Decoding returns an error of the source for the chunks that wait for their bytes.
func (p *prefetcher) load(list []*chunkAhead) {
	var err error
	defer func() {
		if p.call.Err() == nil && p.ctx.Err() != nil {
			err = nil // no worker needs the window
		}
		for _, a := range list {
			if !a.closed {
				a.err = lasting(err)
			}
			a.finish()
		}
	}()
	if err = p.locate(list); err != nil {
		return
	}
	room := p.most
	var parts []*part
	for _, a := range list {
		a.setParts()
		n := len(parts)
		if parts = a.take(parts, &room); n == len(parts) {
			a.finish()
		}
	}
	if err = p.read(p.ctx, parts); err != nil {
		return
	}
	for _, a := range list {
		if a.head == nil && a.share < 0.5 { // perhaps another part of the chunk is read next
			if b, n := a.beginning(); b != nil && (len(b) >= n || a.table != nil) {
				p.d.s.heads.put(a.off, bytes.Clone(b[:min(n, len(b), int(a.headLen()))]))
			}
		}
	}
}

// locate reads the beginnings of chunks. If that saves a round trip and costs less, it leaves them to be read whole. A
// chunk whose bytes after its beginning are no more than a gap that the source reads over is read whole in any case.
// Otherwise reading the beginnings of small neighbors would read all of them, and then their blocks again.
func (p *prefetcher) locate(list []*chunkAhead) error {
	extra := 0.0
	for _, a := range list {
		if !a.known() && a.exact && a.share > 0 && a.likely-a.headLen() <= p.gap {
			a.whole = true
		}
		switch {
		case a.whole && a.exact || a.share == 0 || a.known():
		case !a.exact:
			extra += roundBytes + 1
		case a.guess > a.headLen():
			extra += (1 - a.share) * float64(a.likely)
		}
	}
	var parts []*part
	var of []*chunkAhead
	for _, a := range list {
		if a.head == nil && a.exact && (extra <= roundBytes && a.share > 0 && !a.known() || a.guess <= a.headLen()) {
			a.whole = true
		}
		if !a.known() && !(a.whole && a.exact) {
			of = append(of, a)
			parts = append(parts, &part{Range: ranges.Range{Off: a.off, Len: a.headLen()}})
		}
	}
	if err := p.read(p.ctx, parts); err != nil {
		return err
	}
	for i, a := range of {
		if a.head = parts[i].bytes(); a.head != nil && !p.headers {
			p.d.s.heads.put(a.off, a.head)
		}
	}
	return nil
}

// read reads parts with one call.
func (p *prefetcher) read(ctx context.Context, parts []*part) error {
	if len(parts) == 0 {
		return nil
	}
	want := make([]ranges.Range, len(parts))
	for i, q := range parts {
		want[i] = q.Range
	}
	return p.src.ReadRanges(ctx, want, func(i int, at int64, b []byte) error {
		if i < 0 || i >= len(parts) || at < 0 || at > want[i].Len-int64(len(b)) {
			return corrupt("the source has read %d bytes at %d of range %d, of %d ranges", len(b), at, i, len(parts))
		}
		q := parts[i]
		if q.data == nil { // not before bytes arrive
			if p.d.s.sparse && at == 0 {
				q.shorten(b)
			}
			q.data = make([]byte, q.Len)
		}
		if n := copy(q.data[min(at, q.Len):], b); n > 0 {
			q.got += int64(n)
		} else {
			return nil // after the end of the chunk
		}
		if q.of != nil && q.got == q.Len {
			if q.of.left--; q.of.left == 0 {
				q.of.finish()
			}
		}
		return nil
	})
}

// chunkAhead is the stored bytes of a chunk that are read ahead. It is the io.ReaderAt of the source for one visit, and
// reads other bytes from the source.
type chunkAhead struct {
	p                *prefetcher
	number           int
	off, size, guess int64       // as in source
	exact            bool        // as in source
	likely           int64       // size of the chunk
	share            float64     // of the chunk that is needed; 0 if the blocks are cached
	whole            bool        // all bytes are read
	list             []int32     // Visit.Blocks
	from, to         int         // Visit.From and To
	head             []byte      // the beginning of the chunk, or nil
	table            chunkBlocks // where the blocks may be, if there is no head, or nil

	ready  chan struct{} // closed when the parts are loaded, as far as they are
	err    error         // of the source, why parts are missing; set before ready is closed
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

// shorten ends the part at the end of the chunk that begins with b, if one does: the range may go on after its file.
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

// finish lets decoding begin. Only the goroutine of the window calls it.
func (a *chunkAhead) finish() {
	if !a.closed {
		a.closed = true
		close(a.ready)
	}
}

// wait waits until the first bytes are loaded, or loading has failed.
func (a *chunkAhead) wait() error {
	select {
	case <-a.ready:
		return nil
	case <-a.p.call.Done():
		return a.p.call.Err()
	}
}

// known reports whether it is known without another read where the blocks are, or may be.
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
	if a.size < 4*headBytes {
		n = a.size
	}
	return min(n, a.size, maxHead)
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
	if cbytes := int64(r.Header().CBytes); a.whole && cbytes > n {
		a.parts = []*part{{Range: ranges.Range{Off: a.off, Len: cbytes}, of: a}}
		return
	}
	a.parts = []*part{{Range: ranges.Range{Off: a.off, Len: n}, data: a.head, got: n}}
	if a.whole || a.share == 0 {
		return
	}
	list := []ranges.Range{{Off: a.off + n, Len: max(int64(first)-n, 0)}}
	if r.Located() {
		list = a.blocks(list, r.NumBlocks(), r.Header().BlockSize, r.NeedsFirst(), func(k int) ranges.Range {
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
	a.parts = []*part{{Range: ranges.Range{Off: a.off, Len: max(a.table.first(), a.headLen())}, of: a}}
	if a.share > 0 {
		s, list := a.p.d.s, a.table.ranges()
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
		case x.Off == last.End() && last.of != nil && last.Len+x.Len <= roundBytes:
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

// take appends the parts that follow those that were loaded, as far as there is room, and counts them in left.
func (a *chunkAhead) take(list []*part, room *int64) []*part {
	for a.begin = a.next; a.next < len(a.parts); a.next++ {
		q := a.parts[a.next]
		n := q.Len
		if a.whole {
			n = min(n, a.likely)
		}
		switch {
		case q.bytes() != nil:
		case n > a.p.most: // one read is long enough
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

// beginning returns the first part, if it is in memory and the beginning of a chunk, and the size of that chunk.
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
		k, err := a.p.d.from.ReadAt(rest, off+int64(n))
		if n += k; k < len(rest) {
			return n, err
		}
	}
	return n, nil
}

// held returns the bytes in memory from an offset on. If there are none, it returns where the next ones are. Decoding
// that reaches parts that are not loaded loads some of them, and drops those before. The error is that of the source.
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
		a.err = lasting(a.p.read(a.p.call, a.take(nil, &room)))
	}
	switch b = q.bytes(); {
	case b == nil:
		return nil, math.MaxInt64, a.err
	case off < q.Off:
		return nil, q.Off, a.err
	}
	return b[off-q.Off:], 0, nil
}
