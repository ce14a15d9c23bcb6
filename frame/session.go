package frame

import (
	"context"
)

// acquire returns the newest snapshot for reading; release it afterwards.
func (f *Frame) acquire(ctx context.Context) (*snapshot, error) {
	if err := f.lock.Share(ctx, lockUser{f}); err != nil {
		return nil, err
	}
	for {
		s := f.snap.Load()
		if s == nil {
			f.lock.Unshare()
			return nil, f.errClosed()
		}
		s.readers.Add(1)
		// A commit may have come between: then space that s names may already be written over.
		if f.snap.Load() == s && s.pin() {
			return s, nil
		}
		s.readers.Add(-1)
	}
}

// release ends the use of a snapshot. It changes *err, of what was read, when another process may have written over the
// snapshot meanwhile, or the frame was closed.
func (f *Frame) release(s *snapshot, err *error) {
	*err = f.afterRead(s, *err)
	f.unuse(s)
}

// unuse ends the use of a snapshot.
func (f *Frame) unuse(s *snapshot) {
	s.unpin()
	s.readers.Add(-1)
	f.lock.Unshare()
}

// afterRead returns the error of a read, or ErrChanged if another process may have written over the snapshot meanwhile.
func (f *Frame) afterRead(s *snapshot, err error) error {
	if ok, e := f.lock.Intact(lockUser{f}, s.epoch); e != nil {
		err = e
	} else if !ok {
		err = f.wrap("chunks", -1, ErrChanged)
	}
	return f.orClosed(err)
}

// lockUser is a frame as its lock file sees it.
type lockUser struct{ f *Frame }

// Closed implements storage.User.
func (u lockUser) Closed() error {
	if u.f.isClosed() {
		return u.f.errClosed()
	}
	return nil
}

// Follow implements storage.User.
func (u lockUser) Follow(edit bool, epoch uint64) (changed bool, err error) {
	now := u.f.snap.Load()
	if now == nil && edit {
		return false, nil // a new frame
	}
	if now == nil {
		return false, u.f.errClosed()
	}
	s, err := u.f.reload(now, edit)
	if err != nil || s == now {
		return false, err
	}
	s.epoch = epoch
	u.f.publish(now, s)
	return true, nil
}

// Close releases the frame. It does not wait: reads that are under way, also those of Views, succeed or fail with
// ErrClosed. An open batch can only be rolled back, and keeps the file open until then. A second Close does nothing.
func (f *Frame) Close() error {
	return f.close(func() {
		if f.writable && f.lock == nil { // else the next batch does it
			f.reclaim()
		}
	}, f.closeStore)
}

func (f *Frame) closeStore() error {
	f.lock.Close()
	return f.store.close()
}

// endBatch lets the next batch begin, and closes what Close could not.
func (f *Frame) endBatch() {
	defer f.mu.unlock()
	f.lock.EndEdit()
	f.state.endBatch(f.closeStore)
}
