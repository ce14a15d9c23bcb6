package frame

// commit makes tx.next the state of the frame. If it fails, the frame is in the state before. If the stored frame may have
// changed all the same, it takes no more edits.
func (f *Frame) commit(tx *transaction) error {
	// The bytes after the chunks: index, checksums, trailer. Nothing is written yet.
	if err := tx.encodeTail(f.plain); err != nil {
		return err
	}
	// A frame without chunks has its trailer right after the header. If the new header is longer, move the trailer first.
	if first := f.store.makeRoom(tx); first != nil {
		if err := f.commit(first); err != nil {
			return err
		}
		tx.cur = first.next
	}
	// The store writes, in this order: the bytes after the chunks, a journal if one is needed, the header.
	defer func() { f.fail(tx.unknown) }() // also after a panic of storage
	if err := f.store.commit(tx); err != nil {
		return err
	}
	// From here on readers see the new state.
	tx.next.draft, tx.next.origin = false, f.findOrigin(tx.next)
	f.publish(tx.cur, tx.next)
	return nil
}

// rollback gives back the space of the chunks that a transaction has written.
func (f *Frame) rollback(tx *transaction) {
	if f.broken == nil { // else what is stored may name them
		f.store.rollback(tx)
	}
}

// reclaim gives back space that no reader uses any more.
func (f *Frame) reclaim() {
	if f.broken != nil {
		return // nobody knows which state is stored
	}
	if tx := f.store.reclaim(f.snap.Load()); tx != nil {
		f.commit(tx) // if it fails, the frame is intact as it is, or f.broken says that it may not be
	}
	if f.broken == nil {
		f.store.trim(f.snap.Load())
	}
}
