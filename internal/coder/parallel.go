package coder

import (
	"cmp"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/internal/filters"
)

// parallelBuilder adds blocks that several workers encode in any order. A block gets its position as soon as all blocks
// before it have theirs. A block that has its position before it is encoded is encoded there. Others are encoded in
// memory of their own, and wait there. The worker that assigns the position copies them, without the lock.
type parallelBuilder struct {
	*builder

	mu        sync.Mutex
	next      int   // number of the first block without a position
	mayNotFit bool  // block next may not fit
	noRoom    error // errNoRoom if block next does not fit
	fault     error // of filtering a block with a position again
}

// encodedBlock is a block as it is stored, or a block of the content that does not compress, and is not filtered.
type encodedBlock struct {
	b       []byte
	plain   bool // b is a block of the content
	inPlace bool // b is at its position in the chunk
}

// lent reports whether b is in memory that later blocks can be encoded in.
func (b encodedBlock) lent() bool { return b.b != nil && !b.plain && !b.inPlace }

// encodeParallel encodes the blocks on all workers and adds those that are certain to fit. It returns their number.
// b.dst must have space for the longest chunk. It returns errNoRoom if the chunk certainly does not fit.
func (b *builder) encodeParallel() (int, error) {
	n := b.l.NumBlocks
	b.waiting = slices.Grow(b.waiting[:0], n)[:n]
	g := &parallelBuilder{builder: b}
	err := each(b.workers, n, g.encodeBlock)
	switch {
	case g.fault != nil:
		err = g.fault
	case g.mayNotFit:
		err = g.noRoom
	}
	for _, b := range g.waiting[g.next:] {
		if b.lent() {
			g.spare = append(g.spare, b.b)
		}
	}
	clear(g.waiting)
	return g.next, err
}

// encodeBlock encodes block k and submits it.
func (g *parallelBuilder) encodeBlock(w *Worker, k int) error {
	src, err := g.from.plain(g.l, k)
	if err != nil {
		return err
	}
	dst, room, inPlace, leading := g.position(k)
	if !inPlace {
		dst, room = w.out[:0], unlimited
	}
	at := len(dst)
	out, kept, err := w.encodeOrKeep(dst, g.l, k, src, g.ref, room)
	if !inPlace {
		w.out = out
	}
	switch {
	case err != nil: // errNoRoom is certain, because all blocks before this one have their positions
		return err
	case kept != nil && (leading || &kept[0] == &src[0]):
		return g.submit(w, k, encodedBlock{b: src, plain: true})
	case kept != nil:
		g.l.putStored(out[at:], kept)
	}
	if !inPlace {
		w.out = nil
	}
	return g.submit(w, k, encodedBlock{b: out[at:], inPlace: inPlace})
}

// position returns the chunk up to block k and the number of bytes that the block may take, if its position is known,
// and whether no block with a position compresses.
func (g *parallelBuilder) position(k int) (dst []byte, room int, known, leading bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	leading = g.postponed == g.next
	if g.next != k || g.mayNotFit {
		return nil, 0, false, leading
	}
	return g.dst, g.room(), true, leading
}

// submit adds block k. If w has no memory for its next block, submit lends it some. It returns errNoRoom if later
// blocks need not be encoded.
func (g *parallelBuilder) submit(w *Worker, k int, b encodedBlock) error {
	g.mu.Lock()
	g.waiting[k] = b
	if last := len(g.spare) - 1; w.out == nil && last >= 0 {
		w.out, g.spare = g.spare[last], g.spare[:last]
	}
	from, at := g.next, len(g.dst)
	for !g.mayNotFit && g.next < len(g.waiting) && g.waiting[g.next].b != nil {
		g.mayNotFit = !g.assign(g.waiting[g.next])
	}
	assigned, postponed, dst, mayNotFit := g.waiting[from:g.next], g.postponed, g.dst, g.mayNotFit
	g.mu.Unlock()

	spare, err := 0, error(nil)
	for i, b := range assigned {
		size := len(b.b)
		switch {
		case b.plain:
			size = g.l.storedLen(size)
			if from+i >= postponed && err == nil {
				err = g.putFiltered(dst[at:], w, from+i)
			}
		case !b.inPlace:
			spare++
			filters.Copy(dst[at:], b.b)
		}
		at += size
	}
	if spare > 0 || err != nil {
		g.mu.Lock()
		g.fault = cmp.Or(g.fault, err)
		for _, b := range assigned {
			if b.lent() {
				g.spare = append(g.spare, b.b)
			}
		}
		g.mu.Unlock()
	}
	clear(assigned)
	if err == nil && mayNotFit {
		err = errNoRoom
	}
	return err
}

// assign assigns a position to the next block, or returns false if the block may not fit.
func (g *parallelBuilder) assign(b encodedBlock) (ok bool) {
	size := len(b.b)
	switch {
	case b.plain:
		if size = g.l.storedLen(size); size > g.room() {
			g.noRoom = errNoRoom
			return false
		}
		g.postpone(g.next)
	case !b.inPlace:
		if ok, g.noRoom = g.l.roomFor(b.b, g.next, g.room()); !ok {
			return false
		}
	}
	g.addBlock(g.next, g.dst[:len(g.dst)+size])
	g.next++
	return true
}
