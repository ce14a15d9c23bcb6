package frame

import (
	"context"
	"io"
	"runtime/debug"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/blockcache"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/sched"
)

// decoding is one call of Decode. The blocks of all its chunks are one queue for the workers. A worker that finds no
// block left in the opened chunks opens the next chunk, while other workers continue.
type decoding struct {
	sched.Loop
	f         *Frame
	s         *snapshot
	plan      engine.ReadPlan
	blockSize int
	blockwise bool            // each block is read when it is decoded
	compare   bool            // see mustCheck
	callCtx   context.Context // of reading and of waiting for bytes; those of a Source end with the first error
	from      io.ReaderAt     // the bytes of s, with this context
	bound     storage.Bound
	cache     *blockcache.Cache[*snapshot] // of blocks, or nil if this call does not use it
	prefetch  *prefetcher                  // of this call, or nil
	pass      *chunkPass                   // of this call and others, or nil
	workers   int
	work      func(int) // runWorker

	// Guarded by the lock of Loop. Methods that step calls hold it; functions passed to Unlocked do not.
	jobs    []*decodeJob // opened chunks, and those that are being opened
	idle    []*decodeJob // finished jobs, for reuse
	opening int
	last    bool // the plan has no more chunks
	most    int  // workers that may decode and open chunks: those below most
}

// decodeJob is an opened chunk.
type decodeJob struct {
	visit  engine.Visit
	r      coder.Reader
	ahead  *chunkAhead // bytes of the chunk that were read before, or nil
	close  io.Closer
	first  int  // first needed block, if visit.Blocks is empty
	next   int  // next block to decode
	n      int  // blocks needed; 0 until the chunk is open
	active int  // blocks being decoded
	two    bool // two blocks are decoded faster at a time
	most   int  // workers that may hold blocks of this chunk
}

// decodePlan is Decode of engine.View, without the check whether s was overwritten. pass has the bytes of the chunks of
// p, or is nil. See mustCheck for compare, which is always true for the draft of a batch.
func (f *Frame) decodePlan(ctx context.Context, s *snapshot, pass *chunkPass, compare bool, p engine.ReadPlan, blocks int64, blockSize int) error {
	d, ok := f.decodings.Get().(*decoding)
	if !ok {
		d = &decoding{f: f}
		d.work = d.runWorker
	}
	d.Start(ctx)
	d.s, d.plan, d.blockSize, d.last = s, p, blockSize, false
	// Decoding finds the bytes of a long block that was read just before in the nearest cache. Reads of sources other
	// than files take too long.
	d.blockwise = s.file && s.nbytes > 0 && float64(s.blockSize)*float64(s.cbytes)/float64(s.nbytes) >= 16<<10
	d.workers = f.workersFor(ctx, blocks, max(int64(blockSize), int64(s.blockSize)))
	d.most = d.workers
	d.callCtx, d.from, d.pass = ctx, s.src, pass
	d.compare = compare || s.draft
	if d.cache = nil; f.cache != nil && !d.compare {
		size := s.assumedBlockSize()
		if most := f.cache.Most(); blocks <= most/4/size && blocks <= most/2/(size+blockcache.Overhead) {
			d.cache = f.cache
		}
	}
	if s.remote {
		if d.workers > 1 {
			d.callCtx = d.Cancelable() // the others may wait for the source when one fails
		}
		d.from = d.bound.Bind(d.callCtx, s.src)
		if src := s.ranges(); src != nil && pass == nil {
			d.prefetch = newPrefetcher(d.callCtx, d, src)
		}
	}
	err := d.run()
	d.s, d.plan, d.cache, d.from, d.prefetch, d.pass = nil, nil, nil, nil, nil, nil
	d.callCtx, d.bound = nil, storage.Bound{}
	f.decodings.Put(d)
	return err
}

