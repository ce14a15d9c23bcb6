package remote

import (
	"context"
	"slices"
	"sync"
	"time"
)

// turns lets only some of the answers in flight be received at the same time, in the order in which they begin. The
// first requests for many small files are sent together. If their bodies shared the bandwidth, all would end together,
// and the link would be idle until the next requests are answered.
type turns struct {
	mu      sync.Mutex
	running int
	waiting []*turn
}

// turn is a body that waits.
type turn struct {
	most  int           // bodies that may be received at the same time, with this one
	ready chan struct{} // closed when it may be received
}

// begin waits until fewer than most other bodies are being received. It calls alive at intervals. The caller must call
// end unless begin returns an error.
func (t *turns) begin(ctx context.Context, most int, interval time.Duration, alive func()) error {
	own := &turn{most, make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, own)
	t.admit()
	t.mu.Unlock()
	tick := time.NewTicker(max(interval, 1))
	defer tick.Stop()
	for {
		select {
		case <-own.ready:
			return nil
		case <-tick.C:
			alive()
		case <-ctx.Done():
			t.mu.Lock()
			defer t.mu.Unlock()
			if i := slices.Index(t.waiting, own); i >= 0 {
				t.waiting = slices.Delete(t.waiting, i, i+1)
			} else {
				t.running--
			}
			t.admit()
			return ctx.Err()
		}
	}
}

// admit lets waiting bodies be received.
func (t *turns) admit() {
	for len(t.waiting) > 0 && t.running < t.waiting[0].most {
		t.running++
		close(t.waiting[0].ready)
		t.waiting = slices.Delete(t.waiting, 0, 1)
	}
}

// end ends a body.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.admit()
}
