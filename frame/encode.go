package frame

import (
	"context"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
)

// Source tells Batch.Encode which chunks to write and gives their blocks.
//
// Next is called by one goroutine at a time; Block by several at the same time, also more than once for a block. One
// call of Encode visits no chunk twice.
type Source interface {
	// Next sets v.Chunk to the next chunk, one that is there or the number of chunks to append one, and returns
	// whether there is one. keep says that Block needs the content that the chunk has now.
	Next(v *Visit) (keep, ok bool)
	// Block writes the new content of block k, which starts at byte at of the decoded chunk, to dst, or returns
	// other memory with it, which must then stay until Encode returns. If the visit keeps, dst holds the content
	// that it has now.
	Block(v *Visit, k, at int, dst []byte) ([]byte, error)
}

// encoding is one call of Encode. A worker opens a chunk and encodes its blocks from the first on, each where it belongs
// in the chunk. When there are no more chunks to open, workers help with the blocks of others, from the last on, which
// the owner then copies. Chunks are written in their order.
type encoding struct {
	b   *Batch
	s   *snapshot // the state before, for what is kept
	ctx context.Context
	src Source
	l   *coder.Layout

	keeper Keeper    // src, or nil
	rows   RowSource // src, or nil
	loop   func(int) // work

	mu      sync.Mutex
	wake    sync.Cond
	jobs    []*encodeJob // in their order; the first is the next to be written
	idle    []*encodeJob
	writing bool // a worker is writing jobs[0]
	last    bool
	chunks  int // in the frame, with those under way
	most    int // jobs at the same time
	err     error
}

// Keeper is a Source that says of each block of a chunk that is kept in part how much of it stays. It is called as
// Block is.
type Keeper interface {
	Source
	Keeps(v *Visit, k int) Part
}

// Part is how much of a block stays as it is.
type Part uint8

// The parts.
const (
	KeepSome Part = iota // Block gets the content
	KeepNone             // dst of Block holds anything
	KeepAll              // Block would change nothing, and is not called where the stored bytes can stay
)

// RowSource is a Source that can write blocks with the bytes of their items apart, taking the items from where they are,
// so that no whole block is put together first. It is asked only where that is the first step of encoding, and nothing of
// the old content is kept.
type RowSource interface {
	Source
	// Shuffle writes the new content of block k to dst and returns true, or returns false: then Block is called. It is
	// called as Block is.
	Shuffle(v *Visit, k, at int, dst coder.Shuffled) bool
}

// Sizer is a Source that knows how many bytes of content all its chunks have, roughly. Memory for them is set aside
// accordingly.
type Sizer interface {
	Source
	Size() int64
}

// encodeJob is a chunk being encoded.
type encodeJob struct {
	visit  Visit
	keep   bool
	l      *coder.Layout // of this chunk: with its dictionary, where there are dictionaries
	old    coder.Reader
	close  io.Closer
	oldBit chunk.Special
	oldVal []byte
	ref    []byte
	next   int      // blocks before are the owner's
	end    int      // blocks from here on were taken by helpers
	blocks [][]byte // what helpers have encoded; empty until then
	away   int      // helpers at work
	carry  []byte   // a block that stays
	out    []byte   // the chunk
	h      chunk.Header
	done   bool
}

