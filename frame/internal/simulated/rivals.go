package simulated

import (
	"errors"
	"fmt"
	"iter"
)

// Rivals are two operations on one System, which act like two processes, and a check after both. The operations must
// call the System on the goroutine that calls them.
type Rivals struct {
	System *System
	A, B   func()
	Check  func() error // of the results of A and B
}

// Interleave tries each pair of calls of two operations on the System: A stops before one of its calls, B runs up to
// one of its calls, and then A and at last B go on. prepare makes the operations for each pair. Interleave returns the
// number of pairs, and an error that describes the first pair whose check fails, by the numbers of the two calls. With
// every > 1 it tries one of so many pairs, spread evenly.
func Interleave(every int, prepare func() Rivals) (pairs int, err error) {
	faults := 0
	for resume := 1; ; resume++ {
		tried, resumed := false, false
		for stop := 1 + resume%every; ; stop += every {
			r := prepare()
			stopped, during := r.run(stop, resume)
			if !stopped {
				break // A makes fewer calls
			}
			if e := r.Check(); e != nil {
				if faults++; faults == 1 {
					err = fmt.Errorf("pair (%d, %d): %w", stop, resume, e)
				}
			}
			tried, resumed = true, resumed || during
			pairs++
		}
		if pairs == 0 && resume >= every {
			return 0, errors.New("the first operation makes no calls")
		}
		if tried && !resumed { // B makes fewer calls
			if err != nil {
				err = fmt.Errorf("%d of %d pairs fail: %w", faults, pairs, err)
			}
			return pairs, err
		}
	}
}

// run stops A before a call, and lets it go on before a call of B. It reports whether A stopped, and whether it went on
// during B. If one of them waits for a lock, the other goes on.
func (r *Rivals) run(stop, resume int) (stopped, during bool) {
	s := r.System
	calls := 0
	before := func(n int, f func()) func() {
		return func() {
			if calls++; calls == n {
				s.Before = nil
				f()
			}
		}
	}
	var stopA func()
	next, end := iter.Pull(func(yield func(struct{}) bool) {
		stopA = func() { yield(struct{}{}) }
		s.Before = before(stop, stopA)
		r.A()
		s.Before = nil
	})
	defer end()
	inA, done := false, false
	goOn := func() { // with A, until it ends or waits
		if done {
			return
		}
		was := s.Before
		s.Before, inA = nil, true
		_, ok := next()
		s.Before, inA, done = was, false, !ok
	}
	s.Blocked = func() {
		if inA {
			stopA()
		} else {
			goOn()
		}
	}
	defer func() { s.Blocked = nil }()
	if goOn(); done {
		return false, false
	}
	calls = 0
	s.Before = before(resume, goOn)
	r.B()
	s.Before = nil
	during = calls >= resume
	for range 1000 {
		if goOn(); done {
			return true, during
		}
	}
	panic("the operations wait for each other")
}
