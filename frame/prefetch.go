package frame

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/frame/internal/blockcache"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/internal/task"
)

const (
	maxWindows   = 4        // windows that are being loaded or decoded
	windowBytes  = 16 << 20 // stored bytes of a window in memory
	leastWindow  = 4 << 20  // the same, if many views share the memory
	windowChunks = 1024
	windowBlocks = 1 << 18 // listed blocks of a window
	mostDropped  = 1 << 14 // visits that are dropped at a time
	partBytes    = 1 << 20 // largest part: blocks that follow each other are read as one part
	headBytes    = 4096    // first read of a chunk that is opened
	maxHead      = 1 << 20 // longer lists of block positions are not read ahead
)

// prefetcher reads the stored bytes that a call of Decode needs before they are decoded, for a source that reads many
// ranges at once. It takes chunks from the plan, a window of them at a time, and loads each window on a goroutine of
// its own with two reads: first the beginnings of chunks, which locate their blocks, and then the blocks. Decoding then
// reads from a chunkAhead. An error of the source is final: decoding returns it for the bytes that have not arrived.
type prefetcher struct {
	d       *decoding
	src     storage.RangeReader
	gap     int64                     // that src reads over
	round   float64                   // bytes that are read to save a round trip
	headers bool                      // only the headers of chunks are read
	wanted  func(v *windowVisit) bool // reports whether a visit is needed; nil = all are
	callCtx context.Context
	ctx     context.Context // of the windows: ends with the first error, or with stop
	cancel  context.CancelFunc
	most    int64          // bytes of a window
	longest int64          // bytes of a chunk that is read ahead; may be more than most
	windows []*chunkWindow // with chunks that were not taken yet
	held    *windowVisit   // the next visit, which did not fit into the last window, or nil
	last    bool           // the plan has no more chunks

	running sync.WaitGroup
	mu      sync.Mutex
	exit    *task.Exit // of a window: a panic of the source
}

// chunkWindow is some consecutive chunks of the plan.
type chunkWindow struct {
	visits []windowVisit
	taken  int
	passed int  // calls for later windows since it was used last
	long   bool // has a chunk of more bytes than prefetcher.most; while two of them wait, no other window begins
}

// windowVisit is a chunk of a window.
type windowVisit struct {
	engine.Visit
	ahead *chunkAhead // nil if nothing is read ahead
}

