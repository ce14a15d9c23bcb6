package frame

import (
	"context"
	"io"
	"math"
	"runtime"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/tune"
)

// encoding is one call of Encode. A worker opens a chunk and encodes its blocks into it, starting at the first. When
// there are no more chunks to open, workers help others with their blocks, starting at the last, and the owner copies
// these blocks. Chunks are written in order.
type encoding struct {
	sched.Loop
	b    *Batch
	s    *snapshot // for blocks that are kept: the previous state, but it may share the index that write changes
	plan engine.WritePlan
	l    *coder.Layout // of the header's parameters
	work func(int)     // runWorker

	tuner *tuner // chooses the parameters of whole chunks, or nil

	// Guarded by the lock of Loop. Methods that step calls hold it; functions passed to Unlocked do not.
	tuning  bool         // a worker tries parameters; no chunk is opened
	jobs    []*encodeJob // in the order of the chunks; the first is written next
	idle    []*encodeJob
	writing bool // a worker is writing jobs[0]
	last    bool // the plan has no more chunks
	chunks  int  // in the frame, including those of jobs
	most    int  // largest number of jobs
}

// encodeJob is a chunk being encoded. The worker that opened it is its owner.
type encodeJob struct {
	visit      engine.Visit
	keep       bool          // a part of the old chunk is kept
	after      entry         // of the following chunk, or -1
	l          *coder.Layout // of this chunk: its dictionary, or the choice of the tuner
	old        coder.Reader
	close      io.Closer
	oldSpecial chunk.Special
	oldValue   []byte
	oldType    int    // item size of the chunk
	ref        []byte // set by the owner before helpers begin

	// Used only by the owner.
	asked int    // the block of the last answer of the plan, or -1
	kept  []byte // the stored bytes of a block that is copied
	out   []byte // the chunk
	h     coder.Header

	// Guarded by the lock of Loop.
	next   int      // the owner has begun the blocks before this one
	end    int      // helpers have begun this block and those after it
	away   int      // helpers that are encoding a block
	blocks [][]byte // encoded by helpers; empty until then
	done   bool     // the chunk may be written
}

// encodePlan is Encode of engine.Batch.
func (b *Batch) encodePlan(ctx context.Context, size int, p engine.WritePlan, all int64) error {
	if err := b.checkEditable(); err != nil {
		return err
	}
	if b.err != nil {
		return b.err
	}
	l, err := b.f.plugins.Layout(b.next.cparams(), size)
	if err == nil { // the header asks for these blocks, and the frame must justify their memory
		const header = 24 // of a slice
		err = b.f.checkAlloc(ctx, max(int64(l.BlockLen(0)), header*int64(l.NumBlocks)))
	}
	if err != nil {
		return b.f.wrap("chunk", -1, err)
	}
	e, ok := b.f.encoders.Get().(*encoding)
	if !ok {
		e = &encoding{}
		e.work = e.runWorker
	}
	if all > 0 {
		b.size = sizeEstimate{all: all}
		defer func() { b.size = sizeEstimate{} }()
	}
	workers := b.f.workersFor(ctx, blocksOf(all, l), int64(l.BlockLen(0)))
	e.Start(ctx)
	if p, ok := p.(engine.Waiter); ok {
		p.SetContext(e.Cancelable())
	}
	e.b, e.s, e.plan, e.l = b, &snapshot{inherited: b.next.inherited, draft: true}, p, l
	e.chunks, e.most, e.last = b.next.index.n, 2*workers, false
	if e.tuner = b.f.tuner; e.tuner != nil {
		e.tuner.Expect(all)
	}
	err = e.run(workers)
	if err == nil && e.tuner != nil {
		err = b.record(e.tuner)
	}
	e.b, e.s, e.plan, e.l, e.tuner = nil, nil, nil, nil, nil
	b.f.encoders.Put(e)
	return b.fail(err)
}

