package frame

import (
	"context"
	"io"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
)

// chunkPass reads chunks ahead for a call that needs their stored bytes one after the other, from a source that reads
// many ranges at once. One goroutine uses it, except for find and first.
type chunkPass struct {
	p   *prefetcher
	job decodeJob // the current chunk

	mu      sync.Mutex             // of find and first
	skipped map[int][]skippedVisit // for each chunk, the later visits to drop: calls do not need them any more
	given   map[int][]engine.Visit // for each chunk, visits that are gone: other calls needed part of them first
	noted   int                    // visits that were put into skipped and given
}

// skippedVisit is the visit of a call that has not found it in the pass.
type skippedVisit struct {
	engine.Visit
	equal bool // the call took a larger visit: only a visit of the same blocks can be its own
}

// maxNoted is the number of visits after which skipped and given are cleared: some calls need fewer blocks than
// planned, and what is noted of them stays.
const maxNoted = 4096

// leastPassed is the number of calls for later windows after which a window may end. See use.
const leastPassed = 64

// passPlan is the plan of a chunkPass: it only lists chunks.
type passPlan func(v *engine.Visit) bool

// Next implements engine.ReadPlan.
func (p passPlan) Next(v *engine.Visit) bool { return p(v) }

// Block implements engine.ReadPlan. It is not called.
func (p passPlan) Block(*engine.Block, *engine.Visit, int, int, int) {}

// Special implements engine.ReadPlan. It is not called.
func (p passPlan) Special(*engine.Visit, chunk.Special, []byte, int, int) error { return nil }

// newPass returns a pass over the chunks that next visits, or nil if chunks of s are not read ahead. The caller must
// call stop.
func (f *Frame) newPass(ctx context.Context, s *snapshot, next func(v *engine.Visit) bool) *chunkPass {
	src := s.ranges()
	if src == nil {
		return nil
	}
	d := &decoding{f: f, s: s, plan: passPlan(next), from: storage.Bind(ctx, s.src)}
	c := &chunkPass{p: newPrefetcher(ctx, d, src)}
	c.job.visit.Chunk = -1
	return c
}

// stop waits until no goroutine works for the pass. c may be nil.
func (c *chunkPass) stop() {
	if c != nil {
		c.p.stop()
		c.p.exit.Continue()
	}
}

// at waits for the bytes of chunk i, and returns a reader of the source that has them in memory. The chunk numbers of
// successive calls must not decrease, nor must those of the visits. Chunks that the pass does not visit are not in
// memory.
func (c *chunkPass) at(i int) (io.ReaderAt, error) {
	for c.job.visit.Chunk < i {
		if next, ok := c.p.peek(); !ok || next > i {
			break
		}
		c.p.next(&c.job)
	}
	if c.job.visit.Chunk != i || c.job.ahead == nil {
		return c.p.d.from, nil
	}
	return c.job.ahead, c.job.ahead.wait(c.p.callCtx)
}

// share makes c a pass for several calls of find, on any goroutines, in about the order of its visits, and begins it.
func (c *chunkPass) share() {
	c.skipped, c.given = map[int][]skippedVisit{}, map[int][]engine.Visit{}
	c.p.wanted = func(v *windowVisit) bool { return v.ahead != nil && !c.drops(&v.Visit) }
	c.begin()
}

// begin begins to read. It stops the pass if the source or the plan panics.
func (c *chunkPass) begin() {
	begun := false
	defer func() {
		if !begun {
			c.p.stop()
		}
	}()
	c.p.peek()
	begun = true
}

// drops reports whether a visit can be dropped: the call that it is for, or one that needs part of it, has come.
func (c *chunkPass) drops(v *engine.Visit) bool {
	list := c.skipped[v.Chunk]
	k := slices.IndexFunc(list, func(x skippedVisit) bool { return sameBlocks(v, &x.Visit) })
	if k >= 0 {
		remove(c.skipped, v.Chunk, k)
		return true
	}
	k = slices.IndexFunc(list, func(x skippedVisit) bool { return !x.equal && covers(v, &x.Visit) })
	if k >= 0 {
		list[k].equal = true
		c.give(v)
	}
	return k >= 0
}

