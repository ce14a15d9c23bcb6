package sched

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goblosc/blosc2/internal/task"
)

const (
	spin    = 30 * time.Microsecond // how long a goroutine stays awake and looks for work
	maxIdle = 8                     // goroutines of a Pool that look for work
)

// Pool starts the helper goroutines of calls. Waking an idle CPU takes as long as decoding a dozen blocks. So a helper
// that has finished stays awake for a moment: it polls for work and yields to other goroutines. A call that arrives in
// that time gets help at once. The zero Pool is ready for use. It must not be copied.
type Pool struct {
	calls   sync.Pool // of *call
	helpers sync.Pool // of *helper, not running
	mu      sync.Mutex
	idle    []*helper // helpers that look for work
}

// helper is a goroutine that takes part in calls.
type helper struct {
	pool *Pool
	loop func()               // the method value run, made once
	next atomic.Pointer[call] // the next call; set with pool.mu held, when the helper leaves Pool.idle
}

// call is one call of Pool.Run.
type call struct {
	f    func(i int)
	left atomic.Int32 // helpers that have not finished
	last atomic.Int32 // the i of the helper that started last
	done sync.WaitGroup
	exit atomic.Pointer[task.Exit] // of the first helper whose f did not return
}

// Run calls f(i) for i = 0 to n-1, all at the same time, and returns when all calls have returned. It calls f(0) on the
// goroutine of the caller. Up to eight of the other goroutines stay awake for about 30 µs, to help with the next Run,
// unless the CPU has other goroutines to run. Run is safe for concurrent use.
//
// If f panics, Run waits for the other calls and panics with the same value, on the goroutine of the caller. If f calls
// runtime.Goexit, that goroutine exits too. Calls of f that wait for each other must not wait for a call that has
// panicked.
func (p *Pool) Run(n int, f func(i int)) {
	if n <= 1 {
		f(0)
		return
	}
	c, ok := p.calls.Get().(*call)
	if !ok {
		c = new(call)
	}
	c.f = f
	c.left.Store(int32(n - 1))
	c.last.Store(0)
	c.done.Add(n - 1)
	p.help(c, n-1)
	c.lead()
	x := c.exit.Swap(nil)
	c.f = nil
	p.calls.Put(c)
	x.Continue()
}

// lead runs the caller's part, and waits for the helpers even if that part panics.
func (c *call) lead() {
	defer func() {
		soon(func() bool { return c.left.Load() == 0 })
		c.done.Wait()
	}()
	c.f(0)
}

// help gives a call to n helpers: idle ones first, then new goroutines.
func (p *Pool) help(c *call, n int) {
	p.mu.Lock()
	rest := max(0, len(p.idle)-n)
	for _, h := range p.idle[rest:] {
		h.next.Store(c)
		n--
	}
	p.idle = p.idle[:rest]
	p.mu.Unlock()
	for range n {
		h, ok := p.helpers.Get().(*helper)
		if !ok {
			h = &helper{pool: p}
			h.loop = h.run
		}
		h.next.Store(c)
		go h.loop()
	}
	if n > 0 {
		// An idle thread waits tens of microseconds before it steals the newest goroutine of a running thread. Start an
		// empty goroutine last, so that no helper is the newest.
		go func() {}()
	}
}

// run takes part in calls until no call arrives for a moment.
func (h *helper) run() {
	for more := true; more; {
		more = h.do(h.next.Swap(nil))
		if more && !soon(func() bool { return h.next.Load() != nil }) {
			more = !h.pool.leave(h)
		}
	}
	h.pool.helpers.Put(h)
}

// do runs the helper's part of a call, and reports whether the helper is now idle.
func (h *helper) do(c *call) (idle bool) {
	task.Run(func() { c.f(int(c.last.Add(1))) }, func(x *task.Exit) {
		if x != nil {
			c.exit.CompareAndSwap(nil, x)
		}
		idle = !x.Goexit() && h.pool.enter(h)
		c.left.Add(-1)
		c.done.Done()
	})
	return idle
}

// enter makes a helper idle. It returns false if there are enough idle helpers.
func (p *Pool) enter(h *helper) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == maxIdle {
		return false
	}
	p.idle = append(p.idle, h)
	return true
}

// leave removes a helper from the idle helpers. It returns false if the helper has received a call.
func (p *Pool) leave(h *helper) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.idle, h)
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	return i >= 0
}

// soon polls done for a moment, and reports whether it has returned true. Other goroutines may run during that time.
func soon(done func() bool) bool {
	for start := time.Now(); ; runtime.Gosched() {
		for range 50 {
			if done() {
				return true
			}
		}
		if time.Since(start) > spin {
			return false
		}
	}
}