// blocksOf estimates the number of blocks of a call of Encode from the size of the content in bytes. More goroutines
// than blocks would be idle. The result is at least GOMAXPROCS, because a call that writes parts of chunks may have
// more blocks than estimated.
func blocksOf(all int64, l *coder.Layout) int64 {
	if all <= 0 {
		return math.MaxInt64
	}
	chunks := all/int64(max(1, l.NBytes)) + 1
	blocks := chunks * int64(max(1, l.NumBlocks)) // no overflow: a block has a byte or more
	return max(blocks, int64(runtime.GOMAXPROCS(0)))
}

// run encodes all chunks. It closes old chunks that are still open after an error or a panic. After a panic, the batch
// can only be rolled back.
func (e *encoding) run(workers int) error {
	returned := false
	defer e.b.failUnless(&returned)
	defer func() {
		for _, j := range e.jobs {
			e.recycle(j)
		}
		e.jobs = e.jobs[:0]
	}()
	e.b.f.pool.Run(workers, e.work)
	returned = true
	return e.Finish()
}

// runWorker is the loop of a worker.
func (e *encoding) runWorker(int) {
	f := e.b.f
	w := f.getWorker()
	e.Work(func() sched.Next { return e.step(w) })
	f.putWorker(w)
}

// step writes the first chunk, opens and encodes the next one, or helps with a block.
func (e *encoding) step(w *worker) sched.Next {
	switch {
	case len(e.jobs) > 0 && e.jobs[0].done && !e.writing:
		e.write()
		return sched.Again
	case !e.last && !e.tuning && len(e.jobs) < e.most:
		e.open(w)
		return sched.Again
	}
	for _, j := range e.jobs {
		if j.next < j.end {
			e.help(w, j)
			return sched.Again
		}
	}
	if e.last && len(e.jobs) == 0 {
		return sched.Done
	}
	return sched.Wait
}

// open opens the next chunk of the plan, and encodes it.
func (e *encoding) open(w *worker) {
	j := new(encodeJob)
	if n := len(e.idle); n > 0 {
		j, e.idle = e.idle[n-1], e.idle[:n-1]
	}
	// The new job uses the memory of the old one.
	*j = encodeJob{visit: j.visit, old: j.old, ref: j.ref[:0], asked: -1, blocks: j.blocks, kept: j.kept, out: j.out}
	if j.visit.Keep = false; !e.plan.Next(&j.visit) {
		e.last = true
		e.idle = append(e.idle, j)
		e.Wake()
		return
	}
	if j.keep = j.visit.Keep; j.visit.Chunk == e.chunks {
		e.chunks++
		j.keep = false
	}
	j.after = -1
	if j.keep && !(e.writing && e.jobs[0].visit.Chunk == j.visit.Chunk+1) { // otherwise write may change the entry
		j.after = e.s.index.after(j.visit.Chunk)
	}
	j.l = e.l
	e.jobs = append(e.jobs, j)
	if e.tuner != nil && !j.keep && !e.tune(w, j) {
		return
	}
	j.done = e.Unlocked(func() error {
		err := e.prepare(w, j)
		if err == nil {
			err = e.build(w, j)
		}
		return err
	})
}

// tune sets the layout of a chunk without kept parts to the choice of the tuner. Chunks are opened in order, and none
// is opened during a trial. So the choice does not depend on the number of goroutines.
func (e *encoding) tune(w *worker, j *encodeJob) (ok bool) {
	size, blockSize := e.l.NBytes, e.l.BlockLen(0)
	if ok = true; e.tuner.Due(size) {
		e.tuning = true
		ok = e.Unlocked(func() error {
			return e.tuner.Try(&tune.Chunk{Size: size, BlockSize: blockSize, Plain: func(k int) ([]byte, error) {
				return e.plain(w, j, k, e.answer(w, j, k))
			}})
		})
		e.tuning = false
	}
	if !ok {
		return false
	}
	l, err := e.tuner.Layout(size, blockSize)
	if err != nil {
		return e.Unlocked(func() error { return err })
	}
	j.l = l
	return true
}

