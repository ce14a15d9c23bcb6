package coder

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goblosc/blosc2/internal/task"
)

const (
	moment      = 30 * time.Microsecond // that goroutines wait awake for one another
	mostWaiting = 8                     // goroutines that wait for another call
)

// crew is the goroutines that help with the calls of a pool. It takes as long to wake an idle processor as to decode a
// dozen blocks. So one that has done its work stays awake for a moment, as a goroutine that lets all others run before it
// and asks for work again and again, and a call that comes meanwhile has its help at once.
type crew struct {
	calls   sync.Pool // of *call
	mates   sync.Pool // of *mate, none of which works
	mu      sync.Mutex
	waiting []*mate
}

// mate is a goroutine that helps.
type mate struct {
	crew *crew
	loop func()               // work
	next atomic.Pointer[call] // what to do next; set with crew.mu held, when it is taken from those that wait
}

// call is one of Pool.Run.
type call struct {
	f    func(i int)
	left atomic.Int32 // mates that have not yet done, which done does not tell
	last atomic.Int32 // the i of the mate that began last
	done sync.WaitGroup
	exit atomic.Pointer[task.Exit] // of the first mate whose call did not return
}

// Run calls f(i) for i = 0 to n-1 at a time, f(0) on the goroutine of the caller, and returns when all of these calls have
// returned. The other goroutines may stay for some 30 microseconds, to help with the next call of Run, but no more than
// eight of them, and as long as there is nothing else to do for the processor. Any number of goroutines may call it.
//
// If a call panics, Run waits for the others and panics with the same value, on the goroutine of the caller. If a call
// ends by runtime.Goexit, so does that goroutine. Calls that wait for each other must see to it that they do not wait for
// one that has panicked.
func (p *Pool) Run(n int, f func(i int)) {
	if n <= 1 {
		f(0)
		return
	}
	c, ok := p.crew.calls.Get().(*call)
	if !ok {
		c = new(call)
	}
	c.f = f
	c.left.Store(int32(n - 1))
	c.last.Store(0)
	c.done.Add(n - 1)
	p.crew.help(c, n-1)
	c.lead()
	x := c.exit.Swap(nil)
	c.f = nil
	p.crew.calls.Put(c)
	x.Continue()
}

// lead does the part of the caller, and waits for the mates, also when that part panics.
func (c *call) lead() {
	defer func() {
		soon(func() bool { return c.left.Load() == 0 })
		c.done.Wait()
	}()
	c.f(0)
}

// help has n mates do a call.
func (w *crew) help(c *call, n int) {
	w.mu.Lock()
	rest := max(0, len(w.waiting)-n)
	for _, m := range w.waiting[rest:] {
		m.next.Store(c)
		n--
	}
	w.waiting = w.waiting[:rest]
	w.mu.Unlock()
	for range n {
		m, ok := w.mates.Get().(*mate)
		if !ok {
			m = &mate{crew: w}
			m.loop = m.work
		}
		m.next.Store(c)
		go m.loop()
	}
	if n > 0 {
		// Idle threads hesitate, for tens of microseconds, to take the newest goroutine of a running one. So that is one
		// which has nothing to do.
		go func() {}()
	}
}

// work does calls as long as there are some.
func (m *mate) work() {
	for goesOn := true; goesOn; {
		goesOn = m.do(m.next.Swap(nil))
		if goesOn && !soon(func() bool { return m.next.Load() != nil }) {
			goesOn = !m.crew.leave(m)
		}
	}
	m.crew.mates.Put(m)
}

// do does the part of a mate in a call, and returns whether the mate now waits for another call.
func (m *mate) do(c *call) (waits bool) {
	task.Run(func() { c.f(int(c.last.Add(1))) }, func(x *task.Exit) {
		if x != nil {
			c.exit.CompareAndSwap(nil, x)
		}
		waits = !x.Goexit() && m.crew.wait(m)
		c.left.Add(-1)
		c.done.Done()
	})
	return waits
}

// wait puts a mate among those that wait, unless there are enough.
func (w *crew) wait(m *mate) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == mostWaiting {
		return false
	}
	w.waiting = append(w.waiting, m)
	return true
}

// leave takes a mate from those that wait. It returns false where it has got a call to do.
func (w *crew) leave(m *mate) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, m)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// soon reports whether something is done within a moment. Meanwhile others may run.
func soon(done func() bool) bool {
	for start := time.Now(); ; runtime.Gosched() {
		for range 50 {
			if done() {
				return true
			}
		}
		if time.Since(start) > moment {
			return false
		}
	}
}
