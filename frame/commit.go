package frame

import (
	"cmp"
	"context"
	"fmt"

	"github.com/goblosc/blosc2/internal/task"
)

// Begin starts a batch, which Commit or Rollback must end. It waits until an open batch of this Frame has ended, and
// with Locking until no other process reads or edits. ctx bounds only this waiting: the batch does not retain it.
// Errors are ErrReadOnly, fs.ErrClosed, with Locking ErrChanged if another frame has replaced this one, and those of
// the lock file and of ctx. Without Locking, the first Begin after a Refresh that has found another state follows the
// name of the frame again, with the errors of Refresh.
func (f *Frame) Begin(ctx context.Context) (*Batch, error) {
	ctx = task.Context(ctx)
	if err := f.mu.lock(ctx, f, "another batch"); err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun {
			f.endBatch()
		}
	}()
	cur := f.snap.Load()
	switch {
	case !f.beginBatch():
		return nil, f.errClosed()
	case !f.writable:
		return nil, f.error(f.errReadOnly())
	case f.broken != nil:
		return nil, f.errBroken()
	}
	var err error
	if f.lock != nil {
		err = f.lock.Edit(ctx)
	} else if f.unsettled {
		err = f.settleRefreshed(ctx)
	}
	if err != nil {
		return nil, err
	}
	f.reclaim()
	if f.broken != nil { // reclaim may commit
		return nil, f.errBroken()
	}
	if s := f.snap.Load(); s != nil { // a newer state was found, or reclaim has moved the trailer
		cur = s
	}
	begun = true
	return &Batch{f: f, mu: newGate(), transaction: transaction{cur: cur, next: cur.successor()}}, nil
}

// endBatch lets the next batch begin. If Close was called during the batch, it closes the store.
func (f *Frame) endBatch() {
	defer f.unlock()
	if f.lock != nil {
		f.lock.EndEdit()
	}
	f.leaveBatch(f.closeStore)
}

// errBroken returns why the frame cannot be edited any more.
func (f *Frame) errBroken() error {
	return f.error(fmt.Errorf("an earlier commit failed partway; close and reopen the frame: %w", f.broken))
}

// errReadOnly returns ErrReadOnly with what to do instead.
func (f *Frame) errReadOnly() error {
	switch {
	case f.fixed: // chunks are written with Regions
		return ErrReadOnly
	case f.path == "":
		return fmt.Errorf("%w; copy it to edit it", ErrReadOnly)
	}
	return fmt.Errorf("%w; open it with Edit", ErrReadOnly)
}

// Commit publishes the edits of the batch as the new state of the frame, and ends the batch. If it returns an error,
// the batch has ended, too, and readers of this Frame see the previous state. If it is unknown which of the two states
// is stored, later edits fail until the frame is opened again. The error is that of an edit that failed halfway,
// fs.ErrClosed, with Locking ErrChanged if another frame has replaced this one, or an error of writing.
func (b *Batch) Commit() error { return b.doNow(b.commit) }

func (b *Batch) commit() error {
	if b.done {
		return b.errDone()
	}
	defer b.rollback() // unless the commit succeeds
	if b.f.closed.Load() {
		return cmp.Or(b.err, b.f.errClosed())
	}
	if b.f.lock != nil && b.cur != nil { // a process that does not wait for the lock may have replaced the frame
		if err := b.f.checkNotReplaced(); err != nil {
			return err
		}
	}
	if b.err != nil {
		return b.err
	}
	// The numbers of bytes and of chunks disagree only if the header of a frame with chunks of variable size was wrong.
	switch s := b.next; {
	case s.index.n == 0:
		s.nbytes = 0
	case s.nbytes <= 0:
		return b.f.wrap("header", offNBytes, corrupt("%d bytes in %d chunks", s.nbytes, s.index.n))
	}
	if err := b.f.commit(&b.transaction); err != nil {
		return b.f.wrap("commit", -1, err)
	}
	b.done = true
	defer b.f.endBatch()
	b.f.reclaim()
	return nil
}

// Rollback discards the batch. After Commit it does nothing, so it can be deferred.
func (b *Batch) Rollback() {
	b.doNow(func() error {
		b.rollback()
		return nil
	})
}

func (b *Batch) rollback() {
	if b.done {
		return
	}
	b.done = true
	defer b.f.endBatch()
	b.f.rollback(&b.transaction)
	b.f.reclaim()
}

// edit runs one edit as a batch of its own.
func (f *Frame) edit(ctx context.Context, change func(b *Batch) error) error {
	b, err := f.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := change(b); err != nil {
		return err
	}
	return b.Commit()
}

// commit makes tx.next the state of the frame. After an error, readers see the previous state. If the stored frame may
// have changed nevertheless, later edits fail.
func (f *Frame) commit(tx *transaction) error {
	// Encode the tail: index, checksums and trailer. Nothing is written yet.
	if err := tx.encodeTail(f.plain); err != nil {
		return err
	}
	// A frame without chunks has its trailer right after the header. If the new header is longer, move the trailer
	// first.
	if first := f.store.makeRoom(tx); first != nil {
		if err := f.commit(first); err != nil {
			return err
		}
		tx.cur = first.next
	}
	// The store writes, in this order: the tail, a header journal if one is needed, and the header.
	defer func() { f.setBroken(tx.unknown) }() // also after a panic of storage
	if err := f.store.commit(tx); err != nil {
		return err
	}
	// Now readers see the new state.
	tx.next.draft, tx.next.origin = false, f.findOrigin(tx.next)
	f.publish(tx.cur, tx.next)
	return nil
}

// rollback frees the space of the chunks that a transaction has written.
func (f *Frame) rollback(tx *transaction) {
	if f.broken == nil { // otherwise the stored index may reference them
		f.store.rollback(tx)
	}
}

// reclaim frees space that no reader uses any more.
func (f *Frame) reclaim() {
	if f.broken != nil {
		return // it is unknown which state is stored
	}
	if tx := f.store.reclaim(f.snap.Load()); tx != nil {
		f.commit(tx) // after an error, the stored frame is unchanged, or f.broken is set
	}
	if f.broken == nil {
		f.store.trim(f.snap.Load())
	}
}