// prepare opens the old chunk of a job, makes the Delta reference block, and trains the dictionary, as far as the job
// needs them.
func (e *encoding) prepare(w *worker, j *encodeJob) error {
	w.Chunk = int64(j.visit.Chunk)
	if j.keep {
		if err := e.openOld(w, j); err != nil {
			return err
		}
	}
	if j.l.NeedsReference {
		b, err := e.plain(w, j, 0, e.answer(w, j, 0))
		if err == nil {
			j.ref, err = w.Reference(j.ref[:0], j.l, b)
		}
		if err != nil {
			return err
		}
	}
	if j.l.NeedsDict {
		var err error
		if j.l, err = w.Train(j.l, func(k int) ([]byte, error) { return e.plain(w, j, k, e.answer(w, j, k)) }); err != nil {
			return err
		}
	}
	return nil
}

// openOld opens the chunk that a job replaces.
func (e *encoding) openOld(w *worker, j *encodeJob) error {
	f, s, i := e.b.f, e.s, j.visit.Chunk
	if err := f.checkBounds(s, i); err != nil {
		return err
	}
	special, err := s.index.at(i).special()
	if err != nil {
		return f.chunkError(s, i, err)
	}
	if j.oldSpecial, j.oldType = special, int(s.typeSize); special != chunk.Regular {
		return nil
	}
	if j.close, err = f.openChunk(s, s.src, w, &j.old, i, j.after, 1, true); err != nil {
		return err
	}
	h := &j.old.Header
	j.oldSpecial, j.oldValue, j.oldType = h.Special, j.old.Value, h.TypeSize
	if h.NBytes != e.l.NBytes || h.VLBlocks || j.oldSpecial == chunk.Regular && h.BlockSize != e.l.BlockLen(0) {
		return f.chunkError(s, i, corrupt("%d bytes in blocks of %d, not %d in %d", h.NBytes, h.BlockSize, e.l.NBytes, e.l.BlockLen(0)))
	}
	return nil
}

// ask asks the plan about block k of a job.
func (e *encoding) ask(w *worker, j *encodeJob, k int) *engine.Block {
	b := &w.answers[0]
	e.plan.Block(b, &j.visit, k, k*e.l.BlockLen(0), e.l.BlockLen(k))
	if !j.keep {
		b.Keep = engine.KeepNone
	}
	return b
}

// answer returns the answer of the plan to the owner of a job about block k. It asks the plan unless that was the last
// question.
func (e *encoding) answer(w *worker, j *encodeJob, k int) *engine.Block {
	if j.asked == k {
		return &w.answers[0]
	}
	j.asked = k
	return e.ask(w, j, k)
}

// plain returns the new content of block k. b is the answer of the plan.
func (e *encoding) plain(w *worker, j *encodeJob, k int, b *engine.Block) ([]byte, error) {
	n := e.l.BlockLen(k)
	if src := b.Direct(n); src != nil {
		return src, nil
	}
	dst := w.memory(n)
	if b.Keep != engine.KeepNone {
		if j.oldSpecial != chunk.Regular {
			coder.FillSpecial(dst, j.oldSpecial, j.oldValue, j.oldType, k*e.l.BlockLen(0))
		} else if err := w.DecodeBlock(dst, &j.old, k); err != nil {
			return nil, e.b.f.chunkError(e.s, j.visit.Chunk, err)
		}
	}
	return dst, b.Write(dst, b.Keep != engine.KeepNone)
}

// copyStored appends the stored bytes of block k of a job to dst and returns true, if the plan keeps all of the block.
func (e *encoding) copyStored(w *worker, j *encodeJob, k int, b *engine.Block, dst []byte) ([]byte, bool, error) {
	if b.Keep != engine.KeepAll || j.oldSpecial != chunk.Regular {
		return dst, false, nil
	}
	dst, ok, err := w.CopyBlock(dst, j.l, &j.old, k)
	if err != nil {
		err = e.b.f.chunkError(e.s, j.visit.Chunk, err)
	}
	return dst, ok, err
}

// mostAhead is the largest number of bytes that are allocated for a chunk before its size is known.
const mostAhead = 16 << 20

