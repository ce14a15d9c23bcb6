package frame

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
)

// extent is a range of bytes, from the frame start.
type extent struct{ off, end int64 }

// meets tells whether x and y have a byte in common.
func (x extent) meets(y extent) bool { return max(x.off, y.off) < min(x.end, y.end) }

// retired is space that becomes free when the readers of a state, and of all states before it, are gone.
type retired struct {
	s    *snapshot
	exts []extent
	st   Storage // to be closed then, when another one took its place
	root root    // the same for the directory of a sparse frame
}

// tail returns the space of a state's index and trailer.
func tail(s *snapshot) extent {
	if s.index.n == 0 {
		return extent{int64(s.headerLen), s.frameLen}
	}
	return extent{s.indexPos(), s.frameLen}
}

// alloc takes space for n new bytes: the first free space that is large enough, or the end.
func (c *contiguous) alloc(b *Batch, n int64) extent {
	from := int64(b.next.headerLen)
	for i := range c.free {
		if !c.mayReuse(b) {
			break
		}
		x := &c.free[i]
		if x.off < from { // an empty frame got a longer header
			x.off = min(from, x.end)
		}
		if x.end-x.off >= n {
			off := x.off
			if x.off += n; x.off == x.end {
				c.free = slices.Delete(c.free, i, i+1)
			}
			b.end = max(b.end, off+n) // free space may lie behind the current state
			return extent{off, off + n}
		}
	}
	off := c.end(b)
	b.end = off + n
	return extent{off, off + n}
}

// end returns where everything that is in use, was in use, or is free, ends.
func (c *contiguous) end(b *Batch) int64 {
	end := max(b.end, int64(b.next.headerLen))
	if b.cur != nil {
		end = max(end, b.cur.frameLen)
	}
	for _, x := range c.free {
		end = max(end, x.end)
	}
	for _, r := range c.retired {
		for _, x := range r.exts {
			end = max(end, x.end)
		}
	}
	return end
}

// tailPos returns where an index and trailer of n bytes go: right behind the chunks if nothing that is in use
// stands there, else behind everything. The trailer of an empty frame goes right behind its header, with the same
// exception: then the header counts as longer than it is. Lengths of headers end at 2 GiB; a larger frame that becomes
// empty gets its trailer where chunks of the state before are.
func (c *contiguous) tailPos(b *Batch, n int64) int64 {
	s := b.next
	pos := int64(s.headerLen)
	if s.index.n > 0 {
		pos = max(s.area, pos)
	}
	if !c.used(b, extent{pos, pos + n}) {
		return pos
	}
	end := max(pos, c.end(b))
	if s.index.n == 0 {
		// Far enough that there is room for moving it back.
		if end = max(end, pos+n); end > maxHeaderLen {
			return pos
		}
	}
	return end
}

// grow fails when the header of n bytes of an empty frame would cover chunks of a state that is still read.
func (c *contiguous) grow(n int64) error {
	c.release()
	head := extent{c.head, n}
	for _, r := range c.retired {
		if r.s.index.n > 0 && slices.ContainsFunc(r.exts, head.meets) {
			return fmt.Errorf("a longer header while a state from before the chunks were deleted is in use: %w", ErrParam)
		}
	}
	return nil
}

// maxHeaderLen is the largest header length, with some room for a trailer.
const maxHeaderLen = 1<<31 - 1<<20

// used tells whether x, which is behind the chunks of b.next if that has any, has bytes of another state.
func (c *contiguous) used(b *Batch, x extent) bool {
	if b.cur != nil {
		if tail(b.cur).meets(x) || b.next.index.n == 0 && x.meets(extent{int64(b.cur.headerLen), b.cur.frameLen}) {
			return true
		}
	}
	if slices.ContainsFunc(b.dropped, x.meets) {
		return true
	}
	return slices.ContainsFunc(c.retired, func(r retired) bool { return slices.ContainsFunc(r.exts, x.meets) })
}

// addFree adds free space, joined with what it touches.
func (c *contiguous) addFree(x extent) {
	if x.off >= x.end {
		return
	}
	kept := c.free[:0]
	for _, y := range c.free {
		switch {
		case y.end == x.off:
			x.off = y.off
		case x.end == y.off:
			x.end = y.end
		default:
			kept = append(kept, y)
		}
	}
	c.free = append(kept, x)
}

