package chunk

import (
	"encoding/binary"
	"slices"
	"sync"
)

// building is a chunk on its way: its header, where its blocks start, and those it has.
type building struct {
	l      *Layout
	dst    []byte
	start  int  // of the chunk in dst
	starts int  // where those of the blocks stand in dst
	zeros  bool // no block so far has anything but zeros
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
	next  int      // the first block without a place
	short bool     // block next may need more room than there is
	full  error    // errNoRoom where it needs more
	early [][]byte // encoded blocks that wait or are being copied
	spare [][]byte // memory for blocks
}

// gather has a team encode the blocks that plain returns, as many as are sure to have room, and returns how many that
// are. There is memory for the longest chunk. ref is that of EncodeBlock. It fails with errNoRoom where there is not
// enough for sure.
func gather(c building, team []*Worker, ref []byte, plain func(k int) ([]byte, error)) (building, int, error) {
	w := team[0]
	g := &gathering{building: c, early: slices.Grow(w.blocks[:0], c.l.nblocks)[:c.l.nblocks], spare: w.spare}
	err := work(team, c.l.nblocks, func(mate *Worker, k int) error {
		src, err := plain(k)
		if err == nil {
			mate.out, err = mate.EncodeBlock(mate.out[:0], c.l, k, src, ref)
		}
		if err == nil {
			err = g.take(mate, k)
		}
		return err
	})
	if g.short {
		err = g.full
	}
	for k, b := range g.early[g.next:] {
		if b != nil {
			g.spare = append(g.spare, b)
			g.early[g.next+k] = nil
		}
	}
	w.blocks, w.spare = g.early, g.spare
	return g.building, g.next, err
}

// take takes block k, which is w.out, and leaves other memory for the next one there. It returns errNoRoom where later
// blocks are in vain.
func (g *gathering) take(w *Worker, k int) error {
	g.mu.Lock()
	g.early[k] = w.out
	w.out = nil
	if last := len(g.spare) - 1; last >= 0 {
		w.out, g.spare = g.spare[last], g.spare[:last]
	}
	from, at := g.next, len(g.dst)
	for !g.short && g.next < len(g.early) && g.early[g.next] != nil {
		b := g.early[g.next]
		var ok bool
		if ok, g.full = g.l.roomFor(b, g.next, g.room()); ok {
			g.add(g.next, g.dst[:len(g.dst)+len(b)])
			g.next++
		}
		g.short = !ok
	}
	placed, dst, short := g.early[from:g.next], g.dst, g.short
	g.mu.Unlock()

	for _, b := range placed {
		at += copy(dst[at:], b)
	}
	if len(placed) > 0 {
		g.mu.Lock()
		g.spare = append(g.spare, placed...)
		g.mu.Unlock()
		clear(placed)
	}
	if short {
		return errNoRoom
	}
	return nil
}
