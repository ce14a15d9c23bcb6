package frame

import "github.com/goblosc/blosc2/chunk"

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

// Uniform returns the special value that all chunks are, when the index has one entry for all of them. It returns false if
// reading gives something else: what a Postfilter makes of the value, or the error for data that is not in the frame.
func (v View) Uniform() (chunk.Special, bool) {
	x := &v.s.index
	if x.n == 0 || x.list != nil || v.f.opts.Postfilter != nil || v.s.origin != nil {
		return chunk.Regular, false
	}
	special, err := x.uniform.special()
	return special, err == nil && special != chunk.Regular
}

// Special returns what the index says that chunk i stands for: zeros, NaNs or uninitialised items, or chunk.Regular for
// what is stored. It reads nothing; i must be the number of a chunk.
func (v View) Special(i int) chunk.Special {
	special, err := v.s.index.at(i).special()
	if err != nil {
		return chunk.Regular // reading it will say why
	}
	return special
}
