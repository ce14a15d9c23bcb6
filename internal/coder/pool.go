package coder

import (
	"context"
	"math"
	"sync"

	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/task"
)

// Pool lends workers to goroutines and keeps them between calls. It is safe for concurrent use.
type Pool struct {
	sched.Pool // the helper goroutines

	o        Options
	workers  sync.Pool // of *Worker, each for one goroutine
	teams    sync.Pool // of *Worker, each the first of several
	builders sync.Pool // of *builder
}

// NewPool returns a pool whose workers use o.
func NewPool(o *Options) *Pool {
	p := new(Pool)
	if o != nil {
		p.o = *o
	}
	return p
}

// Options returns the options of the pool's workers. The caller must not change them.
func (p *Pool) Options() *Options { return &p.o }

// Get returns a worker for the calling goroutine.
func (p *Pool) Get() *Worker {
	if w, ok := p.workers.Get().(*Worker); ok {
		w.Chunk = -1
		return w
	}
	return p.NewWorker()
}

// NewWorker returns a worker that the caller keeps.
func (p *Pool) NewWorker() *Worker {
	w := &Worker{pool: p, o: &p.o, Chunk: -1}
	w.workers = []*Worker{w}
	return w
}

// each calls f for the numbers below n on workers of one pool, with the context that they serve. See sched.Each.
func each(workers []*Worker, n int, f func(w *Worker, k int) error) error {
	return sched.Each(task.Context(workers[0].ctx), &workers[0].pool.Pool, workers, n, f)
}

// spread is each without the order. See sched.Spread.
func spread(workers []*Worker, n int, f func(w *Worker, k int) error) error {
	return sched.Spread(task.Context(workers[0].ctx), &workers[0].pool.Pool, workers, n, f)
}

// Put returns a worker to the pool. The caller must not use it afterwards.
func (p *Pool) Put(w *Worker) {
	w.done()
	p.workers.Put(w)
}

// done forgets the call and the chunk that the worker has served, and the dictionary, which may be memory of the
// caller.
func (w *Worker) done() {
	w.ctx, w.encoding, w.decoding = nil, encoding{}, decoding{}
	for i := range w.decoders {
		if d := &w.decoders[i]; d.dict {
			d.dec.(codecs.DictDecoder).SetDict(nil) // returns no error
		}
	}
}

// getWorkers returns as many workers as n jobs need and the options allow, at least one, for a call with ctx and for
// chunk number, which is -1 if it is not known. The slice is memory of the first worker.
//
// Several workers stay together. The first always serves the goroutine of the caller, so the other of two serves the
// same helper goroutine, too. Otherwise the memory of both, which is in the cache of one CPU, would move to another CPU
// with each call, because a sync.Pool returns first what was put first.
func (p *Pool) getWorkers(ctx context.Context, n int, number int64) []*Worker {
	n = task.Workers(p.o.Concurrency, int64(n))
	if n == 1 {
		w := p.Get()
		w.ctx, w.Chunk = ctx, number
		return w.workers[:1]
	}
	first, ok := p.teams.Get().(*Worker)
	if !ok {
		first = p.NewWorker()
	}
	for len(first.workers) < n {
		first.workers = append(first.workers, p.NewWorker())
	}
	workers := first.workers[:n]
	for _, w := range workers {
		w.ctx, w.Chunk = ctx, number
	}
	return workers
}

// getDecoders is getWorkers for n blocks of a chunk. If the blocks are large, their memory stays within the limit
// of the options, or there is one worker.
func (p *Pool) getDecoders(ctx context.Context, n int, r *Reader, number int64) []*Worker {
	n = task.Workers(p.o.Concurrency, int64(n))
	return p.getWorkers(ctx, WorkersFor(n, int64(r.LargestBlock), func(n int64) int64 {
		if p.o.limit() < 0 {
			return math.MaxInt64
		}
		limit, _, _ := p.o.allows(min(n, MemoryRatio*int64(r.CBytes)), FreeBytes, &r.Header, r.src, r.base, r.mem)
		return limit
	}), number)
}

// HeldBlocks is the largest number of blocks in the memory of a worker that decodes: the result of a prefix, one buffer
// of the filters, or two if they are several, and in an opened chunk the reference block of Delta.
const HeldBlocks = 4

// WorkersFor returns how many of n workers may hold blocks of size bytes at the same time: all if the blocks are small,
// and otherwise as many as the limit on memory allows, but at least one. limit(n) returns this limit, or a lower number
// that is at least n.
func WorkersFor(n int, size int64, limit func(n int64) int64) int {
	const large = 8 << 20
	if n == 1 || size <= large {
		return n
	}
	return int(max(1, min(int64(n), limit(HeldBlocks*size*int64(n))/(HeldBlocks*size))))
}

// putWorkers returns workers to the pool. It must not be called after a panic: their codecs may be in any state.
func (p *Pool) putWorkers(workers []*Worker) {
	if len(workers) == 1 {
		p.Put(workers[0])
		return
	}
	for _, w := range workers {
		w.done()
	}
	p.teams.Put(workers[0])
}