// skip notes that the visit of a call, which comes later, can be dropped.
func (c *chunkPass) skip(v *engine.Visit, equal bool) {
	c.note()
	c.skipped[v.Chunk] = append(c.skipped[v.Chunk], skippedVisit{cloneVisit(v), equal})
}

// give notes that a visit is gone, although the call that it is for may come later.
func (c *chunkPass) give(v *engine.Visit) {
	c.note()
	c.given[v.Chunk] = append(c.given[v.Chunk], cloneVisit(v))
}

// note limits the memory of skip and give.
func (c *chunkPass) note() {
	if c.noted++; c.noted > maxNoted {
		c.noted = 1
		clear(c.skipped)
		clear(c.given)
	}
}

// cloneVisit returns a copy of v that retains no memory of v.
func cloneVisit(v *engine.Visit) engine.Visit {
	return engine.Visit{Chunk: v.Chunk, Blocks: slices.Clone(v.Blocks), From: v.From, To: v.To}
}

// remove removes element k of a list of m.
func remove[T any](m map[int][]T, key, k int) {
	if m[key] = slices.Delete(m[key], k, k+1); len(m[key]) == 0 {
		delete(m, key)
	}
}

// sameBlocks reports whether two visits of a chunk need the same blocks.
func sameBlocks(v, x *engine.Visit) bool {
	return v.From == x.From && v.To == x.To && slices.Equal(v.Blocks, x.Blocks)
}

// covers reports whether v has the blocks of x, another visit of the chunk. Lists of blocks are ascending.
func covers(v, x *engine.Visit) bool {
	if v.From != x.From || v.To != x.To || len(v.Blocks) > 0 && len(x.Blocks) == 0 {
		return false
	}
	rest := v.Blocks
	for _, k := range x.Blocks {
		i, ok := slices.BinarySearch(rest, k)
		if !ok && len(v.Blocks) > 0 {
			return false
		}
		rest = rest[i:]
	}
	return true
}

// find returns the bytes that are read ahead for a visit, or nil, and ends the visit. The pass may visit the chunk
// several times, for other blocks, and calls may come out of order. A call may need fewer blocks than planned. Other
// bytes of the chunk are read from the reader from, under ctx: the context of the caller may end before that of the
// pass. Only the caller may use the result.
func (c *chunkPass) find(ctx context.Context, from io.ReaderAt, v *engine.Visit) *chunkAhead {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p.peek()
	w, k := c.search(func(x *engine.Visit) bool { return x.Chunk == v.Chunk && sameBlocks(x, v) })
	given := -1
	if w == nil {
		given = slices.IndexFunc(c.given[v.Chunk], func(x engine.Visit) bool { return sameBlocks(&x, v) })
	}
	if w == nil && given < 0 {
		w, k = c.search(func(x *engine.Visit) bool { return x.Chunk == v.Chunk && covers(x, v) })
		if w != nil && !c.p.last {
			c.skip(v, true)
			c.give(&w.visits[k].Visit)
		}
	}
	switch {
	case w != nil:
	case given >= 0:
		remove(c.given, v.Chunk, given)
		return nil
	case c.p.last || c.p.chunk(v) == nil: // it is not read ahead
		return nil
	default:
		c.skip(v, false)
	}
	c.use(w)
	if w == nil {
		return nil
	}
	a := w.visits[k].ahead
	a.callCtx, a.source = ctx, from
	w.visits[k].ahead = nil
	for w.taken < len(w.visits) && w.visits[w.taken].ahead == nil {
		w.taken++
	}
	if w.taken == len(w.visits) {
		c.p.windows = slices.DeleteFunc(c.p.windows, func(x *chunkWindow) bool { return x == w })
	}
	return a
}

// use notes that a call uses window w, or one that has not begun if w is nil. It ends the first window when calls have
// passed it by: if more of them than all windows have visits used later windows since its last use. Visits that no call
// takes would otherwise end reading ahead.
func (c *chunkPass) use(w *chunkWindow) {
	visits, earlier := 0, true
	for _, x := range c.p.windows {
		visits += len(x.visits)
		if x == w {
			x.passed, earlier = 0, false
		} else if earlier {
			x.passed++
		}
	}
	if visits > 0 && !c.p.last && c.p.windows[0].passed > max(visits, leastPassed) {
		c.p.windows = slices.Delete(c.p.windows, 0, 1)
	}
}

