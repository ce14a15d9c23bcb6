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
		w = &Worker{pool: p, o: &p.o}
	}
	w.Chunk = -1
	return w
}

// Put returns a worker to the pool. The caller must not use it afterwards.
func (p *Pool) Put(w *Worker) {
	w.encoding, w.decoding = encoding{}, decoding{} // they serve one chunk
	p.workers.Put(w)
}

// getWorkers returns as many workers as n jobs need and the options allow, at least one. The slice is memory of the
// first worker.
func (p *Pool) getWorkers(n int) []*Worker {
	w := p.Get()
	w.workers = append(w.workers[:0], w)
	for range task.Workers(p.o.Concurrency, int64(n)) - 1 {
		w.workers = append(w.workers, p.Get())
	}
	return w.workers
}

// putWorkers returns workers to the pool. It must not be called after a panic: their codecs may be in any state.
func (p *Pool) putWorkers(workers []*Worker) {
	for len(workers) > 0 {
		last := len(workers) - 1
		w := workers[last]
		workers[last], workers = nil, workers[:last]
		p.Put(w)
	}
}
