package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/task"
)

// acquire returns the newest snapshot for reading; release it afterwards.
func (f *Frame) acquire(ctx context.Context) (*snapshot, error) {
	if f.lock != nil { // with Locking
		if err := f.lock.Share(ctx); err != nil {
			return nil, err
		}
	}
	s := f.pin()
	if s == nil {
		f.lock.Unshare()
		return nil, f.errClosed()
	}
	return s, nil
}

// checkTarget returns ErrParam if a new frame of a name would wait for the end of reading f.
func (f *Frame) checkTarget(name string, o *CreateOptions) error {
	if o.Locking && o.Overwrite && !o.Sparse && f.lock.Is(cmp.Or(o.sys, storage.OS()), strings.TrimPrefix(name, "file://")) {
		return f.error(fmt.Errorf("option Locking: a copy onto the frame would wait for its own reading: %w", ErrParam))
	}
	return nil
}

// release ends the use of a snapshot. It changes *err, the error of the read, if the frame was closed, or another
// process may have overwritten the snapshot.
func (f *Frame) release(s *snapshot, err *error) {
	*err = f.afterRead(s, *err)
	f.unuse(s)
}

// unuse ends the use of a snapshot.
func (f *Frame) unuse(s *snapshot) {
	f.unpin(s)
	if f.lock != nil { // with Locking
		f.lock.Unshare()
	}
}

// afterRead returns the error of a read, or ErrChanged if another process may have overwritten the snapshot.
func (f *Frame) afterRead(s *snapshot, err error) error {
	if s.draft {
		return err
	}
	intact := true
	if f.lock != nil { // with Locking
		var e error
		if intact, e = f.lock.Intact(s.epoch); e != nil {
			return f.orClosed(e)
		}
	}
	switch {
	case !intact || s.overwritten.Load():
		err = f.wrap("chunks", -1, ErrChanged)
	case err == nil:
		return nil
	case f.edited(s, err):
		err = f.errEdited(err)
	}
	return f.orClosed(err)
}

// errEdited returns the error for a frame that another process has edited or replaced. err is its consequence.
func (f *Frame) errEdited(err error) error {
	return f.wrap("chunks", -1, fmt.Errorf("edited or replaced since: %v: %w", err, ErrChanged))
}

// edited reports whether an error of reading s may come from another process, which has edited or replaced the frame
// since: another state is stored now.
func (f *Frame) edited(s *snapshot, err error) bool {
	if f.path == "" || f.closed.Load() || !isFault(err) {
		return false
	}
	if s.sparse {
		was, err := s.root.Stat()
		if err != nil {
			return false
		}
		if is, err := f.sys.Stat(f.path); err != nil || !f.sys.Same(was, is) {
			return true
		}
	}
	if f.writable { // what else changes is an edit of f
		return false
	}
	stored, err := s.stored()
	return err == nil && !stored || errors.Is(err, fs.ErrNotExist)
}

// stored reports whether s is the state in its file or directory.
func (s *snapshot) stored() (bool, error) {
	src := s.src
	if s.sparse {
		file, err := s.root.Open(indexFile, os.O_RDONLY, 0)
		if err != nil {
			return false, err
		}
		defer file.Close()
		src = file
	}
	return unchanged(context.Background(), src, s), nil
}

// lockUser is a frame as its lock file sees it.
type lockUser struct{ f *Frame }

// Closed implements storage.User.
func (u lockUser) Closed() error {
	if u.f.closed.Load() {
		return u.f.errClosed()
	}
	return nil
}

// Follow implements storage.User.
func (u lockUser) Follow(edit, counted bool, epoch uint64) (changed bool, err error) {
	now := u.f.snap.Load()
	if now == nil && edit {
		return false, nil // a new frame
	}
	if now == nil {
		return false, u.f.errClosed()
	}
	s, err := u.f.reload(context.Background(), now, edit, counted) // files with a lock file take no context
	if err != nil {
		return false, err
	}
	if s != now {
		s.epoch = epoch
		u.f.publish(now, s)
	}
	u.f.store.release()
	return s != now, nil
}

// Stored implements storage.User.
func (u lockUser) Stored() (current bool, err error) {
	s := u.f.snap.Load()
	if s == nil {
		return true, nil // a new frame
	}
	if err := u.f.checkNotReplaced(); err != nil || u.f.unsettled {
		return false, err
	}
	current, err = s.stored()
	return current && err == nil, nil // Follow returns the error
}

// checkNotReplaced returns ErrChanged if another file or directory has the name of the frame.
func (f *Frame) checkNotReplaced() error {
	same, err := f.store.hasName()
	if err == nil && !same {
		err = f.errReplaced()
	}
	return err
}

// Close releases the frame. It does not wait: concurrent reads succeed or fail with fs.ErrClosed. An open batch can no
// longer be committed, and keeps the file open until it is rolled back. A second Close does nothing.
func (f *Frame) Close() error {
	return f.close(func() {
		if f.atClose != nil && f.lock == nil && !f.unsettled { // otherwise the next batch does it
			f.atClose()
		}
	}, f.closeStore)
}

func (f *Frame) closeStore() error {
	f.lock.Close()
	return f.store.close()
}