// Encode writes chunks of size bytes each with the frame's parameters, their blocks encoded on up to
// Options.Concurrency goroutines. The result does not depend on the number of goroutines. It stops at the first
// error of the source, of the context or of writing; the batch can then only be rolled back.
func (b *Batch) Encode(ctx context.Context, size int, src Source) error {
	switch {
	case b.done:
		return b.errDone()
	case b.err != nil:
		return b.err
	}
	if err := b.checkData(); err != nil {
		return err
	}
	l, err := b.next.cparams().Layout(size)
	if err != nil {
		return b.f.wrap("chunk", -1, err)
	}
	if err := b.checkLayout(l); err != nil {
		return b.f.wrap("chunk", -1, err)
	}
	b.owned = false // what is kept is read from the index as it is now
	e, ok := b.f.encoders.Get().(*encoding)
	if !ok {
		e = &encoding{}
		e.wake.L = &e.mu
		e.loop = e.work
	}
	if z, ok := src.(Sizer); ok {
		b.likely = likely{size: z.Size()}
		defer func() { b.likely = likely{} }()
	}
	workers := b.f.opts.workers(piecesOf(src, l))
	e.b, e.s, e.ctx, e.src, e.l = b, b.next.successor(), task.Context(ctx), src, l
	e.keeper, _ = src.(Keeper)
	e.rows, _ = src.(RowSource)
	e.chunks, e.most, e.last, e.err = b.next.index.n, 2*workers, false, nil
	err = e.all(workers)
	e.b, e.s, e.ctx, e.src, e.keeper, e.rows, e.l, e.jobs = nil, nil, nil, nil, nil, nil, nil, e.jobs[:0]
	b.f.encoders.Put(e)
	return b.fail(err)
}

// checkLayout is an error if the blocks that the header of the frame asks for take more memory than it may.
func (b *Batch) checkLayout(l *coder.Layout) error {
	if l.NumBlocks() == 0 {
		return nil
	}
	const header = 24 // of a slice
	return b.f.CheckAlloc(max(int64(l.BlockLen(0)), header*int64(l.NumBlocks())))
}

// piecesOf returns how many blocks a source has, roughly: no more goroutines have something to do. A source that writes
// parts of chunks may have more blocks than its size says, which matters only for fewer goroutines than processors.
func piecesOf(src Source, l *coder.Layout) int64 {
	z, ok := src.(Sizer)
	if !ok {
		return math.MaxInt64
	}
	chunks := z.Size()/int64(max(1, l.NBytes())) + 1
	blocks := chunks * int64(max(1, l.NumBlocks())) // no overflow: a block has a byte or more
	return max(blocks, int64(runtime.GOMAXPROCS(0)))
}

// all encodes all chunks, and closes the old ones that an error or a panic has left open.
func (e *encoding) all(workers int) error {
	returned := false
	defer func() {
		e.idle = append(e.idle, e.jobs...)
		for _, j := range e.idle {
			closeSource(j.close)
			j.close = nil
		}
		if !returned {
			e.b.fail(errPanicked)
		}
	}()
	e.b.f.pool.Run(workers, e.loop)
	returned = true
	return e.err
}

// work is the loop of a worker.
func (e *encoding) work(int) {
	f := e.b.f
	w := f.getWorker()
	e.mu.Lock()
	e.encodeChunks(w)
	f.putWorker(w)
}

// encodeChunks encodes chunks until there are no more. It is called with e.mu held, and gives it back.
func (e *encoding) encodeChunks(w *worker) {
	panicked := true
	defer func() {
		if panicked && e.err == nil {
			e.err = errPanicked
		}
		e.wake.Broadcast()
		e.mu.Unlock()
	}()
	for e.err == nil {
		if e.err = e.ctx.Err(); e.err != nil {
			break
		}
		if len(e.jobs) > 0 && e.jobs[0].done && !e.writing {
			e.write()
		} else if !e.last && len(e.jobs) < e.most {
			e.open(w)
		} else if j := e.take(); j != nil {
			e.help(w, j)
		} else if e.last && len(e.jobs) == 0 {
			break
		} else {
			e.wake.Wait()
		}
	}
	panicked = false
}

// take returns a job with blocks that nobody has begun, or nil.
func (e *encoding) take() *encodeJob {
	for _, j := range e.jobs {
		if j.next < j.end {
			return j
		}
	}
	return nil
}

// unlocked calls f without e.mu, which is held again when f has returned or panicked, and records its error.
func (e *encoding) unlocked(f func() error) {
	e.mu.Unlock()
	err := errPanicked
	defer func() {
		e.mu.Lock()
		if err != nil && e.err == nil {
			e.err = err
		}
		e.wake.Broadcast()
	}()
	err = f()
}

