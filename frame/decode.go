package frame

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
)

// worker is what one goroutine needs.
type worker struct {
	*coder.Worker
	buf []byte  // a decoded block
	sum summing // of a chunk that is read to be compared with its checksum
}

func (f *Frame) getWorker() *worker {
	if w, ok := f.workers.Get().(*worker); ok {
		return w
	}
	return &worker{Worker: f.pool.Get()}
}

// putWorker gives a worker back, unless it must not be used again. After a panic it is not given back either: its codecs
// may be in any state.
func (f *Frame) putWorker(w *worker) {
	if w.Worker != nil {
		f.workers.Put(w)
	}
}

// withWorker calls do with a worker.
func (f *Frame) withWorker(do func(w *worker) error) error {
	w := f.getWorker()
	err := do(w)
	f.putWorker(w)
	return err
}

// decoding is one call of Decode: the blocks of all its chunks are one queue, from which the workers take. A worker
// that finds no block left in the opened chunks opens the next chunk, while others go on.
type decoding struct {
	f    *Frame
	s    *snapshot
	ctx  context.Context
	plan Plan
	rows RowPlan // plan, or nil
	kept *cache  // of blocks, or nil when this call does not use it

	workers int
	loop    func(int) // work

	mu      sync.Mutex
	wake    sync.Cond // when a chunk was opened, or nothing is left to wait for
	jobs    []*decodeJob
	idle    []*decodeJob // for use again
	opening int
	last    bool // the plan has no more chunks
	err     error
}

// decodeJob is an opened chunk.
type decodeJob struct {
	visit  Visit
	r      coder.Reader
	close  io.Closer
	first  int  // block wanted, when visit.Blocks is empty
	next   int  // block to be taken
	n      int  // blocks wanted
	active int  // blocks being decoded
	two    bool // it pays to decode two blocks at a time
}

// Decode decodes the blocks that the plan wants, on up to Options.Concurrency goroutines, which have done with the plan
// when it returns. It works on one state of the frame, whatever is committed meanwhile. It stops at the first error: of
// the plan, of the context, or ErrCorrupt, ErrUnsupported, ErrTooLarge or of reading, in an *Error with the chunk.
func (f *Frame) Decode(ctx context.Context, p Plan) (err error) {
	ctx = task.Context(ctx)
	s, err := f.acquire(ctx)
	if err != nil {
		return err
	}
	defer f.release(s, &err)
	return f.decode(ctx, s, p)
}

func (f *Frame) decode(ctx context.Context, s *snapshot, p Plan) error {
	e, ok := f.engines.Get().(*decoding)
	if !ok {
		e = &decoding{f: f}
		e.wake.L = &e.mu
		e.loop = e.work
	}
	e.s, e.ctx, e.plan, e.last, e.err = s, ctx, p, false, nil
	e.rows, _ = p.(RowPlan)
	if e.kept = nil; f.cache != nil && !s.draft {
		size := int64(s.blockSize)
		if size == 0 {
			size = 64 << 10 // as in rangePlan
		}
		if p.Blocks() <= f.cache.most/4/size {
			e.kept = f.cache
		}
	}
	e.workers = f.opts.workers(p.Blocks())
	err := e.all(f.pool)
	e.s, e.ctx, e.plan, e.rows, e.kept = nil, nil, nil, nil, nil
	f.engines.Put(e)
	return err
}

// all decodes all blocks, and closes the chunks that an error or a panic has left open.
func (e *decoding) all(p *coder.Pool) error {
	defer func() {
		for _, j := range e.jobs {
			e.recycle(j)
		}
		e.jobs = e.jobs[:0]
	}()
	p.Run(e.workers, e.loop)
	return e.err
}

// errPanicked ends the work of other goroutines after a panic. The caller gets the panic instead.
var errPanicked = errors.New("a function panicked")

// work is the loop of a worker.
func (e *decoding) work(int) {
	w := e.f.getWorker()
	e.mu.Lock()
	e.decodeBlocks(w)
	e.f.putWorker(w)
}