func newPrefetcher(ctx context.Context, d *decoding, src storage.RangeReader) *prefetcher {
	p := &prefetcher{d: d, src: src, round: storage.MaxRoundTripBytes, callCtx: ctx, most: windowBytes}
	if limit := d.f.opts.MaxBytes; limit > 0 {
		p.most = min(p.most, limit/maxWindows)
	}
	p.longest = p.most
	if g, ok := src.(storage.Gapper); ok {
		p.gap, p.round = g.Gap(), float64(storage.Costs{Gapper: g}.RoundTripBytes())
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// stop waits until no goroutine works for p.
func (p *prefetcher) stop() {
	p.cancel()
	p.running.Wait()
}

// full reports whether no other window begins.
func (p *prefetcher) full() bool {
	long := 0
	for _, w := range p.windows {
		if w.long {
			long++
		}
	}
	return len(p.windows) == maxWindows || long == 2
}

// peek returns the number of the next chunk, or false after the last one. With wanted, it also returns false if the
// next chunks were dropped. One goroutine at a time may call it or next.
func (p *prefetcher) peek() (chunk int, ok bool) {
	for !p.last && !p.full() && p.start() {
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

// start takes the chunks of a window from the plan and begins to load them. It reports whether there are any: it drops
// a limited number of visits, because the caller waits.
func (p *prefetcher) start() bool {
	w := &chunkWindow{}
	var list []*chunkAhead
	whole := map[int]*chunkAhead{} // by number
	size, blocks, dropped := int64(0), 0, 0
	for len(w.visits) == 0 || len(w.visits) < windowChunks && blocks < windowBlocks && size < p.most*3/4 {
		v := p.nextVisit()
		if v == nil {
			p.last = true
			break
		}
		if p.wanted != nil && !p.wanted(v) {
			dropped++
			if p.last = p.ctx.Err() != nil; p.last || dropped == mostDropped {
				break
			}
			continue
		}
		if a := v.ahead; a != nil && whole[v.Chunk] == nil {
			long := a.whole && a.likely > p.most // load adds room for it
			if a.whole && !long && len(list) > 0 && size+a.likely > p.most {
				p.held = v
				break
			}
			if w.long = w.long || long; a.whole {
				whole[v.Chunk] = a
			}
			size += headBytes + int64(a.share*float64(a.likely))
			if !a.whole {
				size += max(a.headLen()-headBytes, 0)
			}
		}
		if v.ahead != nil {
			list = append(list, v.ahead)
		}
		blocks += len(v.Blocks)
		w.visits = append(w.visits, *v)
	}
	if len(w.visits) == 0 {
		return false
	}
	p.windows = append(p.windows, w)
	if len(list) == 0 {
		return true
	}
	// Visits for parts of a chunk that another visit needs whole use its bytes.
	list = slices.DeleteFunc(list, func(a *chunkAhead) bool {
		from := whole[a.number]
		if from == nil || from == a {
			return false
		}
		from.others = append(from.others, a)
		return true
	})
	p.running.Add(1)
	go task.Run(func() { p.load(list) }, func(x *task.Exit) {
		if x != nil {
			p.mu.Lock()
			p.exit = x
			p.mu.Unlock()
		}
		p.running.Done()
	})
	return true
}

// nextVisit returns the next visit, or nil after the last one.
func (p *prefetcher) nextVisit() *windowVisit {
	v := p.held
	if p.held = nil; v != nil {
		return v
	}
	v = new(windowVisit)
	if !p.d.plan.Next(&v.Visit) {
		return nil
	}
	v.ahead = p.chunk(&v.Visit)
	return v
}

// chunk returns the chunkAhead of a visit, without reading, or nil if the chunk is not read ahead.
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
	a := &chunkAhead{p: p, callCtx: p.callCtx, source: d.from, off: src.off, size: src.size, guess: src.guess, share: d.share(v), ready: make(chan struct{})}
	a.usual = cmp.Or(src.usual, src.size)
	a.exact = src.exact || src.guess == src.size
	if a.likely = src.mean; a.likely == 0 {
		a.likely = src.guess
	}
	a.number, a.list, a.from, a.to = i, v.Blocks, v.From, v.To
	if p.headers || d.cached(v) {
		a.share = 0
	}
	if a.whole = !p.headers && (a.share >= 0.5 || d.f.mustCheck(d.s, i, a.share, d.compare)); a.whole && a.likely > p.longest {
		return nil // one read is already long
	}
	if a.head = d.s.heads.get(a.off); a.head == nil && !a.whole && !p.headers {
		if t := d.f.tableOf(d.s, i); t != nil && t.End() <= a.size {
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

// lasting returns an error of the source, or nil if it may concern only one file of several. Each chunk without its
// bytes then reads them again, and has an error of its own.
func (p *prefetcher) lasting(err error, several bool) error {
	if !concernsAll(p.callCtx, err) && (p.d.s.sparse && several || errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist)) {
		return nil
	}
	if p.d.s.sparse && several && errors.Is(err, errs.ErrNoAnswer) { // err names the file of any of them
		return fmt.Errorf("with other chunks: %w", err)
	}
	return err
}

// load reads the chunks of a window. Decoding returns an error of the source for the chunks that wait for their bytes.
func (p *prefetcher) load(list []*chunkAhead) {
	var err error
	several := slices.ContainsFunc(list, func(a *chunkAhead) bool { return a.number != list[0].number })
	defer func() {
		if p.callCtx.Err() == nil && p.ctx.Err() != nil {
			err = nil // the call has ended
		}
		for _, a := range list {
			if !a.closed {
				a.err = p.lasting(err, several)
			}
			a.finish()
		}
	}()
	if err = p.locate(list); err != nil {
		return
	}
	room := p.most
	for _, a := range list {
		if a.whole && a.likely > p.most {
			room += a.likely // the last chunk of the window
		}
	}
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
		if a.head == nil && (a.share < 0.5 || p.d.cache != nil) { // another part, or cached blocks, may be read next
			if b, n := a.beginning(); b != nil && (len(b) >= n || a.table != nil) {
				p.d.s.heads.put(a.off, bytes.Clone(b[:min(n, len(b), int(a.headLen()))]))
			}
		}
	}
}

// locate reads the beginnings of chunks. It omits chunks that are read whole, because that saves a round trip and costs
// less. It also omits a chunk whose bytes after its beginning are no more than a gap that the source reads over.
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
			extra += p.round + 1
		case a.guess > a.headLen():
			extra += (1 - a.share) * float64(a.likely)
		}
	}
	var parts []*part
	var of []*chunkAhead
	for _, a := range list {
		if a.head == nil && a.exact && (extra <= p.round && a.share > 0 && !a.known() || a.guess <= a.headLen()) {
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
		want[i], q.got = q.Range, 0 // an earlier read may have failed in the middle
	}
	return p.src.ReadRanges(ctx, want, func(i int, at int64, b []byte) error {
		if i < 0 || i >= len(parts) || at < 0 || at > want[i].Len-int64(len(b)) {
			return corrupt("the source has read %d bytes at %d of range %d, of %d ranges", len(b), at, i, len(parts))
		}
		q := parts[i]
		if q.data == nil { // allocate when bytes arrive
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