// carve takes x out of the free space.
func (c *contiguous) carve(x extent) {
	if !slices.ContainsFunc(c.free, x.meets) {
		return
	}
	var kept []extent
	for _, y := range c.free {
		if y.off < min(y.end, x.off) {
			kept = append(kept, extent{y.off, min(y.end, x.off)})
		}
		if max(y.off, x.end) < y.end {
			kept = append(kept, extent{max(y.off, x.end), y.end})
		}
	}
	c.free = kept
}

// storedEntries returns the entries that name stored chunks, in order, and whether one stands there twice.
func (x *index) storedEntries() (list []entry, shared bool) {
	if x.list == nil {
		if x.n > 0 && x.uniform >= 0 {
			return []entry{x.uniform}, x.n > 1
		}
		return nil, false
	}
	list = make([]entry, 0, x.n)
	for _, e := range x.list {
		if e >= 0 {
			list = append(list, e)
		}
	}
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		shared = shared || list[i] == list[i-1]
	}
	return list, shared
}

// survey looks, before the first edit, for the dead space that was there when the frame was opened. Only chunk headers
// tell how long chunks are: of many chunks it reads a sample first, and all only when much of the space is dead. In a
// frame whose index names a chunk twice no space of chunks is ever used again.
func (c *contiguous) survey(b *Batch) {
	if c.surveyed || b.cur == nil {
		return
	}
	c.surveyed = true
	list, shared := b.cur.index.storedEntries()
	c.shared = c.shared || shared
	if c.shared || len(list) == 0 {
		return
	}
	const few = 1000
	sampled := len(list) > few && !c.sample(b, list)
	if sampled {
		list = list[len(list)-1:] // only where the chunks end
	}
	c.doubt = sampled
	live := c.live(b.cur, list)
	if live == nil {
		c.shared = true // what is corrupt is left alone, and all that may be near it
		return
	}
	at := int64(b.cur.headerLen)
	if sampled {
		at = live[0].off
	}
	for _, x := range live {
		if x.off > at {
			c.free = append(c.free, extent{at, x.off})
		}
		at = x.end
	}
	if t := tail(b.cur); t.off > at {
		c.free = append(c.free, extent{at, t.off})
	}
	if !sampled {
		b.next.area = at
	}
}

// live returns where the chunks of entries are, which are sorted, or nil if that is not known or two of them overlap.
func (c *contiguous) live(s *snapshot, list []entry) []extent {
	live := make([]extent, 0, len(list))
	for i, e := range list {
		n := c.storedLen(s, e)
		off := int64(s.headerLen) + int64(e)
		if n < 0 || i > 0 && off < live[i-1].end {
			return nil
		}
		live = append(live, extent{off, off + n})
	}
	return live
}

// mayReuse reports whether free space may be used. In a frame of which only a sample was surveyed, a chunk may reach into
// the space of another that was deleted: all headers are read before the first use, once there is an eighth to gain.
func (c *contiguous) mayReuse(b *Batch) bool {
	if !c.doubt || b.cur == nil {
		return !c.shared
	}
	sum := int64(0)
	for _, x := range c.free {
		sum += x.end - x.off
	}
	if sum < b.cur.cbytes/8 {
		return false
	}
	c.doubt = false
	list, shared := b.cur.index.storedEntries()
	live := c.live(b.cur, list)
	c.shared = c.shared || shared || live == nil && len(list) > 0
	for _, x := range c.free {
		i, _ := slices.BinarySearchFunc(live, x.off, func(y extent, off int64) int { return cmp.Compare(y.end, off+1) })
		c.shared = c.shared || i < len(live) && live[i].meets(x)
	}
	return !c.shared
}

// sample tells whether at least an eighth of the chunks area seems to be dead.
func (c *contiguous) sample(b *Batch, list []entry) bool {
	const probes = 64
	dead := 0
	for i := range int64(probes) {
		at := entry(b.cur.cbytes/(2*probes) + i*(b.cur.cbytes/probes))
		k, found := slices.BinarySearch(list, at)
		switch {
		case found:
		case k == 0:
			dead++
		default:
			if n := c.storedLen(b.cur, list[k-1]); n >= 0 && list[k-1]+entry(n) <= at {
				dead++
			}
		}
	}
	return dead >= probes/8
}

// storedLen returns how many bytes the chunk of an entry has, or -1.
func (c *contiguous) storedLen(s *snapshot, e entry) int64 {
	src, err := c.open(s, e, -1)
	if err != nil {
		return -1
	}
	head := src.mem
	if head == nil {
		if head, err = readAll(src.at, src.off, min(src.size, coder.HeaderSize)); err != nil {
			return -1
		}
	}
	h, err := chunk.ParseHeader(head, src.size)
	if err != nil {
		return -1
	}
	return int64(h.CBytes)
}