// run decodes all blocks. It closes the chunks that are still open after an error or a panic.
func (d *decoding) run() error {
	defer func() {
		for len(d.jobs) > 0 {
			d.finish(d.jobs[0])
		}
	}()
	if p := d.prefetch; p != nil {
		defer p.stop()
	}
	d.f.pool.Run(d.workers, d.work)
	err := d.Finish()
	if p := d.prefetch; p != nil {
		p.stop()
		p.exit.Continue()
	}
	return err
}

// runWorker is the loop of a worker.
func (d *decoding) runWorker(i int) {
	w := d.f.getWorker()
	d.Work(func() sched.Next { return d.step(w, i) })
	d.f.putWorker(w)
}

// step is a step of worker i. It decodes some blocks of an opened chunk, or opens the next one.
func (d *decoding) step(w *worker, i int) sched.Next {
	if i < d.most {
		for _, j := range d.jobs {
			if j.next < j.n {
				d.decodeRun(w, j)
				return sched.Again
			}
		}
		if !d.last {
			d.openNext(w)
			return sched.Again
		}
	}
	if d.last && d.opening == 0 {
		return sched.Done
	}
	return sched.Wait
}

// decodeRun decodes the next blocks of a job. They are consecutive, because one CPU loads neighboring input and output
// faster. There are fewer of them towards the end of the job, and several have at most 1 MiB, so that little work is
// wasted if another worker fails.
func (d *decoding) decodeRun(w *worker, j *decodeJob) {
	const longest, most = 32, 1 << 20
	left := j.n - j.next
	n := min(longest, left/(4*d.workers), most/max(1, j.r.BlockLen(j.needed(j.next))))
	if j.two && left >= 2*d.workers {
		n = max(2, n&^1)
	} else {
		n = max(1, n)
	}
	i := j.next
	j.next += n
	j.active += n
	ok := d.Unlocked(func() error { return d.decodeBlocks(w, j, i, n) })
	if j.active -= n; ok && j.active == 0 && j.next == j.n {
		d.finish(j)
	}
}