// first is find for the first visit of chunk i, which does not end: only the header of the chunk is needed.
func (c *chunkPass) first(ctx context.Context, from io.ReaderAt, i int) *chunkAhead {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p.peek()
	w, k := c.search(func(x *engine.Visit) bool { return x.Chunk == i })
	if w == nil {
		return nil
	}
	a := w.visits[k].ahead
	a.callCtx, a.source = ctx, from
	return a
}

// search returns the window and the number of the first visit that fits, or nil.
func (c *chunkPass) search(fits func(x *engine.Visit) bool) (w *chunkWindow, k int) {
	for _, w := range c.p.windows {
		for k := w.taken; k < len(w.visits); k++ {
			if v := &w.visits[k]; v.ahead != nil && fits(&v.Visit) {
				return w, k
			}
		}
	}
	return nil, 0
}

// chunkReader reads the chunks of a state one after the other.
type chunkReader struct {
	ctx  context.Context // of the call
	f    *Frame
	s    *snapshot
	pass *chunkPass // that reads ahead, or nil
}

func (f *Frame) chunkReader(ctx context.Context, s *snapshot) chunkReader {
	return chunkReader{ctx: ctx, f: f, s: s}
}

// isFar reports whether chunks can be read ahead.
func (c *chunkReader) isFar() bool { return c.s.ranges() != nil }

// The arguments of readAhead.
const (
	readHeaders = true
	readChunks  = false
)

// readAhead begins to read ahead the headers or all bytes of all stored chunks. The caller must call stop. It does
// nothing unless the source reads many ranges at once.
func (c *chunkReader) readAhead(headers bool) {
	if c.isFar() {
		c.pass = c.f.newPass(c.ctx, c.s, c.s.visitStored(c.ctx))
		c.pass.p.headers = headers
	}
}

// readHeadersAhead is readAhead for the headers of the chunks that next returns, in ascending order.
func (c *chunkReader) readHeadersAhead(next func() (int, bool)) {
	if c.isFar() {
		c.pass = c.f.newPass(c.ctx, c.s, c.s.visitOnce(c.ctx, next))
		c.pass.p.headers = readHeaders
	}
}

// readPairsAhead is readAhead for the second chunk of each pair. It returns the pairs unchanged. It does nothing if the
// numbers of these chunks decrease.
func (c *chunkReader) readPairsAhead(pairs iter.Seq2[int, int]) iter.Seq2[int, int] {
	if !c.isFar() {
		return pairs
	}
	var to, from []int
	for i, k := range pairs {
		to, from = append(to, i), append(from, k)
	}
	if slices.IsSorted(from) {
		c.pass = c.f.newPass(c.ctx, c.s, c.s.visitList(c.ctx, from))
	}
	return func(yield func(to, from int) bool) {
		for k := range to {
			if !yield(to[k], from[k]) {
				return
			}
		}
	}
}

// stop ends readAhead.
func (c *chunkReader) stop() { c.pass.stop() }

// from returns a reader of the bytes of chunk i, which are in memory if they were read ahead.
func (c *chunkReader) from(i int) (io.ReaderAt, error) {
	if c.pass == nil {
		return storage.Bind(c.ctx, c.s.src), nil
	}
	return c.pass.at(i)
}

// header is Frame.chunkHeader.
func (c *chunkReader) header(i int) (coder.Header, error) {
	from, err := c.from(i)
	if err != nil {
		return coder.Header{}, err
	}
	return c.f.chunkHeader(from, c.s, i)
}

// cbytes returns the number of stored bytes of chunk i, from its header.
func (c *chunkReader) cbytes(i int) (int, error) {
	h, err := c.header(i)
	return h.CBytes, err
}

// raw is Frame.rawChunk.
func (c *chunkReader) raw(dst []byte, i int) ([]byte, error) {
	from, err := c.from(i)
	if err != nil {
		return dst, err
	}
	return c.f.rawChunk(from, dst, c.s, i)
}

// visitStored returns a function that visits all stored chunks of s, each once.
func (s *snapshot) visitStored(ctx context.Context) func(v *engine.Visit) bool {
	i := -1
	return s.visitOnce(ctx, func() (int, bool) {
		i++
		return i, i < s.index.n
	})
}