// Refresh switches to the state that is stored now, and reports whether it differs from the previous one. Another
// process may have committed a state or, with C-Blosc2, changed the frame in place. Refresh costs little if nothing has
// changed. With OpenOptions.Locking, every read switches to the newest state, too. Only Refresh notices that a program
// without the lock has replaced the frame.
//
// Readers of the previous state continue with it. If another process has overwritten bytes of that state, they get
// wrong data or ErrChanged, unless both processes use OpenOptions.Locking.
//
// Without Locking, Refresh compares only header, index and trailer. It returns false if these have the same bytes as
// before, although chunks may have changed. A later edit can then overwrite such a chunk. With Locking, it returns true
// if another process has taken the lock for editing since the last read, even if that changed nothing.
//
// Refresh waits for an open batch of this Frame. Without Locking, a Refresh during another process's edit in place may
// fail, for example with ErrCorrupt. The Frame then keeps its state, and a later Refresh succeeds. Errors are those of
// Open, and ErrChanged if a frame that cannot be followed has replaced this one: a sparse frame in place of a
// contiguous one or the reverse, a frame with another item size or block shape, or with Locking another directory.
func (f *Frame) Refresh(ctx context.Context) (bool, error) {
	ctx = task.Context(ctx)
	defer f.cache.Clear() // the index may not show a change in place
	defer func() {
		if s := f.snap.Load(); s != nil {
			s.blocks.Store(nil)
		}
	}()
	if f.snap.Load() == nil {
		return false, f.errClosed()
	}
	if err := f.mu.lock(ctx, f, "another batch"); err != nil {
		return false, err
	}
	defer f.endBatch()
	if !f.beginBatch() {
		return false, f.errClosed()
	}
	old := f.snap.Load()
	if old == nil { // closed since beginBatch
		return false, f.errClosed()
	}
	if f.lock != nil {
		if err := f.lock.Refresh(ctx); err != nil {
			return false, err
		}
		now := f.snap.Load()
		return now != nil && now != old, nil
	}
	for try := 1; ; try++ {
		s, err := f.reload(ctx, old, false, false)
		if err == nil {
			f.publish(old, s)
			f.store.release()
			return s != old, nil
		}
		lasting := errors.Is(err, ErrTooLarge) || errors.Is(err, errors.ErrUnsupported)
		if try == maxTries || lasting && try == lastingTries || !isFault(err) {
			return false, f.orClosed(err)
		}
		if err := pause(ctx); err != nil {
			return false, err
		}
	}
}

// maxTries is the largest number of attempts to read a state while another process edits. Errors that an edit seldom
// causes end Refresh after fewer.
const (
	maxTries     = 20
	lastingTries = 3
)

// pause waits before the next try.
func pause(ctx context.Context) error {
	select {
	case <-time.After(time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reload returns the stored state, which the store adopts, or now if that is stored. edit reports whether the frame may
// be written: no other process uses it. counted reports whether another process has had the lock for editing. The
// stored state then counts as another one: chunks may have changed although header, index and trailer are the same.
func (f *Frame) reload(ctx context.Context, now *snapshot, edit, counted bool) (s *snapshot, err error) {
	r, err := f.store.reopen(ctx, f.writable)
	if err != nil && (f.fixed && !r.same || errors.Is(err, errOtherKind)) {
		// In the other directory is no layout, or the other frame is of the other kind.
		err = f.errReplaced()
	}
	if err != nil {
		return nil, err
	}
	adopted := false
	defer func() { r.close(adopted) }()
	// The Regions writes to the directory that it has opened; the lock file is in that directory.
	follows := !f.fixed && (r.same || f.lock == nil || r.root == nil)
	if edit && follows {
		if err = f.settle(&r); err != nil {
			return nil, err
		}
	}
	if r.same && !counted && unchanged(ctx, r.src, now) {
		f.unsettled, f.unnamed = f.unsettled && !edit, f.unnamed && !edit
		return now, nil
	}
	if !follows {
		return nil, f.errReplaced()
	}
	if s, err = f.load(ctx, r.src, r.size); err != nil {
		return nil, err
	}
	if f.lock == nil && !unchanged(ctx, r.src, s) { // it may have been written at the same time
		return nil, f.wrap("header", -1, corrupt("it changes while it is read"))
	}
	if s.sparse != now.sparse || s.typeSize != now.typeSize || !slices.Equal(blockShape(s), blockShape(now)) {
		return nil, f.errReplaced()
	}
	f.store.adopt(r, now, s)
	adopted, f.unsettled, f.unnamed = true, !edit, !edit && (f.unnamed || !r.same)
	f.trusted.Store(false)
	return s, nil
}

// settle makes durable what another process has written, which may have been killed before its last sync, and completes
// a header write that it has not completed. A reader may have followed to r already, without doing so.
func (f *Frame) settle(r *reopened) (err error) {
	if f.path != "" && (!r.same || f.unnamed) {
		if err := storage.SettleName(f.sys, f.path, f.opts.NoSync); err != nil {
			return err
		}
	}
	if r.root != nil {
		return storage.SyncRoot(r.root, f.opts.NoSync)
	}
	if err := r.segment.Settle(); err != nil {
		return err
	}
	if r.size, err = r.segment.ReplayJournal(r.size); err != nil {
		return f.wrap("header", -1, err)
	}
	return nil
}

// settleRefreshed settles the state that a Refresh without Locking has found, before it is edited.
func (f *Frame) settleRefreshed(ctx context.Context) error {
	now := f.snap.Load()
	if now == nil {
		return nil
	}
	s, err := f.reload(ctx, now, true, false)
	if err != nil {
		return f.orClosed(err)
	}
	f.publish(now, s)
	f.store.release()
	return nil
}

// errReplaced returns the error for another frame in the place of f.
func (f *Frame) errReplaced() error {
	return f.wrap("header", -1, fmt.Errorf("another frame has taken its place: %w", ErrChanged))
}
