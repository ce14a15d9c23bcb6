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
	workers  sync.Pool // of *Worker
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

// Put returns a worker to the pool. The caller must not use it afterwards. It must not be called after a panic: the
// codecs of the worker may be in any state.
func (p *Pool) Put(w *Worker) {
	w.done()
	for _, helper := range w.workers {
		helper.done()
	}
	p.workers.Put(w)
}

// done forgets the chunk that the worker has served.
func (w *Worker) done() { w.encoding, w.decoding = encoding{}, decoding{} }

// team returns as many workers as n jobs need and the options allow: w and its helpers. Put returns them too. A worker
// keeps its helpers, so that each serves the same goroutine in the next call: the memory of a worker is in the cache of
// one CPU, and moving it to another takes longer than encoding a block of zeros.
func (w *Worker) team(n int) []*Worker {
	n = task.Workers(w.o.Concurrency, int64(n))
	if len(w.workers) == 0 {
		w.workers = append(w.workers, w)
	}
	for len(w.workers) < n {
		w.workers = append(w.workers, w.pool.newWorker())
	}
	return w.workers[:n]
}