// visitList returns a function that visits those of some chunks of s that are stored, each once.
func (s *snapshot) visitList(ctx context.Context, list []int) func(v *engine.Visit) bool {
	return s.visitOnce(ctx, func() (int, bool) {
		if len(list) == 0 {
			return 0, false
		}
		i := list[0]
		list = list[1:]
		return i, true
	})
}

// visitOnce returns a function that visits the chunks of next, except special ones, each once. It visits no chunk after
// the end of ctx.
func (s *snapshot) visitOnce(ctx context.Context, next func() (int, bool)) func(v *engine.Visit) bool {
	var seen map[entry]bool // nil if no chunk is referenced twice
	if _, shared := s.index.storedEntries(); shared {
		seen = map[entry]bool{}
	}
	return func(v *engine.Visit) bool {
		for {
			i, ok := next()
			if !ok || ctx.Err() != nil {
				return false
			}
			if i < 0 || i >= s.index.n {
				continue // an error of the call
			}
			if e := s.index.at(i); e >= 0 && !seen[e] {
				if seen != nil {
					seen[e] = true
				}
				v.Chunk = i
				return true
			}
		}
	}
}

// visitChunks returns a function that visits chunks [i, end) of s.
func visitChunks(i, end int) func(v *engine.Visit) bool {
	return func(v *engine.Visit) bool {
		v.Chunk = i
		i++
		return i <= end
	}
}

// visitBlock returns a function that visits block k of chunk i.
func visitBlock(i, k int) func(v *engine.Visit) bool {
	done := false
	return func(v *engine.Visit) bool {
		if done || k > math.MaxInt32 {
			return false
		}
		v.Chunk, v.Blocks, done = i, []int32{int32(k)}, true
		return true
	}
}

// ChunkInfo describes chunk i. It reads the header of the chunk and decodes nothing. A loop over the chunks of a frame
// from a [Source] reads headers ahead. Errors are ErrBounds, ErrCorrupt and errors.ErrUnsupported.
func (f *Frame) ChunkInfo(ctx context.Context, i int) (_ ChunkInfo, err error) {
	ctx = task.Context(ctx)
	s, err := f.acquire(ctx)
	if err != nil {
		return ChunkInfo{}, err
	}
	defer f.release(s, &err)
	if err := f.checkBounds(s, i); err != nil {
		return ChunkInfo{}, err
	}
	h, err := f.headerNext(ctx, s, i)
	if err != nil {
		return ChunkInfo{}, err
	}
	return s.describe(i, h), nil
}

// headerNext is chunkHeader. It reads headers ahead if calls ask for chunks one after the other.
func (f *Frame) headerNext(ctx context.Context, s *snapshot, i int) (coder.Header, error) {
	if s.draft || s.ranges() == nil {
		return f.chunkHeader(storage.Bind(ctx, s.src), s, i)
	}
	h, n, err := s.headers.Take(ctx, i, min(windowChunks, s.index.n-i))
	if err != nil || n == 0 {
		return h, err
	}
	if n > 1 {
		defer s.headers.End()
	}
	chunks := f.chunkReader(ctx, s)
	chunks.pass = f.newPass(ctx, s, visitChunks(i, i+n))
	chunks.pass.p.headers = readHeaders
	defer chunks.stop()
	h, err = chunks.header(i)
	for k := i + 1; k < i+n && err == nil; k++ {
		next, err := chunks.header(k)
		if err != nil {
			break // the call for that chunk returns the error
		}
		s.headers.Put(k, next)
	}
	return h, err
}

// chunkInfo is ChunkInfo for a state. pass has the bytes of the chunk, or is nil.
func (f *Frame) chunkInfo(ctx context.Context, s *snapshot, pass *chunkPass, i int) (ChunkInfo, error) {
	if err := f.checkBounds(s, i); err != nil {
		return ChunkInfo{}, err
	}
	from := storage.Bind(ctx, s.src)
	if pass != nil {
		if a := pass.first(ctx, from, i); a != nil {
			if err := a.wait(ctx); err != nil {
				return ChunkInfo{}, err
			}
			from = a
		}
	}
	h, err := f.chunkHeader(from, s, i)
	if err != nil {
		return ChunkInfo{}, err
	}
	return s.describe(i, h), nil
}