// decodeBlocks decodes blocks until there are no more. It is called with e.mu held, and gives it back.
func (e *decoding) decodeBlocks(w *worker) {
	panicked := true
	defer func() {
		if panicked {
			e.fail(errPanicked)
		}
		e.wake.Broadcast()
		e.mu.Unlock()
	}()
	for e.err == nil {
		if e.err = e.ctx.Err(); e.err != nil {
			break
		}
		if j := e.take(); j != nil {
			i, n := j.next, e.run(j)
			j.next += n
			j.active += n
			err := e.unlocked(func() error { return e.blocks(w, j, i, n) })
			j.active -= n
			if err != nil {
				e.fail(err)
			} else if j.active == 0 && j.next == j.n {
				e.finish(j)
			}
			continue
		}
		if !e.last {
			e.openNext(w)
			continue
		}
		if e.opening == 0 {
			break
		}
		e.wake.Wait()
	}
	panicked = false
}

// unlocked calls f without e.mu, which is held again when f has returned or panicked.
func (e *decoding) unlocked(f func() error) error {
	e.mu.Unlock()
	defer e.mu.Lock()
	return f()
}

// take returns an opened chunk with blocks left, or nil.
func (e *decoding) take() *decodeJob {
	for _, j := range e.jobs {
		if j.next < j.n {
			return j
		}
	}
	return nil
}

// run returns how many of the blocks left in a job a worker takes: some that follow each other, as their bytes, and the
// places of what these give, come in faster when one processor goes through them, but fewer towards the end. They have no
// more than 1 MiB, if they are several, so that little is decoded in vain when another worker fails.
func (e *decoding) run(j *decodeJob) int {
	const longest, most = 32, 1 << 20
	left := j.n - j.next
	n := min(longest, left/(4*e.workers), most/max(1, j.r.BlockLen(j.wanted(j.next))))
	if j.two && left >= 2*e.workers {
		return max(2, n&^1)
	}
	return max(1, n)
}

// blocks decodes the wanted blocks of a job from the i-th on, n of them; where that pays, two at a time.
func (e *decoding) blocks(w *worker, j *decodeJob, i, n int) (err error) {
	if m, ok := e.s.src.(*mapped); ok {
		defer m.recoverFault(debug.SetPanicOnFault(true), e.f, j.visit.Chunk, w, &err)
	}
	for end := i + n; i < end; {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		if j.two && n > 1 {
			if err := e.two(w, j, [2]int{j.wanted(i), j.wanted(i + 1)}); err != nil {
				return err
			}
			i += 2
			continue
		}
		dst, wanted := e.place(j, j.wanted(i))
		if err := e.block(w, j, j.wanted(i), dst, wanted); err != nil {
			return err
		}
		i++
	}
	return nil
}

// openNext opens the next chunk of the plan. It is called with e.mu held, which it gives away meanwhile.
func (e *decoding) openNext(w *worker) {
	var j *decodeJob
	if n := len(e.idle); n > 0 {
		j, e.idle = e.idle[n-1], e.idle[:n-1]
	} else {
		j = new(decodeJob)
	}
	j.visit.Blocks, j.visit.From, j.visit.To = j.visit.Blocks[:0], 0, 0
	if !e.plan.Next(&j.visit) {
		e.last = true
		e.idle = append(e.idle, j)
		e.wake.Broadcast()
		return
	}
	e.opening++
	j.n, j.first, j.next, j.close = 0, 0, 0, nil
	e.jobs = append(e.jobs, j) // without blocks to take, until it is open
	var n int
	err := e.unlocked(func() (err error) {
		n, err = e.open(w, j)
		return err
	})
	e.opening--
	if err != nil {
		e.fail(err)
	} else if j.n = n; n == 0 {
		e.finish(j)
	}
	e.wake.Broadcast()
}