// decodeBlocks decodes n needed blocks of a job, starting with the i-th, two at a time if that is faster.
func (d *decoding) decodeBlocks(w *worker, j *decodeJob, i, n int) (err error) {
	if d.s.mapped != nil {
		defer recoverFault(d.s.mapped, debug.SetPanicOnFault(true), d.f, j.visit.Chunk, w, &err)
	}
	w.Chunk = int64(j.visit.Chunk)
	for end := i + n; i < end; {
		if err := d.Canceled(); err != nil {
			return err
		}
		err := error(nil)
		if k := j.needed(i); j.two && n > 1 {
			err = d.decodeTwo(w, j, [2]int{k, j.needed(i + 1)})
			i += 2
		} else {
			d.plan.Block(&w.answers[0], &j.visit, k, j.r.BlockOffset(k), j.r.BlockLen(k))
			err = d.decodeBlock(w, j, k, &w.answers[0])
			i++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openNext opens the next chunk of the plan.
func (d *decoding) openNext(w *worker) {
	var j *decodeJob
	if n := len(d.idle); n > 0 {
		j, d.idle = d.idle[n-1], d.idle[:n-1]
	} else {
		j = new(decodeJob)
	}
	if !d.next(j) {
		d.last = true
		d.idle = append(d.idle, j)
		d.Wake()
		return
	}
	j.first, j.next, j.n, j.active, j.close, j.most = 0, 0, 0, 0, nil, d.workers
	d.jobs = append(d.jobs, j)
	d.opening++
	var n int
	ok := d.Unlocked(func() (err error) {
		n, err = d.open(w, j)
		return err
	})
	d.opening--
	d.most = min(d.most, j.most)
	if j.n = n; ok && n == 0 {
		d.finish(j)
	}
}

// next sets the visit of a job to the next chunk of the plan, or returns false after the last one.
func (d *decoding) next(j *decodeJob) bool {
	if d.prefetch != nil {
		return d.prefetch.next(j)
	}
	j.visit.Blocks, j.visit.From, j.visit.To = j.visit.Blocks[:0], 0, 0
	if !d.plan.Next(&j.visit) {
		return false
	}
	if d.pass != nil {
		j.ahead = d.pass.find(d.callCtx, d.from, &j.visit)
	}
	return true
}

// open opens the chunk of a job and returns the number of needed blocks. It passes a special value to the plan and
// returns 0.
func (d *decoding) open(w *worker, j *decodeJob) (blocks int, err error) {
	if d.s.mapped != nil {
		defer recoverFault(d.s.mapped, debug.SetPanicOnFault(true), d.f, j.visit.Chunk, w, &err)
	}
	f, s, v := d.f, d.s, &j.visit
	w.Chunk = int64(v.Chunk)
	if err := f.checkFetched(s, v.Chunk); err != nil {
		return 0, err
	}
	special, err := s.index.at(v.Chunk).special()
	if err != nil {
		return 0, f.chunkError(s, v.Chunk, err)
	}
	if special != chunk.Regular {
		n := s.chunkLen(v.Chunk)
		if n < 0 {
			return 0, f.chunkError(s, v.Chunk, errNoSize())
		}
		if special == chunk.NaNs && s.typeSize != 4 && s.typeSize != 8 {
			return 0, f.chunkError(s, v.Chunk, corrupt("NaNs of %d bytes", s.typeSize))
		}
		if f.opts.Postfilter == nil {
			return 0, d.plan.Special(v, special, nil, int(s.typeSize), int(n))
		}
		b, err := f.specialChunk(s, v.Chunk)
		if err == nil {
			err = w.Open(&j.r, b)
		}
		if err != nil {
			return 0, err
		}
	} else {
		from, share := d.from, d.share(v)
		if j.ahead != nil {
			if err := j.ahead.wait(d.callCtx); err != nil {
				return 0, err
			}
			from, share = j.ahead, j.ahead.share
		}
		if j.close, err = f.openChunk(s, from, w, &j.r, v.Chunk, s.index.after(v.Chunk), share, d.compare); err != nil {
			return 0, err
		}
	}
	r := &j.r
	if r.Special != chunk.Regular && f.opts.Postfilter == nil {
		return 0, d.plan.Special(v, r.Special, r.Value, r.TypeSize, r.NBytes)
	}
	blocks = r.NumBlocks
	j.most = f.workersFor(d.callCtx, int64(d.workers), int64(r.LargestBlock)) // the block size of s may be wrong
	if want := d.blockSize; want > 0 && r.VLBlocks {
		return 0, f.chunkError(s, v.Chunk, corrupt("blocks of variable size, not of %d bytes", want))
	} else if want > 0 && r.BlockSize != want {
		return 0, f.chunkError(s, v.Chunk, corrupt("blocks of %d bytes, not %d", r.BlockSize, want))
	}
	switch {
	case len(v.Blocks) > 0:
		blocks = len(v.Blocks)
		if last := int(v.Blocks[blocks-1]); last >= r.NumBlocks {
			return 0, f.chunkError(s, v.Chunk, corrupt("%d blocks, block %d wanted", r.NumBlocks, last))
		}
	case v.To > 0 && !r.VLBlocks:
		j.first = v.From / r.BlockSize
		blocks = min((v.To-1)/r.BlockSize+1, blocks) - j.first
	}
	j.two = d.cache == nil && w.PrefersPairs(r)
	if d.cache == nil && j.ahead == nil && !d.blockwise {
		r.ReadAhead(j.first, blocks, v.Blocks)
	}
	return blocks, nil
}

// share estimates the fraction of a chunk that a visit needs. It returns 0 if reading block by block is best.
func (d *decoding) share(v *engine.Visit) float64 {
	n := float64(d.s.chunkLen(v.Chunk))
	switch {
	case n <= 0:
		return 1
	case d.blockwise:
		return 0
	case len(v.Blocks) > 0 && d.s.blockSize > 0:
		return float64(len(v.Blocks)) * float64(d.s.blockSize) / n
	case v.To > 0:
		return float64(v.To-v.From) / n
	}
	return 1
}

// needed returns the number of the i-th needed block in its chunk.
func (j *decodeJob) needed(i int) int {
	if len(j.visit.Blocks) > 0 {
		return int(j.visit.Blocks[i])
	}
	return j.first + i
}

// mostTwo is the largest size of two blocks, in bytes, that are decoded at a time to memory of the worker. They stay in
// the cache of the CPU.
const mostTwo = 1 << 20

// decodeTwo decodes two blocks at a time if both are decoded directly or neither is, and if most of their bytes are
// needed. Items that decodeBlock can copy from shuffled blocks are left to it.
func (d *decoding) decodeTwo(w *worker, j *decodeJob, k [2]int) error {
	r := &j.r
	var dst [2][]byte
	size, need := 0, 0
	for i, k := range k {
		n := r.BlockLen(k)
		d.plan.Block(&w.answers[i], &j.visit, k, r.BlockOffset(k), n)
		dst[i] = w.answers[i].Direct(n)
		size += n
		need += w.answers[i].Need
	}
	direct := dst[0] != nil
	if direct != (dst[1] != nil) || !direct && (size > mostTwo || r.ByPlane) || need < size*3/4 {
		if err := d.decodeBlock(w, j, k[0], &w.answers[0]); err != nil {
			return err
		}
		return d.decodeBlock(w, j, k[1], &w.answers[1])
	}
	if !direct {
		b, n := w.memory(size), r.BlockLen(k[0])
		dst[0], dst[1] = b[:n:n], b[n:]
	}
	if err := w.DecodePair(dst, r, k); err != nil || direct {
		return d.chunkError(j, err)
	}
	if err := w.answers[0].Read(dst[0]); err != nil {
		return err
	}
	return w.answers[1].Read(dst[1])
}

// decodeBlock decodes the bytes of block k of a job that the answer b of the plan needs, and moves the items.
func (d *decoding) decodeBlock(w *worker, j *decodeJob, k int, b *engine.Block) error {
	if d.cache != nil {
		return d.decodeCached(w, j, k, b)
	}
	n := j.r.BlockLen(k)
	if dst := b.Direct(n); dst != nil {
		return d.chunkError(j, w.DecodeBlock(dst, &j.r, k))
	}
	if b.ItemSize > 0 {
		s, ok, err := w.DecodeShuffled(&j.r, k, b.Need)
		if err != nil {
			return d.chunkError(j, err)
		}
		if ok && b.ReadShuffled(s) {
			return nil
		}
		if ok {
			block := w.memory(n)
			s.Unshuffle(block)
			return b.Read(block)
		}
	}
	block := w.memory(n)
	if err := w.DecodePrefix(block, &j.r, k, b.Need); err != nil {
		return d.chunkError(j, err)
	}
	return b.Read(block)
}

// decodeCached is decodeBlock with the cache.
func (d *decoding) decodeCached(w *worker, j *decodeJob, k int, b *engine.Block) error {
	key := blockcache.Key{Chunk: j.visit.Chunk, Block: k}
	data := d.cache.Get(d.s, key)
	if data == nil {
		data = make([]byte, j.r.BlockLen(k))
		if err := w.DecodeBlock(data, &j.r, k); err != nil {
			return d.chunkError(j, err)
		}
		if d.f.snap.Load() == d.s {
			d.cache.Put(d.s, key, data)
		}
	}
	return b.Read(data)
}

func (d *decoding) chunkError(j *decodeJob, err error) error {
	if err == nil {
		return nil
	}
	return d.f.chunkError(d.s, j.visit.Chunk, err)
}

// finish removes a job, after its last block or at the end of the call.
func (d *decoding) finish(j *decodeJob) {
	i := slices.Index(d.jobs, j)
	d.jobs = slices.Delete(d.jobs, i, i+1)
	closeSource(j.close)
	j.close = nil
	if j.ahead != nil {
		j.ahead = nil
		j.r.Release()
	}
	d.idle = append(d.idle, j)
}
