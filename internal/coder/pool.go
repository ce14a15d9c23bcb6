package coder

import "sync"

// Pool hands out workers and keeps them between calls. It is safe for use by any number of goroutines.
type Pool struct {
	o        Options
	p        sync.Pool // of *Worker
	builders sync.Pool // of *builder
	crew     crew
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
	w, ok := p.p.Get().(*Worker)
	if !ok {
		w = &Worker{pool: p, o: &p.o}
	}
	w.Chunk = -1
	return w
}

// Put gives a worker back. The caller must not use it any more.
func (p *Pool) Put(w *Worker) {
	w.forget()
	p.p.Put(w)
}
