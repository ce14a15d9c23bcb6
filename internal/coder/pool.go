package coder

import (
	"sync"

	"github.com/goblosc/blosc2/internal/sched"
)

// Pool hands out workers and keeps them between calls. It is safe for use by any number of goroutines.
type Pool struct {
	sched.Pool // the goroutines

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

// Put gives a worker back. The caller must not use it any more.
func (p *Pool) Put(w *Worker) {
	w.forget()
	p.workers.Put(w)
}

// team returns as many workers as n pieces of work need and the options allow, at least one. The slice belongs to the
// first of them.
func (p *Pool) team(n int) []*Worker {
	w := p.Get()
	w.team = append(w.team[:0], w)
	for range p.o.workers(n) - 1 {
		w.team = append(w.team, p.Get())
	}
	return w.team
}

// putTeam gives the workers of a team back. After a panic it is not called: their codecs may be in any state.
func (p *Pool) putTeam(team []*Worker) {
	for len(team) > 0 {
		last := len(team) - 1
		w := team[last]
		team[last], team = nil, team[:last]
		p.Put(w)
	}
}
