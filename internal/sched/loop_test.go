package sched

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/internal/task"
)

// jobs is a call whose workers do n jobs. Job i needs job i/2 to be done.
type jobs struct {
	Loop
	next int
	done []bool
	left int
	do   func(i int) error
}

// run does n jobs on some goroutines, and returns the error and the number of workers that did not return.
func (c *jobs) run(ctx context.Context, workers, n int, do func(i int) error) (exits int, err error) {
	c.Start(ctx)
	c.next, c.done, c.left, c.do = 0, make([]bool, n), n, do
	var all sync.WaitGroup
	var mu sync.Mutex
	for range workers {
		all.Go(func() {
			task.Run(func() { c.Work(c.step) }, func(x *task.Exit) {
				if x != nil {
					mu.Lock()
					exits++
					mu.Unlock()
				}
			})
		})
	}
	all.Wait()
	return exits, c.Finish()
}

func (c *jobs) step() Next {
	switch {
	case c.left == 0:
		return Done
	case c.next == len(c.done) || c.next > 0 && !c.done[c.next/2] && c.next/2 < c.next:
		return Wait
	}
	i := c.next
	c.next++
	if c.Unlocked(func() error { return c.do(i) }) {
		c.done[i] = true
		c.left--
	}
	return Again
}

// TestLoop does jobs that depend on each other on several numbers of goroutines.
func TestLoop(t *testing.T) {
	var c jobs
	for workers := 1; workers <= 5; workers++ {
		var mu sync.Mutex
		times := make([]int, 500)
		if _, err := c.run(context.Background(), workers, len(times), func(i int) error {
			mu.Lock()
			defer mu.Unlock()
			times[i]++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i, n := range times {
			if n != 1 {
				t.Errorf("%d workers: job %d was done %d times", workers, i, n)
			}
		}
	}
}

// TestLoopError checks that the first error stops all workers, and that the Loop can be used again.
func TestLoopError(t *testing.T) {
	var c jobs
	first := errors.New("first")
	for workers := 1; workers <= 5; workers++ {
		if _, err := c.run(context.Background(), workers, 1000, func(i int) error {
			if i == 20 {
				return first
			}
			return nil
		}); err != first || c.left == 0 {
			t.Errorf("%d workers: error %v with %d jobs left", workers, err, c.left)
		}
		if _, err := c.run(context.Background(), workers, 10, func(int) error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

// TestLoopCanceled checks that canceling the context stops all workers, and that none begins with a canceled context.
func TestLoopCanceled(t *testing.T) {
	var c jobs
	for workers := 1; workers <= 5; workers++ {
		ctx, cancel := context.WithCancel(context.Background())
		if _, err := c.run(ctx, workers, 1000, func(i int) error {
			if i == 20 {
				cancel()
			}
			return nil
		}); !errors.Is(err, context.Canceled) || c.left == 0 {
			t.Errorf("%d workers: error %v with %d jobs left", workers, err, c.left)
		}
		if _, err := c.run(ctx, workers, 10, func(int) error { t.Error("a job of a canceled call"); return nil }); err != context.Canceled {
			t.Error(err)
		}
	}
}

// TestLoopPanic checks that a panic and runtime.Goexit, with the lock held and without it, end their worker, stop the
// others, also those that wait, and leave the Loop usable.
func TestLoopPanic(t *testing.T) {
	var c jobs
	for workers := 1; workers <= 5; workers++ {
		for what, exit := range map[string]func(){"panic": func() { panic("a panic") }, "Goexit": runtime.Goexit} {
			exits, err := c.run(context.Background(), workers, 1000, func(i int) error {
				if i == 20 {
					exit()
				}
				return nil
			})
			if exits != 1 || err != ErrPanic || c.left == 0 {
				t.Errorf("%d workers, %s: %d exits, error %v with %d jobs left", workers, what, exits, err, c.left)
			}
			if _, err := c.run(context.Background(), workers, 10, func(int) error { return nil }); err != nil {
				t.Error(err)
			}
			// In a step, when all other workers wait.
			c.Start(context.Background())
			var all sync.WaitGroup
			waiting := 0
			for range workers {
				all.Go(func() {
					task.Run(func() {
						c.Work(func() Next {
							if waiting++; waiting == workers {
								exit()
							}
							return Wait
						})
					}, func(*task.Exit) {})
				})
			}
			all.Wait()
			func() { // the lock is free
				c.Lock()
				defer c.Unlock()
			}()
			if err := c.Finish(); err != ErrPanic {
				t.Errorf("%d workers, %s in a step: error %v", workers, what, err)
			}
		}
	}
}

// TestAheadPanic checks that a panic of a load reaches the loop, when its value is asked for.
func TestAheadPanic(t *testing.T) {
	jobs := func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	}
	for depth := range 4 {
		next := 0
		func() {
			defer func() {
				if v := recover(); v != "a panic" || next != 20 {
					t.Errorf("depth %d: panic %v after %d values", depth, v, next)
				}
			}()
			for range Ahead(context.Background(), depth, 8, jobs, func(x *int, job int) { *x = job }, func(_ context.Context, x *int) error {
				if *x == 20 {
					panic("a panic")
				}
				return nil
			}) {
				next++
			}
		}()
	}
}

// TestAhead checks the order of the values, the number of loads under way, errors and the end of a loop.
func TestAhead(t *testing.T) {
	ctx := context.Background()
	jobs := func(yield func(int) bool) {
		for i := range 100 {
			if !yield(i) {
				return
			}
		}
	}
	set := func(x *int, job int) { *x = job }
	boom := errors.New("boom")
	for n := range 12 {
		depth, batch := n%4, n/4*4+1
		for _, stop := range []int{0, 7, 99, 100} {
			for _, fails := range []bool{false, true} {
				var mu sync.Mutex
				running, most, next := 0, 0, 0
				load := func(ctx context.Context, x *int) error {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					defer func() { mu.Lock(); running--; mu.Unlock() }()
					if fails && *x == stop {
						return boom
					}
					return nil
				}
				var last error
				for x, err := range Ahead(ctx, depth, batch, jobs, set, load) {
					if *x != next {
						t.Fatalf("depth %d: value %d, want %d", depth, *x, next)
					}
					next++
					if last = err; !fails && *x == stop {
						break
					}
				}
				want := min(stop+1, 100)
				if next != want || running != 0 || most > depth+1 || fails && stop < 100 && last != boom {
					t.Errorf("depth %d: %d values, want %d; %d loads still run, %d at most; %v", depth, next, want, running, most, last)
				}
			}
		}
	}
}

// TestAheadBatches checks that a goroutine loads several values if loads are short, but not more than allowed, and that
// the end of the context ends a loop inside a batch.
func TestAheadBatches(t *testing.T) {
	const count, batch = 1000, 8
	jobs := func(yield func(int) bool) {
		for i := 0; i < count && yield(i); i++ {
		}
	}
	set := func(x *int, job int) { *x = job }
	var mu sync.Mutex
	loads := map[string]int{} // by goroutine
	load := func(ctx context.Context, x *int) error {
		var buf [64]byte
		name, _, _ := strings.Cut(string(buf[:runtime.Stack(buf[:], false)]), "[")
		mu.Lock()
		loads[name]++
		mu.Unlock()
		return ctx.Err()
	}
	for _, err := range Ahead(context.Background(), 2, batch, jobs, set, load) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(loads) == count {
		t.Error("each value was loaded on a goroutine of its own")
	}
	for name, n := range loads {
		if n > batch {
			t.Errorf("%s loaded %d values", name, n)
		}
	}
	for stop := range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		last := 0
		for x, err := range Ahead(ctx, 2, batch, jobs, set, load) {
			if last = *x; last == stop {
				cancel()
			}
			if err != nil {
				break
			}
		}
		cancel()
		if last > stop+8 { // the first values of some batches were loaded before
			t.Errorf("value %d after the end of the context at %d", last, stop)
		}
	}
}