// open opens the chunk of a job and returns how many of its blocks are wanted. A special value is dealt with at once: then
// there are none.
func (e *decoding) open(w *worker, j *decodeJob) (blocks int, err error) {
	if m, ok := e.s.src.(*mapped); ok {
		defer m.recoverFault(debug.SetPanicOnFault(true), e.f, j.visit.Chunk, w, &err)
	}
	f, s, v := e.f, e.s, &j.visit
	w.Chunk = int64(v.Chunk)
	if err := f.checkChunk(s, v.Chunk); err != nil {
		return 0, err
	}
	if err := f.checkHeld(s, v.Chunk); err != nil {
		return 0, err
	}
	special, err := s.index.at(v.Chunk).special()
	if err != nil {
		return 0, f.chunkError(s, v.Chunk, err)
	}
	if special != chunk.Regular {
		n := s.chunkLen(v.Chunk)
		if n < 0 {
			return 0, f.chunkError(s, v.Chunk, corrupt("a special value without a size, in a frame with chunks of variable size"))
		}
		if special == chunk.NaNs && s.typeSize != 4 && s.typeSize != 8 {
			return 0, f.chunkError(s, v.Chunk, corrupt("NaNs of %d bytes", s.typeSize))
		}
		if f.opts.Postfilter == nil {
			return 0, e.plan.Special(v, special, nil, int(s.typeSize), int(n))
		}
		b, err := f.specialChunk(s, v.Chunk, special, nil)
		if err == nil {
			err = w.Open(&j.r, b)
		}
		if err != nil {
			return 0, err
		}
	} else if j.close, err = f.openChunk(s, w, &j.r, v.Chunk, e.share(v)); err != nil {
		return 0, err
	}
	if special, value := j.r.Special(); special != chunk.Regular && f.opts.Postfilter == nil {
		return 0, e.plan.Special(v, special, value, j.r.Header().TypeSize, j.r.NBytes())
	}
	blocks = j.r.NumBlocks()
	h := j.r.Header()
	if want := e.plan.BlockSize(); want > 0 && h.VLBlocks() {
		return 0, f.chunkError(s, v.Chunk, corrupt("blocks of variable size, not of %d bytes", want))
	} else if want > 0 && h.BlockSize != want {
		return 0, f.chunkError(s, v.Chunk, corrupt("blocks of %d bytes, not %d", h.BlockSize, want))
	}
	switch {
	case len(v.Blocks) > 0:
		blocks = len(v.Blocks)
		if last := int(v.Blocks[blocks-1]); last >= j.r.NumBlocks() {
			return 0, f.chunkError(s, v.Chunk, corrupt("%d blocks, block %d wanted", j.r.NumBlocks(), last))
		}
	case v.To > 0 && !h.VLBlocks():
		size := h.BlockSize
		j.first = v.From / size
		blocks = min((v.To-1)/size+1, blocks) - j.first
	}
	j.two = e.kept == nil && w.PrefersPairs(&j.r)
	if e.kept == nil && !s.blockwise() {
		j.r.ReadAhead(j.first, blocks, v.Blocks)
	}
	return blocks, nil
}

// share estimates which part of a chunk a visit wants; where it is best to read that block by block, it is none.
func (e *decoding) share(v *Visit) float64 {
	n := float64(e.s.chunkLen(v.Chunk))
	switch {
	case n <= 0:
		return 1
	case e.s.blockwise():
		return 0
	case len(v.Blocks) > 0 && e.s.blockSize > 0:
		return float64(len(v.Blocks)) * float64(e.s.blockSize) / n
	case v.To > 0:
		return float64(v.To-v.From) / n
	}
	return 1
}

// blockwise tells whether blocks are long enough for reading each when it is decoded: its bytes then come from the
// nearest cache. Only files of the system are that fast at giving them.
func (s *snapshot) blockwise() bool {
	switch s.src.(type) {
	case file, fileToRead:
		return s.nbytes > 0 && float64(s.blockSize)*float64(s.cbytes)/float64(s.nbytes) >= 16<<10
	}
	return false
}

// wanted returns the number of the i-th wanted block in its chunk.
func (j *decodeJob) wanted(i int) int {
	if len(j.visit.Blocks) > 0 {
		return int(j.visit.Blocks[i])
	}
	return j.first + i
}

// place asks the plan for the place of block k of a job, or nil, and for how much of it is wanted.
func (e *decoding) place(j *decodeJob, k int) (dst []byte, wanted int) {
	n := j.r.BlockLen(k)
	dst, wanted = e.plan.Place(&j.visit, k, j.r.BlockOffset(k), n)
	if dst != nil {
		wanted = n
	}
	return dst, wanted
}

// twoMost is how many bytes two blocks may have that do not go straight to their places: so many stay near the processor.
const twoMost = 1 << 20

