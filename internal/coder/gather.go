package coder

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/internal/sched"
)

// gathering adds the blocks of a chunk that the workers of a team encode in any order. A block gets its position as soon
// as all blocks before it have theirs. The worker that assigns it copies the block there, while others do the same with
// other blocks. Blocks that are early wait in memory of their own.
type gathering struct {
	*builder

	mu    sync.Mutex
	next  int   // the first block without a position
	short bool  // block next may need more room than there is
	full  error // errNoRoom where it needs more
}

// encodedBlock is a block with the lengths of its streams, or one that did not compress, as it was.
type encodedBlock struct {
	b    []byte
	asIs bool
}

// gather has the team encode the blocks and adds those that are sure to have room. It returns their number. There is
// memory for the longest chunk. It fails with errNoRoom if the room is certainly too small.
func (b *builder) gather() (int, error) {
	n := b.l.nblocks
	b.early = slices.Grow(b.early[:0], n)[:n]
	g := &gathering{builder: b}
	err := sched.Each(&b.team[0].pool.Pool, b.team, n, g.encodeAny)
	if g.short {
		err = g.full
	}
	for _, b := range g.early[g.next:] {
		if b.b != nil && !b.asIs {
			g.spare = append(g.spare, b.b)
		}
	}
	clear(g.early)
	return g.next, err
}

// encodeAny encodes block k.
func (g *gathering) encodeAny(w *Worker, k int) error {
	src, err := g.from.plain(g.l, k)
	if err != nil {
		return err
	}
	out, asIs, err := w.encodeOrKeep(w.out[:0], g.l, k, src, g.ref, unlimited)
	w.out = out
	if err != nil {
		return err
	}
	if asIs {
		return g.take(w, k, encodedBlock{src, true})
	}
	w.out = nil
	return g.take(w, k, encodedBlock{out, false})
}

// take takes block k, and gives w memory for the next one if it has none. It returns errNoRoom if encoding later blocks
// is of no use.
func (g *gathering) take(w *Worker, k int, b encodedBlock) error {
	g.mu.Lock()
	g.early[k] = b
	if last := len(g.spare) - 1; w.out == nil && last >= 0 {
		w.out, g.spare = g.spare[last], g.spare[:last]
	}
	from, at := g.next, len(g.dst)
	for !g.short && g.next < len(g.early) && g.early[g.next].b != nil {
		g.short = !g.assign(g.early[g.next])
	}
	assigned, held, dst, short := g.early[from:g.next], g.held, g.dst, g.short
	g.mu.Unlock()

	spare := 0
	for i, b := range assigned {
		if b.asIs {
			binary.LittleEndian.PutUint32(dst[at:], uint32(len(b.b)))
			at += 4
		} else {
			spare++
		}
		if from+i >= held {
			copy(dst[at:], b.b)
		}
		at += len(b.b)
	}
	if spare > 0 {
		g.mu.Lock()
		for _, b := range assigned {
			if !b.asIs {
				g.spare = append(g.spare, b.b)
			}
		}
		g.mu.Unlock()
	}
	clear(assigned)
	if short {
		return errNoRoom
	}
	return nil
}

// assign assigns a position to the next block, or reports that there may be no room for it.
func (g *gathering) assign(b encodedBlock) (ok bool) {
	size := len(b.b)
	if b.asIs {
		if size += 4; size > g.room() {
			g.full = errNoRoom
			return false
		}
		g.hold(g.next)
	} else if ok, g.full = g.l.roomFor(b.b, g.next, g.room()); !ok {
		return false
	}
	g.add(g.next, g.dst[:len(g.dst)+size])
	g.next++
	return true
}