// open begins the next chunk of the source.
func (e *encoding) open(w *worker) {
	j := new(encodeJob)
	if n := len(e.idle); n > 0 {
		j, e.idle = e.idle[n-1], e.idle[:n-1]
	}
	*j = encodeJob{visit: j.visit, old: j.old, ref: j.ref[:0], blocks: j.blocks, carry: j.carry, out: j.out} // their memory
	var ok bool
	if j.keep, ok = e.src.Next(&j.visit); !ok {
		e.last = true
		e.idle = append(e.idle, j)
		e.wake.Broadcast()
		return
	}
	if j.visit.Chunk == e.chunks {
		e.chunks++
		j.keep = false
	}
	j.l = e.l
	e.jobs = append(e.jobs, j)
	e.unlocked(func() error {
		err := e.prepare(w, j)
		if err == nil {
			err = e.encode(w, j)
		}
		return err
	})
}

// prepare opens the old chunk of a job and makes its reference block.
func (e *encoding) prepare(w *worker, j *encodeJob) error {
	w.Chunk = int64(j.visit.Chunk)
	if j.keep {
		if err := e.openOld(w, j); err != nil {
			return err
		}
	}
	if e.l.NeedsReference() {
		b, err := e.plain(w, j, 0)
		if err == nil {
			j.ref, err = w.Reference(j.ref[:0], e.l, b)
		}
		if err != nil {
			return err
		}
	}
	if e.l.NeedsDict() {
		var err error
		if j.l, err = w.Train(e.l, func(k int) ([]byte, error) { return e.plain(w, j, k) }); err != nil {
			return err
		}
	}
	return nil
}

// openOld opens the chunk that a job replaces.
func (e *encoding) openOld(w *worker, j *encodeJob) error {
	f, s, i := e.b.f, e.s, j.visit.Chunk
	if err := f.checkChunk(s, i); err != nil {
		return err
	}
	special, err := s.index.at(i).special()
	if err != nil {
		return f.chunkError(s, i, err)
	}
	if j.oldBit = special; special != chunk.Regular {
		return nil
	}
	if j.close, err = f.openChunk(s, w, &j.old, i, 1); err != nil {
		return err
	}
	j.oldBit, j.oldVal = j.old.Special()
	if h := j.old.Header(); h.NBytes != e.l.NBytes() || h.VLBlocks() || j.oldBit == chunk.Regular && h.BlockSize != e.l.BlockLen(0) {
		return f.chunkError(s, i, corrupt("%d bytes in blocks of %d, not %d in %d", h.NBytes, h.BlockSize, e.l.NBytes(), e.l.BlockLen(0)))
	}
	return nil
}

// part returns how much of block k of the old chunk stays.
func (e *encoding) part(j *encodeJob, k int) Part {
	if e.keeper == nil {
		return KeepSome
	}
	return e.keeper.Keeps(&j.visit, k)
}

// plain returns the new content of block k.
func (e *encoding) plain(w *worker, j *encodeJob, k int) ([]byte, error) {
	n := e.l.BlockLen(k)
	if cap(w.buf) < n {
		w.buf = make([]byte, n)
	}
	dst := w.buf[:n]
	at := k * e.l.BlockLen(0)
	if j.keep && e.part(j, k) != KeepNone {
		if j.oldBit != chunk.Regular {
			coder.FillSpecial(dst, j.oldBit, j.oldVal, int(e.s.typeSize), at)
		} else if err := w.DecodeBlock(dst, &j.old, k); err != nil {
			return nil, e.b.f.chunkError(e.s, j.visit.Chunk, err)
		}
	}
	return e.src.Block(&j.visit, k, at, dst)
}

// shuffled writes block k to dst if that can be done with the bytes of its items apart.
func (e *encoding) shuffled(j *encodeJob, k int, dst coder.Shuffled) bool {
	if e.rows == nil || j.keep && e.part(j, k) != KeepNone {
		return false
	}
	return e.rows.Shuffle(&j.visit, k, k*e.l.BlockLen(0), dst)
}

// mostAhead is how much memory is set aside for a chunk before it is known how long it gets.
const mostAhead = 16 << 20

