package coder

import (
	"sync"

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
	w, ok := p.workers.Get().(*Worker)
	if !ok {
		w = p.newWorker()
	}
	w.Chunk = -1
	return w
}

func (p *Pool) newWorker() *Worker { return &Worker{pool: p, o: &p.o, Chunk: -1} }

// each calls f for the numbers below n on workers of one pool. See sched.Each.
func each(workers []*Worker, n int, f func(w *Worker, k int) error) error {
	return sched.Each(&workers[0].pool.Pool, workers, n, f)
}

// Put returns a worker to the pool. The caller must not use it afterwards.
func (p *Pool) Put(w *Worker) {
	w.done()
	p.workers.Put(w)
}

// done forgets the chunk that the worker has served.
func (w *Worker) done() { w.encoding, w.decoding = encoding{}, decoding{} }

// getWorkers returns as many workers as n jobs need and the options allow, at least one. The slice is memory of the
// first worker.
//
// Several workers stay together. The first always serves the goroutine of the caller, so the other of two serves the
// same helper goroutine, too. Otherwise the memory of both, which is in the cache of one CPU, would move to another CPU
// with each call, because a sync.Pool returns first what was put first.
func (p *Pool) getWorkers(n int) []*Worker {
	n = task.Workers(p.o.Concurrency, int64(n))
	if n == 1 {
		return p.Get().alone()
	}
	first, ok := p.teams.Get().(*Worker)
	if !ok {
		first = p.newWorker()
		first.workers = append(first.workers, first)
	}
	for len(first.workers) < n {
		first.workers = append(first.workers, p.newWorker())
	}
	return first.workers[:n]
}

// alone returns a slice of w only, which is memory of w.
func (w *Worker) alone() []*Worker {
	w.workers = append(w.workers[:0], w)
	return w.workers
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
