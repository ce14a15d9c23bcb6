package remote

import (
	"context"
	"sync"
	"sync/atomic"
)

// slots limits the requests in flight of an Object, or of all files of a Dir. While the server is down, they also end
// the waits for a slot: otherwise one request after the other would find out.
type slots struct {
	tokens  chan struct{} // one for each request in flight
	answers atomic.Int64  // to all requests, and the parts of their bodies
	failed  atomic.Int64  // answers when the server was found to be down, plus 1; 0 = it was not

	mu      sync.Mutex
	busy    int     // requests between enter and leave
	silent  int     // requests with an attempt without an answer, since busy was 0 and since the last answer
	since   int64   // answers when silent was 0
	waiting *outage // of the requests that begin to wait now
}

// outage ends the waits for a slot that began before it. err is set before begun is closed.
type outage struct {
	begun chan struct{}
	err   error
}

// newSlots returns slots for n requests in flight.
func newSlots(n int) *slots {
	return &slots{tokens: make(chan struct{}, n), waiting: &outage{begun: make(chan struct{})}}
}

// take waits for a slot. The caller must call release, unless there is an error. down is the error of another request
// that got no answer during the wait.
func (s *slots) take(ctx context.Context) (down, err error) {
	select {
	case s.tokens <- struct{}{}:
		return nil, nil
	default:
	}
	s.mu.Lock()
	o := s.waiting
	s.mu.Unlock()
	select {
	case s.tokens <- struct{}{}:
		select {
		case <-o.begun:
			s.release()
		default:
			return nil, nil
		}
	case <-o.begun:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return o.err, nil
}

// release makes the slot of a request free.
func (s *slots) release() { <-s.tokens }

// down reports whether the server was found to be down, and no request has got an answer since.
func (s *slots) down() bool { return s.failed.Load() == s.answers.Load()+1 }

// setDown notes that the server is down if no answer has arrived since there were n.
func (s *slots) setDown(n int64) {
	if s.answers.Load() == n {
		s.failed.Store(n + 1)
	}
}

// fail makes all requests that wait for a slot fail, because of the error of a request. There were n answers then.
func (s *slots) fail(err error, n int64) {
	s.setDown(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting.err = err
	close(s.waiting.begun)
	s.waiting = &outage{begun: make(chan struct{})}
}

// enter begins a request, which leave ends.
func (s *slots) enter() {
	s.mu.Lock()
	s.busy++
	s.mu.Unlock()
}

// leave ends a request.
func (s *slots) leave() {
	s.mu.Lock()
	if s.busy--; s.busy == 0 {
		s.silent = 0 // one call after the other may want the same file
	}
	s.mu.Unlock()
}

// unanswered notes that an attempt of a request has failed. before is the number of answers before the attempt. If none
// has arrived since, several reports whether other requests get none, either. down reports whether more requests get
// none than can be in flight: fewer may all be for files that the server does not send, while the others wait for a
// slot. noted is the state of the request, 0 at first.
func (s *slots) unanswered(noted *int64, before int64) (several, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.answers.Load()
	if n != before {
		return false, false
	}
	if n != s.since {
		s.since, s.silent = n, 0
	}
	if *noted != n+1 {
		*noted = n + 1
		s.silent++
	}
	return s.silent > 1, s.silent > cap(s.tokens) || s.down()
}