// encode encodes the chunk of a job, but for the blocks that helpers take.
func (e *encoding) encode(w *worker, j *encodeJob) error {
	if n := min(e.l.NBytes()+chunk.MaxOverhead, mostAhead); cap(j.out) < n {
		j.out = make([]byte, 0, n)
	}
	if !e.l.Stored() {
		n := e.l.NumBlocks()
		j.blocks = slices.Grow(j.blocks[:0], n)[:n]
		for k := range j.blocks {
			j.blocks[k] = j.blocks[k][:0]
		}
		e.mu.Lock()
		j.end = n
		e.wake.Broadcast()
		e.mu.Unlock()
	}
	out, h, err := w.Build(j.out[:0], j.l, j.ref, coder.Blocks{
		Ready:    func(k int) ([]byte, error) { return e.ready(w, j, k) },
		Shuffled: func(k int, dst coder.Shuffled) bool { return e.shuffled(j, k, dst) },
		Plain:    func(k int) ([]byte, error) { return e.plain(w, j, k) },
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	for j.end = 0; j.away > 0; { // no more are taken
		e.wake.Wait()
	}
	j.out, j.h, j.done = out, h, err == nil
	return err
}

// ready returns block k of a job as it was encoded elsewhere, or nil: then it is the owner's.
func (e *encoding) ready(w *worker, j *encodeJob, k int) ([]byte, error) {
	e.mu.Lock()
	for k >= j.end && len(j.blocks[k]) == 0 && e.err == nil {
		e.wake.Wait()
	}
	err, mine := e.err, k < j.end
	if mine {
		j.next = k + 1
	}
	e.mu.Unlock()
	if err == nil {
		err = e.ctx.Err()
	}
	if err != nil || !mine {
		return j.blocks[k], err
	}
	var ok bool
	if j.carry, ok, err = e.carried(w, j, k, j.carry[:0]); ok {
		return j.carry, nil
	}
	return nil, err
}

// carried appends block k of a job to dst, and true, if it stays as it is stored.
func (e *encoding) carried(w *worker, j *encodeJob, k int, dst []byte) ([]byte, bool, error) {
	if !j.keep || j.oldBit != chunk.Regular || e.part(j, k) != KeepAll {
		return dst, false, nil
	}
	b, ok, err := w.CopyBlock(dst, j.l, &j.old, k)
	if err != nil {
		err = e.b.f.chunkError(e.s, j.visit.Chunk, err)
	}
	return b, ok, err
}

// help encodes a block of a job of another worker.
func (e *encoding) help(w *worker, j *encodeJob) {
	j.end--
	j.away++
	k := j.end
	b := j.blocks[k]
	defer func() { // the owner of the job waits for it
		j.blocks[k] = b
		j.away--
		e.wake.Broadcast()
	}()
	e.unlocked(func() error {
		w.Chunk = int64(j.visit.Chunk)
		var err error
		var ok bool
		if b, ok, err = e.carried(w, j, k, b); ok || err != nil {
			return err
		}
		b, ok, err = w.EncodeShuffled(b, j.l, k, j.ref, func(dst coder.Shuffled) bool { return e.shuffled(j, k, dst) })
		if ok || err != nil {
			return err
		}
		src, err := e.plain(w, j, k)
		if err == nil {
			b, err = w.EncodeBlock(b, j.l, k, src, j.ref)
		}
		return err
	})
}

// write writes the first job.
func (e *encoding) write() {
	j := e.jobs[0]
	e.writing = true
	e.unlocked(func() error {
		closeSource(j.close)
		j.close = nil
		if j.visit.Chunk == e.b.next.index.n {
			e.b.likely.add(len(j.out), e.l.NBytes())
			return e.b.insertBuilt(j.visit.Chunk, j.out, &j.h)
		}
		return e.b.updateBuilt(j.visit.Chunk, j.out, &j.h)
	})
	e.writing = false
	e.jobs = slices.Delete(e.jobs, 0, 1)
	e.idle = append(e.idle, j)
	e.wake.Broadcast()
}
