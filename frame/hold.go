package frame

// held is a chunk of a batch whose space must not be used again yet.
type held struct {
	e    entry
	size int64
}

// Hold returns the state that the batch has made so far and keeps it readable until release is called, whatever the
// batch does meanwhile: for edits that make new chunks of old ones. Release it before Commit; one state can be held at
// a time.
func (b *Batch) Hold() (v View, release func()) {
	b.holding, b.owned = true, false
	return View{f: b.f, s: b.next.successor(), batch: true}, func() {
		b.holding = false
		for _, h := range b.held {
			b.f.store.drop(b, h.e, h.size)
		}
		b.held = nil
	}
}

// drop notes that a chunk will not be named any more after the commit.
func (b *Batch) drop(e entry, size int64) {
	if b.holding {
		b.held = append(b.held, held{e, size})
		return
	}
	b.f.store.drop(b, e, size)
}
