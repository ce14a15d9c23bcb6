package frame

import (
	"context"
	"sync"
	"sync/atomic"
)

// state is the newest snapshot of a frame, and whether the frame may be edited. Only its methods change it.
type state struct {
	snap   atomic.Pointer[snapshot] // nil when closed
	broken error                    // not nil if the stored state is unknown: edits return it. Guarded by Frame.mu
	closed atomic.Bool              // set with ending held

	ending  sync.Mutex // guards what follows
	inBatch bool
}

// current returns the newest snapshot, or an empty one when the frame is closed.
func (st *state) current() *snapshot {
	if s := st.snap.Load(); s != nil {
		return s
	}
	return &snapshot{}
}

// set makes s the first snapshot.
func (st *state) set(s *snapshot) { st.snap.Store(s) }

// publish makes s the newest snapshot in place of old, unless the frame was closed since.
func (st *state) publish(old, s *snapshot) { st.snap.CompareAndSwap(old, s) }

// fail records why the stored state is not known. nil changes nothing.
func (st *state) fail(unknown error) {
	if unknown != nil {
		st.broken = unknown
	}
}

func (st *state) isClosed() bool { return st.closed.Load() }

// close closes the frame. Unless a batch is open, it calls shut, after which there is no snapshot any more, and then
// closeStore, even if storage of the user panics.
func (st *state) close(shut func(), closeStore func() error) (err error) {
	st.ending.Lock()
	defer st.ending.Unlock()
	if st.isClosed() {
		return nil
	}
	st.closed.Store(true)
	if st.inBatch {
		st.snap.Store(nil)
		return nil
	}
	defer func() {
		st.snap.Store(nil)
		err = closeStore()
	}()
	shut()
	return nil
}

// beginBatch records that a batch is open, unless the frame is closed.
func (st *state) beginBatch() bool {
	st.ending.Lock()
	defer st.ending.Unlock()
	st.inBatch = !st.isClosed()
	return st.inBatch
}

// endBatch ends what beginBatch began. If the frame was closed since, it calls closeStore.
func (st *state) endBatch(closeStore func() error) {
	st.ending.Lock()
	defer st.ending.Unlock()
	late := st.inBatch && st.isClosed()
	st.inBatch = false
	if late {
		closeStore() // nothing is lost: a commit has synced
	}
}

// gate is a mutex that can be waited for as long as a context allows.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

// lock returns the error of ctx when that is done first.
func (g gate) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) unlock() { <-g }
