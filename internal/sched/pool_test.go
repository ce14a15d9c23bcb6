package sched

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/internal/race"
)

// together returns a function that returns when n goroutines are in it, and the number of its calls for each i.
func together(n int) (f func(int), calls []atomic.Int64) {
	var all sync.WaitGroup
	all.Add(n)
	calls = make([]atomic.Int64, n)
	return func(i int) {
		calls[i].Add(1)
		all.Done()
		all.Wait()
	}, calls
}

// TestRun checks that the requested number of calls run at the same time, from several goroutines and from within a
// call, with and without idle helpers.
func TestRun(t *testing.T) {
	var p Pool
	run := func(n int) {
		f, calls := together(max(1, n))
		p.Run(n, f)
		for i := range calls {
			if k := calls[i].Load(); k != 1 {
				t.Errorf("%d calls of %d of %d", k, i, n)
			}
		}
	}
	for n := range 20 {
		run(n)
		run(20 - n)
	}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for range 300 {
				run(1 + rng.IntN(5))
				if rng.IntN(3) == 0 {
					time.Sleep(time.Duration(rng.Int64N(int64(2 * spin)))) // about when idle helpers leave
				}
			}
		})
	}
	wg.Wait()
	f, calls := together(9)
	p.Run(3, func(int) { p.Run(3, f) })
	if n := calls[0].Load() + calls[1].Load() + calls[2].Load(); n != 9 {
		t.Errorf("%d calls of 9", n)
	}
}

// TestRunLeaves checks that few goroutines wait for another call, and none after a while.
func TestRunLeaves(t *testing.T) {
	before := runtime.NumGoroutine()
	var p Pool
	waiting := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.idle)
	}
	for range 20 {
		f, _ := together(3 * maxIdle)
		p.Run(3*maxIdle, f)
		if n := waiting(); n > maxIdle {
			t.Errorf("%d goroutines wait", n)
		}
	}
	for i := 0; waiting() > 0 || runtime.NumGoroutine() > before; i++ {
		if i == 1000 {
			t.Fatalf("%d goroutines wait, %d in total, %d before", waiting(), runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestRunHelp checks that idle helpers take part in the next call.
func TestRunHelp(t *testing.T) {
	var p Pool
	const n = 4
	helpers := make([]*helper, n)
	for i := range helpers {
		helpers[i] = &helper{pool: &p}
		if !p.enter(helpers[i]) {
			t.Fatal("too many idle helpers")
		}
	}
	if !p.leave(helpers[1]) || p.leave(helpers[1]) {
		t.Error("a helper leaves once")
	}
	c := new(call)
	p.help(c, n-1)
	for i, h := range helpers {
		if got := h.next.Load(); (got == c) != (i != 1) {
			t.Errorf("helper %d: call %p of %p", i, got, c)
		}
		if p.leave(h) {
			t.Errorf("helper %d left, and has a call to do", i)
		}
	}
}

// TestRunAllocs checks that repeated calls allocate nothing.
func TestRunAllocs(t *testing.T) {
	if race.Enabled {
		t.Log("the race detector makes pools drop memory at random, so allocations cannot be counted")
		return
	}
	var p Pool
	var calls atomic.Int64
	f := func(int) { calls.Add(1) }
	pause := time.Duration(0)
	run := func() {
		p.Run(3, f)
		time.Sleep(pause)
	}
	for _, pause = range []time.Duration{0, 2 * spin} { // the second time, no helper is idle
		run()
		if n := testing.AllocsPerRun(200, run); n > 0 {
			t.Errorf("pause %v: %v allocations", pause, n)
		}
	}
	if calls.Load() != 2*3*202 {
		t.Errorf("%d calls", calls.Load())
	}
}
