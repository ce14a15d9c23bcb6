package chunk

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/internal/filters"
)

// building is a chunk on its way: its header, where its blocks start, and those it has.
//
// As long as no block is shorter than its content, the chunk is likely to be stored as a whole. So blocks that stand in
// it as they are wait to be copied until there is one that does not.
type building struct {
	l      *Layout
	dst    []byte
	start  int  // of the chunk in dst
	starts int  // where those of the blocks stand in dst
	zeros  bool // no block so far has anything but zeros
	held   int  // so many blocks, the first ones, are to be copied to their places in the end
}

// begin appends what stands before the blocks of a chunk. size is how long the chunk is likely to become.
func (l *Layout) begin(dst []byte, size int) building {
	c := building{l: l, start: len(dst), zeros: true}
	dst = l.h.append(slices.Grow(dst, size))
	c.starts = len(dst)
	c.dst = l.appendDict(grow(dst, 4*l.nblocks))
	return c
}

// room returns how many bytes may follow.
func (c *building) room() int { return c.l.h.NBytes + MaxOverhead - (len(c.dst) - c.start) }

// add takes dst for what was there with block k, the next one.
func (c *building) add(k int, dst []byte) {
	at := len(c.dst)
	c.dst = dst
	c.zeros = c.zeros && len(dst)-at == 4*c.l.h.streams(c.l.BlockLen(k)) // each stream is just its length
	binary.LittleEndian.PutUint32(dst[c.starts+4*k:], uint32(at-c.start))
}

// hold tells whether block k, which stands in the chunk as it is, is to be copied in the end.
func (c *building) hold(k int) bool {
	if k != c.held {
		return false
	}
	c.held++
	return true
}

// copyHeld copies the blocks that were held, of a chunk with the content src.
func (c *building) copyHeld(team []*Worker, src []byte) {
	blocks := max(1, movedPiece/c.l.blockSize) // of a piece
	team = team[:min(len(team), 1+c.held*c.l.blockSize/sharedFrom)]
	_ = work(team, (c.held+blocks-1)/blocks, func(_ *Worker, i int) error {
		for k := i * blocks; k < min((i+1)*blocks, c.held); k++ {
			at := int(binary.LittleEndian.Uint32(c.dst[c.starts+4*k:]))
			filters.Copy(c.dst[c.start+at+4:], c.l.block(src, k))
		}
		return nil
	})
}

// end returns dst with the chunk whose blocks are all there.
func (c *building) end() []byte {
	dst := c.dst
	if c.zeros {
		dst = dst[:c.starts]
		dst[c.start+31] = dst[c.start+31]&^b2flagDict | uint8(Zeros)<<specialShift
	}
	binary.LittleEndian.PutUint32(dst[c.start+12:], uint32(len(dst)-c.start))
	return dst
}

// gathering is a building whose blocks a team encodes in any order. A block has its place as soon as all before it have
// theirs; the worker that finds that out copies it there, while others do the same with other blocks. Blocks that come
// early wait in memory of their own.
type gathering struct {
	building

	mu    sync.Mutex
	next  int            // the first block without a place
	short bool           // block next may need more room than there is
	full  error          // errNoRoom where it needs more
	early []encodedBlock // those that wait or are being copied
	spare [][]byte       // memory for blocks
}

// encodedBlock is a block with the lengths of its streams, or as it was, to stand in the chunk like that.
type encodedBlock struct {
	b    []byte
	asIs bool
}

// gather has a team encode the blocks of src, as many as are sure to have room, and returns how many that are. There is
// memory for the longest chunk. ref is that of EncodeBlock. It fails with errNoRoom where there is not enough for sure.
func gather(c building, team []*Worker, ref, src []byte) (building, int, error) {
	w := team[0]
	g := &gathering{building: c, early: slices.Grow(w.early[:0], c.l.nblocks)[:c.l.nblocks], spare: w.spare}
	err := work(team, c.l.nblocks, func(mate *Worker, k int) error {
		b := c.l.block(src, k)
		out, asIs, err := mate.encodeOrKeep(mate.out[:0], c.l, k, b, ref, 1<<31-1)
		mate.out = out
		if err != nil {
			return err
		}
		if !asIs {
			b, mate.out = out, nil
		}
		return g.take(mate, k, encodedBlock{b, asIs})
	})
	if g.short {
		err = g.full
	}
	for _, b := range g.early[g.next:] {
		if b.b != nil && !b.asIs {
			g.spare = append(g.spare, b.b)
		}
	}
	clear(g.early)
	w.early, w.spare = g.early, g.spare
	return g.building, g.next, err
}

// take takes block k, and gives w memory for the next one where it has none. It returns errNoRoom where later blocks are
// in vain.
func (g *gathering) take(w *Worker, k int, b encodedBlock) error {
	g.mu.Lock()
	g.early[k] = b
	if last := len(g.spare) - 1; w.out == nil && last >= 0 {
		w.out, g.spare = g.spare[last], g.spare[:last]
	}
	from, at := g.next, len(g.dst)
	for !g.short && g.next < len(g.early) && g.early[g.next].b != nil {
		g.short = !g.place(g.early[g.next])
	}
	placed, held, dst, short := g.early[from:g.next], g.held, g.dst, g.short
	g.mu.Unlock()

	spare := 0
	for i, b := range placed {
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
		for _, b := range placed {
			if !b.asIs {
				g.spare = append(g.spare, b.b)
			}
		}
		g.mu.Unlock()
	}
	clear(placed)
	if short {
		return errNoRoom
	}
	return nil
}

// place gives the next block its place, or reports that there may be no room for it.
func (g *gathering) place(b encodedBlock) (ok bool) {
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