// build encodes the chunk of a job, except for the blocks that helpers take.
func (e *encoding) build(w *worker, j *encodeJob) error {
	if n := min(e.l.NBytes+chunk.MaxOverhead, mostAhead); cap(j.out) < n {
		j.out = make([]byte, 0, n)
	}
	if !j.l.Stored {
		n := e.l.NumBlocks
		j.blocks = slices.Grow(j.blocks[:0], n)[:n]
		for k := range j.blocks {
			j.blocks[k] = j.blocks[k][:0]
		}
		e.Lock()
		j.end = n
		e.Wake()
		e.Unlock()
	}
	defer func() { // let no helper begin a block, and wait for those that have begun
		e.Lock()
		defer e.Unlock()
		for j.end = 0; j.away > 0; {
			e.Wait()
		}
	}()
	out, h, err := w.Build(j.out[:0], j.l, j.ref, coder.Blocks{
		Ready:    func(k int) ([]byte, error) { return e.ready(w, j, k) },
		Shuffled: func(k int, dst coder.Shuffled) bool { return e.answer(w, j, k).WriteShuffled(dst) },
		Plain:    func(k int) ([]byte, error) { return e.plain(w, j, k, e.answer(w, j, k)) },
	})
	j.out, j.h = out, h
	return err
}

// ready returns block k of a job if a helper has encoded it, or if its stored bytes are copied unchanged. Otherwise it
// returns nil, and the owner encodes the block.
func (e *encoding) ready(w *worker, j *encodeJob, k int) ([]byte, error) {
	e.Lock()
	for k >= j.end && len(j.blocks[k]) == 0 && e.Err() == nil {
		e.Wait()
	}
	err, mine := e.Err(), k < j.end
	if mine {
		j.next = k + 1
	}
	e.Unlock()
	if err == nil {
		err = e.Canceled()
	}
	switch {
	case err != nil: // a helper may still be encoding the block
		return nil, err
	case !mine:
		return j.blocks[k], nil
	}
	var ok bool
	if j.kept, ok, err = e.copyStored(w, j, k, e.answer(w, j, k), j.kept[:0]); ok {
		return j.kept, nil
	}
	return nil, err
}

// help encodes the last block of another worker's job that no worker has begun.
func (e *encoding) help(w *worker, j *encodeJob) {
	j.end--
	j.away++
	k := j.end
	dst := j.blocks[k]
	defer func() { // the owner of the job waits for it
		j.blocks[k] = dst
		j.away--
		e.Wake()
	}()
	e.Unlocked(func() error {
		w.Chunk = int64(j.visit.Chunk)
		b := e.ask(w, j, k)
		var ok bool
		var err error
		if dst, ok, err = e.copyStored(w, j, k, b, dst); ok || err != nil {
			return err
		}
		dst, ok, err = w.EncodeShuffled(dst, j.l, k, j.ref, b.WriteShuffled)
		if ok || err != nil {
			return err
		}
		src, err := e.plain(w, j, k, b)
		if err == nil {
			dst, err = w.EncodeBlock(dst, j.l, k, src, j.ref)
		}
		return err
	})
}

// write writes the first job.
func (e *encoding) write() {
	j := e.jobs[0]
	e.writing = true
	e.Unlocked(func() error {
		closeSource(j.close)
		j.close = nil
		if e.b.sink != nil {
			return e.b.sink(j.visit.Chunk, j.out, &j.h)
		}
		if j.visit.Chunk == e.b.next.index.n {
			e.b.size.add(len(j.out), e.l.NBytes)
			return e.b.insertChunk(j.visit.Chunk, j.out, &j.h)
		}
		return e.b.replaceChunk(j.visit.Chunk, j.out, &j.h)
	})
	e.writing = false
	e.jobs = slices.Delete(e.jobs, 0, 1)
	e.recycle(j)
}

// recycle keeps the memory of a job for the next one.
func (e *encoding) recycle(j *encodeJob) {
	closeSource(j.close) // after an error or a panic; otherwise write has closed it
	j.close = nil
	e.idle = append(e.idle, j)
}
