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
	failed  atomic.Int64  // answers when fail was called last, plus 1; 0 = it was not

	mu      sync.Mutex
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

// down reports whether a request got no answer, and no request has got one since.
func (s *slots) down() bool { return s.failed.Load() == s.answers.Load()+1 }

// fail makes all requests that wait for a slot fail, because of the error of a request.
func (s *slots) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed.Store(s.answers.Load() + 1)
	s.waiting.err = err
	close(s.waiting.begun)
	s.waiting = &outage{begun: make(chan struct{})}
}