// two decodes two blocks together, if both go straight to their places or both are for the plan, and most of them is
// wanted.
func (e *decoding) two(w *worker, j *decodeJob, k [2]int) error {
	r := &j.r
	var dst [2][]byte
	var wanted [2]int
	for i, k := range k {
		dst[i], wanted[i] = e.place(j, k)
	}
	n := r.BlockLen(k[0]) + r.BlockLen(k[1])
	if (dst[0] == nil) != (dst[1] == nil) || dst[0] == nil && n > twoMost || wanted[0]+wanted[1] < n*3/4 {
		if err := e.block(w, j, k[0], dst[0], wanted[0]); err != nil {
			return err
		}
		return e.block(w, j, k[1], dst[1], wanted[1])
	}
	w.Chunk = int64(j.visit.Chunk)
	if dst[0] != nil {
		return e.chunkError(j, w.DecodePair(dst, r, k))
	}
	b := w.block(n)
	dst[0], dst[1] = b[:r.BlockLen(k[0]):r.BlockLen(k[0])], b[r.BlockLen(k[0]):]
	if err := w.DecodePair(dst, r, k); err != nil {
		return e.chunkError(j, err)
	}
	err := e.plan.Block(&j.visit, k[0], r.BlockOffset(k[0]), dst[0])
	if err == nil {
		err = e.plan.Block(&j.visit, k[1], r.BlockOffset(k[1]), dst[1])
	}
	return err
}

// block decodes block k of a job to dst, its place, or the bytes of it that are wanted for the plan where that is nil.
func (e *decoding) block(w *worker, j *decodeJob, k int, dst []byte, wanted int) error {
	at, n := j.r.BlockOffset(k), j.r.BlockLen(k)
	w.Chunk = int64(j.visit.Chunk)
	if e.kept != nil {
		return e.blockKept(w, j, k, at, n, dst)
	}
	if dst != nil {
		return e.chunkError(j, w.DecodeBlock(dst, &j.r, k))
	}
	if e.rows != nil {
		s, ok, err := w.DecodeShuffled(&j.r, k, wanted)
		switch {
		case err != nil:
			return e.chunkError(j, err)
		case ok && e.rows.Shuffled(&j.visit, k, at, s):
			return nil
		case ok:
			dst = w.block(n)
			s.Unshuffle(dst)
			return e.plan.Block(&j.visit, k, at, dst)
		}
	}
	dst = w.block(n)
	if err := w.DecodePrefix(dst, &j.r, k, wanted); err != nil {
		return e.chunkError(j, err)
	}
	return e.plan.Block(&j.visit, k, at, dst)
}

// block returns memory for a decoded block.
func (w *worker) block(n int) []byte {
	if cap(w.buf) < n {
		w.buf = make([]byte, n)
	}
	return w.buf[:n]
}

// blockKept is block for blocks that the cache keeps.
func (e *decoding) blockKept(w *worker, j *decodeJob, k, at, n int, dst []byte) error {
	key := cacheKey{j.visit.Chunk, k}
	data := e.kept.get(e.s, key)
	if data == nil {
		data = make([]byte, n)
		if err := w.DecodeBlock(data, &j.r, k); err != nil {
			return e.chunkError(j, err)
		}
		if e.f.snap.Load() == e.s {
			e.kept.put(e.s, key, data)
		}
	}
	if dst != nil {
		copy(dst, data)
		return nil
	}
	return e.plan.Block(&j.visit, k, at, data)
}

func (e *decoding) chunkError(j *decodeJob, err error) error {
	if err == nil {
		return nil
	}
	return e.f.chunkError(e.s, j.visit.Chunk, err)
}

// fail records the first error and ends the work.
func (e *decoding) fail(err error) {
	if e.err == nil {
		e.err = err
	}
	e.wake.Broadcast()
}

// finish takes a job whose blocks are all decoded off the list.
func (e *decoding) finish(j *decodeJob) {
	for i, x := range e.jobs {
		if x == j {
			e.jobs = append(e.jobs[:i], e.jobs[i+1:]...)
			break
		}
	}
	e.recycle(j)
}

func (e *decoding) recycle(j *decodeJob) {
	closeSource(j.close)
	j.close = nil
	e.idle = append(e.idle, j)
}
