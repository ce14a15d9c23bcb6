package frame

import (
	"cmp"
	"slices"

	"github.com/goblosc/blosc2/frame/internal/storage"
)

// allocate returns space for n new bytes: in the first free space that is large enough, or at the end.
func (c *contiguous) allocate(tx *transaction, n int64) storage.Extent {
	c.reuse(tx)
	if c.space.Len() > 0 && c.mayReuse(tx.cur) {
		if x, ok := c.space.Allocate(int64(tx.next.headerLen), n); ok { // the header of an empty frame may have grown
			tx.end = max(tx.end, x.End) // free space may follow the current state
			return x
		}
	}
	off := c.end(tx)
	tx.end = off + n
	return storage.Extent{Off: off, End: tx.end}
}

// reuse adds the space of the chunks that the batch wrote and then freed to the free space.
func (c *contiguous) reuse(tx *transaction) {
	if len(tx.unused) > 0 {
		c.space.Add(tx.unused...)
		tx.unused = tx.unused[:0]
	}
}

// end returns the end of all bytes that are or were in use, or free.
func (c *contiguous) end(tx *transaction) int64 {
	return max(tx.end, int64(tx.next.headerLen), c.endInUse(tx.cur), c.space.End())
}

// endInUse returns the end of the bytes of cur, which may be nil, and of pending frees.
func (c *contiguous) endInUse(cur *snapshot) (end int64) {
	if cur != nil {
		end = cur.frameLen
	}
	for _, x := range c.pending.All() {
		end = max(end, x.End)
	}
	return end
}

// tailPos returns the offset for an index and trailer of n bytes: right after the chunks if that space is not in use,
// and otherwise at the end. Likewise, the trailer of an empty frame is right after its header or at the end. If it is
// at the end, the header counts as longer than it is, up to 2 GiB. In a larger frame that becomes empty, the trailer
// has to overwrite chunks of the previous state: over is then set.
func (c *contiguous) tailPos(tx *transaction, n int64) (pos int64, over bool) {
	s := tx.next
	pos = int64(s.headerLen)
	if s.index.n > 0 {
		pos = max(s.area, pos)
	}
	if !c.used(tx, storage.Extent{Off: pos, End: pos + n}) {
		return pos, false
	}
	end := max(pos, c.end(tx))
	if s.index.n == 0 {
		// Far enough that it can move back later.
		if end = max(end, pos+n); end > maxHeaderLen {
			return pos, true
		}
	}
	return end, false
}

// maxHeaderLen is the largest header length, with space for a trailer.
const maxHeaderLen = 1<<31 - 1<<20

// used reports whether x has bytes of another state. x is after the chunks of tx.next, if it has any.
func (c *contiguous) used(tx *transaction, x storage.Extent) bool {
	empty := tx.next.index.n == 0
	if cur := tx.cur; cur != nil {
		if cur.tail().Overlaps(x) || empty && x.Off < cur.frameLen { // the old header may be longer
			return true
		}
	}
	if empty && c.shared { // it is not known which chunks of older states are free
		for s := range c.pending.Owners() {
			if x.Overlaps(storage.Extent{Off: int64(s.headerLen), End: s.frameLen}) {
				return true
			}
		}
	}
	return slices.ContainsFunc(tx.freed, x.Overlaps) || c.pending.Overlaps(x)
}

// scanFree searches, before the first edit, for the dead space at the time of opening. The lengths of chunks are in
// their headers. If there are many chunks, it reads the headers of a sample first, and all only if much of the space is
// dead. If the index references a chunk twice, no space of chunks is reused.
func (c *contiguous) scanFree(tx *transaction) {
	if c.scanned || tx.cur == nil {
		return
	}
	c.scanned = true
	list, shared := tx.cur.index.storedEntries()
	c.shared = c.shared || shared
	if c.shared || len(list) == 0 {
		return
	}
	const few = 1000
	sampled := len(list) > few && !c.sample(tx.cur, list)
	if sampled {
		list = list[len(list)-1:] // only the end of the chunks
	}
	c.doubt = sampled
	live := c.live(tx.cur, list)
	if live == nil {
		c.shared = true // do not write near corrupt bytes
		return
	}
	at := int64(tx.cur.headerLen)
	if sampled {
		at = live[0].Off
	}
	for _, x := range live {
		c.space.Add(storage.Extent{Off: at, End: x.Off})
		at = x.End
	}
	c.space.Add(storage.Extent{Off: at, End: tx.cur.tail().Off})
	if !sampled {
		tx.next.area = at
	}
}

// live returns the extents of the chunks of sorted entries, or nil if one is unknown or two overlap.
func (c *contiguous) live(s *snapshot, list []entry) []storage.Extent {
	live := make([]storage.Extent, 0, len(list))
	for i, e := range list {
		n := c.storedLen(s, e)
		off := int64(s.headerLen) + int64(e)
		if n < 0 || i > 0 && off < live[i-1].End {
			return nil
		}
		live = append(live, storage.Extent{Off: off, End: off + n})
	}
	return live
}

// mayReuse reports whether free space may be used. If only a sample of the headers was read, another chunk may overlap
// the space of a deleted chunk. So mayReuse reads all headers before the first use, once an eighth of the space is
// free.
func (c *contiguous) mayReuse(cur *snapshot) bool {
	if !c.doubt || cur == nil {
		return !c.shared
	}
	if c.space.Len() < cur.cbytes/8 {
		return false
	}
	c.doubt = false
	list, shared := cur.index.storedEntries()
	live := c.live(cur, list)
	c.shared = c.shared || shared || live == nil && len(list) > 0
	for x := range c.space.All() {
		i, _ := slices.BinarySearchFunc(live, x.Off, func(y storage.Extent, off int64) int { return cmp.Compare(y.End, off+1) })
		c.shared = c.shared || i < len(live) && live[i].Overlaps(x)
	}
	return !c.shared
}

// sample reports whether at least an eighth of the chunks area seems to be dead.
func (c *contiguous) sample(s *snapshot, list []entry) bool {
	const probes = 64
	dead := 0
	for i := range int64(probes) {
		at := entry(s.cbytes/(2*probes) + i*(s.cbytes/probes))
		k, found := slices.BinarySearch(list, at)
		switch {
		case found:
		case k == 0:
			dead++
		default:
			if n := c.storedLen(s, list[k-1]); n >= 0 && list[k-1]+entry(n) <= at {
				dead++
			}
		}
	}
	return dead >= probes/8
}

// storedLen returns the stored size of the chunk of an entry, in bytes, or -1.
func (c *contiguous) storedLen(s *snapshot, e entry) int64 {
	src, err := c.open(s, s.src, e, -1)
	if err != nil {
		return -1
	}
	h, err := src.header()
	if err != nil {
		return -1
	}
	return int64(h.CBytes)
}
